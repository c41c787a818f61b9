// Options: how a database and its column families are set up, and how one read or write behaves.
//
// Names, meanings and defaults are RocksDB's, so that programs recompile. Three kinds of options
// exist:
//   honoured   Ashlar implements the option. Options without a remark are of this kind.
//   accepted   Ashlar does not need the option. It changes no result. If it is not the default, the
//              LOG names it at open.
//   refused    The option would change results or guarantees and is not implemented. If it is not
//              the default, DB::Open returns NotSupported and names it.
// Sizes are in bytes unless said otherwise. Thread safety: plain values; a database copies them at
// open. Requires: objects that the options point to outlive the database.
#pragma once

#include <atomic>
#include <chrono>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/compression_type.h"
#include "ashlar/data_structure.h"
#include "ashlar/env.h"
#include "ashlar/export.h"
#include "ashlar/memtablerep.h"
#include "ashlar/slice.h"
#include "ashlar/slice_transform.h"
#include "ashlar/table_properties.h"
#include "ashlar/types.h"

namespace ashlar {

class Cache;
class CompactionFilter;
class CompactionFilterFactory;
class ConcurrentTaskLimiter;
class EventListener;
class FileChecksumGenFactory;
class MergeOperator;
class RateLimiter;
class Snapshot;
class SstFileManager;
class SstPartitionerFactory;
class Statistics;
class TableFactory;
class TablePropertiesCollectorFactory;
class WalFilter;
class WriteBufferManager;
struct Options;

enum CompactionStyle : char {
  kCompactionStyleLevel = 0x0,      // levels of growing sizes
  kCompactionStyleUniversal = 0x1,  // a list of sorted runs; neighbours are merged
  kCompactionStyleFIFO = 0x2,       // the oldest tables are deleted: a cache, or a log of events
  kCompactionStyleNone = 0x3,       // only compactions that the program asks for
};

// Which file of an overfull level is compacted first.
enum CompactionPri : char {
  kByCompensatedSize = 0x0,
  kOldestLargestSeqFirst = 0x1,
  kOldestSmallestSeqFirst = 0x2,
  kMinOverlappingRatio = 0x3,
  kRoundRobin = 0x4,
};

using CompactionStyleSet = SmallEnumSet<CompactionStyle, kCompactionStyleNone>;

enum CompactionStopStyle { kCompactionStopStyleSimilarSize, kCompactionStopStyleTotalSize };

// A sorted run is a table of level 0, or a deeper level that has tables. Compactions begin when
// there are level0_file_num_compaction_trigger of them.
//
// Space: a compaction deletes its inputs after its outputs are complete. A compaction of all runs
// therefore needs as much free space as all runs have bytes. With `incremental`, and the oldest run
// on level 2 or deeper, a compaction for size or number needs at most the largest of three amounts:
// the runs above the oldest, which have about max_size_amplification_percent of its bytes; 2 *
// max_compaction_bytes; one table and the tables of the oldest run that it overlaps. Concurrent
// compactions and flushes need space in addition. Compactions for ages, marked tables and range
// deletions, and those that the program requests, read all older runs.
struct CompactionOptionsUniversal {
  // An older run is added if it is at most this many percent larger than all newer ones together.
  unsigned int size_ratio = 1;
  // The smallest (2 or more) and the largest number of runs that are merged at once.
  unsigned int min_merge_width = 2;
  unsigned int max_merge_width = UINT_MAX;
  // All runs are merged when those above the oldest have at least this percentage of its bytes.
  unsigned int max_size_amplification_percent = 200;
  // Only the oldest tables, which have about this percentage of all bytes, are compressed. -1: all
  // tables are.
  int compression_size_percent = -1;
  // An older run is compared with all newer runs of the merge together, or with the next newer one.
  CompactionStopStyle stop_style = kCompactionStopStyleTotalSize;
  // Moves tables that do not overlap instead of rewriting them, if compression_size_percent is -1.
  bool allow_trivial_move = false;
  // Merges the runs above the oldest, then compacts down in parts of about max_compaction_bytes.
  bool incremental = false;
  // If there are more idle runs, runs of any size are merged until this many remain. -1:
  // level0_file_num_compaction_trigger. 0: as many as size_ratio leaves in a tree that grows by
  // flushes, but at least that trigger and less than the triggers that delay writers (with
  // kCompactionStopStyleSimilarSize: the same as -1). A number below the trigger is refused.
  int max_read_amp = -1;
  bool reduce_file_locking = false;  // accepted
};

struct FileTemperatureAge {
  Temperature temperature = Temperature::kUnknown;
  uint64_t age = 0;  // seconds
};

struct CompactionOptionsFIFO {
  // While all tables together have more bytes, the oldest are deleted.
  uint64_t max_table_files_size = 1024 * 1024 * 1024;
  // Merges small tables of level 0. With a ttl, only tables whose oldest data has an age of at most
  // ttl / 10 are merged, so data is deleted at an age of 1 to 1.1 ttl.
  bool allow_compaction = false;
  uint64_t age_for_warm = 0;                                          // accepted
  std::vector<FileTemperatureAge> file_temperature_age_thresholds{};  // accepted
  bool allow_trivial_copy_when_change_temperature = false;            // accepted
  uint64_t trivial_copy_buffer_size = 4096;                           // accepted
  // If above 0, replaces max_table_files_size. RocksDB also counts blob files; there are none here.
  uint64_t max_data_files_size = 0;
  bool use_kv_ratio_compaction = false;  // accepted: there are no blob files
};

struct CompressionOptions {
  static constexpr int kDefaultCompressionLevel = 32767;

