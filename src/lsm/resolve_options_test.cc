#include "lsm/resolve_options.h"

#include <gtest/gtest.h>

#include <climits>
#include <memory>
#include <string>

#include "ashlar/cache.h"
#include "ashlar/rate_limiter.h"
#include "ashlar/table.h"
#include "compact/plan/write_stall.h"

namespace ashlar {
namespace {

BlockBasedTableConfig ConfigOfReadahead(size_t initial_bytes, size_t max_bytes) {
  BlockBasedTableOptions table;
  table.initial_auto_readahead_size = initial_bytes;
  table.max_auto_readahead_size = max_bytes;
  ColumnFamilyOptions options;
  options.table_factory.reset(NewBlockBasedTableFactory(table));
  return ResolveTableConfig(options);
}

TEST(ResolveTableConfig, ReadaheadBeginsNoLargerThanItsLargestPiece) {
  EXPECT_EQ(ConfigOfReadahead(8 << 10, 256 << 10).readahead_bytes_initial, size_t{8} << 10);
  EXPECT_EQ(ConfigOfReadahead(64 << 10, 16 << 10).readahead_bytes_initial, size_t{16} << 10);
  EXPECT_EQ(ConfigOfReadahead(8 << 10, 0).readahead_bytes_initial, 0u);
}

// A partition of an index or a filter is a block, and readers refuse blocks of more than 1 GiB.
TEST(ResolveTableConfig, PartitionsFitABlock) {
  const auto partition_bytes = [](uint64_t metadata_block_size) {
    BlockBasedTableOptions table;
    table.metadata_block_size = metadata_block_size;
    ColumnFamilyOptions options;
    options.table_factory.reset(NewBlockBasedTableFactory(table));
    return ResolveTableConfig(options).partition_bytes;
  };
  EXPECT_EQ(partition_bytes(0), 1u);
  EXPECT_EQ(partition_bytes(8192), 8192u);
  EXPECT_EQ(partition_bytes(uint64_t{2} << 30), size_t{256} << 20);
  EXPECT_EQ(partition_bytes(UINT64_MAX), size_t{256} << 20);
}

// The decision for the role counts first, then the decision for all roles.
TEST(ResolveTableConfig, TableReadersAreChargedWhereTheirRoleIs) {
  using Decision = CacheEntryRoleOptions::Decision;
  const auto charges = [](Decision all, Decision role) {
    BlockBasedTableOptions table;
    table.cache_usage_options.options.charged = all;
    table.cache_usage_options.options_overrides[CacheEntryRole::kBlockBasedTableReader].charged =
        role;
    ColumnFamilyOptions options;
    options.table_factory.reset(NewBlockBasedTableFactory(table));
    return ResolveTableConfig(options).charge_table_readers;
  };
  for (const Decision all : {Decision::kEnabled, Decision::kDisabled, Decision::kFallback}) {
    EXPECT_TRUE(charges(all, Decision::kEnabled));
    EXPECT_FALSE(charges(all, Decision::kDisabled));
    EXPECT_EQ(charges(all, Decision::kFallback), all == Decision::kEnabled);
  }
  EXPECT_FALSE(ResolveTableConfig(ColumnFamilyOptions()).charge_table_readers);
}

// As in RocksDB, no_block_cache overrides block_cache.
TEST(ResolveBlockCache, NoBlockCacheTakesOneOutOfTheOptions) {
  BlockBasedTableOptions table;
  table.block_cache = NewLRUCache(1 << 20);
  table.no_block_cache = true;
  ColumnFamilyOptions options;
  options.table_factory.reset(NewBlockBasedTableFactory(table));
  const std::shared_ptr<TableFactory> before = options.table_factory;
  EXPECT_EQ(ResolveBlockCache(&options), nullptr);
  EXPECT_EQ(TableOptionsOf(options)->block_cache, nullptr) << "properties do not show it";
  EXPECT_EQ(before->GetOptions<BlockBasedTableOptions>()->block_cache, table.block_cache)
      << "others may have the factory, too";
  table.no_block_cache = false;
  options.table_factory.reset(NewBlockBasedTableFactory(table));
  EXPECT_EQ(ResolveBlockCache(&options), table.block_cache);
}

// A program's class that need not name a rate, because it decides what it limits.
class LimiterWithoutRate final : public RateLimiter {
 public:
  explicit LimiterWithoutRate(int64_t rate) : rate_(rate) {}
  void SetBytesPerSecond(int64_t /*bytes_per_second*/) override {}
  int64_t GetBytesPerSecond() const override { return rate_; }
  int64_t GetSingleBurstBytes() const override { return 1; }
  int64_t GetTotalBytesThrough(IORequestPriority /*priority*/) const override { return 0; }
  int64_t GetTotalRequests(IORequestPriority /*priority*/) const override { return 0; }

