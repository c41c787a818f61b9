// Latencies: a cheap clock, and a histogram that keeps 1.6 % of precision over all magnitudes.
//
// LapClock reads the processor's time-stamp counter once per operation. The end of one operation is
// the start of the next. That costs 10-20 ns on known machines (the driver measures and reports
// it), the same for every library, so short operations look a little closer to each other than they
// are.
//
// Thread safety: one thread per object.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace ashlar::bench {

// Ticks of the cheapest steady counter. TicksPerNanosecond() compares it with the system's clock
// since the process began.
uint64_t ReadTicks();
double TicksPerNanosecond();

class LatencyHistogram {
 public:
  void Add(uint64_t ticks) {
    counts_[BucketOf(ticks)]++;
    if (ticks > max_) max_ = ticks;
  }
  void Add(const LatencyHistogram& other);

  uint64_t count() const;
  uint64_t max() const { return max_; }
  // Returns the upper end of the bucket with the quantile (0..1), at most max(). 0 if empty.
  uint64_t Quantile(double quantile) const;

 private:
  static constexpr int kStepsLog2 = 6;  // 64 buckets per power of two
  static constexpr uint64_t kSteps = 1 << kStepsLog2;

  static size_t BucketOf(uint64_t ticks) {
    if (ticks < kSteps) return ticks;
    const size_t shift = static_cast<size_t>(std::bit_width(ticks)) - 1 - kStepsLog2;
    return (shift + 1) * kSteps + (ticks >> shift) - kSteps;
  }
  static uint64_t UpperEnd(size_t bucket);

  std::array<uint32_t, (64 - kStepsLog2 + 1) * kSteps> counts_{};
  uint64_t max_ = 0;
};

class LapClock {
 public:
  // A disabled clock reads nothing.
  explicit LapClock(bool enabled) : enabled_(enabled) {}

  void Start() {
    if (enabled_) last_ = ReadTicks();
  }
  void Lap() {
    if (!enabled_) return;
    const uint64_t now = ReadTicks();
    histogram_.Add(now - last_);
    last_ = now;
  }
  const LatencyHistogram& histogram() const { return histogram_; }

 private:
  const bool enabled_;
  uint64_t last_ = 0;
  LatencyHistogram histogram_;
};

// Nanoseconds that one Lap() costs, measured now.
double MeasureLapCost();

}  // namespace ashlar::bench
