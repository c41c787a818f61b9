// Options of a database and its column families.
#include <algorithm>

#include "ashlar/convenience.h"
#include "ashlar/table_properties_collectors.h"
#include "capi/accessors.h"
#include "capi/transfer.h"

using ashlar::CompressionOptions;
using ashlar::Options;
using ashlar::capi::Assign;
using ashlar::capi::BorrowText;
using ashlar::capi::Check;
using ashlar::capi::Rep;

namespace {

void SetCompression(CompressionOptions* options, int window_bits, int level, int strategy,
                    int max_dict_bytes) {
  options->window_bits = window_bits;
  options->level = level;
  options->strategy = strategy;
  Assign(&options->max_dict_bytes, max_dict_bytes);
}

std::vector<ashlar::DbPath> Paths(const rocksdb_dbpath_t** path_values, size_t num_paths) {
  std::vector<ashlar::DbPath> paths;
  for (size_t i = 0; i < num_paths; ++i) paths.push_back(path_values[i]->rep);
  return paths;
}

}  // namespace

// ---- The object.

ASHLAR_C_CREATE_AND_DESTROY(options)
rocksdb_options_t* rocksdb_options_create_copy(rocksdb_options_t* options) noexcept {
  return new rocksdb_options_t(*options);
}

void rocksdb_get_options_from_string(const rocksdb_options_t* base_options, const char* text,
                                     rocksdb_options_t* new_options, char** errptr) noexcept {
  Check(errptr, ashlar::GetOptionsFromString(base_options->rep, text, &new_options->rep));
}

void rocksdb_options_increase_parallelism(rocksdb_options_t* options, int total_threads) noexcept {
  options->rep.IncreaseParallelism(total_threads);
}
void rocksdb_options_optimize_for_point_lookup(rocksdb_options_t* options,
                                               uint64_t block_cache_size_mb) noexcept {
  options->rep.OptimizeForPointLookup(block_cache_size_mb);
}
void rocksdb_options_optimize_level_style_compaction(rocksdb_options_t* options,
                                                     uint64_t memtable_memory_budget) noexcept {
  options->rep.OptimizeLevelStyleCompaction(memtable_memory_budget);
}
void rocksdb_options_optimize_universal_style_compaction(rocksdb_options_t* options,
                                                         uint64_t memtable_memory_budget) noexcept {
  options->rep.OptimizeUniversalStyleCompaction(memtable_memory_budget);
}
void rocksdb_options_prepare_for_bulk_load(rocksdb_options_t* options) noexcept {
  options->rep.PrepareForBulkLoad();
}

// ---- Options that are not plain values.

