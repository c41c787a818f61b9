// External table files: writing and reading them, and adding them to a tree with obstacles, such as
// memtables, snapshots, running compactions, known gaps and bad files.
#include <algorithm>
#include <atomic>
#include <fstream>
#include <functional>
#include <thread>
#include <utility>

#include "ashlar/convenience.h"
#include "ashlar/listener.h"
#include "ashlar/sst_file_reader.h"
#include "ashlar/sst_file_writer.h"
#include "ashlar/statistics.h"
#include "base/coding.h"
#include "base/format.h"
#include "filesystem/filename.h"
#include "filesystem/memory_file_system.h"
#include "table/table_properties.h"
#include "tests/engine/database_fixture.h"
#include "tests/support/check_invariants.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/gate.h"
#include "tests/support/manual_env.h"
#include "tests/support/patched_table.h"

namespace ashlar {
namespace {

using Entries = std::map<std::string, std::string>;

class IngestionTest : public DatabaseFixture {
 protected:
  IngestionTest() { options_.disable_auto_compactions = true; }

  std::string FilePath(const std::string& name) const { return scratch_.File(name); }

  // Writes the entries. The value "DEL" is a deletion, and "-x" deletes the range up to x.
  std::string WriteFile(const std::string& name, const Entries& entries,
                        ColumnFamilyHandle* family = nullptr) {
    SstFileWriter writer(EnvOptions(), options_, family);
    EXPECT_OK(writer.Open(FilePath(name)));
    for (const auto& [key, value] : entries) {
      if (value == "DEL") {
        EXPECT_OK(writer.Delete(key));
      } else if (!value.empty() && value[0] == '-') {
        EXPECT_OK(writer.DeleteRange(key, value.substr(1)));
      } else {
        EXPECT_OK(writer.Put(key, value));
      }
    }
    EXPECT_OK(writer.Finish());
    return FilePath(name);
  }
  Status Ingest(const std::vector<std::string>& files,
                const IngestExternalFileOptions& options = {}) {
    return db_->IngestExternalFile(files, options);
  }
  // Copies the database's only table.
  std::string CopyOfTheTable() {
    std::vector<LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
    EXPECT_EQ(files.size(), 1u);
    const std::string table = FilePath("table.sst");
    std::filesystem::copy_file(files.at(0).directory + files.at(0).name, table);
    return table;
  }
  // With one level, each file requires a flush of everything unflushed.
  void UseOneLevel() {
    options_.num_levels = 1;
    options_.compaction_style = kCompactionStyleUniversal;
  }
  // Puts "c" between the turns of the next ingestion that flushes, so that it flushes again in its
  // second turn.
  void PutBetweenTheTurns(FaultFileSystem* faults) {
    FaultRule write;
    write.operations = FaultOperation::kSync;
    write.name_contains = ".sst";
    write.nth = 2;  // the file's copy is first, the flush between the turns second
    write.effect = FaultEffect::kRunAction;
    write.action = [this] { Put("c", "1"); };
    faults->AddRule(write);
  }
  bool Exists(const std::string& file) const { return std::filesystem::exists(file); }
  // Returns "0:1 6:2" for one file on level 0 and two on level 6.
  std::string Levels() {
    std::string text;
    for (int level = 0; level < db_->NumberLevels(); ++level) {
      if (FilesAtLevel(level) > 0)
        StrAppend(&text, text.empty() ? "" : " ", level, ":", FilesAtLevel(level));
    }
    return text;
  }
};

// ---- The writer and the reader.

TEST_F(IngestionTest, AWriterDescribesTheFileThatItWrote) {
  SstFileWriter writer(EnvOptions(), options_);
  const std::string file = FilePath("new.sst");
  ASSERT_OK(writer.Open(file));
  EXPECT_EQ(writer.FileSize(), 0u);
  ASSERT_OK(writer.DeleteRange("p", "r"));
  ASSERT_OK(writer.Put("b", "1"));
  ASSERT_OK(writer.DeleteRange("a", "c"));
  ASSERT_OK(writer.DeleteRange("k", "k"));  // empty
  ASSERT_OK(writer.Delete("c"));
  ExternalSstFileInfo info;
  ASSERT_OK(writer.Finish(&info));
  EXPECT_EQ(info.file_path, file);
  EXPECT_EQ(info.smallest_key + info.largest_key, "bc");
  EXPECT_EQ(info.smallest_range_del_key + info.largest_range_del_key, "ar");
  EXPECT_EQ(info.num_entries, 2u);
  EXPECT_EQ(info.num_range_del_entries, 2u);
  EXPECT_EQ(info.version, 2);
  EXPECT_EQ(info.file_size, std::filesystem::file_size(file));
  EXPECT_EQ(writer.FileSize(), info.file_size);

  SstFileReader reader(options_);
  ASSERT_OK(reader.Open(file));
  EXPECT_TRUE(SstFileWriter::CreatedBySstFileWriter(*reader.GetTableProperties()));
  EXPECT_EQ(reader.GetTableProperties()->num_entries, 4u);
  ASSERT_OK(reader.VerifyChecksum());
}

TEST_F(IngestionTest, AWriterRefusesBadCallsAndGoesOn) {
  SstFileWriter writer(EnvOptions(), options_);
  EXPECT_TRUE(writer.Put("a", "1").IsInvalidArgument());
  EXPECT_TRUE(writer.Finish().IsInvalidArgument());
  const std::string file = FilePath("new.sst");
  ASSERT_OK(writer.Open(file));
  ASSERT_OK(writer.Put("b", "1"));
  for (const char* key : {"a", "b"}) {
    const Status order = writer.Put(key, "2");
    EXPECT_TRUE(order.IsInvalidArgument());
    EXPECT_NE(order.ToString().find(file), std::string::npos) << order.ToString();
  }
  EXPECT_TRUE(writer.DeleteRange("z", "a").IsInvalidArgument());
  EXPECT_TRUE(writer.Open(FilePath("other.sst")).IsInvalidArgument());
  ASSERT_OK(writer.Merge("c", "3"));
  ASSERT_OK(writer.Finish());
  EXPECT_TRUE(Exists(file));
  ASSERT_OK(writer.Open(FilePath("empty.sst")));
  EXPECT_TRUE(writer.Finish().IsInvalidArgument());
  EXPECT_FALSE(Exists(FilePath("empty.sst")));
  {
    SstFileWriter abandoned(EnvOptions(), options_);
    ASSERT_OK(abandoned.Open(FilePath("abandoned.sst")));
    ASSERT_OK(abandoned.Put("a", "1"));
  }
  EXPECT_FALSE(Exists(FilePath("abandoned.sst")));
}

TEST_F(IngestionTest, AReaderShowsWhatTheFileHas) {
  const std::string file =
      WriteFile("new.sst", {{"a", "1"}, {"b", "DEL"}, {"c", "3"}, {"d", "-f"}});
  SstFileReader reader(options_);
  std::string value;
  EXPECT_TRUE(reader.Get(ReadOptions(), "a", &value).IsInvalidArgument());
  ASSERT_OK(reader.Open(file));
  EXPECT_OK(reader.Get(ReadOptions(), "a", &value));
  EXPECT_EQ(value, "1");
  EXPECT_TRUE(reader.Get(ReadOptions(), "b", &value).IsNotFound());
  std::vector<std::string> values;
  const std::vector<Status> statuses = reader.MultiGet(ReadOptions(), {"c", "x"}, &values);
  EXPECT_OK(statuses[0]);
  EXPECT_TRUE(statuses[1].IsNotFound());
  EXPECT_EQ(values[0], "3");
  std::vector<PinnableSlice> pinned;
  const std::vector<Status> of_pinned = reader.MultiGet(ReadOptions(), {"x", "a"}, &pinned);
  ASSERT_EQ(pinned.size(), 2u);
  EXPECT_TRUE(of_pinned[0].IsNotFound());
  EXPECT_OK(of_pinned[1]);
  EXPECT_EQ(pinned[1], Slice("1"));
  const std::unique_ptr<Iterator> it(reader.NewIterator(ReadOptions()));
  EXPECT_EQ(test::WalkBothWays(it.get()), "a=1 c=3 ");
  std::string raw;
  const std::unique_ptr<Iterator> entries = reader.NewTableIterator();
  for (entries->SeekToFirst(); entries->Valid(); entries->Next()) {
    ParsedEntryInfo entry;
    ASSERT_OK(reader.ParseTableIteratorKey(entries->key(), &entry));
    EXPECT_EQ(entry.sequence, 0u);
    StrAppend(&raw, entry.user_key.ToString(), static_cast<int>(entry.type), " ");
  }
  EXPECT_EQ(raw, StrCat("a", static_cast<int>(kEntryPut), " b", static_cast<int>(kEntryDelete),
                        " c", static_cast<int>(kEntryPut), " "));
  ParsedEntryInfo entry;
  EXPECT_TRUE(reader.ParseTableIteratorKey("a", &entry).IsInvalidArgument()) << "a user key";
}

TEST_F(IngestionTest, AReaderCountsInTheStatisticsOfItsOptions) {
  const std::string file = WriteFile("new.sst", {{"a", "1"}, {"b", "2"}});
  options_.statistics = CreateDBStatistics();
  const Statistics& counted = *options_.statistics;
  SstFileReader reader(options_);
  ASSERT_OK(reader.Open(file));
  const auto blocks = [&] {
    return counted.getTickerCount(BLOCK_CACHE_HIT) + counted.getTickerCount(BLOCK_CACHE_MISS);
  };
  const uint64_t before = blocks();
  std::string value;
  EXPECT_OK(reader.Get(ReadOptions(), "a", &value));
  EXPECT_GT(blocks(), before);
  const std::unique_ptr<Iterator> it(reader.NewIterator(ReadOptions()));
  it->SeekToFirst();
  EXPECT_EQ(counted.getTickerCount(NUMBER_DB_SEEK), 1u);
  EXPECT_EQ(counted.getTickerCount(NUMBER_DB_SEEK_FOUND), 1u);
}

TEST_F(IngestionTest, ATableIteratorSeeksItsOwnKey) {
  Entries written;
  for (char key = 'a'; key <= 'p'; ++key) written[std::string(1, key)] = "1";
  SstFileReader reader(options_);
  ASSERT_OK(reader.Open(WriteFile("new.sst", written)));
  const std::unique_ptr<Iterator> entries = reader.NewTableIterator();
  entries->SeekToFirst();
  const std::string first = entries->key().ToString();
  const auto user_key = [&] {
    ParsedEntryInfo entry;
    EXPECT_OK(reader.ParseTableIteratorKey(entries->key(), &entry));
    return entry.user_key.ToString();
  };
  using Move = void (Iterator::*)(const Slice&);
  for (const Move seek : {Move(&Iterator::Seek), Move(&Iterator::SeekForPrev)}) {
    entries->Seek(first);  // buffers are now large enough for all keys
    entries->SeekToFirst();
    for (int i = 0; i < 7; ++i) entries->Next();
    ASSERT_EQ(user_key(), "h");
    (entries.get()->*seek)(entries->key());
    ASSERT_TRUE(entries->Valid());
    EXPECT_EQ(user_key(), "h");
  }
}

TEST_F(IngestionTest, AReaderAppliesTheRangeDeletionsOfADatabasesTable) {
  Open();
  Put("a", "1");
  Put("b", "2");
  const Snapshot* const snapshot = db_->GetSnapshot();
  ASSERT_OK(db_->DeleteRange(WriteOptions(), "b", "c"));
  Flush();
  db_->ReleaseSnapshot(snapshot);
  std::vector<LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  ASSERT_EQ(files.size(), 1u);
  SstFileReader reader(options_);
  ASSERT_OK(reader.Open(files[0].directory + files[0].name));
  const std::unique_ptr<Iterator> it(reader.NewIterator(ReadOptions()));
  EXPECT_EQ(test::WalkBothWays(it.get()), "a=1 ");
  std::string value;
  EXPECT_TRUE(reader.Get(ReadOptions(), "b", &value).IsNotFound());
  ReadOptions ignoring;
  ignoring.ignore_range_deletions = true;
  const std::unique_ptr<Iterator> all(reader.NewIterator(ignoring));
  EXPECT_EQ(test::WalkBothWays(all.get()), "a=1 b=2 ");
  EXPECT_OK(reader.Get(ignoring, "b", &value));
  EXPECT_EQ(value, "2");
}

TEST_F(IngestionTest, AReaderStaysInThePrefixOfItsStart) {
  const std::string file = WriteFile("1.sst", {{"a1", "1"}, {"a2", "2"}, {"b1", "3"}});
  options_.prefix_extractor.reset(NewFixedPrefixTransform(1));
  SstFileReader reader(options_);
  ASSERT_OK(reader.Open(file));
  ReadOptions read;
  read.prefix_same_as_start = true;
  const std::unique_ptr<Iterator> it(reader.NewIterator(read));
  std::string keys;
  for (it->Seek("a1"); it->Valid(); it->Next()) keys += it->key().ToString() + " ";
  EXPECT_OK(it->status());
  EXPECT_EQ(keys, "a1 a2 ");
}

// ---- The levels of files, and the visible entries.

TEST_F(IngestionTest, AnEmptyDatabaseTakesFilesAtTheLastLevel) {
  Open();
  const SequenceNumber before = db_->GetLatestSequenceNumber();
  ASSERT_OK(
      Ingest({WriteFile("1.sst", {{"a", "1"}, {"b", "2"}}), WriteFile("2.sst", {{"c", "3"}})}));
  EXPECT_EQ(Levels(), "6:2");
  EXPECT_EQ(db_->GetLatestSequenceNumber(), before + 1);
  IngestExternalFileOptions unnumbered;
  unnumbered.allow_global_seqno = false;
  ASSERT_OK(Ingest({WriteFile("3.sst", {{"d", "4"}})}, unnumbered));
  EXPECT_EQ(db_->GetLatestSequenceNumber(), before + 2) << "the call takes one that no file has";
  EXPECT_EQ(Contents(), "a=1 b=2 c=3 d=4 ");
  ASSERT_OK(db_->Delete(WriteOptions(), "d"));
  EXPECT_EQ(Contents(), "a=1 b=2 c=3 ");
  Open();
  EXPECT_EQ(Contents(), "a=1 b=2 c=3 ");
}

// The table's level has no room in its range, and the levels above it are above the base level.
TEST_F(IngestionTest, AFileWithoutANumberTakesAnEmptyLevel) {
  IngestExternalFileOptions unnumbered;
  unnumbered.allow_global_seqno = false;
  for (const CompactionStyle style : {kCompactionStyleLevel, kCompactionStyleUniversal}) {
    SCOPED_TRACE(static_cast<int>(style));
    options_.compaction_style = style;
    Open();
    Put("a", "1");
    Put("z", "1");
    Flush();
    CompactAll();
    ASSERT_EQ(Levels(), "6:1");
    ASSERT_OK(Ingest({WriteFile("1.sst", {{"l", "2"}, {"o", "2"}})}, unnumbered));
    ASSERT_OK(Ingest({WriteFile("2.sst", {{"m", "3"}})}, unnumbered));
    EXPECT_EQ(Levels(), "4:1 5:1 6:1");
    EXPECT_TRUE(Ingest({WriteFile("3.sst", {{"o", "4"}})}, unnumbered).IsInvalidArgument());
    Put("m", "5");
    Flush();
    EXPECT_EQ(Contents(), "a=1 l=2 m=5 o=2 z=1 ");
    Open();
    CompactAll();
    EXPECT_EQ(Contents(), "a=1 l=2 m=5 o=2 z=1 ");
    Close();
    ASSERT_OK(DestroyDB(path(), options_));
  }
}

TEST_F(IngestionTest, NewEntriesReplaceThoseOfMemtablesAndTables) {
  Open();
  Put("a", "old");
  Put("b", "old");
  Put("c", "old");
  Flush();
  CompactAll();
  Put("d", "old");
  Flush();
  Put("e", "old");
  ASSERT_OK(Ingest({WriteFile("1.sst", {{"b", "new"}, {"c", "DEL"}, {"d", "new"}, {"e", "new"}})}));
  EXPECT_EQ(Contents(), "a=old b=new d=new e=new ");
  Put("b", "newer");
  EXPECT_EQ(Get("b"), "newer");
  Open();
  EXPECT_EQ(Contents(), "a=old b=newer d=new e=new ");
  CompactAll();
  EXPECT_EQ(Contents(), "a=old b=newer d=new e=new ");
}

TEST_F(IngestionTest, RangeDeletionsOfAFileDeleteOlderDataOnly) {
  Open();
  Put("a", "1");
  Put("b", "1");
  Flush();
  Put("c", "1");
  ASSERT_OK(Ingest({WriteFile("1.sst", {{"a", "-d"}, {"b", "2"}})}));
  EXPECT_EQ(Contents(), "b=2 ");
}

TEST_F(IngestionTest, AMemtableWithoutTheKeysIsNotFlushed) {
  Open();
  Put("a", "1");
  Put("z", "1");
  ASSERT_OK(Ingest({WriteFile("1.sst", {{"m", "1"}})}));
  EXPECT_EQ(Levels(), "6:1");
  EXPECT_EQ(Number("rocksdb.num-entries-active-mem-table"), 2u);
  ASSERT_OK(Ingest({WriteFile("2.sst", {{"z", "2"}})}));
  EXPECT_EQ(Number("rocksdb.num-entries-active-mem-table"), 0u);
  EXPECT_EQ(Contents(), "a=1 m=1 z=2 ");
}

// The table of the older writes is sorted below the file. If the file were merged with still older
// tables, it would move their versions above that table.
TEST_F(IngestionTest, AFileOfLevel0WaitsForOlderWritesBeforeItIsMergedThere) {
  Open();
  Put("a", "1");
  Put("z", "1");
  CompactAll();  // the last level has no room for a file between them
  Put("b", "old");
  Put("y", "old");
  Flush();
  Put("b", "older than the file");
  ASSERT_OK(Ingest({WriteFile("1.sst", {{"m", "1"}})}));
  EXPECT_EQ(Levels(), "0:2 6:1");
  EXPECT_EQ(Number("rocksdb.num-entries-active-mem-table"), 1u);
  EXPECT_EQ(Contents(), "a=1 b=older than the file m=1 y=old z=1 ");

  const Status merged = db_->CompactFiles(CompactionOptions(), FileNames(0), 0);
  EXPECT_TRUE(merged.IsAborted()) << merged.ToString();
  Close();
  Open();  // the log still has the write, and the open flushes it
  EXPECT_EQ(Levels(), "0:3 6:1");
  ASSERT_OK(db_->CompactFiles(CompactionOptions(), FileNames(0), 0));
  EXPECT_EQ(Levels(), "0:1 6:1");
  EXPECT_EQ(Contents(), "a=1 b=older than the file m=1 y=old z=1 ");
}

TEST_F(IngestionTest, WritesGoOnInAMemTableBesideAFileOfLevel0) {
  Open();
  Put("a", "1");
  Put("z", "1");
  CompactAll();
  Put("b", "older than the file");
  ASSERT_OK(Ingest({WriteFile("1.sst", {{"m", "1"}, {"n", "1"}, {"o", "-q"}})}));
  ASSERT_OK(db_->DeleteRange(WriteOptions(), "l", "n"));
  Put("p", "newer than the file");
  const std::string contents = "a=1 b=older than the file n=1 p=newer than the file z=1 ";
  EXPECT_EQ(Contents(), contents);
  Flush();
  EXPECT_EQ(Levels(), "0:2 6:1");
  EXPECT_EQ(Contents(), contents);
  CompactAll();
  EXPECT_EQ(Contents(), contents);
}

// The table of the older writes is sorted below the file and has keys on both sides of it.
TEST_F(IngestionTest, OlderWritesAreFlushedWhileAFileOfLevel0IsCompacted) {
  class Flusher final : public EventListener {
   public:
    void OnCompactionBegin(DB* db, const CompactionJobInfo& /*info*/) override {
      if (!std::exchange(is_armed, false)) return;
      EXPECT_OK(db->Flush(FlushOptions()));
    }
    bool is_armed = false;
  };
  const auto flusher = std::make_shared<Flusher>();
  options_.listeners = {flusher};
  Open();
  Put("a", "1");
  Put("z", "1");
  CompactAll();
  Put("b", "older than the file");
  Put("y", "older than the file");
  ASSERT_OK(Ingest({WriteFile("1.sst", {{"m", "1"}})}));
  EXPECT_EQ(Levels(), "0:1 6:1");
  EXPECT_EQ(Number("rocksdb.num-entries-active-mem-table"), 2u);
  flusher->is_armed = true;
  const Slice key("m");
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), &key, &key));
  EXPECT_FALSE(flusher->is_armed);
  EXPECT_EQ(Levels(), "0:1 6:1");
  const std::string contents = "a=1 b=older than the file m=1 y=older than the file z=1 ";
  EXPECT_EQ(Contents(), contents);
  CompactAll();
  EXPECT_EQ(Contents(), contents);
}