 private:
  const int64_t rate_;
};

constexpr uint64_t kRate = 1 << 20;  // used if delayed_write_rate is 0

TEST(ResolveCompactionConfig, WritersAreDelayedToTheRateOfALimiterThatHasOne) {
  DBOptions options;
  const auto delayed_rate = [&options] {
    return ResolveCompactionConfig(ColumnFamilyOptions(), options,
                                   ResolveDefaultDelayedWriteRate(options))
        .common.delayed_write_rate;
  };
  const uint64_t without = delayed_rate();
  EXPECT_EQ(without, uint64_t{16} << 20);
  for (const int64_t rate : {int64_t{0}, int64_t{-1}}) {
    options.rate_limiter = std::make_shared<LimiterWithoutRate>(rate);
    EXPECT_EQ(delayed_rate(), without) << rate;
  }
  options.rate_limiter = std::make_shared<LimiterWithoutRate>(5000);
  EXPECT_EQ(delayed_rate(), 5000u);
  options.delayed_write_rate = 70;
  EXPECT_EQ(delayed_rate(), 70u);
}

// Flushed tables are the newest part of the tree.
TEST(ResolveFlushCompression, UniversalFlushesAreNotCompressedWhereOnlyAPartIs) {
  ColumnFamilyOptions options;
  options.compression = kZSTD;
  options.compaction_options_universal.compression_size_percent = 80;
  EXPECT_EQ(ResolveFlushCompression(options), kZSTD) << "the style is another one";
  options.compaction_style = kCompactionStyleUniversal;
  EXPECT_EQ(ResolveFlushCompression(options), kNoCompression);
  options.compression_per_level = {kZlibCompression, kZSTD};
  EXPECT_EQ(ResolveFlushCompression(options), kNoCompression);
  EXPECT_EQ(ResolveLevel0Compression(options), kZlibCompression);
  options.compaction_options_universal.compression_size_percent = 0;
  EXPECT_EQ(ResolveFlushCompression(options), kNoCompression);
  options.compaction_options_universal.compression_size_percent = -1;
  EXPECT_EQ(ResolveFlushCompression(options), kZlibCompression);
}

struct Triggers {
  int compaction;
  int slowdown;
  int stop;
};

// Returns "slowdown, stop" of a style. Each is a number or "never".
std::string StallTriggers(const Triggers& triggers, int max_read_amp = -1,
                          CompactionStyle style = kCompactionStyleUniversal, int levels = 7) {
  ColumnFamilyOptions options;
  options.compaction_style = style;
  options.num_levels = levels;
  options.level0_file_num_compaction_trigger = triggers.compaction;
  options.level0_slowdown_writes_trigger = triggers.slowdown;
  options.level0_stop_writes_trigger = triggers.stop;
  options.compaction_options_universal.max_read_amp = max_read_amp;
  FillDefaults(&options);
  const LeveledConfig config = ResolveCompactionConfig(options, DBOptions(), kRate).common;
  const auto text = [](int trigger) {
    return trigger >= 1 << 28 ? std::string("never") : std::to_string(trigger);
  };
  return text(config.level0_slowdown_writes_trigger) + ", " +
         text(config.level0_stop_writes_trigger);
}

// An idle universal tree has as many runs as the trigger or max_read_amp. In incremental mode it
// has two.
TEST(ResolveCompactionConfig, WritersGoOnWithAsManyRunsAsUniversalCompactionLeaves) {
  EXPECT_EQ(StallTriggers({4, 20, 36}), "20, 36");
  EXPECT_EQ(StallTriggers({4, 4, 4}), "5, 5");
  EXPECT_EQ(StallTriggers({4, 2, 8}), "5, 8");
  EXPECT_EQ(StallTriggers({1, 1, 1}), "3, 3");
  EXPECT_EQ(StallTriggers({4, 20, 36}, 30), "31, 36");
  EXPECT_EQ(StallTriggers({4, 20, 36}, 40), "41, 41");
  EXPECT_EQ(StallTriggers({4, 20, 36}, INT_MAX), "never, never");
  EXPECT_EQ(StallTriggers({4, 20, 36}, 0), "20, 36") << "the picker leaves fewer";
  EXPECT_EQ(StallTriggers({4, -1, 4}), "never, 5");
  EXPECT_EQ(StallTriggers({4, -1, -1}), "never, never");
  EXPECT_EQ(StallTriggers({-1, -1, -1}), "never, never");
  EXPECT_EQ(StallTriggers({INT_MAX, INT_MAX, INT_MAX}), "never, never");
  EXPECT_EQ(StallTriggers({4, 4, 4}, -1, kCompactionStyleLevel), "4, 4")
      << "level 0 is compacted at the trigger";
  EXPECT_EQ(StallTriggers({1, 1, 1}, -1, kCompactionStyleLevel), "1, 1");
  EXPECT_EQ(StallTriggers({1, 1, 1}, -1, kCompactionStyleLevel, 1), "2, 2")
      << "one file of the only level is not compacted";
}

// Otherwise files of level 0 that are small enough to stay would stop writers for good.
TEST(ResolveCompactionConfig, WritersWaitForNoNumberOfFilesWhereNoneStartsACompaction) {
  EXPECT_EQ(StallTriggers({-1, 20, 36}, -1, kCompactionStyleLevel), "never, never");
  EXPECT_EQ(StallTriggers({-1, 1, 1}, -1, kCompactionStyleLevel, 1), "never, never");
  EXPECT_EQ(StallTriggers({100, -1, 36}, -1, kCompactionStyleLevel), "never, 100");
}

// SetOptions fills in the defaults and resolves after each change. A bulk load raises the trigger
// and then sets it back.
TEST(ResolveCompactionConfig, ALimitThatWasRaisedForAnotherIsBackWithIt) {
  ColumnFamilyOptions options;
  options.max_write_buffer_number = 6;
  options.min_write_buffer_number_to_merge = 4;
  const auto limits = [&options](int trigger, int memtables) {
    options.level0_file_num_compaction_trigger = trigger;
    options.max_write_buffer_number = memtables;
    FillDefaults(&options);
    const LeveledConfig config = ResolveCompactionConfig(options, DBOptions(), kRate).common;
    return std::to_string(config.level0_slowdown_writes_trigger) + ", " +
           std::to_string(config.level0_stop_writes_trigger) + ", " +
           std::to_string(config.min_write_buffer_number_to_merge);
  };
  EXPECT_EQ(limits(4, 6), "20, 36, 4");
  EXPECT_EQ(limits(30, 2), "30, 36, 1");
  EXPECT_EQ(limits(1000000, 0), "1000000, 1000000, 1");
  EXPECT_EQ(limits(4, 6), "20, 36, 4");
  EXPECT_EQ(options.level0_slowdown_writes_trigger, 20);
  EXPECT_EQ(options.min_write_buffer_number_to_merge, 4);
}

TEST(FillDefaults, TheLargestFilesDoNotOverflow) {
  ColumnFamilyOptions options;
  options.target_file_size_base = UINT64_MAX / 25 + 1;
  FillDefaults(&options);
  EXPECT_EQ(options.max_compaction_bytes, UINT64_MAX / 25 * 25);
}

TEST(VerifiesOutput, EachCheckOfALocalCompactionReadsTheTables) {
  using enum VerifyOutputFlags;
  const auto verifies = [](VerifyOutputFlags flags) {
    ColumnFamilyOptions options;
    options.verify_output_flags = flags;
    return VerifiesOutput(options);
  };
  for (const VerifyOutputFlags check :
       {kVerifyBlockChecksum, kVerifyIteration, kVerifyFileChecksum}) {
    EXPECT_TRUE(verifies(check | kEnableForLocalCompaction));
    EXPECT_FALSE(verifies(check));
    EXPECT_FALSE(verifies(check | kEnableForRemoteCompaction));
  }
  EXPECT_TRUE(verifies(kVerifyAll));
  EXPECT_FALSE(verifies(kVerifyNone));
  EXPECT_FALSE(verifies(kEnableForLocalCompaction));
}

// low_pri writes wait only for a backlog.
TEST(ResolveCompactionConfig, ATreeAtRestHasNoBacklog) {
  ColumnFamilyOptions universal;
  universal.compaction_style = kCompactionStyleUniversal;
  universal.compaction_options_universal.max_read_amp = 30;
  ColumnFamilyOptions fifo;
  fifo.compaction_style = kCompactionStyleFIFO;
  fifo.compaction_options_fifo.allow_compaction = true;
  for (ColumnFamilyOptions* const options : {&universal, &fifo}) {
    FillDefaults(options);
    const LeveledConfig config = ResolveCompactionConfig(*options, DBOptions(), kRate).common;
    EXPECT_FALSE(WantsMoreCompactions({.level0_files = 8}, config));
    EXPECT_FALSE(WantsMoreCompactions({.level0_files = 30}, config));
  }
  const LeveledConfig config = ResolveCompactionConfig(universal, DBOptions(), kRate).common;
  EXPECT_TRUE(WantsMoreCompactions({.level0_files = 31}, config));
}

}  // namespace
}  // namespace ashlar
