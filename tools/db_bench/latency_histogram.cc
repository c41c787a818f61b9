#include "tools/db_bench/latency_histogram.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace ashlar::bench {
namespace {

// Upper limits, in nanoseconds. A value equal to a limit belongs to the bucket below it. The last
// bucket counts all larger values.
struct Limits {
  std::vector<double> limits;
  size_t in_first_microsecond = 0;  // number of buckets

  explicit Limits(size_t buckets) {
    for (double limit = 20; limit < 1000; limit *= 1.25) limits.push_back(std::floor(limit));
    in_first_microsecond = limits.size() + 1;
    limits.push_back(1000);
    // In microseconds: 1, 2, 3, and then each 1.5 times the exact limit before it, truncated to two
    // digits.
    limits.push_back(2000);
    for (double exact = 3; limits.size() + 1 < buckets; exact *= 1.5) {
      double unit = 1;
      while (std::floor(exact / unit / 10) > 10) unit *= 10;
      limits.push_back(std::floor(exact / unit) * unit * 1000);
    }
    limits.push_back(std::numeric_limits<double>::infinity());
  }

  size_t BucketOf(uint64_t nanoseconds) const {
    return static_cast<size_t>(
        std::lower_bound(limits.begin(), limits.end(), static_cast<double>(nanoseconds)) -
        limits.begin());
  }
  double Begin(size_t bucket) const { return bucket == 0 ? 0 : limits[bucket - 1]; }
};

const Limits& TheLimits(size_t buckets) {
  static const Limits limits(buckets);
  return limits;
}

}  // namespace

void LatencyHistogram::Add(uint64_t nanoseconds) {
  ++buckets_[TheLimits(kBuckets).BucketOf(nanoseconds)];
  ++count_;
  const auto value = static_cast<double>(nanoseconds);
  sum_ += value;
  sum_of_squares_ += value * value;
  min_ = std::min(min_, nanoseconds);
  max_ = std::max(max_, nanoseconds);
}

void LatencyHistogram::Merge(const LatencyHistogram& other) {
  for (size_t i = 0; i < kBuckets; ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  sum_of_squares_ += other.sum_of_squares_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

double LatencyHistogram::Percentile(double percent) const {
  const Limits& limits = TheLimits(kBuckets);
  const double wanted = static_cast<double>(count_) * percent / 100;
  double below = 0;
  for (size_t i = 0; i < kBuckets; ++i) {
    const auto here = static_cast<double>(buckets_[i]);
    if (here > 0 && below + here >= wanted) {
      const double begin = std::max(limits.Begin(i), static_cast<double>(min_));
      const double end = std::min(limits.limits[i], static_cast<double>(max_));
      return (begin + std::max(0.0, end - begin) * (wanted - below) / here) / 1000;
    }
    below += here;
  }
  return 0;
}

double LatencyHistogram::Average() const {
  return count_ == 0 ? 0 : sum_ / static_cast<double>(count_) / 1000;
}

double LatencyHistogram::StandardDeviation() const {
  if (count_ == 0) return 0;
  const auto n = static_cast<double>(count_);
  return std::sqrt(std::max(0.0, sum_of_squares_ / n - (sum_ / n) * (sum_ / n))) / 1000;
}

std::string LatencyHistogram::ToString() const {
  const Limits& limits = TheLimits(kBuckets);
  std::string text =
      fmt::format("Count: {} Average: {:.4f}  StdDev: {:.2f}\nMin: {}  Median: {:.4f}  Max: {}\n",
                  count_, Average(), StandardDeviation(), Min(), Percentile(50), Max());
  text += fmt::format(
      "Percentiles: P50: {:.2f} P75: {:.2f} P99: {:.2f} P99.9: {:.2f} P99.99: {:.2f}\n",
      Percentile(50), Percentile(75), Percentile(99), Percentile(99.9), Percentile(99.99));
  text += "------------------------------------------------------\n";
  if (count_ == 0) return text;

  const double part = 100.0 / static_cast<double>(count_);
  uint64_t below = 0;
  for (size_t i = limits.in_first_microsecond - 1; i < kBuckets; ++i) {
    const bool first = i == limits.in_first_microsecond - 1;
    uint64_t here = buckets_[i];
    for (size_t finer = 0; first && finer < i; ++finer) here += buckets_[finer];
    if (here == 0) continue;
    below += here;
    const double percent = part * static_cast<double>(here);
    const double begin = first ? 0 : limits.Begin(i) / 1000;
    const std::string end =
        std::isinf(limits.limits[i]) ? "infinity" : fmt::format("{:.0f}", limits.limits[i] / 1000);
    text += fmt::format("{} {:7.0f}, {:>7} ] {:8} {:7.3f}% {:7.3f}% {}\n", first ? '[' : '(', begin,
                        end, here, percent, part * static_cast<double>(below),
                        std::string(static_cast<size_t>(std::lround(percent / 5)), '#'));
  }
  return text;
}

}  // namespace ashlar::bench