// A plan that waits for a flush would block the writers, and thus the flush.
TEST_F(IngestionTest, AFileGoesToLevel0OnlyIfNothingIsUnflushed) {
  UseOneLevel();
  Open();
  Put("a", "1");
  Flush();
  Put("b", "older than the file");
  ASSERT_OK(Ingest({WriteFile("1.sst", {{"m", "1"}})}));
  EXPECT_EQ(Number("rocksdb.num-entries-active-mem-table"), 0u);
  EXPECT_EQ(Levels(), "0:3");
  Put("b", "newer");
  Flush();
  CompactAll();
  EXPECT_EQ(Contents(), "a=1 b=newer m=1 ");
}

// A file was added next to a memtable by an earlier run of the database, which had more levels.
TEST_F(IngestionTest, AnOpenWithOneLevelFlushesWritesThatAreOlderThanAFile) {
  options_.avoid_flush_during_recovery = true;
  Open();
  Put("m", "1");
  Put("z", "older");
  Flush();
  Put("z", "newer");
  ASSERT_OK(Ingest({WriteFile("1.sst", {{"m", "2"}})}));
  EXPECT_EQ(Levels(), "0:2");
  Open();
  EXPECT_EQ(Number("rocksdb.num-entries-active-mem-table"), 1u);
  options_.num_levels = 1;
  Open();
  EXPECT_EQ(Number("rocksdb.num-entries-active-mem-table"), 0u);
  EXPECT_EQ(Levels(), "0:3");
  const Slice key("m");
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), &key, &key));
  Flush();
  EXPECT_EQ(Get("z"), "newer");
  EXPECT_EQ(Contents(), "m=2 z=newer ");
}

