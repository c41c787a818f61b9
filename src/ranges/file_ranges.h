// FileRanges: the range tombstones of a table, cut to the bounds of its file.
//
// RocksDB writes a tombstone unchanged into each file that it crosses. In each file only the part
// within the bounds applies, because outside them a compaction may have given a newer entry
// sequence 0. If the largest key belongs to an entry, the tombstones may cover it, but no key after
// it. In bytewise order the next key is known, so a half-open fragment can end there. In any other
// order, two forms of the same tombstones are kept:
//
//   bounds of the file     [ smallest ............... largest ]
//   searched()             [---------------------------------------)
//   before_largest()       [------------------------)
//   largest_sequences()                             @9 @5
//
// I1: for each key within the bounds, searched() has the sequences of the table's tombstones. It is
//     not searched for other keys, because readers choose files by their bounds.
// I2: before_largest() and deletions of the largest key with largest_sequences() delete, for every
//     reader, the same entries as the part of the tombstones within the bounds. They are for
//     compactions and plans, which use tombstones as a set.
// I3: if largest_sequences() is empty, both forms are the same value.
//
// An inclusive end as a property of a fragment was rejected, because no file could store it and
// each user of a fragment would have to handle it.
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
  // For a table whose bounds are not known. Nothing is cut.
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
  // The sequences of tombstones that cover the largest key and extend past it, descending.
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