  int window_bits = -14;                 // zlib
  int level = kDefaultCompressionLevel;  // the codec's own scale
  int strategy = 0;                      // zlib
  // If above 0, each table has a dictionary of at most this many bytes (up to 64 MiB), made from
  // samples of its data blocks. Snappy ignores it.
  uint32_t max_dict_bytes = 0;
  // If above 0, ZSTD's builder makes the dictionary from this many bytes of samples, for any codec.
  // If 0, the samples are the dictionary. A hundred times max_dict_bytes is a good value.
  uint32_t zstd_max_train_bytes = 0;
  uint32_t parallel_threads = 1;  // accepted
  bool enabled = false;           // bottommost_compression_opts: whether they apply
  // The most bytes of blocks that are buffered until the dictionary is made. 0: the target file
  // size. Except in a flush, that size is always an upper bound.
  uint64_t max_dict_buffer_bytes = 0;
  bool use_zstd_dict_trainer = true;  // false: ZSTD only adds its tables to the samples
};

// The checks that verify new files, and the jobs that run them.
enum class VerifyOutputFlags : uint32_t {
  kVerifyNone = 0x0,
  kVerifyBlockChecksum = 1 << 0,
  kVerifyIteration = 1 << 1,
  kVerifyFileChecksum = 1 << 2,
  kEnableForLocalCompaction = 1 << 10,
  kEnableForRemoteCompaction = 1 << 11,
  kVerifyAll = 0xFFFFFFFF,
};
constexpr VerifyOutputFlags operator|(VerifyOutputFlags a, VerifyOutputFlags b) {
  return static_cast<VerifyOutputFlags>(static_cast<uint32_t>(a) | static_cast<uint32_t>(b));
}
constexpr VerifyOutputFlags operator&(VerifyOutputFlags a, VerifyOutputFlags b) {
  return static_cast<VerifyOutputFlags>(static_cast<uint32_t>(a) & static_cast<uint32_t>(b));
}

enum UpdateStatus { UPDATE_FAILED = 0, UPDATED_INPLACE = 1, UPDATED = 2 };
enum class PrepopulateBlobCache : uint8_t { kDisable = 0x0, kFlushOnly = 0x1 };
enum class CacheTier : uint8_t { kVolatileTier = 0, kNonVolatileBlockTier = 0x02 };

// A directory and how many bytes of tables it is meant to hold.
struct DbPath {
  std::string path;
  uint64_t target_size = 0;
  DbPath() = default;
  DbPath(const std::string& path_in, uint64_t target_size_in)
      : path(path_in), target_size(target_size_in) {}
};

struct ASHLAR_API ColumnFamilyOptions {
  ColumnFamilyOptions();
  explicit ColumnFamilyOptions(const Options& options);

  // Presets: each sets a handful of the members below and returns this.
  ColumnFamilyOptions* OptimizeForSmallDb(std::shared_ptr<Cache>* cache = nullptr);
  ColumnFamilyOptions* OptimizeForPointLookup(uint64_t block_cache_size_mb);
  // A budget of 0 means the default. RocksDB's examples pass 0 from C, which has no default
  // arguments.
  static constexpr uint64_t kDefaultMemtableBudget = 512 << 20;
  ColumnFamilyOptions* OptimizeLevelStyleCompaction(
      uint64_t memtable_memory_budget = kDefaultMemtableBudget);
  ColumnFamilyOptions* OptimizeUniversalStyleCompaction(
      uint64_t memtable_memory_budget = kDefaultMemtableBudget);
  // Sets the members whose defaults have changed since an older release of RocksDB to the old ones.
  ColumnFamilyOptions* OldDefaults(int rocksdb_major_version = 4, int rocksdb_minor_version = 6);

  // Writes each option, and each option of the tables, as an open writes them to the LOG. Each is
  // one message, which the logger's level does not suppress. Null: writes nothing.
  void Dump(Logger* log) const;

  // ---- Meaning of the data.
  const Comparator* comparator = BytewiseComparator();
  std::shared_ptr<MergeOperator> merge_operator;
  // Filters the entries that compactions rewrite (ashlar/compaction_filter.h). Several threads call
  // it at once. It takes precedence over the factory.
  const CompactionFilter* compaction_filter = nullptr;
  // Makes filters for compactions, and for flushes if its ShouldFilterTableFileCreation says so.
  std::shared_ptr<CompactionFilterFactory> compaction_filter_factory;

  // ---- Memtables. A memtable of this size (64 KiB to 64 GiB) is closed and flushed. From 1 MiB
  // on, it is closed 72 KiB earlier, before its memory grows by another block.
  size_t write_buffer_size = 64 << 20;
  // The most memtables in memory, the active one included. Writers wait while all are full.
  int max_write_buffer_number = 2;
  // At least this many full memtables are flushed together.
  int min_write_buffer_number_to_merge = 1;
  int max_write_buffer_number_to_maintain = 0;    // accepted: flushed memtables are not kept
  int64_t max_write_buffer_size_to_maintain = 0;  // accepted
  // The structure that stores the entries of a memtable: ashlar/memtablerep.h.
  std::shared_ptr<MemTableRepFactory> memtable_factory = std::make_shared<SkipListFactory>();
  size_t arena_block_size = 0;  // accepted: arenas choose their own steps
  // The size of each memtable's bloom filter as a share of write_buffer_size, at most 0.25; 0:
  // none. It holds the prefixes of keys in the domain of prefix_extractor, if there is one, and
  // serves Get and seeks within a prefix. A change applies from the next memtable on.
  double memtable_prefix_bloom_size_ratio = 0.0;
  // That filter also holds whole keys, with or without a prefix_extractor. Get then checks these.
  bool memtable_whole_key_filtering = false;
  size_t memtable_huge_page_size = 0;              // accepted: huge pages are always requested
  uint32_t memtable_protection_bytes_per_key = 0;  // accepted
  // If above 0, the Bloom block in a PlainTable's file is cache-local; other filters always are.
  uint32_t bloom_locality = 0;
  bool inplace_update_support = false;      // refused
  size_t inplace_update_num_locks = 10000;  // accepted
  UpdateStatus (*inplace_callback)(char* existing_value, uint32_t* existing_value_size,
                                   Slice delta_value,
                                   std::string* merged_value) = nullptr;             // refused
  double experimental_mempurge_threshold = 0.0;                                      // accepted
  std::shared_ptr<const SliceTransform> memtable_insert_with_hint_prefix_extractor;  // accepted
  // If the newest entries of a key in the memtable are this many operands, a further Merge writes
  // the combined value instead, unless that would read a file or the merge operator fails. 0: off.
  size_t max_successive_merges = 0;