// The sequences of a memtable's table overlap those of a file that was added while the memtable
// existed. When a merge drops the newest entries of that table, it stays above the file and the
// file's merge output.
TEST_F(IngestionTest, ATableThatLosesItsNewestEntriesStaysAboveAFileThatCameBeforeThem) {
  Open();
  Put("k", "old");
  Put("x", "1");
  Flush();
  Put("k", "new");
  // Too large for a universal merge with the tables above it.
  ASSERT_OK(Ingest({WriteFile("1.sst", {{"x", std::string(100000, 'x')}})}));
  EXPECT_EQ(Number("rocksdb.num-entries-active-mem-table"), 1u);
  Put("z", "1");
  Flush();
  const std::vector<std::string> tables = FileNames(0);  // newest first
  ASSERT_EQ(tables.size(), 3u);
  ASSERT_OK(db_->CompactFiles(CompactionOptions(), {tables[1], tables[2]}, 0));
  EXPECT_EQ(Levels(), "0:2");
  EXPECT_EQ(Get("k"), "new");

  options_.disable_auto_compactions = false;
  options_.compaction_style = kCompactionStyleUniversal;
  options_.compaction_options_universal.size_ratio = 100;
  options_.level0_file_num_compaction_trigger = 3;
  Open();
  Delete("z");
  Flush();
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(Levels(), "0:2") << "the two small tables were not merged";
  EXPECT_EQ(Get("k"), "new");
  Open();
  EXPECT_EQ(Get("k"), "new");
  EXPECT_EQ(Get("z"), "NOT_FOUND");
}

TEST_F(IngestionTest, LooksIntoFilesThatSpanTheRange) {
  Open();
  Put("a", "1");
  Put("z", "1");
  Flush();
  ASSERT_OK(Ingest({WriteFile("1.sst", {{"m", "1"}})}));
  EXPECT_EQ(Levels(), "0:1 6:1");
  CompactAll();
  EXPECT_EQ(Contents(), "a=1 m=1 z=1 ");
}

TEST_F(IngestionTest, SnapshotsDoNotSeeIt) {
  Open();
  Put("a", "1");
  const Snapshot* const snapshot = db_->GetSnapshot();
  ASSERT_OK(Ingest({WriteFile("1.sst", {{"a", "2"}, {"b", "2"}})}));
  EXPECT_EQ(Contents(nullptr, snapshot), "a=1 ");
  EXPECT_EQ(Contents(), "a=2 b=2 ");
  CompactAll();
  EXPECT_EQ(Contents(nullptr, snapshot), "a=1 ");
  // Without snapshot consistency, a key that had no data needs no number.
  IngestExternalFileOptions options;
  options.snapshot_consistency = false;
  ASSERT_OK(Ingest({WriteFile("2.sst", {{"c", "3"}})}, options));
  EXPECT_EQ(Contents(nullptr, snapshot), "a=1 c=3 ");
  db_->ReleaseSnapshot(snapshot);
}

TEST_F(IngestionTest, ASnapshotThatIsTakenWhileTheManifestIsWrittenDoesNotSeeIt) {
  const auto faults = std::make_shared<FaultFileSystem>(Env::Default()->EngineFiles());
  const std::unique_ptr<Env> env = NewCompositeEnv(faults);
  options_.env = env.get();
  Open();
  Put("a", "1");
  const std::string file = WriteFile("1.sst", {{"m", "1"}});
  const Snapshot* snapshot = nullptr;
  FaultRule rule;
  rule.operations = FaultOperation::kSync;
  rule.name_contains = "MANIFEST";
  rule.effect = FaultEffect::kRunAction;
  rule.action = [&] {
    snapshot = db_->GetSnapshot();
    EXPECT_EQ(Contents(nullptr, snapshot), "a=1 ");
  };
  faults->AddRule(rule);
  ASSERT_OK(Ingest({file}));
  ASSERT_NE(snapshot, nullptr);
  EXPECT_EQ(Contents(nullptr, snapshot), "a=1 ");
  EXPECT_EQ(Contents(), "a=1 m=1 ");
  db_->ReleaseSnapshot(snapshot);
  faults->ClearRules();
  Close();
}

// Only the snapshot that is released meanwhile kept an old version in a table.
TEST_F(IngestionTest, AWaitForCompactionsIncludesThoseThatItHoldsBack) {
  const auto faults = std::make_shared<FaultFileSystem>(Env::Default()->EngineFiles());
  const std::unique_ptr<Env> env = NewCompositeEnv(faults);
  options_.env = env.get();
  options_.disable_auto_compactions = false;
  Open();
  Put("a", "1");
  const Snapshot* const snapshot = db_->GetSnapshot();
  Put("a", "2");
  CompactAll();
  EXPECT_EQ(FilesAtLevel(0), 0u);
  const std::string file = WriteFile("1.sst", {{"m", "1"}});
  Status waited;
  FaultRule rule;
  rule.operations = FaultOperation::kSync;
  rule.name_contains = "MANIFEST";
  rule.effect = FaultEffect::kRunAction;
  rule.action = [&] {
    db_->ReleaseSnapshot(snapshot);
    WaitForCompactOptions wait;
    wait.timeout = std::chrono::microseconds(1);
    waited = db_->WaitForCompact(wait);
  };
  faults->AddRule(rule);
  ASSERT_OK(Ingest({file}));
  EXPECT_TRUE(waited.IsTimedOut()) << waited.ToString();
  EXPECT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(Contents(), "a=2 m=1 ");
  faults->ClearRules();
  Close();
}

