// DeletedRanges: the ranges that a batch deletes, as disjoint segments in order.
//
//   ranges      [a .......... d)              position 3
//                    (b ........... e]        position 7
//   segments    [a  b](b      d)[d  e]
//   newest        3       7       7
//
// A range covers the keys of the tree and those puts of the batch that are before its position. So
// a segment needs only the newest position.
//
// I1: segments are in order, none is empty, and none overlaps the next one.
// I2: the segments and the ranges cover the same keys.
//
// Building takes O(n log n) comparisons for n ranges, a lookup O(log n). Rejected: comparing every
// key with every range, which is quadratic, while the locks of all leaves of the batch are held.
//
// Thread safety: none while it is built, const calls from any thread. Lifetime: the keys of the
// ranges outlive it.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "ashlar/persistent_tree.h"
#include "ashlar/slice.h"
#include "pmem/leaf.h"

namespace ashlar::pmem {

class DeletedRanges {
 public:
  explicit DeletedRanges(const KeyOrder& order) : order_(order) {}

  // An empty range adds nothing.
  void Add(const KeyRange& range, size_t position);
  // Call once, after the last Add and before the lookups.
  void Build();

  bool empty() const { return segments_.empty(); }
  bool Covers(const Slice& key) const { return Find(key) != nullptr; }
  // Whether a range at this position of the batch, or at a later one, covers the key.
  bool CoversAfter(const Slice& key, size_t position) const;
  // The begin of the first range. Nullopt: before every key. Requires: there is a range.
  std::optional<Slice> First() const { return segments_.front().begin.key; }
  // The first key at or after `key` that a range may cover, or nullopt.
  std::optional<Slice> FirstFrom(const Slice& key) const;

  void CheckInvariants() const;

 private:
  // A place between keys: before or after all keys that are equal to `key`. Without a key: before
  // or after all keys.
  struct Cut {
    std::optional<Slice> key;
    bool after = false;
  };
  struct Segment {
    Cut begin;
    Cut end;
    size_t newest;
  };
  struct Edge {
    Cut cut;
    size_t position;
    bool begins;
  };

  int Compare(const Cut& a, const Cut& b) const;
  // Skips the segments that end before the key, or at it.
  std::vector<Segment>::const_iterator AfterThoseBefore(const Slice& key) const;
  const Segment* Find(const Slice& key) const;

  const KeyOrder& order_;
  std::vector<Edge> edges_;  // until Build
  std::vector<Segment> segments_;
};

}  // namespace ashlar::pmem