void rocksdb_options_set_env(rocksdb_options_t* options, rocksdb_env_t* env) noexcept {
  options->rep.env = env == nullptr ? ashlar::Env::Default() : env->rep;
}
void rocksdb_options_set_info_log(rocksdb_options_t* options, rocksdb_logger_t* logger) noexcept {
  options->rep.info_log = logger == nullptr ? nullptr : logger->rep;
}
rocksdb_logger_t* rocksdb_options_get_info_log(rocksdb_options_t* options) noexcept {
  return new rocksdb_logger_t{options->rep.info_log};
}
void rocksdb_options_set_ratelimiter(rocksdb_options_t* options,
                                     rocksdb_ratelimiter_t* limiter) noexcept {
  options->rep.rate_limiter = limiter == nullptr ? nullptr : limiter->rep;
}
void rocksdb_options_set_sst_file_manager(rocksdb_options_t* options,
                                          rocksdb_sst_file_manager_t* manager) noexcept {
  options->rep.sst_file_manager = manager == nullptr ? nullptr : manager->rep;
}
void rocksdb_options_set_write_buffer_manager(rocksdb_options_t* options,
                                              rocksdb_write_buffer_manager_t* manager) noexcept {
  options->rep.write_buffer_manager = manager == nullptr ? nullptr : manager->rep;
}
void rocksdb_options_set_comparator(rocksdb_options_t* options,
                                    rocksdb_comparator_t* comparator) noexcept {
  options->rep.comparator = comparator == nullptr ? ashlar::BytewiseComparator() : Rep(comparator);
}
void rocksdb_options_set_compaction_filter(rocksdb_options_t* options,
                                           rocksdb_compactionfilter_t* filter) noexcept {
  options->rep.compaction_filter = Rep(filter);
}
void rocksdb_options_set_wal_filter(rocksdb_options_t* options,
                                    rocksdb_walfilter_t* filter) noexcept {
  options->rep.wal_filter = Rep(filter);
}
void rocksdb_options_clear_wal_filter(rocksdb_options_t* options) noexcept {
  options->rep.wal_filter = nullptr;
}
void rocksdb_options_set_compaction_filter_factory(
    rocksdb_options_t* options, rocksdb_compactionfilterfactory_t* factory) noexcept {
  options->rep.compaction_filter_factory.reset(Rep(factory));
}
rocksdb_sst_partitioner_factory_t* rocksdb_sst_partitioner_fixed_prefix_factory_create(
    size_t prefix_len) noexcept {
  return new rocksdb_sst_partitioner_factory_t{
      ashlar::NewSstPartitionerFixedPrefixFactory(prefix_len)};
}
void rocksdb_sst_partitioner_factory_destroy(rocksdb_sst_partitioner_factory_t* factory) noexcept {
  delete factory;
}
void rocksdb_options_set_sst_partitioner_factory(
    rocksdb_options_t* options, rocksdb_sst_partitioner_factory_t* factory) noexcept {
  options->rep.sst_partitioner_factory = factory == nullptr ? nullptr : factory->rep;
}
rocksdb_file_checksum_gen_factory_t* rocksdb_file_checksum_gen_crc32c_factory_create(
    void) noexcept {
  return new rocksdb_file_checksum_gen_factory_t{ashlar::GetFileChecksumGenCrc32cFactory()};
}
void rocksdb_file_checksum_gen_factory_destroy(
    rocksdb_file_checksum_gen_factory_t* factory) noexcept {
  delete factory;
}
void rocksdb_options_set_file_checksum_gen_factory(
    rocksdb_options_t* options, rocksdb_file_checksum_gen_factory_t* factory) noexcept {
  options->rep.file_checksum_gen_factory = factory == nullptr ? nullptr : factory->rep;
}
void rocksdb_options_set_merge_operator(rocksdb_options_t* options,
                                        rocksdb_mergeoperator_t* merge_operator) noexcept {
  options->rep.merge_operator.reset(Rep(merge_operator));
}
void rocksdb_options_set_uint64add_merge_operator(rocksdb_options_t* options) noexcept {
  options->rep.merge_operator = ashlar::MergeOperators::CreateUInt64AddOperator();
}
void rocksdb_options_add_compact_on_deletion_collector_factory(rocksdb_options_t* options,
                                                               size_t window_size,
                                                               size_t num_dels_trigger) noexcept {
  rocksdb_options_add_compact_on_deletion_collector_factory_min_file_size(options, window_size,
                                                                          num_dels_trigger, 0, 0);
}
void rocksdb_options_add_compact_on_deletion_collector_factory_del_ratio(
    rocksdb_options_t* options, size_t window_size, size_t num_dels_trigger,
    double deletion_ratio) noexcept {
  rocksdb_options_add_compact_on_deletion_collector_factory_min_file_size(
      options, window_size, num_dels_trigger, deletion_ratio, 0);
}
void rocksdb_options_add_compact_on_deletion_collector_factory_min_file_size(
    rocksdb_options_t* options, size_t window_size, size_t num_dels_trigger, double deletion_ratio,
    uint64_t min_file_size) noexcept {
  options->rep.table_properties_collector_factories.push_back(
      ashlar::NewCompactOnDeletionCollectorFactory(window_size, num_dels_trigger, deletion_ratio,
                                                   min_file_size));
}
void rocksdb_options_add_table_properties_collector_factory(
    rocksdb_options_t* options, rocksdb_table_properties_collector_factory_t* factory) noexcept {
  if (factory != nullptr) options->rep.table_properties_collector_factories.push_back(factory->rep);
}
void rocksdb_table_properties_collector_factory_destroy(
    rocksdb_table_properties_collector_factory_t* factory) noexcept {
  delete factory;
}
void rocksdb_options_set_prefix_extractor(rocksdb_options_t* options,
                                          rocksdb_slicetransform_t* transform) noexcept {
  options->rep.prefix_extractor.reset(Rep(transform));
}
void rocksdb_options_set_hash_skip_list_rep(rocksdb_options_t* options, size_t bucket_count,
                                            int32_t skiplist_height,
                                            int32_t skiplist_branching_factor) noexcept {
  options->rep.memtable_factory.reset(
      ashlar::NewHashSkipListRepFactory(bucket_count, skiplist_height, skiplist_branching_factor));
}
void rocksdb_options_set_hash_link_list_rep(rocksdb_options_t* options,
                                            size_t bucket_count) noexcept {
  options->rep.memtable_factory.reset(ashlar::NewHashLinkListRepFactory(bucket_count));
}
void rocksdb_options_set_memtable_vector_rep(rocksdb_options_t* options) noexcept {
  options->rep.memtable_factory = std::make_shared<ashlar::VectorRepFactory>();
}
void rocksdb_options_set_blob_cache(rocksdb_options_t* options,
                                    rocksdb_cache_t* blob_cache) noexcept {
  options->rep.blob_cache = blob_cache == nullptr ? nullptr : blob_cache->rep;
}

