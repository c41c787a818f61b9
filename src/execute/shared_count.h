// SharedCount: a reference count for an object that one owner publishes and many threads pin,
// without a shared line that every pin writes. README.md has the reasons and the memory orders.
//
//              Kill()              grace period over              count reaches 0
//   SHARDED ------------> DRAINING ------------------> CENTRAL --------------------> callback, once
//   adds use one          new adds use the central     the shards have been added
//   shard per thread      word; late adds may still    to the central word
//                         use shards
//
// Acquire is legal (a) inside an EpochGuard in which the object was found reachable, (b) while the
// caller holds a count, or (c) under a lock that orders it before Kill.
//
// I1: the callback runs exactly once, after Kill, when every Acquire has had its Release. It never
//     runs before the epoch in which Kill was called has ended.
// I2: every add to a shard happens inside a guard that began before the fold, because Kill's grace
//     period waits for every thread that saw SHARDED.
// I3: after the fold no new count can appear except while another count is held, because the object
//     was unlinked before Kill.
//
// Thread safety: any thread may call Acquire and Release. The owner calls Kill once. Lifetime: the
// domain outlives the count. The memory must stay allocated from Kill until the callback is called.
// The callback may free it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "execute/epoch.h"
#include "platform/cpu.h"

namespace ashlar {

class SharedCount : private EpochRetired {
 public:
  // callback(argument) runs when the object is killed and unpinned. It runs on the thread of the
  // last Release, outside any guard entered by this class, or on a thread that reclaims epochs.
  using Callback = void (*)(void* argument);
  // `epochs` is the domain of the guards in which the object is found.
  SharedCount(EpochDomain* epochs, Callback callback, void* argument)
      : EpochRetired{.deleter = &Fold},
        epochs_(*epochs),
        callback_(callback),
        argument_(argument) {}
  // Requires: the callback has been called, or Kill has not and no count is held.
  ~SharedCount();
  SharedCount(const SharedCount&) = delete;
  SharedCount& operator=(const SharedCount&) = delete;

  void Acquire();
  // The object may be deleted on return.
  void Release();

  // Drops the owner's reference after the object was unlinked. Does not run the callback, so that
  // it may be called under locks. Call EpochDomain::Reclaim soon after they are released.
  void Kill() noexcept;

  // The number of counts held. Requires: Kill has not been called. Exact if no Acquire runs at the
  // same time (then 0 is final), otherwise an estimate.
  int64_t Count() const;

  EpochDomain& epochs() const { return epochs_; }

 private:
  struct alignas(kCacheLineBytes) Shard {
    std::atomic<int64_t> count{0};
  };
  static constexpr int64_t kOwnerBias = int64_t{1} << 62;

  Shard& ShardOfThisThread();
  Shard* AllocateShards();
  int64_t SumShards() const;
  static void Fold(EpochRetired* self);

  EpochDomain& epochs_;
  const Callback callback_;
  void* const argument_;
  std::atomic<Shard*> shards_{nullptr};  // null until the first Acquire; owned
  std::atomic<bool> killed_{false};
  std::atomic<int64_t> central_{kOwnerBias};
};

// Holds one count for a scope.
class SharedCountPin {
 public:
  explicit SharedCountPin(SharedCount& count) : count_(count) { count_.Acquire(); }
  ~SharedCountPin() { count_.Release(); }
  SharedCountPin(const SharedCountPin&) = delete;
  SharedCountPin& operator=(const SharedCountPin&) = delete;

 private:
  SharedCount& count_;
};

}  // namespace ashlar
