#include "manifest/level_files.h"

#include <algorithm>
#include <utility>

#include "base/format.h"

namespace ashlar {

namespace {

size_t CommonPrefixBytes(std::span<FileMetaData* const> files) {
  if (files.empty()) return 0;
  const Slice first = files.front()->largest_user_key();
  size_t bytes = first.size();
  for (const FileMetaData* file : files) bytes = std::min(bytes, first.difference_offset(file->largest_user_key()));
  return bytes;
}

// The first position in [begin, end) whose head is not below `head`. Without a branch on the data, which would be mispredicted half the time.
size_t FirstNotBelow(const uint64_t* heads, size_t begin, size_t end, uint64_t head) {
  size_t left = end - begin;
  while (left > 1) {
    const size_t half = left / 2;
    begin += heads[begin + half - 1] < head ? half : 0;
    left -= half;
  }
  return left == 1 && heads[begin] < head ? begin + 1 : begin;
}

}  // namespace

LevelFiles::LevelFiles(const KeyComparator& comparator, Level level, std::vector<FileMetaData*> files, LiveFiles* live)
    : comparator_(comparator), level_(level), files_(std::move(files)), live_(live) {
  for (FileMetaData* file : files_) {
    LiveFiles::Acquire(file);
    bytes_ += file->file_bytes;
  }
  if (level_ == 0 || !comparator_.HasHeads()) return;
  prefix_bytes_ = CommonPrefixBytes(files_);
  heads_.reserve(files_.size());
  for (const FileMetaData* file : files_) heads_.push_back(comparator_.Head(file->largest_user_key(), prefix_bytes_));
}

LevelFiles::~LevelFiles() {
  for (FileMetaData* file : files_) live_->Release(file);
}

size_t LevelFiles::Find(const Slice& user_key, uint64_t tag, FilePositions within) const {
  if (heads_.empty() || within.begin >= within.end) return FindByKey(user_key, tag, within);
  if (prefix_bytes_ > 0) {
    const Slice prefix(files_.front()->largest.data(), prefix_bytes_);
    const int order = comparator_.Compare(Slice(user_key.data(), std::min(user_key.size(), prefix_bytes_)), prefix);
    if (order != 0) return order < 0 ? within.begin : within.end;
  }
  const uint64_t head = comparator_.Head(user_key, prefix_bytes_);
  const size_t first = FirstNotBelow(heads_.data(), within.begin, within.end, head);
  if (first == within.end || heads_[first] != head) return first;
  const bool is_last_head = head == ~uint64_t{0};
  return FindByKey(user_key, tag, {first, is_last_head ? within.end : FirstNotBelow(heads_.data(), first, within.end, head + 1)});
}

size_t LevelFiles::FindByKey(const Slice& user_key, uint64_t tag, FilePositions within) const {
  size_t begin = within.begin;
  size_t left = within.end > begin ? within.end - begin : 0;
  while (left > 0) {
    const size_t half = left / 2;
    if (comparator_.CompareInternal(files_[begin + half]->largest, user_key, tag) < 0) {
      begin += half + 1;
      left -= half + 1;
    } else {
      left = half;
    }
  }
  return begin;
}

FilePositions LevelFiles::Overlapping(const UserKeyRange& range) const {
  FilePositions result = All();
  // The highest tag sorts before every entry of its user key, so that a file which ends with an older version of the bound is in.
  if (range.smallest != nullptr) result.begin = Find(*range.smallest, ~uint64_t{0}, result);
  if (range.largest == nullptr) return result;
  const auto starts_behind = [this](const Slice& bound, const FileMetaData* file) {
    return comparator_.Compare(bound, file->smallest_user_key()) < 0;
  };
  const auto first = files_.begin() + static_cast<std::ptrdiff_t>(result.begin);
  result.end = static_cast<size_t>(std::upper_bound(first, files_.end(), *range.largest, starts_behind) - files_.begin());
  return result;
}

bool LevelFiles::FileMayHold(size_t position, const Slice& user_key) const {
  const FileMetaData& file = *files_[position];
  return comparator_.Compare(user_key, file.smallest_user_key()) >= 0 && comparator_.Compare(user_key, file.largest_user_key()) <= 0;
}

bool LevelFiles::FileOverlaps(size_t position, const UserKeyRange& range) const {
  const FileMetaData& file = *files_[position];
  return (range.smallest == nullptr || comparator_.Compare(file.largest_user_key(), *range.smallest) >= 0) &&
         (range.largest == nullptr || comparator_.Compare(file.smallest_user_key(), *range.largest) <= 0);
}

bool LevelFiles::NewerFirst(const FileMetaData* a, const FileMetaData* b) {
  if (a->largest_sequence != b->largest_sequence) return a->largest_sequence > b->largest_sequence;
  if (a->smallest_sequence != b->smallest_sequence) return a->smallest_sequence > b->smallest_sequence;
  return a->number > b->number;
}

Status LevelFiles::Validate() const {
  for (const FileMetaData* file : files_) {
    if (file->smallest.size() < kTagBytes || file->largest.size() < kTagBytes || comparator_.CompareInternal(file->smallest, file->largest) > 0) {
      return Status::Corruption(StrCat("table ", file->number, " in level ", level_, " has its bounds in the wrong order"));
    }
  }
  for (size_t i = 1; i < files_.size(); ++i) {
    const FileMetaData* before = files_[i - 1];
    const FileMetaData* file = files_[i];
    const bool ordered = level_ == 0 ? NewerFirst(before, file) : comparator_.CompareInternal(before->largest, file->smallest) < 0;
    if (!ordered)
      return Status::Corruption(StrCat("tables ", before->number, " and ", file->number, " in level ", level_, " overlap or are out of order"));
  }
  return Status::OK();
}

}  // namespace ashlar
