// Tests which data RepairDB keeps after each kind of damage, where it puts the originals, and which
// cases it refuses.
#include "ashlar/repair.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/filter_policy.h"
#include "ashlar/merge_operator.h"
#include "ashlar/sst_file_writer.h"
#include "ashlar/table.h"
#include "ashlar/write_batch.h"
#include "base/format.h"
#include "base/random.h"
#include "filesystem/filename.h"
#include "filesystem/memory_file_system.h"
#include "key/write_batch_internal.h"
#include "manifest/manifest_reader.h"
#include "manifest/manifest_writer.h"
#include "tests/support/comparators.h"
#include "tests/support/expect_ok.h"
#include "tests/support/file_damage.h"
#include "tests/support/open_database.h"
#include "wal/log_writer.h"

namespace ashlar {
namespace {

constexpr char kOther[] = "other";
constexpr char kThird[] = "third";

class RepairTest : public ::testing::Test {
 protected:
  RepairTest() : disk_(std::make_shared<MemoryFileSystem>()), env_(disk_, 1) {
    settings_ = SmallDatabaseOptions();
    settings_.level0_file_num_compaction_trigger = 100;
    settings_.max_manifest_file_size = 1 << 20;
    BlockBasedTableOptions table;
    table.no_block_cache = true;
    table.block_size = 512;
    table.filter_policy.reset(NewBloomFilterPolicy(10));
    settings_.table_factory.reset(NewBlockBasedTableFactory(table));
  }

  void Open() {
    database_ = std::make_unique<OpenDatabase>(disk_, settings_, 1);
    ASSERT_OK(database_->Open());
    if (contents_.empty()) contents_[kDefaultColumnFamilyName] = {};
  }
  void CreateFamily(const std::string& name) {
    ASSERT_OK(database_->CreateFamily(name));
    contents_[name] = {};
  }
  void Do(const Commit& commit) {
    ASSERT_OK(database_->Write(commit, WriteOptions()));
    Apply(commit, &contents_);
  }
  void Put(const std::string& family, const std::string& key, const std::string& value) {
    Do({{.kind = Change::Kind::kPut, .family = family, .key = key, .value = value}});
  }
  void Delete(const std::string& family, const std::string& key) {
    Do({{.kind = Change::Kind::kDelete, .family = family, .key = key, .value = ""}});
  }
  // Puts the keys begin..end-1, so that a table has several blocks.
  void PutMany(const std::string& family, int begin, int end, const std::string& value) {
    for (int i = begin; i < end; ++i) Put(family, Key(i), StrCat(value, i, std::string(60, '.')));
  }
  static std::string Key(int i) { return StrCat("key", 1000 + i); }
  void Merge(const std::string& family, const std::string& key, const std::string& operand) {
    Do({{.kind = Change::Kind::kMerge, .family = family, .key = key, .value = operand}});
  }
  // Compacts all level-0 tables of the default family into the level.
  void MoveDown(int level) {
    std::vector<LiveFileMetaData> files;
    database_->db()->GetLiveFilesMetaData(&files);
    std::vector<std::string> names;
    for (const LiveFileMetaData& file : files) {
      if (file.level == 0) names.push_back(file.relative_filename);
    }
    ASSERT_OK(database_->db()->CompactFiles(CompactionOptions(), names, level));
  }
  void Flush() { ASSERT_OK(database_->Flush(database_->families(), true)); }
  void FlushOne(const std::string& family) { ASSERT_OK(database_->Flush({family}, true)); }
  void Close() {
    ASSERT_OK(database_->Close());
    database_.reset();
  }

  // Closes the database but undoes the effects of Close on the files.
  void CloseAsByDeath() {
    const std::map<std::string, std::string> files = AllFiles();
    Close();
    PutBack(files);
  }

