// EntryTree: the index of a memtable's entries, a B+ tree of small nodes. One writer adds entries,
// and any number of readers search without a lock. README.md explains the fields, the readers'
// steps, the memory orders and the rejected designs.
//
//   node    state | prefix length | links | n heads | two orders | n entries |
//           inner: n + 1 children;    n slots: 32, in young leaves 24
//   state   count of slots | which order is in use | dead | number of changes
//
// Readers are optimistic. They load a node's state, read the node, and check that the state is
// unchanged. Otherwise they restart from the root. A reader never waits for the writer.
//
// I1: slots below the count of a published state do not change until the node dies. The order in
//     use is not overwritten before the next state is published.
// I2: from its publication on, an entry is always reachable from the root and by links from its
//     neighbours. A replacement is linked before the node that it replaces dies, and holds
//     everything that the old node held.
// I3: a node never has the same state twice, even after it was reused.
// I4: all keys between the fences of a node share the node's prefix. The root's prefix is the one
//     that all keys share, and first_key_ begins with it.
// I5: nodes and entries are in the arena and are freed with it, so a reader may follow a stale
//     pointer. It uses the result only after a check.
//
// Thread safety: one thread at a time calls Insert. Any thread may call everything else.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "base/pin.h"
#include "key/key_comparator.h"
#include "key/lookup.h"
#include "memtable/arena.h"
#include "memtable/entry.h"
#include "platform/cpu.h"

namespace ashlar {

class EntryTree {
 public:
  static constexpr uint32_t kSlots = 32;
  static constexpr uint32_t kYoungSlots = 24;  // of a leaf that a split in the middle creates

  EntryTree(const KeyComparator& comparator, Arena* arena)
      : comparator_(comparator), arena_(arena) {}
  EntryTree(const EntryTree&) = delete;
  EntryTree& operator=(const EntryTree&) = delete;

  // Adds an entry in the format of memtable/entry.h. Requires: the entry outlives the tree.
  void Insert(const char* entry);

  // Offers the lookup the versions of its key with tags up to its seek tag, newest first, until it
  // needs no more.
  void Get(Lookup* lookup, const PinSource& owner) const;

  // Estimates the fraction of entries before the first version of user_key, from 0 to 1.
  double FractionBefore(const Slice& user_key) const;

  const KeyComparator& comparator() const { return comparator_; }

  // Asserts I1 to I4, order within and between nodes, and the links. Requires: no concurrent
  // Insert. Returns the number of entries.
  uint64_t CheckInvariants() const;

  class Walk;

 private:
  struct Node;
  struct SlotOrder;
  struct Items;
  struct Path;
  struct Fences;
  using Target = EntryTarget;
  // A node and the state in which it was reached.
  struct Place {
    const Node* node = nullptr;
    uint64_t state = 0;
  };
  // The position of a key relative to all keys of the tree, as far as the common prefix determines
  // it. Every key is before an empty tree.
  enum class Side : uint8_t { kBefore, kInside, kAfter };
  enum class Edge : uint8_t { kFirst, kLast };

  static constexpr uint32_t kTorn = ~uint32_t{0};

  int CompareEntry(const char* entry, const Target& target) const {
    return ashlar::CompareEntry(comparator_, entry, target);
  }
  // Half of KeyComparator::Head. The other half rarely distinguishes two keys of a full leaf.
  uint32_t Head(const Slice& user_key, uint32_t prefix_bytes) const {
    return static_cast<uint32_t>(comparator_.Head(user_key, prefix_bytes) >> 32);
  }
  int CompareWithPrefix(const Slice& user_key, uint32_t prefix_bytes) const;

  static SlotOrder LoadOrder(const Place& place);
  static bool StepAside(Edge direction, Place* place);
  static bool StepDown(const SlotOrder& order, uint32_t rank, Place* place);
  template <bool kUpper>
  uint32_t Rank(const Place& place, const Target& target, const SlotOrder& order) const;
  const Node* LoadRoot(uint64_t* state) const;
  Side EnterRoot(const Slice& user_key, Place* place) const;
  Side FindLeaf(const Target& target, Place* place) const;
  bool FindEdgeLeaf(Edge edge, Place* place) const;
  void GetOlder(const Target& from, Lookup* lookup, const PinSource& owner) const;

