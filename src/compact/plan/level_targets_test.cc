#include "compact/plan/level_targets.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "compact/plan/tree_text.h"

namespace ashlar {
namespace {

LeveledConfig Config(bool dynamic) {
  LeveledConfig config;
  config.num_levels = 7;
  config.max_bytes_for_level_base = 1000;
  config.level_compaction_dynamic_level_bytes = dynamic;
  return config;
}

TEST(StaticTargets, MultiplyFromTheBase) {
  LeveledConfig config = Config(false);
  config.max_bytes_for_level_multiplier_additional = {1, 1, 3, 1, 1, 1, 1};
  const LevelTargets targets = ComputeLevelTargets(std::vector<uint64_t>(7, 0), config);
  EXPECT_EQ(targets.base_level, 1u);
  EXPECT_EQ(targets.bytes_max,
            (std::vector<uint64_t>{1000, 1000, 10000, 300000, 3000000, 30000000, 300000000}));
}

TEST(StaticTargets, DoNotOverflow) {
  LeveledConfig config = Config(false);
  config.max_bytes_for_level_base = uint64_t{1} << 60;
  EXPECT_EQ(ComputeLevelTargets(std::vector<uint64_t>(7, 0), config).bytes_max.back(), UINT64_MAX);
}

TEST(DynamicTargets, AnEmptyTreeBeginsAtTheLastLevel) {
  const LevelTargets targets = ComputeLevelTargets(std::vector<uint64_t>(7, 0), Config(true));
  EXPECT_EQ(targets.base_level, 6u);
}

TEST(DynamicTargets, TheLargestLevelSetsTheMeasure) {
  // With 276 GB in the last level, a base of 1 GB and a multiplier of 10, the levels above it would
  // get 27.6, 2.76 and 0.276 GB. Level 3 is the base level and may hold the full base size.
  const LevelTargets targets =
      ComputeLevelTargets(std::vector<uint64_t>{0, 0, 0, 0, 0, 0, 276000}, Config(true));
  EXPECT_EQ(targets.base_level, 3u);
  EXPECT_EQ(targets.of(1), UINT64_MAX);
  EXPECT_EQ(targets.of(3), 1000u);
  EXPECT_EQ(targets.of(4), 2760u);
  EXPECT_EQ(targets.of(5), 27600u);
  EXPECT_EQ(targets.of(6), 276000u);
  EXPECT_EQ(targets.lowest_unnecessary_level, 0u);
}

TEST(DynamicTargets, TheBaseLevelIsAtLeastOneAndAtMostTheBaseSize) {
  const LevelTargets targets =
      ComputeLevelTargets(std::vector<uint64_t>{0, 0, 0, 0, 0, 0, 276000000}, Config(true));
  EXPECT_EQ(targets.base_level, 1u);
  EXPECT_EQ(targets.of(1), 1000u);
  EXPECT_EQ(targets.of(2), 10000u);
}

TEST(DynamicTargets, ShallowDataOnDeepLevelsDrains) {
  // Little data is spread over many levels, so the upper ones are to be drained downwards.
  const LevelTargets targets =
      ComputeLevelTargets(std::vector<uint64_t>{0, 0, 10, 10, 10, 10, 900}, Config(true));
  EXPECT_EQ(targets.base_level, 2u);
  EXPECT_EQ(targets.lowest_unnecessary_level, 5u);
}

// A MANIFEST may list such tables if the files have these sizes.
TEST(DynamicTargets, TablesWithoutBytesAreAboveNoBaseLevel) {
  const LeveledConfig config = Config(true);
  const TreeText empty("L2: 4[a-z 0]\nL6: 5[a-z 900]", config.num_levels);
  EXPECT_EQ(ComputeLevelTargets(empty.View(), config).base_level, 2u);
  const TreeText wrapped(
      "L2: 4[a-b 9223372036854775808] 6[c-d 9223372036854775808]\nL6: 5[a-z 900]",
      config.num_levels);
  EXPECT_EQ(ComputeLevelTargets(wrapped.View(), config).base_level, 2u);
  const TreeText last("L6: 4[a-z 0]", config.num_levels);
  EXPECT_EQ(ComputeLevelTargets(last.View(), config).base_level, 6u);
}

TEST(DynamicTargets, HoldTheirInvariantsForAnyTree) {
  const uint64_t seed = 20260;
  Random random(seed);
  for (int i = 0; i < 20000; ++i) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << " step " << i);
    LeveledConfig config = Config(true);
    config.num_levels = static_cast<Level>(random.Between(2, 8));
    config.max_bytes_for_level_base = 1 + random.Skewed(40);
    config.max_bytes_for_level_multiplier = static_cast<double>(random.Between(2, 20));
    std::vector<uint64_t> bytes;
    for (Level level = 0; level < config.num_levels; ++level)
      bytes.push_back(random.OneIn(2) ? 0 : random.Skewed(50));
    const LevelTargets targets = ComputeLevelTargets(bytes, config);
    ASSERT_GE(targets.base_level, 1u);
    ASSERT_LT(targets.base_level, config.num_levels);
    for (Level level = 1; level < targets.base_level; ++level) ASSERT_EQ(bytes[level], 0u);
    for (Level level = targets.base_level + 1; level < config.num_levels; ++level)
      ASSERT_GE(targets.of(level), targets.of(level - 1));
    ASSERT_GE(targets.of(targets.base_level), config.max_bytes_for_level_base);
  }
}

