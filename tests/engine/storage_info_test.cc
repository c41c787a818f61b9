// The list of all files of a database, and copies that are made from it.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ashlar/file_checksum.h"
#include "ashlar/sst_file_writer.h"
#include "base/format.h"
#include "filesystem/file_helpers.h"
#include "filesystem/memory_file_system.h"
#include "tests/engine/database_fixture.h"
#include "tests/support/copy_live_file.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/open_database.h"

namespace ashlar {
namespace {

constexpr uint64_t kNoFlush = UINT64_MAX;

class StorageInfoTest : public DatabaseFixture {
 protected:
  StorageInfoTest() { options_.disable_auto_compactions = true; }

  static Status List(DB* db, uint64_t wal_size_for_flush, std::vector<LiveFileStorageInfo>* files) {
    LiveFilesStorageInfoOptions options;
    options.wal_size_for_flush = wal_size_for_flush;
    return db->GetLiveFilesStorageInfo(options, files);
  }
  std::vector<LiveFileStorageInfo> List(uint64_t wal_size_for_flush) {
    std::vector<LiveFileStorageInfo> files;
    EXPECT_OK(List(db_.get(), wal_size_for_flush, &files));
    return files;
  }
  using DatabaseFixture::Tables;
  static size_t Tables(const std::vector<LiveFileStorageInfo>& files) {
    return static_cast<size_t>(std::count_if(
        files.begin(), files.end(),
        [](const LiveFileStorageInfo& file) { return file.file_type == kTableFile; }));
  }
  static void Copy(const LiveFileStorageInfo& file, const std::string& to) {
    CopyLiveFile(vfs::FileSystem::Default().get(), file, to);
  }
  std::map<std::string, std::string> ContentsOf(const std::string& directory) {
    Options options = options_;
    options.create_if_missing = false;
    options.wal_dir.clear();
    std::unique_ptr<DB> db;
    std::map<std::string, std::string> contents;
    EXPECT_OK(DB::Open(options, directory, &db));
    if (db == nullptr) return contents;
    const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next())
      contents[it->key().ToString()] = it->value().ToString();
    EXPECT_OK(it->status());
    return contents;
  }
};

TEST_F(StorageInfoTest, ListsEveryKindOfFile) {
  options_.wal_dir = scratch().File("logs");
  Open();
  Put("a", "in a table");
  Flush();
  Put("b", "in the log");
  const std::vector<LiveFileStorageInfo> files = List(kNoFlush);
  ASSERT_EQ(files.size(), 5u);
  const std::vector<FileType> types = {kDescriptorFile, kCurrentFile, kOptionsFile, kWalFile,
                                       kTableFile};
  for (size_t i = 0; i < files.size(); ++i) {
    const LiveFileStorageInfo& file = files[i];
    SCOPED_TRACE(file.relative_filename);
    EXPECT_EQ(file.file_type, types[i]);
    EXPECT_EQ(file.directory, file.file_type == kWalFile ? options_.wal_dir : path());
    EXPECT_EQ(file.file_number == 0, file.file_type == kCurrentFile);
    EXPECT_NE(
        file.relative_filename.find(file.file_number == 0 ? "CURRENT" : StrCat(file.file_number)),
        std::string::npos);
    EXPECT_EQ(file.size, std::filesystem::file_size(file.directory + "/" + file.relative_filename));
    EXPECT_EQ(file.trim_to_size, file.file_type == kDescriptorFile || file.file_type == kWalFile);
    EXPECT_EQ(file.replacement_contents.empty(), file.file_type != kCurrentFile);
    EXPECT_EQ(file.temperature, Temperature::kUnknown);
    EXPECT_EQ(file.file_checksum + file.file_checksum_func_name, "") << "not asked for";
  }
  EXPECT_EQ(files[1].replacement_contents, files[0].relative_filename + "\n");
}

TEST_F(StorageInfoTest, FlushesIfTheLogsAreLongEnough) {
  Open();
  Put("a", std::string(1000, 'v'));
  EXPECT_EQ(List(kNoFlush).size(), 4u);
  EXPECT_EQ(List(100000).size(), 4u);
  EXPECT_EQ(Tables(), 0);
  EXPECT_EQ(List(500).size(), 5u);
  EXPECT_EQ(Tables(), 1);
  Put("a", "w");
  EXPECT_EQ(List(0).size(), 6u);
  LiveFilesStorageInfoOptions options;
  options.atomic_flush = true;
  std::vector<LiveFileStorageInfo> files(1);
  EXPECT_TRUE(db_->GetLiveFilesStorageInfo(options, &files).IsNotSupported());
  EXPECT_TRUE(files.empty());
  options.wal_size_for_flush = kNoFlush;
  EXPECT_OK(db_->GetLiveFilesStorageInfo(options, &files));
}

TEST_F(StorageInfoTest, OnlyTablesOfTheStateAreListed) {
  Open();
  for (int i = 0; i < 3; ++i) {
    Put("a", StrCat(i));
    Flush();
  }
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));  // keeps the three tables
  CompactAll();
  EXPECT_EQ(Tables(), 4);
  EXPECT_EQ(Tables(List(kNoFlush)), 1u);
}

