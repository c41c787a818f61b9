// Imports and power cuts. At every file system operation, with every kind of damage, the database
// has the new family with all of its files, after every older write, or no such family. It has the
// family once the call has returned. No unreferenced table is left, and a file that is not in the
// database is still in its original place.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/checkpoint.h"
#include "tests/crash/file_call_fixture.h"

namespace ashlar {
namespace {

constexpr char kFolder[] = "/exported";

struct Manner {
  const char* name;
  bool moves = false;
  bool buffers = false;  // the process buffers the log's records
  // The family's record fills a sector. If it were appended to a MANIFEST, it would be synced
  // before the files' record.
  bool long_name = false;
};
const Manner kManners[] = {{"Copied"},
                           {"Moved", true},
                           {"CopiedNextToBufferedWrites", false, true},
                           {"CopiedUnderALongName", false, false, true}};

class ImportCrashTest : public FileCallCrashTest {
 protected:
  ImportCrashTest() : FileCallCrashTest(Settings()) {}

  static const Manner& manner() { return kManners[GetParam()]; }
  static Options Settings() {
    Options options = SmallDatabaseOptions();
    options.manual_wal_flush = manner().buffers;
    return options;
  }

  // Makes and exports a family of several tables, and a log of unsynced writes.
  void Prepare() {
    OpenWithTables();
    Checkpoint* made = nullptr;
    ASSERT_OK(Checkpoint::Create(database_.db(), &made));
    const std::unique_ptr<Checkpoint> checkpoint(made);
    ExportImportFilesMetaData* exported = nullptr;
    ASSERT_OK(checkpoint->ExportColumnFamily(database_.family(kOther), kFolder, &exported));
    exported_.reset(exported);
    ASSERT_GT(exported_->files.size(), 0U);
    for (const LiveFileMetaData& file : exported_->files) Keep(kFolder + file.name);
    imported_ = contents_[kOther];
    WriteUnsynced();
  }

  void Import() {
    const std::string name = manner().long_name ? std::string(600, 'n') : "imported";
    begun_ = disk_->OperationCount();
    ImportColumnFamilyOptions options;
    options.move_files = manner().moves;
    ColumnFamilyHandle* handle = nullptr;
    ASSERT_OK(database_.db()->CreateColumnFamilyWithImport(ColumnFamilyOptions(settings_), name,
                                                           options, *exported_, &handle));
    delete handle;
    done_ = disk_->OperationCount();
    contents_[name] = imported_;
    states_.push_back(contents_);
  }

  std::unique_ptr<ExportImportFilesMetaData> exported_;
  FamilyContents imported_;
};

TEST_P(ImportCrashTest, TheFamilyIsWholeOrAbsentAfterAPowerCutAnywhere) {
  Prepare();
  Import();
  CutOffAnywhere();
}

INSTANTIATE_TEST_SUITE_P(Manners, ImportCrashTest, ::testing::Range<size_t>(0, std::size(kManners)),
                         [](const auto& manner) { return kManners[manner.param].name; });

}  // namespace
}  // namespace ashlar