// A flush of the second turn fails, and a listener resumes before the ingestion sees the error.
TEST_F(IngestionTest, EndsWhenAFlushInItsTurnFailsAndAnotherThreadResumes) {
  class Resumer final : public EventListener {
   public:
    void OnBackgroundError(BackgroundErrorReason /*reason*/, Status* /*status*/) override {
      if (resuming.joinable()) return;
      resuming = std::thread([this] { static_cast<void>(db->Resume().ok()); });
      started.Open();
      begun.Wait();
    }
    void OnErrorRecoveryBegin(BackgroundErrorReason /*reason*/, Status /*error*/,
                              bool* /*auto_recovery*/) override {
      begun.Open();
    }
    DB* db = nullptr;
    std::thread resuming;
    Gate started;
    Gate begun;
  };
  const auto faults = std::make_shared<FaultFileSystem>(Env::Default()->EngineFiles());
  const std::unique_ptr<Env> env = NewCompositeEnv(faults);
  const auto resumer = std::make_shared<Resumer>();
  options_.env = env.get();
  UseOneLevel();
  options_.listeners = {resumer};
  Open();
  resumer->db = db_.get();
  Put("b", "1");
  const std::string file = WriteFile("1.sst", {{"m", "1"}});
  PutBetweenTheTurns(faults.get());
  FaultRule fail;
  fail.operations = FaultOperation::kSync;
  fail.name_contains = ".sst";
  fail.nth = 3;
  faults->AddRule(fail);
  const Status ingested = Ingest({file});
  EXPECT_TRUE(ingested.IsIOError()) << ingested.ToString();
  resumer->started.Wait();  // the error is latched before listeners are called
  resumer->resuming.join();
  faults->ClearRules();
  ASSERT_OK(db_->Resume());
  ASSERT_OK(Ingest({file}));
  EXPECT_EQ(Contents(), "b=1 c=1 m=1 ");
  Close();
}

TEST_F(IngestionTest, APauseDuringAFlushInItsTurnStopsNoWriter) {
  class Pauser final : public EventListener {
   public:
    void OnFlushBegin(DB* db, const FlushJobInfo& /*info*/) override {
      if (++flushes != 2) return;
      pausing = std::thread([db] { EXPECT_OK(db->PauseBackgroundWork()); });
      WaitForCompactOptions at_once;
      at_once.abort_on_pause = true;
      at_once.timeout = std::chrono::microseconds(1);
      while (!db->WaitForCompact(at_once).IsAborted()) std::this_thread::yield();
      is_paused.Open();
    }
    std::atomic<int> flushes{0};
    std::thread pausing;
    Gate is_paused;
  };
  const auto faults = std::make_shared<FaultFileSystem>(Env::Default()->EngineFiles());
  const std::unique_ptr<Env> env = NewCompositeEnv(faults);
  const auto pauser = std::make_shared<Pauser>();
  options_.env = env.get();
  UseOneLevel();
  options_.listeners = {pauser};
  Open();
  Put("b", "1");
  const std::string file = WriteFile("1.sst", {{"m", "1"}});
  PutBetweenTheTurns(faults.get());
  Status ingested;
  std::thread ingesting([&] { ingested = Ingest({file}); });
  pauser->is_paused.Wait();
  pauser->pausing.join();
  Put("d", "1");
  EXPECT_EQ(Contents(), "b=1 c=1 d=1 ");
  ASSERT_OK(db_->ContinueBackgroundWork());
  ingesting.join();
  EXPECT_OK(ingested);
  EXPECT_EQ(Contents(), "b=1 c=1 d=1 m=1 ");
  faults->ClearRules();
  Close();
}

TEST_F(IngestionTest, AListenerMaySetOptionsAtAFlushInItsTurn) {
  class Setter final : public EventListener {
   public:
    void OnFlushBegin(DB* db, const FlushJobInfo& /*info*/) override {
      EXPECT_OK(db->SetOptions({{"level0_file_num_compaction_trigger", "9"}}));
      ++flushes;
    }
    std::atomic<int> flushes{0};
  };
  const auto faults = std::make_shared<FaultFileSystem>(Env::Default()->EngineFiles());
  const std::unique_ptr<Env> env = NewCompositeEnv(faults);
  const auto setter = std::make_shared<Setter>();
  options_.env = env.get();
  UseOneLevel();
  options_.listeners = {setter};
  Open();
  Put("b", "1");
  const std::string file = WriteFile("1.sst", {{"m", "1"}});
  PutBetweenTheTurns(faults.get());
  ASSERT_OK(Ingest({file}));
  EXPECT_EQ(setter->flushes, 2) << "the second one while the ingestion leads the writers";
  EXPECT_EQ(Contents(), "b=1 c=1 m=1 ");
  EXPECT_EQ(db_->GetOptions().level0_file_num_compaction_trigger, 9);
  Close();
}

TEST_F(IngestionTest, AListenerMayAskForTheFilesWhenTheManifestCannotBeWritten) {
  class Asker final : public EventListener {
   public:
    void OnBackgroundError(BackgroundErrorReason /*reason*/, Status* /*status*/) override {
      std::vector<std::string> files;
      uint64_t manifest_bytes = 0;
      EXPECT_TRUE(db->GetLiveFiles(files, &manifest_bytes, false).IsIOError());
      ++errors;
    }
    DB* db = nullptr;
    int errors = 0;
  };
  const auto faults = std::make_shared<FaultFileSystem>(Env::Default()->EngineFiles());
  const std::unique_ptr<Env> env = NewCompositeEnv(faults);
  const auto asker = std::make_shared<Asker>();
  options_.env = env.get();
  options_.listeners = {asker};
  Open();
  asker->db = db_.get();
  const std::string file = WriteFile("1.sst", {{"m", "1"}});
  ColumnFamilyHandle* other = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(options_), "other", &other));
  handles_.push_back(other);
  ColumnFamilyHandle* none = nullptr;
  const std::function<Status()> calls[] = {
      [&] { return Ingest({file}); },
      [&] { return db_->CreateColumnFamily(ColumnFamilyOptions(options_), "third", &none); },
      [&] { return db_->DropColumnFamily(other); }};
  for (const auto& call : calls) {
    FaultRule fail;
    fail.operations = FaultOperation::kSync;
    fail.name_contains = "MANIFEST";
    faults->AddRule(fail);
    const int before = asker->errors;
    EXPECT_TRUE(call().IsIOError());
    EXPECT_EQ(asker->errors, before + 1);
    faults->ClearRules();
    ASSERT_OK(db_->Resume());
  }
  EXPECT_EQ(none, nullptr);
  Close();
}

// As left by a call that died before its edit, so that no record has the numbers.
TEST_F(IngestionTest, AnOpenAfterACrashLeavesLinkedSourcesAlone) {
  Open();
  Put("a", "1");  // in the log only; the next open flushes it
  const std::string file = WriteFile("1.sst", {{"m", "1"}});
  Close();
  for (uint64_t number = 1; number < 40; ++number) {
    std::error_code taken;
    std::filesystem::create_hard_link(file, TableFileName(path(), number), taken);
  }
  Open();
  SstFileReader reader(options_);
  ASSERT_OK(reader.Open(file));
  std::string value;
  EXPECT_OK(reader.Get(ReadOptions(), "m", &value));
  EXPECT_EQ(Contents(), "a=1 ");
}

TEST_F(IngestionTest, LaterFilesOfACallWin) {
  Open();
  Put("b", "0");
  ASSERT_OK(Ingest({WriteFile("1.sst", {{"a", "1"}, {"b", "1"}, {"c", "1"}}),
                    WriteFile("2.sst", {{"b", "2"}, {"c", "2"}}), WriteFile("3.sst", {{"c", "3"}}),
                    WriteFile("4.sst", {{"x", "4"}})}));
  EXPECT_EQ(Contents(), "a=1 b=2 c=3 x=4 ");
  Open();
  EXPECT_EQ(Contents(), "a=1 b=2 c=3 x=4 ");
  CompactAll();
  EXPECT_EQ(Contents(), "a=1 b=2 c=3 x=4 ");
}

TEST_F(IngestionTest, FamiliesGetTheirFilesTogether) {
  Open();
  ColumnFamilyHandle* other = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(options_), "other", &other));
  handles_.push_back(other);
  Put("a", "0");
  ASSERT_OK(db_->Put(WriteOptions(), other, "a", "0"));
  const std::string mine = WriteFile("1.sst", {{"a", "1"}});
  const std::string theirs = WriteFile("2.sst", {{"a", "2"}}, other);
  IngestExternalFileArg first;
  first.column_family = db_->DefaultColumnFamily();
  first.external_files = {mine};
  IngestExternalFileArg second;
  second.column_family = other;
  second.external_files = {mine, FilePath("missing.sst")};
  EXPECT_FALSE(db_->IngestExternalFiles({first, second}).ok());
  EXPECT_EQ(Get("a"), "0");
  EXPECT_EQ(Tables(), 0);
  second.external_files = {theirs};
  ASSERT_OK(db_->IngestExternalFiles({first, second}));
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(GetFrom(other, "a"), "2");
  // A file that was written for a family is refused by other families.
  EXPECT_TRUE(Ingest({theirs}).IsInvalidArgument());
  EXPECT_TRUE(db_->IngestExternalFiles({first, first}).IsInvalidArgument());
  EXPECT_TRUE(db_->IngestExternalFiles({}).IsInvalidArgument());
}

