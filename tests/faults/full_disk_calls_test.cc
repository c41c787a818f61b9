// A disk that fills up, or fails, during a call that creates, copies or repairs the files of a
// database. The old state stays readable, no partial result is left at the destination, and the
// same call succeeds once there is space.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/backup_engine.h"
#include "ashlar/checkpoint.h"
#include "ashlar/repair.h"
#include "ashlar/sst_file_writer.h"
#include "tests/faults/file_call.h"

namespace ashlar {
namespace {

class CallWithTables : public FileCall {
 public:
  void Prepare() override {
    ASSERT_OK(database_->Open());
    before_ = {{kDefaultColumnFamilyName, {}}};
    for (const char* const key : {"a", "b", "c"}) {
      Put(key, std::string(2000, key[0]));
      ASSERT_OK(database_->Flush(database_->families(), true));
    }
    Put("b", "newer, in the log");
    after_ = before_;
  }

 protected:
  void Put(const std::string& key, const std::string& value) {
    Write({{.kind = Change::Kind::kPut,
            .family = kDefaultColumnFamilyName,
            .key = key,
            .value = value}});
  }
  std::unique_ptr<Checkpoint> NewCheckpoint() {
    Checkpoint* made = nullptr;
    EXPECT_OK(Checkpoint::Create(database_->db(), &made));
    return std::unique_ptr<Checkpoint>(made);
  }
  // Expects the database in another folder to have the same default family as this one.
  void ExpectCopy(const std::string& path) {
    Options options = SmallDatabaseOptions();
    ManualEnv env(disk_, 3);
    options.env = &env;
    std::unique_ptr<DB> copy;
    ASSERT_OK(DB::OpenForReadOnly(options, path, &copy));
    FamilyContents found;
    {
      const std::unique_ptr<Iterator> it(copy->NewIterator(ReadOptions()));
      for (it->SeekToFirst(); it->Valid(); it->Next())
        found[it->key().ToString()] = it->value().ToString();
      EXPECT_OK(it->status());
    }
    EXPECT_EQ(found, before_.at(kDefaultColumnFamilyName));
    EXPECT_OK(copy->VerifyChecksum());
  }
};

class CheckpointCall final : public CallWithTables {
 public:
  explicit CheckpointCall(uint64_t log_size_for_flush) : log_size_(log_size_for_flush) {}
  Status Run() override { return NewCheckpoint()->CreateCheckpoint("/copy", log_size_); }
  void CheckAfterError() override {
    EXPECT_FALSE(disk_->FileExists("/copy").ok());
    EXPECT_FALSE(disk_->FileExists("/copy.checkpoint-tmp").ok());
    FileCall::CheckAfterError();
  }
  void ExpectAll() override {
    FileCall::ExpectAll();
    ExpectCopy("/copy");
  }

 private:
  const uint64_t log_size_;
};

class ExportCall final : public CallWithTables {
 public:
  Status Run() override {
    ExportImportFilesMetaData* made = nullptr;
    const Status status = NewCheckpoint()->ExportColumnFamily(nullptr, "/exported", &made);
    exported_.reset(made);
    EXPECT_EQ(status.ok(), made != nullptr);
    return status;
  }
  void CheckAfterError() override {
    EXPECT_FALSE(disk_->FileExists("/exported").ok());
    FileCall::CheckAfterError();
  }
  void ExpectAll() override {
    FileCall::ExpectAll();
    for (const LiveFileMetaData& file : exported_->files)
      EXPECT_OK(disk_->FileExists("/exported" + file.name));
  }

 private:
  std::unique_ptr<ExportImportFilesMetaData> exported_;
};

// The keys are deleted before their space is freed, and an error may occur in between.
class ClipCall final : public CallWithTables {
 public:
  void Prepare() override {
    CallWithTables::Prepare();
    after_[kDefaultColumnFamilyName].erase("a");
  }
  Status Run() override {
    return database_->db()->ClipColumnFamily(database_->family(kDefaultColumnFamilyName), "b", "d");
  }
  void CheckAfterError() override {
    ExpectEither();
    ASSERT_OK(database_->db()->Resume());
    ExpectEither();
  }
};

class BackupCall final : public CallWithTables {
 public:
  Status Run() override {
    Result<std::unique_ptr<BackupEngine>> engine = OpenEngine();
    return engine.ok() ? (*engine)->CreateNewBackup(database_->db()) : engine.status();
  }
  void CheckAfterError() override {
    const Result<std::unique_ptr<BackupEngine>> engine = OpenEngine();
    ASSERT_OK(engine.status());
    std::vector<BackupInfo> backups;
    (*engine)->GetBackupInfo(&backups);
    EXPECT_TRUE(backups.empty());
    std::vector<BackupID> damaged;
    (*engine)->GetCorruptedBackups(&damaged);
    EXPECT_TRUE(damaged.empty());
    FileCall::CheckAfterError();
  }
  void ExpectAll() override {
    const Result<std::unique_ptr<BackupEngine>> engine = OpenEngine();
    ASSERT_OK(engine.status());
    BackupInfo info;
    ASSERT_OK((*engine)->GetLatestBackupInfo(&info));
    ASSERT_OK((*engine)->VerifyBackup(info.backup_id, true));
    ASSERT_OK((*engine)->RestoreDBFromLatestBackup("/restored", "/restored"));
    ExpectCopy("/restored");
    FileCall::ExpectAll();
  }

