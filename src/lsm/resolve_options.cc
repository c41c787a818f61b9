#include "lsm/resolve_options.h"

#include <algorithm>
#include <climits>

#include "ashlar/filter_policy.h"
#include "ashlar/rate_limiter.h"
#include "ashlar/table.h"
#include "base/assert.h"
#include "config/cache_usage.h"
#include "config/memtable_factory.h"
#include "config/validate.h"
#include "platform/file.h"
#include "table/block/block_format.h"
#include "table/plain/plain_format.h"

namespace ashlar {

namespace {
constexpr size_t kDefaultBlockCacheBytes = size_t{32} << 20;
constexpr uint64_t kDefaultDelayedWriteRate = uint64_t{16} << 20;
// A partition of an index or a filter may exceed its size by what one data block adds to it.
constexpr uint64_t kPartitionBytesMax = kBlockBytesMax / 4;

// More tables than level 0 ever has, and small enough to be doubled.
constexpr int kNever = 1 << 28;

// A tree of fewer entries would be larger than the list, and not faster.
constexpr uint32_t kShortListEntries = 16;
constexpr double kMemTableBloomShareMax = 0.25;

const PlainTableOptions* PlainTableOptionsOf(const ColumnFamilyOptions& options) {
  const TableFactory* const factory = options.table_factory.get();
  return factory == nullptr ? nullptr : factory->GetOptions<PlainTableOptions>();
}
}  // namespace

const BlockBasedTableOptions* TableOptionsOf(const ColumnFamilyOptions& options) {
  const TableFactory* const factory = options.table_factory.get();
  return factory == nullptr ? nullptr : factory->GetOptions<BlockBasedTableOptions>();
}

void ResolveOutput(const DBOptions& db_options, const ColumnFamilyOptions& options,
                   CompactionOutputArgs* output) {
  output->file_options.use_direct_io = db_options.use_direct_io_for_flush_and_compaction;
  output->file_options.use_mmap_writes = db_options.allow_mmap_writes;
  output->file_options.preallocate_bytes = 0;
  output->checksums = db_options.file_checksum_gen_factory.get();
  if (WritesPlainTables(options)) output->plain = ResolvePlainTableConfig(options);
  TableWriteArgs& table = output->table;
  table.collector_factories = options.table_properties_collector_factories;
  table.num_levels = options.num_levels;
  table.config = ResolveTableConfig(options);
  table.prefix_extractor = options.prefix_extractor;
  table.compression_parameters = ResolveCompressionParameters(options, false);
  table.dictionary = ResolveDictionary(options, false);
  table.reads = ResolveTableReads(db_options, options);
}

bool ReservesLastLevel(const ColumnFamilyOptions& options, const DBOptions& db_options) {
  return (options.cf_allow_ingest_behind || db_options.allow_ingest_behind) &&
         options.num_levels > 1 && options.compaction_style != kCompactionStyleFIFO;
}

void FillDefaults(ColumnFamilyOptions* options) {
  if (options->table_factory == nullptr) options->table_factory.reset(NewBlockBasedTableFactory());
  options->max_write_buffer_number = std::max(options->max_write_buffer_number, 2);
  options->num_levels = std::max(options->num_levels, 1);
  // A larger buffer is useless, and the filter of every memtable takes a share of this size.
  options->write_buffer_size =
      std::clamp<size_t>(options->write_buffer_size, size_t{64} << 10, size_t{64} << 30);
  constexpr uint64_t kTablesOfACompaction = 25;
  if (options->max_compaction_bytes == 0) {
    options->max_compaction_bytes =
        std::min(options->target_file_size_base, UINT64_MAX / kTablesOfACompaction) *
        kTablesOfACompaction;
  }
}

namespace {

constexpr uint64_t kDefaultAge = 0xfffffffffffffffe;  // of both options
constexpr uint64_t kThirtyDays = uint64_t{30} * 24 * 60 * 60;

bool HasFilter(const ColumnFamilyOptions& options) {
  return options.compaction_filter != nullptr || options.compaction_filter_factory != nullptr;
}

// The smaller of the limits that are set, or 0 if neither is (0: not set).
uint64_t SmallerOn(uint64_t a, uint64_t b) {
  return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b);
}

// The ages of files in seconds. 0 turns one off.
struct FileAges {
  uint64_t ttl = 0;
  uint64_t periodic = 0;
};

// FIFO deletes tables by their age, so it keeps each for the longer of the times for which RocksDB
// 7.8 and 11 would keep it. A period shortens the ttl in 7.8 and has no effect in 11. With the
// default ttl, the age is the period in 7.8 and 30 days in 11.
uint64_t ResolveFifoAge(uint64_t ttl, uint64_t period, uint64_t default_age) {
  if (ttl != kDefaultAge) return ttl;
  if (period == kDefaultAge) return default_age;
  return period == 0 || default_age == 0 ? 0 : std::max(period, default_age);
}

// As in RocksDB, the default ttl is 30 days, and so is the default period if there is a filter.
// Universal compacts complete runs, so it has one age, which is the smaller of the two.
FileAges ResolveAges(const ColumnFamilyOptions& options) {
  const uint64_t default_age = TableOptionsOf(options) != nullptr ? kThirtyDays : 0;
  FileAges ages{.ttl = options.ttl, .periodic = options.periodic_compaction_seconds};
  if (options.compaction_style == kCompactionStyleFIFO)
    return {.ttl = ResolveFifoAge(ages.ttl, ages.periodic, default_age), .periodic = 0};
  if (ages.ttl == kDefaultAge) ages.ttl = default_age;
  if (ages.periodic == kDefaultAge) ages.periodic = HasFilter(options) ? default_age : 0;
  if (options.compaction_style == kCompactionStyleUniversal)
    return {.ttl = 0, .periodic = SmallerOn(ages.ttl, ages.periodic)};
  return ages;
}

// A negative trigger never fires. Any other is at least as large as the one that relieves it.
void ResolveLevel0Triggers(const ColumnFamilyOptions& options, LeveledConfig* config) {
  config->level0_file_num_compaction_trigger = options.level0_file_num_compaction_trigger;
  config->level0_slowdown_writes_trigger = options.level0_slowdown_writes_trigger;
  config->level0_stop_writes_trigger = options.level0_stop_writes_trigger;
  int least = 1;
  for (int* const trigger :
       {&config->level0_file_num_compaction_trigger, &config->level0_slowdown_writes_trigger,
        &config->level0_stop_writes_trigger}) {
    if (*trigger < 0) {
      *trigger = kNever;
    } else {
      *trigger = least = std::max(*trigger, least);
    }
  }
}

LeveledConfig ResolveCommonConfig(const ColumnFamilyOptions& options, const DBOptions& db_options,
                                  uint64_t default_delayed_write_rate) {
  ASHLAR_ASSERT(options.num_levels >= 1 && options.max_write_buffer_number >= 2);  // FillDefaults
  LeveledConfig config;
  config.num_levels = static_cast<Level>(options.num_levels);
  if (ReservesLastLevel(options, db_options)) --config.num_levels;
  config.disable_auto_compactions =
      options.disable_auto_compactions || options.compaction_style == kCompactionStyleNone;
  ResolveLevel0Triggers(options, &config);
  config.max_bytes_for_level_base = options.max_bytes_for_level_base;
  config.max_bytes_for_level_multiplier = options.max_bytes_for_level_multiplier;
  config.max_bytes_for_level_multiplier_additional =
      options.max_bytes_for_level_multiplier_additional;
  config.level_compaction_dynamic_level_bytes = options.level_compaction_dynamic_level_bytes;
  config.target_file_size_base = options.target_file_size_base;
  config.target_file_size_multiplier = options.target_file_size_multiplier;
  config.max_compaction_bytes = options.max_compaction_bytes;
  if (WritesPlainTables(options)) config.level0_file_bytes_max = kPlainOutputBytesMax;
  config.soft_pending_compaction_bytes_limit = options.soft_pending_compaction_bytes_limit;
  config.hard_pending_compaction_bytes_limit = options.hard_pending_compaction_bytes_limit;
  config.delayed_write_rate = db_options.delayed_write_rate != 0 ? db_options.delayed_write_rate
                                                                 : default_delayed_write_rate;
  config.max_write_buffer_number = options.max_write_buffer_number;
  config.min_write_buffer_number_to_merge =
      std::clamp(options.min_write_buffer_number_to_merge, 1, options.max_write_buffer_number - 1);
  config.compaction_pri = options.compaction_pri;
  config.max_subcompactions = std::max<uint32_t>(db_options.max_subcompactions, 1);
  config.has_filter = HasFilter(options);
  const FileAges ages = ResolveAges(options);
  config.ttl_seconds = ages.ttl;
  config.periodic_compaction_seconds = ages.periodic;
  config.compression = options.compression;
  config.compression_per_level = options.compression_per_level;
  config.bottommost_compression = options.bottommost_compression;
  return config;
}

// The maximum number of runs of a universal tree that has nothing to compact. A compaction for the
// number of runs leaves this many, or two in incremental mode, which spares the oldest run. Writers
// that waited for fewer would wait forever.
int IdleRunsMax(const CompactionConfig& config) {
  const int runs_max =
      std::max(config.common.level0_file_num_compaction_trigger, config.universal.runs_max);
  return std::clamp(runs_max, 2, kNever);
}

}  // namespace

