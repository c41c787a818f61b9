// The definitions of the opaque types of ashlar/c.h.
//
//   a C++ object that is only ever used through its class   the pointer itself, cast: no
//                                                            allocation and no indirection
//       rocksdb_iterator_t  rocksdb_snapshot_t  rocksdb_comparator_t  rocksdb_mergeoperator_t
//       rocksdb_slicetransform_t  rocksdb_filterpolicy_t  rocksdb_perfcontext_t
//       rocksdb_compactionfilter_t  rocksdb_compactionfilterfactory_t
//       rocksdb_backup_engine_t  rocksdb_checkpoint_t  rocksdb_wal_iterator_t  rocksdb_walfilter_t
//       rocksdb_eventlistener_t  rocksdb_table_properties_t  rocksdb_status_ptr_t, and all that
//       callbacks of listeners get                           (Rep and Wrap below)
//   all other objects                                        a struct that has it as `rep`
//
// Invariants:
//   I1  A pointer is wrapped and unwrapped as the same class, so the cast is exact even for classes
//       with several bases.
//   I2  rocksdb_t::default_family is the database's own handle, kept here so that calls without a
//       family cost no virtual call to find it.
//
// Rejected: a struct with `rep` for all types. An iterator would then take two allocations, and
// each step one more load.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ashlar/backup_engine.h"
#include "ashlar/c.h"
#include "ashlar/cache.h"
#include "ashlar/checkpoint.h"
#include "ashlar/compaction_filter.h"
#include "ashlar/comparator.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/file_checksum.h"
#include "ashlar/filter_policy.h"
#include "ashlar/iterator.h"
#include "ashlar/listener.h"
#include "ashlar/merge_operator.h"
#include "ashlar/metadata.h"
#include "ashlar/options.h"
#include "ashlar/perf_context.h"
#include "ashlar/rate_limiter.h"
#include "ashlar/slice_transform.h"
#include "ashlar/sst_file_manager.h"
#include "ashlar/sst_file_reader.h"
#include "ashlar/sst_file_writer.h"
#include "ashlar/sst_partitioner.h"
#include "ashlar/statistics.h"
#include "ashlar/table.h"
#include "ashlar/table_properties.h"
#include "ashlar/transaction_log.h"
#include "ashlar/wal_filter.h"
#include "ashlar/write_batch.h"
#include "ashlar/write_buffer_manager.h"

struct rocksdb_t {
  std::unique_ptr<ashlar::DB> owned;  // null: the program's database, as passed to a listener
  ashlar::DB* rep;
  ashlar::ColumnFamilyHandle* default_family;
};

struct rocksdb_column_family_handle_t {
  ashlar::ColumnFamilyHandle* rep;
  bool owned;  // false: the database's own handle of its default family
};

struct rocksdb_writebatch_t {
  ashlar::WriteBatch rep;
  ashlar::Status refused;    // error of the first record that `rep` refused
  size_t save_points = 0;    // of `rep`
  size_t refused_after = 0;  // if refused: the number of save points older than that record
};

// The handles of one MultiGet share one allocation, which the last of them frees.
struct PinnedBatch {
  std::atomic<size_t> handles;
};

struct rocksdb_pinnableslice_t {
  ashlar::PinnableSlice rep;
  PinnedBatch* batch = nullptr;  // null: allocated by itself
};
struct rocksdb_pinnable_handle_t {
  ashlar::PinnableSlice rep;
};

