// Range deletions, with tombstones in all places. Each test is a way in which they have gone wrong
// in some engine. tests/model runs random histories of them, and tests/interchange exchanges them
// with RocksDB.
#include <algorithm>

#include "ashlar/perf_context.h"
#include "ashlar/statistics.h"
#include "base/format.h"
#include "tests/engine/database_fixture.h"

namespace ashlar {
namespace {

class RangeDeletionTest : public DatabaseFixture {
 protected:
  void DeleteRange(const Slice& begin, const Slice& end) {
    EXPECT_OK(db_->DeleteRange(WriteOptions(), begin, end));
  }
  void Rewrite() {
    CompactRangeOptions options;
    options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    EXPECT_OK(db_->CompactRange(options, nullptr, nullptr));
  }
  // Checks the contents in the memtable, replayed, flushed, reopened and rewritten.
  void ExpectEverywhere(const std::string& contents) {
    EXPECT_EQ(Contents(), contents);
    Open();
    EXPECT_EQ(Contents(), contents) << "replayed";
    Flush();
    EXPECT_EQ(Contents(), contents) << "flushed";
    Open();
    EXPECT_EQ(Contents(), contents) << "reopened";
    Rewrite();
    EXPECT_EQ(Contents(), contents) << "rewritten";
    EXPECT_OK(db_->VerifyChecksum());
  }
  static std::string Key(uint64_t number) { return StrCat("k", 100000 + number); }
};

TEST_F(RangeDeletionTest, DeletesFromTheBeginToBeforeTheEnd) {
  Open();
  for (const char* key : {"a", "b", "c", "d"}) Put(key, "1");
  DeleteRange("b", "d");
  Put("c", "2");
  EXPECT_EQ(Get("b"), "NOT_FOUND");
  EXPECT_EQ(Get("c"), "2");
  ExpectEverywhere("a=1 c=2 d=1 ");
}

TEST_F(RangeDeletionTest, AnEmptyRangeDoesNothingAndAnInvertedOneIsRefused) {
  Open();
  Put("a", "1");
  DeleteRange("a", "a");
  EXPECT_EQ(db_->GetLatestSequenceNumber(), 2u);
  const Status refused = db_->DeleteRange(WriteOptions(), "b", "a");
  EXPECT_TRUE(refused.IsInvalidArgument()) << refused.ToString();
  EXPECT_EQ(db_->GetLatestSequenceNumber(), 2u);
  ExpectEverywhere("a=1 ");
}

TEST_F(RangeDeletionTest, FollowsTheOrderOfTheFamily) {
  options_.comparator = ReverseBytewiseComparator();
  Open();
  for (const char* key : {"a", "b", "c", "d"}) Put(key, "1");
  EXPECT_TRUE(db_->DeleteRange(WriteOptions(), "b", "d").IsInvalidArgument());
  DeleteRange("d", "b");
  ExpectEverywhere("b=1 a=1 ");
}

TEST_F(RangeDeletionTest, OfAFamilyLeavesTheOthers) {
  options_.create_missing_column_families = true;
  OpenFamilies({"default", "other"});
  for (ColumnFamilyHandle* family : handles_) {
    EXPECT_OK(db_->Put(WriteOptions(), family, "a", "1"));
    EXPECT_OK(db_->Put(WriteOptions(), family, "b", "1"));
  }
  WriteBatch batch;
  EXPECT_OK(batch.DeleteRange(handles_[1], "a", "b"));
  EXPECT_OK(batch.Put(handles_[0], "c", "1"));
  EXPECT_OK(db_->Write(WriteOptions(), &batch));
  OpenFamilies({"default", "other"});
  EXPECT_EQ(Contents(handles_[0]), "a=1 b=1 c=1 ");
  EXPECT_EQ(Contents(handles_[1]), "b=1 ");
}

TEST_F(RangeDeletionTest, SnapshotsAndOldIteratorsSeeWhatTheyDeleted) {
  Open();
  Put("a", "1");
  Put("b", "1");
  const Snapshot* const before = db_->GetSnapshot();
  const std::unique_ptr<Iterator> old(db_->NewIterator(ReadOptions()));
  DeleteRange("a", "z");
  EXPECT_EQ(test::WalkBothWays(old.get()), "a=1 b=1 ");
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(Contents(nullptr, before), "a=1 b=1 ");
    EXPECT_EQ(Get("a", before), "1");
    EXPECT_EQ(Contents(), "");
    Rewrite();
  }
  db_->ReleaseSnapshot(before);
  EXPECT_EQ(test::WalkBothWays(old.get()), "a=1 b=1 ");
}

// The memtable gets its first range deletion after the iterator is created.
TEST_F(RangeDeletionTest, RefreshSeesALaterOne) {
  Open();
  Put("a", "1");
  Put("b", "1");
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  EXPECT_EQ(test::WalkBothWays(it.get()), "a=1 b=1 ");
  DeleteRange("a", "b");
  EXPECT_EQ(test::WalkBothWays(it.get()), "a=1 b=1 ");
  EXPECT_OK(it->Refresh());
  EXPECT_EQ(test::WalkBothWays(it.get()), "b=1 ");
  DeleteRange("b", "c");
  EXPECT_OK(it->Refresh());
  EXPECT_EQ(test::WalkBothWays(it.get()), "");
}

TEST_F(RangeDeletionTest, AFilterThatRulesOutAKeyDoesNotHideThem) {
  BlockBasedTableOptions table;
  table.filter_policy.reset(NewBloomFilterPolicy(20));
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  Open();
  for (uint64_t i = 0; i < 100; ++i) Put(Key(i), "1");
  CompactAll();
  Put("other", "1");
  DeleteRange(Key(0), Key(90));
  Flush();
  for (uint64_t i = 0; i < 100; ++i) EXPECT_EQ(Get(Key(i)), i < 90 ? "NOT_FOUND" : "1");
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < 100; ++i) keys.push_back(Key(i));
  const std::vector<Slice> slices(keys.begin(), keys.end());
  std::vector<std::string> values;
  const std::vector<Status> statuses = db_->MultiGet(ReadOptions(), slices, &values);
  for (size_t i = 0; i < 100; ++i) EXPECT_EQ(statuses[i].ok(), i >= 90) << statuses[i].ToString();
  std::string value;
  EXPECT_FALSE(db_->KeyMayExist(ReadOptions(), Key(5), &value));
  EXPECT_TRUE(db_->KeyMayExist(ReadOptions(), Key(95), &value));
}

