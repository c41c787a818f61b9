// Epoch reclamation: when may memory that readers reach without a lock or a count be freed?
//
// A reader enters an epoch for the length of one call (EpochGuard), loads shared pointers, and uses what they point to. A writer unlinks an object,
// so that later loads cannot find it, and retires it. It is deleted once every guard that was entered before is gone.
//
//   reader                          writer                          reclaimer
//   slot.epoch = global             unlink object                   take the retired objects    (1)
//   LightFence                      Retire: push                    tag = ++global              (2)
//   p = shared.load(acquire)                                        HeavyFence                  (3)
//   ... use *p ...                                                  scan slots                  (4)
//   slot.epoch = 0                                                  delete batches with tag <= every slot's epoch that is not 0
//
// Why that is enough. Let a reader hold a guard while a batch is deleted. Either the scan (4) saw the reader's slot: then its epoch >= tag was read
// from the increment (2) or a later one, which happened after the unlinking, so the reader cannot have found the object. Or the scan did not see the
// store: then the reader's loads came after the heavy fence (3), hence after the unlinking.
//
// I1: an object retired after being unlinked is not deleted while any guard that was entered before the unlinking is alive.
// I2: every deleter runs exactly once, on some thread, outside this module's lock.
// I3: batches are deleted in the order of their tags; within one pass, objects in no order.
//
// Memory orders. slot.epoch: stored with release at entry and exit, loaded with acquire by the scan, so that what a reader did under a guard happens
// before the deletion. global: incremented with acq_rel (2), loaded with acquire at entry.
//
// A counted guard (one atomic add at entry) was rejected: every read would write a shared line.
//
// Process-wide: one counter and one list for all databases, because a guard costs one store that way. A process created by fork must not use the
// library.
//
// Guards must be short: a thread that stays in one keeps everything retired since from being freed. No I/O happens inside a guard: a call that may
// have to wait for a file uses a ReadGuard (execute/read_guard.h). Two waits remain. The system may have to read a page of a mapped file. And code of
// the program that reads call for each key (Comparator, SliceTransform, MergeOperator::ShouldMerge) runs inside guards; it should neither block nor
// take long.
//
// Thread safety: any thread. A guard is left by the thread that entered it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "platform/asymmetric_fence.h"
#include "platform/thread.h"

namespace ashlar {

namespace internal {
extern constinit std::atomic<uint64_t> global_epoch;  // starts at 1: 0 in a slot means outside
}  // namespace internal

// The calling thread is inside an epoch while one of these lives. Nestable: only the outermost does anything.
class EpochGuard {
 public:
  EpochGuard() : slot_(CurrentThreadSlot()) { Enter(); }
  ~EpochGuard() { Leave(); }
  EpochGuard(const EpochGuard&) = delete;
  EpochGuard& operator=(const EpochGuard&) = delete;

 private:
  friend class ReadGuard;

  void Enter() {
    if (slot_.depth++ == 0) {
      slot_.epoch.store(internal::global_epoch.load(std::memory_order_acquire), std::memory_order_release);
      LightFence();
    }
  }
  void Leave() {
    if (--slot_.depth == 0) slot_.epoch.store(0, std::memory_order_release);
  }

  ThreadSlot& slot_;
};

using EpochDeleter = void (*)(void* object);

// Hands over an object that has been unlinked: deleter(object) runs when no guard can still see it. A deleter may enter guards and retire more
// objects; it must not call EpochSynchronize. Now and then Retire runs deleters of earlier objects itself: hold no lock that a deleter takes. `bytes`
// (what deleting gives back, as far as known) makes it do so earlier for large objects.
void Retire(EpochDeleter deleter, void* object, size_t bytes);
inline void Retire(EpochDeleter deleter, void* object) { Retire(deleter, object, 0); }
// The same, but never runs a deleter: for callers that hold locks. Call EpochReclaim soon after they are released.
void RetireUnderLock(EpochDeleter deleter, void* object, size_t bytes);

template <typename T>
void RetireObject(T* object) {
  Retire([](void* p) { delete static_cast<T*>(p); }, const_cast<void*>(static_cast<const void*>(object)), sizeof(T));
}
template <typename T>
void RetireObjectUnderLock(T* object) {
  RetireUnderLock([](void* p) { delete static_cast<T*>(p); }, const_cast<void*>(static_cast<const void*>(object)), sizeof(T));
}

// Runs the deleters of everything that no guard can still see, and of what they retire in turn. Does not wait. Hold no lock that a deleter takes.
// Inside a deleter it does nothing.
void EpochReclaim();

// EpochReclaim, again and again for some milliseconds at most, until guards that are in the way are gone: for a background thread that has given up
// much memory.
void EpochReclaimPatiently();

// Waits until every guard that is alive now is gone, and until every object retired before this call has been deleted, on whichever thread. What
// those deleters retire in turn is not waited for: call again for that. Must not be called inside a guard or a deleter, nor with a lock held that a
// deleter takes.
void EpochSynchronize();

// Objects retired and not yet deleted; a moment's value, for tests and statistics.
size_t EpochPendingObjects();

}  // namespace ashlar
