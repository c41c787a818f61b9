// Tests the figures of a database that its program changes meanwhile.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/comparator.h"
#include "ashlar/convenience.h"
#include "ashlar/db.h"
#include "tests/support/tool_runner.h"
#include "tools/ashlar/command.h"

namespace ashlar::cli {
namespace {

class OwnOrder final : public Comparator {
 public:
  const char* Name() const override { return "own"; }
  int Compare(const Slice& a, const Slice& b) const override { return a.compare(b); }
  void FindShortestSeparator(std::string* /*start*/, const Slice& /*limit*/) const override {}
  void FindShortSuccessor(std::string* /*key*/) const override {}
};

TEST(StatsCommandTest, TablesThatAreReplacedMeanwhileAreCounted) {
  const ScratchDirectory scratch;
  const std::string path = scratch.File("db");
  const OwnOrder own_order;
  Options options;
  options.create_if_missing = true;
  std::unique_ptr<DB> db;
  ASSERT_TRUE(DB::Open(options, path, &db).ok());
  ColumnFamilyHandle* replaced = nullptr;
  ColumnFamilyOptions with_own_order;
  with_own_order.comparator = &own_order;
  // The warning that this family stays closed is given before the next family is counted.
  ColumnFamilyHandle* closed = nullptr;
  ASSERT_TRUE(db->CreateColumnFamily(with_own_order, "closed", &closed).ok());
  ASSERT_TRUE(db->CreateColumnFamily(ColumnFamilyOptions(), "replaced", &replaced).ok());
  for (int round = 0; round < 2; ++round) {
    for (const char* const key : {"a", "b"})
      ASSERT_TRUE(db->Put(WriteOptions(), replaced, key, "value").ok());
    ASSERT_TRUE(db->Flush(FlushOptions(), replaced).ok());
  }
  GlobalOptions global;
  global.database = path;
  int warnings = 0;
  global.warn = [&](const std::string& /*text*/) {
    if (warnings++ > 0) return;
    EXPECT_TRUE(db->CompactRange(CompactRangeOptions(), replaced, nullptr, nullptr).ok());
    CancelAllBackgroundWork(db.get(), /*wait=*/true);  // the replaced tables are deleted then
  };
  const Outcome outcome = MakeStatsCommand()->Run(global);
  EXPECT_EQ(warnings, 1);
  EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.what;
  ASSERT_TRUE(db->DestroyColumnFamilyHandle(replaced).ok());
  ASSERT_TRUE(db->DestroyColumnFamilyHandle(closed).ok());
  ASSERT_TRUE(db->Close().ok());
}

}  // namespace
}  // namespace ashlar::cli
