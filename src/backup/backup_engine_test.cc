#include "ashlar/backup_engine.h"

#include <gtest/gtest.h>

#include <atomic>
#include <climits>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/options_util.h"
#include "ashlar/transaction_log.h"
#include "base/format.h"
#include "filesystem/file_helpers.h"
#include "filesystem/memory_file_system.h"
#include "lsm/lsm_db.h"
#include "tests/support/crash_file_system.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/fault_sweep.h"

namespace ashlar {
namespace {

constexpr char kDb[] = "/db";
constexpr char kBackups[] = "/backups";

using Model = std::map<std::string, std::string>;

class BackupEngineTest : public ::testing::Test {
 protected:
  BackupEngineTest()
      : faults_(std::make_shared<FaultFileSystem>(std::make_shared<MemoryFileSystem>())),
        env_(NewCompositeEnv(faults_)) {
    options_.env = env_.get();
    options_.create_if_missing = true;
  }

  void OpenDb() {
    const Status opened = DB::Open(options_, kDb, &db_);
    ASSERT_TRUE(opened.ok()) << opened.ToString();
  }
  void CloseDb() {
    ASSERT_TRUE(db_->Close().ok());
    db_.reset();
  }

  std::unique_ptr<BackupEngine> OpenEngine(
      const BackupEngineOptions& options = BackupEngineOptions(kBackups)) {
    BackupEngine* engine = nullptr;
    const Status opened = BackupEngine::Open(options, env_.get(), &engine);
    EXPECT_TRUE(opened.ok()) << opened.ToString();
    return std::unique_ptr<BackupEngine>(engine);
  }

  void Put(const std::string& key, const std::string& value) {
    ASSERT_TRUE(db_->Put(WriteOptions(), key, value).ok());
    model_[key] = value;
  }
  void PutMany(int count, const std::string& value) {
    for (int i = 0; i < count; ++i) Put(StrCat("key", i), value);
  }

  Model Contents() const {
    Model contents;
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next())
      contents[it->key().ToString()] = it->value().ToString();
    EXPECT_TRUE(it->status().ok());
    return contents;
  }

  // Returns the names in a folder of the backup directory.
  std::vector<std::string> Names(const std::string& folder) const {
    std::vector<std::string> names;
    EXPECT_TRUE(env_->GetChildren(StrCat(kBackups, "/", folder), &names).ok());
    return names;
  }

  std::vector<std::string> ArchivedLogs(const std::string& wal_dir) const {
    std::vector<std::string> names;
    EXPECT_TRUE(env_->GetChildren(wal_dir + "/archive", &names).ok());
    return names;
  }

  // Changes one byte of a file.
  void Damage(const std::string& path) {
    const Result<std::string> contents = ReadFileToString(faults_.get(), path, 1 << 30);
    ASSERT_TRUE(contents.ok() && !contents->empty());
    std::string damaged = *contents;
    damaged[damaged.size() / 2] ^= 1;
    ASSERT_TRUE(WriteStringToFile(faults_.get(), damaged, path, Durability::kSynced).ok());
  }

  const std::shared_ptr<FaultFileSystem> faults_;
  const std::unique_ptr<Env> env_;
  Options options_;
  std::unique_ptr<DB> db_;
  Model model_;
};

TEST_F(BackupEngineTest, EachBackupIsAMoment) {
  OpenDb();
  const std::unique_ptr<BackupEngine> engine = OpenEngine();
  std::vector<Model> moments;
  for (int i = 0; i < 4; ++i) {
    PutMany(100, StrCat("value", i));
    // The backups differ in whether they have tables, logs or both.
    if (i % 2 == 1) {
      ASSERT_TRUE(db_->Flush(FlushOptions()).ok());
    }
    Put(StrCat("after", i), "x");
    ASSERT_TRUE(engine->CreateNewBackup(db_.get(), i == 3).ok());
    moments.push_back(model_);
  }
  CloseDb();
  std::vector<BackupInfo> infos;
  engine->GetBackupInfo(&infos);
  ASSERT_EQ(infos.size(), 4U);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(infos[i].backup_id, i + 1);
    EXPECT_GT(infos[i].size, 0U);
    EXPECT_TRUE(engine->VerifyBackup(infos[i].backup_id, true).ok());
    ASSERT_TRUE(engine->RestoreDBFromBackup(infos[i].backup_id, kDb, kDb).ok());
    OpenDb();
    EXPECT_EQ(Contents(), moments[i]) << i;
    CloseDb();
  }
  ASSERT_TRUE(engine->RestoreDBFromLatestBackup("/other", "/other-wal").ok());
  EXPECT_TRUE(engine->RestoreDBFromBackup(5, kDb, kDb).IsNotFound());
}

// One deletion is in a table that the backup shares, the other in the log that it copies.
TEST_F(BackupEngineTest, RangeDeletionsAreRestored) {
  OpenDb();
  const std::unique_ptr<BackupEngine> engine = OpenEngine();
  PutMany(100, "value");
  ASSERT_TRUE(db_->Flush(FlushOptions()).ok());
  const auto delete_range = [&](const std::string& begin, const std::string& end) {
    ASSERT_TRUE(db_->DeleteRange(WriteOptions(), begin, end).ok());
  };
  delete_range("key2", "key4");
  ASSERT_TRUE(db_->Flush(FlushOptions()).ok());
  delete_range("key6", "key8");
  model_.erase(model_.lower_bound("key2"), model_.lower_bound("key4"));
  model_.erase(model_.lower_bound("key6"), model_.lower_bound("key8"));
  ASSERT_TRUE(engine->CreateNewBackup(db_.get(), false).ok());
  delete_range("key", "l");
  CloseDb();
  ASSERT_TRUE(engine->RestoreDBFromLatestBackup(kDb, kDb).ok());
  OpenDb();
  EXPECT_EQ(Contents(), model_);
}

