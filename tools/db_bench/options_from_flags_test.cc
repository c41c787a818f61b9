#include "tools/db_bench/options_from_flags.h"

#include <gtest/gtest.h>

#include "ashlar/file_checksum.h"
#include "ashlar/table.h"

namespace ashlar::bench {
namespace {

// A build may lack the default codec.
Flags FlagsWithoutCompression() {
  Flags flags;
  flags.compression_type = "none";
  return flags;
}

// Otherwise a flag whose name no option has would be ignored silently.
TEST(OptionsFromFlagsTest, FlagsReachTheOptionsAlsoUnderAnotherName) {
  Flags flags = FlagsWithoutCompression();
  flags.file_opening_threads = 3;
  flags.memtable_bloom_size_ratio = 0.125;
  flags.mmap_read = true;
  flags.mmap_write = true;
  flags.open_files = 77;
  flags.subcompactions = 5;
  flags.ttl_seconds = 88;
  flags.max_bytes_for_level_multiplier_additional = "2,3";
  flags.compaction_style = kCompactionStyleFIFO;
  flags.compaction_pri = kOldestLargestSeqFirst;
  flags.write_buffer_size = 123456;
  flags.bytes_per_sync = 4321;
  flags.block_size = 5000;
  flags.format_version = 4;
  flags.rate_limiter_bytes_per_sec = 1000000;
  flags.rate_limiter_auto_tuned = true;
  flags.rate_limiter_single_burst_bytes = 1234;
  flags.rate_limit_bg_reads = true;
  flags.file_checksum = true;
  Options options;
  const Status made = OptionsFromFlags(flags, &options);
  ASSERT_TRUE(made.ok()) << made.ToString();
  EXPECT_EQ(options.max_file_opening_threads, 3);
  EXPECT_EQ(options.memtable_prefix_bloom_size_ratio, 0.125);
  EXPECT_TRUE(options.allow_mmap_reads);
  EXPECT_TRUE(options.allow_mmap_writes);
  EXPECT_EQ(options.max_open_files, 77);
  EXPECT_EQ(options.max_subcompactions, 5u);
  EXPECT_EQ(options.ttl, 88u);
  EXPECT_EQ(options.max_bytes_for_level_multiplier_additional, (std::vector<int>{2, 3}));
  EXPECT_EQ(options.compaction_style, kCompactionStyleFIFO);
  EXPECT_EQ(options.compaction_pri, kOldestLargestSeqFirst);
  EXPECT_EQ(options.write_buffer_size, 123456u);
  EXPECT_EQ(options.bytes_per_sync, 4321u);
  ASSERT_NE(options.rate_limiter, nullptr);
  EXPECT_EQ(options.rate_limiter->GetBytesPerSecond(), 500000);
  EXPECT_EQ(options.rate_limiter->GetSingleBurstBytes(), 1234);
  EXPECT_TRUE(options.rate_limiter->IsRateLimited(RateLimiter::OpType::kRead));
  EXPECT_FALSE(options.rate_limiter->IsRateLimited(RateLimiter::OpType::kWrite));
  EXPECT_EQ(options.file_checksum_gen_factory, GetFileChecksumGenCrc32cFactory());
  const auto* const table = options.table_factory->GetOptions<BlockBasedTableOptions>();
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->block_size, 5000u);
  EXPECT_EQ(table->format_version, 4u);
}

TEST(OptionsFromFlagsTest, StylesAndLayoutsReachTheOptions) {
  Flags flags = FlagsWithoutCompression();
  flags.compaction_style = kCompactionStyleUniversal;
  flags.universal_size_ratio = 7;
  flags.universal_min_merge_width = 3;
  flags.universal_max_merge_width = 9;
  flags.universal_max_size_amplification_percent = 50;
  flags.universal_compression_size_percent = 80;
  flags.universal_allow_trivial_move = true;
  flags.universal_incremental = true;
  flags.universal_stop_style = kCompactionStopStyleSimilarSize;
  flags.universal_max_read_amp = 12;
  flags.partition_index_and_filters = true;
  flags.metadata_block_size = 1000;
  flags.use_ribbon_filter = true;
  flags.bloom_bits = 10;
  Options options;
  ASSERT_TRUE(OptionsFromFlags(flags, &options).ok());
  const CompactionOptionsUniversal& universal = options.compaction_options_universal;
  EXPECT_EQ(universal.size_ratio, 7u);
  EXPECT_EQ(universal.min_merge_width, 3u);
  EXPECT_EQ(universal.max_merge_width, 9u);
  EXPECT_EQ(universal.max_size_amplification_percent, 50u);
  EXPECT_EQ(universal.compression_size_percent, 80);
  EXPECT_TRUE(universal.allow_trivial_move && universal.incremental);
  EXPECT_EQ(universal.stop_style, kCompactionStopStyleSimilarSize);
  EXPECT_EQ(universal.max_read_amp, 12);
  const auto* const table = options.table_factory->GetOptions<BlockBasedTableOptions>();
  EXPECT_EQ(table->index_type, BlockBasedTableOptions::kTwoLevelIndexSearch);
  EXPECT_TRUE(table->partition_filters);
  EXPECT_EQ(table->metadata_block_size, 1000u);
  EXPECT_TRUE(table->filter_policy->GetId().starts_with("ribbonfilter:10"));

  Flags fifo = FlagsWithoutCompression();
  fifo.compaction_style = kCompactionStyleFIFO;
  fifo.fifo_compaction_max_table_files_size_mb = 5;
  fifo.fifo_compaction_max_data_files_size_mb = 6;
  fifo.fifo_compaction_allow_compaction = false;
  fifo.fifo_compaction_ttl = 99;
  ASSERT_TRUE(OptionsFromFlags(fifo, &options).ok());
  EXPECT_EQ(options.compaction_options_fifo.max_table_files_size, uint64_t{5} << 20);
  EXPECT_EQ(options.compaction_options_fifo.max_data_files_size, uint64_t{6} << 20);
  EXPECT_FALSE(options.compaction_options_fifo.allow_compaction);
  EXPECT_EQ(options.ttl, 99u);
  EXPECT_EQ(options.compaction_options_universal.size_ratio, 1u) << "0 keeps the default";
}

TEST(OptionsFromFlagsTest, DictionariesReachTheOptions) {
  Flags flags = FlagsWithoutCompression();
  Options options;
  ASSERT_TRUE(OptionsFromFlags(flags, &options).ok());
  EXPECT_TRUE(options.compression_opts.use_zstd_dict_trainer) << "the default of both";
  flags.compression_max_dict_bytes = 1000;
  flags.compression_zstd_max_train_bytes = 50000;
  flags.compression_max_dict_buffer_bytes = 70000;
  flags.compression_use_zstd_dict_trainer = false;
  ASSERT_TRUE(OptionsFromFlags(flags, &options).ok());
  EXPECT_EQ(options.compression_opts.max_dict_bytes, 1000u);
  EXPECT_EQ(options.compression_opts.zstd_max_train_bytes, 50000u);
  EXPECT_EQ(options.compression_opts.max_dict_buffer_bytes, 70000u);
  EXPECT_FALSE(options.compression_opts.use_zstd_dict_trainer);
}

TEST(OptionsFromFlagsTest, AFolderMayHaveBackslashes) {
  Flags flags = FlagsWithoutCompression();
  flags.wal_dir = "C:\\new\\logs";
  Options options;
  ASSERT_TRUE(OptionsFromFlags(flags, &options).ok());
  EXPECT_EQ(options.wal_dir, flags.wal_dir);
}

TEST(OptionsFromFlagsTest, AValueThatIsNoneIsRefused) {
  Flags flags = FlagsWithoutCompression();
  flags.max_bytes_for_level_multiplier_additional = "2,x";
  Options options;
  EXPECT_TRUE(OptionsFromFlags(flags, &options).IsInvalidArgument());
}

}  // namespace
}  // namespace ashlar::bench