TEST_F(StorageInfoTest, ACopyIsTheDatabaseOfItsMomentWhileAWriterGoesOn) {
  options_.disable_auto_compactions = false;
  options_.write_buffer_size = 64 << 10;
  options_.max_manifest_file_size = 2000;
  Open();
  std::atomic<int> written{0};
  std::atomic<bool> stopped{false};
  std::thread writer([&] {
    for (int i = 0; !stopped.load(); ++i) {
      EXPECT_OK(db_->Put(WriteOptions(), StrCat(1000000 + i), std::string(100, 'v')));
      written.store(i + 1);
    }
  });
  for (int round = 0; round < 8; ++round) {
    const int before = written.load();
    const std::string copy = scratch().File(StrCat("copy", round));
    std::filesystem::create_directory(copy);
    ASSERT_OK(db_->DisableFileDeletions());
    for (const LiveFileStorageInfo& file : List(round % 2 == 0 ? 0 : kNoFlush)) Copy(file, copy);
    ASSERT_OK(db_->EnableFileDeletions());
    const auto contents = ContentsOf(copy);
    EXPECT_GE(contents.size(), static_cast<size_t>(before));
    int i = 0;
    for (const auto& [key, value] : contents) EXPECT_EQ(key, StrCat(1000000 + i++));  // a prefix
  }
  stopped.store(true);
  writer.join();
}

TEST_F(StorageInfoTest, DatabasesThatAreOnlyReadListTheirState) {
  Open();
  Put("a", "1");
  Flush();
  Put("b", "2");
  Close();
  std::unique_ptr<DB> reader;
  ASSERT_OK(DB::OpenForReadOnly(options_, path(), &reader));
  std::vector<LiveFileStorageInfo> files;
  ASSERT_OK(List(reader.get(), 0, &files));
  const std::string copy = scratch().File("copy");
  std::filesystem::create_directory(copy);
  for (const LiveFileStorageInfo& file : files) Copy(file, copy);
  reader.reset();
  EXPECT_EQ(ContentsOf(copy), (std::map<std::string, std::string>{{"a", "1"}, {"b", "2"}}));

  Open();
  std::unique_ptr<DB> secondary;
  Options options = options_;
  options.max_open_files = -1;
  ASSERT_OK(DB::OpenAsSecondary(options, path(), scratch().File("secondary"), &secondary));
  ASSERT_OK(List(secondary.get(), 0, &files));
  const size_t tables_before = Tables(files);
  Put("c", "3");
  Flush();
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));  // no file is deleted after this
  ASSERT_OK(secondary->TryCatchUpWithPrimary());
  ASSERT_OK(List(secondary.get(), 0, &files));
  EXPECT_EQ(Tables(files), tables_before + 1);
}