TEST_F(BackupEngineTest, TablesAreSharedAndGoWithTheLastBackupThatHasThem) {
  OpenDb();
  std::unique_ptr<BackupEngine> engine = OpenEngine();
  PutMany(100, "old");
  ASSERT_TRUE(engine->CreateNewBackup(db_.get(), true).ok());
  EXPECT_EQ(Names("shared_checksum").size(), 1U);
  Put("key5", "in the next table");
  ASSERT_TRUE(engine->CreateNewBackup(db_.get(), true).ok());
  EXPECT_EQ(Names("shared_checksum").size(), 2U);
  ASSERT_TRUE(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  engine.reset();
  engine = OpenEngine();
  BackupID id = 0;
  CreateBackupOptions options;
  int files = 0;
  options.progress_callback = [&files] { ++files; };
  ASSERT_TRUE(engine->CreateNewBackupWithMetadata(options, db_.get(), "for the audit", &id).ok());
  EXPECT_EQ(id, 3U);
  EXPECT_GT(files, 3);
  BackupInfo info;
  ASSERT_TRUE(engine->GetLatestBackupInfo(&info).ok());
  EXPECT_EQ(info.app_metadata, "for the audit");
  EXPECT_EQ(Names("shared_checksum").size(), 3U);
  ASSERT_TRUE(engine->DeleteBackup(1).ok());
  EXPECT_EQ(Names("shared_checksum").size(), 3U);
  ASSERT_TRUE(engine->PurgeOldBackups(1).ok());
  EXPECT_EQ(Names("shared_checksum").size(), 1U);
  EXPECT_EQ(Names("private").size(), 1U);
  EXPECT_TRUE(engine->DeleteBackup(1).IsNotFound());
  CloseDb();
  ASSERT_TRUE(engine->RestoreDBFromLatestBackup(kDb, kDb).ok());
  OpenDb();
  EXPECT_EQ(Contents(), model_);
  BackupEngineOptions anew(kBackups);
  anew.destroy_old_data = true;
  engine.reset();
  engine = OpenEngine(anew);
  EXPECT_TRUE(Names("meta").empty() && Names("shared_checksum").empty() &&
              Names("private").empty());
}

// The second backup shares a table that the first wrote without a sync, and must sync it.
TEST_F(BackupEngineTest, ABackupWithSyncIsDurableAfterOneWithout) {
  const auto disk = std::make_shared<CrashFileSystem>();
  const std::unique_ptr<Env> env = NewCompositeEnv(disk);
  options_.env = env.get();
  OpenDb();
  PutMany(100, "value");
  for (const bool sync : {false, true}) {
    BackupEngineOptions options(kBackups);
    options.sync = sync;
    BackupEngine* engine = nullptr;
    ASSERT_TRUE(BackupEngine::Open(options, env.get(), &engine).ok());
    const std::unique_ptr<BackupEngine> owned(engine);
    ASSERT_TRUE(engine->CreateNewBackup(db_.get(), true).ok());
  }
  CloseDb();
  const CrashImage cut =
      disk->MakeCrashImage(disk->OperationCount(), CrashKind::kDurableOnly, /*seed=*/1);
  const std::unique_ptr<Env> after = NewCompositeEnv(cut.file_system);
  BackupEngineReadOnly* engine = nullptr;
  ASSERT_TRUE(BackupEngineReadOnly::Open(BackupEngineOptions(kBackups), after.get(), &engine).ok());
  const std::unique_ptr<BackupEngineReadOnly> owned(engine);
  const Status verified = engine->VerifyBackup(2, /*verify_with_checksum=*/true);
  EXPECT_TRUE(verified.ok()) << verified.ToString();
  options_.env = env_.get();
}

// A table of another database may have the same number and size.
TEST_F(BackupEngineTest, DatabasesMayShareADirectory) {
  const std::unique_ptr<BackupEngine> engine = OpenEngine();
  std::vector<Model> models;
  for (const char* const value : {"first", "again"}) {
    model_.clear();
    OpenDb();
    PutMany(100, value);
    ASSERT_TRUE(engine->CreateNewBackup(db_.get(), true).ok());
    CloseDb();
    ASSERT_TRUE(DestroyDB(kDb, options_).ok());
    models.push_back(model_);
  }
  for (BackupID id = 1; id <= 2; ++id) {
    ASSERT_TRUE(engine->RestoreDBFromBackup(id, kDb, kDb).ok());
    OpenDb();
    EXPECT_EQ(Contents(), models[id - 1]);
    CloseDb();
  }
}

// A second engine opens between any two files that the first one copies. It must not delete the
// files that the first one is copying, because the first one would still report success.
TEST_F(BackupEngineTest, ASecondEngineOpensAndHarmsNoBackupInProgress) {
  OpenDb();
  PutMany(100, "value");
  std::unique_ptr<BackupEngine> engine = OpenEngine();
  ASSERT_TRUE(engine->CreateNewBackup(db_.get(), true).ok());
  PutMany(100, "newer");
  CreateBackupOptions options;
  options.flush_before_backup = true;
  int refused = 0;
  options.progress_callback = [&] {
    const std::unique_ptr<BackupEngine> second = OpenEngine();
    EXPECT_TRUE(second->VerifyBackup(1, true).ok());
    EXPECT_TRUE(second->CreateNewBackup(db_.get()).IsIOError());
    EXPECT_TRUE(second->DeleteBackup(1).IsIOError());
    EXPECT_TRUE(second->PurgeOldBackups(0).IsIOError());
    EXPECT_TRUE(second->GarbageCollect().IsIOError());
    BackupEngineOptions destroying(kBackups);
    destroying.destroy_old_data = true;
    BackupEngine* third = nullptr;
    EXPECT_TRUE(BackupEngine::Open(destroying, env_.get(), &third).IsIOError());
    ++refused;
  };
  ASSERT_TRUE(engine->CreateNewBackup(options, db_.get()).ok());
  EXPECT_GT(refused, 3);
  EXPECT_TRUE(engine->VerifyBackup(1, true).ok());
  EXPECT_TRUE(engine->VerifyBackup(2, true).ok());
  BackupEngineReadOnly* reader = nullptr;
  ASSERT_TRUE(BackupEngineReadOnly::Open(BackupEngineOptions(kBackups), env_.get(), &reader).ok());
  EXPECT_TRUE(reader->VerifyBackup(2, true).ok());
  delete reader;
}

TEST_F(BackupEngineTest, TwoEnginesTakeTurns) {
  OpenDb();
  const std::unique_ptr<BackupEngine> first = OpenEngine();
  const std::unique_ptr<BackupEngine> second = OpenEngine();
  BackupID id = 0;
  std::vector<Model> moments;
  for (const auto& [engine, expected] :
       {std::pair(first.get(), 1U), std::pair(second.get(), 2U), std::pair(first.get(), 3U)}) {
    PutMany(20, StrCat("value", expected));
    ASSERT_TRUE(engine->CreateNewBackup(CreateBackupOptions(), db_.get(), &id).ok());
    EXPECT_EQ(id, expected);
    moments.push_back(model_);
  }
  // The second engine deletes the third backup, although it has not listed it. A later backup uses
  // the number again.
  ASSERT_TRUE(second->DeleteBackup(3).ok());
  EXPECT_TRUE(first->VerifyBackup(3).IsNotFound());
  EXPECT_TRUE(first->RestoreDBFromBackup(3, "/copy", "/copy").IsNotFound());
  const std::unique_ptr<BackupEngine> third = OpenEngine();
  ASSERT_TRUE(
      third->CreateNewBackupWithMetadata(CreateBackupOptions(), db_.get(), "another", &id).ok());
  EXPECT_EQ(id, 3U);
  ASSERT_TRUE(first->CreateNewBackup(db_.get()).ok());
  BackupInfo info;
  ASSERT_TRUE(first->GetBackupInfo(3, &info).ok());
  EXPECT_EQ(info.app_metadata, "another");
  ASSERT_TRUE(second->PurgeOldBackups(3).ok());
  EXPECT_TRUE(first->VerifyBackup(1).IsNotFound());
  for (const BackupID left : {2U, 3U, 4U})
    EXPECT_TRUE(first->VerifyBackup(left, true).ok()) << left;
  CloseDb();
  ASSERT_TRUE(first->RestoreDBFromBackup(2, kDb, kDb).ok());
  OpenDb();
  EXPECT_EQ(Contents(), moments[1]);
}

TEST_F(BackupEngineTest, ManyBackupsAreRemovedWithOneSync) {
  OpenDb();
  const std::unique_ptr<BackupEngine> engine = OpenEngine();
  for (int i = 1; i <= 10; ++i) {
    Put("key", StrCat("value", i));
    ASSERT_TRUE(engine->CreateNewBackup(db_.get(), true).ok());
  }
  CloseDb();
  faults_->ResetCounts();
  ASSERT_TRUE(engine->PurgeOldBackups(2).ok());
  EXPECT_GE(faults_->CallCount(FaultOperation::kSyncDirectory), 1U);
  EXPECT_LE(faults_->CallCount(FaultOperation::kSyncDirectory), 4U);
  EXPECT_EQ(Names("meta").size(), 2U);
  ASSERT_TRUE(engine->RestoreDBFromLatestBackup(kDb, kDb).ok());
  OpenDb();
  EXPECT_EQ(Contents(), model_);
}

// With an incomplete list, a restore of the latest backup would restore an older one.
TEST_F(BackupEngineTest, AListThatCannotBeReadLeavesTheOneBefore) {
  OpenDb();
  const std::unique_ptr<BackupEngine> engine = OpenEngine();
  for (int i = 1; i <= 3; ++i) {
    Put("key", StrCat("value", i));
    ASSERT_TRUE(engine->CreateNewBackup(db_.get(), true).ok());
  }
  CloseDb();
  for (const BackupID id : {1U, 2U, 3U}) {
    for (const FaultOperation operation :
         {FaultOperation::kOpenForReading, FaultOperation::kRead}) {
      FaultRule rule;
      rule.operations = operation;
      rule.name_contains = StrCat("/meta/", id);
      rule.sticky = true;
      faults_->AddRule(rule);
      EXPECT_TRUE(engine->PurgeOldBackups(2).IsIOError()) << id;
      faults_->ClearRules();
    }
    std::vector<BackupInfo> infos;
    engine->GetBackupInfo(&infos);
    EXPECT_EQ(infos.size(), 3U) << id;
    ASSERT_TRUE(engine->RestoreDBFromLatestBackup(kDb, kDb).ok()) << id;
    OpenDb();
    EXPECT_EQ(Contents(), model_) << id;
    CloseDb();
  }
}

// Changes are serialized. Other calls see the state before or after a change.
TEST_F(BackupEngineTest, ThreadsShareAnEngine) {
  constexpr int kEach = 8;
  OpenDb();
  PutMany(20, "value");
  const std::unique_ptr<BackupEngine> engine = OpenEngine();
  ASSERT_TRUE(engine->CreateNewBackup(db_.get(), true).ok());
  std::atomic<int> made = 0;
  const auto make = [&] {
    for (int i = 0; i < kEach; ++i) {
      BackupID id = 0;
      const Status created = engine->CreateNewBackup(CreateBackupOptions(), db_.get(), &id);
      EXPECT_TRUE(created.ok()) << created.ToString();
      EXPECT_TRUE(engine->VerifyBackup(id, true).ok());
      ++made;
    }
  };
  const auto look = [&](const std::string& copy) {
    while (made < 2 * kEach) {
      std::vector<BackupInfo> infos;
      engine->GetBackupInfo(&infos);
      ASSERT_FALSE(infos.empty());
      std::vector<BackupID> corrupted;
      engine->GetCorruptedBackups(&corrupted);
      EXPECT_TRUE(corrupted.empty());
      EXPECT_TRUE(engine->VerifyBackup(infos.back().backup_id, true).ok());
      EXPECT_TRUE(engine->RestoreDBFromLatestBackup(copy, copy).ok());
    }
  };
  std::thread makers[] = {std::thread(make), std::thread(make)};
  std::thread lookers[] = {std::thread(look, "/copy1"), std::thread(look, "/copy2")};
  for (std::thread& thread : makers) thread.join();
  for (std::thread& thread : lookers) thread.join();
  std::vector<BackupInfo> infos;
  engine->GetBackupInfo(&infos);
  EXPECT_EQ(infos.size(), 1U + 2 * kEach);
}

// The second engine deletes the backup before each file system call of the first one in turn.
TEST_F(BackupEngineTest, ABackupThatIsDeletedWhileItIsReadIsNotFound) {
  OpenDb();
  PutMany(20, "value");
  const std::unique_ptr<BackupEngine> first = OpenEngine();
  const std::unique_ptr<BackupEngine> second = OpenEngine();
  const std::function<Status(BackupID)> reads[] = {
      [&](BackupID id) { return first->VerifyBackup(id, /*verify_with_checksum=*/true); },
      [&](BackupID id) { return first->RestoreDBFromBackup(id, "/copy", "/copy"); }};
  BackupID id = 0;
  for (const auto& read : reads) {
    uint64_t not_found = 0;
    for (uint64_t call = 1;; ++call) {
      ++id;
      ASSERT_TRUE(first->CreateNewBackup(db_.get(), true).ok());
      FaultRule rule;
      rule.path_begins_with = kBackups;
      rule.nth = call;
      Status status;
      const bool is_deleted = RunDuring(
          faults_.get(), rule,
          [&] {
            const Status deleted = second->DeleteBackup(id);
            EXPECT_TRUE(deleted.ok()) << deleted.ToString();
          },
          [&] { status = read(id); });
      EXPECT_TRUE(status.ok() || (is_deleted && status.IsNotFound()))
          << "before call " << call << ": " << status.ToString();
      if (!is_deleted) break;
      if (status.IsNotFound()) ++not_found;
    }
    EXPECT_GT(not_found, 5U);
  }
}

// With the old list, a restore of a backup of equal size would fail after it deletes the database.
TEST_F(BackupEngineTest, AnotherBackupWithTheNumberOfAListedOneIsNotTakenForIt) {
  const auto back_up = [this](const std::string& value) {
    OpenDb();
    Put("key", value);
    ASSERT_TRUE(OpenEngine()->CreateNewBackup(db_.get()).ok());
    CloseDb();
  };
  back_up("first");
  const std::unique_ptr<BackupEngine> engine = OpenEngine();
  ASSERT_TRUE(OpenEngine()->DeleteBackup(1).ok());
  ASSERT_TRUE(DestroyDB(kDb, options_).ok());
  back_up("other");
  const Status verified = engine->VerifyBackup(1, false);
  EXPECT_TRUE(verified.IsNotFound()) << verified.ToString();
  const Status restored = engine->RestoreDBFromBackup(1, kDb, kDb);
  EXPECT_TRUE(restored.IsNotFound()) << restored.ToString();
  OpenDb();
  EXPECT_EQ(Contents(), model_) << "nothing is replaced";
  EXPECT_TRUE(OpenEngine()->VerifyBackup(1, true).ok());
}

TEST_F(BackupEngineTest, LeftoversOfAnEngineThatWasAtWorkAreRemovedLater) {
  OpenDb();
  PutMany(10, "value");
  std::unique_ptr<vfs::FileLock> at_work;
  ASSERT_TRUE(OpenEngine()->CreateNewBackup(db_.get(), true).ok());
  ASSERT_TRUE(faults_->LockFile(StrCat(kBackups, "/LOCK"), &at_work).ok());
  const std::string unfinished = StrCat(kBackups, "/private/2");
  ASSERT_TRUE(env_->CreateDir(unfinished).ok());
  const std::unique_ptr<BackupEngine> engine = OpenEngine();
  EXPECT_TRUE(env_->FileExists(unfinished).ok());
  at_work.reset();
  ASSERT_TRUE(engine->GarbageCollect().ok());
  EXPECT_FALSE(env_->FileExists(unfinished).ok());
  EXPECT_TRUE(engine->VerifyBackup(1, true).ok());
}

TEST_F(BackupEngineTest, TheFolderMayBeAMountPointInAFileSystemWithoutSyncs) {
  FaultRule rule;
  rule.operations = FaultOperation::kSyncDirectory;
  rule.nth = 2;  // the parent's first sync, because opening it counts as a sync
  rule.error = Status::NotSupported("no sync of directories");
  faults_->AddRule(rule);
  EXPECT_NE(OpenEngine(), nullptr);
  EXPECT_EQ(faults_->FaultsInjected(), 1u);
}

// A restore must sync the directories that it makes, or a power cut loses all files in them.
TEST_F(BackupEngineTest, ARestoredDatabaseSurvivesAPowerCut) {
  const auto disk = std::make_shared<CrashFileSystem>();
  const std::unique_ptr<Env> env = NewCompositeEnv(disk);
  options_.env = env.get();
  OpenDb();
  PutMany(50, "in a table");
  ASSERT_TRUE(db_->Flush(FlushOptions()).ok());
  Put("logged", "value");
  BackupEngine* engine = nullptr;
  ASSERT_TRUE(BackupEngine::Open(BackupEngineOptions(kBackups), env.get(), &engine).ok());
  const std::unique_ptr<BackupEngine> owned(engine);
  ASSERT_TRUE(engine->CreateNewBackup(db_.get()).ok());
  CloseDb();
  for (const std::string wal_dir : {"/copy", "/wal"}) {
    SCOPED_TRACE(wal_dir);
    const std::string directory = wal_dir == "/copy" ? "/copy" : "/other";
    ASSERT_TRUE(engine->RestoreDBFromLatestBackup(directory, wal_dir).ok());
    const CrashImage cut =
        disk->MakeCrashImage(disk->OperationCount(), CrashKind::kDurableOnly, /*seed=*/1);
    const std::unique_ptr<Env> after = NewCompositeEnv(cut.file_system);
    Options options = options_;
    options.env = after.get();
    options.create_if_missing = false;
    options.wal_dir = wal_dir;
    const Status opened = DB::Open(options, directory, &db_);
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    EXPECT_EQ(Contents(), model_);
    CloseDb();
  }
  options_.env = env_.get();
}

// A directory that is passed by mistake may have folders with these names.
TEST_F(BackupEngineTest, FilesThatNoEngineMadeStay) {
  OpenDb();
  PutMany(10, "value");
  for (const char* const folder :
       {"", "/meta", "/shared", "/shared_checksum", "/private", "/private/9", "/private/2019"})
    ASSERT_TRUE(env_->CreateDir(StrCat(kBackups, folder)).ok()) << folder;
  const std::vector<std::string> foreign = {
      "meta/notes.tmp",     "shared/photo.jpg",        "shared/12",          "shared/12.tmp",
      "shared/letters.sst", "shared_checksum/1st.sst", "private/2019/diary", "private/list"};
  const std::vector<std::string> leftovers = {
      "meta/7.tmp",
      "meta/.8.tmp",
      "shared/000012.sst",
      "shared/.000013.sst.tmp",
      "shared_checksum/000014_5_6.sst",
      "shared_checksum/.000015_s5_6.blob.tmp",
      "private/9/CURRENT",
      "private/9/000016.log",
      "private/2019/MANIFEST-000005",
  };
  for (const std::vector<std::string>& names : {foreign, leftovers}) {
    for (const std::string& name : names) {
      const std::string path = StrCat(kBackups, "/", name);
      ASSERT_TRUE(WriteStringToFile(faults_.get(), "text", path, Durability::kSynced).ok());
    }
  }
  const std::unique_ptr<BackupEngine> engine = OpenEngine();
  ASSERT_TRUE(engine->CreateNewBackup(db_.get(), true).ok());
  ASSERT_TRUE(engine->DeleteBackup(1).ok());
  for (const std::string& name : foreign)
    EXPECT_TRUE(env_->FileExists(StrCat(kBackups, "/", name)).ok()) << name;
  for (const std::string& name : leftovers)
    EXPECT_FALSE(env_->FileExists(StrCat(kBackups, "/", name)).ok()) << name;
  EXPECT_FALSE(env_->FileExists(StrCat(kBackups, "/private/9")).ok());
}

TEST_F(BackupEngineTest, ARestoredDatabaseKeepsItsIdentity) {
  OpenDb();
  PutMany(10, "value");
  std::string identity;
  ASSERT_TRUE(db_->GetDbIdentity(identity).ok());
  const std::unique_ptr<BackupEngine> engine = OpenEngine();
  ASSERT_TRUE(engine->CreateNewBackup(db_.get()).ok());
  CloseDb();
  ASSERT_TRUE(engine->RestoreDBFromLatestBackup("/copy", "/copy").ok());
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(DB::Open(options_, "/copy", &db_).ok());
    std::string restored;
    ASSERT_TRUE(db_->GetDbIdentity(restored).ok());
    EXPECT_EQ(restored, identity);
    CloseDb();
    const Result<std::string> file = ReadFileToString(faults_.get(), "/copy/IDENTITY", 1000);
    ASSERT_TRUE(file.ok());
    EXPECT_EQ(*file, identity);
  }
}