// A snapshot keeps both the value and the tombstone. The value may get sequence 0, but must stay
// deleted.
TEST_F(RangeDeletionTest, AZeroedSequenceStaysBelowAKeptTombstone) {
  Open();
  Put("a", "1");
  Put("b", "1");
  const Snapshot* const before = db_->GetSnapshot();
  DeleteRange("a", "b");
  const Snapshot* const after = db_->GetSnapshot();
  Rewrite();
  EXPECT_EQ(Contents(), "b=1 ");
  EXPECT_EQ(Contents(nullptr, before), "a=1 b=1 ");
  EXPECT_EQ(Contents(nullptr, after), "b=1 ");
  Put("a", "2");
  Rewrite();
  EXPECT_EQ(Contents(), "a=2 b=1 ");
  EXPECT_EQ(Contents(nullptr, before), "a=1 b=1 ");
  EXPECT_EQ(Contents(nullptr, after), "b=1 ");
  db_->ReleaseSnapshot(before);
  Rewrite();
  EXPECT_EQ(Contents(nullptr, after), "b=1 ");
  EXPECT_EQ(Get("a", after), "NOT_FOUND");
  db_->ReleaseSnapshot(after);
  Rewrite();
  EXPECT_EQ(Contents(), "a=2 b=1 ");
}

// The file's largest key is the end of the range, which is the next file's first key.
TEST_F(RangeDeletionTest, TheEndOfTheLastRangeIsNotInItsFile) {
  Open();
  Put("m", "1");
  Flush();
  Put("c", "1");
  DeleteRange("a", "m");
  Flush();
  EXPECT_EQ(Get("m"), "1");
  EXPECT_EQ(Contents(), "m=1 ");
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  it->Seek("l");
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key(), "m");
  it->Prev();
  EXPECT_FALSE(it->Valid());
  ExpectEverywhere("m=1 ");
}

