// RetiredObjects: objects of the heap that are durably unlinked, and that readers may still use.
//
//   Add -> batch of the thread -> (full) -> epoch over -> not pinned -> free
//                                                            \-> pinned: checked again later
//
// Each change of an entry retires an object, so threads do not share a batch. With one batch and
// its mutex, four threads waited more than they worked. Threads beyond kBatches share batches.
//
// I1: an object is passed to `free` once, after every guard that could have found it has ended, and
//     not while it is pinned. Nothing pins it later: pins are taken inside such a guard.
// I2: the cost of an object does not depend on the number of pinned objects. For each object that
//     leaves a batch, at most kAskedPerObject pinned objects are checked again.
//
// I3: no call fails. An object whose entry cannot be allocated stays in use until the next open.
//
// Thread safety: any thread. `free` is called without locks of this class, on the thread that ends
// an epoch. Lifetime: Reclaim before destruction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "execute/epoch.h"
#include "platform/cpu.h"
#include "platform/mutex.h"
#include "pmem/layout.h"
#include "pmem/pin_table.h"

namespace ashlar::pmem {

class RetiredObjects {
 public:
  using Free = std::function<void(std::span<const PoolOffset>)>;

  RetiredObjects(const PinTable* pins, EpochDomain* epochs, Free free);
  ~RetiredObjects();
  RetiredObjects(const RetiredObjects&) = delete;
  RetiredObjects& operator=(const RetiredObjects&) = delete;

  // `bytes`: approximate; large batches are freed earlier. May run deleters of the epoch domain.
  void Add(PoolOffset object, uint64_t bytes) noexcept;
  // Waits for every guard and frees the objects that were added before and are not pinned.
  // Requires: no guard of this thread.
  void FinishBatches() noexcept;
  // The same, and checks every pinned object again.
  void Reclaim() noexcept;
  // Bytes of volatile state.
  uint64_t VolatileBytes() const;
  // Asserts that no full batch is kept back.
  void CheckInvariants() const;

 private:
  static constexpr size_t kAskedPerObject = 2;
  static constexpr size_t kBatches = 8;
  struct Batch;
  // A batch that is not yet handed to the epoch; null: none.
  struct alignas(kCacheLineBytes) OpenBatch {
    mutable Mutex mutex;
    std::unique_ptr<Batch> batch ASHLAR_GUARDED_BY(mutex);
  };

  std::unique_ptr<Batch> NewBatch() noexcept;
  void HandOver(std::unique_ptr<Batch> batch) noexcept;
  void EpochIsOver(std::vector<PoolOffset>* objects) noexcept;
  void AskLater(PoolOffset pinned) noexcept ASHLAR_REQUIRES(mutex_);
  // Checks the pinned_max oldest pinned objects and moves those that are no longer pinned.
  // Requires: *unpinned has room for them.
  void TakeUnpinned(size_t pinned_max, std::vector<PoolOffset>* unpinned) noexcept
      ASHLAR_REQUIRES(mutex_);

  const PinTable* const pins_;
  EpochDomain* const epochs_;
  const Free free_;
  std::array<OpenBatch, kBatches> open_;  // [slot of the thread % kBatches]
  mutable Mutex mutex_;
  // Their epoch is over, and they were pinned at their last check. The front is checked next.
  std::deque<PoolOffset> pinned_ ASHLAR_GUARDED_BY(mutex_);
};

}  // namespace ashlar::pmem
