// Files that a process left when it died. The next open deletes them if they belong to the database
// and nothing needs them. The logs of another database are not touched.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/checkpoint.h"
#include "base/format.h"
#include "filesystem/memory_file_system.h"
#include "tests/support/manual_env.h"
#include "tests/support/open_database.h"

namespace ashlar {
namespace {

// After a process dies, its logs in a separate directory must not stay there forever.
TEST(OrphanTest, OldLogsOfADeadProcessAreDeletedInADirectoryOfTheirOwn) {
  const auto disk = std::make_shared<MemoryFileSystem>();
  Options options = SmallDatabaseOptions();
  options.wal_dir = "/logs";
  OpenDatabase dying(disk, options, 1);
  ASSERT_TRUE(dying.Open().ok());
  ASSERT_TRUE(dying.db()->DisableFileDeletions().ok());
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(dying.db()->Put(WriteOptions(), "key", StrCat(i)).ok());
    ASSERT_TRUE(dying.Flush({kDefaultColumnFamilyName}, true).ok());
  }
  const auto left = std::make_shared<MemoryFileSystem>(disk->Snapshot());
  std::unique_ptr<vfs::WritableFile> foreign;
  ASSERT_TRUE(left->NewWritableFile("/logs/notes.log", vfs::FileOptions(), &foreign).ok());
  OpenDatabase database(left, options, 1);
  ASSERT_TRUE(database.Open().ok());
  std::string value;
  ASSERT_TRUE(database.db()->Get(ReadOptions(), "key", &value).ok());
  EXPECT_EQ(value, "3");
  std::vector<std::string> names;
  ASSERT_TRUE(left->GetChildren("/logs", &names).ok());
  EXPECT_EQ(names.size(), 3u) << "LOCK, the log that is written to, and the file that is no log";
}

class ForeignLogTest : public ::testing::Test {
 protected:
  static constexpr const char* kOther = "/other";

  ForeignLogTest() {
    options_.env = &env_;
    options_.wal_dir = "/logs";
  }

  Status OpenAt(const std::string& path, std::unique_ptr<DB>* db) const {
    return DB::Open(options_, path, db);
  }
  std::vector<std::string> Logs() const {
    std::vector<std::string> names;
    EXPECT_TRUE(disk_->GetChildren("/logs", &names).ok());
    std::erase(names, "LOCK");
    return names;
  }
  void ExpectHeld(const Status& status) const {
    EXPECT_TRUE(status.IsIOError()) << status.ToString();
    EXPECT_EQ(status.subcode(), Status::kFileLocked) << status.ToString();
    EXPECT_NE(status.ToString().find("/logs/LOCK"), std::string::npos) << status.ToString();
  }
  void MakeCheckpoint(DB* db) const {
    Checkpoint* made = nullptr;
    ASSERT_TRUE(Checkpoint::Create(db, &made).ok());
    const std::unique_ptr<Checkpoint> checkpoint(made);
    ASSERT_TRUE(checkpoint->CreateCheckpoint(kOther, /*log_size_for_flush=*/1 << 20).ok());
  }