// Changes of direction at the ends of two adjacent fragments and of a third, in memtable and table.
TEST_F(RangeDeletionTest, BackwardsAtTheEndsOfAFragment) {
  Open();
  for (const char* key : {"a", "b", "c", "d", "e", "f", "g"}) Put(key, "1");
  Flush();
  DeleteRange("b", "c");
  DeleteRange("c", "d");
  DeleteRange("f", "g");
  for (const bool in_table : {false, true}) {
    if (in_table) Flush();
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    for (const auto& [target, found] : {std::pair("g", "g"),
                                        {"f\xff", "e"},
                                        {"f", "e"},
                                        {"d", "d"},
                                        {"c", "a"},
                                        {"b", "a"},
                                        {"a\xff", "a"}}) {
      it->SeekForPrev(target);
      ASSERT_TRUE(it->Valid()) << target;
      EXPECT_EQ(it->key(), found) << target;
    }
    std::string walked;
    for (it->SeekToLast(); it->Valid(); it->Prev()) walked += it->key().ToString();
    EXPECT_EQ(walked, "geda");
    it->Seek("b");
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ(it->key(), "d");
    it->Prev();
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ(it->key(), "a");
    it->Next();
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ(it->key(), "d");
  }
}

// A table with only tombstones deletes more keys than it has entries. No estimate may wrap.
TEST_F(RangeDeletionTest, EstimatesDoNotWrap) {
  options_.disable_auto_compactions = true;
  Open();
  for (uint64_t i = 0; i < 5; ++i) Put(Key(i), "1");
  Flush();
  for (uint64_t i = 0; i < 20; ++i) DeleteRange(Key(i), Key(i + 1));
  uint64_t keys = 0;
  EXPECT_TRUE(db_->GetIntProperty("rocksdb.estimate-num-keys", &keys));
  EXPECT_LE(keys, 25u) << "in the memtable";
  Flush();
  EXPECT_TRUE(db_->GetIntProperty("rocksdb.estimate-num-keys", &keys));
  EXPECT_LE(keys, 25u) << "in a table";
  uint64_t data_bytes = 0;
  EXPECT_TRUE(db_->GetIntProperty("rocksdb.estimate-live-data-size", &data_bytes));
  EXPECT_LE(data_bytes, uint64_t{1} << 20);
}

// A compaction cuts tables under one tombstone. Each has its own part, and none extends beyond it.
TEST_F(RangeDeletionTest, TablesThatShareATombstoneAreCompactedApart) {
  options_.target_file_size_base = 8 << 10;
  options_.max_bytes_for_level_base = 32 << 10;
  options_.level_compaction_dynamic_level_bytes = false;
  options_.num_levels = 4;
  options_.disable_auto_compactions = true;
  options_.max_subcompactions = 3;
  options_.statistics = CreateDBStatistics();
  Open();
  const std::string value(100, 'v');
  for (uint64_t i = 0; i < 1000; ++i) Put(Key(i), value);
  const Snapshot* const snapshot = db_->GetSnapshot();
  DeleteRange(Key(100), Key(900));
  for (uint64_t i = 0; i < 1000; i += 10) Put(Key(i), "new");
  CompactAll();
  const auto expect = [&](const std::string& when) {
    SCOPED_TRACE(when);
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    it->SeekToFirst();
    for (uint64_t i = 0; i < 1000; ++i) {
      const bool is_new = i % 10 == 0;
      if (!is_new && i >= 100 && i < 900) continue;
      ASSERT_TRUE(it->Valid());
      ASSERT_EQ(it->key(), Key(i));
      ASSERT_EQ(it->value(), Slice(is_new ? "new" : value));
      it->Next();
    }
    ASSERT_FALSE(it->Valid());
    ReadOptions old;
    old.snapshot = snapshot;
    const std::unique_ptr<Iterator> before(db_->NewIterator(old));
    before->SeekToLast();
    for (uint64_t i = 1000; i-- > 0; before->Prev()) {
      ASSERT_TRUE(before->Valid());
      ASSERT_EQ(before->key(), Key(i));
      ASSERT_EQ(before->value(), Slice(value));
    }
  };
  expect("compacted");
  // Parts are compacted separately, and values written in between become the oldest of their key.
  for (uint64_t from = 0; from < 1000; from += 130) {
    for (uint64_t i = from; i < from + 20 && i < 1000; i += 10) Put(Key(i), "new");
    Flush();
    const std::string begin = Key(from);
    const std::string end = Key(from + 60);
    const Slice begin_slice(begin);
    const Slice end_slice(end);
    CompactRangeOptions options;
    options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    EXPECT_OK(db_->CompactRange(options, &begin_slice, &end_slice));
    expect(StrCat("compacted from ", from));
  }
  HistogramData subcompactions;
  options_.statistics->histogramData(NUM_SUBCOMPACTIONS_SCHEDULED, &subcompactions);
  EXPECT_GT(subcompactions.max, 1.0) << "no compaction was shared";
  db_->ReleaseSnapshot(snapshot);
}

