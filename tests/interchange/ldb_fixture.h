// LdbFixture: one database that Ashlar and Debian's ldb open in turn.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

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
  // Returns the contents as `ldb scan` prints them, iterated in both directions.
  std::string Scan() const { return ScanAs(false); }
  std::string HexScan() const { return ScanAs(true); }  // ldb scan --hex

  // A database that db_bench made: kBenchKeys keys in tables.
  static constexpr uint64_t kBenchKeys = 5000;
  void FillByDbBench() const {
    DbBench("--benchmarks=fillseq,flush --write_buffer_size=131072 --seed=7");
  }
  // Leaves new values of some of its keys in the log.
  void OverwriteByDbBench() const {
    DbBench("--benchmarks=overwrite --writes=500 --use_existing_db=1 --seed=8");
  }

  const ScratchDirectory scratch_;
  const std::string path_ = scratch_.File("db");
  Options options_;
  std::unique_ptr<DB> db_;

 private:
  void DbBench(const std::string& arguments) const {
    RunCommand(StrCat("db_bench --db=", path_, " --num=", kBenchKeys,
                      " --value_size=100 --compression_type=none ", arguments));
  }
  std::string ScanAs(bool hex) const {
    const std::string prefix = hex ? "0x" : "";
    std::string out;
    std::vector<std::string> lines;  // backwards
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    const auto line = [&] {
      return StrCat(prefix, it->key().ToString(hex), " : ", prefix, it->value().ToString(hex),
                    "\n");
    };
    for (it->SeekToFirst(); it->Valid(); it->Next()) out += line();
    EXPECT_OK(it->status());
    for (it->SeekToLast(); it->Valid(); it->Prev()) lines.push_back(line());
    EXPECT_OK(it->status());
    std::string backwards;
    for (auto at = lines.rbegin(); at != lines.rend(); ++at) backwards += *at;
    EXPECT_EQ(backwards, out);
    return out;
  }
};

}  // namespace ashlar