uint64_t ResolveDefaultDelayedWriteRate(const DBOptions& db_options) {
  // A rate limiter of the program may have no rate.
  const int64_t limit =
      db_options.rate_limiter != nullptr ? db_options.rate_limiter->GetBytesPerSecond() : 0;
  return limit > 0 ? static_cast<uint64_t>(limit) : kDefaultDelayedWriteRate;
}

CompactionConfig ResolveCompactionConfig(const ColumnFamilyOptions& options,
                                         const DBOptions& db_options,
                                         uint64_t default_delayed_write_rate) {
  CompactionConfig config{
      .style = options.compaction_style,
      .common = ResolveCommonConfig(options, db_options, default_delayed_write_rate)};
  LeveledConfig& common = config.common;
  if (options.compaction_style == kCompactionStyleUniversal) {
    const CompactionOptionsUniversal& from = options.compaction_options_universal;
    config.universal = {
        .size_ratio_percent = from.size_ratio,
        .merge_width_min = from.min_merge_width,
        .merge_width_max = from.max_merge_width,
        .size_amplification_percent_max = from.max_size_amplification_percent,
        .compression_size_percent = from.compression_size_percent,
        .stops_at_similar_size = from.stop_style == kCompactionStopStyleSimilarSize,
        .may_move = from.allow_trivial_move,
        .incremental = from.incremental,
        .runs_max = from.max_read_amp,
        .flushed_bytes = options.write_buffer_size,
    };
    common.level_compaction_dynamic_level_bytes = false;
    common.level0_files_at_rest_max = IdleRunsMax(config);
  }
  if (options.compaction_style == kCompactionStyleFIFO) {
    const CompactionOptionsFIFO& from = options.compaction_options_fifo;
    config.fifo = {
        .table_bytes_max =
            from.max_data_files_size > 0 ? from.max_data_files_size : from.max_table_files_size,
        .ttl_seconds = common.ttl_seconds,
        .may_compact = from.allow_compaction,
        // Four tables of one memtable each are merged, which costs 4/3 of a memtable for each table
        // saved.
        .merged_file_bytes_max = options.write_buffer_size + options.write_buffer_size / 2,
    };
    common.level_compaction_dynamic_level_bytes = false;
    // If there are too many bytes, files are dropped, not merged.
    common.level0_slowdown_writes_trigger = common.level0_stop_writes_trigger = kNever;
    common.level0_files_at_rest_max = kNever;
    if (!config.fifo.may_compact) common.level0_file_num_compaction_trigger = kNever;
  }
  // The number of files triggers no compaction, so writers that waited for one would wait forever.
  if (common.level0_file_num_compaction_trigger >= kNever) common.level0_files_at_rest_max = kNever;
  // A single file has nothing to be merged with.
  if (common.num_levels == 1) {
    common.level0_files_at_rest_max = std::max(common.level0_files_at_rest_max, 1);
  }
  for (int* const trigger :
       {&common.level0_slowdown_writes_trigger, &common.level0_stop_writes_trigger})
    *trigger = std::max(*trigger, common.level0_files_at_rest_max + 1);
  return config;
}