  // ---- Levels and compaction.
  int num_levels = 7;  // 1 to 64; below 1: 1
  CompactionStyle compaction_style = kCompactionStyleLevel;
  // Which file of an overfull level is compacted first. kRoundRobin keeps its place after a reopen.
  CompactionPri compaction_pri = kMinOverlappingRatio;
  bool disable_auto_compactions = false;
  // The numbers of level-0 files that start a compaction, slow writers down, and stop them.
  // Negative: never. If the first is negative, none makes writers wait. Universal: of sorted runs,
  // and writers do not wait for as many as compactions leave (max_read_amp).
  int level0_file_num_compaction_trigger = 4;
  int level0_slowdown_writes_trigger = 20;
  int level0_stop_writes_trigger = 36;
  // Target size of a level-1 table, which may be twice as large. Each deeper level multiplies it.
  uint64_t target_file_size_base = 64 * 1048576;
  int target_file_size_multiplier = 1;
  // Target size of level 1; each deeper level multiplies it. With dynamic level sizes, the targets
  // of the levels above the last follow from the actual size of the last.
  uint64_t max_bytes_for_level_base = 256 * 1048576;
  double max_bytes_for_level_multiplier = 10;
  std::vector<int> max_bytes_for_level_multiplier_additional = std::vector<int>(7, 1);
  bool level_compaction_dynamic_level_bytes = true;
  bool level_compaction_dynamic_file_size = true;  // accepted
  // One compaction reads at most about this many bytes. 0: 25 times target_file_size_base.
  uint64_t max_compaction_bytes = 0;
  bool ignore_max_compaction_bytes_for_input = true;  // accepted
  // Bytes pending compaction at which writers are slowed down, and at which they stop. 0: never.
  uint64_t soft_pending_compaction_bytes_limit = 64 * 1073741824ull;
  uint64_t hard_pending_compaction_bytes_limit = 256 * 1073741824ull;
  CompactionOptionsUniversal compaction_options_universal;
  CompactionOptionsFIFO compaction_options_fifo;
  // In seconds; 0: off. Checked by a timer and after jobs. Leveled: tables with older data are
  // compacted down to the last level that has tables. Universal: as periodic_compaction_seconds.
  // FIFO: tables written longer ago are deleted. The default: 30 days for block-based tables.
  uint64_t ttl = 0xfffffffffffffffe;
  // Tables written longer ago are compacted. The default: 30 days for block-based tables if there
  // is a compaction filter, otherwise off. FIFO: only lengthens the default ttl; 0 turns that off.
  uint64_t periodic_compaction_seconds = 0xfffffffffffffffe;
  // Chooses keys at which compactions cut their files: ashlar/sst_partitioner.h.
  std::shared_ptr<SstPartitionerFactory> sst_partitioner_factory;
  std::shared_ptr<ConcurrentTaskLimiter> compaction_thread_limiter;  // accepted
  uint64_t preclude_last_level_data_seconds = 0;                     // accepted
  uint64_t preserve_internal_time_seconds = 0;                       // accepted
  // Accepted, as are all temperatures: new tables have none. Those that RocksDB wrote keep theirs.
  Temperature last_level_temperature = Temperature::kUnknown;
  bool report_bg_io_stats = false;  // CompactionJobStats has times of calls on files

  // ---- Tables.
  // Null: block-based with default options.
  std::shared_ptr<TableFactory> table_factory;
  CompressionType compression;  // Snappy; none in a build without it
  // By level. If not empty, it replaces `compression`, and its last entry applies to all deeper
  // levels. With dynamic level sizes, its second entry is for the level that follows level 0.
  std::vector<CompressionType> compression_per_level;
  // For the last level that has data. kDisableCompressionOption: the options above apply to it.
  CompressionType bottommost_compression = kDisableCompressionOption;
  CompressionOptions compression_opts;
  CompressionOptions bottommost_compression_opts;
  uint64_t sample_for_compression = 0;  // accepted
  // Null: keys have no prefixes. Otherwise filters also hold prefixes, and iterators search only
  // for the prefix of the seek key (see ReadOptions::total_order_seek). May be changed while the
  // database is open; older tables keep the prefixes that they were written with.
  std::shared_ptr<const SliceTransform> prefix_extractor;
  // Writes no filters to the last level, because reads are expected to find their keys.
  bool optimize_filters_for_hits = false;
  // Their collectors are called for each entry of each new table.
  std::vector<std::shared_ptr<TablePropertiesCollectorFactory>>
      table_properties_collector_factories;
  // Directories for tables. Only the database's own directory is supported.
  std::vector<DbPath> cf_paths;  // refused

  // ---- Checks.
  bool paranoid_file_checks = false;             // read every new table back and compare
  bool force_consistency_checks = true;          // accepted: always on
  bool check_flush_compaction_key_order = true;  // accepted: always on
  // Versions of one key that an iterator steps over before it seeks.
  uint64_t max_sequential_skip_in_iterations = 8;

  // ---- Ashlar's own.

