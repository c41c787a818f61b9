// The getters of the infos that listeners and rocksdb_compact_files receive.
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "capi/handles.h"
#include "capi/transfer.h"

using ashlar::TablePropertiesCollection;
using ashlar::capi::BorrowText;
using ashlar::capi::Rep;
using ashlar::capi::Wrap;

// A program reads a condition as an int.
static_assert(sizeof(ashlar::WriteStallCondition) == sizeof(int));
static_assert(static_cast<int>(ashlar::WriteStallCondition::kDelayed) ==
              ashlar_write_stall_delayed);
static_assert(static_cast<int>(ashlar::WriteStallCondition::kStopped) ==
              ashlar_write_stall_stopped);
static_assert(static_cast<int>(ashlar::WriteStallCondition::kNormal) == ashlar_write_stall_normal);

namespace {

// Returns null if there are fewer elements.
template <typename T>
const T* At(const std::vector<T>& all, size_t position) {
  return position < all.size() ? &all[position] : nullptr;
}
const TablePropertiesCollection::value_type* At(const TablePropertiesCollection& all,
                                                size_t position) {
  if (position >= all.size()) return nullptr;
  return &*std::next(all.begin(), static_cast<std::ptrdiff_t>(position));
}

}  // namespace

#define ASHLAR_C_NUMBER_OF(object, name, type, member)                        \
  type rocksdb_##object##_##name(const rocksdb_##object##_t* info) noexcept { \
    return static_cast<type>(Rep(info)->member);                              \
  }
#define ASHLAR_C_NUMBER(object, name, type) ASHLAR_C_NUMBER_OF(object, name, type, name)
#define ASHLAR_C_TEXT(object, name)                                                                \
  const char* rocksdb_##object##_##name(const rocksdb_##object##_t* info, size_t* size) noexcept { \
    return BorrowText(&Rep(info)->name, size);                                                     \
  }
#define ASHLAR_C_PART(object, name, type, member)                                    \
  const type* rocksdb_##object##_##name(const rocksdb_##object##_t* info) noexcept { \
    return Wrap(&Rep(info)->member);                                                 \
  }
