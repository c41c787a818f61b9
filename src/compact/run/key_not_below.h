// KeyNotBelow: decides whether a user key can have older versions than those of a compaction's
// inputs. It advances through the files of the older runs as the keys ascend.
//
// A key in the range of a file counts as present, although the file may not have it.
// Requires: the user keys of successive calls of Check do not descend.
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
  // runs: the files of each older run, ascending and disjoint (CompactionPlan::older).
  KeyNotBelow(const KeyComparator& comparator, std::span<const std::vector<FileMetaData*>> runs)
      : comparator_(comparator), runs_(runs), next_(runs.size(), 0) {}

  // Returns true if no older run can have the key.
  bool Check(const Slice& user_key) {
    for (size_t i = 0; i < runs_.size(); ++i) {
      const std::vector<FileMetaData*>& files = runs_[i];
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
  const std::span<const std::vector<FileMetaData*>> runs_;
  std::vector<size_t> next_;  // [run]: the first file that ends at or after the last key checked
};

}  // namespace ashlar