TEST_F(IngestionTest, KnownGapsEnd) {
  Open();
  for (int i = 0; i < 200; ++i) {
    Put(StrCat("k", 1000 + i), "1");
    Delete(StrCat("k", 1000 + i));
  }
  Put("z", "1");
  const Snapshot* const snapshot = db_->GetSnapshot();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(Contents(), "z=1 ");  // first finds the gap, then uses it
  Put("y", "1");
  ASSERT_OK(Ingest({WriteFile("1.sst", {{"k1100x", "new"}})}));
  EXPECT_EQ(Contents(), "k1100x=new y=1 z=1 ");
  // Gaps of a reader that does not see the file must not hide it in the next memtable.
  Put("z", "2");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(Contents(nullptr, snapshot), "z=1 ");
  EXPECT_EQ(Contents(), "k1100x=new y=1 z=2 ");
  db_->ReleaseSnapshot(snapshot);
}

// The job runs where a call waits.
TEST_F(IngestionTest, WaitsWhileTheLogIsLocked) {
  ManualEnv env(std::make_shared<MemoryFileSystem>(), /*seed=*/1);
  options_.env = &env;
  options_.info_log = std::make_shared<SilentLogger>();
  ASSERT_OK(DB::Open(options_, "/db", &db_));
  Put("a", "1");
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_OK(writer.Open("/1.sst"));
  ASSERT_OK(writer.Put("a", "2"));
  ASSERT_OK(writer.Finish());
  ASSERT_OK(db_->LockWAL());
  bool has_waited = false;
  ASSERT_TRUE(env.executor()->Schedule(Executor::Priority::kLow, [&] {
    has_waited = true;
    EXPECT_EQ(Get("a"), "1");
    EXPECT_OK(db_->UnlockWAL());
  }));
  ASSERT_OK(Ingest({"/1.sst"}));
  EXPECT_TRUE(has_waited);
  EXPECT_EQ(Get("a"), "2");
  Close();
}

class CountsComparisons final : public Comparator {
 public:
  const char* Name() const override { return "test.CountsComparisons"; }
  int Compare(const Slice& a, const Slice& b) const override {
    calls.fetch_add(1, std::memory_order_relaxed);
    return a.compare(b);
  }
  void FindShortestSeparator(std::string* /*start*/, const Slice& /*limit*/) const override {}
  void FindShortSuccessor(std::string* /*key*/) const override {}

  mutable std::atomic<size_t> calls = 0;
};

// A file is not compared with every table of a large tree.
TEST_F(IngestionTest, AFileCostsASearch) {
  constexpr size_t kTables = 400;
  constexpr size_t kFiles = 100;
  const std::unique_ptr<Env> env(NewMemEnv(nullptr));
  CountsComparisons comparator;
  options_.env = env.get();
  options_.comparator = &comparator;
  ASSERT_OK(DB::Open(options_, "/db", &db_));
  std::vector<std::string> tables;
  std::vector<std::string> files;
  for (size_t i = 0; i < kTables + kFiles; ++i) {
    SstFileWriter writer(EnvOptions(), options_);
    const std::string file = StrCat("/", i, ".sst");
    ASSERT_OK(writer.Open(file));
    ASSERT_OK(writer.Put(StrCat("k", 1000 + i), "1"));
    ASSERT_OK(writer.Finish());
    (i < kTables ? tables : files).push_back(file);
  }
  ASSERT_OK(Ingest(tables));
  const size_t before = comparator.calls;
  ASSERT_OK(Ingest(files));
  EXPECT_LT(comparator.calls - before, kTables * kFiles / 2);
  EXPECT_EQ(Levels(), "6:500");
  Close();
}

TEST_F(IngestionTest, IteratorsKeepTheirView) {
  Open();
  Put("a", "1");
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  ASSERT_OK(Ingest({WriteFile("1.sst", {{"b", "2"}})}));
  EXPECT_EQ(test::WalkBothWays(it.get()), "a=1 ");
  ASSERT_OK(it->Refresh());
  EXPECT_EQ(test::WalkBothWays(it.get()), "a=1 b=2 ");
}

// ---- Options.

TEST_F(IngestionTest, CopiesLinksAndMoves) {
  Open();
  const std::string copied = WriteFile("1.sst", {{"a", "1"}});
  const std::string linked = WriteFile("2.sst", {{"b", "1"}});
  const std::string moved = WriteFile("3.sst", {{"c", "1"}});
  IngestExternalFileOptions options;
  ASSERT_OK(Ingest({copied}, options));
  options.link_files = true;
  options.failed_move_fall_back_to_copy = false;
  ASSERT_OK(Ingest({linked}, options));
  options.move_files = true;
  EXPECT_TRUE(Ingest({moved}, options).IsInvalidArgument());
  options.link_files = false;
  ASSERT_OK(Ingest({moved}, options));
  EXPECT_TRUE(Exists(linked));
  EXPECT_FALSE(Exists(moved));
  // The database has its own file.
  ASSERT_TRUE(Exists(copied));
  std::ofstream(copied) << "other";
  EXPECT_EQ(Contents(), "a=1 b=1 c=1 ");
  EXPECT_OK(db_->VerifyChecksum());
}

// Otherwise its name would be removed, and the database could not be opened again.
TEST_F(IngestionTest, ATableOfTheDatabaseItselfIsNotMoved) {
  Open();
  Put("a", "1");
  Flush();
  std::vector<LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  ASSERT_EQ(files.size(), 1u);
  const std::string table = files[0].directory + files[0].name;
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(options_), "other", &family));
  IngestExternalFileOptions options;
  options.allow_db_generated_files = true;
  options.move_files = true;
  const std::string other_path = files[0].directory + "/../db" + files[0].name;
  for (const std::string& path : {table, other_path}) {
    const Status refused = db_->IngestExternalFile(family, {path}, options);
    EXPECT_TRUE(refused.IsInvalidArgument()) << refused.ToString();
    EXPECT_NE(refused.ToString().find(path), std::string::npos) << refused.ToString();
    EXPECT_TRUE(Exists(table));
    EXPECT_EQ(Contents(family), "");
  }
  options.move_files = false;
  ASSERT_OK(db_->IngestExternalFile(family, {table}, options));
  EXPECT_EQ(Contents(family), "a=1 ");
  ASSERT_OK(db_->DropColumnFamily(family));
  ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
  Open();
  EXPECT_EQ(Contents(), "a=1 ");
}

// A write by the calling thread during its turn would wait for itself.
TEST_F(IngestionTest, WritersDoNotWaitWhileAFileIsReadAndCopied) {
  const auto faults = std::make_shared<FaultFileSystem>(Env::Default()->EngineFiles());
  const std::unique_ptr<Env> env = NewCompositeEnv(faults);
  options_.env = env.get();
  Open();
  const std::string file = WriteFile("external", {{"m", "1"}});
  int writes = 0;
  FaultRule write;
  write.effect = FaultEffect::kRunAction;
  write.action = [&] {
    WriteOptions at_once;
    at_once.no_slowdown = true;
    EXPECT_OK(db_->Put(at_once, StrCat("w", ++writes), "1"));
  };
  write.operations = FaultOperation::kRead;
  write.name_contains = "external";
  faults->AddRule(write);
  write.operations = FaultOperation::kAppend;
  write.name_contains = ".sst";  // the copy
  faults->AddRule(write);
  ASSERT_OK(Ingest({file}));
  EXPECT_EQ(writes, 2);
  EXPECT_EQ(Contents(), "m=1 w1=1 w2=1 ");
  Close();
}

TEST_F(IngestionTest, AFileThatCannotBeLinkedIsCopiedUnlessThatIsForbidden) {
  const auto faults = std::make_shared<FaultFileSystem>(Env::Default()->EngineFiles());
  const std::unique_ptr<Env> env = NewCompositeEnv(faults);
  options_.env = env.get();
  Open();
  FaultRule no_links;
  no_links.operations = FaultOperation::kLink;
  no_links.sticky = true;
  faults->AddRule(no_links);
  for (const bool moves : {true, false}) {
    SCOPED_TRACE(moves);
    const std::string file =
        moves ? WriteFile("1.sst", {{"a", "1"}}) : WriteFile("2.sst", {{"b", "1"}});
    IngestExternalFileOptions options;
    options.move_files = moves;
    options.link_files = !moves;
    options.failed_move_fall_back_to_copy = false;
    const int tables = Tables();
    const Status refused = Ingest({file}, options);
    EXPECT_TRUE(refused.IsIOError()) << refused.ToString();
    EXPECT_NE(refused.ToString().find(file), std::string::npos) << refused.ToString();
    EXPECT_TRUE(Exists(file));
    EXPECT_EQ(Tables(), tables);
    options.failed_move_fall_back_to_copy = true;
    ASSERT_OK(Ingest({file}, options));
    EXPECT_EQ(Exists(file), !moves);
  }
  EXPECT_EQ(Contents(), "a=1 b=1 ");
  Close();
}

TEST_F(IngestionTest, AWriterToTheNameOfALinkedFileLeavesTheTableAlone) {
  Open();
  IngestExternalFileOptions options;
  options.link_files = true;
  ASSERT_OK(Ingest({WriteFile("1.sst", {{"a", "1"}})}, options));
  WriteFile("1.sst", {{"b", std::string(1000, 'b')}});
  Open();
  EXPECT_EQ(Contents(), "a=1 ");
  ASSERT_OK(db_->VerifyChecksum());
}

