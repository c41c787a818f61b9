// Universal and FIFO compaction through the public interface: the shape of the tree, the switch to
// another style, pauses, and ages under a clock that the test advances.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/listener.h"
#include "ashlar/slice_transform.h"
#include "ashlar/sst_partitioner.h"
#include "ashlar/statistics.h"
#include "base/random.h"
#include "filesystem/memory_file_system.h"
#include "tests/engine/database_fixture.h"
#include "tests/support/manual_env.h"
#include "tests/support/open_database.h"

namespace ashlar {
namespace {

class CompactionStyleTest : public DatabaseFixture {
 protected:
  CompactionStyleTest() {
    options_.level0_file_num_compaction_trigger = 3;
    options_.target_file_size_base = 16 << 10;
    options_.max_bytes_for_level_base = 64 << 10;
  }
  // Writes a table of about 25 KB.
  void WriteTable(Random* random) {
    for (int i = 0; i < 25; ++i) {
      const std::string key = "key" + std::to_string(random->Uniform(200));
      const std::string value = std::to_string(random->Next()) + std::string(1000, 'v');
      Put(key, value);
      model_[key] = value;
    }
    Flush();
  }
  void ExpectModel() {
    std::string expected;
    for (const auto& [key, value] : model_) expected += key + "=" + value + " ";
    EXPECT_TRUE(Contents() == expected) << "the contents differ from what was written";
  }
  uint64_t Runs() {
    uint64_t runs = FilesAtLevel(0);
    for (int level = 1; level < options_.num_levels; ++level) runs += FilesAtLevel(level) > 0;
    return runs;
  }
  void WaitUntilIdle() { EXPECT_OK(db_->WaitForCompact(WaitForCompactOptions())); }
  // The properties of the only table.
  std::shared_ptr<const TableProperties> PropertiesOfTheTable() {
    TablePropertiesCollection tables;
    EXPECT_OK(db_->GetPropertiesOfAllTables(db_->DefaultColumnFamily(), &tables));
    EXPECT_EQ(tables.size(), 1u);
    return tables.empty() ? std::make_shared<TableProperties>() : tables.begin()->second;
  }

  std::map<std::string, std::string> model_;
};

TEST_F(CompactionStyleTest, UniversalKeepsFewRuns) {
  options_.compaction_style = kCompactionStyleUniversal;
  for (const bool incremental : {false, true}) {
    options_.compaction_options_universal.incremental = incremental;
    Open();
    Random random(1);
    for (int i = 0; i < 40; ++i) WriteTable(&random);
    WaitUntilIdle();
    EXPECT_LE(Runs(), 4u);
    ExpectModel();
    CompactAll();
    EXPECT_EQ(Runs(), 1u);
    EXPECT_GT(FilesAtLevel(options_.num_levels - 1), 1u) << "cut at target_file_size_base";
    ExpectModel();
    Open();
    ExpectModel();
  }
}

// Flushed tables are the newest, so they stay uncompressed.
TEST_F(CompactionStyleTest, UniversalCompressesOldTablesOnlyWhereAPartIsCompressed) {
  options_.compaction_style = kCompactionStyleUniversal;
  options_.compression = ColumnFamilyOptions().compression;
  options_.compaction_options_universal.compression_size_percent = 80;
  options_.target_file_size_base = 1 << 20;
  Open();
  Random random(7);
  WriteTable(&random);
  EXPECT_EQ(PropertiesOfTheTable()->compression_name, "NoCompression");
  CompactAll();
  const bool has_codec = options_.compression != kNoCompression;
  EXPECT_EQ(PropertiesOfTheTable()->compression_name == "NoCompression", !has_codec);
  ExpectModel();
}

class LastLevelTest : public CompactionStyleTest {
 protected:
  LastLevelTest() {
    options_.target_file_size_base = 1 << 20;
    options_.bottommost_compression_opts.enabled = true;
    options_.bottommost_compression_opts.level = 7;
  }
  int TablesWithLevel7() {
    TablePropertiesCollection tables;
    EXPECT_OK(db_->GetPropertiesOfAllTables(db_->DefaultColumnFamily(), &tables));
    return static_cast<int>(std::count_if(tables.begin(), tables.end(), [](const auto& table) {
      return table.second->compression_options.find("level=7;") != std::string::npos;
    }));
  }
  void ExpectOfCompactionsAlone() {
    Open();
    Random random(8);
    for (int i = 0; i < 2; ++i) WriteTable(&random);
    EXPECT_EQ(TablesWithLevel7(), 0) << "they were flushed";
    CompactAll();
    EXPECT_EQ(Runs(), 1u);
    EXPECT_EQ(TablesWithLevel7(), 1);
    WriteTable(&random);
    EXPECT_EQ(TablesWithLevel7(), 1);
    ExpectModel();
  }
};

// These options must apply even if bottommost_compression is not set.
TEST_F(LastLevelTest, HasItsOptionsOfCompressionWithoutACodecOfItsOwn) {
  ExpectOfCompactionsAlone();
}

TEST_F(LastLevelTest, IsTheOnlyOneToo) {
  options_.compaction_style = kCompactionStyleUniversal;
  options_.num_levels = 1;
  ExpectOfCompactionsAlone();
}

// No rule compacts runs of 270, 90, 30 and 10 KB, so a stopped writer would never be released.
TEST_F(CompactionStyleTest, UniversalStopsNoWriterForRunsThatItLeaves) {
  options_.compaction_style = kCompactionStyleUniversal;
  options_.level0_file_num_compaction_trigger = 4;
  options_.level0_slowdown_writes_trigger = 4;
  options_.level0_stop_writes_trigger = 4;
  Open();
  FlushOptions flush;
  flush.allow_write_stall = true;
  for (const int entries : {270, 90, 30, 10}) {
    for (int i = 0; i < entries; ++i) Put("key" + std::to_string(i), std::string(1000, 'v'));
    ASSERT_OK(db_->Flush(flush));
    WaitUntilIdle();
  }
  EXPECT_EQ(Runs(), 4u);
  EXPECT_EQ(Number("rocksdb.is-write-stopped"), 0u);
  EXPECT_EQ(Number("rocksdb.actual-delayed-write-rate"), 0u);
  WriteOptions at_once;
  at_once.no_slowdown = true;
  EXPECT_OK(db_->Put(at_once, "key", "value"));
}

TEST_F(CompactionStyleTest, UniversalSharesCompactionsAmongThreads) {
  options_.compaction_style = kCompactionStyleUniversal;
  options_.max_subcompactions = 3;
  for (const bool incremental : {false, true}) {
    options_.compaction_options_universal.incremental = incremental;
    options_.statistics = CreateDBStatistics();
    Open();
    Random random(6);
    for (int i = 0; i < 20; ++i) WriteTable(&random);
    WaitUntilIdle();
    HistogramData parts;
    options_.statistics->histogramData(NUM_SUBCOMPACTIONS_SCHEDULED, &parts);
    EXPECT_GT(parts.max, 1.0) << "no compaction was shared";
    EXPECT_LE(parts.max, 3.0);
    ExpectModel();
    CompactAll();
    EXPECT_EQ(Runs(), 1u);
    ExpectModel();
    Open();
    ExpectModel();
  }
}

// Counts compactions of files on the last level.
class BottommostCompactions final : public EventListener {
 public:
  void OnCompactionCompleted(DB* /*db*/, const CompactionJobInfo& info) override {
    if (info.compaction_reason == CompactionReason::kBottommostFiles) ++count;
  }
  std::atomic<int> count{0};
};

class SnapshotVersionsTest : public CompactionStyleTest {
 protected:
  SnapshotVersionsTest() {
    options_.target_file_size_base = 1 << 20;
    options_.max_bytes_for_level_base = 4 << 20;
    options_.listeners.push_back(compactions_);
  }
  void WriteAll() {
    for (int i = 0; i < 100; ++i) Put("key" + std::to_string(100 + i), std::string(1000, 'v'));
    Flush();
    CompactAll();
  }
  uint64_t LiveBytes() { return Number("rocksdb.live-sst-files-size"); }

