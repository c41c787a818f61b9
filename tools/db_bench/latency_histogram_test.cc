#include "tools/db_bench/latency_histogram.h"

#include <gtest/gtest.h>

namespace ashlar::bench {
namespace {

// The layout is that of RocksDB's db_bench, whose output scripts split into columns.
TEST(LatencyHistogramTest, PrintsAsRocksDbDoes) {
  LatencyHistogram histogram;
  for (int i = 0; i < 60; ++i) histogram.Add(1000);
  for (int i = 0; i < 30; ++i) histogram.Add(1500);
  for (int i = 0; i < 9; ++i) histogram.Add(5000);
  histogram.Add(4'000'000);
  EXPECT_EQ(histogram.ToString(),
            "Count: 100 Average: 41.5000  StdDev: 397.85\n"
            "Min: 1  Median: 1.0000  Max: 4000\n"
            "Percentiles: P50: 1.00 P75: 1.50 P99: 6.00 P99.9: 3890.00 P99.99: 3989.00\n"
            "------------------------------------------------------\n"
            "[       0,       1 ]       60  60.000%  60.000% ############\n"
            "(       1,       2 ]       30  30.000%  90.000% ######\n"
            "(       4,       6 ]        9   9.000%  99.000% ##\n"
            "(    2900,    4400 ]        1   1.000% 100.000% \n");
}

TEST(LatencyHistogramTest, WithoutValuesItIsZero) {
  const LatencyHistogram histogram;
  EXPECT_EQ(histogram.Percentile(99), 0);
  EXPECT_EQ(histogram.Min(), 0u);
  EXPECT_EQ(histogram.Average(), 0);
}

TEST(LatencyHistogramTest, PercentilesSeeBelowAMicrosecond) {
  LatencyHistogram histogram;
  for (uint64_t i = 1; i <= 999; ++i) histogram.Add(i);
  EXPECT_NEAR(histogram.Percentile(25), 0.25, 0.02);
  EXPECT_NEAR(histogram.Percentile(50), 0.5, 0.02);
  EXPECT_NEAR(histogram.Percentile(99), 0.99, 0.02);
}

TEST(LatencyHistogramTest, MergedIsAsIfAddedToOne) {
  LatencyHistogram all;
  LatencyHistogram a;
  LatencyHistogram b;
  for (uint64_t i = 0; i < 1000; ++i) {
    all.Add(i * i * 37);
    (i % 3 == 0 ? a : b).Add(i * i * 37);
  }
  a.Merge(b);
  EXPECT_EQ(a.ToString(), all.ToString());
}

TEST(LatencyHistogramTest, TheLargestValueHasABucket) {
  LatencyHistogram histogram;
  histogram.Add(std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(histogram.count(), 1u);
  EXPECT_GT(histogram.Percentile(50), 1e15);
}

}  // namespace
}  // namespace ashlar::bench
