// LeafIndex: the volatile upper part of the tree, a B+ tree from a key to its leaf. Its keys are
// the separators of the leaves. src/pmem/README.md has the protocol of readers and writers.
//
//   node       replaced | level | count | prefix | heads (8 bytes of each separator after the
//              prefix) | separators | count + 1 children
//              level 1: children are LeafRefs; the child right of a separator has the keys from it
//   LeafRef    version | offset of the leaf in the pool
//                version   63 .. 2 number of changes   1 dead   0 locked
//
// I1: the separators of a node never change. To change them, a new node is made and the old one is
//     marked replaced. A node that is not replaced covers at least the keys that it was made for.
// I2: a LeafRef is never freed while the index lives, and its versions never repeat, even when it
//     is reused for another leaf. So a reader may keep a LeafRef for any length of time.
// I3: while a leaf is in the index, the record of its separator stays in place.
//
// I4: until it is published, a change edits only nodes that it has made. So a change of many leaves
//     copies each node once.
//
// Memory: nodes are freed by epoch. A change allocates before its publication, never during it.
//
// Thread safety: Find* and LeafRef from any thread inside an EpochGuard; changes one at a time,
// under the owner's structure mutex.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

#include "ashlar/slice.h"
#include "base/compiler.h"
#include "execute/epoch.h"
#include "key/key_comparator.h"
#include "platform/cpu.h"
#include "pmem/layout.h"
#include "pmem/medium.h"
#include "pmem/record.h"

namespace ashlar::pmem {

struct LeafRef {
  static constexpr uint64_t kLocked = 1;
  static constexpr uint64_t kDead = 2;
  static constexpr uint64_t kChange = 4;

  std::atomic<uint64_t> version{kDead};
  std::atomic<PoolOffset> offset{0};

  // Whether everything read since `seen` belongs to that version. Pairs with the release in Unlock.
  // A reader of a word that a later holder of the lock stored also sees the lock, because the
  // holder's fence precedes the store.
  bool Unchanged(uint64_t seen) const {
    std::atomic_thread_fence(std::memory_order_acquire);
    return version.load(std::memory_order_relaxed) == seen;
  }
  bool TryLock(uint64_t seen) {
    if (!version.compare_exchange_strong(seen, seen | kLocked, std::memory_order_acquire,
                                         std::memory_order_relaxed))
      return false;
    std::atomic_thread_fence(std::memory_order_release);
    return true;
  }
  void Unlock() {
    version.store((version.load(std::memory_order_relaxed) & ~kLocked) + kChange,
                  std::memory_order_release);
  }
  // For a holder that changed nothing.
  void UnlockUnchanged() {
    version.store(version.load(std::memory_order_relaxed) & ~kLocked, std::memory_order_release);
  }
  void Kill() {
    version.store(((version.load(std::memory_order_relaxed) & ~kLocked) + kChange) | kDead,
                  std::memory_order_release);
  }
};

// A leaf and the version in which it was found.
struct FoundLeaf {
  LeafRef* ref = nullptr;
  uint64_t version = 0;
  PoolOffset offset = 0;
  bool is_last = false;  // no leaf is right of it

  bool Unchanged() const { return ref->Unchanged(version); }
  // Locked or dead when it was found.
  bool IsTaken() const { return (version & (LeafRef::kLocked | LeafRef::kDead)) != 0; }
};

// The same with the leaf's bounds: the records of the separators left and right of the leaf, or
// null. They are valid in the guard.
struct BoundedLeaf : FoundLeaf {
  const char* lower = nullptr;
  const char* upper = nullptr;
};

class LeafIndex {
 public:
  struct Entry {
    const char* separator;  // null for the first leaf
    LeafRef* leaf;
  };
  class Change;

  // `pool`: the base of the leaves' offsets, used for prefetching only. `pool_end`: separators are
  // read only up to here.
  LeafIndex(const KeyComparator& comparator, EpochDomain* epochs, const char* pool,
            const char* pool_end)
      : comparator_(comparator), epochs_(*epochs), pool_(pool), pool_end_(pool_end) {}
  ~LeafIndex();
  LeafIndex(const LeafIndex&) = delete;
  LeafIndex& operator=(const LeafIndex&) = delete;

  // Fills an empty index with leaves in order. Requires: at least one leaf.
  void Build(const std::vector<Entry>& leaves);

  // Returns the leaf that covers `key`. Like the next four, waits while the leaf is locked.
  FoundLeaf Find(const Slice& key) const;
  // In this order: the same leaf with its bounds, which are on lines that the search does not read;
  // the last leaf with keys before `key`; the first leaf; the last leaf.
  BoundedLeaf FindBounded(const Slice& key) const;
  BoundedLeaf FindBefore(const Slice& key) const;
  BoundedLeaf FindFirst() const;
  BoundedLeaf FindLast() const;
  // The same without waiting. The version says whether the leaf is locked. Requires: the structure
  // mutex.
  BoundedLeaf Peek(const Slice& key) const;
  BoundedLeaf PeekBefore(const Slice& key) const;
  BoundedLeaf PeekFirst() const;
  // For a thread that searches repeatedly. The attempts count from 0.
  static void AwaitTurn(uint32_t attempt);