void rocksdb_options_set_db_log_dir(rocksdb_options_t* options, const char* value) noexcept {
  options->rep.db_log_dir = value;
}
const char* rocksdb_options_get_db_log_dir(rocksdb_options_t* options, size_t* size) noexcept {
  return BorrowText(&options->rep.db_log_dir, size);
}
void rocksdb_options_set_wal_dir(rocksdb_options_t* options, const char* value) noexcept {
  options->rep.wal_dir = value;
}
const char* rocksdb_options_get_wal_dir(rocksdb_options_t* options, size_t* size) noexcept {
  return BorrowText(&options->rep.wal_dir, size);
}
void rocksdb_options_set_db_host_id(rocksdb_options_t* options, const char* value) noexcept {
  options->rep.db_host_id = value;
}
const char* rocksdb_options_get_db_host_id(rocksdb_options_t* options, size_t* size) noexcept {
  return BorrowText(&options->rep.db_host_id, size);
}

void rocksdb_options_set_db_paths(rocksdb_options_t* options, const rocksdb_dbpath_t** path_values,
                                  size_t num_paths) noexcept {
  options->rep.db_paths = Paths(path_values, num_paths);
}
void rocksdb_options_set_cf_paths(rocksdb_options_t* options, const rocksdb_dbpath_t** path_values,
                                  size_t num_paths) noexcept {
  options->rep.cf_paths = Paths(path_values, num_paths);
}
rocksdb_dbpath_t* rocksdb_dbpath_create(const char* path, uint64_t target_size) noexcept {
  return new rocksdb_dbpath_t{{path, target_size}};
}
void rocksdb_dbpath_destroy(rocksdb_dbpath_t* path) noexcept { delete path; }

void rocksdb_options_set_max_bytes_for_level_multiplier_additional(rocksdb_options_t* options,
                                                                   int* level_values,
                                                                   size_t num_levels) noexcept {
  options->rep.max_bytes_for_level_multiplier_additional.assign(level_values,
                                                                level_values + num_levels);
}
void rocksdb_options_set_compression_per_level(rocksdb_options_t* options, const int* level_values,
                                               size_t num_levels) noexcept {
  options->rep.compression_per_level.resize(num_levels);
  for (size_t i = 0; i < num_levels; ++i)
    Assign(&options->rep.compression_per_level[i], level_values[i]);
}
void rocksdb_options_set_min_level_to_compress(rocksdb_options_t* options, int level) noexcept {
  if (level < 0) return;
  Options& rep = options->rep;
  rep.compression_per_level.assign(static_cast<size_t>(rep.num_levels), rep.compression);
  std::fill_n(rep.compression_per_level.begin(), std::min(level, rep.num_levels),
              ashlar::kNoCompression);
}
void rocksdb_options_set_compression_options(rocksdb_options_t* options, int window_bits, int level,
                                             int strategy, int max_dict_bytes) noexcept {
  SetCompression(&options->rep.compression_opts, window_bits, level, strategy, max_dict_bytes);
}
void rocksdb_options_set_bottommost_compression_options(rocksdb_options_t* options, int window_bits,
                                                        int level, int strategy, int max_dict_bytes,
                                                        unsigned char enabled) noexcept {
  SetCompression(&options->rep.bottommost_compression_opts, window_bits, level, strategy,
                 max_dict_bytes);
  options->rep.bottommost_compression_opts.enabled = enabled != 0;
}
void rocksdb_options_set_bottommost_compression_options_zstd_max_train_bytes(
    rocksdb_options_t* options, int zstd_max_train_bytes, unsigned char enabled) noexcept {
  Assign(&options->rep.bottommost_compression_opts.zstd_max_train_bytes, zstd_max_train_bytes);
  options->rep.bottommost_compression_opts.enabled = enabled != 0;
}
void rocksdb_options_set_bottommost_compression_options_use_zstd_dict_trainer(
    rocksdb_options_t* options, unsigned char use_zstd_dict_trainer,
    unsigned char enabled) noexcept {
  options->rep.bottommost_compression_opts.use_zstd_dict_trainer = use_zstd_dict_trainer != 0;
  options->rep.bottommost_compression_opts.enabled = enabled != 0;
}
void rocksdb_options_set_bottommost_compression_options_max_dict_buffer_bytes(
    rocksdb_options_t* options, uint64_t max_dict_buffer_bytes, unsigned char enabled) noexcept {
  options->rep.bottommost_compression_opts.max_dict_buffer_bytes = max_dict_buffer_bytes;
  options->rep.bottommost_compression_opts.enabled = enabled != 0;
}

