#include "table/open/pinned_tables.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "filesystem/file_helpers.h"
#include "filesystem/memory_file_system.h"
#include "tests/support/fault_file_system.h"

namespace ashlar {
namespace {

class PinnedTablesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"1", "2", "3"})
      ASSERT_TRUE(WriteStringToFile(disk_.get(), "table", name, Durability::kSynced).ok());
  }
  uint64_t Pin(PinnedTables* tables, uint64_t number) {
    uint64_t bytes = 0;
    const Status status = tables->Pin(number, std::to_string(number), &bytes);
    EXPECT_TRUE(status.ok()) << status.ToString();
    return bytes;
  }

  const std::shared_ptr<MemoryFileSystem> disk_ = std::make_shared<MemoryFileSystem>();
};

TEST_F(PinnedTablesTest, AFileThatIsHeldOutlivesItsName) {
  PinnedTables tables({.file_system = disk_.get()});
  EXPECT_EQ(Pin(&tables, 1), 5u);
  ASSERT_TRUE(disk_->DeleteFile("1").ok());
  EXPECT_EQ(Pin(&tables, 1), 5u) << "it is held already";
  PinnedTables::Taken taken = tables.Take(1);
  ASSERT_NE(taken.file, nullptr);
  EXPECT_EQ(taken.path, "1");
  char scratch[8];
  Slice bytes;
  ASSERT_TRUE(taken.file->Read(0, sizeof(scratch), &bytes, scratch).ok());
  EXPECT_EQ(bytes, Slice("table"));
  EXPECT_EQ(tables.Count(), 0u);
  // A second read takes the file before the first one has made a reader of it.
  PinnedTables::Taken again = tables.Take(1);
  ASSERT_NE(again.file, nullptr);
  taken = PinnedTables::Taken();
  ASSERT_TRUE(again.file->Read(0, sizeof(scratch), &bytes, scratch).ok());
  EXPECT_EQ(bytes, Slice("table"));
  again = PinnedTables::Taken();
  EXPECT_EQ(tables.Take(1).file, nullptr);
  uint64_t size = 0;
  EXPECT_TRUE(tables.Pin(1, "1", &size).IsPathNotFound());
}

TEST_F(PinnedTablesTest, AFileThatIsGivenBackIsHeldAgain) {
  PinnedTables tables({.file_system = disk_.get(), .files_max = 1});
  EXPECT_EQ(Pin(&tables, 1), 5u);
  ASSERT_TRUE(disk_->DeleteFile("1").ok());
  PinnedTables::Taken taken = tables.Take(1);
  ASSERT_NE(taken.file, nullptr);
  EXPECT_EQ(tables.Count(), 0u);
  taken.file.reset();
  tables.GiveBack(1, std::move(taken.shared));
  EXPECT_EQ(tables.Count(), 1u);
  taken = tables.Take(1);
  ASSERT_NE(taken.file, nullptr);

  EXPECT_EQ(Pin(&tables, 2), 5u);
  tables.GiveBack(1, taken.shared);
  EXPECT_EQ(tables.Count(), 1u) << "the limit is reached";
  tables.Retain({});
  tables.GiveBack(1, std::move(taken.shared));
  EXPECT_EQ(tables.Count(), 0u) << "it is not wanted any more";
}

TEST_F(PinnedTablesTest, TheLimitBoundsTheFilesAndNotTheTables) {
  PinnedTables tables({.file_system = disk_.get(), .files_max = 2});
  for (const uint64_t number : {1u, 2u, 3u}) EXPECT_EQ(Pin(&tables, number), 5u);
  EXPECT_EQ(tables.Count(), 2u);
  tables.Retain({2, 3});
  EXPECT_EQ(tables.Count(), 1u);
  EXPECT_NE(tables.Take(2).file, nullptr);
}

TEST_F(PinnedTablesTest, AFileThatIsGivenBackWhileAnotherIsOpenedTakesItsRoom) {
  FaultFileSystem files(disk_);
  PinnedTables tables({.file_system = &files, .files_max = 1});
  EXPECT_EQ(Pin(&tables, 1), 5u);
  PinnedTables::Taken taken = tables.Take(1);
  ASSERT_NE(taken.file, nullptr);
  FaultRule rule;
  rule.operations = FaultOperation::kOpenForReading;
  rule.effect = FaultEffect::kRunAction;
  rule.action = [&tables, &taken] { tables.GiveBack(1, std::move(taken.shared)); };
  files.AddRule(rule);
  EXPECT_EQ(Pin(&tables, 2), 5u);
  EXPECT_EQ(taken.shared, nullptr) << "the action has not run";
  EXPECT_EQ(tables.Count(), 1u);
  EXPECT_NE(tables.Take(1).file, nullptr);
  EXPECT_EQ(tables.Take(2).file, nullptr) << "the limit was reached";
}

TEST_F(PinnedTablesTest, AFileThatCannotBeOpenedIsNotHeld) {
  FaultFileSystem faults(disk_);
  FaultRule rule;
  rule.operations = FaultOperation::kOpenForReading;
  faults.AddRule(rule);
  PinnedTables tables({.file_system = &faults});
  EXPECT_EQ(Pin(&tables, 1), 5u);
  EXPECT_EQ(tables.Count(), 0u);
}

}  // namespace
}  // namespace ashlar
