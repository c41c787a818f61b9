// MemoryBudget: the memory of the memtables of all databases that share a WriteBufferManager, its
// limit, and its charge in a block cache. DatabaseMemory: the part of one open database.
//
//   arena takes a block   --Reserve-->       used +, active +      (ReserveForReads: used +)
//   memtable is immutable --ScheduleFree-->          active -
//   memtable is destroyed --Free-->          used -            wakes writers
//
//   limit reached --room_check_wanted--> commit leader: switches memtables, stops its database's
//   writers while StopsWriters --> they wait here, without the database mutex
//
// I1: used is the sum of the arena blocks of all memtables, and active is the sum of the blocks of
//     those that take writes. Both are exact while no call is in progress.
// I2: a change that requires a database to flush or to stop its writers sets its room_check_wanted,
//     after the numbers have changed. A leader clears the flag before it reads the numbers.
// I3: writers wait only while a flush is queued or runs (PendingFlush) in one of the databases. Its
//     end, Free and changed limits wake them. A flush waits for no writer, so every wait ends even
//     if no memory is freed.
// I4: charged bytes are reserved in the cache. They are the used bytes rounded up to kChargeBytes,
//     or fewer if pinned blocks fill the cache. A refused reservation fails no write.
//
// Locks: mutex_ is a leaf. The cache is called without it, because a reservation may run deleters
// of memtables, which call Free. Rejected: writers that wait for DatabaseState::changed, because a
// deleter would have to take the mutex of another database. Thread safety: any thread. Lifetime:
// that of the manager, which outlives its databases.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ashlar/cache.h"
#include "ashlar/write_buffer_manager.h"
#include "cache/block_cache.h"
#include "platform/mutex.h"

namespace ashlar {

class MemoryBudget {
 public:
  static constexpr size_t kChargeBytes = size_t{256} << 10;

  MemoryBudget(size_t limit_bytes, std::shared_ptr<Cache> cache, bool allow_stall);
  // Requires: no database uses it.
  ~MemoryBudget();
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  size_t used_bytes() const { return used_bytes_.load(); }
  size_t active_bytes() const { return active_bytes_.load(); }
  size_t limit_bytes() const { return limit_bytes_.load(); }
  size_t charged_bytes() const { return charged_bytes_.load(); }
  bool has_cache() const { return cache_ != nullptr; }
  bool allows_stall() const { return allow_stall_.load(); }
  bool AnyWaits() const { return waiting_.load() > 0; }

  void SetLimit(size_t bytes);
  void SetAllowStall(bool allow);

  // room_check_wanted: the flag of the database that takes the memory (I2), or null.
  void Reserve(size_t bytes, std::atomic<bool>* room_check_wanted) noexcept;
  // For a memtable that takes no writes.
  void ReserveForReads(size_t bytes) noexcept;
  void ScheduleFree(size_t bytes) noexcept { active_bytes_.fetch_sub(bytes); }
  void Free(size_t bytes) noexcept;

  // Whether all memtables together reach the limit.
  bool IsFull() const {
    const size_t limit = limit_bytes();
    return limit > 0 && used_bytes() >= limit;
  }
  // Whether too much memory takes writes, even after `leaving` bytes of it no longer do.
  bool WantsFlush(size_t leaving) const;
  // Whether the memory that takes writes in other databases is too much by itself, so that flushes
  // of this database cannot help. own: the bytes of this database's memtables that take writes.
  bool OthersExceed(size_t own) const;
  // Whether writers have to wait (I3).
  bool StopsWriters() const { return allows_stall() && IsFull() && flushes_.load() > 0; }

  // A waiting writer reads Wakes, then reads everything that may end the wait, and then waits.
  uint64_t Wakes() const;
  void WaitForWake(uint64_t seen);
  // Ends every WaitForWake.
  void Wake() noexcept;

  void BeginFlush() noexcept;
  void EndFlush() noexcept;

  // Asserts conditions that hold even during calls: the charge is a multiple of kChargeBytes (I4),
  // and it is 0 without a cache.
  void CheckInvariants() const;

  // Registers a database by its flag and sets the flag, because its recovery may reach the limit.
  void Join(std::atomic<bool>* room_check_wanted);
  void Leave(std::atomic<bool>* room_check_wanted);

 private:
  // Restore I4 after the used bytes have changed.
  void RaiseCharge() noexcept;
  void LowerCharge() noexcept;
  // Sets the flags of all databases (I2).
  void AskAll() noexcept;

  const std::shared_ptr<Cache> keeps_cache_;
  BlockCache* const cache_;  // the same object; null: no cache

  // Any thread reads and writes them. Sequentially consistent: if two threads each change one
  // number and then compare it with the other's, at least one sees both changes (I2).
  std::atomic<size_t> limit_bytes_;  // 0: no limit
  std::atomic<bool> allow_stall_;
  std::atomic<size_t> used_bytes_{0};
  std::atomic<size_t> active_bytes_{0};
  std::atomic<size_t> charged_bytes_{0};
  std::atomic<size_t> flushes_{0};
  std::atomic<size_t> waiting_{0};  // writers

  mutable Mutex mutex_;
  CondVar woken_;
  uint64_t wakes_ ASHLAR_GUARDED_BY(mutex_) = 0;
  std::vector<std::atomic<bool>*> databases_ ASHLAR_GUARDED_BY(mutex_);
};

class DatabaseMemory {
 public:
  // manager: if it is null, nothing is counted. room_check_wanted outlives this.
  DatabaseMemory(WriteBufferManager* manager, std::atomic<bool>* room_check_wanted);
  ~DatabaseMemory();
  DatabaseMemory(const DatabaseMemory&) = delete;
  DatabaseMemory& operator=(const DatabaseMemory&) = delete;

  // Null: nothing is counted.
  MemoryBudget* budget() const { return budget_; }

  // Sets whether memtables that are created from now on take writes. Those of a database that only
  // reads do not, because no flush would free their memory and others would flush in vain.
  void SetTakesWrites(bool takes_writes) {
    takes_writes_.store(takes_writes, std::memory_order_relaxed);
  }
  bool TakesWrites() const { return takes_writes_.load(std::memory_order_relaxed); }

  // For arenas. ScheduleFree applies to bytes that Reserve took.
  void Reserve(size_t bytes) noexcept {
    if (budget_ != nullptr) budget_->Reserve(bytes, room_check_wanted_);
  }
  void ReserveForReads(size_t bytes) noexcept {
    if (budget_ != nullptr) budget_->ReserveForReads(bytes);
  }
  void ScheduleFree(size_t bytes) noexcept {
    if (budget_ != nullptr) budget_->ScheduleFree(bytes);
  }
  void Free(size_t bytes) noexcept {
    if (budget_ != nullptr) budget_->Free(bytes);
  }

  // A queued or running flush that writers may wait for. Destroy it after the memory that the flush
  // releases is freed.
  struct FlushEnd {
    void operator()(MemoryBudget* budget) const { budget->EndFlush(); }
  };
  using PendingFlush = std::unique_ptr<MemoryBudget, FlushEnd>;
  PendingFlush BeginFlush() noexcept {
    if (budget_ != nullptr) budget_->BeginFlush();
    return PendingFlush(budget_);
  }

 private:
  MemoryBudget* const budget_;
  std::atomic<bool>* const room_check_wanted_;
  // Relaxed: the thread that sets it makes the memtables.
  std::atomic<bool> takes_writes_{true};
};

}  // namespace ashlar
