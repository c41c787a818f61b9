// Column families: one log, separate maps.
#include <algorithm>
#include <filesystem>
#include <future>
#include <memory>

#include "ashlar/listener.h"
#include "ashlar/statistics.h"
#include "ashlar/vfs.h"
#include "base/format.h"
#include "tests/engine/database_fixture.h"
#include "tests/support/manual_env.h"

namespace ashlar {
namespace {

using ColumnFamilyTest = DatabaseFixture;

// Holds every flush job between its install, for which the caller of Flush waits, and its
// end.
class HoldAfterFlush final : public EventListener {
 public:
  void OnFlushCompleted(DB* /*db*/, const FlushJobInfo& /*info*/) override {
    released_.get_future().wait();
  }
  void Release() { released_.set_value(); }

 private:
  std::promise<void> released_;
};

TEST_F(ColumnFamilyTest, FamiliesAreCreatedWrittenListedAndReopened) {
  Open();
  ColumnFamilyHandle* meta = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(options_), "meta", &meta));
  handles_.push_back(meta);
  Put("a", "default");
  EXPECT_OK(db_->Put(WriteOptions(), meta, "a", "meta"));
  WriteBatch batch;
  EXPECT_OK(batch.Put("b", "1"));
  EXPECT_OK(batch.Put(meta, "b", "2"));
  EXPECT_OK(db_->Write(WriteOptions(), &batch));
  Close();
  std::vector<std::string> names;
  EXPECT_OK(DB::ListColumnFamilies(options_, path(), &names));
  EXPECT_EQ(names, (std::vector<std::string>{"default", "meta"}));
  EXPECT_TRUE(TryOpen().IsInvalidArgument());
  OpenFamilies({"default", "meta"});
  EXPECT_EQ(Contents(handles_[0]), "a=default b=1 ");
  EXPECT_EQ(Contents(handles_[1]), "a=meta b=2 ");
}

TEST_F(ColumnFamilyTest, AFamilyNeedsAName) {
  Open();
  ColumnFamilyHandle* family = nullptr;
  EXPECT_TRUE(
      db_->CreateColumnFamily(ColumnFamilyOptions(options_), "", &family).IsInvalidArgument());
  EXPECT_EQ(family, nullptr);
}

TEST_F(ColumnFamilyTest, AChangeOfNoOptionIsRefused) {
  Open();
  const std::unordered_map<std::string, std::string> nothing;
  EXPECT_TRUE(db_->SetOptions(nothing).IsInvalidArgument());
  EXPECT_TRUE(db_->SetDBOptions(nothing).IsInvalidArgument());
}

TEST_F(ColumnFamilyTest, TheMetadataOfAllFamiliesHaveThoseWithoutTables) {
  options_.create_missing_column_families = true;
  OpenFamilies({"default", "empty", "filled"});
  ASSERT_OK(db_->Put(WriteOptions(), handles_[2], "k", "v"));
  ASSERT_OK(db_->Flush(FlushOptions(), handles_[2]));
  std::vector<ColumnFamilyMetaData> metadata;
  db_->GetAllColumnFamilyMetaData(&metadata);
  ASSERT_EQ(metadata.size(), handles_.size());
  for (size_t i = 0; i < metadata.size(); ++i) {
    SCOPED_TRACE(i);
    ColumnFamilyMetaData own;
    db_->GetColumnFamilyMetaData(handles_[i], &own);
    EXPECT_EQ(metadata[i].name, handles_[i]->GetName());
    EXPECT_EQ(metadata[i].file_count, i == 2 ? 1u : 0u);
    EXPECT_EQ(metadata[i].size, own.size);
    EXPECT_EQ(metadata[i].levels.size(), own.levels.size());
  }
}

