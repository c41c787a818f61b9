// DBOptions::track_and_verify_wals_in_manifest: each store checks the logs that the MANIFEST of the
// other one names.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "base/format.h"
#include "filesystem/filename.h"
#include "tests/interchange/ldb_fixture.h"

namespace ashlar {
namespace {

class TrackedLogsTest : public LdbFixture {
 protected:
  void SetUp() override {
    LdbFixture::SetUp();
    options_.track_and_verify_wals_in_manifest = true;
    options_.avoid_flush_during_recovery = true;
  }
  void OpenBoth() {
    std::vector<std::string> names;
    const bool exists = DB::ListColumnFamilies(options_, path_, &names).ok();
    if (!exists) return Open();
    std::vector<ColumnFamilyDescriptor> families;
    for (const std::string& name : names) families.emplace_back(name, options_);
    ASSERT_OK(DB::Open(options_, path_, families, &handles_, &db_));
  }
  void CloseBoth() {
    for (ColumnFamilyHandle* handle : handles_) EXPECT_OK(db_->DestroyColumnFamilyHandle(handle));
    handles_.clear();
    Close();
  }
  // Makes a closed log with a write that is in no table, and a log after it. Stores the number of
  // the closed log.
  void MakeTwoLogs(uint64_t* closed) {
    OpenBoth();
    handles_.resize(1);
    ASSERT_OK(db_->CreateColumnFamily(options_, "cold", &handles_[0]));
    std::unique_ptr<WalFile> log;
    ASSERT_OK(db_->GetCurrentWalFile(&log));
    *closed = log->LogNumber();
    ASSERT_OK(db_->Put(WriteOptions(), handles_[0], "c", "1"));
    ASSERT_OK(db_->Put(WriteOptions(), "a", "1"));
    ASSERT_OK(db_->Flush(FlushOptions()));  // of the other family, so the log is kept
    ASSERT_OK(db_->Put(WriteOptions(), "b", "1"));
  }
  std::string Names() const { return Ldb("manifest_dump --verbose"); }
  std::string LogFile(uint64_t number) const { return WalFileName(path_, number); }
  std::string Refusal() {
    std::vector<std::string> names = {"default", "cold"};
    std::vector<ColumnFamilyDescriptor> families;
    for (const std::string& name : names) families.emplace_back(name, options_);
    return DB::Open(options_, path_, families, &handles_, &db_).ToString();
  }
  ToolRun LdbPut() const {
    return RunTool(StrCat("ldb --db=", path_, " --try_load_options put d 1"));
  }

  std::vector<ColumnFamilyHandle*> handles_;
};

TEST_F(TrackedLogsTest, AnOpenDatabaseNamesItsClosedLogs) {
  uint64_t closed = 0;
  ASSERT_NO_FATAL_FAILURE(MakeTwoLogs(&closed));
  const uint64_t bytes = std::filesystem::file_size(LogFile(closed));
  EXPECT_NE(
      Names().find(StrCat("WalAddition: log_number: ", closed, " synced_size_in_bytes: ", bytes)),
      std::string::npos)
      << Names();
  ASSERT_OK(db_->Flush(FlushOptions(), handles_));
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_NE(Names().find("WalDeletion: log_number: "), std::string::npos) << Names();
  EXPECT_FALSE(std::filesystem::exists(LogFile(closed)));
  CloseBoth();
  EXPECT_EQ(LdbPut().exit_code, 0) << LdbPut().output;
}

TEST_F(TrackedLogsTest, RocksDbGoesOnWithOurs) {
  uint64_t closed = 0;
  ASSERT_NO_FATAL_FAILURE(MakeTwoLogs(&closed));
  CloseBoth();
  EXPECT_TRUE(std::filesystem::exists(LogFile(closed)));
  EXPECT_EQ(LdbPut().exit_code, 0) << LdbPut().output;
  EXPECT_EQ(Ldb("--try_load_options scan"), "a : 1\nb : 1\nd : 1\n");
  EXPECT_EQ(Ldb("--try_load_options --column_family=cold scan"), "c : 1\n");
  OpenBoth();
  EXPECT_EQ(Scan(), "a : 1\nb : 1\nd : 1\n");
  CloseBoth();
}

TEST_F(TrackedLogsTest, BothRefuseALogThatIsGone) {
  uint64_t closed = 0;
  ASSERT_NO_FATAL_FAILURE(MakeTwoLogs(&closed));
  CloseBoth();
  std::filesystem::remove(LogFile(closed));
  EXPECT_NE(Refusal().find("on record as synced, and missing"), std::string::npos) << Refusal();
  EXPECT_NE(LdbPut().output.find("Missing WAL"), std::string::npos) << LdbPut().output;
}

TEST_F(TrackedLogsTest, BothRefuseALogThatIsCut) {
  uint64_t closed = 0;
  ASSERT_NO_FATAL_FAILURE(MakeTwoLogs(&closed));
  CloseBoth();
  std::filesystem::resize_file(LogFile(closed), std::filesystem::file_size(LogFile(closed)) - 3);
  EXPECT_NE(Refusal().find("Corruption"), std::string::npos) << Refusal();
  EXPECT_NE(LdbPut().output.find("Size mismatch"), std::string::npos) << LdbPut().output;
}

TEST_F(TrackedLogsTest, ARunWithoutTheOptionLeavesNothingForRocksDbToMiss) {
  uint64_t closed = 0;
  ASSERT_NO_FATAL_FAILURE(MakeTwoLogs(&closed));
  CloseBoth();
  options_.track_and_verify_wals_in_manifest = false;
  OpenBoth();
  EXPECT_EQ(Names().find("WalAddition"), std::string::npos) << Names();
  ASSERT_OK(db_->Flush(FlushOptions(), handles_));
  CloseBoth();
  EXPECT_FALSE(std::filesystem::exists(LogFile(closed)));
  options_.track_and_verify_wals_in_manifest = true;
  OpenBoth();
  CloseBoth();
  EXPECT_EQ(LdbPut().exit_code, 0) << LdbPut().output;
}

}  // namespace
}  // namespace ashlar
