#include "observe/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/format.h"
#include "base/random.h"

namespace ashlar {
namespace {

TEST(HistogramBuckets, CoverEveryValueInOrder) {
  static_assert(HistogramBucket(0) == 0 && HistogramBucket(UINT64_MAX) == kHistogramBuckets - 1);
  for (size_t bucket = 0; bucket < kHistogramBuckets; ++bucket) {
    const uint64_t begin = HistogramBucketBegin(bucket);
    EXPECT_EQ(HistogramBucket(begin), bucket);
    if (bucket > 0) {
      EXPECT_EQ(HistogramBucket(begin - 1), bucket - 1);
      EXPECT_LE(begin - HistogramBucketBegin(bucket - 1),
                std::max<uint64_t>(1, HistogramBucketBegin(bucket - 1) / kSubBuckets));
    }
  }
}

HistogramSnapshot Record(const std::vector<uint64_t>& values) {
  HistogramCounters counters;
  for (const uint64_t value : values) counters.Record(value, 0);
  HistogramSnapshot snapshot;
  counters.AddTo(&snapshot, 0);
  return snapshot;
}

TEST(Histogram, EmptyIsAllZeros) {
  const HistogramData data = Record({}).Data();
  EXPECT_EQ(data.count, 0u);
  EXPECT_EQ(data.median, 0);
  EXPECT_EQ(data.min, 0);
  EXPECT_EQ(Record({}).Percentile(99), 0);
}

TEST(Histogram, ExactFiguresAreExact) {
  const HistogramData data = Record({1, 2, 3, 4, 1000}).Data();
  EXPECT_EQ(data.count, 5u);
  EXPECT_EQ(data.sum, 1010u);
  EXPECT_EQ(data.min, 1);
  EXPECT_EQ(data.max, 1000);
  EXPECT_EQ(data.average, 202);
  EXPECT_NEAR(data.standard_deviation, 399.0, 0.01);
  EXPECT_EQ(Record({7, 7, 7}).Data().standard_deviation, 0);
  EXPECT_EQ(Record({5}).ToString(),
            "P50 : 5.000000 P95 : 5.000000 P99 : 5.000000 P100 : 5.000000 COUNT : 1 SUM : 5");
}

TEST(Histogram, PercentilesAreWithinABucketOfTheTruth) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    Random random(seed);
    std::vector<uint64_t> values;
    for (int i = 0; i < 5000; ++i) values.push_back(random.Skewed(40));
    const HistogramSnapshot snapshot = Record(values);
    std::sort(values.begin(), values.end());
    for (const double percent : {1.0, 25.0, 50.0, 90.0, 99.0, 99.9, 100.0}) {
      const auto rank =
          static_cast<size_t>(std::ceil(percent / 100 * static_cast<double>(values.size())));
      const auto truth = static_cast<double>(values[std::max<size_t>(rank, 1) - 1]);
      EXPECT_NEAR(snapshot.Percentile(percent), truth, truth / kSubBuckets + 1) << percent;
    }
  }
}

TEST(Histogram, MergingEqualsRecordingTogether) {
  HistogramSnapshot merged = Record({1, 50, 9});
  merged.Merge(Record({700, 2}));
  EXPECT_EQ(merged.ToString(), Record({1, 50, 9, 700, 2}).ToString());
  EXPECT_EQ(merged.Data().min, 1);
}

TEST(Histogram, AnotherGenerationStartsFromNothing) {
  HistogramCounters counters;
  counters.Record(5, 0);
  HistogramSnapshot stale;
  counters.AddTo(&stale, 1);
  EXPECT_EQ(stale.Data().count, 0u);
  counters.Record(9, 1);
  HistogramSnapshot fresh;
  counters.AddTo(&fresh, 1);
  EXPECT_EQ(fresh.Data().count, 1u);
  EXPECT_EQ(fresh.Data().min, 9);
  EXPECT_EQ(fresh.Data().sum, 9u);
}

}  // namespace
}  // namespace ashlar