  // An iterator that has stepped over 48 or more deleted keys records the gap in memory until the
  // memtable is full, and later iterators seek past it. If off, each steps over the keys again. Not
  // written to OPTIONS files, because RocksDB reads those, too.
  bool iterators_remember_gaps = true;
  // Compacts tables that are dense in deletions even if their level is not full. A table is dense
  // if at least 8 of its data blocks, and 5 % of them, have 100 point deletions or are half
  // deletions. Not written to OPTIONS files. The MANIFEST marks the tables, as RocksDB's does.
  bool compact_dense_deletions = true;

  // ---- Blob files. The first is refused; the others are accepted.
  bool enable_blob_files = false;
  uint64_t min_blob_size = 0;
  uint64_t blob_file_size = 1ULL << 28;
  CompressionType blob_compression_type = kNoCompression;
  bool enable_blob_garbage_collection = false;
  double blob_garbage_collection_age_cutoff = 0.25;
  double blob_garbage_collection_force_threshold = 1.0;
  uint64_t blob_compaction_readahead_size = 0;
  int blob_file_starting_level = 0;
  std::shared_ptr<Cache> blob_cache;
  PrepopulateBlobCache prepopulate_blob_cache = PrepopulateBlobCache::kDisable;

  // ---- Options of releases after 7.8. Not written to OPTIONS files, which have that release's
  // names.

  // The checks of new tables, as a union of flags. Any check together with
  // kEnableForLocalCompaction has the effect of paranoid_file_checks.
  VerifyOutputFlags verify_output_flags = VerifyOutputFlags::kVerifyNone;
  // Accepted: a file may be twice its target size, to end where a file of the next level ends.
  bool target_file_size_is_upper_bound = false;
  double read_triggered_compaction_threshold = 0.0;  // accepted
  uint32_t bottommost_file_compaction_delay = 0;     // accepted
  // Also reads files for max_successive_merges, while all writers wait.
  bool strict_max_successive_merges = false;
  bool disallow_memtable_writes = false;  // refused
  // allow_ingest_behind for this family alone.
  bool cf_allow_ingest_behind = false;
  Temperature default_temperature = Temperature::kUnknown;  // accepted, as are all temperatures
  Temperature default_write_temperature = Temperature::kUnknown;  // accepted
  uint32_t memtable_op_scan_flush_trigger = 0;       // accepted: iterators remember gaps instead
  uint32_t memtable_avg_op_scan_flush_trigger = 0;   // accepted
  uint32_t min_tombstones_for_range_conversion = 0;  // accepted: iterators remember gaps instead
  uint32_t memtable_max_range_deletions = 0;         // accepted: their number does not slow reads
  bool memtable_batch_lookup_optimization = false;   // accepted
  bool memtable_verify_per_key_checksum_on_seek = false;  // accepted
  bool paranoid_memory_checks = false;                    // accepted
  uint8_t block_protection_bytes_per_key = 0;             // accepted
  uint32_t uncache_aggressiveness = 0;                    // accepted
  // Accepted: comparators with timestamps are refused.
  bool persist_user_defined_timestamps = true;
  bool enable_blob_direct_write = false;      // refused
  uint32_t blob_direct_write_partitions = 1;  // accepted
};

// The part of a damaged or incomplete log that is replayed at open.
enum class WALRecoveryMode : char {
  // All of it, except an incomplete record at the end of the last log. Other damage fails the
  // open.
  kTolerateCorruptedTailRecords = 0x00,
  // All of it. Any damage fails the open.
  kAbsoluteConsistency = 0x01,
  // Everything up to the first damage: a state that the database once had.
  kPointInTimeRecovery = 0x02,
  // Every record that can be read. The result may be a state that the database never had.
  kSkipAnyCorruptedRecords = 0x03,
};

// The value of db_host_id that stands for the name of the machine.
inline constexpr const char* kHostnameForDbHostId = "__hostname__";

struct ASHLAR_API DBOptions {
  DBOptions() = default;
  explicit DBOptions(const Options& options);

  // Presets: each sets a handful of the members below and returns this.
  DBOptions* OptimizeForSmallDb(std::shared_ptr<Cache>* cache = nullptr);
  DBOptions* IncreaseParallelism(int total_threads = 16);
  // As ColumnFamilyOptions::OldDefaults.
  DBOptions* OldDefaults(int rocksdb_major_version = 4, int rocksdb_minor_version = 6);

  // As ColumnFamilyOptions::Dump.
  void Dump(Logger* log) const;

  // ---- Opening.
  bool create_if_missing = false;
  bool create_missing_column_families = false;
  bool error_if_exists = false;
  // Whether damage is an error if the open could ignore it.
  bool paranoid_checks = true;  // accepted: always on
  // Allows missing tables, a missing CURRENT, and a MANIFEST that lacks its end. Each column family
  // is opened in its newest state whose tables all exist. If a family goes back to an older state,
  // no log is replayed. Files that are no longer used are moved to lost/. Corruption: a family has
  // no such state (see ashlar/repair.h). A read-only open requires CURRENT.
  bool best_efforts_recovery = false;
  // Whether a failed write of the OPTIONS file fails the call that caused it.
  bool fail_if_options_file_error = false;
  bool skip_checking_sst_file_sizes_on_db_open = false;  // accepted: sizes are always checked
  bool skip_stats_update_on_db_open = false;             // accepted: open reads no tables for it
  // Reserves the last level of every family for files that are ingested with ingest_behind.
  // Compactions neither read nor write it, and deletions are kept for ever. Applies from the first
  // write on; files already on the last level stay there. No effect with FIFO or with one level.
  bool allow_ingest_behind = false;
  bool flush_verify_memtable_count = true;  // accepted: always on
  // Records the length of each log that was synced and closed in the MANIFEST, so that RocksDB
  // verifies it. Ashlar verifies the lengths of logs in either case. RocksDB itself needs the
  // option to open such a database read-only.
  bool track_and_verify_wals_in_manifest = false;
  bool verify_sst_unique_id_in_manifest = true;  // accepted
  bool enforce_single_del_contracts = true;      // accepted
  bool write_dbid_to_manifest = true;            // accepted: always written
  // Written into tables, except for the default, because the machine's name is not looked up.
  std::string db_host_id = kHostnameForDbHostId;