  // The key of a separator's record, cut at the end of the pool. If a damaged pool refers to the
  // record twice, the record may have been overwritten since it was checked.
  Slice KeyOf(const char* separator) const {
    uint32_t bytes;
    memcpy(&bytes, separator + offsetof(RecordLengths, key_bytes), sizeof(bytes));
    const char* const key = separator + kRecordHeaderBytes;
    const auto room = static_cast<size_t>(pool_end_ - key);
    return Slice(key, std::min<size_t>(bytes, room));
  }

  // Returns an unlocked LeafRef for a leaf that is not yet in the index. DropRef takes back a
  // LeafRef that is dead or was never used.
  LeafRef* NewRef(PoolOffset leaf);
  void DropRef(LeafRef* ref) noexcept;

  // Both add to a change. If they throw std::bad_alloc, the change can only be destroyed. `leaf`
  // gets the keys from `separator` on. The leaf that had these keys keeps those before them.
  void PrepareInsert(const char* separator, LeafRef* leaf, Change* change);
  // Removes the leaf with this separator. Its left neighbour then covers its keys.
  void PrepareErase(const char* separator, Change* change);
  // Publishes the complete change at once. Requires: it is the only change since it was begun.
  void Publish(Change* change) noexcept;

  // Asserts I1 for all nodes, and that they have the separators in order with their heads.
  // Requires: the structure mutex, and that no record of the pool is referred to twice (Verify).
  void CheckInvariants() const;

  uint64_t VolatileBytes() const {
    return nodes_.load(std::memory_order_relaxed) * NodeBytes() +
           refs_.size() * kRefsPerSlab * sizeof(LeafRef);
  }

 private:
  struct Node;
  struct Step {
    Node* node;
    uint32_t rank;
  };
  using Path = std::vector<Step>;
  struct NodesPassed;
  enum class Side : uint8_t { kCovering, kBefore, kFirst, kLast };

  static constexpr size_t kRefsPerSlab = 1024;
  static constexpr uint32_t kHeightMax = 16;
  static size_t NodeBytes();

  template <typename Found, Side kSide>
  Found FindLeaf(const Slice* key) const;
  template <typename Found, Side kSide>
  Found Descend(const Slice* key, NodesPassed* passed) const;
  template <bool kUpper>
  uint32_t Rank(const Node& node, const Slice& key) const;
  Path PathTo(const Slice& key, const Change& change) const;
  static Node* Make(uint32_t level, Change* change);
  static Node* Own(Path* path, size_t depth, Change* change);
  static void Drop(Node* node, Change* change);
  void TakeHeads(Node* node) const;
  // Asserts the shape of a node. Reads nothing from the pool.
  static void CheckNode(const Node& node);
  void CheckKeys(const Node& node, const char* lower, const char* upper) const;
  uint64_t CheckTree(const Node& node, const char* lower, const char* upper) const;
  void InsertAt(Node* node, uint32_t rank, const char* separator, void* right) const;
  void DeleteTree(void* node, uint32_t level);

  // Prefetches all lines that a search may read, because the slot that it needs is known only after
  // the fingerprints have arrived.
  void PrefetchLeaf(PoolOffset leaf) const {
    const uintptr_t pool = reinterpret_cast<uintptr_t>(pool_) + leaf;
    ASHLAR_PREFETCH(reinterpret_cast<const char*>(pool));
    PrefetchRange(reinterpret_cast<const char*>(pool + kLeafSlots), kLeafBytes - kLeafSlots);
  }

  const KeyComparator comparator_;
  EpochDomain& epochs_;
  const char* const pool_;
  const char* const pool_end_;
  std::atomic<void*> root_{nullptr};
  std::atomic<uint64_t> nodes_{0};
  // Guarded by the structure mutex.
  std::vector<std::unique_ptr<std::array<LeafRef, kRefsPerSlab>>> refs_;
  std::vector<LeafRef*> free_refs_;
};

// New nodes that are not published yet, their places, and the nodes that they replace. A change
// that is not published frees its nodes.
class LeafIndex::Change {
 public:
  Change() = default;
  ~Change();
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;

 private:
  friend class LeafIndex;
  struct Placement {
    Node* parent;  // not made by the change
    uint32_t rank;
    Node* child;
  };
  std::vector<Node*> made_;
  std::vector<Node*> replaced_;
  std::vector<Placement> placements_;  // one for each place
  Node* root_ = nullptr;               // null: the root stays
};

}  // namespace ashlar::pmem