TEST(Scores, BusyFilesDoNotCount) {
  const LeveledConfig config = Config(false);
  const TreeText tree("L1: 4[a-b 900] 5[c-d 900 busy]", config.num_levels);
  const auto scores =
      CompactionScores(tree.View(), config, ComputeLevelTargets(tree.View(), config));
  ASSERT_EQ(scores.size(), 6u);
  EXPECT_EQ(scores.front().level, 1u);
  EXPECT_DOUBLE_EQ(scores.front().score, 0.9);
}

TEST(Scores, DynamicLevelsWaitForWhatComesFromAbove) {
  const LeveledConfig config = Config(true);
  // Level 5 is over its target, but level 0 holds ten times as much on its way down.
  const TreeText tree("L0: 9[a-z 20000]\nL5: 4[a-b 2000]\nL6: 5[a-b 10000]", config.num_levels);
  const auto scores =
      CompactionScores(tree.View(), config, ComputeLevelTargets(tree.View(), config));
  EXPECT_EQ(scores[0].level, 0u);
  EXPECT_GE(scores[0].score, 10);
  EXPECT_EQ(scores[1].level, 5u);
  EXPECT_LT(scores[1].score, 1);
}

TEST(PendingBytes, GrowWithTheExcess) {
  const LeveledConfig config = Config(false);
  const auto pending = [&](std::vector<uint64_t> bytes, size_t level0_files) {
    bytes.resize(7, 0);
    return EstimatePendingBytes(bytes, level0_files, config, ComputeLevelTargets(bytes, config));
  };
  EXPECT_EQ(pending({0, 1000, 10000}, 0), 0u);
  EXPECT_EQ(pending({900, 500}, 3), 0u);
  EXPECT_EQ(pending({400, 500}, 4), 900u);
  // Level 1 has 500 excess bytes. Each costs 1 + 2, because level 2 is twice as large as level 1.
  EXPECT_EQ(pending({0, 1500, 3000}, 0), 1500u);
  // Bytes that are moved down push the next level over its target.
  EXPECT_GT(pending({0, 3000, 10000, 50000}, 0), pending({0, 3000, 8000, 50000}, 0));
}

TEST(Compression, PerLevelListsCountFromTheBaseLevel) {
  LeveledConfig config = Config(true);
  config.compression_per_level = {kNoCompression, kLZ4Compression, kZSTD};
  LevelTargets targets;
  targets.base_level = 4;
  EXPECT_EQ(ChooseCompression(config, targets, 6, 0).type, kNoCompression);
  EXPECT_EQ(ChooseCompression(config, targets, 6, 4).type, kLZ4Compression);
  EXPECT_EQ(ChooseCompression(config, targets, 6, 5).type, kZSTD);
  EXPECT_EQ(ChooseCompression(config, targets, 6, 6).type, kZSTD);
  config.bottommost_compression = kZlibCompression;
  EXPECT_EQ(ChooseCompression(config, targets, 6, 5).type, kZSTD);
  EXPECT_EQ(ChooseCompression(config, targets, 6, 6).type, kZlibCompression);
  EXPECT_TRUE(ChooseCompression(config, targets, 6, 6).bottommost);
}

// bottommost_compression_opts has an effect even if bottommost_compression is not set.
TEST(Compression, TheLastLevelIsKnownWithoutACodecOfItsOwn) {
  LeveledConfig config = Config(true);
  config.compression = kZSTD;
  LevelTargets targets;
  targets.base_level = 4;
  for (const bool has_list : {false, true}) {
    if (has_list) config.compression_per_level = {kNoCompression, kZSTD};
    EXPECT_FALSE(ChooseCompression(config, targets, 6, 5).bottommost) << has_list;
    EXPECT_EQ(ChooseCompression(config, targets, 6, 6).type, kZSTD) << has_list;
    EXPECT_TRUE(ChooseCompression(config, targets, 6, 6).bottommost) << has_list;
    EXPECT_FALSE(ChooseCompression(config, targets, 0, 0).bottommost) << has_list;
  }
}

// The outputs of the only level use bottommost_compression.
TEST(Compression, TheOnlyLevelIsTheLastOne) {
  LeveledConfig config = Config(false);
  config.num_levels = 1;
  config.compression = kLZ4Compression;
  config.bottommost_compression = kZSTD;
  const LevelTargets targets = ComputeLevelTargets(std::vector<uint64_t>(1, 0), config);
  const CompressionChoice choice = ChooseCompression(config, targets, 0, 0);
  EXPECT_EQ(choice.type, kZSTD);
  EXPECT_TRUE(choice.bottommost);
}

TEST(FileSizes, GrowWithTheLevel) {
  LeveledConfig config = Config(false);
  config.target_file_size_base = 7;
  config.target_file_size_multiplier = 3;
  const LevelTargets targets = ComputeLevelTargets(std::vector<uint64_t>(7, 0), config);
  EXPECT_EQ(TargetFileBytes(config, targets, 1), 7u);
  EXPECT_EQ(TargetFileBytes(config, targets, 2), 21u);
  EXPECT_EQ(TargetFileBytes(config, targets, 3), 63u);
}

}  // namespace
}  // namespace ashlar
