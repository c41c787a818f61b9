// Epoch reclamation: frees memory that readers reach without a lock or a count. A reader enters an
// epoch for one call (EpochGuard). A writer unlinks an object and retires it. The object is deleted
// once every guard of its domain that was entered before the unlinking has ended.
//
//   reader                          writer                          reclaimer
//   word.domain = domain            unlink object                   take the retired objects    (1)
//   word.epoch = global             domain.Retire: push             tag = ++global              (2)
//   LightFence                                                      HeavyFence                  (3)
//   p = shared.load(acquire)                                        scan words of the domain    (4)
//   ... use *p ...                                                  delete batches with
//   word.epoch = 0                                                  tag <= every epoch found != 0
//
// I1: an object retired after being unlinked is not deleted while any guard of its domain that was
//     entered before the unlinking is alive.
// I2: every deleter runs exactly once, on some thread, outside this module's locks.
// I3: batches of a domain are deleted in the order of their tags; within one pass, in no order.
// I4: a word's domain changes only while its epoch is 0. Only the slot's owner writes its words.
//
// Memory orders: word.epoch and word.domain are stored with release and loaded with acquire by the
// scan; global is incremented with acq_rel (2) and loaded with acquire at entry.
// Requires: guards are short and do no I/O, and no process created by fork uses the library.
// README.md has the proof and the reasons. Lifetime: see EpochDomain.
// Thread safety: any thread. The thread that enters a guard also leaves it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "platform/asymmetric_fence.h"
#include "platform/mutex.h"
#include "platform/thread.h"

namespace ashlar {

namespace internal {
extern constinit std::atomic<uint64_t> global_epoch;  // starts at 1, as 0 in a word means outside
// Returns the first word after `first` that is free or has the domain. Adds one if necessary.
EpochWord& FindEpochWord(EpochWord* first, const void* domain);
}  // namespace internal

using EpochDeleter = void (*)(void* object);

// The base of an object that can be retired without an allocation, because code that frees objects
// must not depend on one. `deleter` receives the object as this base.
struct EpochRetired {
  void (*deleter)(EpochRetired* self) = nullptr;
  EpochRetired* next = nullptr;
};

// Lifetime: outlives its guards and the owners of the retired objects. The destructor deletes the
// objects that are still retired. Until it returns, EpochReclaimAll on another thread may run
// deleters of this domain.
class EpochDomain {
 public:
  EpochDomain();
  // Requires: no guard of the domain exists or will exist, and the caller is no deleter.
  ~EpochDomain();
  EpochDomain(const EpochDomain&) = delete;
  EpochDomain& operator=(const EpochDomain&) = delete;

  // Takes over an object that has been unlinked. deleter(object) runs when no guard can see the
  // object any more. A deleter may enter guards and retire more objects, but must not call
  // Synchronize. Retire sometimes runs deleters of earlier objects, and does so earlier if `bytes`
  // (the memory that the deletion frees, if known) is large. Requires: the caller holds no lock
  // that a deleter takes.
  void Retire(EpochDeleter deleter, void* object, size_t bytes);
  void Retire(EpochDeleter deleter, void* object) { Retire(deleter, object, 0); }
  // Like Retire, but never runs a deleter, so that the caller may hold locks. Call Reclaim soon
  // after they are released.
  void RetireUnderLock(EpochDeleter deleter, void* object, size_t bytes);
  // Like the above for an object with its own list node. Cannot fail, because it does not allocate.
  // Requires: the object's deleter is set, and the object is not retired twice.
  void RetireUnderLock(EpochRetired* object, size_t bytes) noexcept;

  // Runs the deleters of all objects that no guard can see, and of the objects that those deleters
  // retire. Does not wait. Requires: the caller holds no lock that a deleter takes. In a deleter,
  // does nothing, because the pass that runs it also deletes what it retires into the same domain.
  void Reclaim();
  // Calls Reclaim if enough was retired since the last pass, as Retire does. Used after
  // RetireUnderLock when the memory is not needed soon.
  void ReclaimIfDue();
  // Repeats Reclaim for some milliseconds at most, until the guards that block it have ended. Used
  // by background threads that have retired much memory.
  void ReclaimPatiently();
  // Waits until every guard of the domain that exists now has ended, and every object that was
  // retired before this call has been deleted, on any thread. Does not wait for objects that their
  // deleters retire; call it again for those. Requires: the caller is not inside a guard of the
  // domain or a deleter, and holds no lock that a deleter takes.
  void Synchronize();

