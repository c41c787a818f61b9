#include "filesystem/synced_directory.h"

#include <gtest/gtest.h>

#include <memory>

#include "filesystem/memory_file_system.h"
#include "tests/support/expect_ok.h"
#include "tests/support/fault_file_system.h"

namespace ashlar {
namespace {

class SyncedDirectoryTest : public testing::Test {
 protected:
  SyncedDirectoryTest() : directory_(SyncedDirectory::Open(&faults_, "/").value()) {}

  // Makes the next sync of the directory fail with this effect.
  void FailNextSync(FaultEffect effect) {
    faults_.ClearRules();
    FaultRule rule;
    rule.operations = FaultOperation::kSyncDirectory;
    rule.effect = effect;
    faults_.AddRule(rule);
  }

  FaultFileSystem faults_{std::make_shared<MemoryFileSystem>()};
  const std::shared_ptr<SyncedDirectory> directory_;
};

TEST_F(SyncedDirectoryTest, AFailureIsReportedToEachJobThatHadBegun) {
  const uint64_t first = directory_->failures();
  const uint64_t second = directory_->failures();
  FailNextSync(FaultEffect::kFailBefore);
  const Status failed = directory_->Sync(first);
  EXPECT_TRUE(failed.IsIOError()) << failed.ToString();
  const Status told = directory_->Sync(second);
  EXPECT_EQ(told.ToString(), failed.ToString());
  // The names of this job are still lost.
  EXPECT_FALSE(directory_->Sync(second).ok());
  EXPECT_OK(directory_->Sync(directory_->failures()));
}

TEST_F(SyncedDirectoryTest, AJobThatBeginsAfterAFailureIsNotToldOfIt) {
  FailNextSync(FaultEffect::kFailBefore);
  EXPECT_FALSE(directory_->Sync(directory_->failures()).ok());
  const uint64_t later = directory_->failures();
  EXPECT_OK(directory_->Sync(later));
  EXPECT_OK(directory_->Sync(later));
}

TEST_F(SyncedDirectoryTest, ASyncWithoutMemoryIsAFailure) {
  const uint64_t other = directory_->failures();
  FailNextSync(FaultEffect::kThrowBadAlloc);
  EXPECT_TRUE(directory_->Sync(directory_->failures()).IsMemoryLimit());
  EXPECT_TRUE(directory_->Sync(other).IsMemoryLimit());
}

}  // namespace
}  // namespace ashlar
