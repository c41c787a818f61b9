// PinnableSlice: values are found without a copy and stay valid after their container is replaced
// or deleted.
#include "ashlar/statistics.h"
#include "tests/engine/database_fixture.h"

namespace ashlar {
namespace {

class PinTest : public DatabaseFixture {
 protected:
  PinTest() {
    cache_ = NewLRUCache(1 << 20);
    table_.block_cache = cache_;
    options_.table_factory.reset(NewBlockBasedTableFactory(table_));
  }
  static std::string Value(int i) {
    return std::string(1000, static_cast<char>('a' + i % 26)) + std::to_string(i);
  }

  std::shared_ptr<Cache> cache_;
  BlockBasedTableOptions table_;
};

TEST_F(PinTest, ValuesArePinnedInMemtableBlockCacheAndMapping) {
  for (const bool mmap : {false, true}) {
    options_.allow_mmap_reads = mmap;
    Open();
    Put("a", Value(1));
    PinnableSlice in_memtable;
    ASSERT_OK(db_->Get(ReadOptions(), "a", &in_memtable));
    EXPECT_TRUE(in_memtable.IsPinned());
    PinnableSlice again;
    ASSERT_OK(db_->Get(ReadOptions(), "a", &again));
    EXPECT_EQ(again.data(), in_memtable.data());
    Flush();
    PinnableSlice in_table;
    ASSERT_OK(db_->Get(ReadOptions(), "a", &in_table));
    EXPECT_TRUE(in_table.IsPinned());
    ASSERT_OK(db_->Get(ReadOptions(), "a", &again));
    EXPECT_EQ(again.data(), in_table.data());
    EXPECT_EQ(in_table.ToString(), Value(1));
    EXPECT_EQ(in_memtable.ToString(), Value(1));
  }
}

TEST_F(PinTest, AMergeThatEndsInOneValuePinsIt) {
  class TakeNewest final : public MergeOperator {
   public:
    const char* Name() const override { return "TakeNewest"; }
    bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
      out->existing_operand = in.operand_list.back();
      return true;
    }
  };
  options_.merge_operator = std::make_shared<TakeNewest>();
  Open();
  Put("a", Value(1));
  Merge("a", Value(2));
  Merge("a", Value(3));
  PinnableSlice value;
  ASSERT_OK(db_->Get(ReadOptions(), "a", &value));
  EXPECT_TRUE(value.IsPinned());
  EXPECT_EQ(value.ToString(), Value(3));
}

TEST_F(PinTest, PinsOutliveFlushCompactionEvictionAndDrop) {
  options_.create_missing_column_families = true;
  OpenFamilies({"default", "other"});
  std::vector<PinnableSlice> pins(60);
  for (int i = 0; i < 20; ++i) {
    EXPECT_OK(db_->Put(WriteOptions(), handles_[1], std::to_string(i), Value(i)));
    ASSERT_OK(
        db_->Get(ReadOptions(), handles_[1], std::to_string(i), &pins[static_cast<size_t>(i)]));
  }
  EXPECT_OK(db_->Flush(FlushOptions(), handles_[1]));
  for (int i = 0; i < 20; ++i)
    ASSERT_OK(db_->Get(ReadOptions(), handles_[1], std::to_string(i),
                       &pins[static_cast<size_t>(20 + i)]));
  CompactRangeOptions force;
  force.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  EXPECT_OK(db_->CompactRange(force, handles_[1], nullptr, nullptr));
  for (int i = 0; i < 20; ++i)
    ASSERT_OK(db_->Get(ReadOptions(), handles_[1], std::to_string(i),
                       &pins[static_cast<size_t>(40 + i)]));
  cache_->EraseUnRefEntries();
  EXPECT_OK(db_->DropColumnFamily(handles_[1]));
  delete handles_[1];
  handles_.pop_back();
  for (int i = 0; i < 60; ++i) {
    EXPECT_TRUE(pins[static_cast<size_t>(i)].IsPinned());
    EXPECT_EQ(pins[static_cast<size_t>(i)].ToString(), Value(i % 20));
  }
}

TEST_F(PinTest, CloseWithLivePinsIsAbortedAndClosesNothing) {
  Open();
  Put("a", "memtable");
  {
    PinnableSlice value;
    ASSERT_OK(db_->Get(ReadOptions(), "a", &value));
    EXPECT_TRUE(db_->Close().IsAborted());
    EXPECT_EQ(value.ToString(), "memtable");
    Put("b", "still open");
  }
  {
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    EXPECT_TRUE(db_->Close().IsAborted());
  }
  const Snapshot* const snapshot = db_->GetSnapshot();
  EXPECT_TRUE(db_->Close().IsAborted());
  db_->ReleaseSnapshot(snapshot);
  Flush();
  {
    PinnableSlice value;
    ASSERT_OK(db_->Get(ReadOptions(), "a", &value));
    EXPECT_TRUE(value.IsPinned());
    EXPECT_TRUE(db_->Close().IsAborted());
    EXPECT_EQ(Get("b"), "still open");
  }
  EXPECT_OK(db_->Close());
  EXPECT_TRUE(db_->Put(WriteOptions(), "c", "closed").IsShutdownInProgress());
}

TEST_F(PinTest, CloseIsAbortedByAPinInTheMappingOfATableThatIsNoMore) {
  table_.block_cache = nullptr;
  table_.no_block_cache = true;
  options_.table_factory.reset(NewBlockBasedTableFactory(table_));
  options_.allow_mmap_reads = true;
  options_.compression = kNoCompression;
  Open();
  Put("a", Value(1));
  Flush();
  PinnableSlice value;
  ASSERT_OK(db_->Get(ReadOptions(), "a", &value));
  EXPECT_TRUE(value.IsPinned());
  CompactRangeOptions force;
  force.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  ASSERT_OK(db_->CompactRange(force, nullptr, nullptr));
  EXPECT_TRUE(db_->Close().IsAborted());
  EXPECT_EQ(value.ToString(), Value(1));
  value.Reset();
  EXPECT_OK(db_->Close());
}

// RocksDB forbids this, but programs do it.
TEST_F(PinTest, WhatIsLeftOfADeletedDatabaseStaysValidAndIsGivenBackLater) {
  for (const bool mmap : {false, true}) {
    options_.allow_mmap_reads = mmap;
    options_.statistics = CreateDBStatistics();
    Open();
    for (int i = 0; i < 100; ++i) Put("table" + std::to_string(i), Value(i));
    Flush();
    Put("memtable", Value(1));
    ColumnFamilyHandle* other = nullptr;
    ASSERT_OK(
        db_->CreateColumnFamily(ColumnFamilyOptions(options_), mmap ? "mapped" : "cached", &other));
    WriteOptions without_log;
    without_log.disableWAL = true;
    ASSERT_OK(db_->Put(without_log, other, "unlogged", Value(2)));

    PinnableSlice in_memtable, in_table;
    ASSERT_OK(db_->Get(ReadOptions(), "memtable", &in_memtable));
    ASSERT_OK(db_->Get(ReadOptions(), "table5", &in_table));
    std::unique_ptr<Iterator> iterator(db_->NewIterator(ReadOptions()));
    iterator->SeekToFirst();
    db_.reset();

    EXPECT_EQ(in_memtable.ToString(), Value(1));
    EXPECT_EQ(in_table.ToString(), Value(5));
    size_t seen = 0;
    for (; iterator->Valid(); iterator->Next()) ++seen;
    ASSERT_OK(iterator->status());
    EXPECT_EQ(seen, 101u);
    ASSERT_OK(iterator->Refresh());

    // The files are closed and the lock is released. Nothing was lost.
    OpenFamilies({kDefaultColumnFamilyName, mmap ? "mapped" : "cached"});
    EXPECT_EQ(GetFrom(handles_.back(), "unlogged"), Value(2));
    EXPECT_EQ(Get("memtable"), Value(1));
    Close();
    EXPECT_EQ(in_memtable.ToString(), Value(1));

    const std::weak_ptr<Statistics> statistics = options_.statistics;
    options_.statistics = nullptr;
    in_memtable.Reset();
    in_table.Reset();
    iterator.reset();
    EXPECT_FALSE(statistics.expired()) << "the handle is left";
    delete other;
    OpenFamilies({kDefaultColumnFamilyName, mmap ? "mapped" : "cached"});
    EXPECT_TRUE(statistics.expired());
    Close();
    ASSERT_OK(DestroyDB(path(), options_));
  }
}

TEST_F(PinTest, TheCacheStaysWithinItsCapacityWithPinsAndReadsNeverFail) {
  cache_ = NewLRUCache(64 << 10);
  table_.block_cache = cache_;
  options_.table_factory.reset(NewBlockBasedTableFactory(table_));
  Open();
  for (int i = 0; i < 1000; ++i) Put(std::to_string(i), Value(i));
  Flush();
  std::vector<PinnableSlice> pins(1000);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_OK(db_->Get(ReadOptions(), std::to_string(i), &pins[static_cast<size_t>(i)]));
    EXPECT_LE(cache_->GetUsage(), cache_->GetCapacity());
  }
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(pins[static_cast<size_t>(i)].ToString(), Value(i));
}

