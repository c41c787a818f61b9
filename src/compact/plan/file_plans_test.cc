// Tests plans for files that are named, hidden or deleted, with a tree as text for input and a plan
// or an error as text for output.

#include "compact/plan/file_plans.h"

#include <gtest/gtest.h>

#include "ashlar/comparator.h"
#include "base/format.h"
#include "compact/plan/compaction_picker.h"
#include "compact/plan/tree_text.h"

namespace ashlar {
namespace {

LeveledConfig SmallConfig() {
  LeveledConfig config;
  config.num_levels = 5;
  config.level0_file_num_compaction_trigger = 4;
  config.max_bytes_for_level_base = 100;
  config.max_bytes_for_level_multiplier = 10;
  config.target_file_size_base = 10;
  config.max_compaction_bytes = 250;
  return config;
}

std::string Text(const std::optional<CompactionPlan>& plan) {
  return plan.has_value() ? DebugString(*plan) : "nothing";
}
template <typename Plan>
std::string Text(const Result<Plan>& plan) {
  return plan.ok() ? Text(std::optional<CompactionPlan>(plan.value())) : plan.status().ToString();
}

// ---- Hidden files.

std::string Hidden(const std::string& text, SequenceNumber oldest_snapshot = kSequenceNumberMax) {
  const TreeText tree(text, 5);
  TreeView view = tree.View();
  view.oldest_snapshot = oldest_snapshot;
  return Text(PlanHiddenFiles(view));
}

TEST(PlanHiddenFiles, DropsThemFromAllLevels) {
  EXPECT_EQ(Hidden("L0: 9[a-z 10] 8[c-d 10 hidden=50]\n"
                   "L1: 5[a-c 20 hidden=50] 6[d-g 20]\n"
                   "L3: 2[a-b 20 hidden=40] 3[c-d 20 hidden=50]"),
            "L0 [8] + L1 [5] + L3 [2 3] dropped, hidden files");
  EXPECT_EQ(Hidden("L1: 5[a-c 20]"), "nothing");
}

TEST(PlanHiddenFiles, ASnapshotThatSeesTheFileKeepsIt) {
  const std::string tree = "L1: 5[a-c 20 hidden=50] 6[d-g 20 hidden=40]";
  EXPECT_EQ(Hidden(tree, 39), "nothing");
  EXPECT_EQ(Hidden(tree, 40), "L1 [6] dropped, hidden files");
  EXPECT_EQ(Hidden(tree, 50), "L1 [5 6] dropped, hidden files");
}

// A plan takes these files once the oldest snapshot is released or newer.
TEST(AwaitedSnapshot, IsThatOfTheFirstFileWhosePlanTheOldestHoldsBack) {
  const auto awaited = [](const std::string& text, SequenceNumber oldest_snapshot) {
    const TreeText tree(text, 5);
    TreeView view = tree.View();
    view.oldest_snapshot = oldest_snapshot;
    return view.AwaitedSnapshot();
  };
  const std::string hidden = "L1: 5[a-c 20 hidden=50] 6[d-g 20 hidden=40]";
  EXPECT_EQ(awaited(hidden, 39), 40u);
  EXPECT_EQ(awaited(hidden, 40), 50u);
  EXPECT_EQ(awaited(hidden, 50), kNoSnapshotAwaited);
  EXPECT_EQ(awaited(hidden, kSequenceNumberMax), kNoSnapshotAwaited);
  const std::string deletions = "L0: 9[a-z 10 seq=70-80]\nL4: 2[a-c 20 del=1/5 seq=0-30]";
  EXPECT_EQ(awaited(deletions, 29), 30u);
  EXPECT_EQ(awaited(deletions, 30), kNoSnapshotAwaited);
  const std::string versions = "L0: 9[a-z 10 seq=70-80]\nL4: 2[a-c 20 versions=1 seq=0-30]";
  EXPECT_EQ(awaited(versions, 29), 30u);
  EXPECT_EQ(awaited(versions, 30), kNoSnapshotAwaited);
}

TEST(PlanHiddenFiles, FilesInPlansWait) {
  EXPECT_EQ(Hidden("L1: 5[a-c 20 hidden=50 busy] 6[d-g 20 hidden=40]"),
            "L1 [6] dropped, hidden files");
}

TEST(PlanHiddenFiles, GoBeforeFullLevels) {
  const TreeText tree("L1: 5[a-c 200] 6[d-g 200 hidden=40]", 5);
  const auto plan = PickCompaction(tree.View(), SmallConfig(), CompactCursors());
  EXPECT_EQ(Text(plan), "L1 [6] dropped, hidden files");
  EXPECT_TRUE(NeedsCompaction(tree.View(), SmallConfig()));
}

// ---- Files in ranges.

std::string InRange(const std::string& text, const char* begin, const char* end,
                    bool include_end = true) {
  const TreeText tree(text, 5);
  const Slice begin_key(begin != nullptr ? begin : "");
  const Slice end_key(end != nullptr ? end : "");
  const UserKeyRange range{.smallest = begin != nullptr ? &begin_key : nullptr,
                           .largest = end != nullptr ? &end_key : nullptr};
  return Text(PlanFilesInRanges(tree.View(), {&range, 1}, include_end));
}

TEST(PlanFilesInRanges, TakesFilesThatAreWhollyInside) {
  const std::string tree =
      "L0: 9[d-e 10]\n"
      "L1: 5[a-c 20] 6[d-f 20] 7[g-k 20]\n"
      "L4: 1[c-d 20] 2[e-f 20] 3[g-h 20]";
  EXPECT_EQ(InRange(tree, "d", "g"), "L1 [6] + L4 [2] dropped, delete files");
  EXPECT_EQ(InRange(tree, nullptr, "f"), "L1 [5 6] + L4 [1 2] dropped, delete files");
  EXPECT_EQ(InRange(tree, "e", nullptr), "L1 [7] + L4 [2 3] dropped, delete files");
  EXPECT_EQ(InRange(tree, nullptr, nullptr), "L1 [5 6 7] + L4 [1 2 3] dropped, delete files");
  EXPECT_EQ(InRange(tree, "x", "z"), "nothing");
}

TEST(PlanFilesInRanges, TheEndIsIncludedOrNot) {
  const std::string tree = "L1: 5[a-c 20] 6[d-f 20]";
  EXPECT_EQ(InRange(tree, "a", "f", true), "L1 [5 6] dropped, delete files");
  EXPECT_EQ(InRange(tree, "a", "f", false), "L1 [5] dropped, delete files");
}

TEST(PlanFilesInRanges, AFileThatEndsWithARangeTombstoneDoesNotHaveItsLargestKey) {
  EXPECT_EQ(InRange("L1: 5[a-c 20] 6[d-f 20 open]", "a", "f", false),
            "L1 [5 6] dropped, delete files");
}

TEST(PlanFilesInRanges, FilesInPlansStay) {
  EXPECT_EQ(InRange("L1: 5[a-c 20 busy] 6[d-f 20]", "a", "f"), "L1 [6] dropped, delete files");
}

TEST(PlanFilesInRanges, NeighboursThatShareAKeyStayTogether) {
  const std::string tree = "L1: 5[a-c 20] 6[c-f 20] 7[f-g 20] 8[h-k 20]";
  EXPECT_EQ(InRange(tree, "a", "f"), "nothing");
  EXPECT_EQ(InRange(tree, "a", "h"), "L1 [5 6 7] dropped, delete files");
  EXPECT_EQ(InRange("L1: 5[a-c 20 busy] 6[c-f 20] 8[h-k 20]", "a", "z"),
            "L1 [8] dropped, delete files");
  // File 5 ends before the first version of c, so the two files share no key.
  EXPECT_EQ(InRange("L1: 5[a-c 20 open] 6[c-f 20]", "c", "f"), "L1 [6] dropped, delete files");
}

TEST(PlanFilesInRanges, SeveralRanges) {
  const TreeText tree("L1: 5[a-c 20] 6[d-f 20] 7[g-k 20]", 5);
  const Slice a("a");
  const Slice c("c");
  const Slice g("g");
  const std::vector<UserKeyRange> ranges{{.smallest = &a, .largest = &c},
                                         {.smallest = &g, .largest = nullptr}};
  EXPECT_EQ(Text(PlanFilesInRanges(tree.View(), ranges, true)), "L1 [5 7] dropped, delete files");
}

TEST(PlanFilesInRanges, AFileInsideSeveralRangesGoesOnce) {
  const TreeText tree("L1: 5[a-c 20] 6[d-f 20] 7[g-k 20] 8[m-n 20]", 5);
  const Slice a("a");
  const Slice d("d");
  const Slice f("f");
  const Slice k("k");
  const std::vector<UserKeyRange> ranges{{.smallest = &d, .largest = &k},
                                         {.smallest = &a, .largest = &f},
                                         {.smallest = &d, .largest = &f},
                                         {.smallest = &f, .largest = &f}};
  EXPECT_EQ(Text(PlanFilesInRanges(tree.View(), ranges, true)), "L1 [5 6 7] dropped, delete files");
}

// Compares bytewise and counts the comparisons.
class CountingComparator final : public Comparator {
 public:
  const char* Name() const override { return "test.Counting"; }
  int Compare(const Slice& a, const Slice& b) const override {
    ++compared_;
    return a.compare(b);
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

  size_t compared() const { return compared_; }

 private:
  mutable size_t compared_ = 0;
};

// The database mutex is held, so a range must not visit every file.
TEST(PlanFilesInRanges, ARangeCostsASearch) {
  constexpr size_t kFiles = 1000;
  std::vector<std::string> keys;
  std::string text = "L1:";
  for (size_t i = 0; i < kFiles; ++i) {
    keys.push_back(StrCat("k", kFiles + i));
    text += StrCat(" ", i + 1, "[", keys.back(), "-", keys.back(), " 20]");
  }
  const TreeText tree(text, 5);
  const std::vector<Slice> bounds(keys.begin(), keys.end());
  std::vector<UserKeyRange> ranges;
  for (const Slice& key : bounds) ranges.push_back({.smallest = &key, .largest = &key});
  CountingComparator comparator;
  TreeView view = tree.View();
  view.comparator = KeyComparator(&comparator);
  const std::optional<CompactionPlan> plan = PlanFilesInRanges(view, ranges, true);
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->InputFiles(), kFiles);
  EXPECT_LT(comparator.compared(), 100 * kFiles);
}

// ---- One file.

std::string DropOf(const std::string& text, FileNumber number) {
  const TreeText tree(text, 5);
  const Result<std::optional<CompactionPlan>> plan = PlanDropOfFile(tree.View(), number);
  return plan.ok() ? Text(*plan) : plan.status().ToString();
}

TEST(PlanDropOfFile, TakesAFileOfTheDeepestLevelWithFiles) {
  const std::string tree = "L0: 9[d-e 10]\nL1: 5[a-c 20]\nL3: 1[c-d 20] 2[e-f 20]";
  EXPECT_EQ(DropOf(tree, 2), "L3 [2] dropped, delete files");
  EXPECT_EQ(DropOf(tree, 5),
            "Invalid argument: table 5 is not on the deepest level that has tables");
  EXPECT_EQ(DropOf(tree, 9),
            "Invalid argument: table 9 is not on the deepest level that has tables");
  EXPECT_EQ(DropOf(tree, 3), "NotFound: there is no table 3");
}

TEST(PlanDropOfFile, TakesTheOldestOfLevel0) {
  const std::string tree = "L0: 9[a-e 10] 8[a-e 10] 7[x-z 10]";
  EXPECT_EQ(DropOf(tree, 7), "L0 [7] dropped, delete files");
  EXPECT_EQ(DropOf(tree, 8), "Invalid argument: table 8 is not the oldest one of level 0");
}

TEST(PlanDropOfFile, FilesInPlansStay) {
  EXPECT_EQ(DropOf("L1: 5[a-c 20 busy] 6[d-f 20]", 5), "nothing");
}

TEST(PlanDropOfFile, NeighboursThatShareAKeyStay) {
  EXPECT_EQ(DropOf("L1: 5[a-c 20] 6[c-f 20]", 6),
            "Invalid argument: table 6 shares a user key with its neighbour");
  EXPECT_EQ(DropOf("L1: 5[a-c 20 open] 6[c-f 20]", 6), "L1 [6] dropped, delete files");
}

// ---- Named files.

std::string Files(const std::string& text, const std::vector<FileNumber>& files, Level output_level,
                  const std::vector<const CompactionPlan*>& running = {}) {
  const TreeText tree(text, 5);
  TreeView view = tree.View();
  view.running = running;
  return Text(PlanFiles(view, SmallConfig(), {.files = files, .output_level = output_level}));
}

TEST(PlanFiles, TakesOverlappingFilesOnTheWayDown) {
  const std::string tree =
      "L1: 5[a-c 20] 6[d-f 20] 7[g-k 20]\n"
      "L2: 3[a-b 20] 4[e-h 20]\n"
      "L3: 1[a-z 20]";
  EXPECT_EQ(Files(tree, {6}, 1), "L1 [6] -> L1, files");
  EXPECT_EQ(Files(tree, {6}, 2), "L1 [6] + L2 [4] -> L2, files");
  EXPECT_EQ(Files(tree, {6}, 3), "L1 [6] + L2 [4] + L3 [1] -> L3, files, bottommost");
  EXPECT_EQ(Files(tree, {6}, 4), "L1 [6] + L2 [4] + L3 [1] -> L4, files, bottommost");
  EXPECT_EQ(Files(tree, {5, 7}, 2), "L1 [5 6 7] + L2 [3 4] -> L2, files");
}

// The output may be one file that spans the keys of both named files.
TEST(PlanFiles, FilesBetweenNamedOnesOfTwoLevelsGoAlong) {
  const std::string tree =
      "L1: 5[a-b 20]\n"
      "L2: 2[A-Z 20] 3[c-d 20] 4[e-f 20] 6[g-h 20]\n"
      "L3: 1[d-e 20]";
  EXPECT_EQ(Files(tree, {5, 4}, 2), "L1 [5] + L2 [3 4] -> L2, files");
  EXPECT_EQ(Files(tree, {5, 4}, 3), "L1 [5] + L2 [3 4] + L3 [1] -> L3, files, bottommost");
  EXPECT_EQ(Files("L1: 5[x-y 20]\nL2: 3[a-b 20] 4[c-d 20 busy]", {5, 3}, 2),
            "Operation aborted: table 4, which has to be compacted with the others, is in another "
            "compaction");
}

TEST(PlanFiles, OlderFilesOfLevel0GoAlong) {
  const std::string tree =
      "L0: 9[a-c 10] 8[x-z 10] 7[m-n 10]\n"
      "L1: 5[a-b 20] 6[n-o 20]";
  EXPECT_EQ(Files(tree, {8}, 1), "L0 [8 7] + L1 [6] -> L1, files, bottommost");
  EXPECT_EQ(Files(tree, {9}, 1), "L0 [9 8 7] + L1 [5 6] -> L1, files, bottommost");
}

TEST(PlanFiles, FilesThatStayOnLevel0LeaveTheOlderOnesThere) {
  const std::string tree =
      "L0: 9[a-c 10] 8[x-z 10] 7[m-n 10] 6[a-y 10 busy]\n"
      "L1: 5[a-b 20] 4[n-o 20]";
  EXPECT_EQ(Files(tree, {8}, 0), "L0 [8] -> L0, files");
  EXPECT_EQ(Files(tree, {9, 7}, 0), "L0 [9 8 7] -> L0, files");
  EXPECT_EQ(Files(tree, {7, 6}, 0), "Operation aborted: table 6 is in another compaction");
  EXPECT_EQ(Files(tree, {8}, 1),
            "Operation aborted: table 6, which has to be compacted with the others, is in another "
            "compaction");
  // The plan records the older runs, so the output keeps deletions of keys that they may have.
  const TreeText text(tree, 5);
  const Result<CompactionPlan> plan =
      PlanFiles(text.View(), SmallConfig(), {.files = {9, 8}, .output_level = 0});
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  ASSERT_EQ(plan->older.size(), 3u);
  EXPECT_EQ(plan->older[0].front()->number, 7u);
  EXPECT_EQ(plan->older[1].front()->number, 6u);
  EXPECT_EQ(plan->older[2].size(), 2u);
}

TEST(PlanFiles, FilesThatAreNewerThanAMemTableDoNotStayOnLevel0) {
  const TreeText tree("L0: 9[a-c 10] 7[m-n 10]", 5);
  TreeView view = tree.View();
  view.oldest_unflushed = 8;
  const FilesRequest within{.files = {9, 7}, .output_level = 0};
  EXPECT_EQ(Text(PlanFiles(view, SmallConfig(), within)),
            "Operation aborted: table 9 has newer entries than a memtable, whose table would come "
            "below: flush the column family first");
  EXPECT_EQ(Text(PlanFiles(view, SmallConfig(), {.files = {7}, .output_level = 0})),
            "L0 [7] -> L0, files");
  EXPECT_EQ(Text(PlanFiles(view, SmallConfig(), {.files = {9, 7}, .output_level = 1})),
            "L0 [9 7] -> L1, files, bottommost");
  const TreeText deeper("L2: 9[a-c 10]", 5);
  view = deeper.View();
  view.oldest_unflushed = 9;
  EXPECT_EQ(Text(PlanRefit(view, SmallConfig(), 2, 1)), "L2 [9] -> L1, refit, move");
  EXPECT_EQ(Text(PlanRefit(view, SmallConfig(), 2, 0)),
            "Operation aborted: table 9 has newer entries than a memtable, whose table would come "
            "below: flush the column family first");
}

TEST(PlanFiles, TablesWithoutSequencesDoNotStayOnLevel0BelowOthersOfTheirKind) {
  const std::string tree = "L0: 9[a-c 10] 8[a-c 10 seq=0-0] 7[a-c 10 seq=0-0]";
  EXPECT_EQ(Files(tree, {7}, 0),
            "Operation aborted: a newer table of level 0 than 7 has no sequence numbers on record, "
            "and would come below the output: name the newest ones of these, too");
  EXPECT_EQ(Files(tree, {8}, 0), "L0 [8] -> L0, files");
  EXPECT_EQ(Files(tree, {7}, 1), "L0 [7] -> L1, files, bottommost");
}

TEST(PlanFiles, NeighboursThatShareAKeyGoAlong) {
  EXPECT_EQ(Files("L1: 5[a-c 20] 6[c-f 20] 7[g-k 20]", {6}, 2),
            "L1 [5 6] -> L2, files, bottommost");
}

TEST(PlanFiles, WhatCannotBeDoneIsRefused) {
  const std::string tree =
      "L1: 5[a-c 20] 6[d-f 20 busy]\n"
      "L2: 3[a-b 20]";
  EXPECT_EQ(Files(tree, {}, 2), "Invalid argument: no table is named");
  EXPECT_EQ(Files(tree, {5, 12}, 2), "Invalid argument: the column family has no table 12");
  EXPECT_EQ(Files(tree, {5}, 5), "Invalid argument: output level 5: the last one is 4");
  EXPECT_EQ(Files(tree, {3}, 1), "Invalid argument: table 3 is on level 2, below output level 1");
  EXPECT_EQ(Files(tree, {6}, 2), "Operation aborted: table 6 is in another compaction");
  EXPECT_EQ(Files("L1: 5[a-c 20] 6[c-f 20 busy]", {5}, 2),
            "Operation aborted: table 6, which has to be compacted with the others, is in another "
            "compaction");
}

TEST(PlanFiles, TheOutputsOfRunningPlansAreNotCrossed) {
  CompactionPlan running;
  running.inputs.push_back({.level = 1, .files = {}});
  running.output_level = 2;
  running.smallest = "b";
  running.largest = "d";
  const std::string aborted =
      "Operation aborted: another compaction writes to the same range of keys";
  EXPECT_EQ(Files("L1: 5[a-c 20]", {5}, 2, {&running}), aborted);
  // Another plan must not write between the levels of a plan, or the order of the levels would be
  // lost.
  EXPECT_EQ(Files("L1: 5[a-c 20]", {5}, 4, {&running}), aborted);
  EXPECT_EQ(Files("L1: 5[x-z 20]", {5}, 4, {&running}), "L1 [5] -> L4, files, bottommost");
  EXPECT_EQ(Files("L2: 5[a-c 20]", {5}, 3, {&running}), "L2 [5] -> L3, files, bottommost");
}

TEST(PlanFiles, AutomaticPlansDoNotWriteBetweenItsLevels) {
  CompactionPlan running;
  running.inputs.push_back({.level = 1, .files = {}});
  running.output_level = 4;
  running.smallest = "a";
  running.largest = "c";
  const TreeText tree("L1: 5[b-c 200]", 5);
  TreeView view = tree.View();
  EXPECT_EQ(Text(PickCompaction(view, SmallConfig(), CompactCursors())),
            "L1 [5] -> L2, level size, move, bottommost");
  view.running.push_back(&running);
  EXPECT_EQ(Text(PickCompaction(view, SmallConfig(), CompactCursors())), "nothing");
}

TEST(PlanFiles, TheRequestDecidesAboutTheOutput) {
  const TreeText tree("L1: 5[a-c 20]", 5);
  FilesRequest request{
      .files = {5}, .output_level = 2, .compression = kZSTD, .output_file_bytes_max = 1234};
  const Result<CompactionPlan> plan = PlanFiles(tree.View(), SmallConfig(), request);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->compression, kZSTD);
  EXPECT_EQ(plan->max_output_file_bytes, 1234u);
  EXPECT_FALSE(plan->trivial_move);
  request = {.files = {5}, .output_level = 2, .may_move = true};
  EXPECT_EQ(Text(PlanFiles(tree.View(), SmallConfig(), request)),
            "L1 [5] -> L2, files, move, bottommost");
}

// ---- Levels that change.

std::string Refit(const std::string& text, Level from, std::optional<Level> to) {
  const TreeText tree(text, 5);
  return Text(PlanRefit(tree.View(), SmallConfig(), from, to));
}

TEST(PlanRefit, MovesALevelUpAndDown) {
  const std::string tree =
      "L0: 9[a-z 10]\n"
      "L3: 5[a-c 20] 6[d-f 20]";
  EXPECT_EQ(Refit(tree, 3, 1), "L3 [5 6] -> L1, refit, move");
  EXPECT_EQ(Refit(tree, 3, 4), "L3 [5 6] -> L4, refit, move");
  EXPECT_EQ(Refit(tree, 3, 3), "nothing");
  EXPECT_EQ(Refit(tree, 2, 1), "nothing");
}

TEST(PlanRefit, WithoutATargetTheSmallestLevelThatHoldsIt) {
  EXPECT_EQ(Refit("L4: 5[a-c 90]", 4, std::nullopt), "L4 [5] -> L1, refit, move");
  EXPECT_EQ(Refit("L4: 5[a-c 900]", 4, std::nullopt), "L4 [5] -> L2, refit, move");
  EXPECT_EQ(Refit("L2: 6[x-z 10]\nL4: 5[a-c 90]", 4, std::nullopt), "L4 [5] -> L3, refit, move");
  EXPECT_EQ(Refit("L3: 6[x-z 10]\nL4: 5[a-c 90]", 4, std::nullopt), "nothing");
}

TEST(PlanRefit, WhatCannotBeDoneIsRefused) {
  EXPECT_EQ(Refit("L3: 5[a-c 20]", 3, 5), "Invalid argument: target level 5: the last one is 4");
  EXPECT_EQ(Refit("L2: 6[x-z 10]\nL3: 5[a-c 20]", 3, 1),
            "Not implemented: change_level: level 2, from level 3 to level 1, is not empty");
  EXPECT_EQ(Refit("L2: 6[x-z 10]\nL3: 5[a-c 20]", 3, 2),
            "Not implemented: change_level: level 2, from level 3 to level 2, is not empty");
  EXPECT_EQ(Refit("L2: 6[x-z 10]\nL3: 5[a-c 20]", 2, 4),
            "Not implemented: change_level: level 3, from level 2 to level 4, is not empty");
  EXPECT_EQ(Refit("L0: 5[a-c 20]", 0, 1),
            "Not implemented: change_level: files of level 0 do not move to another level");
  EXPECT_EQ(Refit("L0: 9[a-b 10]\nL3: 5[a-c 20]", 3, 0),
            "Not implemented: change_level: level 0, from level 3 to level 0, is not empty");
  EXPECT_EQ(Refit("L3: 5[a-c 20]", 3, 0), "L3 [5] -> L0, refit, move");
  EXPECT_EQ(Refit("L3: 5[a-c 20] 6[d-f 20]", 3, 0),
            "Operation aborted: change_level: only one file may move to level 0, not 2");
}

TEST(PlanRefit, KnowsThatOlderDataMayComeBelow) {
  const TreeText tree("L3: 5[a-c 20]", 5);
  TreeView view = tree.View();
  view.has_level_below = true;
  const Result<std::optional<CompactionPlan>> plan = PlanRefit(view, SmallConfig(), 3, 1);
  ASSERT_TRUE(plan.ok() && plan->has_value());
  EXPECT_TRUE((*plan)->older_unknown);
}

std::string MoveOfLevel0(const std::string& text, Level to) {
  const TreeText tree(text, 5);
  return Text(PlanMoveOfLevel0(tree.View(), SmallConfig(), to));
}

TEST(PlanMoveOfLevel0, TakesDisjointFiles) {
  EXPECT_EQ(MoveOfLevel0("L0: 9[g-h 10] 8[a-b 10] 7[d-e 10]\nL3: 5[a-z 20]", 2),
            "L0 [9 8 7] -> L2, refit, move");
  // The end of a range tombstone is not a key of the file.
  EXPECT_EQ(MoveOfLevel0("L0: 9[d-e 10] 8[a-d 10 open]", 4), "L0 [9 8] -> L4, refit, move");
  EXPECT_EQ(MoveOfLevel0("L3: 5[a-z 20]", 2), "nothing");
}

TEST(PlanMoveOfLevel0, WhatCannotBeDoneIsRefused) {
  EXPECT_EQ(MoveOfLevel0("L0: 9[a-b 10]", 5),
            "Invalid argument: target level 5: the levels below level 0 are 1 to 4");
  EXPECT_EQ(MoveOfLevel0("L0: 9[a-b 10]", 0),
            "Invalid argument: target level 0: the levels below level 0 are 1 to 4");
  EXPECT_EQ(MoveOfLevel0("L0: 9[c-d 10] 8[a-c 10]", 1),
            "Invalid argument: the ranges of tables 8 and 9 of level 0 overlap");
  EXPECT_EQ(MoveOfLevel0("L0: 9[a-b 10]\nL2: 5[x-z 20]", 2),
            "Invalid argument: level 2 is not empty");
  EXPECT_EQ(MoveOfLevel0("L0: 9[a-b 10]\nL1: 5[x-z 20]", 2),
            "Invalid argument: level 1 is not empty");
}

TEST(FindPlanViolation, AMoveUpIsNotMadePastNewerData) {
  const TreeText before("L3: 5[a-c 20]", 5);
  Result<std::optional<CompactionPlan>> plan = PlanRefit(before.View(), SmallConfig(), 3, 1);
  ASSERT_TRUE(plan.ok() && plan->has_value());
  EXPECT_EQ(FindPlanViolation(before.View(), **plan), "");
  TreeView after = before.View();
  const TreeText newer("L2: 7[b-d 10]", 5);
  after.levels[2] = newer.View().levels[2];
  EXPECT_EQ(FindPlanViolation(after, **plan),
            "table 7 on level 2 holds keys of the plan L3 [5] -> L1, refit, move");
}

TEST(DeepestLevelOf, FindsTheLastLevelWithKeysOfTheRange) {
  const TreeText tree("L0: 9[a-z 10]\nL2: 5[a-c 20]\nL3: 6[g-k 20]", 5);
  const Slice d("d");
  const Slice h("h");
  EXPECT_EQ(DeepestLevelOf(tree.View(), {}), 3u);
  EXPECT_EQ(DeepestLevelOf(tree.View(), {.smallest = nullptr, .largest = &d}), 2u);
  EXPECT_EQ(DeepestLevelOf(tree.View(), {.smallest = &h, .largest = nullptr}), 3u);
  EXPECT_EQ(DeepestLevelOf(TreeText("", 5).View(), {}), std::nullopt);
}

TEST(MarkForCompaction, LeavesTheLastLevelAlone) {
  const TreeText tree("L0: 9[a-z 10]\nL2: 5[a-c 20] 4[g-k 20]\nL3: 6[a-k 20]", 5);
  const Slice d("d");
  MarkForCompaction(tree.View(), {.smallest = nullptr, .largest = &d});
  EXPECT_TRUE(tree.File(9)->marked_for_compaction);
  EXPECT_TRUE(tree.File(5)->marked_for_compaction);
  EXPECT_FALSE(tree.File(4)->marked_for_compaction);
  EXPECT_FALSE(tree.File(6)->marked_for_compaction);
}

}  // namespace
}  // namespace ashlar