BlockBasedTableConfig ResolveTableConfig(const ColumnFamilyOptions& options) {
  BlockBasedTableConfig config;
  const BlockBasedTableOptions* const options_of_table = TableOptionsOf(options);
  if (options_of_table == nullptr) return config;
  const BlockBasedTableOptions& table = *options_of_table;
  config.block_bytes = static_cast<size_t>(table.block_size);
  config.block_bytes_deviation_percent = std::clamp(table.block_size_deviation, 0, 100);
  config.restart_interval = std::max(table.block_restart_interval, 1);
  config.index_restart_interval = std::max(table.index_block_restart_interval, 1);
  config.format_version = table.format_version;
  config.checksum = static_cast<BlockChecksum>(table.checksum);
  config.index_shortening = static_cast<IndexShortening>(table.index_shortening);
  config.key_delta_encoding = table.use_delta_encoding;
  config.whole_key_filtering = table.whole_key_filtering;
  config.filter_millibits_per_key =
      table.filter_policy != nullptr ? table.filter_policy->MillibitsPerKey() : 0;
  if (table.filter_policy != nullptr && table.filter_policy->BloomBeforeLevel() != INT_MAX)
    config.filter_policy_property = kRibbonPolicyPropertyValue;
  config.filter_kind = ResolveFilterKind(options, kUnknownFilterLevel);
  config.index_kind = static_cast<IndexKind>(table.index_type);
  config.partition_bytes =
      static_cast<size_t>(std::clamp<uint64_t>(table.metadata_block_size, 1, kPartitionBytesMax));
  config.partition_filters = table.partition_filters;
  if (table.data_block_index_type == BlockBasedTableOptions::kDataBlockBinaryAndHash)
    config.hash_buckets_per_entry = 1 / table.data_block_hash_table_util_ratio;
  config.block_align = table.block_align;
  config.enable_index_compression = table.enable_index_compression;
  config.cache_index_and_filter_blocks = table.cache_index_and_filter_blocks;
  config.charge_table_readers =
      IsCharged(table.cache_usage_options, CacheEntryRole::kBlockBasedTableReader);
  config.readahead_bytes_initial =
      std::min(table.initial_auto_readahead_size, table.max_auto_readahead_size);
  config.readahead_bytes_max = table.max_auto_readahead_size;
  return config;
}

