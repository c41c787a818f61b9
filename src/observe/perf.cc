#include "observe/perf.h"

#include "base/format.h"

namespace ashlar {
namespace internal {
constinit thread_local ThreadPerf thread_perf;
}  // namespace internal

namespace {

struct NamedCounter {
  const char* name;
  uint64_t PerfContext::* counter;
};

#define ASHLAR_COUNTER(name) {#name, &PerfContext::name}
constexpr NamedCounter kCounters[] = {
    ASHLAR_COUNTER(block_cache_hit_count),
    ASHLAR_COUNTER(block_read_count),
    ASHLAR_COUNTER(block_read_byte),
    ASHLAR_COUNTER(block_read_time),
    ASHLAR_COUNTER(block_checksum_time),
    ASHLAR_COUNTER(block_decompress_time),
    ASHLAR_COUNTER(index_block_read_count),
    ASHLAR_COUNTER(filter_block_read_count),
    ASHLAR_COUNTER(get_read_bytes),
    ASHLAR_COUNTER(multiget_read_bytes),
    ASHLAR_COUNTER(iter_read_bytes),
    ASHLAR_COUNTER(internal_key_skipped_count),
    ASHLAR_COUNTER(internal_delete_skipped_count),
    ASHLAR_COUNTER(internal_merge_count),
    ASHLAR_COUNTER(get_from_memtable_count),
    ASHLAR_COUNTER(get_from_memtable_time),
    ASHLAR_COUNTER(get_from_output_files_time),
    ASHLAR_COUNTER(seek_internal_seek_time),
    ASHLAR_COUNTER(find_next_user_entry_time),
    ASHLAR_COUNTER(write_wal_time),
    ASHLAR_COUNTER(write_memtable_time),
    ASHLAR_COUNTER(write_delay_time),
    ASHLAR_COUNTER(write_thread_wait_nanos),
    ASHLAR_COUNTER(merge_operator_time_nanos),
    ASHLAR_COUNTER(bloom_sst_hit_count),
    ASHLAR_COUNTER(bloom_sst_miss_count),
    ASHLAR_COUNTER(env_new_sequential_file_nanos),
    ASHLAR_COUNTER(env_new_random_access_file_nanos),
    ASHLAR_COUNTER(env_new_writable_file_nanos),
    ASHLAR_COUNTER(env_reuse_writable_file_nanos),
    ASHLAR_COUNTER(env_new_random_rw_file_nanos),
    ASHLAR_COUNTER(env_new_directory_nanos),
    ASHLAR_COUNTER(env_file_exists_nanos),
    ASHLAR_COUNTER(env_get_children_nanos),
    ASHLAR_COUNTER(env_get_children_file_attributes_nanos),
    ASHLAR_COUNTER(env_delete_file_nanos),
    ASHLAR_COUNTER(env_create_dir_nanos),
    ASHLAR_COUNTER(env_create_dir_if_missing_nanos),
    ASHLAR_COUNTER(env_delete_dir_nanos),
    ASHLAR_COUNTER(env_get_file_size_nanos),
    ASHLAR_COUNTER(env_get_file_modification_time_nanos),
    ASHLAR_COUNTER(env_rename_file_nanos),
    ASHLAR_COUNTER(env_link_file_nanos),
    ASHLAR_COUNTER(env_lock_file_nanos),
    ASHLAR_COUNTER(env_unlock_file_nanos),
    ASHLAR_COUNTER(env_new_logger_nanos),
};
#undef ASHLAR_COUNTER
static_assert(sizeof(kCounters) / sizeof(kCounters[0]) * sizeof(uint64_t) == sizeof(PerfContext),
              "every counter has its name");

}  // namespace

void SetPerfLevel(PerfLevel level) {
  internal::ThreadPerf& perf = internal::thread_perf;
  perf.level = level;
  perf.count_mask = level >= kEnableCount ? ~uint64_t{0} : 0;
}
PerfLevel GetPerfLevel() { return internal::thread_perf.level; }
PerfContext* get_perf_context() { return &internal::thread_perf.context; }

std::string PerfContext::ToString(bool exclude_zero_counters) const {
  std::string out;
  for (const auto& [name, counter] : kCounters) {
    if (exclude_zero_counters && this->*counter == 0) continue;
    StrAppend(&out, out.empty() ? "" : ", ", name, " = ", this->*counter);
  }
  return out;
}

}  // namespace ashlar