TEST_F(RangeDeletionTest, ATableOfNothingElse) {
  // Otherwise the hidden files may already be in a plan when CompactAll plans, and the tombstone
  // above them moves to a level instead of being dropped.
  options_.disable_auto_compactions = true;
  Open();
  for (uint64_t i = 0; i < 100; ++i) Put(Key(i), "1");
  CompactAll();
  DeleteRange(Key(10), Key(20));
  Flush();
  ASSERT_EQ(FilesAtLevel(0), 1u);
  EXPECT_EQ(Get(Key(15)), "NOT_FOUND");
  EXPECT_EQ(Get(Key(20)), "1");
  Open();
  EXPECT_EQ(Get(Key(15)), "NOT_FOUND");
  const std::string from = Key(0);
  const std::string to = Key(100);
  const Range whole(from, to);
  uint64_t bytes = 0;
  EXPECT_OK(db_->GetApproximateSizes(&whole, 1, &bytes));
  EXPECT_GT(bytes, 0u);
  EXPECT_OK(db_->VerifyChecksum());
  DeleteRange("", "z");
  CompactAll();
  EXPECT_EQ(Contents(), "");
  EXPECT_EQ(Number("rocksdb.total-sst-files-size"), 0u);
}

TEST_F(RangeDeletionTest, MergeOperandsAboveOneHaveNoBase) {
  options_.merge_operator = MergeOperators::CreateStringAppendOperator(',');
  Open();
  Merge("a", "1");
  Put("b", "1");
  Flush();
  Merge("a", "2");
  Merge("b", "2");
  DeleteRange("a", "z");
  Merge("a", "3");
  Merge("b", "3");
  EXPECT_EQ(Get("a"), "3");
  Merge("b", "4");
  ExpectEverywhere("a=3 b=3,4 ");
}

TEST_F(RangeDeletionTest, ASingleDeletionMeetsWhatIsLeft) {
  Open();
  Put("a", "1");
  DeleteRange("a", "b");
  Put("a", "2");
  EXPECT_OK(db_->SingleDelete(WriteOptions(), "a"));
  Put("c", "1");
  EXPECT_OK(db_->SingleDelete(WriteOptions(), "c"));
  DeleteRange("c", "d");
  Put("e", "1");
  ExpectEverywhere("e=1 ");
}

// One seek passes everything that a tombstone of a newer source covers.
TEST_F(RangeDeletionTest, ASeekPassesWhatIsCoveredWithoutReadingIt) {
  constexpr uint64_t kKeys = 20000;
  BlockBasedTableOptions table;
  table.no_block_cache = true;
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  Open();
  for (uint64_t i = 0; i < kKeys; ++i) Put(Key(i), std::string(100, 'v'));
  CompactAll();
  DeleteRange(Key(1), Key(kKeys - 1));
  for (const char* where : {"memtable", "table"}) {
    SCOPED_TRACE(where);
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    it->SeekToFirst();
    ASSERT_TRUE(it->Valid());
    const PerfContext before = *get_perf_context();
    it->Next();
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ(it->key(), Key(kKeys - 1));
    it->Prev();
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ(it->key(), Key(0));
    EXPECT_LE(get_perf_context()->block_read_count - before.block_read_count, 12u);
    Flush();
  }
}