// The setter's name has no "set" in it.
void rocksdb_options_compaction_readahead_size(rocksdb_options_t* options, size_t value) noexcept {
  options->rep.compaction_readahead_size = value;
}
ASHLAR_C_GETTER(options, compaction_readahead_size, size_t)

void rocksdb_options_set_universal_compaction_options(
    rocksdb_options_t* options, rocksdb_universal_compaction_options_t* universal) noexcept {
  if (universal != nullptr) options->rep.compaction_options_universal = universal->rep;
}
void rocksdb_options_set_fifo_compaction_options(rocksdb_options_t* options,
                                                 rocksdb_fifo_compaction_options_t* fifo) noexcept {
  if (fifo != nullptr) options->rep.compaction_options_fifo = fifo->rep;
}

// An option that is a set of enumerators. A number that is no enumerator is not added.
#define ASHLAR_C_ENUM_SET(object, set)                                                            \
  void rocksdb_##object##_##set##_add(ashlar::capi::object##_t* options, int value) noexcept {    \
    ashlar::capi::AddTo(&options->rep.set, value);                                                \
  }                                                                                               \
  void rocksdb_##object##_##set##_remove(ashlar::capi::object##_t* options, int value) noexcept { \
    ashlar::capi::RemoveFrom(&options->rep.set, value);                                           \
  }                                                                                               \
  unsigned char rocksdb_##object##_##set##_contains(ashlar::capi::object##_t* options,            \
                                                    int value) noexcept {                         \
    return ashlar::capi::IsIn(options->rep.set, value) ? 1 : 0;                                   \
  }                                                                                               \
  size_t rocksdb_##object##_##set##_count(ashlar::capi::object##_t* options) noexcept {           \
    return options->rep.set.count();                                                              \
  }                                                                                               \
  void rocksdb_##object##_##set##_clear(ashlar::capi::object##_t* options) noexcept {             \
    options->rep.set = {};                                                                        \
  }

// ---- Options that are plain values.

