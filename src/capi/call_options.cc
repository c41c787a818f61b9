// Options of single calls: reads, writes, flushes, compactions.
#include <atomic>
#include <chrono>

#include "capi/accessors.h"
#include "capi/transfer.h"

using ashlar::Slice;
using ashlar::capi::BorrowText;
using ashlar::capi::Rep;

// ---- Reads.

ASHLAR_C_CREATE_AND_DESTROY(readoptions)
void rocksdb_readoptions_set_snapshot(rocksdb_readoptions_t* options,
                                      const rocksdb_snapshot_t* snapshot) noexcept {
  options->rep.snapshot = Rep(snapshot);
}
void rocksdb_readoptions_set_iterate_upper_bound(rocksdb_readoptions_t* options, const char* key,
                                                 size_t key_size) noexcept {
  options->upper_bound = Slice(key, key_size);
  options->rep.iterate_upper_bound = key == nullptr ? nullptr : &options->upper_bound;
}
void rocksdb_readoptions_set_iterate_lower_bound(rocksdb_readoptions_t* options, const char* key,
                                                 size_t key_size) noexcept {
  options->lower_bound = Slice(key, key_size);
  options->rep.iterate_lower_bound = key == nullptr ? nullptr : &options->lower_bound;
}
ASHLAR_C_ACCESSORS(readoptions, read_tier, int)
ASHLAR_C_ACCESSORS(readoptions, verify_checksums, unsigned char)
ASHLAR_C_ACCESSORS(readoptions, fill_cache, unsigned char)
ASHLAR_C_ACCESSORS(readoptions, readahead_size, size_t)
ASHLAR_C_ACCESSORS(readoptions, max_skippable_internal_keys, uint64_t)
ASHLAR_C_ACCESSORS(readoptions, pin_data, unsigned char)
ASHLAR_C_ACCESSORS(readoptions, value_size_soft_limit, uint64_t)
ASHLAR_C_ACCESSORS(readoptions, rate_limiter_priority, int)
ASHLAR_C_ACCESSORS(readoptions, ignore_range_deletions, unsigned char)
ASHLAR_C_ACCESSORS(readoptions, tailing, unsigned char)
ASHLAR_C_ACCESSORS(readoptions, total_order_seek, unsigned char)
ASHLAR_C_ACCESSORS(readoptions, auto_prefix_mode, unsigned char)
ASHLAR_C_ACCESSORS(readoptions, prefix_same_as_start, unsigned char)
ASHLAR_C_ACCESSORS(readoptions, async_io, unsigned char)
ASHLAR_C_ACCESSORS(readoptions, optimize_multiget_for_io, unsigned char)
ASHLAR_C_ACCESSORS(readoptions, adaptive_readahead, unsigned char)
ASHLAR_C_ACCESSORS(readoptions, auto_readahead_size, unsigned char)
ASHLAR_C_ACCESSORS(readoptions, background_purge_on_iterator_cleanup, unsigned char)
ASHLAR_C_ACCESSORS(readoptions, allow_unprepared_value, unsigned char)
ASHLAR_C_ACCESSORS(readoptions, auto_refresh_iterator_with_snapshot, unsigned char)
ASHLAR_C_ACCESSORS(readoptions, io_activity, int)
void rocksdb_readoptions_set_request_id(rocksdb_readoptions_t* options, const char* request_id,
                                        size_t size) noexcept {
  if (request_id == nullptr) return rocksdb_readoptions_clear_request_id(options);
  options->request_id.assign(request_id, size);
  options->rep.request_id = &options->request_id;
}
void rocksdb_readoptions_clear_request_id(rocksdb_readoptions_t* options) noexcept {
  options->rep.request_id = nullptr;
}
const char* rocksdb_readoptions_get_request_id(rocksdb_readoptions_t* options,
                                               size_t* size) noexcept {
  return BorrowText(options->rep.request_id, size);
}
void rocksdb_readoptions_set_merge_operand_count_threshold(rocksdb_readoptions_t* options,
                                                           size_t threshold) noexcept {
  options->rep.merge_operand_count_threshold = threshold;
}
void rocksdb_readoptions_clear_merge_operand_count_threshold(
    rocksdb_readoptions_t* options) noexcept {
  options->rep.merge_operand_count_threshold.reset();
}
unsigned char rocksdb_readoptions_has_merge_operand_count_threshold(
    rocksdb_readoptions_t* options) noexcept {
  return options->rep.merge_operand_count_threshold.has_value() ? 1 : 0;
}
size_t rocksdb_readoptions_get_merge_operand_count_threshold(
    rocksdb_readoptions_t* options) noexcept {
  return options->rep.merge_operand_count_threshold.value_or(0);
}
void rocksdb_readoptions_set_deadline(rocksdb_readoptions_t* options,
                                      uint64_t microseconds) noexcept {
  options->rep.deadline = std::chrono::microseconds(microseconds);
}
uint64_t rocksdb_readoptions_get_deadline(rocksdb_readoptions_t* options) noexcept {
  return static_cast<uint64_t>(options->rep.deadline.count());
}
void rocksdb_readoptions_set_io_timeout(rocksdb_readoptions_t* options,
                                        uint64_t microseconds) noexcept {
  options->rep.io_timeout = std::chrono::microseconds(microseconds);
}
uint64_t rocksdb_readoptions_get_io_timeout(rocksdb_readoptions_t* options) noexcept {
  return static_cast<uint64_t>(options->rep.io_timeout.count());
}

// ---- Writes.

