#include "compact/plan/file_cutter.h"

#include <algorithm>

#include "base/assert.h"

namespace ashlar {

namespace {
uint64_t Twice(uint64_t bytes) { return bytes > UINT64_MAX / 2 ? UINT64_MAX : 2 * bytes; }
}  // namespace

FileCutter::FileCutter(const Args& args)
    : comparator_(args.comparator),
      grandparents_(*args.grandparents),
      target_file_bytes_(args.target_file_bytes),
      file_bytes_max_(grandparents_.empty()
                          ? target_file_bytes_
                          : std::min(Twice(target_file_bytes_), args.file_bytes_max)),
      max_overlap_bytes_(args.max_grandparent_overlap_bytes) {}

void FileCutter::Begin() {
  edges_ = 0;
  overlap_bytes_ = inside_grandparent_ ? grandparents_[grandparent_]->file_bytes : 0;
}

bool FileCutter::CutBefore(const Slice& user_key, uint64_t file_bytes) {
  ASHLAR_DCHECK(grandparent_ <= grandparents_.size());  // an index, or the end
  const bool crossed = CrossGrandparents(user_key);
  if (file_bytes >= file_bytes_max_) return true;
  if (!crossed) return false;
  ++edges_;
  const bool drags_too_much =
      overlap_bytes_ > max_overlap_bytes_ || file_bytes > max_overlap_bytes_ - overlap_bytes_;
  return drags_too_much || IsNearestEdge(file_bytes);
}

bool FileCutter::IsNearestEdge(uint64_t file_bytes) const {
  const uint64_t next = file_bytes + file_bytes / edges_;
  if (next >= file_bytes_max_) return file_bytes >= target_file_bytes_ / 2;
  return file_bytes + next >= Twice(target_file_bytes_);
}

bool FileCutter::CrossGrandparents(const Slice& user_key) {
  bool crossed = false;
  for (; grandparent_ < grandparents_.size(); ++grandparent_) {
    const FileMetaData& file = *grandparents_[grandparent_];
    if (inside_grandparent_ && comparator_.Compare(file.largest_user_key(), user_key) >= 0)
      return crossed;
    if (!inside_grandparent_) {
      if (comparator_.Compare(file.smallest_user_key(), user_key) > 0) return crossed;
      crossed = true;
      overlap_bytes_ += file.file_bytes;
      inside_grandparent_ = comparator_.Compare(file.largest_user_key(), user_key) >= 0;
      if (inside_grandparent_) return crossed;
    }
    crossed = true;
    inside_grandparent_ = false;
  }
  return crossed;
}

}  // namespace ashlar
