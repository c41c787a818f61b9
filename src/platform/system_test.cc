// Clocks, processors, pages.
#include <gtest/gtest.h>

#include <vector>

#include "platform/clock.h"
#include "platform/cpu.h"
#include "platform/memory.h"

namespace ashlar {
namespace {

TEST(PlatformClock, MonotonicTimeNeverGoesBack) {
  uint64_t last = MonotonicNanos();
  for (int i = 0; i < 10000; i++) {
    const uint64_t now = MonotonicNanos();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(PlatformClock, SleepingTakesAtLeastTheTimeAsked) {
  const uint64_t start = MonotonicNanos();
  SleepForMicros(300);
  EXPECT_GE(MonotonicNanos() - start, 300'000u);
}

TEST(PlatformClock, WallTimeIsInMicrosecondsSince1970) {
  constexpr uint64_t kYear2020 = 1'577'836'800'000'000;
  constexpr uint64_t kYear2200 = 7'258'118'400'000'000;
  EXPECT_GT(UnixMicros(), kYear2020);
  EXPECT_LT(UnixMicros(), kYear2200);
}

TEST(PlatformCpu, ThereIsAProcessor) { EXPECT_GE(HardwareThreads(), 1u); }

TEST(PlatformMemory, AdviceIsHarmlessForAnyRange) {
  EXPECT_EQ(PageBytes() & (PageBytes() - 1), 0u);
  std::vector<char> memory(3 * PageBytes() + 100, 'x');
  AdviseHugePages(memory.data() + 1, memory.size() - 1);
  AdviseHugePages(memory.data(), 0);
  AdviseHugePages(memory.data() + 5, 10);
  for (const char c : memory) ASSERT_EQ(c, 'x');
}

}  // namespace
}  // namespace ashlar
