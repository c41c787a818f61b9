#include "observe/histogram.h"

#include <cmath>

#include "base/format.h"

namespace ashlar {
namespace {

uint64_t HistogramBucketLast(size_t bucket) {
  return bucket + 1 < kHistogramBuckets ? HistogramBucketBegin(bucket + 1) - 1 : UINT64_MAX;
}

}  // namespace

void HistogramCounters::Restart(uint64_t generation) {
  for (std::atomic<uint64_t>& bucket : buckets_) bucket.store(0, std::memory_order_relaxed);
  sum_.store(0, std::memory_order_relaxed);
  sum_of_squares_.store(0, std::memory_order_relaxed);
  min_.store(UINT64_MAX, std::memory_order_relaxed);
  max_.store(0, std::memory_order_relaxed);
  generation_.store(generation, std::memory_order_relaxed);
}

void HistogramCounters::AddTo(HistogramSnapshot* snapshot, uint64_t generation) const {
  if (generation_.load(std::memory_order_relaxed) != generation) return;
  size_t first = kHistogramBuckets;
  size_t last = 0;
  for (size_t i = 0; i < kHistogramBuckets; ++i) {
    const uint64_t n = buckets_[i].load(std::memory_order_relaxed);
    if (n == 0) continue;
    first = std::min(first, i);
    last = i;
    snapshot->buckets_[i] += n;
    // The sum of the buckets, so that percentiles are consistent while other threads record.
    snapshot->count_ += n;
  }
  if (first == kHistogramBuckets) return;
  snapshot->sum_ += sum_.load(std::memory_order_relaxed);
  snapshot->sum_of_squares_ += sum_of_squares_.load(std::memory_order_relaxed);
  // Clamped, because both may disagree with the buckets while the owner records or restarts.
  const uint64_t min = std::clamp(min_.load(std::memory_order_relaxed), HistogramBucketBegin(first),
                                  HistogramBucketLast(first));
  const uint64_t max = std::clamp(max_.load(std::memory_order_relaxed), HistogramBucketBegin(last),
                                  HistogramBucketLast(last));
  snapshot->min_ = std::min(snapshot->min_, min);
  snapshot->max_ = std::max({snapshot->max_, max, min});
}

void HistogramSnapshot::Merge(const HistogramSnapshot& other) {
  for (size_t i = 0; i < kHistogramBuckets; ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  sum_of_squares_ += other.sum_of_squares_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

double HistogramSnapshot::Percentile(double percent) const {
  if (count_ == 0) return 0;
  const double wanted = static_cast<double>(count_) * (percent / 100);
  double below = 0;
  for (size_t i = 0; i < kHistogramBuckets; ++i) {
    const auto inside = static_cast<double>(buckets_[i]);
    if (inside == 0 || below + inside < wanted) {
      below += inside;
      continue;
    }
    const auto begin = static_cast<double>(HistogramBucketBegin(i));
    const double end =
        i + 1 < kHistogramBuckets ? static_cast<double>(HistogramBucketBegin(i + 1)) : 0x1p64;
    const double value = begin + (end - begin) * ((wanted - below) / inside);
    return std::clamp(value, static_cast<double>(min_), static_cast<double>(max_));
  }
  return static_cast<double>(max_);
}

HistogramData HistogramSnapshot::Data() const {
  HistogramData data;
  if (count_ == 0) return data;
  const auto n = static_cast<double>(count_);
  data.median = Percentile(50);
  data.percentile95 = Percentile(95);
  data.percentile99 = Percentile(99);
  data.average = static_cast<double>(sum_) / n;
  // Rounding can make the difference of two large numbers a little negative.
  data.standard_deviation =
      std::sqrt(std::max(0.0, sum_of_squares_ / n - data.average * data.average));
  data.max = static_cast<double>(max_);
  data.min = static_cast<double>(min_);
  data.count = count_;
  data.sum = sum_;
  return data;
}

std::string HistogramSnapshot::ToString() const {
  const HistogramData data = Data();
  return StrCat(
      "P50 : ", FixedDecimal(data.median, 6), " P95 : ", FixedDecimal(data.percentile95, 6),
      " P99 : ", FixedDecimal(data.percentile99, 6), " P100 : ", FixedDecimal(data.max, 6),
      " COUNT : ", data.count, " SUM : ", data.sum);
}

}  // namespace ashlar
