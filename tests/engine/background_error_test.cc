// Notifications of listeners about the error that makes a database read-only, and jobs in which an
// allocation fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "ashlar/listener.h"
#include "filesystem/memory_file_system.h"
#include "tests/engine/database_fixture.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/open_database.h"

namespace ashlar {
namespace {

class ReasonKeeper final : public EventListener {
 public:
  void OnBackgroundError(BackgroundErrorReason reason, Status*) override {
    reasons_.push_back(reason);
  }
  const std::vector<BackgroundErrorReason>& reasons() const { return reasons_; }

 private:
  std::vector<BackgroundErrorReason> reasons_;
};

class BackgroundErrorTest : public testing::Test {
 protected:
  BackgroundErrorTest() {
    Options options = SmallDatabaseOptions();
    options.create_if_missing = true;
    options.listeners.push_back(keeper_);
    database_ = std::make_unique<OpenDatabase>(faults_, options, 1);
    EXPECT_OK(database_->Open());
  }
  void FailAppendsTo(const std::string& name) {
    FaultRule rule;
    rule.operations = FaultOperation::kAppend | FaultOperation::kFlush;
    rule.name_contains = name;
    rule.sticky = true;
    faults_->AddRule(rule);
  }
  Status Put(const std::string& key) { return database_->db()->Put(WriteOptions(), key, "value"); }

