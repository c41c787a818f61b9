// Ingestion and power cuts. At every file system operation, with every kind of damage, the database
// has all files of the call or none, in all families, after every older write. It has all of them
// once the call has returned. No unreferenced table is left, and a file that is not in the database
// is still in its original place.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/sst_file_writer.h"
#include "ashlar/vfs.h"
#include "tests/crash/file_call_fixture.h"
#include "tests/support/database_table.h"

namespace ashlar {
namespace {

constexpr char kFolder[] = "/files";

struct Manner {
  const char* name;
  IngestExternalFileOptions options;
  bool flushes = true;   // a memtable has keys that are in the files
  bool buffers = false;  // the process buffers the log's records
};

IngestExternalFileOptions With(bool IngestExternalFileOptions::* member) {
  IngestExternalFileOptions options;
  options.*member = true;
  return options;
}
const Manner kManners[] = {
    {"Copied", {}},
    {"CopiedNextToUnflushedWrites", {}, false},
    {"CopiedNextToBufferedWrites", {}, false, true},
    {"Moved", With(&IngestExternalFileOptions::move_files)},
    {"Linked", With(&IngestExternalFileOptions::link_files)},
    {"WithNumbersInTheFiles", With(&IngestExternalFileOptions::write_global_seqno)},
    {"Behind", With(&IngestExternalFileOptions::ingest_behind), false},
    {"TablesOfADatabase", With(&IngestExternalFileOptions::allow_db_generated_files), false},
};

class IngestionCrashTest : public FileCallCrashTest {
 protected:
  IngestionCrashTest() : FileCallCrashTest(Settings()) {}

  static Options Settings() {
    Options options = SmallDatabaseOptions();
    // Creation of a new MANIFEST syncs the directory.
    if (kManners[GetParam()].flushes) options.max_manifest_file_size = 500;
    options.manual_wal_flush = kManners[GetParam()].buffers;
    options.allow_ingest_behind = kManners[GetParam()].options.ingest_behind;
    return options;
  }

  static std::string Key(const std::string& key) {
    return kManners[GetParam()].flushes ? key : "x" + key;
  }

  // Overlapping files would go to level 0, which requires a flush.
  static std::string Again() { return Key(kManners[GetParam()].flushes ? "key3" : "key4"); }

  std::string WriteFile(const std::string& name, const FamilyContents& entries) {
    const std::string path = StrCat(kFolder, "/", name);
    if (kManners[GetParam()].options.allow_db_generated_files) {
      WriteTableByADatabase(disk_, path, entries);
    } else {
      Options options = settings_;
      options.env = database_.env();
      SstFileWriter writer(EnvOptions(), options);
      EXPECT_OK(writer.Open(path));
      for (const auto& [key, value] : entries) EXPECT_OK(writer.Put(key, value));
      EXPECT_OK(writer.Finish());
    }
    Keep(path);
    return path;
  }

  // Makes tables of both families, a log of unsynced writes, and three files.
  void Prepare() {
    ASSERT_OK(disk_->CreateDir(kFolder));
    OpenWithTables();
    WriteUnsynced();
    args_[0].column_family = database_.family(kDefaultColumnFamilyName);
    args_[1].column_family = database_.family(kOther);
    const std::string list = Key("list");
    args_[0].external_files = {WriteFile("1.sst", {{list, "new"}, {list + "2", "new"}})};
    args_[1].external_files = {WriteFile("2.sst", {{Key("key1"), "new"}, {Key("key3"), "new"}}),
                               WriteFile("3.sst", {{Again(), "newer"}, {Key("key9"), "newer"}})};
    std::unique_ptr<vfs::Directory> folder;
    ASSERT_OK(disk_->NewDirectory(kFolder, &folder));
    ASSERT_OK(folder->Sync());
    for (IngestExternalFileArg& arg : args_) arg.options = kManners[GetParam()].options;
  }

  void Ingest() {
    begun_ = disk_->OperationCount();
    ASSERT_OK(database_.db()->IngestExternalFiles({args_[0], args_[1]}));
    done_ = disk_->OperationCount();
    contents_[kDefaultColumnFamilyName][Key("list")] = "new";
    contents_[kDefaultColumnFamilyName][Key("list") + "2"] = "new";
    contents_[kOther][Key("key1")] = "new";
    contents_[kOther][Key("key3")] = "new";
    contents_[kOther][Again()] = "newer";
    contents_[kOther][Key("key9")] = "newer";
    states_.push_back(contents_);
    Contents found;
    ASSERT_OK(database_.Read(&found));
    ASSERT_TRUE(found == contents_);
  }

  IngestExternalFileArg args_[2];
};

TEST_P(IngestionCrashTest, AllFilesAreThereOrNoneAfterAPowerCutAnywhere) {
  Prepare();
  Ingest();
  CutOffAnywhere();
}

INSTANTIATE_TEST_SUITE_P(Manners, IngestionCrashTest,
                         ::testing::Range<size_t>(0, std::size(kManners)),
                         [](const auto& manner) { return kManners[manner.param].name; });

}  // namespace
}  // namespace ashlar