ASHLAR_C_CREATE_AND_DESTROY(writeoptions)
ASHLAR_C_ACCESSORS(writeoptions, sync, unsigned char)
ASHLAR_C_ACCESSORS(writeoptions, ignore_missing_column_families, unsigned char)
ASHLAR_C_ACCESSORS(writeoptions, no_slowdown, unsigned char)
ASHLAR_C_ACCESSORS(writeoptions, low_pri, unsigned char)
ASHLAR_C_ACCESSORS(writeoptions, memtable_insert_hint_per_batch, unsigned char)
ASHLAR_C_ACCESSORS(writeoptions, rate_limiter_priority, int)
ASHLAR_C_ACCESSORS(writeoptions, protection_bytes_per_key, size_t)
ASHLAR_C_ACCESSORS(writeoptions, io_activity, int)
void rocksdb_writeoptions_disable_WAL(rocksdb_writeoptions_t* options, int disable) noexcept {
  options->rep.disableWAL = disable != 0;
}
unsigned char rocksdb_writeoptions_get_disable_WAL(rocksdb_writeoptions_t* options) noexcept {
  return options->rep.disableWAL ? 1 : 0;
}

// ---- Flushes and compactions.

ASHLAR_C_CREATE_AND_DESTROY(flushwaloptions)
ASHLAR_C_ACCESSORS(flushwaloptions, sync, unsigned char)
ASHLAR_C_ACCESSORS(flushwaloptions, rate_limiter_priority, int)
ASHLAR_C_CREATE_AND_DESTROY(flushoptions)
ASHLAR_C_ACCESSORS(flushoptions, wait, unsigned char)
ASHLAR_C_ACCESSORS(flushoptions, allow_write_stall, unsigned char)
ASHLAR_C_ACCESSORS(flushoptions, force_atomic_flush, unsigned char)
ASHLAR_C_ACCESSORS(flushoptions, listener_wait, unsigned char)

ASHLAR_C_CREATE_AND_DESTROY(compactoptions)
ASHLAR_C_ACCESSORS(compactoptions, exclusive_manual_compaction, unsigned char)
ASHLAR_C_ACCESSORS(compactoptions, bottommost_level_compaction, unsigned char)
ASHLAR_C_ACCESSORS(compactoptions, change_level, unsigned char)
ASHLAR_C_ACCESSORS(compactoptions, target_level, int)
ASHLAR_C_ACCESSORS(compactoptions, target_path_id, int)
ASHLAR_C_ACCESSORS(compactoptions, allow_write_stall, unsigned char)
ASHLAR_C_ACCESSORS(compactoptions, max_subcompactions, int)
ASHLAR_C_ACCESSORS(compactoptions, blob_garbage_collection_policy, int)
ASHLAR_C_ACCESSORS(compactoptions, blob_garbage_collection_age_cutoff, double)

ASHLAR_C_CREATE_AND_DESTROY(compaction_options)
ASHLAR_C_ACCESSORS(compaction_options, compression, int)
ASHLAR_C_ACCESSORS(compaction_options, output_file_size_limit, uint64_t)
ASHLAR_C_ACCESSORS(compaction_options, max_subcompactions, uint32_t)
ASHLAR_C_ACCESSORS(compaction_options, allow_trivial_move, unsigned char)
ASHLAR_C_ACCESSORS(compaction_options, output_temperature_override, int)
// The interface declares an atomic flag as unsigned char.
unsigned char* rocksdb_compaction_options_canceled_create() noexcept {
  return reinterpret_cast<unsigned char*>(new std::atomic<bool>(false));
}
void rocksdb_compaction_options_canceled_destroy(unsigned char* canceled) noexcept {
  delete reinterpret_cast<std::atomic<bool>*>(canceled);
}
void rocksdb_compaction_options_canceled_set(unsigned char* canceled,
                                             unsigned char value) noexcept {
  if (canceled == nullptr) return;
  reinterpret_cast<std::atomic<bool>*>(canceled)->store(value != 0);
}
void rocksdb_compaction_options_set_canceled(rocksdb_compaction_options_t* options,
                                             unsigned char* canceled) noexcept {
  options->rep.canceled = reinterpret_cast<std::atomic<bool>*>(canceled);
}

ASHLAR_C_CREATE_AND_DESTROY(wait_for_compact_options)
ASHLAR_C_ACCESSORS(wait_for_compact_options, abort_on_pause, unsigned char)
ASHLAR_C_ACCESSORS(wait_for_compact_options, flush, unsigned char)
ASHLAR_C_ACCESSORS(wait_for_compact_options, close_db, unsigned char)
ASHLAR_C_ACCESSORS(wait_for_compact_options, wait_for_purge, unsigned char)
void rocksdb_wait_for_compact_options_set_timeout(rocksdb_wait_for_compact_options_t* options,
                                                  uint64_t microseconds) noexcept {
  options->rep.timeout = std::chrono::microseconds(microseconds);
}
uint64_t rocksdb_wait_for_compact_options_get_timeout(
    rocksdb_wait_for_compact_options_t* options) noexcept {
  return static_cast<uint64_t>(options->rep.timeout.count());
}

// ---- Sizes.

ASHLAR_C_CREATE_AND_DESTROY(size_approximation_options)
ASHLAR_C_ACCESSORS(size_approximation_options, include_memtables, unsigned char)
ASHLAR_C_ACCESSORS(size_approximation_options, include_files, unsigned char)
ASHLAR_C_ACCESSORS(size_approximation_options, files_size_error_margin, double)
ASHLAR_C_ACCESSORS(size_approximation_options, include_blob_files, unsigned char)
