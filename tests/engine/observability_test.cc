// Observability of a database: tickers, histograms, PerfContext, listeners, events in LOG.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "ashlar/listener.h"
#include "ashlar/perf_context.h"
#include "ashlar/statistics.h"
#include "filesystem/file_helpers.h"
#include "filesystem/memory_file_system.h"
#include "observe/statistics_impl.h"
#include "platform/mutex.h"
#include "tests/engine/database_fixture.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/open_database.h"

namespace ashlar {
namespace {

std::string Key(int i) { return "key" + std::to_string(1000 + i); }

// Records each notification as one line with its relevant fields.
class Diary final : public EventListener {
 public:
  void OnFlushBegin(DB*, const FlushJobInfo& info) override {
    Write("flush begins, job " + std::to_string(info.job_id));
  }
  void OnFlushCompleted(DB* db, const FlushJobInfo& info) override {
    Write("flush ends, job " + std::to_string(info.job_id));
    MutexLock lock(mutex_);
    flush_ = info;
    db_ = db;
  }
  void OnCompactionBegin(DB*, const CompactionJobInfo& info) override {
    Write("compaction begins, job " + std::to_string(info.job_id));
  }
  void OnCompactionCompleted(DB*, const CompactionJobInfo& info) override {
    Write("compaction ends, job " + std::to_string(info.job_id));
    MutexLock lock(mutex_);
    compactions_.push_back(info);
  }
  void OnSubcompactionBegin(const SubcompactionJobInfo& info) override {
    Write("range " + std::to_string(info.subcompaction_job_id) + " begins, job " +
          std::to_string(info.job_id));
  }
  void OnSubcompactionCompleted(const SubcompactionJobInfo& info) override {
    Write("range " + std::to_string(info.subcompaction_job_id) + " ends, job " +
          std::to_string(info.job_id));
    MutexLock lock(mutex_);
    ranges_.push_back(info);
  }
  void OnTableFileCreationStarted(const TableFileCreationBriefInfo& info) override {
    Write("table begins, job " + std::to_string(info.job_id));
  }
  void OnTableFileCreated(const TableFileCreationInfo& info) override {
    Write(std::string(info.status.ok() ? "table ends" : "table fails") + ", job " +
          std::to_string(info.job_id));
  }
  void OnTableFileDeleted(const TableFileDeletionInfo& info) override {
    Write(info.status.ok() ? "table deleted" : "table stays");
  }
  void OnMemTableSealed(const MemTableInfo& info) override {
    Write("sealed with " + std::to_string(info.num_entries));
  }
  void OnColumnFamilyHandleDeletionStarted(ColumnFamilyHandle* handle) override {
    Write("handle of " + handle->GetName() + " goes");
  }
  void OnBackgroundError(BackgroundErrorReason /*reason*/, Status* error) override {
    Write("background error of severity " + std::to_string(error->severity()));
  }
  void OnErrorRecoveryBegin(BackgroundErrorReason reason, Status error,
                            bool* automatic) override {  // NOLINT(performance-*)
    Write("recovery begins: " + std::to_string(static_cast<int>(reason)) +
          (error.ok() ? " ok" : " error") + (*automatic ? " automatic" : ""));
  }
  void OnErrorRecoveryCompleted(Status error) override {  // NOLINT(performance-*)
    Write(error.ok() ? "recovery is complete: ok" : "recovery is complete: error");
  }
  void OnErrorRecoveryEnd(const BackgroundErrorRecoveryInfo& info) override {
    Write(std::string("recovery ends: ") + (info.old_bg_error.ok() ? "ok" : "error") +
          (info.new_bg_error.ok() ? " ok" : " error"));
  }
  void OnStallConditionsChanged(const WriteStallInfo& info) override {
    Write("stall " + std::to_string(static_cast<int>(info.condition.prev)) + " to " +
          std::to_string(static_cast<int>(info.condition.cur)));
  }

  std::vector<std::string> entries() const {
    MutexLock lock(mutex_);
    return entries_;
  }
  size_t Count(const std::string& entry) const {
    const std::vector<std::string> all = entries();
    return static_cast<size_t>(std::count(all.begin(), all.end(), entry));
  }
  void Clear() {
    MutexLock lock(mutex_);
    entries_.clear();
  }
  FlushJobInfo flush() const {
    MutexLock lock(mutex_);
    return flush_;
  }
  std::vector<CompactionJobInfo> compactions() const {
    MutexLock lock(mutex_);
    return compactions_;
  }
  CompactionJobInfo compaction() const {
    const std::vector<CompactionJobInfo> all = compactions();
    return all.empty() ? CompactionJobInfo() : all.back();
  }
  // Ascending by key.
  std::vector<SubcompactionJobInfo> ranges() const {
    MutexLock lock(mutex_);
    std::vector<SubcompactionJobInfo> ranges = ranges_;
    std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) {
      return a.subcompaction_job_id < b.subcompaction_job_id;
    });
    return ranges;
  }
  DB* db() const {
    MutexLock lock(mutex_);
    return db_;
  }

