// Tests the verification of a database that its program changes meanwhile.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/db.h"
#include "tests/support/tool_runner.h"
#include "tools/ashlar/command.h"

namespace ashlar::cli {
namespace {

class VerifyCommandTest : public testing::Test {
 protected:
  VerifyCommandTest() {
    Options options;
    options.create_if_missing = true;
    EXPECT_TRUE(DB::Open(options, path(), &db_).ok());
    for (const char* const key : {"a", "c", "b"}) {
      EXPECT_TRUE(db_->Put(WriteOptions(), key, "value").ok());
      if (*key == 'a') continue;  // goes into the first table with the next key
      EXPECT_TRUE(db_->Flush(FlushOptions()).ok());
    }
    // This causes a warning before the tables are verified.
    std::ofstream(path() + "/OPTIONS-999999") << "damaged";
    global_.database = path();
  }
  std::string path() const { return scratch_.File("db"); }
  std::vector<std::string> Tables() const {
    std::vector<std::string> tables;
    for (const auto& entry : std::filesystem::directory_iterator(path())) {
      if (entry.path().extension() == ".sst") tables.push_back(entry.path().string());
    }
    return tables;
  }
  // Calls `first` when the first warning is given. Returns all warnings.
  template <typename Function>
  std::vector<std::string> Verify(const Function& first, Outcome* outcome) {
    std::vector<std::string> said;
    global_.warn = [&](const std::string& text) {
      if (said.empty()) first();
      said.push_back(text);
    };
    *outcome = MakeVerifyCommand()->Run(global_);
    return said;
  }

  ScratchDirectory scratch_;
  std::unique_ptr<DB> db_;
  GlobalOptions global_;
};

TEST_F(VerifyCommandTest, TablesThatAreReplacedMeanwhileAreNoFinding) {
  const std::vector<std::string> before = Tables();
  ASSERT_EQ(before.size(), 2u);
  Outcome outcome;
  const std::vector<std::string> said = Verify(
      [&] {
        EXPECT_TRUE(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
        CancelAllBackgroundWork(db_.get(), /*wait=*/true);  // the replaced tables are deleted then
        for (const std::string& table : before) EXPECT_FALSE(std::filesystem::exists(table));
      },
      &outcome);
  EXPECT_EQ(said.size(), 1u) << said.back();
  EXPECT_EQ(outcome.what, "verify: the newest OPTIONS file cannot be read");
  EXPECT_EQ(outcome.advice,
            "no entry is lost; a command that writes replaces it with --ignore-damaged-options");
}

TEST_F(VerifyCommandTest, ADatabaseThatCannotBeReadIsNotSentToVerify) {
  db_.reset();
  std::ofstream(global_.database + "/CURRENT") << "garbage\n";
  Outcome outcome;
  EXPECT_TRUE(Verify([] {}, &outcome).empty());
  EXPECT_EQ(outcome.code, ExitCode::kCorruption);
  EXPECT_EQ(outcome.advice, "restore a backup, or see what 'repair --dry-run' would keep");
}

TEST_F(VerifyCommandTest, TablesThatAreLostMeanwhileAreFindings) {
  Outcome outcome;
  const std::vector<std::string> said = Verify(
      [&] {
        db_.reset();  // Windows does not remove an open file
        std::filesystem::remove(Tables().front());
      },
      &outcome);
  EXPECT_GE(said.size(), 2u);
  EXPECT_NE(outcome.what.find("1 of 2 tables has errors"), std::string::npos) << outcome.what;
}

}  // namespace
}  // namespace ashlar::cli
