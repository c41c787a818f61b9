// Tests FIFO picks, one rule each, on trees written as text.
#include "compact/plan/fifo_picker.h"

#include <gtest/gtest.h>

#include <string>

#include "compact/plan/picker_test_kit.h"

namespace ashlar {
namespace {

CompactionConfig SmallConfig() {
  CompactionConfig config{.style = kCompactionStyleFIFO};
  config.common.num_levels = 3;
  config.common.level0_file_num_compaction_trigger = 3;
  config.common.max_compaction_bytes = 1000;
  config.fifo.table_bytes_max = 100;
  config.fifo.merged_file_bytes_max = 20;
  return config;
}

std::string Pick(const std::string& text, const CompactionConfig& config = SmallConfig(),
                 uint64_t now_unix_seconds = 1000) {
  return PickText(text, config, now_unix_seconds);
}

TEST(PickFifo, DropsTheOldestFilesDownToTheLimit) {
  EXPECT_EQ(Pick("L0: 9[a-k 50] 8[a-k 50]"), "nothing");
  EXPECT_EQ(Pick("L0: 9[a-k 50] 8[a-k 50] 7[a-k 40] 6[a-k 40]"), "L0 [7 6] dropped, table bytes");
}

TEST(PickFifo, TablesWithoutSequencesAreOfTheAgeThatTheirNumbersSay) {
  EXPECT_EQ(Pick("L0: 9[a-k 50] 8[a-k 50 seq=0-0] 7[a-k 40 seq=0-0] 6[a-k 40 seq=0-0]"),
            "L0 [7 6] dropped, table bytes");
}

TEST(PickFifo, DeeperLevelsAreOlder) {
  EXPECT_EQ(Pick("L0: 9[a-k 50]\nL2: 2[a-k 30] 1[m-n 30]"), "L2 [1] dropped, table bytes");
  EXPECT_EQ(Pick("L0: 9[a-k 90] 8[a-k 50]\nL2: 2[a-k 30]"), "L0 [8] + L2 [2] dropped, table bytes");
}

// Both files have versions of k. Without the newer file, an older version would reappear.
TEST(PickFifo, FilesThatShareAUserKeyGoTogether) {
  EXPECT_EQ(Pick("L0: 9[a-k 50]\nL1: 4[a-k 15 seq=1-40] 5[k-z 15 seq=20-50] 3[zz-zz 30 seq=30-45]"),
            "L1 [3] dropped, table bytes");
  EXPECT_EQ(Pick("L0: 9[a-k 90]\nL1: 4[a-k 30 seq=1-40] 5[k-z 30 seq=20-50] 3[zz-zz 9 seq=30-45]"),
            "L1 [4 5 3] dropped, table bytes");
  EXPECT_EQ(Pick("L0: 9[a-k 60]\nL1: 4[a-k 30 seq=1-40 open] 5[k-z 30 seq=20-50]"),
            "L1 [4] dropped, table bytes")
      << "the first ends before k";
  CompactionConfig config = SmallConfig();
  config.fifo.ttl_seconds = 100;
  EXPECT_EQ(Pick("L1: 4[a-k 5 seq=1-40 born=700] 5[k-z 5 seq=20-50 born=950]", config), "nothing");
  EXPECT_EQ(Pick("L1: 4[a-k 5 seq=1-40 born=700] 5[k-z 5 seq=20-50 born=800]", config),
            "L1 [4 5] dropped, expired");
}

TEST(PickFifo, DropsExpiredFilesFirst) {
  CompactionConfig config = SmallConfig();
  config.fifo.ttl_seconds = 100;
  EXPECT_EQ(Pick("L0: 9[a-k 50 born=950] 8[a-k 60 born=899] 7[a-k 10 born=800]", config),
            "L0 [8 7] dropped, expired");
  EXPECT_EQ(Pick("L0: 9[a-k 5 born=800] 8[a-k 6 born=950] 7[a-k 10 born=900]", config), "nothing")
      << "an older file is not expired";
  EXPECT_EQ(Pick("L0: 9[a-k 5] 8[a-k 6]", config), "nothing") << "the age is not known";
}

TEST(PickFifo, MergesSmallFilesWhereAllowed) {
  const std::string tree = "L0: 9[a-k 5] 8[a-k 5] 7[a-k 5] 6[a-k 50]";
  EXPECT_EQ(Pick(tree), "nothing");
  CompactionConfig config = SmallConfig();
  config.fifo.may_compact = true;
  EXPECT_EQ(Pick(tree, config), "L0 [9 8 7] -> L0, fewer files");
  EXPECT_EQ(Pick("L0: 9[a-k 5] 8[a-k 5]", config), "nothing");
  EXPECT_EQ(Pick("L0: 9[a-k 12] 8[a-k 12] 7[a-k 12] 6[a-k 50]", config),
            "L0 [9 8 7] -> L0, fewer files")
      << "18 for each file less, although 24 for the first two";
  EXPECT_EQ(Pick("L0: 9[a-k 25] 8[a-k 25] 7[a-k 25]", config), "nothing")
      << "merged files are not merged again";
  EXPECT_EQ(Pick("L0: 9[a-k 25] 8[a-k 5] 7[a-k 5] 6[a-k 5] 5[a-k 50]", config),
            "L0 [8 7 6] -> L0, fewer files")
      << "also behind a merged one";
}

// A merged file stays for a full ttl of its own. I2 of fifo_picker.h.
TEST(PickFifo, DataOfATenthOfTheTtlAreNotMergedAnyMore) {
  CompactionConfig config = SmallConfig();
  config.fifo.may_compact = true;
  config.fifo.ttl_seconds = 100;
  EXPECT_EQ(Pick("L0: 9[a-k 5 age=999] 8[a-k 5 age=995] 7[a-k 5 age=990 born=999]", config),
            "L0 [9 8 7] -> L0, fewer files");
  EXPECT_EQ(Pick("L0: 9[a-k 5 age=999] 8[a-k 5 age=995] 7[a-k 5 age=989 born=999]", config),
            "nothing");
  EXPECT_EQ(Pick("L0: 9[a-k 5 age=999] 8[a-k 5 age=995] 7[a-k 5 age=990] 6[a-k 5 age=980]", config),
            "L0 [9 8 7] -> L0, fewer files");
  EXPECT_EQ(Pick("L0: 9[a-k 5 age=999] 8[a-k 5 age=989] 7[a-k 5 age=999] 6[a-k 5 age=999] "
                 "5[a-k 5 age=999]",
                 config),
            "nothing")
      << "those after a file that is too old have older data, whatever they record";
  EXPECT_EQ(Pick("L0: 9[a-k 5 born=999] 8[a-k 5 born=995] 7[a-k 5 born=989]", config), "nothing")
      << "written earlier, and nothing else is known";
  EXPECT_EQ(Pick("L0: 9[a-k 5] 8[a-k 5] 7[a-k 5]", config), "L0 [9 8 7] -> L0, fewer files")
      << "no age is known: the merged file has one";
  config.fifo.ttl_seconds = 0;
  EXPECT_EQ(Pick("L0: 9[a-k 5 age=999] 8[a-k 5 age=995] 7[a-k 5 age=1]", config),
            "L0 [9 8 7] -> L0, fewer files");
}

TEST(PickFifo, FilesThatAreNewerThanAMemTableAreNotMerged) {
  CompactionConfig config = SmallConfig();
  config.fifo.may_compact = true;
  const TreeText tree("L0: 9[a-k 5] 8[a-k 5] 7[a-k 5] 6[a-k 5]", config.common.num_levels);
  TreeView view = tree.View();
  view.oldest_unflushed = 9;
  const auto plan = PickFifo(view, config);
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(DebugString(*plan), "L0 [8 7 6] -> L0, fewer files");
  view.oldest_unflushed = 8;
  EXPECT_FALSE(PickFifo(view, config).has_value());
}

// LevelDB's tables have no sequences, so the merged file would sort above the large one.
TEST(PickFifo, TablesWithoutSequencesAreNotMergedBelowOthersOfTheirKind) {
  CompactionConfig config = SmallConfig();
  config.fifo.may_compact = true;
  const std::string older = " 8[a-k 5 seq=0-0] 7[a-k 5 seq=0-0] 6[a-k 5 seq=0-0]";
  EXPECT_EQ(Pick("L0: 9[a-k 25 seq=0-0]" + older, config), "nothing");
  EXPECT_EQ(Pick("L0: 9[a-k 25]" + older, config), "L0 [8 7 6] -> L0, fewer files");
}

TEST(PickFifo, OnePlanAtATime) { EXPECT_EQ(Pick("L0: 9[a-k 500 busy] 8[a-k 50]"), "nothing"); }

}  // namespace
}  // namespace ashlar
