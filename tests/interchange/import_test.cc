// Imported families, exchanged with RocksDB's own tools. Families are exported from a database of
// ldb, and ldb reads databases into which families were imported, including the MANIFEST.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/checkpoint.h"
#include "ashlar/db.h"
#include "ashlar/vfs.h"
#include "base/format.h"
#include "tests/interchange/ldb_fixture.h"
#include "tests/support/expect_ok.h"

namespace ashlar {
namespace {

class ImportInterchangeTest : public LdbFixture {
 protected:
  std::unique_ptr<ExportImportFilesMetaData> Export(const std::string& path) {
    std::unique_ptr<DB> from;
    EXPECT_OK(DB::Open(options_, path, &from));
    Checkpoint* made = nullptr;
    EXPECT_OK(Checkpoint::Create(from.get(), &made));
    const std::unique_ptr<Checkpoint> checkpoint(made);
    ExportImportFilesMetaData* exported = nullptr;
    EXPECT_OK(checkpoint->ExportColumnFamily(nullptr, scratch_.File("exported"), &exported));
    return std::unique_ptr<ExportImportFilesMetaData>(exported);
  }
  void Import(const ExportImportFilesMetaData& metadata) {
    ColumnFamilyHandle* handle = nullptr;
    ASSERT_OK(db_->CreateColumnFamilyWithImport(ColumnFamilyOptions(options_), "imported",
                                                ImportColumnFamilyOptions(), metadata, &handle));
    ASSERT_OK(db_->Put(WriteOptions(), handle, "k2", "written after the import"));
    delete handle;
  }
  // Expects RocksDB's tools to read the imported family, and one key of the default family.
  void ExpectTheyRead(const std::string& contents) {
    const std::string families = RunCommand(StrCat("ldb --db=", path_, " list_column_families"));
    EXPECT_NE(families.find("imported"), std::string::npos) << families;
    EXPECT_NE(Ldb("checkconsistency").find("OK"), std::string::npos);
    EXPECT_EQ(Ldb("--column_family=imported scan"), contents);
    Ldb("--column_family=imported compact");
    EXPECT_EQ(Ldb("--column_family=imported scan"), contents);
    EXPECT_EQ(Ldb("scan"), "d : of the default family\n");
  }
};

TEST_F(ImportInterchangeTest, TheyReadAnImportedFamily) {
  for (const uint64_t manifest_bytes_max : {uint64_t{1} << 30, uint64_t{1}}) {
    SCOPED_TRACE(manifest_bytes_max);
    options_.max_manifest_file_size = manifest_bytes_max;
    const std::string from = scratch_.File("from");
    {
      std::unique_ptr<DB> db;
      ASSERT_OK(DB::Open(options_, from, &db));
      for (int i = 0; i < 5; ++i) {
        ASSERT_OK(db->Put(WriteOptions(), "k1", StrCat(i)));
        ASSERT_OK(db->Put(WriteOptions(), StrCat("x", i), "deleted"));
      }
      ASSERT_OK(db->Flush(FlushOptions()));
      ASSERT_OK(db->CompactRange(CompactRangeOptions(), nullptr, nullptr));
      ASSERT_OK(db->DeleteRange(WriteOptions(), "x", "y"));
    }
    const std::unique_ptr<ExportImportFilesMetaData> exported = Export(from);
    Open();
    ASSERT_OK(db_->Put(WriteOptions(), "d", "of the default family"));
    Import(*exported);
    Close();
    ExpectTheyRead("k1 : 4\nk2 : written after the import\n");
    for (const LiveFileMetaData& file : exported->files)
      ASSERT_OK(Env::Default()->EngineFiles()->DeleteFile(file.db_path + file.name));
    ASSERT_OK(Env::Default()->EngineFiles()->DeleteDir(scratch_.File("exported")));
    ASSERT_OK(DestroyDB(path_, options_));
    ASSERT_OK(DestroyDB(from, options_));
  }
}

TEST_F(ImportInterchangeTest, TablesOfTheirsAreImported) {
  const std::string theirs = scratch_.File("theirs");
  const auto ldb = [&](const std::string& command) {
    RunCommand(StrCat("ldb --db=", theirs, " ", command));
  };
  ldb("put --create_if_missing k1 old");
  ldb("put x deleted");
  ldb("compact");
  ldb("put k1 new");
  ldb("deleterange x y");
  const std::unique_ptr<ExportImportFilesMetaData> exported = Export(theirs);
  Open();
  ASSERT_OK(db_->Put(WriteOptions(), "d", "of the default family"));
  Import(*exported);
  ASSERT_OK(db_->VerifyChecksum());
  Close();
  ExpectTheyRead("k1 : new\nk2 : written after the import\n");
}

}  // namespace
}  // namespace ashlar