TEST_F(ColumnFamilyTest, AFlushOfOneFamilyLosesNothingOfTheOthers) {
  options_.create_missing_column_families = true;
  OpenFamilies({"default", "one", "two"});
  for (int i = 0; i < 3; ++i)
    EXPECT_OK(db_->Put(WriteOptions(), handles_[static_cast<size_t>(i)], "k", std::to_string(i)));
  EXPECT_OK(db_->Flush(FlushOptions(), handles_[1]));
  EXPECT_OK(db_->Put(WriteOptions(), handles_[1], "l", "later"));
  OpenFamilies({"default", "one", "two"});
  EXPECT_EQ(Contents(handles_[0]), "k=0 ");
  EXPECT_EQ(Contents(handles_[1]), "k=1 l=later ");
  EXPECT_EQ(Contents(handles_[2]), "k=2 ");
}

TEST_F(ColumnFamilyTest, ADroppedFamilyIsReadThroughItsHandleAndThenGone) {
  options_.create_missing_column_families = true;
  OpenFamilies({"default", "gone"});
  EXPECT_OK(db_->Put(WriteOptions(), handles_[1], "a", "1"));
  EXPECT_OK(db_->Flush(FlushOptions(), handles_[1]));
  EXPECT_OK(db_->Put(WriteOptions(), handles_[1], "b", "2"));
  EXPECT_OK(db_->DropColumnFamily(handles_[1]));
  EXPECT_EQ(Contents(handles_[1]), "a=1 b=2 ");
  EXPECT_TRUE(db_->Put(WriteOptions(), handles_[1], "c", "3").IsColumnFamilyDropped());
  WriteBatch batch;
  EXPECT_OK(batch.Put(handles_[1], "c", "3"));
  EXPECT_TRUE(db_->Write(WriteOptions(), &batch).IsInvalidArgument());
  WriteOptions lenient;
  lenient.ignore_missing_column_families = true;
  EXPECT_OK(db_->Write(lenient, &batch));
  delete handles_[1];
  handles_.pop_back();
  // The flush job may still be ending. The files are deleted once it has ended.
  EXPECT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(Tables(), 0);
  OpenFamilies({"default"});
  // The name may be reused for a new family.
  ColumnFamilyHandle* again = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(options_), "gone", &again));
  handles_.push_back(again);
  EXPECT_EQ(Contents(again), "");
  EXPECT_TRUE(db_->DropColumnFamily(db_->DefaultColumnFamily()).IsInvalidArgument());
}

// A follower may apply batches of its primary before it creates the family. Its log contains the
// records that it ignored, and a family that is created later has their id.
TEST_F(ColumnFamilyTest, ANewFamilyHasNoRecordsThatWerePassedOver) {
  class NoFamilyYet final : public ColumnFamilyHandle {
   public:
    const std::string& GetName() const override { return name_; }
    uint32_t GetID() const override { return 1; }
    Status GetDescriptor(ColumnFamilyDescriptor*) override { return Status::NotSupported(); }
    const Comparator* GetComparator() const override { return BytewiseComparator(); }

   private:
    const std::string name_ = "not yet";
  };
  Open();
  Put("a", "before");
  NoFamilyYet not_yet;
  WriteBatch batch;
  EXPECT_OK(batch.Put(&not_yet, "a", "ignored"));
  EXPECT_OK(batch.Put("b", "taken"));
  WriteOptions lenient;
  lenient.ignore_missing_column_families = true;
  EXPECT_OK(db_->Write(lenient, &batch));
  ColumnFamilyHandle* made = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(options_), "made", &made));
  handles_.push_back(made);
  ASSERT_EQ(made->GetID(), 1U);
  EXPECT_OK(db_->Put(WriteOptions(), made, "c", "after"));
  EXPECT_EQ(Contents(made), "c=after ");
  OpenFamilies({"default", "made"});  // replays the log
  EXPECT_EQ(Contents(handles_[0]), "a=before b=taken ");
  EXPECT_EQ(Contents(handles_[1]), "c=after ");
}

