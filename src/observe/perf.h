// The engine's side of ashlar/perf_context.h: counting into the calling thread's PerfContext.
//
//   PerfCount(&PerfContext::block_read_count);
//   const PerfTimer timer(&PerfContext::block_read_time);
//
// I1: count_mask is all ones if level is kEnableCount or above, else 0.
//
// A count is one add without a branch, because threads count by default. The addend is masked
// instead. A time costs one test of the level. Thread safety: each thread has its own level and
// context.
#pragma once

#include <cstdint>

#include "ashlar/perf_context.h"
#include "base/assert.h"
#include "platform/clock.h"
#include "platform/thread_local.h"

namespace ashlar {

namespace internal {
struct ThreadPerf {
  uint64_t count_mask = ~uint64_t{0};
  PerfLevel level = kEnableCount;
  PerfContext context;
};
extern constinit thread_local ThreadPerf thread_perf ASHLAR_TLS_MODEL;
}  // namespace internal

// True if the calling thread measures times.
inline bool PerfTimes() { return internal::thread_perf.level >= kEnableTimeExceptForMutex; }

inline void PerfCount(uint64_t PerfContext::* counter, uint64_t n = 1) {
  internal::ThreadPerf& perf = internal::thread_perf;
  ASHLAR_DCHECK(perf.count_mask == (perf.level >= kEnableCount ? ~uint64_t{0} : 0));  // I1
  perf.context.*counter += n & perf.count_mask;
}

// Adds the nanoseconds between its construction and destruction to a time of the calling thread's
// PerfContext.
class PerfTimer {
 public:
  explicit PerfTimer(uint64_t PerfContext::* time) : PerfTimer(time, kEnableTimeExceptForMutex) {}
  // Measures at this level and above.
  PerfTimer(uint64_t PerfContext::* time, PerfLevel level)
      : time_(time), start_nanos_(internal::thread_perf.level >= level ? MonotonicNanos() : 0) {}
  ~PerfTimer() {
    if (start_nanos_ != 0) [[unlikely]]
      get_perf_context()->*time_ += MonotonicNanos() - start_nanos_;
  }
  PerfTimer(const PerfTimer&) = delete;
  PerfTimer& operator=(const PerfTimer&) = delete;

 private:
  uint64_t PerfContext::* const time_;
  const uint64_t start_nanos_;  // 0: not measured
};

}  // namespace ashlar
