// Allocation failure in the calls of BackupEngine, SstFileWriter and SstFileReader. The call in
// which it occurs returns MemoryLimit. An engine keeps its list of backups, and a writer never
// completes a file that lacks an entry.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/backup_engine.h"
#include "ashlar/db.h"
#include "ashlar/sst_file_reader.h"
#include "ashlar/sst_file_writer.h"
#include "base/format.h"
#include "filesystem/memory_file_system.h"
#include "tests/out_of_memory/failing_new.h"
#include "tests/support/manual_env.h"
#include "tests/support/open_database.h"

namespace ashlar {
namespace {

class FilesAllocationFailure : public ::testing::TestWithParam<FailingNew::Kind> {
 protected:
  // Calls `attempt`, which calls Arm, repeatedly. Each time a later allocation fails, until none
  // does.
  void Sweep(uint64_t attempts_min, const std::function<void()>& attempt) {
    uint64_t number = 1;
    for (bool failed = true; failed && !HasFailure(); ++number) {
      SCOPED_TRACE(StrCat("allocation ", number));
      fails_at_ = number;
      attempt();
      failed = FailingNew::HasFailed();
      FailingNew::Arm(0, GetParam());
    }
    EXPECT_GT(number, attempts_min);
  }
  void Arm() const { FailingNew::Arm(fails_at_, GetParam()); }

 private:
  uint64_t fails_at_ = 0;
};

struct EngineCall {
  const char* name;
  std::function<Status(BackupEngine*, DB*)> run;
};

const EngineCall kEngineCalls[] = {
    {"CreateNewBackup", [](BackupEngine* engine, DB* db) { return engine->CreateNewBackup(db); }},
    {"PurgeOldBackups", [](BackupEngine* engine, DB*) { return engine->PurgeOldBackups(2); }},
    {"DeleteBackup", [](BackupEngine* engine, DB*) { return engine->DeleteBackup(1); }},
    {"GarbageCollect", [](BackupEngine* engine, DB*) { return engine->GarbageCollect(); }},
    {"VerifyBackup", [](BackupEngine* engine, DB*) { return engine->VerifyBackup(2, true); }},
    {"GetLatestBackupInfo",
     [](BackupEngine* engine, DB*) {
       BackupInfo info;
       return engine->GetLatestBackupInfo(&info);
     }},
    {"RestoreDBFromLatestBackup",
     [](BackupEngine* engine, DB*) {
       return engine->RestoreDBFromLatestBackup("/restored", "/restored");
     }},
};

// The engine in which an allocation failed restores the latest backup, not an older one.
TEST_P(FilesAllocationFailure, OfABackupEngineForgetsNoBackup) {
  for (const EngineCall& call : kEngineCalls) {
    SCOPED_TRACE(call.name);
    Sweep(/*attempts_min=*/1, [&] {
      ManualEnv env(std::make_shared<MemoryFileSystem>(), /*seed=*/7);
      Options options = SmallDatabaseOptions();
      options.env = &env;
      std::unique_ptr<DB> db;
      ASSERT_TRUE(DB::Open(options, "/db", &db).ok());
      BackupEngine* opened = nullptr;
      ASSERT_TRUE(BackupEngine::Open(&env, BackupEngineOptions("/backups"), &opened).ok());
      const std::unique_ptr<BackupEngine> engine(opened);
      for (int i = 1; i <= 3; ++i) {
        ASSERT_TRUE(db->Put(WriteOptions(), "key", StrCat(i)).ok());
        ASSERT_TRUE(engine->CreateNewBackup(db.get(), true).ok());
      }
      Arm();
      const Status status = Call(call.name, [&] { return call.run(engine.get(), db.get()); });
      EXPECT_TRUE(status.ok() || FailingNew::HasFailed()) << status.ToString();
      ASSERT_TRUE(engine->RestoreDBFromLatestBackup("/copy", "/copy").ok());
      ASSERT_TRUE(db->Close().ok());
      ASSERT_TRUE(DB::Open(options, "/copy", &db).ok());
      std::string found;
      ASSERT_TRUE(db->Get(ReadOptions(), "key", &found).ok());
      EXPECT_EQ(found, "3");
      for (const BackupID id : {2U, 3U}) EXPECT_TRUE(engine->VerifyBackup(id, true).ok()) << id;
      ASSERT_TRUE(db->Close().ok());
    });
  }
}

TEST_P(FilesAllocationFailure, OfAnSstFileWriterIsItsLastCall) {
  Sweep(/*attempts_min=*/20, [&] {
    ManualEnv env(std::make_shared<MemoryFileSystem>(), /*seed=*/7);
    Options options = SmallDatabaseOptions();
    options.env = &env;
    SstFileWriter writer(EnvOptions(), options);
    ASSERT_TRUE(writer.Open("/table").ok());
    Arm();
    bool has_failed = false;
    const std::string value(200, 'v');
    for (int i = 0; i < 40; ++i) {
      const std::string key = StrCat("a key that is too long for its own object ", 10 + i);
      const Status status = Call("Put", [&] { return writer.Put(key, value); });
      EXPECT_FALSE(has_failed && status.ok()) << "a writer goes on after entry " << i;
      has_failed = has_failed || !status.ok();
    }
    const Status finished = Call("Finish", [&] { return writer.Finish(); });
    EXPECT_FALSE(has_failed && finished.ok());
    // A deletion also allocates memory.
    const bool may_stay = finished.ok() || GetParam() == FailingNew::Kind::kUntilEnds;
    const bool exists = env.FileExists("/table").ok();
    EXPECT_TRUE(exists ? may_stay : !finished.ok()) << finished.ToString();
  });
}

TEST_P(FilesAllocationFailure, OfAnSstFileReaderIsAStatus) {
  ManualEnv env(std::make_shared<MemoryFileSystem>(), /*seed=*/7);
  Options options = SmallDatabaseOptions();
  options.env = &env;
  SstFileWriter writer(EnvOptions(), options);
  ASSERT_TRUE(writer.Open("/table").ok());
  for (int i = 0; i < 40; ++i)
    ASSERT_TRUE(writer.Put(StrCat("key", 10 + i), std::string(200, 'v')).ok());
  ASSERT_TRUE(writer.Finish().ok());
  Sweep(/*attempts_min=*/5, [&] {
    SstFileReader reader(options);
    ASSERT_TRUE(reader.Open("/table").ok());
    Arm();
    int entries = 0;
    const Status walked = Call("NewTableIterator", [&] {
      const std::unique_ptr<Iterator> it = reader.NewTableIterator();
      if (it == nullptr) return Status::MemoryLimit();
      for (it->SeekToFirst(); it->Valid(); it->Next()) ++entries;
      return it->status();
    });
    EXPECT_TRUE(walked.ok() ? entries == 40 : walked.IsMemoryLimit()) << walked.ToString();
    std::string value;
    const Status found = Call("Get", [&] { return reader.Get(ReadOptions(), "key11", &value); });
    EXPECT_TRUE(found.ok() ? value.size() == 200 : found.IsMemoryLimit()) << found.ToString();
  });
}

INSTANTIATE_TEST_SUITE_P(Once, FilesAllocationFailure, ::testing::Values(FailingNew::Kind::kOnce));
INSTANTIATE_TEST_SUITE_P(UntilTheCallEnds, FilesAllocationFailure,
                         ::testing::Values(FailingNew::Kind::kUntilEnds));

}  // namespace
}  // namespace ashlar
