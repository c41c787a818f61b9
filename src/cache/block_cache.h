// BlockCache: the memory that uncompressed blocks share, and the rule that decides which of them
// stay.
//
//   table                        cache
//   slot[0] ──> entry            shard 0: ring [entry, entry, ...]  hand ─┐ clock: clears the used bit of what it passes,
//   slot[1] ──> null             shard 1: ring [entry, ...]               │ evicts what was not used since
//   slot[2] ──> entry            ...                                      ▼
//
// A slot is an atomic pointer in the table that the block belongs to. A hit is one load of the slot
// inside an epoch guard: no hash table, no count, no lock. Entries know their slot, so eviction
// needs no look-up either.
//
//                Insert                    evict / Erase                    grace period, last Pin gone
//   (owned by ───────────> LINKED ───────────────────────────> DETACHED ──────────────────────────────> freed, charge given back
//    its maker)            slot -> entry, count >= 1           slot = null, base count dropped after the grace period
//        └── not taken: used by its maker around the cache, freed with its last count
//
// I1: the sum of the charges of all entries LINKED or DETACHED, and of reserved metadata, never
//     exceeds the capacity, except between SetCapacity lowering it and the last pin above it going
//     away.
// I2: an entry is in the ring of its slot's shard exactly while the slot points to it. Both change
//     under the shard's lock.
// I3: the base count of an entry is dropped only a grace period after its slot was cleared. So
//     whoever loads a slot inside a guard may use the entry until the guard ends, and may take a
//     count on it.
// I4: no entry with a count besides the base one is evicted: it would free nothing.
//
// I5: an entry is retired into the epoch domain of its slot, under the shard's lock that it is
//     unlinked under. So when Erase has returned, nothing that was in the slots will be retired
//     later, and slots and domain may go.
//
// Databases may share a cache: any thread may evict, and so retire into, any of their domains.
// Where memory is needed, all domains are reclaimed.
//
// Because a detached entry stays charged until it is freed, and its evictor is often inside a guard
// itself, eviction runs ahead of need by a small reserve; an Insert looks at a bounded number of
// entries. When even the reserve is used up, Insert refuses, and the caller reads around the cache:
// reads never fail for lack of cache.
//
// A hash table from (file, offset) to entry was rejected: it costs a probe, a count and a shared
// line per hit.
//
// Memory orders: a slot is stored with release and loaded with acquire. Counts: added relaxed (I3),
// dropped acq_rel. The used bit is relaxed. Locks: a shard's mutex is a leaf; nothing is called
// under it but RetireUnderLock, which takes no lock. Lifetime: tables erase their slots before they
// die. Entries may outlive the cache (pins): they hold on to its budget. Thread safety: all methods
// from any thread.
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
#include "platform/mutex.h"

namespace ashlar {

class CacheEntry;
using BlockSlot = std::atomic<CacheEntry*>;

// The capacity and what is used of it; shared by the cache and every entry that it charges.
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
  std::atomic<size_t> detached_{0};  // the part of it that belongs to detached entries
  std::atomic<size_t> waiting_{0};   // the part of that whose grace period is not over
  std::atomic<size_t> refs_{1};
};

// Base of what is cached. Begins with one count, its maker's.
class CacheEntry : private EpochRetired {
 public:
  // destroy frees the entry with everything that it owns. charge: all bytes of it.
  using Destroy = void (*)(CacheEntry* entry);
  CacheEntry(Destroy destroy, size_t charge)
      : EpochRetired{.deleter = &EndGrace}, destroy_(destroy), charge_(charge) {}
  CacheEntry(const CacheEntry&) = delete;
  CacheEntry& operator=(const CacheEntry&) = delete;