  const std::shared_ptr<BottommostCompactions> compactions_ =
      std::make_shared<BottommostCompactions>();
};

// There is no deletion, and no write follows the release.
TEST_F(SnapshotVersionsTest, OverwrittenVersionsLeaveWithTheirSnapshot) {
  Open();
  WriteAll();
  const uint64_t bytes = LiveBytes();
  const Snapshot* const snapshot = db_->GetSnapshot();
  WriteAll();
  WaitUntilIdle();
  EXPECT_GT(LiveBytes(), bytes * 19 / 10) << "the versions of the snapshot";
  EXPECT_EQ(compactions_->count, 0);
  db_->ReleaseSnapshot(snapshot);
  WaitUntilIdle();
  EXPECT_LT(LiveBytes(), bytes * 11 / 10);
  EXPECT_EQ(compactions_->count, 1);
  EXPECT_EQ(Get("key150"), std::string(1000, 'v'));
}

// A newer snapshot sees the last versions, which must stay. Those of the older one are removed.
TEST_F(SnapshotVersionsTest, ANewerSnapshotDoesNotKeepTheVersionsOfAnOlderOne) {
  Open();
  WriteAll();
  const uint64_t bytes = LiveBytes();
  const Snapshot* const older = db_->GetSnapshot();
  WriteAll();
  const Snapshot* const newer = db_->GetSnapshot();
  db_->ReleaseSnapshot(older);
  WaitUntilIdle();
  EXPECT_LT(LiveBytes(), bytes * 11 / 10);
  EXPECT_EQ(compactions_->count, 1);
  EXPECT_EQ(Get("key150", newer), std::string(1000, 'v'));
  db_->ReleaseSnapshot(newer);
  WaitUntilIdle();
  EXPECT_EQ(compactions_->count, 1);
}

// No table is open when the database plans compactions, so it has no counts.
TEST_F(SnapshotVersionsTest, VersionsOfAnEarlierLifeLeaveAfterTheNextOpen) {
  options_.disable_auto_compactions = true;
  Open();
  WriteAll();
  const uint64_t bytes = LiveBytes();
  const Snapshot* const snapshot = db_->GetSnapshot();
  WriteAll();
  db_->ReleaseSnapshot(snapshot);
  options_.disable_auto_compactions = false;
  Open();
  WaitUntilIdle();
  EXPECT_LT(LiveBytes(), bytes * 11 / 10);
  EXPECT_EQ(compactions_->count, 1);
  EXPECT_EQ(Get("key150"), std::string(1000, 'v'));
  Open();
  WaitUntilIdle();
  EXPECT_EQ(compactions_->count, 1) << "a rewritten table is not rewritten again";
}

// The file's sequence numbers are not zero, but a rewrite would remove nothing.
TEST_F(SnapshotVersionsTest, AFileWithoutOlderVersionsIsNotRewritten) {
  Open();
  Put("other", "1");
  const Snapshot* const snapshot = db_->GetSnapshot();
  WriteAll();
  db_->ReleaseSnapshot(snapshot);
  WaitUntilIdle();
  EXPECT_EQ(compactions_->count, 0);
}

class RibbonFilterTest : public CompactionStyleTest {
 protected:
  RibbonFilterTest() {
    options_.disable_auto_compactions = true;
    options_.target_file_size_base = 1 << 20;
    options_.max_bytes_for_level_base = 4 << 20;
  }