  DBOptions DbOptions() {
    DBOptions options(settings_);
    options.env = &env_;
    return options;
  }
  Status Repair(bool dry_run = false) {
    return RepairDB(OpenDatabase::kPath, DbOptions(), {}, settings_, {.dry_run = dry_run},
                    &report_);
  }
  void DeleteManifests() {
    for (const std::string& name : Files(IsManifest)) ASSERT_OK(disk_->DeleteFile(Path(name)));
  }
  // The newest MANIFEST and its current length.
  struct ManifestSoFar {
    std::string path;
    size_t bytes = 0;
  };
  ManifestSoFar Manifest() {
    const std::string path = Path(Files(IsManifest).back());
    return {.path = path, .bytes = ContentsOf(disk_.get(), path).size()};
  }
  // Cuts the MANIFEST at the end of a record, so nothing looks damaged.
  void CutBackTo(const ManifestSoFar& manifest) {
    CutFile(disk_.get(), manifest.path, manifest.bytes);
  }
  // Damages the first record that was added since then.
  void DamageAfter(const ManifestSoFar& manifest) {
    FlipByte(disk_.get(), manifest.path, manifest.bytes + 20);
  }
  // Rewrites the MANIFEST with changed records of the tables of one level.
  void ChangeRecords(Level level, const std::function<void(FileMetaData*)>& change) {
    uint64_t number = 0;
    FileType type;
    ASSERT_TRUE(ParseFileName(Files(IsManifest).back(), &number, &type));
    std::vector<VersionEdit> edits;
    {
      Result<std::unique_ptr<ManifestReader>> reader =
          ManifestReader::OpenNumber(disk_.get(), OpenDatabase::kPath, number, 0);
      ASSERT_OK(reader.status());
      for (VersionEdit edit; (*reader)->Next(&edit); edit = VersionEdit())
        edits.push_back(std::move(edit));
      ASSERT_OK((*reader)->status());
    }
    ASSERT_OK(disk_->DeleteFile(Path(Files(IsManifest).back())));
    Result<NewManifest> manifest = CreateManifest(disk_.get(), OpenDatabase::kPath, number);
    ASSERT_OK(manifest.status());
    for (VersionEdit& edit : edits) {
      for (NewFile& added : edit.new_files()) {
        if (added.level == level) change(added.owned.get());
      }
      ASSERT_OK(AppendEdit(edit, manifest->writer.get()));
    }
    ASSERT_OK(MakeCurrent(disk_.get(), OpenDatabase::kPath, number, *manifest));
    ASSERT_OK(manifest->writer->Close());
  }
  // Replaces the newest log by one with this put. No larger size of that log is on record.
  void ReplaceLog(const std::string& key, SequenceNumber sequence) {
    WriteBatch batch;
    ASSERT_OK(batch.Put(key, kLong));
    WriteBatchInternal::SetSequence(&batch, sequence);
    const std::string path = Path(Files(IsLog).back());
    uint64_t number = 0;
    FileType type;
    ASSERT_TRUE(ParseFileName(Files(IsLog).back(), &number, &type));
    std::unique_ptr<vfs::WritableFile> file;
    ASSERT_OK(disk_->NewWritableFile(path, vfs::FileOptions(), &file));
    LogWriter writer(std::move(file), path, number);
    ASSERT_OK(writer.AddRecord(batch.Data()));
    ASSERT_OK(writer.Close());
  }
  void ExpectOpenRefused(Status::Code code) {
    OpenDatabase refused(disk_, settings_, 2);
    const Status opened = refused.Open();
    EXPECT_EQ(opened.code(), code) << opened.ToString();
  }
  // Expects that a repair corrects the records of these tables and reports them.
  void ExpectRecordsAreMended(const std::vector<std::string>& tables, const std::string& reason) {
    RepairAsAnnounced();
    EXPECT_TRUE(report_.needs_repair);
    for (const std::string& name : tables) {
      EXPECT_EQ(FateOf(name), RepairFate::kKept) << name;
      EXPECT_NE(Find(name)->reason.find(reason), std::string::npos) << Find(name)->reason;
    }
    ExpectContents(contents_);
    ASSERT_OK(Repair(true));
    EXPECT_FALSE(report_.needs_repair);
  }
  // The names of two logs and the offset of the last record of the first one. An open needs all of
  // the first log, because a family has tables of the second one.
  struct TwoLogs {
    std::string first;
    size_t last_record = 0;
    std::string second;
  };
  TwoLogs MakeTwoLogs() {
    TwoLogs logs;
    Open();
    CreateFamily(kOther);
    Put(kDefaultColumnFamilyName, "a", "1");
    Put(kOther, "b", "2");
    logs.first = Files(IsLog).back();
    logs.last_record = ContentsOf(disk_.get(), Path(logs.first)).size();
    Put(kOther, "c", kLong);
    FlushOne(kDefaultColumnFamilyName);
    Put(kDefaultColumnFamilyName, "d", "4");
    Put(kOther, "e", "5");
    CloseAsByDeath();
    logs.second = Files(IsLog).back();
    EXPECT_NE(logs.first, logs.second);
    return logs;
  }
  void ExpectLogIsMended(const TwoLogs& logs) {
    ExpectOpenRefused(Status::kCorruption);
    RepairAsAnnounced();
    EXPECT_TRUE(report_.needs_repair);
    EXPECT_EQ(FateOf(logs.second), RepairFate::kReplayed);
    EXPECT_NE(Find(logs.second)->reason.find(logs.first), std::string::npos)
        << Find(logs.second)->reason;
    ExpectContents(contents_);
    ASSERT_OK(Repair(true));
    EXPECT_FALSE(report_.needs_repair);
  }
  // Returns the bytes of every log by name.
  std::map<std::string, std::string> Logs() { return BytesOf(Files(IsLog)); }
  void PutBack(const std::map<std::string, std::string>& files) {
    for (const auto& [name, bytes] : files) ReplaceFile(disk_.get(), Path(name), bytes);
  }
  // Adds the table that an open makes of the current logs, under an unused number.
  void AddTableOfLogs() {
    const auto image = std::make_shared<MemoryFileSystem>(disk_->Snapshot());
    OpenDatabase copy(image, settings_, 3);
    ASSERT_OK(copy.Open());
    TakeOnlyFile(image.get(), IsTable, "000900.sst");
    ASSERT_OK(copy.Close());
  }
  // Returns the number of logged writes that a repair keeps.
  uint64_t EntriesOfLogs() const {
    uint64_t entries = 0;
    for (const RepairFile& file : report_.files) entries += IsLog(file.name) ? file.entries : 0;
    return entries;
  }
  // Repairs and expects the result that a dry run announced.
  void RepairAsAnnounced() {
    ASSERT_OK(Repair(true));
    const RepairReport announced = report_;
    ASSERT_OK(Repair());
    ASSERT_EQ(report_.files.size(), announced.files.size());
    for (size_t i = 0; i < announced.files.size(); ++i) {
      EXPECT_EQ(report_.files[i].name, announced.files[i].name);
      EXPECT_EQ(report_.files[i].fate, announced.files[i].fate) << announced.files[i].name;
      EXPECT_EQ(report_.files[i].entries, announced.files[i].entries) << announced.files[i].name;
    }
  }
  // Repairs a database whose tables lack this number of logged writes.
  void ExpectRepairKeepsAll(uint64_t logged_writes) {
    RepairAsAnnounced();
    EXPECT_EQ(EntriesOfLogs(), logged_writes);
    ExpectContents(contents_);
  }
  void ExpectOneMergedFamily() {
    ASSERT_EQ(report_.column_families.size(), 1u);
    EXPECT_TRUE(report_.column_families[0].is_merged);
  }
  // Expects that the default one of two families is merged.
  void RepairWithoutTheNewestTable() {
    Close();
    ASSERT_OK(disk_->DeleteFile(Path(Files(IsTable).back())));
    RepairAsAnnounced();
    ASSERT_EQ(report_.column_families.size(), 2u);
    EXPECT_TRUE(report_.column_families[0].is_merged);
  }
  void ExpectContents(const Contents& expected) {
    OpenDatabase opened(disk_, settings_, 2);
    ASSERT_OK(opened.Open());
    Contents found;
    ASSERT_OK(opened.Read(&found));
    EXPECT_EQ(found, expected);
    ASSERT_OK(opened.Close());
  }
  std::vector<std::string> Files(bool (*chosen)(const std::string&)) {
    return FilesIn(disk_.get(), OpenDatabase::kPath, chosen);
  }
  static std::string Path(const std::string& name) {
    return StrCat(OpenDatabase::kPath, "/", name);
  }
  // Returns the bytes of every file except LOCK by name.
  std::map<std::string, std::string> AllFiles() {
    return BytesOf(Files([](const std::string& n) { return n != "LOCK"; }));
  }
  std::map<std::string, std::string> BytesOf(const std::vector<std::string>& names) {
    std::map<std::string, std::string> files;
    for (const std::string& name : names) files[name] = ContentsOf(disk_.get(), Path(name));
    return files;
  }
  // Returns a closed database elsewhere. The value was put for each of the keys in turn.
  std::shared_ptr<MemoryFileSystem> DatabaseElsewhere(const std::vector<std::string>& keys,
                                                      const std::string& value, bool flush) {
    const auto elsewhere = std::make_shared<MemoryFileSystem>();
    OpenDatabase other(elsewhere, settings_, 1);
    EXPECT_OK(other.Open());
    for (const std::string& key : keys) {
      EXPECT_OK(other.Write({{.kind = Change::Kind::kPut,
                              .family = kDefaultColumnFamilyName,
                              .key = key,
                              .value = value}},
                            WriteOptions()));
    }
    if (flush) {
      EXPECT_OK(other.Flush(other.families(), true));
    }
    EXPECT_OK(other.Close());
    return elsewhere;
  }
  // Copies the only file of this kind from another database under a new name.
  void TakeOnlyFile(vfs::FileSystem* elsewhere, bool (*chosen)(const std::string&),
                    const std::string& name) {
    const std::vector<std::string> names = FilesIn(elsewhere, OpenDatabase::kPath, chosen);
    ASSERT_EQ(names.size(), 1u);
    ReplaceFile(disk_.get(), Path(name), ContentsOf(elsewhere, Path(names[0])));
  }
  const RepairFile* Find(const std::string& name) const {
    for (const RepairFile& file : report_.files) {
      if (file.name == name) return &file;
    }
    return nullptr;
  }
  RepairFate FateOf(const std::string& name) const {
    const RepairFile* const file = Find(name);
    EXPECT_NE(file, nullptr) << name;
    return file == nullptr ? RepairFate::kLeftOut : file->fate;
  }

