// Families that are moved from one database to another: exports, imports, clips, and errors in
// files and metadata.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <utility>

#include "ashlar/checkpoint.h"
#include "ashlar/sst_file_writer.h"
#include "base/format.h"
#include "key/internal_key.h"
#include "table/file_metadata.h"
#include "tests/engine/database_fixture.h"
#include "tests/support/check_invariants.h"
#include "tests/support/comparators.h"
#include "tests/support/fault_file_system.h"

namespace ashlar {
namespace {

class ImportTest : public DatabaseFixture {
 protected:
  ImportTest() {
    options_.disable_auto_compactions = true;
    options_.merge_operator = MergeOperators::CreateStringAppendOperator(',');
  }
  ~ImportTest() override {
    imported_.reset();
    other_.reset();
  }

  static std::unique_ptr<Checkpoint> CheckpointOf(DB* db) {
    Checkpoint* made = nullptr;
    EXPECT_OK(Checkpoint::Create(db, &made));
    return std::unique_ptr<Checkpoint>(made);
  }
  Status TryExport(ColumnFamilyHandle* family, const std::string& name,
                   std::unique_ptr<ExportImportFilesMetaData>* metadata) {
    ExportImportFilesMetaData* exported = nullptr;
    const Status status =
        CheckpointOf(db_.get())->ExportColumnFamily(family, scratch_.File(name), &exported);
    EXPECT_EQ(status.ok(), exported != nullptr) << status.ToString();
    metadata->reset(exported);
    return status;
  }
  ExportImportFilesMetaData Export(const std::string& name = "exported",
                                   ColumnFamilyHandle* family = nullptr) {
    std::unique_ptr<ExportImportFilesMetaData> metadata;
    EXPECT_OK(TryExport(family, name, &metadata));
    return metadata == nullptr ? ExportImportFilesMetaData() : *metadata;
  }

  // Opens a separate database, into which files are imported.
  void OpenOther() {
    imported_.reset();
    other_.reset();
    std::vector<std::string> names;
    std::vector<ColumnFamilyDescriptor> families;
    if (!DB::ListColumnFamilies(options_, other_path(), &names).ok())
      names = {kDefaultColumnFamilyName};
    for (const std::string& name : names)
      families.emplace_back(name, ColumnFamilyOptions(options_));
    std::vector<ColumnFamilyHandle*> handles;
    ASSERT_OK(DB::Open(DBOptions(options_), other_path(), families, &handles, &other_));
    for (ColumnFamilyHandle* const handle : handles) {
      if (handle->GetName() == "imported") {
        imported_.reset(handle);
      } else {
        delete handle;
      }
    }
    CheckInvariants(other_.get());
  }
  std::string other_path() const { return scratch_.File("other"); }
  Status TryImport(const std::vector<const ExportImportFilesMetaData*>& parts,
                   bool move_files = false) {
    ImportColumnFamilyOptions options;
    options.move_files = move_files;
    ColumnFamilyHandle* handle = nullptr;
    const Status status = other_->CreateColumnFamilyWithImport(ColumnFamilyOptions(options_),
                                                               "imported", options, parts, &handle);
    EXPECT_EQ(status.ok(), handle != nullptr) << status.ToString();
    if (status.ok()) imported_.reset(handle);
    CheckInvariants(other_.get());
    return status;
  }
  void Import(const ExportImportFilesMetaData& metadata, bool move_files = false) {
    ASSERT_OK(TryImport({&metadata}, move_files));
  }

  static std::string Walk(DB* db, ColumnFamilyHandle* family, const Snapshot* snapshot = nullptr) {
    ReadOptions options;
    options.snapshot = snapshot;
    const std::unique_ptr<Iterator> it(db->NewIterator(options, family));
    return test::WalkBothWays(it.get());
  }
  std::string Imported(const Snapshot* snapshot = nullptr) {
    return Walk(other_.get(), imported_.get(), snapshot);
  }
  // Returns "6: a..c @0-9, " for each table.
  static std::string Tree(DB* db, ColumnFamilyHandle* family) {
    ColumnFamilyMetaData metadata;
    db->GetColumnFamilyMetaData(family, &metadata);
    std::string text;
    for (const LevelMetaData& level : metadata.levels) {
      for (const SstFileMetaData& file : level.files) {
        StrAppend(&text, level.level, ": ", file.smallestkey, "..", file.largestkey, " @",
                  file.smallest_seqno, "-", file.largest_seqno, ", ");
      }
    }
    return text;
  }
  int OtherTables() const {
    int tables = 0;
    for (const auto& entry : std::filesystem::directory_iterator(other_path()))
      tables += entry.path().extension() == ".sst";
    return tables;
  }
  static std::string PathOf(const LiveFileMetaData& file) { return file.db_path + file.name; }
  static std::string Bytes(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }

  // Puts values, operands, point and range deletions on levels 0 and 6.
  void FillTree() {
    for (const char* const key : {"a", "b", "c", "d", "m"}) Put(key, "1");
    Merge("e", "x");
    Flush();
    CompactAll();
    Put("b", "2");
    Delete("c");
    Merge("e", "y");
    ASSERT_OK(db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), "l", "n"));
    Flush();
    Put("f", "3");
    Put("b", "4");
    Flush();
  }

  std::unique_ptr<DB> other_;
  std::unique_ptr<ColumnFamilyHandle> imported_;
};

// ---- Exports and imports.

