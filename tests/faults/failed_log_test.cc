// A log that fails. The rest of it stays complete, every recovery mode opens the database, and no
// failure is hidden from the caller.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/format.h"
#include "filesystem/memory_file_system.h"
#include "tests/support/expect_ok.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/open_database.h"

namespace ashlar {
namespace {

struct LogFault {
  const char* name;
  FaultOperation operation;
  FaultEffect effect;
};

constexpr LogFault kLogFaults[] = {
    {"append", FaultOperation::kAppend, FaultEffect::kFailBefore},
    {"half an append", FaultOperation::kAppend, FaultEffect::kPartialAppend},
    {"flush", FaultOperation::kFlush, FaultEffect::kFailBefore},
    {"flush, done", FaultOperation::kFlush, FaultEffect::kFailAfter},
    {"sync", FaultOperation::kSync, FaultEffect::kFailBefore},
    {"sync, done", FaultOperation::kSync, FaultEffect::kFailAfter},
    {"sync of the directory", FaultOperation::kSyncDirectory, FaultEffect::kFailBefore},
};

class FailedLogTest : public ::testing::Test {
 protected:
  void Start(const Options& options) {
    disk_ = std::make_shared<MemoryFileSystem>();
    faults_ = std::make_shared<FaultFileSystem>(disk_);
    database_ = std::make_unique<OpenDatabase>(faults_, options, 7);
    acknowledged_ = {{"default", {}}, {"second", {}}};
    writes_ = 0;
    ASSERT_OK(database_->Open());
    ASSERT_OK(database_->CreateFamily("second"));
  }

  Status WriteNext(bool sync = false) {
    const std::string key = StrCat("key", writes_++);
    const Commit commit = {
        {.kind = Change::Kind::kPut, .family = "default", .key = key, .value = "value"},
        {.kind = Change::Kind::kPut,
         .family = "second",
         .key = key,
         .value = std::string(100, 'v')}};
    WriteOptions options;
    options.sync = sync;
    const Status status = database_->Write(commit, options);
    if (status.ok()) Apply(commit, &acknowledged_);
    return status;
  }
  void WriteSome() {
    for (int i = 0; i < 10; ++i) ASSERT_OK(WriteNext());
  }

  void Fail(FaultOperation operations, const std::string& name, FaultEffect effect, bool sticky) {
    FaultRule rule;
    rule.operations = operations;
    rule.name_contains = name;
    rule.error = Status::NoSpace("injected");
    rule.effect = effect;
    rule.sticky = sticky;
    faults_->AddRule(rule);
  }

  void ExpectThatEveryModeFindsWhatWasAcknowledged() {
    for (const WALRecoveryMode mode :
         {WALRecoveryMode::kTolerateCorruptedTailRecords, WALRecoveryMode::kAbsoluteConsistency,
          WALRecoveryMode::kPointInTimeRecovery, WALRecoveryMode::kSkipAnyCorruptedRecords}) {
      SCOPED_TRACE(StrCat("recovery mode ", static_cast<int>(mode)));
      Options options = SmallDatabaseOptions();
      options.wal_recovery_mode = mode;
      OpenDatabase recovered(std::make_shared<MemoryFileSystem>(disk_->Snapshot()), options, 8);
      const Status opened = recovered.Open();
      ASSERT_TRUE(opened.ok()) << opened.ToString();
      Contents contents;
      ASSERT_OK(recovered.Read(&contents));
      EXPECT_TRUE(contents == acknowledged_) << "other contents than were acknowledged";
    }
  }

