// Tests the pickers, with a tree as text for input and a plan as text for output. Also tests the
// fields of a plan other than its inputs.

#include "compact/plan/compaction_picker.h"

#include <gtest/gtest.h>

#include "compact/plan/compaction_policy.h"
#include "compact/plan/tree_text.h"

namespace ashlar {
namespace {

LeveledConfig SmallConfig() {
  LeveledConfig config;
  config.num_levels = 5;
  config.level0_file_num_compaction_trigger = 2;
  config.max_bytes_for_level_base = 100;
  config.max_bytes_for_level_multiplier = 10;
  config.target_file_size_base = 10;
  config.max_compaction_bytes = 250;
  return config;
}

std::string Pick(const std::string& text, const LeveledConfig& config,
                 const CompactCursors& cursors = CompactCursors()) {
  const TreeText tree(text, config.num_levels);
  const auto plan = PickCompaction(tree.View(), config, cursors);
  return plan.has_value() ? DebugString(*plan) : "nothing";
}
std::string Pick(const std::string& text) { return Pick(text, SmallConfig()); }

std::string Numbers(const std::vector<FileMetaData*>& files) {
  std::string text;
  for (const FileMetaData* file : files) text += std::to_string(file->number) + " ";
  return text;
}

TEST(PickLevel0, EmptyTreeNeedsNothing) {
  EXPECT_EQ(Pick(""), "nothing");
  EXPECT_EQ(Pick("L3: 1[a-b 50]"), "nothing");
}

TEST(PickLevel0, BelowTheTriggerWaits) { EXPECT_EQ(Pick("L0: 9[a-c 10]"), "nothing"); }

TEST(PickLevel0, OverlappingFilesGoDownTogetherWithWhatTheyOverlap) {
  EXPECT_EQ(Pick("L0: 9[a-f 10] 8[c-k 10]\n"
                 "L1: 5[a-b 20] 6[j-l 20] 7[m-z 20]"),
            "L0 [9 8] + L1 [5 6] -> L1, level-0 files, bottommost");
}

TEST(PickLevel0, TakesOnlyWhatOverlapsTheOldestFile) {
  EXPECT_EQ(Pick("L0: 9[a-c 10] 8[x-z 10] 7[b-f 10]\n"
                 "L1: 5[a-e 20] 6[x-y 20]"),
            "L0 [9 7] + L1 [5] -> L1, level-0 files, bottommost");
}

TEST(PickLevel0, PullsFilesInThroughOthers) {
  EXPECT_EQ(Pick("L0: 10[n-r 10] 9[h-p 10] 8[x-z 10] 7[f-j 10] 6[a-g 10]\n"
                 "L1: 5[a-b 20]"),
            "L0 [10 9 7 6] + L1 [5] -> L1, level-0 files, bottommost");
}

TEST(PickLevel0, DisjointFilesMove) {
  EXPECT_EQ(Pick("L0: 9[m-p 10] 8[f-j 10]\n"
                 "L1: 5[a-c 20]"),
            "L0 [9 8] -> L1, level-0 files, move, bottommost");
}

TEST(PickLevel0, MovesOnlyTheOldestPart) {
  EXPECT_EQ(Pick("L0: 9[a-d 10] 8[f-j 10] 7[m-n 10]\n"
                 "L1: 5[a-c 20]"),
            "L0 [8 7] -> L1, level-0 files, move, bottommost");
  EXPECT_EQ(Pick("L0: 9[f-h 10] 8[f-j 10] 7[m-n 10]\n"
                 "L1: 5[a-c 20]"),
            "L0 [8 7] -> L1, level-0 files, move, bottommost");
}

TEST(PickLevel0, AnOlderFileIsNotPassed) {
  // 9 alone would fit into level 1, but 8 holds older versions of its keys.
  EXPECT_EQ(Pick("L0: 9[f-j 10] 8[a-g 10]\n"
                 "L1: 5[a-c 20]"),
            "L0 [9 8] + L1 [5] -> L1, level-0 files, bottommost");
}

TEST(PickLevel0, RunsAloneOnLevel0) {
  EXPECT_EQ(Pick("L0: 9[a-f 10] 8[c-k 10] 7[a-z 10 busy]"), "nothing");
  EXPECT_EQ(Pick("L0: 9[a-f 10] 8[c-k 10]\n"
                 "L1: 5[d-e 20 busy]"),
            "nothing");
}

TEST(PickLevel0, MergesWithinLevel0WhileTheWayDownIsBusy) {
  EXPECT_EQ(Pick("L0: 12[a-f 10] 11[c-k 10] 10[a-d 10] 9[a-z 10] 8[a-z 10 busy]"),
            "L0 [12 11 10 9] -> L0, level-0 files");
}

TEST(PickLevel0, WithinLevel0StopsBeforeAFileThatCostsMore) {
  EXPECT_EQ(Pick("L0: 13[a-c 10] 12[a-f 10] 11[c-k 10] 10[a-d 10] 9[a-z 200] 8[a-z 10 busy]"),
            "L0 [13 12 11 10] -> L0, level-0 files");
}

TEST(PickLevel0, TinyLevel0BesideAHugeBaseLevelIsMergedInPlace) {
  LeveledConfig config = SmallConfig();
  config.max_bytes_for_level_base = 10000;
  EXPECT_EQ(Pick("L0: 9[a-f 1] 8[c-k 1]\n"
                 "L1: 5[a-z 900]",
                 config),
            "L0 [9 8] -> L0, level-0 files");
}

TEST(PickLevel0, BesideALargerBaseLevelThatIsBehindSimilarFilesAreMerged) {
  const std::string level0 =
      "L0: 19[a-f 10] 18[c-k 10] 17[a-d 10] 16[a-z 10] 15[a-z 50] 14[a-z 10] 13[a-z 10] 12[a-z 10]";
  // 15 is larger than all newer files together.
  EXPECT_EQ(Pick(level0 + "\nL1: 5[a-z 300]"), "L0 [19 18 17 16] -> L0, level-0 files");
  EXPECT_EQ(Pick("L0: 19[a-f 10] 18[c-k 10] 17[a-d 10] 16[a-z 10] 15[a-z 40] 14[a-z 10] 13[a-z 10] "
                 "12[a-z 10]\nL1: 5[a-z 300]"),
            "L0 [19 18 17 16 15 14 13 12] -> L0, level-0 files");
  // A base level of twice its target is not behind.
  EXPECT_EQ(Pick(level0 + "\nL1: 5[a-z 200]"),
            "L0 [19 18 17 16 15 14 13 12] + L1 [5] -> L1, level-0 files, bottommost");
}

TEST(PickLevel0, AsLargeAsTheBaseLevelItGoesDown) {
  EXPECT_EQ(
      Pick("L0: 19[a-f 10] 18[c-k 10] 17[a-d 10] 16[a-z 10] 15[a-z 260] 14[a-z 10] 13[a-z 10] "
           "12[a-z 10]\nL1: 5[a-z 300]"),
      "L0 [19 18 17 16 15 14 13 12] + L1 [5] -> L1, level-0 files, bottommost");
}

std::string PickBesideMemTable(const std::string& text, SequenceNumber oldest_unflushed,
                               const LeveledConfig& config = SmallConfig()) {
  const TreeText tree(text, config.num_levels);
  TreeView view = tree.View();
  view.oldest_unflushed = oldest_unflushed;
  const auto plan = PickCompaction(view, config, CompactCursors());
  return plan.has_value() ? DebugString(*plan) : "nothing";
}

// I8 of compaction_plan.h: the memtable's table would be placed below older data.
TEST(PickLevel0, FilesThatAreNewerThanAMemTableAreNotMergedWithinLevel0) {
  const std::string busy =
      "L0: 13[a-f 10] 12[a-f 10] 11[c-k 10] 10[a-d 10] 9[a-z 10] 8[a-z 10 busy]";
  EXPECT_EQ(PickBesideMemTable(busy, 14), "L0 [13 12 11 10 9] -> L0, level-0 files");
  EXPECT_EQ(PickBesideMemTable(busy, 13), "L0 [12 11 10 9] -> L0, level-0 files");
  EXPECT_EQ(PickBesideMemTable(busy, 12), "nothing");
  const std::string behind =
      "L0: 19[a-f 10] 18[c-k 10] 17[a-d 10] 16[a-z 10] 15[a-z 10] 14[a-z 10]\nL1: 5[a-z 300]";
  EXPECT_EQ(PickBesideMemTable(behind, 18), "L0 [17 16 15 14] -> L0, level-0 files");
  EXPECT_EQ(PickBesideMemTable(behind, 14),
            "L0 [19 18 17 16 15 14] + L1 [5] -> L1, level-0 files, bottommost");
  LeveledConfig config = SmallConfig();
  config.max_bytes_for_level_base = 10000;
  const std::string huge = "L0: 9[a-f 1] 8[c-k 1] 7[a-z 1]\nL1: 5[a-z 900]";
  EXPECT_EQ(PickBesideMemTable(huge, 9, config), "L0 [8 7] -> L0, level-0 files");
}

TEST(PickLevel0, MergesOfSimilarFilesAreNotTooLarge) {
  LeveledConfig config = SmallConfig();
  config.max_compaction_bytes = 65;
  EXPECT_EQ(Pick("L0: 19[a-f 10] 18[c-k 10] 17[a-d 10] 16[a-z 10] 15[a-z 10] 14[a-z 10] 13[a-z 10] "
                 "12[a-z 10]\nL1: 5[a-z 300]",
                 config),
            "L0 [19 18 17 16 15 14] -> L0, level-0 files");
}

TEST(PickLevel0, FewSimilarFilesAreNotMerged) {
  EXPECT_EQ(Pick("L0: 19[a-f 10] 18[c-k 10] 17[a-d 10] 16[a-z 90] 15[a-z 10] 14[a-z 10] 13[a-z 10] "
                 "12[a-z 10]\nL1: 5[a-z 300]"),
            "L0 [19 18 17 16 15 14 13 12] + L1 [5] -> L1, level-0 files, bottommost");
}

TEST(PickLevel0, LargeLevel0GoesDownBeforeItHasManyFiles) {
  EXPECT_EQ(Pick("L0: 9[a-f 100]\nL1: 5[a-b 20]"),
            "L0 [9] + L1 [5] -> L1, level-0 files, bottommost");
}

TEST(PickLevel0, DynamicLevelsBeginAtTheLast) {
  LeveledConfig config = SmallConfig();
  config.level_compaction_dynamic_level_bytes = true;
  EXPECT_EQ(Pick("L0: 9[a-f 10] 8[c-k 10]", config), "L0 [9 8] -> L4, level-0 files, bottommost");
  // With 5000 bytes on the last level the targets are 500 and 50, so the base level is 2.
  EXPECT_EQ(Pick("L0: 9[a-f 10] 8[c-k 10]\nL4: 5[a-z 5000]", config),
            "L0 [9 8] -> L2, level-0 files");
}

TEST(PickLevel0, NoPlanPassesOverATableWithoutBytes) {
  LeveledConfig config = SmallConfig();
  config.level_compaction_dynamic_level_bytes = true;
  // By bytes alone, level 4 would be the base level.
  EXPECT_EQ(Pick("L0: 9[a-f 10] 8[c-k 10]\nL2: 4[a-z 0]\nL4: 5[a-z 50]", config),
            "L0 [9 8] + L2 [4] -> L2, level-0 files");
}

TEST(PickLevel0, OnlyLevelMergesInPlace) {
  LeveledConfig config = SmallConfig();
  config.num_levels = 1;
  EXPECT_EQ(Pick("L0: 9[a-f 10] 8[c-k 10]", config), "L0 [9 8] -> L0, level-0 files");
}

TEST(PickLevelN, TheFileThatDragsLeastAlongGoesFirst) {
  EXPECT_EQ(Pick("L1: 5[a-c 60] 6[d-f 60]\n"
                 "L2: 7[a-b 50] 8[d-e 20] 9[x-z 50]"),
            "L1 [6] + L2 [8] -> L2, level size, bottommost");
}

TEST(PickLevelN, FilesWithManyDeletionsCountForMore) {
  EXPECT_EQ(Pick("L1: 5[a-c 60 del=60/60] 6[d-f 60 del=0/60]\n"
                 "L2: 7[a-b 50] 8[d-e 40]"),
            "L1 [5] + L2 [7] -> L2, level size, bottommost");
}

TEST(PickLevelN, EqualsTakeTurns) {
  const std::string tree =
      "L1: 4[a-b 40] 5[c-d 40] 6[e-f 40]\n"
      "L2: 7[a-b 10] 8[c-d 10] 9[e-f 10]";
  LeveledConfig config = SmallConfig();
  CompactCursors cursors;
  std::string order;
  for (int i = 0; i < 4; ++i) {
    const TreeText text(tree, config.num_levels);
    const auto plan = PickCompaction(text.View(), config, cursors);
    ASSERT_TRUE(plan.has_value());
    cursors.Advance(*plan);
    order += Numbers(plan->inputs.front().files);
  }
  EXPECT_EQ(order, "4 5 6 4 ");
}

TEST(PickLevelN, BusyFilesAreLeftAlone) {
  EXPECT_EQ(Pick("L1: 5[a-c 200] 6[d-f 200]\n"
                 "L2: 7[a-b 50] 8[d-e 20 busy] 9[x-z 50]"),
            "L1 [5] + L2 [7] -> L2, level size, bottommost");
  EXPECT_EQ(Pick("L1: 5[a-c 200 busy] 6[d-f 200]\n"
                 "L2: 7[a-b 50] 8[d-e 20 busy] 9[x-z 50]"),
            "nothing");
}

TEST(PickLevelN, AUserKeyAcrossFilesStaysTogether) {
  // Versions of c are in 5 and 6, and versions of f in 6 and 7.
  EXPECT_EQ(Pick("L1: 5[a-c 60] 6[c-f 60] 7[f-g 60] 8[h-k 10]\n"
                 "L2: 9[a-g 30] 10[g-g 30] 11[h-h 300]"),
            "L1 [5 6 7] + L2 [9 10] -> L2, level size, bottommost");
  EXPECT_EQ(Pick("L1: 5[a-c 60] 6[c-f 60] 7[f-g 60] 8[h-k 10]\n"
                 "L2: 9[a-b 90] 10[g-g 10] 11[h-h 300]"),
            "L1 [5 6 7] + L2 [9 10] -> L2, level size, bottommost");
}

TEST(PickLevelN, AUserKeyAcrossFilesPullsInBothWays) {
  // The cursor selects 7, which shares f with 6, and 6 shares c with 5.
  const LeveledConfig config = SmallConfig();
  const TreeText tree("L1: 5[a-c 60] 6[c-f 60] 7[f-g 60]", config.num_levels);
  CompactionPlan last;
  last.reason = PlanReason::kLevelSize;
  last.inputs.push_back({1, {tree.File(5)}});
  CompactCursors cursors;
  cursors.Advance(last);
  EXPECT_EQ(DebugString(PickCompaction(tree.View(), config, cursors).value()),
            "L1 [5 6 7] -> L2, level size, move, bottommost");
}

TEST(PickLevelN, NeighboursWithinTheOutputsRangeGoAlongForFree) {
  EXPECT_EQ(Pick("L1: 5[a-c 30] 6[d-f 80] 7[x-z 10]\n"
                 "L2: 9[a-k 50] 10[x-z 200]"),
            "L1 [5 6] + L2 [9] -> L2, level size, bottommost");
}

TEST(PickLevelN, ButNotWhenTheyDragMoreAlong) {
  EXPECT_EQ(Pick("L1: 5[a-c 80] 6[j-n 30]\n"
                 "L2: 9[a-k 50] 10[m-p 50]"),
            "L1 [5] + L2 [9] -> L2, level size, bottommost");
}

TEST(PickLevelN, MovesWithNeighboursThatMoveToo) {
  EXPECT_EQ(Pick("L1: 4[a-b 40] 5[c-d 40] 6[e-f 40] 7[k-l 40]\n"
                 "L2: 9[h-l 10]"),
            "L1 [4 5 6] -> L2, level size, move, bottommost");
}

TEST(PickLevelN, DoesNotMoveOntoManyGrandparents) {
  EXPECT_EQ(Pick("L1: 4[a-b 240]\n"
                 "L2: 9[h-l 10]\n"
                 "L3: 10[a-c 100]"),
            "L1 [4] -> L2, level size");
}

TEST(PickLevelN, DoesNotMoveWhereTheCodecDiffers) {
  LeveledConfig config = SmallConfig();
  config.compression = kLZ4Compression;
  const std::string tree = "L1: 4[a-b 240]\nL2: 9[h-l 10]";
  EXPECT_EQ(Pick(tree, config), "L1 [4] -> L2, level size, move, bottommost");
  config.bottommost_compression = kZSTD;
  EXPECT_EQ(Pick(tree, config), "L1 [4] -> L2, level size, bottommost");
  config.bottommost_compression = kDisableCompressionOption;
  config.compression_per_level = {kNoCompression, kNoCompression, kZSTD};
  EXPECT_EQ(Pick(tree, config), "L1 [4] -> L2, level size, bottommost");
}

TEST(PickLevelN, TheFullestLevelGoesFirst) {
  EXPECT_EQ(Pick("L1: 4[a-b 110]\n"
                 "L2: 5[a-c 3000] 6[m-n 10]\n"
                 "L3: 9[m-n 10]"),
            "L2 [5] -> L3, level size, bottommost");
}

TEST(PickLevelN, TheLastLevelIsNeverTooLarge) {
  EXPECT_EQ(Pick("L4: 4[a-b 100000000]"), "nothing");
}

TEST(PickLevelN, DoesNotStarveLevel0) {
  // Level 0 cannot be compacted because 5 is busy. Compacting 6 out of the base level would make it
  // wait longer.
  EXPECT_EQ(Pick("L0: 9[a-f 10] 8[c-k 10] 7[a-c 10]\n"
                 "L1: 5[a-c 200 busy] 6[x-z 101]\n"
                 "L2: 10[x-z 20]"),
            "nothing");
}

TEST(PickLevelN, OutputsOfRunningPlansAreNotCrossed) {
  // A running plan writes to level 2 between files 4 and 5. Each file alone may move; both together
  // would overlap the output of that plan.
  LeveledConfig config = SmallConfig();
  config.max_compaction_bytes = 10000;
  const TreeText tree("L1: 4[a-c 200] 5[x-z 200]", config.num_levels);
  TreeView view = tree.View();
  EXPECT_EQ(DebugString(PickCompaction(view, config, CompactCursors()).value()),
            "L1 [4 5] -> L2, level size, move, bottommost");
  CompactionPlan running;
  running.inputs.push_back({.level = 1, .files = {}});
  running.output_level = 2;
  running.smallest = "g";
  running.largest = "k";
  view.running.push_back(&running);
  EXPECT_EQ(DebugString(PickCompaction(view, config, CompactCursors()).value()),
            "L1 [4] -> L2, level size, move, bottommost");
  running.smallest = "c";
  EXPECT_EQ(DebugString(PickCompaction(view, config, CompactCursors()).value()),
            "L1 [5] -> L2, level size, move, bottommost");
  running.largest = "y";
  EXPECT_FALSE(PickCompaction(view, config, CompactCursors()).has_value());
}

// The lower plan may write one file from a to k, whose range would include e and f.
TEST(PickLevelN, APlanThatWritesBelowABottommostOneDoesNotMeetItInAGap) {
  const LeveledConfig config = SmallConfig();
  const TreeText tree("L1: 4[e-f 200]\nL2: 5[a-c 10] 6[h-k 10]\nL3: 7[b-c 10] 8[h-i 10]",
                      config.num_levels);
  const TreeView idle = tree.View();
  const auto upper = PickCompaction(idle, config, CompactCursors());
  ASSERT_TRUE(upper.has_value());
  EXPECT_EQ(DebugString(*upper), "L1 [4] -> L2, level size, move, bottommost");
  const ManualRequest all_of_level2 = {.level = 2, .begin = {}, .end = {}};
  const ManualPick lower = PickManual(idle, config, all_of_level2);
  ASSERT_TRUE(lower.plan.has_value());
  EXPECT_EQ(DebugString(*lower.plan), "L2 [5 6] + L3 [7 8] -> L3, manual, bottommost");

  TreeView view = tree.View();
  view.running = {&*upper};
  EXPECT_TRUE(PickManual(view, config, all_of_level2).conflict);
  view.running = {&*lower.plan};
  EXPECT_FALSE(PickCompaction(view, config, CompactCursors()).has_value());
  // A plan that is not bottommost may run at the same time.
  const TreeText deep(
      "L1: 4[e-f 200]\nL2: 5[a-c 10] 6[h-k 10]\nL3: 7[b-c 10] 8[h-i 10]\nL4: 9[e-e 10]",
      config.num_levels);
  view = deep.View();
  view.running = {&*lower.plan};
  EXPECT_EQ(DebugString(PickCompaction(view, config, CompactCursors()).value()),
            "L1 [4] -> L2, level size, move");
}

TEST(PickByFile, MarkedFilesGoDownOrAreRewritten) {
  EXPECT_EQ(Pick("L1: 4[a-b 10 marked]\nL2: 5[a-z 10]"),
            "L1 [4] + L2 [5] -> L2, marked, bottommost");
  EXPECT_EQ(Pick("L2: 5[a-b 10 marked]"), "L2 [5] -> L2, marked, bottommost");
  EXPECT_EQ(Pick("L0: 5[a-b 10 marked]\nL1: 6[a-a 10]"),
            "L0 [5] + L1 [6] -> L1, marked, bottommost");
}

TEST(PickByFile, DeletionsOnTheLastLevelGoOnceNoSnapshotNeedsThem) {
  const LeveledConfig config = SmallConfig();
  const TreeText tree(
      "L2: 4[a-b 10 del=5/10 seq=3-20] 5[c-d 10 del=5/10 seq=3-30]\n"
      "L3: 6[a-a 10]",
      config.num_levels);
  TreeView view = tree.View();
  const auto plan = PickCompaction(view, config, CompactCursors());
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(DebugString(*plan), "L2 [5] -> L2, bottommost files, bottommost");
  view.oldest_snapshot = 30;
  EXPECT_TRUE(PickCompaction(view, config, CompactCursors()).has_value());
  view.oldest_snapshot = 29;
  EXPECT_FALSE(PickCompaction(view, config, CompactCursors()).has_value());
}

TEST(PickByFile, SnapshotVersionsOnTheLastLevelGoOnceNoSnapshotNeedsThem) {
  const LeveledConfig config = SmallConfig();
  const TreeText tree(
      "L2: 4[a-b 10 versions=1 seq=3-20] 5[c-d 10 versions=1 seq=3-30] 7[e-f 10 seq=3-30]\n"
      "L3: 6[a-a 10]",
      config.num_levels);
  TreeView view = tree.View();
  view.oldest_snapshot = 29;
  EXPECT_FALSE(PickCompaction(view, config, CompactCursors()).has_value());
  EXPECT_FALSE(NeedsCompaction(view, config));
  EXPECT_EQ(view.AwaitedSnapshot(), 30u);
  view.oldest_snapshot = 30;
  EXPECT_TRUE(NeedsCompaction(view, config));
  const auto plan = PickCompaction(view, config, CompactCursors());
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(DebugString(*plan), "L2 [5] -> L2, bottommost files, bottommost");
}

TEST(PickByFile, AFileOfTheLastLevelWithOneVersionOfEachKeyStays) {
  EXPECT_EQ(Pick("L2: 4[a-b 10 del=0/10 seq=3-20]"), "nothing");
  EXPECT_EQ(Pick("L2: 4[a-b 10 versions=1 seq=0-0]"), "nothing") << "it is rewritten already";
}

// A file with entries of sequence 0 was written by a bottommost compaction. Larger sequences in the
// file were kept for snapshots.
TEST(PickByFile, AFileThatWasNotOpenYetIsJudgedByItsSequences) {
  EXPECT_EQ(Pick("L2: 4[a-b 10 seq=0-30]"), "L2 [4] -> L2, bottommost files, bottommost");
  EXPECT_EQ(Pick("L2: 4[a-b 10 seq=0-30]\nL3: 6[a-a 10]"), "nothing");
  EXPECT_EQ(Pick("L2: 4[a-b 10 seq=3-30]"), "nothing") << "it was moved";
  EXPECT_EQ(Pick("L2: 4[a-b 10 seq=0-0]"), "nothing") << "it is rewritten already";
  EXPECT_EQ(Pick("L2: 4[a-b 10 del=0/10 seq=0-30]"), "nothing") << "it was open";
  const TreeText tree("L2: 4[a-b 10 seq=0-30]", SmallConfig().num_levels);
  TreeView view = tree.View();
  view.oldest_snapshot = 29;
  EXPECT_FALSE(NeedsCompaction(view, SmallConfig()));
  EXPECT_EQ(view.AwaitedSnapshot(), 30u);
  view.oldest_snapshot = 30;
  EXPECT_TRUE(NeedsCompaction(view, SmallConfig()));
}

// Deletions are not dropped where older data may be added below.
TEST(PickByFile, NothingIsBottommostAboveAReservedLevel) {
  const LeveledConfig config = SmallConfig();
  const TreeText tree("L2: 4[a-b 10 del=5/10 seq=3-20] 5[c-d 10 del=5/10 seq=3-30]",
                      config.num_levels);
  TreeView view = tree.View();
  ASSERT_TRUE(PickCompaction(view, config, CompactCursors()).has_value());
  view.has_level_below = true;
  EXPECT_FALSE(PickCompaction(view, config, CompactCursors()).has_value());
  const TreeText marked("L1: 4[a-b 10 marked]\nL2: 5[a-b 10]", config.num_levels);
  view = marked.View();
  view.has_level_below = true;
  const auto plan = PickCompaction(view, config, CompactCursors());
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(DebugString(*plan), "L1 [4] + L2 [5] -> L2, marked");
  EXPECT_TRUE(plan->older_unknown);
}

TEST(PickByFile, AgeCounts) {
  LeveledConfig config = SmallConfig();
  const TreeText tree("L1: 4[a-b 10 age=500 born=700]\nL2: 5[a-z 10 age=100 born=700]",
                      config.num_levels);
  TreeView view = tree.View();
  view.now_unix_seconds = 1000;
  EXPECT_FALSE(NeedsCompaction(view, config));
  config.ttl_seconds = 400;
  EXPECT_EQ(DebugString(PickCompaction(view, config, CompactCursors()).value()),
            "L1 [4] + L2 [5] -> L2, ttl, bottommost");
  config.ttl_seconds = 600;
  EXPECT_FALSE(NeedsCompaction(view, config));
  config.periodic_compaction_seconds = 200;
  EXPECT_TRUE(NeedsCompaction(view, config));
  EXPECT_EQ(DebugString(PickCompaction(view, config, CompactCursors()).value()),
            "L1 [4] + L2 [5] -> L2, periodic, bottommost");
}

TEST(PickByFile, TheTtlTakesLevel0DownAlsoWhereNoDeeperLevelHasFiles) {
  LeveledConfig config = SmallConfig();
  config.level0_file_num_compaction_trigger = 10;
  config.ttl_seconds = 400;
  const auto pick = [&](const std::string& text) {
    const TreeText tree(text, config.num_levels);
    TreeView view = tree.View();
    view.now_unix_seconds = 1000;
    const auto plan = PickCompaction(view, config, CompactCursors());
    EXPECT_EQ(NeedsCompaction(view, config), plan.has_value());
    return plan.has_value() ? DebugString(*plan) : "nothing";
  };
  EXPECT_EQ(pick("L0: 9[a-b 10 age=900] 8[a-b 10 age=500]"), "L0 [9 8] -> L1, ttl, bottommost");
  EXPECT_EQ(pick("L0: 9[a-b 10 age=900] 8[a-b 10 age=600]"), "nothing");
  EXPECT_EQ(pick("L1: 9[a-b 10 age=500]"), "nothing") << "it is on the last level with files";
  config.level_compaction_dynamic_level_bytes = true;
  EXPECT_EQ(pick("L0: 9[a-b 10 age=900] 8[a-b 10 age=500]"), "L0 [9 8] -> L4, ttl, bottommost");
  config.num_levels = 1;
  EXPECT_EQ(pick("L0: 9[a-b 10 age=900] 8[a-b 10 age=500]"), "nothing");
}

TEST(PickLevel0, WhatOneLevelCannotHaveInFewerFilesStays) {
  LeveledConfig config = SmallConfig();
  config.num_levels = 1;
  config.level0_file_bytes_max = 10;
  const std::string apart = "L0: 9[p-z 7] 8[a-b 10] 7[c-g 10]";
  EXPECT_EQ(Pick(apart, config), "nothing");
  EXPECT_FALSE(NeedsCompaction(TreeText(apart, config.num_levels).View(), config));
  EXPECT_EQ(Pick("L0: 9[g-z 7] 8[a-b 10] 7[c-g 10]", config), "L0 [9 8 7] -> L0, level-0 files");
}

// Otherwise writers would wait for a compaction that never runs.
TEST(PickLevel0, WhatOneLevelCannotHaveInFewerFilesStopsNoWriter) {
  CompactionConfig config{.common = SmallConfig()};
  config.common.num_levels = 1;
  config.common.level0_file_bytes_max = 10;
  const auto policy = NewCompactionPolicy(config);
  const auto files_that_stall = [&](uint64_t bytes, size_t files) {
    return policy->MakeStallInputs({.level_bytes = {bytes}, .level0_files = files}, 0).level0_files;
  };
  EXPECT_EQ(files_that_stall(27, 3), 0) << "the tree of the test before";
  EXPECT_EQ(files_that_stall(200, 41), 1) << "the most files that are not merged";
  EXPECT_EQ(files_that_stall(200, 60), 20) << "20 of them could be left out";
  config.style = kCompactionStyleUniversal;
  config.universal.merge_width_max = 2;
  EXPECT_EQ(NewCompactionPolicy(config)
                ->MakeStallInputs({.level_bytes = {200}, .level0_files = 81}, 0)
                .level0_files,
            1)
      << "two neighbours have 5 bytes";
  config.common.level0_file_bytes_max = UINT64_MAX;
  EXPECT_EQ(NewCompactionPolicy(config)
                ->MakeStallInputs({.level_bytes = {200}, .level0_files = 41}, 0)
                .level0_files,
            41);
}

TEST(PickLevel0, OneFileOfTheOnlyLevelNeedsNoCompaction) {
  LeveledConfig config = SmallConfig();
  config.num_levels = 1;
  config.level0_file_num_compaction_trigger = 1;
  const std::string one = "L0: 9[a-z 10]";
  EXPECT_EQ(Pick(one, config), "nothing");
  EXPECT_FALSE(NeedsCompaction(TreeText(one, config.num_levels).View(), config));
  EXPECT_EQ(Pick("L0: 9[a-z 10] 8[a-z 10]", config), "L0 [9 8] -> L0, level-0 files");
}

TEST(PickByFile, OnTheOnlyLevelAFileBetweenTwoGoesAlong) {
  LeveledConfig config = SmallConfig();
  config.num_levels = 1;
  config.level0_file_num_compaction_trigger = 100;
  config.periodic_compaction_seconds = 200;
  const TreeText tree("L0: 9[a-b 10 born=900] 8[x-z 10 born=900] 7[a-b 10 born=700]",
                      config.num_levels);
  TreeView view = tree.View();
  view.now_unix_seconds = 1000;
  EXPECT_EQ(DebugString(PickCompaction(view, config, CompactCursors()).value()),
            "L0 [9 8 7] -> L0, periodic");
}

TEST(PlanContents, GrandparentsAndOlderRuns) {
  const LeveledConfig config = SmallConfig();
  const TreeText tree(
      "L0: 9[c-f 50] 8[d-g 60]\n"
      "L1: 5[e-h 20] 6[x-z 20]\n"
      "L3: 1[a-b 5] 2[b-c 5] 3[g-i 5] 4[j-z 5]\n"
      "L4: 7[a-z 5]",
      config.num_levels);
  const auto plan = PickCompaction(tree.View(), config, CompactCursors());
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(DebugString(*plan), "L0 [9 8] + L1 [5] -> L1, level-0 files");
  EXPECT_EQ(plan->smallest, "c");
  EXPECT_EQ(plan->largest, "h");
  EXPECT_EQ(Numbers(plan->grandparents), "2 3 ");
  ASSERT_EQ(plan->older.size(), 2u);
  EXPECT_EQ(Numbers(plan->older[0]), "2 3 ");
  EXPECT_EQ(Numbers(plan->older[1]), "7 ");
  EXPECT_EQ(plan->max_output_file_bytes, 10u);
}

TEST(PlanContents, OlderRunsOfAnOutputOnLevel0AreItsOlderFilesAndTheLevels) {
  const TreeText tree(
      "L0: 12[a-f 10] 11[c-k 10] 10[a-d 10] 9[a-f 10] 8[x-z 10] 7[b-c 10 busy] 6[a-z 10 busy]\n"
      "L1: 1[a-b 5] 2[q-r 5]\n"
      "L2: 3[m-n 5]",
      SmallConfig().num_levels);
  const auto plan = PickCompaction(tree.View(), SmallConfig(), CompactCursors());
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(DebugString(*plan), "L0 [12 11 10 9 8] -> L0, level-0 files");
  ASSERT_EQ(plan->older.size(), 4u);
  EXPECT_EQ(Numbers(plan->older[0]), "7 ");
  EXPECT_EQ(Numbers(plan->older[1]), "6 ");
  EXPECT_EQ(Numbers(plan->older[2]), "1 2 ");
  EXPECT_EQ(Numbers(plan->older[3]), "3 ");
  EXPECT_TRUE(plan->grandparents.empty());
  EXPECT_FALSE(plan->bottommost);
}

TEST(PlanContents, TheEditMovesOrDeletes) {
  const LeveledConfig config = SmallConfig();
  const TreeText tree("L0: 9[m-p 10] 8[f-j 10]", config.num_levels);
  const auto plan = PickCompaction(tree.View(), config, CompactCursors());
  ASSERT_TRUE(plan.has_value() && plan->trivial_move);
  VersionEdit moved;
  plan->ApplyInputs(&moved);
  EXPECT_EQ(moved.deleted_files().size(), 2u);
  ASSERT_EQ(moved.new_files().size(), 2u);
  EXPECT_EQ(moved.new_files()[0].level, 1u);
  CompactionPlan rewrite = *plan;
  rewrite.trivial_move = false;
  VersionEdit deleted;
  rewrite.ApplyInputs(&deleted);
  EXPECT_EQ(deleted.deleted_files().size(), 2u);
  EXPECT_TRUE(deleted.new_files().empty());
}

// --- manual ---

std::string Manual(const std::string& text, const ManualRequest& request,
                   const LeveledConfig& config = SmallConfig()) {
  const TreeText tree(text, config.num_levels);
  const ManualPick pick = PickManual(tree.View(), config, request);
  std::string out = pick.plan.has_value() ? DebugString(*pick.plan) : "nothing";
  if (pick.conflict) out += ", conflict";
  if (pick.done_through.has_value()) out += ", through " + *pick.done_through;
  return out;
}

TEST(PickManual, TakesTheRange) {
  const std::string tree =
      "L0: 9[a-c 10] 8[x-z 10] 7[b-f 10]\n"
      "L1: 5[a-e 20] 6[x-y 20]\n"
      "L2: 4[f-g 10]";
  EXPECT_EQ(Manual(tree, {.level = 0, .begin = "a", .end = "a"}),
            "L0 [9 7] + L1 [5] -> L1, manual");
  EXPECT_EQ(Manual(tree, {.level = 0, .begin = {}, .end = {}}),
            "L0 [9 8 7] + L1 [5 6] -> L1, manual");
  EXPECT_EQ(Manual(tree, {.level = 1, .begin = "f", .end = "k"}), "nothing");
  EXPECT_EQ(Manual(tree, {.level = 1, .begin = "f", .end = {}}),
            "L1 [6] -> L2, manual, move, bottommost");
  EXPECT_EQ(Manual(tree, {.level = 1, .rewrite_in_place = true, .begin = "f", .end = {}}),
            "L1 [6] -> L1, manual, bottommost");
}

// Otherwise the output would have sequences both below and above those of table 8.
TEST(PickManual, OnTheOnlyLevelAFileBetweenTwoGoesAlong) {
  LeveledConfig config = SmallConfig();
  config.num_levels = 1;
  const std::string tree = "L0: 10[m-n 10] 9[a-c 10] 8[x-z 10] 7[b-f 10] 6[x-z 10]";
  EXPECT_EQ(Manual(tree, {.level = 0, .begin = "a", .end = "a"}, config),
            "L0 [9 8 7] -> L0, manual");
  EXPECT_EQ(Manual(tree, {.level = 0, .begin = "m", .end = "m"}, config), "L0 [10] -> L0, manual");
}

// LevelDB's tables have no sequences, so the output would sort above table 10 with its newer b.
TEST(PickManual, OnTheOnlyLevelNewerFilesWithoutSequencesGoAlong) {
  LeveledConfig config = SmallConfig();
  config.num_levels = 1;
  const std::string older = " 9[x-z 10 seq=0-0] 8[b-f 10 seq=0-0] 7[x-z 10 seq=0-0]";
  const ManualRequest request{.level = 0, .begin = "x", .end = "x"};
  EXPECT_EQ(Manual("L0: 11[m-n 10] 10[a-c 10 seq=0-0]" + older, request, config),
            "L0 [10 9 8 7] -> L0, manual");
  EXPECT_EQ(Manual("L0: 10[a-c 10]" + older, request, config), "L0 [9 8 7] -> L0, manual");
}

TEST(PickManual, LargeRangesComeInParts) {
  const std::string tree = "L1: 4[a-b 100] 5[c-d 100] 6[e-f 100] 7[g-h 100]";
  EXPECT_EQ(Manual(tree, {.level = 1, .begin = {}, .end = {}}),
            "L1 [4 5] -> L2, manual, move, bottommost, through d");
  EXPECT_EQ(Manual(tree, {.level = 1, .begin = "e", .end = "h"}),
            "L1 [6 7] -> L2, manual, move, bottommost");
}

TEST(PickManual, APartCountsWhatItRewritesOnTheNextLevel) {
  const ManualRequest all{.level = 1, .begin = {}, .end = {}};
  EXPECT_EQ(Manual("L1: 4[a-b 10] 5[c-d 10] 6[e-f 10]\n"
                   "L2: 1[a-b 100] 2[c-d 100] 3[e-f 100]",
                   all),
            "L1 [4 5] + L2 [1 2] -> L2, manual, bottommost, through d");
  // A lower file between two inputs counts as well. One file is always taken.
  EXPECT_EQ(Manual("L1: 4[a-b 10] 5[g-h 10]\nL2: 2[c-d 300]", all),
            "L1 [4] -> L2, manual, move, bottommost, through b");
  EXPECT_EQ(Manual("L1: 4[a-b 10] 5[g-h 10]\nL2: 2[a-d 300]", all),
            "L1 [4] + L2 [2] -> L2, manual, bottommost, through b");
  // A lower file that two inputs overlap counts once.
  EXPECT_EQ(Manual("L1: 4[a-b 10] 5[c-d 10] 6[e-f 10]\nL2: 2[a-f 200]", all),
            "L1 [4 5 6] + L2 [2] -> L2, manual, bottommost");
}

TEST(PickManual, BusyFilesAreAConflict) {
  EXPECT_EQ(Manual("L1: 4[a-b 10 busy]", {.level = 1, .begin = {}, .end = {}}),
            "nothing, conflict");
  EXPECT_EQ(Manual("L1: 4[a-b 10]\nL2: 5[b-c 10 busy]", {.level = 1, .begin = {}, .end = {}}),
            "nothing, conflict");
  EXPECT_EQ(Manual("L0: 9[x-z 10 busy] 8[a-b 10]", {.level = 0, .begin = "a", .end = "b"}),
            "nothing, conflict");
  EXPECT_EQ(Manual("L1: 4[a-b 10 busy]", {.level = 1, .begin = "c", .end = {}}), "nothing");
}

TEST(PickManual, RewritingInPlaceEnds) {
  const std::string tree = "L2: 4[a-b 100] 15[c-d 100] 6[e-f 100] 7[g-h 100]";
  EXPECT_EQ(Manual(tree, {.level = 2,
                          .rewrite_in_place = true,
                          .begin = {},
                          .end = {},
                          .files_numbered_below = 10}),
            "L2 [4] -> L2, manual, bottommost, through b");
  EXPECT_EQ(Manual(tree, {.level = 2,
                          .rewrite_in_place = true,
                          .begin = "c",
                          .end = {},
                          .files_numbered_below = 10}),
            "L2 [6 7] -> L2, manual, bottommost");
  EXPECT_EQ(Manual(tree, {.level = 2,
                          .rewrite_in_place = true,
                          .begin = {},
                          .end = {},
                          .files_numbered_below = 4}),
            "nothing");
}

// ---- Which file of an overfull level is compacted first.

constexpr char kThreeFiles[] =
    "L1: 10[a-c 60 seq=5-90] 12[e-g 90 seq=7-80] 11[i-k 70 seq=9-70]\n"
    "L2: 1[a-c 100] 2[e-f 500] 3[i-j 100]";

std::string PickWith(CompactionPri pri, const CompactCursors& cursors = CompactCursors()) {
  LeveledConfig config = SmallConfig();
  config.compaction_pri = pri;
  config.max_compaction_bytes = 2500;
  return Pick(kThreeFiles, config, cursors);
}

TEST(PickByPriority, MinOverlappingRatioTakesTheFileThatDragsTheLeastAlong) {
  EXPECT_EQ(PickWith(kMinOverlappingRatio), "L1 [11] + L2 [3] -> L2, level size, bottommost");
}
TEST(PickByPriority, NeighboursGoTogetherIfTheyShareTheFileBelow) {
  LeveledConfig config = SmallConfig();
  config.max_compaction_bytes = 1000;
  // File 10 or 11 alone drags 4 bytes per byte along, both together 2, and file 12 drags 3.
  const std::string tree =
      "L1: 10[a-c 60] 11[e-g 60] 12[i-k 100]\n"
      "L2: 1[b-f 240] 2[j-k 300]";
  EXPECT_EQ(Pick(tree, config), "L1 [10 11] + L2 [1] -> L2, level size, bottommost");
  config.max_compaction_bytes = 350;  // less than the two and the file below
  EXPECT_EQ(Pick(tree, config), "L1 [12] + L2 [2] -> L2, level size, bottommost");
}
TEST(PickByPriority, ABusyFileEndsARunOfNeighbours) {
  LeveledConfig config = SmallConfig();
  config.max_compaction_bytes = 1000;
  EXPECT_EQ(Pick("L1: 10[a-c 90] 11[e-g 60 busy] 12[i-k 90]\n"
                 "L2: 1[b-c 240] 2[j-k 300]",
                 config),
            "L1 [10] + L2 [1] -> L2, level size, bottommost");
}
TEST(PickByPriority, ByCompensatedSizeTakesTheLargestFile) {
  EXPECT_EQ(PickWith(kByCompensatedSize), "L1 [12] + L2 [2] -> L2, level size, bottommost");
}
TEST(PickByPriority, OldestLargestSeqFirstTakesTheFileWhoseNewestEntryIsOldest) {
  EXPECT_EQ(PickWith(kOldestLargestSeqFirst), "L1 [11] + L2 [3] -> L2, level size, bottommost");
}
TEST(PickByPriority, OldestSmallestSeqFirstTakesTheFileWithTheOldestEntry) {
  EXPECT_EQ(PickWith(kOldestSmallestSeqFirst), "L1 [10] + L2 [1] -> L2, level size, bottommost");
}

TEST(PickByPriority, RoundRobinGoesThroughTheLevelAndBeginsAgain) {
  LeveledConfig config = SmallConfig();
  config.compaction_pri = kRoundRobin;
  const TreeText tree(kThreeFiles, config.num_levels);
  CompactCursors cursors;
  std::vector<uint64_t> picked;
  for (int i = 0; i < 5; ++i) {
    const auto plan = PickCompaction(tree.View(), config, cursors);
    ASSERT_TRUE(plan.has_value());
    picked.push_back(plan->inputs.front().files.front()->number);
    cursors.Advance(*plan);
    EXPECT_EQ(*cursors.Next(1), plan->next_cursor);
  }
  EXPECT_EQ(picked, (std::vector<uint64_t>{10, 12, 11, 10, 12}));
}

TEST(PickByPriority, RoundRobinContinuesFromTheCursorOfAnEarlierLife) {
  CompactCursors cursors;
  cursors.SetNext(1, MakeInternalKey("d", 1, ValueType::kValue));
  EXPECT_EQ(PickWith(kRoundRobin, cursors), "L1 [12] + L2 [2] -> L2, level size, bottommost");
  cursors.SetNext(1, MakeInternalKey("z", 1, ValueType::kValue));
  EXPECT_EQ(PickWith(kRoundRobin, cursors), "L1 [10] + L2 [1] -> L2, level size, bottommost");
}

TEST(PickByPriority, OnlyRoundRobinHasACursorToRecord) {
  LeveledConfig config = SmallConfig();
  const TreeText tree(kThreeFiles, config.num_levels);
  EXPECT_EQ(PickCompaction(tree.View(), config, CompactCursors())->next_cursor, "");
}

}  // namespace
}  // namespace ashlar