// The OPTIONS file of a backup names the logs of the database that was backed up.
TEST_F(BackupEngineTest, TheOptionsOfARestoredDatabaseNameItsOwnLogs) {
  options_.wal_dir = "/wal";
  OpenDb();
  PutMany(10, "value");
  const std::unique_ptr<BackupEngine> engine = OpenEngine();
  ASSERT_TRUE(engine->CreateNewBackup(db_.get()).ok());
  PutMany(10, "newer");
  ConfigOptions config;
  config.env = env_.get();
  for (const std::string wal_dir : {"/copy", "/copied logs"}) {
    ASSERT_TRUE(engine->RestoreDBFromLatestBackup("/copy", wal_dir).ok());
    DBOptions loaded;
    std::vector<ColumnFamilyDescriptor> families;
    ASSERT_TRUE(LoadLatestOptions(config, "/copy", &loaded, &families).ok());
    EXPECT_EQ(loaded.wal_dir, wal_dir == "/copy" ? "" : wal_dir);
    std::vector<ColumnFamilyHandle*> handles;
    std::unique_ptr<DB> copy;
    ASSERT_TRUE(DB::Open(loaded, "/copy", families, &handles, &copy).ok());
    std::string value;
    ASSERT_TRUE(copy->Get(ReadOptions(), "key3", &value).ok());
    EXPECT_EQ(value, "value");
    for (ColumnFamilyHandle* handle : handles) delete handle;
    ASSERT_TRUE(copy->Close().ok());
  }
}