 private:
  Result<std::unique_ptr<BackupEngine>> OpenEngine() {
    BackupEngine* made = nullptr;
    ASHLAR_RETURN_IF_ERROR(
        BackupEngine::Open(BackupEngineOptions("/backups"), database_->env(), &made));
    return std::unique_ptr<BackupEngine>(made);
  }
};

class RestoreCall final : public CallWithTables {
 public:
  void Prepare() override {
    CallWithTables::Prepare();
    BackupEngine* made = nullptr;
    ASSERT_OK(BackupEngine::Open(BackupEngineOptions("/backups"), &env_, &made));
    engine_.reset(made);
    ASSERT_OK(engine_->CreateNewBackup(database_->db()));
  }
  Status Run() override { return engine_->RestoreDBFromLatestBackup("/restored", "/restored"); }
  void CheckAfterError() override {
    // CURRENT is the last file to be written.
    if (disk_->FileExists("/restored/CURRENT").ok()) ExpectCopy("/restored");
    EXPECT_OK(engine_->VerifyBackup(1, true));
    FileCall::CheckAfterError();
  }
  void ExpectAll() override {
    ExpectCopy("/restored");
    FileCall::ExpectAll();
  }

 private:
  ManualEnv env_{faults_, 2};  // the database's own Env ends with the database
  std::unique_ptr<BackupEngine> engine_;
};

// Writes files for ingestion, one writer after another.
class WriterCall final : public CallWithTables {
 public:
  void Prepare() override {
    CallWithTables::Prepare();
    for (int file = 0; file < kFiles; ++file) {
      for (int i = 0; i < kEntries; ++i) after_[kDefaultColumnFamilyName][Key(file, i)] = kValue;
    }
  }
  Status Run() override {
    Options options = SmallDatabaseOptions();
    options.env = database_->env();
    SstFileWriter writer(EnvOptions(), options);
    for (int file = 0; file < kFiles; ++file) {
      const Status written = WriteFile(&writer, file);
      if (written.ok()) continue;
      // If every later call fails, the deletion of the file fails too.
      const bool can_delete = faults_->FileExists(OpenDatabase::kPath).ok();
      EXPECT_TRUE(!can_delete || disk_->FileExists(Path(file)).IsNotFound())
          << Path(file) << " is not finished, and there";
      return written;
    }
    return Status::OK();
  }
  void ExpectAll() override {
    std::vector<std::string> paths;
    for (int file = 0; file < kFiles; ++file) paths.push_back(Path(file));
    ASSERT_OK(database_->db()->IngestExternalFile(paths, IngestExternalFileOptions()));
    FileCall::ExpectAll();
  }

 private:
  static constexpr int kFiles = 5;
  static constexpr int kEntries = 4;
  static inline const std::string kValue = std::string(300, 'v');

