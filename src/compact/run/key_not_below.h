// KeyNotBelow: whether a user key can have older versions below the output of a compaction. Knows
// the files of the levels below, walks along them as the keys ascend.
//
// A key inside the range of a file counts as being there, whether it is or not.
// Precondition: Check is called with ascending user keys (equal ones allowed).
// Lifetime: borrows the files. Thread safety: one thread; every subcompaction has its own.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ashlar/slice.h"
#include "key/key_comparator.h"
#include "table/file_metadata.h"

namespace ashlar {

class KeyNotBelow {
 public:
  // levels: files of each level below, ascending and disjoint (CompactionPlan::deeper).
  KeyNotBelow(const KeyComparator& comparator, std::span<const std::vector<FileMetaData*>> levels)
      : comparator_(comparator), levels_(levels), next_(levels.size(), 0) {}

  // True: no level below can hold the key.
  bool Check(const Slice& user_key) {
    for (size_t i = 0; i < levels_.size(); ++i) {
      const std::vector<FileMetaData*>& files = levels_[i];
      size_t& next = next_[i];
      while (next < files.size() &&
             comparator_.Compare(files[next]->largest_user_key(), user_key) < 0)
        ++next;
      if (next < files.size() &&
          comparator_.Compare(files[next]->smallest_user_key(), user_key) <= 0)
        return false;
    }
    return true;
  }

 private:
  const KeyComparator comparator_;
  const std::span<const std::vector<FileMetaData*>> levels_;
  std::vector<size_t>
      next_;  // [level]: the first file that does not end before the last key checked
};

}  // namespace ashlar
