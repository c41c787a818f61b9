// Reads range deletions in tables of Debian's rocksdb-tools, and lets those tools read Ashlar's.
// Skipped where the tools are not installed.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "ashlar/vfs.h"
#include "base/format.h"
#include "table/blockbased/table_test_kit.h"
#include "tests/support/tool_runner.h"

namespace ashlar::test {
namespace {

class RangeDeletionInterchange : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!HaveRocksDbTools()) GTEST_SKIP() << "no rocksdb-tools";
  }
  std::string Ldb(const std::string& command) const {
    const ToolRun run = RunTool("ldb --db=" + path_ + " " + command);
    EXPECT_EQ(run.exit_code, 0) << run.output;
    return run.output;
  }
  std::vector<std::string> Tables() const {
    std::vector<std::string> tables;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      if (entry.path().extension() == ".sst") tables.push_back(entry.path().generic_string());
    }
    std::sort(tables.begin(), tables.end());
    return tables;
  }

  const ScratchDirectory scratch_;
  const std::string path_ = scratch_.File("db");
  const std::shared_ptr<vfs::FileSystem> fs_ = vfs::FileSystem::Default();
};

// Each ldb command opens the database again, which flushes the log of the previous command.
TEST_F(RangeDeletionInterchange, ReadsWhatLdbWroteAndWritesTheSame) {
  Ldb("put --create_if_missing a 1");
  Ldb("put b 2");
  Ldb("deleterange a c");
  Ldb("put d 4");
  const std::vector<std::string> tables = Tables();
  ASSERT_EQ(tables.size(), 3u);
  Result<TableReaderPtr> opened = OpenTable(fs_.get(), tables.back(), {});
  ASSERT_OK(opened.status());
  const OpenedTable theirs(std::move(opened).value());
  ASSERT_OK(theirs->Verify());
  EXPECT_EQ(theirs->ranges().fragments(), 1u);
  EXPECT_EQ(theirs->ranges().CoveringSequence("a", kSequenceNumberMax), 3u);
  EXPECT_EQ(theirs->ranges().CoveringSequence("b", 3), 3u);
  EXPECT_EQ(theirs->ranges().CoveringSequence("b", 2), 0u);
  EXPECT_EQ(theirs->ranges().CoveringSequence("c", kSequenceNumberMax), 0u);

  TableSpec spec;
  spec.range_deletions = {{"a", "c", 3}};
  TableWriteResult result;
  ASSERT_OK(WriteTable(fs_.get(), path_ + "/000099.sst", spec,
                       Entries{InternalOrder{KeyComparator(BytewiseComparator())}}, &result));
  const TableProperties& p = theirs->properties();
  EXPECT_EQ(result.properties.num_entries, p.num_entries);
  EXPECT_EQ(result.properties.num_deletions, p.num_deletions);
  EXPECT_EQ(result.properties.num_range_deletions, p.num_range_deletions);
  EXPECT_EQ(result.properties.num_data_blocks, p.num_data_blocks);
  EXPECT_EQ(result.properties.raw_key_size, p.raw_key_size);
  EXPECT_EQ(result.properties.raw_value_size, p.raw_value_size);
  const std::string described =
      StrCat("['a' seq:3, type:15 .. 'c' seq:", kSequenceNumberMax, ", type:15]");
  EXPECT_NE(Ldb("dump_live_files").find(described), std::string::npos);
  EXPECT_EQ(result.smallest, MakeInternalKey("a", 3, ValueType::kRangeDeletion));
  EXPECT_EQ(result.largest, MakeInternalKey("c", kSequenceNumberMax, ValueType::kRangeDeletion));
}

// The table of ldb with the range deletion is replaced by one of Ashlar. The MANIFEST records the
// size of the ldb table, so ldb makes a new MANIFEST from the tables.
TEST_F(RangeDeletionInterchange, LdbAppliesTheRangeDeletionsOfOurs) {
  Ldb("put --create_if_missing a 1");
  Ldb("put b 2");
  Ldb("deleterange a b");
  Ldb("put d 4");
  const std::vector<std::string> tables = Tables();
  ASSERT_EQ(tables.size(), 3u);
  TableSpec spec;
  spec.range_deletions = {{"a", "b", 3}};
  TableWriteResult result;
  std::filesystem::remove(tables.back());
  ASSERT_OK(WriteTable(fs_.get(), tables.back(), spec,
                       Entries{InternalOrder{KeyComparator(BytewiseComparator())}}, &result));
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    if (entry.path().extension() != ".sst") std::filesystem::remove(entry.path());
  }
  Ldb("repair");
  EXPECT_EQ(Ldb("scan"), "b : 2\n");
}

// Entries and range deletions in one table, in every layout that Ashlar writes.
TEST_F(RangeDeletionInterchange, SstDumpVerifiesOurs) {
  Random random(4);
  const Entries entries = MakeEntries(KeyComparator(BytewiseComparator()), {.keys = 300}, &random);
  for (const uint32_t version : {2u, 3u, 4u, 5u}) {
    for (const CompressionType compression : {kNoCompression, kSnappyCompression, kZSTD}) {
      TableSpec spec;
      spec.config.format_version = version;
      spec.config.block_bytes = 500;
      spec.config.filter_millibits_per_key = 10000;
      spec.compression = compression;
      spec.range_deletions = {{"0", "0000000000000050", 900},
                              {"0", "0000000000000050", 80},
                              {"0000000000000050", "0000000000000060", 900},
                              {"1", "2", 7}};
      const std::string path = scratch_.File("000007.sst");
      TableWriteResult result;
      ASSERT_OK(WriteTable(fs_.get(), path, spec, entries, &result));
      const ToolRun verify = RunTool("sst_dump --file=" + path + " --command=verify");
      EXPECT_EQ(verify.exit_code, 0) << verify.output;
      EXPECT_NE(verify.output.find("The file is ok"), std::string::npos) << verify.output;
      const ToolRun shown =
          RunTool("sst_dump --file=" + path + " --command=none --show_properties");
      for (const std::string& line :
           {std::string("# range deletions: 4"), StrCat("# entries: ", entries.size() + 4)}) {
        EXPECT_NE(shown.output.find(line), std::string::npos) << shown.output;
      }
    }
  }
}

}  // namespace
}  // namespace ashlar::test