 private:
  void Write(std::string entry) {
    MutexLock lock(mutex_);
    entries_.push_back(std::move(entry));
  }

  mutable Mutex mutex_;
  std::vector<std::string> entries_ ASHLAR_GUARDED_BY(mutex_);
  FlushJobInfo flush_ ASHLAR_GUARDED_BY(mutex_);
  std::vector<CompactionJobInfo> compactions_ ASHLAR_GUARDED_BY(mutex_);
  std::vector<SubcompactionJobInfo> ranges_ ASHLAR_GUARDED_BY(mutex_);
  DB* db_ ASHLAR_GUARDED_BY(mutex_) = nullptr;
};

class ObservabilityTest : public DatabaseFixture {
 protected:
  ObservabilityTest() {
    options_.statistics = statistics_;
    options_.listeners.push_back(diary_);
    options_.disable_auto_compactions = true;
  }
  uint64_t Ticker(Tickers ticker) const { return statistics_->getTickerCount(ticker); }
  HistogramData Histogram(Histograms histogram) const {
    HistogramData data;
    statistics_->histogramData(histogram, &data);
    return data;
  }
  void PutMany(int begin, int end) {
    for (int i = begin; i < end; ++i) Put(Key(i), std::string(100, static_cast<char>('a' + i % 7)));
  }
  std::string Log() {
    std::string text;
    const Result<std::string> read =
        ReadFileToString(Env::Default()->EngineFiles().get(), path() + "/LOG", size_t{1} << 24);
    EXPECT_TRUE(read.ok());
    return read.ok() ? *read : text;
  }

  const std::shared_ptr<Statistics> statistics_ = CreateDBStatistics();
  const std::shared_ptr<Diary> diary_ = std::make_shared<Diary>();
};

TEST_F(ObservabilityTest, APointReadCountsWhereItFoundTheKey) {
  options_.num_levels = 4;
  Open();
  PutMany(0, 100);
  CompactAll();  // into level 1
  PutMany(0, 50);
  Flush();
  Put(Key(0), "newest");
  ASSERT_OK(statistics_->Reset());
  EXPECT_EQ(Get(Key(0)), "newest");
  EXPECT_EQ(Ticker(MEMTABLE_HIT), 1u);
  EXPECT_EQ(Get(Key(1)).size(), 100u);
  EXPECT_EQ(Ticker(GET_HIT_L0), 1u);
  EXPECT_EQ(Get(Key(90)).size(), 100u);
  EXPECT_EQ(Ticker(GET_HIT_L1) + Ticker(GET_HIT_L2_AND_UP), 1u);
  EXPECT_EQ(Get("nothing"), "NOT_FOUND");
  EXPECT_EQ(Ticker(MEMTABLE_MISS), 3u);
  EXPECT_EQ(Ticker(NUMBER_KEYS_READ), 4u);
  EXPECT_EQ(Ticker(BYTES_READ), 206u);
  EXPECT_EQ(Histogram(DB_GET).count, 4u);
  EXPECT_EQ(Histogram(BYTES_PER_READ).sum, 206u);
  EXPECT_EQ(Ticker(BLOCK_CACHE_MISS), Ticker(BLOCK_CACHE_DATA_MISS));
  EXPECT_GE(Ticker(BLOCK_CACHE_MISS), 1u);
  EXPECT_EQ(Histogram(READ_BLOCK_GET_MICROS).count, Ticker(BLOCK_CACHE_MISS));
  EXPECT_EQ(Get(Key(90)).size(), 100u);
  EXPECT_GE(Ticker(BLOCK_CACHE_HIT), 1u);
  EXPECT_GT(Ticker(BLOCK_CACHE_BYTES_READ), 0u);
}

TEST_F(ObservabilityTest, AFilterCountsWhatItSavedAndWhatItLetThrough) {
  BlockBasedTableOptions table;
  table.filter_policy.reset(NewBloomFilterPolicy(20));
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  Open();
  PutMany(0, 100);
  Flush();
  ASSERT_OK(statistics_->Reset());
  for (int i = 0; i < 100; ++i) Get(Key(i));
  EXPECT_EQ(Ticker(BLOOM_FILTER_FULL_POSITIVE), 100u);
  EXPECT_EQ(Ticker(BLOOM_FILTER_FULL_TRUE_POSITIVE), 100u);
  for (int i = 0; i < 90; ++i) Get(Key(i) + "x");
  EXPECT_GE(Ticker(BLOOM_FILTER_USEFUL), 80u);
  EXPECT_EQ(Ticker(BLOOM_FILTER_FULL_TRUE_POSITIVE), 100u);
}

