// PerfContext: the costs of the calling thread's operations since the last Reset.
//
// Thread safety: each thread has its own; use it only on that thread.
#pragma once

#include <cstdint>
#include <string>

#include "ashlar/export.h"

namespace ashlar {

// Each level adds to the one before. Numbers are those of RocksDB 11.8.1.
enum PerfLevel : unsigned char {
  kUninitialized = 0,
  kDisable = 1,
  kEnableCount = 2,  // counters: the default
  // Also write_memtable_time and the waits of writers: write_delay_time, write_thread_wait_nanos.
  kEnableWait = 3,
  kEnableTimeExceptForMutex = 4,            // and all other times
  kEnableTimeAndCPUTimeExceptForMutex = 5,  // the same: processor time is not measured
  kEnableTime = 6,                          // the same: waits for mutexes are not measured
  kOutOfBounds = 7,
};

ASHLAR_API void SetPerfLevel(PerfLevel level);
ASHLAR_API PerfLevel GetPerfLevel();

struct ASHLAR_API PerfContext {
  void Reset() { *this = PerfContext(); }
  // "name = value, ..." for each counter.
  std::string ToString(bool exclude_zero_counters = false) const;

  uint64_t block_cache_hit_count = 0;
  uint64_t block_read_count = 0;  // blocks read from files
  uint64_t block_read_byte = 0;
  uint64_t block_read_time = 0;  // nanoseconds, like all times
  uint64_t block_checksum_time = 0;
  uint64_t block_decompress_time = 0;
  uint64_t index_block_read_count = 0;
  uint64_t filter_block_read_count = 0;
  uint64_t get_read_bytes = 0;
  uint64_t multiget_read_bytes = 0;
  uint64_t iter_read_bytes = 0;
  uint64_t internal_key_skipped_count = 0;     // older versions stepped over by iterators
  uint64_t internal_delete_skipped_count = 0;  // deletions stepped over by iterators
  uint64_t internal_merge_count = 0;
  uint64_t get_from_memtable_count = 0;
  uint64_t get_from_memtable_time = 0;
  uint64_t get_from_output_files_time = 0;
  uint64_t seek_internal_seek_time = 0;
  uint64_t find_next_user_entry_time = 0;
  uint64_t write_wal_time = 0;
  uint64_t write_memtable_time = 0;
  uint64_t write_delay_time = 0;
  uint64_t write_thread_wait_nanos = 0;
  uint64_t merge_operator_time_nanos = 0;
  uint64_t bloom_sst_hit_count = 0;   // the filter let the read through
  uint64_t bloom_sst_miss_count = 0;  // the filter saved a read
  // The times of file calls through an Env from NewTimedEnv (ashlar/env.h).
  uint64_t env_new_sequential_file_nanos = 0;
  uint64_t env_new_random_access_file_nanos = 0;
  uint64_t env_new_writable_file_nanos = 0;
  uint64_t env_reuse_writable_file_nanos = 0;
  uint64_t env_new_random_rw_file_nanos = 0;
  uint64_t env_new_directory_nanos = 0;
  uint64_t env_file_exists_nanos = 0;
  uint64_t env_get_children_nanos = 0;
  uint64_t env_get_children_file_attributes_nanos = 0;
  uint64_t env_delete_file_nanos = 0;
  uint64_t env_create_dir_nanos = 0;
  uint64_t env_create_dir_if_missing_nanos = 0;
  uint64_t env_delete_dir_nanos = 0;
  uint64_t env_get_file_size_nanos = 0;
  uint64_t env_get_file_modification_time_nanos = 0;
  uint64_t env_rename_file_nanos = 0;
  uint64_t env_link_file_nanos = 0;
  uint64_t env_lock_file_nanos = 0;
  uint64_t env_unlock_file_nanos = 0;
  uint64_t env_new_logger_nanos = 0;
};

ASHLAR_API PerfContext* get_perf_context();

}  // namespace ashlar