TEST_F(ColumnFamilyTest, AFamilyThatAFlushNamesTwiceIsFlushedOnce) {
  options_.create_missing_column_families = true;
  options_.max_write_buffer_number = 2;
  OpenFamilies({"default", "other"});
  EXPECT_OK(db_->Put(WriteOptions(), handles_[0], "a", "1"));
  EXPECT_OK(db_->Put(WriteOptions(), handles_[1], "b", "2"));
  const std::vector<ColumnFamilyHandle*> named(64, handles_[1]);
  EXPECT_OK(db_->Flush(FlushOptions(), named));
  EXPECT_EQ(Tables(), 1);
  std::vector<ColumnFamilyHandle*> both = {handles_[0], handles_[1], handles_[0]};
  EXPECT_OK(db_->Put(WriteOptions(), handles_[1], "c", "3"));
  EXPECT_OK(db_->Flush(FlushOptions(), both));
  EXPECT_EQ(Tables(), 3);
  EXPECT_EQ(Contents(handles_[0]), "a=1 ");
  EXPECT_EQ(Contents(handles_[1]), "b=2 c=3 ");
}

// Only pinned values of the family keep a database open.
TEST_F(ColumnFamilyTest, TheHandleOfADroppedFamilyDoesNotKeepTheDatabaseOpen) {
  Open();
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(options_), "gone", &family));
  handles_.push_back(family);
  ASSERT_OK(db_->Put(WriteOptions(), family, "table", "1"));
  ASSERT_OK(db_->Flush(FlushOptions(), family));
  ASSERT_OK(db_->Put(WriteOptions(), family, "memtable", "2"));
  ASSERT_OK(db_->DropColumnFamily(family));
  for (const char* const key : {"table", "memtable"}) {
    PinnableSlice pinned;
    ASSERT_OK(db_->Get(ReadOptions(), family, key, &pinned));
    EXPECT_TRUE(db_->Close().IsAborted()) << key;
  }
  ASSERT_OK(db_->Close());
}

TEST_F(ColumnFamilyTest, AJobThatHoldsADroppedFamilyLastDeletesItsFiles) {
  const auto hold = std::make_shared<HoldAfterFlush>();
  options_.listeners = {hold};
  options_.create_missing_column_families = true;
  OpenFamilies({"default", "gone"});
  EXPECT_OK(db_->Put(WriteOptions(), handles_[1], "a", "1"));
  EXPECT_OK(db_->Flush(FlushOptions(), handles_[1]));
  EXPECT_OK(db_->DropColumnFamily(handles_[1]));
  delete handles_[1];
  handles_.pop_back();
  EXPECT_EQ(Tables(), 1);
  hold->Release();
  EXPECT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(Tables(), 0);
}

TEST_F(ColumnFamilyTest, IteratorsOfSeveralFamiliesShowOneMoment) {
  options_.create_missing_column_families = true;
  OpenFamilies({"default", "other"});
  EXPECT_OK(db_->Put(WriteOptions(), handles_[0], "a", "1"));
  std::vector<Iterator*> iterators;
  ASSERT_OK(db_->NewIterators(ReadOptions(), handles_, &iterators));
  EXPECT_OK(db_->Put(WriteOptions(), handles_[1], "b", "2"));
  const std::unique_ptr<Iterator> first(iterators[0]);
  const std::unique_ptr<Iterator> second(iterators[1]);
  first->SeekToFirst();
  EXPECT_TRUE(first->Valid());
  second->SeekToFirst();
  EXPECT_FALSE(second->Valid());
}

// Otherwise each name would open a separate family with the same id.
TEST_F(ColumnFamilyTest, AFamilyThatIsNamedTwiceIsOpenedOnce) {
  options_.create_missing_column_families = true;
  OpenFamilies({"default", "default", "new", "new"});
  EXPECT_OK(db_->Put(WriteOptions(), handles_[1], "a", "1"));
  EXPECT_OK(db_->Put(WriteOptions(), handles_[3], "b", "2"));
  EXPECT_EQ(Contents(handles_[0]), "a=1 ");
  EXPECT_EQ(Contents(handles_[2]), "b=2 ");
  OpenFamilies({"default", "new", "new"});
  EXPECT_OK(db_->Flush(FlushOptions(), handles_[2]));
  EXPECT_OK(db_->Put(WriteOptions(), handles_[1], "c", "3"));
  OpenFamilies({"default", "new"});
  EXPECT_EQ(Contents(handles_[0]), "a=1 ");
  EXPECT_EQ(Contents(handles_[1]), "b=2 c=3 ");
}

