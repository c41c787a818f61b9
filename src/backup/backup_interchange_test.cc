// RocksDB's ldb restores backups of Ashlar and opens its checkpoints. Ashlar does so with ldb's.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/backup_engine.h"
#include "ashlar/checkpoint.h"
#include "ashlar/db.h"
#include "base/format.h"
#include "tests/support/tool_runner.h"

namespace ashlar {
namespace {

class BackupInterchangeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!HaveRocksDbTools()) GTEST_SKIP() << "needs Debian's rocksdb-tools";
    options_.create_if_missing = true;
  }

  std::string Db() const { return scratch_.File("db"); }
  std::string Backups() const { return scratch_.File("backups"); }
  std::string Restored() const { return scratch_.File("restored"); }

  ScratchDirectory scratch_;
  Options options_;
};

TEST_F(BackupInterchangeTest, LdbRestoresOurs) {
  std::unique_ptr<DB> db;
  ASSERT_TRUE(DB::Open(options_, Db(), &db).ok());
  BackupEngine* opened = nullptr;
  ASSERT_TRUE(BackupEngine::Open(BackupEngineOptions(Backups()), Env::Default(), &opened).ok());
  const std::unique_ptr<BackupEngine> engine(opened);
  for (int i = 0; i < 1000; ++i)
    ASSERT_TRUE(db->Put(WriteOptions(), StrCat("key", i), StrCat("value", i)).ok());
  ASSERT_TRUE(engine->CreateNewBackup(db.get(), true).ok());
  ASSERT_TRUE(db->Put(WriteOptions(), "logged", "only").ok());
  ASSERT_TRUE(
      engine->CreateNewBackupWithMetadata(CreateBackupOptions(), db.get(), "metadata").ok());
  const ToolRun restore = RunTool(StrCat("ldb restore --db=", Restored(),
                                         " --backup_dir=", Backups(), " --stderr_log_level=4"));
  ASSERT_EQ(restore.exit_code, 0) << restore.output;
  const ToolRun scan = RunTool(StrCat("ldb scan --db=", Restored()));
  EXPECT_NE(scan.output.find("key999 : value999"), std::string::npos)
      << scan.output.substr(0, 1000);
  EXPECT_NE(scan.output.find("logged : only"), std::string::npos);
}

TEST_F(BackupInterchangeTest, WeRestoreWhatLdbMade) {
  ASSERT_EQ(RunTool(StrCat("ldb put --create_if_missing --db=", Db(), " flushed value")).exit_code,
            0);
  ASSERT_EQ(RunTool(StrCat("ldb compact --db=", Db())).exit_code, 0);
  ASSERT_EQ(RunTool(StrCat("ldb put --db=", Db(), " logged value")).exit_code, 0);
  for (int i = 0; i < 2; ++i) {
    const ToolRun backup = RunTool(
        StrCat("ldb backup --db=", Db(), " --backup_dir=", Backups(), " --stderr_log_level=4"));
    ASSERT_EQ(backup.exit_code, 0) << backup.output;
  }
  BackupEngine* opened = nullptr;
  ASSERT_TRUE(BackupEngine::Open(BackupEngineOptions(Backups()), Env::Default(), &opened).ok());
  const std::unique_ptr<BackupEngine> engine(opened);
  std::vector<BackupInfo> infos;
  engine->GetBackupInfo(&infos);
  ASSERT_EQ(infos.size(), 2U);
  EXPECT_TRUE(engine->VerifyBackup(2, true).ok());
  ASSERT_TRUE(engine->RestoreDBFromLatestBackup(Restored(), Restored()).ok());
  std::unique_ptr<DB> db;
  const Status status = DB::Open(Options(), Restored(), &db);
  ASSERT_TRUE(status.ok()) << status.ToString();
  for (const char* const key : {"flushed", "logged"}) {
    std::string value;
    EXPECT_TRUE(db->Get(ReadOptions(), key, &value).ok()) << key;
    EXPECT_EQ(value, "value");
  }
  // After Ashlar adds a backup to those of ldb, ldb still restores from the directory.
  ASSERT_TRUE(engine->CreateNewBackup(db.get()).ok());
  const ToolRun info = RunTool(StrCat("ldb restore --db=", scratch_.File("again"),
                                      " --backup_dir=", Backups(), " --stderr_log_level=4"));
  EXPECT_EQ(info.exit_code, 0) << info.output;
}

TEST_F(BackupInterchangeTest, LdbOpensOurCheckpoint) {
  std::unique_ptr<DB> db;
  ASSERT_TRUE(DB::Open(options_, Db(), &db).ok());
  for (int i = 0; i < 1000; ++i)
    ASSERT_TRUE(db->Put(WriteOptions(), StrCat("key", i), StrCat("value", i)).ok());
  ASSERT_TRUE(db->Flush(FlushOptions()).ok());
  ASSERT_TRUE(db->Put(WriteOptions(), "logged", "only").ok());
  Checkpoint* made = nullptr;
  ASSERT_TRUE(Checkpoint::Create(db.get(), &made).ok());
  const std::unique_ptr<Checkpoint> checkpoint(made);
  ASSERT_TRUE(checkpoint->CreateCheckpoint(Restored(), UINT64_MAX).ok());
  const ToolRun scan = RunTool(StrCat("ldb scan --db=", Restored()));
  EXPECT_NE(scan.output.find("key999 : value999"), std::string::npos)
      << scan.output.substr(0, 1000);
  EXPECT_NE(scan.output.find("logged : only"), std::string::npos);
  // ldb writes to the checkpoint, and the original does not change.
  ASSERT_EQ(RunTool(StrCat("ldb put --db=", Restored(), " key1 other")).exit_code, 0);
  ASSERT_EQ(RunTool(StrCat("ldb compact --db=", Restored())).exit_code, 0);
  std::string value;
  ASSERT_TRUE(db->Get(ReadOptions(), "key1", &value).ok());
  EXPECT_EQ(value, "value1");
  EXPECT_TRUE(db->VerifyChecksum().ok());
}

TEST_F(BackupInterchangeTest, WeOpenTheCheckpointThatLdbMade) {
  ASSERT_EQ(RunTool(StrCat("ldb put --create_if_missing --db=", Db(), " flushed value")).exit_code,
            0);
  ASSERT_EQ(RunTool(StrCat("ldb compact --db=", Db())).exit_code, 0);
  ASSERT_EQ(RunTool(StrCat("ldb put --db=", Db(), " logged value")).exit_code, 0);
  const ToolRun made =
      RunTool(StrCat("ldb checkpoint --db=", Db(), " --checkpoint_dir=", Restored()));
  ASSERT_EQ(made.exit_code, 0) << made.output;
  std::unique_ptr<DB> db;
  const Status status = DB::Open(Options(), Restored(), &db);
  ASSERT_TRUE(status.ok()) << status.ToString();
  for (const char* const key : {"flushed", "logged"}) {
    std::string value;
    EXPECT_TRUE(db->Get(ReadOptions(), key, &value).ok()) << key;
    EXPECT_EQ(value, "value");
  }
}

}  // namespace
}  // namespace ashlar
