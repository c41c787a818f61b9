// FileCutter: where the files of one sorted output end. It sees the user keys in order.
//
// A file ends before a key
//   - when it has reached its target size and nothing follows below the output level,
//   - at the edge of a grandparent where it is closest to its target size, so that a later
//     compaction of the file reads one grandparent less on either side; without an edge a file may
//     have twice its target,
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

  // No file is cut before it has so many bytes, unless ByKey.
  uint64_t file_bytes_max() const { return file_bytes_max_; }
  // Every key may end a file, so that CutBefore has to see all of them.
  bool ByKey() const { return !grandparents_.empty(); }

  // A file begins with the user key that was passed last.
  void Begin();
  // Whether the open file, of about so many bytes, ends before the key. Without an open file the
  // answer means nothing.
  bool CutBefore(const Slice& user_key, uint64_t file_bytes);

 private:
  // Moves along the grandparents to user_key and adds the bytes that are overlapped to
  // overlap_bytes_. True: the edge of one was crossed.
  bool CrossGrandparents(const Slice& user_key);
  // Whether a file that ends at this edge is closer to its target than one that ends at the next,
  // which is expected as far away as the edges before were from each other.
  bool IsNearestEdge(uint64_t file_bytes) const;

  const KeyComparator comparator_;
  const std::vector<FileMetaData*>& grandparents_;
  const uint64_t target_file_bytes_;
  const uint64_t file_bytes_max_;
  const uint64_t max_overlap_bytes_;
  size_t grandparent_ = 0;  // the first that does not end before the last user key
  bool inside_grandparent_ = false;
  uint64_t overlap_bytes_ = 0;  // of grandparents, by the open file
  uint64_t edges_ = 0;          // that the open file crossed
};

}  // namespace ashlar
