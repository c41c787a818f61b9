// Tests universal picks, one rule each, on trees written as text.
#include "compact/plan/universal_picker.h"

#include <gtest/gtest.h>

#include <string>

#include "compact/plan/picker_test_kit.h"
#include "compact/plan/tree_text.h"

namespace ashlar {
namespace {

CompactionConfig SmallConfig() {
  CompactionConfig config{.style = kCompactionStyleUniversal};
  config.common.num_levels = 5;
  config.common.level0_file_num_compaction_trigger = 3;
  config.common.target_file_size_base = 10;
  config.common.max_compaction_bytes = 100;
  return config;
}

std::string Pick(const std::string& text, const CompactionConfig& config = SmallConfig(),
                 uint64_t now_unix_seconds = 0) {
  return PickText(text, config, now_unix_seconds);
}

TEST(PickUniversal, NothingBelowTheTrigger) {
  EXPECT_EQ(Pick("L0: 9[a-k 10] 8[a-k 10]"), "nothing");
  EXPECT_EQ(Pick(""), "nothing");
}

TEST(PickUniversal, SizeAmplificationMergesAll) {
  EXPECT_EQ(Pick("L0: 9[a-k 10] 8[a-k 15]\nL4: 7[a-k 10]"),
            "L0 [9 8] + L4 [7] -> L4, size amplification, bottommost");
  // Each run is larger than the newer one, so that no other rule applies.
  const std::string tree = "L0: 9[a-k 10] 8[a-k 12] 7[a-k 14]\nL4: 6[a-k 16]";
  CompactionConfig config = SmallConfig();
  config.common.level0_file_num_compaction_trigger = 4;
  EXPECT_EQ(Pick(tree, config), "L0 [9 8 7] + L4 [6] -> L4, size amplification, bottommost");
  config.universal.size_amplification_percent_max = 260;
  EXPECT_EQ(Pick(tree, config), "nothing");
}

TEST(PickUniversal, SizeRatioAddsOlderRunsWhileTheyAreNotLarger) {
  EXPECT_EQ(Pick("L0: 9[a-k 10] 8[a-k 10] 7[a-k 20] 6[a-k 41]\nL4: 5[a-z 900]"),
            "L0 [9 8 7] -> L0, size ratio");
  CompactionConfig config = SmallConfig();
  config.universal.size_ratio_percent = 3;
  EXPECT_EQ(Pick("L0: 9[a-k 10] 8[a-k 10] 7[a-k 20] 6[a-k 41]\nL4: 5[a-z 900]", config),
            "L0 [9 8 7 6] -> L3, size ratio");
  EXPECT_EQ(Pick("L0: 9[a-k 10] 8[a-k 50] 7[a-k 50]\nL4: 5[a-z 900]"), "L0 [8 7] -> L3, size ratio")
      << "the newest has no neighbour of its size";
}

// 2^32 percent of a run of 500 GB is more bytes than 64 bits can hold.
TEST(PickUniversal, PercentagesBeyondAllBytesAreNeverReached) {
  CompactionConfig config = SmallConfig();
  config.universal.size_amplification_percent_max = UINT_MAX;
  EXPECT_EQ(Pick("L0: 9[a-k 10] 8[a-k 15]\nL4: 7[a-k 500000000000]", config), "nothing");
  config = SmallConfig();
  config.universal.size_ratio_percent = UINT_MAX;
  EXPECT_EQ(Pick("L0: 9[a-k 500000000000] 8[a-k 500000000001]\nL4: 7[a-k 5000000000000]", config),
            "L0 [9 8] + L4 [7] -> L4, size ratio, bottommost");
}

TEST(PickUniversal, StopStyleComparesWithTheLastRunAlone) {
  CompactionConfig config = SmallConfig();
  config.universal.stops_at_similar_size = true;
  EXPECT_EQ(Pick("L0: 9[a-k 10] 8[a-k 10] 7[a-k 20] 6[a-k 40]\nL4: 5[a-z 900]", config),
            "L0 [9 8] -> L0, size ratio");
  EXPECT_EQ(Pick("L0: 9[a-k 40] 8[a-k 10] 7[a-k 10]\nL4: 5[a-z 900]", config),
            "L0 [8 7] -> L3, size ratio");
}

TEST(PickUniversal, MergeWidths) {
  CompactionConfig config = SmallConfig();
  config.universal.merge_width_max = 2;
  EXPECT_EQ(Pick("L0: 9[a-k 10] 8[a-k 10] 7[a-k 10]\nL4: 5[a-z 900]", config),
            "L0 [9 8] -> L0, size ratio");
  config.universal.merge_width_max = UINT_MAX;
  config.universal.merge_width_min = 3;
  EXPECT_EQ(Pick("L0: 9[a-k 10] 8[a-k 10] 7[a-k 90]\nL4: 5[a-z 900]", config),
            "L0 [9 8] -> L0, sorted runs")
      << "two are too few for the ratio; the number of runs decides";
}

TEST(PickUniversal, TooManyRunsAreMergedWhateverTheirSizes) {
  EXPECT_EQ(Pick("L0: 9[a-k 1] 8[a-k 10] 7[a-k 100]\nL4: 5[a-z 1000]"),
            "L0 [9 8] -> L0, sorted runs");
  EXPECT_EQ(Pick("L0: 9[a-k 1] 8[a-k 10]\nL4: 5[a-z 1000]"), "nothing")
      << "as many runs as the trigger";
}

TEST(PickUniversal, OlderRunsThatAreNotMuchLargerAreMergedWithTooMany) {
  // Three runs from 10 to 160 have a factor of 4. Half of it is 2, so a run of twice 21 is merged.
  EXPECT_EQ(Pick("L0: 9[a-k 10] 8[a-k 11] 7[a-k 42]\nL4: 5[a-z 160]"),
            "L0 [9 8 7] -> L3, sorted runs");
  EXPECT_EQ(Pick("L0: 9[a-k 10] 8[a-k 11] 7[a-k 43]\nL4: 5[a-z 160]"),
            "L0 [9 8] -> L0, sorted runs");
  // From 10 to 9,000 the factor is 30, but a run of at most four times 21 is included.
  EXPECT_EQ(Pick("L0: 9[a-k 10] 8[a-k 11] 7[a-k 84]\nL4: 5[a-z 9000]"),
            "L0 [9 8 7] -> L3, sorted runs");
  EXPECT_EQ(Pick("L0: 9[a-k 10] 8[a-k 11] 7[a-k 85]\nL4: 5[a-z 9000]"),
            "L0 [9 8] -> L0, sorted runs");
  EXPECT_EQ(Pick("L0: 9[a-k 1] 8[a-k 11] 7[a-k 48]\nL4: 5[a-z 240]"),
            "L0 [9 8 7] + L4 [5] -> L4, sorted runs, bottommost");
  CompactionConfig config = SmallConfig();
  config.universal.merge_width_max = 2;
  EXPECT_EQ(Pick("L0: 9[a-k 10] 8[a-k 11] 7[a-k 42]\nL4: 5[a-z 160]", config),
            "L0 [9 8] -> L0, sorted runs");
  // At most a single run may be left.
  config.universal.merge_width_max = UINT_MAX;
  config.common.level0_file_num_compaction_trigger = 1;
  EXPECT_EQ(Pick("L0: 9[a-k 10]\nL4: 5[a-z 9000]", config),
            "L0 [9] + L4 [5] -> L4, sorted runs, bottommost");
}

TEST(PickUniversal, TheLimitOnRunsMayBeAboveTheTrigger) {
  const std::string tree = "L0: 9[a-k 1] 8[a-k 10] 7[a-k 100] 6[a-k 999]\nL4: 5[a-z 9999]";
  CompactionConfig config = SmallConfig();
  EXPECT_EQ(Pick(tree, config), "L0 [9 8 7] -> L0, sorted runs") << "the trigger is 3";
  config.universal.runs_max = 5;
  EXPECT_EQ(Pick(tree, config), "nothing");
  config.universal.runs_max = 4;
  EXPECT_EQ(Pick(tree, config), "L0 [9 8] -> L0, sorted runs");
  config.universal.runs_max = 5;
  EXPECT_EQ(Pick("L0: 9[a-k 10] 8[a-k 10] 7[a-k 100]\nL4: 5[a-z 9999]", config),
            "L0 [9 8] -> L0, size ratio")
      << "the other rules begin at the trigger";
}

// Runs of 10, 10.1, 20.3, 40.8, 82, 164.8 and 331.3 bytes are not of similar size.
TEST(PickUniversal, TheLimitOnRunsMayFollowFromTheSizeOfTheTree) {
  CompactionConfig config = SmallConfig();
  config.universal.runs_max = 0;
  config.universal.flushed_bytes = 10;
  const std::string five = "L0: 9[a-k 1] 8[a-k 3] 7[a-k 9] 6[a-k 27]\nL4: 5[a-z ";
  EXPECT_EQ(Pick(five + "82]", config), "nothing");
  EXPECT_EQ(Pick(five + "40]", config), "L0 [9 8] -> L0, sorted runs") << "four suffice";
  EXPECT_EQ(Pick("L0: 9[a-k 1] 8[a-k 3]\nL4: 5[a-z 9]", config), "nothing")
      << "no fewer than the trigger";
  config.universal.stops_at_similar_size = true;
  EXPECT_EQ(Pick(five + "350]", config), "L0 [9 8 7 6] -> L3, sorted runs") << "as the trigger";
}

// By the size of this tree alone, more than 20 runs would be left.
TEST(PickUniversal, TheSizeOfTheTreeLeavesFewerRunsThanSlowWritersDown) {
  CompactionConfig config = SmallConfig();
  config.universal.runs_max = 0;
  config.universal.flushed_bytes = 10;
  const std::string six =
      "L0: 9[a-k 1] 8[a-k 10] 7[a-k 100] 6[a-k 1000] 5[a-k 10000]\nL4: 4[a-z 1000000000]";
  config.common.level0_slowdown_writes_trigger = 7;
  EXPECT_EQ(Pick(six, config), "nothing");
  config.common.level0_slowdown_writes_trigger = 6;
  EXPECT_EQ(Pick(six, config), "L0 [9 8] -> L0, sorted runs");
  config.common.level0_slowdown_writes_trigger = 100;
  config.common.level0_stop_writes_trigger = 6;
  EXPECT_EQ(Pick(six, config), "L0 [9 8] -> L0, sorted runs");
}

TEST(PickUniversal, TheOutputIsAboveTheNextOlderRun) {
  EXPECT_EQ(Pick("L0: 9[a-k 10] 8[a-k 10]\nL1: 7[a-k 900]\nL4: 5[a-z 9000]"),
            "L0 [9 8] -> L0, size ratio");
  EXPECT_EQ(Pick("L0: 9[a-k 10]\nL1: 8[a-k 10]\nL3: 7[a-k 900]"),
            "L0 [9] + L1 [8] -> L2, size ratio");
}

TEST(PickUniversal, BusyRunsEndTheNeighbours) {
  EXPECT_EQ(Pick("L0: 9[a-k 10] 8[a-k 10] 7[a-k 10 busy] 6[a-k 10] 5[a-k 10]"),
            "L0 [9 8] -> L0, size ratio");
  EXPECT_EQ(Pick("L0: 9[a-k 10 busy] 8[a-k 10] 7[a-k 10]\nL3: 6[a-k 900]"),
            "L0 [8 7] -> L2, size ratio");
  EXPECT_EQ(Pick("L0: 9[a-k 10] 8[a-k 10 busy] 7[a-k 10]"), "nothing");
  EXPECT_EQ(Pick("L0: 9[a-k 10] 8[a-k 10]\nL3: 6[a-f 10] 5[g-k 10 busy]"),
            "L0 [9 8] -> L2, size ratio");
}

TEST(PickUniversal, RunsThatAreNewerThanAMemTableAreNotMergedWithinLevel0) {
  const TreeText tree("L0: 9[a-k 10] 8[a-k 10]\nL1: 7[a-k 900]\nL4: 5[a-z 9000]", 5);
  TreeView view = tree.View();
  view.oldest_unflushed = 10;
  const auto plan = PickUniversal(view, SmallConfig());
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(DebugString(*plan), "L0 [9 8] -> L0, size ratio");
  view.oldest_unflushed = 9;
  EXPECT_FALSE(PickUniversal(view, SmallConfig()).has_value());
}

// Tables that LevelDB wrote are ordered by their numbers. The output of a merge of older tables
// would sort above newer ones.
TEST(PickUniversal, TablesWithoutSequencesAreMergedWithNewerOnesOfTheirKind) {
  EXPECT_EQ(Pick("L0: 9[a-k 10] 8[a-k 50] 7[a-k 50]\nL1: 5[a-z 900]"),
            "L0 [8 7] -> L0, size ratio");
  EXPECT_EQ(
      Pick("L0: 9[a-k 10 seq=0-0] 8[a-k 50 seq=0-0] 7[a-k 50 seq=0-0]\nL1: 5[a-z 900 seq=0-0]"),
      "L0 [9 8 7] -> L0, sorted runs");
  EXPECT_EQ(Pick("L0: 9[a-k 10] 8[a-k 50 seq=0-0] 7[a-k 50 seq=0-0]\nL1: 5[a-z 900 seq=0-0]"),
            "L0 [8 7] -> L0, size ratio");
  // No newer table is needed, because the output is below level 0.
  EXPECT_EQ(
      Pick("L0: 9[a-k 10 seq=0-0] 8[a-k 50 seq=0-0] 7[a-k 50 seq=0-0]\nL4: 5[a-z 900 seq=0-0]"),
      "L0 [8 7] -> L3, size ratio");
  // Otherwise a choice that cannot be built would be made again and again, before all others.
  CompactionConfig config = SmallConfig();
  config.common.num_levels = 1;
  config.common.periodic_compaction_seconds = 200;
  EXPECT_EQ(Pick("L0: 9[a-k 10 seq=0-0 born=900] 8[a-k 10 seq=0-0 born=700]", config, 1000),
            "L0 [9 8] -> L0, periodic");
}

std::string PickCovered(const std::string& text, SequenceNumber oldest_snapshot) {
  const TreeText tree(text, 5);
  TreeView view = tree.View();
  view.oldest_snapshot = oldest_snapshot;
  const auto plan = PickUniversal(view, SmallConfig());
  return plan.has_value() ? DebugString(*plan) : "nothing";
}

TEST(PickUniversal, ManyBytesThatARunCoversAreWorthAMergeToTheOldest) {
  constexpr char kNewer[] = "L0: 9[a-k 10] 8[a-k 1000000 seq=50-50 covers=";
  constexpr char kOlder[] = "]\nL4: 7[a-k 90000000 seq=1-9]";
  const auto covers = [&](const std::string& bytes) { return kNewer + bytes + kOlder; };
  EXPECT_EQ(PickCovered(covers("30000000@0"), kSequenceNumberMax),
            "L0 [8] + L4 [7] -> L4, covered bytes, bottommost");
  EXPECT_EQ(PickCovered(covers("20000000@0"), kSequenceNumberMax), "nothing")
      << "less than a quarter of what is rewritten";
  EXPECT_EQ(PickCovered(covers("30000000@1"), kSequenceNumberMax), "nothing")
      << "the count of another level";
  EXPECT_EQ(PickCovered(covers("30000000@0"), 49), "nothing") << "a snapshot below the tombstones";
  EXPECT_EQ(
      PickCovered("L0: 9[a-k 10 seq=50-50 covers=900000@0] 8[a-k 10 seq=1-9]", kSequenceNumberMax),
      "nothing")
      << "less than a megabyte";
  EXPECT_EQ(PickCovered("L4: 7[a-k 10 seq=50-50 covers=30000000@4]", kSequenceNumberMax), "nothing")
      << "nothing is older";
}

TEST(PickUniversal, OnlyOneLevelMergesInPlace) {
  CompactionConfig config = SmallConfig();
  config.common.num_levels = 1;
  EXPECT_EQ(Pick("L0: 9[a-k 10] 8[a-k 10] 7[a-k 10]", config),
            "L0 [9 8 7] -> L0, size amplification");
}

// Otherwise each merge would write these files again, and the next merge would begin.
TEST(PickUniversal, WhatOneLevelCannotHaveInFewerFilesStays) {
  CompactionConfig config = SmallConfig();
  config.common.level0_file_bytes_max = 10;
  const std::string apart = "L0: 9[p-z 7] 8[a-b 10] 7[h-k 10] 6[c-g 10]";
  EXPECT_EQ(Pick(apart, config), "L0 [9 8 7 6] -> L4, size amplification, bottommost");
  EXPECT_EQ(Pick(apart + "\nL1: 5[a-z 1000]", config),
            "L0 [7 6] + L1 [5] -> L4, sorted runs, bottommost")
      << "without level 1 they would stay on level 0";
  config.common.num_levels = 1;
  EXPECT_EQ(Pick(apart, config), "nothing");
  EXPECT_EQ(Pick("L0: 9[g-z 7] 8[a-b 10] 7[h-k 10] 6[c-g 10]", config),
            "L0 [9 8 7 6] -> L0, size amplification")
      << "two of them have keys in common";
  EXPECT_EQ(Pick("L0: 9[p-z 2] 8[a-b 2] 7[h-k 2] 6[c-g 2]", config),
            "L0 [9 8 7 6] -> L0, size amplification")
      << "two files can have it all";
}

TEST(PickUniversal, MovesOnlyWhereAllowed) {
  CompactionConfig config = SmallConfig();
  const std::string tree = "L0: 9[k-l 10] 8[c-d 10] 7[a-b 10]";
  EXPECT_EQ(Pick(tree, config), "L0 [9 8 7] -> L4, size amplification, bottommost");
  config.universal.may_move = true;
  EXPECT_EQ(Pick(tree, config), "L0 [9 8 7] -> L4, size amplification, move, bottommost");
  EXPECT_EQ(Pick("L0: 9[k-l 10] 8[a-d 10] 7[a-b 10]", config),
            "L0 [9 8 7] -> L4, size amplification, bottommost");
  config.universal.compression_size_percent = 80;
  EXPECT_EQ(Pick(tree, config), "L0 [9 8 7] -> L4, size amplification, bottommost")
      << "flushed tables are not compressed, and this part of the tree is";
}

TEST(PickUniversal, IncrementalMergesTheRunsAboveAndTakesThemDownInParts) {
  CompactionConfig config = SmallConfig();
  config.universal.incremental = true;
  config.universal.size_amplification_percent_max = 15;
  EXPECT_EQ(Pick("L0: 9[a-k 100] 8[a-k 100]\nL4: 5[a-f 500] 6[g-z 500]", config),
            "L0 [9 8] -> L3, size amplification");
  config.common.level0_file_num_compaction_trigger = 2;
  EXPECT_EQ(Pick("L3: 9[a-c 40] 8[d-f 60] 7[g-k 100]\n"
                 "L4: 4[a-b 30] 5[d-f 500] 6[g-z 500]",
                 config),
            "L3 [9] + L4 [4] -> L4, size amplification, bottommost");
}

TEST(PickUniversal, CompressesTheOldestPart) {
  CompactionConfig config = SmallConfig();
  config.common.compression = kLZ4Compression;
  config.universal.compression_size_percent = 80;
  const auto compression = [&](const std::string& text) {
    const TreeText tree(text, config.common.num_levels);
    return PickUniversal(tree.View(), config)->compression;
  };
  EXPECT_EQ(compression("L0: 9[a-k 10] 8[a-k 10] 7[a-k 25]\nL4: 5[a-z 900]"), kNoCompression);
  EXPECT_EQ(compression("L0: 9[a-k 10] 8[a-k 10]\nL4: 5[a-z 5]"), kLZ4Compression);
  config.universal.compression_size_percent = -1;
  EXPECT_EQ(compression("L0: 9[a-k 10] 8[a-k 10] 7[a-k 25]\nL4: 5[a-z 900]"), kLZ4Compression);
}

TEST(PickUniversal, MarkedFilesGoWithAllThatIsOlder) {
  EXPECT_EQ(Pick("L0: 9[a-k 10] 8[a-k 10 marked]\nL4: 5[a-z 900]"),
            "L0 [8] + L4 [5] -> L4, marked, bottommost");
}

TEST(PickUniversal, OldFilesAreRewritten) {
  CompactionConfig config = SmallConfig();
  config.common.periodic_compaction_seconds = 100;
  EXPECT_EQ(Pick("L0: 9[a-k 10 born=950]\nL4: 5[a-z 900 born=899]", config, 1000),
            "L4 [5] -> L4, periodic, bottommost");
  EXPECT_EQ(Pick("L0: 9[a-k 10 born=950]\nL4: 5[a-z 900 born=900]", config, 1000), "nothing");
}

TEST(PickUniversal, HiddenFilesAreDropped) {
  EXPECT_EQ(Pick("L0: 9[a-k 10] 8[a-k 10 hidden=5]"), "L0 [8] dropped, hidden files");
}

TEST(PickManualUniversal, TakesAllRunsAtOnce) {
  const CompactionConfig config = SmallConfig();
  const auto manual = [&](const std::string& text, const ManualRequest& request) {
    const TreeText tree(text, config.common.num_levels);
    const ManualPick pick = PickManualUniversal(tree.View(), config, request);
    if (pick.conflict) return std::string("conflict");
    return pick.plan ? DebugString(*pick.plan) : std::string("nothing");
  };
  EXPECT_EQ(manual("L0: 9[a-c 10]\nL2: 7[d-k 10]", {.begin = "e", .end = {}}),
            "L0 [9] + L2 [7] -> L4, manual, bottommost");
  EXPECT_EQ(manual("L0: 9[a-c 10]\nL2: 7[d-k 10]", {.begin = "x", .end = {}}), "nothing");
  EXPECT_EQ(manual("L0: 9[a-c 10 busy]\nL2: 7[d-k 10]", {.begin = {}, .end = {}}), "conflict");
  EXPECT_EQ(manual("L4: 9[a-c 10]", {.begin = {}, .end = {}}), "nothing");
  EXPECT_EQ(manual("L4: 9[a-c 10]", {.level = 4, .rewrite_in_place = true, .begin = {}, .end = {}}),
            "L4 [9] -> L4, manual, bottommost");
  EXPECT_EQ(manual("L4: 9[a-c 10]", {.level = 4,
                                     .rewrite_in_place = true,
                                     .begin = {},
                                     .end = {},
                                     .files_numbered_below = 9}),
            "nothing");
}

}  // namespace
}  // namespace ashlar
