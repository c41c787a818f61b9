#include "compact/plan/write_stall.h"

#include <gtest/gtest.h>

namespace ashlar {
namespace {

LeveledConfig Config() {
  LeveledConfig config;
  config.level0_file_num_compaction_trigger = 4;
  config.level0_slowdown_writes_trigger = 20;
  config.level0_stop_writes_trigger = 36;
  config.soft_pending_compaction_bytes_limit = 1000;
  config.hard_pending_compaction_bytes_limit = 2000;
  config.delayed_write_rate = 1 << 20;
  config.max_write_buffer_number = 4;
  return config;
}
WriteStall Next(const StallInputs& inputs, const WriteStall& previous = {}) {
  return ComputeStall(inputs, Config(), previous);
}

TEST(WriteStall, EachPressureSlowsThenStops) {
  EXPECT_EQ(Next({.immutable_memtables = 1, .level0_files = 19, .pending_bytes = 999}).state,
            StallState::kNone);
  EXPECT_EQ(Next({.immutable_memtables = 3}).cause, StallCause::kMemtables);
  EXPECT_EQ(Next({.immutable_memtables = 3}).state, StallState::kDelayed);
  EXPECT_EQ(Next({.immutable_memtables = 4}).state, StallState::kStopped);
  EXPECT_EQ(Next({.level0_files = 20}).state, StallState::kDelayed);
  EXPECT_EQ(Next({.level0_files = 20}).cause, StallCause::kLevel0Files);
  EXPECT_EQ(Next({.level0_files = 36}).state, StallState::kStopped);
  EXPECT_EQ(Next({.pending_bytes = 1000}).state, StallState::kDelayed);
  EXPECT_EQ(Next({.pending_bytes = 1000}).cause, StallCause::kPendingBytes);
  EXPECT_EQ(Next({.pending_bytes = 2000}).state, StallState::kStopped);
}

TEST(WriteStall, TheWorstPressureDecides) {
  EXPECT_EQ(Next({.immutable_memtables = 4, .level0_files = 20}).cause, StallCause::kMemtables);
  EXPECT_EQ(Next({.level0_files = 20, .pending_bytes = 2000}).state, StallState::kStopped);
}

TEST(WriteStall, WithoutAutomaticCompactionsOnlyMemtablesCount) {
  LeveledConfig config = Config();
  config.disable_auto_compactions = true;
  EXPECT_EQ(ComputeStall({.level0_files = 100, .pending_bytes = 100000}, config, {}).state,
            StallState::kNone);
  EXPECT_EQ(ComputeStall({.immutable_memtables = 4}, config, {}).state, StallState::kStopped);
}

TEST(WriteStall, TheRateFollowsTheDebt) {
  WriteStall stall = Next({.pending_bytes = 1100});
  EXPECT_EQ(stall.bytes_per_second, 1u << 20);
  stall = Next({.pending_bytes = 1200}, stall);
  const uint64_t slower = stall.bytes_per_second;
  EXPECT_EQ(slower, static_cast<uint64_t>((1 << 20) * 0.8));
  const WriteStall same = Next({.pending_bytes = 1200}, stall);
  EXPECT_EQ(same.bytes_per_second, slower) << "nothing has changed";
  stall = Next({.level0_files = 1, .pending_bytes = 1200}, stall);  // no progress
  EXPECT_EQ(stall.bytes_per_second, static_cast<uint64_t>(static_cast<double>(slower) * 0.8));
  stall = Next({.pending_bytes = 1150}, stall);
  EXPECT_NEAR(static_cast<double>(stall.bytes_per_second), static_cast<double>(slower), 2);
  for (int i = 0; i < 20; ++i)
    stall = Next({.pending_bytes = 1150 - static_cast<uint64_t>(i)}, stall);
  EXPECT_EQ(stall.bytes_per_second, 1u << 20) << "never faster than configured";
}

TEST(WriteStall, CloseToAStopTheRateFallsFaster) {
  WriteStall stall = Next({.level0_files = 33, .pending_bytes = 500});
  EXPECT_EQ(stall.bytes_per_second, 1u << 20);
  stall = Next({.level0_files = 34, .pending_bytes = 400}, stall);
  EXPECT_EQ(stall.bytes_per_second, static_cast<uint64_t>((1 << 20) * 0.6));
  stall = Next({.level0_files = 36}, stall);
  EXPECT_EQ(stall.state, StallState::kStopped);
  const uint64_t before = stall.bytes_per_second;
  stall = Next({.level0_files = 30}, stall);
  EXPECT_EQ(stall.bytes_per_second, static_cast<uint64_t>(static_cast<double>(before) * 0.6));
}

TEST(WriteStall, TheRateHasAFloor) {
  WriteStall stall = Next({.pending_bytes = 1100});
  for (uint64_t i = 0; i < 200; ++i) stall = Next({.pending_bytes = 1100 + i}, stall);
  EXPECT_EQ(stall.bytes_per_second, 16u * 1024);
}

TEST(WriteStall, ARateBeyondAllDevicesStaysThere) {
  LeveledConfig config = Config();
  config.delayed_write_rate = UINT64_MAX;
  WriteStall stall = ComputeStall({.pending_bytes = 1200}, config, {});
  EXPECT_EQ(stall.bytes_per_second, UINT64_MAX);
  stall = ComputeStall({.pending_bytes = 1100}, config, stall);  // less debt makes it faster
  EXPECT_EQ(stall.state, StallState::kDelayed);
  EXPECT_EQ(stall.bytes_per_second, UINT64_MAX);
  stall = ComputeStall({}, config, stall);
  EXPECT_EQ(stall.state, StallState::kNone);
  EXPECT_EQ(stall.bytes_per_second, UINT64_MAX);
}

TEST(WriteStall, RecoveryStartsTheNextDelayFaster) {
  WriteStall stall = Next({.pending_bytes = 1100});
  for (uint64_t i = 0; i < 5; ++i) stall = Next({.pending_bytes = 1200 + i}, stall);
  const uint64_t last = stall.bytes_per_second;
  stall = Next({.pending_bytes = 10}, stall);
  EXPECT_EQ(stall.state, StallState::kNone);
  stall = Next({.pending_bytes = 1100}, stall);
  EXPECT_EQ(stall.bytes_per_second, static_cast<uint64_t>(static_cast<double>(last) * 1.4));
}

TEST(WriteStall, ARateBelowTheLeastOneIsRaisedWithTheOption) {
  const StallInputs inputs = {.pending_bytes = 1100};
  LeveledConfig config = Config();
  config.delayed_write_rate = 1000;
  const WriteStall slow = ComputeStall(inputs, config, {});
  EXPECT_EQ(slow.bytes_per_second, 1000u);
  EXPECT_EQ(ComputeStall(inputs, Config(), slow).bytes_per_second, 16u << 10);
}

TEST(WriteStall, PressureAsksForMoreCompactionsEarly) {
  EXPECT_FALSE(WantsMoreCompactions({.level0_files = 7}, Config()));
  EXPECT_TRUE(WantsMoreCompactions({.level0_files = 8}, Config()));
  EXPECT_TRUE(WantsMoreCompactions({.pending_bytes = 250}, Config()));
  LeveledConfig config = Config();
  config.soft_pending_compaction_bytes_limit = 0;
  EXPECT_FALSE(WantsMoreCompactions({.pending_bytes = 499}, config));
  EXPECT_TRUE(WantsMoreCompactions({.pending_bytes = 500}, config));
  config.hard_pending_compaction_bytes_limit = 0;
  EXPECT_FALSE(WantsMoreCompactions({.pending_bytes = UINT64_MAX}, config));
}

}  // namespace
}  // namespace ashlar