  // ---- The environment.
  Env* env = Env::Default();
  // Limits reads and writes of flushes and compactions, according to its mode. Null: no limit.
  std::shared_ptr<RateLimiter> rate_limiter;
  std::shared_ptr<Statistics> statistics;                 // null: nothing is counted
  std::vector<std::shared_ptr<EventListener>> listeners;  // none is null
  // Limits the space of tables and the pace of deletions. Null: neither is limited.
  std::shared_ptr<SstFileManager> sst_file_manager;
  // Makes checksums of complete table files (ashlar/file_checksum.h). Null: they have none.
  std::shared_ptr<FileChecksumGenFactory> file_checksum_gen_factory;
  std::shared_ptr<Cache> row_cache;  // refused: cached blocks lead straight to their entries
  // Limits the memory of the memtables of several databases together. Null: only
  // db_write_buffer_size limits them. If both are set, both limits hold.
  std::shared_ptr<WriteBufferManager> write_buffer_manager;
  CacheTier lowest_used_cache_tier = CacheTier::kNonVolatileBlockTier;  // accepted

  // ---- The LOG file.
  std::shared_ptr<Logger> info_log;  // null: a file LOG in the database's directory (or db_log_dir)
  InfoLogLevel info_log_level = INFO_LEVEL;  // of lines after those about the open and its options
  std::string db_log_dir;
  size_t max_log_file_size = 0;      // a larger LOG is rolled; 0: never
  size_t log_file_time_to_roll = 0;  // seconds after which LOG is rolled; 0: never
  size_t keep_log_file_num = 1000;
  bool allow_data_in_errors = false;  // accepted: key and value bytes never appear

  // ---- Files.
  // Number of tables kept open. -1: all, up to three quarters of the process's limit of open files.
  int max_open_files = -1;
  int max_file_opening_threads = 16;  // accepted
  int table_cache_numshardbits = 6;   // accepted
  std::vector<DbPath> db_paths;       // refused
  bool use_fsync = false;             // accepted: Sync makes data and size durable either way
  bool allow_fallocate = true;        // reserve space for logs ahead of their records
  bool allow_mmap_reads = false;      // read tables through a mapping; not with use_direct_reads
  // Write tables and the log through a mapping; not with direct writes. A disk fault may then end
  // the process (docs/reliability.md).
  bool allow_mmap_writes = false;
  // Reads of tables bypass the page cache. Refused at open if the file system cannot do that.
  bool use_direct_reads = false;
  bool use_direct_io_for_flush_and_compaction = false;  // the same for writes of tables
  bool is_fd_close_on_exec = true;                      // accepted: always on
  bool advise_random_on_open = true;
  enum AccessHint { NONE, NORMAL, SEQUENTIAL, WILLNEED };
  AccessHint access_hint_on_compaction_start = NORMAL;  // accepted
  size_t random_access_max_buffer_size = 1024 * 1024;   // accepted
  size_t writable_file_max_buffer_size = 1024 * 1024;   // accepted
  uint64_t bytes_per_sync = 0;  // start write-back of tables every so many bytes; 0: every 4 MiB
  uint64_t wal_bytes_per_sync = 0;     // the same for the log; 0: left to the operating system
  bool strict_bytes_per_sync = false;  // accepted
  size_t compaction_readahead_size = 2 * 1024 * 1024;
  size_t log_readahead_size = 0;  // accepted
  // The time after which a failed deletion is retried.
  uint64_t delete_obsolete_files_period_micros = 6ULL * 60 * 60 * 1000000;
  uint64_t max_manifest_file_size = 1024 * 1024 * 1024;  // a larger MANIFEST is replaced
  size_t manifest_preallocation_size = 4 * 1024 * 1024;  // accepted
  bool avoid_unnecessary_blocking_io = false;            // accepted

  // ---- The log.
  std::string wal_dir;  // one for each database; empty: the database's directory
  // Bytes of logs above which the column families with data in the oldest log are flushed. 0: four
  // times the write buffers of all families (write_buffer_size * max_write_buffer_number).
  uint64_t max_total_wal_size = 0;
  WALRecoveryMode wal_recovery_mode = WALRecoveryMode::kPointInTimeRecovery;
  bool manual_wal_flush = false;  // writes without sync may stay in the process until FlushWAL
  // kZSTD: compresses each record of a log, up to 1 GiB per record. Other codecs have no effect.
  CompressionType wal_compression = kNoCompression;
  uint64_t WAL_ttl_seconds = 0;    // how long old logs stay in archive/
  uint64_t WAL_size_limit_MB = 0;  // MiB of old logs in archive/; both 0: there is no archive
  // The number of obsolete logs that are kept to be recycled as new logs. No effect with a limit
  // for archive/, or with the recovery modes kTolerateCorruptedTailRecords and
  // kAbsoluteConsistency.
  size_t recycle_log_file_num = 0;
  // Filters the batches that an open reads from the logs. Not owned; must outlive the database.
  WalFilter* wal_filter = nullptr;
  // Replayed writes stay in their logs and in memtables, unless a memtable becomes full.
  bool avoid_flush_during_recovery = false;
  bool avoid_flush_during_shutdown = false;

  // ---- Background work.
  int max_background_jobs = 2;
  int max_background_compactions = -1;  // -1: from max_background_jobs
  int max_background_flushes = -1;
  uint32_t max_subcompactions = 1;  // threads that share one compaction
  // Accepted. After running out of space, a database with an sst_file_manager resumes by itself,
  // with any number of attempts. After another error, call DB::Resume.
  int max_bgerror_resume_count = INT_MAX;
  uint64_t bgerror_resume_retry_interval = 1000000;  // accepted
  // Bytes per second that delayed writers share. 0: the rate limiter's rate, or 16 MiB without one.
  uint64_t delayed_write_rate = 0;