TEST_F(ImportTest, AnImportedFamilyIsTheExportedOne) {
  Open();
  FillTree();
  const ExportImportFilesMetaData exported = Export();
  EXPECT_EQ(exported.db_comparator_name, BytewiseComparator()->Name());
  ASSERT_EQ(exported.files.size(), 3u);
  const std::string contents = Contents();
  EXPECT_EQ(contents, "a=1 b=4 d=1 e=x,y f=3 ");
  const std::string tree = Tree(db_.get(), db_->DefaultColumnFamily());
  // The database continues, and deletes the tables that the export shares with it.
  Put("b", "5");
  CompactAll();
  OpenOther();
  ASSERT_OK(other_->Put(WriteOptions(), "of the default family", "1"));
  Import(exported);
  for (int run = 0; run < 2; ++run) {
    EXPECT_EQ(Imported(), contents);
    EXPECT_EQ(Tree(other_.get(), imported_.get()), tree);
    EXPECT_EQ(Walk(other_.get(), other_->DefaultColumnFamily()), "of the default family=1 ");
    ASSERT_OK(other_->VerifyChecksum());
    OpenOther();
  }
  ASSERT_OK(other_->CompactRange(CompactRangeOptions(), imported_.get(), nullptr, nullptr));
  EXPECT_EQ(Imported(), contents);
  for (const LiveFileMetaData& file : exported.files)
    EXPECT_EQ(std::filesystem::file_size(PathOf(file)), file.size);
}

TEST_F(ImportTest, AnExportHasWhatMemtablesHave) {
  Open();
  Put("a", "1");
  WriteOptions unlogged;
  unlogged.disableWAL = true;
  ASSERT_OK(db_->Put(unlogged, "b", "2"));
  const ExportImportFilesMetaData exported = Export();
  OpenOther();
  Import(exported);
  EXPECT_EQ(Imported(), "a=1 b=2 ");
}

TEST_F(ImportTest, OneOfSeveralFamiliesIsExported) {
  Open();
  ColumnFamilyHandle* second = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(options_), "second", &second));
  handles_.push_back(second);
  Put("a", "of the default family");
  ASSERT_OK(db_->Put(WriteOptions(), second, "k", "v"));
  const ExportImportFilesMetaData exported = Export("exported", second);
  ASSERT_EQ(exported.files.size(), 1u);
  EXPECT_EQ(exported.files[0].column_family_name, "second");
  OpenOther();
  Import(exported);
  EXPECT_EQ(Imported(), "k=v ");
  // A dropped family can be exported too, unless it has data that is in no table.
  ASSERT_OK(db_->Put(WriteOptions(), second, "l", "w"));
  ASSERT_OK(db_->DropColumnFamily(second));
  std::unique_ptr<ExportImportFilesMetaData> metadata;
  EXPECT_TRUE(TryExport(second, "dropped", &metadata).IsColumnFamilyDropped());
  EXPECT_FALSE(std::filesystem::exists(scratch_.File("dropped")));
}

TEST_F(ImportTest, AnExportMakesItsOwnDirectory) {
  Open();
  Put("a", "1");
  std::unique_ptr<ExportImportFilesMetaData> metadata;
  std::filesystem::create_directory(scratch_.File("mine"));
  EXPECT_TRUE(TryExport(nullptr, "mine", &metadata).IsInvalidArgument());
  EXPECT_TRUE(std::filesystem::is_empty(scratch_.File("mine")));
  EXPECT_TRUE(TryExport(nullptr, "no/such/parent", &metadata).IsIOError());
  Close();
  ASSERT_OK(DB::OpenForReadOnly(options_, path(), &db_));
  EXPECT_TRUE(TryExport(nullptr, "exported", &metadata).IsNotSupported());
  EXPECT_FALSE(std::filesystem::exists(scratch_.File("exported")));
}

TEST_F(ImportTest, AnEmptyFamilyIsExportedAndNotImported) {
  Open();
  const ExportImportFilesMetaData exported = Export();
  EXPECT_TRUE(exported.files.empty());
  EXPECT_TRUE(std::filesystem::is_empty(scratch_.File("exported")));
  OpenOther();
  EXPECT_TRUE(TryImport({&exported}).IsInvalidArgument());
  EXPECT_TRUE(TryImport({}).IsInvalidArgument());
}

TEST_F(ImportTest, NewWritesAreNewerThanWhatWasImported) {
  Open();
  for (int i = 0; i < 100; ++i) Put("k", StrCat(i));
  Flush();
  const ExportImportFilesMetaData exported = Export();
  OpenOther();
  const SequenceNumber before = other_->GetLatestSequenceNumber();
  const Snapshot* const snapshot = other_->GetSnapshot();
  EXPECT_LT(before, 100u);
  Import(exported);
  EXPECT_EQ(other_->GetLatestSequenceNumber(), 100u);
  EXPECT_EQ(Imported(), "k=99 ");
  EXPECT_EQ(Imported(snapshot), "") << "the snapshot is older";
  other_->ReleaseSnapshot(snapshot);
  ASSERT_OK(other_->Put(WriteOptions(), imported_.get(), "k", "new"));
  EXPECT_EQ(Imported(), "k=new ");
  OpenOther();
  EXPECT_EQ(other_->GetLatestSequenceNumber(), 101u);
  EXPECT_EQ(Imported(), "k=new ");
  ASSERT_OK(other_->Flush(FlushOptions(), imported_.get()));
  ASSERT_OK(other_->CompactRange(CompactRangeOptions(), imported_.get(), nullptr, nullptr));
  EXPECT_EQ(Imported(), "k=new ");
}

TEST_F(ImportTest, SequencesThatAreOlderThanTheDatabasesAreKept) {
  Open();
  Put("k", "v");
  Flush();
  const ExportImportFilesMetaData exported = Export();
  OpenOther();
  for (int i = 0; i < 10; ++i) ASSERT_OK(other_->Put(WriteOptions(), "x", "y"));
  Import(exported);
  EXPECT_EQ(other_->GetLatestSequenceNumber(), 11u) << "one of its own, which no log has";
  EXPECT_EQ(Tree(other_.get(), imported_.get()), "0: k..k @1-1, ");
}

