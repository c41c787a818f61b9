// What listeners are told about the error that makes a database read-only.
#include <gtest/gtest.h>

#include <memory>
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

// A compaction that lacks space or descriptors changes nothing, so the database stays writable and
// the compaction is tried again.
class CompactionRetryTest : public BackgroundErrorTest, public testing::WithParamInterface<Status> {
 protected:
  // Level 0 wants a compaction, whose tables cannot be created.
  void FailACompaction() {
    FaultRule rule;
    rule.operations = FaultOperation::kOpenForWriting;
    rule.name_contains = ".sst";
    rule.nth = 4;  // the flushes open three
    rule.error = GetParam();
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
                                                       "too many open files")),
                         [](const testing::TestParamInfo<Status>& error) {
                           return error.param.IsNoSpace() ? "NoSpace" : "OpenFilesLimit";
                         });

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