// Otherwise a copy would have the write after an ingestion but not the ingestion, or would lack a
// log that the MANIFEST of the state needs.
TEST_F(StorageInfoTest, AReaderWhoseWriterHasGoneOnListsNothing) {
  for (const bool ingests : {false, true}) {
    for (const bool secondary : {false, true}) {
      SCOPED_TRACE(StrCat(ingests ? "ingestion" : "flush", secondary ? ", secondary" : ""));
      const std::string key = StrCat("key", ingests ? 1 : 0, secondary ? 1 : 0);
      Open();
      Put(key + "a", "1");
      Options options = options_;
      options.max_open_files = -1;
      std::unique_ptr<DB> reader;
      ASSERT_OK(secondary
                    ? DB::OpenAsSecondary(options, path(), scratch().File("secondary"), &reader)
                    : DB::OpenForReadOnly(options, path(), &reader));
      std::vector<LiveFileStorageInfo> files;
      ASSERT_OK(List(reader.get(), 0, &files));
      if (ingests) {
        const std::string table = scratch().File(key);
        SstFileWriter writer(EnvOptions(), options_);
        ASSERT_OK(writer.Open(table));
        ASSERT_OK(writer.Put(key + "b", "2"));
        ASSERT_OK(writer.Finish());
        ASSERT_OK(db_->IngestExternalFile({table}, IngestExternalFileOptions()));
      } else {
        Flush();
      }
      Put(key + "c", "3");
      const Status listed = List(reader.get(), 0, &files);
      EXPECT_TRUE(listed.IsTryAgain()) << listed.ToString();
      EXPECT_TRUE(files.empty());
      if (secondary) {
        ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));  // no file is deleted after this
        ASSERT_OK(reader->TryCatchUpWithPrimary());
        ASSERT_OK(List(reader.get(), 0, &files));
        const std::string copy = scratch().File("copy of " + key);
        std::filesystem::create_directory(copy);
        for (const LiveFileStorageInfo& file : files) Copy(file, copy);
        const auto contents = ContentsOf(copy);
        EXPECT_EQ(contents.count(key + "a"), 1u);
        EXPECT_EQ(contents.count(key + "b"), ingests ? 1u : 0u);
        EXPECT_EQ(contents.count(key + "c"), 1u);
      }
      reader.reset();
      Close();
    }
  }
}

// After a failed write the MANIFEST's state is unknown, so a copy of it could be any state.
TEST(StorageInfo, IsRefusedWhileTheManifestIsUncertain) {
  const auto faults = std::make_shared<FaultFileSystem>(std::make_shared<MemoryFileSystem>());
  OpenDatabase database(faults, SmallDatabaseOptions(), 1);
  ASSERT_OK(database.Open());
  ASSERT_OK(database.db()->Put(WriteOptions(), "a", "1"));
  FaultRule rule;
  rule.operations = FaultOperation::kSync;
  rule.name_contains = "MANIFEST-";
  faults->AddRule(rule);
  EXPECT_FALSE(database.db()->Flush(FlushOptions()).ok());
  faults->ClearRules();
  LiveFilesStorageInfoOptions options;
  options.wal_size_for_flush = kNoFlush;
  std::vector<LiveFileStorageInfo> files;
  const Status status = database.db()->GetLiveFilesStorageInfo(options, &files);
  EXPECT_TRUE(status.IsIOError()) << status.ToString();
  EXPECT_NE(status.ToString().find("MANIFEST-"), std::string::npos);
  ASSERT_OK(database.db()->Resume());
  ASSERT_OK(database.db()->GetLiveFilesStorageInfo(options, &files));
  EXPECT_GT(files[0].size, 0u);
  ASSERT_OK(database.Close());
}

// A write, and a flush that is due, between two calls of the survey.
class RacedStorageInfoTest : public ::testing::Test {
 protected:
  RacedStorageInfoTest() { Start(); }

