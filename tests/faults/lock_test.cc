// One database, one writer: an open by another process is refused with the reason, and so is a
// second open in this process. Readers need no lock.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "ashlar/db.h"
#include "base/format.h"
#include "tests/support/manual_env.h"
#include "tests/support/tool_runner.h"

namespace ashlar {
namespace {

constexpr const char* kDirectoryVariable = "ASHLAR_LOCK_DIRECTORY";

Options SilentOptions() {
  Options options;
  options.create_if_missing = true;
  options.info_log = std::make_shared<SilentLogger>();
  return options;
}

// Not a test, but the code of the other process.
TEST(LockChild, DISABLED_Open) {
  const char* const directory = std::getenv(kDirectoryVariable);
  if (directory == nullptr) GTEST_SKIP() << "started by the test below";
  std::unique_ptr<DB> db;
  const Status opened = DB::Open(SilentOptions(), directory, &db);
  std::string value;
  const Status read_only = DB::OpenForReadOnly(SilentOptions(), directory, &db);
  if (read_only.ok()) value = db->Get(ReadOptions(), "key", &value).ok() ? value : "nothing";
  std::printf("open: %s; read: %s\n", opened.ToString().c_str(), value.c_str());
}

class LockTest : public ::testing::Test {
 protected:
  std::string OpenInAnotherProcess() const {
    const std::string environment =
        StrCat("env -u GTEST_TOTAL_SHARDS -u GTEST_SHARD_INDEX -u GTEST_OUTPUT ",
               kDirectoryVariable, "=", path_);
    return RunTool(
               StrCat(environment, " ", OwnCommand(),
                      " --gtest_filter=LockChild.DISABLED_Open --gtest_also_run_disabled_tests"))
        .output;
  }

  const ScratchDirectory scratch_;
  const std::string path_ = scratch_.File("db");
};

TEST_F(LockTest, AnotherProcessIsRefusedWithTheReason) {
  std::unique_ptr<DB> db;
  ASSERT_TRUE(DB::Open(SilentOptions(), path_, &db).ok());
  ASSERT_TRUE(db->Put(WriteOptions(), "key", "value").ok());
  const std::string refused = OpenInAnotherProcess();
  EXPECT_NE(refused.find("open: IO error: "), std::string::npos) << refused;
  EXPECT_NE(refused.find("/LOCK: "), std::string::npos) << refused;
  EXPECT_NE(refused.find("read: value"), std::string::npos) << refused;
  // The refusal did not affect the owner.
  ASSERT_TRUE(db->Put(WriteOptions(), "key", "later").ok());
  ASSERT_TRUE(db->Close().ok());
  db.reset();
  const std::string accepted = OpenInAnotherProcess();
  EXPECT_NE(accepted.find("open: OK; read: later"), std::string::npos) << accepted;
}

TEST_F(LockTest, ASecondOpenInThisProcessIsRefusedWithTheReason) {
  std::unique_ptr<DB> db;
  ASSERT_TRUE(DB::Open(SilentOptions(), path_, &db).ok());
  std::unique_ptr<DB> second;
  const Status opened = DB::Open(SilentOptions(), path_, &second);
  EXPECT_TRUE(opened.IsIOError()) << opened.ToString();
  EXPECT_NE(opened.ToString().find("/LOCK: "), std::string::npos) << opened.ToString();
  // Closing the files of the refused open must not release the lock.
  EXPECT_NE(OpenInAnotherProcess().find("/LOCK: "), std::string::npos);
}

// Then the lock of the logs is the lock of the database.
TEST_F(LockTest, AWalDirMayBeTheDatabasesOwnByAnotherPath) {
  Options options = SilentOptions();
  for (const std::string& wal_dir : {path_ + "/", path_ + "/.", scratch_.File("./db")}) {
    SCOPED_TRACE(wal_dir);
    options.wal_dir = wal_dir;
    std::unique_ptr<DB> db;
    for (const char* const value : {"first", "second"}) {
      const Status opened = DB::Open(options, path_, &db);
      ASSERT_TRUE(opened.ok()) << opened.ToString();
      ASSERT_TRUE(db->Put(WriteOptions(), "key", value).ok());
      EXPECT_NE(OpenInAnotherProcess().find("/LOCK: "), std::string::npos);
      ASSERT_TRUE(db->Close().ok());
      db.reset();
    }
    ASSERT_TRUE(DestroyDB(path_, options).ok());
  }
}

TEST_F(LockTest, DestroyIsRefusedWhileTheDatabaseIsOpen) {
  std::unique_ptr<DB> db;
  ASSERT_TRUE(DB::Open(SilentOptions(), path_, &db).ok());
  ASSERT_TRUE(db->Put(WriteOptions(), "key", "value").ok());
  EXPECT_TRUE(DestroyDB(path_, SilentOptions()).IsIOError());
  std::string value;
  EXPECT_TRUE(db->Get(ReadOptions(), "key", &value).ok());
}

}  // namespace
}  // namespace ashlar