// Opening and checking.
ASHLAR_C_ACCESSORS(options, create_if_missing, unsigned char)
ASHLAR_C_ACCESSORS(options, create_missing_column_families, unsigned char)
ASHLAR_C_ACCESSORS(options, error_if_exists, unsigned char)
ASHLAR_C_ACCESSORS(options, paranoid_checks, unsigned char)
ASHLAR_C_ACCESSORS(options, paranoid_file_checks, unsigned char)
ASHLAR_C_ACCESSORS(options, force_consistency_checks, unsigned char)
ASHLAR_C_ACCESSORS(options, best_efforts_recovery, unsigned char)
ASHLAR_C_ACCESSORS(options, skip_checking_sst_file_sizes_on_db_open, unsigned char)
ASHLAR_C_ACCESSORS(options, skip_stats_update_on_db_open, unsigned char)
ASHLAR_C_ACCESSORS(options, allow_ingest_behind, unsigned char)
ASHLAR_C_ACCESSORS(options, flush_verify_memtable_count, unsigned char)
ASHLAR_C_ACCESSORS(options, track_and_verify_wals_in_manifest, unsigned char)
ASHLAR_C_ACCESSORS(options, verify_sst_unique_id_in_manifest, unsigned char)
ASHLAR_C_ACCESSORS(options, enforce_single_del_contracts, unsigned char)
ASHLAR_C_ACCESSORS(options, write_dbid_to_manifest, unsigned char)
// The environment: files and threads, the LOG, limits.
ASHLAR_C_ACCESSORS(options, info_log_level, int)
ASHLAR_C_ACCESSORS(options, max_log_file_size, size_t)
ASHLAR_C_ACCESSORS(options, log_file_time_to_roll, size_t)
ASHLAR_C_ACCESSORS(options, keep_log_file_num, size_t)
ASHLAR_C_ACCESSORS(options, allow_data_in_errors, unsigned char)
// Files.
ASHLAR_C_ACCESSORS(options, max_open_files, int)
ASHLAR_C_ACCESSORS(options, max_file_opening_threads, int)
ASHLAR_C_ACCESSORS(options, table_cache_numshardbits, int)
ASHLAR_C_ACCESSORS(options, use_fsync, int)
ASHLAR_C_ACCESSORS(options, allow_fallocate, unsigned char)
ASHLAR_C_ACCESSORS(options, allow_mmap_reads, unsigned char)
ASHLAR_C_ACCESSORS(options, allow_mmap_writes, unsigned char)
ASHLAR_C_ACCESSORS(options, use_direct_reads, unsigned char)
ASHLAR_C_ACCESSORS(options, use_direct_io_for_flush_and_compaction, unsigned char)
ASHLAR_C_ACCESSORS(options, is_fd_close_on_exec, unsigned char)
ASHLAR_C_ACCESSORS(options, advise_random_on_open, unsigned char)
ASHLAR_C_ACCESSORS(options, access_hint_on_compaction_start, int)
ASHLAR_C_ACCESSORS(options, writable_file_max_buffer_size, uint64_t)
ASHLAR_C_ACCESSORS(options, bytes_per_sync, uint64_t)
ASHLAR_C_ACCESSORS(options, wal_bytes_per_sync, uint64_t)
ASHLAR_C_ACCESSORS(options, strict_bytes_per_sync, unsigned char)
ASHLAR_C_ACCESSORS(options, log_readahead_size, size_t)
ASHLAR_C_ACCESSORS(options, delete_obsolete_files_period_micros, uint64_t)
ASHLAR_C_ACCESSORS(options, max_manifest_file_size, size_t)
ASHLAR_C_ACCESSORS(options, manifest_preallocation_size, size_t)
ASHLAR_C_ACCESSORS(options, avoid_unnecessary_blocking_io, unsigned char)
// The log.
ASHLAR_C_ACCESSORS(options, wal_recovery_mode, int)
ASHLAR_C_ACCESSORS(options, max_total_wal_size, uint64_t)
ASHLAR_C_ACCESSORS(options, manual_wal_flush, unsigned char)
ASHLAR_C_ACCESSORS(options, wal_compression, int)
ASHLAR_C_ACCESSORS(options, WAL_ttl_seconds, uint64_t)
ASHLAR_C_ACCESSORS(options, WAL_size_limit_MB, uint64_t)
ASHLAR_C_ACCESSORS(options, recycle_log_file_num, size_t)
ASHLAR_C_ACCESSORS(options, avoid_flush_during_recovery, unsigned char)
ASHLAR_C_ACCESSORS(options, avoid_flush_during_shutdown, unsigned char)
// Background work.
ASHLAR_C_ACCESSORS(options, max_background_jobs, int)
ASHLAR_C_ACCESSORS(options, max_background_compactions, int)
ASHLAR_C_ACCESSORS(options, max_background_flushes, int)
ASHLAR_C_ACCESSORS(options, max_subcompactions, uint32_t)
ASHLAR_C_ACCESSORS(options, max_bgerror_resume_count, int)
ASHLAR_C_ACCESSORS(options, bgerror_resume_retry_interval, uint64_t)
ASHLAR_C_ACCESSORS(options, delayed_write_rate, uint64_t)
// Writing.
ASHLAR_C_ACCESSORS(options, db_write_buffer_size, size_t)
ASHLAR_C_ACCESSORS(options, max_write_batch_group_size_bytes, uint64_t)
ASHLAR_C_ACCESSORS(options, enable_pipelined_write, unsigned char)
ASHLAR_C_ACCESSORS(options, unordered_write, unsigned char)
ASHLAR_C_ACCESSORS(options, two_write_queues, unsigned char)
ASHLAR_C_ACCESSORS(options, allow_2pc, unsigned char)
ASHLAR_C_ACCESSORS(options, atomic_flush, unsigned char)
ASHLAR_C_ACCESSORS(options, allow_concurrent_memtable_write, unsigned char)
ASHLAR_C_ACCESSORS(options, enable_write_thread_adaptive_yield, unsigned char)
ASHLAR_C_ACCESSORS(options, write_thread_max_yield_usec, uint64_t)
ASHLAR_C_ACCESSORS(options, write_thread_slow_yield_usec, uint64_t)
ASHLAR_C_ACCESSORS(options, use_adaptive_mutex, unsigned char)
ASHLAR_C_ACCESSORS(options, enable_thread_tracking, unsigned char)
ASHLAR_C_ACCESSORS(options, dump_malloc_stats, unsigned char)
ASHLAR_C_ACCESSORS(options, lowest_used_cache_tier, int)
// Statistics in the LOG.
ASHLAR_C_ACCESSORS(options, stats_dump_period_sec, unsigned int)
ASHLAR_C_ACCESSORS(options, stats_persist_period_sec, unsigned int)
ASHLAR_C_ACCESSORS(options, persist_stats_to_disk, unsigned char)
ASHLAR_C_ACCESSORS(options, stats_history_buffer_size, size_t)
// Memtables.
ASHLAR_C_ACCESSORS(options, write_buffer_size, size_t)
ASHLAR_C_ACCESSORS(options, max_write_buffer_number, int)
ASHLAR_C_ACCESSORS(options, min_write_buffer_number_to_merge, int)
ASHLAR_C_ACCESSORS(options, max_write_buffer_number_to_maintain, int)
ASHLAR_C_ACCESSORS(options, max_write_buffer_size_to_maintain, int64_t)
ASHLAR_C_ACCESSORS(options, arena_block_size, size_t)
ASHLAR_C_ACCESSORS(options, memtable_prefix_bloom_size_ratio, double)
ASHLAR_C_ACCESSORS(options, memtable_whole_key_filtering, unsigned char)
ASHLAR_C_ACCESSORS(options, memtable_huge_page_size, size_t)
ASHLAR_C_ACCESSORS(options, memtable_protection_bytes_per_key, uint32_t)
ASHLAR_C_ACCESSORS(options, bloom_locality, uint32_t)
ASHLAR_C_ACCESSORS(options, inplace_update_support, unsigned char)
ASHLAR_C_ACCESSORS(options, inplace_update_num_locks, size_t)
ASHLAR_C_ACCESSORS(options, experimental_mempurge_threshold, double)
ASHLAR_C_ACCESSORS(options, max_successive_merges, size_t)
ASHLAR_C_ACCESSORS(options, max_sequential_skip_in_iterations, uint64_t)
// Levels and compaction.
ASHLAR_C_ACCESSORS(options, num_levels, int)
ASHLAR_C_ACCESSORS(options, compaction_style, int)
ASHLAR_C_ACCESSORS(options, compaction_pri, int)
ASHLAR_C_SETTER(options, disable_auto_compactions, int)
ASHLAR_C_GETTER(options, disable_auto_compactions, unsigned char)
ASHLAR_C_ACCESSORS(options, level0_file_num_compaction_trigger, int)
ASHLAR_C_ACCESSORS(options, level0_slowdown_writes_trigger, int)
ASHLAR_C_ACCESSORS(options, level0_stop_writes_trigger, int)
ASHLAR_C_ACCESSORS(options, target_file_size_base, uint64_t)
ASHLAR_C_ACCESSORS(options, target_file_size_multiplier, int)
ASHLAR_C_ACCESSORS(options, max_bytes_for_level_base, uint64_t)
ASHLAR_C_ACCESSORS(options, max_bytes_for_level_multiplier, double)
ASHLAR_C_ACCESSORS(options, level_compaction_dynamic_level_bytes, unsigned char)
ASHLAR_C_ACCESSORS(options, max_compaction_bytes, uint64_t)
ASHLAR_C_ACCESSORS(options, soft_pending_compaction_bytes_limit, size_t)
ASHLAR_C_ACCESSORS(options, hard_pending_compaction_bytes_limit, size_t)
ASHLAR_C_ACCESSORS(options, ttl, uint64_t)
ASHLAR_C_ACCESSORS(options, periodic_compaction_seconds, uint64_t)
ASHLAR_C_ACCESSORS(options, preclude_last_level_data_seconds, uint64_t)
ASHLAR_C_ACCESSORS(options, preserve_internal_time_seconds, uint64_t)
ASHLAR_C_ACCESSORS(options, last_level_temperature, int)
ASHLAR_C_SETTER(options, report_bg_io_stats, int)
ASHLAR_C_GETTER(options, report_bg_io_stats, unsigned char)
// Compression of tables.
ASHLAR_C_ACCESSORS(options, compression, int)
ASHLAR_C_ACCESSORS(options, bottommost_compression, int)
ASHLAR_C_ACCESSORS(options, sample_for_compression, uint64_t)
ASHLAR_C_SETTER(options, optimize_filters_for_hits, int)
ASHLAR_C_GETTER(options, optimize_filters_for_hits, unsigned char)
ASHLAR_C_ACCESSORS_OF(options, compression_options_zstd_max_train_bytes, int,
                      compression_opts.zstd_max_train_bytes)