// Like most comparators, it does not declare that different bytes are different keys.
class PlainComparator final : public Comparator {
 public:
  const char* Name() const override { return "test.Plain"; }
  int Compare(const Slice& a, const Slice& b) const override { return a.compare(b); }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

TEST_F(ObservabilityTest, AFilterIsAskedWithEveryComparator) {
  const PlainComparator comparator;
  BlockBasedTableOptions table;
  table.filter_policy.reset(NewBloomFilterPolicy(20));
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  options_.comparator = &comparator;
  Open();
  PutMany(0, 100);
  Flush();
  ASSERT_OK(statistics_->Reset());
  for (int i = 0; i < 100; ++i) EXPECT_NE(Get(Key(i)), "NOT_FOUND");
  for (int i = 0; i < 90; ++i) EXPECT_EQ(Get(Key(i) + "x"), "NOT_FOUND");
  EXPECT_GE(Ticker(BLOOM_FILTER_USEFUL), 80u);
  Close();  // before its comparator is destroyed
}

TEST_F(ObservabilityTest, WritesCountGroupsBytesAndSyncs) {
  Open();
  ASSERT_OK(statistics_->Reset());
  WriteOptions sync;
  sync.sync = true;
  ASSERT_OK(db_->Put(sync, "a", "1"));
  ASSERT_OK(db_->Put(WriteOptions(), "b", "2"));
  EXPECT_EQ(Ticker(NUMBER_KEYS_WRITTEN), 2u);
  EXPECT_EQ(Ticker(WRITE_DONE_BY_SELF), 2u);
  EXPECT_EQ(Ticker(WRITE_WITH_WAL), 2u);
  EXPECT_EQ(Ticker(WAL_FILE_SYNCED), 1u);
  EXPECT_EQ(Histogram(WAL_FILE_SYNC_MICROS).count, 1u);
  EXPECT_EQ(Histogram(DB_WRITE).count, 2u);
  EXPECT_EQ(Histogram(BYTES_PER_WRITE).sum, Ticker(BYTES_WRITTEN));
}

TEST_F(ObservabilityTest, IteratorsCountMovesBytesAndWhatTheyStepOver) {
  Open();
  for (int i = 0; i < 10; ++i) Put(Key(i), "value");
  for (int i = 3; i < 6; ++i) Delete(Key(i));
  ASSERT_OK(statistics_->Reset());
  {
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    it->SeekToFirst();
    while (it->Valid()) it->Next();
  }
  EXPECT_EQ(Ticker(NO_ITERATOR_CREATED), 1u);
  EXPECT_EQ(Ticker(NO_ITERATOR_DELETED), 1u);
  EXPECT_EQ(Ticker(NUMBER_DB_SEEK), 1u);
  EXPECT_EQ(Ticker(NUMBER_DB_SEEK_FOUND), 1u);
  EXPECT_EQ(Ticker(NUMBER_DB_NEXT), 7u);
  EXPECT_EQ(Ticker(NUMBER_DB_NEXT_FOUND), 6u);
  EXPECT_EQ(Ticker(ITER_BYTES_READ), 7u * (Key(0).size() + 5));
  EXPECT_GE(Ticker(NUMBER_ITER_SKIP), 6u);
  EXPECT_EQ(Histogram(DB_SEEK).count, 1u);
}

TEST_F(ObservabilityTest, MultiGetCountsKeysAndBytes) {
  Open();
  PutMany(0, 3);
  ASSERT_OK(statistics_->Reset());
  const std::vector<Slice> keys{"key1000", "key1001", "none"};
  std::vector<std::string> values;
  db_->MultiGet(ReadOptions(), keys, &values);
  EXPECT_EQ(Ticker(NUMBER_MULTIGET_CALLS), 1u);
  EXPECT_EQ(Ticker(NUMBER_MULTIGET_KEYS_READ), 3u);
  EXPECT_EQ(Ticker(NUMBER_MULTIGET_KEYS_FOUND), 2u);
  EXPECT_EQ(Ticker(NUMBER_MULTIGET_BYTES_READ), 200u);
  EXPECT_EQ(Histogram(DB_MULTIGET).count, 1u);
  EXPECT_EQ(Histogram(BYTES_PER_MULTIGET).sum, 200u);
}

TEST_F(ObservabilityTest, JobsCountTheirTimesAndBytes) {
  options_.compression = kSnappyCompression;
  Open();
  PutMany(0, 500);
  Flush();
  PutMany(0, 500);
  Flush();
  CompactAll();
  ASSERT_OK(db_->Close());
  EXPECT_EQ(Histogram(FLUSH_TIME).count, 2u);
  EXPECT_EQ(Histogram(COMPACTION_TIME).count, 1u);
  EXPECT_EQ(Histogram(COMPACTION_CPU_TIME).count, 1u);
  EXPECT_EQ(Histogram(NUM_FILES_IN_SINGLE_COMPACTION).sum, 2u);
  EXPECT_EQ(Histogram(TABLE_SYNC_MICROS).count, 2u);
  EXPECT_EQ(Histogram(COMPACTION_OUTFILE_SYNC_MICROS).count, 1u);
  EXPECT_GE(Histogram(MANIFEST_FILE_SYNC_MICROS).count, 3u);
  EXPECT_GE(Histogram(SST_WRITE_MICROS).count, 3u);
  EXPECT_EQ(Ticker(COMPACTION_KEY_DROP_NEWER_ENTRY), 500u);
  EXPECT_GT(Ticker(NUMBER_BLOCK_COMPRESSED), 0u);
  EXPECT_GT(Ticker(BYTES_COMPRESSED_FROM), Ticker(BYTES_COMPRESSED_TO));
  EXPECT_GT(Ticker(NUMBER_BLOCK_DECOMPRESSED), 0u);
  EXPECT_EQ(Ticker(FILES_DELETED_IMMEDIATELY) >= 2, true);
  EXPECT_GE(Ticker(NO_FILE_OPENS), 3u);
  EXPECT_EQ(Ticker(NO_FILE_ERRORS), 0u);
  EXPECT_GE(Ticker(MEMTABLE_PAYLOAD_BYTES_AT_FLUSH), 2u * 500 * 107);
  EXPECT_EQ(Ticker(MEMTABLE_GARBAGE_BYTES_AT_FLUSH), 0u);
}

TEST_F(ObservabilityTest, TimesAreLeftOutWhereTheLevelSaysSo) {
  statistics_->set_stats_level(kExceptTimers);
  Open();
  Put("a", "1");
  Get("a");
  EXPECT_EQ(Histogram(DB_GET).count, 0u);
  EXPECT_EQ(Histogram(DB_WRITE).count, 0u);
  EXPECT_EQ(Histogram(BYTES_PER_READ).count, 1u);
}

TEST_F(ObservabilityTest, PerfContextCountsForTheThreadThatAskedForIt) {
  options_.statistics = nullptr;
  Open();
  PutMany(0, 100);
  Flush();
  PerfContext* const perf = get_perf_context();
  perf->Reset();
  SetPerfLevel(kDisable);
  Get(Key(5));
  EXPECT_EQ(perf->ToString(true), "");
  SetPerfLevel(kEnableCount);
  Get(Key(5));
  EXPECT_EQ(perf->get_read_bytes, 100u);
  EXPECT_EQ(perf->get_from_memtable_count, 1u);
  EXPECT_EQ(perf->block_cache_hit_count, 1u);
  EXPECT_EQ(perf->get_from_memtable_time, 0u) << "only counts were asked for";
  Get(Key(95));
  EXPECT_GE(perf->block_read_count, 1u);
  EXPECT_GT(perf->block_read_byte, 0u);
  EXPECT_EQ(perf->block_read_time, 0u);
  perf->Reset();
  SetPerfLevel(kEnableWait);
  Put("z", "1");
  EXPECT_GT(perf->write_memtable_time, 0u) << "with the waits of writers, as in RocksDB";
  EXPECT_EQ(perf->write_wal_time, 0u);
  perf->Reset();
  SetPerfLevel(kEnableTime);
  Get(Key(50));
  Put("a", "1");
  {
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    it->SeekToFirst();
    it->Next();
    EXPECT_EQ(perf->iter_read_bytes, 1 + 1 + Key(0).size() + 100);
  }
  SetPerfLevel(kDisable);
  for (const uint64_t time : {perf->get_from_memtable_time, perf->get_from_output_files_time,
                              perf->seek_internal_seek_time, perf->find_next_user_entry_time,
                              perf->write_wal_time, perf->write_memtable_time}) {
    EXPECT_GT(time, 0u) << perf->ToString();
  }
  perf->Reset();
  Get(Key(5));
  EXPECT_EQ(perf->ToString(true), "");
  SetPerfLevel(kEnableCount);  // the default, which other tests rely on
}

TEST_F(ObservabilityTest, ListenersHearOfAFlushInItsOrder) {
  Open();
  diary_->Clear();
  PutMany(0, 10);
  Flush();
  ASSERT_OK(db_->Close());
  const std::vector<std::string> wanted{"sealed with 10", "flush begins, job 1",
                                        "table begins, job 1", "table ends, job 1",
                                        "flush ends, job 1"};
  EXPECT_EQ(diary_->entries(), wanted);
  const FlushJobInfo info = diary_->flush();
  EXPECT_EQ(info.flush_reason, FlushReason::kManualFlush);
  EXPECT_EQ(info.cf_name, "default");
  EXPECT_EQ(info.smallest_seqno, 1u);
  EXPECT_EQ(info.largest_seqno, 10u);
  EXPECT_EQ(info.table_properties.num_entries, 10u);
  EXPECT_NE(info.file_number, 0u);
  EXPECT_EQ(diary_->db(), db_.get());
}

// Reads from the database's default family when a flush is installed.
class ReadsAfterFlushes final : public EventListener {
 public:
  void OnFlushCompleted(DB* db, const FlushJobInfo& /*info*/) override {
    std::string value;
    const Status read = db->Get(ReadOptions(), "a", &value);
    MutexLock lock(mutex_);
    value_ = read.ok() ? value : read.ToString();
  }
  std::string value() const {
    MutexLock lock(mutex_);
    return value_;
  }