TEST_F(ImportTest, MovedFilesAreRemovedAndCopiedOnesAreNot) {
  Open();
  FillTree();
  const ExportImportFilesMetaData copied = Export("copied");
  const ExportImportFilesMetaData moved = Export("moved");
  OpenOther();
  Import(copied);
  const std::string contents = Imported();
  EXPECT_EQ(contents, Contents());
  ASSERT_OK(other_->DropColumnFamily(imported_.get()));
  Import(moved, true);
  EXPECT_EQ(Imported(), contents);
  for (const LiveFileMetaData& file : copied.files)
    EXPECT_TRUE(std::filesystem::exists(PathOf(file)));
  for (const LiveFileMetaData& file : moved.files)
    EXPECT_FALSE(std::filesystem::exists(PathOf(file)));
  OpenOther();
  EXPECT_EQ(Imported(), contents);
}

TEST_F(ImportTest, AFileThatCannotBeLinkedIsCopied) {
  const auto faults = std::make_shared<FaultFileSystem>(Env::Default()->EngineFiles());
  const std::unique_ptr<Env> env = NewCompositeEnv(faults);
  options_.env = env.get();
  Open();
  Put("a", "1");
  const ExportImportFilesMetaData exported = Export();
  FaultRule no_links;
  no_links.operations = FaultOperation::kLink;
  no_links.sticky = true;
  no_links.error = Status::NotSupported("another file system");
  faults->AddRule(no_links);
  OpenOther();
  Import(exported, true);
  EXPECT_EQ(faults->FaultsInjected(), 1u);
  EXPECT_EQ(Imported(), "a=1 ");
  EXPECT_FALSE(std::filesystem::exists(PathOf(exported.files[0])));
  imported_.reset();
  other_.reset();
  Close();
}

// A tombstone that crosses tables stays truncated to each of them.
TEST_F(ImportTest, RangeDeletionsKeepTheirBounds) {
  options_.target_file_size_base = 4 << 10;
  options_.level_compaction_dynamic_level_bytes = false;
  Open();
  const auto key = [](int i) { return StrCat("k", 100 + i); };
  for (int i = 0; i < 40; ++i) Put(key(i), std::string(500, 'a'));
  const Snapshot* const snapshot = db_->GetSnapshot();  // keeps the tombstone
  ASSERT_OK(db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), key(5), key(35)));
  for (int i = 10; i < 20; ++i) Put(key(i), std::string(500, 'b'));
  Flush();
  CompactRangeOptions force;
  force.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  ASSERT_OK(db_->CompactRange(force, nullptr, nullptr));
  const ExportImportFilesMetaData exported = Export();
  ASSERT_GT(exported.files.size(), 3u);
  const std::string contents = Contents();
  db_->ReleaseSnapshot(snapshot);
  OpenOther();
  Import(exported);
  EXPECT_EQ(Imported(), contents);
  ASSERT_OK(other_->CompactRange(force, imported_.get(), nullptr, nullptr));
  EXPECT_EQ(Imported(), contents);
}

TEST_F(ImportTest, IngestedTablesKeepTheSequencesThatTheManifestHas) {
  Open();
  Put("a", "old");
  Flush();
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_OK(writer.Open(scratch_.File("ingested.sst")));
  ASSERT_OK(writer.Put("a", "ingested"));
  ASSERT_OK(writer.DeleteRange("b", "d"));
  ASSERT_OK(writer.Finish());
  ASSERT_OK(db_->IngestExternalFile({scratch_.File("ingested.sst")}, IngestExternalFileOptions()));
  const std::string tree = Tree(db_.get(), db_->DefaultColumnFamily());
  const ExportImportFilesMetaData exported = Export();
  OpenOther();
  Import(exported);
  EXPECT_EQ(Tree(other_.get(), imported_.get()), tree);
  EXPECT_EQ(Imported(), "a=ingested ");
}

// The tables of one ingestion share a sequence number. Merged with an older and a newer table they
// also share keys. Their import must not be refused.
TEST_F(ImportTest, TwoTablesOfLevel0MayShareTheNumberOfAnIngestion) {
  Open();
  const auto put_all = [&](const std::string& value) {
    for (const char* const key : {"a", "b", "c", "d"}) Put(key, value);
    Flush();
  };
  put_all("old");
  std::vector<std::string> paths;
  for (const char* const key : {"b", "c"}) {
    paths.push_back(scratch_.File(StrCat("ingested-", key)));
    SstFileWriter writer(EnvOptions(), options_);
    ASSERT_OK(writer.Open(paths.back()));
    ASSERT_OK(writer.Put(key, "ingested"));
    ASSERT_OK(writer.Finish());
  }
  ASSERT_OK(db_->IngestExternalFile(paths, IngestExternalFileOptions()));
  put_all("new");
  const std::vector<std::string> tables = FileNames(0);  // the newest first
  ASSERT_EQ(tables.size(), 4u);
  ASSERT_OK(db_->CompactFiles(CompactionOptions(), {tables[2], tables[3]}, 0));
  // First next to the other table of the ingestion, then next to that and newer tables.
  for (const bool with_newer : {false, true}) {
    if (with_newer) {
      ASSERT_OK(db_->CompactFiles(CompactionOptions(), {tables[0], tables[1]}, 0));
    }
    // A merge within level 0 keeps its inputs' sequences; an import takes those of the entries.
    const std::string tree =
        with_newer ? "0: a..d @6-9, 0: a..d @1-5, " : Tree(db_.get(), db_->DefaultColumnFamily());
    const ExportImportFilesMetaData exported = Export(with_newer ? "two" : "three");
    OpenOther();
    Import(exported);
    EXPECT_EQ(Tree(other_.get(), imported_.get()), tree);
    EXPECT_EQ(Imported(), "a=new b=new c=new d=new ");
    ASSERT_OK(other_->DropColumnFamily(imported_.get()));
  }
}

