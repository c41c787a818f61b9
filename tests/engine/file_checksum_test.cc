// Checksums of whole tables: computed with each table, recorded, and compared.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ashlar/backup_engine.h"
#include "ashlar/checkpoint.h"
#include "ashlar/file_checksum.h"
#include "ashlar/listener.h"
#include "ashlar/options_util.h"
#include "ashlar/repair.h"
#include "ashlar/sst_file_writer.h"
#include "ashlar/table.h"
#include "base/crc32c.h"
#include "base/format.h"
#include "base/random.h"
#include "filesystem/file_helpers.h"
#include "tests/engine/database_fixture.h"

namespace ashlar {
namespace {

std::string BytesOf(const std::string& path) {
  const Result<std::string> bytes =
      ReadFileToString(vfs::FileSystem::Default().get(), path, size_t{64} << 20);
  EXPECT_OK(bytes.status());
  return bytes.ok() ? *bytes : "";
}

std::string Crc32cOf(const std::string& path) {
  const std::string bytes = BytesOf(path);
  const uint32_t crc = crc32c::Value(bytes.data(), bytes.size());
  std::string checksum;
  for (int shift = 24; shift >= 0; shift -= 8) checksum.push_back(static_cast<char>(crc >> shift));
  return checksum;
}

// The number of bytes and their sum, as text. The factory makes none while leaves_out is set.
class SumGenerator final : public FileChecksumGenerator {
 public:
  void Update(const char* data, size_t n) override {
    EXPECT_FALSE(is_final_);
    bytes_ += n;
    for (size_t i = 0; i < n; ++i) sum_ += static_cast<unsigned char>(data[i]);
  }
  void Finalize() override {
    EXPECT_FALSE(is_final_);
    is_final_ = true;
  }
  std::string GetChecksum() const override {
    EXPECT_TRUE(is_final_);
    return StrCat(bytes_, ":", sum_);
  }
  const char* Name() const override { return "Sum"; }

 private:
  uint64_t bytes_ = 0;
  uint64_t sum_ = 0;
  bool is_final_ = false;
};
class SumFactory final : public FileChecksumGenFactory {
 public:
  std::unique_ptr<FileChecksumGenerator> CreateFileChecksumGenerator(
      const FileChecksumGenContext& context) override {
    EXPECT_FALSE(context.file_name.empty());
    if (leaves_out) return nullptr;
    const std::string& function = context.requested_checksum_func_name;
    return function.empty() || function == "Sum" ? std::make_unique<SumGenerator>() : nullptr;
  }
  const char* Name() const override { return "SumFactory"; }

  bool leaves_out = false;
};

std::string SumOf(const std::string& path) {
  SumGenerator generator;
  const std::string bytes = BytesOf(path);
  generator.Update(bytes.data(), bytes.size());
  generator.Finalize();
  return generator.GetChecksum();
}

class CreationListener final : public EventListener {
 public:
  void OnTableFileCreated(const TableFileCreationInfo& info) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    made_[info.file_path] = info.file_checksum + "/" + info.file_checksum_func_name;
  }
  std::map<std::string, std::string> made() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return made_;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::string> made_;
};

class FileChecksumTest : public DatabaseFixture {
 protected:
  FileChecksumTest() { options_.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory(); }