  static std::string Path(int file) { return StrCat("/", file, ".sst"); }
  static std::string Key(int file, int i) { return StrCat("file", file, "-", i); }
  static Status WriteFile(SstFileWriter* writer, int file) {
    Status written = writer->Open(Path(file));
    for (int i = 0; written.ok() && i < kEntries; ++i) written = writer->Put(Key(file, i), kValue);
    const Status finished = writer->Finish();
    EXPECT_TRUE(written.ok() || !finished.ok()) << "forgotten: " << written.ToString();
    return written.ok() ? finished : written;
  }
};

class RepairCall final : public CallWithTables {
 public:
  void Prepare() override {
    CallWithTables::Prepare();
    ASSERT_OK(database_->Close());
    ASSERT_OK(disk_->DeleteFile(StrCat(OpenDatabase::kPath, "/CURRENT")));
  }
  Status Run() override {
    Options options = SmallDatabaseOptions();
    options.env = database_->env();
    return RepairDB(OpenDatabase::kPath, options, {}, options, {}, nullptr);
  }
  // The next repair finds everything. The database is not open.
  void CheckAfterError() override {}
  void ExpectNoOrphan() override {
    if (database_->db() != nullptr) FileCall::ExpectNoOrphan();
  }
};

// Promotes the secondary of a primary that has died.
class PromotionCall final : public CallWithTables {
 public:
  void Prepare() override {
    CallWithTables::Prepare();
    FaultRule dead;
    dead.operations = FaultOperation::kAnyWrite;
    dead.sticky = true;
    faults_->AddRule(dead);
    database_.reset();
    faults_->ClearRules();
    Options options = SmallDatabaseOptions();
    options.env = &env_;
    ASSERT_OK(DB::OpenAsSecondary(options, OpenDatabase::kPath, "/secondary", &secondary_));
  }
  Status Run() override {
    return secondary_->IsSecondary() ? secondary_->PromoteToPrimary() : secondary_->Resume();
  }
  void CheckAfterError() override { ExpectShown(); }
  void ExpectNoOrphan() override {
    // A secondary has no files of its own. The next promotion finds the files of a failed one.
    if (secondary_->IsSecondary()) return;
    ASSERT_OK(secondary_->Resume());
    ASSERT_OK(secondary_->WaitForCompact(WaitForCompactOptions()));
    std::vector<LiveFileMetaData> live;
    secondary_->GetLiveFilesMetaData(&live);
    std::vector<std::string> names;
    ASSERT_OK(disk_->GetChildren(OpenDatabase::kPath, &names));
    std::erase_if(names, [](const std::string& name) { return !name.ends_with(".sst"); });
    EXPECT_EQ(names.size(), live.size());
  }
  void ExpectAll() override {
    ExpectShown();
    ASSERT_OK(secondary_->Put(WriteOptions(), "by the new one", "v"));
    after_[kDefaultColumnFamilyName]["by the new one"] = "v";
    ExpectNoOrphan();
    ASSERT_OK(secondary_->Close());
    secondary_.reset();
    database_ = std::make_unique<OpenDatabase>(faults_, SmallDatabaseOptions(), 1);
    ASSERT_OK(database_->Open());
    ExpectContents(after_);
  }

 private:
  void ExpectShown() {
    std::string value;
    for (const auto& [key, expected] : before_.at(kDefaultColumnFamilyName)) {
      ASSERT_OK(secondary_->Get(ReadOptions(), key, &value));
      EXPECT_EQ(value, expected);
    }
  }

  ManualEnv env_{faults_, 2};
  std::unique_ptr<DB> secondary_;
};

template <typename Call, typename... Args>
void FillUpIn(uint64_t places_min, Args... args) {
  uint64_t places = 0;
  SweepFullDisk([&] { return std::make_unique<Call>(args...); }, 211, &places);
  EXPECT_GE(places, places_min);
}

TEST(FullDiskCallsTest, Checkpoint) { FillUpIn<CheckpointCall>(4, uint64_t{0}); }
TEST(FullDiskCallsTest, CheckpointWithTheLog) { FillUpIn<CheckpointCall>(3, uint64_t{1} << 40); }
TEST(FullDiskCallsTest, Export) { FillUpIn<ExportCall>(2); }
TEST(FullDiskCallsTest, Clip) { FillUpIn<ClipCall>(4); }
TEST(FullDiskCallsTest, Backup) { FillUpIn<BackupCall>(20); }
TEST(FullDiskCallsTest, Restore) { FillUpIn<RestoreCall>(20); }
TEST(FullDiskCallsTest, SstFileWriter) { FillUpIn<WriterCall>(20); }
TEST(FullDiskCallsTest, Repair) { FillUpIn<RepairCall>(4); }
TEST(FullDiskCallsTest, Promotion) { FillUpIn<PromotionCall>(4); }

TEST(FileErrorsTest, AClipIsWholeAfterAnotherCall) {
  SweepErrors([] { return std::make_unique<ClipCall>(); });
}
TEST(FileErrorsTest, ARestoreThatFailedIsRepeatedFromAnIntactBackup) {
  SweepErrors([] { return std::make_unique<RestoreCall>(); });
}
TEST(FileErrorsTest, AFileOfAWriterIsFinishedOrGone) {
  SweepErrors([] { return std::make_unique<WriterCall>(); });
}
TEST(FileErrorsTest, ARepairFindsAllThatAFailedOneLeft) {
  SweepErrors([] { return std::make_unique<RepairCall>(); }, /*opens_after_error=*/false);
}

}  // namespace
}  // namespace ashlar