TEST_F(ImportTest, FilesOfAWriterGoWhereTheMetadataSays) {
  OpenOther();
  ExportImportFilesMetaData made;
  made.db_comparator_name = options_.comparator->Name();
  for (const char* const key : {"a", "m", "q"}) {
    LiveFileMetaData& file = made.files.emplace_back();
    file.level = made.files.size() == 3 ? 5 : 6;
    file.directory = scratch_.File("");
    file.relative_filename = StrCat("file", made.files.size());
    SstFileWriter writer(EnvOptions(), options_);
    ASSERT_OK(writer.Open(StrCat(file.directory, "/", file.relative_filename)));
    ASSERT_OK(writer.Put(key, StrCat(file.level)));
    ASSERT_OK(writer.DeleteRange(StrCat(key, "x"), StrCat(key, "z")));
    ASSERT_OK(writer.Finish());
  }
  Import(made);
  EXPECT_EQ(Tree(other_.get(), imported_.get()), "5: q..qz @0-0, 6: a..az @0-0, 6: m..mz @0-0, ");
  EXPECT_EQ(Imported(), "a=6 m=6 q=5 ");
}

TEST_F(ImportTest, PartsWithoutCommonKeysBecomeOneFamily) {
  Open();
  Put("a", "1");
  Put("c", "1");
  const ExportImportFilesMetaData low = Export("low");
  ASSERT_OK(db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), "a", "d"));
  CompactAll();
  Put("d", "2");
  Flush();
  CompactAll();
  const ExportImportFilesMetaData high = Export("high");
  Put("c", "3");
  const ExportImportFilesMetaData across = Export("across");
  OpenOther();
  const Status overlaps = TryImport({&high, &across});
  EXPECT_TRUE(overlaps.IsInvalidArgument());
  EXPECT_NE(overlaps.ToString().find(scratch_.File("across")), std::string::npos)
      << overlaps.ToString();
  EXPECT_TRUE(TryImport({&low, &across}).IsInvalidArgument());
  EXPECT_EQ(OtherTables(), 0);
  ASSERT_OK(TryImport({&high, &low}));
  EXPECT_EQ(Imported(), "a=1 c=1 d=2 ");
  OpenOther();
  EXPECT_EQ(Imported(), "a=1 c=1 d=2 ");
}

TEST_F(ImportTest, ImportedLevelsAreCompacted) {
  Open();
  for (int i = 0; i < 6; ++i) {
    Put("k", StrCat(i));
    Flush();
  }
  const ExportImportFilesMetaData exported = Export();
  EXPECT_EQ(exported.files.size(), 6u);
  options_.disable_auto_compactions = false;
  OpenOther();
  Import(exported);
  ASSERT_OK(other_->WaitForCompact(WaitForCompactOptions()));
  ColumnFamilyMetaData metadata;
  other_->GetColumnFamilyMetaData(imported_.get(), &metadata);
  EXPECT_EQ(metadata.file_count, 1u);
  EXPECT_EQ(Imported(), "k=5 ");
}

// A full MANIFEST is replaced by one that contains the family.
TEST_F(ImportTest, ANewManifestHasTheFamily) {
  Open();
  FillTree();
  const ExportImportFilesMetaData exported = Export();
  options_.max_manifest_file_size = 1;
  OpenOther();
  Import(exported);
  const std::string contents = Imported();
  EXPECT_EQ(contents, Contents());
  OpenOther();
  EXPECT_EQ(Imported(), contents);
}

// ---- Refusals.

class RefusedImportTest : public ImportTest {
 protected:
  void SetUp() override {
    Open();
    FillTree();
    exported_ = Export();
    ASSERT_EQ(exported_.files.size(), 3u);
    for (const LiveFileMetaData& file : exported_.files) bytes_.push_back(Bytes(PathOf(file)));
    OpenOther();
  }

  // why: a part of the text. file: the index of the file whose path the text contains, or -1.
  void ExpectRefused(const ExportImportFilesMetaData& metadata, Status::Code code,
                     const std::string& why, int file) {
    const SequenceNumber sequence = other_->GetLatestSequenceNumber();
    for (const bool moves : {false, true}) {
      const Status status = TryImport({&metadata}, moves);
      EXPECT_EQ(status.code(), code) << status.ToString();
      EXPECT_NE(status.ToString().find(why), std::string::npos) << status.ToString();
      if (file >= 0) {
        EXPECT_NE(status.ToString().find(PathOf(metadata.files[static_cast<size_t>(file)])),
                  std::string::npos)
            << status.ToString();
      }
    }
    EXPECT_EQ(other_->GetLatestSequenceNumber(), sequence);
    EXPECT_EQ(OtherTables(), 0);
    std::vector<std::string> names;
    ASSERT_OK(DB::ListColumnFamilies(options_, other_path(), &names));
    EXPECT_EQ(names.size(), 1u);
  }
  void ExpectFilesUnchanged() {
    for (size_t i = 0; i < bytes_.size(); ++i)
      EXPECT_TRUE(Bytes(PathOf(exported_.files[i])) == bytes_[i]) << i;
  }
  // Returns the metadata with one change.
  ExportImportFilesMetaData With(size_t i, const std::function<void(LiveFileMetaData*)>& change) {
    ExportImportFilesMetaData changed = exported_;
    change(&changed.files[i]);
    return changed;
  }
  void Replace(size_t i, const std::string& bytes) {
    const std::string path = PathOf(exported_.files[i]);
    std::filesystem::remove(path);  // it may be a link
    std::ofstream(path, std::ios::binary) << bytes;
  }

  ExportImportFilesMetaData exported_;
  std::vector<std::string> bytes_;
};

// Otherwise its name would be removed, and the database could not be opened again.
TEST_F(ImportTest, ATableOfTheDatabaseItselfIsNotMoved) {
  OpenOther();
  ASSERT_OK(other_->Put(WriteOptions(), "a", "1"));
  ASSERT_OK(other_->Flush(FlushOptions()));
  ExportImportFilesMetaData own;
  own.db_comparator_name = options_.comparator->Name();
  other_->GetLiveFilesMetaData(&own.files);
  ASSERT_EQ(own.files.size(), 1u);
  const Status refused = TryImport({&own}, /*move_files=*/true);
  EXPECT_TRUE(refused.IsInvalidArgument()) << refused.ToString();
  EXPECT_NE(refused.ToString().find(PathOf(own.files[0])), std::string::npos) << refused.ToString();
  EXPECT_TRUE(std::filesystem::exists(PathOf(own.files[0])));
  Import(own);
  OpenOther();
  EXPECT_EQ(Imported(), "a=1 ");
  EXPECT_EQ(Walk(other_.get(), other_->DefaultColumnFamily()), "a=1 ");
}

