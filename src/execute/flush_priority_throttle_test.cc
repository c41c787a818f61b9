#include "execute/flush_priority_throttle.h"

#include <optional>
#include <thread>
#include <utility>

#include "gtest/gtest.h"

namespace ashlar {
namespace {

constexpr uint64_t kHourNanos = 3'600'000'000'000;

// Returns once a compaction waits for the first time.
void AwaitFirstWait(const FlushPriorityThrottle& turns) {
  while (turns.waits() == 0) std::this_thread::yield();
}

TEST(FlushPriorityThrottleTest, ACompactionStandsBackUntilTheFlushEnds) {
  FlushPriorityThrottle turns(2, kHourNanos);
  ManualClock clock(0);
  std::optional<FlushTurn> flush(std::in_place, turns);
  std::thread compaction([&] {
    CompactionTurn turn(turns, clock);
    turn.YieldToFlush();
  });
  AwaitFirstWait(turns);
  flush.reset();
  compaction.join();
}

TEST(FlushPriorityThrottleTest, NobodyWaitsWithoutAFlushOrWhereThereAreProcessorsForAll) {
  ManualClock clock(0);
  FlushPriorityThrottle two(2, kHourNanos);
  CompactionTurn alone(two, clock);
  alone.YieldToFlush();

  FlushPriorityThrottle three(3, kHourNanos);
  const FlushTurn flush(three);
  CompactionTurn beside(three, clock);
  beside.YieldToFlush();
  EXPECT_EQ(alone.AllowanceNanos(), kHourNanos);
  EXPECT_EQ(beside.AllowanceNanos(), kHourNanos);
}

TEST(FlushPriorityThrottleTest, OnlyAsManyStandBackAsProcessorsLack) {
  FlushPriorityThrottle turns(3, kHourNanos);
  ManualClock clock(0);
  std::optional<FlushTurn> flush(std::in_place, turns);
  CompactionTurn first(turns, clock);
  std::thread second([&] {
    CompactionTurn turn(turns, clock);
    turn.YieldToFlush();
  });
  AwaitFirstWait(turns);
  first.YieldToFlush();
  EXPECT_EQ(first.AllowanceNanos(), kHourNanos) << "it waited";
  flush.reset();
  second.join();
}

TEST(FlushPriorityThrottleTest, ACompactionWaitsForAsLongAsItHasWorkedThoughTheFlushGoesOn) {
  FlushPriorityThrottle turns(1, /*longest_wait_nanos=*/5'000'000);
  ManualClock clock(0);
  const FlushTurn flush(turns);
  CompactionTurn turn(turns, clock);
  turn.YieldToFlush();
  EXPECT_EQ(turn.AllowanceNanos(), 0U) << "what it waited was not counted";
  turn.YieldToFlush();
  clock.AdvanceMicros(2000);
  EXPECT_EQ(turn.AllowanceNanos(), 2'000'000U);
  turn.YieldToFlush();
  EXPECT_EQ(turn.AllowanceNanos(), 0U);
  clock.AdvanceMicros(7000);
  EXPECT_EQ(turn.AllowanceNanos(), 5'000'000U) << "more is not saved";
}

}  // namespace
}  // namespace ashlar