// The number of infos in a list, and the info at a position.
#define ASHLAR_C_INFOS(object, name, type)                                               \
  size_t rocksdb_##object##_##name##s_count(const rocksdb_##object##_t* info) noexcept { \
    return Rep(info)->name##s.size();                                                    \
  }                                                                                      \
  const type* rocksdb_##object##_##name##_at(const rocksdb_##object##_t* info,           \
                                             size_t position) noexcept {                 \
    return Wrap(At(Rep(info)->name##s, position));                                       \
  }
#define ASHLAR_C_STATUS(object)                                                              \
  void rocksdb_##object##_status(const rocksdb_##object##_t* info, char** errptr) noexcept { \
    ashlar::capi::Check(errptr, Rep(info)->status);                                          \
  }

// The getters that a compaction and a subcompaction have in common.
#define ASHLAR_C_COMPACTION(object)                        \
  ASHLAR_C_STATUS(object)                                  \
  ASHLAR_C_NUMBER(object, cf_id, uint32_t)                 \
  ASHLAR_C_TEXT(object, cf_name)                           \
  ASHLAR_C_NUMBER(object, thread_id, uint64_t)             \
  ASHLAR_C_NUMBER(object, job_id, int)                     \
  ASHLAR_C_NUMBER(object, base_input_level, int)           \
  ASHLAR_C_NUMBER(object, output_level, int)               \
  ASHLAR_C_NUMBER(object, compaction_reason, uint32_t)     \
  ASHLAR_C_NUMBER(object, compression, uint32_t)           \
  ASHLAR_C_NUMBER(object, blob_compression_type, uint32_t) \
  ASHLAR_C_PART(object, stats, rocksdb_compaction_job_stats_t, stats)

// ---- Flushes.

ASHLAR_C_NUMBER(flushjobinfo, cf_id, uint32_t)
ASHLAR_C_TEXT(flushjobinfo, cf_name)
ASHLAR_C_TEXT(flushjobinfo, file_path)
ASHLAR_C_NUMBER(flushjobinfo, file_number, uint64_t)
ASHLAR_C_NUMBER(flushjobinfo, thread_id, uint64_t)
ASHLAR_C_NUMBER(flushjobinfo, job_id, int)
ASHLAR_C_NUMBER(flushjobinfo, triggered_writes_slowdown, unsigned char)
ASHLAR_C_NUMBER(flushjobinfo, triggered_writes_stop, unsigned char)
ASHLAR_C_NUMBER(flushjobinfo, smallest_seqno, uint64_t)
ASHLAR_C_NUMBER(flushjobinfo, largest_seqno, uint64_t)
ASHLAR_C_PART(flushjobinfo, table_properties, rocksdb_table_properties_t, table_properties)
ASHLAR_C_NUMBER(flushjobinfo, flush_reason, uint32_t)
ASHLAR_C_NUMBER(flushjobinfo, oldest_blob_file_number, uint64_t)
ASHLAR_C_NUMBER(flushjobinfo, blob_compression_type, uint32_t)
ASHLAR_C_INFOS(flushjobinfo, blob_file_addition_info, rocksdb_blob_file_addition_info_t)

// ---- Compactions.

rocksdb_compactionjobinfo_t* rocksdb_compactionjobinfo_create(void) noexcept {
  return Wrap(new ashlar::CompactionJobInfo());
}
void rocksdb_compactionjobinfo_destroy(rocksdb_compactionjobinfo_t* info) noexcept {
  delete Rep(info);
}
ASHLAR_C_COMPACTION(compactionjobinfo)
ASHLAR_C_NUMBER(compactionjobinfo, num_l0_files, int)
ASHLAR_C_NUMBER(compactionjobinfo, aborted, unsigned char)
ASHLAR_C_NUMBER_OF(compactionjobinfo, elapsed_micros, uint64_t, stats.elapsed_micros)
ASHLAR_C_NUMBER_OF(compactionjobinfo, num_corrupt_keys, uint64_t, stats.num_corrupt_keys)
ASHLAR_C_NUMBER_OF(compactionjobinfo, input_records, uint64_t, stats.num_input_records)
ASHLAR_C_NUMBER_OF(compactionjobinfo, output_records, uint64_t, stats.num_output_records)
ASHLAR_C_NUMBER_OF(compactionjobinfo, total_input_bytes, uint64_t, stats.total_input_bytes)
ASHLAR_C_NUMBER_OF(compactionjobinfo, total_output_bytes, uint64_t, stats.total_output_bytes)
ASHLAR_C_NUMBER_OF(compactionjobinfo, num_input_files, size_t, stats.num_input_files)
ASHLAR_C_NUMBER_OF(compactionjobinfo, num_input_files_at_output_level, size_t,
                   stats.num_input_files_at_output_level)

#define ASHLAR_C_FILES(name)                                                                  \
  size_t rocksdb_compactionjobinfo_##name##s_count(                                           \
      const rocksdb_compactionjobinfo_t* info) noexcept {                                     \
    return Rep(info)->name##s.size();                                                         \
  }                                                                                           \
  const char* rocksdb_compactionjobinfo_##name##_at(const rocksdb_compactionjobinfo_t* info,  \
                                                    size_t position, size_t* size) noexcept { \
    return BorrowText(At(Rep(info)->name##s, position), size);                                \
  }                                                                                           \
  ASHLAR_C_INFOS(compactionjobinfo, name##_info, rocksdb_compaction_file_info_t)
ASHLAR_C_FILES(input_file)
ASHLAR_C_FILES(output_file)
#undef ASHLAR_C_FILES
ASHLAR_C_NUMBER(compaction_file_info, level, int)
ASHLAR_C_NUMBER(compaction_file_info, file_number, uint64_t)
ASHLAR_C_NUMBER(compaction_file_info, oldest_blob_file_number, uint64_t)
ASHLAR_C_INFOS(compactionjobinfo, blob_file_addition_info, rocksdb_blob_file_addition_info_t)
ASHLAR_C_INFOS(compactionjobinfo, blob_file_garbage_info, rocksdb_blob_file_garbage_info_t)

size_t rocksdb_compactionjobinfo_table_properties_count(
    const rocksdb_compactionjobinfo_t* info) noexcept {
  return Rep(info)->table_properties.size();
}
const char* rocksdb_compactionjobinfo_table_properties_key_at(
    const rocksdb_compactionjobinfo_t* info, size_t position, size_t* size) noexcept {
  const auto* const found = At(Rep(info)->table_properties, position);
  return BorrowText(found == nullptr ? nullptr : &found->first, size);
}
const rocksdb_table_properties_t* rocksdb_compactionjobinfo_table_properties_value_at(
    const rocksdb_compactionjobinfo_t* info, size_t position) noexcept {
  const auto* const found = At(Rep(info)->table_properties, position);
  return found == nullptr ? nullptr : Wrap(found->second.get());
}
const rocksdb_table_properties_t* rocksdb_compactionjobinfo_table_properties_for_file(
    const rocksdb_compactionjobinfo_t* info, const char* file_name,
    size_t file_name_size) noexcept {
  const TablePropertiesCollection& all = Rep(info)->table_properties;
  const auto found = all.find(std::string(file_name, file_name_size));
  return found == all.end() ? nullptr : Wrap(found->second.get());
}

ASHLAR_C_COMPACTION(subcompactionjobinfo)
ASHLAR_C_NUMBER(subcompactionjobinfo, subcompaction_job_id, int)

ASHLAR_C_NUMBER(compaction_job_stats, elapsed_micros, uint64_t)
ASHLAR_C_NUMBER(compaction_job_stats, cpu_micros, uint64_t)
ASHLAR_C_NUMBER(compaction_job_stats, has_accurate_num_input_records, unsigned char)
ASHLAR_C_NUMBER(compaction_job_stats, num_input_records, uint64_t)
ASHLAR_C_NUMBER(compaction_job_stats, num_input_files, size_t)
ASHLAR_C_NUMBER(compaction_job_stats, num_input_files_trivially_moved, size_t)
ASHLAR_C_NUMBER(compaction_job_stats, num_input_files_at_output_level, size_t)
ASHLAR_C_NUMBER(compaction_job_stats, num_output_records, uint64_t)
ASHLAR_C_NUMBER(compaction_job_stats, num_output_files, size_t)
ASHLAR_C_NUMBER(compaction_job_stats, is_full_compaction, unsigned char)
ASHLAR_C_NUMBER(compaction_job_stats, is_manual_compaction, unsigned char)
ASHLAR_C_NUMBER(compaction_job_stats, total_input_bytes, uint64_t)
ASHLAR_C_NUMBER(compaction_job_stats, total_output_bytes, uint64_t)
ASHLAR_C_NUMBER(compaction_job_stats, num_records_replaced, uint64_t)
ASHLAR_C_NUMBER(compaction_job_stats, total_input_raw_key_bytes, uint64_t)
ASHLAR_C_NUMBER(compaction_job_stats, total_input_raw_value_bytes, uint64_t)
ASHLAR_C_NUMBER(compaction_job_stats, num_input_deletion_records, uint64_t)
ASHLAR_C_NUMBER(compaction_job_stats, num_expired_deletion_records, uint64_t)
ASHLAR_C_NUMBER(compaction_job_stats, num_corrupt_keys, uint64_t)
ASHLAR_C_TEXT(compaction_job_stats, smallest_output_key_prefix)
ASHLAR_C_TEXT(compaction_job_stats, largest_output_key_prefix)
ASHLAR_C_NUMBER(compaction_job_stats, num_single_del_fallthru, uint64_t)
ASHLAR_C_NUMBER(compaction_job_stats, num_single_del_mismatch, uint64_t)
ASHLAR_C_NUMBER(compaction_job_stats, file_write_nanos, uint64_t)
ASHLAR_C_NUMBER(compaction_job_stats, file_range_sync_nanos, uint64_t)
ASHLAR_C_NUMBER(compaction_job_stats, file_fsync_nanos, uint64_t)
ASHLAR_C_NUMBER(compaction_job_stats, file_prepare_write_nanos, uint64_t)
ASHLAR_C_NUMBER(compaction_job_stats, num_filtered_input_files, size_t)
ASHLAR_C_NUMBER(compaction_job_stats, num_filtered_input_files_at_output_level, size_t)
ASHLAR_C_NUMBER(compaction_job_stats, total_skipped_input_bytes, uint64_t)
ASHLAR_C_NUMBER(compaction_job_stats, is_remote_compaction, unsigned char)
ASHLAR_C_NUMBER(compaction_job_stats, num_blobs_read, uint64_t)
ASHLAR_C_NUMBER(compaction_job_stats, num_output_files_blob, size_t)
ASHLAR_C_NUMBER(compaction_job_stats, total_blob_bytes_read, uint64_t)
ASHLAR_C_NUMBER(compaction_job_stats, total_output_bytes_blob, uint64_t)

// ---- Blob files.

ASHLAR_C_TEXT(blob_file_addition_info, blob_file_path)
ASHLAR_C_NUMBER(blob_file_addition_info, blob_file_number, uint64_t)
ASHLAR_C_NUMBER(blob_file_addition_info, total_blob_count, uint64_t)
ASHLAR_C_NUMBER(blob_file_addition_info, total_blob_bytes, uint64_t)
ASHLAR_C_TEXT(blob_file_garbage_info, blob_file_path)
ASHLAR_C_NUMBER(blob_file_garbage_info, blob_file_number, uint64_t)
ASHLAR_C_NUMBER(blob_file_garbage_info, garbage_blob_count, uint64_t)
ASHLAR_C_NUMBER(blob_file_garbage_info, garbage_blob_bytes, uint64_t)

// ---- Ingestions, memtables, stalls.

ASHLAR_C_TEXT(externalfileingestioninfo, cf_name)
ASHLAR_C_TEXT(externalfileingestioninfo, external_file_path)
ASHLAR_C_TEXT(externalfileingestioninfo, internal_file_path)
ASHLAR_C_NUMBER(externalfileingestioninfo, global_seqno, uint64_t)
ASHLAR_C_PART(externalfileingestioninfo, table_properties, rocksdb_table_properties_t,
              table_properties)
ASHLAR_C_TEXT(memtableinfo, cf_name)
ASHLAR_C_NUMBER(memtableinfo, first_seqno, uint64_t)
ASHLAR_C_NUMBER(memtableinfo, earliest_seqno, uint64_t)
ASHLAR_C_NUMBER(memtableinfo, num_entries, uint64_t)
ASHLAR_C_NUMBER(memtableinfo, num_deletes, uint64_t)
ASHLAR_C_TEXT(memtableinfo, newest_udt)
ASHLAR_C_TEXT(writestallinfo, cf_name)
ASHLAR_C_PART(writestallinfo, cur, rocksdb_writestallcondition_t, condition.cur)
ASHLAR_C_PART(writestallinfo, prev, rocksdb_writestallcondition_t, condition.prev)
