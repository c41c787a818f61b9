#include "bench/driver/latency.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace ashlar::bench {

namespace {

using Clock = std::chrono::steady_clock;

struct Origin {
  Clock::time_point time = Clock::now();
  uint64_t ticks = ReadTicks();
};
const Origin origin;

}  // namespace

uint64_t ReadTicks() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return static_cast<uint64_t>(Clock::now().time_since_epoch().count());
#endif
}

double TicksPerNanosecond() {
  const auto nanoseconds =
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - origin.time).count();
  return static_cast<double>(ReadTicks() - origin.ticks) /
         static_cast<double>(std::max<int64_t>(nanoseconds, 1));
}

void LatencyHistogram::Add(const LatencyHistogram& other) {
  for (size_t i = 0; i < counts_.size(); i++) counts_[i] += other.counts_[i];
  max_ = std::max(max_, other.max_);
}

uint64_t LatencyHistogram::count() const {
  uint64_t sum = 0;
  for (const uint32_t count : counts_) sum += count;
  return sum;
}

uint64_t LatencyHistogram::UpperEnd(size_t bucket) {
  if (bucket < kSteps) return bucket;
  const size_t shift = bucket / kSteps - 1;
  return ((bucket % kSteps + kSteps + 1) << shift) - 1;
}

uint64_t LatencyHistogram::Quantile(double quantile) const {
  const uint64_t total = count();
  if (total == 0) return 0;
  const uint64_t rank = std::max<uint64_t>(
      1, static_cast<uint64_t>(std::ceil(quantile * static_cast<double>(total))));
  uint64_t seen = 0;
  for (size_t bucket = 0; bucket < counts_.size(); bucket++) {
    seen += counts_[bucket];
    if (seen >= rank) return std::min(UpperEnd(bucket), max_);
  }
  return max_;
}

double MeasureLapCost() {
  constexpr int kLaps = 200000;
  LapClock clock(true);
  clock.Start();
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < kLaps; i++) clock.Lap();
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / kLaps;
}

}  // namespace ashlar::bench