struct rocksdb_options_t {
  ashlar::Options rep;
};
struct rocksdb_block_based_table_options_t {
  ashlar::BlockBasedTableOptions rep;
};
struct rocksdb_cuckoo_table_options_t {
  ashlar::CuckooTableOptions rep;
};
struct rocksdb_table_properties_collector_factory_t {
  std::shared_ptr<ashlar::TablePropertiesCollectorFactory> rep;
};
struct rocksdb_universal_compaction_options_t {
  ashlar::CompactionOptionsUniversal rep;
};
struct rocksdb_fifo_compaction_options_t {
  ashlar::CompactionOptionsFIFO rep;
};
// The bounds and the request id in `rep` point to the members of this struct.
struct rocksdb_readoptions_t {
  ashlar::ReadOptions rep;
  ashlar::Slice lower_bound;
  ashlar::Slice upper_bound;
  std::string request_id;
};
struct rocksdb_writeoptions_t {
  ashlar::WriteOptions rep;
};
struct rocksdb_flushoptions_t {
  ashlar::FlushOptions rep;
};
struct rocksdb_compaction_options_t {
  ashlar::CompactionOptions rep;
};
struct rocksdb_compactoptions_t {
  ashlar::CompactRangeOptions rep;
};
struct rocksdb_wait_for_compact_options_t {
  ashlar::WaitForCompactOptions rep;
};
struct rocksdb_size_approximation_options_t {
  ashlar::SizeApproximationOptions rep;
};
struct rocksdb_lru_cache_options_t {
  ashlar::LRUCacheOptions rep;
};
struct rocksdb_hyper_clock_cache_options_t {
  ashlar::HyperClockCacheOptions rep;
};

struct rocksdb_cache_t {
  std::shared_ptr<ashlar::Cache> rep;
};
struct rocksdb_ratelimiter_t {
  std::shared_ptr<ashlar::RateLimiter> rep;
};
struct rocksdb_sst_file_manager_t {
  std::shared_ptr<ashlar::SstFileManager> rep;
};
struct rocksdb_write_buffer_manager_t {
  std::shared_ptr<ashlar::WriteBufferManager> rep;
};
struct rocksdb_file_checksum_gen_factory_t {
  std::shared_ptr<ashlar::FileChecksumGenFactory> rep;
};
struct rocksdb_sst_partitioner_factory_t {
  std::shared_ptr<ashlar::SstPartitionerFactory> rep;
};
struct rocksdb_logger_t {
  std::shared_ptr<ashlar::Logger> rep;
};
struct rocksdb_dbpath_t {
  ashlar::DbPath rep;
};
struct rocksdb_env_t {
  ashlar::Env* rep;
  bool owned;  // false: Env::Default()
};

struct rocksdb_wal_readoptions_t {
  ashlar::TransactionLogIterator::ReadOptions rep;
};
struct rocksdb_wal_file_t {
  std::unique_ptr<ashlar::WalFile> rep;
  std::string path;
};
struct rocksdb_wal_files_t {
  std::vector<rocksdb_wal_file_t> rep;
};
// The options point to the limiter.
struct rocksdb_envoptions_t {
  ashlar::EnvOptions rep;
  std::shared_ptr<ashlar::RateLimiter> rate_limiter;
};
struct rocksdb_sstfilewriter_t {
  ashlar::SstFileWriter rep;
  std::shared_ptr<ashlar::RateLimiter> rate_limiter;
};
struct ashlar_sstfilereader_t {
  ashlar::SstFileReader rep;
};
struct ashlar_tableproperties_t {
  std::shared_ptr<const ashlar::TableProperties> rep;
};
struct rocksdb_ingestexternalfileoptions_t {
  ashlar::IngestExternalFileOptions rep;
};
struct rocksdb_flushwaloptions_t {
  ashlar::FlushWALOptions rep;
};

struct rocksdb_import_column_family_options_t {
  ashlar::ImportColumnFamilyOptions rep;
};
struct rocksdb_export_import_files_metadata_t {
  ashlar::ExportImportFilesMetaData rep;
};

struct rocksdb_livefile_t {
  ashlar::LiveFileMetaData rep;
};
struct rocksdb_livefiles_storage_info_options_t {
  ashlar::LiveFilesStorageInfoOptions rep;
};
struct rocksdb_livefiles_storage_info_t {
  std::vector<ashlar::LiveFileStorageInfo> rep;
};
struct rocksdb_livefiles_t {
  std::vector<ashlar::LiveFileMetaData> rep;
};
// The range in `rep` points to the keys.
struct rocksdb_column_family_metadata_options_t {
  ashlar::GetColumnFamilyMetaDataOptions rep;
  std::string start_key;
  std::string end_key;
};
struct rocksdb_column_family_metadata_t {
  ashlar::ColumnFamilyMetaData rep;
};
struct rocksdb_level_metadata_t {
  const ashlar::LevelMetaData* rep;
};
struct rocksdb_sst_file_metadata_t {
  const ashlar::SstFileMetaData* rep;
};
struct rocksdb_backup_engine_info_t {
  std::vector<ashlar::BackupInfo> rep;
};
struct rocksdb_backup_engine_options_t {
  ashlar::BackupEngineOptions rep;
};
struct rocksdb_create_backup_options_t {
  ashlar::CreateBackupOptions rep;
};
struct rocksdb_restore_options_t {
  ashlar::RestoreOptions rep;
};
struct rocksdb_memory_consumers_t {
  std::set<rocksdb_t*> databases;
  std::set<std::shared_ptr<ashlar::Cache>> caches;
};
struct rocksdb_memory_usage_t {
  uint64_t mem_table_total = 0;
  uint64_t mem_table_unflushed = 0;
  uint64_t mem_table_readers_total = 0;
  uint64_t cache_total = 0;
};
struct rocksdb_statistics_histogram_data_t {
  ashlar::HistogramData rep;
};

