// Histogram: the distribution of 64-bit values in buckets whose width grows with the value.
//
//   values 0..7 have a bucket each; above, each power of two [2^k, 2^(k+1)) is cut into 8 buckets
//   of equal width
//   bucket index:  0 .. 7 | 8 .. 15 | 16 .. 23       | 24 ...
//   value:         0 .. 7 | 8 .. 15 | 16,18,20,..,30 | 32,36,..
//
// A percentile is off by at most 1/8 of its value. Count, sum, minimum, maximum, average and
// deviation are exact (as doubles).
//
// One thread writes HistogramCounters with plain adds on relaxed atomics, and any thread reads them
// at any time. HistogramSnapshot holds plain numbers for reading, merged from several counters.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <string>

#include "ashlar/statistics.h"

namespace ashlar {

inline constexpr size_t kSubBuckets = 8;  // a power of two
inline constexpr size_t kHistogramBuckets = (64 - 3 + 1) * kSubBuckets;

constexpr size_t HistogramBucket(uint64_t value) {
  if (value < kSubBuckets) return static_cast<size_t>(value);
  const auto exponent = static_cast<size_t>(std::bit_width(value)) - 1;  // >= 3
  const uint64_t sub = (value >> (exponent - 3)) - kSubBuckets;
  return (exponent - 2) * kSubBuckets + static_cast<size_t>(sub);
}
// The smallest value of a bucket.
constexpr uint64_t HistogramBucketBegin(size_t bucket) {
  if (bucket < kSubBuckets) return bucket;
  const size_t exponent = bucket / kSubBuckets + 2;
  return uint64_t{kSubBuckets + bucket % kSubBuckets} << (exponent - 3);
}

class HistogramSnapshot {
 public:
  void Merge(const HistogramSnapshot& other);
  uint64_t count() const { return count_; }
  // Returns the value below which `percent` of all values are, interpolated inside its bucket.
  // Returns 0 if there are no values.
  double Percentile(double percent) const;
  HistogramData Data() const;
  // "P50 : 1.000000 P95 : ... COUNT : 5 SUM : 12"
  std::string ToString() const;

 private:
  friend class HistogramCounters;
  std::array<uint64_t, kHistogramBuckets> buckets_{};
  uint64_t count_ = 0;
  uint64_t sum_ = 0;
  double sum_of_squares_ = 0;
  uint64_t min_ = UINT64_MAX;
  uint64_t max_ = 0;
};

// Counts belong to a generation. A reset starts a new one and hides counts of older ones, so only
// the owner writes. Memory orders: all relaxed, because the counts are independent of each other
// and of everything else.
class HistogramCounters {
 public:
  // Called by the owner only.
  void Record(uint64_t value, uint64_t generation) {
    if (generation_.load(std::memory_order_relaxed) != generation) [[unlikely]]
      Restart(generation);
    Add(&buckets_[HistogramBucket(value)], 1);
    Add(&sum_, value);
    sum_of_squares_.store(sum_of_squares_.load(std::memory_order_relaxed) +
                              static_cast<double>(value) * static_cast<double>(value),
                          std::memory_order_relaxed);
    if (value < min_.load(std::memory_order_relaxed)) min_.store(value, std::memory_order_relaxed);
    if (value > max_.load(std::memory_order_relaxed)) max_.store(value, std::memory_order_relaxed);
  }
  // Called by any thread. Adds nothing if the counts belong to another generation.
  void AddTo(HistogramSnapshot* snapshot, uint64_t generation) const;

 private:
  static void Add(std::atomic<uint64_t>* counter, uint64_t n) {
    counter->store(counter->load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  void Restart(uint64_t generation);

  std::atomic<uint64_t> generation_{0};
  std::array<std::atomic<uint64_t>, kHistogramBuckets> buckets_{};
  std::atomic<uint64_t> sum_{0};
  std::atomic<double> sum_of_squares_{0};
  std::atomic<uint64_t> min_{UINT64_MAX};
  std::atomic<uint64_t> max_{0};
};

}  // namespace ashlar
