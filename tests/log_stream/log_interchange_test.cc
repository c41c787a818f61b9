// RocksDB's tools (7.8.3) and the archive: they open databases that have an archive and print its
// logs, and Ashlar reads the archives that they leave.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "base/format.h"
#include "tests/engine/database_fixture.h"
#include "tests/log_stream/batches.h"

namespace ashlar {
namespace {

class LogInterchangeTest : public DatabaseFixture {
 protected:
  void SetUp() override {
    ASSERT_TRUE(HaveRocksDbTools());
    options_.WAL_ttl_seconds = 3600;
  }
  std::string Run(const std::string& command) {
    const ToolRun run = RunTool(command + " 2>&1");
    EXPECT_EQ(run.exit_code, 0) << command << "\n" << run.output;
    return run.output;
  }
};

TEST_F(LogInterchangeTest, RocksDbOpensADatabaseWithAnArchiveAndPrintsItsLogs) {
  Open();
  for (int i = 0; i < 5; ++i) {
    Put(StrCat("key", i), StrCat("value", i));
    Flush();
  }
  VectorWalPtr logs;
  ASSERT_OK(db_->GetSortedWalFiles(logs));
  ASSERT_EQ(logs[2]->Type(), kArchivedLogFile);
  const std::string archived = path() + logs[2]->PathName();
  Close();
  EXPECT_NE(Run("ldb dump_wal --print_value --walfile=" + archived).find("PUT(0)"),
            std::string::npos);
  const std::string scan = Run("ldb --db=" + path() + " scan");
  for (int i = 0; i < 5; ++i)
    EXPECT_NE(scan.find(StrCat("key", i, " : value", i)), std::string::npos) << scan;
  Run("ldb --db=" + path() + " put from rocksdb");
  Open();
  EXPECT_EQ(Get("from"), "rocksdb");
  const std::string all = Text(AllBatches(db_.get()));
  EXPECT_NE(all.find("key0=value0 key1=value1 key2=value2"), std::string::npos) << all;
}

TEST_F(LogInterchangeTest, AnArchiveOfRocksDbIsRead) {
  Run("db_bench --db=" + path() +
      " --benchmarks=fillseq --num=20000 --write_buffer_size=200000 --wal_ttl_seconds=3600 "
      "--compression_type=none --disable_auto_compactions=1");
  ASSERT_TRUE(std::filesystem::exists(path() + "/archive"));
  Open();
  EXPECT_EQ(db_->GetLatestSequenceNumber(), 20000u);
  EXPECT_EQ(AllBatches(db_.get()).size(), 20000u);
  VectorWalPtr logs;
  ASSERT_OK(db_->GetSortedWalFiles(logs));
  EXPECT_GT(logs.size(), 3u);
}

}  // namespace
}  // namespace ashlar