 private:
  mutable Mutex mutex_;
  std::string value_ ASHLAR_GUARDED_BY(mutex_) = "no flush";
};

TEST_F(ObservabilityTest, AListenerReadsWhileTheDatabaseIsBeingOpened) {
  Open();
  Put("a", "1");
  const auto reads = std::make_shared<ReadsAfterFlushes>();
  options_.listeners.push_back(reads);
  Open();
  EXPECT_EQ(reads->value(), "1") << "the open flushes what it replays";
}

TEST_F(ObservabilityTest, ListenersHearOfACompactionAndOfTheTablesThatGo) {
  Open();
  for (int round = 0; round < 2; ++round) {
    PutMany(0, 10);
    Flush();
  }
  diary_->Clear();
  CompactAll();
  ASSERT_OK(db_->Close());
  const std::vector<std::string> entries = diary_->entries();
  // The last notifications of the flushes may follow the end of their callers' wait.
  std::vector<std::string> heard;
  std::copy_if(entries.begin(), entries.end(), std::back_inserter(heard),
               [](const std::string& entry) { return !entry.starts_with("flush"); });
  const std::vector<std::string> wanted{"compaction begins, job 3",
                                        "range 0 begins, job 3",
                                        "table begins, job 3",
                                        "table ends, job 3",
                                        "range 0 ends, job 3",
                                        "compaction ends, job 3",
                                        "table deleted",
                                        "table deleted"};
  EXPECT_EQ(heard, wanted);
  const CompactionJobInfo info = diary_->compaction();
  EXPECT_OK(info.status);
  EXPECT_EQ(info.compaction_reason, CompactionReason::kManualCompaction);
  EXPECT_EQ(info.input_files.size(), 2u);
  EXPECT_EQ(info.output_files.size(), 1u);
  EXPECT_EQ(info.num_l0_files, 0) << "after the compaction";
  EXPECT_TRUE(info.stats.is_full_compaction);
  EXPECT_TRUE(info.stats.is_manual_compaction);
  EXPECT_EQ(info.stats.num_input_records, 20u);
  EXPECT_EQ(info.stats.num_output_records, 10u);
  EXPECT_EQ(info.stats.num_records_replaced, 10u);
  EXPECT_EQ(info.table_properties.size(), 3u);
  for (const std::string& file : info.input_files)
    EXPECT_EQ(info.table_properties.at(file)->num_entries, 10u) << file;
  EXPECT_EQ(info.table_properties.at(info.output_files[0])->num_entries, 10u);
}

TEST_F(ObservabilityTest, ACompactionReportsItsRecordsBytesAndKeys) {
  Open();
  Put("aardvark-1", "12345");
  Put("once", "1");
  Delete("twice");
  Flush();
  ASSERT_OK(db_->SingleDelete(WriteOptions(), "nothing"));
  ASSERT_OK(db_->SingleDelete(WriteOptions(), "twice"));
  Put("z", "6");
  Flush();
  CompactAll();
  ASSERT_OK(db_->Close());
  const CompactionJobStats stats = diary_->compaction().stats;
  EXPECT_TRUE(stats.has_accurate_num_input_records);
  EXPECT_EQ(stats.num_input_records, 6u);
  EXPECT_EQ(stats.num_output_records, 3u);
  EXPECT_EQ(stats.num_input_files_at_output_level, 0u);
  EXPECT_EQ(stats.num_input_files_trivially_moved, 0u);
  EXPECT_EQ(stats.total_input_raw_key_bytes, 10u + 4u + 5u + 7u + 5u + 1u + 6 * 8u);
  EXPECT_EQ(stats.total_input_raw_value_bytes, 5u + 1u + 1u);
  EXPECT_EQ(stats.smallest_output_key_prefix, "aardvark");
  EXPECT_EQ(stats.largest_output_key_prefix, "z");
  EXPECT_EQ(stats.num_single_del_fallthru, 1u);
  EXPECT_EQ(stats.num_single_del_mismatch, 1u);
  // A single range covers all of it.
  ASSERT_EQ(diary_->ranges().size(), 1u);
  const CompactionJobStats range = diary_->ranges()[0].stats;
  EXPECT_EQ(range.num_input_records, stats.num_input_records);
  EXPECT_EQ(range.total_output_bytes, stats.total_output_bytes);
  EXPECT_EQ(range.largest_output_key_prefix, "z");
}

TEST_F(ObservabilityTest, ACompactionReportsTheTimesOfItsCallsOnFilesIfItIsAskedTo) {
  Open();
  for (const bool asked : {false, true}) {
    ASSERT_OK(db_->SetOptions({{"report_bg_io_stats", asked ? "true" : "false"}}));
    Put("a", "1");
    Flush();
    Put("a", "2");
    Flush();
    CompactAll();
    const CompactionJobStats stats = diary_->compaction().stats;
    EXPECT_EQ(stats.num_output_records, 1u);
    EXPECT_EQ(stats.file_write_nanos > 0, asked);
    EXPECT_EQ(stats.file_fsync_nanos > 0, asked);
    EXPECT_EQ(stats.file_prepare_write_nanos, 0u);
  }
}

TEST_F(ObservabilityTest, ACompactionReportsTheFilesOfItsOutputLevelAndThoseThatItMoves) {
  Open();
  PutMany(0, 10);
  Flush();
  CompactionOptions compact;
  compact.allow_trivial_move = true;
  ASSERT_OK(db_->CompactFiles(compact, FileNames(0), 1));
  PutMany(5, 15);
  Flush();
  ASSERT_OK(db_->CompactFiles(compact, FileNames(0), 1));
  ASSERT_OK(db_->Close());
  const std::vector<CompactionJobInfo> jobs = diary_->compactions();
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[0].stats.num_input_files_trivially_moved, 1u);
  EXPECT_EQ(jobs[0].stats.num_output_files, 0u);
  EXPECT_EQ(jobs[0].stats.smallest_output_key_prefix, "");
  EXPECT_EQ(jobs[1].stats.num_input_files, 2u);
  EXPECT_EQ(jobs[1].stats.num_input_files_at_output_level, 1u);
  EXPECT_EQ(jobs[1].stats.num_input_files_trivially_moved, 0u);
  EXPECT_EQ(diary_->ranges().size(), 1u) << "a move reads no range";
}

