// FlushPriorityThrottle: puts flushes before compactions if there are too few processors for both.
//
// While a flush runs, every write fills another memtable, and only the end of the flush frees the
// memtables that it writes. A compaction can wait. It therefore checks at intervals of entries, and
// waits while a flush runs and there are too few processors.
//
//   FlushTurn turn(FlushPriorityThrottle::OfProcess());              // alive while a flush runs
//
//   CompactionTurn turn(FlushPriorityThrottle::OfProcess(), clock);  // one per compacting thread
//   ... some entries ...
//   turn.YieldToFlush();
//
// I1: a compaction waits only while flushes, working compactions and one writing thread outnumber
//     the processors.
// I2: it waits at most as long as it has worked, plus an initial kLongestWaitNanos. With endless
//     flushes it still works half of the time, because writes stop if compactions never end.
//
// Thread safety: any thread; each turn belongs to one thread. Lifetime: a FlushPriorityThrottle
// outlives its turns.
#pragma once

#include <atomic>
#include <cstdint>

#include "execute/clock.h"
#include "platform/mutex.h"

namespace ashlar {

class FlushPriorityThrottle {
 public:
  static constexpr uint64_t kShortestWaitNanos = 1'000'000;
  static constexpr uint64_t kLongestWaitNanos = 250'000'000;

  explicit FlushPriorityThrottle(uint32_t processors,
                                 uint64_t longest_wait_nanos = kLongestWaitNanos)
      : processors_(processors), longest_wait_nanos_(longest_wait_nanos) {}
  FlushPriorityThrottle(const FlushPriorityThrottle&) = delete;
  FlushPriorityThrottle& operator=(const FlushPriorityThrottle&) = delete;

  // The throttle of all databases of the process, which share its processors.
  static FlushPriorityThrottle& OfProcess();

  // The number of waits that compactions have begun.
  uint64_t waits() const { return waits_.load(std::memory_order_relaxed); }

 private:
  friend class FlushTurn;
  friend class CompactionTurn;

  // Returns true if one of the running compactions should wait.
  bool TooFewProcessors() const {
    const uint32_t flushes = flushes_.load(std::memory_order_relaxed);
    return flushes > 0 && flushes + working_.load(std::memory_order_relaxed) + 1 > processors_;
  }

  void Begin(std::atomic<uint32_t>* running);
  void End(std::atomic<uint32_t>* running);

  const uint32_t processors_;
  const uint64_t longest_wait_nanos_;
  Mutex mutex_;
  CondVar changed_;
  // Written under the mutex. Read without it to decide whether to lock it.
  std::atomic<uint32_t> flushes_{0};
  std::atomic<uint32_t> working_{0};
  std::atomic<uint64_t> waits_{0};
};

class FlushTurn {
 public:
  explicit FlushTurn(FlushPriorityThrottle& turns);
  ~FlushTurn();
  FlushTurn(const FlushTurn&) = delete;
  FlushTurn& operator=(const FlushTurn&) = delete;

 private:
  FlushPriorityThrottle& turns_;
};

class CompactionTurn {
 public:
  CompactionTurn(FlushPriorityThrottle& turns, Clock& clock);
  ~CompactionTurn();
  CompactionTurn(const CompactionTurn&) = delete;
  CompactionTurn& operator=(const CompactionTurn&) = delete;

  // Returns at once, or after flushes. Requires: the caller holds no lock and no epoch guard.
  void YieldToFlush() {
    if (turns_.TooFewProcessors()) StandBack();
  }
  // How long the compaction may wait now.
  uint64_t AllowanceNanos() const;

 private:
  void StandBack();

  FlushPriorityThrottle& turns_;
  Clock& clock_;
  uint64_t working_since_nanos_;
  uint64_t saved_nanos_;  // the allowance at that time
};

}  // namespace ashlar
