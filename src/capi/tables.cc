// Table formats, filters and caches.
#include "capi/accessors.h"
#include "capi/transfer.h"

using ashlar::Status;
using ashlar::capi::BorrowText;
using ashlar::capi::Rep;
using ashlar::capi::SetError;
using ashlar::capi::Wrap;

namespace {

// Null clears a factory, which succeeds because there is none.
void RefuseIndexFactory(const char* value, size_t value_size, char** errptr) {
  if (value == nullptr) return;
  SetError(errptr, Status::NotSupported("user-defined indexes are not implemented",
                                        ashlar::Slice(value, value_size)));
}

}  // namespace

// ---- Block-based tables.

ASHLAR_C_CREATE_AND_DESTROY(block_based_options)
void rocksdb_options_set_block_based_table_factory(
    rocksdb_options_t* options, rocksdb_block_based_table_options_t* table_options) noexcept {
  if (table_options != nullptr)
    options->rep.table_factory.reset(ashlar::NewBlockBasedTableFactory(table_options->rep));
}
void rocksdb_options_set_row_cache(rocksdb_options_t* options, rocksdb_cache_t* cache) noexcept {
  options->rep.row_cache = cache == nullptr ? nullptr : cache->rep;
}
void rocksdb_block_based_options_set_block_cache(rocksdb_block_based_table_options_t* options,
                                                 rocksdb_cache_t* block_cache) noexcept {
  options->rep.block_cache = block_cache == nullptr ? nullptr : block_cache->rep;
}
void rocksdb_block_based_options_set_filter_policy(rocksdb_block_based_table_options_t* options,
                                                   rocksdb_filterpolicy_t* policy) noexcept {
  options->rep.filter_policy.reset(Rep(policy));
}
// Two names for one option.
ASHLAR_C_SETTER_OF(block_based_options, data_block_hash_ratio, double,
                   data_block_hash_table_util_ratio)
ASHLAR_C_ACCESSORS(block_based_options, no_block_cache, unsigned char)
ASHLAR_C_ACCESSORS(block_based_options, cache_index_and_filter_blocks, unsigned char)
ASHLAR_C_ACCESSORS(block_based_options, cache_index_and_filter_blocks_with_high_priority,
                   unsigned char)
ASHLAR_C_ACCESSORS(block_based_options, pin_l0_filter_and_index_blocks_in_cache, unsigned char)
ASHLAR_C_ACCESSORS(block_based_options, pin_top_level_index_and_filter, unsigned char)
ASHLAR_C_SETTER_OF(block_based_options, top_level_index_pinning_tier, int,
                   metadata_cache_options.top_level_index_pinning)
ASHLAR_C_SETTER_OF(block_based_options, partition_pinning_tier, int,
                   metadata_cache_options.partition_pinning)
ASHLAR_C_SETTER_OF(block_based_options, unpartitioned_pinning_tier, int,
                   metadata_cache_options.unpartitioned_pinning)
ASHLAR_C_ACCESSORS(block_based_options, index_type, int)
ASHLAR_C_ACCESSORS(block_based_options, data_block_index_type, int)
ASHLAR_C_ACCESSORS(block_based_options, data_block_hash_table_util_ratio, double)
ASHLAR_C_SETTER(block_based_options, checksum, char)
ASHLAR_C_GETTER(block_based_options, checksum, int)
ASHLAR_C_SETTER(block_based_options, block_size, size_t)
ASHLAR_C_GETTER(block_based_options, block_size, uint64_t)
ASHLAR_C_ACCESSORS(block_based_options, block_size_deviation, int)
ASHLAR_C_ACCESSORS(block_based_options, block_restart_interval, int)
ASHLAR_C_ACCESSORS(block_based_options, index_block_restart_interval, int)
ASHLAR_C_ACCESSORS(block_based_options, metadata_block_size, uint64_t)
ASHLAR_C_ACCESSORS(block_based_options, partition_filters, unsigned char)
ASHLAR_C_ACCESSORS(block_based_options, decouple_partitioned_filters, unsigned char)
ASHLAR_C_ACCESSORS(block_based_options, optimize_filters_for_memory, unsigned char)
ASHLAR_C_ACCESSORS(block_based_options, use_delta_encoding, unsigned char)
ASHLAR_C_ACCESSORS(block_based_options, whole_key_filtering, unsigned char)
ASHLAR_C_ACCESSORS(block_based_options, detect_filter_construct_corruption, unsigned char)
ASHLAR_C_ACCESSORS(block_based_options, verify_compression, unsigned char)
ASHLAR_C_ACCESSORS(block_based_options, read_amp_bytes_per_bit, uint32_t)
ASHLAR_C_SETTER(block_based_options, format_version, int)
ASHLAR_C_GETTER(block_based_options, format_version, uint32_t)
ASHLAR_C_ACCESSORS(block_based_options, enable_index_compression, unsigned char)
ASHLAR_C_ACCESSORS(block_based_options, block_align, unsigned char)
ASHLAR_C_ACCESSORS(block_based_options, index_shortening, int)
ASHLAR_C_ACCESSORS(block_based_options, max_auto_readahead_size, size_t)
ASHLAR_C_ACCESSORS(block_based_options, initial_auto_readahead_size, size_t)
ASHLAR_C_ACCESSORS(block_based_options, num_file_reads_for_auto_readahead, uint64_t)
ASHLAR_C_ACCESSORS(block_based_options, prepopulate_block_cache, int)
// Options of releases after 7.8.
ASHLAR_C_ACCESSORS(block_based_options, index_block_search_type, int)
ASHLAR_C_ACCESSORS(block_based_options, uniform_cv_threshold, double)
ASHLAR_C_ACCESSORS(block_based_options, separate_key_value_in_data_block, unsigned char)
ASHLAR_C_ACCESSORS(block_based_options, super_block_alignment_size, size_t)
ASHLAR_C_ACCESSORS(block_based_options, super_block_alignment_space_overhead_ratio, size_t)
ASHLAR_C_ACCESSORS(block_based_options, use_udi_as_primary_index, unsigned char)
ASHLAR_C_ACCESSORS(block_based_options, fail_if_no_udi_on_open, unsigned char)