TEST_F(BackupEngineTest, DamageIsFoundAndNamed) {
  OpenDb();
  std::unique_ptr<BackupEngine> engine = OpenEngine();
  PutMany(100, "value");
  ASSERT_TRUE(engine->CreateNewBackup(db_.get(), true).ok());
  Put("more", "x");
  ASSERT_TRUE(engine->CreateNewBackup(db_.get(), false).ok());
  CloseDb();
  const std::string table = StrCat(kBackups, "/shared_checksum/", Names("shared_checksum").at(0));
  Damage(table);
  EXPECT_TRUE(engine->VerifyBackup(1, false).ok());
  const Status verified = engine->VerifyBackup(1, true);
  EXPECT_TRUE(verified.IsCorruption());
  EXPECT_NE(verified.ToString().find(table), std::string::npos);
  // No database is left that could be opened by mistake.
  EXPECT_TRUE(engine->RestoreDBFromBackup(1, kDb, kDb).IsCorruption());
  options_.create_if_missing = false;
  EXPECT_TRUE(DB::Open(options_, kDb, &db_).IsInvalidArgument());

  // A backup that lacks a file or has a damaged description is listed as damaged. It restores
  // nothing and changes nothing.
  ASSERT_TRUE(env_->DeleteFile(table).ok());
  engine.reset();
  engine = OpenEngine();
  std::vector<BackupID> corrupted;
  engine->GetCorruptedBackups(&corrupted);
  EXPECT_EQ(corrupted, (std::vector<BackupID>{1, 2}));
  EXPECT_TRUE(engine->RestoreDBFromBackup(1, kDb, kDb).IsCorruption());
  EXPECT_TRUE(engine->RestoreDBFromLatestBackup(kDb, kDb).IsNotFound());
  ASSERT_TRUE(engine->DeleteBackup(1).ok());
  ASSERT_TRUE(engine->DeleteBackup(2).ok());
  EXPECT_TRUE(Names("private").empty());
}

// An interrupted copy of the backup directory leaves a truncated table. Without the check, the
// restore would fail after it has deleted the database.
TEST_F(BackupEngineTest, ACutTableIsFoundBeforeADatabaseIsReplaced) {
  OpenDb();
  std::unique_ptr<BackupEngine> engine = OpenEngine();
  PutMany(100, "value");
  ASSERT_TRUE(engine->CreateNewBackup(db_.get(), true).ok());
  CloseDb();
  const std::string table = StrCat(kBackups, "/shared_checksum/", Names("shared_checksum").at(0));
  const Result<std::string> contents = ReadFileToString(faults_.get(), table, 1 << 30);
  ASSERT_TRUE(contents.ok());
  ASSERT_TRUE(faults_->Truncate(table, contents->size() / 2).ok());
  for (const bool anew : {false, true}) {
    if (anew) engine.reset();
    if (anew) engine = OpenEngine();
    const Status verified = engine->VerifyBackup(1, false);
    EXPECT_TRUE(verified.IsCorruption());
    EXPECT_NE(verified.ToString().find(table), std::string::npos) << verified.ToString();
    EXPECT_TRUE(engine->RestoreDBFromBackup(1, kDb, kDb).IsCorruption());
    OpenDb();
    EXPECT_EQ(Contents(), model_) << "nothing is replaced";
    CloseDb();
  }
  std::vector<BackupID> corrupted;
  engine->GetCorruptedBackups(&corrupted);
  EXPECT_EQ(corrupted, std::vector<BackupID>{1});
  // The next backup of the table repairs it.
  OpenDb();
  ASSERT_TRUE(engine->CreateNewBackup(db_.get()).ok());
  CloseDb();
  for (const BackupID id : {1U, 2U}) EXPECT_TRUE(OpenEngine()->VerifyBackup(id, true).ok());
}

// A backup without CURRENT cannot be restored.
TEST_F(BackupEngineTest, ADescriptionWithoutCurrentIsDamaged) {
  OpenDb();
  Put("key", "value");
  ASSERT_TRUE(OpenEngine()->CreateNewBackup(db_.get(), true).ok());
  const std::string path = StrCat(kBackups, "/meta/1");
  std::string text = ReadFileToString(faults_.get(), path, 1 << 20).value();
  const size_t begin = text.find("private/1/CURRENT");
  ASSERT_NE(begin, std::string::npos);
  // List another file twice, so that the number of files stays right.
  const size_t other = text.find("private/1/MANIFEST");
  ASSERT_NE(other, std::string::npos);
  const std::string manifest = text.substr(other, text.find('\n', other) - other);
  text.replace(begin, text.find('\n', begin) - begin, manifest);
  ASSERT_TRUE(WriteStringToFile(faults_.get(), text, path, Durability::kSynced).ok());
  const std::unique_ptr<BackupEngine> engine = OpenEngine();
  std::vector<BackupID> corrupted;
  engine->GetCorruptedBackups(&corrupted);
  EXPECT_EQ(corrupted, std::vector<BackupID>{1});
  EXPECT_FALSE(engine->VerifyBackup(1, true).ok());
  EXPECT_TRUE(engine->RestoreDBFromBackup(1, "/restored", "/restored").IsCorruption());
}

// A restore deletes the database before it writes CURRENT, so it must check CURRENT first.
TEST_F(BackupEngineTest, ACurrentThatNamesNoManifestIsFoundBeforeADatabaseIsReplaced) {
  OpenDb();
  std::unique_ptr<BackupEngine> engine = OpenEngine();
  Put("key", "value");
  ASSERT_TRUE(engine->CreateNewBackup(db_.get(), true).ok());
  CloseDb();
  const auto change = [&](const std::string& path, const std::string& before,
                          const std::string& after) {
    std::string text = ReadFileToString(faults_.get(), path, 1 << 20).value();
    const size_t at = text.find(before);
    ASSERT_NE(at, std::string::npos) << text;
    text.replace(at, before.size(), after);
    ASSERT_TRUE(WriteStringToFile(faults_.get(), text, path, Durability::kSynced).ok());
  };
  const auto expect_refused = [&] {
    const Status restored = engine->RestoreDBFromBackup(1, kDb, kDb);
    EXPECT_TRUE(restored.IsCorruption()) << restored.ToString();
    EXPECT_NE(restored.ToString().find("private/1/CURRENT"), std::string::npos)
        << restored.ToString();
    OpenDb();
    EXPECT_EQ(Contents(), model_) << "nothing is replaced";
    CloseDb();
  };
  // A changed digit, which the checksum reveals.
  const std::string current = StrCat(kBackups, "/private/1/CURRENT");
  change(current, "MANIFEST-0", "MANIFEST-9");
  expect_refused();
  change(current, "MANIFEST-9", "MANIFEST-0");
  // A description that does not list the MANIFEST.
  const std::string meta = StrCat(kBackups, "/meta/1");
  const std::string text = ReadFileToString(faults_.get(), meta, 1 << 20).value();
  const auto line = [&](const std::string& begin) {
    const size_t at = text.find(begin);
    return text.substr(at, text.find('\n', at) - at);
  };
  change(meta, line("private/1/MANIFEST"), line("private/1/OPTIONS"));
  engine = OpenEngine();
  expect_refused();
}

