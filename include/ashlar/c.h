// The C interface: RocksDB's C API by name and signature (release 11.8's, and 7.8's functions that
// 11.8 removed). Programs and language bindings compile and link against libashlar. A function that
// is not declared here does not exist, so a binding fails at link time instead of at run time.
// docs/compatibility.md lists the missing ones. Valid C11 and C++. No exception leaves a function.
// A lack of memory in the database, or for a copied value, is an error; any other ends the process.
//
// Ownership, unless a function documents an exception:
//   objects    The caller owns every rocksdb_..._t* that a function returns, and releases it with
//              the _destroy, _close or _release function of the same subject.
//   bytes in   Keys, values and texts are read during the call and not kept, except the bounds in
//              rocksdb_readoptions_t.
//   bytes out  A returned char* (or char**) belongs to the caller, who frees it with rocksdb_free.
//              A const char* is borrowed: from an iterator until it moves, otherwise from the
//              object until that changes or is destroyed. Borrowed names end in a 0 byte. The size
//              of other bytes is written through the size_t*.
//   settings   Caches, rate limiters, loggers and option structs are shared or copied by their
//              users; the caller still destroys its own. Users take over merge operators, prefix
//              extractors and filter policies: the caller must not destroy them. The caller keeps
//              comparators and Envs. Requires: they outlive every database that uses them.
//
// Errors: `errptr` points to a char* that is null or was set by an earlier call. A failure frees
// the old text and sets a new one, which the caller frees. Success changes nothing, so one check
// after several calls sees any failure. "Not found" is not an error. Truth values are unsigned
// char, 0 or 1. Sizes are in bytes. Thread safety is that of the C++ classes: a database may be
// used by several threads at once; options, batches and iterators by one thread at a time.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ashlar/export.h"

