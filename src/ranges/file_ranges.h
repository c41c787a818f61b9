// FileRanges: the range tombstones of a table, cut to the bounds of its file.
//
// RocksDB writes a tombstone whole into each of the files that it crosses. Each file means the part
// within its bounds: outside them, a compaction may have given a newer entry sequence 0. If the
// largest key is an entry's, the tombstones may cover it, and nothing after it. A half-open
// fragment can end there in a bytewise order, whose next key is known. In any other order two forms
// of the same tombstones are kept:
//
//   bounds of the file     [ smallest ............... largest ]
//   searched()             [---------------------------------------)
//   before_largest()       [------------------------)
//   largest_sequences()                             @9 @5
//
// I1: searched() has for each key within the bounds the sequences of the table's tombstones. It is
//     not asked for other keys: readers choose files by their bounds.
// I2: before_largest(), and deletions of the largest key with largest_sequences(), delete for every
//     reader the same entries as the part of the tombstones within the bounds. They are for
//     compactions and plans, which see tombstones as a set.
// I3: without largest_sequences() both forms are the same value.
//
// An inclusive end as a property of a fragment was rejected: no file could store it, and each user
// of a fragment would have to know it.
//
// Thread safety: const after construction. Lifetime: owns its keys; the comparator outlives it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/slice.h"
#include "key/internal_key.h"
#include "key/key_comparator.h"
#include "ranges/fragmented_ranges.h"

namespace ashlar {

class FileRanges {
 public:
  struct Bounds {
    Slice smallest;  // user keys
    Slice largest;
    bool excludes_largest = false;  // it is the end of a range tombstone, and no entry has it
  };

  FileRanges() = default;
  // Of a table whose bounds are not known: nothing is cut.
  explicit FileRanges(FragmentedRanges ranges) : searched_(std::move(ranges)) {
    searched_.PrepareForLookups();
  }
  // Copies the keys.
  static FileRanges Cut(const KeyComparator& comparator, FragmentedRanges ranges,
                        const Bounds& bounds);

  const FragmentedRanges& searched() const { return searched_; }
  const FragmentedRanges& before_largest() const {
    return largest_sequences_.empty() ? searched_ : before_largest_;
  }
  // Of the tombstones that cover the largest key and run past it, descending.
  std::span<const SequenceNumber> largest_sequences() const { return largest_sequences_; }
  // User key. Requires: largest_sequences() is not empty.
  Slice largest() const { return largest_; }
  size_t MemoryBytes() const {
    return searched_.MemoryBytes() + before_largest_.MemoryBytes() +
           largest_sequences_.capacity() * sizeof(SequenceNumber) + largest_.capacity();
  }

 private:
  FragmentedRanges searched_;
  FragmentedRanges before_largest_;
  std::vector<SequenceNumber> largest_sequences_;
  std::string largest_;
};

}  // namespace ashlar