TEST_F(ColumnFamilyTest, ANullHandleIsTheDefaultFamily) {
  Open();
  ColumnFamilyHandle* const none = nullptr;
  ASSERT_OK(db_->Put(WriteOptions(), none, "a", "1"));
  WriteBatch batch;
  ASSERT_OK(batch.Put(none, "b", "2"));
  ASSERT_OK(db_->Write(WriteOptions(), &batch));
  std::string value;
  ASSERT_OK(db_->Get(ReadOptions(), none, "a", &value));
  EXPECT_EQ(value, "1");
  ASSERT_OK(db_->Flush(FlushOptions(), none));
  ASSERT_OK(db_->Delete(WriteOptions(), none, "a"));
  EXPECT_EQ(Contents(), "b=2 ");
}

TEST_F(ColumnFamilyTest, MemtablesTogetherStayWithinDbWriteBufferSize) {
  options_.db_write_buffer_size = 1 << 20;
  OpenFamilies({kDefaultColumnFamilyName});
  for (const char* const name : {"a", "b"}) {
    ColumnFamilyHandle* handle = nullptr;
    ASSERT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(options_), name, &handle));
    handles_.push_back(handle);
  }
  for (int i = 0; i < 6000; ++i) {
    // Most writes go to one family, which is the one to be flushed.
    ASSERT_OK(db_->Put(WriteOptions(), handles_[i % 10 == 0 ? 2u : 1u], StrCat("key", i),
                       std::string(1000, 'x')));
    uint64_t bytes = 0;
    ASSERT_TRUE(db_->GetAggregatedIntProperty(DB::Properties::kCurSizeActiveMemTable, &bytes));
    ASSERT_LT(bytes, uint64_t{3} << 20) << i;
  }
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  uint64_t flushed = 0;
  ASSERT_TRUE(db_->GetIntProperty(handles_[1], DB::Properties::kTotalSstFilesSize, &flushed));
  EXPECT_GT(flushed, uint64_t{3} << 20);
  for (int i = 0; i < 6000; ++i)
    ASSERT_EQ(GetFrom(handles_[i % 10 == 0 ? 2u : 1u], StrCat("key", i)), std::string(1000, 'x'));
}

TEST_F(ColumnFamilyTest, AMessageHasTheBeginOfALongName) {
  constexpr size_t kMessageBytesMax = 500;
  const std::string name(1 << 20, '\n');
  Open();
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(options_), name, &family));
  handles_.push_back(family);
  std::vector<std::string> messages;
  ColumnFamilyHandle* second = nullptr;
  messages.push_back(
      db_->CreateColumnFamily(ColumnFamilyOptions(options_), name, &second).ToString());
  ASSERT_OK(db_->DropColumnFamily(family));
  messages.push_back(db_->Put(WriteOptions(), family, "key", "value").ToString());
  messages.push_back(db_->CompactRange(CompactRangeOptions(), family, nullptr, nullptr).ToString());
  for (const std::string& message : messages) {
    EXPECT_LT(message.size(), kMessageBytesMax);
    EXPECT_NE(message.find("\\x0a\\x0a... (1048576 bytes)"), std::string::npos)
        << message.substr(0, kMessageBytesMax);
  }
}

TEST_F(ColumnFamilyTest, TheFamiliesThatMustBeOpenedAreNamedShortly) {
  const std::string name(1 << 20, 'n');
  options_.create_missing_column_families = true;
  OpenFamilies({"default", name});
  const std::string message = TryOpen().ToString();
  EXPECT_LT(message.size(), 500u);
  EXPECT_NE(message.find("nn... (1048576 bytes)"), std::string::npos) << message.substr(0, 500);
}