// The tables of a level share a tombstone that covers all of an older level. A scan within the
// first or the last table opens none of the others, which are damaged.
TEST_F(RangeDeletionTest, ABoundedSeekOpensNoTableBeyondItsBound) {
  constexpr uint64_t kKeys = 1000;
  options_.disable_auto_compactions = true;
  options_.level_compaction_dynamic_level_bytes = false;
  options_.max_open_files = 500;  // tables are opened when they are needed
  Open();
  for (uint64_t i = 0; i < kKeys; ++i) Put(Key(i), "old");
  CompactRangeOptions down;
  down.change_level = true;
  down.target_level = 2;
  ASSERT_OK(db_->CompactRange(down, nullptr, nullptr));
  DeleteRange(Key(0), Key(kKeys));
  for (uint64_t i = 9; i < kKeys; i += 10) Put(Key(i), std::string(1000, 'n'));
  Flush();
  const auto tables_of = [&](int level) {
    std::vector<LiveFileMetaData> all;
    db_->GetLiveFilesMetaData(&all);
    std::erase_if(all, [level](const LiveFileMetaData& file) { return file.level != level; });
    std::sort(all.begin(), all.end(), [](const LiveFileMetaData& a, const LiveFileMetaData& b) {
      return a.smallestkey < b.smallestkey;
    });
    return all;
  };
  CompactionOptions small;
  small.output_file_size_limit = 4000;
  ASSERT_OK(db_->CompactFiles(small, {tables_of(0).front().name}, 1));
  const std::vector<LiveFileMetaData> tables = tables_of(1);
  ASSERT_GE(tables.size(), 10u);
  Close();
  for (size_t i = 1; i + 1 < tables.size(); ++i) {
    const std::string file = path() + tables[i].name;
    const uintmax_t bytes = std::filesystem::file_size(file);
    std::filesystem::resize_file(file, 0);
    std::filesystem::resize_file(file, bytes);
  }
  for (const bool beside_a_memtable : {false, true}) {
    SCOPED_TRACE(beside_a_memtable ? "with a key beyond the bound" : "tables alone");
    options_.statistics = CreateDBStatistics();
    Open();
    // A key within a damaged table.
    if (beside_a_memtable) Put(tables[tables.size() / 2].smallestkey, "new");
    const std::string lower = tables.back().smallestkey;
    const std::string upper = tables[1].smallestkey;
    const Slice lower_slice(lower);
    const Slice upper_slice(upper);
    ReadOptions options;
    options.iterate_upper_bound = &upper_slice;
    const std::unique_ptr<Iterator> ahead(db_->NewIterator(options));
    uint64_t keys = 0;
    for (ahead->SeekToFirst(); ahead->Valid(); ahead->Next()) ++keys;
    EXPECT_OK(ahead->status());
    EXPECT_GE(keys, 1u);
    options.iterate_upper_bound = nullptr;
    options.iterate_lower_bound = &lower_slice;
    const std::unique_ptr<Iterator> back(db_->NewIterator(options));
    keys = 0;
    for (back->SeekToLast(); back->Valid(); back->Prev()) ++keys;
    EXPECT_OK(back->status());
    EXPECT_GE(keys, 1u);
    // The first and the last table of level 1, and the table of level 2.
    EXPECT_LE(options_.statistics->getTickerCount(NO_FILE_OPENS), 3u);
  }
}

TEST_F(RangeDeletionTest, PlainTablesRefuseThem) {
  PlainTableOptions table;
  table.hash_table_ratio = 0;  // total order
  options_.table_factory.reset(NewPlainTableFactory(table));
  options_.allow_mmap_reads = true;
  Open();
  Put("a", "1");
  const Status refused = db_->DeleteRange(WriteOptions(), "a", "b");
  EXPECT_TRUE(refused.IsNotSupported()) << refused.ToString();
  Flush();
  EXPECT_EQ(Contents(), "a=1 ");
}

TEST_F(RangeDeletionTest, ReadOnlyOpensApplyThoseOfTheLog) {
  Open();
  Put("a", "1");
  Put("b", "1");
  DeleteRange("a", "b");
  Close();
  EXPECT_OK(DB::OpenForReadOnly(options_, path(), &db_));
  EXPECT_EQ(Contents(), "b=1 ");
  EXPECT_EQ(Get("a"), "NOT_FOUND");
}