  // ---- Writing. Bytes that the active memtables of all families may take together. Above it, the
  // largest is flushed. 0: only their own limits apply.
  size_t db_write_buffer_size = 0;
  uint64_t max_write_batch_group_size_bytes = 1 << 20;
  // Accepted, as are the six below. There is one commit pipeline.
  bool enable_pipelined_write = false;
  bool allow_concurrent_memtable_write = true;
  bool enable_write_thread_adaptive_yield = true;
  uint64_t write_thread_max_yield_usec = 100;
  uint64_t write_thread_slow_yield_usec = 3;
  bool use_adaptive_mutex = false;
  bool dump_malloc_stats = false;
  bool enable_thread_tracking = false;  // Env::GetThreadList reports flushes and compactions
  bool unordered_write = false;         // refused
  bool two_write_queues = false;        // refused
  bool allow_2pc = false;               // refused
  bool atomic_flush = false;            // refused

  // ---- Statistics in the LOG.
  unsigned int stats_dump_period_sec = 600;        // at the end of a flush or compaction; 0: never
  unsigned int stats_persist_period_sec = 600;     // accepted
  bool persist_stats_to_disk = false;              // refused
  size_t stats_history_buffer_size = 1024 * 1024;  // accepted

  // ---- Options of releases after 7.8. Not written to OPTIONS files, which have that release's
  // names.

  // Iterators without prefix_same_as_start and auto_prefix_mode are always in total order.
  bool prefix_seek_opt_in_only = false;
  // Accepted: the time of compactions by age, "HH:mm-HH:mm" in UTC. Empty: at any time.
  std::string daily_offpeak_time_utc;
  // Accepted: the kinds of files whose checksums are passed to the file system.
  FileTypeSet checksum_handoff_file_types;
  // Accepted: the compaction styles that pass lifetime hints to the file system.
  CompactionStyleSet calculate_sst_write_lifetime_hint_set = {kCompactionStyleLevel};
  bool compaction_verify_record_count = true;  // accepted
  bool track_and_verify_wals = false;          // accepted: each log names the log before it, always
  bool write_identity_file = true;             // accepted: IDENTITY is always written
  bool open_files_async = false;               // accepted
  bool fast_sst_open = false;                  // accepted
  bool optimize_manifest_for_recovery = false;    // accepted
  bool reuse_manifest_on_open = false;            // accepted
  bool verify_manifest_content_on_close = false;  // accepted
  int max_manifest_space_amp_pct = 500;           // accepted: max_manifest_file_size alone decides
  bool use_direct_io_for_compaction_reads = false;  // accepted: use_direct_reads is for all reads
  int read_io_executor_threads = 1;                 // accepted
  bool async_wal_precreate = false;                 // accepted
  bool background_close_inactive_wals = false;      // accepted
  bool enforce_write_buffer_manager_during_recovery = true;  // accepted
  // The longest time between two checks of the ages of tables in an idle database. There are at
  // least five checks within the shortest age that is set. 0: one check a second.
  uint64_t max_compaction_trigger_wakeup_seconds = 43200;
  // Accepted, with the two below: there are no followers.
  uint64_t follower_refresh_catchup_period_ms = 10000;
  uint64_t follower_catchup_retry_count = 10;
  uint64_t follower_catchup_retry_wait_ms = 100;
  Temperature metadata_write_temperature = Temperature::kUnknown;  // accepted
  Temperature wal_write_temperature = Temperature::kUnknown;       // accepted
};

// Both together, for a database with one column family.
struct ASHLAR_API Options : public DBOptions, public ColumnFamilyOptions {
  Options() = default;
  Options(const DBOptions& db_options, const ColumnFamilyOptions& column_family_options)
      : DBOptions(db_options), ColumnFamilyOptions(column_family_options) {}

  // For loading many keys before they are read. Turns off automatic compactions and slowdowns. Call
  // CompactRange afterwards.
  Options* PrepareForBulkLoad();
  Options* OptimizeForSmallDb();
  // Sets force_consistency_checks to false, which has no effect: the checks stay on.
  Options* DisableExtraChecks();
  Options* OldDefaults(int rocksdb_major_version = 4, int rocksdb_minor_version = 6);