// With the role kBlockBasedTableReader, the memory of open tables counts as usage of the cache.
TEST_F(PinTest, OpenTablesCountInTheCache) {
  options_.disable_auto_compactions = true;
  table_.filter_policy.reset(NewBloomFilterPolicy(10));
  table_.cache_usage_options.options_overrides[CacheEntryRole::kBlockBasedTableReader].charged =
      CacheEntryRoleOptions::Decision::kEnabled;
  options_.table_factory.reset(NewBlockBasedTableFactory(table_));
  Open();
  for (const char* const key : {"a", "b"}) {
    for (int i = 0; i < 100; ++i) Put(key + std::to_string(i), Value(i));
    Flush();
    EXPECT_EQ(Get(key + std::string("7")), Value(7));
  }
  cache_->EraseUnRefEntries();  // the data blocks
  EXPECT_GT(cache_->GetUsage(), 0u);
  EXPECT_EQ(cache_->GetUsage(), Number("rocksdb.estimate-table-readers-mem"));
  Close();
  EXPECT_EQ(cache_->GetUsage(), 0u);
}

TEST_F(PinTest, IteratorValuesCanBePinned) {
  Open();
  for (int i = 0; i < 100; ++i) Put(std::to_string(1000 + i), Value(i));
  Flush();
  std::vector<PinnableSlice> pins(100);
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  size_t n = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) it->PinValue(&pins[n++]);
  ASSERT_EQ(n, 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(pins[static_cast<size_t>(i)].ToString(), Value(i));
}

}  // namespace
}  // namespace ashlar
