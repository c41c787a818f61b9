// RocksApi: the functions of RocksDB's C interface that the driver calls, found by name in
// whichever library exports them.
//
// The declarations are the driver's own, so that it builds without RocksDB's headers, or Ashlar's.
// Functions that only some workloads need are looked up when they are needed, so a library without
// them can run the other workloads.
//
// Thread safety: immutable after construction.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bench/driver/fail.h"
#include "bench/driver/library.h"
#include "bench/driver/tally.h"

namespace ashlar::bench {

// Opaque, as in the interface.
struct RocksDb;
struct RocksOptions;
struct RocksTableOptions;
struct RocksReadOptions;
struct RocksWriteOptions;
struct RocksFlushOptions;
struct RocksCache;
struct RocksFilterPolicy;
struct RocksSliceTransform;
struct RocksIterator;
struct RocksPinnableSlice;
struct RocksFamily;
struct RocksComparator;
struct RocksCompactionFilter;
struct RocksEnvOptions;
struct RocksSstFileWriter;
struct RocksIngestOptions;
struct RocksCheckpoint;
struct RocksWalIterator;
struct RocksWalReadOptions;
struct RocksWriteBatch;
struct RocksWaitOptions;
struct RocksPerfContext;

using RocksBool = unsigned char;

// F(member, result, parameters): every workload needs these.
#define ASHLAR_BENCH_ROCKS_REQUIRED(F)                                                      \
  F(open, RocksDb*, (const RocksOptions*, const char*, char**))                             \
  F(close, void, (RocksDb*))                                                                \
  F(free, void, (void*))                                                                    \
  F(put, void,                                                                              \
    (RocksDb*, const RocksWriteOptions*, const char*, size_t, const char*, size_t, char**)) \
  F(get, char*, (RocksDb*, const RocksReadOptions*, const char*, size_t, size_t*, char**))  \
  F(get_pinned, RocksPinnableSlice*,                                                        \
    (RocksDb*, const RocksReadOptions*, const char*, size_t, char**))                       \
  F(pinnableslice_destroy, void, (RocksPinnableSlice*))                                     \
  F(pinnableslice_value, const char*, (const RocksPinnableSlice*, size_t*))                 \
  F(create_iterator, RocksIterator*, (RocksDb*, const RocksReadOptions*))                   \
  F(iter_destroy, void, (RocksIterator*))                                                   \
  F(iter_valid, RocksBool, (const RocksIterator*))                                          \
  F(iter_seek_to_first, void, (RocksIterator*))                                             \
  F(iter_seek_to_last, void, (RocksIterator*))                                              \
  F(iter_seek, void, (RocksIterator*, const char*, size_t))                                 \
  F(iter_next, void, (RocksIterator*))                                                      \
  F(iter_prev, void, (RocksIterator*))                                                      \
  F(iter_key, const char*, (const RocksIterator*, size_t*))                                 \
  F(iter_value, const char*, (const RocksIterator*, size_t*))                               \
  F(iter_get_error, void, (const RocksIterator*, char**))                                   \
  F(flush, void, (RocksDb*, const RocksFlushOptions*, char**))                              \
  F(flushoptions_create, RocksFlushOptions*, ())                                            \
  F(flushoptions_destroy, void, (RocksFlushOptions*))                                       \
  F(compact_range, void, (RocksDb*, const char*, size_t, const char*, size_t))              \
  F(property_int, int, (RocksDb*, const char*, uint64_t*))                                  \
  F(options_create, RocksOptions*, ())                                                      \
  F(options_destroy, void, (RocksOptions*))                                                 \
  F(options_set_create_if_missing, void, (RocksOptions*, RocksBool))                        \
  F(options_set_compression, void, (RocksOptions*, int))                                    \
  F(options_set_write_buffer_size, void, (RocksOptions*, size_t))                           \
  F(options_set_disable_auto_compactions, void, (RocksOptions*, int))                       \
  F(options_set_block_based_table_factory, void, (RocksOptions*, RocksTableOptions*))       \
  F(block_based_options_create, RocksTableOptions*, ())                                     \
  F(block_based_options_destroy, void, (RocksTableOptions*))                                \
  F(block_based_options_set_block_cache, void, (RocksTableOptions*, RocksCache*))           \
  F(block_based_options_set_no_block_cache, void, (RocksTableOptions*, RocksBool))          \
  F(block_based_options_set_filter_policy, void, (RocksTableOptions*, RocksFilterPolicy*))  \
  F(filterpolicy_create_bloom_full, RocksFilterPolicy*, (double))                           \
  F(cache_create_lru, RocksCache*, (size_t))                                                \
  F(cache_destroy, void, (RocksCache*))                                                     \
  F(readoptions_create, RocksReadOptions*, ())                                              \
  F(readoptions_destroy, void, (RocksReadOptions*))                                         \
  F(readoptions_set_fill_cache, void, (RocksReadOptions*, RocksBool))                       \
  F(writeoptions_create, RocksWriteOptions*, ())                                            \
  F(writeoptions_destroy, void, (RocksWriteOptions*))                                       \
  F(writeoptions_set_sync, void, (RocksWriteOptions*, RocksBool))                           \
  F(writeoptions_disable_WAL, void, (RocksWriteOptions*, int))

// These are needed by the workloads that call them.
#define ASHLAR_BENCH_ROCKS_OPTIONAL(F)                                                           \
  F(merge, void,                                                                                 \
    (RocksDb*, const RocksWriteOptions*, const char*, size_t, const char*, size_t, char**))      \
  F(get_default_column_family_handle, RocksFamily*, (RocksDb*))                                  \
  F(delete_cf, void,                                                                             \
    (RocksDb*, const RocksWriteOptions*, RocksFamily*, const char*, size_t, char**))             \
  F(delete_range_cf, void,                                                                       \
    (RocksDb*, const RocksWriteOptions*, RocksFamily*, const char*, size_t, const char*, size_t, \
     char**))                                                                                    \
  F(batched_multi_get_cf, void,                                                                  \
    (RocksDb*, const RocksReadOptions*, RocksFamily*, size_t, const char* const*, const size_t*, \
     RocksPinnableSlice**, char**, bool))                                                        \
  F(wait_for_compact_options_create, RocksWaitOptions*, ())                                      \
  F(wait_for_compact_options_destroy, void, (RocksWaitOptions*))                                 \
  F(wait_for_compact, void, (RocksDb*, RocksWaitOptions*, char**))                               \
  F(cache_create_hyper_clock, RocksCache*, (size_t, size_t))                                     \
  F(get_options_from_string, void, (const RocksOptions*, const char*, RocksOptions*, char**))    \
  F(options_prepare_for_bulk_load, void, (RocksOptions*))                                        \
  F(property_value, char*, (RocksDb*, const char*))                                              \
  F(perfcontext_create, RocksPerfContext*, ())                                                   \
  F(perfcontext_destroy, void, (RocksPerfContext*))                                              \
  F(perfcontext_metric, uint64_t, (RocksPerfContext*, int))                                      \
  F(options_set_allow_mmap_reads, void, (RocksOptions*, RocksBool))                              \
  F(options_set_use_direct_reads, void, (RocksOptions*, RocksBool))                              \
  F(options_set_use_direct_io_for_flush_and_compaction, void, (RocksOptions*, RocksBool))        \
  F(options_set_allow_concurrent_memtable_write, void, (RocksOptions*, RocksBool))               \
  F(options_set_memtable_vector_rep, void, (RocksOptions*))                                      \
  F(options_set_hash_skip_list_rep, void, (RocksOptions*, size_t, int32_t, int32_t))             \
  F(options_set_plain_table_factory, void,                                                       \
    (RocksOptions*, uint32_t, int, double, size_t, size_t, char, RocksBool, RocksBool))          \
  F(options_set_prefix_extractor, void, (RocksOptions*, RocksSliceTransform*))                   \
  F(slicetransform_create_fixed_prefix, RocksSliceTransform*, (size_t))                          \
  F(readoptions_set_prefix_same_as_start, void, (RocksReadOptions*, RocksBool))                  \
  F(readoptions_set_tailing, void, (RocksReadOptions*, RocksBool))                               \
  F(comparator_create, RocksComparator*,                                                         \
    (void*, void (*)(void*), int (*)(void*, const char*, size_t, const char*, size_t),           \
     const char* (*)(void*)))                                                                    \
  F(options_set_comparator, void, (RocksOptions*, RocksComparator*))                             \
  F(create_column_family, RocksFamily*, (RocksDb*, const RocksOptions*, const char*, char**))    \
  F(create_column_families, RocksFamily**,                                                       \
    (RocksDb*, const RocksOptions*, int, const char* const*, size_t*, char**))                   \
  F(create_column_families_destroy, void, (RocksFamily**))                                       \
  F(column_family_handle_destroy, void, (RocksFamily*))                                          \
  F(put_cf, void,                                                                                \
    (RocksDb*, const RocksWriteOptions*, RocksFamily*, const char*, size_t, const char*, size_t, \
     char**))                                                                                    \
  F(get_pinned_cf, RocksPinnableSlice*,                                                          \
    (RocksDb*, const RocksReadOptions*, RocksFamily*, const char*, size_t, char**))              \
  F(flush_cf, void, (RocksDb*, const RocksFlushOptions*, RocksFamily*, char**))                  \
  F(compact_range_cf, void, (RocksDb*, RocksFamily*, const char*, size_t, const char*, size_t))  \
  F(compactionfilter_create, RocksCompactionFilter*,                                             \
    (void*, void (*)(void*),                                                                     \
     RocksBool (*)(void*, int, const char*, size_t, const char*, size_t, char**, size_t*,        \
                   RocksBool*),                                                                  \
     const char* (*)(void*)))                                                                    \
  F(options_set_compaction_filter, void, (RocksOptions*, RocksCompactionFilter*))                \
  F(envoptions_create, RocksEnvOptions*, ())                                                     \
  F(envoptions_destroy, void, (RocksEnvOptions*))                                                \
  F(sstfilewriter_create, RocksSstFileWriter*, (const RocksEnvOptions*, const RocksOptions*))    \
  F(sstfilewriter_open, void, (RocksSstFileWriter*, const char*, char**))                        \
  F(sstfilewriter_put, void,                                                                     \
    (RocksSstFileWriter*, const char*, size_t, const char*, size_t, char**))                     \
  F(sstfilewriter_finish, void, (RocksSstFileWriter*, char**))                                   \
  F(sstfilewriter_destroy, void, (RocksSstFileWriter*))                                          \
  F(ingestexternalfileoptions_create, RocksIngestOptions*, ())                                   \
  F(ingestexternalfileoptions_destroy, void, (RocksIngestOptions*))                              \
  F(ingestexternalfileoptions_set_move_files, void, (RocksIngestOptions*, RocksBool))            \
  F(ingest_external_file, void,                                                                  \
    (RocksDb*, const char* const*, size_t, const RocksIngestOptions*, char**))                   \
  F(checkpoint_object_create, RocksCheckpoint*, (RocksDb*, char**))                              \
  F(checkpoint_create, void, (RocksCheckpoint*, const char*, uint64_t, char**))                  \
  F(checkpoint_object_destroy, void, (RocksCheckpoint*))                                         \
  F(get_updates_since, RocksWalIterator*,                                                        \
    (RocksDb*, uint64_t, const RocksWalReadOptions*, char**))                                    \
  F(wal_iter_valid, RocksBool, (const RocksWalIterator*))                                        \
  F(wal_iter_next, void, (RocksWalIterator*))                                                    \
  F(wal_iter_status, void, (const RocksWalIterator*, char**))                                    \
  F(wal_iter_get_batch, RocksWriteBatch*, (const RocksWalIterator*, uint64_t*))                  \
  F(wal_iter_destroy, void, (const RocksWalIterator*))                                           \
  F(writebatch_data, const char*, (RocksWriteBatch*, size_t*))                                   \
  F(writebatch_destroy, void, (RocksWriteBatch*))                                                \
  F(open_as_secondary, RocksDb*, (const RocksOptions*, const char*, const char*, char**))        \
  F(try_catch_up_with_primary, void, (RocksDb*, char**))                                         \
  F(open_column_families, RocksDb*,                                                              \
    (const RocksOptions*, const char*, int, const char* const*, const RocksOptions* const*,      \
     RocksFamily**, char**))

struct RocksApi {
  using Db = RocksDb;
  using ReadOptions = RocksReadOptions;
  using WriteOptions = RocksWriteOptions;
  using Iterator = RocksIterator;

  explicit RocksApi(const Library& library);

#define ASHLAR_BENCH_DECLARE(name, result, parameters) result(*name) parameters = nullptr;
  ASHLAR_BENCH_ROCKS_REQUIRED(ASHLAR_BENCH_DECLARE)
  ASHLAR_BENCH_ROCKS_OPTIONAL(ASHLAR_BENCH_DECLARE)
#undef ASHLAR_BENCH_DECLARE
};

// Adds the value to the tally and releases it. Null means that the key was not found.
inline void AddPinned(const RocksApi& api, RocksPinnableSlice* value, Tally* tally) {
  if (value == nullptr) return;
  size_t value_bytes = 0;
  const char* const data = api.pinnableslice_value(value, &value_bytes);
  tally->Add(data, value_bytes);
  api.pinnableslice_destroy(value);
}

// Returns the function. Ends the process if the library does not export it.
template <typename Function>
Function* Need(Function* function, const char* name) {
  if (function == nullptr) NotAvailable(std::string("the library does not export ") + name);
  return function;
}

}  // namespace ashlar::bench