TEST_F(ColumnFamilyTest, AWrongComparatorIsRefused) {
  Open();
  Put("a", "1");
  Close();
  options_.comparator = ReverseBytewiseComparator();
  const Status status = TryOpen();
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  EXPECT_NE(status.ToString().find("leveldb.BytewiseComparator"), std::string::npos)
      << status.ToString();
}

TEST_F(ColumnFamilyTest, OldLogsGoOnceEveryFamilyHasFlushedThem) {
  options_.create_missing_column_families = true;
  options_.write_buffer_size = 64 << 10;
  options_.max_total_wal_size = 256 << 10;
  OpenFamilies({"default", "idle"});
  EXPECT_OK(db_->Put(WriteOptions(), handles_[1], "idle", "1"));
  for (int i = 0; i < 20000; ++i)
    EXPECT_OK(db_->Put(WriteOptions(), handles_[0], std::to_string(i), std::string(100, 'x')));
  EXPECT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  uint64_t log_bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path())) {
    if (entry.path().extension() == ".log") log_bytes += entry.file_size();
  }
  EXPECT_LT(log_bytes, 1u << 20);
  EXPECT_EQ(GetFrom(handles_[1], "idle"), "1");
}

TEST_F(ColumnFamilyTest, ALowerLimitOfLogBytesCountsFromTheNextWrite) {
  Open();
  for (int i = 0; i < 200; ++i) Put(std::to_string(i), std::string(1000, 'x'));
  ASSERT_OK(db_->SetDBOptions({{"max_total_wal_size", "100000"}}));
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  std::string tables;
  ASSERT_TRUE(db_->GetProperty("rocksdb.num-files-at-level0", &tables));
  EXPECT_EQ(tables, "0");
  Put("next", "1");
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  ASSERT_TRUE(db_->GetProperty("rocksdb.num-files-at-level0", &tables));
  EXPECT_EQ(tables, "1");
}

// No memtable has an entry whose flush would free the log.
TEST_F(ColumnFamilyTest, OldLogsGoAlsoIfTheyHaveLogDataAlone) {
  options_.create_missing_column_families = true;
  options_.max_total_wal_size = 256 << 10;
  OpenFamilies({"default", "idle"});
  const auto log_bytes = [this] {
    uint64_t bytes = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path())) {
      if (entry.path().extension() == ".log") bytes += entry.file_size();
    }
    return bytes;
  };
  WriteBatch log_data;
  ASSERT_OK(log_data.PutLogData(std::string(1000, 'x')));
  // Returns the maximum bytes of the logs.
  const auto write_log_data = [&](int batches) {
    uint64_t bytes_max = 0;
    for (int i = 0; i < batches; ++i) {
      EXPECT_OK(db_->Write(WriteOptions(), &log_data));
      if (i % 50 != 0) continue;
      EXPECT_OK(db_->WaitForCompact(WaitForCompactOptions()));
      bytes_max = std::max(bytes_max, log_bytes());
    }
    return bytes_max;
  };
  EXPECT_LT(write_log_data(20000), 384u << 10);
  EXPECT_EQ(FilesAtLevel(0), 0u);
  EXPECT_OK(db_->Put(WriteOptions(), handles_[1], "idle", "1"));
  EXPECT_LT(write_log_data(2000), 384u << 10);
  OpenFamilies({"default", "idle"});
  EXPECT_EQ(GetFrom(handles_[1], "idle"), "1");
}

// Four times all memtables exceed 64 bits for the smaller number, all memtables for the larger.
TEST_F(ColumnFamilyTest, TheLimitOfLogBytesIsNotWrappedByManyLargeMemtables) {
  for (const char* const memtables : {"67108864", "268435456"}) {
    Open();
    ASSERT_OK(
        db_->SetOptions({{"write_buffer_size", "64g"}, {"max_write_buffer_number", memtables}}));
    for (int i = 0; i < 5; ++i) Put(std::to_string(i), "value");
    ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
    EXPECT_EQ(FilesAtLevel(0), 0u) << memtables;
    Close();
    ASSERT_OK(DestroyDB(path(), options_));
  }
}

