// Statistics, and the costs of the calling thread's operations.
#include "ashlar/statistics.h"

#include <algorithm>
#include <utility>

#include "capi/handles.h"
#include "capi/transfer.h"

using ashlar::PerfContext;
using ashlar::PerfLevel;
using ashlar::Statistics;
using ashlar::capi::CopyText;
using ashlar::capi::Rep;
using ashlar::capi::Wrap;

namespace {

// The member of PerfContext for each number that Ashlar counts.
constexpr std::pair<int, uint64_t PerfContext::*> kMetrics[] = {
    {rocksdb_block_cache_hit_count, &PerfContext::block_cache_hit_count},
    {rocksdb_block_read_count, &PerfContext::block_read_count},
    {rocksdb_block_read_byte, &PerfContext::block_read_byte},
    {rocksdb_block_read_time, &PerfContext::block_read_time},
    {rocksdb_block_checksum_time, &PerfContext::block_checksum_time},
    {rocksdb_block_decompress_time, &PerfContext::block_decompress_time},
    {rocksdb_get_read_bytes, &PerfContext::get_read_bytes},
    {rocksdb_multiget_read_bytes, &PerfContext::multiget_read_bytes},
    {rocksdb_iter_read_bytes, &PerfContext::iter_read_bytes},
    {rocksdb_internal_key_skipped_count, &PerfContext::internal_key_skipped_count},
    {rocksdb_internal_delete_skipped_count, &PerfContext::internal_delete_skipped_count},
    {rocksdb_internal_merge_count, &PerfContext::internal_merge_count},
    {rocksdb_get_from_memtable_time, &PerfContext::get_from_memtable_time},
    {rocksdb_get_from_memtable_count, &PerfContext::get_from_memtable_count},
    {rocksdb_get_from_output_files_time, &PerfContext::get_from_output_files_time},
    {rocksdb_seek_internal_seek_time, &PerfContext::seek_internal_seek_time},
    {rocksdb_find_next_user_entry_time, &PerfContext::find_next_user_entry_time},
    {rocksdb_write_wal_time, &PerfContext::write_wal_time},
    {rocksdb_write_memtable_time, &PerfContext::write_memtable_time},
    {rocksdb_write_delay_time, &PerfContext::write_delay_time},
    {rocksdb_merge_operator_time_nanos, &PerfContext::merge_operator_time_nanos},
    {rocksdb_bloom_sst_hit_count, &PerfContext::bloom_sst_hit_count},
    {rocksdb_bloom_sst_miss_count, &PerfContext::bloom_sst_miss_count},
    {rocksdb_env_new_sequential_file_nanos, &PerfContext::env_new_sequential_file_nanos},
    {rocksdb_env_new_random_access_file_nanos, &PerfContext::env_new_random_access_file_nanos},
    {rocksdb_env_new_writable_file_nanos, &PerfContext::env_new_writable_file_nanos},
    {rocksdb_env_reuse_writable_file_nanos, &PerfContext::env_reuse_writable_file_nanos},
    {rocksdb_env_new_random_rw_file_nanos, &PerfContext::env_new_random_rw_file_nanos},
    {rocksdb_env_new_directory_nanos, &PerfContext::env_new_directory_nanos},
    {rocksdb_env_file_exists_nanos, &PerfContext::env_file_exists_nanos},
    {rocksdb_env_get_children_nanos, &PerfContext::env_get_children_nanos},
    {rocksdb_env_get_children_file_attributes_nanos,
     &PerfContext::env_get_children_file_attributes_nanos},
    {rocksdb_env_delete_file_nanos, &PerfContext::env_delete_file_nanos},
    {rocksdb_env_create_dir_nanos, &PerfContext::env_create_dir_nanos},
    {rocksdb_env_create_dir_if_missing_nanos, &PerfContext::env_create_dir_if_missing_nanos},
    {rocksdb_env_delete_dir_nanos, &PerfContext::env_delete_dir_nanos},
    {rocksdb_env_get_file_size_nanos, &PerfContext::env_get_file_size_nanos},
    {rocksdb_env_get_file_modification_time_nanos,
     &PerfContext::env_get_file_modification_time_nanos},
    {rocksdb_env_rename_file_nanos, &PerfContext::env_rename_file_nanos},
    {rocksdb_env_link_file_nanos, &PerfContext::env_link_file_nanos},
    {rocksdb_env_lock_file_nanos, &PerfContext::env_lock_file_nanos},
    {rocksdb_env_unlock_file_nanos, &PerfContext::env_unlock_file_nanos},
    {rocksdb_env_new_logger_nanos, &PerfContext::env_new_logger_nanos},
};

// Maps levels by their meaning, because the C and C++ enumerations number them differently.
PerfLevel ToPerfLevel(int level) {
  switch (level) {
    case rocksdb_disable: return ashlar::kDisable;
    case rocksdb_enable_count: return ashlar::kEnableCount;
    case rocksdb_enable_time_except_for_mutex: return ashlar::kEnableTimeExceptForMutex;
    case rocksdb_enable_time:
    // 5 and 6 mean all times in the C++ enumeration, whose numbers some language bindings pass
    case rocksdb_out_of_bounds:
    case ashlar::kEnableTime: return ashlar::kEnableTime;
    default: return ashlar::kUninitialized;
  }
}

}  // namespace