TEST_F(ObservabilityTest, EachRangeOfACompactionIsReported) {
  options_.target_file_size_base = 8 << 10;
  options_.max_subcompactions = 3;
  Open();
  for (int round = 0; round < 2; ++round) {
    PutMany(0, 1000);
    Flush();
  }
  CompactAll();
  ASSERT_OK(db_->Close());
  const CompactionJobInfo whole = diary_->compaction();
  const std::vector<SubcompactionJobInfo> ranges = diary_->ranges();
  ASSERT_EQ(ranges.size(), 3u);
  uint64_t records_in = 0;
  uint64_t records_out = 0;
  uint64_t files = 0;
  uint64_t bytes = 0;
  for (size_t i = 0; i < ranges.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_OK(ranges[i].status);
    EXPECT_EQ(ranges[i].job_id, whole.job_id);
    EXPECT_EQ(ranges[i].subcompaction_job_id, static_cast<int>(i));
    EXPECT_EQ(ranges[i].cf_name, "default");
    EXPECT_EQ(ranges[i].base_input_level, 0);
    EXPECT_EQ(ranges[i].output_level, whole.output_level);
    EXPECT_EQ(ranges[i].compaction_reason, CompactionReason::kManualCompaction);
    EXPECT_EQ(ranges[i].compression, whole.compression);
    EXPECT_NE(ranges[i].thread_id, 0u);
    EXPECT_TRUE(ranges[i].stats.is_full_compaction);
    EXPECT_TRUE(ranges[i].stats.is_manual_compaction);
    EXPECT_EQ(ranges[i].stats.num_input_files, 0u);
    records_in += ranges[i].stats.num_input_records;
    records_out += ranges[i].stats.num_output_records;
    files += ranges[i].stats.num_output_files;
    bytes += ranges[i].stats.total_output_bytes;
    const std::string number = std::to_string(i);
    EXPECT_EQ(diary_->Count("range " + number + " begins, job " + std::to_string(whole.job_id)),
              1u);
  }
  EXPECT_EQ(records_in, 2000u);
  EXPECT_EQ(records_out, 1000u);
  EXPECT_EQ(files, whole.stats.num_output_files);
  EXPECT_EQ(bytes, whole.stats.total_output_bytes);
  EXPECT_EQ(ranges.front().stats.smallest_output_key_prefix, "key1000");
  EXPECT_EQ(ranges.back().stats.largest_output_key_prefix, "key1999");
}