  void Begin(CompactionStyle style, int bloom_before_level) {
    Close();
    ASSERT_OK(DestroyDB(path(), options_));
    BlockBasedTableOptions table;
    table.filter_policy.reset(NewRibbonFilterPolicy(10, bloom_before_level));
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
    options_.compaction_style = style;
    Open();
  }
  void WriteKeys() {
    for (int i = 0; i < 3000; ++i) Put("key" + std::to_string(10000 + i), "v");
    Flush();
  }
  // The filter kinds of all tables in the order of their paths. A Bloom filter has 10 bits per key,
  // a Ribbon filter about 7.
  std::string Kinds() {
    TablePropertiesCollection tables;
    EXPECT_OK(db_->GetPropertiesOfAllTables(&tables));
    std::map<std::string, std::string> kinds;
    for (const auto& [path, properties] : tables) {
      const uint64_t bits = properties->filter_size * 8;
      EXPECT_GT(bits, properties->num_entries * 6);
      EXPECT_LT(bits, properties->num_entries * 11);
      kinds[path] = bits < properties->num_entries * 85 / 10 ? "ribbon" : "bloom";
    }
    std::string text;
    for (const auto& [path, kind] : kinds) text += (text.empty() ? "" : " ") + kind;
    return text;
  }
  // The filter kinds after a flush, after a compaction within level 0, and on the last level.
  std::string KindsOfALife(CompactionStyle style, int bloom_before_level) {
    Begin(style, bloom_before_level);
    WriteKeys();
    std::string kinds = Kinds();
    WriteKeys();
    EXPECT_OK(db_->CompactFiles(CompactionOptions(), FileNames(0), 0));
    EXPECT_EQ(FilesAtLevel(0), 1u);
    kinds += ", " + Kinds();
    CompactRangeOptions rewrite;
    rewrite.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    EXPECT_OK(db_->CompactRange(rewrite, nullptr, nullptr));
    EXPECT_EQ(FilesAtLevel(0), 0u);
    return kinds + ", " + Kinds();
  }
};

TEST_F(RibbonFilterTest, AreBuiltFromTheLevelOfThePolicyOn) {
  for (const CompactionStyle style : {kCompactionStyleLevel, kCompactionStyleUniversal}) {
    EXPECT_EQ(KindsOfALife(style, -1), "ribbon, ribbon, ribbon") << int{style};
    EXPECT_EQ(KindsOfALife(style, 0), "bloom, ribbon, ribbon") << int{style};
    EXPECT_EQ(KindsOfALife(style, 1), "bloom, bloom, ribbon") << int{style};
    EXPECT_EQ(KindsOfALife(style, INT_MAX), "bloom, bloom, bloom") << int{style};
  }
}

TEST_F(RibbonFilterTest, AreBuiltForEachTableWhereTablesStay) {
  for (const CompactionStyle style : {kCompactionStyleFIFO, kCompactionStyleNone}) {
    for (const int bloom_before_level : {-1, 0, 1, 100, INT_MAX}) {
      Begin(style, bloom_before_level);
      WriteKeys();
      EXPECT_EQ(Kinds(), bloom_before_level == INT_MAX ? "bloom" : "ribbon")
          << int{style} << " " << bloom_before_level;
    }
  }
}

TEST_F(CompactionStyleTest, AnotherStyleOpensTheDatabase) {
  Random random(2);
  for (const CompactionStyle style : {kCompactionStyleLevel, kCompactionStyleUniversal,
                                      kCompactionStyleLevel, kCompactionStyleUniversal}) {
    options_.compaction_style = style;
    Open();
    ExpectModel();
    for (int i = 0; i < 20; ++i) WriteTable(&random);
    WaitUntilIdle();
    ExpectModel();
    CompactAll();
    ExpectModel();
  }
}

TEST_F(CompactionStyleTest, UniversalWithOneLevel) {
  options_.compaction_style = kCompactionStyleUniversal;
  options_.num_levels = 1;
  Open();
  Random random(3);
  for (int i = 0; i < 20; ++i) WriteTable(&random);
  WaitUntilIdle();
  EXPECT_LE(FilesAtLevel(0), 4u);
  CompactAll();
  EXPECT_EQ(FilesAtLevel(0), 1u);
  ExpectModel();
}

TEST_F(CompactionStyleTest, FifoDropsTheOldestTables) {
  options_.compaction_style = kCompactionStyleFIFO;
  options_.compaction_options_fifo.max_table_files_size = 200 << 10;
  options_.statistics = CreateDBStatistics();
  Open();
  for (int i = 0; i < 30; ++i) {
    Put("key" + std::to_string(100 + i), std::string(20000, 'v'));
    Flush();
    WaitUntilIdle();
    EXPECT_LE(Number("rocksdb.total-sst-files-size"), 200u << 10);
  }
  EXPECT_EQ(Get("key100"), "NOT_FOUND");
  EXPECT_NE(Get("key129"), "NOT_FOUND");
  EXPECT_GE(FilesAtLevel(0), 9u);
  ASSERT_OK(db_->SetOptions({{"compaction_options_fifo", "{max_table_files_size=50000;}"}}));
  WaitUntilIdle();
  EXPECT_EQ(FilesAtLevel(0), 2u);
  Close();
  EXPECT_GT(options_.statistics->getTickerCount(FIFO_MAX_SIZE_COMPACTIONS), 0u);
  EXPECT_EQ(options_.statistics->getTickerCount(FIFO_TTL_COMPACTIONS), 0u);
}

TEST_F(CompactionStyleTest, FifoLimitsTheDataWhereTheyHaveALimitOfTheirOwn) {
  options_.compaction_style = kCompactionStyleFIFO;
  options_.compaction_options_fifo.max_table_files_size = 1 << 30;
  options_.compaction_options_fifo.max_data_files_size = 50000;
  Open();
  for (int i = 0; i < 5; ++i) {
    Put("key" + std::to_string(i), std::string(20000, 'v'));
    Flush();
  }
  WaitUntilIdle();
  EXPECT_EQ(FilesAtLevel(0), 2u);
  EXPECT_EQ(Get("key2"), "NOT_FOUND");
  EXPECT_NE(Get("key3"), "NOT_FOUND");
}

TEST_F(CompactionStyleTest, FifoDropsAfterAPause) {
  options_.compaction_style = kCompactionStyleFIFO;
  options_.compaction_options_fifo.max_table_files_size = 50000;
  options_.disable_auto_compactions = true;
  Open();
  for (int i = 0; i < 5; ++i) {
    Put("key" + std::to_string(i), std::string(20000, 'v'));
    Flush();
  }
  ASSERT_OK(db_->PauseBackgroundWork());
  ASSERT_OK(db_->SetOptions({{"disable_auto_compactions", "false"}}));
  EXPECT_EQ(FilesAtLevel(0), 5u);
  ASSERT_OK(db_->ContinueBackgroundWork());
  WaitUntilIdle();
  EXPECT_EQ(FilesAtLevel(0), 2u);
  EXPECT_EQ(Get("key2"), "NOT_FOUND");
  EXPECT_NE(Get("key3"), "NOT_FOUND");
}

TEST_F(CompactionStyleTest, AWaitForCompactionsIncludesThoseThatAPauseHoldsBack) {
  options_.disable_auto_compactions = true;
  options_.level0_file_num_compaction_trigger = 2;
  Open();
  for (int i = 0; i < 2; ++i) {
    Put("key", "value");
    Flush();
  }
  ASSERT_OK(db_->PauseBackgroundWork());
  WaitForCompactOptions abort;
  abort.abort_on_pause = true;
  EXPECT_OK(db_->WaitForCompact(abort));  // no compaction is allowed
  ASSERT_OK(db_->SetOptions({{"disable_auto_compactions", "false"}}));
  EXPECT_TRUE(db_->WaitForCompact(abort).IsAborted());
  WaitForCompactOptions wait;
  // The remainder of a deadline that has passed is below 0.
  for (const int micros : {1, -1}) {
    wait.timeout = std::chrono::microseconds(micros);
    EXPECT_TRUE(db_->WaitForCompact(wait).IsTimedOut()) << micros;
  }
  EXPECT_EQ(FilesAtLevel(0), 2u);
  ASSERT_OK(db_->ContinueBackgroundWork());
  EXPECT_OK(db_->WaitForCompact(abort));
  EXPECT_EQ(FilesAtLevel(0), 0u);
}

// The switch of the memtable would stop writers until a compaction has ended, which takes longer
// than the timeout.
TEST_F(CompactionStyleTest, AWaitThatFlushesTimesOutWhereTheFlushWouldStopWriters) {
  ManualEnv env(vfs::FileSystem::Default(), 1);
  options_.env = &env;
  options_.disable_auto_compactions = true;
  options_.level0_file_num_compaction_trigger = 2;
  options_.level0_slowdown_writes_trigger = 3;
  options_.level0_stop_writes_trigger = 3;
  Open();
  for (int i = 0; i < 2; ++i) {
    Put("key", "value");
    Flush();
  }
  Put("key", "newer");
  ASSERT_OK(db_->SetOptions({{"disable_auto_compactions", "false"}}));
  ASSERT_EQ(Number("rocksdb.num-running-compactions"), 1u);
  WaitForCompactOptions wait;
  wait.flush = true;
  wait.timeout = std::chrono::microseconds(1000);
  EXPECT_TRUE(db_->WaitForCompact(wait).IsTimedOut());
  EXPECT_EQ(FilesAtLevel(0), 2u) << "the compaction has not ended";
  wait.timeout = std::chrono::microseconds::zero();
  EXPECT_OK(db_->WaitForCompact(wait));
  EXPECT_EQ(FilesAtLevel(0), 1u);
  Close();
}

TEST_F(CompactionStyleTest, AWaitThatFlushesKeepsToItsOptionsDuringAPause) {
  Open();
  Put("key", "value");
  ASSERT_OK(db_->PauseBackgroundWork());
  WaitForCompactOptions wait;
  wait.flush = true;
  wait.abort_on_pause = true;
  EXPECT_TRUE(db_->WaitForCompact(wait).IsAborted());
  wait.abort_on_pause = false;
  wait.timeout = std::chrono::microseconds(1);
  EXPECT_TRUE(db_->WaitForCompact(wait).IsTimedOut());
  EXPECT_EQ(FilesAtLevel(0), 0u);
  ASSERT_OK(db_->ContinueBackgroundWork());
  wait.timeout = std::chrono::microseconds::zero();
  EXPECT_OK(db_->WaitForCompact(wait));
  EXPECT_EQ(FilesAtLevel(0), 1u);
  Put("key", "newer");
  EXPECT_OK(db_->WaitForCompact(wait));
  EXPECT_EQ(FilesAtLevel(0), 2u);
}

TEST_F(CompactionStyleTest, FifoKeepsTheOutputOfCompactFilesOnLevel0) {
  options_.compaction_style = kCompactionStyleFIFO;
  Open();
  for (const char* const value : {"1", "2"}) {
    Put("key", value);
    Flush();
  }
  const Status refused = db_->CompactFiles(CompactionOptions(), FileNames(0), 1);
  EXPECT_TRUE(refused.IsInvalidArgument()) << refused.ToString();
  EXPECT_NE(refused.ToString().find("FIFO"), std::string::npos) << refused.ToString();
  EXPECT_EQ(FilesAtLevel(0), 2u);
  ASSERT_OK(db_->CompactFiles(CompactionOptions(), FileNames(0), 0));
  EXPECT_EQ(FilesAtLevel(0), 1u);
  EXPECT_EQ(Contents(), "key=2 ");
}

TEST_F(CompactionStyleTest, FifoMergesSmallTablesWhereAllowed) {
  options_.compaction_style = kCompactionStyleFIFO;
  options_.compaction_options_fifo.allow_compaction = true;
  Open();
  Random random(4);
  for (int i = 0; i < 9; ++i) WriteTable(&random);
  WaitUntilIdle();
  EXPECT_LT(FilesAtLevel(0), 4u);
  ExpectModel();
}

// ---- Partitions.

TEST_F(CompactionStyleTest, PartitionsHaveTablesOfTheirOwn) {
  options_.sst_partitioner_factory = NewSstPartitionerFixedPrefixFactory(4);
  for (const CompactionStyle style : {kCompactionStyleLevel, kCompactionStyleUniversal}) {
    options_.compaction_style = style;
    Open();
    for (const char* const key : {"aaaa1", "aaaa2", "bbbb1", "bbbb2", "cc", "dddd1"})
      Put(key, "value");
    Flush();
    CompactAll();  // a trivial move of the table would be possible
    std::vector<LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
    std::map<std::string, std::string> ranges;
    for (const LiveFileMetaData& file : files) ranges[file.smallestkey] = file.largestkey;
    EXPECT_EQ(ranges,
              (std::map<std::string, std::string>{
                  {"aaaa1", "aaaa2"}, {"bbbb1", "bbbb2"}, {"cc", "cc"}, {"dddd1", "dddd1"}}));
    EXPECT_EQ(Contents(), "aaaa1=value aaaa2=value bbbb1=value bbbb2=value cc=value dddd1=value ");
  }
}

// Records the contexts, cuts nothing, and forbids trivial moves.
class NeverMove final : public SstPartitioner {
 public:
  const char* Name() const override { return "NeverMove"; }
  PartitionerResult ShouldPartition(const PartitionerRequest&) override { return kNotRequired; }
  bool CanDoTrivialMove(const Slice&, const Slice&) override { return false; }
};
class NeverMoveFactory final : public SstPartitionerFactory {
 public:
  const char* Name() const override { return "NeverMoveFactory"; }
  std::unique_ptr<SstPartitioner> CreatePartitioner(
      const SstPartitioner::Context& context) const override {
    EXPECT_GT(context.output_level, 0);
    EXPECT_TRUE(context.is_manual_compaction && context.is_full_compaction);
    keys = context.smallest_user_key.ToString() + "-" + context.largest_user_key.ToString();
    return std::make_unique<NeverMove>();
  }
  mutable std::string keys;
};

TEST_F(CompactionStyleTest, PartitionerOfTheProgramMayForbidAMove) {
  const auto factory = std::make_shared<NeverMoveFactory>();
  options_.sst_partitioner_factory = factory;
  Open();
  Put("a", "1");
  Put("z", "2");
  Flush();
  std::vector<LiveFileMetaData> before;
  db_->GetLiveFilesMetaData(&before);
  CompactAll();
  EXPECT_EQ(factory->keys, "a-z");
  std::vector<LiveFileMetaData> after;
  db_->GetLiveFilesMetaData(&after);
  ASSERT_EQ(after.size(), 1u);
  EXPECT_GT(after[0].file_number, before[0].file_number) << "rewritten";
  EXPECT_EQ(Contents(), "a=1 z=2 ");
}

// ---- Round robin.

// The smallest key of the first input of each compaction from level 1 down.
class FirstInputs final : public EventListener {
 public:
  void OnCompactionBegin(DB* db, const CompactionJobInfo& info) override {
    if (info.base_input_level != 1) return;
    std::vector<LiveFileMetaData> files;
    db->GetLiveFilesMetaData(&files);
    for (const LiveFileMetaData& file : files) {
      if (info.input_files[0].ends_with(file.name)) keys.push_back(file.smallestkey);
    }
  }
  std::vector<std::string> keys;
};

TEST_F(CompactionStyleTest, RoundRobinContinuesAfterAReopen) {
  options_.compaction_pri = kRoundRobin;
  options_.level_compaction_dynamic_level_bytes = false;
  options_.max_background_jobs = 1;
  const auto inputs = std::make_shared<FirstInputs>();
  options_.listeners = {inputs};
  Random random(8);
  for (int i = 0; i < 120; ++i) {
    Open();
    WriteTable(&random);
    WaitUntilIdle();
  }
  ExpectModel();
  size_t rounds = 1;
  for (size_t i = 1; i < inputs->keys.size(); ++i) rounds += inputs->keys[i] < inputs->keys[i - 1];
  ASSERT_GT(inputs->keys.size(), 40u);
  // Without the recorded cursor, each open would start at the first of about four tables.
  EXPECT_LT(rounds * 5, inputs->keys.size() * 2);
}

TEST_F(CompactionStyleTest, OptionsThatCannotWorkAreRefused) {
  options_.compaction_style = kCompactionStyleUniversal;
  options_.compaction_options_universal.min_merge_width = 1;
  EXPECT_TRUE(TryOpen().IsInvalidArgument());
  options_.compaction_options_universal.min_merge_width = 5;
  options_.compaction_options_universal.max_merge_width = 4;
  EXPECT_NE(TryOpen().ToString().find("set at least min_merge_width, which is 5"),
            std::string::npos);
}

// ---- Temporary space.

// Records the maximum bytes of all tables. It takes the sum at each deletion, because a
// compaction's inputs are deleted after its outputs are complete.
class SummingFileSystem final : public MemoryFileSystem {
 public:
  Status DeleteFile(const std::string& path) override {
    if (path.ends_with(".sst")) bytes_max_ = std::max(bytes_max_, Sum(path));
    return MemoryFileSystem::DeleteFile(path);
  }
  // Returns the maximum since the last call.
  uint64_t TakeMax() { return std::exchange(bytes_max_, 0); }

