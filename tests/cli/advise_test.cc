// ashlar advise: one small measurement, and its refusals.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "base/format.h"
#include "tests/support/tool_runner.h"

namespace ashlar {
namespace {

class AdviseTest : public ::testing::Test {
 protected:
  ToolRun Advise(const std::string& arguments) const {
    return RunTool(StrCat(ProgramCommand("ashlar"), " advise ", scratch_.path(), " ", arguments));
  }

  ScratchDirectory scratch_;
};

TEST_F(AdviseTest, ComparesTheStyles) {
  const std::string json = scratch_.File("figures.json");
  const ToolRun run = Advise(StrCat("--keys 2000 --reads 30 --overwrites 80 --json ", json));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  for (const char* const text : {"2000 keys", "Scaled down", "leveled", "universal", "FIFO"})
    EXPECT_NE(run.output.find(text), std::string::npos) << text << run.output;
  EXPECT_NE(run.output.find("  " + std::string(18, '#')), std::string::npos)
      << "a bar of full length" << run.output;
  std::ifstream file(json);
  const nlohmann::json figures = nlohmann::json::parse(file);
  EXPECT_EQ(figures["workload"]["keys"], 2000);
  EXPECT_EQ(figures["workload"]["overwrite_percent"], 80);
  ASSERT_GE(figures["settings"].size(), 5u);
  for (const nlohmann::json& row : figures["settings"]) {
    // Less than 1 if a memtable holds several versions of a key.
    EXPECT_GT(row["written_per_byte"], 0.1) << row.dump();
    EXPECT_GE(row["runs_per_seek"], 1.0) << row.dump();
    EXPECT_GE(row["disk_per_live_byte"], 0.9) << row.dump();
    EXPECT_GE(row["peak_per_live_byte"], row["disk_per_live_byte"]) << row.dump();
    EXPECT_GT(row["us_per_operation"], 0.0) << row.dump();
  }
  int left = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(scratch_.path()))
    ++left;
  EXPECT_EQ(left, 1) << "the JSON file alone";
}

TEST_F(AdviseTest, RefusesWhatShowsNothing) {
  const ToolRun few = Advise("--keys 5");
  EXPECT_EQ(few.exit_code, 2);
  EXPECT_NE(few.output.find("fewer than 1000 keys"), std::string::npos) << few.output;
  const ToolRun many = Advise("--keys 18446744073709551615");
  EXPECT_EQ(many.exit_code, 2) << many.output;
  EXPECT_NE(many.output.find("choose up to 268435456"), std::string::npos) << many.output;
  EXPECT_EQ(Advise("--key-size 4").exit_code, 2);
  EXPECT_EQ(Advise("--reads 100").exit_code, 2);
  EXPECT_EQ(Advise("--overwrites 101").exit_code, 2);
}

TEST_F(AdviseTest, SaysWhereItCannotWork) {
  const ToolRun run = RunTool(StrCat(ProgramCommand("ashlar"), " advise ",
                                     scratch_.File("no/such/folder"), " --keys 2000"));
  EXPECT_EQ(run.exit_code, 4) << run.output;
  EXPECT_NE(run.output.find("it is not a directory"), std::string::npos) << run.output;
}

TEST_F(AdviseTest, AFileThatCannotBeWrittenIsFoundBeforeAnythingIsMeasured) {
  const ToolRun run = Advise(StrCat("--keys 2000 --json ", scratch_.File("no/figures.json")));
  EXPECT_EQ(run.exit_code, 4) << run.output;
  EXPECT_NE(run.output.find("its parent directory must exist"), std::string::npos) << run.output;
  EXPECT_EQ(run.output.find("leveled"), std::string::npos) << run.output;
}

}  // namespace
}  // namespace ashlar