// By each kind of read, from memtables and from tables.
TEST_F(RangeDeletionTest, ReadsThatIgnoreThemFindWhatIsStored) {
  Open();
  const Snapshot* const before = db_->GetSnapshot();  // flushes keep the entries that they delete
  for (const char* key : {"a", "b", "c", "d"}) Put(key, "1");
  const Snapshot* const put = db_->GetSnapshot();
  DeleteRange("a", "c");
  DeleteRange("a", "b");
  Delete("d");
  ReadOptions ignoring;
  ignoring.ignore_range_deletions = true;
  const auto expect = [&](const char* where) {
    SCOPED_TRACE(where);
    EXPECT_EQ(Contents(), "c=1 ");
    EXPECT_EQ(Get("a"), "NOT_FOUND");
    std::string value;
    EXPECT_OK(db_->Get(ignoring, "a", &value));
    EXPECT_EQ(value, "1");
    EXPECT_TRUE(db_->Get(ignoring, "d", &value).IsNotFound());
    EXPECT_TRUE(db_->KeyMayExist(ignoring, "b", &value));
    std::vector<std::string> values;
    const std::vector<Status> found = db_->MultiGet(ignoring, {"a", "b", "d"}, &values);
    EXPECT_OK(found[0]);
    EXPECT_OK(found[1]);
    EXPECT_TRUE(found[2].IsNotFound());
    const std::unique_ptr<Iterator> it(db_->NewIterator(ignoring));
    EXPECT_EQ(test::WalkBothWays(it.get()), "a=1 b=1 c=1 ");
    EXPECT_OK(it->Refresh());
    EXPECT_EQ(test::WalkBothWays(it.get()), "a=1 b=1 c=1 ");
  };
  expect("memtable");
  Flush();
  expect("table");
  DeleteRange("", "z");
  EXPECT_EQ(Contents(), "");
  const std::unique_ptr<Iterator> it(db_->NewIterator(ignoring));
  EXPECT_EQ(test::WalkBothWays(it.get()), "a=1 b=1 c=1 ");
  db_->ReleaseSnapshot(put);
  db_->ReleaseSnapshot(before);
}

// A gap that an iterator remembers may contain keys that only range deletions hide.
TEST_F(RangeDeletionTest, ReadsThatIgnoreThemUseNoKnownGaps) {
  Open();
  constexpr uint64_t kCount = 400;
  std::string stored;
  for (uint64_t i = 0; i < kCount; ++i) {
    Put(Key(i), "1");
    if (i % 100 == 50) {
      DeleteRange(Key(i), Key(i + 1));
      stored += Key(i) + "=1 ";
    } else {
      Delete(Key(i));
    }
  }
  Put("z", "1");
  for (int round = 0; round < 3; ++round) EXPECT_EQ(Contents(), "z=1 ");
  ReadOptions ignoring;
  ignoring.ignore_range_deletions = true;
  const std::unique_ptr<Iterator> it(db_->NewIterator(ignoring));
  EXPECT_EQ(test::WalkBothWays(it.get()), stored + "z=1 ");
}

TEST_F(RangeDeletionTest, CountAmongTheEntriesOfAMemtable) {
  Open();
  Put("a", "1");
  DeleteRange("b", "d");
  uint64_t count = 0;
  EXPECT_TRUE(db_->GetIntProperty(DB::Properties::kNumEntriesActiveMemTable, &count));
  EXPECT_EQ(count, 2u);
  EXPECT_TRUE(db_->GetIntProperty(DB::Properties::kNumDeletesActiveMemTable, &count));
  EXPECT_EQ(count, 0u);
}

TEST_F(RangeDeletionTest, OfADroppedFamilyIsRefusedAsAPutIs) {
  options_.create_missing_column_families = true;
  OpenFamilies({"default", "other"});
  EXPECT_OK(db_->DropColumnFamily(handles_[1]));
  const Status put = db_->Put(WriteOptions(), handles_[1], "a", "1");
  const Status range = db_->DeleteRange(WriteOptions(), handles_[1], "a", "b");
  EXPECT_FALSE(range.ok());
  EXPECT_EQ(range.ToString(), put.ToString());
}

}  // namespace
}  // namespace ashlar