  static inline const std::string kLong = std::string(500, 'n');
  const std::shared_ptr<MemoryFileSystem> disk_;
  ManualEnv env_;
  Options settings_;
  std::unique_ptr<OpenDatabase> database_;
  Contents contents_;
  RepairReport report_;
};

TEST_F(RepairTest, AnIntactDatabaseIsLeftAsItIs) {
  Open();
  CreateFamily(kOther);
  PutMany(kOther, 0, 50, "a");
  Flush();
  Put(kDefaultColumnFamilyName, "in the log", "1");
  Close();
  const auto before = AllFiles();
  ASSERT_OK(Repair());
  EXPECT_FALSE(report_.needs_repair);
  EXPECT_EQ(AllFiles(), before);
  ExpectContents(contents_);
}

TEST_F(RepairTest, ADryRunReportsAndChangesNothing) {
  Open();
  PutMany(kDefaultColumnFamilyName, 0, 100, "a");
  Flush();
  Close();
  const std::string table = Files(IsTable).front();
  FlipByte(disk_.get(), Path(table), 10);
  ASSERT_OK(disk_->DeleteFile(Path("CURRENT")));
  const auto before = AllFiles();
  ASSERT_OK(Repair(true));
  EXPECT_TRUE(report_.needs_repair);
  EXPECT_EQ(FateOf(table), RepairFate::kSalvaged);
  EXPECT_EQ(Find(table)->lost_blocks, 1u);
  EXPECT_FALSE(report_.manifest_reason.empty());
  EXPECT_EQ(AllFiles(), before);
  EXPECT_FALSE(disk_->FileExists(Path("lost")).ok());
}

TEST_F(RepairTest, WithoutCurrentTheManifestIsUsed) {
  Open();
  CreateFamily(kOther);
  PutMany(kOther, 0, 50, "a");
  Flush();
  Put(kDefaultColumnFamilyName, "in the log", "1");
  Close();
  ASSERT_OK(disk_->DeleteFile(Path("CURRENT")));
  ASSERT_OK(Repair());
  ExpectContents(contents_);
}

TEST_F(RepairTest, WithoutAManifestFamiliesComeFromTables) {
  Open();
  CreateFamily(kOther);
  CreateFamily(kThird);
  PutMany(kOther, 0, 50, "a");
  PutMany(kDefaultColumnFamilyName, 0, 50, "b");
  Flush();
  PutMany(kOther, 20, 70, "c");
  Flush();
  Put(kOther, "in the log", "1");
  Close();
  DeleteManifests();
  ASSERT_OK(Repair());
  contents_.erase(kThird);  // no file has its name
  ExpectContents(contents_);
}

// Level 0 is searched in the order of the tables' largest sequences. Here the table with the larger
// one has the older version of a key.
TEST_F(RepairTest, TablesWhoseOrderIsNotKnownAreMerged) {
  Open();
  Put(kDefaultColumnFamilyName, "a", "old");
  Put(kDefaultColumnFamilyName, "b", "1");
  Put(kDefaultColumnFamilyName, "c", "1");
  Flush();
  Close();
  const auto elsewhere = std::make_shared<MemoryFileSystem>();
  OpenDatabase other(elsewhere, settings_, 1);
  ASSERT_OK(other.Open());
  for (const char* key : {"d", "a"}) {
    const Commit commit = {{.kind = Change::Kind::kPut,
                            .family = kDefaultColumnFamilyName,
                            .key = key,
                            .value = "new"}};
    ASSERT_OK(other.Write(commit, WriteOptions()));
    Apply(commit, &contents_);
  }
  ASSERT_OK(other.Flush(other.families(), true));
  ASSERT_OK(other.Close());
  const std::string table = FilesIn(elsewhere.get(), OpenDatabase::kPath, IsTable).front();
  TakeOnlyFile(elsewhere.get(), IsTable, "000900.sst");
  DeleteManifests();
  ASSERT_OK(Repair());
  ASSERT_EQ(report_.column_families.size(), 1u);
  EXPECT_TRUE(report_.column_families[0].is_merged);
  ExpectContents(contents_);
  EXPECT_EQ(Files(IsTable).size(), 1u);
}

// Compactions neither read nor write that level, so the tables would stay there, and no file could
// be ingested behind.
TEST_F(RepairTest, AMergedFamilyLeavesTheReservedLevelFree) {
  settings_.allow_ingest_behind = true;
  Open();
  for (const char* key : {"a", "b", "c"}) Put(kDefaultColumnFamilyName, key, "old");
  Flush();
  Close();
  const auto elsewhere = DatabaseElsewhere({"d", "a"}, "new", true);
  for (const char* key : {"d", "a"}) contents_[kDefaultColumnFamilyName][key] = "new";
  TakeOnlyFile(elsewhere.get(), IsTable, "000900.sst");
  DeleteManifests();
  ASSERT_OK(Repair());
  ExpectOneMergedFamily();
  ExpectContents(contents_);
  Open();
  std::vector<LiveFileMetaData> files;
  database_->db()->GetLiveFilesMetaData(&files);
  EXPECT_FALSE(files.empty());
  for (const LiveFileMetaData& file : files) EXPECT_EQ(file.level, settings_.num_levels - 2);
  Close();
}

TEST_F(RepairTest, ADamagedBlockLosesItsKeysAndNoOthers) {
  Open();
  PutMany(kDefaultColumnFamilyName, 0, 100, "a");
  Flush();
  Close();
  const std::string table = Files(IsTable).front();
  const std::string original = ContentsOf(disk_.get(), Path(table));
  FlipByte(disk_.get(), Path(table), 700);  // in the second block
  const std::string damaged = ContentsOf(disk_.get(), Path(table));
  ASSERT_OK(Repair());
  EXPECT_EQ(FateOf(table), RepairFate::kSalvaged);
  EXPECT_EQ(Find(table)->lost_blocks, 1u);
  EXPECT_EQ(ContentsOf(disk_.get(), Path(StrCat("lost/", table))), damaged);

  OpenDatabase opened(disk_, settings_, 2);
  ASSERT_OK(opened.Open());
  Contents found;
  ASSERT_OK(opened.Read(&found));
  const FamilyContents& kept = found[kDefaultColumnFamilyName];
  EXPECT_EQ(kept.size(), Find(table)->entries);
  EXPECT_GE(kept.size(), 90u);
  EXPECT_LT(kept.size(), 100u);
  for (const auto& [key, value] : kept) EXPECT_EQ(value, contents_[kDefaultColumnFamilyName][key]);
  ASSERT_OK(opened.Close());
}

// The older table is recorded with a largest sequence between those of the newer one, like a table
// that was ingested before the newest of these writes.
TEST_F(RepairTest, ATableOfLevel0ThatLosesItsNewestEntriesStaysInItsPlace) {
  settings_.disable_auto_compactions = true;
  Open();
  PutMany(kDefaultColumnFamilyName, 50, 60, "a");
  Flush();
  PutMany(kDefaultColumnFamilyName, 10, 100, "b");
  PutMany(kDefaultColumnFamilyName, 0, 2, "b");
  Flush();
  Close();
  SequenceNumber newest = 0;
  ChangeRecords(0, [&](FileMetaData* file) { newest = std::max(newest, file->largest_sequence); });
  ChangeRecords(0, [&](FileMetaData* file) {
    if (file->largest_sequence != newest) file->largest_sequence = newest - 1;
  });
  ExpectContents(contents_);
  const std::string table = Files(IsTable).back();
  FlipByte(disk_.get(), Path(table), 100);  // in the first block, which has the newest entries
  ASSERT_OK(Repair());
  EXPECT_EQ(FateOf(table), RepairFate::kSalvaged);
  EXPECT_EQ(Find(table)->lost_blocks, 1u);

  OpenDatabase opened(disk_, settings_, 2);
  ASSERT_OK(opened.Open());
  std::string value;
  EXPECT_TRUE(opened.db()->Get(ReadOptions(), Key(0), &value).IsNotFound());
  for (int i = 50; i < 60; ++i) {
    ASSERT_OK(opened.db()->Get(ReadOptions(), Key(i), &value));
    EXPECT_EQ(value, contents_[kDefaultColumnFamilyName][Key(i)]) << "not the older table's";
  }
  ASSERT_OK(opened.Close());
}

// It may be most of the tree, so it does not get the codec of flushed tables, which is none here.
TEST_F(RepairTest, ASalvagedTableOfAPartlyCompressedTreeIsCompressed) {
  settings_.compaction_style = kCompactionStyleUniversal;
  settings_.compression = ColumnFamilyOptions().compression;
  settings_.compaction_options_universal.compression_size_percent = 80;
  Open();
  PutMany(kDefaultColumnFamilyName, 0, 100, "a");
  Flush();
  Close();
  const std::string table = Files(IsTable).front();
  FlipByte(disk_.get(), Path(table), 100);
  ASSERT_OK(Repair());
  ASSERT_EQ(FateOf(table), RepairFate::kSalvaged);
  OpenDatabase opened(disk_, settings_, 2);
  ASSERT_OK(opened.Open());
  TablePropertiesCollection tables;
  ASSERT_OK(opened.db()->GetPropertiesOfAllTables(&tables));
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables.begin()->second->compression_name == "NoCompression",
            settings_.compression == kNoCompression);
  ASSERT_OK(opened.Close());
}

TEST_F(RepairTest, ADamagedFilterLosesNothing) {
  Open();
  PutMany(kDefaultColumnFamilyName, 0, 100, "a");
  Flush();
  Close();
  const std::string table = Files(IsTable).front();
  const std::string bytes = ContentsOf(disk_.get(), Path(table));
  // The last damage after which the table is salvaged completely.
  size_t salvaged_whole = 0;
  for (size_t at = 0; at < bytes.size(); at += 16) {
    ReplaceFile(disk_.get(), Path(table), bytes);
    FlipByte(disk_.get(), Path(table), at);
    ASSERT_OK(Repair(true));
    const RepairFile& file = *Find(table);
    if (file.fate == RepairFate::kUnreadable) continue;
    if (file.lost_blocks == 0 && file.fate == RepairFate::kSalvaged) {
      EXPECT_EQ(file.entries, 100u);
      salvaged_whole = at;
    }
  }
  ASSERT_NE(salvaged_whole, 0u);
  ReplaceFile(disk_.get(), Path(table), bytes);
  FlipByte(disk_.get(), Path(table), salvaged_whole);
  ASSERT_OK(Repair());
  ExpectContents(contents_);
}

TEST_F(RepairTest, AMissingTableIsReportedAndTheOthersStay) {
  Open();
  PutMany(kDefaultColumnFamilyName, 0, 50, "a");
  Flush();
  const Contents first = contents_;
  PutMany(kDefaultColumnFamilyName, 20, 70, "b");
  Flush();
  Close();
  const std::string table = Files(IsTable).back();
  ASSERT_OK(disk_->DeleteFile(Path(table)));
  ASSERT_OK(Repair());
  EXPECT_EQ(FateOf(table), RepairFate::kMissing);
  ASSERT_EQ(report_.column_families.size(), 1u);
  EXPECT_EQ(report_.column_families[0].lost_tables, 1u);
  ExpectContents(first);
}

// best_efforts_recovery opens the state before the flush of the missing table, and keeps it.
TEST_F(RepairTest, BestEffortsOpensTheNewestStateOfWhichEveryTableExists) {
  Open();
  PutMany(kDefaultColumnFamilyName, 0, 50, "a");
  Flush();
  const Contents first = contents_;
  PutMany(kDefaultColumnFamilyName, 20, 70, "b");
  Flush();
  Close();
  ASSERT_OK(disk_->DeleteFile(Path(Files(IsTable).back())));
  {
    OpenDatabase refused(disk_, settings_, 2);
    EXPECT_TRUE(refused.Open().IsCorruption());
  }
  settings_.best_efforts_recovery = true;
  ExpectContents(first);
  settings_.best_efforts_recovery = false;
  ExpectContents(first);
}

TEST_F(RepairTest, BestEffortsChangesNothingOfAnIntactDatabase) {
  Open();
  CreateFamily(kOther);
  PutMany(kDefaultColumnFamilyName, 0, 50, "a");
  PutMany(kOther, 0, 50, "b");
  Flush();
  PutMany(kOther, 20, 70, "c");
  Close();
  settings_.best_efforts_recovery = true;
  ExpectContents(contents_);
  settings_.best_efforts_recovery = false;
  ExpectContents(contents_);
}

TEST_F(RepairTest, BestEffortsDoWithoutCurrent) {
  Open();
  PutMany(kDefaultColumnFamilyName, 0, 50, "a");
  Flush();
  PutMany(kDefaultColumnFamilyName, 20, 70, "b");
  Close();
  ASSERT_OK(disk_->DeleteFile(Path("CURRENT")));
  settings_.best_efforts_recovery = true;
  ExpectContents(contents_);
  settings_.best_efforts_recovery = false;
  ExpectContents(contents_);
}

// An open refuses each of the following databases, so a repair must not report them as intact.
TEST_F(RepairTest, ATableOfAnotherLengthThanRecordedIsKept) {
  Open();
  PutMany(kDefaultColumnFamilyName, 0, 50, "a");
  Flush();
  Put(kDefaultColumnFamilyName, "in the log", "1");
  Close();
  ChangeRecords(0, [](FileMetaData* file) { ++file->file_bytes; });
  ExpectOpenRefused(Status::kCorruption);
  ExpectRecordsAreMended(Files(IsTable), "bytes");
}

// The wrong file may have been copied. The recorded bounds would hide most of its keys.
TEST_F(RepairTest, OfATableInThePlaceOfAnotherNothingIsTakenFromTheRecord) {
  settings_.disable_auto_compactions = true;
  Open();
  PutMany(kDefaultColumnFamilyName, 0, 5, "a");
  Flush();
  MoveDown(1);
  PutMany(kDefaultColumnFamilyName, 20, 25, "b");
  Flush();
  Close();
  const std::vector<std::string> keys = {"a", "b", Key(22), "z"};
  const auto elsewhere = DatabaseElsewhere(keys, "theirs", true);
  const std::vector<std::string> tables = Files(IsTable);
  ASSERT_EQ(tables.size(), 2u);
  TakeOnlyFile(elsewhere.get(), IsTable, tables[0]);  // of level 1
  ExpectOpenRefused(Status::kCorruption);
  for (int i = 0; i < 5; ++i) contents_[kDefaultColumnFamilyName].erase(Key(i));
  for (const char* const key : {"a", "b", "z"}) contents_[kDefaultColumnFamilyName][key] = "theirs";
  ExpectRecordsAreMended({tables[0]}, "bytes");
}

TEST_F(RepairTest, RecordedBoundsInTheWrongOrderAreReplaced) {
  settings_.disable_auto_compactions = true;
  const auto swap = [](FileMetaData* file) { std::swap(file->smallest, file->largest); };
  const auto leave_no_key = [](FileMetaData* file) {
    file->largest =
        MakeInternalKey(file->smallest_user_key(), kSequenceNumberMax, ValueType::kRangeDeletion);
    file->smallest = file->largest;
  };
  struct Case {
    Level level;
    std::function<void(FileMetaData*)> change;
  };
  for (const Case& wrong : {Case{.level = 0, .change = swap}, Case{.level = 1, .change = swap},
                            Case{.level = 1, .change = leave_no_key}}) {
    SCOPED_TRACE(wrong.level);
    contents_.clear();
    Open();
    PutMany(kDefaultColumnFamilyName, 0, 50, "a");
    Flush();
    if (wrong.level > 0) MoveDown(static_cast<int>(wrong.level));
    Close();
    ChangeRecords(wrong.level, wrong.change);
    ExpectOpenRefused(Status::kCorruption);
    ExpectRecordsAreMended(Files(IsTable), "bounds");
    Options options = settings_;
    options.env = &env_;
    ASSERT_OK(DestroyDB(OpenDatabase::kPath, options));
  }
}

TEST_F(RepairTest, RecordedBoundsThatOverlapInALevelAreReplaced) {
  settings_.disable_auto_compactions = true;
  Open();
  for (const int begin : {0, 20}) {
    PutMany(kDefaultColumnFamilyName, begin, begin + 10, "a");
    Flush();
    MoveDown(1);
  }
  Close();
  const std::vector<std::string> tables = Files(IsTable);
  ASSERT_EQ(tables.size(), 2u);
  std::string largest;
  ChangeRecords(1, [&](FileMetaData* file) { largest = std::max(largest, file->largest); });
  ChangeRecords(1, [&](FileMetaData* file) { file->largest = largest; });
  ExpectOpenRefused(Status::kCorruption);
  ExpectRecordsAreMended(tables, "bounds");
}

// An open would flush the write below the table (replayed_order.h).
TEST_F(RepairTest, AWriteThatATableOfNewerSequencesHidesIsPutAboveIt) {
  Open();
  for (const char* const key : {"d", "f", "b"}) Put(kDefaultColumnFamilyName, key, "old");
  Flush();
  Close();
  ReplaceLog("d", 2);
  contents_[kDefaultColumnFamilyName]["d"] = kLong;
  const std::string log = Files(IsLog).back();
  ExpectOpenRefused(Status::kNotSupported);
  ExpectRepairKeepsAll(1u);
  EXPECT_TRUE(report_.needs_repair);
  ExpectOneMergedFamily();
  EXPECT_EQ(FateOf(log), RepairFate::kReplayed);
  EXPECT_NE(Find(log)->reason.find("level 0"), std::string::npos) << Find(log)->reason;
}

TEST_F(RepairTest, AnOlderWriteOfAKeyThatNoTableOfLevel0HasIsNoDamage) {
  Open();
  for (const char* const key : {"d", "f", "b"}) Put(kDefaultColumnFamilyName, key, "old");
  Flush();
  Close();
  ReplaceLog("z", 2);
  contents_[kDefaultColumnFamilyName]["z"] = kLong;
  ASSERT_OK(Repair());
  EXPECT_FALSE(report_.needs_repair);
  ExpectContents(contents_);
}

// The existing MANIFEST is older than the log. The state between them is lost.
TEST_F(RepairTest, BestEffortsReplayNoLogOverAManifestThatCurrentDoesNotName) {
  Open();
  Put(kDefaultColumnFamilyName, "a", "1");
  Flush();
  const Contents first = contents_;
  const ManifestSoFar manifest = Manifest();
  Put(kDefaultColumnFamilyName, "b", "1");
  Flush();
  Put(kDefaultColumnFamilyName, "c", "1");
  Close();
  CutBackTo(manifest);
  ReplaceFile(disk_.get(), Path("CURRENT"), "MANIFEST-000900\n");
  settings_.best_efforts_recovery = true;
  ExpectContents(first);
  settings_.best_efforts_recovery = false;
  ExpectContents(first);
}

TEST_F(RepairTest, LevelsAndDeletionsOfASoundManifestStay) {
  settings_.disable_auto_compactions = true;
  Open();
  PutMany(kDefaultColumnFamilyName, 0, 100, "a");
  Flush();
  Delete(kDefaultColumnFamilyName, Key(7));
  Do({{.kind = Change::Kind::kDeleteRange,
       .family = kDefaultColumnFamilyName,
       .key = Key(20),
       .value = Key(30)}});
  Flush();
  // Tables that will be obsolete.
  std::map<std::string, std::string> old;
  for (const std::string& name : Files(IsTable)) old[name] = ContentsOf(disk_.get(), Path(name));
  ASSERT_OK(database_->db()->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  PutMany(kDefaultColumnFamilyName, 40, 60, "b");
  Flush();
  Close();
  for (const auto& [name, bytes] : old) ReplaceFile(disk_.get(), Path(name), bytes);
  // Damage that needs a repair.
  const std::string newest = Files(IsTable).back();
  FlipByte(disk_.get(), Path(newest), ContentsOf(disk_.get(), Path(newest)).size() - 1);
  ASSERT_OK(Repair());
  EXPECT_EQ(FateOf(newest), RepairFate::kUnreadable);
  for (const auto& [name, bytes] : old) EXPECT_EQ(FateOf(name), RepairFate::kLeftOut) << name;

  OpenDatabase opened(disk_, settings_, 2);
  ASSERT_OK(opened.Open());
  Contents found;
  ASSERT_OK(opened.Read(&found));
  EXPECT_FALSE(found[kDefaultColumnFamilyName].contains(Key(7)));
  EXPECT_FALSE(found[kDefaultColumnFamilyName].contains(Key(25)));
  EXPECT_EQ(found[kDefaultColumnFamilyName].size(), 89u);
  std::vector<LiveFileMetaData> files;
  opened.db()->GetLiveFilesMetaData(&files);
  EXPECT_GT(files.front().level, 0);
  ASSERT_OK(opened.Close());
}

TEST_F(RepairTest, ADroppedFamilyStaysDropped) {
  Open();
  CreateFamily(kOther);
  PutMany(kOther, 0, 50, "a");
  PutMany(kDefaultColumnFamilyName, 0, 50, "a");
  Flush();
  std::map<std::string, std::string> old;
  for (const std::string& name : Files(IsTable)) old[name] = ContentsOf(disk_.get(), Path(name));
  ASSERT_OK(database_->DropFamily(kOther));
  contents_.erase(kOther);
  Close();
  for (const auto& [name, bytes] : old) ReplaceFile(disk_.get(), Path(name), bytes);
  ASSERT_OK(disk_->DeleteFile(Path("CURRENT")));
  ASSERT_OK(Repair());
  ExpectContents(contents_);
}

TEST_F(RepairTest, ATableThatTheManifestLostComesBack) {
  Open();
  PutMany(kDefaultColumnFamilyName, 0, 50, "a");
  Flush();
  const ManifestSoFar manifest = Manifest();
  PutMany(kDefaultColumnFamilyName, 20, 70, "b");
  Flush();
  Close();
  CutBackTo(manifest);
  ASSERT_OK(Repair());
  EXPECT_TRUE(report_.needs_repair);
  ExpectContents(contents_);
}

TEST_F(RepairTest, ATableWhoseEditIsDamagedComesBackWhateverLaterEditsSay) {
  Open();
  PutMany(kDefaultColumnFamilyName, 0, 50, "a");
  const ManifestSoFar manifest = Manifest();
  Flush();
  PutMany(kDefaultColumnFamilyName, 60, 90, "b");
  Flush();
  Close();
  DamageAfter(manifest);
  ASSERT_OK(Repair());
  ExpectContents(contents_);
}

TEST_F(RepairTest, AnOutputWhoseSequencesAreZeroComesBackNextToOthers) {
  settings_.disable_auto_compactions = true;
  Open();
  const auto compact = [&](int begin, int end) {
    for (const char* const value : {"a", "b"}) {
      PutMany(kDefaultColumnFamilyName, begin, end, value);
      Flush();
    }
    const std::string first = Key(begin);
    const std::string last = Key(end);
    const Slice bounds[] = {first, last};
    ASSERT_OK(database_->db()->CompactRange(CompactRangeOptions(), &bounds[0], &bounds[1]));
  };
  compact(0, 50);
  const ManifestSoFar manifest = Manifest();
  compact(60, 90);
  Close();
  const std::vector<std::string> tables = Files(IsTable);
  ASSERT_EQ(tables.size(), 2u);
  DamageAfter(manifest);
  ASSERT_OK(Repair());
  EXPECT_EQ(FateOf(tables[0]), RepairFate::kKept);
  EXPECT_EQ(FateOf(tables[1]), RepairFate::kRecovered);
  ExpectContents(contents_);
}

TEST_F(RepairTest, ALogThatLostSyncedBytesIsDamage) {
  Open();
  for (const char* key : {"a", "b", "c"}) Put(kDefaultColumnFamilyName, key, "1");
  Close();
  const std::string log = Files(IsLog).back();
  CutFile(disk_.get(), Path(log), ContentsOf(disk_.get(), Path(log)).size() - 1);
  OpenDatabase refused(disk_, settings_, 2);
  ASSERT_TRUE(refused.Open().IsCorruption());
  ASSERT_OK(Repair());
  EXPECT_TRUE(report_.needs_repair);
  contents_[kDefaultColumnFamilyName].erase("c");
  ExpectContents(contents_);
}

// The log may be in another directory. A repair would lose its writes.
TEST_F(RepairTest, ARecordedLogThatIsMissingIsReported) {
  Open();
  Put(kDefaultColumnFamilyName, "a", "1");
  Close();
  const std::string log = Files(IsLog).back();
  const std::string bytes = ContentsOf(disk_.get(), Path(log));
  ASSERT_OK(disk_->DeleteFile(Path(log)));
  ASSERT_OK(Repair(true));
  EXPECT_TRUE(report_.needs_repair);
  EXPECT_EQ(FateOf(log), RepairFate::kMissing);
  ReplaceFile(disk_.get(), Path(log), bytes);
  ASSERT_OK(Repair(true));
  EXPECT_FALSE(report_.needs_repair);
  EXPECT_EQ(FateOf(log), RepairFate::kReplayed);
}

// No log length is recorded, as after the death of the process.
TEST_F(RepairTest, ALogThatIsMissingBeforeAnotherIsDamage) {
  const TwoLogs logs = MakeTwoLogs();
  ASSERT_OK(disk_->DeleteFile(Path(logs.first)));
  contents_[kOther].erase("b");
  contents_[kOther].erase("c");
  ExpectLogIsMended(logs);
}

// The log is cut at the end of a record, so it looks complete.
TEST_F(RepairTest, ALogThatWasCutBeforeAnotherIsDamage) {
  const TwoLogs logs = MakeTwoLogs();
  CutFile(disk_.get(), Path(logs.first), logs.last_record);
  contents_[kOther].erase("c");
  ExpectLogIsMended(logs);
}

TEST_F(RepairTest, ATornTailBeforeAnotherLogIsDamage) {
  const TwoLogs logs = MakeTwoLogs();
  CutFile(disk_.get(), Path(logs.first), logs.last_record + 20);
  contents_[kOther].erase("c");
  ExpectLogIsMended(logs);
}

TEST_F(RepairTest, ATornTailIsDamageIfTheRecoveryModeRefusesIt) {
  Open();
  for (const char* key : {"a", "b"}) Put(kDefaultColumnFamilyName, key, "1");
  CloseAsByDeath();
  const std::string log = Files(IsLog).back();
  CutFile(disk_.get(), Path(log), ContentsOf(disk_.get(), Path(log)).size() - 1);
  ASSERT_OK(Repair());
  EXPECT_FALSE(report_.needs_repair);
  settings_.wal_recovery_mode = WALRecoveryMode::kAbsoluteConsistency;
  ExpectOpenRefused(Status::kCorruption);
  ASSERT_OK(Repair());
  EXPECT_TRUE(report_.needs_repair);
  contents_[kDefaultColumnFamilyName].erase("b");
  ExpectContents(contents_);
}

TEST_F(RepairTest, RecordsAfterDamageInALogAreKept) {
  Open();
  Put(kDefaultColumnFamilyName, "a", "1");
  Put(kDefaultColumnFamilyName, "b", std::string(1000, 'b'));
  Put(kDefaultColumnFamilyName, "c", "3");
  Close();
  const std::string log = Files(IsLog).back();
  const std::string bytes = ContentsOf(disk_.get(), Path(log));
  FlipByte(disk_.get(), Path(log), bytes.find("bbbb") + 10);
  const std::string damaged = ContentsOf(disk_.get(), Path(log));
  ASSERT_OK(Repair());
  EXPECT_EQ(FateOf(log), RepairFate::kReplayed);
  EXPECT_GE(Find(log)->lost_bytes, 1000u);
  contents_[kDefaultColumnFamilyName].erase("b");
  ExpectContents(contents_);
  EXPECT_EQ(ContentsOf(disk_.get(), Path(StrCat("lost/", log))), damaged);
}

TEST_F(RepairTest, MergeOperandsAreNotReplayedTwice) {
  Open();
  Merge(kDefaultColumnFamilyName, "list", "1");
  Merge(kDefaultColumnFamilyName, "list", "2");
  const std::map<std::string, std::string> logs = Logs();
  Flush();
  Merge(kDefaultColumnFamilyName, "list", "3");
  Close();
  // The log is not needed any more but still exists, as after a crash before its deletion.
  PutBack(logs);
  DeleteManifests();
  ExpectRepairKeepsAll(1u);
}

// If the OPTIONS file is lost, the operator name in a table makes an open refuse another operator.
TEST_F(RepairTest, TablesKeepTheNameOfAMergeOperatorThatARepairLacks) {
  Open();
  PutMany(kDefaultColumnFamilyName, 0, 100, "a");
  Merge(kDefaultColumnFamilyName, "list", "1");
  const std::string name = settings_.merge_operator->Name();
  Flush();
  Close();
  FlipByte(disk_.get(), Path(Files(IsTable).front()), 700);
  const std::shared_ptr<MergeOperator> lacked = std::exchange(settings_.merge_operator, nullptr);
  for (const bool merged : {false, true}) {
    if (merged) {
      const auto elsewhere = DatabaseElsewhere({Key(5), Key(1)}, "new", true);
      TakeOnlyFile(elsewhere.get(), IsTable, "000900.sst");
      DeleteManifests();
    }
    ASSERT_OK(Repair());
    ASSERT_EQ(report_.column_families.size(), 1u);
    EXPECT_EQ(report_.column_families[0].is_merged, merged);
    settings_.merge_operator = lacked;
    Open();
    TablePropertiesCollection tables;
    ASSERT_OK(database_->db()->GetPropertiesOfAllTables(&tables));
    ASSERT_EQ(tables.size(), 1u);
    EXPECT_EQ(tables.begin()->second->merge_operator_name, name);
    std::string value;
    ASSERT_OK(database_->db()->Get(ReadOptions(), "list", &value));
    EXPECT_EQ(value, "1");
    Close();
    settings_.merge_operator = nullptr;
  }
}

TEST_F(RepairTest, ALogThatOneFamilyHasFlushedIsReplayedForTheOther) {
  Open();
  CreateFamily(kOther);
  Put(kOther, "known", "1");
  Flush();
  Merge(kDefaultColumnFamilyName, "list", "1");
  Merge(kOther, "list", "2");
  FlushOne(kDefaultColumnFamilyName);
  Merge(kDefaultColumnFamilyName, "list", "3");
  Close();
  DeleteManifests();
  ExpectRepairKeepsAll(2u);
}

// A memtable that became full in a recovery was flushed with only a part of a log.
TEST_F(RepairTest, OfALogThatATableHasInPartTheRestIsReplayed) {
  Open();
  Merge(kDefaultColumnFamilyName, "list", "1");
  Merge(kDefaultColumnFamilyName, "list", "2");
  AddTableOfLogs();
  Merge(kDefaultColumnFamilyName, "list", "3");
  Merge(kDefaultColumnFamilyName, "list", "4");
  Close();
  const auto files = AllFiles();
  for (const bool has_manifest : {true, false}) {
    SCOPED_TRACE(has_manifest ? "the MANIFEST does not name the table" : "without a MANIFEST");
    const auto is_file = [](const std::string& n) { return n != "LOCK" && n != "lost"; };
    for (const std::string& name : Files(is_file)) ASSERT_OK(disk_->DeleteFile(Path(name)));
    PutBack(files);
    if (!has_manifest) DeleteManifests();
    ExpectRepairKeepsAll(2u);
    EXPECT_EQ(FateOf("000900.sst"), RepairFate::kRecovered);
  }
}

// RocksDB flushes several memtables of a family at once. A crash may leave only the newer table.
TEST_F(RepairTest, ATableWhosePredecessorWasNotFlushedHidesNoLog) {
  Open();
  const ManifestSoFar manifest = Manifest();
  Put(kDefaultColumnFamilyName, "a", "1");
  std::map<std::string, std::string> logs = Logs();
  Flush();
  const std::string first_table = Files(IsTable).front();
  Put(kDefaultColumnFamilyName, "b", "1");
  logs.merge(Logs());
  Flush();
  Close();
  CutBackTo(manifest);
  ASSERT_OK(disk_->DeleteFile(Path(first_table)));
  PutBack(logs);
  ExpectRepairKeepsAll(1u);
}

TEST_F(RepairTest, WritesOfALostTableComeBackFromALogThatAnotherFamilyNeeds) {
  Open();
  CreateFamily(kOther);
  Put(kOther, "a", "1");
  Put(kDefaultColumnFamilyName, "a", "1");
  Merge(kDefaultColumnFamilyName, "list", "1");
  FlushOne(kDefaultColumnFamilyName);
  Merge(kDefaultColumnFamilyName, "list", "2");
  Close();
  ASSERT_EQ(Files(IsTable).size(), 1u);
  ASSERT_OK(disk_->DeleteFile(Path(Files(IsTable).front())));
  ExpectRepairKeepsAll(4u);
}

TEST_F(RepairTest, AValueOfALostTableComesBackUnderAnOperandOfAnother) {
  Open();
  CreateFamily(kOther);
  Put(kOther, "a", "1");  // so that the log stays
  Put(kDefaultColumnFamilyName, "list", "1");
  FlushOne(kDefaultColumnFamilyName);
  Merge(kDefaultColumnFamilyName, "list", "2");
  FlushOne(kDefaultColumnFamilyName);
  Close();
  ASSERT_EQ(Files(IsTable).size(), 2u);
  ASSERT_OK(disk_->DeleteFile(Path(Files(IsTable).front())));
  ExpectRepairKeepsAll(2u);
}

// Level 0 is searched before the level of the range deletion.
TEST_F(RepairTest, AWriteThatComesBackStaysDeletedByARangeDeletionInALowerLevel) {
  settings_.disable_auto_compactions = true;
  Open();
  CreateFamily(kOther);
  Put(kOther, "a", "1");  // so that the log stays
  Put(kDefaultColumnFamilyName, Key(5), "oldest");
  FlushOne(kDefaultColumnFamilyName);
  MoveDown(6);
  Put(kDefaultColumnFamilyName, Key(5), "newer");
  FlushOne(kDefaultColumnFamilyName);
  Do({{.kind = Change::Kind::kDeleteRange,
       .family = kDefaultColumnFamilyName,
       .key = Key(0),
       .value = Key(9)}});
  FlushOne(kDefaultColumnFamilyName);
  MoveDown(1);
  PutMany(kDefaultColumnFamilyName, 50, 60, "a");
  FlushOne(kDefaultColumnFamilyName);
  ASSERT_NO_FATAL_FAILURE(RepairWithoutTheNewestTable());
  ExpectContents(contents_);
}

// The newer version of the key is in a lower level, with other bytes that compare equal to those of
// the key.
TEST_F(RepairTest, AWriteThatComesBackIsBelowANewerVersionWithOtherBytes) {
  static const CaselessComparator caseless;
  settings_.comparator = &caseless;
  settings_.disable_auto_compactions = true;
  Open();
  CreateFamily(kOther);
  Put(kOther, "a", "1");  // so that the log stays
  Put(kDefaultColumnFamilyName, "K", "oldest");
  FlushOne(kDefaultColumnFamilyName);
  MoveDown(6);
  Put(kDefaultColumnFamilyName, "K", "old");
  FlushOne(kDefaultColumnFamilyName);
  Put(kDefaultColumnFamilyName, "k", "new");
  FlushOne(kDefaultColumnFamilyName);
  MoveDown(1);
  Put(kDefaultColumnFamilyName, "z", "lost");
  FlushOne(kDefaultColumnFamilyName);
  ASSERT_NO_FATAL_FAILURE(RepairWithoutTheNewestTable());
  contents_[kDefaultColumnFamilyName].erase("K");  // equal to "k" for the comparator
  ExpectContents(contents_);
}

// Such a folder belongs to a database that was replaced by another one.
TEST_F(RepairTest, LogsThatAreNotOfOneHistoryAreMergedBySequence) {
  const auto elsewhere = DatabaseElsewhere({"d", "a"}, "new", false);
  Open();
  for (const char* key : {"a", "b", "c"}) Put(kDefaultColumnFamilyName, key, "old");
  Close();
  // The other log has the newer version of "a". This one has the newest sequence.
  contents_[kDefaultColumnFamilyName]["d"] = "new";
  contents_[kDefaultColumnFamilyName]["a"] = "new";
  TakeOnlyFile(elsewhere.get(), IsLog, "000900.log");
  DeleteManifests();
  ExpectRepairKeepsAll(5u);
  ExpectOneMergedFamily();
}

// The MANIFEST ends before the edit that adds the family, and looks sound.
TEST_F(RepairTest, ALogWithWritesOfAFamilyThatTheManifestLostIsKeptInLost) {
  Open();
  PutMany(kDefaultColumnFamilyName, 0, 50, "a");
  Flush();
  const ManifestSoFar manifest = Manifest();
  CreateFamily(kOther);
  Put(kOther, "a", "1");
  Put(kDefaultColumnFamilyName, "a", "1");
  Close();
  CutBackTo(manifest);
  FlipByte(disk_.get(), Path(Files(IsTable).front()), 10);
  const std::map<std::string, std::string> logs = Logs();
  RepairAsAnnounced();
  EXPECT_TRUE(report_.manifest_reason.empty()) << report_.manifest_reason;
  for (const auto& [name, contents] : logs)
    EXPECT_EQ(ContentsOf(disk_.get(), Path(StrCat("lost/", name))), contents) << name;
}

// This is like the ingestion of a table that a database made. The table keeps its sequences, and
// earlier writes stay in the memtable.
TEST_F(RepairTest, SequencesOfAnIngestedTableAreNotTakenForFlushes) {
  const std::vector<std::string> keys = {"both", "b", "c", "d", "e"};
  const auto elsewhere = DatabaseElsewhere(keys, "theirs", true);
  for (const std::string& key : keys) contents_[kDefaultColumnFamilyName][key] = "theirs";
  Open();
  Put(kDefaultColumnFamilyName, "a", "1");
  Put(kDefaultColumnFamilyName, "both", "ours");  // its sequence is within those of the other table
  Close();
  TakeOnlyFile(elsewhere.get(), IsTable, "000900.sst");
  DeleteManifests();
  ExpectRepairKeepsAll(2u);
  ExpectOneMergedFamily();
}

// wal_dir was changed, but the existing logs were not moved.
TEST_F(RepairTest, LogsAreFoundInTheDatabasesFolderAndInWalDir) {
  Open();
  Merge(kDefaultColumnFamilyName, "list", "1");
  Close();
  const std::map<std::string, std::string> logs = Logs();
  ASSERT_EQ(logs.size(), 1u);
  settings_.wal_dir = "/logs";
  ASSERT_OK(disk_->CreateDir("/logs"));
  const auto& [name, contents] = *logs.begin();
  for (const bool is_in_both : {false, true}) {
    SCOPED_TRACE(is_in_both ? "a log in both folders" : "a log in the database's folder");
    ReplaceFile(disk_.get(), Path(name), contents);
    if (is_in_both) ReplaceFile(disk_.get(), StrCat("/logs/", name), contents);
    for (const std::string& table : Files(IsTable)) ASSERT_OK(disk_->DeleteFile(Path(table)));
    DeleteManifests();
    ExpectRepairKeepsAll(1u);
  }
}

TEST_F(RepairTest, RangeDeletionsOfALogAreReplayed) {
  Open();
  PutMany(kDefaultColumnFamilyName, 0, 20, "a");
  Flush();
  PutMany(kDefaultColumnFamilyName, 10, 30, "b");
  Do({{.kind = Change::Kind::kDeleteRange,
       .family = kDefaultColumnFamilyName,
       .key = Key(5),
       .value = Key(15)}});
  Put(kDefaultColumnFamilyName, Key(7), "c");
  Close();
  ASSERT_OK(disk_->DeleteFile(Path("CURRENT")));
  ExpectRepairKeepsAll(22u);
}

TEST_F(RepairTest, ALogOfSeveralMemTablesIsReplayedInOrder) {
  settings_.write_buffer_size = 16 << 20;
  Open();
  for (const char* value : {"a", "b", "c"}) PutMany(kDefaultColumnFamilyName, 0, 800, value);
  Close();
  ASSERT_TRUE(Files(IsTable).empty());
  ASSERT_OK(disk_->DeleteFile(Path("CURRENT")));
  settings_.write_buffer_size = 64 << 10;
  RepairAsAnnounced();
  EXPECT_GT(Files(IsTable).size(), 2u);
  ExpectContents(contents_);
}

// Ingests a file with a sequence number, above writes that stay in the memtable.
void IngestNumberedFile(OpenDatabase* database, const std::string& key, const std::string& value) {
  Options options = SmallDatabaseOptions();
  options.env = database->env();
  SstFileWriter writer(EnvOptions(), options);
  ASSERT_OK(writer.Open("/external.sst"));
  ASSERT_OK(writer.Put(key, value));
  ASSERT_OK(writer.Finish());
  const Snapshot* const held = database->db()->GetSnapshot();
  ASSERT_OK(database->db()->IngestExternalFile({"/external.sst"}, IngestExternalFileOptions()));
  database->db()->ReleaseSnapshot(held);
}

TEST_F(RepairTest, UnflushedWritesThatAreOlderThanAnIngestedFileAreReplayed) {
  Open();
  Put(kDefaultColumnFamilyName, Key(1), "1");
  IngestNumberedFile(database_.get(), Key(5), "5");
  contents_[kDefaultColumnFamilyName][Key(5)] = "5";
  Close();
  ASSERT_OK(disk_->DeleteFile(Path("CURRENT")));
  ASSERT_OK(Repair());
  ExpectContents(contents_);
}

TEST_F(RepairTest, ALostFlushOfWritesThatAreOlderThanAnIngestedFileComesBack) {
  Open();
  Put(kDefaultColumnFamilyName, Key(1), "1");
  IngestNumberedFile(database_.get(), Key(5), "5");
  contents_[kDefaultColumnFamilyName][Key(5)] = "5";
  const ManifestSoFar manifest = Manifest();
  Flush();
  Close();
  CutBackTo(manifest);
  for (const std::string& log : Files(IsLog)) ASSERT_OK(disk_->DeleteFile(Path(log)));
  ASSERT_OK(Repair());
  ExpectContents(contents_);
}

TEST_F(RepairTest, AnOpenDatabaseIsRefused) {
  Open();
  const Status refused = Repair();
  EXPECT_TRUE(refused.IsIOError()) << refused.ToString();
}

TEST_F(RepairTest, AFamilyWithoutOptionsIsRefusedByNameBeforeAnythingChanges) {
  Open();
  CreateFamily(kOther);
  PutMany(kOther, 0, 50, "a");
  Flush();
  Close();
  ASSERT_OK(disk_->DeleteFile(Path("CURRENT")));
  const auto before = AllFiles();
  const std::vector<ColumnFamilyDescriptor> known = {{kDefaultColumnFamilyName, settings_}};
  const Status refused = RepairDB(OpenDatabase::kPath, DbOptions(), known);
  EXPECT_TRUE(refused.IsInvalidArgument()) << refused.ToString();
  EXPECT_NE(refused.ToString().find(kOther), std::string::npos) << refused.ToString();

  Options reverse = settings_;
  reverse.env = &env_;
  reverse.comparator = ReverseBytewiseComparator();
  const Status other_order = RepairDB(OpenDatabase::kPath, reverse);
  EXPECT_TRUE(other_order.IsInvalidArgument()) << other_order.ToString();
  EXPECT_EQ(AllFiles(), before);
}

TEST_F(RepairTest, ADirectoryWithoutADatabaseIsRefusedAndGetsNoLock) {
  ASSERT_OK(disk_->CreateDir(OpenDatabase::kPath));
  const Status refused = Repair();
  EXPECT_TRUE(refused.IsInvalidArgument()) << refused.ToString();
  EXPECT_TRUE(Files([](const std::string&) { return true; }).empty());
}

TEST_F(RepairTest, DestroyRemovesWhatARepairHasKept) {
  Open();
  PutMany(kDefaultColumnFamilyName, 0, 100, "a");
  Flush();
  Close();
  FlipByte(disk_.get(), Path(Files(IsTable).front()), 10);
  ASSERT_OK(Repair());
  EXPECT_OK(disk_->FileExists(Path("lost")));
  Options options = settings_;
  options.env = &env_;
  ASSERT_OK(DestroyDB(OpenDatabase::kPath, options));
  EXPECT_FALSE(disk_->FileExists(OpenDatabase::kPath).ok());
}

// Expects that every value found was written to that key. Not checked: the value is the newest one
// unless damage took it, and if the versions of a history are distinct, it is no older than the
// version in an intact table.
TEST_F(RepairTest, AfterRandomDamageEveryValueIsOneThatWasWritten) {
  constexpr uint64_t kSeeds = 60;
  for (uint64_t seed = 1; seed <= kSeeds && !HasFailure(); ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    Random random(seed);
    if (disk_->FileExists(OpenDatabase::kPath).ok()) {
      Options options = settings_;
      options.env = &env_;
      ASSERT_OK(DestroyDB(OpenDatabase::kPath, options));
    }
    contents_.clear();
    settings_.level0_file_num_compaction_trigger = 3;
    Open();
    std::map<std::string, std::vector<std::string>> written;
    for (int i = 0; i < 400; ++i) {
      const std::string key = Key(static_cast<int>(random.Uniform(60)));
      if (random.Uniform(8) == 0) {
        Delete(kDefaultColumnFamilyName, key);
      } else {
        const std::string value = StrCat(i, std::string(50, 'v'));
        Put(kDefaultColumnFamilyName, key, value);
        written[key].push_back(value);
      }
      if (random.Uniform(40) == 0) Flush();
    }
    while (database_->env()->RunOneJob()) {
    }
    Close();
    const std::string damage = DamageAtRandom(disk_.get(), OpenDatabase::kPath, &random);
    SCOPED_TRACE(damage);
    const Status repaired = Repair();
    ASSERT_TRUE(repaired.ok()) << repaired.ToString();
    OpenDatabase opened(disk_, settings_, 2);
    ASSERT_OK(opened.Open());
    Contents found;
    ASSERT_OK(opened.Read(&found));
    for (const auto& [key, value] : found[kDefaultColumnFamilyName]) {
      EXPECT_NE(std::find(written[key].begin(), written[key].end(), value), written[key].end())
          << key;
    }
    ASSERT_OK(opened.Close());
    ASSERT_OK(Repair());
    EXPECT_FALSE(report_.needs_repair);  // a repaired database is intact
  }
}

}  // namespace
}  // namespace ashlar