 private:
  uint64_t Sum(const std::string& path) {
    const std::string directory = path.substr(0, path.rfind('/'));
    std::vector<std::string> names;
    EXPECT_OK(GetChildren(directory, &names));
    uint64_t sum = 0;
    for (const std::string& name : names) {
      if (!name.ends_with(".sst")) continue;
      uint64_t bytes = 0;
      EXPECT_OK(GetFileSize(directory + "/" + name, &bytes));
      sum += bytes;
    }
    return sum;
  }

  uint64_t bytes_max_ = 0;
};

constexpr uint64_t kFlushedBytes = 64 << 10;
constexpr int kOverwrittenKeys = 4000;

// For a database that always has the same keys, equally often: the bytes of the whole tree, and the
// maximum bytes of its tables during overwrites.
struct SpaceOfOverwrites {
  uint64_t tree_bytes = 0;
  uint64_t bytes_max = 0;
};
SpaceOfOverwrites OverwriteAtRandom(const Options& options) {
  const auto files = std::make_shared<SummingFileSystem>();
  OpenDatabase database(files, options, 1);
  EXPECT_OK(database.Open());
  const auto write = [&](uint64_t key) {
    EXPECT_OK(database.db()->Put(WriteOptions(), "key" + std::to_string(10000 + key),
                                 std::string(500, 'v')));
  };
  for (int key = 0; key < kOverwrittenKeys; ++key) write(static_cast<uint64_t>(key));
  EXPECT_OK(database.db()->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  SpaceOfOverwrites space;
  EXPECT_TRUE(database.db()->GetIntProperty("rocksdb.live-sst-files-size", &space.tree_bytes));
  files->TakeMax();
  Random random(1);
  for (int i = 0; i < 2 * kOverwrittenKeys; ++i) {
    write(random.Uniform(kOverwrittenKeys));
    if (i % 100 == 0) {
      EXPECT_OK(database.db()->Flush(FlushOptions()));
      EXPECT_OK(database.db()->WaitForCompact(WaitForCompactOptions()));
    }
  }
  space.bytes_max = files->TakeMax();
  EXPECT_OK(database.Close());
  return space;
}

// The bound of options.h for a tree whose runs above the oldest have a quarter of its bytes and one
// more flushed table.
TEST(UniversalSpace, IncrementalModeKeepsItsBound) {
  Options options = SmallDatabaseOptions();
  options.compaction_style = kCompactionStyleUniversal;
  options.num_levels = 5;
  options.max_compaction_bytes = 128 << 10;
  options.compaction_options_universal.max_size_amplification_percent = 25;
  const auto bound = [&](uint64_t tree_bytes) {
    const uint64_t oldest = tree_bytes * 11 / 10;  // smaller tables have more bytes besides entries
    const uint64_t above = oldest / 4 + 2 * kFlushedBytes;
    return oldest + above + std::max(above, 2 * options.max_compaction_bytes);
  };
  options.compaction_options_universal.incremental = true;
  const SpaceOfOverwrites in_parts = OverwriteAtRandom(options);
  EXPECT_GT(in_parts.bytes_max, in_parts.tree_bytes);
  EXPECT_LE(in_parts.bytes_max, bound(in_parts.tree_bytes));
  options.compaction_options_universal.incremental = false;
  const SpaceOfOverwrites whole = OverwriteAtRandom(options);
  EXPECT_GT(whole.bytes_max, bound(whole.tree_bytes)) << "it needs a second copy";
}

// ---- Ages.

class MovedClockTest : public ::testing::Test {
 protected:
  MovedClockTest() { options_ = SmallDatabaseOptions(); }

  void Open() {
    database_ = std::make_unique<OpenDatabase>(files_, options_, 1);
    ASSERT_OK(database_->Open());
  }
  void WriteTable(const std::string& key) {
    ASSERT_OK(database_->db()->Put(WriteOptions(), key, "value"));
    ASSERT_OK(database_->db()->Flush(FlushOptions()));
    ASSERT_OK(database_->db()->WaitForCompact(WaitForCompactOptions()));
  }
  void MoveClock(uint64_t seconds) { database_->env()->clock()->SleepForMicros(seconds * 1000000); }
  bool Has(const std::string& key) {
    std::string value;
    return database_->db()->Get(ReadOptions(), key, &value).ok();
  }
  std::string FilesAtLevel(int level) {
    std::string value;
    EXPECT_TRUE(
        database_->db()->GetProperty("rocksdb.num-files-at-level" + std::to_string(level), &value));
    return value;
  }

  const std::shared_ptr<MemoryFileSystem> files_ = std::make_shared<MemoryFileSystem>();
  Options options_;
  std::unique_ptr<OpenDatabase> database_;
};

TEST_F(MovedClockTest, FifoDropsTablesThatAreOlderThanTheTtl) {
  options_.compaction_style = kCompactionStyleFIFO;
  options_.ttl = 100;
  options_.statistics = CreateDBStatistics();
  Open();
  WriteTable("a");
  MoveClock(60);
  WriteTable("b");
  EXPECT_TRUE(Has("a"));
  MoveClock(60);
  WriteTable("c");
  EXPECT_FALSE(Has("a"));
  EXPECT_TRUE(Has("b") && Has("c"));
  ASSERT_OK(database_->Close());
  EXPECT_EQ(options_.statistics->getTickerCount(FIFO_TTL_COMPACTIONS), 1u);
  EXPECT_EQ(options_.statistics->getTickerCount(FIFO_MAX_SIZE_COMPACTIONS), 0u);
}

// Writes a table every 5 seconds. Without merges, more than 200 tables would remain. If merges took
// data of any age, no table would ever be old enough to be dropped.
TEST_F(MovedClockTest, FifoMergesAndKeepsNoDataForMuchLongerThanTheTtl) {
  constexpr uint64_t kTtl = 1000;
  constexpr uint64_t kStep = 5;
  options_.compaction_style = kCompactionStyleFIFO;
  options_.compaction_options_fifo.allow_compaction = true;
  options_.ttl = kTtl;
  Open();
  const auto key = [](uint64_t i) { return "key" + std::to_string(10000 + i); };
  constexpr uint64_t kTables = 3 * kTtl / kStep;
  for (uint64_t i = 0; i < kTables; ++i) {
    WriteTable(key(i));
    MoveClock(kStep);
  }
  WriteTable("last");
  for (uint64_t i = 0; i < kTables; ++i) {
    const uint64_t age = (kTables - i) * kStep;
    if (age < kTtl) {
      EXPECT_TRUE(Has(key(i))) << age;
    }
    if (age > kTtl + kTtl / 10) {
      EXPECT_FALSE(Has(key(i))) << age;
    }
  }
  EXPECT_LT(std::stoul(FilesAtLevel(0)), 60u);
}

// RocksDB refuses ages in FIFO unless it keeps every table open.
TEST_F(MovedClockTest, FifoDropsOldTablesThatAreNotOpen) {
  options_.compaction_style = kCompactionStyleFIFO;
  options_.ttl = 100;
  options_.max_open_files = 1;
  Open();
  for (const char* const key : {"a", "b", "c"}) WriteTable(key);
  MoveClock(120);
  WriteTable("d");
  EXPECT_FALSE(Has("a") || Has("b") || Has("c"));
  EXPECT_TRUE(Has("d"));
}

// RocksDB refuses ages set by the program for tables that are not block-based.
TEST_F(MovedClockTest, AgesCountForPlainTables) {
  options_.table_factory.reset(NewPlainTableFactory());
  options_.prefix_extractor.reset(NewFixedPrefixTransform(1));
  options_.allow_mmap_reads = true;
  options_.num_levels = 3;
  options_.level0_file_num_compaction_trigger = 10;
  options_.ttl = 100;
  Open();
  WriteTable("a");
  ASSERT_OK(database_->db()->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  WriteTable("a");
  EXPECT_EQ(FilesAtLevel(0), "1");
  MoveClock(120);
  WriteTable("b");
  EXPECT_EQ(FilesAtLevel(0), "1");
  EXPECT_EQ(FilesAtLevel(2), "1");
  ASSERT_OK(database_->db()->SetOptions({{"periodic_compaction_seconds", "1000"}}));
  std::vector<LiveFileMetaData> before;
  database_->db()->GetLiveFilesMetaData(&before);
  MoveClock(1200);
  WriteTable("c");
  std::vector<LiveFileMetaData> after;
  database_->db()->GetLiveFilesMetaData(&after);
  for (const LiveFileMetaData& file : after) {
    for (const LiveFileMetaData& old : before) EXPECT_NE(file.file_number, old.file_number);
  }
  EXPECT_TRUE(Has("a") && Has("b") && Has("c"));
}

TEST_F(MovedClockTest, AgesAreLookedAtWhenTheDatabaseIsOpened) {
  options_.compaction_style = kCompactionStyleFIFO;
  options_.ttl = 100;
  Open();
  WriteTable("a");
  const uint64_t now_us = database_->env()->clock()->NowUnixMicros();
  ASSERT_OK(database_->Close());
  database_ = std::make_unique<OpenDatabase>(files_, options_, 1);
  while (database_->env()->clock()->NowUnixMicros() < now_us) MoveClock(1);
  MoveClock(120);
  ASSERT_OK(database_->Open());
  ASSERT_OK(database_->db()->WaitForCompact(WaitForCompactOptions()));
  EXPECT_FALSE(Has("a"));
}

// No table is deleted that RocksDB 7.8 or 11 would keep.
TEST_F(MovedClockTest, FifoDropsByTheDefaultOnlyWhereTheProgramSetsNoAge) {
  constexpr uint64_t kDay = 24 * 60 * 60;
  constexpr uint64_t kDefault = 0xfffffffffffffffe;
  struct Case {
    uint64_t ttl;
    uint64_t period;
    uint64_t days;  // how long it is kept; 0: for ever
  };
  for (const Case& ages : {Case{kDefault, kDefault, 30}, Case{kDefault, 0, 0},
                           Case{kDefault, 60 * kDay, 60}, Case{kDefault, 10 * kDay, 30},
                           Case{60 * kDay, kDefault, 60}, Case{60 * kDay, 50 * kDay, 60},
                           Case{0, 50 * kDay, 0}, Case{0, 0, 0}, Case{0, kDefault, 0}}) {
    SCOPED_TRACE(testing::Message() << "ttl " << ages.ttl << " period " << ages.period);
    const auto files = std::make_shared<MemoryFileSystem>();
    options_.compaction_style = kCompactionStyleFIFO;
    options_.ttl = ages.ttl;
    options_.periodic_compaction_seconds = ages.period;
    database_ = std::make_unique<OpenDatabase>(files, options_, 1);
    ASSERT_OK(database_->Open());
    WriteTable("a");
    MoveClock((ages.days == 0 ? 1000 : ages.days - 1) * kDay);
    WriteTable("b");
    EXPECT_TRUE(Has("a"));
    MoveClock(2 * kDay);
    WriteTable("c");
    EXPECT_EQ(Has("a"), ages.days == 0);
    EXPECT_TRUE(Has("b") && Has("c"));
    ASSERT_OK(database_->Close());
  }
}

// The default of leveled compaction changes where data is, but not what a read returns.
TEST_F(MovedClockTest, TheDefaultTtlIsThirtyDays) {
  constexpr uint64_t kDay = 24 * 60 * 60;
  options_.num_levels = 3;
  options_.level0_file_num_compaction_trigger = 10;
  Open();
  WriteTable("a");
  ASSERT_OK(database_->db()->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  WriteTable("a");
  MoveClock(29 * kDay);
  WriteTable("b");
  EXPECT_EQ(FilesAtLevel(0), "2");
  MoveClock(2 * kDay);
  WriteTable("c");
  EXPECT_EQ(FilesAtLevel(0), "2");
  EXPECT_EQ(FilesAtLevel(2), "1");
  EXPECT_TRUE(Has("a") && Has("b") && Has("c"));
}

TEST_F(MovedClockTest, LeveledTtlTakesOldDataDown) {
  options_.ttl = 100;
  options_.num_levels = 3;
  options_.level0_file_num_compaction_trigger = 10;
  Open();
  WriteTable("a");
  ASSERT_OK(database_->db()->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  WriteTable("a");
  EXPECT_EQ(FilesAtLevel(0), "1");
  MoveClock(120);
  WriteTable("b");
  EXPECT_EQ(FilesAtLevel(0), "1");
  EXPECT_EQ(FilesAtLevel(2), "1");
}

// Only a compaction out of level 0 removes a deletion that is in level 0.
TEST_F(MovedClockTest, LeveledTtlTakesLevel0DownWhereAllTablesAreThere) {
  options_.ttl = 100;
  options_.num_levels = 3;
  options_.level0_file_num_compaction_trigger = 10;
  Open();
  WriteTable("a");
  ASSERT_OK(database_->db()->Delete(WriteOptions(), "a"));
  ASSERT_OK(database_->db()->Flush(FlushOptions()));
  ASSERT_OK(database_->db()->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(FilesAtLevel(0), "2");
  MoveClock(120);
  WriteTable("b");
  EXPECT_EQ(FilesAtLevel(0), "1") << "b";
  EXPECT_EQ(FilesAtLevel(2), "0") << "the deletion had nothing to delete";
  EXPECT_TRUE(!Has("a") && Has("b"));
}

TEST_F(MovedClockTest, PeriodicCompactionRewritesOldTablesInEveryStyle) {
  for (const CompactionStyle style : {kCompactionStyleLevel, kCompactionStyleUniversal}) {
    options_.compaction_style = style;
    options_.periodic_compaction_seconds = 100;
    options_.num_levels = 3;
    options_.level0_file_num_compaction_trigger = 10;
    Open();
    WriteTable("a");
    ASSERT_OK(database_->db()->CompactRange(CompactRangeOptions(), nullptr, nullptr));
    std::vector<LiveFileMetaData> before;
    database_->db()->GetLiveFilesMetaData(&before);
    MoveClock(120);
    WriteTable("b");
    std::vector<LiveFileMetaData> after;
    database_->db()->GetLiveFilesMetaData(&after);
    for (const LiveFileMetaData& file : after) EXPECT_GT(file.file_number, before[0].file_number);
    EXPECT_TRUE(Has("a") && Has("b"));
    ASSERT_OK(database_->Close());
  }
}

// ---- An idle database.

class IdleDatabaseTest : public MovedClockTest {
 protected:
  // Advances the clock and runs the jobs that become due.
  void Idle(uint64_t seconds) {
    MoveClock(seconds);
    ManualExecutor* const executor = database_->env()->manual_executor();
    ASSERT_TRUE(executor->RunDelayed()) << "the timer";
    executor->RunAll();
  }
};

TEST_F(IdleDatabaseTest, FifoDropsTablesForTheirAge) {
  options_.compaction_style = kCompactionStyleFIFO;
  options_.ttl = 100;
  Open();
  WriteTable("a");
  Idle(60);
  EXPECT_TRUE(Has("a"));
  Idle(60);
  EXPECT_FALSE(Has("a"));
}

TEST_F(IdleDatabaseTest, TtlAndPeriodicCompactionsBegin) {
  for (const bool periodic : {false, true}) {
    for (const CompactionStyle style : {kCompactionStyleLevel, kCompactionStyleUniversal}) {
      SCOPED_TRACE(testing::Message() << "periodic " << periodic << " style " << int{style});
      options_.compaction_style = style;
      options_.ttl = periodic ? 0 : 100;
      options_.periodic_compaction_seconds = periodic ? 100 : 0;
      options_.num_levels = 3;
      options_.level0_file_num_compaction_trigger = 10;
      Open();
      WriteTable("a");
      WriteTable("a");
      ASSERT_OK(database_->db()->CompactRange(CompactRangeOptions(), nullptr, nullptr));
      WriteTable("a");
      std::vector<LiveFileMetaData> before;
      database_->db()->GetLiveFilesMetaData(&before);
      Idle(60);
      std::vector<LiveFileMetaData> after;
      database_->db()->GetLiveFilesMetaData(&after);
      EXPECT_EQ(after.size(), before.size());
      Idle(60);
      database_->db()->GetLiveFilesMetaData(&after);
      EXPECT_EQ(after.size(), 1u);
      EXPECT_TRUE(Has("a"));
      ASSERT_OK(database_->Close());
    }
  }
}

TEST_F(IdleDatabaseTest, AnAgeThatIsSetWhileOpenCounts) {
  options_.compaction_style = kCompactionStyleFIFO;
  options_.ttl = 0;
  options_.periodic_compaction_seconds = 0;
  Open();
  WriteTable("a");
  Idle(1000000);
  EXPECT_TRUE(Has("a"));
  ASSERT_OK(database_->db()->SetOptions({{"ttl", "2000000"}}));
  Idle(500000);
  EXPECT_TRUE(Has("a"));
  Idle(600000);
  EXPECT_FALSE(Has("a"));
}

TEST_F(IdleDatabaseTest, ATimerThatOutlivesTheDatabaseDoesNothing) {
  options_.ttl = 100;
  Open();
  WriteTable("a");
  ASSERT_OK(database_->Close());
  ManualExecutor* const executor = database_->env()->manual_executor();
  while (executor->RunDelayed()) {
  }
  Open();
  EXPECT_TRUE(Has("a"));
}

}  // namespace
}  // namespace ashlar