TEST_F(RefusedImportTest, MetadataThatCannotBe) {
  using enum Status::Code;
  ExportImportFilesMetaData foreign = exported_;
  foreign.db_comparator_name = "somebody's";
  ExpectRefused(foreign, kInvalidArgument, "comparator", -1);
  for (const int level : {-1, 7}) {
    ExpectRefused(With(1, [&](LiveFileMetaData* file) { file->level = level; }), kInvalidArgument,
                  "level", 1);
  }
  for (const char* const name : {"", "/", "/../000001.sst", "a/b.sst"}) {
    ExpectRefused(With(1,
                       [&](LiveFileMetaData* file) {
                         file->name = name;
                         file->relative_filename.clear();
                       }),
                  kInvalidArgument, "name", -1);
  }
  ExpectRefused(With(2, [](LiveFileMetaData* file) { file->smallest_seqno = kSequenceNumberMax; }),
                kInvalidArgument, "sequence", 2);
  ExpectRefused(With(2,
                     [](LiveFileMetaData* file) {
                       file->smallest_seqno = file->largest_seqno = kSequenceNumberMax;
                     }),
                kInvalidArgument, "sequence", 2);
  ExpectRefused(With(0, [](LiveFileMetaData* file) { file->largest.clear(); }), kInvalidArgument,
                "bound", 0);
  ExpectRefused(With(0, [](LiveFileMetaData* file) { file->smallest = "short"; }), kInvalidArgument,
                "bounds", 0);
  ExpectRefused(With(0, [](LiveFileMetaData* file) { std::swap(file->smallest, file->largest); }),
                kInvalidArgument, "bounds", 0);
  EXPECT_TRUE(TryImport({nullptr}).IsInvalidArgument());
  ExpectFilesUnchanged();
}

TEST_F(RefusedImportTest, MetadataOfAnotherFile) {
  using enum Status::Code;
  ExpectRefused(With(0, [](LiveFileMetaData* file) { ++file->size; }), kCorruption, "bytes", 0);
  for (size_t i = 0; i < exported_.files.size(); ++i) {
    SCOPED_TRACE(i);
    const auto number = static_cast<int>(i);
    ExpectRefused(With(i,
                       [](LiveFileMetaData* file) {
                         file->smallest_seqno = file->largest_seqno = file->largest_seqno + 1;
                       }),
                  kCorruption, "sequence number", number);
    if (exported_.files[i].largest_seqno > exported_.files[i].smallest_seqno) {
      ExpectRefused(
          With(i, [](LiveFileMetaData* file) { file->largest_seqno = file->smallest_seqno; }),
          kCorruption, "sequence number", number);
    }
    ExpectRefused(With(i,
                       [](LiveFileMetaData* file) {
                         file->smallest = file->largest =
                             MakeInternalKey("zz", file->largest_seqno, ValueType::kValue);
                       }),
                  kCorruption, "before the smallest", number);
    ExpectRefused(With(i,
                       [](LiveFileMetaData* file) {
                         file->smallest = file->largest =
                             MakeInternalKey("A", file->largest_seqno, ValueType::kValue);
                       }),
                  kCorruption, "after the largest", number);
  }
  ExpectFilesUnchanged();
}

TEST_F(RefusedImportTest, FilesThatAreMissingOrDamaged) {
  using enum Status::Code;
  for (size_t i = 0; i < bytes_.size(); ++i) {
    SCOPED_TRACE(i);
    const auto number = static_cast<int>(i);
    // Damages any byte, or cuts the end.
    for (size_t at = 0; at < bytes_[i].size(); at += 11) {
      std::string damaged = bytes_[i];
      damaged[at] = static_cast<char>(~damaged[at]);
      Replace(i, damaged);
      const Status status = TryImport({&exported_});
      if (status.ok()) {
        // No reader uses this byte.
        ASSERT_EQ(Imported(), Contents()) << at;
        ASSERT_OK(other_->DropColumnFamily(imported_.get()));
        imported_.reset();
        continue;
      }
      EXPECT_NE(status.ToString().find(PathOf(exported_.files[i])), std::string::npos)
          << at << ": " << status.ToString();
    }
    Replace(i, bytes_[i].substr(0, bytes_[i].size() / 2));
    ExpectRefused(exported_, kCorruption, "bytes", number);
    ExpectRefused(With(i, [](LiveFileMetaData* file) { file->size = 0; }), kCorruption, "", number);
    // Under Wine a deleted file may stay until all links to it are closed.
    const std::string path = PathOf(exported_.files[i]);
    std::filesystem::rename(path, path + ".away");
    ExpectRefused(exported_, kIOError, "", number);
    std::filesystem::rename(path + ".away", path);
    Replace(i, bytes_[i]);
  }
  ASSERT_OK(TryImport({&exported_}));
  EXPECT_EQ(Imported(), Contents());
  ExpectFilesUnchanged();
}

TEST_F(RefusedImportTest, FilesThatOverlapOnOneLevel) {
  using enum Status::Code;
  // All three files on a sorted level, and one file twice on level 0.
  ExportImportFilesMetaData flat = exported_;
  for (LiveFileMetaData& file : flat.files) file.level = 3;
  ExpectRefused(flat, kInvalidArgument, "level 3", -1);
  ExportImportFilesMetaData twice = exported_;
  twice.files.push_back(exported_.files[0]);
  ExpectRefused(twice, kInvalidArgument, "level 0", 0);
  ExpectFilesUnchanged();
}

