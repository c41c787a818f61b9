// The engine's side of ashlar/perf_context.h: counting into the calling thread's PerfContext, when that thread has asked for it.
//
//   PerfCount(&PerfContext::block_read_count);
//
// A thread that never raised its level pays one load of a word that is hardly ever written: perf_users is 0 unless some thread raised its own.
#pragma once

#include <atomic>
#include <cstdint>

#include "ashlar/perf_context.h"
#include "platform/clock.h"

namespace ashlar {

namespace internal {
// Threads that have raised their level. Relaxed: a thread sees its own increments, and that is all it needs.
extern std::atomic<uint32_t> perf_users;
}  // namespace internal

inline bool PerfCounts() { return internal::perf_users.load(std::memory_order_relaxed) != 0 && GetPerfLevel() >= kEnableCount; }
inline bool PerfTimes() { return internal::perf_users.load(std::memory_order_relaxed) != 0 && GetPerfLevel() >= kEnableTimeExceptForMutex; }

inline void PerfCount(uint64_t PerfContext::* counter, uint64_t n = 1) {
  if (PerfCounts()) [[unlikely]]
    get_perf_context()->*counter += n;
}

// Adds the nanoseconds of its own life to a time of the calling thread's PerfContext, when the thread's level asks for times.
class PerfTimer {
 public:
  explicit PerfTimer(uint64_t PerfContext::* time) : time_(time), start_nanos_(PerfTimes() ? MonotonicNanos() : 0) {}
  ~PerfTimer() {
    if (start_nanos_ != 0) [[unlikely]]
      get_perf_context()->*time_ += MonotonicNanos() - start_nanos_;
  }
  PerfTimer(const PerfTimer&) = delete;
  PerfTimer& operator=(const PerfTimer&) = delete;

 private:
  uint64_t PerfContext::* const time_;
  const uint64_t start_nanos_;  // 0: nobody asked
};

}  // namespace ashlar
