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
// Requires: guards are short and do no I/O; no process created by fork uses the library. README.md
// has the proof and the reasons. Lifetime: see EpochDomain.
// Thread safety: any thread; a guard is left by the thread that entered it.
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
extern constinit std::atomic<uint64_t> global_epoch;  // starts at 1: 0 in a word means outside
// The first word after `first` that is free or has the domain; adds one if there is none.
EpochWord& FindEpochWord(EpochWord* first, const void* domain);
}  // namespace internal

using EpochDeleter = void (*)(void* object);

// The base of an object that can be retired without an allocation, because code that frees objects
// must not depend on one. `deleter` gets the object as this base.
struct EpochRetired {
  void (*deleter)(EpochRetired* self) = nullptr;
  EpochRetired* next = nullptr;
};

// Lifetime: outlives its guards, and the owners of the retired objects. The destructor deletes the
// objects that are still retired; until it returns EpochReclaimAll on another thread may run
// deleters of this domain.
class EpochDomain {
 public:
  EpochDomain();
  // Requires: no guard of the domain, and none comes. Not in a deleter.
  ~EpochDomain();
  EpochDomain(const EpochDomain&) = delete;
  EpochDomain& operator=(const EpochDomain&) = delete;

  // Takes over an object that has been unlinked. deleter(object) runs when no guard can see it any
  // more. A deleter may enter guards and retire more objects; it must not call Synchronize. Retire
  // sometimes runs deleters of earlier objects. Requires: the caller holds no lock that a deleter
  // takes. With large `bytes` (the memory that the deletion frees, if known) Retire does so
  // earlier.
  void Retire(EpochDeleter deleter, void* object, size_t bytes);
  void Retire(EpochDeleter deleter, void* object) { Retire(deleter, object, 0); }
  // The same, but never runs a deleter: for callers that hold locks. Call Reclaim soon after they
  // are released.
  void RetireUnderLock(EpochDeleter deleter, void* object, size_t bytes);
  // The same for an object with its own list node. It cannot fail, because it does not allocate.
  // Requires: the object's deleter is set, and the object is not retired twice.
  void RetireUnderLock(EpochRetired* object, size_t bytes) noexcept;

  // Runs the deleters of all objects that no guard can see, and of the objects that those deleters
  // retire. Does not wait. Hold no lock that a deleter takes. Inside a deleter it does nothing,
  // because the pass that runs the deleter also deletes what it retires into the same domain.
  void Reclaim();
  // Reclaim, if enough was retired since the last pass: as Retire does. For after RetireUnderLock,
  // where memory is not missed soon.
  void ReclaimIfDue();
  // Repeats Reclaim for at most some milliseconds, until the guards that block it have ended. For a
  // background thread that has released much memory.
  void ReclaimPatiently();
  // Waits until every guard of the domain that exists now has ended, and every object that was
  // retired before this call has been deleted, on any thread. Does not wait for objects that those
  // deleters retire; call it again for them. Requires: the caller is not inside a guard of the
  // domain or a deleter, and holds no lock that a deleter takes.
  void Synchronize();

  // Objects retired and not yet deleted; a moment's value, for tests and statistics.
  size_t PendingObjects() const { return pending_objects_.load(std::memory_order_relaxed); }

 private:
  friend class EpochDomains;

  struct RetiredObject;
  // Objects that were retired before global_epoch became `tag`.
  struct Batch {
    uint64_t tag = 0;
    uint64_t oldest_tag = 0;  // of the objects that came first, when later ones were added
    EpochRetired* first = nullptr;
  };
  // A pass that is running deleters: on the stack of its thread.
  struct Pass {
    uint64_t oldest_tag = 0;
    Pass* next = nullptr;
  };
  // While a guard keeps this many batches waiting, the newest one takes all newly retired objects.
  // They wait longer than necessary, and the list of batches does not grow.
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

  // Pushed with release, taken as a whole with acquire: unlinking happens before taking.
  std::atomic<EpochRetired*> newest_{nullptr};
  std::atomic<size_t> fresh_objects_{
      0};  // since the last pass; relaxed: only decide when to start one
  std::atomic<size_t> fresh_bytes_{0};
  std::atomic<size_t> pending_objects_{0};

  Mutex mutex_;
  CondVar pass_finished_;
  // Ascending tags; the first batch_count_ are in use.
  std::array<Batch, kBatchesMax> batches_ ASHLAR_GUARDED_BY(mutex_);
  size_t batch_count_ ASHLAR_GUARDED_BY(mutex_) = 0;
  Pass* running_passes_ ASHLAR_GUARDED_BY(mutex_) = nullptr;
  uint32_t visitors_ = 0;  // of EpochDomains, guarded by its mutex
};

// The verbs of a guard. Each Enter has its Leave, by the same thread.
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

// The calling thread is inside an epoch of the domain while one of these lives. Nestable: of guards
// of one domain only the outermost does anything.
class EpochGuard {
 public:
  explicit EpochGuard(const EpochDomain& domain) { entry_.Enter(domain); }
  ~EpochGuard() { entry_.Leave(); }
  EpochGuard(const EpochGuard&) = delete;
  EpochGuard& operator=(const EpochGuard&) = delete;

 private:
  EpochEntry entry_;
};

// For memory that several domains share: Reclaim and Synchronize on every EpochDomain of the
// process, and the sum of their PendingObjects.
void EpochReclaimAll();
void EpochSynchronizeAll();
size_t EpochPendingObjects();

}  // namespace ashlar