#ifdef __cplusplus
#define ASHLAR_NOTHROW noexcept
extern "C" {
#else
#define ASHLAR_NOTHROW
#endif

// RocksDB's export macro, for programs that use it. It is empty here.
#ifndef ROCKSDB_LIBRARY_API
#define ROCKSDB_LIBRARY_API
#endif

typedef struct rocksdb_backup_engine_info_t rocksdb_backup_engine_info_t;
typedef struct rocksdb_backup_engine_options_t rocksdb_backup_engine_options_t;
typedef struct rocksdb_backup_engine_t rocksdb_backup_engine_t;
typedef struct rocksdb_blob_file_addition_info_t rocksdb_blob_file_addition_info_t;
typedef struct rocksdb_blob_file_garbage_info_t rocksdb_blob_file_garbage_info_t;
typedef struct rocksdb_block_based_table_options_t rocksdb_block_based_table_options_t;
typedef struct rocksdb_cache_t rocksdb_cache_t;
typedef struct rocksdb_checkpoint_t rocksdb_checkpoint_t;
typedef struct rocksdb_column_family_handle_t rocksdb_column_family_handle_t;
typedef struct rocksdb_column_family_metadata_options_t rocksdb_column_family_metadata_options_t;
typedef struct rocksdb_column_family_metadata_t rocksdb_column_family_metadata_t;
typedef struct rocksdb_compaction_options_t rocksdb_compaction_options_t;
typedef struct rocksdb_compactionfilter_t rocksdb_compactionfilter_t;
typedef struct rocksdb_compactionfiltercontext_t rocksdb_compactionfiltercontext_t;
typedef struct rocksdb_compactionfilterfactory_t rocksdb_compactionfilterfactory_t;
typedef struct rocksdb_compactionjobinfo_t rocksdb_compactionjobinfo_t;
typedef struct rocksdb_compactoptions_t rocksdb_compactoptions_t;
typedef struct rocksdb_comparator_t rocksdb_comparator_t;
typedef struct rocksdb_create_backup_options_t rocksdb_create_backup_options_t;
typedef struct rocksdb_dbpath_t rocksdb_dbpath_t;
typedef struct rocksdb_env_t rocksdb_env_t;
typedef struct rocksdb_file_checksum_gen_factory_t rocksdb_file_checksum_gen_factory_t;
typedef struct rocksdb_fifo_compaction_options_t rocksdb_fifo_compaction_options_t;
typedef struct rocksdb_envoptions_t rocksdb_envoptions_t;
typedef struct rocksdb_export_import_files_metadata_t rocksdb_export_import_files_metadata_t;
typedef struct rocksdb_filterpolicy_t rocksdb_filterpolicy_t;
typedef struct rocksdb_flushoptions_t rocksdb_flushoptions_t;
typedef struct rocksdb_hyper_clock_cache_options_t rocksdb_hyper_clock_cache_options_t;
typedef struct rocksdb_import_column_family_options_t rocksdb_import_column_family_options_t;
typedef struct rocksdb_ingestexternalfileoptions_t rocksdb_ingestexternalfileoptions_t;
typedef struct rocksdb_flushwaloptions_t rocksdb_flushwaloptions_t;
typedef struct rocksdb_walfilter_t rocksdb_walfilter_t;
typedef struct rocksdb_cuckoo_table_options_t rocksdb_cuckoo_table_options_t;
typedef struct rocksdb_iterator_t rocksdb_iterator_t;
typedef struct rocksdb_level_metadata_t rocksdb_level_metadata_t;
typedef struct rocksdb_livefile_t rocksdb_livefile_t;
typedef struct rocksdb_livefiles_storage_info_options_t rocksdb_livefiles_storage_info_options_t;
typedef struct rocksdb_livefiles_storage_info_t rocksdb_livefiles_storage_info_t;
typedef struct rocksdb_livefiles_t rocksdb_livefiles_t;
typedef struct rocksdb_logger_t rocksdb_logger_t;
typedef struct rocksdb_lru_cache_options_t rocksdb_lru_cache_options_t;
typedef struct rocksdb_memory_allocator_t rocksdb_memory_allocator_t;
typedef struct rocksdb_memory_consumers_t rocksdb_memory_consumers_t;
typedef struct rocksdb_memory_usage_t rocksdb_memory_usage_t;
typedef struct rocksdb_mergeoperator_t rocksdb_mergeoperator_t;
typedef struct rocksdb_options_t rocksdb_options_t;
typedef struct rocksdb_perfcontext_t rocksdb_perfcontext_t;
typedef struct rocksdb_pinnable_handle_t rocksdb_pinnable_handle_t;
typedef struct rocksdb_pinnableslice_t rocksdb_pinnableslice_t;
typedef struct rocksdb_ratelimiter_t rocksdb_ratelimiter_t;
typedef struct rocksdb_readoptions_t rocksdb_readoptions_t;
typedef struct rocksdb_restore_options_t rocksdb_restore_options_t;
typedef struct rocksdb_size_approximation_options_t rocksdb_size_approximation_options_t;
typedef struct rocksdb_slicetransform_t rocksdb_slicetransform_t;
typedef struct rocksdb_snapshot_t rocksdb_snapshot_t;
typedef struct rocksdb_sst_file_metadata_t rocksdb_sst_file_metadata_t;
typedef struct rocksdb_sst_file_manager_t rocksdb_sst_file_manager_t;
typedef struct rocksdb_sst_partitioner_factory_t rocksdb_sst_partitioner_factory_t;
typedef struct rocksdb_sstfilewriter_t rocksdb_sstfilewriter_t;
typedef struct rocksdb_statistics_histogram_data_t rocksdb_statistics_histogram_data_t;
typedef struct rocksdb_t rocksdb_t;
typedef struct rocksdb_table_properties_collector_factory_t
    rocksdb_table_properties_collector_factory_t;
typedef struct rocksdb_table_properties_t rocksdb_table_properties_t;
typedef struct rocksdb_universal_compaction_options_t rocksdb_universal_compaction_options_t;
typedef struct rocksdb_wait_for_compact_options_t rocksdb_wait_for_compact_options_t;
typedef struct rocksdb_wal_file_t rocksdb_wal_file_t;
typedef struct rocksdb_wal_files_t rocksdb_wal_files_t;
typedef struct rocksdb_wal_iterator_t rocksdb_wal_iterator_t;
typedef struct rocksdb_wal_readoptions_t rocksdb_wal_readoptions_t;
typedef struct rocksdb_write_buffer_manager_t rocksdb_write_buffer_manager_t;
typedef struct rocksdb_writebatch_t rocksdb_writebatch_t;
typedef struct rocksdb_writeoptions_t rocksdb_writeoptions_t;
typedef struct rocksdb_compaction_file_info_t rocksdb_compaction_file_info_t;
typedef struct rocksdb_compaction_job_stats_t rocksdb_compaction_job_stats_t;
typedef struct rocksdb_eventlistener_t rocksdb_eventlistener_t;
typedef struct rocksdb_externalfileingestioninfo_t rocksdb_externalfileingestioninfo_t;
typedef struct rocksdb_flushjobinfo_t rocksdb_flushjobinfo_t;
typedef struct rocksdb_memtableinfo_t rocksdb_memtableinfo_t;
typedef struct rocksdb_status_ptr_t rocksdb_status_ptr_t;
typedef struct rocksdb_subcompactionjobinfo_t rocksdb_subcompactionjobinfo_t;
typedef struct rocksdb_writestallcondition_t rocksdb_writestallcondition_t;
typedef struct rocksdb_writestallinfo_t rocksdb_writestallinfo_t;

typedef struct ashlar_sstfilereader_t ashlar_sstfilereader_t;
typedef struct ashlar_tableproperties_t ashlar_tableproperties_t;

typedef void (*rocksdb_create_backup_options_progress_cb)(void* state);
typedef unsigned char (*rocksdb_create_backup_options_exclude_files_cb)(void* state,
                                                                        const char* relative_file,
                                                                        size_t relative_file_size);
typedef unsigned char (*rocksdb_readoptions_table_filter_cb)(
    void* state, const rocksdb_table_properties_t* table_properties);

// Borrowed bytes. Passed and returned by value, in registers.
typedef struct rocksdb_slice_t {
  const char* data;
  size_t size;
} rocksdb_slice_t;

// ---- Databases.

// Null after a failure. rocksdb_open opens only the default family; see ashlar/db.h for the other
// open functions. `options` may be destroyed afterwards.
ASHLAR_API rocksdb_t* rocksdb_open(const rocksdb_options_t* options, const char* name,
                                   char** errptr) ASHLAR_NOTHROW;
ASHLAR_API rocksdb_t* rocksdb_open_for_read_only(const rocksdb_options_t* options, const char* name,
                                                 unsigned char error_if_wal_file_exists,
                                                 char** errptr) ASHLAR_NOTHROW;
// Opens several families. column_family_handles, an array of num_column_families, receives one
// handle for each name.
ASHLAR_API rocksdb_t* rocksdb_open_column_families(
    const rocksdb_options_t* options, const char* name, int num_column_families,
    const char* const* column_family_names, const rocksdb_options_t* const* column_family_options,
    rocksdb_column_family_handle_t** column_family_handles, char** errptr) ASHLAR_NOTHROW;
// Databases whose values expire (ashlar/utilities/db_ttl.h). ttl is in seconds; 0 or less: never.
// ttls has one element for each name.
ASHLAR_API rocksdb_t* rocksdb_open_with_ttl(const rocksdb_options_t* options, const char* name,
                                            int ttl, char** errptr) ASHLAR_NOTHROW;
ASHLAR_API rocksdb_t* rocksdb_open_column_families_with_ttl(
    const rocksdb_options_t* options, const char* name, int num_column_families,
    const char* const* column_family_names, const rocksdb_options_t* const* column_family_options,
    rocksdb_column_family_handle_t** column_family_handles, const int* ttls,
    char** errptr) ASHLAR_NOTHROW;
ASHLAR_API rocksdb_t* rocksdb_open_for_read_only_column_families(
    const rocksdb_options_t* options, const char* name, int num_column_families,
    const char* const* column_family_names, const rocksdb_options_t* const* column_family_options,
    rocksdb_column_family_handle_t** column_family_handles, unsigned char error_if_wal_file_exists,
    char** errptr) ASHLAR_NOTHROW;
// Secondaries (ashlar/db.h). rocksdb_open_as_secondary opens only the default family.
ASHLAR_API rocksdb_t* rocksdb_open_as_secondary(const rocksdb_options_t* options, const char* name,
                                                const char* secondary_path,
                                                char** errptr) ASHLAR_NOTHROW;
ASHLAR_API rocksdb_t* rocksdb_open_as_secondary_column_families(
    const rocksdb_options_t* options, const char* name, const char* secondary_path,
    int num_column_families, const char* const* column_family_names,
    const rocksdb_options_t* const* column_family_options,
    rocksdb_column_family_handle_t** column_family_handles, char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_try_catch_up_with_primary(rocksdb_t* db, char** errptr) ASHLAR_NOTHROW;
// Ashlar's own: DB::PromoteToPrimary and DB::IsSecondary (ashlar/db.h).
ASHLAR_API void ashlar_promote_to_primary(rocksdb_t* db, char** errptr) ASHLAR_NOTHROW;
ASHLAR_API unsigned char ashlar_is_secondary(rocksdb_t* db) ASHLAR_NOTHROW;
// Release iterators, snapshots, pinned values and handles of families first.
ASHLAR_API void rocksdb_close(rocksdb_t* db) ASHLAR_NOTHROW;
// Deletes the files of a database that is not open.
ASHLAR_API void rocksdb_destroy_db(const rocksdb_options_t* options, const char* name,
                                   char** errptr) ASHLAR_NOTHROW;
// Repairs with these options for every column family; see ashlar/repair.h.
ASHLAR_API void rocksdb_repair_db(const rocksdb_options_t* options, const char* name,
                                  char** errptr) ASHLAR_NOTHROW;
// Returns null, and the size 0, if the identity is not known.
ASHLAR_API char* rocksdb_get_db_identity(rocksdb_t* db, size_t* id_size) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_get_latest_sequence_number(rocksdb_t* db) ASHLAR_NOTHROW;

// ---- Column families.

// Lists the families of a database, which need not be open. Null after a failure.
ASHLAR_API char** rocksdb_list_column_families(const rocksdb_options_t* options, const char* name,
                                               size_t* count, char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_list_column_families_destroy(char** list, size_t size) ASHLAR_NOTHROW;
ASHLAR_API rocksdb_column_family_handle_t* rocksdb_create_column_family(
    rocksdb_t* db, const rocksdb_options_t* column_family_options, const char* column_family_name,
    char** errptr) ASHLAR_NOTHROW;
// InvalidArgument: the database was not opened with a ttl.
ASHLAR_API rocksdb_column_family_handle_t* rocksdb_create_column_family_with_ttl(
    rocksdb_t* db, const rocksdb_options_t* column_family_options, const char* column_family_name,
    int ttl, char** errptr) ASHLAR_NOTHROW;
// See DB::CreateColumnFamilyWithImport.
ASHLAR_API rocksdb_column_family_handle_t* rocksdb_create_column_family_with_import(
    rocksdb_t* db, rocksdb_options_t* column_family_options, const char* column_family_name,
    rocksdb_import_column_family_options_t* import_options,
    rocksdb_export_import_files_metadata_t* metadata, char** errptr) ASHLAR_NOTHROW;
// Returns an array of *count handles, also after a failure partway. _destroy frees only the array.
ASHLAR_API rocksdb_column_family_handle_t** rocksdb_create_column_families(
    rocksdb_t* db, const rocksdb_options_t* column_family_options, int num_column_families,
    const char* const* column_family_names, size_t* count, char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_create_column_families_destroy(rocksdb_column_family_handle_t** list)
    ASHLAR_NOTHROW;
// The caller still owns the handle, which can still read the data of the dropped family.
ASHLAR_API void rocksdb_drop_column_family(rocksdb_t* db, rocksdb_column_family_handle_t* handle,
                                           char** errptr) ASHLAR_NOTHROW;
ASHLAR_API rocksdb_column_family_handle_t* rocksdb_get_default_column_family_handle(rocksdb_t* db)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_column_family_handle_destroy(rocksdb_column_family_handle_t* handle)
    ASHLAR_NOTHROW;
ASHLAR_API uint32_t rocksdb_column_family_handle_get_id(rocksdb_column_family_handle_t* handle)
    ASHLAR_NOTHROW;
ASHLAR_API char* rocksdb_column_family_handle_get_name(rocksdb_column_family_handle_t* handle,
                                                       size_t* name_size) ASHLAR_NOTHROW;

// ---- Writing.

ASHLAR_API void rocksdb_put(rocksdb_t* db, const rocksdb_writeoptions_t* options, const char* key,
                            size_t key_size, const char* value, size_t value_size,
                            char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_put_cf(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                               rocksdb_column_family_handle_t* column_family, const char* key,
                               size_t key_size, const char* value, size_t value_size,
                               char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_delete(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                               const char* key, size_t key_size, char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_delete_cf(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                                  rocksdb_column_family_handle_t* column_family, const char* key,
                                  size_t key_size, char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_singledelete(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                                     const char* key, size_t key_size,
                                     char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_singledelete_cf(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                                        rocksdb_column_family_handle_t* column_family,
                                        const char* key, size_t key_size,
                                        char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_delete_range_cf(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                                        rocksdb_column_family_handle_t* column_family,
                                        const char* start_key, size_t start_key_size,
                                        const char* end_key, size_t end_key_size,
                                        char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_merge(rocksdb_t* db, const rocksdb_writeoptions_t* options, const char* key,
                              size_t key_size, const char* value, size_t value_size,
                              char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_merge_cf(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                                 rocksdb_column_family_handle_t* column_family, const char* key,
                                 size_t key_size, const char* value, size_t value_size,
                                 char** errptr) ASHLAR_NOTHROW;
// The caller keeps the batch. If the batch refused a record when it was added (see below), this
// call fails, and nothing is written.
ASHLAR_API void rocksdb_write(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                              rocksdb_writebatch_t* batch, char** errptr) ASHLAR_NOTHROW;

// ---- Reading.

// Returns a copy of the value. Null if there is none, and after a failure.
ASHLAR_API char* rocksdb_get(rocksdb_t* db, const rocksdb_readoptions_t* options, const char* key,
                             size_t key_size, size_t* value_size, char** errptr) ASHLAR_NOTHROW;
ASHLAR_API char* rocksdb_get_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                rocksdb_column_family_handle_t* column_family, const char* key,
                                size_t key_size, size_t* value_size, char** errptr) ASHLAR_NOTHROW;
// Returns a handle to the value in the library's memory, which stays valid until the handle is
// destroyed. Null if there is no value, and after a failure.
ASHLAR_API rocksdb_pinnableslice_t* rocksdb_get_pinned(rocksdb_t* db,
                                                       const rocksdb_readoptions_t* options,
                                                       const char* key, size_t key_size,
                                                       char** errptr) ASHLAR_NOTHROW;
ASHLAR_API rocksdb_pinnableslice_t* rocksdb_get_pinned_cf(
    rocksdb_t* db, const rocksdb_readoptions_t* options,
    rocksdb_column_family_handle_t* column_family, const char* key, size_t key_size,
    char** errptr) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_pinnableslice_value(const rocksdb_pinnableslice_t* slice,
                                                   size_t* value_size) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_pinnableslice_destroy(rocksdb_pinnableslice_t* value) ASHLAR_NOTHROW;
// The same under other names.
ASHLAR_API rocksdb_pinnable_handle_t* rocksdb_get_pinned_v2(rocksdb_t* db,
                                                            const rocksdb_readoptions_t* options,
                                                            const char* key, size_t key_size,
                                                            char** errptr) ASHLAR_NOTHROW;
ASHLAR_API rocksdb_pinnable_handle_t* rocksdb_get_pinned_cf_v2(
    rocksdb_t* db, const rocksdb_readoptions_t* options,
    rocksdb_column_family_handle_t* column_family, const char* key, size_t key_size,
    char** errptr) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_pinnable_handle_get_value(const rocksdb_pinnable_handle_t* handle,
                                                         size_t* value_size) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_pinnable_handle_destroy(rocksdb_pinnable_handle_t* handle) ASHLAR_NOTHROW;
// Copies the value into the caller's buffer. *found is set to whether the key has a value, and
// *value_size to its length. Returns 1 if the value was copied, and 0 if it was not found or is
// longer than the buffer.
ASHLAR_API unsigned char rocksdb_get_into_buffer(rocksdb_t* db,
                                                 const rocksdb_readoptions_t* options,
                                                 const char* key, size_t key_size, char* buffer,
                                                 size_t buffer_size, size_t* value_size,
                                                 unsigned char* found,
                                                 char** errptr) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_get_into_buffer_cf(
    rocksdb_t* db, const rocksdb_readoptions_t* options,
    rocksdb_column_family_handle_t* column_family, const char* key, size_t key_size, char* buffer,
    size_t buffer_size, size_t* value_size, unsigned char* found, char** errptr) ASHLAR_NOTHROW;
// Each array has num_keys elements. values[i] is a copy, or null if there is no value; errors[i] is
// null, or a text that the caller frees.
ASHLAR_API void rocksdb_multi_get(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                  size_t num_keys, const char* const* keys, const size_t* key_sizes,
                                  char** values, size_t* value_sizes, char** errors) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_multi_get_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                     const rocksdb_column_family_handle_t* const* column_families,
                                     size_t num_keys, const char* const* keys,
                                     const size_t* key_sizes, char** values, size_t* value_sizes,
                                     char** errors) ASHLAR_NOTHROW;
// values[i] pins the value, or is null. sorted_input: the caller has sorted the keys.
ASHLAR_API void rocksdb_batched_multi_get_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                             rocksdb_column_family_handle_t* column_family,
                                             size_t num_keys, const char* const* keys,
                                             const size_t* key_sizes,
                                             rocksdb_pinnableslice_t** values, char** errors,
                                             const bool sorted_input) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_batched_multi_get_cf_slice(rocksdb_t* db,
                                                   const rocksdb_readoptions_t* options,
                                                   rocksdb_column_family_handle_t* column_family,
                                                   size_t num_keys, const rocksdb_slice_t* keys,
                                                   rocksdb_pinnableslice_t** values, char** errors,
                                                   const bool sorted_input) ASHLAR_NOTHROW;
// 0: the key does not exist. 1: it may. If value_found is not null and memory was enough to decide,
// *value_found is 1 and *value is a copy of the value, or 0 bytes if the key does not exist. Free
// it in both cases. Timestamps are not supported: with one the result is 1, and *value_found is 0.
ASHLAR_API unsigned char rocksdb_key_may_exist(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                               const char* key, size_t key_size, char** value,
                                               size_t* value_size, const char* timestamp,
                                               size_t timestamp_size,
                                               unsigned char* value_found) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_key_may_exist_cf(rocksdb_t* db,
                                                  const rocksdb_readoptions_t* options,
                                                  rocksdb_column_family_handle_t* column_family,
                                                  const char* key, size_t key_size, char** value,
                                                  size_t* value_size, const char* timestamp,
                                                  size_t timestamp_size,
                                                  unsigned char* value_found) ASHLAR_NOTHROW;

// ---- Iterators.

// rocksdb_iter_get_error returns any error. Null only if no iterator can be allocated. Options with
// bounds must outlive the iterator; others may be destroyed at once.
ASHLAR_API rocksdb_iterator_t* rocksdb_create_iterator(
    rocksdb_t* db, const rocksdb_readoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API rocksdb_iterator_t* rocksdb_create_iterator_cf(
    rocksdb_t* db, const rocksdb_readoptions_t* options,
    rocksdb_column_family_handle_t* column_family) ASHLAR_NOTHROW;
// Fills an array of `size` iterators, all over the same state. A failure leaves it unchanged.
ASHLAR_API void rocksdb_create_iterators(rocksdb_t* db, rocksdb_readoptions_t* options,
                                         rocksdb_column_family_handle_t** column_families,
                                         rocksdb_iterator_t** iterators, size_t size,
                                         char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_iter_destroy(rocksdb_iterator_t* iterator) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_iter_valid(const rocksdb_iterator_t* iterator) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_iter_seek_to_first(rocksdb_iterator_t* iterator) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_iter_seek_to_last(rocksdb_iterator_t* iterator) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_iter_seek(rocksdb_iterator_t* iterator, const char* key,
                                  size_t key_size) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_iter_seek_for_prev(rocksdb_iterator_t* iterator, const char* key,
                                           size_t key_size) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_iter_next(rocksdb_iterator_t* iterator) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_iter_prev(rocksdb_iterator_t* iterator) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_iter_key(const rocksdb_iterator_t* iterator,
                                        size_t* key_size) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_iter_value(const rocksdb_iterator_t* iterator,
                                          size_t* value_size) ASHLAR_NOTHROW;
ASHLAR_API rocksdb_slice_t rocksdb_iter_key_slice(const rocksdb_iterator_t* iter) ASHLAR_NOTHROW;
ASHLAR_API rocksdb_slice_t rocksdb_iter_value_slice(const rocksdb_iterator_t* iter) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_iter_get_error(const rocksdb_iterator_t* iterator,
                                       char** errptr) ASHLAR_NOTHROW;
// Moves the iterator to the newest state. Seek afterwards.
ASHLAR_API void rocksdb_iter_refresh(const rocksdb_iterator_t* iter, char** errptr) ASHLAR_NOTHROW;

// ---- Snapshots.

ASHLAR_API const rocksdb_snapshot_t* rocksdb_create_snapshot(rocksdb_t* db) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_release_snapshot(rocksdb_t* db,
                                         const rocksdb_snapshot_t* snapshot) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_snapshot_get_sequence_number(const rocksdb_snapshot_t* snapshot)
    ASHLAR_NOTHROW;

// ---- Write batches.

// A record that exceeds max_bytes or is too long is left out, and a later rocksdb_write fails.
// rocksdb_writebatch_clear resets this state, and so does a rollback to a save point that was set
// before. protection_bytes_per_key: if not 0, the batch has a checksum of its records; see
// WriteBatch::VerifyChecksum in ashlar/write_batch.h. default_cf_ts_sz has no effect: there are no
// user-defined timestamps.
ASHLAR_API rocksdb_writebatch_t* rocksdb_writebatch_create(void) ASHLAR_NOTHROW;
ASHLAR_API rocksdb_writebatch_t* rocksdb_writebatch_create_from(const char* rep,
                                                                size_t size) ASHLAR_NOTHROW;
ASHLAR_API rocksdb_writebatch_t* rocksdb_writebatch_create_with_params(
    size_t reserved_bytes, size_t max_bytes, size_t protection_bytes_per_key,
    size_t default_cf_ts_sz) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_writebatch_destroy(rocksdb_writebatch_t* batch) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_writebatch_clear(rocksdb_writebatch_t* batch) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_writebatch_count(rocksdb_writebatch_t* batch) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_writebatch_put(rocksdb_writebatch_t* batch, const char* key,
                                       size_t key_size, const char* value,
                                       size_t value_size) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_writebatch_put_cf(rocksdb_writebatch_t* batch,
                                          rocksdb_column_family_handle_t* column_family,
                                          const char* key, size_t key_size, const char* value,
                                          size_t value_size) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_writebatch_delete(rocksdb_writebatch_t* batch, const char* key,
                                          size_t key_size) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_writebatch_delete_cf(rocksdb_writebatch_t* batch,
                                             rocksdb_column_family_handle_t* column_family,
                                             const char* key, size_t key_size) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_writebatch_singledelete(rocksdb_writebatch_t* batch, const char* key,
                                                size_t key_size) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_writebatch_singledelete_cf(rocksdb_writebatch_t* batch,
                                                   rocksdb_column_family_handle_t* column_family,
                                                   const char* key, size_t key_size) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_writebatch_delete_range(rocksdb_writebatch_t* batch, const char* start_key,
                                                size_t start_key_size, const char* end_key,
                                                size_t end_key_size) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_writebatch_delete_range_cf(rocksdb_writebatch_t* batch,
                                                   rocksdb_column_family_handle_t* column_family,
                                                   const char* start_key, size_t start_key_size,
                                                   const char* end_key,
                                                   size_t end_key_size) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_writebatch_merge(rocksdb_writebatch_t* batch, const char* key,
                                         size_t key_size, const char* value,
                                         size_t value_size) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_writebatch_merge_cf(rocksdb_writebatch_t* batch,
                                            rocksdb_column_family_handle_t* column_family,
                                            const char* key, size_t key_size, const char* value,
                                            size_t value_size) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_writebatch_put_log_data(rocksdb_writebatch_t* batch, const char* blob,
                                                size_t size) ASHLAR_NOTHROW;
// Keys and values in pieces. The pieces of `keys` are joined to form the key of one record.
ASHLAR_API void rocksdb_writebatch_putv(rocksdb_writebatch_t* batch, int num_keys,
                                        const char* const* keys, const size_t* key_sizes,
                                        int num_values, const char* const* values,
                                        const size_t* value_sizes) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_writebatch_putv_cf(rocksdb_writebatch_t* batch,
                                           rocksdb_column_family_handle_t* column_family,
                                           int num_keys, const char* const* keys,
                                           const size_t* key_sizes, int num_values,
                                           const char* const* values,
                                           const size_t* value_sizes) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_writebatch_deletev(rocksdb_writebatch_t* batch, int num_keys,
                                           const char* const* keys,
                                           const size_t* key_sizes) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_writebatch_deletev_cf(rocksdb_writebatch_t* batch,
                                              rocksdb_column_family_handle_t* column_family,
                                              int num_keys, const char* const* keys,
                                              const size_t* key_sizes) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_writebatch_delete_rangev(rocksdb_writebatch_t* batch, int num_keys,
                                                 const char* const* start_keys,
                                                 const size_t* start_key_sizes,
                                                 const char* const* end_keys,
                                                 const size_t* end_key_sizes) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_writebatch_delete_rangev_cf(rocksdb_writebatch_t* batch,
                                                    rocksdb_column_family_handle_t* column_family,
                                                    int num_keys, const char* const* start_keys,
                                                    const size_t* start_key_sizes,
                                                    const char* const* end_keys,
                                                    const size_t* end_key_sizes) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_writebatch_mergev(rocksdb_writebatch_t* batch, int num_keys,
                                          const char* const* keys, const size_t* key_sizes,
                                          int num_values, const char* const* values,
                                          const size_t* value_sizes) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_writebatch_mergev_cf(rocksdb_writebatch_t* batch,
                                             rocksdb_column_family_handle_t* column_family,
                                             int num_keys, const char* const* keys,
                                             const size_t* key_sizes, int num_values,
                                             const char* const* values,
                                             const size_t* value_sizes) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_writebatch_set_save_point(rocksdb_writebatch_t* batch) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_writebatch_rollback_to_save_point(rocksdb_writebatch_t* batch,
                                                          char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_writebatch_pop_save_point(rocksdb_writebatch_t* batch,
                                                  char** errptr) ASHLAR_NOTHROW;
// Corruption: the records are not those that were added. Ok if the batch has no checksum.
ASHLAR_API void rocksdb_writebatch_verify_checksum(rocksdb_writebatch_t* batch,
                                                   char** errptr) ASHLAR_NOTHROW;
// Calls back for each record in order, and stops at a record that is damaged, or of a kind that
// neither function knows. Single deletions are reported as deletions. Range deletions, which no
// callback takes, and the records of a null function are skipped. rocksdb_writebatch_iterate also
// skips merges, and stops at a record of a family other than the default one.
ASHLAR_API void rocksdb_writebatch_iterate(rocksdb_writebatch_t* batch, void* state,
                                           void (*put)(void* state, const char* key,
                                                       size_t key_size, const char* value,
                                                       size_t value_size),
                                           void (*deleted)(void* state, const char* key,
                                                           size_t key_size)) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_writebatch_iterate_cf(
    rocksdb_writebatch_t* batch, void* state,
    void (*put_cf)(void* state, uint32_t cfid, const char* key, size_t key_size, const char* value,
                   size_t value_size),
    void (*deleted_cf)(void* state, uint32_t cfid, const char* key, size_t key_size),
    void (*merge_cf)(void* state, uint32_t cfid, const char* key, size_t key_size,
                     const char* value, size_t value_size)) ASHLAR_NOTHROW;
// The same two, also with the data of rocksdb_writebatch_put_log_data, in order with the records.
ASHLAR_API void rocksdb_writebatch_iterate_ld(
    rocksdb_writebatch_t* batch, void* state,
    void (*put)(void* state, const char* key, size_t key_size, const char* value,
                size_t value_size),
    void (*deleted)(void* state, const char* key, size_t key_size),
    void (*log_data)(void* state, const char* blob, size_t blob_size)) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_writebatch_iterate_cf_ld(
    rocksdb_writebatch_t* batch, void* state,
    void (*put_cf)(void* state, uint32_t cfid, const char* key, size_t key_size, const char* value,
                   size_t value_size),
    void (*deleted_cf)(void* state, uint32_t cfid, const char* key, size_t key_size),
    void (*merge_cf)(void* state, uint32_t cfid, const char* key, size_t key_size,
                     const char* value, size_t value_size),
    void (*log_data)(void* state, const char* blob, size_t blob_size)) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_writebatch_data(rocksdb_writebatch_t* batch,
                                               size_t* size) ASHLAR_NOTHROW;

// ---- Flushing and compaction.

ASHLAR_API void rocksdb_flush(rocksdb_t* db, const rocksdb_flushoptions_t* options,
                              char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_flush_cf(rocksdb_t* db, const rocksdb_flushoptions_t* options,
                                 rocksdb_column_family_handle_t* column_family,
                                 char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_flush_cfs(rocksdb_t* db, const rocksdb_flushoptions_t* options,
                                  rocksdb_column_family_handle_t** column_family,
                                  int num_column_families, char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_flush_wal(rocksdb_t* db, unsigned char sync, char** errptr) ASHLAR_NOTHROW;
// Options of rocksdb_flush_wal_with_options. Null: the defaults. The priority has no effect.
ASHLAR_API rocksdb_flushwaloptions_t* rocksdb_flushwaloptions_create(void) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_flushwaloptions_destroy(rocksdb_flushwaloptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_flushwaloptions_set_sync(rocksdb_flushwaloptions_t* options,
                                                 unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_flushwaloptions_get_sync(rocksdb_flushwaloptions_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_flushwaloptions_set_rate_limiter_priority(
    rocksdb_flushwaloptions_t* options, int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_flushwaloptions_get_rate_limiter_priority(rocksdb_flushwaloptions_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_flush_wal_with_options(rocksdb_t* db,
                                               const rocksdb_flushwaloptions_t* options,
                                               char** errptr) ASHLAR_NOTHROW;
// A null key means "from the first" or "to the last", here and below. rocksdb_compact_range and its
// relatives have no errptr. An error is written to the LOG and counted in the property
// rocksdb.background-errors.
ASHLAR_API void rocksdb_compact_range(rocksdb_t* db, const char* start_key, size_t start_key_size,
                                      const char* limit_key, size_t limit_key_size) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_compact_range_cf(rocksdb_t* db,
                                         rocksdb_column_family_handle_t* column_family,
                                         const char* start_key, size_t start_key_size,
                                         const char* limit_key,
                                         size_t limit_key_size) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_compact_range_opt(rocksdb_t* db, rocksdb_compactoptions_t* options,
                                          const char* start_key, size_t start_key_size,
                                          const char* limit_key,
                                          size_t limit_key_size) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_compact_range_cf_opt(rocksdb_t* db,
                                             rocksdb_column_family_handle_t* column_family,
                                             rocksdb_compactoptions_t* options,
                                             const char* start_key, size_t start_key_size,
                                             const char* limit_key,
                                             size_t limit_key_size) ASHLAR_NOTHROW;
// Files are named like "000012.sst". The names of the new files are put into *output_file_names, to
// be freed by rocksdb_compact_files_output_file_names_destroy; both output parameters and
// compaction_job_info may be null. Null options: the defaults. Null column_family: the default one.
ASHLAR_API void rocksdb_compact_files(rocksdb_t* db, const rocksdb_compaction_options_t* options,
                                      const char* const* input_file_names,
                                      size_t num_input_file_names, int output_level,
                                      int output_path_id, char*** output_file_names,
                                      size_t* num_output_file_names,
                                      rocksdb_compactionjobinfo_t* compaction_job_info,
                                      char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_compact_files_cf(
    rocksdb_t* db, rocksdb_column_family_handle_t* column_family,
    const rocksdb_compaction_options_t* options, const char* const* input_file_names,
    size_t num_input_file_names, int output_level, int output_path_id, char*** output_file_names,
    size_t* num_output_file_names, rocksdb_compactionjobinfo_t* compaction_job_info,
    char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_compact_files_output_file_names_destroy(
    char** output_file_names, size_t num_output_file_names) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_suggest_compact_range(rocksdb_t* db, const char* start_key,
                                              size_t start_key_size, const char* limit_key,
                                              size_t limit_key_size, char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_suggest_compact_range_cf(rocksdb_t* db,
                                                 rocksdb_column_family_handle_t* column_family,
                                                 const char* start_key, size_t start_key_size,
                                                 const char* limit_key, size_t limit_key_size,
                                                 char** errptr) ASHLAR_NOTHROW;
// See DeleteFilesInRange in ashlar/convenience.h; limit_key is included.
ASHLAR_API void rocksdb_delete_file_in_range(rocksdb_t* db, const char* start_key,
                                             size_t start_key_size, const char* limit_key,
                                             size_t limit_key_size, char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_delete_file_in_range_cf(rocksdb_t* db,
                                                rocksdb_column_family_handle_t* column_family,
                                                const char* start_key, size_t start_key_size,
                                                const char* limit_key, size_t limit_key_size,
                                                char** errptr) ASHLAR_NOTHROW;
// Deprecated. An error is reported like those of rocksdb_compact_range.
ASHLAR_API void rocksdb_delete_file(rocksdb_t* db, const char* name) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_disable_manual_compaction(rocksdb_t* db) ASHLAR_NOTHROW;
// Cancels compactions. None starts until rocksdb_resume_all_compactions was called as many times.
ASHLAR_API void rocksdb_abort_all_compactions(rocksdb_t* db) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_resume_all_compactions(rocksdb_t* db) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_enable_manual_compaction(rocksdb_t* db) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_wait_for_compact(rocksdb_t* db, rocksdb_wait_for_compact_options_t* options,
                                         char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_pause_background_work(rocksdb_t* db, char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_continue_background_work(rocksdb_t* db, char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_cancel_all_background_work(rocksdb_t* db,
                                                   unsigned char wait) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_disable_file_deletions(rocksdb_t* db, char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_enable_file_deletions(rocksdb_t* db, char** errptr) ASHLAR_NOTHROW;
// In all functions whose names end in _with_options, null options mean the defaults.
ASHLAR_API void rocksdb_verify_checksum(rocksdb_t* db, char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_verify_checksum_with_options(rocksdb_t* db,
                                                     const rocksdb_readoptions_t* options,
                                                     char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_verify_file_checksums(rocksdb_t* db, char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_verify_file_checksums_with_options(rocksdb_t* db,
                                                           const rocksdb_readoptions_t* options,
                                                           char** errptr) ASHLAR_NOTHROW;

// ---- Logs; see ashlar/transaction_log.h.

ASHLAR_API rocksdb_wal_readoptions_t* rocksdb_wal_readoptions_create(void) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_wal_readoptions_destroy(rocksdb_wal_readoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_wal_readoptions_set_verify_checksums(
    rocksdb_wal_readoptions_t* options, unsigned char verify_checksums) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_wal_readoptions_get_verify_checksums(
    rocksdb_wal_readoptions_t* options) ASHLAR_NOTHROW;
// options may be null. Null after an error.
ASHLAR_API rocksdb_wal_iterator_t* rocksdb_get_updates_since(
    rocksdb_t* db, uint64_t seq_number, const rocksdb_wal_readoptions_t* options,
    char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_wal_iter_next(rocksdb_wal_iterator_t* iter) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_wal_iter_valid(const rocksdb_wal_iterator_t* iter) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_wal_iter_status(const rocksdb_wal_iterator_t* iter,
                                        char** errptr) ASHLAR_NOTHROW;
// The caller owns the batch. Call it once per step.
ASHLAR_API rocksdb_writebatch_t* rocksdb_wal_iter_get_batch(const rocksdb_wal_iterator_t* iter,
                                                            uint64_t* seq) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_wal_iter_destroy(const rocksdb_wal_iterator_t* iter) ASHLAR_NOTHROW;

enum {
  rocksdb_wal_file_type_archived_log = 0,
  rocksdb_wal_file_type_alive_log = 1,
};
// The caller owns the results of these two; null after an error.
ASHLAR_API rocksdb_wal_files_t* rocksdb_get_sorted_wal_files(rocksdb_t* db,
                                                             char** errptr) ASHLAR_NOTHROW;
ASHLAR_API rocksdb_wal_file_t* rocksdb_get_current_wal_file(rocksdb_t* db,
                                                            char** errptr) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_wal_files_count(const rocksdb_wal_files_t* files) ASHLAR_NOTHROW;
// Lives as long as `files`. Null if the index is beyond the last file.
ASHLAR_API const rocksdb_wal_file_t* rocksdb_wal_files_get_wal_file(
    const rocksdb_wal_files_t* files, size_t index) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_wal_files_destroy(rocksdb_wal_files_t* files) ASHLAR_NOTHROW;
// Lives as long as `file`.
ASHLAR_API const char* rocksdb_wal_file_path_name(const rocksdb_wal_file_t* file) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_wal_file_log_number(const rocksdb_wal_file_t* file) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_wal_file_type(const rocksdb_wal_file_t* file) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_wal_file_start_sequence(const rocksdb_wal_file_t* file) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_wal_file_size_file_bytes(const rocksdb_wal_file_t* file) ASHLAR_NOTHROW;
// Do not call it for the files of a rocksdb_wal_files_t.
ASHLAR_API void rocksdb_wal_file_destroy(rocksdb_wal_file_t* file) ASHLAR_NOTHROW;

// ---- Checkpoints; see ashlar/checkpoint.h.

ASHLAR_API rocksdb_checkpoint_t* rocksdb_checkpoint_object_create(rocksdb_t* db,
                                                                  char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_checkpoint_create(rocksdb_checkpoint_t* checkpoint,
                                          const char* checkpoint_dir, uint64_t log_size_for_flush,
                                          char** errptr) ASHLAR_NOTHROW;
// Null after an error.
ASHLAR_API rocksdb_export_import_files_metadata_t* rocksdb_checkpoint_export_column_family(
    rocksdb_checkpoint_t* checkpoint, rocksdb_column_family_handle_t* column_family,
    const char* export_dir, char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_checkpoint_object_destroy(rocksdb_checkpoint_t* checkpoint) ASHLAR_NOTHROW;

// ---- The tables of an exported family, for rocksdb_create_column_family_with_import.

ASHLAR_API rocksdb_import_column_family_options_t* rocksdb_import_column_family_options_create(void)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_import_column_family_options_set_move_files(
    rocksdb_import_column_family_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_import_column_family_options_get_move_files(
    rocksdb_import_column_family_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_import_column_family_options_destroy(
    rocksdb_import_column_family_options_t* options) ASHLAR_NOTHROW;

ASHLAR_API rocksdb_export_import_files_metadata_t* rocksdb_export_import_files_metadata_create(void)
    ASHLAR_NOTHROW;
// The caller frees the result.
ASHLAR_API char* rocksdb_export_import_files_metadata_get_db_comparator_name(
    rocksdb_export_import_files_metadata_t* metadata) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_export_import_files_metadata_set_db_comparator_name(
    rocksdb_export_import_files_metadata_t* metadata, const char* name) ASHLAR_NOTHROW;
// A copy, which the caller destroys.
ASHLAR_API rocksdb_livefiles_t* rocksdb_export_import_files_metadata_get_files(
    rocksdb_export_import_files_metadata_t* metadata) ASHLAR_NOTHROW;
// Takes over the files, and destroys the list.
ASHLAR_API void rocksdb_export_import_files_metadata_set_files(
    rocksdb_export_import_files_metadata_t* metadata, rocksdb_livefiles_t* files) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_export_import_files_metadata_destroy(
    rocksdb_export_import_files_metadata_t* metadata) ASHLAR_NOTHROW;

// ---- Table files from outside; see ashlar/sst_file_writer.h and DB::IngestExternalFile.

ASHLAR_API rocksdb_envoptions_t* rocksdb_envoptions_create(void) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_envoptions_destroy(rocksdb_envoptions_t* options) ASHLAR_NOTHROW;
// The options share the limiter.
ASHLAR_API void rocksdb_envoptions_set_rate_limiter(rocksdb_envoptions_t* options,
                                                    rocksdb_ratelimiter_t* limiter) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_envoptions_set_use_mmap_reads(rocksdb_envoptions_t* options,
                                                      unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_envoptions_get_use_mmap_reads(rocksdb_envoptions_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_envoptions_set_use_mmap_writes(rocksdb_envoptions_t* options,
                                                       unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_envoptions_get_use_mmap_writes(rocksdb_envoptions_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_envoptions_set_use_direct_reads(rocksdb_envoptions_t* options,
                                                        unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_envoptions_get_use_direct_reads(rocksdb_envoptions_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_envoptions_set_use_direct_writes(rocksdb_envoptions_t* options,
                                                         unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_envoptions_get_use_direct_writes(rocksdb_envoptions_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_envoptions_set_allow_fallocate(rocksdb_envoptions_t* options,
                                                       unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_envoptions_get_allow_fallocate(rocksdb_envoptions_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_envoptions_set_fd_cloexec(rocksdb_envoptions_t* options,
                                                  unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_envoptions_get_fd_cloexec(rocksdb_envoptions_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_envoptions_set_strict_bytes_per_sync(rocksdb_envoptions_t* options,
                                                             unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_envoptions_get_strict_bytes_per_sync(rocksdb_envoptions_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_envoptions_set_fallocate_with_keep_size(rocksdb_envoptions_t* options,
                                                                unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_envoptions_get_fallocate_with_keep_size(
    rocksdb_envoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_envoptions_set_bytes_per_sync(rocksdb_envoptions_t* options,
                                                      uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_envoptions_get_bytes_per_sync(rocksdb_envoptions_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_envoptions_set_compaction_readahead_size(rocksdb_envoptions_t* options,
                                                                 size_t value) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_envoptions_get_compaction_readahead_size(rocksdb_envoptions_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_envoptions_set_writable_file_max_buffer_size(rocksdb_envoptions_t* options,
                                                                     size_t value) ASHLAR_NOTHROW;
ASHLAR_API size_t
rocksdb_envoptions_get_writable_file_max_buffer_size(rocksdb_envoptions_t* options) ASHLAR_NOTHROW;

// `env` and `io_options` may be destroyed afterwards, not the comparator. Null: that of io_options.
ASHLAR_API rocksdb_sstfilewriter_t* rocksdb_sstfilewriter_create(
    const rocksdb_envoptions_t* env, const rocksdb_options_t* io_options) ASHLAR_NOTHROW;
ASHLAR_API rocksdb_sstfilewriter_t* rocksdb_sstfilewriter_create_with_comparator(
    const rocksdb_envoptions_t* env, const rocksdb_options_t* io_options,
    const rocksdb_comparator_t* comparator) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_sstfilewriter_open(rocksdb_sstfilewriter_t* writer, const char* name,
                                           char** errptr) ASHLAR_NOTHROW;
// An old name of rocksdb_sstfilewriter_put.
ASHLAR_API void rocksdb_sstfilewriter_add(rocksdb_sstfilewriter_t* writer, const char* key,
                                          size_t keylen, const char* val, size_t vallen,
                                          char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_sstfilewriter_put(rocksdb_sstfilewriter_t* writer, const char* key,
                                          size_t keylen, const char* val, size_t vallen,
                                          char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_sstfilewriter_merge(rocksdb_sstfilewriter_t* writer, const char* key,
                                            size_t keylen, const char* val, size_t vallen,
                                            char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_sstfilewriter_delete(rocksdb_sstfilewriter_t* writer, const char* key,
                                             size_t keylen, char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_sstfilewriter_delete_range(rocksdb_sstfilewriter_t* writer,
                                                   const char* begin_key, size_t begin_keylen,
                                                   const char* end_key, size_t end_keylen,
                                                   char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_sstfilewriter_finish(rocksdb_sstfilewriter_t* writer,
                                             char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_sstfilewriter_file_size(rocksdb_sstfilewriter_t* writer,
                                                uint64_t* file_size) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_sstfilewriter_destroy(rocksdb_sstfilewriter_t* writer) ASHLAR_NOTHROW;

// Ashlar's own: one table file outside of any database (ashlar/sst_file_reader.h). `options` may be
// destroyed afterwards, but not its comparator. All calls except open and destroy fail before an
// open succeeds, and another open fails afterwards. Iterators must be destroyed before the reader.
ASHLAR_API ashlar_sstfilereader_t* ashlar_sstfilereader_create(const rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void ashlar_sstfilereader_destroy(ashlar_sstfilereader_t* reader) ASHLAR_NOTHROW;
ASHLAR_API void ashlar_sstfilereader_open(ashlar_sstfilereader_t* reader, const char* name,
                                          char** errptr) ASHLAR_NOTHROW;
// Like rocksdb_get. Null if the file has no value of the key, and after an error.
ASHLAR_API char* ashlar_sstfilereader_get(ashlar_sstfilereader_t* reader,
                                          const rocksdb_readoptions_t* options, const char* key,
                                          size_t keylen, size_t* vallen,
                                          char** errptr) ASHLAR_NOTHROW;
ASHLAR_API rocksdb_iterator_t* ashlar_sstfilereader_new_iterator(
    ashlar_sstfilereader_t* reader, const rocksdb_readoptions_t* options) ASHLAR_NOTHROW;
// Reads every block.
ASHLAR_API void ashlar_sstfilereader_verify_checksum(ashlar_sstfilereader_t* reader,
                                                     const rocksdb_readoptions_t* options,
                                                     char** errptr) ASHLAR_NOTHROW;
// Null before open. May outlive the reader.
ASHLAR_API ashlar_tableproperties_t* ashlar_sstfilereader_get_table_properties(
    ashlar_sstfilereader_t* reader) ASHLAR_NOTHROW;
ASHLAR_API void ashlar_tableproperties_destroy(ashlar_tableproperties_t* properties) ASHLAR_NOTHROW;
// The members of ashlar/table_properties.h.
ASHLAR_API uint64_t
ashlar_tableproperties_get_num_entries(const ashlar_tableproperties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t
ashlar_tableproperties_get_num_deletions(const ashlar_tableproperties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t ashlar_tableproperties_get_num_range_deletions(
    const ashlar_tableproperties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t ashlar_tableproperties_get_num_merge_operands(
    const ashlar_tableproperties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t ashlar_tableproperties_get_data_size(const ashlar_tableproperties_t* properties)
    ASHLAR_NOTHROW;
ASHLAR_API uint64_t
ashlar_tableproperties_get_index_size(const ashlar_tableproperties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t
ashlar_tableproperties_get_filter_size(const ashlar_tableproperties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t
ashlar_tableproperties_get_raw_key_size(const ashlar_tableproperties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t ashlar_tableproperties_get_raw_value_size(
    const ashlar_tableproperties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t ashlar_tableproperties_get_column_family_id(
    const ashlar_tableproperties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t
ashlar_tableproperties_get_creation_time(const ashlar_tableproperties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API const char* ashlar_tableproperties_get_column_family_name(
    const ashlar_tableproperties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API const char* ashlar_tableproperties_get_comparator_name(
    const ashlar_tableproperties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API const char* ashlar_tableproperties_get_compression_name(
    const ashlar_tableproperties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API const char* ashlar_tableproperties_get_filter_policy_name(
    const ashlar_tableproperties_t* properties) ASHLAR_NOTHROW;
// The value of the user-collected property with this name. Null: there is none.
ASHLAR_API const char* ashlar_tableproperties_get_user_collected(
    const ashlar_tableproperties_t* properties, const char* name, size_t* size) ASHLAR_NOTHROW;
// All properties as text, "name=value; name=value; ".
ASHLAR_API char* ashlar_tableproperties_to_text(const ashlar_tableproperties_t* properties)
    ASHLAR_NOTHROW;

ASHLAR_API rocksdb_ingestexternalfileoptions_t* rocksdb_ingestexternalfileoptions_create(void)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_ingestexternalfileoptions_destroy(
    rocksdb_ingestexternalfileoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_ingestexternalfileoptions_set_move_files(
    rocksdb_ingestexternalfileoptions_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_ingestexternalfileoptions_get_move_files(
    rocksdb_ingestexternalfileoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_ingestexternalfileoptions_set_link_files(
    rocksdb_ingestexternalfileoptions_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_ingestexternalfileoptions_get_link_files(
    rocksdb_ingestexternalfileoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_ingestexternalfileoptions_set_failed_move_fall_back_to_copy(
    rocksdb_ingestexternalfileoptions_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_ingestexternalfileoptions_get_failed_move_fall_back_to_copy(
    rocksdb_ingestexternalfileoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_ingestexternalfileoptions_set_snapshot_consistency(
    rocksdb_ingestexternalfileoptions_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_ingestexternalfileoptions_get_snapshot_consistency(
    rocksdb_ingestexternalfileoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_ingestexternalfileoptions_set_allow_global_seqno(
    rocksdb_ingestexternalfileoptions_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_ingestexternalfileoptions_get_allow_global_seqno(
    rocksdb_ingestexternalfileoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_ingestexternalfileoptions_set_allow_blocking_flush(
    rocksdb_ingestexternalfileoptions_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_ingestexternalfileoptions_get_allow_blocking_flush(
    rocksdb_ingestexternalfileoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_ingestexternalfileoptions_set_ingest_behind(
    rocksdb_ingestexternalfileoptions_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_ingestexternalfileoptions_get_ingest_behind(
    rocksdb_ingestexternalfileoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_ingestexternalfileoptions_set_write_global_seqno(
    rocksdb_ingestexternalfileoptions_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_ingestexternalfileoptions_get_write_global_seqno(
    rocksdb_ingestexternalfileoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_ingestexternalfileoptions_set_fail_if_not_bottommost_level(
    rocksdb_ingestexternalfileoptions_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_ingestexternalfileoptions_get_fail_if_not_bottommost_level(
    rocksdb_ingestexternalfileoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_ingestexternalfileoptions_set_allow_db_generated_files(
    rocksdb_ingestexternalfileoptions_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_ingestexternalfileoptions_get_allow_db_generated_files(
    rocksdb_ingestexternalfileoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_ingestexternalfileoptions_set_fill_cache(
    rocksdb_ingestexternalfileoptions_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_ingestexternalfileoptions_get_fill_cache(
    rocksdb_ingestexternalfileoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_ingestexternalfileoptions_set_prefetch_lmax_index_and_filter_blocks(
    rocksdb_ingestexternalfileoptions_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char
rocksdb_ingestexternalfileoptions_get_prefetch_lmax_index_and_filter_blocks(
    rocksdb_ingestexternalfileoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_ingestexternalfileoptions_set_file_opening_threads(
    rocksdb_ingestexternalfileoptions_t* options, int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_ingestexternalfileoptions_get_file_opening_threads(
    rocksdb_ingestexternalfileoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_ingestexternalfileoptions_set_verify_checksums_before_ingest(
    rocksdb_ingestexternalfileoptions_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_ingestexternalfileoptions_get_verify_checksums_before_ingest(
    rocksdb_ingestexternalfileoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_ingestexternalfileoptions_set_verify_checksums_readahead_size(
    rocksdb_ingestexternalfileoptions_t* options, size_t value) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_ingestexternalfileoptions_get_verify_checksums_readahead_size(
    rocksdb_ingestexternalfileoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_ingestexternalfileoptions_set_verify_file_checksum(
    rocksdb_ingestexternalfileoptions_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_ingestexternalfileoptions_get_verify_file_checksum(
    rocksdb_ingestexternalfileoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_ingest_external_file(rocksdb_t* db, const char* const* file_list,
                                             size_t list_len,
                                             const rocksdb_ingestexternalfileoptions_t* options,
                                             char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_ingest_external_file_cf(rocksdb_t* db,
                                                rocksdb_column_family_handle_t* handle,
                                                const char* const* file_list, size_t list_len,
                                                const rocksdb_ingestexternalfileoptions_t* options,
                                                char** errptr) ASHLAR_NOTHROW;

// ---- Backups; see ashlar/backup_engine.h.

// `path` is the directory of the backups; the Env is that of the options.
ASHLAR_API rocksdb_backup_engine_t* rocksdb_backup_engine_open(const rocksdb_options_t* options,
                                                               const char* path,
                                                               char** errptr) ASHLAR_NOTHROW;
ASHLAR_API rocksdb_backup_engine_t* rocksdb_backup_engine_open_opts(
    const rocksdb_backup_engine_options_t* options, rocksdb_env_t* env,
    char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_backup_engine_close(rocksdb_backup_engine_t* engine) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_backup_engine_create_new_backup(rocksdb_backup_engine_t* engine,
                                                        rocksdb_t* db,
                                                        char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_backup_engine_create_new_backup_flush(rocksdb_backup_engine_t* engine,
                                                              rocksdb_t* db,
                                                              unsigned char flush_before_backup,
                                                              char** errptr) ASHLAR_NOTHROW;
// Null options: the defaults. Null app_metadata: none.
ASHLAR_API void rocksdb_backup_engine_create_new_backup_with_options(
    rocksdb_backup_engine_t* engine, rocksdb_t* db, const rocksdb_create_backup_options_t* options,
    uint32_t* backup_id, char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_backup_engine_create_new_backup_with_metadata(
    rocksdb_backup_engine_t* engine, rocksdb_t* db, const rocksdb_create_backup_options_t* options,
    const char* app_metadata, size_t app_metadata_size, uint32_t* backup_id,
    char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_backup_engine_stop_backup(rocksdb_backup_engine_t* engine) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_backup_engine_purge_old_backups(rocksdb_backup_engine_t* engine,
                                                        uint32_t num_backups_to_keep,
                                                        char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_backup_engine_verify_backup(rocksdb_backup_engine_t* engine,
                                                    uint32_t backup_id,
                                                    char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_backup_engine_restore_db_from_latest_backup(
    rocksdb_backup_engine_t* engine, const char* db_dir, const char* wal_dir,
    const rocksdb_restore_options_t* restore_options, char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_backup_engine_restore_db_from_backup(
    rocksdb_backup_engine_t* engine, const char* db_dir, const char* wal_dir,
    const rocksdb_restore_options_t* restore_options, const uint32_t backup_id,
    char** errptr) ASHLAR_NOTHROW;
// The usable backups, oldest first.
ASHLAR_API const rocksdb_backup_engine_info_t* rocksdb_backup_engine_get_backup_info(
    rocksdb_backup_engine_t* engine) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_backup_engine_info_count(const rocksdb_backup_engine_info_t* info)
    ASHLAR_NOTHROW;
ASHLAR_API int64_t rocksdb_backup_engine_info_timestamp(const rocksdb_backup_engine_info_t* info,
                                                        int index) ASHLAR_NOTHROW;
ASHLAR_API uint32_t rocksdb_backup_engine_info_backup_id(const rocksdb_backup_engine_info_t* info,
                                                         int index) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_backup_engine_info_size(const rocksdb_backup_engine_info_t* info,
                                                    int index) ASHLAR_NOTHROW;
ASHLAR_API uint32_t rocksdb_backup_engine_info_number_files(
    const rocksdb_backup_engine_info_t* info, int index) ASHLAR_NOTHROW;
// The bytes passed to rocksdb_backup_engine_create_new_backup_with_metadata. May contain zeros.
ASHLAR_API const char* rocksdb_backup_engine_info_app_metadata(
    const rocksdb_backup_engine_info_t* info, int index, size_t* size) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_backup_engine_info_destroy(const rocksdb_backup_engine_info_t* info)
    ASHLAR_NOTHROW;
ASHLAR_API rocksdb_backup_engine_options_t* rocksdb_backup_engine_options_create(
    const char* backup_dir) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_backup_engine_options_set_env(rocksdb_backup_engine_options_t* options,
                                                      rocksdb_env_t* env) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_backup_engine_options_destroy(rocksdb_backup_engine_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_backup_engine_options_set_backup_dir(
    rocksdb_backup_engine_options_t* options, const char* value) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_backup_engine_options_get_backup_dir(
    rocksdb_backup_engine_options_t* options, size_t* size) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_backup_engine_options_set_sync(rocksdb_backup_engine_options_t* options,
                                                       unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_backup_engine_options_get_sync(
    rocksdb_backup_engine_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_backup_engine_options_set_destroy_old_data(
    rocksdb_backup_engine_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_backup_engine_options_get_destroy_old_data(
    rocksdb_backup_engine_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_backup_engine_options_set_backup_log_files(
    rocksdb_backup_engine_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_backup_engine_options_get_backup_log_files(
    rocksdb_backup_engine_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_backup_engine_options_set_share_table_files(
    rocksdb_backup_engine_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_backup_engine_options_get_share_table_files(
    rocksdb_backup_engine_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_backup_engine_options_set_share_files_with_checksum(
    rocksdb_backup_engine_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_backup_engine_options_get_share_files_with_checksum(
    rocksdb_backup_engine_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_backup_engine_options_set_backup_rate_limit(
    rocksdb_backup_engine_options_t* options, uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_backup_engine_options_get_backup_rate_limit(
    rocksdb_backup_engine_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_backup_engine_options_set_restore_rate_limit(
    rocksdb_backup_engine_options_t* options, uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_backup_engine_options_get_restore_rate_limit(
    rocksdb_backup_engine_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_backup_engine_options_set_io_buffer_size(
    rocksdb_backup_engine_options_t* options, uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_backup_engine_options_get_io_buffer_size(
    rocksdb_backup_engine_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_backup_engine_options_set_callback_trigger_interval_size(
    rocksdb_backup_engine_options_t* options, uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_backup_engine_options_get_callback_trigger_interval_size(
    rocksdb_backup_engine_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_backup_engine_options_set_max_background_operations(
    rocksdb_backup_engine_options_t* options, int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_backup_engine_options_get_max_background_operations(
    rocksdb_backup_engine_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_backup_engine_options_set_max_valid_backups_to_open(
    rocksdb_backup_engine_options_t* options, int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_backup_engine_options_get_max_valid_backups_to_open(
    rocksdb_backup_engine_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_backup_engine_options_set_current_temperatures_override_manifest(
    rocksdb_backup_engine_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_backup_engine_options_get_current_temperatures_override_manifest(
    rocksdb_backup_engine_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_backup_engine_options_set_share_files_with_checksum_naming(
    rocksdb_backup_engine_options_t* options, int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_backup_engine_options_get_share_files_with_checksum_naming(
    rocksdb_backup_engine_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_backup_engine_options_set_schema_version(
    rocksdb_backup_engine_options_t* options, int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_backup_engine_options_get_schema_version(
    rocksdb_backup_engine_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_backup_engine_options_set_backup_rate_limiter(
    rocksdb_backup_engine_options_t* options, rocksdb_ratelimiter_t* limiter) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_backup_engine_options_set_restore_rate_limiter(
    rocksdb_backup_engine_options_t* options, rocksdb_ratelimiter_t* limiter) ASHLAR_NOTHROW;
ASHLAR_API rocksdb_create_backup_options_t* rocksdb_create_backup_options_create(void)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_create_backup_options_destroy(rocksdb_create_backup_options_t* options)
    ASHLAR_NOTHROW;
// Called after each copied file.
ASHLAR_API void rocksdb_create_backup_options_set_progress_callback(
    rocksdb_create_backup_options_t* options, void* state,
    rocksdb_create_backup_options_progress_cb callback) ASHLAR_NOTHROW;
// Selects tables to leave out of the backup, which Ashlar does not implement: a backup with the
// callback fails and names it. Null, the default: the backup has all files.
ASHLAR_API void rocksdb_create_backup_options_set_exclude_files_callback(
    rocksdb_create_backup_options_t* options, void* state,
    rocksdb_create_backup_options_exclude_files_cb callback) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_create_backup_options_set_flush_before_backup(
    rocksdb_create_backup_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_create_backup_options_get_flush_before_backup(
    rocksdb_create_backup_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_create_backup_options_set_atomic_flush(
    rocksdb_create_backup_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_create_backup_options_get_atomic_flush(
    rocksdb_create_backup_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_create_backup_options_set_decrease_background_thread_cpu_priority(
    rocksdb_create_backup_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_create_backup_options_get_decrease_background_thread_cpu_priority(
    rocksdb_create_backup_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_create_backup_options_set_background_thread_cpu_priority(
    rocksdb_create_backup_options_t* options, int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_create_backup_options_get_background_thread_cpu_priority(
    rocksdb_create_backup_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API rocksdb_restore_options_t* rocksdb_restore_options_create(void) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_restore_options_destroy(rocksdb_restore_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_restore_options_set_keep_log_files(rocksdb_restore_options_t* options,
                                                           int value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_restore_options_get_keep_log_files(
    rocksdb_restore_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_restore_options_set_mode(rocksdb_restore_options_t* options,
                                                 int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_restore_options_get_mode(rocksdb_restore_options_t* options) ASHLAR_NOTHROW;

// ---- Metadata.

// Null if there is no such property. rocksdb_property_int returns 0 if there is one, -1
// otherwise.
ASHLAR_API char* rocksdb_property_value(rocksdb_t* db, const char* property) ASHLAR_NOTHROW;
ASHLAR_API char* rocksdb_property_value_cf(rocksdb_t* db,
                                           rocksdb_column_family_handle_t* column_family,
                                           const char* property) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_property_int(rocksdb_t* db, const char* property,
                                    uint64_t* value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_property_int_cf(rocksdb_t* db, rocksdb_column_family_handle_t* column_family,
                                       const char* property, uint64_t* value) ASHLAR_NOTHROW;
enum {
  rocksdb_size_approximation_flags_none = 0,
  rocksdb_size_approximation_flags_include_memtable = 1 << 0,
  rocksdb_size_approximation_flags_include_files = 1 << 1,
  rocksdb_size_approximation_flags_include_blob_files = 1 << 2  // there are none
};
ASHLAR_API void rocksdb_approximate_sizes(rocksdb_t* db, int num_ranges,
                                          const char* const* range_start_keys,
                                          const size_t* range_start_key_sizes,
                                          const char* const* range_limit_keys,
                                          const size_t* range_limit_key_sizes, uint64_t* sizes,
                                          char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_approximate_sizes_cf(rocksdb_t* db,
                                             rocksdb_column_family_handle_t* column_family,
                                             int num_ranges, const char* const* range_start_keys,
                                             const size_t* range_start_key_sizes,
                                             const char* const* range_limit_keys,
                                             const size_t* range_limit_key_sizes, uint64_t* sizes,
                                             char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_approximate_sizes_cf_with_flags(
    rocksdb_t* db, rocksdb_column_family_handle_t* column_family, int num_ranges,
    const char* const* range_start_keys, const size_t* range_start_key_sizes,
    const char* const* range_limit_keys, const size_t* range_limit_key_sizes, uint8_t include_flags,
    uint64_t* sizes, char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_approximate_sizes_with_options(
    rocksdb_t* db, const rocksdb_size_approximation_options_t* options, int num_ranges,
    const char* const* range_start_keys, const size_t* range_start_key_sizes,
    const char* const* range_limit_keys, const size_t* range_limit_key_sizes, uint64_t* sizes,
    char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_approximate_sizes_cf_with_options(
    rocksdb_t* db, rocksdb_column_family_handle_t* column_family,
    const rocksdb_size_approximation_options_t* options, int num_ranges,
    const char* const* range_start_keys, const size_t* range_start_key_sizes,
    const char* const* range_limit_keys, const size_t* range_limit_key_sizes, uint64_t* sizes,
    char** errptr) ASHLAR_NOTHROW;
ASHLAR_API rocksdb_size_approximation_options_t* rocksdb_size_approximation_options_create(void)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_size_approximation_options_destroy(
    rocksdb_size_approximation_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_size_approximation_options_set_include_memtables(
    rocksdb_size_approximation_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_size_approximation_options_get_include_memtables(
    rocksdb_size_approximation_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_size_approximation_options_set_include_files(
    rocksdb_size_approximation_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_size_approximation_options_get_include_files(
    rocksdb_size_approximation_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_size_approximation_options_set_files_size_error_margin(
    rocksdb_size_approximation_options_t* options, double value) ASHLAR_NOTHROW;
ASHLAR_API double rocksdb_size_approximation_options_get_files_size_error_margin(
    rocksdb_size_approximation_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_size_approximation_options_set_include_blob_files(
    rocksdb_size_approximation_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_size_approximation_options_get_include_blob_files(
    rocksdb_size_approximation_options_t* options) ASHLAR_NOTHROW;
// The tables of all families.
ASHLAR_API const rocksdb_livefiles_t* rocksdb_livefiles(rocksdb_t* db) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_livefiles_destroy(const rocksdb_livefiles_t* files) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_livefiles_count(const rocksdb_livefiles_t* files) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_livefiles_column_family_name(const rocksdb_livefiles_t* files,
                                                            int index) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_livefiles_name(const rocksdb_livefiles_t* files,
                                              int index) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_livefiles_directory(const rocksdb_livefiles_t* files,
                                                   int index) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_livefiles_level(const rocksdb_livefiles_t* files, int index) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_livefiles_size(const rocksdb_livefiles_t* files,
                                         int index) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_livefiles_smallestkey(const rocksdb_livefiles_t* files, int index,
                                                     size_t* size) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_livefiles_largestkey(const rocksdb_livefiles_t* files, int index,
                                                    size_t* size) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_livefiles_smallest_seqno(const rocksdb_livefiles_t* files,
                                                     int index) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_livefiles_largest_seqno(const rocksdb_livefiles_t* files,
                                                    int index) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_livefiles_entries(const rocksdb_livefiles_t* files,
                                              int index) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_livefiles_deletions(const rocksdb_livefiles_t* files,
                                                int index) ASHLAR_NOTHROW;
// All files of the database, for copies of it; see DB::GetLiveFilesStorageInfo in ashlar/db.h.
// Texts are valid until the list is destroyed. Requires: index is below the count.
ASHLAR_API rocksdb_livefiles_storage_info_options_t* rocksdb_livefiles_storage_info_options_create(
    void) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_livefiles_storage_info_options_destroy(
    rocksdb_livefiles_storage_info_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_livefiles_storage_info_options_set_include_checksum_info(
    rocksdb_livefiles_storage_info_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_livefiles_storage_info_options_get_include_checksum_info(
    rocksdb_livefiles_storage_info_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_livefiles_storage_info_options_set_wal_size_for_flush(
    rocksdb_livefiles_storage_info_options_t* options, uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_livefiles_storage_info_options_get_wal_size_for_flush(
    rocksdb_livefiles_storage_info_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_livefiles_storage_info_options_set_atomic_flush(
    rocksdb_livefiles_storage_info_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_livefiles_storage_info_options_get_atomic_flush(
    rocksdb_livefiles_storage_info_options_t* options) ASHLAR_NOTHROW;
// Null after a failure. Null options: the defaults.
ASHLAR_API rocksdb_livefiles_storage_info_t* rocksdb_get_livefiles_storage_info(
    rocksdb_t* db, const rocksdb_livefiles_storage_info_options_t* options,
    char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_livefiles_storage_info_destroy(rocksdb_livefiles_storage_info_t* info)
    ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_livefiles_storage_info_count(const rocksdb_livefiles_storage_info_t* info)
    ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_livefiles_storage_info_relative_filename(
    const rocksdb_livefiles_storage_info_t* info, size_t index) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_livefiles_storage_info_directory(
    const rocksdb_livefiles_storage_info_t* info, size_t index) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_livefiles_storage_info_file_number(
    const rocksdb_livefiles_storage_info_t* info, size_t index) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_livefiles_storage_info_file_type(
    const rocksdb_livefiles_storage_info_t* info, size_t index) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_livefiles_storage_info_size(
    const rocksdb_livefiles_storage_info_t* info, size_t index) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_livefiles_storage_info_temperature(
    const rocksdb_livefiles_storage_info_t* info, size_t index) ASHLAR_NOTHROW;
// A checksum may contain zeros. The function of the checksum determines its length.
ASHLAR_API const char* rocksdb_livefiles_storage_info_file_checksum(
    const rocksdb_livefiles_storage_info_t* info, size_t index) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_livefiles_storage_info_file_checksum_func_name(
    const rocksdb_livefiles_storage_info_t* info, size_t index) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_livefiles_storage_info_replacement_contents(
    const rocksdb_livefiles_storage_info_t* info, size_t index, size_t* size) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_livefiles_storage_info_trim_to_size(
    const rocksdb_livefiles_storage_info_t* info, size_t index) ASHLAR_NOTHROW;
// Lists that a program makes. rocksdb_livefiles_add takes over the file and destroys the object.
ASHLAR_API rocksdb_livefiles_t* rocksdb_livefiles_create(void) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_livefiles_add(rocksdb_livefiles_t* files,
                                      rocksdb_livefile_t* file) ASHLAR_NOTHROW;
ASHLAR_API rocksdb_livefile_t* rocksdb_livefile_create(void) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_livefile_set_column_family_name(rocksdb_livefile_t* file,
                                                        const char* name) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_livefile_set_level(rocksdb_livefile_t* file, int level) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_livefile_set_name(rocksdb_livefile_t* file,
                                          const char* name) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_livefile_set_directory(rocksdb_livefile_t* file,
                                               const char* directory) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_livefile_set_size(rocksdb_livefile_t* file, size_t size) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_livefile_set_smallest_key(rocksdb_livefile_t* file, const char* key,
                                                  size_t keylen) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_livefile_set_largest_key(rocksdb_livefile_t* file, const char* key,
                                                 size_t keylen) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_livefile_set_smallest_seqno(rocksdb_livefile_t* file,
                                                    uint64_t seqno) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_livefile_set_largest_seqno(rocksdb_livefile_t* file,
                                                   uint64_t seqno) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_livefile_set_num_entries(rocksdb_livefile_t* file,
                                                 uint64_t entries) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_livefile_set_num_deletions(rocksdb_livefile_t* file,
                                                   uint64_t deletions) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_livefile_destroy(rocksdb_livefile_t* file) ASHLAR_NOTHROW;
// The levels of a family and the tables in them. The results of _get_level_metadata and
// _get_sst_file_metadata (null: no such index) refer to the column family's metadata. Requires: the
// metadata outlives them.
ASHLAR_API rocksdb_column_family_metadata_t* rocksdb_get_column_family_metadata(rocksdb_t* db)
    ASHLAR_NOTHROW;
ASHLAR_API rocksdb_column_family_metadata_t* rocksdb_get_column_family_metadata_cf(
    rocksdb_t* db, rocksdb_column_family_handle_t* column_family) ASHLAR_NOTHROW;
// The tables of a key range or level: GetColumnFamilyMetaDataOptions of ashlar/db.h. Null options:
// all tables. A null key removes this end of the range; other keys are copied.
ASHLAR_API rocksdb_column_family_metadata_t* rocksdb_get_column_family_metadata_with_options(
    rocksdb_t* db, const rocksdb_column_family_metadata_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API rocksdb_column_family_metadata_t* rocksdb_get_column_family_metadata_cf_with_options(
    rocksdb_t* db, rocksdb_column_family_handle_t* column_family,
    const rocksdb_column_family_metadata_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API rocksdb_column_family_metadata_options_t* rocksdb_column_family_metadata_options_create(
    void) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_column_family_metadata_options_destroy(
    rocksdb_column_family_metadata_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_column_family_metadata_options_set_level(
    rocksdb_column_family_metadata_options_t* options, int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_column_family_metadata_options_get_level(
    rocksdb_column_family_metadata_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_column_family_metadata_options_set_start_key(
    rocksdb_column_family_metadata_options_t* options, const char* key,
    size_t key_size) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_column_family_metadata_options_get_start_key(
    const rocksdb_column_family_metadata_options_t* options, size_t* size) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_column_family_metadata_options_set_end_key(
    rocksdb_column_family_metadata_options_t* options, const char* key,
    size_t key_size) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_column_family_metadata_options_get_end_key(
    const rocksdb_column_family_metadata_options_t* options, size_t* size) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_column_family_metadata_destroy(rocksdb_column_family_metadata_t* metadata)
    ASHLAR_NOTHROW;
ASHLAR_API uint64_t
rocksdb_column_family_metadata_get_size(rocksdb_column_family_metadata_t* metadata) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_column_family_metadata_get_file_count(
    rocksdb_column_family_metadata_t* metadata) ASHLAR_NOTHROW;
ASHLAR_API char* rocksdb_column_family_metadata_get_name(rocksdb_column_family_metadata_t* metadata)
    ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_column_family_metadata_get_level_count(
    rocksdb_column_family_metadata_t* metadata) ASHLAR_NOTHROW;
ASHLAR_API rocksdb_level_metadata_t* rocksdb_column_family_metadata_get_level_metadata(
    rocksdb_column_family_metadata_t* metadata, size_t i) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_level_metadata_destroy(rocksdb_level_metadata_t* level) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_level_metadata_get_level(rocksdb_level_metadata_t* level) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_level_metadata_get_size(rocksdb_level_metadata_t* level) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_level_metadata_get_file_count(rocksdb_level_metadata_t* level)
    ASHLAR_NOTHROW;
ASHLAR_API rocksdb_sst_file_metadata_t* rocksdb_level_metadata_get_sst_file_metadata(
    rocksdb_level_metadata_t* level, size_t i) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_sst_file_metadata_destroy(rocksdb_sst_file_metadata_t* file) ASHLAR_NOTHROW;
ASHLAR_API char* rocksdb_sst_file_metadata_get_relative_filename(rocksdb_sst_file_metadata_t* file)
    ASHLAR_NOTHROW;
ASHLAR_API char* rocksdb_sst_file_metadata_get_directory(rocksdb_sst_file_metadata_t* file)
    ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_sst_file_metadata_get_size(rocksdb_sst_file_metadata_t* file)
    ASHLAR_NOTHROW;
ASHLAR_API char* rocksdb_sst_file_metadata_get_smallestkey(rocksdb_sst_file_metadata_t* file,
                                                           size_t* size) ASHLAR_NOTHROW;
ASHLAR_API char* rocksdb_sst_file_metadata_get_largestkey(rocksdb_sst_file_metadata_t* file,
                                                          size_t* size) ASHLAR_NOTHROW;
// The memory, in bytes, that a set of databases and caches uses.
ASHLAR_API rocksdb_memory_consumers_t* rocksdb_memory_consumers_create(void) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_memory_consumers_add_db(rocksdb_memory_consumers_t* consumers,
                                                rocksdb_t* db) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_memory_consumers_add_cache(rocksdb_memory_consumers_t* consumers,
                                                   rocksdb_cache_t* cache) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_memory_consumers_destroy(rocksdb_memory_consumers_t* consumers)
    ASHLAR_NOTHROW;
ASHLAR_API rocksdb_memory_usage_t* rocksdb_approximate_memory_usage_create(
    rocksdb_memory_consumers_t* consumers, char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_approximate_memory_usage_destroy(rocksdb_memory_usage_t* usage)
    ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_approximate_memory_usage_get_mem_table_total(
    rocksdb_memory_usage_t* memory_usage) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_approximate_memory_usage_get_mem_table_unflushed(
    rocksdb_memory_usage_t* memory_usage) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_approximate_memory_usage_get_mem_table_readers_total(
    rocksdb_memory_usage_t* memory_usage) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_approximate_memory_usage_get_cache_total(
    rocksdb_memory_usage_t* memory_usage) ASHLAR_NOTHROW;

// ---- Options of an open database. Each of `keys` gets the value of the same index, all or none.

ASHLAR_API void rocksdb_set_options(rocksdb_t* db, int count, const char* const keys[],
                                    const char* const values[], char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_set_options_cf(rocksdb_t* db, rocksdb_column_family_handle_t* handle,
                                       int count, const char* const keys[],
                                       const char* const values[], char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_set_db_options(rocksdb_t* db, int count, const char* const keys[],
                                       const char* const values[], char** errptr) ASHLAR_NOTHROW;

// ---- Options of a database and its families. Each is the member of that name in ashlar/options.h,
// which describes it, and has RocksDB's default. An option that Ashlar refuses can be set, and the
// open then fails and names it.

ASHLAR_API rocksdb_options_t* rocksdb_options_create(void) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_destroy(rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API rocksdb_options_t* rocksdb_options_create_copy(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
// `new_options` becomes `base_options` changed by "name=value;name=value".
ASHLAR_API void rocksdb_get_options_from_string(const rocksdb_options_t* base_options,
                                                const char* text, rocksdb_options_t* new_options,
                                                char** errptr) ASHLAR_NOTHROW;
// Reads the OPTIONS file of a database: the database's options, and each family's name and options.
// `cache` may be null. The _destroy function frees all of it together; its lists may be null.
ASHLAR_API void rocksdb_load_latest_options(
    const char* db_path, rocksdb_env_t* env, bool ignore_unknown_options, rocksdb_cache_t* cache,
    rocksdb_options_t** db_options, size_t* num_column_families, char*** column_family_names,
    rocksdb_options_t*** column_family_options, char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_load_latest_options_destroy(rocksdb_options_t* db_options,
                                                    char** list_column_family_names,
                                                    rocksdb_options_t** list_column_family_options,
                                                    size_t size) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_increase_parallelism(rocksdb_options_t* options,
                                                     int total_threads) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_optimize_for_point_lookup(
    rocksdb_options_t* options, uint64_t block_cache_size_mb) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_optimize_level_style_compaction(
    rocksdb_options_t* options, uint64_t memtable_memory_budget) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_optimize_universal_style_compaction(
    rocksdb_options_t* options, uint64_t memtable_memory_budget) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_prepare_for_bulk_load(rocksdb_options_t* options) ASHLAR_NOTHROW;

// Opening and checking.
ASHLAR_API void rocksdb_options_set_create_if_missing(rocksdb_options_t* options,
                                                      unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_create_if_missing(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_create_missing_column_families(
    rocksdb_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_create_missing_column_families(
    rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_error_if_exists(rocksdb_options_t* options,
                                                    unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_error_if_exists(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_paranoid_checks(rocksdb_options_t* options,
                                                    unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_paranoid_checks(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_paranoid_file_checks(rocksdb_options_t* options,
                                                         unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_paranoid_file_checks(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_force_consistency_checks(rocksdb_options_t* options,
                                                             unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_force_consistency_checks(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_best_efforts_recovery(rocksdb_options_t* options,
                                                          unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_best_efforts_recovery(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_skip_checking_sst_file_sizes_on_db_open(
    rocksdb_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_skip_checking_sst_file_sizes_on_db_open(
    rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_skip_stats_update_on_db_open(
    rocksdb_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_skip_stats_update_on_db_open(
    rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_allow_ingest_behind(rocksdb_options_t* options,
                                                        unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_allow_ingest_behind(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_flush_verify_memtable_count(rocksdb_options_t* options,
                                                                unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_flush_verify_memtable_count(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_track_and_verify_wals_in_manifest(
    rocksdb_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_track_and_verify_wals_in_manifest(
    rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_verify_sst_unique_id_in_manifest(
    rocksdb_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_verify_sst_unique_id_in_manifest(
    rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_enforce_single_del_contracts(
    rocksdb_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_enforce_single_del_contracts(
    rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_write_dbid_to_manifest(rocksdb_options_t* options,
                                                           unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_write_dbid_to_manifest(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_db_host_id(rocksdb_options_t* options,
                                               const char* value) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_options_get_db_host_id(rocksdb_options_t* options,
                                                      size_t* size) ASHLAR_NOTHROW;
// The environment: files and threads, the LOG, limits.
ASHLAR_API void rocksdb_options_set_env(rocksdb_options_t* options,
                                        rocksdb_env_t* env) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_info_log(rocksdb_options_t* options,
                                             rocksdb_logger_t* logger) ASHLAR_NOTHROW;
ASHLAR_API rocksdb_logger_t* rocksdb_options_get_info_log(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_info_log_level(rocksdb_options_t* options,
                                                   int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_options_get_info_log_level(rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_db_log_dir(rocksdb_options_t* options,
                                               const char* value) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_options_get_db_log_dir(rocksdb_options_t* options,
                                                      size_t* size) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_max_log_file_size(rocksdb_options_t* options,
                                                      size_t value) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_options_get_max_log_file_size(rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_log_file_time_to_roll(rocksdb_options_t* options,
                                                          size_t value) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_options_get_log_file_time_to_roll(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_keep_log_file_num(rocksdb_options_t* options,
                                                      size_t value) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_options_get_keep_log_file_num(rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_allow_data_in_errors(rocksdb_options_t* options,
                                                         unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_allow_data_in_errors(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_ratelimiter(rocksdb_options_t* options,
                                                rocksdb_ratelimiter_t* limiter) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_sst_file_manager(
    rocksdb_options_t* options, rocksdb_sst_file_manager_t* manager) ASHLAR_NOTHROW;
// Files.
ASHLAR_API void rocksdb_options_set_max_open_files(rocksdb_options_t* options,
                                                   int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_options_get_max_open_files(rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_max_file_opening_threads(rocksdb_options_t* options,
                                                             int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_options_get_max_file_opening_threads(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_table_cache_numshardbits(rocksdb_options_t* options,
                                                             int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_options_get_table_cache_numshardbits(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_db_paths(rocksdb_options_t* options,
                                             const rocksdb_dbpath_t** path_values,
                                             size_t num_paths) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_cf_paths(rocksdb_options_t* options,
                                             const rocksdb_dbpath_t** path_values,
                                             size_t num_paths) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_use_fsync(rocksdb_options_t* options, int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_options_get_use_fsync(rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_allow_fallocate(rocksdb_options_t* options,
                                                    unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_allow_fallocate(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_allow_mmap_reads(rocksdb_options_t* options,
                                                     unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_allow_mmap_reads(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_allow_mmap_writes(rocksdb_options_t* options,
                                                      unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_allow_mmap_writes(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_use_direct_reads(rocksdb_options_t* options,
                                                     unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_use_direct_reads(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_use_direct_io_for_flush_and_compaction(
    rocksdb_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_use_direct_io_for_flush_and_compaction(
    rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_is_fd_close_on_exec(rocksdb_options_t* options,
                                                        unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_is_fd_close_on_exec(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_advise_random_on_open(rocksdb_options_t* options,
                                                          unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_advise_random_on_open(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_access_hint_on_compaction_start(rocksdb_options_t* options,
                                                                    int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_options_get_access_hint_on_compaction_start(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_writable_file_max_buffer_size(rocksdb_options_t* options,
                                                                  uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_options_get_writable_file_max_buffer_size(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_bytes_per_sync(rocksdb_options_t* options,
                                                   uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_options_get_bytes_per_sync(rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_wal_bytes_per_sync(rocksdb_options_t* options,
                                                       uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_options_get_wal_bytes_per_sync(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_strict_bytes_per_sync(rocksdb_options_t* options,
                                                          unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_strict_bytes_per_sync(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_compaction_readahead_size(rocksdb_options_t* options,
                                                          size_t value) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_options_get_compaction_readahead_size(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_log_readahead_size(rocksdb_options_t* options,
                                                       size_t value) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_options_get_log_readahead_size(rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_delete_obsolete_files_period_micros(
    rocksdb_options_t* options, uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t
rocksdb_options_get_delete_obsolete_files_period_micros(rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_max_manifest_file_size(rocksdb_options_t* options,
                                                           size_t value) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_options_get_max_manifest_file_size(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_manifest_preallocation_size(rocksdb_options_t* options,
                                                                size_t value) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_options_get_manifest_preallocation_size(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_avoid_unnecessary_blocking_io(
    rocksdb_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_avoid_unnecessary_blocking_io(
    rocksdb_options_t* options) ASHLAR_NOTHROW;
// The log.
enum {
  rocksdb_tolerate_corrupted_tail_records_recovery = 0,
  rocksdb_absolute_consistency_recovery = 1,
  rocksdb_point_in_time_recovery = 2,
  rocksdb_skip_any_corrupted_records_recovery = 3
};
ASHLAR_API void rocksdb_options_set_wal_recovery_mode(rocksdb_options_t* options,
                                                      int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_options_get_wal_recovery_mode(rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_wal_dir(rocksdb_options_t* options,
                                            const char* value) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_options_get_wal_dir(rocksdb_options_t* options,
                                                   size_t* size) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_max_total_wal_size(rocksdb_options_t* options,
                                                       uint64_t number) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_options_get_max_total_wal_size(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_manual_wal_flush(rocksdb_options_t* options,
                                                     unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_manual_wal_flush(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_wal_compression(rocksdb_options_t* options,
                                                    int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_options_get_wal_compression(rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_WAL_ttl_seconds(rocksdb_options_t* options,
                                                    uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_options_get_WAL_ttl_seconds(rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_WAL_size_limit_MB(rocksdb_options_t* options,
                                                      uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_options_get_WAL_size_limit_MB(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_recycle_log_file_num(rocksdb_options_t* options,
                                                         size_t value) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_options_get_recycle_log_file_num(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_avoid_flush_during_recovery(rocksdb_options_t* options,
                                                                unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_avoid_flush_during_recovery(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_avoid_flush_during_shutdown(rocksdb_options_t* options,
                                                                unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_avoid_flush_during_shutdown(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
// Background work.
ASHLAR_API void rocksdb_options_set_max_background_jobs(rocksdb_options_t* options,
                                                        int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_options_get_max_background_jobs(rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_max_background_compactions(rocksdb_options_t* options,
                                                               int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_options_get_max_background_compactions(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_max_background_flushes(rocksdb_options_t* options,
                                                           int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_options_get_max_background_flushes(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_max_subcompactions(rocksdb_options_t* options,
                                                       uint32_t value) ASHLAR_NOTHROW;
ASHLAR_API uint32_t rocksdb_options_get_max_subcompactions(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_max_bgerror_resume_count(rocksdb_options_t* options,
                                                             int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_options_get_max_bgerror_resume_count(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_bgerror_resume_retry_interval(rocksdb_options_t* options,
                                                                  uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_options_get_bgerror_resume_retry_interval(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_delayed_write_rate(rocksdb_options_t* options,
                                                       uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_options_get_delayed_write_rate(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
// Writing.
ASHLAR_API void rocksdb_options_set_write_buffer_manager(
    rocksdb_options_t* options, rocksdb_write_buffer_manager_t* manager) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_db_write_buffer_size(rocksdb_options_t* options,
                                                         size_t value) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_options_get_db_write_buffer_size(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_max_write_batch_group_size_bytes(rocksdb_options_t* options,
                                                                     uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_options_get_max_write_batch_group_size_bytes(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_enable_pipelined_write(rocksdb_options_t* options,
                                                           unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_enable_pipelined_write(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_unordered_write(rocksdb_options_t* options,
                                                    unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_unordered_write(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_two_write_queues(rocksdb_options_t* options,
                                                     unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_two_write_queues(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_allow_2pc(rocksdb_options_t* options,
                                              unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_allow_2pc(rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_atomic_flush(rocksdb_options_t* options,
                                                 unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_atomic_flush(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_allow_concurrent_memtable_write(
    rocksdb_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_allow_concurrent_memtable_write(
    rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_enable_write_thread_adaptive_yield(
    rocksdb_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_enable_write_thread_adaptive_yield(
    rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_write_thread_max_yield_usec(rocksdb_options_t* options,
                                                                uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_options_get_write_thread_max_yield_usec(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_write_thread_slow_yield_usec(rocksdb_options_t* options,
                                                                 uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_options_get_write_thread_slow_yield_usec(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_use_adaptive_mutex(rocksdb_options_t* options,
                                                       unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_use_adaptive_mutex(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_enable_thread_tracking(rocksdb_options_t* options,
                                                           unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_enable_thread_tracking(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_dump_malloc_stats(rocksdb_options_t* options,
                                                      unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_dump_malloc_stats(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_lowest_used_cache_tier(rocksdb_options_t* options,
                                                           int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_options_get_lowest_used_cache_tier(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
// Statistics in the LOG.
ASHLAR_API void rocksdb_options_set_stats_dump_period_sec(rocksdb_options_t* options,
                                                          unsigned int value) ASHLAR_NOTHROW;
ASHLAR_API unsigned int rocksdb_options_get_stats_dump_period_sec(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_stats_persist_period_sec(rocksdb_options_t* options,
                                                             unsigned int value) ASHLAR_NOTHROW;
ASHLAR_API unsigned int rocksdb_options_get_stats_persist_period_sec(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_persist_stats_to_disk(rocksdb_options_t* options,
                                                          unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_persist_stats_to_disk(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_stats_history_buffer_size(rocksdb_options_t* options,
                                                              size_t value) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_options_get_stats_history_buffer_size(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
// Meaning of the data. The comparator and the prefix extractor: see "settings" at the top.
ASHLAR_API void rocksdb_options_set_comparator(rocksdb_options_t* options,
                                               rocksdb_comparator_t* comparator) ASHLAR_NOTHROW;
// The options do not own the filter: destroy it after the database. They own the factory.
ASHLAR_API void rocksdb_options_set_compaction_filter(
    rocksdb_options_t* options, rocksdb_compactionfilter_t* filter) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_compaction_filter_factory(
    rocksdb_options_t* options, rocksdb_compactionfilterfactory_t* factory) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_merge_operator(
    rocksdb_options_t* options, rocksdb_mergeoperator_t* merge_operator) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_uint64add_merge_operator(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_prefix_extractor(
    rocksdb_options_t* options, rocksdb_slicetransform_t* transform) ASHLAR_NOTHROW;
// Memtables: the structure that stores their entries (ashlar/memtablerep.h), by default an ordered
// tree. The hashed structures need a prefix extractor.
ASHLAR_API void rocksdb_options_set_hash_skip_list_rep(
    rocksdb_options_t* options, size_t bucket_count, int32_t skiplist_height,
    int32_t skiplist_branching_factor) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_hash_link_list_rep(rocksdb_options_t* options,
                                                       size_t bucket_count) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_memtable_vector_rep(rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_write_buffer_size(rocksdb_options_t* options,
                                                      size_t value) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_options_get_write_buffer_size(rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_max_write_buffer_number(rocksdb_options_t* options,
                                                            int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_options_get_max_write_buffer_number(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_min_write_buffer_number_to_merge(rocksdb_options_t* options,
                                                                     int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_options_get_min_write_buffer_number_to_merge(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_max_write_buffer_number_to_maintain(rocksdb_options_t* options,
                                                                        int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_options_get_max_write_buffer_number_to_maintain(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_max_write_buffer_size_to_maintain(rocksdb_options_t* options,
                                                                      int64_t value) ASHLAR_NOTHROW;
ASHLAR_API int64_t rocksdb_options_get_max_write_buffer_size_to_maintain(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_arena_block_size(rocksdb_options_t* options,
                                                     size_t value) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_options_get_arena_block_size(rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_memtable_prefix_bloom_size_ratio(rocksdb_options_t* options,
                                                                     double value) ASHLAR_NOTHROW;
ASHLAR_API double rocksdb_options_get_memtable_prefix_bloom_size_ratio(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_memtable_whole_key_filtering(
    rocksdb_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_memtable_whole_key_filtering(
    rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_memtable_huge_page_size(rocksdb_options_t* options,
                                                            size_t value) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_options_get_memtable_huge_page_size(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_memtable_protection_bytes_per_key(
    rocksdb_options_t* options, uint32_t value) ASHLAR_NOTHROW;
ASHLAR_API uint32_t
rocksdb_options_get_memtable_protection_bytes_per_key(rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_bloom_locality(rocksdb_options_t* options,
                                                   uint32_t value) ASHLAR_NOTHROW;
ASHLAR_API uint32_t rocksdb_options_get_bloom_locality(rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_inplace_update_support(rocksdb_options_t* options,
                                                           unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_inplace_update_support(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_inplace_update_num_locks(rocksdb_options_t* options,
                                                             size_t value) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_options_get_inplace_update_num_locks(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_experimental_mempurge_threshold(rocksdb_options_t* options,
                                                                    double value) ASHLAR_NOTHROW;
ASHLAR_API double rocksdb_options_get_experimental_mempurge_threshold(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_max_successive_merges(rocksdb_options_t* options,
                                                          size_t value) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_options_get_max_successive_merges(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_max_sequential_skip_in_iterations(
    rocksdb_options_t* options, uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t
rocksdb_options_get_max_sequential_skip_in_iterations(rocksdb_options_t* options) ASHLAR_NOTHROW;
// Levels and compaction.
enum {
  rocksdb_level_compaction = 0,
  rocksdb_universal_compaction = 1,
  rocksdb_fifo_compaction = 2
};
enum {
  rocksdb_k_by_compensated_size_compaction_pri = 0,
  rocksdb_k_oldest_largest_seq_first_compaction_pri = 1,
  rocksdb_k_oldest_smallest_seq_first_compaction_pri = 2,
  rocksdb_k_min_overlapping_ratio_compaction_pri = 3,
  rocksdb_k_round_robin_compaction_pri = 4
};
ASHLAR_API void rocksdb_options_set_num_levels(rocksdb_options_t* options,
                                               int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_options_get_num_levels(rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_compaction_style(rocksdb_options_t* options,
                                                     int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_options_get_compaction_style(rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_compaction_pri(rocksdb_options_t* options,
                                                   int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_options_get_compaction_pri(rocksdb_options_t* options) ASHLAR_NOTHROW;
// The options share the factory; the program still destroys its own. Null: none.
ASHLAR_API rocksdb_sst_partitioner_factory_t* rocksdb_sst_partitioner_fixed_prefix_factory_create(
    size_t prefix_len) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_sst_partitioner_factory_destroy(rocksdb_sst_partitioner_factory_t* factory)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_sst_partitioner_factory(
    rocksdb_options_t* options, rocksdb_sst_partitioner_factory_t* factory) ASHLAR_NOTHROW;
// See ashlar/file_checksum.h. The options share the factory; the program still destroys its own.
// Null: none.
ASHLAR_API rocksdb_file_checksum_gen_factory_t* rocksdb_file_checksum_gen_crc32c_factory_create(
    void) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_file_checksum_gen_factory_destroy(
    rocksdb_file_checksum_gen_factory_t* factory) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_file_checksum_gen_factory(
    rocksdb_options_t* options, rocksdb_file_checksum_gen_factory_t* factory) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_disable_auto_compactions(rocksdb_options_t* options,
                                                             int value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_disable_auto_compactions(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_level0_file_num_compaction_trigger(rocksdb_options_t* options,
                                                                       int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_options_get_level0_file_num_compaction_trigger(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_level0_slowdown_writes_trigger(rocksdb_options_t* options,
                                                                   int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_options_get_level0_slowdown_writes_trigger(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_level0_stop_writes_trigger(rocksdb_options_t* options,
                                                               int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_options_get_level0_stop_writes_trigger(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_target_file_size_base(rocksdb_options_t* options,
                                                          uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_options_get_target_file_size_base(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_target_file_size_multiplier(rocksdb_options_t* options,
                                                                int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_options_get_target_file_size_multiplier(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_max_bytes_for_level_base(rocksdb_options_t* options,
                                                             uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_options_get_max_bytes_for_level_base(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_max_bytes_for_level_multiplier(rocksdb_options_t* options,
                                                                   double value) ASHLAR_NOTHROW;
ASHLAR_API double rocksdb_options_get_max_bytes_for_level_multiplier(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_max_bytes_for_level_multiplier_additional(
    rocksdb_options_t* options, int* level_values, size_t num_levels) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_level_compaction_dynamic_level_bytes(
    rocksdb_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_level_compaction_dynamic_level_bytes(
    rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_max_compaction_bytes(rocksdb_options_t* options,
                                                         uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_options_get_max_compaction_bytes(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_soft_pending_compaction_bytes_limit(
    rocksdb_options_t* options, size_t value) ASHLAR_NOTHROW;
ASHLAR_API size_t
rocksdb_options_get_soft_pending_compaction_bytes_limit(rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_hard_pending_compaction_bytes_limit(
    rocksdb_options_t* options, size_t value) ASHLAR_NOTHROW;
ASHLAR_API size_t
rocksdb_options_get_hard_pending_compaction_bytes_limit(rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_ttl(rocksdb_options_t* options, uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_options_get_ttl(rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_periodic_compaction_seconds(rocksdb_options_t* options,
                                                                uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_options_get_periodic_compaction_seconds(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_preclude_last_level_data_seconds(rocksdb_options_t* options,
                                                                     uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_options_get_preclude_last_level_data_seconds(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_preserve_internal_time_seconds(rocksdb_options_t* options,
                                                                   uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_options_get_preserve_internal_time_seconds(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_last_level_temperature(rocksdb_options_t* options,
                                                           int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_options_get_last_level_temperature(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_report_bg_io_stats(rocksdb_options_t* options,
                                                       int value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_report_bg_io_stats(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
// See ashlar/table_properties_collectors.h.
ASHLAR_API void rocksdb_options_add_compact_on_deletion_collector_factory(
    rocksdb_options_t* options, size_t window_size, size_t num_dels_trigger) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_add_compact_on_deletion_collector_factory_del_ratio(
    rocksdb_options_t* options, size_t window_size, size_t num_dels_trigger,
    double deletion_ratio) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_add_compact_on_deletion_collector_factory_min_file_size(
    rocksdb_options_t* options, size_t window_size, size_t num_dels_trigger, double deletion_ratio,
    uint64_t min_file_size) ASHLAR_NOTHROW;
// As in RocksDB, no function creates a factory. Null adds none.
ASHLAR_API void rocksdb_options_add_table_properties_collector_factory(
    rocksdb_options_t* options,
    rocksdb_table_properties_collector_factory_t* factory) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_table_properties_collector_factory_destroy(
    rocksdb_table_properties_collector_factory_t* factory) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_universal_compaction_options(
    rocksdb_options_t* options, rocksdb_universal_compaction_options_t* options_3) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_fifo_compaction_options(
    rocksdb_options_t* options, rocksdb_fifo_compaction_options_t* fifo_options) ASHLAR_NOTHROW;
// Compression of tables.
enum {
  rocksdb_no_compression = 0,
  rocksdb_snappy_compression = 1,
  rocksdb_zlib_compression = 2,
  rocksdb_bz2_compression = 3,
  rocksdb_lz4_compression = 4,
  rocksdb_lz4hc_compression = 5,
  rocksdb_xpress_compression = 6,
  rocksdb_zstd_compression = 7
};
ASHLAR_API void rocksdb_options_set_compression(rocksdb_options_t* options,
                                                int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_options_get_compression(rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_compression_per_level(rocksdb_options_t* options,
                                                          const int* level_values,
                                                          size_t num_levels) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_bottommost_compression(rocksdb_options_t* options,
                                                           int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_options_get_bottommost_compression(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_sample_for_compression(rocksdb_options_t* options,
                                                           uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_options_get_sample_for_compression(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_optimize_filters_for_hits(rocksdb_options_t* options,
                                                              int value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_optimize_filters_for_hits(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
// Levels before `level` are not compressed; the others use the current value of `compression`. A
// negative level changes nothing.
ASHLAR_API void rocksdb_options_set_min_level_to_compress(rocksdb_options_t* options,
                                                          int level) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_compression_options(rocksdb_options_t* options, int window_bits,
                                                        int level, int strategy,
                                                        int max_dict_bytes) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_compression_options_zstd_max_train_bytes(
    rocksdb_options_t* options, int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_options_get_compression_options_zstd_max_train_bytes(
    rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_compression_options_use_zstd_dict_trainer(
    rocksdb_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_compression_options_use_zstd_dict_trainer(
    rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_compression_options_parallel_threads(rocksdb_options_t* options,
                                                                         int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_options_get_compression_options_parallel_threads(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_compression_options_max_dict_buffer_bytes(
    rocksdb_options_t* options, uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_options_get_compression_options_max_dict_buffer_bytes(
    rocksdb_options_t* options) ASHLAR_NOTHROW;
// The last argument: whether the bottommost level has compression options of its own.
ASHLAR_API void rocksdb_options_set_bottommost_compression_options(
    rocksdb_options_t* options, int window_bits, int level, int strategy, int max_dict_bytes,
    unsigned char enabled) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_bottommost_compression_options_zstd_max_train_bytes(
    rocksdb_options_t* options, int value, unsigned char value_3) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_bottommost_compression_options_use_zstd_dict_trainer(
    rocksdb_options_t* options, unsigned char value, unsigned char value_3) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_bottommost_compression_options_use_zstd_dict_trainer(
    rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_bottommost_compression_options_max_dict_buffer_bytes(
    rocksdb_options_t* options, uint64_t value, unsigned char value_3) ASHLAR_NOTHROW;
// Blob files.
enum { rocksdb_prepopulate_blob_disable = 0, rocksdb_prepopulate_blob_flush_only = 1 };
ASHLAR_API void rocksdb_options_set_enable_blob_files(rocksdb_options_t* options,
                                                      unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_enable_blob_files(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_min_blob_size(rocksdb_options_t* options,
                                                  uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_options_get_min_blob_size(rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_blob_file_size(rocksdb_options_t* options,
                                                   uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_options_get_blob_file_size(rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_blob_compression_type(rocksdb_options_t* options,
                                                          int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_options_get_blob_compression_type(rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_enable_blob_gc(rocksdb_options_t* options,
                                                   unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_enable_blob_gc(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_blob_gc_age_cutoff(rocksdb_options_t* options,
                                                       double value) ASHLAR_NOTHROW;
ASHLAR_API double rocksdb_options_get_blob_gc_age_cutoff(rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_blob_gc_force_threshold(rocksdb_options_t* options,
                                                            double value) ASHLAR_NOTHROW;
ASHLAR_API double rocksdb_options_get_blob_gc_force_threshold(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_blob_compaction_readahead_size(rocksdb_options_t* options,
                                                                   uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_options_get_blob_compaction_readahead_size(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_blob_file_starting_level(rocksdb_options_t* options,
                                                             int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_options_get_blob_file_starting_level(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_blob_cache(rocksdb_options_t* options,
                                               rocksdb_cache_t* blob_cache) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_prepopulate_blob_cache(rocksdb_options_t* options,
                                                           int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_options_get_prepopulate_blob_cache(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
// From releases after 7.8.
ASHLAR_API void rocksdb_options_set_target_file_size_is_upper_bound(
    rocksdb_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_target_file_size_is_upper_bound(
    rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_read_triggered_compaction_threshold(
    rocksdb_options_t* options, double value) ASHLAR_NOTHROW;
ASHLAR_API double rocksdb_options_get_read_triggered_compaction_threshold(
    rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_bottommost_file_compaction_delay(rocksdb_options_t* options,
                                                                     uint32_t value) ASHLAR_NOTHROW;
ASHLAR_API uint32_t rocksdb_options_get_bottommost_file_compaction_delay(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_strict_max_successive_merges(
    rocksdb_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_strict_max_successive_merges(
    rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_disallow_memtable_writes(rocksdb_options_t* options,
                                                             unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_disallow_memtable_writes(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_cf_allow_ingest_behind(rocksdb_options_t* options,
                                                           unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_cf_allow_ingest_behind(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_default_temperature(rocksdb_options_t* options,
                                                        int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_options_get_default_temperature(rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_default_write_temperature(rocksdb_options_t* options,
                                                              int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_options_get_default_write_temperature(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_memtable_op_scan_flush_trigger(rocksdb_options_t* options,
                                                                   uint32_t value) ASHLAR_NOTHROW;
ASHLAR_API uint32_t rocksdb_options_get_memtable_op_scan_flush_trigger(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_memtable_avg_op_scan_flush_trigger(
    rocksdb_options_t* options, uint32_t value) ASHLAR_NOTHROW;
ASHLAR_API uint32_t
rocksdb_options_get_memtable_avg_op_scan_flush_trigger(rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_min_tombstones_for_range_conversion(
    rocksdb_options_t* options, uint32_t value) ASHLAR_NOTHROW;
ASHLAR_API uint32_t
rocksdb_options_get_min_tombstones_for_range_conversion(rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_memtable_max_range_deletions(rocksdb_options_t* options,
                                                                 uint32_t value) ASHLAR_NOTHROW;
ASHLAR_API uint32_t rocksdb_options_get_memtable_max_range_deletions(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_memtable_batch_lookup_optimization(
    rocksdb_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_memtable_batch_lookup_optimization(
    rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_memtable_verify_per_key_checksum_on_seek(
    rocksdb_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_memtable_verify_per_key_checksum_on_seek(
    rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_paranoid_memory_checks(rocksdb_options_t* options,
                                                           unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_paranoid_memory_checks(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_block_protection_bytes_per_key(rocksdb_options_t* options,
                                                                   uint8_t value) ASHLAR_NOTHROW;
ASHLAR_API uint8_t rocksdb_options_get_block_protection_bytes_per_key(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_uncache_aggressiveness(rocksdb_options_t* options,
                                                           uint32_t value) ASHLAR_NOTHROW;
ASHLAR_API uint32_t rocksdb_options_get_uncache_aggressiveness(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_persist_user_defined_timestamps(
    rocksdb_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_persist_user_defined_timestamps(
    rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_enable_blob_direct_write(rocksdb_options_t* options,
                                                             unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_enable_blob_direct_write(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_blob_direct_write_partitions(rocksdb_options_t* options,
                                                                 uint32_t value) ASHLAR_NOTHROW;
ASHLAR_API uint32_t rocksdb_options_get_blob_direct_write_partitions(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_compaction_verify_record_count(
    rocksdb_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_compaction_verify_record_count(
    rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_track_and_verify_wals(rocksdb_options_t* options,
                                                          unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_track_and_verify_wals(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_write_identity_file(rocksdb_options_t* options,
                                                        unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_write_identity_file(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_open_files_async(rocksdb_options_t* options,
                                                     unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_open_files_async(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_fast_sst_open(rocksdb_options_t* options,
                                                  unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_fast_sst_open(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_optimize_manifest_for_recovery(
    rocksdb_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_optimize_manifest_for_recovery(
    rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_reuse_manifest_on_open(rocksdb_options_t* options,
                                                           unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_reuse_manifest_on_open(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_verify_manifest_content_on_close(
    rocksdb_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_verify_manifest_content_on_close(
    rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_max_manifest_space_amp_pct(rocksdb_options_t* options,
                                                               int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_options_get_max_manifest_space_amp_pct(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_use_direct_io_for_compaction_reads(
    rocksdb_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_use_direct_io_for_compaction_reads(
    rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_read_io_executor_threads(rocksdb_options_t* options,
                                                             int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_options_get_read_io_executor_threads(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_async_wal_precreate(rocksdb_options_t* options,
                                                        unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_async_wal_precreate(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_background_close_inactive_wals(
    rocksdb_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_background_close_inactive_wals(
    rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_enforce_write_buffer_manager_during_recovery(
    rocksdb_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_enforce_write_buffer_manager_during_recovery(
    rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_max_compaction_trigger_wakeup_seconds(
    rocksdb_options_t* options, uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_options_get_max_compaction_trigger_wakeup_seconds(
    rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_follower_refresh_catchup_period_ms(
    rocksdb_options_t* options, uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t
rocksdb_options_get_follower_refresh_catchup_period_ms(rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_follower_catchup_retry_count(rocksdb_options_t* options,
                                                                 uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_options_get_follower_catchup_retry_count(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_follower_catchup_retry_wait_ms(rocksdb_options_t* options,
                                                                   uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_options_get_follower_catchup_retry_wait_ms(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_metadata_write_temperature(rocksdb_options_t* options,
                                                               int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_options_get_metadata_write_temperature(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_wal_write_temperature(rocksdb_options_t* options,
                                                          int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_options_get_wal_write_temperature(rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_verify_output_flags(rocksdb_options_t* options,
                                                        int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_options_get_verify_output_flags(rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_prefix_seek_opt_in_only(rocksdb_options_t* options,
                                                            unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_get_prefix_seek_opt_in_only(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_daily_offpeak_time_utc(rocksdb_options_t* options,
                                                           const char* value) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_options_get_daily_offpeak_time_utc(rocksdb_options_t* options,
                                                                  size_t* size) ASHLAR_NOTHROW;
// Sets of numbers that stand for file types and for compaction styles.
ASHLAR_API void rocksdb_options_checksum_handoff_file_types_add(rocksdb_options_t* options,
                                                                int file_type) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_checksum_handoff_file_types_remove(rocksdb_options_t* options,
                                                                   int file_type) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_checksum_handoff_file_types_contains(
    rocksdb_options_t* options, int file_type) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_options_checksum_handoff_file_types_count(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_checksum_handoff_file_types_clear(rocksdb_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_calculate_sst_write_lifetime_hint_set_add(
    rocksdb_options_t* options, int compaction_style) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_calculate_sst_write_lifetime_hint_set_remove(
    rocksdb_options_t* options, int compaction_style) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_options_calculate_sst_write_lifetime_hint_set_contains(
    rocksdb_options_t* options, int compaction_style) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_options_calculate_sst_write_lifetime_hint_set_count(
    rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_calculate_sst_write_lifetime_hint_set_clear(
    rocksdb_options_t* options) ASHLAR_NOTHROW;

ASHLAR_API rocksdb_dbpath_t* rocksdb_dbpath_create(const char* path,
                                                   uint64_t target_size) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_dbpath_destroy(rocksdb_dbpath_t* path) ASHLAR_NOTHROW;

enum {
  rocksdb_similar_size_compaction_stop_style = 0,
  rocksdb_total_size_compaction_stop_style = 1
};
ASHLAR_API rocksdb_universal_compaction_options_t* rocksdb_universal_compaction_options_create(void)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_universal_compaction_options_destroy(
    rocksdb_universal_compaction_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_universal_compaction_options_set_size_ratio(
    rocksdb_universal_compaction_options_t* options, int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_universal_compaction_options_get_size_ratio(
    rocksdb_universal_compaction_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_universal_compaction_options_set_min_merge_width(
    rocksdb_universal_compaction_options_t* options, int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_universal_compaction_options_get_min_merge_width(
    rocksdb_universal_compaction_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_universal_compaction_options_set_max_merge_width(
    rocksdb_universal_compaction_options_t* options, int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_universal_compaction_options_get_max_merge_width(
    rocksdb_universal_compaction_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_universal_compaction_options_set_max_size_amplification_percent(
    rocksdb_universal_compaction_options_t* options, int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_universal_compaction_options_get_max_size_amplification_percent(
    rocksdb_universal_compaction_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_universal_compaction_options_set_compression_size_percent(
    rocksdb_universal_compaction_options_t* options, int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_universal_compaction_options_get_compression_size_percent(
    rocksdb_universal_compaction_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_universal_compaction_options_set_stop_style(
    rocksdb_universal_compaction_options_t* options, int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_universal_compaction_options_get_stop_style(
    rocksdb_universal_compaction_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_universal_compaction_options_set_allow_trivial_move(
    rocksdb_universal_compaction_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_universal_compaction_options_get_allow_trivial_move(
    rocksdb_universal_compaction_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_universal_compaction_options_set_incremental(
    rocksdb_universal_compaction_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_universal_compaction_options_get_incremental(
    rocksdb_universal_compaction_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_universal_compaction_options_set_max_read_amp(
    rocksdb_universal_compaction_options_t* options, int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_universal_compaction_options_get_max_read_amp(
    rocksdb_universal_compaction_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_universal_compaction_options_set_reduce_file_locking(
    rocksdb_universal_compaction_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_universal_compaction_options_get_reduce_file_locking(
    rocksdb_universal_compaction_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API rocksdb_fifo_compaction_options_t* rocksdb_fifo_compaction_options_create(void)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_fifo_compaction_options_destroy(rocksdb_fifo_compaction_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_fifo_compaction_options_set_allow_compaction(
    rocksdb_fifo_compaction_options_t* options, unsigned char allow_compaction) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_fifo_compaction_options_get_allow_compaction(
    rocksdb_fifo_compaction_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_fifo_compaction_options_set_max_table_files_size(
    rocksdb_fifo_compaction_options_t* options, uint64_t size) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_fifo_compaction_options_get_max_table_files_size(
    rocksdb_fifo_compaction_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_fifo_compaction_options_set_age_for_warm(
    rocksdb_fifo_compaction_options_t* options, uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_fifo_compaction_options_get_age_for_warm(
    rocksdb_fifo_compaction_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_fifo_compaction_options_set_max_data_files_size(
    rocksdb_fifo_compaction_options_t* options, uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_fifo_compaction_options_get_max_data_files_size(
    rocksdb_fifo_compaction_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_fifo_compaction_options_set_use_kv_ratio_compaction(
    rocksdb_fifo_compaction_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_fifo_compaction_options_get_use_kv_ratio_compaction(
    rocksdb_fifo_compaction_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_fifo_compaction_options_set_allow_trivial_copy_when_change_temperature(
    rocksdb_fifo_compaction_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char
rocksdb_fifo_compaction_options_get_allow_trivial_copy_when_change_temperature(
    rocksdb_fifo_compaction_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_fifo_compaction_options_set_trivial_copy_buffer_size(
    rocksdb_fifo_compaction_options_t* options, uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_fifo_compaction_options_get_trivial_copy_buffer_size(
    rocksdb_fifo_compaction_options_t* options) ASHLAR_NOTHROW;

// ---- Block-based tables: the members of BlockBasedTableOptions in ashlar/table.h.

enum {
  rocksdb_block_based_table_index_type_binary_search = 0,
  rocksdb_block_based_table_index_type_hash_search = 1,
  rocksdb_block_based_table_index_type_two_level_index_search = 2
};
enum {
  rocksdb_block_based_table_data_block_index_type_binary_search = 0,
  rocksdb_block_based_table_data_block_index_type_binary_search_and_hash = 1
};
// Accepted without effect: Ashlar chooses the search in a table's index itself.
enum {
  rocksdb_block_based_table_index_block_search_type_binary = 0,
  rocksdb_block_based_table_index_block_search_type_interpolation = 1,
  rocksdb_block_based_table_index_block_search_type_auto = 2
};
enum {
  rocksdb_block_based_k_fallback_pinning_tier = 0,
  rocksdb_block_based_k_none_pinning_tier = 1,
  rocksdb_block_based_k_flush_and_similar_pinning_tier = 2,
  rocksdb_block_based_k_all_pinning_tier = 3
};
ASHLAR_API rocksdb_block_based_table_options_t* rocksdb_block_based_options_create(void)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_destroy(rocksdb_block_based_table_options_t* options)
    ASHLAR_NOTHROW;
// Copies table_options.
ASHLAR_API void rocksdb_options_set_block_based_table_factory(
    rocksdb_options_t* options, rocksdb_block_based_table_options_t* table_options) ASHLAR_NOTHROW;
// With a row cache rocksdb_open fails with NotSupported, because block_cache replaces it.
ASHLAR_API void rocksdb_options_set_row_cache(rocksdb_options_t* options,
                                              rocksdb_cache_t* cache) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_block_cache(
    rocksdb_block_based_table_options_t* options, rocksdb_cache_t* block_cache) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_no_block_cache(
    rocksdb_block_based_table_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_block_based_options_get_no_block_cache(
    rocksdb_block_based_table_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_cache_index_and_filter_blocks(
    rocksdb_block_based_table_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_block_based_options_get_cache_index_and_filter_blocks(
    rocksdb_block_based_table_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_cache_index_and_filter_blocks_with_high_priority(
    rocksdb_block_based_table_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char
rocksdb_block_based_options_get_cache_index_and_filter_blocks_with_high_priority(
    rocksdb_block_based_table_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_pin_l0_filter_and_index_blocks_in_cache(
    rocksdb_block_based_table_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_block_based_options_get_pin_l0_filter_and_index_blocks_in_cache(
    rocksdb_block_based_table_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_pin_top_level_index_and_filter(
    rocksdb_block_based_table_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_block_based_options_get_pin_top_level_index_and_filter(
    rocksdb_block_based_table_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_top_level_index_pinning_tier(
    rocksdb_block_based_table_options_t* options, int value) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_partition_pinning_tier(
    rocksdb_block_based_table_options_t* options, int value) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_unpartitioned_pinning_tier(
    rocksdb_block_based_table_options_t* options, int value) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_index_type(
    rocksdb_block_based_table_options_t* options, int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_block_based_options_get_index_type(
    rocksdb_block_based_table_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_data_block_index_type(
    rocksdb_block_based_table_options_t* options, int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_block_based_options_get_data_block_index_type(
    rocksdb_block_based_table_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_data_block_hash_ratio(
    rocksdb_block_based_table_options_t* options, double value) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_data_block_hash_table_util_ratio(
    rocksdb_block_based_table_options_t* options, double value) ASHLAR_NOTHROW;
ASHLAR_API double rocksdb_block_based_options_get_data_block_hash_table_util_ratio(
    rocksdb_block_based_table_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_checksum(
    rocksdb_block_based_table_options_t* options, char value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_block_based_options_get_checksum(
    rocksdb_block_based_table_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_block_size(
    rocksdb_block_based_table_options_t* options, size_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_block_based_options_get_block_size(
    rocksdb_block_based_table_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_block_size_deviation(
    rocksdb_block_based_table_options_t* options, int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_block_based_options_get_block_size_deviation(
    rocksdb_block_based_table_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_block_restart_interval(
    rocksdb_block_based_table_options_t* options, int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_block_based_options_get_block_restart_interval(
    rocksdb_block_based_table_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_index_block_restart_interval(
    rocksdb_block_based_table_options_t* options, int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_block_based_options_get_index_block_restart_interval(
    rocksdb_block_based_table_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_metadata_block_size(
    rocksdb_block_based_table_options_t* options, uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_block_based_options_get_metadata_block_size(
    rocksdb_block_based_table_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_partition_filters(
    rocksdb_block_based_table_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_block_based_options_get_partition_filters(
    rocksdb_block_based_table_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_decouple_partitioned_filters(
    rocksdb_block_based_table_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_block_based_options_get_decouple_partitioned_filters(
    rocksdb_block_based_table_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_optimize_filters_for_memory(
    rocksdb_block_based_table_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_block_based_options_get_optimize_filters_for_memory(
    rocksdb_block_based_table_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_use_delta_encoding(
    rocksdb_block_based_table_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_block_based_options_get_use_delta_encoding(
    rocksdb_block_based_table_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_filter_policy(
    rocksdb_block_based_table_options_t* options,
    rocksdb_filterpolicy_t* filter_policy) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_whole_key_filtering(
    rocksdb_block_based_table_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_block_based_options_get_whole_key_filtering(
    rocksdb_block_based_table_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_detect_filter_construct_corruption(
    rocksdb_block_based_table_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_block_based_options_get_detect_filter_construct_corruption(
    rocksdb_block_based_table_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_verify_compression(
    rocksdb_block_based_table_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_block_based_options_get_verify_compression(
    rocksdb_block_based_table_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_read_amp_bytes_per_bit(
    rocksdb_block_based_table_options_t* options, uint32_t value) ASHLAR_NOTHROW;
ASHLAR_API uint32_t rocksdb_block_based_options_get_read_amp_bytes_per_bit(
    rocksdb_block_based_table_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_format_version(
    rocksdb_block_based_table_options_t* options, int value) ASHLAR_NOTHROW;
ASHLAR_API uint32_t rocksdb_block_based_options_get_format_version(
    rocksdb_block_based_table_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_enable_index_compression(
    rocksdb_block_based_table_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_block_based_options_get_enable_index_compression(
    rocksdb_block_based_table_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_block_align(
    rocksdb_block_based_table_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_block_based_options_get_block_align(
    rocksdb_block_based_table_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_index_shortening(
    rocksdb_block_based_table_options_t* options, int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_block_based_options_get_index_shortening(
    rocksdb_block_based_table_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_max_auto_readahead_size(
    rocksdb_block_based_table_options_t* options, size_t value) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_block_based_options_get_max_auto_readahead_size(
    rocksdb_block_based_table_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_initial_auto_readahead_size(
    rocksdb_block_based_table_options_t* options, size_t value) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_block_based_options_get_initial_auto_readahead_size(
    rocksdb_block_based_table_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_num_file_reads_for_auto_readahead(
    rocksdb_block_based_table_options_t* options, uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_block_based_options_get_num_file_reads_for_auto_readahead(
    rocksdb_block_based_table_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_prepopulate_block_cache(
    rocksdb_block_based_table_options_t* options, int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_block_based_options_get_prepopulate_block_cache(
    rocksdb_block_based_table_options_t* options) ASHLAR_NOTHROW;
// From releases after 7.8.
ASHLAR_API void rocksdb_block_based_options_set_index_block_search_type(
    rocksdb_block_based_table_options_t* options, int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_block_based_options_get_index_block_search_type(
    rocksdb_block_based_table_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_uniform_cv_threshold(
    rocksdb_block_based_table_options_t* options, double value) ASHLAR_NOTHROW;
ASHLAR_API double rocksdb_block_based_options_get_uniform_cv_threshold(
    rocksdb_block_based_table_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_separate_key_value_in_data_block(
    rocksdb_block_based_table_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_block_based_options_get_separate_key_value_in_data_block(
    rocksdb_block_based_table_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_super_block_alignment_size(
    rocksdb_block_based_table_options_t* options, size_t value) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_block_based_options_get_super_block_alignment_size(
    rocksdb_block_based_table_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_super_block_alignment_space_overhead_ratio(
    rocksdb_block_based_table_options_t* options, size_t value) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_block_based_options_get_super_block_alignment_space_overhead_ratio(
    rocksdb_block_based_table_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_use_udi_as_primary_index(
    rocksdb_block_based_table_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_block_based_options_get_use_udi_as_primary_index(
    rocksdb_block_based_table_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_set_fail_if_no_udi_on_open(
    rocksdb_block_based_table_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_block_based_options_get_fail_if_no_udi_on_open(
    rocksdb_block_based_table_options_t* options) ASHLAR_NOTHROW;
// User-defined indexes, which Ashlar does not implement. Each factory is NotSupported, and the
// options stay without one. Null removes the factory, as _clear does. Without a factory the name is
// null, with the size 0; name_size may be null.
ASHLAR_API void rocksdb_block_based_options_set_user_defined_index_factory_from_string(
    rocksdb_block_based_table_options_t* options, const char* value, size_t value_size,
    char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_block_based_options_clear_user_defined_index_factory(
    rocksdb_block_based_table_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_block_based_options_get_user_defined_index_factory_name(
    const rocksdb_block_based_table_options_t* options, size_t* name_size) ASHLAR_NOTHROW;

// PlainTables: PlainTableOptions in ashlar/table.h. encoding_type is 0 for whole keys, 1 for keys
// that leave out their prefix.
ASHLAR_API void rocksdb_options_set_plain_table_factory(
    rocksdb_options_t* options, uint32_t user_key_len, int bloom_bits_per_key,
    double hash_table_ratio, size_t index_sparseness, size_t huge_page_tlb_size, char encoding_type,
    unsigned char full_scan_mode, unsigned char store_index_in_file) ASHLAR_NOTHROW;

// Cuckoo tables, which Ashlar does not implement. An open with the factory fails and names it.
ASHLAR_API rocksdb_cuckoo_table_options_t* rocksdb_cuckoo_options_create(void) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_cuckoo_options_destroy(rocksdb_cuckoo_table_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_cuckoo_table_factory(
    rocksdb_options_t* options, rocksdb_cuckoo_table_options_t* table_options) ASHLAR_NOTHROW;
// Sets hash_table_ratio.
ASHLAR_API void rocksdb_cuckoo_options_set_hash_ratio(rocksdb_cuckoo_table_options_t* options,
                                                      double value) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_cuckoo_options_set_hash_table_ratio(rocksdb_cuckoo_table_options_t* options,
                                                            double value) ASHLAR_NOTHROW;
ASHLAR_API double rocksdb_cuckoo_options_get_hash_table_ratio(
    rocksdb_cuckoo_table_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_cuckoo_options_set_max_search_depth(rocksdb_cuckoo_table_options_t* options,
                                                            uint32_t value) ASHLAR_NOTHROW;
ASHLAR_API uint32_t
rocksdb_cuckoo_options_get_max_search_depth(rocksdb_cuckoo_table_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_cuckoo_options_set_cuckoo_block_size(
    rocksdb_cuckoo_table_options_t* options, uint32_t value) ASHLAR_NOTHROW;
ASHLAR_API uint32_t rocksdb_cuckoo_options_get_cuckoo_block_size(
    rocksdb_cuckoo_table_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_cuckoo_options_set_identity_as_first_hash(
    rocksdb_cuckoo_table_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_cuckoo_options_get_identity_as_first_hash(
    rocksdb_cuckoo_table_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_cuckoo_options_set_use_module_hash(rocksdb_cuckoo_table_options_t* options,
                                                           unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_cuckoo_options_get_use_module_hash(
    rocksdb_cuckoo_table_options_t* options) ASHLAR_NOTHROW;

// ---- Options of reads, writes, flushes and compactions.

ASHLAR_API rocksdb_readoptions_t* rocksdb_readoptions_create(void) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_readoptions_destroy(rocksdb_readoptions_t* options) ASHLAR_NOTHROW;
// Selects the tables that an iterator reads. table_filter gets the properties of a table, which are
// valid during the call, and returns 0 to leave the table out. Null: all tables are read. Any
// thread that uses the options may call it with `state`. `destructor` (may be null) gets `state`
// when neither these options nor an iterator made with them need it any more.
ASHLAR_API void rocksdb_readoptions_set_table_filter(
    rocksdb_readoptions_t* options, void* state, void (*destructor)(void* state),
    rocksdb_readoptions_table_filter_cb table_filter) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_readoptions_clear_table_filter(rocksdb_readoptions_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_readoptions_has_table_filter(const rocksdb_readoptions_t* options)
    ASHLAR_NOTHROW;
// Like rocksdb_block_based_options_set_user_defined_index_factory_from_string and its relatives.
ASHLAR_API void rocksdb_readoptions_set_table_index_factory_from_string(
    rocksdb_readoptions_t* options, const char* value, size_t value_size,
    char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_readoptions_clear_table_index_factory(rocksdb_readoptions_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_readoptions_get_table_index_factory_name(
    const rocksdb_readoptions_t* options, size_t* name_size) ASHLAR_NOTHROW;
// The members of ashlar/table_properties.h. The properties own the texts and bytes. A text ends in
// a 0 that *size does not count.
ASHLAR_API uint64_t rocksdb_table_properties_orig_file_number(
    const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_table_properties_external_sst_file_global_seqno_offset(
    const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_table_properties_data_size(const rocksdb_table_properties_t* properties)
    ASHLAR_NOTHROW;
// Known only for a new table, in callbacks of listeners. 0: unknown.
ASHLAR_API uint64_t rocksdb_table_properties_uncompressed_data_size(
    const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t
rocksdb_table_properties_index_size(const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_table_properties_index_partitions(
    const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_table_properties_top_level_index_size(
    const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_table_properties_index_key_is_user_key(
    const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_table_properties_index_value_is_delta_encoded(
    const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t
rocksdb_table_properties_filter_size(const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t
rocksdb_table_properties_raw_key_size(const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_table_properties_raw_value_size(
    const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_table_properties_num_data_blocks(
    const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t
rocksdb_table_properties_num_entries(const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t
rocksdb_table_properties_num_deletions(const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_table_properties_num_merge_operands(
    const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_table_properties_num_range_deletions(
    const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_table_properties_num_filter_entries(
    const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_table_properties_format_version(
    const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t
rocksdb_table_properties_fixed_key_len(const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_table_properties_column_family_id(
    const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t
rocksdb_table_properties_creation_time(const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_table_properties_oldest_key_time(
    const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_table_properties_file_creation_time(
    const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_table_properties_slow_compression_estimated_data_size(
    const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_table_properties_fast_compression_estimated_data_size(
    const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_table_properties_num_data_blocks_compression_rejected(
    const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_table_properties_num_data_blocks_compression_bypassed(
    const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_table_properties_num_uniform_blocks(
    const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_table_properties_newest_key_time(
    const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_table_properties_tail_start_offset(
    const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_table_properties_user_defined_timestamps_persisted(
    const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_table_properties_key_largest_seqno(
    const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_table_properties_key_smallest_seqno(
    const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_table_properties_data_block_restart_interval(
    const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_table_properties_index_block_restart_interval(
    const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_table_properties_separate_key_value_in_data_block(
    const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_table_properties_udi_is_primary_index(
    const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_table_properties_has_key_largest_seqno(
    const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_table_properties_has_key_smallest_seqno(
    const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_table_properties_seqno_to_time_mapping(
    const rocksdb_table_properties_t* properties, size_t* size) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_table_properties_db_id(const rocksdb_table_properties_t* properties,
                                                      size_t* size) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_table_properties_db_session_id(
    const rocksdb_table_properties_t* properties, size_t* size) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_table_properties_db_host_id(
    const rocksdb_table_properties_t* properties, size_t* size) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_table_properties_column_family_name(
    const rocksdb_table_properties_t* properties, size_t* size) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_table_properties_filter_policy_name(
    const rocksdb_table_properties_t* properties, size_t* size) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_table_properties_comparator_name(
    const rocksdb_table_properties_t* properties, size_t* size) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_table_properties_merge_operator_name(
    const rocksdb_table_properties_t* properties, size_t* size) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_table_properties_prefix_extractor_name(
    const rocksdb_table_properties_t* properties, size_t* size) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_table_properties_property_collectors_names(
    const rocksdb_table_properties_t* properties, size_t* size) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_table_properties_compression_name(
    const rocksdb_table_properties_t* properties, size_t* size) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_table_properties_compression_options(
    const rocksdb_table_properties_t* properties, size_t* size) ASHLAR_NOTHROW;
// user_collected_properties in the order of their names. Null: there is none at this position.
ASHLAR_API size_t rocksdb_table_properties_user_collected_properties_count(
    const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_table_properties_user_collected_properties_key_at(
    const rocksdb_table_properties_t* properties, size_t position, size_t* size) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_table_properties_user_collected_properties_value_at(
    const rocksdb_table_properties_t* properties, size_t position, size_t* size) ASHLAR_NOTHROW;
// The same for readable_properties, which only a new table has, in callbacks of listeners.
ASHLAR_API size_t rocksdb_table_properties_readable_properties_count(
    const rocksdb_table_properties_t* properties) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_table_properties_readable_properties_key_at(
    const rocksdb_table_properties_t* properties, size_t position, size_t* size) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_table_properties_readable_properties_value_at(
    const rocksdb_table_properties_t* properties, size_t position, size_t* size) ASHLAR_NOTHROW;
// The snapshot and the bytes of the bounds are borrowed. They must outlive every iterator made with
// these options. A null key removes the bound.
ASHLAR_API void rocksdb_readoptions_set_snapshot(rocksdb_readoptions_t* options,
                                                 const rocksdb_snapshot_t* snapshot) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_readoptions_set_iterate_upper_bound(rocksdb_readoptions_t* options,
                                                            const char* key,
                                                            size_t key_size) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_readoptions_set_iterate_lower_bound(rocksdb_readoptions_t* options,
                                                            const char* key,
                                                            size_t key_size) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_readoptions_set_read_tier(rocksdb_readoptions_t* options,
                                                  int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_readoptions_get_read_tier(rocksdb_readoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_readoptions_set_verify_checksums(rocksdb_readoptions_t* options,
                                                         unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_readoptions_get_verify_checksums(rocksdb_readoptions_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_readoptions_set_fill_cache(rocksdb_readoptions_t* options,
                                                   unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_readoptions_get_fill_cache(rocksdb_readoptions_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_readoptions_set_readahead_size(rocksdb_readoptions_t* options,
                                                       size_t value) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_readoptions_get_readahead_size(rocksdb_readoptions_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_readoptions_set_max_skippable_internal_keys(rocksdb_readoptions_t* options,
                                                                    uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t
rocksdb_readoptions_get_max_skippable_internal_keys(rocksdb_readoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_readoptions_set_pin_data(rocksdb_readoptions_t* options,
                                                 unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_readoptions_get_pin_data(rocksdb_readoptions_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_readoptions_set_value_size_soft_limit(rocksdb_readoptions_t* options,
                                                              uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_readoptions_get_value_size_soft_limit(rocksdb_readoptions_t* options)
    ASHLAR_NOTHROW;
// The threshold is off unless it is set; get returns 0 then.
ASHLAR_API void rocksdb_readoptions_set_merge_operand_count_threshold(
    rocksdb_readoptions_t* options, size_t threshold) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_readoptions_clear_merge_operand_count_threshold(
    rocksdb_readoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_readoptions_has_merge_operand_count_threshold(
    rocksdb_readoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_readoptions_get_merge_operand_count_threshold(
    rocksdb_readoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_readoptions_set_deadline(rocksdb_readoptions_t* options,
                                                 uint64_t microseconds) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_readoptions_get_deadline(rocksdb_readoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_readoptions_set_io_timeout(rocksdb_readoptions_t* options,
                                                   uint64_t microseconds) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_readoptions_get_io_timeout(rocksdb_readoptions_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_readoptions_set_rate_limiter_priority(rocksdb_readoptions_t* options,
                                                              int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_readoptions_get_rate_limiter_priority(rocksdb_readoptions_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_readoptions_set_ignore_range_deletions(rocksdb_readoptions_t* options,
                                                               unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_readoptions_get_ignore_range_deletions(
    rocksdb_readoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_readoptions_set_tailing(rocksdb_readoptions_t* options,
                                                unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_readoptions_get_tailing(rocksdb_readoptions_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_readoptions_set_total_order_seek(rocksdb_readoptions_t* options,
                                                         unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_readoptions_get_total_order_seek(rocksdb_readoptions_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_readoptions_set_auto_prefix_mode(rocksdb_readoptions_t* options,
                                                         unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_readoptions_get_auto_prefix_mode(rocksdb_readoptions_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_readoptions_set_prefix_same_as_start(rocksdb_readoptions_t* options,
                                                             unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_readoptions_get_prefix_same_as_start(
    rocksdb_readoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_readoptions_set_async_io(rocksdb_readoptions_t* options,
                                                 unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_readoptions_get_async_io(rocksdb_readoptions_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_readoptions_set_optimize_multiget_for_io(
    rocksdb_readoptions_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_readoptions_get_optimize_multiget_for_io(
    rocksdb_readoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_readoptions_set_adaptive_readahead(rocksdb_readoptions_t* options,
                                                           unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_readoptions_get_adaptive_readahead(rocksdb_readoptions_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_readoptions_set_auto_readahead_size(rocksdb_readoptions_t* options,
                                                            unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_readoptions_get_auto_readahead_size(rocksdb_readoptions_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_readoptions_set_background_purge_on_iterator_cleanup(
    rocksdb_readoptions_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_readoptions_get_background_purge_on_iterator_cleanup(
    rocksdb_readoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_readoptions_set_allow_unprepared_value(rocksdb_readoptions_t* options,
                                                               unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_readoptions_get_allow_unprepared_value(
    rocksdb_readoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_readoptions_set_auto_refresh_iterator_with_snapshot(
    rocksdb_readoptions_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_readoptions_get_auto_refresh_iterator_with_snapshot(
    rocksdb_readoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_readoptions_set_io_activity(rocksdb_readoptions_t* options,
                                                    int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_readoptions_get_io_activity(rocksdb_readoptions_t* options) ASHLAR_NOTHROW;
// The bytes are copied. Null is the same as _clear. The getter's `size` may be null.
ASHLAR_API void rocksdb_readoptions_set_request_id(rocksdb_readoptions_t* options,
                                                   const char* request_id,
                                                   size_t size) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_readoptions_clear_request_id(rocksdb_readoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_readoptions_get_request_id(rocksdb_readoptions_t* options,
                                                          size_t* size) ASHLAR_NOTHROW;

ASHLAR_API rocksdb_writeoptions_t* rocksdb_writeoptions_create(void) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_writeoptions_destroy(rocksdb_writeoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_writeoptions_set_sync(rocksdb_writeoptions_t* options,
                                              unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_writeoptions_get_sync(rocksdb_writeoptions_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_writeoptions_disable_WAL(rocksdb_writeoptions_t* options,
                                                 int value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_writeoptions_get_disable_WAL(rocksdb_writeoptions_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_writeoptions_set_ignore_missing_column_families(
    rocksdb_writeoptions_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_writeoptions_get_ignore_missing_column_families(
    rocksdb_writeoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_writeoptions_set_no_slowdown(rocksdb_writeoptions_t* options,
                                                     unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_writeoptions_get_no_slowdown(rocksdb_writeoptions_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_writeoptions_set_low_pri(rocksdb_writeoptions_t* options,
                                                 unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_writeoptions_get_low_pri(rocksdb_writeoptions_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_writeoptions_set_memtable_insert_hint_per_batch(
    rocksdb_writeoptions_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_writeoptions_get_memtable_insert_hint_per_batch(
    rocksdb_writeoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_writeoptions_set_rate_limiter_priority(rocksdb_writeoptions_t* options,
                                                               int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_writeoptions_get_rate_limiter_priority(rocksdb_writeoptions_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_writeoptions_set_protection_bytes_per_key(rocksdb_writeoptions_t* options,
                                                                  size_t value) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_writeoptions_get_protection_bytes_per_key(rocksdb_writeoptions_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_writeoptions_set_io_activity(rocksdb_writeoptions_t* options,
                                                     int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_writeoptions_get_io_activity(rocksdb_writeoptions_t* options) ASHLAR_NOTHROW;

ASHLAR_API rocksdb_flushoptions_t* rocksdb_flushoptions_create(void) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_flushoptions_destroy(rocksdb_flushoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_flushoptions_set_wait(rocksdb_flushoptions_t* options,
                                              unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_flushoptions_get_wait(rocksdb_flushoptions_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_flushoptions_set_allow_write_stall(rocksdb_flushoptions_t* options,
                                                           unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_flushoptions_get_allow_write_stall(rocksdb_flushoptions_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_flushoptions_set_force_atomic_flush(rocksdb_flushoptions_t* options,
                                                            unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_flushoptions_get_force_atomic_flush(
    rocksdb_flushoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_flushoptions_set_listener_wait(rocksdb_flushoptions_t* options,
                                                       unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_flushoptions_get_listener_wait(rocksdb_flushoptions_t* options)
    ASHLAR_NOTHROW;

ASHLAR_API rocksdb_compactoptions_t* rocksdb_compactoptions_create(void) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_compactoptions_destroy(rocksdb_compactoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_compactoptions_set_exclusive_manual_compaction(
    rocksdb_compactoptions_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_compactoptions_get_exclusive_manual_compaction(
    rocksdb_compactoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_compactoptions_set_bottommost_level_compaction(
    rocksdb_compactoptions_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_compactoptions_get_bottommost_level_compaction(
    rocksdb_compactoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_compactoptions_set_change_level(rocksdb_compactoptions_t* options,
                                                        unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_compactoptions_get_change_level(rocksdb_compactoptions_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_compactoptions_set_target_level(rocksdb_compactoptions_t* options,
                                                        int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_compactoptions_get_target_level(rocksdb_compactoptions_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_compactoptions_set_target_path_id(rocksdb_compactoptions_t* options,
                                                          int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_compactoptions_get_target_path_id(rocksdb_compactoptions_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_compactoptions_set_allow_write_stall(rocksdb_compactoptions_t* options,
                                                             unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_compactoptions_get_allow_write_stall(
    rocksdb_compactoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_compactoptions_set_max_subcompactions(rocksdb_compactoptions_t* options,
                                                              int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_compactoptions_get_max_subcompactions(rocksdb_compactoptions_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_compactoptions_set_blob_garbage_collection_policy(
    rocksdb_compactoptions_t* options, int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_compactoptions_get_blob_garbage_collection_policy(
    rocksdb_compactoptions_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_compactoptions_set_blob_garbage_collection_age_cutoff(
    rocksdb_compactoptions_t* options, double value) ASHLAR_NOTHROW;
ASHLAR_API double rocksdb_compactoptions_get_blob_garbage_collection_age_cutoff(
    rocksdb_compactoptions_t* options) ASHLAR_NOTHROW;

// Options of rocksdb_compact_files.
ASHLAR_API rocksdb_compaction_options_t* rocksdb_compaction_options_create(void) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_compaction_options_destroy(rocksdb_compaction_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_compaction_options_set_compression(rocksdb_compaction_options_t* options,
                                                           int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_compaction_options_get_compression(rocksdb_compaction_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_compaction_options_set_output_file_size_limit(
    rocksdb_compaction_options_t* options, uint64_t value) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_compaction_options_get_output_file_size_limit(
    rocksdb_compaction_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_compaction_options_set_max_subcompactions(
    rocksdb_compaction_options_t* options, uint32_t value) ASHLAR_NOTHROW;
ASHLAR_API uint32_t rocksdb_compaction_options_get_max_subcompactions(
    rocksdb_compaction_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_compaction_options_set_allow_trivial_move(
    rocksdb_compaction_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_compaction_options_get_allow_trivial_move(
    rocksdb_compaction_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_compaction_options_set_output_temperature_override(
    rocksdb_compaction_options_t* options, int value) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_compaction_options_get_output_temperature_override(
    rocksdb_compaction_options_t* options) ASHLAR_NOTHROW;
// A flag that cancels the compactions of all options in which it is set. It must outlive them. The
// last three functions accept null, which is no flag.
ASHLAR_API unsigned char* rocksdb_compaction_options_canceled_create(void) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_compaction_options_canceled_destroy(unsigned char* canceled) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_compaction_options_canceled_set(unsigned char* canceled,
                                                        unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_compaction_options_set_canceled(rocksdb_compaction_options_t* options,
                                                        unsigned char* canceled) ASHLAR_NOTHROW;
// For rocksdb_compact_files, which fills it. Its getters are in the section on listeners.
ASHLAR_API rocksdb_compactionjobinfo_t* rocksdb_compactionjobinfo_create(void) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_compactionjobinfo_destroy(rocksdb_compactionjobinfo_t* info) ASHLAR_NOTHROW;

ASHLAR_API rocksdb_wait_for_compact_options_t* rocksdb_wait_for_compact_options_create(void)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_wait_for_compact_options_destroy(
    rocksdb_wait_for_compact_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_wait_for_compact_options_set_abort_on_pause(
    rocksdb_wait_for_compact_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_wait_for_compact_options_get_abort_on_pause(
    rocksdb_wait_for_compact_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_wait_for_compact_options_set_flush(
    rocksdb_wait_for_compact_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_wait_for_compact_options_get_flush(
    rocksdb_wait_for_compact_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_wait_for_compact_options_set_close_db(
    rocksdb_wait_for_compact_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_wait_for_compact_options_get_close_db(
    rocksdb_wait_for_compact_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_wait_for_compact_options_set_wait_for_purge(
    rocksdb_wait_for_compact_options_t* options, unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_wait_for_compact_options_get_wait_for_purge(
    rocksdb_wait_for_compact_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_wait_for_compact_options_set_timeout(
    rocksdb_wait_for_compact_options_t* options, uint64_t microseconds) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_wait_for_compact_options_get_timeout(
    rocksdb_wait_for_compact_options_t* options) ASHLAR_NOTHROW;

// ---- Caches. Both kinds make the one kind of cache that Ashlar has; see ashlar/cache.h.

ASHLAR_API rocksdb_cache_t* rocksdb_cache_create_lru(size_t capacity) ASHLAR_NOTHROW;
ASHLAR_API rocksdb_cache_t* rocksdb_cache_create_lru_with_strict_capacity_limit(size_t capacity)
    ASHLAR_NOTHROW;
ASHLAR_API rocksdb_cache_t* rocksdb_cache_create_lru_opts(
    const rocksdb_lru_cache_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API rocksdb_cache_t* rocksdb_cache_create_hyper_clock(
    size_t capacity, size_t estimated_entry_charge) ASHLAR_NOTHROW;
ASHLAR_API rocksdb_cache_t* rocksdb_cache_create_hyper_clock_opts(
    const rocksdb_hyper_clock_cache_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_cache_destroy(rocksdb_cache_t* cache) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_cache_set_capacity(rocksdb_cache_t* cache, size_t capacity) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_cache_get_capacity(const rocksdb_cache_t* cache) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_cache_get_usage(const rocksdb_cache_t* cache) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_cache_get_pinned_usage(const rocksdb_cache_t* cache) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_cache_get_occupancy_count(const rocksdb_cache_t* cache) ASHLAR_NOTHROW;
// Always 0, because the cache has no table of addresses.
ASHLAR_API size_t rocksdb_cache_get_table_address_count(const rocksdb_cache_t* cache)
    ASHLAR_NOTHROW;
// Has no effect: a cache frees its memory when it is destroyed.
ASHLAR_API void rocksdb_cache_disown_data(rocksdb_cache_t* cache) ASHLAR_NOTHROW;
// Returns null and NotSupported: Ashlar is built without jemalloc, as RocksDB may be. Without an
// allocator, _set_memory_allocator and _destroy accept only null, which has no effect.
ASHLAR_API rocksdb_memory_allocator_t* rocksdb_jemalloc_nodump_allocator_create(char** errptr)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_memory_allocator_destroy(rocksdb_memory_allocator_t* allocator)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_lru_cache_options_set_memory_allocator(
    rocksdb_lru_cache_options_t* options, rocksdb_memory_allocator_t* allocator) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_hyper_clock_cache_options_set_memory_allocator(
    rocksdb_hyper_clock_cache_options_t* options,
    rocksdb_memory_allocator_t* allocator) ASHLAR_NOTHROW;
ASHLAR_API rocksdb_lru_cache_options_t* rocksdb_lru_cache_options_create(void) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_lru_cache_options_destroy(rocksdb_lru_cache_options_t* options)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_lru_cache_options_set_capacity(rocksdb_lru_cache_options_t* options,
                                                       size_t value) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_lru_cache_options_set_num_shard_bits(rocksdb_lru_cache_options_t* options,
                                                             int value) ASHLAR_NOTHROW;
ASHLAR_API rocksdb_hyper_clock_cache_options_t* rocksdb_hyper_clock_cache_options_create(
    size_t capacity, size_t estimated_entry_charge) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_hyper_clock_cache_options_destroy(
    rocksdb_hyper_clock_cache_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_hyper_clock_cache_options_set_capacity(
    rocksdb_hyper_clock_cache_options_t* options, size_t value) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_hyper_clock_cache_options_set_estimated_entry_charge(
    rocksdb_hyper_clock_cache_options_t* options, size_t value) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_hyper_clock_cache_options_set_num_shard_bits(
    rocksdb_hyper_clock_cache_options_t* options, int value) ASHLAR_NOTHROW;

// ---- Filters. All three make the same Bloom filter.

ASHLAR_API rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_bloom(double bits_per_key)
    ASHLAR_NOTHROW;
ASHLAR_API rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_bloom_full(double bits_per_key)
    ASHLAR_NOTHROW;
ASHLAR_API rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_bloom_format(
    double bits_per_key, bool original_format) ASHLAR_NOTHROW;
// Every table gets a Ribbon filter.
ASHLAR_API rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_ribbon(double bits_per_key)
    ASHLAR_NOTHROW;
// Tables of levels before bloom_before_level get a Bloom filter; a flush is at level -1.
ASHLAR_API rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_ribbon_hybrid(
    double bits_per_key, int bloom_before_level) ASHLAR_NOTHROW;
ASHLAR_API rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_ribbon_format(
    double bits_per_key, int bloom_before_level) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_filterpolicy_destroy(rocksdb_filterpolicy_t* policy) ASHLAR_NOTHROW;

// ---- The program's own functions. `state` is passed to each of them, and to `destructor` (may be
// null) when the object is destroyed. Several threads may call them at once. If any other function
// is null, a database or table reader that is opened with the object refuses it (InvalidArgument).
// This is not so for partial_merge, delete_value and the functions of log filters and loggers.

ASHLAR_API rocksdb_comparator_t* rocksdb_comparator_create(
    void* state, void (*destructor)(void* state),
    int (*compare)(void* state, const char* a, size_t a_size, const char* b, size_t b_size),
    const char* (*name)(void* state)) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_comparator_destroy(rocksdb_comparator_t* comparator) ASHLAR_NOTHROW;
// See ashlar/compaction_filter.h. filter is called for values. A result other than 0 removes the
// value. Otherwise, if filter sets *value_changed, the value becomes *new_value, which the library
// copies and does not free. filter is never called for versions that a snapshot sees.
ASHLAR_API rocksdb_compactionfilter_t* rocksdb_compactionfilter_create(
    void* state, void (*destructor)(void* state),
    unsigned char (*filter)(void* state, int level, const char* key, size_t key_size,
                            const char* existing_value, size_t existing_value_size,
                            char** new_value, size_t* new_value_size, unsigned char* value_changed),
    const char* (*name)(void* state)) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_compactionfilter_set_ignore_snapshots(rocksdb_compactionfilter_t* filter,
                                                              unsigned char value) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_compactionfilter_destroy(rocksdb_compactionfilter_t* filter) ASHLAR_NOTHROW;
// See ashlar/wal_filter.h. log_number_map (may be null) gets the families' ids with their oldest
// logs, and the families' names with their ids. log_record_found returns one of the values below.
// If it sets *batch_changed, new_batch, which is empty at the call, is applied instead of `batch`.
// Arguments are valid during the call. Options point to a filter and do not own it.
enum {
  rocksdb_wal_filter_continue_processing = 0,
  rocksdb_wal_filter_ignore_current_record = 1,
  rocksdb_wal_filter_stop_replay = 2,
  rocksdb_wal_filter_corrupted_record = 3
};
typedef void (*rocksdb_walfilter_column_family_log_number_map_cb)(
    void* state, const uint32_t* ids, const uint64_t* log_numbers, size_t num_ids,
    const char* const* names, const size_t* name_sizes, const uint32_t* name_ids, size_t num_names);
typedef int (*rocksdb_walfilter_log_record_found_cb)(void* state, unsigned long long log_number,
                                                     const char* log_file_name,
                                                     size_t log_file_name_size,
                                                     const rocksdb_writebatch_t* batch,
                                                     rocksdb_writebatch_t* new_batch,
                                                     unsigned char* batch_changed);
ASHLAR_API rocksdb_walfilter_t* rocksdb_walfilter_create(
    void* state, void (*destructor)(void* state),
    rocksdb_walfilter_column_family_log_number_map_cb log_number_map,
    rocksdb_walfilter_log_record_found_cb log_record_found,
    const char* (*name)(void* state)) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_walfilter_destroy(rocksdb_walfilter_t* filter) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_wal_filter(rocksdb_options_t* options,
                                               rocksdb_walfilter_t* filter) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_clear_wal_filter(rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_compactionfiltercontext_is_full_compaction(
    rocksdb_compactionfiltercontext_t* context) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_compactionfiltercontext_is_manual_compaction(
    rocksdb_compactionfiltercontext_t* context) ASHLAR_NOTHROW;
// The library destroys each filter that create_compaction_filter returns. Null: no filter is
// called. A compaction for which it returns a filter whose function `filter` is null fails with
// InvalidArgument, which makes the database read-only. The context is valid during the call.
ASHLAR_API rocksdb_compactionfilterfactory_t* rocksdb_compactionfilterfactory_create(
    void* state, void (*destructor)(void* state),
    rocksdb_compactionfilter_t* (*create_compaction_filter)(
        void* state, rocksdb_compactionfiltercontext_t* context),
    const char* (*name)(void* state)) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_compactionfilterfactory_destroy(rocksdb_compactionfilterfactory_t* factory)
    ASHLAR_NOTHROW;
// full_merge and partial_merge return memory that they allocate, or null. The library passes the
// result, even if it is null, to delete_value, or to free if delete_value is null. existing_value
// is null if there is no value. A *success of 0 means that they could not merge.
ASHLAR_API rocksdb_mergeoperator_t* rocksdb_mergeoperator_create(
    void* state, void (*destructor)(void* state),
    char* (*full_merge)(void* state, const char* key, size_t key_size, const char* existing_value,
                        size_t existing_value_size, const char* const* operands,
                        const size_t* operand_sizes, int num_operands, unsigned char* success,
                        size_t* new_value_size),
    char* (*partial_merge)(void* state, const char* key, size_t key_size,
                           const char* const* operands, const size_t* operand_sizes,
                           int num_operands, unsigned char* success, size_t* new_value_size),
    void (*delete_value)(void* state, const char* value, size_t value_size),
    const char* (*name)(void* state)) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_mergeoperator_destroy(rocksdb_mergeoperator_t* merge_operator)
    ASHLAR_NOTHROW;
// transform returns a pointer into the key, or to memory that lives as long as the transform.
// RocksDB's headers before 11.0 declare a sixth parameter, in_range, before name. A program that is
// built with such a header must be rebuilt with this one: if its in_range is null, rocksdb_open
// returns InvalidArgument; otherwise in_range would be called as name.
ASHLAR_API rocksdb_slicetransform_t* rocksdb_slicetransform_create(
    void* state, void (*destructor)(void* state),
    char* (*transform)(void* state, const char* key, size_t key_size, size_t* prefix_size),
    unsigned char (*in_domain)(void* state, const char* key, size_t key_size),
    const char* (*name)(void* state)) ASHLAR_NOTHROW;
ASHLAR_API rocksdb_slicetransform_t* rocksdb_slicetransform_create_fixed_prefix(size_t prefix_size)
    ASHLAR_NOTHROW;
ASHLAR_API rocksdb_slicetransform_t* rocksdb_slicetransform_create_noop(void) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_slicetransform_destroy(rocksdb_slicetransform_t* transform) ASHLAR_NOTHROW;
// Loggers receive messages at or above log_level (InfoLogLevel of ashlar/env.h). The bytes that the
// callback gets end in a 0 that is not counted.
ASHLAR_API rocksdb_logger_t* rocksdb_logger_create_stderr_logger(int log_level,
                                                                 const char* prefix) ASHLAR_NOTHROW;
ASHLAR_API rocksdb_logger_t* rocksdb_logger_create_callback_logger(
    int log_level,
    void (*callback)(void* state, unsigned level, char* message, size_t message_size),
    void* state) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_logger_destroy(rocksdb_logger_t* logger) ASHLAR_NOTHROW;

// ---- Listeners. ashlar/listener.h describes the events, the members of the infos, and the calls
// that a callback may make on the database. docs/observability.md has the order of the events.
//
// Threads: a callback runs on the thread that did the work, usually a background thread. Several
// may run at once. The work waits for the callback. Lifetime: the info, everything that the getters
// return, and the database are valid during the call. The database belongs to the event and is not
// the handle of rocksdb_open; do not close it. Requires: a callback does not throw.

typedef void (*on_flush_begin_cb)(void* state, rocksdb_t* db, const rocksdb_flushjobinfo_t* info);
typedef void (*on_flush_completed_cb)(void* state, rocksdb_t* db,
                                      const rocksdb_flushjobinfo_t* info);
typedef void (*on_compaction_begin_cb)(void* state, rocksdb_t* db,
                                       const rocksdb_compactionjobinfo_t* info);
typedef void (*on_compaction_completed_cb)(void* state, rocksdb_t* db,
                                           const rocksdb_compactionjobinfo_t* info);
typedef void (*on_subcompaction_begin_cb)(void* state, const rocksdb_subcompactionjobinfo_t* info);
typedef void (*on_subcompaction_completed_cb)(void* state,
                                              const rocksdb_subcompactionjobinfo_t* info);
typedef void (*on_external_file_ingested_cb)(void* state, rocksdb_t* db,
                                             const rocksdb_externalfileingestioninfo_t* info);
// reason: the number of a BackgroundErrorReason.
typedef void (*on_background_error_cb)(void* state, uint32_t reason, rocksdb_status_ptr_t* status);
typedef void (*on_stall_conditions_changed_cb)(void* state, const rocksdb_writestallinfo_t* info);
typedef void (*on_memtable_sealed_cb)(void* state, const rocksdb_memtableinfo_t* info);

// Null: the event is not reported. `state` is passed to each function, and to `destructor` (may be
// null) when neither options nor a database have the listener any more.
ASHLAR_API rocksdb_eventlistener_t* rocksdb_eventlistener_create(
    void* state, void (*destructor)(void* state), on_flush_begin_cb on_flush_begin,
    on_flush_completed_cb on_flush_completed, on_compaction_begin_cb on_compaction_begin,
    on_compaction_completed_cb on_compaction_completed,
    on_subcompaction_begin_cb on_subcompaction_begin,
    on_subcompaction_completed_cb on_subcompaction_completed,
    on_external_file_ingested_cb on_external_file_ingested,
    on_background_error_cb on_background_error,
    on_stall_conditions_changed_cb on_stall_conditions_changed,
    on_memtable_sealed_cb on_memtable_sealed) ASHLAR_NOTHROW;
// Only for a listener that no options have taken.
ASHLAR_API void rocksdb_eventlistener_destroy(rocksdb_eventlistener_t* listener) ASHLAR_NOTHROW;
// Takes over the listener, so call it once for each. Copies of the options share the listener.
ASHLAR_API void rocksdb_options_add_eventlistener(rocksdb_options_t* options,
                                                  rocksdb_eventlistener_t* listener) ASHLAR_NOTHROW;

// Returns the error of on_background_error through errptr.
ASHLAR_API void rocksdb_status_ptr_get_error(rocksdb_status_ptr_t* status,
                                             char** errptr) ASHLAR_NOTHROW;
// Listeners that are called later get no error then. The error of the database stays.
ASHLAR_API void rocksdb_reset_status(rocksdb_status_ptr_t* status) ASHLAR_NOTHROW;

// The infos. An enumeration is the number of its C++ type: CompactionReason, FlushReason,
// rocksdb_..._compression. A text ends in a 0 that *size does not count; size may be null. An index
// out of range returns null. _status reports the job's error through errptr. Ashlar writes no blob
// files, so no info lists one, the numbers about them are 0, and their compression is "none".

// FlushJobInfo.
ASHLAR_API uint32_t rocksdb_flushjobinfo_cf_id(const rocksdb_flushjobinfo_t* info) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_flushjobinfo_cf_name(const rocksdb_flushjobinfo_t* info,
                                                    size_t* size) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_flushjobinfo_file_path(const rocksdb_flushjobinfo_t* info,
                                                      size_t* size) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_flushjobinfo_file_number(const rocksdb_flushjobinfo_t* info)
    ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_flushjobinfo_thread_id(const rocksdb_flushjobinfo_t* info)
    ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_flushjobinfo_job_id(const rocksdb_flushjobinfo_t* info) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_flushjobinfo_triggered_writes_slowdown(
    const rocksdb_flushjobinfo_t* info) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_flushjobinfo_triggered_writes_stop(
    const rocksdb_flushjobinfo_t* info) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_flushjobinfo_smallest_seqno(const rocksdb_flushjobinfo_t* info)
    ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_flushjobinfo_largest_seqno(const rocksdb_flushjobinfo_t* info)
    ASHLAR_NOTHROW;
ASHLAR_API const rocksdb_table_properties_t* rocksdb_flushjobinfo_table_properties(
    const rocksdb_flushjobinfo_t* info) ASHLAR_NOTHROW;
ASHLAR_API uint32_t rocksdb_flushjobinfo_flush_reason(const rocksdb_flushjobinfo_t* info)
    ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_flushjobinfo_oldest_blob_file_number(const rocksdb_flushjobinfo_t* info)
    ASHLAR_NOTHROW;
ASHLAR_API uint32_t rocksdb_flushjobinfo_blob_compression_type(const rocksdb_flushjobinfo_t* info)
    ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_flushjobinfo_blob_file_addition_infos_count(
    const rocksdb_flushjobinfo_t* info) ASHLAR_NOTHROW;
ASHLAR_API const rocksdb_blob_file_addition_info_t* rocksdb_flushjobinfo_blob_file_addition_info_at(
    const rocksdb_flushjobinfo_t* info, size_t position) ASHLAR_NOTHROW;
// CompactionJobInfo, with some figures of its CompactionJobStats under names of their own.
ASHLAR_API void rocksdb_compactionjobinfo_status(const rocksdb_compactionjobinfo_t* info,
                                                 char** errptr) ASHLAR_NOTHROW;
ASHLAR_API uint32_t rocksdb_compactionjobinfo_cf_id(const rocksdb_compactionjobinfo_t* info)
    ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_compactionjobinfo_cf_name(const rocksdb_compactionjobinfo_t* info,
                                                         size_t* size) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_compactionjobinfo_thread_id(const rocksdb_compactionjobinfo_t* info)
    ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_compactionjobinfo_job_id(const rocksdb_compactionjobinfo_t* info)
    ASHLAR_NOTHROW;
// 1 if rocksdb_abort_all_compactions ended the compaction.
ASHLAR_API unsigned char rocksdb_compactionjobinfo_aborted(const rocksdb_compactionjobinfo_t* info)
    ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_compactionjobinfo_num_l0_files(const rocksdb_compactionjobinfo_t* info)
    ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_compactionjobinfo_base_input_level(const rocksdb_compactionjobinfo_t* info)
    ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_compactionjobinfo_output_level(const rocksdb_compactionjobinfo_t* info)
    ASHLAR_NOTHROW;
ASHLAR_API uint32_t
rocksdb_compactionjobinfo_compaction_reason(const rocksdb_compactionjobinfo_t* info) ASHLAR_NOTHROW;
ASHLAR_API uint32_t rocksdb_compactionjobinfo_compression(const rocksdb_compactionjobinfo_t* info)
    ASHLAR_NOTHROW;
ASHLAR_API const rocksdb_compaction_job_stats_t* rocksdb_compactionjobinfo_stats(
    const rocksdb_compactionjobinfo_t* info) ASHLAR_NOTHROW;
ASHLAR_API uint64_t
rocksdb_compactionjobinfo_elapsed_micros(const rocksdb_compactionjobinfo_t* info) ASHLAR_NOTHROW;
ASHLAR_API uint64_t
rocksdb_compactionjobinfo_num_corrupt_keys(const rocksdb_compactionjobinfo_t* info) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_compactionjobinfo_input_records(const rocksdb_compactionjobinfo_t* info)
    ASHLAR_NOTHROW;
ASHLAR_API uint64_t
rocksdb_compactionjobinfo_output_records(const rocksdb_compactionjobinfo_t* info) ASHLAR_NOTHROW;
ASHLAR_API uint64_t
rocksdb_compactionjobinfo_total_input_bytes(const rocksdb_compactionjobinfo_t* info) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_compactionjobinfo_total_output_bytes(
    const rocksdb_compactionjobinfo_t* info) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_compactionjobinfo_num_input_files(const rocksdb_compactionjobinfo_t* info)
    ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_compactionjobinfo_num_input_files_at_output_level(
    const rocksdb_compactionjobinfo_t* info) ASHLAR_NOTHROW;
ASHLAR_API size_t
rocksdb_compactionjobinfo_input_files_count(const rocksdb_compactionjobinfo_t* info) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_compactionjobinfo_input_file_at(
    const rocksdb_compactionjobinfo_t* info, size_t position, size_t* size) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_compactionjobinfo_input_file_infos_count(
    const rocksdb_compactionjobinfo_t* info) ASHLAR_NOTHROW;
ASHLAR_API const rocksdb_compaction_file_info_t* rocksdb_compactionjobinfo_input_file_info_at(
    const rocksdb_compactionjobinfo_t* info, size_t position) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_compactionjobinfo_output_files_count(
    const rocksdb_compactionjobinfo_t* info) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_compactionjobinfo_output_file_at(
    const rocksdb_compactionjobinfo_t* info, size_t position, size_t* size) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_compactionjobinfo_output_file_infos_count(
    const rocksdb_compactionjobinfo_t* info) ASHLAR_NOTHROW;
ASHLAR_API const rocksdb_compaction_file_info_t* rocksdb_compactionjobinfo_output_file_info_at(
    const rocksdb_compactionjobinfo_t* info, size_t position) ASHLAR_NOTHROW;
// Properties of inputs and outputs by path, in no particular order. Null: the file has none.
ASHLAR_API size_t rocksdb_compactionjobinfo_table_properties_count(
    const rocksdb_compactionjobinfo_t* info) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_compactionjobinfo_table_properties_key_at(
    const rocksdb_compactionjobinfo_t* info, size_t position, size_t* size) ASHLAR_NOTHROW;
ASHLAR_API const rocksdb_table_properties_t* rocksdb_compactionjobinfo_table_properties_value_at(
    const rocksdb_compactionjobinfo_t* info, size_t position) ASHLAR_NOTHROW;
ASHLAR_API const rocksdb_table_properties_t* rocksdb_compactionjobinfo_table_properties_for_file(
    const rocksdb_compactionjobinfo_t* info, const char* file_name,
    size_t file_name_size) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_compaction_file_info_level(const rocksdb_compaction_file_info_t* info)
    ASHLAR_NOTHROW;
ASHLAR_API uint64_t
rocksdb_compaction_file_info_file_number(const rocksdb_compaction_file_info_t* info) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_compaction_file_info_oldest_blob_file_number(
    const rocksdb_compaction_file_info_t* info) ASHLAR_NOTHROW;
ASHLAR_API uint32_t rocksdb_compactionjobinfo_blob_compression_type(
    const rocksdb_compactionjobinfo_t* info) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_compactionjobinfo_blob_file_addition_infos_count(
    const rocksdb_compactionjobinfo_t* info) ASHLAR_NOTHROW;
ASHLAR_API const rocksdb_blob_file_addition_info_t*
rocksdb_compactionjobinfo_blob_file_addition_info_at(const rocksdb_compactionjobinfo_t* info,
                                                     size_t position) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_compactionjobinfo_blob_file_garbage_infos_count(
    const rocksdb_compactionjobinfo_t* info) ASHLAR_NOTHROW;
ASHLAR_API const rocksdb_blob_file_garbage_info_t*
rocksdb_compactionjobinfo_blob_file_garbage_info_at(const rocksdb_compactionjobinfo_t* info,
                                                    size_t position) ASHLAR_NOTHROW;
// SubcompactionJobInfo.
ASHLAR_API void rocksdb_subcompactionjobinfo_status(const rocksdb_subcompactionjobinfo_t* info,
                                                    char** errptr) ASHLAR_NOTHROW;
ASHLAR_API uint32_t rocksdb_subcompactionjobinfo_cf_id(const rocksdb_subcompactionjobinfo_t* info)
    ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_subcompactionjobinfo_cf_name(
    const rocksdb_subcompactionjobinfo_t* info, size_t* size) ASHLAR_NOTHROW;
ASHLAR_API uint64_t
rocksdb_subcompactionjobinfo_thread_id(const rocksdb_subcompactionjobinfo_t* info) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_subcompactionjobinfo_job_id(const rocksdb_subcompactionjobinfo_t* info)
    ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_subcompactionjobinfo_subcompaction_job_id(
    const rocksdb_subcompactionjobinfo_t* info) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_subcompactionjobinfo_base_input_level(
    const rocksdb_subcompactionjobinfo_t* info) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_subcompactionjobinfo_output_level(const rocksdb_subcompactionjobinfo_t* info)
    ASHLAR_NOTHROW;
ASHLAR_API uint32_t rocksdb_subcompactionjobinfo_compaction_reason(
    const rocksdb_subcompactionjobinfo_t* info) ASHLAR_NOTHROW;
ASHLAR_API uint32_t
rocksdb_subcompactionjobinfo_compression(const rocksdb_subcompactionjobinfo_t* info) ASHLAR_NOTHROW;
ASHLAR_API uint32_t rocksdb_subcompactionjobinfo_blob_compression_type(
    const rocksdb_subcompactionjobinfo_t* info) ASHLAR_NOTHROW;
ASHLAR_API const rocksdb_compaction_job_stats_t* rocksdb_subcompactionjobinfo_stats(
    const rocksdb_subcompactionjobinfo_t* info) ASHLAR_NOTHROW;
// CompactionJobStats. The prefixes may contain zeros.
ASHLAR_API uint64_t rocksdb_compaction_job_stats_elapsed_micros(
    const rocksdb_compaction_job_stats_t* stats) ASHLAR_NOTHROW;
ASHLAR_API uint64_t
rocksdb_compaction_job_stats_cpu_micros(const rocksdb_compaction_job_stats_t* stats) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_compaction_job_stats_has_accurate_num_input_records(
    const rocksdb_compaction_job_stats_t* stats) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_compaction_job_stats_num_input_records(
    const rocksdb_compaction_job_stats_t* stats) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_compaction_job_stats_num_input_files(
    const rocksdb_compaction_job_stats_t* stats) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_compaction_job_stats_num_input_files_trivially_moved(
    const rocksdb_compaction_job_stats_t* stats) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_compaction_job_stats_num_input_files_at_output_level(
    const rocksdb_compaction_job_stats_t* stats) ASHLAR_NOTHROW;
// Nanoseconds in calls on the files that were written; 0 without report_bg_io_stats. The last one
// is always 0, because reserving space is a part of writing.
ASHLAR_API uint64_t rocksdb_compaction_job_stats_file_write_nanos(
    const rocksdb_compaction_job_stats_t* stats) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_compaction_job_stats_file_range_sync_nanos(
    const rocksdb_compaction_job_stats_t* stats) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_compaction_job_stats_file_fsync_nanos(
    const rocksdb_compaction_job_stats_t* stats) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_compaction_job_stats_file_prepare_write_nanos(
    const rocksdb_compaction_job_stats_t* stats) ASHLAR_NOTHROW;
// These four are 0, because every input is read, and in this process.
ASHLAR_API size_t rocksdb_compaction_job_stats_num_filtered_input_files(
    const rocksdb_compaction_job_stats_t* stats) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_compaction_job_stats_num_filtered_input_files_at_output_level(
    const rocksdb_compaction_job_stats_t* stats) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_compaction_job_stats_total_skipped_input_bytes(
    const rocksdb_compaction_job_stats_t* stats) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_compaction_job_stats_is_remote_compaction(
    const rocksdb_compaction_job_stats_t* stats) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_compaction_job_stats_num_output_records(
    const rocksdb_compaction_job_stats_t* stats) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_compaction_job_stats_num_output_files(
    const rocksdb_compaction_job_stats_t* stats) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_compaction_job_stats_is_full_compaction(
    const rocksdb_compaction_job_stats_t* stats) ASHLAR_NOTHROW;
ASHLAR_API unsigned char rocksdb_compaction_job_stats_is_manual_compaction(
    const rocksdb_compaction_job_stats_t* stats) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_compaction_job_stats_total_input_bytes(
    const rocksdb_compaction_job_stats_t* stats) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_compaction_job_stats_total_output_bytes(
    const rocksdb_compaction_job_stats_t* stats) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_compaction_job_stats_num_records_replaced(
    const rocksdb_compaction_job_stats_t* stats) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_compaction_job_stats_total_input_raw_key_bytes(
    const rocksdb_compaction_job_stats_t* stats) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_compaction_job_stats_total_input_raw_value_bytes(
    const rocksdb_compaction_job_stats_t* stats) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_compaction_job_stats_num_input_deletion_records(
    const rocksdb_compaction_job_stats_t* stats) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_compaction_job_stats_num_expired_deletion_records(
    const rocksdb_compaction_job_stats_t* stats) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_compaction_job_stats_num_corrupt_keys(
    const rocksdb_compaction_job_stats_t* stats) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_compaction_job_stats_smallest_output_key_prefix(
    const rocksdb_compaction_job_stats_t* stats, size_t* size) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_compaction_job_stats_largest_output_key_prefix(
    const rocksdb_compaction_job_stats_t* stats, size_t* size) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_compaction_job_stats_num_single_del_fallthru(
    const rocksdb_compaction_job_stats_t* stats) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_compaction_job_stats_num_single_del_mismatch(
    const rocksdb_compaction_job_stats_t* stats) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_compaction_job_stats_num_blobs_read(
    const rocksdb_compaction_job_stats_t* stats) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_compaction_job_stats_num_output_files_blob(
    const rocksdb_compaction_job_stats_t* stats) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_compaction_job_stats_total_blob_bytes_read(
    const rocksdb_compaction_job_stats_t* stats) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_compaction_job_stats_total_output_bytes_blob(
    const rocksdb_compaction_job_stats_t* stats) ASHLAR_NOTHROW;
// BlobFileAdditionInfo and BlobFileGarbageInfo.
ASHLAR_API const char* rocksdb_blob_file_addition_info_blob_file_path(
    const rocksdb_blob_file_addition_info_t* info, size_t* size) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_blob_file_addition_info_blob_file_number(
    const rocksdb_blob_file_addition_info_t* info) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_blob_file_addition_info_total_blob_count(
    const rocksdb_blob_file_addition_info_t* info) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_blob_file_addition_info_total_blob_bytes(
    const rocksdb_blob_file_addition_info_t* info) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_blob_file_garbage_info_blob_file_path(
    const rocksdb_blob_file_garbage_info_t* info, size_t* size) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_blob_file_garbage_info_blob_file_number(
    const rocksdb_blob_file_garbage_info_t* info) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_blob_file_garbage_info_garbage_blob_count(
    const rocksdb_blob_file_garbage_info_t* info) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_blob_file_garbage_info_garbage_blob_bytes(
    const rocksdb_blob_file_garbage_info_t* info) ASHLAR_NOTHROW;
// ExternalFileIngestionInfo.
ASHLAR_API const char* rocksdb_externalfileingestioninfo_cf_name(
    const rocksdb_externalfileingestioninfo_t* info, size_t* size) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_externalfileingestioninfo_external_file_path(
    const rocksdb_externalfileingestioninfo_t* info, size_t* size) ASHLAR_NOTHROW;
ASHLAR_API const char* rocksdb_externalfileingestioninfo_internal_file_path(
    const rocksdb_externalfileingestioninfo_t* info, size_t* size) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_externalfileingestioninfo_global_seqno(
    const rocksdb_externalfileingestioninfo_t* info) ASHLAR_NOTHROW;
ASHLAR_API const rocksdb_table_properties_t* rocksdb_externalfileingestioninfo_table_properties(
    const rocksdb_externalfileingestioninfo_t* info) ASHLAR_NOTHROW;
// MemTableInfo.
ASHLAR_API const char* rocksdb_memtableinfo_cf_name(const rocksdb_memtableinfo_t* info,
                                                    size_t* size) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_memtableinfo_first_seqno(const rocksdb_memtableinfo_t* info)
    ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_memtableinfo_earliest_seqno(const rocksdb_memtableinfo_t* info)
    ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_memtableinfo_num_entries(const rocksdb_memtableinfo_t* info)
    ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_memtableinfo_num_deletes(const rocksdb_memtableinfo_t* info)
    ASHLAR_NOTHROW;
// Always empty, because there are no user-defined timestamps.
ASHLAR_API const char* rocksdb_memtableinfo_newest_udt(const rocksdb_memtableinfo_t* info,
                                                       size_t* size) ASHLAR_NOTHROW;
// WriteStallInfo. A condition is stored as an int with one of the values below.
enum {
  ashlar_write_stall_delayed = 0,
  ashlar_write_stall_stopped = 1,
  ashlar_write_stall_normal = 2,
};
ASHLAR_API const char* rocksdb_writestallinfo_cf_name(const rocksdb_writestallinfo_t* info,
                                                      size_t* size) ASHLAR_NOTHROW;
ASHLAR_API const rocksdb_writestallcondition_t* rocksdb_writestallinfo_cur(
    const rocksdb_writestallinfo_t* info) ASHLAR_NOTHROW;
ASHLAR_API const rocksdb_writestallcondition_t* rocksdb_writestallinfo_prev(
    const rocksdb_writestallinfo_t* info) ASHLAR_NOTHROW;

// ---- Limits of rates, space and memory; files and threads.

ASHLAR_API rocksdb_ratelimiter_t* rocksdb_ratelimiter_create(int64_t rate_bytes_per_sec,
                                                             int64_t refill_period_us,
                                                             int32_t fairness) ASHLAR_NOTHROW;
// The rate adapts to the demand, from a twentieth of rate_bytes_per_sec to rate_bytes_per_sec.
ASHLAR_API rocksdb_ratelimiter_t* rocksdb_ratelimiter_create_auto_tuned(
    int64_t rate_bytes_per_sec, int64_t refill_period_us, int32_t fairness) ASHLAR_NOTHROW;
// mode 0: reads wait; 2: reads and writes wait; 1 and all other values: writes wait.
ASHLAR_API rocksdb_ratelimiter_t* rocksdb_ratelimiter_create_with_mode(
    int64_t rate_bytes_per_sec, int64_t refill_period_us, int32_t fairness, int mode,
    bool auto_tuned) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_ratelimiter_destroy(rocksdb_ratelimiter_t* limiter) ASHLAR_NOTHROW;
// The methods of ashlar/sst_file_manager.h. Options and databases share the manager that was set in
// them. The Env must outlive it.
ASHLAR_API rocksdb_sst_file_manager_t* rocksdb_sst_file_manager_create(rocksdb_env_t* env)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_sst_file_manager_destroy(rocksdb_sst_file_manager_t* manager)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_sst_file_manager_set_max_allowed_space_usage(
    rocksdb_sst_file_manager_t* manager, uint64_t max_allowed_space) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_sst_file_manager_set_compaction_buffer_size(
    rocksdb_sst_file_manager_t* manager, uint64_t compaction_buffer_size) ASHLAR_NOTHROW;
ASHLAR_API bool rocksdb_sst_file_manager_is_max_allowed_space_reached(
    rocksdb_sst_file_manager_t* manager) ASHLAR_NOTHROW;
ASHLAR_API bool rocksdb_sst_file_manager_is_max_allowed_space_reached_including_compactions(
    rocksdb_sst_file_manager_t* manager) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_sst_file_manager_get_total_size(rocksdb_sst_file_manager_t* manager)
    ASHLAR_NOTHROW;
ASHLAR_API int64_t rocksdb_sst_file_manager_get_delete_rate_bytes_per_second(
    rocksdb_sst_file_manager_t* manager) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_sst_file_manager_set_delete_rate_bytes_per_second(
    rocksdb_sst_file_manager_t* manager, int64_t delete_rate) ASHLAR_NOTHROW;
ASHLAR_API double rocksdb_sst_file_manager_get_max_trash_db_ratio(
    rocksdb_sst_file_manager_t* manager) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_sst_file_manager_set_max_trash_db_ratio(rocksdb_sst_file_manager_t* manager,
                                                                double ratio) ASHLAR_NOTHROW;
ASHLAR_API uint64_t
rocksdb_sst_file_manager_get_total_trash_size(rocksdb_sst_file_manager_t* manager) ASHLAR_NOTHROW;
// The methods of ashlar/write_buffer_manager.h. Options and databases share the manager that was
// set in them, and a manager shares its cache.
ASHLAR_API rocksdb_write_buffer_manager_t* rocksdb_write_buffer_manager_create(
    size_t buffer_size, bool allow_stall) ASHLAR_NOTHROW;
ASHLAR_API rocksdb_write_buffer_manager_t* rocksdb_write_buffer_manager_create_with_cache(
    size_t buffer_size, const rocksdb_cache_t* cache, bool allow_stall) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_write_buffer_manager_destroy(rocksdb_write_buffer_manager_t* manager)
    ASHLAR_NOTHROW;
ASHLAR_API bool rocksdb_write_buffer_manager_enabled(rocksdb_write_buffer_manager_t* manager)
    ASHLAR_NOTHROW;
ASHLAR_API bool rocksdb_write_buffer_manager_cost_to_cache(rocksdb_write_buffer_manager_t* manager)
    ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_write_buffer_manager_memory_usage(rocksdb_write_buffer_manager_t* manager)
    ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_write_buffer_manager_mutable_memtable_memory_usage(
    rocksdb_write_buffer_manager_t* manager) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_write_buffer_manager_dummy_entries_in_cache_usage(
    rocksdb_write_buffer_manager_t* manager) ASHLAR_NOTHROW;
ASHLAR_API size_t rocksdb_write_buffer_manager_buffer_size(rocksdb_write_buffer_manager_t* manager)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_write_buffer_manager_set_buffer_size(
    rocksdb_write_buffer_manager_t* manager, size_t new_size) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_write_buffer_manager_set_allow_stall(
    rocksdb_write_buffer_manager_t* manager, bool new_allow_stall) ASHLAR_NOTHROW;
ASHLAR_API rocksdb_env_t* rocksdb_create_default_env(void) ASHLAR_NOTHROW;
ASHLAR_API rocksdb_env_t* rocksdb_create_mem_env(void) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_env_destroy(rocksdb_env_t* env) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_create_dir_if_missing(rocksdb_env_t* env, const char* path,
                                              char** errptr) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_env_set_background_threads(rocksdb_env_t* env, int number) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_env_get_background_threads(rocksdb_env_t* env) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_env_set_high_priority_background_threads(rocksdb_env_t* env,
                                                                 int number) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_env_get_high_priority_background_threads(rocksdb_env_t* env) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_env_set_low_priority_background_threads(rocksdb_env_t* env,
                                                                int number) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_env_get_low_priority_background_threads(rocksdb_env_t* env) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_env_set_bottom_priority_background_threads(rocksdb_env_t* env,
                                                                   int number) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_env_get_bottom_priority_background_threads(rocksdb_env_t* env)
    ASHLAR_NOTHROW;
// Waits for the threads that Env::StartThread started.
ASHLAR_API void rocksdb_env_join_all_threads(rocksdb_env_t* env) ASHLAR_NOTHROW;
// Lowers the disk priority, or the processor priority, of the threads that compact (high_priority:
// that flush). Nothing raises it again.
ASHLAR_API void rocksdb_env_lower_thread_pool_io_priority(rocksdb_env_t* env) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_env_lower_high_priority_thread_pool_io_priority(rocksdb_env_t* env)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_env_lower_thread_pool_cpu_priority(rocksdb_env_t* env) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_env_lower_high_priority_thread_pool_cpu_priority(rocksdb_env_t* env)
    ASHLAR_NOTHROW;

// ---- Statistics and costs.

enum {
  rocksdb_statistics_level_disable_all = 0,
  rocksdb_statistics_level_except_tickers = rocksdb_statistics_level_disable_all,
  rocksdb_statistics_level_except_histogram_or_timers = 1,
  rocksdb_statistics_level_except_timers = 2,
  rocksdb_statistics_level_except_detailed_timers = 3,
  rocksdb_statistics_level_except_time_for_mutex = 4,
  rocksdb_statistics_level_all = 5
};
// Counting starts with databases that are opened with these options afterwards. Without it the
// other functions return 0, null or nothing. A level out of range is set to the nearest valid one.
ASHLAR_API void rocksdb_options_enable_statistics(rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_set_statistics_level(rocksdb_options_t* options,
                                                     int level) ASHLAR_NOTHROW;
ASHLAR_API int rocksdb_options_get_statistics_level(rocksdb_options_t* options) ASHLAR_NOTHROW;
ASHLAR_API char* rocksdb_options_statistics_get_string(rocksdb_options_t* options) ASHLAR_NOTHROW;
// Numbers of tickers and histograms are those of the enums in ashlar/statistics.h, which are
// RocksDB 11.8.1's. Other releases have other numbers.
ASHLAR_API uint64_t rocksdb_options_statistics_get_ticker_count(
    rocksdb_options_t* options, uint32_t ticker_type) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_options_statistics_get_histogram_data(
    rocksdb_options_t* options, uint32_t histogram_type,
    rocksdb_statistics_histogram_data_t* const data) ASHLAR_NOTHROW;
ASHLAR_API rocksdb_statistics_histogram_data_t* rocksdb_statistics_histogram_data_create(void)
    ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_statistics_histogram_data_destroy(rocksdb_statistics_histogram_data_t* data)
    ASHLAR_NOTHROW;
ASHLAR_API double rocksdb_statistics_histogram_data_get_median(
    rocksdb_statistics_histogram_data_t* data) ASHLAR_NOTHROW;
ASHLAR_API double rocksdb_statistics_histogram_data_get_p95(
    rocksdb_statistics_histogram_data_t* data) ASHLAR_NOTHROW;
ASHLAR_API double rocksdb_statistics_histogram_data_get_p99(
    rocksdb_statistics_histogram_data_t* data) ASHLAR_NOTHROW;
ASHLAR_API double rocksdb_statistics_histogram_data_get_average(
    rocksdb_statistics_histogram_data_t* data) ASHLAR_NOTHROW;
ASHLAR_API double rocksdb_statistics_histogram_data_get_std_dev(
    rocksdb_statistics_histogram_data_t* data) ASHLAR_NOTHROW;
ASHLAR_API double rocksdb_statistics_histogram_data_get_max(
    rocksdb_statistics_histogram_data_t* data) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_statistics_histogram_data_get_count(
    rocksdb_statistics_histogram_data_t* data) ASHLAR_NOTHROW;
ASHLAR_API uint64_t
rocksdb_statistics_histogram_data_get_sum(rocksdb_statistics_histogram_data_t* data) ASHLAR_NOTHROW;
ASHLAR_API double rocksdb_statistics_histogram_data_get_min(
    rocksdb_statistics_histogram_data_t* data) ASHLAR_NOTHROW;

enum {
  rocksdb_uninitialized = 0,
  rocksdb_disable = 1,
  rocksdb_enable_count = 2,
  rocksdb_enable_time_except_for_mutex = 3,
  rocksdb_enable_time = 4,
  rocksdb_out_of_bounds = 5
};
// The metrics of rocksdb_perfcontext_metric. It returns 0 for metrics without a member in
// ashlar/perf_context.h, which Ashlar does not count, and for other numbers.
enum {
  rocksdb_user_key_comparison_count = 0,
  rocksdb_block_cache_hit_count = 1,
  rocksdb_block_read_count = 2,
  rocksdb_block_read_byte = 3,
  rocksdb_block_read_time = 4,
  rocksdb_block_checksum_time = 5,
  rocksdb_block_decompress_time = 6,
  rocksdb_get_read_bytes = 7,
  rocksdb_multiget_read_bytes = 8,
  rocksdb_iter_read_bytes = 9,
  rocksdb_internal_key_skipped_count = 10,
  rocksdb_internal_delete_skipped_count = 11,
  rocksdb_internal_recent_skipped_count = 12,
  rocksdb_internal_merge_count = 13,
  rocksdb_get_snapshot_time = 14,
  rocksdb_get_from_memtable_time = 15,
  rocksdb_get_from_memtable_count = 16,
  rocksdb_get_post_process_time = 17,
  rocksdb_get_from_output_files_time = 18,
  rocksdb_seek_on_memtable_time = 19,
  rocksdb_seek_on_memtable_count = 20,
  rocksdb_next_on_memtable_count = 21,
  rocksdb_prev_on_memtable_count = 22,
  rocksdb_seek_child_seek_time = 23,
  rocksdb_seek_child_seek_count = 24,
  rocksdb_seek_min_heap_time = 25,
  rocksdb_seek_max_heap_time = 26,
  rocksdb_seek_internal_seek_time = 27,
  rocksdb_find_next_user_entry_time = 28,
  rocksdb_write_wal_time = 29,
  rocksdb_write_memtable_time = 30,
  rocksdb_write_delay_time = 31,
  rocksdb_write_pre_and_post_process_time = 32,
  rocksdb_db_mutex_lock_nanos = 33,
  rocksdb_db_condition_wait_nanos = 34,
  rocksdb_merge_operator_time_nanos = 35,
  rocksdb_read_index_block_nanos = 36,
  rocksdb_read_filter_block_nanos = 37,
  rocksdb_new_table_block_iter_nanos = 38,
  rocksdb_new_table_iterator_nanos = 39,
  rocksdb_block_seek_nanos = 40,
  rocksdb_find_table_nanos = 41,
  rocksdb_bloom_memtable_hit_count = 42,
  rocksdb_bloom_memtable_miss_count = 43,
  rocksdb_bloom_sst_hit_count = 44,
  rocksdb_bloom_sst_miss_count = 45,
  rocksdb_key_lock_wait_time = 46,
  rocksdb_key_lock_wait_count = 47,
  rocksdb_env_new_sequential_file_nanos = 48,
  rocksdb_env_new_random_access_file_nanos = 49,
  rocksdb_env_new_writable_file_nanos = 50,
  rocksdb_env_reuse_writable_file_nanos = 51,
  rocksdb_env_new_random_rw_file_nanos = 52,
  rocksdb_env_new_directory_nanos = 53,
  rocksdb_env_file_exists_nanos = 54,
  rocksdb_env_get_children_nanos = 55,
  rocksdb_env_get_children_file_attributes_nanos = 56,
  rocksdb_env_delete_file_nanos = 57,
  rocksdb_env_create_dir_nanos = 58,
  rocksdb_env_create_dir_if_missing_nanos = 59,
  rocksdb_env_delete_dir_nanos = 60,
  rocksdb_env_get_file_size_nanos = 61,
  rocksdb_env_get_file_modification_time_nanos = 62,
  rocksdb_env_rename_file_nanos = 63,
  rocksdb_env_link_file_nanos = 64,
  rocksdb_env_lock_file_nanos = 65,
  rocksdb_env_unlock_file_nanos = 66,
  rocksdb_env_new_logger_nanos = 67,
  rocksdb_number_async_seek = 68,
  rocksdb_blob_cache_hit_count = 69,
  rocksdb_blob_read_count = 70,
  rocksdb_blob_read_byte = 71,
  rocksdb_blob_read_time = 72,
  rocksdb_blob_checksum_time = 73,
  rocksdb_blob_decompress_time = 74,
  rocksdb_internal_range_del_reseek_count = 75,
  rocksdb_block_read_cpu_time = 76,
  rocksdb_internal_merge_point_lookup_count = 77,
  rocksdb_data_block_read_byte = 78,
  rocksdb_index_block_read_byte = 79,
  rocksdb_filter_block_read_byte = 80,
  rocksdb_compression_dict_block_read_byte = 81,
  rocksdb_metadata_block_read_byte = 82,
  rocksdb_blob_cache_read_byte = 83,
  rocksdb_total_metric_count = 86
};
// Both apply to the calling thread. A perfcontext refers to the context of the thread that created
// it; use it on that thread.
ASHLAR_API void rocksdb_set_perf_level(int value) ASHLAR_NOTHROW;
ASHLAR_API rocksdb_perfcontext_t* rocksdb_perfcontext_create(void) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_perfcontext_destroy(rocksdb_perfcontext_t* context) ASHLAR_NOTHROW;
ASHLAR_API void rocksdb_perfcontext_reset(rocksdb_perfcontext_t* context) ASHLAR_NOTHROW;
ASHLAR_API uint64_t rocksdb_perfcontext_metric(rocksdb_perfcontext_t* context,
                                               int metric) ASHLAR_NOTHROW;
ASHLAR_API char* rocksdb_perfcontext_report(rocksdb_perfcontext_t* context,
                                            unsigned char exclude_zero_counters) ASHLAR_NOTHROW;

// ---- RocksDB's constants that no function here takes or returns, for programs and language
// bindings that name all of them: traces, transactions, remote compactions.

enum {
  rocksdb_trace_filter_none = 0,
  rocksdb_trace_filter_get = 1 << 0,
  rocksdb_trace_filter_write = 1 << 1,
  rocksdb_trace_filter_iterator_seek = 1 << 2,
  rocksdb_trace_filter_iterator_seek_for_prev = 1 << 3,
  rocksdb_trace_filter_multi_get = 1 << 4
};
enum {
  rocksdb_txndb_write_policy_write_committed = 0,
  rocksdb_txndb_write_policy_write_prepared = 1,
  rocksdb_txndb_write_policy_write_unprepared = 2
};
enum {
  rocksdb_compactionservice_jobstatus_success = 0,
  rocksdb_compactionservice_jobstatus_failure = 1,
  rocksdb_compactionservice_jobstatus_aborted = 2,
  rocksdb_compactionservice_jobstatus_use_local = 3
};

// ---- Memory.

// Frees memory that a function of this header allocated. Null is allowed.
ASHLAR_API void rocksdb_free(void* ptr) ASHLAR_NOTHROW;

#ifdef __cplusplus
}
#endif