  void Start() {
    database_.reset();
    faults_ = std::make_shared<FaultFileSystem>(std::make_shared<MemoryFileSystem>());
    Options options = SmallDatabaseOptions();
    options.disable_auto_compactions = true;
    database_ = std::make_unique<OpenDatabase>(faults_, options, 1);
    ASSERT_OK(database_->Open());
    contents_.clear();
    ASSERT_TRUE(WriteAndSchedule());
  }
  // Writes, and leaves the active memtable to a flush job. Returns false while writes are stopped.
  bool WriteAndSchedule() {
    WriteOptions at_once;
    at_once.no_slowdown = true;
    const Commit commit = {{.kind = Change::Kind::kPut,
                            .family = kDefaultColumnFamilyName,
                            .key = StrCat("key", 100 + contents_[kDefaultColumnFamilyName].size()),
                            .value = "v"}};
    const Status written = database_->Write(commit, at_once);
    if (written.IsIncomplete()) return false;
    EXPECT_OK(written);
    Apply(commit, &contents_);
    EXPECT_OK(database_->Flush(database_->families(), false));
    return true;
  }
  void Arm(FaultOperation operations, uint64_t nth, std::function<void()> action) {
    FaultRule rule;
    rule.operations = operations;
    rule.nth = nth;
    rule.effect = FaultEffect::kRunAction;
    rule.action = std::move(action);
    faults_->AddRule(rule);
  }
  // Lists the files, copies them, and reads the copy in place of the database.
  void CopyAndRead(Contents* copy) {
    ASSERT_OK(faults_->CreateDir("/copy"));
    ASSERT_OK(database_->db()->DisableFileDeletions());
    LiveFilesStorageInfoOptions options;
    options.wal_size_for_flush = kNoFlush;
    std::vector<LiveFileStorageInfo> files;
    ASSERT_OK(database_->db()->GetLiveFilesStorageInfo(options, &files));
    faults_->ClearRules();
    for (const LiveFileStorageInfo& file : files) CopyLiveFile(faults_.get(), file, "/copy");
    ASSERT_OK(database_->db()->EnableFileDeletions());
    ASSERT_OK(database_->Close());
    ASSERT_OK(faults_->RenameFile(OpenDatabase::kPath, "/source"));
    ASSERT_OK(faults_->RenameFile("/copy", OpenDatabase::kPath));
    ASSERT_OK(database_->Open());
    ASSERT_OK(database_->Read(copy));
  }

  std::shared_ptr<FaultFileSystem> faults_;
  std::unique_ptr<OpenDatabase> database_;
  Contents contents_;
};

// Also in the attempt without writers, after which nothing is compared.
TEST_F(RacedStorageInfoTest, HasTheLogsOfWhatIsFlushedInEachAttempt) {
  int attempts = 0;
  bool had_writers = true;
  std::function<void()> flush_and_write = [&] {
    ++attempts;
    EXPECT_TRUE(database_->env()->RunOneFlush());
    had_writers = WriteAndSchedule();
    if (had_writers) Arm(FaultOperation::kList, 1, flush_and_write);
  };
  Arm(FaultOperation::kList, 1, flush_and_write);
  Contents copy;
  ASSERT_NO_FATAL_FAILURE(CopyAndRead(&copy));
  EXPECT_GT(attempts, 1);
  EXPECT_FALSE(had_writers);
  EXPECT_EQ(copy, contents_);
}

TEST_F(RacedStorageInfoTest, FlushedAtAnyCallItIsTheDatabaseBeforeOrAfter) {
  bool raced = true;
  uint64_t races = 0;
  for (uint64_t nth = 1; raced && !HasFailure(); ++nth) {
    SCOPED_TRACE(StrCat("at call ", nth));
    Start();
    raced = false;
    const Contents before = contents_;
    Arm(FaultOperation::kAnyRead, nth, [&] {  // no lock of the database is held
      raced = true;
      EXPECT_TRUE(database_->env()->RunOneFlush());
      EXPECT_TRUE(WriteAndSchedule());
    });
    Contents copy;
    ASSERT_NO_FATAL_FAILURE(CopyAndRead(&copy));
    EXPECT_TRUE(copy == before || copy == contents_);
    races += raced ? 1 : 0;
  }
  EXPECT_GT(races, 2u);
}

}  // namespace
}  // namespace ashlar