  // Dump writes both parts, and DumpCFOptions only the options of the column family.
  void Dump(Logger* log) const;
  void DumpCFOptions(Logger* log) const;
};

// Where a read may look.
enum ReadTier {
  kReadAllTier = 0x0,
  kBlockCacheTier = 0x1,  // memory only; Incomplete when a file would have to be read
  // Shows the state that a crash of the process would leave. If a write with disableWAL was made
  // since the open, memtables are not read. Iterators: NotSupported.
  kPersistedTier = 0x2,
  kMemtableTier = 0x3,  // iterators: the memtables alone; as kReadAllTier in other reads
};

struct ReadOptions {
  // The state to read; null: the newest. Must be of this DB and not yet released.
  const Snapshot* snapshot = nullptr;
  // Bounds of an iterator's keys: at or above lower, and below upper. Null: none. The slices and
  // their bytes must outlive the iterator.
  const Slice* iterate_lower_bound = nullptr;
  const Slice* iterate_upper_bound = nullptr;
  ReadTier read_tier = kReadAllTier;
  // Check the checksum of every block read from a file. A cached block was checked when it was
  // read.
  bool verify_checksums = true;
  // If Get or MultiGet combines more merge operands than this, it returns Ok with the subcode
  // kMergeOperandThresholdExceeded. Empty: off.
  std::optional<size_t> merge_operand_count_threshold;
  // Whether blocks that are read stay in the block cache. Turn it off for scans of much data.
  bool fill_cache = true;
  // Bytes that an iterator reads ahead from the start. 0: it adapts to the scan.
  size_t readahead_size = 0;
  // Entries that an iterator may step over in one move before it becomes Incomplete. 0: any number.
  // Entries hidden by range deletions count, too.
  uint64_t max_skippable_internal_keys = 0;
  bool pin_data = false;  // accepted: pin single values with Iterator::PinValue
  // MultiGet stops with Aborted once it has returned this many bytes.
  uint64_t value_size_soft_limit = std::numeric_limits<uint64_t>::max();
  // Accepted, both: reads have no deadline.
  std::chrono::microseconds deadline = std::chrono::microseconds::zero();
  std::chrono::microseconds io_timeout = std::chrono::microseconds::zero();
  Env::IOPriority rate_limiter_priority = Env::IO_TOTAL;  // accepted
  bool ignore_range_deletions = false;  // keys deleted by range are found, if they are still stored
  // An iterator that follows the writes. A seek, and a Next at the end, refresh it to the newest
  // state. So does a Next once memtables or tables have been replaced, at the latest after a block.
  // Other moves use the state of the last refresh, whose memory is held until the next one. Between
  // seeks keys ascend, so a new key before the current one appears only after the next seek. Not
  // with a snapshot (InvalidArgument). SeekToLast, SeekForPrev and Prev make the iterator invalid
  // with status NotSupported.
  bool tailing = false;
  // For iterators of a column family with a prefix_extractor. By default, Seek and SeekForPrev of a
  // key with a prefix search for keys with that prefix, and find exactly these. Keys that the
  // iterator returns after them are in order but otherwise unspecified. Tables without the prefix
  // are not read. Seeks of keys without a prefix, SeekToFirst and SeekToLast search all keys.
  bool total_order_seek = false;  // always search all keys, without filters
  // Return the same keys as total_order_seek, but use filters if iterate_upper_bound proves that no
  // key is missed.
  bool auto_prefix_mode = false;
  // End outside the prefix of the seek key, or of the key that SeekToFirst or SeekToLast finds.
  bool prefix_same_as_start = false;
  bool async_io = false;                              // accepted
  bool optimize_multiget_for_io = true;               // accepted
  bool adaptive_readahead = false;                    // accepted
  bool auto_readahead_size = true;                    // accepted
  bool background_purge_on_iterator_cleanup = false;  // accepted
  // Iterators hide the entries of a table for which this returns false, but not their older
  // versions in other tables. The table's range deletions still apply. May be called more than once
  // for a table, in the thread that uses the iterator. Must not throw. Empty: no table is hidden.
  std::function<bool(const TableProperties&)> table_filter;
  bool allow_unprepared_value = false;  // accepted: values are always prepared
  // With a snapshot: a move of the iterator releases replaced memtables and tables, and continues
  // at its key in the new ones. It shows the same entries, except those that compaction filters,
  // FIFO compaction or DeleteFilesInRanges removed. The snapshot must outlive it or its Refresh.
  bool auto_refresh_iterator_with_snapshot = false;
  Env::IOActivity io_activity = Env::IOActivity::kUnknown;  // accepted
  // Accepted: a name of the request, for the program's own file system.
  const std::string* request_id = nullptr;

