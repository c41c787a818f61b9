// The properties of a table, as callbacks get them.
#include <cstddef>
#include <iterator>
#include <string>

#include "capi/handles.h"
#include "capi/transfer.h"

using ashlar::capi::BorrowText;
using ashlar::capi::Rep;

namespace {

// Returns the property at the position, or null if there are fewer.
const ashlar::UserCollectedProperties::value_type* At(const ashlar::UserCollectedProperties& all,
                                                      size_t position) {
  if (position >= all.size()) return nullptr;
  return &*std::next(all.begin(), static_cast<std::ptrdiff_t>(position));
}

}  // namespace

#define ASHLAR_C_NUMBER(name)                                  \
  uint64_t rocksdb_table_properties_##name(                    \
      const rocksdb_table_properties_t* properties) noexcept { \
    return Rep(properties)->name;                              \
  }
ASHLAR_C_NUMBER(orig_file_number)
ASHLAR_C_NUMBER(external_sst_file_global_seqno_offset)
ASHLAR_C_NUMBER(data_size)
ASHLAR_C_NUMBER(uncompressed_data_size)
ASHLAR_C_NUMBER(index_size)
ASHLAR_C_NUMBER(index_partitions)
ASHLAR_C_NUMBER(top_level_index_size)
ASHLAR_C_NUMBER(index_key_is_user_key)
ASHLAR_C_NUMBER(index_value_is_delta_encoded)
ASHLAR_C_NUMBER(filter_size)
ASHLAR_C_NUMBER(raw_key_size)
ASHLAR_C_NUMBER(raw_value_size)
ASHLAR_C_NUMBER(num_data_blocks)
ASHLAR_C_NUMBER(num_entries)
ASHLAR_C_NUMBER(num_deletions)
ASHLAR_C_NUMBER(num_merge_operands)
ASHLAR_C_NUMBER(num_range_deletions)
ASHLAR_C_NUMBER(num_filter_entries)
ASHLAR_C_NUMBER(format_version)
ASHLAR_C_NUMBER(fixed_key_len)
ASHLAR_C_NUMBER(column_family_id)
ASHLAR_C_NUMBER(creation_time)
ASHLAR_C_NUMBER(oldest_key_time)
ASHLAR_C_NUMBER(file_creation_time)
ASHLAR_C_NUMBER(slow_compression_estimated_data_size)
ASHLAR_C_NUMBER(fast_compression_estimated_data_size)
ASHLAR_C_NUMBER(num_data_blocks_compression_rejected)
ASHLAR_C_NUMBER(num_data_blocks_compression_bypassed)
ASHLAR_C_NUMBER(num_uniform_blocks)
ASHLAR_C_NUMBER(newest_key_time)
ASHLAR_C_NUMBER(tail_start_offset)
ASHLAR_C_NUMBER(user_defined_timestamps_persisted)
ASHLAR_C_NUMBER(key_largest_seqno)
ASHLAR_C_NUMBER(key_smallest_seqno)
ASHLAR_C_NUMBER(data_block_restart_interval)
ASHLAR_C_NUMBER(index_block_restart_interval)
ASHLAR_C_NUMBER(separate_key_value_in_data_block)
ASHLAR_C_NUMBER(udi_is_primary_index)
#undef ASHLAR_C_NUMBER

#define ASHLAR_C_TEXT(name)                                                                 \
  const char* rocksdb_table_properties_##name(const rocksdb_table_properties_t* properties, \
                                              size_t* size) noexcept {                      \
    return BorrowText(&Rep(properties)->name, size);                                        \
  }
ASHLAR_C_TEXT(seqno_to_time_mapping)
ASHLAR_C_TEXT(db_id)
ASHLAR_C_TEXT(db_session_id)
ASHLAR_C_TEXT(db_host_id)
ASHLAR_C_TEXT(column_family_name)
ASHLAR_C_TEXT(filter_policy_name)
ASHLAR_C_TEXT(comparator_name)
ASHLAR_C_TEXT(merge_operator_name)
ASHLAR_C_TEXT(prefix_extractor_name)
ASHLAR_C_TEXT(property_collectors_names)
ASHLAR_C_TEXT(compression_name)
ASHLAR_C_TEXT(compression_options)
#undef ASHLAR_C_TEXT

unsigned char rocksdb_table_properties_has_key_largest_seqno(
    const rocksdb_table_properties_t* properties) noexcept {
  return Rep(properties)->HasKeyLargestSeqno() ? 1 : 0;
}
unsigned char rocksdb_table_properties_has_key_smallest_seqno(
    const rocksdb_table_properties_t* properties) noexcept {
  return Rep(properties)->HasKeySmallestSeqno() ? 1 : 0;
}

#define ASHLAR_C_MAP(name)                                                                    \
  size_t rocksdb_table_properties_##name##_count(                                             \
      const rocksdb_table_properties_t* properties) noexcept {                                \
    return Rep(properties)->name.size();                                                      \
  }                                                                                           \
  const char* rocksdb_table_properties_##name##_key_at(                                       \
      const rocksdb_table_properties_t* properties, size_t position, size_t* size) noexcept { \
    const auto* const found = At(Rep(properties)->name, position);                            \
    return BorrowText(found == nullptr ? nullptr : &found->first, size);                      \
  }                                                                                           \
  const char* rocksdb_table_properties_##name##_value_at(                                     \
      const rocksdb_table_properties_t* properties, size_t position, size_t* size) noexcept { \
    const auto* const found = At(Rep(properties)->name, position);                            \
    return BorrowText(found == nullptr ? nullptr : &found->second, size);                     \
  }
ASHLAR_C_MAP(user_collected_properties)
ASHLAR_C_MAP(readable_properties)
#undef ASHLAR_C_MAP
