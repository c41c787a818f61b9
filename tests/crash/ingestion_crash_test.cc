// Ingestion and power cuts: at every operation of the file system, and every kind of damage, the
// database has all files of the call or none, in all families, after every older write; all of them
// once the call has returned. No table is left that belongs to nobody, and a file that is not in
// the database is still where it was.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/sst_file_writer.h"
#include "base/format.h"
#include "tests/support/crash_file_system.h"
#include "tests/support/expect_ok.h"
#include "tests/support/file_damage.h"
#include "tests/support/open_database.h"

namespace ashlar {
namespace {

constexpr char kOther[] = "other";
constexpr char kFolder[] = "/files";

struct Manner {
  const char* name;
  IngestExternalFileOptions options;
  bool flushes = true;  // a memtable has keys of the files
};

IngestExternalFileOptions With(bool IngestExternalFileOptions::* member) {
  IngestExternalFileOptions options;
  options.*member = true;
  return options;
}
const Manner kManners[] = {
    {"Copied", {}},
    {"CopiedNextToUnflushedWrites", {}, false},
    {"Moved", With(&IngestExternalFileOptions::move_files)},
    {"Linked", With(&IngestExternalFileOptions::link_files)},
    {"WithNumbersInTheFiles", With(&IngestExternalFileOptions::write_global_seqno)},
};

class IngestionCrashTest : public ::testing::TestWithParam<size_t> {
 protected:
  IngestionCrashTest()
      : disk_(std::make_shared<CrashFileSystem>()), database_(disk_, Settings(), 1) {}

  static Options Settings() {
    Options options = SmallDatabaseOptions();
    // A new MANIFEST syncs the directory.
    if (kManners[GetParam()].flushes) options.max_manifest_file_size = 500;
    return options;
  }

  static std::string Key(const std::string& key) {
    return kManners[GetParam()].flushes ? key : "x" + key;
  }

  // Files that overlap would go to level 0, which takes a flush.
  static std::string Again() { return Key(kManners[GetParam()].flushes ? "key3" : "key4"); }

  void Write(int i) {
    const std::string value = StrCat(i, std::string(200, 'v'));
    const Commit commit = {
        {.kind = Change::Kind::kMerge,
         .family = kDefaultColumnFamilyName,
         .key = "list",
         .value = value},
        {.kind = Change::Kind::kPut, .family = kOther, .key = StrCat("key", i), .value = value}};
    ASSERT_OK(database_.Write(commit, WriteOptions()));
    Apply(commit, &contents_);
    states_.push_back(contents_);
  }

  std::string WriteFile(const std::string& name, const FamilyContents& entries) {
    Options options = Settings();
    options.env = database_.env();
    SstFileWriter writer(EnvOptions(), options);
    const std::string path = StrCat(kFolder, "/", name);
    EXPECT_OK(writer.Open(path));
    for (const auto& [key, value] : entries) EXPECT_OK(writer.Put(key, value));
    EXPECT_OK(writer.Finish());
    files_.push_back(path);
    return path;
  }

  // Tables of both families, a log of unsynced writes, and three files.
  void Prepare() {
    ASSERT_OK(disk_->CreateDir(kFolder));
    ASSERT_OK(database_.Open());
    ASSERT_OK(database_.CreateFamily(kOther));
    contents_ = {{kDefaultColumnFamilyName, {}}, {kOther, {}}};
    for (int i = 0; i < 3; ++i) {
      Write(i);
      ASSERT_OK(database_.Flush(database_.families(), true));
    }
    states_ = {contents_};  // durable
    Write(3);
    Write(4);
    args_[0].column_family = database_.family(kDefaultColumnFamilyName);
    args_[1].column_family = database_.family(kOther);
    const std::string list = Key("list");
    args_[0].external_files = {WriteFile("1.sst", {{list, "new"}, {list + "2", "new"}})};
    args_[1].external_files = {WriteFile("2.sst", {{Key("key1"), "new"}, {Key("key3"), "new"}}),
                               WriteFile("3.sst", {{Again(), "newer"}, {Key("key9"), "newer"}})};
    std::unique_ptr<Directory> folder;
    ASSERT_OK(disk_->NewDirectory(kFolder, &folder));
    ASSERT_OK(folder->Sync());
    for (const std::string& file : files_) bytes_.push_back(ContentsOf(disk_.get(), file));
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

  void CheckImage(const CrashImage& image, bool must_be_in) {
    ++images_;
    OpenDatabase recovered(image.file_system, Settings(), 2);
    const Status opened = recovered.Open();
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    Contents found;
    ASSERT_OK(recovered.Read(&found));
    const bool is_in = found == states_.back();
    ASSERT_TRUE(is_in || !must_be_in) << "the ingested files are gone";
    bool is_a_state = is_in;
    for (const Contents& state : states_) is_a_state = is_a_state || state == found;
    ASSERT_TRUE(is_a_state) << "a part of the call, or files without older writes";
    for (size_t i = 0; i < files_.size(); ++i) {
      const bool exists = image.file_system->FileExists(files_[i]).ok();
      ASSERT_TRUE(is_in || exists) << files_[i] << " is gone";
      // The database may have it as a link, and writes to none.
      if (exists) {
        ASSERT_TRUE(ContentsOf(image.file_system.get(), files_[i]) == bytes_[i]) << files_[i];
      }
    }
    ExpectNoOrphan(image, recovered.db());
  }
  static void ExpectNoOrphan(const CrashImage& image, DB* db) {
    std::vector<LiveFileMetaData> live;
    db->GetLiveFilesMetaData(&live);
    std::vector<std::string> names;
    ASSERT_OK(image.file_system->GetChildren(OpenDatabase::kPath, &names));
    const auto tables = std::count_if(
        names.begin(), names.end(), [](const std::string& name) { return name.ends_with(".sst"); });
    ASSERT_EQ(static_cast<size_t>(tables), live.size()) << "a table belongs to nobody";
  }

  const std::shared_ptr<CrashFileSystem> disk_;
  OpenDatabase database_;
  IngestExternalFileArg args_[2];
  std::vector<std::string> files_;
  std::vector<std::string> bytes_;  // of the files
  Contents contents_;
  std::vector<Contents> states_;  // from the first that the disk may have on; the last: all files
  uint64_t begun_ = 0;
  uint64_t done_ = 0;
  uint64_t images_ = 0;
};

TEST_P(IngestionCrashTest, AllFilesAreThereOrNoneAfterAPowerCutAnywhere) {
  Prepare();
  Ingest();
  for (uint64_t k = begun_; k <= done_ && !HasFailure(); ++k) {
    disk_->EnumerateCrashImages(k, 3, [&](const CrashImage& image) {
      if (HasFailure()) return;
      SCOPED_TRACE(StrCat("cut off after ", k, " operations (", CrashKindName(image.kind), ", ",
                          image.seed, "), the last one: ", disk_->DescribeOperation(k - 1)));
      CheckImage(image, k >= done_);
    });
  }
  EXPECT_GT(images_, 100U);
  std::printf("%llu operations, %llu images\n", static_cast<unsigned long long>(done_ - begun_),
              static_cast<unsigned long long>(images_));
}

INSTANTIATE_TEST_SUITE_P(Manners, IngestionCrashTest,
                         ::testing::Range<size_t>(0, std::size(kManners)),
                         [](const auto& manner) { return kManners[manner.param].name; });

}  // namespace
}  // namespace ashlar
