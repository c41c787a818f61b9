// Calls about files and levels: DeleteFilesInRange, CompactFiles, SuggestCompactRange, PromoteL0
// and change_level. Also manual compactions that are excluded, canceled or disabled, and
// compactions that are aborted.
#include <algorithm>
#include <atomic>
#include <list>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "ashlar/compaction_filter.h"
#include "ashlar/convenience.h"
#include "ashlar/experimental.h"
#include "ashlar/listener.h"
#include "ashlar/statistics.h"
#include "ashlar/vfs.h"
#include "base/format.h"
#include "tests/engine/database_fixture.h"
#include "tests/support/gate.h"
#include "tests/support/manual_env.h"

namespace ashlar {
namespace {

class FileCallsTest : public DatabaseFixture {
 protected:
  FileCallsTest() {
    options_.disable_auto_compactions = true;
    options_.level_compaction_dynamic_level_bytes = false;
    options_.target_file_size_base = 64 << 10;
  }
  static std::string Key(int i) { return StrCat("k", 1000 + i); }
  // Writes the keys first, first + 1, ... to one new table of level 0.
  void WriteTable(int first, int last, const std::string& value) {
    for (int i = first; i <= last; ++i) Put(Key(i), value);
    Flush();
  }
  Status Compact(const CompactRangeOptions& options) {
    return db_->CompactRange(options, nullptr, nullptr);
  }
  Status MoveTo(int level) {
    CompactRangeOptions options;
    options.change_level = true;
    options.target_level = level;
    return Compact(options);
  }
  Status DeleteFiles(const std::string& begin, const std::string& end, bool include_end = true) {
    const Slice begin_key(begin);
    const Slice end_key(end);
    return DeleteFilesInRange(db_.get(), db_->DefaultColumnFamily(), &begin_key, &end_key,
                              include_end);
  }
  // The files by level, such as "0:1 2:3".
  std::string Levels() {
    std::string text;
    for (int level = 0; level < db_->NumberLevels(); ++level) {
      if (const uint64_t files = FilesAtLevel(level); files > 0)
        text += StrCat(text.empty() ? "" : " ", level, ":", files);
    }
    return text;
  }
  // Makes level 2 the last level, with `tables` tables of ten keys each.
  void FillLevel2(int tables) {
    for (int i = 0; i < tables; ++i) {
      WriteTable(10 * i, 10 * i + 9, std::string(100, 'v'));
      const Slice begin = keys_.emplace_back(Key(10 * i));
      const Slice end = keys_.emplace_back(Key(10 * i + 9));
      ASSERT_OK(db_->CompactRange(CompactRangeOptions(), &begin, &end));
    }
    ASSERT_OK(MoveTo(2));
    ASSERT_EQ(Levels(), StrCat("2:", tables));
  }

