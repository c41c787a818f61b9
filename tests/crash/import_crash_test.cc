// Imports and power cuts: at every operation of the file system, and every kind of damage, the
// database has the new family with all of its files, after every older write, or no such family. It
// has it once the call has returned. No table is left that belongs to nobody, and a file that is
// not in the database is still where it was.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/checkpoint.h"
#include "base/format.h"
#include "tests/support/crash_file_system.h"
#include "tests/support/expect_ok.h"
#include "tests/support/file_damage.h"
#include "tests/support/open_database.h"

namespace ashlar {
namespace {

constexpr char kOther[] = "other";
constexpr char kImported[] = "imported";
constexpr char kFolder[] = "/exported";

struct Manner {
  const char* name;
  bool moves = false;
  bool new_manifest = false;
};
const Manner kManners[] = {{"Copied"},
                           {"Moved", true},
                           {"CopiedIntoANewManifest", false, true},
                           {"MovedIntoANewManifest", true, true}};

class ImportCrashTest : public ::testing::TestWithParam<size_t> {
 protected:
  ImportCrashTest() : disk_(std::make_shared<CrashFileSystem>()), database_(disk_, Settings(), 1) {}

  static const Manner& manner() { return kManners[GetParam()]; }
  static Options Settings() {
    Options options = SmallDatabaseOptions();
    if (manner().new_manifest) options.max_manifest_file_size = 500;
    return options;
  }

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

  // A family of several tables, exported, and a log of unsynced writes.
  void Prepare() {
    ASSERT_OK(database_.Open());
    ASSERT_OK(database_.CreateFamily(kOther));
    contents_ = {{kDefaultColumnFamilyName, {}}, {kOther, {}}};
    for (int i = 0; i < 3; ++i) {
      Write(i);
      ASSERT_OK(database_.Flush(database_.families(), true));
    }
    Checkpoint* made = nullptr;
    ASSERT_OK(Checkpoint::Create(database_.db(), &made));
    const std::unique_ptr<Checkpoint> checkpoint(made);
    ExportImportFilesMetaData* exported = nullptr;
    ASSERT_OK(checkpoint->ExportColumnFamily(database_.family(kOther), kFolder, &exported));
    exported_.reset(exported);
    ASSERT_GT(exported_->files.size(), 0U);
    for (const LiveFileMetaData& file : exported_->files)
      bytes_.push_back(ContentsOf(disk_.get(), kFolder + file.name));
    imported_ = contents_[kOther];
    states_ = {contents_};  // durable
    Write(3);
    Write(4);
  }

  void Import() {
    begun_ = disk_->OperationCount();
    ImportColumnFamilyOptions options;
    options.move_files = manner().moves;
    ColumnFamilyHandle* handle = nullptr;
    ASSERT_OK(database_.db()->CreateColumnFamilyWithImport(
        ColumnFamilyOptions(Settings()), kImported, options, *exported_, &handle));
    delete handle;
    done_ = disk_->OperationCount();
    contents_[kImported] = imported_;
    states_.push_back(contents_);
  }

  void CheckImage(const CrashImage& image, bool must_be_in) {
    ++images_;
    OpenDatabase recovered(image.file_system, Settings(), 2);
    const Status opened = recovered.Open();
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    Contents found;
    ASSERT_OK(recovered.Read(&found));
    const bool is_in = found == states_.back();
    ASSERT_TRUE(is_in || !must_be_in) << "the imported family is gone";
    bool is_a_state = is_in;
    for (const Contents& state : states_) is_a_state = is_a_state || state == found;
    ASSERT_TRUE(is_a_state) << "a part of the family, or the family without older writes";
    for (size_t i = 0; i < bytes_.size(); ++i) {
      const std::string path = kFolder + exported_->files[i].name;
      const bool exists = image.file_system->FileExists(path).ok();
      ASSERT_TRUE(is_in || exists) << path << " is gone";
      // The database may have it as a link, and writes to none.
      if (exists) {
        ASSERT_TRUE(ContentsOf(image.file_system.get(), path) == bytes_[i]) << path;
      }
    }
    ExpectNoOrphan(image, recovered.db());
    ASSERT_OK(recovered.db()->VerifyChecksum());
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
  std::unique_ptr<ExportImportFilesMetaData> exported_;
  std::vector<std::string> bytes_;  // of the exported files
  FamilyContents imported_;
  Contents contents_;
  std::vector<Contents> states_;  // from the first that the disk may have on; the last: imported
  uint64_t begun_ = 0;
  uint64_t done_ = 0;
  uint64_t images_ = 0;
};

TEST_P(ImportCrashTest, TheFamilyIsWholeOrAbsentAfterAPowerCutAnywhere) {
  Prepare();
  Import();
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

INSTANTIATE_TEST_SUITE_P(Manners, ImportCrashTest, ::testing::Range<size_t>(0, std::size(kManners)),
                         [](const auto& manner) { return kManners[manner.param].name; });

}  // namespace
}  // namespace ashlar
