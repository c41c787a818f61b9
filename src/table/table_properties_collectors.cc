// The collectors of ashlar/table_properties_collectors.h, and the defaults of the methods of
// ashlar/table_properties.h.
#include "ashlar/table_properties_collectors.h"

#include <algorithm>
#include <array>

#include "base/format.h"

namespace ashlar {

Status TablePropertiesCollector::Add(const Slice& /*key*/, const Slice& /*value*/) {
  return Status::InvalidArgument("the collector has neither AddUserKey nor Add");
}

Status TablePropertiesCollector::AddUserKey(const Slice& key, const Slice& value,
                                            EntryType /*type*/, SequenceNumber /*seq*/,
                                            uint64_t /*file_size*/) {
  return Add(key, value);
}

void TablePropertiesCollector::BlockAdd(uint64_t /*block_uncomp_bytes*/,
                                        uint64_t /*block_compressed_bytes_fast*/,
                                        uint64_t /*block_compressed_bytes_slow*/) {}

namespace {

constexpr size_t kBuckets = 128;

bool IsDeletion(EntryType type) {
  return type == kEntryDelete || type == kEntrySingleDelete || type == kEntryDeleteWithTimestamp ||
         type == kEntryRangeDeletion;
}

// The window is a ring of buckets. The newest is being filled, and the oldest is dropped as a unit.
class CompactOnDeletionCollector final : public TablePropertiesCollector {
 public:
  explicit CompactOnDeletionCollector(const CompactOnDeletionCollectorFactory& factory)
      : entries_per_bucket_((factory.GetWindowSize() + kBuckets - 1) / kBuckets),
        deletion_trigger_(factory.GetDeletionTrigger()),
        deletion_ratio_(factory.GetDeletionRatio()),
        min_file_size_(factory.GetMinFileSize()) {}

  Status AddUserKey(const Slice& /*key*/, const Slice& /*value*/, EntryType type,
                    SequenceNumber /*seq*/, uint64_t file_size) override {
    file_size_ = std::max(file_size_, file_size);
    ++entries_;
    const size_t deletion = IsDeletion(type) ? 1 : 0;
    deletions_ += deletion;
    if (entries_per_bucket_ == 0 || deletion_trigger_ == 0 || is_dense_) return Status::OK();
    if (entries_in_bucket_ == entries_per_bucket_) {
      bucket_ = (bucket_ + 1) % kBuckets;
      deletions_in_window_ -= window_[bucket_];
      window_[bucket_] = 0;
      entries_in_bucket_ = 0;
    }
    ++entries_in_bucket_;
    window_[bucket_] += deletion;
    deletions_in_window_ += deletion;
    is_dense_ = deletions_in_window_ >= deletion_trigger_;
    return Status::OK();
  }

  Status Finish(UserCollectedProperties* /*properties*/) override {
    const bool has_ratio = deletion_ratio_ > 0 && deletion_ratio_ <= 1;
    if (has_ratio && entries_ > 0 &&
        static_cast<double>(deletions_) >= deletion_ratio_ * static_cast<double>(entries_))
      is_dense_ = true;
    return Status::OK();
  }
  UserCollectedProperties GetReadableProperties() const override { return {}; }
  const char* Name() const override { return "CompactOnDeletionCollector"; }
  bool NeedCompact() const override { return is_dense_ && file_size_ >= min_file_size_; }

 private:
  const size_t entries_per_bucket_;
  const size_t deletion_trigger_;
  const double deletion_ratio_;
  const uint64_t min_file_size_;

  std::array<size_t, kBuckets> window_{};  // deletions in each bucket
  size_t bucket_ = 0;
  size_t entries_in_bucket_ = 0;
  size_t deletions_in_window_ = 0;
  uint64_t entries_ = 0;
  uint64_t deletions_ = 0;
  uint64_t file_size_ = 0;
  bool is_dense_ = false;
};

}  // namespace

CompactOnDeletionCollectorFactory::CompactOnDeletionCollectorFactory(size_t sliding_window_size,
                                                                     size_t deletion_trigger,
                                                                     double deletion_ratio,
                                                                     uint64_t min_file_size)
    : sliding_window_size_(sliding_window_size),
      deletion_trigger_(deletion_trigger),
      deletion_ratio_(deletion_ratio),
      min_file_size_(min_file_size) {}

TablePropertiesCollector* CompactOnDeletionCollectorFactory::CreateTablePropertiesCollector(
    Context /*context*/) {
  return new CompactOnDeletionCollector(*this);
}

void CompactOnDeletionCollectorFactory::SetWindowSize(size_t sliding_window_size) {
  sliding_window_size_.store(sliding_window_size);
}

std::string CompactOnDeletionCollectorFactory::ToString() const {
  return StrCat(Name(), " (Sliding window size = ", GetWindowSize(),
                " Deletion trigger = ", GetDeletionTrigger(),
                " Deletion ratio = ", std::to_string(GetDeletionRatio()), ")");
}

std::shared_ptr<CompactOnDeletionCollectorFactory> NewCompactOnDeletionCollectorFactory(
    size_t sliding_window_size, size_t deletion_trigger, double deletion_ratio,
    uint64_t min_file_size) {
  return std::make_shared<CompactOnDeletionCollectorFactory>(sliding_window_size, deletion_trigger,
                                                             deletion_ratio, min_file_size);
}

}  // namespace ashlar