// ---- Statistics.

void rocksdb_options_enable_statistics(rocksdb_options_t* options) noexcept {
  options->rep.statistics = ashlar::CreateDBStatistics();
}
void rocksdb_options_set_statistics_level(rocksdb_options_t* options, int level) noexcept {
  if (options->rep.statistics == nullptr) return;
  const int nearest = std::clamp<int>(level, ashlar::kDisableAll, ashlar::kAll);
  options->rep.statistics->set_stats_level(static_cast<ashlar::StatsLevel>(nearest));
}
int rocksdb_options_get_statistics_level(rocksdb_options_t* options) noexcept {
  return static_cast<int>(options->rep.statistics == nullptr
                              ? ashlar::kDisableAll
                              : options->rep.statistics->get_stats_level());
}
char* rocksdb_options_statistics_get_string(rocksdb_options_t* options) noexcept {
  return options->rep.statistics == nullptr ? nullptr
                                            : CopyText(options->rep.statistics->ToString());
}
uint64_t rocksdb_options_statistics_get_ticker_count(rocksdb_options_t* options,
                                                     uint32_t ticker_type) noexcept {
  const Statistics* const statistics = options->rep.statistics.get();
  return statistics == nullptr || ticker_type >= ashlar::TICKER_ENUM_MAX
             ? 0
             : statistics->getTickerCount(ticker_type);
}
void rocksdb_options_statistics_get_histogram_data(
    rocksdb_options_t* options, uint32_t histogram_type,
    rocksdb_statistics_histogram_data_t* const data) noexcept {
  data->rep = ashlar::HistogramData();
  const Statistics* const statistics = options->rep.statistics.get();
  if (statistics != nullptr && histogram_type < ashlar::HISTOGRAM_ENUM_MAX)
    statistics->histogramData(histogram_type, &data->rep);
}

rocksdb_statistics_histogram_data_t* rocksdb_statistics_histogram_data_create(void) noexcept {
  return new rocksdb_statistics_histogram_data_t();
}
void rocksdb_statistics_histogram_data_destroy(rocksdb_statistics_histogram_data_t* data) noexcept {
  delete data;
}
double rocksdb_statistics_histogram_data_get_median(
    rocksdb_statistics_histogram_data_t* data) noexcept {
  return data->rep.median;
}
double rocksdb_statistics_histogram_data_get_p95(
    rocksdb_statistics_histogram_data_t* data) noexcept {
  return data->rep.percentile95;
}
double rocksdb_statistics_histogram_data_get_p99(
    rocksdb_statistics_histogram_data_t* data) noexcept {
  return data->rep.percentile99;
}
double rocksdb_statistics_histogram_data_get_average(
    rocksdb_statistics_histogram_data_t* data) noexcept {
  return data->rep.average;
}
double rocksdb_statistics_histogram_data_get_std_dev(
    rocksdb_statistics_histogram_data_t* data) noexcept {
  return data->rep.standard_deviation;
}
double rocksdb_statistics_histogram_data_get_max(
    rocksdb_statistics_histogram_data_t* data) noexcept {
  return data->rep.max;
}
uint64_t rocksdb_statistics_histogram_data_get_count(
    rocksdb_statistics_histogram_data_t* data) noexcept {
  return data->rep.count;
}
uint64_t rocksdb_statistics_histogram_data_get_sum(
    rocksdb_statistics_histogram_data_t* data) noexcept {
  return data->rep.sum;
}
double rocksdb_statistics_histogram_data_get_min(
    rocksdb_statistics_histogram_data_t* data) noexcept {
  return data->rep.min;
}

// ---- The calling thread.

void rocksdb_set_perf_level(int level) noexcept {
  const PerfLevel to = ToPerfLevel(level);
  if (to != ashlar::kUninitialized) ashlar::SetPerfLevel(to);
}
rocksdb_perfcontext_t* rocksdb_perfcontext_create(void) noexcept {
  return Wrap(ashlar::get_perf_context());
}
void rocksdb_perfcontext_destroy(rocksdb_perfcontext_t* /*context*/) noexcept {
}  // belongs to the thread
void rocksdb_perfcontext_reset(rocksdb_perfcontext_t* context) noexcept { Rep(context)->Reset(); }
uint64_t rocksdb_perfcontext_metric(rocksdb_perfcontext_t* context, int metric) noexcept {
  for (const auto& [number, member] : kMetrics) {
    if (number == metric) return Rep(context)->*member;
  }
  return 0;
}
char* rocksdb_perfcontext_report(rocksdb_perfcontext_t* context,
                                 unsigned char exclude_zero_counters) noexcept {
  return CopyText(Rep(context)->ToString(exclude_zero_counters != 0));
}