class MisplacedImportTest : public ImportTest {
 protected:
  // Makes tables of level 0. Each call uses a new database, and each of `writes` fills a table.
  void Make(const std::vector<std::function<void()>>& writes) {
    Open();
    for (const auto& write : writes) {
      write();
      Flush();
    }
    const std::string folder = StrCat("exported", ++exports_);
    ExportImportFilesMetaData exported = Export(folder);
    ASSERT_EQ(exported.files.size(), writes.size());
    std::sort(exported.files.begin(), exported.files.end(),
              [](const LiveFileMetaData& a, const LiveFileMetaData& b) {
                return a.largest_seqno < b.largest_seqno;
              });
    files_.insert(files_.end(), exported.files.begin(), exported.files.end());
    Close();
    ASSERT_OK(DestroyDB(path(), options_));
  }
  ExportImportFilesMetaData Metadata() const {
    ExportImportFilesMetaData metadata;
    metadata.db_comparator_name = options_.comparator->Name();
    metadata.files = files_;
    return metadata;
  }
  void ExpectRefused(const std::string& why) {
    OpenOther();
    const ExportImportFilesMetaData metadata = Metadata();
    const Status status = TryImport({&metadata});
    EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
    EXPECT_NE(status.ToString().find(why), std::string::npos) << status.ToString();
    for (const LiveFileMetaData& file : files_)
      EXPECT_NE(status.ToString().find(PathOf(file)), std::string::npos) << status.ToString();
    EXPECT_EQ(OtherTables(), 0);
  }

  std::vector<LiveFileMetaData> files_;  // of each database, in the order of the writes

 private:
  int exports_ = 0;
};

// If the metadata ordered the files, Get would find the old value in the file that it makes the
// newest, while an iterator would find the new value.
TEST_F(MisplacedImportTest, TheEntriesOrderLevel0AndNotTheMetadata) {
  Make({[&] { Put("k", "old"), Put("l", "old"); }, [&] { Put("k", "new"); }});
  files_[0].largest_seqno = 100;
  OpenOther();
  Import(Metadata());
  EXPECT_EQ(Tree(other_.get(), imported_.get()), "0: k..k @3-3, 0: k..l @1-2, ");
  EXPECT_LT(other_->GetLatestSequenceNumber(), 100u);
  std::string value;
  ASSERT_OK(other_->Get(ReadOptions(), imported_.get(), "k", &value));
  EXPECT_EQ(value, "new");
  EXPECT_EQ(Imported(), "k=new l=old ");
}

// They have the sequences of an ingested file and the memtable that it met, but not the keys.
TEST_F(MisplacedImportTest, ATableWithOneSequenceIsNotBelieved) {
  Make({[&] { Put("k", "1"), Put("l", "2"), Put("m", "3"); }});
  Make({[&] { Put("y", "1"); }, [&] { Put("k", "2"); }});
  files_.erase(files_.begin() + 1);
  ASSERT_EQ(files_[1].smallest_seqno, 2u);
  ExpectRefused("an older version");
}

// The upper file would be below the other after a compaction that drops its newest entry.
TEST_F(MisplacedImportTest, InterleavedSequencesOnLevel0) {
  for (const int before : {4, 2}) {
    Make({[&] {
            for (int i = 0; i < before; ++i) Put("a", StrCat(i));
          },
          [&] {
            Put("k", StrCat(before));
            for (int i = 0; i < 4; ++i) Put(StrCat("z", before), StrCat(i));
          }});
    files_.erase(files_.end() - 2);
  }
  ASSERT_EQ(files_[0].smallest_seqno, 5u);
  ASSERT_EQ(files_[1].largest_seqno, 7u);
  ExpectRefused("in sequence numbers");
}

TEST_F(MisplacedImportTest, AnOlderVersionAboveANewerOne) {
  Make({[&] { Put("k", "old"); }, [&] { Put("k", "new"); }});
  files_[1].level = 3;
  for (const int above : {0, 2}) {
    files_[0].level = above;
    ExpectRefused("an older version");
  }
  std::swap(files_[0].level, files_[1].level);
  Import(Metadata());
  EXPECT_EQ(Imported(), "k=new ");
}

TEST_F(MisplacedImportTest, TheSameVersionOnTwoLevels) {
  Make({[&] { Put("k", "v"); }});
  files_.push_back(files_[0]);
  files_[1].level = 3;
  ExpectRefused("an older version");
}

TEST_F(MisplacedImportTest, AnOlderVersionAboveANewerRangeDeletion) {
  Make(
      {[&] { Put("k", "old"); },
       [&] { ASSERT_OK(db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), "j", "l")); }});
  files_[1].level = 3;
  ExpectRefused("an older version");
}

// A compaction of the lower file zeroes the entry's sequence, because it is the oldest of its key.
TEST_F(MisplacedImportTest, AnOlderRangeDeletionAboveANewerVersion) {
  Make({[&] { ASSERT_OK(db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), "j", "l")); },
        [&] { Put("k", "new"); }});
  files_[1].level = 3;
  ExpectRefused("an older version");
}

// RocksDB writes range deletions beyond the file, whose bounds truncate them on both sides.
TEST_F(MisplacedImportTest, ARangeDeletionBeginsWithItsFile) {
  Make({[&] {
          ASSERT_OK(db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), "k0", "k5"));
          Put("k2", "above");
        },
        [&] { Put("k1", "below"), Put("k9", "below"); }});
  files_[0].smallest = MakeInternalKey("k2", 2, ValueType::kValue);
  files_[0].level = 2;
  files_[1].level = 3;
  OpenOther();
  Import(Metadata());
  EXPECT_EQ(Imported(), "k1=below k2=above k9=below ");
}