// ---- User-defined indexes: not implemented, neither in options of tables nor of reads.

void rocksdb_block_based_options_set_user_defined_index_factory_from_string(
    rocksdb_block_based_table_options_t* /*options*/, const char* value, size_t value_size,
    char** errptr) noexcept {
  RefuseIndexFactory(value, value_size, errptr);
}
void rocksdb_block_based_options_clear_user_defined_index_factory(
    rocksdb_block_based_table_options_t* /*options*/) noexcept {}
const char* rocksdb_block_based_options_get_user_defined_index_factory_name(
    const rocksdb_block_based_table_options_t* /*options*/, size_t* name_size) noexcept {
  return BorrowText(nullptr, name_size);
}
void rocksdb_readoptions_set_table_index_factory_from_string(rocksdb_readoptions_t* /*options*/,
                                                             const char* value, size_t value_size,
                                                             char** errptr) noexcept {
  RefuseIndexFactory(value, value_size, errptr);
}
void rocksdb_readoptions_clear_table_index_factory(rocksdb_readoptions_t* /*options*/) noexcept {}
const char* rocksdb_readoptions_get_table_index_factory_name(
    const rocksdb_readoptions_t* /*options*/, size_t* name_size) noexcept {
  return BorrowText(nullptr, name_size);
}

// ---- PlainTables.

void rocksdb_options_set_plain_table_factory(rocksdb_options_t* options, uint32_t user_key_len,
                                             int bloom_bits_per_key, double hash_table_ratio,
                                             size_t index_sparseness, size_t huge_page_tlb_size,
                                             char encoding_type, unsigned char full_scan_mode,
                                             unsigned char store_index_in_file) noexcept {
  ashlar::PlainTableOptions table_options;
  table_options.user_key_len = user_key_len;
  table_options.bloom_bits_per_key = bloom_bits_per_key;
  table_options.hash_table_ratio = hash_table_ratio;
  table_options.index_sparseness = index_sparseness;
  table_options.huge_page_tlb_size = huge_page_tlb_size;
  table_options.encoding_type = static_cast<ashlar::EncodingType>(encoding_type);
  table_options.full_scan_mode = full_scan_mode != 0;
  table_options.store_index_in_file = store_index_in_file != 0;
  options->rep.table_factory.reset(ashlar::NewPlainTableFactory(table_options));
}

// ---- Cuckoo tables.

ASHLAR_C_CREATE_AND_DESTROY(cuckoo_options)
void rocksdb_options_set_cuckoo_table_factory(
    rocksdb_options_t* options, rocksdb_cuckoo_table_options_t* table_options) noexcept {
  if (table_options != nullptr)
    options->rep.table_factory.reset(ashlar::NewCuckooTableFactory(table_options->rep));
}
// Two names for one option.
ASHLAR_C_SETTER_OF(cuckoo_options, hash_ratio, double, hash_table_ratio)
ASHLAR_C_ACCESSORS(cuckoo_options, hash_table_ratio, double)
ASHLAR_C_ACCESSORS(cuckoo_options, max_search_depth, uint32_t)
ASHLAR_C_ACCESSORS(cuckoo_options, cuckoo_block_size, uint32_t)
ASHLAR_C_ACCESSORS(cuckoo_options, identity_as_first_hash, unsigned char)
ASHLAR_C_ACCESSORS(cuckoo_options, use_module_hash, unsigned char)

// ---- Filters.

rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_bloom(double bits_per_key) noexcept {
  return Wrap(ashlar::NewBloomFilterPolicy(bits_per_key));
}
rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_bloom_full(double bits_per_key) noexcept {
  return Wrap(ashlar::NewBloomFilterPolicy(bits_per_key));
}
rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_bloom_format(double bits_per_key,
                                                                 bool original_format) noexcept {
  return Wrap(ashlar::NewBloomFilterPolicy(bits_per_key, original_format));
}
rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_ribbon(double bits_per_key) noexcept {
  return Wrap(ashlar::NewRibbonFilterPolicy(bits_per_key, -1));
}
rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_ribbon_hybrid(double bits_per_key,
                                                                  int bloom_before_level) noexcept {
  return Wrap(ashlar::NewRibbonFilterPolicy(bits_per_key, bloom_before_level));
}
rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_ribbon_format(double bits_per_key,
                                                                  int bloom_before_level) noexcept {
  return Wrap(ashlar::NewRibbonFilterPolicy(bits_per_key, bloom_before_level));
}
void rocksdb_filterpolicy_destroy(rocksdb_filterpolicy_t* policy) noexcept { delete Rep(policy); }

// ---- Caches.

rocksdb_cache_t* rocksdb_cache_create_lru(size_t capacity) noexcept {
  return new rocksdb_cache_t{ashlar::NewLRUCache(capacity)};
}
rocksdb_cache_t* rocksdb_cache_create_lru_with_strict_capacity_limit(size_t capacity) noexcept {
  return new rocksdb_cache_t{ashlar::NewLRUCache(capacity, -1, true)};
}
rocksdb_cache_t* rocksdb_cache_create_lru_opts(
    const rocksdb_lru_cache_options_t* options) noexcept {
  return new rocksdb_cache_t{options->rep.MakeSharedCache()};
}
rocksdb_cache_t* rocksdb_cache_create_hyper_clock(size_t capacity,
                                                  size_t estimated_entry_charge) noexcept {
  return new rocksdb_cache_t{
      ashlar::HyperClockCacheOptions(capacity, estimated_entry_charge).MakeSharedCache()};
}
rocksdb_cache_t* rocksdb_cache_create_hyper_clock_opts(
    const rocksdb_hyper_clock_cache_options_t* options) noexcept {
  return new rocksdb_cache_t{options->rep.MakeSharedCache()};
}
void rocksdb_cache_destroy(rocksdb_cache_t* cache) noexcept { delete cache; }
void rocksdb_cache_set_capacity(rocksdb_cache_t* cache, size_t capacity) noexcept {
  cache->rep->SetCapacity(capacity);
}
size_t rocksdb_cache_get_capacity(const rocksdb_cache_t* cache) noexcept {
  return cache->rep->GetCapacity();
}
size_t rocksdb_cache_get_usage(const rocksdb_cache_t* cache) noexcept {
  return cache->rep->GetUsage();
}
size_t rocksdb_cache_get_pinned_usage(const rocksdb_cache_t* cache) noexcept {
  return cache->rep->GetPinnedUsage();
}
size_t rocksdb_cache_get_occupancy_count(const rocksdb_cache_t* cache) noexcept {
  return cache->rep->GetOccupancyCount();
}
size_t rocksdb_cache_get_table_address_count(const rocksdb_cache_t* /*cache*/) noexcept {
  return 0;
}
void rocksdb_cache_disown_data(rocksdb_cache_t* /*cache*/) noexcept {}

// No function makes an allocator, so these functions get null.
rocksdb_memory_allocator_t* rocksdb_jemalloc_nodump_allocator_create(char** errptr) noexcept {
  SetError(errptr, Status::NotSupported("memory allocators of caches are not implemented",
                                        "built without jemalloc"));
  return nullptr;
}
void rocksdb_memory_allocator_destroy(rocksdb_memory_allocator_t* /*allocator*/) noexcept {}
void rocksdb_lru_cache_options_set_memory_allocator(
    rocksdb_lru_cache_options_t* /*options*/, rocksdb_memory_allocator_t* /*allocator*/) noexcept {}
void rocksdb_hyper_clock_cache_options_set_memory_allocator(
    rocksdb_hyper_clock_cache_options_t* /*options*/,
    rocksdb_memory_allocator_t* /*allocator*/) noexcept {}

ASHLAR_C_CREATE_AND_DESTROY(lru_cache_options)
ASHLAR_C_SETTER(lru_cache_options, capacity, size_t)
ASHLAR_C_SETTER(lru_cache_options, num_shard_bits, int)

rocksdb_hyper_clock_cache_options_t* rocksdb_hyper_clock_cache_options_create(
    size_t capacity, size_t estimated_entry_charge) noexcept {
  return new rocksdb_hyper_clock_cache_options_t{
      ashlar::HyperClockCacheOptions(capacity, estimated_entry_charge)};
}
void rocksdb_hyper_clock_cache_options_destroy(
    rocksdb_hyper_clock_cache_options_t* options) noexcept {
  delete options;
}
ASHLAR_C_SETTER(hyper_clock_cache_options, capacity, size_t)
ASHLAR_C_SETTER(hyper_clock_cache_options, estimated_entry_charge, size_t)
ASHLAR_C_SETTER(hyper_clock_cache_options, num_shard_bits, int)