TEST_F(ObservabilityTest, AFailedRangeIsReportedWithItsError) {
  const auto faults = std::make_shared<FaultFileSystem>(std::make_shared<MemoryFileSystem>());
  Options options = SmallDatabaseOptions();
  options.listeners.push_back(diary_);
  options.disable_auto_compactions = true;
  OpenDatabase database(faults, options, 1);
  ASSERT_OK(database.Open());
  for (int round = 0; round < 2; ++round) {
    ASSERT_OK(database.db()->Put(WriteOptions(), "a", "1"));
    ASSERT_OK(database.db()->Flush(FlushOptions()));
  }
  FaultRule rule;
  rule.operations = FaultOperation::kAppend | FaultOperation::kFlush;
  rule.name_contains = ".sst";
  rule.sticky = true;
  faults->AddRule(rule);
  EXPECT_FALSE(database.db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  ASSERT_FALSE(diary_->ranges().empty());
  EXPECT_TRUE(diary_->ranges()[0].status.IsIOError()) << diary_->ranges()[0].status.ToString();
  EXPECT_EQ(diary_->ranges()[0].stats.num_output_files, 0u);
}

TEST_F(ObservabilityTest, ListenersHearOfStallsInTheirOrder) {
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 2;
  options_.level0_slowdown_writes_trigger = 2;
  options_.level0_stop_writes_trigger = 100;
  Open();
  for (int round = 0; round < 2; ++round) {
    PutMany(0, 10);
    Flush();
  }
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  ASSERT_OK(db_->Close());
  const std::string delayed =
      "stall " + std::to_string(static_cast<int>(WriteStallCondition::kNormal)) + " to " +
      std::to_string(static_cast<int>(WriteStallCondition::kDelayed));
  const std::string normal =
      "stall " + std::to_string(static_cast<int>(WriteStallCondition::kDelayed)) + " to " +
      std::to_string(static_cast<int>(WriteStallCondition::kNormal));
  const std::vector<std::string> entries = diary_->entries();
  const auto first = std::find(entries.begin(), entries.end(), delayed);
  ASSERT_NE(first, entries.end());
  EXPECT_NE(std::find(first, entries.end(), normal), entries.end());
}

// A program that holds back its writes during a stall starts no other job.
TEST_F(ObservabilityTest, TheEndOfAStallIsReportedByTheCallThatCausesIt) {
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 1;
  options_.level0_slowdown_writes_trigger = 1;
  options_.level0_stop_writes_trigger = 1000;
  Open();
  ColumnFamilyHandle* other = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(options_), "other", &other));
  db_->AbortAllCompactions();
  for (ColumnFamilyHandle* const family : {db_->DefaultColumnFamily(), other}) {
    ASSERT_OK(db_->Put(WriteOptions(), family, "a", "b"));
    ASSERT_OK(db_->Flush(FlushOptions(), family));
  }
  ASSERT_OK(db_->PauseBackgroundWork());  // returns once no job runs; none starts afterwards
  const std::string delayed = std::to_string(static_cast<int>(WriteStallCondition::kDelayed));
  const std::string normal = std::to_string(static_cast<int>(WriteStallCondition::kNormal));
  ASSERT_EQ(diary_->Count("stall " + normal + " to " + delayed), 2u);
  ASSERT_OK(db_->SetOptions({{"level0_slowdown_writes_trigger", "20"}}));
  EXPECT_EQ(diary_->Count("stall " + delayed + " to " + normal), 1u);
  ASSERT_OK(db_->DropColumnFamily(other));
  EXPECT_EQ(diary_->Count("stall " + delayed + " to " + normal), 2u);
  ASSERT_OK(db_->DestroyColumnFamilyHandle(other));
  ASSERT_OK(db_->ContinueBackgroundWork());
  db_->ResumeAllCompactions();
}