TEST_F(IngestionTest, RefusalsChangeNothing) {
  Open();
  Put("a", "1");
  const std::string file = WriteFile("1.sst", {{"a", "2"}});
  IngestExternalFileOptions options;
  options.allow_blocking_flush = false;
  EXPECT_TRUE(Ingest({file}, options).IsInvalidArgument());
  Flush();
  options = {};
  options.allow_global_seqno = false;
  EXPECT_TRUE(Ingest({file}, options).IsInvalidArgument());
  options = {};
  options.fail_if_not_bottommost_level = true;
  EXPECT_TRUE(Ingest({file}, options).IsTryAgain());
  EXPECT_TRUE(Ingest({}).IsInvalidArgument());
  EXPECT_EQ(Contents(), "a=1 ");
  EXPECT_EQ(Tables(), 1);
  options = {};
  options.allow_global_seqno = false;
  options.fail_if_not_bottommost_level = true;
  ASSERT_OK(Ingest({WriteFile("2.sst", {{"b", "1"}})}, options));
}

TEST_F(IngestionTest, TablesOfADatabaseAreTakenWhenAsked) {
  Open();
  Put("a", "1");
  Put("b", "1");
  Flush();
  const std::string table = CopyOfTheTable();
  EXPECT_TRUE(Ingest({table}).IsCorruption());
  IngestExternalFileOptions options;
  options.allow_db_generated_files = true;
  EXPECT_TRUE(Ingest({table}, options).IsInvalidArgument());  // the database has data for its keys
  ASSERT_OK(db_->DeleteRange(WriteOptions(), "a", "z"));
  Flush();
  CompactAll();
  EXPECT_EQ(Contents(), "");
  ASSERT_OK(Ingest({table}, options));
  EXPECT_EQ(Contents(), "a=1 b=1 ");
  Open();
  EXPECT_EQ(Contents(), "a=1 b=1 ");
}

// Their entries have the sequences that they had before.
TEST_F(IngestionTest, TablesOfADatabaseAreHiddenFromSnapshotsOrRefused) {
  Open();
  Put("a", "1");
  Flush();
  const std::string table = CopyOfTheTable();
  Delete("a");
  Flush();
  CompactAll();
  const Snapshot* const snapshot = db_->GetSnapshot();
  ASSERT_EQ(Contents(nullptr, snapshot), "");
  IngestExternalFileOptions options;
  options.allow_db_generated_files = true;
  const Status refused = Ingest({table}, options);
  EXPECT_TRUE(refused.IsInvalidArgument()) << refused.ToString();
  EXPECT_NE(refused.ToString().find("snapshot"), std::string::npos) << refused.ToString();
  EXPECT_EQ(Contents(nullptr, snapshot), "");
  EXPECT_EQ(Tables(), 0);
  options.snapshot_consistency = false;
  ASSERT_OK(Ingest({table}, options));
  EXPECT_EQ(Contents(nullptr, snapshot), "a=1 ");
  db_->ReleaseSnapshot(snapshot);
}

// The snapshot waits, so that it sees the table from the beginning.
TEST_F(IngestionTest, ASnapshotThatIsTakenWhileATableOfADatabaseComesHasOneState) {
  const auto faults = std::make_shared<FaultFileSystem>(Env::Default()->EngineFiles());
  ManualEnv env(faults, 1);
  options_.env = &env;
  Open();
  Put("a", "1");
  Flush();
  const std::string table = CopyOfTheTable();
  Delete("a");
  Flush();
  CompactAll();
  const Snapshot* snapshot = nullptr;
  std::string before;
  Gate taken_or_waiting;
  std::thread reader;
  FaultRule rule;
  rule.operations = FaultOperation::kSync;
  rule.name_contains = "MANIFEST";
  rule.effect = FaultEffect::kRunAction;
  rule.action = [&] {
    // A call that waits runs jobs.
    EXPECT_TRUE(
        env.executor()->Schedule(Executor::Priority::kLow, [&] { taken_or_waiting.Open(); }));
    reader = std::thread([&] {
      snapshot = db_->GetSnapshot();
      before = Contents(nullptr, snapshot);
      taken_or_waiting.Open();
    });
    taken_or_waiting.Wait();
  };
  faults->AddRule(rule);
  IngestExternalFileOptions options;
  options.allow_db_generated_files = true;
  ASSERT_OK(Ingest({table}, options));
  ASSERT_TRUE(reader.joinable());
  reader.join();
  EXPECT_EQ(before, "a=1 ");
  EXPECT_EQ(Contents(nullptr, snapshot), before);
  db_->ReleaseSnapshot(snapshot);
  Close();
}

TEST_F(IngestionTest, TablesOfADatabaseAreTakenFromOldToNewOnly) {
  Open();
  std::vector<std::string> tables;
  for (const char* value : {"old", "new"}) {
    Put("k", value);
    Flush();
    std::vector<LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
    const auto newest = std::max_element(files.begin(), files.end(),
                                         [](const LiveFileMetaData& a, const LiveFileMetaData& b) {
                                           return a.largest_seqno < b.largest_seqno;
                                         });
    tables.push_back(FilePath(StrCat(value, ".sst")));
    std::filesystem::copy_file(newest->directory + newest->name, tables.back());
  }
  ASSERT_OK(db_->DeleteRange(WriteOptions(), "a", "z"));
  Flush();
  CompactAll();
  IngestExternalFileOptions options;
  options.allow_db_generated_files = true;
  const Status refused = Ingest({tables[1], tables[0]}, options);
  EXPECT_TRUE(refused.IsInvalidArgument()) << refused.ToString();
  EXPECT_EQ(Contents(), "");
  ASSERT_OK(Ingest(tables, options));
  EXPECT_EQ(Get("k"), "new");
  EXPECT_EQ(Contents(), "k=new ");
}

// ---- Ingestion behind.

class IngestBehindTest : public IngestionTest {
 protected:
  IngestBehindTest() {
    options_.allow_ingest_behind = true;
    options_.compaction_style = kCompactionStyleUniversal;
    behind_.ingest_behind = true;
  }
  void CompactHard() {
    CompactRangeOptions options;
    options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    EXPECT_OK(db_->CompactRange(options, nullptr, nullptr));
  }

  IngestExternalFileOptions behind_;
};

TEST_F(IngestBehindTest, WhatTheDatabaseHasOrDeletedStaysAbove) {
  for (const CompactionStyle style : {kCompactionStyleUniversal, kCompactionStyleLevel}) {
    SCOPED_TRACE(StrCat("style ", static_cast<int>(style)));
    Close();
    ASSERT_OK(DestroyDB(path(), options_));
    options_.compaction_style = style;
    Open();
    Put("a", "1");
    Put("b", "1");
    Put("c", "1");
    Put("d", "1");
    Flush();
    Delete("b");
    ASSERT_OK(db_->DeleteRange(WriteOptions(), "c", "d"));
    Flush();
    CompactHard();
    Put("e", "1");
    const Snapshot* const snapshot = db_->GetSnapshot();
    const SequenceNumber before = db_->GetLatestSequenceNumber();
    ASSERT_OK(Ingest({WriteFile("1.sst", {{"a", "0"},
                                          {"b", "0"},
                                          {"c", "0"},
                                          {"d", "DEL"},
                                          {"e", "0"},
                                          {"f", "0"},
                                          {"g", "-h"}})},
                     behind_));
    EXPECT_EQ(db_->GetLatestSequenceNumber(), before + 1);
    EXPECT_EQ(Number("rocksdb.num-entries-active-mem-table"), 1u);
    EXPECT_EQ(FilesAtLevel(6), 1u);
    EXPECT_EQ(Contents(), "a=1 d=1 e=1 f=0 ");
    EXPECT_EQ(Contents(nullptr, snapshot), "a=1 d=1 e=1 f=0 ");
    db_->ReleaseSnapshot(snapshot);
    Flush();
    CompactHard();
    EXPECT_EQ(FilesAtLevel(6), 1u) << "a compaction took the file";
    EXPECT_EQ(Contents(), "a=1 d=1 e=1 f=0 ");
    Delete("f");
    Flush();
    CompactHard();
    Open();
    EXPECT_EQ(Contents(), "a=1 d=1 e=1 ");
    EXPECT_EQ(Get("f"), "NOT_FOUND");
    // A file that is not ingested behind gets a number, and stays above the last level.
    ASSERT_OK(Ingest({WriteFile("2.sst", {{"f", "2"}, {"z", "2"}})}));
    CompactHard();
    EXPECT_EQ(Contents(), "a=1 d=1 e=1 f=2 z=2 ");
    EXPECT_EQ(FilesAtLevel(6), 1u);
    ASSERT_OK(Ingest({WriteFile("3.sst", {{"z", "0"}, {"zz", "0"}})}, behind_));
    EXPECT_EQ(Contents(), "a=1 d=1 e=1 f=2 z=2 zz=0 ");
    // A file that covers nothing has a number too.
    ASSERT_OK(Ingest({WriteFile("4.sst", {{"zzz", "2"}})}));
    ASSERT_OK(Ingest({WriteFile("5.sst", {{"zzz", "0"}})}, behind_));
    EXPECT_EQ(Contents(), "a=1 d=1 e=1 f=2 z=2 zz=0 zzz=2 ");
    Delete("zzz");
    Delete("zz");
    EXPECT_EQ(Contents(), "a=1 d=1 e=1 f=2 z=2 ");
    CheckInvariants(db_.get());
  }
}

