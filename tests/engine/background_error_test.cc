// What listeners are told about the error that makes a database read-only.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/listener.h"
#include "filesystem/fault_file_system.h"
#include "filesystem/memory_file_system.h"
#include "testing/open_database.h"
#include "tests/engine/database_fixture.h"

namespace ashlar {
namespace {

class ReasonKeeper final : public EventListener {
 public:
  void OnBackgroundError(BackgroundErrorReason reason, Status*) override { reasons_.push_back(reason); }
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
  const std::shared_ptr<FaultFileSystem> faults_ = std::make_shared<FaultFileSystem>(std::make_shared<MemoryFileSystem>());
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
  EXPECT_EQ(keeper_->reasons(), std::vector<BackgroundErrorReason>{BackgroundErrorReason::kCompaction});
}

TEST_F(BackgroundErrorTest, ALogThatCannotBeWritten) {
  FailAppendsTo(".log");
  EXPECT_FALSE(Put("a").ok());
  EXPECT_EQ(keeper_->reasons(), std::vector<BackgroundErrorReason>{BackgroundErrorReason::kWriteCallback});
}

TEST_F(BackgroundErrorTest, AFamilyThatCannotBeRecorded) {
  FailAppendsTo("MANIFEST");
  EXPECT_FALSE(database_->CreateFamily("f").ok());
  EXPECT_EQ(keeper_->reasons(), std::vector<BackgroundErrorReason>{BackgroundErrorReason::kManifestWrite});
}

}  // namespace
}  // namespace ashlar