// Tables of two levels with interleaved sequences, as in most trees.
TEST_F(MisplacedImportTest, OlderEntriesAboveNewerOnesOfOtherKeys) {
  const auto key = [](int i) { return StrCat("k", 1000 + i); };
  for (const bool has_common_key : {false, true}) {
    files_.clear();
    Make({[&] {
            for (const int i : {50, 150, 351}) Put(key(i), "above");
            if (has_common_key) Put(key(399), "above");
            ASSERT_OK(
                db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), key(150), key(152)));
          },
          [&] {
            for (int i = 0; i < 450; ++i) {
              if (i != 50 && i != 351 && (i < 150 || i > 151)) Put(key(i), "below");
            }
            ASSERT_OK(
                db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), key(352), key(360)));
          }});
    files_[0].level = 2;
    files_[1].level = 3;
    if (has_common_key) {
      ExpectRefused("an older version");
    } else {
      OpenOther();
      Import(Metadata());
      EXPECT_EQ(Imported().size(), (450 - 2 - 8) * std::string("k1000=below ").size());
      ASSERT_OK(other_->DropColumnFamily(imported_.get()));
    }
  }
}

// RocksDB 7.10 and later reads level 0 in the order of epoch numbers.
TEST_F(RefusedImportTest, EpochNumbersThatSequencesDoNotShow) {
  using enum Status::Code;
  ExportImportFilesMetaData numbered = exported_;
  std::vector<LiveFileMetaData*> level0;
  for (LiveFileMetaData& file : numbered.files) {
    file.epoch_number = 1;
    if (file.level == 0) level0.push_back(&file);
  }
  ASSERT_EQ(level0.size(), 2u);
  if (level0[0]->largest_seqno < level0[1]->largest_seqno) std::swap(level0[0], level0[1]);
  level0[0]->epoch_number = 2;
  level0[1]->epoch_number = 3;
  ExpectRefused(numbered, kNotSupported, "epoch numbers", -1);
  level0[0]->epoch_number = 4;
  ASSERT_OK(TryImport({&numbered}));
  EXPECT_EQ(Imported(), Contents());
  ASSERT_OK(other_->DropColumnFamily(imported_.get()));
  // Without an epoch number, the file has the place that its sequences give it.
  level0[0]->epoch_number = 0;
  ASSERT_OK(TryImport({&numbered}));
  EXPECT_EQ(Imported(), Contents());
  ExpectFilesUnchanged();
}

TEST_F(RefusedImportTest, AComparatorThatIsNotTheFiles) {
  const Comparator* const bytewise = options_.comparator;
  options_.comparator = ReverseBytewiseComparator();
  ExportImportFilesMetaData renamed = exported_;
  renamed.db_comparator_name = options_.comparator->Name();
  for (LiveFileMetaData& file : renamed.files) {
    file.smallest.clear();
    file.largest.clear();
  }
  const Status status = TryImport({&renamed});
  EXPECT_TRUE(status.IsInvalidArgument());
  EXPECT_NE(status.ToString().find("was written with comparator"), std::string::npos)
      << status.ToString();
  options_.comparator = bytewise;
  ExpectFilesUnchanged();
}

TEST_F(RefusedImportTest, RangeDeletionsWithoutBounds) {
  ExportImportFilesMetaData unbounded = exported_;
  int with_ranges = -1;
  for (size_t i = 0; i < unbounded.files.size(); ++i) {
    LiveFileMetaData& file = unbounded.files[i];
    if (ExtractTag(file.largest) == kRangeEndTag) with_ranges = static_cast<int>(i);
    file.smallest.clear();
    file.largest.clear();
  }
  ASSERT_GE(with_ranges, 0);
  ExpectRefused(unbounded, Status::kNotSupported, "bounds", with_ranges);
}

TEST_F(RefusedImportTest, ANameThatIsTaken) {
  ASSERT_OK(TryImport({&exported_}));
  const std::string contents = Imported();
  const std::unique_ptr<ColumnFamilyHandle> first = std::move(imported_);
  const int tables = OtherTables();
  const Status status = TryImport({&exported_});
  EXPECT_TRUE(status.IsInvalidArgument());
  EXPECT_NE(status.ToString().find("exists already"), std::string::npos) << status.ToString();
  EXPECT_EQ(OtherTables(), tables);
  EXPECT_EQ(Walk(other_.get(), first.get()), contents);
}

TEST_F(RefusedImportTest, AReadOnlyDatabase) {
  other_.reset();
  ASSERT_OK(DB::OpenForReadOnly(options_, other_path(), &other_));
  EXPECT_TRUE(TryImport({&exported_}).IsNotSupported());
  EXPECT_TRUE(other_->ClipColumnFamily(other_->DefaultColumnFamily(), "a", "b").IsNotSupported());
}

TEST_F(RefusedImportTest, OptionsThatCannotBe) {
  const int levels = options_.num_levels;
  options_.num_levels = 0;
  EXPECT_TRUE(TryImport({&exported_}).IsInvalidArgument());
  options_.num_levels = levels;
  ASSERT_OK(TryImport({&exported_}));
}

// ---- Clips.

class ClipTest : public ImportTest {
 protected:
  Status Clip(const Slice& begin, const Slice& end) {
    const Status status = db_->ClipColumnFamily(db_->DefaultColumnFamily(), begin, end);
    CheckInvariants(db_.get());
    return status;
  }
  // Expects no part of the tables to be outside the range.
  void ExpectFilesWithin(const Slice& begin, const Slice& end) {
    TablePropertiesCollection properties;
    ASSERT_OK(db_->GetPropertiesOfAllTables(db_->DefaultColumnFamily(), &properties));
    for (const auto& [name, table] : properties) {
      EXPECT_EQ(table->num_deletions, 0u) << name;
      EXPECT_EQ(table->num_range_deletions, 0u) << name;
    }
    std::vector<LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
    for (const LiveFileMetaData& file : files) {
      EXPECT_LE(options_.comparator->Compare(begin, file.smallestkey), 0) << file.smallestkey;
      EXPECT_LT(options_.comparator->Compare(file.largestkey, end), 0) << file.largestkey;
    }
  }
};

