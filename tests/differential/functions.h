// Functions: the functions of RocksDB's C interface that a peer calls, found by name in the library
// that it opens.
//
// The declarations are the program's own, so that it builds without RocksDB's headers and without
// Ashlar's, and one program drives every release. A function that not every release has is
// optional: it is null where the library does not export it.
//
// Thread safety: immutable after construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace ashlar::differential {

// Opaque, as in the interface.
struct Db;
struct Options;
struct ReadOptions;
struct WriteOptions;
struct FlushOptions;
struct CompactOptions;
struct DbIterator;
struct PinnableSlice;
struct FamilyHandle;
struct DbComparator;
struct MergeOperator;
struct DbSnapshot;
struct WriteBatch;
struct EnvOptions;
struct SstFileWriter;
struct IngestOptions;
struct Checkpoint;
struct BackupEngine;
struct BackupInfo;
struct RestoreOptions;
struct WalIterator;
struct WalReadOptions;

using Bool = unsigned char;

using CompareFunction = int (*)(void*, const char*, size_t, const char*, size_t);
using FullMergeFunction = char* (*)(void*, const char*, size_t, const char*, size_t,
                                    const char* const*, const size_t*, int, Bool*, size_t*);
using PartialMergeFunction = char* (*)(void*, const char*, size_t, const char* const*,
                                       const size_t*, int, Bool*, size_t*);

// F(member, result, parameters)
#define ASHLAR_DIFFERENTIAL_REQUIRED(F)                                                            \
  F(open_column_families, Db*,                                                                     \
    (const Options*, const char*, int, const char* const*, const Options* const*, FamilyHandle**,  \
     char**))                                                                                      \
  F(open_for_read_only_column_families, Db*,                                                       \
    (const Options*, const char*, int, const char* const*, const Options* const*, FamilyHandle**,  \
     Bool, char**))                                                                                \
  F(list_column_families, char**, (const Options*, const char*, size_t*, char**))                  \
  F(list_column_families_destroy, void, (char**, size_t))                                          \
  F(create_column_family, FamilyHandle*, (Db*, const Options*, const char*, char**))               \
  F(drop_column_family, void, (Db*, FamilyHandle*, char**))                                        \
  F(column_family_handle_destroy, void, (FamilyHandle*))                                           \
  F(close, void, (Db*))                                                                            \
  F(free, void, (void*))                                                                           \
  F(put_cf, void,                                                                                  \
    (Db*, const WriteOptions*, FamilyHandle*, const char*, size_t, const char*, size_t, char**))   \
  F(delete_cf, void, (Db*, const WriteOptions*, FamilyHandle*, const char*, size_t, char**))       \
  F(merge_cf, void,                                                                                \
    (Db*, const WriteOptions*, FamilyHandle*, const char*, size_t, const char*, size_t, char**))   \
  F(write, void, (Db*, const WriteOptions*, WriteBatch*, char**))                                  \
  F(get_cf, char*, (Db*, const ReadOptions*, FamilyHandle*, const char*, size_t, size_t*, char**)) \
  F(multi_get_cf, void,                                                                            \
    (Db*, const ReadOptions*, const FamilyHandle* const*, size_t, const char* const*,              \
     const size_t*, char**, size_t*, char**))                                                      \
  F(create_iterator_cf, DbIterator*, (Db*, const ReadOptions*, FamilyHandle*))                     \
  F(iter_destroy, void, (DbIterator*))                                                             \
  F(iter_valid, Bool, (const DbIterator*))                                                         \
  F(iter_seek_to_first, void, (DbIterator*))                                                       \
  F(iter_seek_to_last, void, (DbIterator*))                                                        \
  F(iter_seek, void, (DbIterator*, const char*, size_t))                                           \
  F(iter_seek_for_prev, void, (DbIterator*, const char*, size_t))                                  \
  F(iter_next, void, (DbIterator*))                                                                \
  F(iter_prev, void, (DbIterator*))                                                                \
  F(iter_key, const char*, (const DbIterator*, size_t*))                                           \
  F(iter_value, const char*, (const DbIterator*, size_t*))                                         \
  F(iter_get_error, void, (const DbIterator*, char**))                                             \
  F(create_snapshot, const DbSnapshot*, (Db*))                                                     \
  F(release_snapshot, void, (Db*, const DbSnapshot*))                                              \
  F(property_value_cf, char*, (Db*, FamilyHandle*, const char*))                                   \
  F(compact_range_cf, void, (Db*, FamilyHandle*, const char*, size_t, const char*, size_t))        \
  F(options_create, Options*, ())                                                                  \
  F(options_destroy, void, (Options*))                                                             \
  F(options_set_comparator, void, (Options*, DbComparator*))                                       \
  F(options_set_merge_operator, void, (Options*, MergeOperator*))                                  \
  F(get_options_from_string, void, (const Options*, const char*, Options*, char**))                \
  F(comparator_create, DbComparator*,                                                              \
    (void*, void (*)(void*), CompareFunction, const char* (*)(void*)))                             \
  F(mergeoperator_create, MergeOperator*,                                                          \
    (void*, void (*)(void*), FullMergeFunction, PartialMergeFunction,                              \
     void (*)(void*, const char*, size_t), const char* (*)(void*)))                                \
  F(readoptions_create, ReadOptions*, ())                                                          \
  F(readoptions_destroy, void, (ReadOptions*))                                                     \
  F(readoptions_set_snapshot, void, (ReadOptions*, const DbSnapshot*))                             \
  F(readoptions_set_iterate_upper_bound, void, (ReadOptions*, const char*, size_t))                \
  F(readoptions_set_iterate_lower_bound, void, (ReadOptions*, const char*, size_t))                \
  F(readoptions_set_prefix_same_as_start, void, (ReadOptions*, Bool))                              \
  F(readoptions_set_total_order_seek, void, (ReadOptions*, Bool))                                  \
  F(readoptions_set_fill_cache, void, (ReadOptions*, Bool))                                        \
  F(readoptions_set_readahead_size, void, (ReadOptions*, size_t))                                  \
  F(writeoptions_create, WriteOptions*, ())                                                        \
  F(writeoptions_destroy, void, (WriteOptions*))                                                   \
  F(writeoptions_set_sync, void, (WriteOptions*, Bool))                                            \
  F(writeoptions_disable_WAL, void, (WriteOptions*, int))                                          \
  F(flushoptions_create, FlushOptions*, ())                                                        \
  F(flushoptions_destroy, void, (FlushOptions*))                                                   \
  F(writebatch_create, WriteBatch*, ())                                                            \
  F(writebatch_create_from, WriteBatch*, (const char*, size_t))                                    \
  F(writebatch_destroy, void, (WriteBatch*))                                                       \
  F(writebatch_count, int, (WriteBatch*))                                                          \
  F(writebatch_data, const char*, (WriteBatch*, size_t*))                                          \
  F(writebatch_put_cf, void,                                                                       \
    (WriteBatch*, FamilyHandle*, const char*, size_t, const char*, size_t))                        \
  F(writebatch_merge_cf, void,                                                                     \
    (WriteBatch*, FamilyHandle*, const char*, size_t, const char*, size_t))                        \
  F(writebatch_delete_cf, void, (WriteBatch*, FamilyHandle*, const char*, size_t))                 \
  F(writebatch_delete_range_cf, void,                                                              \
    (WriteBatch*, FamilyHandle*, const char*, size_t, const char*, size_t))                        \
  F(writebatch_put_log_data, void, (WriteBatch*, const char*, size_t))                             \
  F(writebatch_set_save_point, void, (WriteBatch*))                                                \
  F(writebatch_rollback_to_save_point, void, (WriteBatch*, char**))