ASHLAR_C_ACCESSORS_OF(options, compression_options_use_zstd_dict_trainer, unsigned char,
                      compression_opts.use_zstd_dict_trainer)
ASHLAR_C_ACCESSORS_OF(options, compression_options_parallel_threads, int,
                      compression_opts.parallel_threads)
ASHLAR_C_ACCESSORS_OF(options, compression_options_max_dict_buffer_bytes, uint64_t,
                      compression_opts.max_dict_buffer_bytes)
ASHLAR_C_GETTER_OF(options, bottommost_compression_options_use_zstd_dict_trainer, unsigned char,
                   bottommost_compression_opts.use_zstd_dict_trainer)
// Blob files.
ASHLAR_C_ACCESSORS(options, enable_blob_files, unsigned char)
ASHLAR_C_ACCESSORS(options, min_blob_size, uint64_t)
ASHLAR_C_ACCESSORS(options, blob_file_size, uint64_t)
ASHLAR_C_ACCESSORS(options, blob_compression_type, int)
ASHLAR_C_ACCESSORS_OF(options, enable_blob_gc, unsigned char, enable_blob_garbage_collection)
ASHLAR_C_ACCESSORS_OF(options, blob_gc_age_cutoff, double, blob_garbage_collection_age_cutoff)
ASHLAR_C_ACCESSORS_OF(options, blob_gc_force_threshold, double,
                      blob_garbage_collection_force_threshold)
