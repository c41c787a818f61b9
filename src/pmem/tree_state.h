// TreeState: the state of an open tree. The following classes work on it. They use each other only
// downward in this list:
//
//   tree.h            the PersistentTree of the user: arguments, closing
//   batch_writer.h    many changes at once
//   leaf_writer.h     one change of one key; splits and merges
//   tree_iterator.h, tree_check.h, leaf_mark.h    readers of all leaves
//
// Locks, in this order: scarce_mutex -> an operation of the medium (may wait for a checkpoint) ->
// structure_mutex -> leaves (LeafRef) -> the heap's mutex -> the log's mutex. A thread that holds a
// leaf's lock waits for another leaf only if it holds structure_mutex, so the order among leaves
// does not matter. Space is allocated before all of these except the first. An EpochGuard is
// entered after the operation begins and, except for splits, after structure_mutex.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "execute/epoch.h"
#include "platform/mutex.h"
#include "pmem/heap.h"
#include "pmem/leaf.h"
#include "pmem/leaf_index.h"
#include "pmem/medium.h"
#include "pmem/pin_table.h"
#include "pmem/split_strategy.h"

namespace ashlar::pmem {

// Space for the next split. Taken ahead, because nothing may be allocated where a split happens.
struct SplitReserve {
  PoolOffset leaf = 0;
  PoolOffset separator = 0;
  uint64_t separator_bytes = 0;
  // For entries that the split strategy copies, in the order of the leaf's entries.
  std::vector<PoolOffset> copies;
};

struct TreeState {
  TreeState(std::unique_ptr<Medium> pool_medium, const PoolHeader& header,
            const Comparator* comparator, SplitStrategy strategy,
            std::function<bool()> refuse_allocation)
      : medium(std::move(pool_medium)),
        pins(std::make_unique<PinTable>(medium->view(), medium->bytes())),
        order(comparator),
        split_strategy(strategy),
        first_leaf(header.first_leaf),
        heap(medium.get(), pins.get(), &epochs, header, std::move(refuse_allocation)),
        index(order.comparator, &epochs, medium->view(), medium->view() + medium->bytes()) {}

  // The reason why the tree takes no changes, or Ok.
  Status ReadOnlyReason() const;
  Status DamagedRecord(PoolOffset record) const;
  // Taken from the index, because damage may have changed the leaf's own word since the open.
  // Requires: the leaf is not the first one.
  PoolOffset SeparatorOf(const BoundedLeaf& leaf) const {
    return static_cast<PoolOffset>(leaf.lower - medium->view());
  }

  // Retires the objects that readers find without a lock. It is the first member, because it has to
  // outlive those objects.
  EpochDomain epochs;
  const std::unique_ptr<Medium> medium;
  const std::unique_ptr<PinTable> pins;
  const KeyOrder order;
  const SplitStrategy split_strategy;
  const PoolOffset first_leaf;
  Heap heap;
  LeafIndex index;

  // Held while leaves are added or removed.
  Mutex& structure_mutex() ASHLAR_RETURN_CAPABILITY(kStructureMutex) { return structure_mutex_; }
  SplitReserve reserve ASHLAR_GUARDED_BY(kStructureMutex);
  // Held from the use of a class's held-back object until the replaced object is free again.
  Mutex& scarce_mutex() ASHLAR_RETURN_CAPABILITY(kScarceMutex) { return scarce_mutex_; }

  // Statistics, with relaxed memory order.
  std::atomic<uint64_t> entries{0};
  std::atomic<uint64_t> leaves{0};
  std::atomic<uint64_t> splits{0};
  std::atomic<uint64_t> merges{0};
  std::atomic<uint64_t> restructurings{0};  // batches that added or dropped leaves
  std::atomic<uint64_t> iterators{0};

 private:
  Mutex structure_mutex_;
  Mutex scarce_mutex_;
};

// Unlocks a leaf at the end of a scope.
class ASHLAR_SCOPED_CAPABILITY LeafLock {
 public:
  // Requires: the leaf is locked.
  explicit LeafLock(LeafRef* ref) ASHLAR_ACQUIRE(kLeafLock) ASHLAR_EXCLUDES(kHeapMutex)
      : ref_(ref) {}
  ~LeafLock() ASHLAR_RELEASE() {
    if (ref_ != nullptr) ref_->Unlock();
  }
  LeafLock(const LeafLock&) = delete;
  LeafLock& operator=(const LeafLock&) = delete;

  void Release() {
    ref_->Unlock();
    ref_ = nullptr;
  }
  // Requires: nothing was stored.
  void ReleaseUnchanged() {
    ref_->UnlockUnchanged();
    ref_ = nullptr;
  }

 private:
  LeafRef* ref_;
};

// The locks of a leaf and of its right neighbour. Requires: the structure mutex, which orders them.
class ASHLAR_SCOPED_CAPABILITY LeafPairLock {
 public:
  // Requires: both are locked.
  LeafPairLock(LeafRef* left, LeafRef* right) ASHLAR_ACQUIRE(kLeafLock) ASHLAR_EXCLUDES(kHeapMutex)
      : left_(left), right_(right) {}
  ~LeafPairLock() ASHLAR_RELEASE() {
    if (left_ == nullptr) return;
    right_->Unlock();
    left_->Unlock();
  }
  LeafPairLock(const LeafPairLock&) = delete;
  LeafPairLock& operator=(const LeafPairLock&) = delete;

  // Requires: nothing was stored.
  void ReleaseUnchanged() {
    right_->UnlockUnchanged();
    left_->UnlockUnchanged();
    left_ = nullptr;
  }
  // Requires: the right leaf is out of the index.
  void ReleaseMerged() {
    left_->Unlock();
    right_->Kill();
    left_ = nullptr;
  }

 private:
  LeafRef* left_;
  LeafRef* const right_;
};

}  // namespace ashlar::pmem