TEST_F(ColumnFamilyTest, ACacheThatFamiliesShareCountsOnceInTheSum) {
  BlockBasedTableOptions table;
  table.block_cache = NewLRUCache(8 << 20);
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  options_.create_missing_column_families = true;
  OpenFamilies({"default", "shares"});
  table.block_cache = NewLRUCache(1 << 20);
  ColumnFamilyOptions own(options_);
  own.table_factory.reset(NewBlockBasedTableFactory(table));
  ColumnFamilyHandle* handle = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(own, "own", &handle));
  handles_.push_back(handle);
  uint64_t capacity = 0;
  ASSERT_TRUE(db_->GetAggregatedIntProperty(DB::Properties::kBlockCacheCapacity, &capacity));
  EXPECT_EQ(capacity, uint64_t{9} << 20);
}

TEST_F(ColumnFamilyTest, ChangedOptionsOfTheDatabaseCountInFamiliesThatChangeOrComeLater) {
  options_.target_file_size_base = 8 << 10;
  options_.disable_auto_compactions = true;
  options_.statistics = CreateDBStatistics();
  Open();
  ASSERT_OK(db_->SetDBOptions({{"max_subcompactions", "3"}}));
  ASSERT_OK(db_->SetOptions({{"report_bg_io_stats", "true"}}));
  ColumnFamilyHandle* created = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(options_), "created", &created));
  handles_.push_back(created);
  for (ColumnFamilyHandle* family : {db_->DefaultColumnFamily(), created}) {
    SCOPED_TRACE(family->GetName());
    ASSERT_OK(options_.statistics->Reset());
    for (int round = 0; round < 2; ++round) {
      for (int i = 1000; i < 2000; ++i)
        ASSERT_OK(db_->Put(WriteOptions(), family, std::to_string(i), std::string(100, 'x')));
      ASSERT_OK(db_->Flush(FlushOptions(), family));
    }
    ASSERT_OK(db_->CompactRange(CompactRangeOptions(), family, nullptr, nullptr));
    HistogramData parts;
    options_.statistics->histogramData(NUM_SUBCOMPACTIONS_SCHEDULED, &parts);
    EXPECT_GT(parts.max, 1.0) << "no compaction was shared";
  }
}

// The idle family's immutable memtable waits for a second one to be flushed with. Its active
// memtable is empty.
TEST_F(ColumnFamilyTest, OldLogsGoAlsoWhereAFamilyMergesItsMemTables) {
  options_.create_missing_column_families = true;
  options_.write_buffer_size = 64 << 10;
  options_.max_write_buffer_number = 4;
  options_.min_write_buffer_number_to_merge = 2;
  options_.max_total_wal_size = 512 << 10;
  ManualEnv env(vfs::FileSystem::Default(), 1);
  options_.env = &env;
  OpenFamilies({"default", "idle"});
  uint64_t immutable = 0;
  for (int i = 0; i < 1000 && immutable == 0; ++i) {
    EXPECT_OK(db_->Put(WriteOptions(), handles_[1], std::to_string(i), std::string(1000, 'x')));
    EXPECT_OK(db_->Put(WriteOptions(), handles_[0], "leads", "the switch"));
    ASSERT_TRUE(
        db_->GetIntProperty(handles_[1], DB::Properties::kNumImmutableMemTable, &immutable));
  }
  ASSERT_EQ(immutable, 1u);
  for (int i = 0; i < 20000; ++i)
    EXPECT_OK(db_->Put(WriteOptions(), handles_[0], std::to_string(i), std::string(100, 'x')));
  while (env.RunOneJob()) {
  }
  ASSERT_TRUE(db_->GetIntProperty(handles_[1], DB::Properties::kNumImmutableMemTable, &immutable));
  EXPECT_EQ(immutable, 0u);
  uint64_t log_bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path())) {
    if (entry.path().extension() == ".log") log_bytes += entry.file_size();
  }
  EXPECT_LT(log_bytes, 1u << 20);
  EXPECT_EQ(GetFrom(handles_[1], "0"), std::string(1000, 'x'));
  Close();
}

}  // namespace
}  // namespace ashlar
