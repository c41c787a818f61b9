#include "tools/db_bench/options_from_flags.h"

#include <gtest/gtest.h>

#include "ashlar/table.h"

namespace ashlar::bench {
namespace {

// A flag whose name no option has would be left out without a word.
TEST(OptionsFromFlagsTest, FlagsReachTheOptionsAlsoUnderAnotherName) {
  Flags flags;
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
  EXPECT_NE(options.rate_limiter, nullptr);
  const auto* const table = options.table_factory->GetOptions<BlockBasedTableOptions>();
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->block_size, 5000u);
  EXPECT_EQ(table->format_version, 4u);
}

TEST(OptionsFromFlagsTest, AValueThatIsNoneIsRefused) {
  Flags flags;
  flags.max_bytes_for_level_multiplier_additional = "2,x";
  Options options;
  EXPECT_TRUE(OptionsFromFlags(flags, &options).IsInvalidArgument());
}

}  // namespace
}  // namespace ashlar::bench