  std::list<std::string> keys_;
};

// ---- DeleteFilesInRange.

TEST_F(FileCallsTest, DeletesTheTablesInsideARange) {
  Open();
  FillLevel2(5);
  WriteTable(0, 49, "newer");
  ASSERT_OK(DeleteFiles(Key(5), Key(39)));  // tables 1, 2 and 3
  EXPECT_EQ(Levels(), "0:1 2:2");
  // Level 0 is not changed.
  EXPECT_EQ(Get(Key(15)), "newer");
  EXPECT_EQ(Tables(), 3);
  Open();
  EXPECT_EQ(Levels(), "0:1 2:2");
}

TEST_F(FileCallsTest, TheEndOfARangeIsIncludedOrNot) {
  Open();
  FillLevel2(3);
  ASSERT_OK(DeleteFiles(Key(0), Key(19), false));
  EXPECT_EQ(Levels(), "2:2");
  EXPECT_EQ(Get(Key(9)), "NOT_FOUND");
  ASSERT_OK(DeleteFiles(Key(0), Key(19), true));
  EXPECT_EQ(Levels(), "2:1");
  EXPECT_EQ(Get(Key(19)), "NOT_FOUND");
}

TEST_F(FileCallsTest, UnboundedRangesDeleteEverythingBelowLevel0) {
  Open();
  FillLevel2(3);
  Put("memtable", "stays");
  const std::vector<RangePtr> ranges(1);
  ASSERT_OK(DeleteFilesInRanges(db_.get(), db_->DefaultColumnFamily(), ranges.data(), 1));
  EXPECT_EQ(Levels(), "");
  EXPECT_EQ(Contents(), "memtable=stays ");
}

TEST_F(FileCallsTest, OlderVersionsAreVisibleAgain) {
  Open();
  WriteTable(0, 9, "old");
  ASSERT_OK(MoveTo(4));
  Put("a", "wider");  // so that the next table is not within the range
  Delete(Key(1));
  WriteTable(2, 2, "new");
  ASSERT_OK(db_->CompactFiles(CompactionOptions(), FileNames(0), 2));
  Delete(Key(3));
  WriteTable(4, 4, "newer");
  ASSERT_OK(db_->CompactFiles(CompactionOptions(), FileNames(0), 1));
  EXPECT_EQ(Levels(), "1:1 2:1 4:1");
  EXPECT_EQ(Get(Key(3)), "NOT_FOUND");
  ASSERT_OK(DeleteFiles(Key(3), Key(4)));  // the table of level 1
  EXPECT_EQ(Levels(), "2:1 4:1");
  EXPECT_EQ(Get(Key(3)), "old");
  EXPECT_EQ(Get(Key(4)), "old");
  EXPECT_EQ(Get(Key(1)), "NOT_FOUND");
  EXPECT_EQ(Get(Key(2)), "new");
}

// An iterator remembered a gap, in which no key is visible. Here its keys become visible again.
TEST_F(FileCallsTest, AKnownGapEndsWithTheTableThatMadeIt) {
  Open();
  WriteTable(0, 199, "old");
  ASSERT_OK(MoveTo(4));
  for (int i = 10; i < 190; ++i) Delete(Key(i));
  Flush();
  ASSERT_OK(db_->CompactFiles(CompactionOptions(), FileNames(0), 1));
  ASSERT_EQ(Levels(), "1:1 4:1");
  const auto count = [&] {
    int keys = 0;
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next()) ++keys;
    EXPECT_OK(it->status());
    return keys;
  };
  EXPECT_EQ(count(), 20);
  EXPECT_EQ(count(), 20);
  const std::unique_ptr<Iterator> older(db_->NewIterator(ReadOptions()));
  ASSERT_OK(DeleteFiles(Key(10), Key(189)));
  ASSERT_EQ(Levels(), "4:1");
  EXPECT_EQ(count(), 200);
  // An iterator of the old view cannot restore the gap.
  int keys = 0;
  for (older->SeekToFirst(); older->Valid(); older->Next()) ++keys;
  EXPECT_EQ(keys, 20);
  for (int i = 10; i < 60; ++i) Delete(Key(i));
  EXPECT_EQ(count(), 150);
  EXPECT_EQ(count(), 150);
}

TEST_F(FileCallsTest, ATableThatEndsWithARangeTombstoneIsInsideUpToItsEnd) {
  Open();
  WriteTable(0, 9, "old");
  ASSERT_OK(db_->DeleteRange(WriteOptions(), Key(3), Key(8)));
  Flush();
  const Snapshot* const snapshot = db_->GetSnapshot();  // keeps the tombstone
  ASSERT_OK(db_->CompactFiles(CompactionOptions(), FileNames(0), 1));
  db_->ReleaseSnapshot(snapshot);
  WriteTable(3, 3, "x");
  ASSERT_OK(db_->DeleteRange(WriteOptions(), Key(3), Key(8)));
  Flush();
  ASSERT_OK(db_->CompactFiles(CompactionOptions(), FileNames(0), 1));
  const std::string before = Levels();
  ASSERT_OK(DeleteFiles(Key(4), Key(8), false));
  EXPECT_EQ(Levels(), before) << "it begins before the range";
  ASSERT_OK(DeleteFiles(Key(0), Key(9), true));
  EXPECT_EQ(Levels(), "");
}

TEST_F(FileCallsTest, BadRangesAndBadFamiliesAreRefused) {
  Open();
  EXPECT_TRUE(DeleteFiles("b", "a").IsInvalidArgument());
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(options_), "f", &family));
  ASSERT_OK(db_->DropColumnFamily(family));
  EXPECT_TRUE(DeleteFilesInRange(db_.get(), family, nullptr, nullptr).IsColumnFamilyDropped());
  EXPECT_TRUE(db_->SuggestCompactRange(family, nullptr, nullptr).IsColumnFamilyDropped());
  delete family;
}

TEST_F(FileCallsTest, TablesAreDeletedWhileBackgroundWorkIsPaused) {
  Open();
  FillLevel2(2);
  ASSERT_OK(db_->PauseBackgroundWork());
  ASSERT_OK(DeleteFiles(Key(0), Key(9)));
  EXPECT_EQ(Levels(), "2:1");
  ASSERT_OK(db_->ContinueBackgroundWork());
}

// ---- DeleteFile and CompactFiles.

// ---- DeleteFile.

TEST_F(FileCallsTest, DropsATableByItsName) {
  Open();
  FillLevel2(3);
  const std::vector<std::string> names = FileNames(2);
  ASSERT_OK(db_->DeleteFile(names[1]));
  EXPECT_EQ(Levels(), "2:2");
  EXPECT_EQ(Get(Key(15)), "NOT_FOUND");
  EXPECT_EQ(Get(Key(5)), std::string(100, 'v'));
  ASSERT_OK(db_->DeleteFile("/" + names[0]));
  EXPECT_EQ(Tables(), 1);
  EXPECT_TRUE(db_->DeleteFile(names[0]).IsInvalidArgument()) << "it is gone";
  Open();
  EXPECT_EQ(Levels(), "2:1");
  EXPECT_EQ(Get(Key(29)), std::string(100, 'v'));
}

TEST_F(FileCallsTest, KeepsATableThatHidesOlderVersions) {
  Open();
  FillLevel2(1);
  WriteTable(0, 9, "newer");
  EXPECT_TRUE(db_->DeleteFile(FileNames(0)[0]).IsInvalidArgument());
  ASSERT_OK(db_->DeleteFile(FileNames(2)[0]));
  WriteTable(0, 9, "newest");
  const std::vector<std::string> names = FileNames(0);
  EXPECT_TRUE(db_->DeleteFile(names.front()).IsInvalidArgument()) << "newest first";
  EXPECT_EQ(Get(Key(3)), "newest");
  ASSERT_OK(db_->DeleteFile(names.back()));
  ASSERT_OK(db_->DeleteFile(names.front()));
  EXPECT_EQ(Contents(), "");
}

