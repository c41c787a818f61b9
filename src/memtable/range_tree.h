// RangeTree: the range tombstones of a memtable. One writer adds tombstones, and readers search
// them without a lock.
//
//   boundaries   the begins and ends of all tombstones, in a B+ tree. Slot i of a node is the keys
//                from its own boundary to the next one.
//   covers       per slot, the sequences of the tombstones that cover all of it, newest first. A
//                tombstone is in the covers of the largest slots that it covers.
//
//      inner   [ -inf      | m          | t   ]
//                  |           |            |         [c, x) is in the covers of c, of the inner
//      leaf    [ -inf | c ] [ m | p ]  [ t | x ]      slot m, and of the lower slot t
//
// CoveringSequence descends from the root to a leaf and returns the largest visible sequence in the
// covers on its path. For most keys that no tombstone covers, a RangeSummary answers first.
// README.md has the costs and the alternatives.
//
// I1: boundaries ascend. Those of a node never change, because another boundary makes a new node.
// I2: sequences descend from newer covers to older ones.
// I3: a search finds every tombstone whose sequence was published before the search began. It
//     ignores a half-added tombstone, because the sequence of that one is not visible yet.
// I4: a replaced node keeps everything that was published while it was in the tree.
//
// Thread safety: one thread at a time calls Add. Any thread may call everything else, without
// restarts (I3). Lifetime: the arena and the comparator outlive it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>

#include "key/key_comparator.h"
#include "memtable/arena.h"
#include "memtable/range_summary.h"
#include "ranges/fragmented_ranges.h"

namespace ashlar {

class RangeTree {
 public:
  RangeTree(const KeyComparator& comparator, Arena* arena)
      : comparator_(comparator), arena_(arena), summary_(comparator, arena) {}
  RangeTree(const RangeTree&) = delete;
  RangeTree& operator=(const RangeTree&) = delete;

  // Copies the keys. Requires: begin < end, and a sequence that is not smaller than earlier ones.
  void Add(const RangeTombstone& tombstone);

  // The largest sequence <= visible of a tombstone that covers the key; 0: none.
  SequenceNumber CoveringSequence(const Slice& user_key, SequenceNumber visible) const {
    return summary_.MayCover(user_key) ? FindCovering(user_key, visible) : 0;
  }
  // The slot that has the key, with the CoveringSequence of all its keys. The result stays correct
  // while tombstones that are not visible are added.
  CoverInterval FindCoverInterval(const Slice& user_key, SequenceNumber visible) const;
  // The fragments for readers at these ascending sequences. In them each reader finds the sequences
  // that CoveringSequence returns to it. The call visits every boundary.
  FragmentedRanges Fragments(std::span<const SequenceNumber> visible) const;

  // Asserts I1 and I2. Requires: no writer is active. Returns the number of boundaries.
  size_t CheckInvariants() const;

 private:
  // The header of a node and the heads of its slots fill one cache line.
  static constexpr uint32_t kSlots = 15;

  // More levels than 2^32 boundaries need.
  static constexpr uint32_t kLevelsMax = 32;

  struct Cover;
  struct Node;
  struct Items;
  struct Path;
  // The nodes that replace a node which gets more boundaries: its copy and, after a split, the
  // second half.
  struct Halves {
    Node* node;
    Node* split_off;  // null: none
  };
  class NewCovers;
  class Fragmenter;

  SequenceNumber FindCovering(const Slice& user_key, SequenceNumber visible) const;
  static const Cover* FindVisible(const Cover* cover, SequenceNumber visible);
  uint32_t HeadOf(const Slice& user_key, uint32_t prefix_bytes) const;
  uint32_t Rank(const Node& node, const Slice& user_key) const;
  bool IsBoundary(const Node& node, uint32_t slot, const Slice& user_key) const;
  void SetPrefix(Node* node, const char* upper) const;
  Node* NewNode(const Items& items, uint32_t from, uint32_t to, const char* upper);
  Halves Build(const Items& items, bool at_end, const char* upper);
  bool EndsInSlot(const Node& node, uint32_t slot, const Slice& end) const;
  void Replace(const Path& path, const Items& items, bool at_end);
  void InsertBoundary(const Slice& user_key);
  void CoverSlots(Node* node, const Slice* begin, const Slice* end, SequenceNumber sequence);
  const Cover* NewCover(const Cover* older, SequenceNumber sequence);
  bool AddInsideOneLeaf(const RangeTombstone& tombstone);
  const char* CopyKey(const Slice& user_key);
  static void CheckCovers(const Cover* newest);
  size_t CheckNode(const Node& node, const char* upper, uint32_t levels) const;

  const KeyComparator comparator_;
  Arena* const arena_;
  // Stored with release after the node is complete, loaded with acquire; null: no tombstones.
  std::atomic<Node*> root_{nullptr};
  uint32_t levels_ = 0;  // writer only
  RangeSummary summary_;
};

}  // namespace ashlar
