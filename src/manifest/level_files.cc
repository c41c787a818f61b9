#include "manifest/level_files.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/format.h"

namespace ashlar {

LevelFiles::LevelFiles(const KeyComparator& comparator, Level level,
                       std::vector<FileMetaData*> files, LiveFiles* live)
    : comparator_(comparator), level_(level), files_(std::move(files)), live_(live) {
  if (level_ == 0) FillHeads();  // before I2, because it may throw
  for (FileMetaData* file : files_) {
    LiveFiles::Acquire(file);
    bytes_ += file->file_bytes;
  }
}

void LevelFiles::FillHeads() {
  const bool has_bounds = std::all_of(files_.begin(), files_.end(), [](const FileMetaData* file) {
    return file->smallest.size() >= kTagBytes && file->largest.size() >= kTagBytes;
  });
  if (!has_bounds) return;  // Validate refuses the level
  if (comparator_.HasHeads() && !files_.empty()) {
    const Slice first = files_.front()->smallest_user_key();
    size_t bytes = first.size();
    for (const FileMetaData* file : files_) {
      bytes = std::min(bytes, CommonKeyPrefixBytes(first, file->smallest_user_key()));
      bytes = std::min(bytes, CommonKeyPrefixBytes(first, file->largest_user_key()));
    }
    prefix_.assign(first.data(), bytes);
  }
  heads_.reserve(files_.size());
  for (const FileMetaData* file : files_) {
    heads_.push_back({.smallest = comparator_.Head(file->smallest_user_key(), prefix_.size()),
                      .largest = comparator_.Head(file->largest_user_key(), prefix_.size())});
  }
}

LevelFiles::~LevelFiles() {
  for (FileMetaData* file : files_) live_->Release(file);
}

size_t LevelFiles::Find(const Slice& user_key, uint64_t tag) const {
  const auto is_before = [&](const FileMetaData* file) {
    return comparator_.CompareInternal(file->largest, user_key, tag) < 0;
  };
  return static_cast<size_t>(std::partition_point(files_.begin(), files_.end(), is_before) -
                             files_.begin());
}

FilePositions LevelFiles::Overlapping(const UserKeyRange& range) const {
  FilePositions result{0, files_.size()};
  // The highest tag sorts before every entry of its user key, so that a file that ends with an
  // older version of the bound is included.
  if (range.smallest != nullptr) result.begin = Find(*range.smallest, ~uint64_t{0});
  if (range.largest == nullptr) return result;
  const auto begins_after = [this](const Slice& bound, const FileMetaData* file) {
    return comparator_.Compare(bound, file->smallest_user_key()) < 0;
  };
  const auto first = files_.begin() + static_cast<std::ptrdiff_t>(result.begin);
  result.end = static_cast<size_t>(
      std::upper_bound(first, files_.end(), *range.largest, begins_after) - files_.begin());
  return result;
}

bool LevelFiles::FileHoldsKey(size_t position, const Slice& user_key) const {
  ASHLAR_DCHECK(position < files_.size());  // I3: it has heads
  const FileMetaData& file = *files_[position];
  return comparator_.Compare(user_key, file.smallest_user_key()) >= 0 &&
         comparator_.Compare(user_key, file.largest_user_key()) <= 0;
}

bool LevelFiles::FileOverlaps(size_t position, const UserKeyRange& range) const {
  ASHLAR_DCHECK(position < files_.size());  // a file of the level
  const FileMetaData& file = *files_[position];
  return (range.smallest == nullptr ||
          comparator_.Compare(file.largest_user_key(), *range.smallest) >= 0) &&
         (range.largest == nullptr ||
          comparator_.Compare(file.smallest_user_key(), *range.largest) <= 0);
}

bool LevelFiles::NewerFirst(const FileMetaData* a, const FileMetaData* b) {
  if (a->largest_sequence != b->largest_sequence) return a->largest_sequence > b->largest_sequence;
  if (a->smallest_sequence != b->smallest_sequence)
    return a->smallest_sequence > b->smallest_sequence;
  return a->number > b->number;
}

void LevelFiles::CheckInvariants() const {
  ASHLAR_ASSERT(Validate().ok());  // I1
  uint64_t bytes = 0;
  for (const FileMetaData* file : files_) {
    ASHLAR_ASSERT(file->refs.load(std::memory_order_relaxed) > 0);  // I2
    bytes += file->file_bytes;
  }
  ASHLAR_ASSERT(bytes == bytes_);  // the constructor counted them
  ASHLAR_ASSERT(heads_.size() == (level_ == 0 ? files_.size() : 0));  // I3
}

Status LevelFiles::Validate() const {
  for (const FileMetaData* file : files_) {
    if (file->smallest.size() < kTagBytes || file->largest.size() < kTagBytes ||
        !HoldAKey(comparator_, file->smallest, file->largest)) {
      return Status::Corruption(StrCat("table ", file->number, " in level ", level_,
                                       " has its bounds in the wrong order"));
    }
  }
  for (size_t i = 1; i < files_.size(); ++i) {
    const FileMetaData* before = files_[i - 1];
    const FileMetaData* file = files_[i];
    const bool ordered = level_ == 0
                             ? NewerFirst(before, file)
                             : comparator_.CompareInternal(before->largest, file->smallest) < 0;
    if (!ordered)
      return Status::Corruption(StrCat("tables ", before->number, " and ", file->number,
                                       " in level ", level_, " overlap or are out of order"));
  }
  return Status::OK();
}

}  // namespace ashlar
