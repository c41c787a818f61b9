// LatencyHistogram: the durations of operations, printed in the format of RocksDB's db_bench.
//
//   bucket limits in microseconds:  ... 1 | 2 | 3 | 4 | 6 | 10 | 15 | 22 | 34 | 51 | 76 | 110 | ...
//                                   each 1.5 times the limit before it, with two digits
//
// Values are nanoseconds. Below a microsecond there are finer buckets, which the printed form sums
// in its first line. Percentiles use all of them. Thread safety: one thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>

namespace ashlar::bench {

class LatencyHistogram {
 public:
  void Add(uint64_t nanoseconds);
  void Merge(const LatencyHistogram& other);

  uint64_t count() const { return count_; }
  // Microseconds. The percentile is interpolated within its bucket; 0 without values.
  double Percentile(double percent) const;
  double Average() const;
  double StandardDeviation() const;
  uint64_t Min() const { return count_ == 0 ? 0 : min_ / 1000; }
  uint64_t Max() const { return max_ / 1000; }

  // "Count: 3 Average: ..." and a line for every bucket that is not empty.
  std::string ToString() const;

 private:
  static constexpr size_t kBuckets = 128;

  std::array<uint64_t, kBuckets> buckets_{};
  uint64_t count_ = 0;
  double sum_ = 0;
  double sum_of_squares_ = 0;
  uint64_t min_ = std::numeric_limits<uint64_t>::max();
  uint64_t max_ = 0;
};

}  // namespace ashlar::bench