TEST_F(ObservabilityTest, AHandleIsToldBeforeItGoes) {
  Open();
  ColumnFamilyHandle* handle = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(options_), "other", &handle));
  ASSERT_OK(db_->DestroyColumnFamilyHandle(handle));
  EXPECT_EQ(diary_->Count("handle of other goes"), 1u);
}

TEST_F(ObservabilityTest, ListenersHearOfAFailedTableAndOfTheResume) {
  const auto faults = std::make_shared<FaultFileSystem>(std::make_shared<MemoryFileSystem>());
  Options options = SmallDatabaseOptions();
  options.create_if_missing = true;
  options.listeners.push_back(diary_);
  OpenDatabase database(faults, options, 1);
  ASSERT_OK(database.Open());
  ASSERT_OK(database.db()->Put(WriteOptions(), "a", "1"));
  FaultRule rule;
  rule.operations = FaultOperation::kAppend | FaultOperation::kFlush;
  rule.name_contains = ".sst";
  rule.sticky = true;
  faults->AddRule(rule);
  EXPECT_EQ(database.db()->Flush(FlushOptions()).severity(), Status::kHardError);
  EXPECT_GE(diary_->Count("table fails, job 1"), 1u);
  EXPECT_EQ(diary_->Count("background error of severity 2"), 1u);
  EXPECT_EQ(diary_->Count("flush ends, job 1"), 0u);
  faults->ClearRules();
  ASSERT_OK(database.db()->Resume());
  const std::string reason = std::to_string(static_cast<int>(BackgroundErrorReason::kFlush));
  EXPECT_EQ(diary_->Count("recovery begins: " + reason + " error"), 1u);
  EXPECT_EQ(diary_->Count("recovery ends: error ok"), 1u);
  const std::vector<std::string> entries = diary_->entries();
  const std::vector<std::string> end{"recovery is complete: error", "recovery ends: error ok"};
  EXPECT_NE(std::search(entries.begin(), entries.end(), end.begin(), end.end()), entries.end());
}