TEST_F(FileCallsTest, DeletesNothingByAnotherName) {
  Open();
  FillLevel2(1);
  for (const char* const name : {"", "/", "CURRENT", "MANIFEST-000001", "000001.sst.bak", "LOCK",
                                 "archive/000001.sst", "../db/000009.sst", "no.sst"}) {
    EXPECT_TRUE(db_->DeleteFile(name).IsInvalidArgument()) << name;
  }
  EXPECT_TRUE(db_->DeleteFile("000001.log").IsNotSupported());
  EXPECT_TRUE(db_->DeleteFile("archive/999999.log").IsPathNotFound());
  EXPECT_EQ(Levels(), "2:1");
}

TEST_F(FileCallsTest, DeletesAnArchivedLog) {
  options_.WAL_ttl_seconds = 3600;
  Open();
  for (int i = 0; i < 3; ++i) WriteTable(0, 9, StrCat("v", i));
  VectorWalPtr logs;
  ASSERT_OK(db_->GetSortedWalFiles(logs));
  std::vector<std::string> archived;
  for (const auto& log : logs) {
    if (log->Type() == kArchivedLogFile) archived.push_back(log->PathName());
  }
  ASSERT_GE(archived.size(), 2u);
  ASSERT_OK(db_->DeleteFile(archived[0]));
  EXPECT_TRUE(db_->DeleteFile(archived[0]).IsPathNotFound());
  ASSERT_OK(db_->GetSortedWalFiles(logs));
  EXPECT_EQ(logs.front()->PathName(), archived[1]);
  // The archive of an earlier run counts too.
  options_.WAL_ttl_seconds = 0;
  Open();
  ASSERT_OK(db_->DeleteFile(archived[1].substr(1)));
  EXPECT_FALSE(std::filesystem::exists(path() + archived[1]));
}

TEST_F(FileCallsTest, CompactsTheNamedFiles) {
  Open();
  WriteTable(0, 9, "old");
  WriteTable(20, 29, "old");
  WriteTable(5, 24, "new");
  std::vector<std::string> names = FileNames(0);
  ASSERT_EQ(names.size(), 3u);
  std::vector<std::string> outputs;
  CompactionJobInfo info;
  ASSERT_OK(db_->CompactFiles(CompactionOptions(), {names.back()}, 3, 0, &outputs, &info));
  EXPECT_EQ(Levels(), "0:2 3:1");
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_NE(outputs[0].find(FileNames(3).at(0)), std::string::npos);
  EXPECT_EQ(info.output_level, 3);
  EXPECT_EQ(info.input_files.size(), 1u);
  EXPECT_EQ(info.compaction_reason, CompactionReason::kManualCompaction);
  EXPECT_TRUE(info.stats.is_manual_compaction);
  EXPECT_OK(info.status);
  // A path and a leading slash are not part of a name. The newest file includes the older ones.
  names = FileNames(0);
  ASSERT_OK(db_->CompactFiles(CompactionOptions(), {path() + "/" + names.front()}, 1));
  EXPECT_EQ(Levels(), "1:1 3:1");
  EXPECT_EQ(Get(Key(7)), "new");
  EXPECT_EQ(Get(Key(0)), "old");
  EXPECT_EQ(Get(Key(29)), "old");
}

// Neither call rewrites the older files.
TEST_F(FileCallsTest, MergesNewerFilesOfLevel0WithoutTheOlderOnes) {
  Open();
  WriteTable(0, 9, "old");
  const std::vector<std::string> old = FileNames(0);
  WriteTable(0, 9, "middle");
  ASSERT_OK(db_->Delete(WriteOptions(), Key(5)));
  Flush();
  const std::vector<std::string> names = FileNames(0);
  ASSERT_EQ(names.size(), 3u);
  ASSERT_OK(db_->CompactFiles(CompactionOptions(), {names[0], names[1]}, 0));
  const std::vector<std::string> after = FileNames(0);
  ASSERT_EQ(after.size(), 2u);
  EXPECT_EQ(after.back(), old.front());
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(Get(Key(4)), "middle");
    EXPECT_EQ(Get(Key(5)), "NOT_FOUND") << "the older table has the key";
    Open();
  }
}

// The merged file is older than the one that moves down, and has keys on both sides of it.
TEST_F(FileCallsTest, MergesOlderFilesOfLevel0WhileANewerOneMovesDown) {
  class Merger final : public EventListener {
   public:
    void OnCompactionBegin(DB* db, const CompactionJobInfo& /*info*/) override {
      if (older.empty()) return;
      EXPECT_OK(db->CompactFiles(CompactionOptions(), std::exchange(older, {}), 0));
    }
    std::vector<std::string> older;
  };
  const auto merger = std::make_shared<Merger>();
  options_.listeners.push_back(merger);
  Open();
  WriteTable(0, 0, "v");
  WriteTable(20, 20, "v");
  WriteTable(10, 10, "v");
  const std::vector<std::string> names = FileNames(0);
  ASSERT_EQ(names.size(), 3u);
  merger->older = {names[1], names[2]};
  const std::string key = Key(10);
  const Slice begin(key);
  CompactRangeOptions options;
  options.exclusive_manual_compaction = false;
  ASSERT_OK(db_->CompactRange(options, &begin, &begin));
  EXPECT_TRUE(merger->older.empty());
  EXPECT_EQ(Levels(), "0:1 1:1");
  for (const int i : {0, 10, 20}) EXPECT_EQ(Get(Key(i)), "v");
  Open();
  for (const int i : {0, 10, 20}) EXPECT_EQ(Get(Key(i)), "v");
}