  // For the writer only; see entry_tree_insert.cc.
  struct Pair {
    Node* left;
    const char* separator;  // left < separator <= right
    Node* right;
  };
  struct OnEdges {
    bool first;
    bool last;
  };
  Node* DescendForInsert(const Target& target, Path* path) const;
  void DescendToLastLeaf(Path* path) const;
  void InsertAt(Node* node, uint32_t rank, const char* entry, Node* right_child);
  static void NoteTrend(Node* leaf, uint32_t rank);
  uint32_t SplitPoint(const Node& leaf, uint32_t rank) const;
  void GrowLeaf(const Path& path, Node* leaf, uint32_t rank, const char* entry);
  void SplitLeaf(const Path& path, Node* leaf, uint32_t rank, const char* entry);
  void SplitInner(const Path& path, uint32_t step, const Pair& pair);
  void ReplaceChild(const Path& path, uint32_t depth, const Pair& pair);
  static void SwapChild(Node* parent, uint32_t rank, Node* child);
  Fences FencesOf(const Path& path, uint32_t depth) const;
  void TakeHeads(Items* items, uint32_t prefix_bytes) const;
  void FillPart(Node* fresh, Items items, uint32_t prefix_bytes, const Fences& fences);
  void Fill(Node* fresh, const Items& items, uint32_t prefix_bytes);
  Node* Fresh(bool is_leaf, uint32_t slots);
  Node*& DeadNodes(bool is_leaf, uint32_t slots) {
    return !is_leaf ? dead_inners_ : (slots == kSlots ? dead_leaves_ : dead_young_leaves_);
  }
  static void Link(Node* node, Node* prev, Node* next);
  void FillCopy(Node* fresh, const Node& leaf, const Items& items, uint32_t prefix_bytes);
  void TakePlace(const Node& old, Node* first, Node* last);
  void Kill(Node* node);
  void AddFirst(const char* entry);
  void ShortenCommonPrefix(const Slice& user_key);
  static size_t EdgeBytesMax(const Node& root);
  Node* RebuildEdges(Node* old, OnEdges on);
  void KillEdges(Node* old, OnEdges on);

  struct Checker;

  const KeyComparator comparator_;
  Arena* const arena_;
  std::atomic<Node*> root_{nullptr};

  // A key that has the bytes of the common prefix. Constant once root_ is set.
  const char* first_key_ = nullptr;

  // For the writer only.
  uint32_t common_prefix_bytes_ = 0;
  const char* largest_ = nullptr;
  Node* last_leaf_ = nullptr;
  Node* dead_leaves_ = nullptr;
  Node* dead_young_leaves_ = nullptr;
  Node* dead_inners_ = nullptr;
};

// A position in the tree. It copies the entry pointers of one leaf at a time. A step within a leaf
// then touches no shared data, and Prev costs the same as Next. Entries added to the leaf after the
// copy are not seen. Entries added before the seek are always seen.
//
// Entries are stored in insertion order, so a walk prefetches entries some steps ahead. Within the
// leaf it takes their addresses from the copy, and in the next leaf it uses unchecked addresses.
// The next leaf itself is prefetched when this leaf is entered.
//
// Lifetime: a guard or a count must keep the tree's memtable alive.
class EntryTree::Walk {
 public:
  explicit Walk(const EntryTree* tree) : tree_(tree) {}

  bool Valid() const { return position_ < count_; }
  // entry, Next and Prev require Valid().
  const char* entry() const { return entries_[position_]; }
  void Next() {
    if (++position_ < count_) [[likely]] {
      return PrefetchAhead(position_ + ahead_, count_);
    }
    NextLeaf();
  }
  void Prev() {
    if (position_-- != 0) [[likely]] {
      return PrefetchAhead(position_ - ahead_, uint32_t{0} - 1);
    }
    PrevLeaf();
  }

  void SeekToFirst() { SeekToEdge(Edge::kFirst); }
  void SeekToLast() { SeekToEdge(Edge::kLast); }
  // Seek: the first entry at or after (user_key, tag). SeekForPrev: the last one at or before it.
  void Seek(const Slice& user_key, uint64_t tag);
  void SeekForPrev(const Slice& user_key, uint64_t tag);

 private:
  static constexpr uint32_t kAheadShort = 4;  // after a seek, which is mostly followed by few steps
  static constexpr uint32_t kAheadLong = 8;
  // For larger entries the hardware prefetcher follows the copy of the entry.
  static constexpr uint32_t kEntryLinesMax = 16;

  void PrefetchEntry(const char* entry) const {
    PrefetchRange(entry, size_t{entry_lines_} * kCacheLineBytes);
  }
  // beyond: the first position past the leaf in the direction of travel.
  void PrefetchAhead(uint32_t position, uint32_t beyond) const {
    if (position < count_) [[likely]] {
      PrefetchEntry(entries_[position]);
    } else if (position == beyond && neighbour_ != nullptr) {
      PrefetchNeighbour();
    }
  }
  void PrefetchNeighbour() const;
  void NoteEntryBytes(const DecodedEntry& entry);
  void SeekToEdge(Edge edge);
  Side SeekInLeaf(const Target& target);
  bool Copy(const Place& place);
  bool CopyNeighbour(Edge direction);
  void NextLeaf();
  void PrevLeaf();
  void SetInvalid() { position_ = count_ = 0; }

  const EntryTree* const tree_;
  Place place_;
  // The next leaf in the walk's direction, if it has been prefetched.
  const Node* neighbour_ = nullptr;
  Edge neighbour_edge_ = Edge::kFirst;  // where the walk would enter it
  uint32_t ahead_ = kAheadShort;        // the distance in steps of the prefetched entries
  // Cache lines to prefetch per entry: those of the entry at which the walk left the last leaf.
  uint32_t entry_lines_ = 2;
  uint32_t count_ = 0;
  uint32_t position_ = 0;  // wraps below 0 to a value that is not valid
  std::array<const char*, kSlots> entries_;
};

}  // namespace ashlar