  std::vector<LiveFileMetaData> Live() {
    std::vector<LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
    return files;
  }
  // Expects every table to have the checksum of its bytes wherever it is reported.
  void ExpectAllRight(size_t tables, const std::string& function = "FileChecksumCrc32c") {
    const std::vector<LiveFileMetaData> files = Live();
    ASSERT_EQ(files.size(), tables);
    const std::unique_ptr<FileChecksumList> list(NewFileChecksumList());
    ASSERT_OK(list->InsertOneFileChecksum(999999, "old", "old"));
    ASSERT_OK(db_->GetLiveFilesChecksumInfo(list.get()));
    EXPECT_EQ(list->size(), tables);
    for (const LiveFileMetaData& file : files) {
      const std::string table = file.directory + file.name;
      const std::string wanted = function == "Sum" ? SumOf(table) : Crc32cOf(table);
      EXPECT_EQ(file.file_checksum, wanted) << table;
      EXPECT_EQ(file.file_checksum_func_name, function);
      std::string checksum;
      std::string name;
      ASSERT_OK(list->SearchOneFileChecksum(file.file_number, &checksum, &name));
      EXPECT_EQ(checksum, wanted);
      EXPECT_EQ(name, function);
    }
    LiveFilesStorageInfoOptions options;
    options.include_checksum_info = true;
    options.wal_size_for_flush = UINT64_MAX;
    std::vector<LiveFileStorageInfo> stored;
    ASSERT_OK(db_->GetLiveFilesStorageInfo(options, &stored));
    for (const LiveFileStorageInfo& file : stored) {
      std::string checksum;
      std::string name = "Unknown";
      if (file.file_type == kTableFile) {
        ASSERT_OK(list->SearchOneFileChecksum(file.file_number, &checksum, &name));
      }
      EXPECT_EQ(file.file_checksum, checksum) << file.relative_filename;
      EXPECT_EQ(file.file_checksum_func_name, name) << file.relative_filename;
    }
    EXPECT_OK(db_->VerifyFileChecksums(ReadOptions()));
  }
  void FillTable(int first) {
    for (int i = first; i < first + 500; ++i) Put(StrCat("key", i), std::string(100, 'v'));
    Flush();
  }
  // Inverts one bit of a byte of a file.
  static void Flip(const std::string& file, size_t at) {
    std::string bytes = BytesOf(file);
    ASSERT_LT(at, bytes.size());
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    ASSERT_OK(
        WriteStringToFile(vfs::FileSystem::Default().get(), bytes, file, Durability::kBuffered));
  }
  std::string Write(const std::string& name, const std::string& key,
                    ExternalSstFileInfo* info = nullptr) {
    SstFileWriter writer(EnvOptions(), options_);
    const std::string file = scratch().File(name);
    EXPECT_OK(writer.Open(file));
    EXPECT_OK(writer.Put(key, name));
    EXPECT_OK(writer.Finish(info));
    return file;
  }
};

TEST_F(FileChecksumTest, EveryTableHasTheOneOfItsBytes) {
  const auto listener = std::make_shared<CreationListener>();
  options_.listeners.push_back(listener);
  options_.target_file_size_base = 16 << 10;
  options_.disable_auto_compactions = true;
  Open();
  FillTable(0);
  FillTable(250);
  ExpectAllRight(2);
  CompactAll();
  const size_t tables = Live().size();
  EXPECT_GT(tables, 2u);
  ExpectAllRight(tables);
  const std::map<std::string, std::string> made = listener->made();
  for (const LiveFileMetaData& file : Live()) {
    const auto found = made.find(file.directory + file.name);
    ASSERT_NE(found, made.end());
    EXPECT_EQ(found->second, file.file_checksum + "/FileChecksumCrc32c");
  }
  Put("in the log", "v");
  Open();  // recovery writes a table
  ExpectAllRight(tables + 1);
  // A trivial move changes no table.
  CompactRangeOptions move;
  move.change_level = true;
  move.target_level = 3;
  ASSERT_OK(db_->CompactRange(move, nullptr, nullptr));
  ExpectAllRight(Live().size());
}

TEST_F(FileChecksumTest, PlainTablesHaveOneToo) {
  options_.table_factory.reset(NewPlainTableFactory());
  options_.prefix_extractor.reset(NewFixedPrefixTransform(3));
  options_.allow_mmap_reads = true;
  Open();
  FillTable(0);
  ExpectAllRight(1);
}

TEST_F(FileChecksumTest, AFactoryOfTheProgramIsUsed) {
  const auto factory = std::make_shared<SumFactory>();
  options_.file_checksum_gen_factory = factory;
  options_.disable_auto_compactions = true;
  Open();
  FillTable(0);
  ExpectAllRight(1, "Sum");
  factory->leaves_out = true;
  FillTable(500);
  factory->leaves_out = false;
  std::vector<LiveFileMetaData> files = Live();
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(std::count_if(files.begin(), files.end(),
                          [](const LiveFileMetaData& file) {
                            return file.file_checksum.empty() &&
                                   file.file_checksum_func_name == "Unknown";
                          }),
            1);
  EXPECT_OK(db_->VerifyFileChecksums(ReadOptions()));
  CompactAll();
  ExpectAllRight(1, "Sum");
  // Another factory does not support the function.
  options_.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
  Open();
  const Status unknown = db_->VerifyFileChecksums(ReadOptions());
  EXPECT_TRUE(unknown.IsInvalidArgument());
  EXPECT_NE(unknown.ToString().find("\"Sum\""), std::string::npos) << unknown.ToString();
}

TEST_F(FileChecksumTest, WithoutAFactoryThereAreNone) {
  options_.file_checksum_gen_factory = nullptr;
  Open();
  FillTable(0);
  EXPECT_EQ(Live()[0].file_checksum, "");
  EXPECT_EQ(Live()[0].file_checksum_func_name, "Unknown");
  EXPECT_TRUE(db_->VerifyFileChecksums(ReadOptions()).IsInvalidArgument());
  // Existing tables stay without a checksum, new ones have one.
  options_.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
  options_.disable_auto_compactions = true;
  Open();
  EXPECT_EQ(Live()[0].file_checksum, "");
  EXPECT_OK(db_->VerifyFileChecksums(ReadOptions()));
  CompactAll();
  FillTable(0);
  CompactAll();
  ExpectAllRight(1);
}

TEST_F(FileChecksumTest, AChangedByteIsFoundAndTheFileNamed) {
  Open();
  FillTable(0);
  const LiveFileMetaData file = Live()[0];
  const std::string table = file.directory + file.name;
  Close();
  Random random(301);
  for (int i = 0; i < 20; ++i) {
    const size_t at = random.Uniform(file.size);
    Flip(table, at);
    // A table whose end is damaged cannot be opened. The check does not open the table.
    if (TryOpen().ok()) {
      const Status status = db_->VerifyFileChecksums(ReadOptions());
      EXPECT_TRUE(status.IsCorruption()) << "byte " << at;
      EXPECT_NE(status.ToString().find(file.relative_filename), std::string::npos)
          << status.ToString();
      Close();
    }
    Flip(table, at);
  }
  Open();
  ExpectAllRight(1);
}

TEST_F(FileChecksumTest, TheFactoryIsInTheOptionsFile) {
  Open();
  Close();
  DBOptions loaded;
  std::vector<ColumnFamilyDescriptor> families;
  ASSERT_OK(LoadLatestOptions(ConfigOptions(), path(), &loaded, &families));
  EXPECT_EQ(loaded.file_checksum_gen_factory, GetFileChecksumGenCrc32cFactory());
  std::string name;
  ASSERT_OK(GetLatestOptionsFileName(path(), options_.env, &name));
  EXPECT_NE(
      BytesOf(path() + "/" + name).find("file_checksum_gen_factory=FileChecksumGenCrc32cFactory\n"),
      std::string::npos);
}

TEST_F(FileChecksumTest, WritersOfFilesMakeOne) {
  ExternalSstFileInfo info;
  const std::string file = Write("1.sst", "a", &info);
  EXPECT_EQ(info.file_checksum, Crc32cOf(file));
  EXPECT_EQ(info.file_checksum_func_name, "FileChecksumCrc32c");
  options_.file_checksum_gen_factory = nullptr;
  Write("2.sst", "a", &info);
  EXPECT_EQ(info.file_checksum, "");
  EXPECT_EQ(info.file_checksum_func_name, "Unknown");
}

TEST_F(FileChecksumTest, IngestedFilesHaveThoseOfTheirBytes) {
  Open();
  IngestExternalFileOptions options;
  ASSERT_OK(db_->IngestExternalFile({Write("1.sst", "a"), Write("2.sst", "b")}, options));
  ExpectAllRight(2);
  options.write_global_seqno = true;  // changes the copy
  ASSERT_OK(db_->IngestExternalFile({Write("3.sst", "a")}, options));
  ExpectAllRight(3);
  options = IngestExternalFileOptions();
  options.move_files = true;
  ASSERT_OK(db_->IngestExternalFile({Write("4.sst", "c")}, options));
  ExpectAllRight(4);
  EXPECT_EQ(Contents(), "a=3.sst b=2.sst c=4.sst ");
}

TEST_F(FileChecksumTest, GivenOnesAreComparedByTheFunctionOfTheirName) {
  options_.file_checksum_gen_factory = std::make_shared<SumFactory>();
  Open();
  IngestExternalFileArg arg;
  arg.external_files = {Write("1.sst", "a")};
  arg.files_checksums = {SumOf(arg.external_files[0])};
  EXPECT_TRUE(db_->IngestExternalFiles({arg}).IsInvalidArgument()) << "without a function";
  for (const char* const unknown : {"FileChecksumCrc32c", ""}) {
    arg.files_checksum_func_names = {unknown};
    EXPECT_TRUE(db_->IngestExternalFiles({arg}).IsInvalidArgument()) << unknown;
  }
  arg.files_checksum_func_names = {"Sum"};
  const std::string right = arg.files_checksums[0];
  arg.files_checksums = {"1:1"};
  const Status differs = db_->IngestExternalFiles({arg});
  EXPECT_TRUE(differs.IsCorruption());
  EXPECT_NE(differs.ToString().find(arg.external_files[0]), std::string::npos);
  EXPECT_EQ(Live().size(), 0u);
  arg.files_checksums = {right};
  ASSERT_OK(db_->IngestExternalFiles({arg}));
  ExpectAllRight(1, "Sum");
  // The checksum is accepted and recorded without verification.
  arg.options.verify_file_checksum = false;
  arg.files_checksum_func_names = {"Other"};
  EXPECT_TRUE(db_->IngestExternalFiles({arg}).IsInvalidArgument());
  arg.files_checksum_func_names = {"Sum"};
  arg.files_checksums = {"1:1"};
  ASSERT_OK(db_->IngestExternalFiles({arg}));
  EXPECT_TRUE(db_->VerifyFileChecksums(ReadOptions()).IsCorruption());
}

TEST_F(FileChecksumTest, WithoutAFactoryGivenOnesAreComparedIfTheirFunctionIsOurs) {
  options_.file_checksum_gen_factory = nullptr;
  Open();
  IngestExternalFileArg arg;
  arg.external_files = {Write("1.sst", "a")};
  arg.files_checksums = {"1234"};
  arg.files_checksum_func_names = {"FileChecksumCrc32c"};
  EXPECT_TRUE(db_->IngestExternalFiles({arg}).IsCorruption());
  arg.files_checksum_func_names = {"Mine"};
  ASSERT_OK(db_->IngestExternalFiles({arg}));
  arg.files_checksum_func_names = {"FileChecksumCrc32c"};
  arg.options.verify_file_checksum = false;
  ASSERT_OK(db_->IngestExternalFiles({arg}));
  arg.options.verify_file_checksum = true;
  arg.files_checksums = {Crc32cOf(arg.external_files[0])};
  ASSERT_OK(db_->IngestExternalFiles({arg}));
  for (const LiveFileMetaData& file : Live()) EXPECT_EQ(file.file_checksum_func_name, "Unknown");
}

TEST_F(FileChecksumTest, ImportedFilesHaveThoseOfTheirBytes) {
  Open();
  FillTable(0);
  Checkpoint* made = nullptr;
  ASSERT_OK(Checkpoint::Create(db_.get(), &made));
  const std::unique_ptr<Checkpoint> checkpoint(made);
  ExportImportFilesMetaData* exported = nullptr;
  ASSERT_OK(checkpoint->ExportColumnFamily(nullptr, scratch().File("export"), &exported));
  const std::unique_ptr<ExportImportFilesMetaData> metadata(exported);
  ColumnFamilyHandle* family = nullptr;
  const std::string right = metadata->files[0].file_checksum;
  metadata->files[0].file_checksum = "1234";
  const Status differs = db_->CreateColumnFamilyWithImport(options_, "new", {}, *metadata, &family);
  EXPECT_TRUE(differs.IsCorruption());
  EXPECT_NE(differs.ToString().find("checksum"), std::string::npos) << differs.ToString();
  metadata->files[0].file_checksum_func_name = "Other";  // cannot be compared
  ASSERT_OK(db_->CreateColumnFamilyWithImport(options_, "new", {}, *metadata, &family));
  handles_.push_back(family);
  ExpectAllRight(2);
  metadata->files[0].file_checksum = right;
  metadata->files[0].file_checksum_func_name = "FileChecksumCrc32c";
  ASSERT_OK(db_->CreateColumnFamilyWithImport(options_, "third", {}, *metadata, &family));
  handles_.push_back(family);
  ExpectAllRight(3);
}

TEST_F(FileChecksumTest, ARepairKeepsThemAndMakesThemForItsOwnTables) {
  options_.disable_auto_compactions = true;
  options_.max_manifest_file_size = 1;
  Open();
  FillTable(0);
  FillTable(500);
  std::vector<LiveFileMetaData> files = Live();
  const std::string damaged = files[0].directory + files[0].name;
  Close();
  Flip(damaged, 100);
  ASSERT_OK(RepairDB(path(), options_));
  Open();
  ExpectAllRight(2);
}

TEST_F(FileChecksumTest, CopiesOfADamagedTableAreRefused) {
  Open();
  FillTable(0);
  const LiveFileMetaData file = Live()[0];
  BackupEngine* opened = nullptr;
  ASSERT_OK(
      BackupEngine::Open(BackupEngineOptions(scratch().File("backups")), Env::Default(), &opened));
  const std::unique_ptr<BackupEngine> engine(opened);
  ASSERT_OK(engine->CreateNewBackup(db_.get(), true));
  Flip(file.directory + file.name, 50);
  // The first backup has a file of this name and size, so this backup only reads its table.
  for (const bool is_first : {false, true}) {
    if (is_first) {
      ASSERT_OK(engine->PurgeOldBackups(0));
    }
    const Status status = engine->CreateNewBackup(db_.get(), true);
    EXPECT_TRUE(status.IsCorruption()) << status.ToString();
    EXPECT_NE(status.ToString().find(file.relative_filename), std::string::npos);
  }
  Flip(file.directory + file.name, 50);
  ASSERT_OK(engine->CreateNewBackup(db_.get(), true));
  std::vector<BackupInfo> backups;
  engine->GetBackupInfo(&backups);
  EXPECT_EQ(backups.size(), 1u);
}

}  // namespace
}  // namespace ashlar