// Counts the bytes that it lets pass.
class CountingLimiter final : public RateLimiter {
 public:
  void Request(int64_t bytes, IORequestPriority /*priority*/) override { bytes_ += bytes; }
  void SetBytesPerSecond(int64_t /*bytes_per_second*/) override {}
  int64_t GetBytesPerSecond() const override { return 1; }
  int64_t GetSingleBurstBytes() const override { return 1; }
  int64_t GetTotalBytesThrough(IORequestPriority /*priority*/) const override { return bytes_; }
  int64_t GetTotalRequests(IORequestPriority /*priority*/) const override { return 0; }

 private:
  int64_t bytes_ = 0;
};

TEST_F(BackupEngineTest, RateLimitersSeeEachByteThatIsCopied) {
  OpenDb();
  PutMany(1000, std::string(100, 'v'));
  ASSERT_TRUE(db_->Flush(FlushOptions()).ok());
  BackupEngineOptions options(kBackups);
  options.backup_rate_limit = 1;  // the limiter overrides it
  options.backup_rate_limiter = std::make_shared<CountingLimiter>();
  options.restore_rate_limiter = std::make_shared<CountingLimiter>();
  const std::unique_ptr<BackupEngine> engine = OpenEngine(options);
  ASSERT_TRUE(engine->CreateNewBackup(db_.get()).ok());
  BackupInfo info;
  ASSERT_TRUE(engine->GetLatestBackupInfo(&info).ok());
  const auto bytes = static_cast<int64_t>(info.size);
  // CURRENT is written, not copied.
  EXPECT_LT(bytes - options.backup_rate_limiter->GetTotalBytesThrough(IO_TOTAL), 100);
  EXPECT_EQ(options.restore_rate_limiter->GetTotalBytesThrough(IO_TOTAL), 0);
  CloseDb();
  ASSERT_TRUE(engine->RestoreDBFromLatestBackup(kDb, kDb).ok());
  EXPECT_LT(bytes - options.restore_rate_limiter->GetTotalBytesThrough(IO_TOTAL), 100);
}