TEST_F(IngestBehindTest, FilesThatDoNotFitAreRefused) {
  Open();
  ASSERT_OK(Ingest({WriteFile("1.sst", {{"c", "0"}, {"f", "0"}})}, behind_));
  const Status taken = Ingest({WriteFile("2.sst", {{"d", "0"}})}, behind_);
  EXPECT_TRUE(taken.IsInvalidArgument());
  EXPECT_NE(taken.ToString().find("2.sst"), std::string::npos) << taken.ToString();
  const std::string first = WriteFile("3.sst", {{"m", "0"}, {"o", "0"}});
  EXPECT_TRUE(Ingest({first, WriteFile("4.sst", {{"n", "0"}})}, behind_).IsInvalidArgument());
  EXPECT_EQ(Tables(), 1);
  IngestExternalFileOptions both = behind_;
  both.allow_db_generated_files = true;
  EXPECT_TRUE(Ingest({first}, both).IsInvalidArgument());
  ASSERT_OK(Ingest({first}, behind_));
  EXPECT_EQ(Contents(), "c=0 f=0 m=0 o=0 ");

  options_.allow_ingest_behind = false;
  Open();
  const Status off = Ingest({WriteFile("5.sst", {{"x", "0"}})}, behind_);
  EXPECT_TRUE(off.IsInvalidArgument());
  EXPECT_NE(off.ToString().find("allow_ingest_behind"), std::string::npos) << off.ToString();
  CompactHard();
  EXPECT_EQ(Contents(), "c=0 f=0 m=0 o=0 ");
}

// Entries with number 0 above the file would have the same internal keys.
TEST_F(IngestBehindTest, TablesOfBeforeWithNumber0AreInTheWay) {
  options_.allow_ingest_behind = false;
  options_.compaction_style = kCompactionStyleLevel;
  Open();
  Put("a", "1");
  Put("c", "1");
  Flush();
  CompactRangeOptions move;
  move.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  move.change_level = true;
  move.target_level = 3;
  ASSERT_OK(db_->CompactRange(move, nullptr, nullptr));
  ASSERT_EQ(FilesAtLevel(3), 1u);
  options_.allow_ingest_behind = true;
  Open();
  const Status status = Ingest({WriteFile("1.sst", {{"b", "0"}})}, behind_);
  EXPECT_TRUE(status.IsInvalidArgument());
  EXPECT_NE(status.ToString().find("sequence number 0"), std::string::npos) << status.ToString();
  ASSERT_OK(Ingest({WriteFile("2.sst", {{"d", "0"}})}, behind_));
  EXPECT_EQ(Contents(), "a=1 c=1 d=0 ");
}

TEST_F(IngestBehindTest, KnownGapsEnd) {
  Open();
  for (int i = 0; i < 200; ++i) {
    Put(StrCat("k", 1000 + i), "1");
    Delete(StrCat("k", 1000 + i));
  }
  Put("z", "1");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(Contents(), "z=1 ");  // first finds the gap, then uses it
  ASSERT_OK(Ingest({WriteFile("1.sst", {{"k1100", "0"}, {"k1100x", "0"}})}, behind_));
  EXPECT_EQ(Contents(), "k1100x=0 z=1 ");
}

TEST_F(IngestBehindTest, DeletionsOfFilesInRangesReachTheReservedLevel) {
  Open();
  ASSERT_OK(Ingest({WriteFile("1.sst", {{"c", "0"}, {"f", "0"}})}, behind_));
  const Slice begin("a");
  const Slice end("z");
  ASSERT_OK(DeleteFilesInRange(db_.get(), db_->DefaultColumnFamily(), &begin, &end));
  EXPECT_EQ(Contents(), "");
}

// ---- Numbers in the files, checksums.

std::string FileBytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_F(IngestionTest, TheSequenceNumberIsWrittenIntoTheCopy) {
  Open();
  Put("a", "1");
  const std::string file = WriteFile("1.sst", {{"a", "2"}, {"b", "-c"}});
  const std::string other = WriteFile("2.sst", {{"a", "3"}});
  const std::string bytes = FileBytes(file);
  IngestExternalFileOptions options;
  options.write_global_seqno = true;
  options.link_files = true;  // a link would change the original file
  ASSERT_OK(Ingest({file, other}, options));
  EXPECT_TRUE(FileBytes(file) == bytes);
  EXPECT_EQ(Contents(), "a=3 ");
  const SequenceNumber latest = db_->GetLatestSequenceNumber();
  std::vector<LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  std::vector<SequenceNumber> numbers;
  for (const LiveFileMetaData& live : files) {
    SstFileReader reader(options_);
    ASSERT_OK(reader.Open(live.directory + "/" + live.name));
    ASSERT_OK(reader.VerifyChecksum());
    const auto& properties = reader.GetTableProperties()->user_collected_properties;
    const auto stored = properties.find("rocksdb.external_sst_file.global_seqno");
    if (stored == properties.end()) continue;
    const std::unique_ptr<Iterator> entries = reader.NewTableIterator();
    entries->SeekToFirst();
    ParsedEntryInfo entry;
    ASSERT_OK(reader.ParseTableIteratorKey(entries->key(), &entry));
    EXPECT_EQ(entry.sequence, live.largest_seqno);
    numbers.push_back(live.largest_seqno);
    const Status again = Ingest({live.directory + "/" + live.name});
    EXPECT_TRUE(again.IsInvalidArgument()) << again.ToString();  // it has a number
  }
  std::sort(numbers.begin(), numbers.end());
  ASSERT_EQ(numbers.size(), 2u);
  EXPECT_EQ(numbers[1], numbers[0] + 1);
  EXPECT_EQ(numbers[1], latest);
  Put("a", "4");
  Open();
  EXPECT_EQ(Contents(), "a=4 ");
  EXPECT_GT(db_->GetLatestSequenceNumber(), latest);
  CompactAll();
  EXPECT_EQ(Contents(), "a=4 ");
}

// While a file is copied, another call publishes the number that is in the copy.
TEST_F(IngestionTest, ACopyWithAnOldNumberIsMadeAgain) {
  const auto faults = std::make_shared<FaultFileSystem>(Env::Default()->EngineFiles());
  const std::unique_ptr<Env> env = NewCompositeEnv(faults);
  options_.env = env.get();
  Open();
  const std::string file = WriteFile("1.sst", {{"a", "1"}});
  const std::string faster = WriteFile("2.sst", {{"a", "2"}});
  IngestExternalFileOptions options;
  options.write_global_seqno = true;
  FaultRule rule;
  rule.operations = FaultOperation::kSync;
  rule.name_contains = ".sst";  // the copy
  rule.effect = FaultEffect::kRunAction;
  SequenceNumber raced_to = 0;
  rule.action = [&] {
    EXPECT_OK(Ingest({faster}, options));
    raced_to = db_->GetLatestSequenceNumber();
  };
  faults->AddRule(rule);
  ASSERT_OK(Ingest({file}, options));
  EXPECT_GT(raced_to, 0u);
  EXPECT_GT(db_->GetLatestSequenceNumber(), raced_to);
  EXPECT_EQ(Contents(), "a=1 ");  // its turn came later
  std::vector<LiveFileMetaData> tables;
  db_->GetLiveFilesMetaData(&tables);
  ASSERT_EQ(tables.size(), 2u);
  EXPECT_GT(std::max(tables[0].largest_seqno, tables[1].largest_seqno), raced_to);
  Close();
}

// ---- Bad files.

// The reverse order under the name of the bytewise comparator.
class Disguised final : public Comparator {
 public:
  const char* Name() const override { return BytewiseComparator()->Name(); }
  int Compare(const Slice& a, const Slice& b) const override { return b.compare(a); }
  void FindShortestSeparator(std::string* /*start*/, const Slice& /*limit*/) const override {}
  void FindShortSuccessor(std::string* /*key*/) const override {}
};

class BadFileTest : public IngestionTest {
 protected:
  void SetUp() override {
    Open();
    Put("a", "1");
  }
  // Expects the refusal to name the file and the reason, and to change neither file nor database.
  void ExpectRefused(const std::string& file, const std::string& why,
                     const IngestExternalFileOptions& options = {}) {
    const std::string bytes = FileBytes(file);
    const SequenceNumber latest = db_->GetLatestSequenceNumber();
    const Status status = Ingest({file}, options);
    EXPECT_FALSE(status.ok());
    EXPECT_NE(status.ToString().find(file), std::string::npos) << status.ToString();
    EXPECT_NE(status.ToString().find(why), std::string::npos) << status.ToString();
    EXPECT_TRUE(FileBytes(file) == bytes);
    EXPECT_EQ(db_->GetLatestSequenceNumber(), latest);
    EXPECT_EQ(Tables(), 0);
    EXPECT_EQ(Contents(), "a=1 ");
  }
  std::string Store(const std::string& name, const std::string& bytes) const {
    const std::string file = FilePath(name);
    std::ofstream(file, std::ios::binary) << bytes;
    return file;
  }
};

TEST_F(BadFileTest, AreRefusedByName) {
  const auto refused = [this](const std::string& file, const std::string& why,
                              const IngestExternalFileOptions& options = {}) {
    ExpectRefused(file, why, options);
  };
  refused(FilePath("missing.sst"), "");
  const Comparator* const bytewise = options_.comparator;
  options_.comparator = ReverseBytewiseComparator();
  refused(WriteFile("foreign.sst", {{"x", "1"}}), "comparator");
  options_.comparator = bytewise;

  {
    const Disguised disguised;
    Options other = options_;
    other.comparator = &disguised;
    SstFileWriter writer(EnvOptions(), other);
    ASSERT_OK(writer.Open(FilePath("order.sst")));
    ASSERT_OK(writer.Put("z", std::string(10000, 'z')));  // a block of its own
    ASSERT_OK(writer.Put("x", "1"));
    ASSERT_OK(writer.Finish());
  }
  refused(FilePath("order.sst"), "keys out of order");

  const std::string good = WriteFile("good.sst", {{"x", std::string(10000, 'x')}, {"y", "1"}});
  const auto damaged = [&](const std::string& name, uintmax_t offset, char byte) {
    const std::string copy = FilePath(name);
    std::filesystem::copy_file(good, copy);
    std::fstream out(copy, std::ios::in | std::ios::out | std::ios::binary);
    out.seekp(static_cast<std::streamoff>(offset));
    out.put(byte);
    return copy;
  };
  const uintmax_t bytes = std::filesystem::file_size(good);
  refused(damaged("magic.sst", bytes - 1, 'x'), "magic");
  refused(damaged("version.sst", bytes - 12, 99), "version");
  refused(damaged("tail.sst", bytes - 200, '\xee'), "");
  IngestExternalFileOptions verify;
  verify.verify_checksums_before_ingest = true;
  refused(damaged("block.sst", 100, 'y'), "checksum", verify);
  const std::string cut = FilePath("cut.sst");
  std::filesystem::copy_file(good, cut);
  std::filesystem::resize_file(cut, bytes / 2);
  refused(cut, "");
  std::ofstream(FilePath("nothing.sst")).flush();
  refused(FilePath("nothing.sst"), "");
  EXPECT_EQ(std::filesystem::file_size(good), bytes);
}