// The range of the new table below would include the keys of the compaction, which is bottommost.
TEST_F(FileCallsTest, DoNotMergeTablesBelowACompactionThatIsBetweenTheirKeys) {
  class Merger final : public EventListener {
   public:
    void OnCompactionBegin(DB* db, const CompactionJobInfo& /*info*/) override {
      if (around.empty()) return;
      merged = db->CompactFiles(CompactionOptions(), std::exchange(around, {}), 2);
    }
    std::vector<std::string> around;
    Status merged;
  };
  const auto merger = std::make_shared<Merger>();
  options_.listeners.push_back(merger);
  Open();
  WriteTable(30, 30, "v");
  ASSERT_OK(db_->CompactFiles(CompactionOptions(), FileNames(0), 2));
  WriteTable(0, 0, "v");
  ASSERT_OK(db_->CompactFiles(CompactionOptions(), FileNames(0), 1));
  WriteTable(15, 15, "v");
  EXPECT_EQ(Levels(), "0:1 1:1 2:1");
  const std::vector<std::string> around = {FileNames(1).front(), FileNames(2).front()};
  merger->around = around;
  ASSERT_OK(db_->CompactFiles(CompactionOptions(), FileNames(0), 1));
  EXPECT_TRUE(merger->merged.IsAborted()) << merger->merged.ToString();
  EXPECT_EQ(Levels(), "1:2 2:1");
  ASSERT_OK(db_->CompactFiles(CompactionOptions(), around, 2));
  Open();
  for (const int i : {0, 15, 30}) EXPECT_EQ(Get(Key(i)), "v");
}

TEST_F(FileCallsTest, TheTablesOfARangeAndOfALevelAreDescribed) {
  Open();
  WriteTable(0, 9, "v");
  ASSERT_OK(MoveTo(3));
  WriteTable(20, 29, "v");
  WriteTable(40, 49, "v");
  // The numbers of tables by level, such as "0:2 3:1 ".
  const auto tables = [&](const GetColumnFamilyMetaDataOptions& options) {
    ColumnFamilyMetaData metadata;
    db_->GetColumnFamilyMetaData(options, &metadata);
    std::string text;
    uint64_t bytes = 0;
    size_t files = 0;
    for (const LevelMetaData& level : metadata.levels) {
      EXPECT_FALSE(level.files.empty()) << "levels without tables are left out";
      text += StrCat(level.level, ":", level.files.size(), " ");
      bytes += level.size;
      files += level.files.size();
    }
    EXPECT_EQ(metadata.size, bytes);
    EXPECT_EQ(metadata.file_count, files);
    EXPECT_EQ(bytes > 0, files > 0);
    return text;
  };
  const std::string last_of_level_3 = Key(9);
  const std::string first_of_second = Key(40);
  const std::string between = Key(30);
  EXPECT_EQ(tables({}), "0:2 3:1 ");
  EXPECT_EQ(tables({{}, {}, 0}), "0:2 ");
  EXPECT_EQ(tables({{}, {}, 3}), "3:1 ");
  EXPECT_EQ(tables({{}, {}, 99}), "");
  EXPECT_EQ(tables({Slice(last_of_level_3), {}}), "0:2 3:1 ") << "the ends are included";
  EXPECT_EQ(tables({{}, Slice(last_of_level_3)}), "3:1 ");
  EXPECT_EQ(tables({Slice(between), Slice(first_of_second)}), "0:1 ");
  EXPECT_EQ(tables({Slice(between), Slice(between)}), "");
  EXPECT_EQ(tables({Slice(between), {}, 3}), "");
}

TEST_F(FileCallsTest, TheOptionsOfCompactFilesCount) {
  Open();
  WriteTable(0, 999, std::string(100, 'v'));
  CompactionOptions options;
  options.output_file_size_limit = 16 << 10;
  options.max_subcompactions = 2;
  ASSERT_OK(db_->CompactFiles(options, FileNames(0), 1));
  EXPECT_GT(FilesAtLevel(1), 5u);
  std::atomic<bool> canceled{true};
  options.canceled = &canceled;
  EXPECT_TRUE(db_->CompactFiles(options, FileNames(1), 2).IsIncomplete());
  options.canceled = nullptr;
  const std::vector<std::string> names = FileNames(1);
  options.allow_trivial_move = true;
  std::vector<std::string> outputs;
  ASSERT_OK(db_->CompactFiles(options, names, 2, -1, &outputs));
  EXPECT_EQ(FileNames(2), names);
  EXPECT_EQ(outputs.size(), names.size());
  options.compression = kBZip2Compression;
  EXPECT_FALSE(db_->CompactFiles(options, FileNames(2), 3).ok());
  Put("a", "1");
  EXPECT_OK(db_->Flush(FlushOptions()));  // the database is still writable
}

// The family's compression level is one of ZSTD that zlib does not have.
TEST_F(FileCallsTest, CompactFilesRefusesACodecThatTheOptionsDoNotFit) {
  options_.compression = kZSTD;
  options_.compression_opts.level = 15;
  Open();
  WriteTable(0, 9, "v");
  CompactionOptions options;
  options.compression = kZlibCompression;
  EXPECT_TRUE(db_->CompactFiles(options, FileNames(0), 1).IsInvalidArgument());
  WriteTable(0, 9, "w");  // the database is still writable
  options.compression = kLZ4Compression;
  ASSERT_OK(db_->CompactFiles(options, FileNames(0), 1));
  EXPECT_EQ(Levels(), "1:1");
}

