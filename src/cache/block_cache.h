// BlockCache: the memory that uncompressed blocks share, and the clock that decides which stay.
//
//   table                    cache
//   slot[0] ──> entry        shard 0: ring [entry, entry, ...]   hand: clears used bits, and
//   slot[1] ──> null         shard 1: ring [entry, ...]          evicts entries without one
//
//             Insert           evict, Erase             grace period, last count released
//   (maker's) ──────> LINKED ──────────────> DETACHED ──────────────────────────────────> freed
//                     slot -> entry          slot = null                            charge returned
//
// A slot is an atomic pointer in the table of the block. README.md has the design and its reasons.
//
// I1: the charges of all LINKED or DETACHED entries and of reserved metadata never exceed the
//     capacity. After SetCapacity has lowered it, they may, until the pins above it are released.
// I2: an entry is in the ring of its slot's shard exactly while the slot points to it. Both change
//     under the shard's lock.
// I3: the base count of an entry is dropped only a grace period after its slot was cleared. So a
//     thread that loads a slot inside a guard may use the entry until the guard ends, and count it.
// I4: an entry with a count in addition to the base count is not evicted.
// I5: an entry is retired into the epoch domain of its slot, under the shard's lock under which it
//     is unlinked. So after Erase, no entry from the slots is retired.
// Locks: a shard's mutex is a leaf. Thread safety: all methods from any thread. Lifetime: tables
// erase their slots before they are destroyed; pinned entries may outlive the cache.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ashlar/cache.h"
#include "base/pin.h"
#include "execute/epoch.h"
#include "platform/cpu.h"
#include "platform/mutex.h"

namespace ashlar {

class CacheEntry;
using BlockSlot = std::atomic<CacheEntry*>;

// The capacity and its used part. Shared by the cache and every entry that it charges.
class CacheBudget {
 public:
  explicit CacheBudget(size_t capacity) : capacity_(capacity) {}

  bool TryReserve(size_t bytes);
  void Release(size_t bytes) { usage_.fetch_sub(bytes, std::memory_order_relaxed); }
  size_t usage() const { return usage_.load(std::memory_order_relaxed); }
  size_t capacity() const { return capacity_.load(std::memory_order_relaxed); }
  void set_capacity(size_t bytes) { capacity_.store(bytes, std::memory_order_relaxed); }
  std::atomic<size_t>& detached() { return detached_; }
  std::atomic<size_t>& waiting() { return waiting_; }

  void Ref() { refs_.fetch_add(1, std::memory_order_relaxed); }
  void Unref() {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 private:
  ~CacheBudget() = default;

  std::atomic<size_t> capacity_;
  std::atomic<size_t> usage_{0};     // every charge, reserved metadata included
  std::atomic<size_t> detached_{0};  // of usage_: the charges of detached entries
  std::atomic<size_t> waiting_{0};   // of detached_: entries whose grace period is not over
  std::atomic<size_t> refs_{1};
};

// Base class of cached objects. It begins with one count, which its maker owns.
class CacheEntry : private EpochRetired {
 public:
  // destroy: frees the entry and all that it owns. charge: its bytes.
  using Destroy = void (*)(CacheEntry* entry);
  CacheEntry(Destroy destroy, size_t charge)
      : EpochRetired{.deleter = &EndGrace}, destroy_(destroy), charge_(charge) {}
  CacheEntry(const CacheEntry&) = delete;
  CacheEntry& operator=(const CacheEntry&) = delete;

  // Requires: the caller is in the guard in which it found the entry, or holds another count.
  void AddRef() { refs_.fetch_add(1, std::memory_order_relaxed); }
  void Release() {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) Free();
  }
  // Sets the used bit for the clock. Writes only if it is not set.
  void MarkUsed() {
    if (!used_.load(std::memory_order_relaxed)) used_.store(true, std::memory_order_relaxed);
  }
  // The current number of counts, including the slot's. May change at any time.
  uint32_t Refs() const { return refs_.load(std::memory_order_acquire); }
  size_t charge() const { return charge_; }

  static const PinOps kPinOps;
  PinSource pin_source() { return PinSource{&kPinOps, this}; }

 protected:
  ~CacheEntry() = default;

 private:
  friend class BlockCache;
  static void EndGrace(EpochRetired* retired);
  void Free();

