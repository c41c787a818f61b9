#include "execute/clock.h"

#include <gtest/gtest.h>

namespace ashlar {
namespace {

TEST(MachineClock, GoesOn) {
  const std::shared_ptr<Clock> clock = MachineClock();
  const uint64_t before = clock->NowNanos();
  clock->SleepForMicros(50);
  EXPECT_GE(clock->NowNanos() - before, 50'000u);
  EXPECT_GT(clock->NowUnixMicros(), 0u);
}

TEST(ManualClock, StandsStillUntilMoved) {
  ManualClock clock(1'000'000);
  EXPECT_EQ(clock.NowNanos(), 0u);
  EXPECT_EQ(clock.NowUnixMicros(), 1'000'000u);
  clock.AdvanceMicros(5);
  EXPECT_EQ(clock.NowNanos(), 5000u);
  EXPECT_EQ(clock.NowUnixMicros(), 1'000'005u);
  clock.SleepForMicros(7);
  EXPECT_EQ(clock.NowNanos(), 12000u);
}

TEST(ManualClock, WaitingTakesNoTimeButItsOwn) {
  ManualClock clock(0);
  Mutex mutex;
  CondVar condition;
  MutexLock lock(mutex);
  clock.WaitForMicros(condition, mutex, 7);
  EXPECT_EQ(clock.NowNanos(), 7000u);
}

TEST(MachineClock, WaitingEndsWithTheTime) {
  const std::shared_ptr<Clock> clock = MachineClock();
  Mutex mutex;
  CondVar condition;
  MutexLock lock(mutex);
  const uint64_t start = clock->NowNanos();
  while (clock->NowNanos() - start < 1'000'000) clock->WaitForMicros(condition, mutex, 1000);
}

}  // namespace
}  // namespace ashlar