  const std::shared_ptr<ReasonKeeper> keeper_ = std::make_shared<ReasonKeeper>();
  const std::shared_ptr<FaultFileSystem> faults_ =
      std::make_shared<FaultFileSystem>(std::make_shared<MemoryFileSystem>());
  std::unique_ptr<OpenDatabase> database_;
};

TEST_F(BackgroundErrorTest, AFlushThatCannotWriteItsTable) {
  ASSERT_OK(Put("a"));
  FailAppendsTo(".sst");
  EXPECT_FALSE(database_->db()->Flush(FlushOptions()).ok());
  EXPECT_EQ(keeper_->reasons(), std::vector<BackgroundErrorReason>{BackgroundErrorReason::kFlush});
}

// Each attempt starts a new MANIFEST. On a full disk these would use the space that becomes free.
TEST_F(BackgroundErrorTest, ResumesThatFailLeaveNoManifest) {
  const auto manifests = [this] {
    std::vector<std::string> names;
    EXPECT_OK(faults_->GetChildren(OpenDatabase::kPath, &names));
    return std::count_if(names.begin(), names.end(),
                         [](const std::string& name) { return name.starts_with("MANIFEST-"); });
  };
  EXPECT_EQ(manifests(), 1);
  ASSERT_OK(Put("a"));
  FailAppendsTo("MANIFEST-");
  EXPECT_FALSE(database_->db()->Flush(FlushOptions()).ok());
  std::vector<std::string> files;
  uint64_t manifest_bytes = 0;
  EXPECT_TRUE(database_->db()->GetLiveFiles(files, &manifest_bytes, false).IsIOError());
  EXPECT_TRUE(files.empty());
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(database_->db()->Resume().ok());
  faults_->ClearRules();
  ASSERT_OK(database_->db()->Resume());
  EXPECT_EQ(manifests(), 1);
  ASSERT_OK(Put("b"));
  Contents contents;
  EXPECT_OK(database_->Read(&contents));
  EXPECT_EQ(contents[kDefaultColumnFamilyName].size(), 2u);
  ASSERT_OK(database_->Close());
  ASSERT_OK(database_->Open());
  EXPECT_OK(database_->Read(&contents));
  EXPECT_EQ(contents[kDefaultColumnFamilyName].size(), 2u);
}

TEST_F(BackgroundErrorTest, ACompactionThatCannotWriteItsTable) {
  for (const std::string key : {"a", "b"}) {
    ASSERT_OK(Put(key));
    ASSERT_OK(Put("shared"));
    ASSERT_OK(database_->db()->Flush(FlushOptions()));
  }
  FailAppendsTo(".sst");
  CompactRangeOptions options;
  options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  EXPECT_FALSE(database_->db()->CompactRange(options, nullptr, nullptr).ok());
  EXPECT_EQ(keeper_->reasons(),
            std::vector<BackgroundErrorReason>{BackgroundErrorReason::kCompaction});
}

// The leader of the writers calls the listener.
TEST(BackgroundErrorListenerTest, MaySetOptionsWhenTheLogCannotBeWritten) {
  class Setter final : public EventListener {
   public:
    void OnBackgroundError(BackgroundErrorReason /*reason*/, Status* /*error*/) override {
      EXPECT_OK(db->SetOptions({{"level0_file_num_compaction_trigger", "9"}}));
      ++errors;
    }
    DB* db = nullptr;
    int errors = 0;
  };
  const auto setter = std::make_shared<Setter>();
  const auto faults = std::make_shared<FaultFileSystem>(std::make_shared<MemoryFileSystem>());
  Options options = SmallDatabaseOptions();
  options.create_if_missing = true;
  options.listeners.push_back(setter);
  OpenDatabase database(faults, options, 1);
  ASSERT_OK(database.Open());
  setter->db = database.db();
  FaultRule fail;
  fail.operations = FaultOperation::kAppend | FaultOperation::kFlush;
  fail.name_contains = ".log";
  fail.sticky = true;
  faults->AddRule(fail);
  EXPECT_FALSE(database.db()->Put(WriteOptions(), "a", "1").ok());
  EXPECT_EQ(setter->errors, 1);
  EXPECT_EQ(database.db()->GetOptions().level0_file_num_compaction_trigger, 9);
}

// A compaction without enough space or file descriptors changes nothing, so the database stays
// writable and the compaction is retried.
class CompactionRetryTest : public BackgroundErrorTest, public testing::WithParamInterface<Status> {
 protected:
  // Schedules a compaction of level 0 whose tables cannot be created.
  void FailACompaction() {
    FaultRule rule;
    rule.operations = FaultOperation::kOpenForWriting;
    rule.name_contains = ".sst";
    rule.nth = 4;  // the flushes open three tables
    rule.error = GetParam();
    if (GetParam().IsMemoryLimit()) rule.effect = FaultEffect::kThrowBadAlloc;
    rule.sticky = true;
    faults_->AddRule(rule);
    for (const std::string key : {"a", "b", "c"}) {
      ASSERT_OK(Put(key));
      ASSERT_OK(Put("shared"));
      ASSERT_OK(database_->db()->Flush(FlushOptions()));
    }
    while (database_->env()->RunOneJob()) {
    }
  }
  uint64_t FilesAtLevel0() {
    std::string files;
    EXPECT_TRUE(database_->db()->GetProperty("rocksdb.num-files-at-level0", &files));
    return std::stoull(files);
  }
};

TEST_P(CompactionRetryTest, WritesContinueAndTheCompactionSucceedsLater) {
  FailACompaction();
  EXPECT_EQ(FilesAtLevel0(), 3u);
  EXPECT_OK(Put("d"));
  EXPECT_TRUE(keeper_->reasons().empty());
  const Status waited = database_->db()->WaitForCompact(WaitForCompactOptions());
  EXPECT_EQ(waited.subcode(), GetParam().subcode()) << waited.ToString();
  faults_->ClearRules();
  ManualExecutor* const executor = database_->env()->manual_executor();
  EXPECT_TRUE(executor->RunDelayed()) << "the pause";
  EXPECT_OK(database_->db()->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(FilesAtLevel0(), 0u);
  Contents contents;
  EXPECT_OK(database_->Read(&contents));
  EXPECT_EQ(contents[kDefaultColumnFamilyName].size(), 5u);
}

TEST_P(CompactionRetryTest, ClosesDuringThePause) {
  FailACompaction();
  EXPECT_OK(database_->Close());
  EXPECT_FALSE(database_->env()->RunOneJob());
  database_->env()->manual_executor()->RunDelayed();
  faults_->ClearRules();
  EXPECT_OK(database_->Open());
}

TEST_P(CompactionRetryTest, AManualCompactionReturnsTheErrorAndLatchesNothing) {
  FailACompaction();
  EXPECT_EQ(database_->db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).subcode(),
            GetParam().subcode());
  EXPECT_TRUE(keeper_->reasons().empty());
  EXPECT_OK(Put("d"));
}

INSTANTIATE_TEST_SUITE_P(Errors, CompactionRetryTest,
                         testing::Values(Status::NoSpace("the disk is full"),
                                         Status::Error(Status::kIOError, Status::kOpenFilesLimit,
                                                       "too many open files"),
                                         Status::MemoryLimit()),
                         [](const testing::TestParamInfo<Status>& error) {
                           if (error.param.IsMemoryLimit()) return "BadAlloc";
                           return error.param.IsNoSpace() ? "NoSpace" : "OpenFilesLimit";
                         });

// A file system call in a job throws std::bad_alloc.
class JobWithoutMemoryTest : public BackgroundErrorTest {
 protected:
  void ThrowAt(FaultOperation operations, const std::string& name, bool sticky = true) {
    FaultRule rule;
    rule.operations = operations;
    rule.name_contains = name;
    rule.effect = FaultEffect::kThrowBadAlloc;
    rule.sticky = sticky;
    faults_->AddRule(rule);
  }
  std::string Get(const std::string& key) {
    std::string value;
    EXPECT_OK(database_->db()->Get(ReadOptions(), key, &value));
    return value;
  }
};

TEST_F(JobWithoutMemoryTest, AFlushLatchesTheErrorThatResumeClears) {
  for (const FaultOperation at : {FaultOperation::kOpenForWriting, FaultOperation::kAppend,
                                  FaultOperation::kSync, FaultOperation::kClose}) {
    SCOPED_TRACE(static_cast<uint32_t>(at));
    ASSERT_OK(Put("a"));
    ThrowAt(at, ".sst");
    EXPECT_TRUE(database_->db()->Flush(FlushOptions()).IsMemoryLimit());
    EXPECT_TRUE(Put("b").IsMemoryLimit());
    EXPECT_TRUE(database_->db()->Resume().IsMemoryLimit());
    faults_->ClearRules();
    EXPECT_OK(database_->db()->Resume());
    EXPECT_OK(Put("b"));
    EXPECT_EQ(Get("a"), "value");
  }
  ASSERT_OK(database_->Close());
  ASSERT_OK(database_->Open());
  EXPECT_EQ(Get("a"), "value");
}

TEST_F(JobWithoutMemoryTest, AFlushThatCannotSyncTheDirectory) {
  ASSERT_OK(Put("a"));
  FaultRule rule;
  rule.operations = FaultOperation::kSyncDirectory;
  rule.nth = 2;  // the first one is for the new log
  rule.effect = FaultEffect::kThrowBadAlloc;
  faults_->AddRule(rule);
  EXPECT_TRUE(database_->db()->Flush(FlushOptions()).IsMemoryLimit());
  faults_->ClearRules();
  EXPECT_OK(database_->db()->Resume());
  EXPECT_EQ(Get("a"), "value");
}

TEST_F(JobWithoutMemoryTest, AnInstallThatCannotWriteTheManifest) {
  for (const FaultOperation at : {FaultOperation::kAppend, FaultOperation::kSync}) {
    ASSERT_OK(Put("a"));
    ThrowAt(at, "MANIFEST");
    EXPECT_TRUE(database_->db()->Flush(FlushOptions()).IsMemoryLimit());
    faults_->ClearRules();
    EXPECT_OK(database_->db()->Resume());
  }
  ASSERT_OK(database_->Close());
  ASSERT_OK(database_->Open());
  EXPECT_EQ(Get("a"), "value");
}

TEST_F(JobWithoutMemoryTest, ANewManifestThatCannotBeCreated) {
  ASSERT_OK(Put("a"));
  ThrowAt(FaultOperation::kSync, "MANIFEST", /*sticky=*/false);
  EXPECT_TRUE(database_->db()->Flush(FlushOptions()).IsMemoryLimit());
  ThrowAt(FaultOperation::kOpenForWriting, "MANIFEST");
  EXPECT_TRUE(database_->db()->Resume().IsMemoryLimit());
  faults_->ClearRules();
  EXPECT_OK(database_->db()->Resume());
  EXPECT_EQ(Get("a"), "value");
}

TEST_F(JobWithoutMemoryTest, ADeletionLeavesTheFileToTheNextOpen) {
  for (const std::string key : {"a", "b"}) {
    ASSERT_OK(Put(key));
    ASSERT_OK(Put("shared"));
    ASSERT_OK(database_->db()->Flush(FlushOptions()));
  }
  ThrowAt(FaultOperation::kDelete, "");
  CompactRangeOptions options;
  options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  EXPECT_OK(database_->db()->CompactRange(options, nullptr, nullptr));
  EXPECT_OK(Put("c"));
  EXPECT_OK(database_->db()->Flush(FlushOptions()));
  faults_->ClearRules();
  ASSERT_OK(database_->Close());
  ASSERT_OK(database_->Open());
  std::vector<std::string> files;
  ASSERT_OK(faults_->GetChildren(OpenDatabase::kPath, &files));
  std::vector<LiveFileMetaData> live;
  database_->db()->GetLiveFilesMetaData(&live);
  EXPECT_EQ(static_cast<size_t>(
                std::count_if(files.begin(), files.end(),
                              [](const std::string& name) { return name.ends_with(".sst"); })),
            live.size());
}

TEST_F(JobWithoutMemoryTest, AResumeThatCannotCreateItsLogIsTriedAgain) {
  ASSERT_OK(Put("a"));
  FailAppendsTo(".log");
  EXPECT_FALSE(Put("b").ok());
  faults_->ClearRules();
  ThrowAt(FaultOperation::kOpenForWriting, ".log");
  EXPECT_TRUE(database_->db()->Resume().IsMemoryLimit());
  faults_->ClearRules();
  EXPECT_OK(database_->db()->Resume());
  EXPECT_OK(Put("b"));
  EXPECT_EQ(Get("a"), "value");
}

// An allocation fails in a listener of the program.
class ThrowingListener final : public EventListener {
 public:
  void OnFlushCompleted(DB*, const FlushJobInfo&) override { throw std::bad_alloc(); }
  void OnCompactionCompleted(DB*, const CompactionJobInfo&) override { throw std::bad_alloc(); }
  void OnTableFileDeleted(const TableFileDeletionInfo&) override { throw std::bad_alloc(); }
  void OnMemTableSealed(const MemTableInfo&) override { throw std::bad_alloc(); }
};

TEST_F(JobWithoutMemoryTest, ANotificationIsLeftOut) {
  Options options = SmallDatabaseOptions();
  options.create_if_missing = true;
  options.listeners.push_back(std::make_shared<ThrowingListener>());
  database_ = std::make_unique<OpenDatabase>(faults_, options, 1);
  ASSERT_OK(database_->Open());
  for (const std::string key : {"a", "b", "c"}) {
    ASSERT_OK(Put(key));
    ASSERT_OK(Put("shared"));
    ASSERT_OK(database_->db()->Flush(FlushOptions()));
  }
  ASSERT_OK(database_->db()->WaitForCompact(WaitForCompactOptions()));
  EXPECT_OK(Put("d"));
  EXPECT_EQ(Get("shared"), "value");
}

TEST_F(BackgroundErrorTest, ALogThatCannotBeWritten) {
  FailAppendsTo(".log");
  EXPECT_FALSE(Put("a").ok());
  EXPECT_EQ(keeper_->reasons(),
            std::vector<BackgroundErrorReason>{BackgroundErrorReason::kWriteCallback});
}

TEST_F(BackgroundErrorTest, AFamilyThatCannotBeRecorded) {
  FailAppendsTo("MANIFEST");
  EXPECT_FALSE(database_->CreateFamily("f").ok());
  EXPECT_EQ(keeper_->reasons(),
            std::vector<BackgroundErrorReason>{BackgroundErrorReason::kManifestWrite});
}

}  // namespace
}  // namespace ashlar