  const std::shared_ptr<MemoryFileSystem> disk_ = std::make_shared<MemoryFileSystem>();
  ManualEnv env_{disk_, 1};
  Options options_ = SmallDatabaseOptions();
};

// Otherwise the new database would show the other's writes and delete its log. The other would
// continue in the deleted log, and its death would lose all later writes, even synced ones.
TEST_F(ForeignLogTest, ANewDatabaseTakesNoLogOfAnotherThatIsOpen) {
  std::unique_ptr<DB> db;
  ASSERT_TRUE(OpenAt(OpenDatabase::kPath, &db).ok());
  WriteOptions synced;
  synced.sync = true;
  ASSERT_TRUE(db->Put(synced, "before", "1").ok());
  const std::vector<std::string> logs = Logs();
  std::unique_ptr<DB> other;
  ExpectHeld(OpenAt(kOther, &other));
  EXPECT_EQ(Logs(), logs);
  ASSERT_TRUE(db->Put(synced, "after", "2").ok());

  ManualEnv env(std::make_shared<MemoryFileSystem>(disk_->Snapshot()), 2);
  Options options = options_;
  options.env = &env;
  std::unique_ptr<DB> after_death;
  const Status opened = DB::Open(options, OpenDatabase::kPath, &after_death);
  ASSERT_TRUE(opened.ok()) << opened.ToString();
  std::string value;
  EXPECT_TRUE(after_death->Get(ReadOptions(), "before", &value).ok());
  EXPECT_TRUE(after_death->Get(ReadOptions(), "after", &value).ok());
}

// Without its wal_dir a database is destroyed except for its logs. A new database in its place must
// not have the destroyed writes.
TEST_F(ForeignLogTest, ANewDatabaseTakesNoLogOfOneThatWasDestroyed) {
  options_.avoid_flush_during_shutdown = true;
  std::unique_ptr<DB> db;
  ASSERT_TRUE(OpenAt(OpenDatabase::kPath, &db).ok());
  ASSERT_TRUE(db->Put(WriteOptions(), "key", "destroyed").ok());
  db.reset();
  Options without = options_;
  without.wal_dir.clear();
  ASSERT_TRUE(DestroyDB(OpenDatabase::kPath, without).ok());
  const std::vector<std::string> logs = Logs();
  ASSERT_FALSE(logs.empty());
  const Status opened = OpenAt(OpenDatabase::kPath, &db);
  EXPECT_TRUE(opened.IsCorruption()) << opened.ToString();
  EXPECT_NE(opened.ToString().find("/logs/" + logs[0]), std::string::npos) << opened.ToString();
  EXPECT_EQ(Logs(), logs);

  ASSERT_TRUE(DestroyDB(OpenDatabase::kPath, options_).ok());
  ASSERT_TRUE(OpenAt(OpenDatabase::kPath, &db).ok());
  std::string value;
  EXPECT_TRUE(db->Get(ReadOptions(), "key", &value).IsNotFound());
}

// Otherwise the open original would lose its log, and with it everything that is in no table.
TEST_F(ForeignLogTest, ACheckpointIsDestroyedWithoutTheLogsOfTheOriginal) {
  std::unique_ptr<DB> db;
  ASSERT_TRUE(OpenAt(OpenDatabase::kPath, &db).ok());
  ASSERT_TRUE(db->Put(WriteOptions(), "key", "1").ok());
  const std::vector<std::string> logs = Logs();
  ASSERT_NO_FATAL_FAILURE(MakeCheckpoint(db.get()));
  ASSERT_TRUE(DestroyDB(kOther, options_).ok());
  EXPECT_FALSE(disk_->FileExists(kOther).ok());
  EXPECT_EQ(Logs(), logs);
}

// A checkpoint must not replay and delete the log of the open original. A repair must not move it
// to lost/, and destroying a database that had its logs there must not delete it.
TEST_F(ForeignLogTest, NoCallTakesTheLogsOfADatabaseThatIsOpen) {
  std::unique_ptr<DB> db;
  ASSERT_TRUE(OpenAt(kOther, &db).ok());
  ASSERT_TRUE(db->Close().ok());
  ASSERT_TRUE(DestroyDB(kOther, options_).ok());
  EXPECT_FALSE(disk_->FileExists("/logs/LOCK").ok());

  ASSERT_TRUE(OpenAt(OpenDatabase::kPath, &db).ok());
  ASSERT_TRUE(db->Put(WriteOptions(), "key", "1").ok());
  ASSERT_NO_FATAL_FAILURE(MakeCheckpoint(db.get()));
  const std::vector<std::string> logs = Logs();
  std::unique_ptr<DB> other;
  ExpectHeld(OpenAt(kOther, &other));
  ExpectHeld(RepairDB(kOther, options_));
  std::vector<std::string> names;
  ASSERT_TRUE(disk_->GetChildren(kOther, &names).ok());
  for (const std::string& name : names) {
    if (name.starts_with("OPTIONS")) {
      ASSERT_TRUE(disk_->DeleteFile(StrCat(kOther, "/", name)).ok());
    }
  }
  ExpectHeld(DestroyDB(kOther, options_));  // no file records where its logs are
  EXPECT_EQ(Logs(), logs);
  ASSERT_TRUE(db->Close().ok());
  db.reset();

  ASSERT_TRUE(OpenAt(OpenDatabase::kPath, &db).ok());
  std::string value;
  EXPECT_TRUE(db->Get(ReadOptions(), "key", &value).ok());
}

}  // namespace
}  // namespace ashlar