TEST_F(BackupEngineTest, TheModeOfALimiterDecidesWhetherReadsOrWritesWait) {
  OpenDb();
  PutMany(1000, std::string(100, 'v'));
  ASSERT_TRUE(db_->Flush(FlushOptions()).ok());
  const auto limited_bytes = [&](RateLimiter::Mode mode) {
    BackupEngineOptions options(kBackups);
    options.destroy_old_data = true;
    options.backup_rate_limiter.reset(NewGenericRateLimiter(int64_t{1} << 40, 100'000, 10, mode));
    const std::unique_ptr<BackupEngine> engine = OpenEngine(options);
    EXPECT_TRUE(engine->CreateNewBackup(db_.get()).ok());
    return options.backup_rate_limiter->GetTotalBytesThrough(IO_TOTAL);
  };
  const int64_t written = limited_bytes(RateLimiter::Mode::kWritesOnly);
  const int64_t read = limited_bytes(RateLimiter::Mode::kReadsOnly);
  EXPECT_GT(written, 0);
  EXPECT_EQ(read, written);
  EXPECT_EQ(limited_bytes(RateLimiter::Mode::kAllIo), read + written);
}

TEST_F(BackupEngineTest, AVerificationWaitsForTheLimiterOfBackups) {
  OpenDb();
  PutMany(100, std::string(100, 'v'));
  BackupEngineOptions options(kBackups);
  options.backup_rate_limiter.reset(
      NewGenericRateLimiter(int64_t{1} << 40, 100'000, 10, RateLimiter::Mode::kReadsOnly));
  const std::unique_ptr<BackupEngine> engine = OpenEngine(options);
  ASSERT_TRUE(engine->CreateNewBackup(db_.get(), true).ok());
  BackupInfo info;
  ASSERT_TRUE(engine->GetLatestBackupInfo(&info).ok());
  const int64_t before = options.backup_rate_limiter->GetTotalBytesThrough(IO_TOTAL);
  ASSERT_TRUE(engine->VerifyBackup(info.backup_id, /*verify_with_checksum=*/true).ok());
  EXPECT_EQ(options.backup_rate_limiter->GetTotalBytesThrough(IO_TOTAL) - before,
            static_cast<int64_t>(info.size));
}

TEST_F(BackupEngineTest, OptionsThatWouldChangeBackupsAreRefused) {
  OpenDb();
  Put("a", "1");
  BackupEngine* engine = nullptr;
  const auto open = [&](void (*change)(BackupEngineOptions*)) {
    BackupEngineOptions options(kBackups);
    change(&options);
    return BackupEngine::Open(options, env_.get(), &engine);
  };
  EXPECT_TRUE(open([](auto* o) { o->share_table_files = false; }).IsNotSupported());
  EXPECT_TRUE(open([](auto* o) { o->share_files_with_checksum = false; }).IsNotSupported());
  EXPECT_TRUE(open([](auto* o) { o->schema_version = 2; }).IsNotSupported());
  EXPECT_TRUE(open([](auto* o) {
                o->backup_rate_limiter.reset(NewGenericRateLimiter(0));
              }).IsInvalidArgument());
  EXPECT_TRUE(open([](auto* o) {
                o->restore_rate_limiter.reset(NewGenericRateLimiter(-1));
              }).IsInvalidArgument());
  const std::unique_ptr<BackupEngine> opened = OpenEngine();
  CreateBackupOptions create;
  create.atomic_flush = true;
  EXPECT_TRUE(opened->CreateNewBackup(create, db_.get()).IsNotSupported());
  create = CreateBackupOptions();
  create.exclude_files_callback = [](MaybeExcludeBackupFile*, MaybeExcludeBackupFile*) {};
  const Status excluding = opened->CreateNewBackup(create, db_.get());
  EXPECT_TRUE(excluding.IsNotSupported());
  EXPECT_NE(excluding.ToString().find("exclude_files_callback"), std::string::npos)
      << excluding.ToString();
  std::vector<BackupInfo> made;
  opened->GetBackupInfo(&made);
  EXPECT_TRUE(made.empty());
  ASSERT_TRUE(opened->CreateNewBackup(db_.get()).ok());
  CloseDb();
  const RestoreOptions keep(false, RestoreOptions::kVerifyChecksum);
  EXPECT_TRUE(opened->RestoreDBFromLatestBackup(keep, kDb, kDb).IsNotSupported());
  OpenDb();
  EXPECT_EQ(Contents(), model_) << "a refused restore changes nothing";
}

TEST_F(BackupEngineTest, AnOpenDatabaseIsNotReplaced) {
  OpenDb();
  PutMany(10, "value");
  const std::unique_ptr<BackupEngine> engine = OpenEngine();
  ASSERT_TRUE(engine->CreateNewBackup(db_.get()).ok());
  EXPECT_TRUE(engine->RestoreDBFromLatestBackup(kDb, kDb).IsIOError());
  EXPECT_EQ(Contents(), model_);
}

// The restore must not take the files of a backup for those of the database that it replaces.
TEST_F(BackupEngineTest, NothingIsRestoredIntoTheFoldersOfBackups) {
  OpenDb();
  PutMany(10, "value");
  const std::unique_ptr<BackupEngine> engine = OpenEngine();
  ASSERT_TRUE(engine->CreateNewBackup(db_.get()).ok());
  ASSERT_TRUE(engine->CreateNewBackup(db_.get()).ok());
  CloseDb();
  for (const char* const below :
       {"/private", "/private/1", "/private/2", "/private/1/", "/shared", "/shared_checksum"}) {
    const std::string folder = StrCat(kBackups, below);
    for (const std::string& db_dir : {folder, std::string(kDb)}) {
      const Status refused = engine->RestoreDBFromBackup(1, db_dir, folder);
      EXPECT_TRUE(refused.IsInvalidArgument()) << folder << ": " << refused.ToString();
    }
  }
  const std::string absent = StrCat(kBackups, "/private/3");
  EXPECT_TRUE(engine->RestoreDBFromBackup(1, absent, absent).IsInvalidArgument());
  EXPECT_TRUE(env_->FileExists(absent).IsNotFound());
  for (const BackupID id : {1U, 2U}) EXPECT_TRUE(engine->VerifyBackup(id, true).ok());
  OpenDb();
  EXPECT_EQ(Contents(), model_) << "a refused restore changes nothing";
  CloseDb();
  ASSERT_TRUE(engine->RestoreDBFromBackup(1, "/private", "/private").ok());
}

// Another path of the same file system, and the same path of another file system object.
TEST_F(BackupEngineTest, TheFoldersOfBackupsAreKnownByAnyPath) {
  OpenDb();
  PutMany(10, "value");
  BackupEngineOptions options(kBackups);
  const std::unique_ptr<BackupEngine> engine = OpenEngine(options);
  ASSERT_TRUE(engine->CreateNewBackup(db_.get()).ok());
  ASSERT_TRUE(engine->CreateNewBackup(db_.get()).ok());
  CloseDb();
  const std::unique_ptr<Env> same_files =
      NewCompositeEnv(std::make_shared<FaultFileSystem>(faults_));
  options.backup_env = same_files.get();
  const std::unique_ptr<BackupEngine> other_engine = OpenEngine(options);
  for (const char* const below : {"/private", "/private/1", "/private/2", "/shared_checksum"}) {
    const std::string folder = StrCat(kBackups, below);
    for (const auto& [with, path] :
         {std::pair(engine.get(), StrCat(kBackups, "/.", below)),
          std::pair(engine.get(), "/" + folder), std::pair(other_engine.get(), folder)}) {
      for (const std::string& db_dir : {path, std::string(kDb)}) {
        const Status refused = with->RestoreDBFromBackup(1, db_dir, path);
        EXPECT_TRUE(refused.IsInvalidArgument()) << path << ": " << refused.ToString();
        EXPECT_TRUE(env_->FileExists(folder + "/LOCK").IsNotFound()) << path;
      }
    }
  }
  for (const BackupID id : {1U, 2U}) EXPECT_TRUE(engine->VerifyBackup(id, true).ok());
  OpenDb();
  EXPECT_EQ(Contents(), model_) << "a refused restore changes nothing";
  CloseDb();
  // A lock file that nobody holds, as a killed process leaves it.
  ASSERT_TRUE(
      WriteStringToFile(faults_.get(), "", StrCat(kBackups, "/private/1/LOCK"), Durability::kSynced)
          .ok());
  ASSERT_TRUE(other_engine->RestoreDBFromBackup(1, "/other", "/other").ok());
}

TEST_F(BackupEngineTest, AStoppedBackupLeavesNothing) {
  OpenDb();
  PutMany(10, "value");
  std::unique_ptr<BackupEngine> engine = OpenEngine();
  CreateBackupOptions options;
  options.progress_callback = [&engine] { engine->StopBackup(); };
  EXPECT_TRUE(engine->CreateNewBackup(options, db_.get()).IsIncomplete());
  EXPECT_TRUE(Names("meta").empty() && Names("shared_checksum").empty() &&
              Names("private").empty());
  EXPECT_TRUE(engine->CreateNewBackup(db_.get()).IsIncomplete());
  engine.reset();
  engine = OpenEngine();
  EXPECT_TRUE(engine->CreateNewBackup(db_.get()).ok());
}

TEST_F(BackupEngineTest, AnExceptionOfTheCallbackEndsTheBackup) {
  OpenDb();
  PutMany(10, "value");
  const std::unique_ptr<BackupEngine> engine = OpenEngine();
  CreateBackupOptions options;
  options.progress_callback = [] { throw std::runtime_error("no"); };
  const Status ended = engine->CreateNewBackup(options, db_.get());
  EXPECT_TRUE(ended.IsAborted()) << ended.ToString();
  EXPECT_TRUE(Names("meta").empty() && Names("shared_checksum").empty() &&
              Names("private").empty());
  ASSERT_TRUE(engine->CreateNewBackup(db_.get()).ok());
  BackupInfo info;
  ASSERT_TRUE(engine->GetLatestBackupInfo(&info).ok());
  EXPECT_TRUE(engine->VerifyBackup(info.backup_id, true).ok());
}

TEST_F(BackupEngineTest, ADatabaseThatOnlyReadsIsBackedUp) {
  OpenDb();
  PutMany(10, "in a table");
  ASSERT_TRUE(db_->Flush(FlushOptions()).ok());
  Put("a", "in the log");
  CloseDb();
  ASSERT_TRUE(DB::OpenForReadOnly(options_, kDb, &db_).ok());
  const std::unique_ptr<BackupEngine> engine = OpenEngine();
  const Status created = engine->CreateNewBackup(db_.get(), /*flush_before_backup=*/true);
  ASSERT_TRUE(created.ok()) << created.ToString();
  CloseDb();
  ASSERT_TRUE(DestroyDB(kDb, options_).ok());
  ASSERT_TRUE(engine->RestoreDBFromLatestBackup(kDb, kDb).ok());
  OpenDb();
  EXPECT_EQ(Contents(), model_);
}

TEST_F(BackupEngineTest, MetadataHaveALimit) {
  OpenDb();
  Put("a", "1");
  const std::unique_ptr<BackupEngine> engine = OpenEngine();
  const std::string longest(1 << 20, '\xff');
  const CreateBackupOptions options;
  const Status refused = engine->CreateNewBackupWithMetadata(options, db_.get(), longest + "x");
  EXPECT_TRUE(refused.IsInvalidArgument()) << refused.ToString();
  EXPECT_TRUE(Names("meta").empty() && Names("private").empty());
  ASSERT_TRUE(engine->CreateNewBackupWithMetadata(options, db_.get(), longest).ok());
  BackupInfo info;
  ASSERT_TRUE(OpenEngine()->GetLatestBackupInfo(&info).ok());
  EXPECT_EQ(info.app_metadata, longest);
}

TEST_F(BackupEngineTest, LogsInAFolderOfTheirOwnAndKeptLogs) {
  options_.wal_dir = "/wal";
  OpenDb();
  Put("a", "logged");
  BackupEngineOptions without_logs(kBackups);
  without_logs.backup_log_files = false;
  const std::unique_ptr<BackupEngine> engine = OpenEngine(without_logs);
  ASSERT_TRUE(engine->CreateNewBackup(db_.get()).ok());
  Put("b", "logged later");
  CloseDb();
  // The logs on disk continue where the backup ends.
  ASSERT_TRUE(engine->RestoreDBFromLatestBackup(kDb, "/wal", RestoreOptions(true)).ok());
  OpenDb();
  EXPECT_EQ(Contents(), model_);
  CloseDb();
  ASSERT_TRUE(engine->RestoreDBFromLatestBackup(kDb, "/wal").ok());
  OpenDb();
  EXPECT_TRUE(Contents().empty());
}

// The restore must not delete the log that the open database writes to.
TEST_F(BackupEngineTest, ARestoreLeavesTheLogsOfADatabaseThatIsOpen) {
  options_.wal_dir = "/wal";
  OpenDb();
  Put("a", "in the backup");
  const std::unique_ptr<BackupEngine> engine = OpenEngine();
  ASSERT_TRUE(engine->CreateNewBackup(db_.get()).ok());
  Put("b", "later");
  const Status restored = engine->RestoreDBFromLatestBackup("/copy", "/wal");
  EXPECT_TRUE(restored.IsIOError()) << restored.ToString();
  EXPECT_EQ(restored.subcode(), Status::kFileLocked) << restored.ToString();
  CloseDb();
  OpenDb();
  EXPECT_EQ(Contents(), model_);
}

// The MANIFEST records a log of an earlier run as synced, but the backup has no logs.
TEST_F(BackupEngineTest, ABackupWithoutLogsMissesNone) {
  options_.avoid_flush_during_recovery = true;  // keeps the log
  BackupEngineOptions without_logs(kBackups);
  without_logs.backup_log_files = false;
  for (const bool tracks : {false, true}) {
    SCOPED_TRACE(tracks);
    options_.track_and_verify_wals_in_manifest = tracks;
    OpenDb();
    Put("a", "in a table");
    ASSERT_TRUE(db_->Flush(FlushOptions()).ok());
    const Model flushed = model_;
    Put("b", "in a log that Close syncs");
    CloseDb();
    OpenDb();
    EXPECT_EQ(Contents(), model_);
    const std::unique_ptr<BackupEngine> engine = OpenEngine(without_logs);
    BackupID id = 0;
    ASSERT_TRUE(engine->CreateNewBackup(CreateBackupOptions(), db_.get(), &id).ok());
    EXPECT_TRUE(engine->VerifyBackup(id, true).ok());
    CloseDb();
    ASSERT_TRUE(engine->RestoreDBFromLatestBackup(kDb, kDb).ok());
    const Status opened = DB::Open(options_, kDb, &db_);
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    EXPECT_EQ(Contents(), flushed);
    CloseDb();
    ASSERT_TRUE(DestroyDB(kDb, options_).ok());
    model_.clear();
  }
}

// The archive has a log between the backup and the live logs.
TEST_F(BackupEngineTest, KeptLogsAreThoseOfTheArchiveToo) {
  options_.WAL_ttl_seconds = 1000000;
  for (const std::string wal_dir : {kDb, "/wal"}) {
    SCOPED_TRACE(wal_dir);
    options_.wal_dir = wal_dir == kDb ? "" : wal_dir;
    OpenDb();
    Put("a", "in the backup");
    BackupEngineOptions without_logs(StrCat("/backups of ", wal_dir.substr(1)));
    without_logs.backup_log_files = false;
    const std::unique_ptr<BackupEngine> engine = OpenEngine(without_logs);
    ASSERT_TRUE(engine->CreateNewBackup(db_.get(), true).ok());
    Put("b", "archived");
    ASSERT_TRUE(db_->Flush(FlushOptions()).ok());
    Put("c", "in a live log");
    CloseDb();
    ASSERT_FALSE(ArchivedLogs(wal_dir).empty());
    ASSERT_TRUE(engine->RestoreDBFromLatestBackup(kDb, wal_dir, RestoreOptions(true)).ok());
    EXPECT_TRUE(ArchivedLogs(wal_dir).empty());
    OpenDb();
    EXPECT_EQ(Contents(), model_);
    CloseDb();
    ASSERT_TRUE(DestroyDB(kDb, options_).ok());
    model_.clear();
  }
}

// A stream of the restored database returns its own writes, but none that the restore undid.
TEST_F(BackupEngineTest, ArchivedLogsOfTheReplacedDatabaseAreDeleted) {
  options_.WAL_ttl_seconds = 1000000;
  OpenDb();
  Put("a", "in the backup");
  BackupEngineOptions without_logs(kBackups);
  without_logs.backup_log_files = false;
  const std::unique_ptr<BackupEngine> engine = OpenEngine(without_logs);
  ASSERT_TRUE(engine->CreateNewBackup(db_.get(), true).ok());
  const SequenceNumber sequence = db_->GetLatestSequenceNumber();
  for (int i = 0; i < 3; ++i) {
    Put("b", "undone");
    ASSERT_TRUE(db_->Flush(FlushOptions()).ok());
  }
  CloseDb();
  ASSERT_FALSE(ArchivedLogs(kDb).empty());
  ASSERT_TRUE(engine->RestoreDBFromLatestBackup(kDb, kDb).ok());
  EXPECT_TRUE(ArchivedLogs(kDb).empty());
  OpenDb();
  // The log numbers rise beyond those of the undone logs.
  for (int i = 0; i < 10; ++i) {
    Put("c", "new");
    if (i >= 4) {
      ASSERT_TRUE(db_->Flush(FlushOptions()).ok());
    }
  }
  std::unique_ptr<TransactionLogIterator> it;
  ASSERT_TRUE(db_->GetUpdatesSince(sequence + 1, &it).ok());
  int batches = 0;
  for (; it->Valid(); it->Next(), ++batches) {
    const std::string batch = it->GetBatch().writeBatchPtr->Data();
    EXPECT_EQ(batch.find("undone"), std::string::npos) << "batch " << batches;
  }
  EXPECT_TRUE(it->status().ok()) << it->status().ToString();
  EXPECT_EQ(batches, 10);
}

// The replaced database has its logs in its own directory, not in the given one.
TEST_F(BackupEngineTest, LogsOfTheReplacedDatabaseAreDeletedWhereverTheyAre) {
  OpenDb();
  Put("a", "in the backup");
  const std::unique_ptr<BackupEngine> engine = OpenEngine();
  ASSERT_TRUE(engine->CreateNewBackup(db_.get(), true).ok());
  const Model backed_up = model_;
  Put("b", "undone");
  CloseDb();
  ASSERT_TRUE(engine->RestoreDBFromLatestBackup(kDb, "/wal").ok());
  OpenDb();
  EXPECT_EQ(Contents(), backed_up);
}

TEST_F(BackupEngineTest, AfterTheLargestNumberNoBackupIsMade) {
  OpenDb();
  PutMany(10, "value");
  std::unique_ptr<BackupEngine> engine = OpenEngine();
  const std::string largest = StrCat(kBackups, "/meta/", UINT32_MAX);
  ASSERT_TRUE(WriteStringToFile(faults_.get(), "no backup", largest, Durability::kBuffered).ok());
  const Status refused = engine->CreateNewBackup(db_.get());
  EXPECT_TRUE(refused.IsNotSupported()) << refused.ToString();
  EXPECT_TRUE(Names("private").empty());
  ASSERT_TRUE(engine->DeleteBackup(UINT32_MAX).ok());
  engine = OpenEngine();
  ASSERT_TRUE(engine->CreateNewBackup(db_.get()).ok());
  engine = OpenEngine();
  EXPECT_TRUE(engine->VerifyBackup(1, true).ok());
}

// Between any two files that a backup copies, a batch is written to two families, and one of the
// two families is flushed.
TEST_F(BackupEngineTest, WritesBetweenTwoFilesTearNoBatch) {
  OpenDb();
  ColumnFamilyHandle* other = nullptr;
  ASSERT_TRUE(db_->CreateColumnFamily(ColumnFamilyOptions(options_), "other", &other).ok());
  int batches = 0;
  const auto write = [&] {
    WriteBatch batch;
    const std::string key = StrCat("key", batches++);
    ASSERT_TRUE(batch.Put(key, "x").ok() && batch.Put(other, key, "x").ok() &&
                db_->Write(WriteOptions(), &batch).ok());
    ASSERT_TRUE(
        db_->Flush(FlushOptions(), batches % 2 == 0 ? other : db_->DefaultColumnFamily()).ok());
  };
  write();
  write();
  CreateBackupOptions options;
  options.progress_callback = write;
  const std::unique_ptr<BackupEngine> engine = OpenEngine();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(engine->CreateNewBackup(options, db_.get()).ok());
  delete other;
  CloseDb();
  for (BackupID id = 1; id <= 3; ++id) {
    ASSERT_TRUE(engine->RestoreDBFromBackup(id, kDb, kDb).ok());
    std::vector<ColumnFamilyHandle*> handles;
    const std::vector<ColumnFamilyDescriptor> families = {
        {"default", ColumnFamilyOptions(options_)}, {"other", ColumnFamilyOptions(options_)}};
    const Status opened = DB::Open(DBOptions(options_), kDb, families, &handles, &db_);
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    for (int i = 0; i < batches; ++i) {
      std::string value;
      const bool in_default = db_->Get(ReadOptions(), handles[0], StrCat("key", i), &value).ok();
      const bool in_other = db_->Get(ReadOptions(), handles[1], StrCat("key", i), &value).ok();
      EXPECT_EQ(in_default, in_other) << "backup " << id << ", batch " << i;
      if (i < 2) {
        EXPECT_TRUE(in_default);
      }
    }
    for (ColumnFamilyHandle* const handle : handles) delete handle;
    CloseDb();
  }
}

// Two concurrent flush calls may leave a log whose start no flush records, because the first call
// has switched the memtable when the second one leads. Recovery then looks for the previous log,
// although no memtable needs it any more.
TEST_F(BackupEngineTest, ALogThatOnlyTheManifestNeedsIsPartOfIt) {
  OpenDb();
  Put("a", "1");
  ASSERT_TRUE(db_->Flush(FlushOptions()).ok());
  {
    LsmCore* const core = static_cast<LsmDB*>(db_.get())->core();
    std::vector<std::shared_ptr<ColumnFamily>> families;
    {
      MutexLock lock(core->state->mutex());
      families = core->state->LiveFamilies();
    }
    ASSERT_TRUE(core->commit.SwitchMemTables(families, FlushReason::kManualFlush).ok());
  }
  Put("b", "2");
  const std::unique_ptr<BackupEngine> engine = OpenEngine();
  ASSERT_TRUE(engine->CreateNewBackup(db_.get(), false).ok());
  CloseDb();
  ASSERT_TRUE(engine->RestoreDBFromLatestBackup(kDb, kDb).ok());
  const Status opened = DB::Open(options_, kDb, &db_);
  ASSERT_TRUE(opened.ok()) << opened.ToString();
  EXPECT_EQ(Contents(), model_);
}

TEST_F(BackupEngineTest, BackupsUnderWritesAreConsistent) {
  options_.write_buffer_size = 64 << 10;
  OpenDb();
  ColumnFamilyHandle* other = nullptr;
  ASSERT_TRUE(db_->CreateColumnFamily(ColumnFamilyOptions(options_), "other", &other).ok());
  std::atomic<int> written = 0;
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (int i = 0; !stop.load() && i < 200000; ++i) {
      WriteBatch batch;
      const std::string key = StrCat(i % 1000);
      const std::string value = StrCat(i, std::string(static_cast<size_t>(i % 50), 'x'));
      if (!batch.Put(key, value).ok() || !batch.Put(other, key, value).ok() ||
          !db_->Write(WriteOptions(), &batch).ok())
        break;
      written.store(i + 1);
      if (i % 500 == 0 &&
          !db_->Flush(FlushOptions(), i % 1000 == 0 ? other : db_->DefaultColumnFamily()).ok())
        break;
    }
  });
  const std::unique_ptr<BackupEngine> engine = OpenEngine();
  std::vector<int> before;
  for (int i = 0; i < 8; ++i) {
    const int target = written.load() + 300;
    while (written.load() < target) std::this_thread::yield();
    before.push_back(written.load());
    const Status created = engine->CreateNewBackup(db_.get());
    EXPECT_TRUE(created.ok()) << created.ToString();
  }
  stop.store(true);
  writer.join();
  delete other;
  CloseDb();
  for (BackupID id = 1; id <= before.size(); ++id) {
    const Status restored = engine->RestoreDBFromBackup(id, kDb, kDb);
    ASSERT_TRUE(restored.ok()) << restored.ToString();
    std::vector<ColumnFamilyHandle*> handles;
    const std::vector<ColumnFamilyDescriptor> families = {
        {"default", ColumnFamilyOptions(options_)}, {"other", ColumnFamilyOptions(options_)}};
    const Status opened = DB::Open(DBOptions(options_), kDb, families, &handles, &db_);
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    int newest = -1;
    {
      const std::unique_ptr<Iterator> a(db_->NewIterator(ReadOptions(), handles[0]));
      const std::unique_ptr<Iterator> b(db_->NewIterator(ReadOptions(), handles[1]));
      for (a->SeekToFirst(), b->SeekToFirst(); a->Valid() && b->Valid(); a->Next(), b->Next()) {
        ASSERT_EQ(a->key(), b->key());
        ASSERT_EQ(a->value(), b->value());
        newest = std::max(newest, std::stoi(a->value().ToString()));
      }
      EXPECT_EQ(a->Valid(), b->Valid());
    }
    EXPECT_GE(newest + 1, before[id - 1]) << "what was written before the call is in the backup";
    for (ColumnFamilyHandle* const handle : handles) delete handle;
    CloseDb();
  }
}

// If any call fails, the earlier backup stays valid, the database stays open and the next backup
// succeeds.
TEST_F(BackupEngineTest, AFailureAnywhereLeavesTheOtherBackups) {
  OpenDb();
  PutMany(50, "value");
  ASSERT_TRUE(OpenEngine()->CreateNewBackup(db_.get(), true).ok());
  Put("more", "x");
  FaultRule rule;
  rule.name_contains = kBackups;
  rule.operations = FaultOperation::kAny;
  const auto attempt = [&] {
    BackupEngine* opened = nullptr;
    Status status = BackupEngine::Open(BackupEngineOptions(kBackups), env_.get(), &opened);
    const std::unique_ptr<BackupEngine> engine(opened);
    if (status.ok()) status = engine->CreateNewBackup(db_.get(), false);
    EXPECT_TRUE(status.ok() || faults_->FaultsInjected() > 0) << status.ToString();
  };
  const auto check = [&] {
    const std::unique_ptr<BackupEngine> engine = OpenEngine();
    ASSERT_TRUE(engine->VerifyBackup(1, true).ok());
    std::vector<BackupInfo> infos;
    engine->GetBackupInfo(&infos);
    for (const BackupInfo& info : infos)
      ASSERT_TRUE(engine->VerifyBackup(info.backup_id, true).ok());
    BackupID id = 0;
    ASSERT_TRUE(engine->CreateNewBackup(CreateBackupOptions(), db_.get(), &id).ok());
    ASSERT_TRUE(engine->VerifyBackup(id, true).ok());
    ASSERT_TRUE(engine->RestoreDBFromBackup(id, "/copy", "/copy").ok());
    for (const BackupInfo& info : infos) {
      if (info.backup_id != 1) {
        ASSERT_TRUE(engine->DeleteBackup(info.backup_id).ok());
      }
    }
    ASSERT_TRUE(engine->DeleteBackup(id).ok());
    std::vector<BackupID> corrupted;
    engine->GetCorruptedBackups(&corrupted);
    EXPECT_TRUE(corrupted.empty());
  };
  for (const bool sticky : {false, true}) {
    rule.sticky = sticky;
    SweepFaults(faults_.get(), rule, attempt, check);
  }
  EXPECT_EQ(Contents(), model_);
}

TEST_F(BackupEngineTest, ABackupOfWhichNothingIsKnownKeepsItsFiles) {
  OpenDb();
  PutMany(50, "value");
  const std::unique_ptr<BackupEngine> engine = OpenEngine();
  FaultRule rule;  // the description is renamed into place, but is then not found
  rule.operations = FaultOperation::kSyncDirectory;
  rule.name_contains = "/meta";
  faults_->AddRule(rule);
  rule.operations = FaultOperation::kInspect;
  rule.name_contains = "/meta/1";
  faults_->AddRule(rule);
  EXPECT_TRUE(engine->CreateNewBackup(db_.get(), true).IsIOError());
  EXPECT_EQ(faults_->FaultsInjected(), 2U);
  faults_->ClearRules();
  EXPECT_TRUE(OpenEngine()->VerifyBackup(1, true).ok());
  // The next change lists the backups again.
  EXPECT_TRUE(engine->GarbageCollect().ok());
  EXPECT_TRUE(engine->VerifyBackup(1, true).ok());
}

// A short read, as from a truncated file, is an error for every kind of file.
TEST_F(BackupEngineTest, AFileThatEndsEarlyIsNotBackedUp) {
  OpenDb();
  PutMany(50, "in a table");
  ASSERT_TRUE(db_->Flush(FlushOptions()).ok());
  PutMany(5, "in the log");
  const std::unique_ptr<BackupEngine> engine = OpenEngine();
  for (const char* const file : {".sst", ".log", "MANIFEST-", "OPTIONS-"}) {
    SCOPED_TRACE(file);
    FaultRule rule;
    rule.operations = FaultOperation::kRead;
    rule.effect = FaultEffect::kShortRead;
    rule.sticky = true;
    rule.name_contains = file;
    faults_->AddRule(rule);
    const Status created = engine->CreateNewBackup(db_.get());
    faults_->ClearRules();
    EXPECT_TRUE(created.IsCorruption()) << created.ToString();
    EXPECT_NE(created.ToString().find("ends at "), std::string::npos) << created.ToString();
  }
  BackupID id = 0;
  ASSERT_TRUE(engine->CreateNewBackup(CreateBackupOptions(), db_.get(), &id).ok());
  EXPECT_TRUE(engine->VerifyBackup(id, true).ok());
}

TEST_F(BackupEngineTest, ReadingChangesNothing) {
  BackupEngineReadOnly* reader = nullptr;
  ASSERT_TRUE(BackupEngineReadOnly::Open(BackupEngineOptions(kBackups), env_.get(), &reader).ok());
  std::unique_ptr<BackupEngineReadOnly> owned(reader);
  std::vector<BackupInfo> infos;
  reader->GetBackupInfo(&infos);
  EXPECT_TRUE(infos.empty());
  EXPECT_FALSE(env_->FileExists(kBackups).ok());
  OpenDb();
  PutMany(10, "value");
  ASSERT_TRUE(OpenEngine()->CreateNewBackup(db_.get()).ok());
  CloseDb();
  ASSERT_TRUE(BackupEngineReadOnly::Open(env_.get(), BackupEngineOptions(kBackups), &reader).ok());
  owned.reset(reader);
  ASSERT_TRUE(reader->RestoreDBFromLatestBackup(kDb, kDb).ok());
  OpenDb();
  EXPECT_EQ(Contents(), model_);
}

// max_valid_backups_to_open limits what a reader lists, and a reader refuses destroy_old_data.
TEST_F(BackupEngineTest, AReaderShowsTheNewestBackupsAndDeletesNone) {
  OpenDb();
  {
    const std::unique_ptr<BackupEngine> engine = OpenEngine();
    for (int i = 0; i < 4; ++i) {
      Put("key", std::to_string(i));
      ASSERT_TRUE(engine->CreateNewBackup(db_.get()).ok());
    }
  }
  ASSERT_TRUE(
      WriteStringToFile(faults_.get(), "damaged", StrCat(kBackups, "/meta/4"), Durability::kSynced)
          .ok());
  BackupEngineOptions options(kBackups);
  for (const auto& [most, shown] : std::vector<std::pair<int, std::vector<BackupID>>>{
           {0, {}}, {1, {3}}, {2, {2, 3}}, {3, {1, 2, 3}}, {INT_MAX, {1, 2, 3}}}) {
    options.max_valid_backups_to_open = most;
    BackupEngineReadOnly* opened = nullptr;
    ASSERT_TRUE(BackupEngineReadOnly::Open(options, env_.get(), &opened).ok());
    const std::unique_ptr<BackupEngineReadOnly> reader(opened);
    std::vector<BackupInfo> infos;
    reader->GetBackupInfo(&infos);
    std::vector<BackupID> ids;
    for (const BackupInfo& info : infos) ids.push_back(info.backup_id);
    EXPECT_EQ(ids, shown) << most;
    std::vector<BackupID> damaged;
    reader->GetCorruptedBackups(&damaged);
    EXPECT_EQ(damaged, std::vector<BackupID>{4}) << most;
  }
  options.max_valid_backups_to_open = 1;
  BackupEngine* writer = nullptr;
  ASSERT_TRUE(BackupEngine::Open(options, env_.get(), &writer).ok());
  std::vector<BackupInfo> infos;
  writer->GetBackupInfo(&infos);
  EXPECT_EQ(infos.size(), 3u) << "files of all of them are still needed";
  delete writer;

  options.destroy_old_data = true;
  BackupEngineReadOnly* opened = nullptr;
  EXPECT_TRUE(BackupEngineReadOnly::Open(options, env_.get(), &opened).IsInvalidArgument());
  EXPECT_EQ(opened, nullptr);
  EXPECT_EQ(Names("meta").size(), 4u);
}

}  // namespace
}  // namespace ashlar
