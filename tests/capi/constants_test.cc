// Constants of RocksDB 11.8.1's C interface for features that Ashlar lacks. They have RocksDB's
// numbers, and functions accept them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string>

#include "ashlar/c.h"
#include "ashlar/perf_context.h"

namespace ashlar {
namespace {

struct Constant {
  int value;
  int number;  // RocksDB's
};

// Declared with RocksDB's mark, as programs do.
ROCKSDB_LIBRARY_API bool IsRocksDbs(const Constant& constant) {
  return constant.value == constant.number;
}

constexpr Constant kMetricsNotCounted[] = {
    {rocksdb_user_key_comparison_count, 0},
    {rocksdb_internal_recent_skipped_count, 12},
    {rocksdb_get_snapshot_time, 14},
    {rocksdb_get_post_process_time, 17},
    {rocksdb_seek_on_memtable_time, 19},
    {rocksdb_seek_on_memtable_count, 20},
    {rocksdb_next_on_memtable_count, 21},
    {rocksdb_prev_on_memtable_count, 22},
    {rocksdb_seek_child_seek_time, 23},
    {rocksdb_seek_child_seek_count, 24},
    {rocksdb_seek_min_heap_time, 25},
    {rocksdb_seek_max_heap_time, 26},
    {rocksdb_write_pre_and_post_process_time, 32},
    {rocksdb_db_mutex_lock_nanos, 33},
    {rocksdb_db_condition_wait_nanos, 34},
    {rocksdb_read_index_block_nanos, 36},
    {rocksdb_read_filter_block_nanos, 37},
    {rocksdb_new_table_block_iter_nanos, 38},
    {rocksdb_new_table_iterator_nanos, 39},
    {rocksdb_block_seek_nanos, 40},
    {rocksdb_find_table_nanos, 41},
    {rocksdb_bloom_memtable_hit_count, 42},
    {rocksdb_bloom_memtable_miss_count, 43},
    {rocksdb_key_lock_wait_time, 46},
    {rocksdb_key_lock_wait_count, 47},
    {rocksdb_number_async_seek, 68},
    {rocksdb_blob_cache_hit_count, 69},
    {rocksdb_blob_read_count, 70},
    {rocksdb_blob_read_byte, 71},
    {rocksdb_blob_read_time, 72},
    {rocksdb_blob_checksum_time, 73},
    {rocksdb_blob_decompress_time, 74},
    {rocksdb_internal_range_del_reseek_count, 75},
    {rocksdb_block_read_cpu_time, 76},
    {rocksdb_internal_merge_point_lookup_count, 77},
    {rocksdb_data_block_read_byte, 78},
    {rocksdb_index_block_read_byte, 79},
    {rocksdb_filter_block_read_byte, 80},
    {rocksdb_compression_dict_block_read_byte, 81},
    {rocksdb_metadata_block_read_byte, 82},
    {rocksdb_blob_cache_read_byte, 83},
};

constexpr Constant kOthers[] = {
    {rocksdb_block_based_table_index_block_search_type_binary, 0},
    {rocksdb_block_based_table_index_block_search_type_interpolation, 1},
    {rocksdb_block_based_table_index_block_search_type_auto, 2},
    {rocksdb_trace_filter_none, 0},
    {rocksdb_trace_filter_get, 1},
    {rocksdb_trace_filter_write, 2},
    {rocksdb_trace_filter_iterator_seek, 4},
    {rocksdb_trace_filter_iterator_seek_for_prev, 8},
    {rocksdb_trace_filter_multi_get, 16},
    {rocksdb_txndb_write_policy_write_committed, 0},
    {rocksdb_txndb_write_policy_write_prepared, 1},
    {rocksdb_txndb_write_policy_write_unprepared, 2},
    {rocksdb_compactionservice_jobstatus_success, 0},
    {rocksdb_compactionservice_jobstatus_failure, 1},
    {rocksdb_compactionservice_jobstatus_aborted, 2},
    {rocksdb_compactionservice_jobstatus_use_local, 3},
};

TEST(Constants, HaveTheNumbersOfRocksDB) {
  for (const Constant& metric : kMetricsNotCounted)
    EXPECT_TRUE(IsRocksDbs(metric)) << metric.number;
  for (const Constant& other : kOthers) EXPECT_TRUE(IsRocksDbs(other)) << &other - kOthers;
  EXPECT_EQ(rocksdb_total_metric_count, 86);
}

TEST(Constants, MetricsThatAreNotCountedAreZero) {
  rocksdb_perfcontext_t* const context = rocksdb_perfcontext_create();
  std::memset(static_cast<void*>(get_perf_context()), 1, sizeof(PerfContext));
  for (int number = 0; number <= rocksdb_blob_cache_read_byte; ++number) {
    const bool is_counted =
        std::none_of(std::begin(kMetricsNotCounted), std::end(kMetricsNotCounted),
                     [&](const Constant& metric) { return metric.number == number; });
    EXPECT_EQ(rocksdb_perfcontext_metric(context, number) != 0, is_counted) << number;
  }
  for (const int number : {-1, rocksdb_blob_cache_read_byte + 1, int{rocksdb_total_metric_count}})
    EXPECT_EQ(rocksdb_perfcontext_metric(context, number), 0u) << number;
  rocksdb_perfcontext_reset(context);
  rocksdb_perfcontext_destroy(context);
}

TEST(Constants, EverySearchOfAnIndexIsAccepted) {
  const std::string directory = ::testing::TempDir() + "ashlar_c_index_searches";
  for (const int search : {rocksdb_block_based_table_index_block_search_type_binary,
                           rocksdb_block_based_table_index_block_search_type_interpolation,
                           rocksdb_block_based_table_index_block_search_type_auto}) {
    SCOPED_TRACE(search);
    std::filesystem::remove_all(directory);
    rocksdb_options_t* const options = rocksdb_options_create();
    rocksdb_options_set_create_if_missing(options, 1);
    rocksdb_block_based_table_options_t* const table = rocksdb_block_based_options_create();
    rocksdb_block_based_options_set_index_block_search_type(table, search);
    EXPECT_EQ(rocksdb_block_based_options_get_index_block_search_type(table), search);
    rocksdb_options_set_block_based_table_factory(options, table);
    char* error = nullptr;
    rocksdb_t* const db = rocksdb_open(options, directory.c_str(), &error);
    EXPECT_EQ(error, nullptr) << error;
    if (db != nullptr) rocksdb_close(db);
    rocksdb_free(error);
    rocksdb_block_based_options_destroy(table);
    rocksdb_options_destroy(options);
  }
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace ashlar