namespace ashlar::capi {

// NOLINTBEGIN(bugprone-macro-parentheses)
#define ASHLAR_C_CAST(c_type, cpp_type)                                                \
  inline cpp_type* Rep(c_type* object) { return reinterpret_cast<cpp_type*>(object); } \
  inline const cpp_type* Rep(const c_type* object) {                                   \
    return reinterpret_cast<const cpp_type*>(object);                                  \
  }                                                                                    \
  inline c_type* Wrap(cpp_type* object) { return reinterpret_cast<c_type*>(object); }  \
  inline c_type* Wrap(const cpp_type* object) {                                        \
    return reinterpret_cast<c_type*>(const_cast<cpp_type*>(object));                   \
  }
ASHLAR_C_CAST(rocksdb_backup_engine_t, BackupEngine)
ASHLAR_C_CAST(rocksdb_blob_file_addition_info_t, BlobFileAdditionInfo)
ASHLAR_C_CAST(rocksdb_blob_file_garbage_info_t, BlobFileGarbageInfo)
ASHLAR_C_CAST(rocksdb_checkpoint_t, Checkpoint)
ASHLAR_C_CAST(rocksdb_iterator_t, Iterator)
ASHLAR_C_CAST(rocksdb_snapshot_t, Snapshot)
ASHLAR_C_CAST(rocksdb_comparator_t, Comparator)
ASHLAR_C_CAST(rocksdb_compactionfilter_t, CompactionFilter)
ASHLAR_C_CAST(rocksdb_walfilter_t, WalFilter)
ASHLAR_C_CAST(rocksdb_compactionfiltercontext_t, CompactionFilter::Context)
ASHLAR_C_CAST(rocksdb_compactionfilterfactory_t, CompactionFilterFactory)
ASHLAR_C_CAST(rocksdb_compaction_file_info_t, CompactionFileInfo)
ASHLAR_C_CAST(rocksdb_compaction_job_stats_t, CompactionJobStats)
ASHLAR_C_CAST(rocksdb_compactionjobinfo_t, CompactionJobInfo)
ASHLAR_C_CAST(rocksdb_eventlistener_t, EventListener)
ASHLAR_C_CAST(rocksdb_externalfileingestioninfo_t, ExternalFileIngestionInfo)
ASHLAR_C_CAST(rocksdb_flushjobinfo_t, FlushJobInfo)
ASHLAR_C_CAST(rocksdb_memtableinfo_t, MemTableInfo)
ASHLAR_C_CAST(rocksdb_status_ptr_t, Status)
ASHLAR_C_CAST(rocksdb_subcompactionjobinfo_t, SubcompactionJobInfo)
ASHLAR_C_CAST(rocksdb_table_properties_t, TableProperties)
ASHLAR_C_CAST(rocksdb_writestallcondition_t, WriteStallCondition)
ASHLAR_C_CAST(rocksdb_writestallinfo_t, WriteStallInfo)
ASHLAR_C_CAST(rocksdb_mergeoperator_t, MergeOperator)
ASHLAR_C_CAST(rocksdb_slicetransform_t, SliceTransform)
ASHLAR_C_CAST(rocksdb_filterpolicy_t, FilterPolicy)
ASHLAR_C_CAST(rocksdb_perfcontext_t, PerfContext)
ASHLAR_C_CAST(rocksdb_wal_iterator_t, TransactionLogIterator)
#undef ASHLAR_C_CAST
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace ashlar::capi
