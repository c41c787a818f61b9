// WriteController: lets writers continue, delays them or stops them, according to the shape of the
// tree. The decision is made where views change (compact/plan, ComputeStall). A writer checks the
// state before it joins the commit queue, so that a waiting writer holds nothing that others need.
//
//   kOpen  <-->  kDelayed (a byte rate)  <-->  kStopped (until the background work catches up)
//   any of them  --Lock-->  kStopped  --as many Unlocks-->  what the tree requires by then
//   any of them  --SetAwaitsMemory(true)-->  kStopped  --SetAwaitsMemory(false)-->  the same
//
// I1: while kDelayed, all writers together get the rate. Each reserves the time for its own bytes
//     after the time that is already reserved.
// I2: a reservation is void once the tree requires another state or rate (generation), and the
//     writer reserves again. Lock and SetAwaitsMemory keep it.
//
// Thread safety: methods marked REQUIRES under the database mutex; the rest from any thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/assert.h"
#include "manifest/database_locks.h"

namespace ashlar {

class WriteController {
 public:
  enum class State : uint8_t { kOpen, kDelayed, kStopped };

  void Set(State state, uint64_t bytes_per_second) ASHLAR_REQUIRES(kDatabaseMutex) {
    if (state == tree_state_ &&
        bytes_per_second == bytes_per_second_.load(std::memory_order_relaxed))
      return;
    ++generation_;
    delayed_.next_us = 0;
    bytes_per_second_.store(bytes_per_second, std::memory_order_relaxed);
    tree_state_ = state;
    PublishState();
  }
  // Stops all writers until Unlock is called as many times. Unlock without Lock returns false.
  void Lock() ASHLAR_REQUIRES(kDatabaseMutex) {
    ++locks_;
    PublishState();
  }
  bool Unlock() ASHLAR_REQUIRES(kDatabaseMutex) {
    if (locks_ == 0) return false;
    --locks_;
    PublishState();
    return true;
  }
  // Stops all writers because the memory of memtables has reached its limit (memory_budget.h).
  void SetAwaitsMemory(bool awaits) ASHLAR_REQUIRES(kDatabaseMutex) {
    awaits_memory_ = awaits;
    PublishState();
  }
  bool AwaitsMemory() const ASHLAR_REQUIRES(kDatabaseMutex) { return awaits_memory_; }
  bool IsLocked() const ASHLAR_REQUIRES(kDatabaseMutex) { return locks_ > 0; }
  // Writers are stopped until a job has changed the tree, whether there are locks or not.
  bool AwaitsJobs() const ASHLAR_REQUIRES(kDatabaseMutex) { return tree_state_ == State::kStopped; }
  void SetCompactionBehind(bool behind) ASHLAR_REQUIRES(kDatabaseMutex) {
    behind_.store(behind, std::memory_order_relaxed);
    if (!behind) low_priority_.next_us = 0;
  }
  // True if low-priority writers have to wait.
  bool CompactionBehind() const { return behind_.load(std::memory_order_relaxed); }
  State state() const { return state_.load(std::memory_order_acquire); }
  uint64_t bytes_per_second() const { return bytes_per_second_.load(std::memory_order_relaxed); }
  uint64_t generation() const ASHLAR_REQUIRES(kDatabaseMutex) { return generation_; }

  // Asserts I1, and that the published state follows from the tree, the locks and the memory.
  void CheckInvariants() const ASHLAR_REQUIRES(kDatabaseMutex) {
    ASHLAR_ASSERT(state() == WantedState());  // PublishState
    ASHLAR_ASSERT(delayed_.next_us <= kTurnUsMax && low_priority_.next_us <= kTurnUsMax);  // I1
  }

  // The time, in microseconds of the same clock as now_us, at which a writer may write `bytes` at
  // the delayed rate.
  uint64_t Reserve(uint64_t now_us, uint64_t bytes) ASHLAR_REQUIRES(kDatabaseMutex) {
    return delayed_.Reserve(now_us, bytes, bytes_per_second());
  }
  // The same for a low-priority writer while CompactionBehind.
  uint64_t ReserveLowPriority(uint64_t now_us, uint64_t bytes) ASHLAR_REQUIRES(kDatabaseMutex) {
    return low_priority_.Reserve(now_us, bytes, kLowPriorityBytesPerSecond);
  }

 private:
  static constexpr uint64_t kLowPriorityBytesPerSecond = uint64_t{1} << 20;
  // Time that no writer used is credited up to this limit.
  static constexpr uint64_t kCreditUs = 1000;

  // No turn is later than this. At one byte per second, a batch of gigabytes gets a turn after a
  // century, and sums of such waits do not overflow.
  static constexpr uint64_t kTurnUsMax = uint64_t{1} << 62;

  struct Pace {
    uint64_t next_us = 0;  // when the bytes reserved so far are paid for

    uint64_t Reserve(uint64_t now_us, uint64_t bytes, uint64_t rate) {
      if (rate == 0) return now_us;
      if (next_us + kCreditUs < now_us) next_us = now_us - kCreditUs;
      ASHLAR_DCHECK(next_us + kCreditUs >= now_us);  // I1
      ASHLAR_DCHECK(now_us <= kTurnUsMax);           // 64-bit nanoseconds / 1000
      const double wait_us = static_cast<double>(bytes) * 1e6 / static_cast<double>(rate);
      const uint64_t wait_us_max = kTurnUsMax - next_us;
      next_us +=
          wait_us < static_cast<double>(wait_us_max) ? static_cast<uint64_t>(wait_us) : wait_us_max;
      ASHLAR_DCHECK(next_us <= kTurnUsMax);  // no turn is later
      return next_us;
    }
  };

  State WantedState() const ASHLAR_REQUIRES(kDatabaseMutex) {
    return locks_ > 0 || awaits_memory_ ? State::kStopped : tree_state_;
  }
  void PublishState() ASHLAR_REQUIRES(kDatabaseMutex) {
    state_.store(WantedState(), std::memory_order_release);
  }

  // Written under the database mutex. Writers load state_ (acquire, pairs with PublishState); the
  // others order nothing (relaxed).
  std::atomic<State> state_{State::kOpen};
  std::atomic<bool> behind_{false};
  std::atomic<uint64_t> bytes_per_second_{0};
  State tree_state_ ASHLAR_GUARDED_BY(kDatabaseMutex) = State::kOpen;  // of the last Set
  uint64_t locks_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;
  bool awaits_memory_ ASHLAR_GUARDED_BY(kDatabaseMutex) = false;
  uint64_t generation_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;
  Pace delayed_ ASHLAR_GUARDED_BY(kDatabaseMutex);
  Pace low_priority_ ASHLAR_GUARDED_BY(kDatabaseMutex);
};

}  // namespace ashlar
