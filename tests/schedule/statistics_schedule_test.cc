// Statistics under the scheduler. If others count and reset them during a read, a ticker and a
// histogram still show counts that they had.
#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <vector>

#include "observe/statistics_impl.h"
#include "tests/schedule/schedules.h"

namespace ashlar::test {
namespace {

// A reader that took the base after the sum would find a negative count, a number near 2^64.
TEST(StatisticsScheduleTest, ATickerIsNeverBelowZeroAndAResetLosesNoCount) {
  constexpr uint64_t kThreads = 2;
  constexpr uint64_t kCounts = 6;
  ForEachSchedule(1000, [](uint64_t /*seed*/) {
    StatisticsImpl statistics;
    std::vector<std::thread> threads;
    for (uint64_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (uint64_t n = 0; n < kCounts; ++n) statistics.recordTick(NUMBER_KEYS_READ);
      });
    }
    uint64_t taken = 0;
    threads.emplace_back([&] {
      for (int i = 0; i < 2; ++i) taken += statistics.getAndResetTickerCount(NUMBER_KEYS_READ);
    });
    threads.emplace_back([&] {
      for (int i = 0; i < 2; ++i)
        EXPECT_LE(statistics.getTickerCount(NUMBER_KEYS_READ), kThreads * kCounts);
    });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(taken + statistics.getTickerCount(NUMBER_KEYS_READ), kThreads * kCounts);
  });
}

// The smallest and the largest value are stored after the count, and a reset clears one number
// after the other. A reader in between must not find a median of 2^64.
TEST(StatisticsScheduleTest, AHistogramHasItsPercentilesBetweenItsValues) {
  ForEachSchedule(500, [](uint64_t /*seed*/) {
    StatisticsImpl statistics;
    std::vector<std::thread> threads;
    threads.emplace_back([&] {
      for (const uint64_t value : {100U, 120U, 110U}) statistics.recordInHistogram(DB_GET, value);
    });
    threads.emplace_back([&] { EXPECT_TRUE(statistics.Reset().ok()); });
    threads.emplace_back([&] {
      for (int i = 0; i < 3; ++i) {
        HistogramData data;
        statistics.histogramData(DB_GET, &data);
        EXPECT_LE(data.count, 3U);
        if (data.count == 0) continue;
        // The bounds of the buckets of 100 and 120.
        EXPECT_GE(data.min, 96);
        EXPECT_LE(data.max, 127);
        EXPECT_LE(data.min, data.median);
        EXPECT_LE(data.median, data.percentile99);
        EXPECT_LE(data.percentile99, data.max);
      }
    });
    for (std::thread& thread : threads) thread.join();
  });
}

}  // namespace
}  // namespace ashlar::test