  std::atomic<uint32_t> refs_{1};
  std::atomic<bool> used_{false};
  bool detached_ = false;    // written before the entry is retired, read by Free
  uint32_t ring_index_ = 0;  // guarded by the shard's mutex
  const Destroy destroy_;
  const size_t charge_;
  // Set by Insert, before the entry is published.
  BlockSlot* slot_ = nullptr;
  EpochDomain* epochs_ = nullptr;  // the entry is retired into it
  CacheBudget* budget_ = nullptr;  // null: the entry was never inserted
};

class BlockCache final : public Cache {
 public:
  explicit BlockCache(size_t capacity);
  ~BlockCache() override;

  // Publishes the entry in the slot and adopts the caller's count. Returns false if the slot has
  // another entry, pins fill the cache, or the list of entries cannot grow. The caller then keeps
  // its count and uses the entry uncached. May evict entries and free evicted ones. epochs: the
  // domain of the guards in which the slot is read; it outlives the slot.
  [[nodiscard]] bool Insert(BlockSlot* slot, EpochDomain* epochs, CacheEntry* entry);

  // Clears the slots of one table. Requires: they have one epoch domain, and there is no concurrent
  // or later Insert into them.
  void Erase(std::span<BlockSlot> slots);

  // Charges memory that is not an entry, such as index and filter blocks. Returns false and charges
  // nothing if it does not fit next to the pinned entries.
  [[nodiscard]] bool ReserveMetadata(size_t bytes);
  void ReleaseMetadata(size_t bytes);

  // Cache
  const char* Name() const override { return "AshlarBlockCache"; }
  // Waits for the guards of all domains, like EraseUnRefEntries. Requires: outside epoch guards.
  void SetCapacity(size_t capacity) override;
  size_t GetCapacity() const override { return budget_->capacity(); }
  // Only recorded: the limit is always strict.
  void SetStrictCapacityLimit(bool strict) override {
    strict_.store(strict, std::memory_order_relaxed);
  }
  bool HasStrictCapacityLimit() const override { return strict_.load(std::memory_order_relaxed); }
  size_t GetUsage() const override { return budget_->usage(); }
  // Includes entries that wait for a grace period. Visits every entry, in pieces. The result is
  // approximate while entries are inserted or evicted.
  size_t GetPinnedUsage() const override;
  size_t GetOccupancyCount() const override;
  void EraseUnRefEntries() override;

  // For tests: asserts I2 and I3 of each shard, and the sum of the charges (I1). Requires: no
  // concurrent use of the cache.
  void CheckInvariants() const;

 private:
  static constexpr size_t kShards = 16;

  struct alignas(kCacheLineBytes) Shard {
    mutable Mutex mutex;
    std::vector<CacheEntry*> ring ASHLAR_GUARDED_BY(mutex);
    size_t hand ASHLAR_GUARDED_BY(mutex) = 0;
  };

  static size_t ShardIndex(const BlockSlot* slot) {
    return (reinterpret_cast<uintptr_t>(slot) / sizeof(BlockSlot)) % kShards;
  }
  // Neighbouring slots are in different shards, so that a scan does not contend for one lock.
  Shard& ShardOf(const BlockSlot* slot) { return shards_[ShardIndex(slot)]; }
  // Asserts I2 and I3 of its entries.
  void CheckShard(const Shard& shard) const ASHLAR_REQUIRES(shard.mutex);
  bool Reserve(size_t bytes);
  // Moves the clock by a bounded number of entries, and detaches unused ones until their charges
  // reach `bytes`.
  void EvictSome(size_t bytes);
  // Detaches entries with charges of `bytes`, if so many are not pinned. May visit all entries.
  void EvictAsked(size_t bytes);
  size_t SweepShard(Shard& shard, size_t bytes, size_t looks) ASHLAR_REQUIRES(shard.mutex);
  // Clears the slot, detaches the entry and retires it.
  void Unlink(Shard& shard, CacheEntry* entry) ASHLAR_REQUIRES(shard.mutex);
  // The part of the capacity that eviction keeps free.
  static size_t ReserveBytes(size_t capacity) { return capacity / 16; }

  CacheBudget* const budget_;
  std::array<Shard, kShards> shards_;
  std::atomic<size_t> next_shard_{0};
  std::atomic<size_t> metadata_{0};
  std::atomic<bool> strict_{false};
};

}  // namespace ashlar