// Functions that at least one release from 5.18 on lacks.
#define ASHLAR_DIFFERENTIAL_OPTIONAL(F)                                                            \
  F(flush_cf, void, (Db*, const FlushOptions*, FamilyHandle*, char**))                             \
  F(flush, void, (Db*, const FlushOptions*, char**))                                               \
  F(flush_wal, void, (Db*, Bool, char**))                                                          \
  F(get_pinned_cf, PinnableSlice*,                                                                 \
    (Db*, const ReadOptions*, FamilyHandle*, const char*, size_t, char**))                         \
  F(pinnableslice_destroy, void, (PinnableSlice*))                                                 \
  F(pinnableslice_value, const char*, (const PinnableSlice*, size_t*))                             \
  F(batched_multi_get_cf, void,                                                                    \
    (Db*, const ReadOptions*, FamilyHandle*, size_t, const char* const*, const size_t*,            \
     PinnableSlice**, char**, bool))                                                               \
  F(key_may_exist_cf, Bool,                                                                        \
    (Db*, const ReadOptions*, FamilyHandle*, const char*, size_t, char**, size_t*, const char*,    \
     size_t, Bool*))                                                                               \
  F(singledelete_cf, void, (Db*, const WriteOptions*, FamilyHandle*, const char*, size_t, char**)) \
  F(delete_range_cf, void,                                                                         \
    (Db*, const WriteOptions*, FamilyHandle*, const char*, size_t, const char*, size_t, char**))   \
  F(writebatch_singledelete_cf, void, (WriteBatch*, FamilyHandle*, const char*, size_t))           \
  F(writebatch_pop_save_point, void, (WriteBatch*, char**))                                        \
  F(iter_refresh, void, (const DbIterator*, char**))                                               \
  F(readoptions_set_auto_prefix_mode, void, (ReadOptions*, Bool))                                  \
  F(compactoptions_create, CompactOptions*, ())                                                    \
  F(compactoptions_destroy, void, (CompactOptions*))                                               \
  F(compactoptions_set_bottommost_level_compaction, void, (CompactOptions*, Bool))                 \
  F(compact_range_cf_opt, void,                                                                    \
    (Db*, FamilyHandle*, CompactOptions*, const char*, size_t, const char*, size_t))               \
  F(approximate_sizes_cf, void,                                                                    \
    (Db*, FamilyHandle*, int, const char* const*, const size_t*, const char* const*,               \
     const size_t*, uint64_t*, char**))                                                            \
  F(set_options_cf, void,                                                                          \
    (Db*, FamilyHandle*, int, const char* const*, const char* const*, char**))                     \
  F(open_as_secondary_column_families, Db*,                                                        \
    (const Options*, const char*, const char*, int, const char* const*, const Options* const*,     \
     FamilyHandle**, char**))                                                                      \
  F(try_catch_up_with_primary, void, (Db*, char**))                                                \
  F(envoptions_create, EnvOptions*, ())                                                            \
  F(envoptions_destroy, void, (EnvOptions*))                                                       \
  F(sstfilewriter_create, SstFileWriter*, (const EnvOptions*, const Options*))                     \
  F(sstfilewriter_destroy, void, (SstFileWriter*))                                                 \
  F(sstfilewriter_open, void, (SstFileWriter*, const char*, char**))                               \
  F(sstfilewriter_put, void, (SstFileWriter*, const char*, size_t, const char*, size_t, char**))   \
  F(sstfilewriter_merge, void, (SstFileWriter*, const char*, size_t, const char*, size_t, char**)) \
  F(sstfilewriter_delete, void, (SstFileWriter*, const char*, size_t, char**))                     \
  F(sstfilewriter_delete_range, void,                                                              \
    (SstFileWriter*, const char*, size_t, const char*, size_t, char**))                            \
  F(sstfilewriter_finish, void, (SstFileWriter*, char**))                                          \
  F(ingestexternalfileoptions_create, IngestOptions*, ())                                          \
  F(ingestexternalfileoptions_destroy, void, (IngestOptions*))                                     \
  F(ingestexternalfileoptions_set_move_files, void, (IngestOptions*, Bool))                        \
  F(ingest_external_file_cf, void,                                                                 \
    (Db*, FamilyHandle*, const char* const*, size_t, const IngestOptions*, char**))                \
  F(checkpoint_object_create, Checkpoint*, (Db*, char**))                                          \
  F(checkpoint_object_destroy, void, (Checkpoint*))                                                \
  F(checkpoint_create, void, (Checkpoint*, const char*, uint64_t, char**))                         \
  F(backup_engine_open, BackupEngine*, (const Options*, const char*, char**))                      \
  F(backup_engine_close, void, (BackupEngine*))                                                    \
  F(backup_engine_create_new_backup_flush, void, (BackupEngine*, Db*, Bool, char**))               \
  F(backup_engine_purge_old_backups, void, (BackupEngine*, uint32_t, char**))                      \
  F(backup_engine_verify_backup, void, (BackupEngine*, uint32_t, char**))                          \
  F(backup_engine_restore_db_from_latest_backup, void,                                             \
    (BackupEngine*, const char*, const char*, const RestoreOptions*, char**))                      \
  F(backup_engine_get_backup_info, const BackupInfo*, (BackupEngine*))                             \
  F(backup_engine_info_count, int, (const BackupInfo*))                                            \
  F(backup_engine_info_backup_id, uint32_t, (const BackupInfo*, int))                              \
  F(backup_engine_info_destroy, void, (const BackupInfo*))                                         \
  F(restore_options_create, RestoreOptions*, ())                                                   \
  F(restore_options_destroy, void, (RestoreOptions*))                                              \
  F(get_updates_since, WalIterator*, (Db*, uint64_t, const WalReadOptions*, char**))               \
  F(wal_iter_valid, Bool, (const WalIterator*))                                                    \
  F(wal_iter_next, void, (WalIterator*))                                                           \
  F(wal_iter_get_batch, WriteBatch*, (const WalIterator*, uint64_t*))                              \
  F(wal_iter_status, void, (const WalIterator*, char**))                                           \
  F(wal_iter_destroy, void, (const WalIterator*))                                                  \
  F(get_latest_sequence_number, uint64_t, (Db*))

struct Functions {
  // Ends the process with a message if the library cannot be opened or lacks a required function.
  // The library stays open until the process ends, as its threads may run until then.
  explicit Functions(const std::string& library);

#define ASHLAR_DIFFERENTIAL_DECLARE(name, result, parameters) result(*name) parameters = nullptr;
  ASHLAR_DIFFERENTIAL_REQUIRED(ASHLAR_DIFFERENTIAL_DECLARE)
  ASHLAR_DIFFERENTIAL_OPTIONAL(ASHLAR_DIFFERENTIAL_DECLARE)
#undef ASHLAR_DIFFERENTIAL_DECLARE
};

}  // namespace ashlar::differential