// The values of "event" in LOG, in order.
std::vector<std::string> EventsIn(const std::string& log) {
  std::vector<std::string> events;
  const std::string mark = "\"event\": \"";
  for (size_t at = log.find(mark); at != std::string::npos; at = log.find(mark, at)) {
    at += mark.size();
    events.push_back(log.substr(at, log.find('"', at) - at));
  }
  return events;
}

TEST_F(ObservabilityTest, TheLogHasALineForEveryEvent) {
  Open();
  for (int round = 0; round < 2; ++round) {
    PutMany(0, 10);
    Flush();
  }
  CompactAll();
  Close();
  const std::string log = Log();
  std::vector<std::string> events = EventsIn(log);
  const std::vector<std::string> once{"recovery_started", "recovery_finished", "compaction_started",
                                      "compaction_finished"};
  for (const std::string& event : once)
    EXPECT_EQ(std::count(events.begin(), events.end(), event), 1) << event;
  EXPECT_EQ(std::count(events.begin(), events.end(), "flush_started"), 2);
  EXPECT_EQ(std::count(events.begin(), events.end(), "flush_finished"), 2);
  EXPECT_EQ(std::count(events.begin(), events.end(), "table_file_creation"), 3);
  EXPECT_EQ(std::count(events.begin(), events.end(), "table_file_deletion"), 2);
  EXPECT_NE(log.find("EVENT_LOG_v1 {\"time_micros\": "), std::string::npos);
  EXPECT_NE(log.find("\"flush_reason\": \"Manual Flush\""), std::string::npos);
  EXPECT_NE(log.find("\"compaction_reason\": \"ManualCompaction\""), std::string::npos);
  EXPECT_NE(log.find("\"num_input_records\": 20, \"num_output_records\": 10"), std::string::npos);
}

TEST_F(ObservabilityTest, AnIteratorOlderThanAFlushKeepsAVersionAlive) {
  Open();
  uint64_t versions = 0;
  ASSERT_TRUE(db_->GetIntProperty(DB::Properties::kNumLiveVersions, &versions));
  EXPECT_GE(versions, 1u);
  const std::unique_ptr<Iterator> iterator(db_->NewIterator(ReadOptions()));
  PutMany(0, 10);
  Flush();
  ASSERT_TRUE(db_->GetIntProperty(DB::Properties::kNumLiveVersions, &versions));
  EXPECT_GE(versions, 2u);
  ASSERT_TRUE(db_->GetAggregatedIntProperty(DB::Properties::kNumLiveVersions, &versions));
  EXPECT_GE(versions, 2u);
}

TEST_F(ObservabilityTest, PropertiesSayWhatTheJobsAmountTo) {
  Open();
  for (int round = 0; round < 2; ++round) {
    PutMany(0, 10);
    Flush();
  }
  CompactAll();
  std::string text;
  ASSERT_TRUE(db_->GetProperty(DB::Properties::kStats, &text));
  EXPECT_TRUE(
      std::regex_search(text, std::regex("\n +L0 +0/0 +0 B .* 0\\.000 .* 2 +[0-9.]+ +20 +0\n")))
      << text;
  EXPECT_TRUE(std::regex_search(text, std::regex("\n +Sum .* 3 +[0-9.]+ +40 +10\n"))) << text;
  std::map<std::string, std::string> map;
  ASSERT_TRUE(db_->GetMapProperty(DB::Properties::kCFStats, &map));
  EXPECT_EQ(map["compaction.L0.CompCount"], "2");
  EXPECT_EQ(map["compaction.L0.KeyIn"], "20");
}

}  // namespace
}  // namespace ashlar
