// FileCutter: decides where the files of one sorted output end. It is passed user keys in order.
//
// A file ends before a key
//   - when it has reached its target size and there are no grandparents,
//   - at the grandparent edge that is closest to its target size, so that a later compaction of the
//     file reads one grandparent less on either side; a file that meets no such edge may grow to
//     twice its target,
//   - at an edge after which it would overlap more grandparent bytes than one compaction should
//     read.
//
// Thread safety: none. Lifetime: the grandparents outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "key/key_comparator.h"
#include "table/file_metadata.h"

namespace ashlar {

class FileCutter {
 public:
  struct Args {
    KeyComparator comparator{nullptr};
    uint64_t target_file_bytes = UINT64_MAX;                   // UINT64_MAX: one file
    uint64_t file_bytes_max = UINT64_MAX;                      // at least the target
    const std::vector<FileMetaData*>* grandparents = nullptr;  // ascending, disjoint; required
    uint64_t max_grandparent_overlap_bytes = UINT64_MAX;
  };
  explicit FileCutter(const Args& args);

  // Unless ByKey, no file is cut before it has this many bytes.
  uint64_t file_bytes_max() const { return file_bytes_max_; }
  // True if every key may end a file. CutBefore then has to be passed all of them.
  bool ByKey() const { return !grandparents_.empty(); }

  // Starts a file with the user key that was passed last.
  void Begin();
  // True if the open file, which has about file_bytes bytes, ends before the key. The result means
  // nothing if no file is open.
  bool CutBefore(const Slice& user_key, uint64_t file_bytes);

 private:
  // Advances through the grandparents to user_key and adds the bytes of those that are overlapped
  // to overlap_bytes_. Returns true if it crossed the edge of a grandparent.
  bool CrossGrandparents(const Slice& user_key);
  // True if a file that ends at this edge is closer to its target than one that ends at the next.
  // The distance to the next edge is estimated as the average distance of the edges so far.
  bool IsNearestEdge(uint64_t file_bytes) const;

  const KeyComparator comparator_;
  const std::vector<FileMetaData*>& grandparents_;
  const uint64_t target_file_bytes_;
  const uint64_t file_bytes_max_;
  const uint64_t max_overlap_bytes_;
  size_t grandparent_ = 0;  // the first that does not end before the last user key
  bool inside_grandparent_ = false;
  uint64_t overlap_bytes_ = 0;  // of the grandparents that the open file overlaps
  uint64_t edges_ = 0;          // grandparent edges that the open file crossed
};

}  // namespace ashlar
