// Another process takes the lock first, so state that was read before the lock may be outdated.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/format.h"
#include "filesystem/memory_file_system.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/open_database.h"

namespace ashlar {
namespace {

class OpenRaceTest : public ::testing::Test {
 protected:
  void RunAt(FaultOperation operation, const std::string& name, std::function<void()> action) {
    FaultRule rule;
    rule.operations = operation;
    rule.name_contains = name;
    rule.effect = FaultEffect::kRunAction;
    rule.action = std::move(action);
    calls_->AddRule(rule);
  }
  // The other process opens or creates the database, writes an entry, flushes, and closes it.
  void OtherProcessWrites() {
    OpenDatabase other(disk_, SmallDatabaseOptions(), 2);
    const Status opened = other.Open();
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    ASSERT_TRUE(other.db()->Put(WriteOptions(), "key", "of the other").ok());
    ASSERT_TRUE(other.Flush({kDefaultColumnFamilyName}, true).ok());
    ASSERT_TRUE(other.Close().ok());
  }
  static std::string Get(const OpenDatabase& database) {
    std::string value;
    return database.db()->Get(ReadOptions(), "key", &value).ok() ? value : "nothing";
  }

  const std::shared_ptr<MemoryFileSystem> disk_ = std::make_shared<MemoryFileSystem>();
  const std::shared_ptr<FaultFileSystem> calls_ = std::make_shared<FaultFileSystem>(disk_);
};

// The second must not get "Corruption: CURRENT is missing, but there are files of a database".
TEST_F(OpenRaceTest, TwoProcessesCreateOneDatabase) {
  RunAt(FaultOperation::kLock, "LOCK", [this] { OtherProcessWrites(); });
  OpenDatabase database(calls_, SmallDatabaseOptions(), 1);
  const Status opened = database.Open();
  ASSERT_TRUE(opened.ok()) << opened.ToString();
  EXPECT_EQ(Get(database), "of the other");
}

TEST_F(OpenRaceTest, ADatabaseThatMustNotExistIsCreatedByAnotherProcess) {
  RunAt(FaultOperation::kLock, "LOCK", [this] { OtherProcessWrites(); });
  Options options = SmallDatabaseOptions();
  options.error_if_exists = true;
  OpenDatabase database(calls_, options, 1);
  const Status opened = database.Open();
  EXPECT_TRUE(opened.IsInvalidArgument()) << opened.ToString();
  EXPECT_NE(opened.ToString().find("error_if_exists"), std::string::npos) << opened.ToString();
}

TEST_F(OpenRaceTest, ADatabaseIsDestroyedByAnotherProcess) {
  OtherProcessWrites();
  RunAt(FaultOperation::kLock, "LOCK", [this] {
    ManualEnv env(disk_, 3);
    Options options = SmallDatabaseOptions();
    options.env = &env;
    ASSERT_TRUE(DestroyDB(OpenDatabase::kPath, options).ok());
    ASSERT_TRUE(disk_->CreateDir(OpenDatabase::kPath).ok());
  });
  OpenDatabase database(calls_, SmallDatabaseOptions(), 1);
  const Status opened = database.Open();
  ASSERT_TRUE(opened.ok()) << opened.ToString();
  EXPECT_EQ(Get(database), "nothing");
}

TEST_F(OpenRaceTest, ADatabaseThatIsDestroyedLeavesNoFileOfAnotherProcess) {
  OtherProcessWrites();
  RunAt(FaultOperation::kLock, "LOCK", [this] { OtherProcessWrites(); });
  ManualEnv env(calls_, 1);
  Options options = SmallDatabaseOptions();
  options.env = &env;
  ASSERT_TRUE(DestroyDB(OpenDatabase::kPath, options).ok());
  EXPECT_FALSE(disk_->FileExists(OpenDatabase::kPath).ok());
}

// If the lock were released before its file is deleted, two processes could take it: one on the
// file that is then deleted, and one on a new file.
TEST_F(OpenRaceTest, TheLockIsHeldUntilItsFileIsDeleted) {
  OtherProcessWrites();
  bool tried = false;
  RunAt(FaultOperation::kDelete, "LOCK", [&] {
    tried = true;
    OpenDatabase other(disk_, SmallDatabaseOptions(), 2);
    const Status opened = other.Open();
    EXPECT_TRUE(opened.IsIOError()) << opened.ToString();
  });
  ManualEnv env(calls_, 1);
  Options options = SmallDatabaseOptions();
  options.env = &env;
  ASSERT_TRUE(DestroyDB(OpenDatabase::kPath, options).ok());
  EXPECT_TRUE(tried);
}

}  // namespace
}  // namespace ashlar