TEST_F(ClipTest, WhatIsOutsideIsGone) {
  for (const bool flushed : {false, true}) {
    Open();
    FillTree();
    Put("b", "5");
    Put("z", "6");
    if (flushed) Flush();
    ASSERT_OK(Clip("b", "e"));
    EXPECT_EQ(Contents(), "b=5 d=1 ");
    ExpectFilesWithin("b", "e");
    Open();
    EXPECT_EQ(Contents(), "b=5 d=1 ");
    ExpectFilesWithin("b", "e");
    Close();
    ASSERT_OK(DestroyDB(path(), options_));
  }
}

TEST_F(ClipTest, BoundsAreInOnTheLeftAndOutOnTheRight) {
  Open();
  for (const char* const key : {"a", "b", "c", "d"}) Put(key, "1");
  ASSERT_OK(Clip("b", "d"));
  EXPECT_EQ(Contents(), "b=1 c=1 ");
  ASSERT_OK(Clip("bb", "zz"));
  EXPECT_EQ(Contents(), "c=1 ");
  ASSERT_OK(Clip("c", "c"));
  EXPECT_EQ(Contents(), "");
  EXPECT_EQ(Tables(), 0);
  ASSERT_OK(Clip("a", "b"));  // of an empty database
}

TEST_F(ClipTest, InvertedBoundsChangeNothing) {
  Open();
  Put("a", "1");
  const SequenceNumber sequence = db_->GetLatestSequenceNumber();
  EXPECT_TRUE(Clip("c", "b").IsInvalidArgument());
  EXPECT_EQ(db_->GetLatestSequenceNumber(), sequence);
  EXPECT_EQ(Contents(), "a=1 ");
}

TEST_F(ClipTest, ARangeThatHasAllWritesNothing) {
  Open();
  FillTree();
  const std::string contents = Contents();
  const std::string tree = Tree(db_.get(), db_->DefaultColumnFamily());
  ASSERT_OK(Clip("a", "z"));
  EXPECT_EQ(Contents(), contents);
  EXPECT_EQ(Tree(db_.get(), db_->DefaultColumnFamily()), tree);
}

TEST_F(ClipTest, DeletionsOutsideGoToo) {
  Open();
  Put("m", "1");
  Delete("a");
  ASSERT_OK(db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), "x", "z"));
  Flush();
  ASSERT_OK(Clip("m", "n"));
  EXPECT_EQ(Contents(), "m=1 ");
  ExpectFilesWithin("m", "n");
}

TEST_F(ClipTest, EveryOrder) {
  for (const NamedComparator& order : TestComparators()) {
    SCOPED_TRACE(order.name);
    options_.comparator = order.comparator;
    Open();
    std::vector<std::string> keys = {"a", "bb", "c", "dd", "e", "fff", "g"};
    for (const std::string& key : keys) Put(key, "1");
    std::sort(keys.begin(), keys.end(), [&](const std::string& a, const std::string& b) {
      return order.comparator->Compare(a, b) < 0;
    });
    ASSERT_OK(Clip(keys[2], keys[5]));
    EXPECT_EQ(Contents(), StrCat(keys[2], "=1 ", keys[3], "=1 ", keys[4], "=1 "));
    ExpectFilesWithin(keys[2], keys[5]);
    Close();
    ASSERT_OK(DestroyDB(path(), options_));
  }
}

TEST_F(ClipTest, EveryStyleOfCompaction) {
  for (const CompactionStyle style :
       {kCompactionStyleLevel, kCompactionStyleUniversal, kCompactionStyleFIFO}) {
    SCOPED_TRACE(static_cast<int>(style));
    options_.compaction_style = style;
    Open();
    FillTree();
    ASSERT_OK(Clip("b", "e"));
    EXPECT_EQ(Contents(), "b=4 d=1 ");
    if (style != kCompactionStyleFIFO) ExpectFilesWithin("b", "e");
    Close();
    ASSERT_OK(DestroyDB(path(), options_));
  }
}

TEST_F(ClipTest, ASnapshotKeepsWhatItSees) {
  Open();
  FillTree();
  const std::string contents = Contents();
  const Snapshot* const snapshot = db_->GetSnapshot();
  ASSERT_OK(Clip("b", "e"));
  EXPECT_EQ(Contents(), "b=4 d=1 ");
  EXPECT_EQ(Contents(nullptr, snapshot), contents);
  db_->ReleaseSnapshot(snapshot);
  ASSERT_OK(Clip("b", "e"));
  ExpectFilesWithin("b", "e");
}

TEST_F(ClipTest, WhileManualCompactionsAreDisabledNothingIsDeleted) {
  Open();
  FillTree();
  const std::string contents = Contents();
  db_->DisableManualCompaction();
  EXPECT_TRUE(Clip("b", "e").IsIncomplete());
  EXPECT_EQ(Contents(), contents);
  db_->EnableManualCompaction();
  ASSERT_OK(Clip("b", "e"));
  EXPECT_EQ(Contents(), "b=4 d=1 ");
}

TEST_F(ClipTest, AFamilyOfPlainTablesRefusesIt) {
  options_.allow_mmap_reads = true;
  PlainTableOptions plain;
  plain.hash_table_ratio = 0;
  options_.table_factory.reset(NewPlainTableFactory(plain));
  Open();
  Put("a", "1");
  Put("b", "1");
  EXPECT_TRUE(Clip("b", "c").IsNotSupported());
  EXPECT_EQ(Contents(), "a=1 b=1 ");
}

// As RocksDB recommends, overlapping shards are clipped, exported and joined.
TEST_F(ClipTest, ClippedFamiliesCanBeJoined) {
  Open();
  for (const char* const key : {"a", "m", "z"}) Put(key, "left");
  ASSERT_OK(Clip("a", "m"));
  const ExportImportFilesMetaData left = Export("left");
  for (const char* const key : {"a", "m", "z"}) Put(key, "right");
  ASSERT_OK(Clip("m", "zz"));
  const ExportImportFilesMetaData right = Export("right");
  OpenOther();
  ASSERT_OK(TryImport({&left, &right}));
  EXPECT_EQ(Imported(), "a=left m=right z=right ");
}

}  // namespace
}  // namespace ashlar