  // Legal inside the guard in which the entry was found in its slot, or beside a count.
  void AddRef() { refs_.fetch_add(1, std::memory_order_relaxed); }
  void Release() {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) Free();
  }
  // Tells the clock that the entry is in use; writes only when it has to.
  void MarkUsed() {
    if (!used_.load(std::memory_order_relaxed)) used_.store(true, std::memory_order_relaxed);
  }
  // Counts held now, the slot's included; a moment's value.
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
  BlockSlot* slot_ = nullptr;      // set by Insert before the entry is published, as the next one
  EpochDomain* epochs_ = nullptr;  // that the entry is retired into
  CacheBudget* budget_ = nullptr;  // null: never taken in
};

class BlockCache final : public Cache {
 public:
  explicit BlockCache(size_t capacity);
  ~BlockCache() override;

  // Publishes the entry in the slot and takes over the caller's count. False when another entry is
  // there already or when pins fill the cache: the count stays with the caller, who uses the entry
  // around the cache. May evict, and may free what was evicted earlier. `epochs`: of the guards in
  // which the slot is read; outlives the slot.
  [[nodiscard]] bool Insert(BlockSlot* slot, EpochDomain* epochs, CacheEntry* entry);

  // Empties the slots, which have one domain and lie side by side. No Insert into them may run at
  // the same time or come later.
  void Erase(std::span<BlockSlot> slots);

  // Charges memory that is not an entry (index and filter blocks). False when it does not fit
  // beside what is pinned: then it stays uncharged.
  [[nodiscard]] bool ReserveMetadata(size_t bytes);
  void ReleaseMetadata(size_t bytes);

  // Cache
  const char* Name() const override { return "AshlarBlockCache"; }
  // Waits for the guards of all domains. Must not be called inside an epoch guard; likewise
  // EraseUnRefEntries.
  void SetCapacity(size_t capacity) override;
  size_t GetCapacity() const override { return budget_->capacity(); }
  // Kept for the caller only: the limit is strict either way.
  void SetStrictCapacityLimit(bool strict) override {
    strict_.store(strict, std::memory_order_relaxed);
  }
  bool HasStrictCapacityLimit() const override { return strict_.load(std::memory_order_relaxed); }
  size_t GetUsage() const override { return budget_->usage(); }
  // Includes what waits for a grace period.
  size_t GetPinnedUsage() const override;
  size_t GetOccupancyCount() const override;
  void EraseUnRefEntries() override;

  // For tests: I2, and that the charges add up. Exact only while nobody else uses the cache.
  void CheckInvariants() const;

 private:
  static constexpr size_t kShards = 16;

  struct alignas(64) Shard {
    mutable Mutex mutex;
    std::vector<CacheEntry*> ring ASHLAR_GUARDED_BY(mutex);
    size_t hand ASHLAR_GUARDED_BY(mutex) = 0;
  };

  static size_t ShardIndex(const BlockSlot* slot) {
    return (reinterpret_cast<uintptr_t>(slot) / sizeof(BlockSlot)) % kShards;
  }
  // Neighbouring slots spread over the shards: a scan does not hammer one lock.
  Shard& ShardOf(const BlockSlot* slot) { return shards_[ShardIndex(slot)]; }
  bool Reserve(size_t bytes);
  // Moves the clock by a few entries and detaches those that were not used, until they are worth
  // `bytes`.
  void EvictSome(size_t bytes);
  // Detaches entries worth `bytes`, if there are as many that are not pinned. Looks at all of them
  // if it has to.
  void EvictAsked(size_t bytes);
  size_t SweepShard(Shard& shard, size_t bytes, size_t looks) ASHLAR_REQUIRES(shard.mutex);
  // And retires it.
  void Unlink(Shard& shard, CacheEntry* entry) ASHLAR_REQUIRES(shard.mutex);
  // What eviction keeps free.
  static size_t ReserveBytes(size_t capacity) { return capacity / 16; }

  CacheBudget* const budget_;
  std::array<Shard, kShards> shards_;
  std::atomic<size_t> next_shard_{0};
  std::atomic<size_t> metadata_{0};
  std::atomic<bool> strict_{false};
};

}  // namespace ashlar