FilterKind ResolveFilterKind(const ColumnFamilyOptions& options, int level) {
  const BlockBasedTableOptions* const table = TableOptionsOf(options);
  if (table == nullptr || table->filter_policy == nullptr) return FilterKind::kBloom;
  const bool stays = options.compaction_style == kCompactionStyleFIFO ||
                     options.compaction_style == kCompactionStyleNone;
  if (stays) level = kUnknownFilterLevel;
  return level >= table->filter_policy->BloomBeforeLevel() ? FilterKind::kRibbon
                                                           : FilterKind::kBloom;
}

PlainTableConfig ResolvePlainTableConfig(const ColumnFamilyOptions& options) {
  PlainTableConfig config;
  config.local_bloom = options.bloom_locality > 0;
  const PlainTableOptions* const table = PlainTableOptionsOf(options);
  if (table == nullptr) return config;
  config.user_key_bytes = table->user_key_len;
  config.encoding = static_cast<PlainEncoding>(table->encoding_type);
  config.store_index_in_file = table->store_index_in_file;
  config.bloom_bits_per_key = static_cast<uint32_t>(std::max(table->bloom_bits_per_key, 0));
  config.hash_table_ratio = table->hash_table_ratio;
  config.index_sparseness = table->index_sparseness;
  config.full_scan_mode = table->full_scan_mode;
  return config;
}

uint32_t ResolveUserKeyBytes(const ColumnFamilyOptions& options) {
  const PlainTableConfig config = ResolvePlainTableConfig(options);
  // Prefix encoding stores the length of every key, even if the extractor is removed.
  return config.encoding == PlainEncoding::kPlain ? config.user_key_bytes : 0;
}

bool VerifiesOutput(const ColumnFamilyOptions& options) {
  using enum VerifyOutputFlags;
  const VerifyOutputFlags flags = options.verify_output_flags;
  const bool by_flags =
      (flags & kEnableForLocalCompaction) != kVerifyNone &&
      (flags & (kVerifyBlockChecksum | kVerifyIteration | kVerifyFileChecksum)) != kVerifyNone;
  return options.paranoid_file_checks || by_flags;
}

bool WritesPlainTables(const ColumnFamilyOptions& options) {
  return PlainTableOptionsOf(options) != nullptr;
}

