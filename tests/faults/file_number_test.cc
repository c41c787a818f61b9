// Numbers in file names, in a MANIFEST and in a log that no database can reach. Foreign files are
// not touched, damaged files are refused, and a database that was opened once can be opened
// again.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/metadata.h"
#include "ashlar/vfs.h"
#include "base/coding.h"
#include "base/format.h"
#include "filesystem/file_helpers.h"
#include "filesystem/filename.h"
#include "manifest/version_edit.h"
#include "tests/faults/closed_database.h"
#include "wal/log_reader.h"
#include "wal/log_writer.h"

namespace ashlar {
namespace {

// Records the warnings.
class WarningLogger final : public Logger {
 public:
  void Log(InfoLogLevel level, std::string_view message) override {
    if (level == WARN_LEVEL) warnings += StrCat(message, "\n");
  }
  std::string warnings;
};

class FileNumberTest : public ::testing::Test {
 protected:
  // Opens, reads everything, writes, flushes and closes, three times.
  void ExpectToWorkAgainAndAgain(const std::shared_ptr<vfs::FileSystem>& file_system) {
    Contents expected = closed_.contents();
    for (int round = 1; round <= 3; ++round) {
      SCOPED_TRACE(StrCat("open ", round));
      Options options = closed_.options();
      options.info_log = logger_;
      OpenDatabase database(file_system, options, 1);
      const Status opened = database.Open();
      ASSERT_TRUE(opened.ok()) << opened.ToString();
      Contents contents;
      ASSERT_TRUE(database.Read(&contents).ok());
      EXPECT_EQ(contents, expected);
      const Commit commit{{.kind = Change::Kind::kPut,
                           .family = kDefaultColumnFamilyName,
                           .key = StrCat("round ", round),
                           .value = "value"}};
      ASSERT_TRUE(database.Write(commit, WriteOptions()).ok());
      Apply(commit, &expected);
      if (round == 2) {
        ASSERT_TRUE(database.Flush(database.families(), true).ok());
      }
      const Status closed = database.Close();
      ASSERT_TRUE(closed.ok()) << closed.ToString();
    }
  }

  // Writes a log 900 with one put.
  static void WriteLog(vfs::FileSystem* file_system, SequenceNumber sequence) {
    const std::string path = WalFileName(OpenDatabase::kPath, 900);
    std::unique_ptr<vfs::WritableFile> file;
    ASSERT_TRUE(file_system->NewWritableFile(path, vfs::FileOptions(), &file).ok());
    std::string record;
    PutFixed64(&record, sequence);
    PutFixed32(&record, 1);
    record += '\x01';
    PutLengthPrefixedSlice(&record, "key");
    PutLengthPrefixedSlice(&record, "value");
    LogWriter writer(std::move(file), path, 900);
    ASSERT_TRUE(writer.AddRecord(record).ok());
    ASSERT_TRUE(writer.Close().ok());
  }

  // Returns the image with one more record at the end of the MANIFEST.
  MemoryImage WithEdit(const std::string& edit) const {
    MemoryFileSystem file_system(closed_.image());
    const std::string path = ClosedDatabase::Path(closed_.FileLike("MANIFEST"));
    std::vector<std::string> records;
    {
      uint64_t bytes = 0;
      EXPECT_TRUE(file_system.GetFileSize(path, &bytes).ok());
      std::unique_ptr<vfs::SequentialFile> file;
      EXPECT_TRUE(file_system.NewSequentialFile(path, vfs::FileOptions(), &file).ok());
      LogReader reader(std::move(file), path, 0, bytes);
      Slice record;
      std::string scratch;
      while (reader.ReadRecord(&record, &scratch)) records.push_back(record.ToString());
    }
    records.push_back(edit);
    std::unique_ptr<vfs::WritableFile> file;
    EXPECT_TRUE(file_system.NewWritableFile(path, vfs::FileOptions(), &file).ok());
    LogWriter writer(std::move(file), path, 0);
    for (const std::string& record : records) EXPECT_TRUE(writer.AddRecord(record).ok());
    EXPECT_TRUE(writer.Close().ok());
    return file_system.Snapshot();
  }

