// ldb of RocksDB reads the values of DBWithTTL, and DBWithTTL reads those of ldb. With --ttl, ldb
// always exits with 1 after a remark about column families, so only the output counts.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/merge_operator.h"
#include "ashlar/utilities/db_ttl.h"
#include "base/format.h"
#include "tests/support/tool_runner.h"

namespace ashlar {
namespace {

class TtlInterchangeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(HaveRocksDbTools());
    options_.create_if_missing = true;
  }
  void Open(int32_t ttl) {
    DBWithTTL* opened = nullptr;
    const Status status = DBWithTTL::Open(options_, Db(), &opened, ttl);
    ASSERT_TRUE(status.ok()) << status.ToString();
    db_.reset(opened);
  }
  std::string Db() const { return scratch_.File("db"); }

  ScratchDirectory scratch_;
  Options options_;
  std::unique_ptr<DBWithTTL> db_;
};

TEST_F(TtlInterchangeTest, LdbReadsOurs) {
  Open(1000000);
  for (int i = 0; i < 100; ++i)
    ASSERT_TRUE(db_->Put(WriteOptions(), StrCat("key", i), StrCat("value", i)).ok());
  ASSERT_TRUE(db_->Flush(FlushOptions()).ok());
  ASSERT_TRUE(db_->Put(WriteOptions(), "logged", "only").ok());
  db_.reset();
  const ToolRun scan = RunTool(StrCat("ldb scan --ttl --db=", Db()));
  EXPECT_NE(scan.output.find("key99 : value99\n"), std::string::npos) << scan.output;
  EXPECT_NE(scan.output.find("logged : only\n"), std::string::npos) << scan.output;
  const ToolRun times = RunTool(StrCat("ldb scan --ttl --timestamp --max_keys=1 --db=", Db()));
  EXPECT_NE(times.output.find("key0 : value0"), std::string::npos) << times.output;
  const ToolRun get = RunTool(StrCat("ldb get --ttl --db=", Db(), " key7"));
  EXPECT_NE(get.output.find("value7\n"), std::string::npos) << get.output;
}

TEST_F(TtlInterchangeTest, WeReadWhatLdbWrote) {
  const std::string flags = StrCat(" --ttl --db=", Db());
  for (const char* const command :
       {"ldb put --create_if_missing first one", "ldb batchput second two third three"}) {
    const ToolRun run = RunTool(StrCat(command, flags));
    ASSERT_NE(run.output.find("OK"), std::string::npos) << run.output;
  }
  Open(1000000);
  for (const auto& [key, expected] :
       {std::pair("first", "one"), std::pair("second", "two"), std::pair("third", "three")}) {
    std::string value;
    const Status status = db_->Get(ReadOptions(), key, &value);
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(value, expected);
  }
  CompactRangeOptions all;
  all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  ASSERT_TRUE(db_->CompactRange(all, nullptr, nullptr).ok());
  db_.reset();
  const ToolRun scan = RunTool(StrCat("ldb scan", flags));
  EXPECT_NE(scan.output.find("third : three\n"), std::string::npos) << scan.output;
}

}  // namespace
}  // namespace ashlar