  std::shared_ptr<MemoryFileSystem> disk_;
  std::shared_ptr<FaultFileSystem> faults_;
  std::unique_ptr<OpenDatabase> database_;
  Contents acknowledged_;
  int writes_ = 0;
};

// The process dies after a failed write and any number of resumes that could not write their
// tables.
TEST_F(FailedLogTest, EveryModeOpensAfterAFailedWriteAndFailedResumes) {
  for (const LogFault& fault : kLogFaults) {
    if (fault.operation == FaultOperation::kSyncDirectory) continue;  // not part of a write
    SCOPED_TRACE(fault.name);
    Start(SmallDatabaseOptions());
    WriteSome();
    Fail(fault.operation, ".log", fault.effect, /*sticky=*/false);
    const Status refused = WriteNext(fault.operation == FaultOperation::kSync);
    ASSERT_TRUE(refused.IsNoSpace()) << refused.ToString();
    Fail(FaultOperation::kOpenForWriting, ".sst", FaultEffect::kFailBefore, /*sticky=*/true);
    for (int resumes = 0; resumes < 4; ++resumes) {
      SCOPED_TRACE(StrCat(resumes, " failed resumes"));
      ExpectThatEveryModeFindsWhatWasAcknowledged();
      const Status resumed = database_->db()->Resume();
      ASSERT_TRUE(resumed.IsNoSpace()) << resumed.ToString();
    }
    EXPECT_FALSE(database_->Close().ok());
    ExpectThatEveryModeFindsWhatWasAcknowledged();
  }
}

// The log that a resume creates cannot be started either.
TEST_F(FailedLogTest, EveryModeOpensAfterTheStartOfALogFailed) {
  for (const LogFault& fault : kLogFaults) {
    if (fault.operation == FaultOperation::kSync) continue;  // a log is not synced when it starts
    SCOPED_TRACE(fault.name);
    Start(SmallDatabaseOptions());
    WriteSome();
    Fail(FaultOperation::kAppend, ".log", FaultEffect::kFailBefore, /*sticky=*/false);
    ASSERT_TRUE(WriteNext().IsNoSpace());
    const bool directory = fault.operation == FaultOperation::kSyncDirectory;
    for (int resumes = 0; resumes < 2; ++resumes) {
      Fail(fault.operation, directory ? "" : ".log", fault.effect, /*sticky=*/false);
      const Status resumed = database_->db()->Resume();
      ASSERT_TRUE(resumed.IsNoSpace()) << resumed.ToString();
      ExpectThatEveryModeFindsWhatWasAcknowledged();
    }
    ASSERT_OK(database_->db()->Resume());
    WriteSome();
    ExpectThatEveryModeFindsWhatWasAcknowledged();
  }
}

// The log could not be truncated when it failed. It must be truncated before another log continues
// it, because it contains a refused write.
TEST_F(FailedLogTest, ACutThatFailedIsRepeatedBeforeTheNextLog) {
  Start(SmallDatabaseOptions());
  WriteSome();
  Fail(FaultOperation::kTruncate, ".log", FaultEffect::kFailBefore, /*sticky=*/true);
  Fail(FaultOperation::kFlush, ".log", FaultEffect::kFailAfter, /*sticky=*/false);
  ASSERT_TRUE(WriteNext().IsNoSpace());
  const Status resumed = database_->db()->Resume();
  EXPECT_TRUE(resumed.IsNoSpace()) << resumed.ToString();
  faults_->ClearRules();
  Fail(FaultOperation::kOpenForWriting, ".sst", FaultEffect::kFailBefore, /*sticky=*/false);
  EXPECT_FALSE(database_->db()->Resume().ok());
  ExpectThatEveryModeFindsWhatWasAcknowledged();
  ASSERT_OK(database_->db()->Resume());
  WriteSome();
  ExpectThatEveryModeFindsWhatWasAcknowledged();
}

// The flush of the log fails at the switch of a memtable. FlushWAL must not report that everything
// is in the operating system.
TEST_F(FailedLogTest, AFlushThatFailsAtASwitchIsReportedAndLatched) {
  Options options = SmallDatabaseOptions();
  options.manual_wal_flush = true;
  for (const FaultOperation operation : {FaultOperation::kAppend, FaultOperation::kFlush}) {
    Start(options);
    WriteSome();
    Fail(operation, ".log", FaultEffect::kFailBefore, /*sticky=*/false);
    const Status flushed = database_->Flush({"default"}, /*wait=*/false);
    EXPECT_TRUE(flushed.IsNoSpace()) << flushed.ToString();
    EXPECT_EQ(WriteNext().ToString(), flushed.ToString());
    EXPECT_EQ(database_->db()->FlushWAL(false).ToString(), flushed.ToString());
    EXPECT_EQ(database_->db()->FlushWAL(true).ToString(), flushed.ToString());
    ASSERT_OK(database_->db()->Resume());
    WriteSome();
    ASSERT_OK(database_->db()->FlushWAL(false));
    ExpectThatEveryModeFindsWhatWasAcknowledged();
  }
}

// Records that are buffered for FlushWAL are not written after the log has failed. Their writes
// were never promised, and the failed write was refused.
TEST_F(FailedLogTest, NothingIsAddedToALogThatFailed) {
  Options options = SmallDatabaseOptions();
  options.manual_wal_flush = true;
  Start(options);
  WriteSome();
  ASSERT_OK(database_->db()->FlushWAL(false));
  const Contents handed_over = acknowledged_;
  WriteSome();
  Fail(FaultOperation::kSync, ".log", FaultEffect::kFailBefore, /*sticky=*/false);
  ASSERT_TRUE(WriteNext(/*sync=*/true).IsNoSpace());
  EXPECT_FALSE(database_->Close().ok());
  acknowledged_ = handed_over;
  ExpectThatEveryModeFindsWhatWasAcknowledged();
}

// An open that fails must not record the unsynced logs that it has read as synced. They would look
// damaged after the next power cut.
TEST_F(FailedLogTest, AnOpenThatFailsRecordsNoLogAsSynced) {
  Start(SmallDatabaseOptions());
  WriteSome();
  const auto killed = std::make_shared<MemoryFileSystem>(disk_->Snapshot());
  const auto faults = std::make_shared<FaultFileSystem>(killed);
  std::vector<std::string> unsynced;
  ASSERT_OK(killed->GetChildren(OpenDatabase::kPath, &unsynced));
  std::erase_if(unsynced, [](const std::string& name) { return !name.ends_with(".log"); });
  for (std::string& name : unsynced) name = StrCat(OpenDatabase::kPath, "/", name);
  ASSERT_FALSE(unsynced.empty());
  FaultRule no_tables;
  no_tables.operations = FaultOperation::kOpenForWriting;
  no_tables.name_contains = ".sst";
  no_tables.error = Status::NoSpace("injected");
  no_tables.sticky = true;
  faults->AddRule(no_tables);
  {
    OpenDatabase failing(faults, SmallDatabaseOptions(), 9);
    const Status opened = failing.Open();
    ASSERT_TRUE(opened.IsNoSpace()) << opened.ToString();
  }
  faults->ClearRules();
  // The power cut removes all unsynced bytes.
  for (const std::string& log : unsynced) {
    uint64_t bytes = 0;
    ASSERT_OK(killed->GetFileSize(log, &bytes));
    ASSERT_OK(killed->Truncate(log, bytes / 2));
  }
  OpenDatabase reopened(faults, SmallDatabaseOptions(), 9);
  const Status opened = reopened.Open();
  EXPECT_TRUE(opened.ok()) << opened.ToString();
}

}  // namespace
}  // namespace ashlar