ASHLAR_C_ACCESSORS(options, blob_compaction_readahead_size, uint64_t)
ASHLAR_C_ACCESSORS(options, blob_file_starting_level, int)
ASHLAR_C_ACCESSORS(options, prepopulate_blob_cache, int)

// Options of releases after 7.8.
ASHLAR_C_ACCESSORS(options, target_file_size_is_upper_bound, unsigned char)
ASHLAR_C_ACCESSORS(options, read_triggered_compaction_threshold, double)
ASHLAR_C_ACCESSORS(options, bottommost_file_compaction_delay, uint32_t)
ASHLAR_C_ACCESSORS(options, strict_max_successive_merges, unsigned char)
ASHLAR_C_ACCESSORS(options, disallow_memtable_writes, unsigned char)
ASHLAR_C_ACCESSORS(options, cf_allow_ingest_behind, unsigned char)
ASHLAR_C_ACCESSORS(options, default_temperature, int)
ASHLAR_C_ACCESSORS(options, default_write_temperature, int)
ASHLAR_C_ACCESSORS(options, memtable_op_scan_flush_trigger, uint32_t)
ASHLAR_C_ACCESSORS(options, memtable_avg_op_scan_flush_trigger, uint32_t)
ASHLAR_C_ACCESSORS(options, min_tombstones_for_range_conversion, uint32_t)
ASHLAR_C_ACCESSORS(options, memtable_max_range_deletions, uint32_t)
ASHLAR_C_ACCESSORS(options, memtable_batch_lookup_optimization, unsigned char)
ASHLAR_C_ACCESSORS(options, memtable_verify_per_key_checksum_on_seek, unsigned char)
ASHLAR_C_ACCESSORS(options, paranoid_memory_checks, unsigned char)
ASHLAR_C_ACCESSORS(options, block_protection_bytes_per_key, uint8_t)
ASHLAR_C_ACCESSORS(options, uncache_aggressiveness, uint32_t)
ASHLAR_C_ACCESSORS(options, persist_user_defined_timestamps, unsigned char)
ASHLAR_C_ACCESSORS(options, enable_blob_direct_write, unsigned char)
ASHLAR_C_ACCESSORS(options, blob_direct_write_partitions, uint32_t)
ASHLAR_C_ACCESSORS(options, compaction_verify_record_count, unsigned char)
ASHLAR_C_ACCESSORS(options, track_and_verify_wals, unsigned char)
ASHLAR_C_ACCESSORS(options, write_identity_file, unsigned char)
ASHLAR_C_ACCESSORS(options, open_files_async, unsigned char)
ASHLAR_C_ACCESSORS(options, fast_sst_open, unsigned char)
ASHLAR_C_ACCESSORS(options, optimize_manifest_for_recovery, unsigned char)
ASHLAR_C_ACCESSORS(options, reuse_manifest_on_open, unsigned char)
ASHLAR_C_ACCESSORS(options, verify_manifest_content_on_close, unsigned char)
ASHLAR_C_ACCESSORS(options, max_manifest_space_amp_pct, int)
ASHLAR_C_ACCESSORS(options, use_direct_io_for_compaction_reads, unsigned char)
ASHLAR_C_ACCESSORS(options, read_io_executor_threads, int)
ASHLAR_C_ACCESSORS(options, async_wal_precreate, unsigned char)
ASHLAR_C_ACCESSORS(options, background_close_inactive_wals, unsigned char)
ASHLAR_C_ACCESSORS(options, enforce_write_buffer_manager_during_recovery, unsigned char)
ASHLAR_C_ACCESSORS(options, max_compaction_trigger_wakeup_seconds, uint64_t)
ASHLAR_C_ACCESSORS(options, follower_refresh_catchup_period_ms, uint64_t)
ASHLAR_C_ACCESSORS(options, follower_catchup_retry_count, uint64_t)
ASHLAR_C_ACCESSORS(options, follower_catchup_retry_wait_ms, uint64_t)
ASHLAR_C_ACCESSORS(options, metadata_write_temperature, int)
ASHLAR_C_ACCESSORS(options, wal_write_temperature, int)
ASHLAR_C_ACCESSORS(options, verify_output_flags, int)
ASHLAR_C_ACCESSORS(options, prefix_seek_opt_in_only, unsigned char)
void rocksdb_options_set_daily_offpeak_time_utc(rocksdb_options_t* options,
                                                const char* value) noexcept {
  options->rep.daily_offpeak_time_utc = value;
}
const char* rocksdb_options_get_daily_offpeak_time_utc(rocksdb_options_t* options,
                                                       size_t* size) noexcept {
  return BorrowText(&options->rep.daily_offpeak_time_utc, size);
}
ASHLAR_C_ENUM_SET(options, checksum_handoff_file_types)
ASHLAR_C_ENUM_SET(options, calculate_sst_write_lifetime_hint_set)