  // Objects retired and not yet deleted. May be outdated; for tests and statistics.
  size_t PendingObjects() const { return pending_objects_.load(std::memory_order_relaxed); }

 private:
  friend class EpochDomains;

  struct RetiredObject;
  // Objects that were retired before global_epoch became `tag`.
  struct Batch {
    uint64_t tag = 0;
    uint64_t oldest_tag = 0;  // the first objects' tag, before later ones were added
    EpochRetired* first = nullptr;
  };
  // A pass that is running deleters. It is on the stack of its thread.
  struct Pass {
    uint64_t oldest_tag = 0;
    Pass* next = nullptr;
  };
  // While guards block this many batches, newly retired objects are added to the newest batch. They
  // wait longer than necessary, but the list of batches does not grow.
  static constexpr size_t kBatchesMax = 32;

  void Push(EpochRetired* retired, size_t bytes) noexcept;
  uint64_t CloseBatch() ASHLAR_REQUIRES(mutex_);
  uint64_t OldestEpochInUse() const;
  void RunDeleters(std::span<const Batch> batches);
  bool RunPass();
  bool WaitForPasses(uint64_t tag);
  bool IsEnteredByThisThread() const;
  // Asserts I3 of the batches and the running passes.
  void CheckInvariants() const ASHLAR_REQUIRES(mutex_);

  // Pushed with release and emptied with acquire, so unlinking happens before emptying.
  std::atomic<EpochRetired*> newest_{nullptr};
  std::atomic<size_t> fresh_objects_{
      0};  // since the last pass; relaxed, because it only decides when to start one
  std::atomic<size_t> fresh_bytes_{0};
  std::atomic<size_t> pending_objects_{0};

  Mutex mutex_;
  CondVar pass_finished_;
  // In ascending order of tags. The first batch_count_ are in use.
  std::array<Batch, kBatchesMax> batches_ ASHLAR_GUARDED_BY(mutex_);
  size_t batch_count_ ASHLAR_GUARDED_BY(mutex_) = 0;
  Pass* running_passes_ ASHLAR_GUARDED_BY(mutex_) = nullptr;
  uint32_t visitors_ = 0;  // of EpochDomains, guarded by its mutex
};

// The operations of a guard. The thread that calls Enter calls Leave once for it.
class EpochEntry {
 public:
  void Enter(const EpochDomain& domain) {
    word_ = &CurrentThreadSlot().epoch;
    if (word_->depth != 0 && word_->domain.load(std::memory_order_relaxed) != &domain) [[unlikely]]
      word_ = &internal::FindEpochWord(word_, &domain);
    if (word_->depth++ == 0) {
      word_->domain.store(&domain, std::memory_order_release);
      word_->epoch.store(internal::global_epoch.load(std::memory_order_acquire),
                         std::memory_order_release);
      LightFence();
    }
  }
  void Leave() {
    if (--word_->depth == 0) word_->epoch.store(0, std::memory_order_release);
  }

 private:
  EpochWord* word_;
};

// The calling thread is inside an epoch of the domain while a guard exists. Guards nest. Of the
// nested guards of one domain, only the outermost has an effect.
class EpochGuard {
 public:
  explicit EpochGuard(const EpochDomain& domain) { entry_.Enter(domain); }
  ~EpochGuard() { entry_.Leave(); }
  EpochGuard(const EpochGuard&) = delete;
  EpochGuard& operator=(const EpochGuard&) = delete;

 private:
  EpochEntry entry_;
};

// For memory that several domains share: these call Reclaim or Synchronize on every EpochDomain of
// the process, or sum their PendingObjects.
void EpochReclaimAll();
void EpochSynchronizeAll();
size_t EpochPendingObjects();

}  // namespace ashlar
