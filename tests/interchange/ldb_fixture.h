// LdbFixture: one database that Ashlar and Debian's ldb open in turn.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/db.h"
#include "base/format.h"
#include "tests/support/expect_ok.h"
#include "tests/support/tool_runner.h"

namespace ashlar {

class LdbFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(HaveRocksDbTools());
    options_.create_if_missing = true;
  }

  static std::string RunCommand(const std::string& command) {
    const ToolRun run = RunTool(command);
    EXPECT_EQ(run.exit_code, 0) << run.output;
    return run.output;
  }
  std::string Ldb(const std::string& command) const {
    return RunCommand(StrCat("ldb --db=", path_, " ", command));
  }
  void Open() { ASSERT_OK(DB::Open(options_, path_, &db_)); }
  void Close() {
    ASSERT_OK(db_->Close());
    db_.reset();
  }
  // As `ldb scan` prints it; walked in both directions.
  std::string Scan() const {
    std::string out;
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next())
      out += StrCat(it->key().ToString(), " : ", it->value().ToString(), "\n");
    EXPECT_OK(it->status());
    std::string backwards;
    for (it->SeekToLast(); it->Valid(); it->Prev())
      backwards = StrCat(it->key().ToString(), " : ", it->value().ToString(), "\n", backwards);
    EXPECT_EQ(backwards, out);
    return out;
  }

  const ScratchDirectory scratch_;
  const std::string path_ = scratch_.File("db");
  Options options_;
  std::unique_ptr<DB> db_;
};

}  // namespace ashlar