// ---- Compaction styles.

ASHLAR_C_CREATE_AND_DESTROY(universal_compaction_options)
ASHLAR_C_ACCESSORS(universal_compaction_options, size_ratio, int)
ASHLAR_C_ACCESSORS(universal_compaction_options, min_merge_width, int)
ASHLAR_C_ACCESSORS(universal_compaction_options, max_merge_width, int)
ASHLAR_C_ACCESSORS(universal_compaction_options, max_size_amplification_percent, int)
ASHLAR_C_ACCESSORS(universal_compaction_options, compression_size_percent, int)
ASHLAR_C_ACCESSORS(universal_compaction_options, stop_style, int)
ASHLAR_C_ACCESSORS(universal_compaction_options, allow_trivial_move, unsigned char)
ASHLAR_C_ACCESSORS(universal_compaction_options, incremental, unsigned char)
ASHLAR_C_ACCESSORS(universal_compaction_options, max_read_amp, int)
ASHLAR_C_ACCESSORS(universal_compaction_options, reduce_file_locking, unsigned char)
ASHLAR_C_CREATE_AND_DESTROY(fifo_compaction_options)
ASHLAR_C_ACCESSORS(fifo_compaction_options, allow_compaction, unsigned char)
ASHLAR_C_ACCESSORS(fifo_compaction_options, max_table_files_size, uint64_t)
ASHLAR_C_ACCESSORS(fifo_compaction_options, age_for_warm, uint64_t)
ASHLAR_C_ACCESSORS(fifo_compaction_options, max_data_files_size, uint64_t)
ASHLAR_C_ACCESSORS(fifo_compaction_options, use_kv_ratio_compaction, unsigned char)
ASHLAR_C_ACCESSORS(fifo_compaction_options, allow_trivial_copy_when_change_temperature,
                   unsigned char)
ASHLAR_C_ACCESSORS(fifo_compaction_options, trivial_copy_buffer_size, uint64_t)
