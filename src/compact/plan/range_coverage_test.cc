// Tests what a table's range tombstones cover, with a tree as text and the files and bytes found.

#include "compact/plan/range_coverage.h"

#include <gtest/gtest.h>

#include "compact/plan/compaction_picker.h"
#include "compact/plan/tree_text.h"

namespace ashlar {
namespace {

struct Tombstone {
  std::string begin;
  std::string end;
  SequenceNumber sequence;
};

// Hidden files, each with the sequence that hides it, and covered bytes: "5@50 6@50 (120 bytes)".
std::string Coverage(const TreeText& tree, Level level, FileNumber table,
                     const std::vector<Tombstone>& tombstones) {
  const KeyComparator comparator(BytewiseComparator());
  std::vector<RangeTombstone> ranges;
  for (const Tombstone& own : tombstones) ranges.push_back({own.begin, own.end, own.sequence});
  const FragmentedRanges fragments = FragmentedRanges::Make(comparator, std::move(ranges));
  const auto half = [](FileMetaData* file, const Slice&, const Slice&) {
    return file->file_bytes / 2;
  };
  const BytesOfRange bytes_of_range(half);
  const RangeCoverage found =
      FindRangeCoverage(tree.View(), level, *tree.File(table), fragments, &bytes_of_range);
  std::string text;
  for (const RangeCoverage::HiddenFile& hidden : found.hidden)
    text += std::to_string(hidden.file->number) + "@" + std::to_string(hidden.since) + " ";
  return text + "(" + std::to_string(found.covered_bytes) + " bytes)";
}
std::string Coverage(const std::string& text, Level level, FileNumber table,
                     const std::vector<Tombstone>& tombstones) {
  return Coverage(TreeText(text, 5), level, table, tombstones);
}

TEST(RangeCoverage, FilesThatAreWhollyCoveredAreHidden) {
  EXPECT_EQ(Coverage("L1: 9[b-t 10 seq=50-50]\n"
                     "L2: 5[a-d 20] 6[e-h 20] 7[k-m 20]\n"
                     "L3: 3[b-c 40] 4[s-w 40]",
                     1, 9, {{"b", "t", 50}}),
            "6@50 7@50 3@50 (30 bytes)");
}

TEST(RangeCoverage, TheEndOfARangeIsNotCovered) {
  const std::string tree = "L1: 9[b-d 10 seq=50-50]\nL2: 5[b-d 20]";
  EXPECT_EQ(Coverage(tree, 1, 9, {{"b", "d", 50}}), "(10 bytes)");
  EXPECT_EQ(Coverage("L1: 9[b-d 10 seq=50-50]\nL2: 5[b-d 20 open]", 1, 9, {{"b", "d", 50}}),
            "5@50 (0 bytes)");
}

TEST(RangeCoverage, NewerEntriesAreNotHidden) {
  EXPECT_EQ(Coverage("L1: 9[a-z 10 seq=1-50]\nL2: 5[b-d 20 seq=10-50] 6[e-f 20 seq=10-49]", 1, 9,
                     {{"a", "z", 50}}),
            "6@50 (20 bytes)");
}

TEST(RangeCoverage, AllSequencesOfAFragmentCount) {
  // The oldest tombstone that hides the file decides, because it hides it from the most readers.
  EXPECT_EQ(Coverage("L1: 9[a-z 10 seq=1-50]\nL2: 5[b-d 20 seq=10-20] 6[e-f 20 seq=30-45]", 1, 9,
                     {{"a", "z", 50}, {"a", "z", 40}, {"a", "z", 15}}),
            "5@40 6@50 (0 bytes)");
}

TEST(RangeCoverage, NeighbouringFragmentsTogetherHideAFile) {
  const std::string tree = "L1: 9[a-z 10 seq=1-60]\nL2: 5[b-k 20]";
  EXPECT_EQ(Coverage(tree, 1, 9, {{"a", "e", 50}, {"e", "p", 60}}), "5@60 (0 bytes)");
  EXPECT_EQ(Coverage(tree, 1, 9, {{"a", "e", 50}, {"f", "p", 60}}), "(20 bytes)");
}

TEST(RangeCoverage, OnlyOlderRunsAreLookedAt) {
  EXPECT_EQ(Coverage("L0: 12[a-z 10] 11[a-z 10 seq=50-50] 10[c-d 10 seq=20-20] 8[x-z 10 seq=5-5]\n"
                     "L1: 5[a-d 20] 6[e-z 20]",
                     0, 11, {{"a", "m", 50}}),
            "10@50 5@50 (10 bytes)");
}

TEST(RangeCoverage, HiddenFilesAreFoundOnce) {
  EXPECT_EQ(Coverage("L1: 9[a-z 10 seq=50-50]\nL2: 5[b-d 20 hidden=40] 6[e-f 20]", 1, 9,
                     {{"a", "z", 50}}),
            "6@50 (0 bytes)");
}

TEST(RangeCoverage, ManyTombstonesAreSampled) {
  std::string tree = "L1: 9[k10000-k19999 10 seq=50-50]\nL2: 5[k10000-k19999 1000000]";
  std::vector<Tombstone> tombstones;
  for (int i = 10000; i < 19000; i += 2)
    tombstones.push_back({"k" + std::to_string(i), "k" + std::to_string(i + 1), 50});
  // Each of the 4,500 tombstones covers half of the file's bytes here.
  const std::string found = Coverage(tree, 1, 9, tombstones);
  const double bytes = std::stod(found.substr(1));
  EXPECT_NEAR(bytes, 4500 * 500000.0, 4500 * 500000.0 / 100) << found;
}

// ---- Plans of the picker for covered bytes.

constexpr char kMegabytes[] = "000000";

std::string PickCovered(const std::string& text, SequenceNumber oldest_snapshot) {
  LeveledConfig config;
  config.num_levels = 5;
  config.max_bytes_for_level_base = uint64_t{1} << 40;
  config.max_compaction_bytes = uint64_t{1} << 40;
  const TreeText tree(text, 5);
  TreeView view = tree.View();
  view.oldest_snapshot = oldest_snapshot;
  const auto plan = PickCompaction(view, config, CompactCursors());
  EXPECT_EQ(plan.has_value(), NeedsCompaction(view, config));
  return plan.has_value() ? DebugString(*plan) : "nothing";
}
std::string Covering(const std::string& attributes) {
  const std::string mb = kMegabytes;
  return "L1: 9[a-z 1" + mb + " seq=50-50 " + attributes + "]\nL2: 5[b-d 20" + mb + "] 6[e-f 20" +
         mb + "]\nL3: 1[a-z 90" + mb + "]";
}

TEST(PickCoveredBytes, MuchSpaceIsWorthACompaction) {
  EXPECT_EQ(PickCovered(Covering("covers=30000000@1"), kSequenceNumberMax),
            "L1 [9] + L2 [5 6] -> L2, covered bytes");
}

TEST(PickCoveredBytes, LittleSpaceIsNot) {
  EXPECT_EQ(PickCovered(Covering("covers=5000000@1"), kSequenceNumberMax), "nothing");
  EXPECT_EQ(
      PickCovered("L1: 9[a-z 10 seq=50-50 covers=900000@1]\nL2: 5[b-d 20]", kSequenceNumberMax),
      "nothing");
}

TEST(PickCoveredBytes, ASnapshotBelowTheTombstonesWaits) {
  EXPECT_EQ(PickCovered(Covering("covers=30000000@1"), 49), "nothing");
  EXPECT_EQ(PickCovered(Covering("covers=30000000@1"), 50),
            "L1 [9] + L2 [5 6] -> L2, covered bytes");
}

TEST(PickCoveredBytes, TheCountOfAnotherLevelDoesNotCount) {
  EXPECT_EQ(PickCovered(Covering("covers=30000000@0"), kSequenceNumberMax), "nothing");
}

TEST(PickCoveredBytes, NothingIsBelowTheLastLevel) {
  EXPECT_EQ(PickCovered("L3: 9[a-z 10 seq=50-50 covers=30000000@3]", kSequenceNumberMax),
            "nothing");
}

}  // namespace
}  // namespace ashlar