TEST_F(FileCallsTest, CompactFilesRefusesWhatItCannotDo) {
  Open();
  WriteTable(0, 9, "v");
  ASSERT_OK(MoveTo(3));
  const std::vector<std::string> names = FileNames(3);
  const CompactionOptions options;
  EXPECT_TRUE(db_->CompactFiles(options, {"999999.sst"}, 4).IsInvalidArgument());
  EXPECT_TRUE(db_->CompactFiles(options, {"MANIFEST-000001"}, 4).IsInvalidArgument());
  EXPECT_TRUE(db_->CompactFiles(options, {}, 4).IsInvalidArgument());
  EXPECT_TRUE(db_->CompactFiles(options, names, 2).IsInvalidArgument());
  EXPECT_TRUE(db_->CompactFiles(options, names, 99).IsInvalidArgument());
  EXPECT_TRUE(db_->CompactFiles(options, names, -1).IsInvalidArgument());
  EXPECT_TRUE(db_->CompactFiles(options, names, 4, 1).IsInvalidArgument());
  EXPECT_EQ(Levels(), "3:1");
}

// ---- SuggestCompactRange.

TEST_F(FileCallsTest, SuggestedTablesAreCompacted) {
  options_.disable_auto_compactions = false;
  Open();
  WriteTable(0, 9, "v");
  ASSERT_OK(MoveTo(4));
  WriteTable(0, 9, "w");
  EXPECT_EQ(Levels(), "0:1 4:1");
  const Slice none_begin("x");
  ASSERT_OK(db_->SuggestCompactRange(&none_begin, nullptr));
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(Levels(), "0:1 4:1");
  ASSERT_OK(db_->SuggestCompactRange(nullptr, nullptr));
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(FilesAtLevel(0), 0u);
  EXPECT_EQ(Get(Key(5)), "w");
}

// ---- PromoteL0.

TEST_F(FileCallsTest, DisjointTablesOfLevel0MoveToTheTargetLevel) {
  Open();
  WriteTable(0, 9, "v");
  WriteTable(20, 29, "v");
  WriteTable(10, 19, "v");
  std::vector<std::string> names = FileNames(0);
  std::sort(names.begin(), names.end());
  ASSERT_OK(experimental::PromoteL0(db_.get(), db_->DefaultColumnFamily(), 2));
  EXPECT_EQ(Levels(), "2:3");
  std::vector<std::string> moved = FileNames(2);
  std::sort(moved.begin(), moved.end());
  EXPECT_EQ(moved, names);
  const std::string contents = Contents();
  Open();
  EXPECT_EQ(Levels(), "2:3");
  EXPECT_EQ(Contents(), contents);
  WriteTable(5, 5, "newer");
  EXPECT_EQ(Get(Key(5)), "newer");
  EXPECT_EQ(Get(Key(15)), "v");
  ASSERT_OK(experimental::PromoteL0(db_.get(), db_->DefaultColumnFamily()));
  EXPECT_EQ(Levels(), "1:1 2:3");
  EXPECT_EQ(Get(Key(5)), "newer");
}

TEST_F(FileCallsTest, TablesThatWouldMixVersionsStayOnLevel0) {
  Open();
  ColumnFamilyHandle* const family = db_->DefaultColumnFamily();
  ASSERT_OK(db_->PromoteL0(family, 1)) << "there is nothing to move";
  WriteTable(0, 9, "old");
  WriteTable(9, 12, "new");
  EXPECT_TRUE(db_->PromoteL0(family, 1).IsInvalidArgument()) << "the ranges overlap";
  for (const int level : {0, -1, 99})
    EXPECT_TRUE(db_->PromoteL0(family, level).IsInvalidArgument()) << level;
  EXPECT_EQ(Levels(), "0:2");
  ASSERT_OK(MoveTo(2));
  WriteTable(50, 59, "newer");
  EXPECT_TRUE(db_->PromoteL0(family, 2).IsInvalidArgument()) << "level 2 has tables";
  EXPECT_TRUE(db_->PromoteL0(family, 3).IsInvalidArgument()) << "level 2 would be passed";
  EXPECT_EQ(Levels(), "0:1 2:1");
  EXPECT_EQ(Get(Key(9)), "new");
  EXPECT_TRUE(experimental::PromoteL0(nullptr, family).IsInvalidArgument());
}

TEST_F(FileCallsTest, WithFifoCompactionNothingLeavesLevel0) {
  options_.compaction_style = kCompactionStyleFIFO;
  Open();
  WriteTable(0, 9, "v");
  EXPECT_TRUE(db_->PromoteL0(db_->DefaultColumnFamily(), 1).IsNotSupported());
  EXPECT_EQ(Levels(), "0:1");
}

// ---- change_level.

TEST_F(FileCallsTest, TheResultMovesToTheTargetLevel) {
  Open();
  WriteTable(0, 9, "v");
  ASSERT_OK(MoveTo(5));
  EXPECT_EQ(Levels(), "5:1");
  const std::vector<std::string> names = FileNames(5);
  ASSERT_OK(MoveTo(3));
  EXPECT_EQ(Levels(), "3:1");
  ASSERT_OK(MoveTo(-1));
  EXPECT_EQ(Levels(), "1:1");
  EXPECT_EQ(FileNames(1), names);
  Open();
  EXPECT_EQ(Levels(), "1:1");
  EXPECT_EQ(Get(Key(5)), "v");
  ASSERT_OK(MoveTo(0));
  EXPECT_EQ(Levels(), "0:1");
  WriteTable(5, 5, "w");
  EXPECT_EQ(Get(Key(5)), "w");
  EXPECT_EQ(Get(Key(4)), "v");
}