  ReadOptions() = default;
  ReadOptions(bool verify_checksums_in, bool fill_cache_in)
      : verify_checksums(verify_checksums_in), fill_cache(fill_cache_in) {}
};

struct WriteOptions {
  // Return only when the write is durable. If off, a crash of the process loses nothing, but a
  // crash of the machine may lose the latest writes.
  bool sync = false;
  // Do not log: unflushed writes are lost with the process. InvalidArgument together with sync.
  bool disableWAL = false;
  // Skip records of column families that never existed or were dropped, instead of failing.
  bool ignore_missing_column_families = false;
  // Fail with Incomplete instead of waiting when writers are slowed down or stopped.
  bool no_slowdown = false;
  // Let other writers go first while compaction has a backlog.
  bool low_pri = false;
  bool memtable_insert_hint_per_batch = false;              // accepted
  Env::IOPriority rate_limiter_priority = Env::IO_TOTAL;    // accepted
  size_t protection_bytes_per_key = 0;                      // accepted
  Env::IOActivity io_activity = Env::IOActivity::kUnknown;  // accepted
};

struct FlushOptions {
  // Return when the data are in tables. If false, return when the flush is under way.
  bool wait = true;
  // Flush at once even if that stops writers for a while. If false, wait until it would not.
  bool allow_write_stall = false;
  bool force_atomic_flush = false;  // refused
  // With wait: return after the listeners have returned from OnFlushCompleted for everything that
  // was written before the call. If false, they may still run. Do not set it in a call from a
  // listener, which would wait for itself.
  bool listener_wait = false;
};

// Of DB::FlushWAL.
struct FlushWALOptions {
  bool sync = false;                                      // makes the log durable, too
  Env::IOPriority rate_limiter_priority = Env::IO_TOTAL;  // accepted
};

// Sets *logger to the logger for an open with these options: info_log or, if that is null, a new
// LOG in db_log_dir or in the database's directory, which is created. Set it as info_log before the
// open, which renames the file otherwise.
ASHLAR_API Status CreateLoggerFromOptions(const std::string& dbname, const DBOptions& options,
                                          std::shared_ptr<Logger>* logger);

// Of CompactFiles.
struct CompactionOptions {
  // kDisableCompressionOption: the codec of the output level.
  CompressionType compression = kDisableCompressionOption;
  // Output files are cut at about this size. The default: one file.
  uint64_t output_file_size_limit = std::numeric_limits<uint64_t>::max();
  uint32_t max_subcompactions = 0;  // 0: as DBOptions say
  // Checked repeatedly. Once it is true, the call ends with Incomplete.
  std::atomic<bool>* canceled = nullptr;
  // Moves files that overlap nothing to the output level instead of rewriting them.
  bool allow_trivial_move = false;
  Temperature output_temperature_override = Temperature::kUnknown;  // accepted
};

enum class BlobGarbageCollectionPolicy { kForce, kDisable, kUseDefault };

enum class BottommostLevelCompaction {
  kSkip,                    // leave the last level alone
  kIfHaveCompactionFilter,  // the default: as kForceOptimized if there is a compaction filter,
                            // otherwise as kSkip
  kForce,                   // rewrite it too
  kForceOptimized,          // rewrite it, except files that this call has just written
};

struct CompactRangeOptions {
  // Waits until no other compaction of this column family runs. No other one, automatic or manual,
  // starts until this one has ended.
  bool exclusive_manual_compaction = false;
  // Afterwards moves the files of the level that the compaction ended at to target_level, without
  // reading them. -1: the smallest level that can hold them, below the next one that has files.
  // Implies exclusive_manual_compaction. NotSupported: the target level or a level in between has
  // files, the files would leave level 0, or the style is FIFO. Aborted: more than one file would
  // move to level 0. InvalidArgument: there is no such level.
  bool change_level = false;
  int target_level = -1;
  uint32_t target_path_id = 0;  // other values are refused
  BottommostLevelCompaction bottommost_level_compaction =
      BottommostLevelCompaction::kIfHaveCompactionFilter;
  // Start at once even if the flush before it stops writers for a while.
  bool allow_write_stall = false;
  uint32_t max_subcompactions = 0;  // 0: as DBOptions say
  // Checked repeatedly. Once it is true, the call ends with Incomplete.
  std::atomic<bool>* canceled = nullptr;
  // Accepted, both: there are no blob files.
  BlobGarbageCollectionPolicy blob_garbage_collection_policy =
      BlobGarbageCollectionPolicy::kUseDefault;
  double blob_garbage_collection_age_cutoff = -1;
};

struct SizeApproximationOptions {
  bool include_memtables = false;
  bool include_files = true;
  bool include_blob_files = false;        // there are none; if it alone is set, sizes are 0
  double files_size_error_margin = -1.0;  // accepted: always as exact as possible
};

// For DB::IngestExternalFile.
struct IngestExternalFileOptions {
  // The database takes a hard link to each file instead of a copy, and removes the file's own name
  // after success. InvalidArgument: the file is a table in the database's own directory.
  bool move_files = false;
  // Like move_files, but the file keeps its name too, so nothing may change it. Not together with
  // move_files.
  bool link_files = false;
  // Copies a file if it cannot be linked.
  bool failed_move_fall_back_to_copy = true;
  // If false, a snapshot that is older than the ingestion may see new entries at keys without other
  // data.
  bool snapshot_consistency = true;
  // If false, the call returns InvalidArgument if an entry would need a sequence number because its
  // key has other data or a snapshot is held. A snapshot that is taken during the call may then see
  // the new entries.
  bool allow_global_seqno = true;
  // If false, the call returns InvalidArgument if a memtable would have to be flushed.
  bool allow_blocking_flush = true;
  // The entries go below all others, to the last level, with sequence number 0. Existing versions
  // of their keys win, and snapshots see them. Requires allow_ingest_behind. No file of the last
  // level may overlap the file.
  bool ingest_behind = false;
  // Also writes the sequence number of a file into it, for RocksDB before 5.16. Such files are
  // copied, never linked, and each gets a number even if it needs none.
  bool write_global_seqno = false;
  // Reads every block of each file first, and checks it.
  bool verify_checksums_before_ingest = false;
  size_t verify_checksums_readahead_size = 0;  // accepted
  // Compares IngestExternalFileArg::files_checksums with the files. If false, they are recorded as
  // they are passed.
  bool verify_file_checksum = true;
  // TryAgain if a file does not fit into the last level.
  bool fail_if_not_bottommost_level = false;
  // Also accepts tables of databases. Their entries keep their sequence numbers. InvalidArgument:
  // other data are at their keys or, with snapshot_consistency, a held snapshot would see them.
  // Files of one call may overlap if later files have the newer sequence numbers.
  bool allow_db_generated_files = false;
  bool fill_cache = true;                             // accepted: checks fill no cache
  bool prefetch_lmax_index_and_filter_blocks = true;  // accepted: tables are opened by reads
  int file_opening_threads = 1;                       // accepted
};

// For DB::CreateColumnFamilyWithImport.
struct ImportColumnFamilyOptions {
  // The database takes a hard link to each file (or a copy), and removes the file's own name after
  // success. InvalidArgument: the file is a table in the database's own directory.
  bool move_files = false;
};

// For DB::GetLiveFilesStorageInfo.
struct LiveFilesStorageInfoOptions {
  // Whether to return the checksums that the MANIFEST records, too.
  bool include_checksum_info = false;
  // Flushes first if the logs have at least this many bytes. 0: always. The largest number: never.
  // Then writes with disableWAL that are in no table are in no file.
  uint64_t wal_size_for_flush = 0;
  // Flushes all families at once. NotSupported if the call has to flush.
  bool atomic_flush = false;
};

struct WaitForCompactOptions {
  // Return Aborted while background work is paused, instead of waiting for it to continue.
  bool abort_on_pause = false;
  bool flush = false;           // flush every column family first
  bool wait_for_purge = false;  // accepted: obsolete files are deleted by the job they end with
  bool close_db = false;        // Close afterwards
  // After this time the call returns TimedOut (below 0: at once). 0: never.
  std::chrono::microseconds timeout = std::chrono::microseconds::zero();
};

}  // namespace ashlar