// As in RocksDB, only the ends of a file are read, unless the whole file is to be verified.
TEST_F(BadFileTest, WithADamagedBlockInTheMiddleAreRefusedWhenVerified) {
  const std::string value(10000, 'v');  // a block of its own
  const std::string file = WriteFile("1.sst", {{"x", value}, {"y", value}, {"z", value}});
  {
    std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
    out.seekp(15000);
    out.put('!');
  }
  const Status damage = VerifySstFileChecksum(options_, EnvOptions(), file);
  EXPECT_TRUE(damage.IsCorruption()) << damage.ToString();
  EXPECT_NE(damage.ToString().find("1.sst"), std::string::npos) << damage.ToString();
  EXPECT_OK(VerifySstFileChecksum(options_, EnvOptions(), ReadOptions(),
                                  WriteFile("whole.sst", {{"x", value}, {"y", value}})));
  EXPECT_FALSE(VerifySstFileChecksum(options_, EnvOptions(), FilePath("none.sst")).ok());
  IngestExternalFileOptions verify;
  verify.verify_checksums_before_ingest = true;
  ExpectRefused(file, "checksum", verify);
  ASSERT_OK(Ingest({file}));
  EXPECT_EQ(Get("x"), value);
  EXPECT_EQ(Get("z"), value);
  std::string damaged;
  EXPECT_TRUE(db_->Get(ReadOptions(), "y", &damaged).IsCorruption());
  EXPECT_TRUE(db_->VerifyChecksum().IsCorruption());
}

TEST_F(BadFileTest, WithDisorderInTheMiddleAreRefusedWhenVerified) {
  // Orders the keys as in this text, under the name of another comparator.
  class Shuffled final : public Comparator {
   public:
    const char* Name() const override { return BytewiseComparator()->Name(); }
    int Compare(const Slice& a, const Slice& b) const override { return Place(a) - Place(b); }
    void FindShortestSeparator(std::string* /*start*/, const Slice& /*limit*/) const override {}
    void FindShortSuccessor(std::string* /*key*/) const override {}

   private:
    static int Place(const Slice& key) {
      return static_cast<int>(std::string_view("vyxwz").find(key.ToStringView()));
    }
  };
  const Shuffled shuffled;
  Options other = options_;
  other.comparator = &shuffled;
  const std::string file = FilePath("1.sst");
  SstFileWriter writer(EnvOptions(), other);
  ASSERT_OK(writer.Open(file));
  // A large value ends its block, so that the first and the last key have separate blocks.
  const std::string value(10000, 'v');
  ASSERT_OK(writer.Put("v", value));
  for (const char* const key : {"y", "x"}) ASSERT_OK(writer.Put(key, "1"));
  ASSERT_OK(writer.Put("w", value));
  ASSERT_OK(writer.Put("z", "1"));
  ASSERT_OK(writer.Finish());
  IngestExternalFileOptions verify;
  verify.verify_checksums_before_ingest = true;
  ExpectRefused(file, "keys out of order", verify);
  ASSERT_OK(Ingest({file}));
  const Status verified = db_->VerifyChecksum();
  EXPECT_TRUE(verified.IsCorruption()) << verified.ToString();
}

TEST_F(BadFileTest, WithBadPropertiesAreRefusedByName) {
  const std::string good = FileBytes(WriteFile("good.sst", {{"x", "1"}, {"y", "2"}}));
  const auto refused = [&](const std::string& name, const std::string& why, const auto& change) {
    SCOPED_TRACE(name);
    const std::string file = Store(name, WithProperties(good, change));
    ExpectRefused(file, why);
    IngestExternalFileOptions options;
    options.move_files = true;
    ExpectRefused(file, why, options);
    options = {};
    options.write_global_seqno = true;
    ExpectRefused(file, why, options);
  };
  const auto fixed32 = [](uint32_t value) {
    std::string bytes;
    PutFixed32(&bytes, value);
    return bytes;
  };
  ExpectRefused(Store("none.sst", WithoutProperties(good)), "properties");
  refused("plain.sst", kPropertyExternalVersion, [](StoredProperties* properties) {
    properties->erase(kPropertyExternalVersion);
    properties->erase(kPropertyGlobalSequence);
  });
  refused("half.sst", "global sequence number",
          [](StoredProperties* properties) { properties->erase(kPropertyExternalVersion); });
  refused("other half.sst", kPropertyGlobalSequence,
          [](StoredProperties* properties) { properties->erase(kPropertyGlobalSequence); });
  for (const size_t bytes : {size_t{0}, size_t{7}, size_t{9}}) {
    refused(StrCat("sequence", bytes, ".sst"), "global sequence number",
            [&](StoredProperties* properties) {
              (*properties)[kPropertyGlobalSequence] = std::string(bytes, '\0');
            });
  }
  refused("number.sst", "global sequence number", [&](StoredProperties* properties) {
    (*properties)[kPropertyGlobalSequence] = std::string(8, '\xff');
  });
  refused("ingested.sst", "ingested before", [&](StoredProperties* properties) {
    (*properties)[kPropertyGlobalSequence] = std::string("\1") + std::string(7, '\0');
  });
  for (const uint32_t version : {0u, 3u, 0xffffffffu}) {
    refused(StrCat("version", version, ".sst"), "external table of version",
            [&](StoredProperties* properties) {
              (*properties)[kPropertyExternalVersion] = fixed32(version);
            });
  }
  for (const std::string& version : {std::string("\2"), fixed32(2) + "x"}) {
    refused(
        StrCat("version", version.size(), "bytes.sst"), "bad version",
        [&](StoredProperties* properties) { (*properties)[kPropertyExternalVersion] = version; });
  }
  refused("comparator.sst", "comparator", [](StoredProperties* properties) {
    (*properties)["rocksdb.comparator"] = "another.Comparator";
  });
  refused("entries.sst", "rocksdb.num.entries", [](StoredProperties* properties) {
    (*properties)["rocksdb.num.entries"] = "\xff";  // a varint that does not end
  });
  refused("family.sst", "column family 5",
          [](StoredProperties* properties) { (*properties)["rocksdb.column.family.id"] = "\5"; });

  // A family that the writer did not know is no reason for a refusal.
  const std::string unknown =
      Store("unknown.sst", WithProperties(good, [](StoredProperties* properties) {
              std::string& id = (*properties)["rocksdb.column.family.id"];
              id.clear();
              PutVarint64(&id, 0x7fffffff);
              properties->erase("rocksdb.column.family.name");
            }));
  ASSERT_OK(Ingest({unknown}));
  EXPECT_EQ(Contents(), "a=1 x=1 y=2 ");
}

// ---- Events.

class Ingested : public EventListener {
 public:
  void OnExternalFileIngested(DB* /*db*/, const ExternalFileIngestionInfo& info) override {
    infos.push_back(info);
  }
  std::vector<ExternalFileIngestionInfo> infos;
};

TEST_F(IngestionTest, ListenersAndStatisticsLearnOfIt) {
  const auto listener = std::make_shared<Ingested>();
  options_.listeners.push_back(listener);
  options_.statistics = CreateDBStatistics();
  Open();
  Put("a", "1");
  const std::string file = WriteFile("1.sst", {{"a", "2"}});
  ASSERT_OK(Ingest({file}));
  ASSERT_EQ(listener->infos.size(), 1u);
  EXPECT_EQ(listener->infos[0].cf_name, "default");
  EXPECT_EQ(listener->infos[0].external_file_path, file);
  EXPECT_EQ(listener->infos[0].global_seqno, 2u);
  EXPECT_EQ(listener->infos[0].table_properties.num_entries, 1u);
  EXPECT_TRUE(Exists(listener->infos[0].internal_file_path));
  EXPECT_FALSE(Ingest({FilePath("missing.sst")}).ok());
  for (const Histograms kind : {INGEST_EXTERNAL_FILE_PREPARE_TIME, INGEST_EXTERNAL_FILE_RUN_TIME}) {
    HistogramData times;
    options_.statistics->histogramData(kind, &times);
    EXPECT_EQ(times.count, 1u) << "of files that were ready for their turn";
  }
}

TEST_F(IngestionTest, AReadOnlyDatabaseRefusesIt) {
  Open();
  Close();
  ASSERT_OK(DB::OpenForReadOnly(options_, path(), &db_));
  EXPECT_TRUE(Ingest({WriteFile("1.sst", {{"a", "1"}})}).IsNotSupported());
}

}  // namespace
}  // namespace ashlar