TEST_F(FileCallsTest, LevelsWithDataInBetweenAreNotPassed) {
  Open();
  WriteTable(0, 9, "old");
  ASSERT_OK(MoveTo(4));
  WriteTable(0, 9, "new");
  ASSERT_OK(db_->CompactFiles(CompactionOptions(), FileNames(0), 2));
  EXPECT_EQ(Levels(), "2:1 4:1");
  // The range has keys down to level 4, at which the compaction ends.
  EXPECT_TRUE(MoveTo(9).IsInvalidArgument());
  WriteTable(100, 109, "x");
  const std::string begin = Key(100);
  const Slice begin_key(begin);
  CompactRangeOptions options;
  options.change_level = true;
  options.target_level = 1;
  const Status passed = db_->CompactRange(options, &begin_key, nullptr);
  EXPECT_TRUE(passed.IsNotSupported()) << passed.ToString();
  EXPECT_EQ(Get(Key(5)), "new");
}

TEST_F(FileCallsTest, OnlyOneFileMovesToLevel0) {
  Open();
  FillLevel2(2);
  EXPECT_TRUE(MoveTo(0).IsAborted());
  EXPECT_EQ(Levels(), "2:2");
}

TEST_F(FileCallsTest, WithoutFilesThereIsNothingToMove) {
  Open();
  ASSERT_OK(MoveTo(3));
  EXPECT_EQ(Levels(), "");
}

// The call must not succeed without an effect.
TEST_F(FileCallsTest, FifoCompactionHasNoLevelToChangeTo) {
  options_.compaction_style = kCompactionStyleFIFO;
  Open();
  EXPECT_TRUE(MoveTo(-1).IsNotSupported());
  WriteTable(0, 9, "v");
  EXPECT_TRUE(MoveTo(-1).IsNotSupported());
  EXPECT_TRUE(MoveTo(0).IsNotSupported());
  EXPECT_EQ(Levels(), "0:1");
  EXPECT_EQ(Get(Key(5)), "v");
}

TEST_F(FileCallsTest, ChangesTheLevelWhileAutomaticCompactionsRun) {
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 2;
  options_.write_buffer_size = 64 << 10;
  options_.max_bytes_for_level_base = 128 << 10;
  Open();
  std::map<std::string, std::string> model;
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 300; ++i) {
      const std::string key = Key((i * 7919 + round) % 500);
      const std::string value = StrCat(round, std::string(200, 'v'));
      Put(key, value);
      model[key] = value;
    }
    const Status moved = MoveTo(round % 3 == 0 ? -1 : 1 + round % 5);
    ASSERT_TRUE(moved.ok() || moved.IsNotSupported()) << moved.ToString();
  }
  for (const auto& [key, value] : model) ASSERT_EQ(Get(key), value) << key;
}

// ---- bottommost_level_compaction.

TEST_F(FileCallsTest, TheLastLevelIsRewrittenAsAsked) {
  Open();
  WriteTable(0, 9, "v");
  CompactAll();
  ASSERT_EQ(Levels(), "1:1");
  CompactRangeOptions options;
  const auto rewritten = [&](BottommostLevelCompaction how) {
    const std::vector<std::string> before = FileNames(1);
    options.bottommost_level_compaction = how;
    EXPECT_OK(Compact(options));
    return FileNames(1) != before;
  };
  EXPECT_FALSE(rewritten(BottommostLevelCompaction::kSkip));
  EXPECT_FALSE(rewritten(BottommostLevelCompaction::kIfHaveCompactionFilter));
  EXPECT_TRUE(rewritten(BottommostLevelCompaction::kForce));
  EXPECT_TRUE(rewritten(BottommostLevelCompaction::kForceOptimized));
}

class JobCount final : public EventListener {
 public:
  void OnCompactionCompleted(DB* /*db*/, const CompactionJobInfo& /*info*/) override { ++jobs; }
  std::atomic<int> jobs{0};
};

TEST_F(FileCallsTest, ForceOptimizedLeavesItsOwnFilesAlone) {
  const auto jobs = std::make_shared<JobCount>();
  options_.listeners.push_back(jobs);
  Open();
  const auto jobs_of = [&](BottommostLevelCompaction how) {
    WriteTable(0, 9, "v");
    const int before = jobs->jobs;
    CompactRangeOptions options;
    options.bottommost_level_compaction = how;
    EXPECT_OK(Compact(options));
    return jobs->jobs - before;
  };
  CompactAll();
  WriteTable(0, 9, "u");
  CompactAll();
  EXPECT_EQ(jobs_of(BottommostLevelCompaction::kSkip), 1);
  EXPECT_EQ(jobs_of(BottommostLevelCompaction::kForceOptimized), 1);
  EXPECT_EQ(jobs_of(BottommostLevelCompaction::kForce), 2);
}

// ---- Manual compactions that exclude others, and that are disabled.

// Holds compactions until LetGo is called.
class Holder final : public EventListener {
 public:
  void OnCompactionBegin(DB* /*db*/, const CompactionJobInfo& /*info*/) override {
    ++begun;
    has_begun_.Open();
    let_go_.Wait();
  }
  void OnCompactionCompleted(DB* /*db*/, const CompactionJobInfo& info) override {
    EXPECT_EQ(info.aborted, info.status.IsCompactionAborted());
    if (info.aborted) ++aborted;
  }
  void WaitForJob() { has_begun_.Wait(); }
  void LetGo() { let_go_.Open(); }

