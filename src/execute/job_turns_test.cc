#include "execute/job_turns.h"

#include <optional>
#include <thread>
#include <utility>

#include "gtest/gtest.h"

namespace ashlar {
namespace {

constexpr uint64_t kHourNanos = 3'600'000'000'000;

// Returns once a compaction stands back for the first time.
void AwaitFirstWait(const JobTurns& turns) {
  while (turns.waits() == 0) std::this_thread::yield();
}

TEST(JobTurnsTest, ACompactionStandsBackUntilTheFlushEnds) {
  JobTurns turns(2, kHourNanos);
  ManualClock clock(0);
  std::optional<FlushTurn> flush(std::in_place, turns);
  std::thread compaction([&] {
    CompactionTurn turn(turns, clock);
    turn.GiveWay();
  });
  AwaitFirstWait(turns);
  flush.reset();
  compaction.join();
}

TEST(JobTurnsTest, NobodyWaitsWithoutAFlushOrWhereThereAreProcessorsForAll) {
  ManualClock clock(0);
  JobTurns two(2, kHourNanos);
  CompactionTurn alone(two, clock);
  alone.GiveWay();

  JobTurns three(3, kHourNanos);
  const FlushTurn flush(three);
  CompactionTurn beside(three, clock);
  beside.GiveWay();
  EXPECT_EQ(alone.AllowanceNanos(), kHourNanos);
  EXPECT_EQ(beside.AllowanceNanos(), kHourNanos);
}

TEST(JobTurnsTest, OnlyAsManyStandBackAsProcessorsLack) {
  JobTurns turns(3, kHourNanos);
  ManualClock clock(0);
  std::optional<FlushTurn> flush(std::in_place, turns);
  CompactionTurn first(turns, clock);
  std::thread second([&] {
    CompactionTurn turn(turns, clock);
    turn.GiveWay();
  });
  AwaitFirstWait(turns);
  first.GiveWay();
  EXPECT_EQ(first.AllowanceNanos(), kHourNanos) << "it waited";
  flush.reset();
  second.join();
}

TEST(JobTurnsTest, ACompactionWaitsForAsLongAsItHasWorkedThoughTheFlushGoesOn) {
  JobTurns turns(1, /*longest_wait_nanos=*/5'000'000);
  ManualClock clock(0);
  const FlushTurn flush(turns);
  CompactionTurn turn(turns, clock);
  turn.GiveWay();
  EXPECT_EQ(turn.AllowanceNanos(), 0U) << "what it waited was not counted";
  turn.GiveWay();
  clock.AdvanceMicros(2000);
  EXPECT_EQ(turn.AllowanceNanos(), 2'000'000U);
  turn.GiveWay();
  EXPECT_EQ(turn.AllowanceNanos(), 0U);
  clock.AdvanceMicros(7000);
  EXPECT_EQ(turn.AllowanceNanos(), 5'000'000U) << "more is not saved";
}

}  // namespace
}  // namespace ashlar
