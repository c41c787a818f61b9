#include "execute/flush_priority_throttle.h"

#include <algorithm>

#include "base/assert.h"
#include "platform/clock.h"
#include "platform/cpu.h"

namespace ashlar {

FlushPriorityThrottle& FlushPriorityThrottle::OfProcess() {
  // Never destroyed, because a job may end after the statics of other files are destroyed.
  static FlushPriorityThrottle& turns = *new FlushPriorityThrottle(HardwareThreads());
  return turns;
}

void FlushPriorityThrottle::Begin(std::atomic<uint32_t>* running) {
  MutexLock lock(mutex_);
  running->fetch_add(1, std::memory_order_relaxed);
}

void FlushPriorityThrottle::End(std::atomic<uint32_t>* running) {
  MutexLock lock(mutex_);
  const uint32_t before = running->fetch_sub(1, std::memory_order_relaxed);
  ASHLAR_ASSERT(before > 0);  // I1: this turn was counted
  changed_.SignalAll();
}

FlushTurn::FlushTurn(FlushPriorityThrottle& turns) : turns_(turns) {
  turns_.Begin(&turns_.flushes_);
}

FlushTurn::~FlushTurn() { turns_.End(&turns_.flushes_); }

CompactionTurn::CompactionTurn(FlushPriorityThrottle& turns, Clock& clock)
    : turns_(turns),
      clock_(clock),
      working_since_nanos_(clock.NowNanos()),
      saved_nanos_(turns.longest_wait_nanos_) {
  turns_.Begin(&turns_.working_);
}

CompactionTurn::~CompactionTurn() { turns_.End(&turns_.working_); }

uint64_t CompactionTurn::AllowanceNanos() const {
  return std::min(saved_nanos_ + (clock_.NowNanos() - working_since_nanos_),
                  turns_.longest_wait_nanos_);
}

void CompactionTurn::StandBack() {
  const uint64_t allowance_nanos = AllowanceNanos();
  if (allowance_nanos < FlushPriorityThrottle::kShortestWaitNanos) return;
  MutexLock lock(turns_.mutex_);
  uint64_t waited_nanos = 0;
  while (turns_.TooFewProcessors() && waited_nanos < allowance_nanos) {
    // A waiting compaction does not count as working. It counts again for the next check.
    turns_.working_.fetch_sub(1, std::memory_order_relaxed);
    if (waited_nanos == 0) turns_.waits_.fetch_add(1, std::memory_order_relaxed);
    const uint64_t start_nanos = MonotonicNanos();
    turns_.changed_.TimedWait(turns_.mutex_, (allowance_nanos - waited_nanos) / 1000 + 1);
    waited_nanos += MonotonicNanos() - start_nanos;
    turns_.working_.fetch_add(1, std::memory_order_relaxed);
  }
  saved_nanos_ = allowance_nanos - std::min(waited_nanos, allowance_nanos);
  ASHLAR_DCHECK(saved_nanos_ <= turns_.longest_wait_nanos_);  // I2
  working_since_nanos_ = clock_.NowNanos();
}

}  // namespace ashlar