  std::atomic<int> begun{0};
  std::atomic<int> aborted{0};

 private:
  Gate has_begun_;
  Gate let_go_;
};

TEST_F(FileCallsTest, AnExclusiveCompactionWaitsForOthersAndKeepsThemOut) {
  const auto holder = std::make_shared<Holder>();
  options_.listeners.push_back(holder);
  Open();
  WriteTable(0, 9, "v");
  WriteTable(0, 9, "w");
  std::thread first([&] { EXPECT_OK(Compact(CompactRangeOptions())); });
  holder->WaitForJob();
  CompactRangeOptions exclusive;
  exclusive.exclusive_manual_compaction = true;
  exclusive.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  std::atomic<bool> canceled{true};
  exclusive.canceled = &canceled;
  EXPECT_TRUE(Compact(exclusive).IsIncomplete()) << "it waits, and is canceled";
  exclusive.canceled = nullptr;
  std::atomic<bool> done{false};
  std::thread second([&] {
    EXPECT_OK(Compact(exclusive));
    done = true;
  });
  EXPECT_FALSE(done);
  EXPECT_EQ(holder->begun, 1);
  holder->LetGo();
  first.join();
  second.join();
  EXPECT_EQ(Get(Key(3)), "w");
}

// The table that makes level 0 full arrives while two of three are in the call's compaction.
TEST_F(FileCallsTest, AutomaticCompactionsFollowOneThatWasCanceled) {
  const auto holder = std::make_shared<Holder>();
  options_.listeners.push_back(holder);
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 3;
  Open();
  WriteTable(0, 9, "v");
  WriteTable(0, 9, "w");
  std::atomic<bool> canceled{false};
  CompactRangeOptions options;
  options.canceled = &canceled;
  Status status;
  std::thread compaction([&] { status = Compact(options); });
  holder->WaitForJob();
  WriteTable(0, 9, "x");
  canceled = true;
  holder->LetGo();
  compaction.join();
  EXPECT_TRUE(status.IsIncomplete()) << status.ToString();
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(Levels(), "1:1");
  EXPECT_EQ(Get(Key(3)), "x");
}

TEST_F(FileCallsTest, DisablingEndsManualCompactions) {
  const auto holder = std::make_shared<Holder>();
  options_.listeners.push_back(holder);
  Open();
  WriteTable(0, 9, "v");
  WriteTable(0, 9, "w");
  Status status;
  std::thread compaction([&] { status = Compact(CompactRangeOptions()); });
  holder->WaitForJob();
  std::thread disabling([&] { db_->DisableManualCompaction(); });
  // The call is refused once the disabling is counted. The running compaction shows this below.
  while (!Compact(CompactRangeOptions()).IsIncomplete()) std::this_thread::yield();
  holder->LetGo();
  disabling.join();
  compaction.join();
  EXPECT_TRUE(status.IsIncomplete()) << status.ToString();
  EXPECT_EQ(status.subcode(), Status::kManualCompactionPaused);
  EXPECT_TRUE(db_->CompactFiles(CompactionOptions(), FileNames(0), 1).IsIncomplete());
  db_->DisableManualCompaction();
  db_->EnableManualCompaction();
  EXPECT_TRUE(Compact(CompactRangeOptions()).IsIncomplete()) << "enabled once too few";
  db_->EnableManualCompaction();
  EXPECT_OK(Compact(CompactRangeOptions()));
  db_->EnableManualCompaction();  // one call too many has no effect
  EXPECT_OK(Compact(CompactRangeOptions()));
  EXPECT_EQ(Levels(), "1:1");
  EXPECT_EQ(Number("rocksdb.background-errors"), 0u);
}

TEST_F(FileCallsTest, AbortingEndsCallsThatCompact) {
  const auto holder = std::make_shared<Holder>();
  options_.listeners.push_back(holder);
  Open();
  WriteTable(0, 9, "v");
  WriteTable(0, 9, "w");
  Status running;
  std::thread compaction([&] { running = Compact(CompactRangeOptions()); });
  holder->WaitForJob();
  CompactRangeOptions exclusive;
  exclusive.exclusive_manual_compaction = true;
  Status waiting;
  std::thread second([&] { waiting = Compact(exclusive); });
  std::thread aborting([&] { db_->AbortAllCompactions(); });
  while (Number("rocksdb.compaction-abort-count") == 0) std::this_thread::yield();
  EXPECT_TRUE(Compact(CompactRangeOptions()).IsCompactionAborted());
  second.join();
  EXPECT_TRUE(waiting.IsCompactionAborted()) << waiting.ToString();
  holder->LetGo();
  aborting.join();
  compaction.join();
  EXPECT_TRUE(running.IsCompactionAborted()) << running.ToString();
  EXPECT_EQ(Levels(), "0:2");
  EXPECT_TRUE(db_->CompactFiles(CompactionOptions(), FileNames(0), 1).IsCompactionAborted());
  EXPECT_TRUE(db_->PromoteL0(db_->DefaultColumnFamily(), 1).IsCompactionAborted());
  db_->AbortAllCompactions();
  db_->ResumeAllCompactions();
  EXPECT_TRUE(Compact(CompactRangeOptions()).IsCompactionAborted()) << "resumed once too few";
  db_->ResumeAllCompactions();
  EXPECT_OK(Compact(CompactRangeOptions()));
  db_->ResumeAllCompactions();  // one call too many has no effect
  EXPECT_OK(Compact(CompactRangeOptions()));
  EXPECT_EQ(Levels(), "1:1");
  EXPECT_EQ(Number("rocksdb.background-errors"), 0u);
}