MemTableShape ResolveMemTableShape(const ColumnFamilyOptions& options) {
  MemTableShape shape;
  const bool has_prefixes = options.prefix_extractor != nullptr;
  const MemTableRepFactory* const factory = options.memtable_factory.get();
  if (dynamic_cast<const VectorRepFactory*>(factory) != nullptr) {
    shape.kind = MemTableKind::kLog;
  } else if (const auto* const hash = dynamic_cast<const HashSkipListRepFactory*>(factory);
             hash != nullptr && has_prefixes) {
    shape.kind = MemTableKind::kBuckets;
    shape.bucket_count = hash->parameters().bucket_count;
    shape.list_entries_max = kShortListEntries;
  } else if (const auto* const lists = dynamic_cast<const HashLinkListRepFactory*>(factory);
             lists != nullptr && has_prefixes) {
    shape.kind = MemTableKind::kBuckets;
    shape.bucket_count = lists->parameters().bucket_count;
    shape.list_entries_max = lists->parameters().threshold;
  }
  shape.bloom_whole_keys = options.memtable_whole_key_filtering;
  if ((has_prefixes || shape.bloom_whole_keys) && options.memtable_prefix_bloom_size_ratio > 0) {
    const double share = std::min(options.memtable_prefix_bloom_size_ratio, kMemTableBloomShareMax);
    shape.bloom_bytes = static_cast<size_t>(share * static_cast<double>(options.write_buffer_size));
  }
  return shape;
}

namespace {
const CompressionOptions& ChosenCompressionOptions(const ColumnFamilyOptions& options,
                                                   bool bottommost) {
  return bottommost && options.bottommost_compression_opts.enabled
             ? options.bottommost_compression_opts
             : options.compression_opts;
}
}  // namespace

DictionaryParameters ResolveDictionary(const ColumnFamilyOptions& options, bool bottommost) {
  const CompressionOptions& chosen = ChosenCompressionOptions(options, bottommost);
  return {.bytes_max = chosen.max_dict_bytes,
          .train_bytes_max = chosen.zstd_max_train_bytes,
          .use_trainer = chosen.use_zstd_dict_trainer,
          .buffer_bytes_max = chosen.max_dict_buffer_bytes};
}

CompressionParameters ResolveCompressionParameters(const ColumnFamilyOptions& options,
                                                   bool bottommost) {
  const CompressionOptions& chosen = ChosenCompressionOptions(options, bottommost);
  return CompressionParameters{
      .level = chosen.level, .window_bits = chosen.window_bits, .strategy = chosen.strategy};
}

CompressionType ResolveLevel0Compression(const ColumnFamilyOptions& options) {
  return options.compression_per_level.empty() ? options.compression
                                               : options.compression_per_level.front();
}

CompressionType ResolveFlushCompression(const ColumnFamilyOptions& options) {
  // Only the oldest part of a universal tree is compressed.
  if (options.compaction_style == kCompactionStyleUniversal &&
      options.compaction_options_universal.compression_size_percent >= 0)
    return kNoCompression;
  return ResolveLevel0Compression(options);
}

int ResolveFlushJobs(const DBOptions& options) {
  if (options.max_background_flushes > 0) return options.max_background_flushes;
  return std::max(1, options.max_background_jobs / 4);
}

int ResolveCompactionJobs(const DBOptions& options) {
  if (options.max_background_compactions > 0) return options.max_background_compactions;
  return std::max(1, options.max_background_jobs - ResolveFlushJobs(options));
}

size_t ResolveOpenTablesMax(const DBOptions& options) {
  if (options.max_open_files >= 0) return static_cast<size_t>(options.max_open_files);
  const size_t files = OpenFilesMax();
  return files == SIZE_MAX ? 0 : std::max<size_t>(1, files / 4 * 3);
}

size_t ResolveSpareLogsMax(const DBOptions& options) {
  return WhyLogsAreNotRecycled(options).empty() ? options.recycle_log_file_num : 0;
}

std::shared_ptr<Cache> ResolveBlockCache(ColumnFamilyOptions* options) {
  const BlockBasedTableOptions* const table = TableOptionsOf(*options);
  if (table == nullptr) return nullptr;
  if (table->no_block_cache == (table->block_cache == nullptr)) return table->block_cache;
  // The factory may be shared with other families and databases, so a copy is changed.
  BlockBasedTableOptions resolved = *table;
  resolved.block_cache = table->no_block_cache ? nullptr : NewLRUCache(kDefaultBlockCacheBytes);
  options->table_factory.reset(NewBlockBasedTableFactory(resolved));
  return resolved.block_cache;
}

TableReads ResolveTableReads(const DBOptions& options, const ColumnFamilyOptions& family) {
  if (options.allow_mmap_reads) return TableReads::kMapping;
  const BlockBasedTableOptions* const table = TableOptionsOf(family);
  return table != nullptr && table->no_block_cache ? TableReads::kPageCache
                                                   : TableReads::kBlockCache;
}

}  // namespace ashlar