  const ClosedDatabase closed_;
  const std::shared_ptr<WarningLogger> logger_ = std::make_shared<WarningLogger>();
};

// Otherwise the first open would use the number for a file of its own and no later open would
// succeed. The highest number would end the process.
TEST_F(FileNumberTest, StrayFilesWithHighNumbersAreNeitherUsedNorDeleted) {
  for (const uint64_t number : {~uint64_t{0}, (uint64_t{1} << 63) - 1, kFileNumberMax + 1,
                                kFileNumberMax, uint64_t{1} << 50}) {
    SCOPED_TRACE(number);
    const std::vector<std::string> strays = {
        WalFileName(OpenDatabase::kPath, number), TableFileName(OpenDatabase::kPath, number),
        DescriptorFileName(OpenDatabase::kPath, number), TempFileName(OpenDatabase::kPath, number)};
    const auto file_system = std::make_shared<MemoryFileSystem>(closed_.image());
    for (const std::string& stray : strays) {
      std::unique_ptr<vfs::WritableFile> file;
      ASSERT_TRUE(file_system->NewWritableFile(stray, vfs::FileOptions(), &file).ok());
    }
    logger_->warnings.clear();
    ExpectToWorkAgainAndAgain(file_system);
    for (const std::string& stray : strays)
      EXPECT_TRUE(file_system->FileExists(stray).ok()) << stray;
    EXPECT_NE(logger_->warnings.find(StrCat(strays[0], " is not a log of this database")),
              std::string::npos)
        << logger_->warnings;
  }
}

TEST_F(FileNumberTest, AStrayLogJustAboveTheNextNumberIsTakenForALog) {
  const auto file_system = std::make_shared<MemoryFileSystem>(closed_.image());
  std::unique_ptr<vfs::WritableFile> file;
  ASSERT_TRUE(
      file_system
          ->NewWritableFile(WalFileName(OpenDatabase::kPath, 1'000'000), vfs::FileOptions(), &file)
          .ok());
  ExpectToWorkAgainAndAgain(file_system);
  std::vector<std::string> names;
  ASSERT_TRUE(file_system->GetChildren(OpenDatabase::kPath, &names).ok());
  for (const std::string& name : names) EXPECT_NE(name, "1000000.log");
}

TEST_F(FileNumberTest, AnEditWithAHighNumberIsRefusedAndNamed) {
  const std::string manifest = closed_.FileLike("MANIFEST");
  for (const uint64_t number : {~uint64_t{0}, uint64_t{1} << 63, kFileNumberMax + 1}) {
    VersionEdit addition;
    addition.log_additions.push_back({.number = number, .synced_bytes = std::nullopt});
    VersionEdit deletion;
    deletion.log_deletion = number;
    VersionEdit next;
    next.next_file_number = number;
    for (const VersionEdit* edit : {&addition, &deletion, &next}) {
      std::string record;
      edit->EncodeTo(&record);
      const Autopsy autopsy =
          OpenAndReadAll(WithEdit(record), closed_.options(), closed_.contents());
      EXPECT_TRUE(autopsy.status.IsCorruption()) << autopsy.status.ToString();
      EXPECT_NE(autopsy.status.ToString().find(manifest), std::string::npos)
          << autopsy.status.ToString();
      EXPECT_NE(autopsy.status.ToString().find(StrCat(number)), std::string::npos)
          << autopsy.status.ToString();
      EXPECT_TRUE(autopsy.untouched);
    }
  }
}

// Sequences beyond the maximum would wrap when they are packed with a type.
TEST_F(FileNumberTest, ALogWithAHighSequenceIsRefusedAndNamed) {
  for (const uint64_t sequence : {~uint64_t{0}, kSequenceNumberMax, kSequenceNumberMaxAtOpen}) {
    MemoryFileSystem file_system(closed_.image());
    WriteLog(&file_system, sequence);
    const Autopsy autopsy =
        OpenAndReadAll(file_system.Snapshot(), closed_.options(), closed_.contents());
    EXPECT_TRUE(autopsy.status.IsCorruption()) << autopsy.status.ToString();
    EXPECT_NE(autopsy.status.ToString().find("000900.log: batch of the record at offset 0"),
              std::string::npos)
        << autopsy.status.ToString();
    EXPECT_TRUE(autopsy.untouched);
  }
}

// The next open would refuse a database that has been written to after such an ingestion.
TEST_F(FileNumberTest, ATableOfAnotherDatabaseBringsNoSequenceNearTheHighest) {
  const auto other = std::make_shared<MemoryFileSystem>();
  {
    OpenDatabase empty(other, closed_.options(), 1);
    ASSERT_TRUE(empty.Open().ok());
    ASSERT_TRUE(empty.Close().ok());
  }
  WriteLog(other.get(), kSequenceNumberMaxAtOpen - 1);
  OpenDatabase source(other, closed_.options(), 1);
  ASSERT_TRUE(source.Open().ok());
  ASSERT_TRUE(source.Flush(source.families(), true).ok());
  std::vector<LiveFileMetaData> tables;
  source.db()->GetLiveFilesMetaData(&tables);
  const auto newest = std::max_element(
      tables.begin(), tables.end(),
      [](const auto& a, const auto& b) { return a.largest_seqno < b.largest_seqno; });
  ASSERT_NE(newest, tables.end());
  ASSERT_EQ(newest->largest_seqno, kSequenceNumberMaxAtOpen - 1);
  const Result<std::string> bytes = ReadFileToString(
      other.get(), ClosedDatabase::Path(newest->relative_filename), size_t{1} << 20);
  ASSERT_TRUE(bytes.ok());

  const auto file_system = std::make_shared<MemoryFileSystem>(closed_.image());
  const std::string path = ClosedDatabase::Path("table.sst");
  ASSERT_TRUE(WriteStringToFile(file_system.get(), *bytes, path, Durability::kSynced).ok());
  OpenDatabase database(file_system, closed_.options(), 1);
  ASSERT_TRUE(database.Open().ok());
  IngestExternalFileOptions options;
  options.allow_db_generated_files = true;
  const Status ingested = database.db()->IngestExternalFile({path}, options);
  EXPECT_TRUE(ingested.IsCorruption()) << ingested.ToString();
  EXPECT_NE(ingested.ToString().find("sequence number"), std::string::npos) << ingested.ToString();
  ExportImportFilesMetaData metadata;
  metadata.db_comparator_name = BytewiseComparator()->Name();
  metadata.files.push_back(*newest);
  metadata.files.back().level = 0;
  metadata.files.back().name = "table.sst";
  metadata.files.back().db_path = OpenDatabase::kPath;
  ColumnFamilyHandle* handle = nullptr;
  const Status imported = database.db()->CreateColumnFamilyWithImport(
      ColumnFamilyOptions(closed_.options()), "imported", ImportColumnFamilyOptions(), metadata,
      &handle);
  EXPECT_TRUE(imported.IsInvalidArgument()) << imported.ToString();
  EXPECT_NE(imported.ToString().find("sequence number"), std::string::npos) << imported.ToString();
  ASSERT_TRUE(source.Close().ok());
  ASSERT_TRUE(database.Close().ok());
  ExpectToWorkAgainAndAgain(file_system);
}

}  // namespace
}  // namespace ashlar