TEST_F(FileCallsTest, AnAbortedMoveChangesNothing) {
  const auto holder = std::make_shared<Holder>();
  options_.listeners.push_back(holder);
  Open();
  WriteTable(0, 9, "v");
  Status moved;
  std::thread compaction([&] { moved = Compact(CompactRangeOptions()); });
  holder->WaitForJob();
  std::thread aborting([&] { db_->AbortAllCompactions(); });
  while (Number("rocksdb.compaction-abort-count") == 0) std::this_thread::yield();
  holder->LetGo();
  aborting.join();
  compaction.join();
  EXPECT_TRUE(moved.IsCompactionAborted()) << moved.ToString();
  EXPECT_EQ(Levels(), "0:1");
  db_->ResumeAllCompactions();
  EXPECT_OK(Compact(CompactRangeOptions()));
  EXPECT_EQ(Levels(), "1:1");
}

// Holds a compaction at its first entry.
class HoldingFilter final : public CompactionFilter {
 public:
  const char* Name() const override { return "HoldingFilter"; }
  bool Filter(int /*level*/, const Slice& /*key*/, const Slice& /*value*/,
              std::string* /*new_value*/, bool* /*value_changed*/) const override {
    has_begun.Open();
    let_go.Wait();
    return false;
  }

  mutable Gate has_begun;
  mutable Gate let_go;
};

TEST_F(FileCallsTest, AbortingEndsACompactionAmidItsEntries) {
  HoldingFilter filter;
  options_.compaction_filter = &filter;
  Open();
  WriteTable(0, 4999, "v");
  WriteTable(0, 4999, "w");
  Status running;
  std::thread compaction([&] { running = Compact(CompactRangeOptions()); });
  filter.has_begun.Wait();
  std::thread aborting([&] { db_->AbortAllCompactions(); });
  while (Number("rocksdb.compaction-abort-count") == 0) std::this_thread::yield();
  filter.let_go.Open();
  aborting.join();
  compaction.join();
  EXPECT_TRUE(running.IsCompactionAborted()) << running.ToString();
  EXPECT_EQ(Levels(), "0:2");
  EXPECT_EQ(Get(Key(3)), "w");
  db_->ResumeAllCompactions();
  EXPECT_OK(Compact(CompactRangeOptions()));
  EXPECT_EQ(FilesAtLevel(0), 0u);
}

TEST_F(FileCallsTest, NoAutomaticCompactionBeginsBeforeTheResume) {
  const auto holder = std::make_shared<Holder>();
  options_.listeners.push_back(holder);
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 2;
  options_.statistics = CreateDBStatistics();
  Open();
  WriteTable(0, 9, "v");
  WriteTable(0, 9, "w");
  holder->WaitForJob();
  std::thread aborting([&] { db_->AbortAllCompactions(); });
  while (Number("rocksdb.compaction-abort-count") == 0) std::this_thread::yield();
  holder->LetGo();
  aborting.join();
  EXPECT_EQ(holder->begun, 1);
  EXPECT_EQ(holder->aborted, 1);
  EXPECT_EQ(options_.statistics->getTickerCount(COMPACTION_ABORTED), 1u);
  WriteTable(0, 9, "x");
  EXPECT_EQ(Levels(), "0:3") << "flushes go on";
  WaitForCompactOptions at_once;
  at_once.abort_on_pause = true;
  EXPECT_TRUE(db_->WaitForCompact(at_once).IsAborted());
  EXPECT_EQ(holder->begun, 1);
  db_->ResumeAllCompactions();
  EXPECT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(Levels(), "1:1");
  EXPECT_EQ(Get(Key(3)), "x");
  EXPECT_EQ(Number("rocksdb.background-errors"), 0u);
}

TEST_F(FileCallsTest, NoCompactionIsScheduledBetweenAnAbortAndTheResume) {
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 2;
  ManualEnv env(vfs::FileSystem::Default(), 1);
  options_.env = &env;
  Open();
  db_->AbortAllCompactions();
  WriteTable(0, 9, "v");
  WriteTable(0, 9, "w");
  EXPECT_FALSE(env.RunOneJob());
  EXPECT_EQ(Levels(), "0:2");
  db_->ResumeAllCompactions();
  EXPECT_TRUE(env.RunOneJob());
  EXPECT_EQ(Levels(), "1:1");
  Close();
}

TEST_F(FileCallsTest, FilesOfARangeAreDeletedWhileCompactionsAreAborted) {
  Open();
  FillLevel2(3);
  db_->AbortAllCompactions();
  ASSERT_OK(DeleteFiles(Key(10), Key(19)));
  EXPECT_EQ(Levels(), "2:2");
  db_->ResumeAllCompactions();
}

TEST_F(FileCallsTest, AFileInACompactionIsNotTaken) {
  const auto holder = std::make_shared<Holder>();
  options_.listeners.push_back(holder);
  Open();
  WriteTable(0, 9, "v");
  WriteTable(0, 9, "w");
  std::thread compaction([&] { EXPECT_OK(Compact(CompactRangeOptions())); });
  holder->WaitForJob();
  EXPECT_TRUE(db_->CompactFiles(CompactionOptions(), FileNames(0), 1).IsAborted());
  holder->LetGo();
  compaction.join();
}

}  // namespace
}  // namespace ashlar
