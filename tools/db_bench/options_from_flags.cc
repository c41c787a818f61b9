#include "tools/db_bench/options_from_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <string_view>
#include <utility>

#include "ashlar/cache.h"
#include "ashlar/convenience.h"
#include "ashlar/filter_policy.h"
#include "ashlar/merge_operator.h"
#include "ashlar/options_util.h"
#include "ashlar/rate_limiter.h"
#include "ashlar/slice_transform.h"
#include "ashlar/statistics.h"
#include "ashlar/table.h"

namespace ashlar::bench {
namespace {

Status BadFlag(std::string_view name, std::string_view value, std::string_view choices) {
  return Status::InvalidArgument(fmt::format("--{}={}: choose one of {}", name, value, choices));
}

// Adds options by their text, and refuses values that this library cannot create.
Status AddFromText(const std::string& text, ColumnFamilyOptions* options) {
  ConfigOptions config;
  config.ignore_unsupported_options = false;
  return GetColumnFamilyOptionsFromString(config, *options, text, options);
}

Status CompressionByName(const std::string& name, CompressionType* type) {
  constexpr std::array<std::pair<std::string_view, CompressionType>, 6> kNames = {
      {{"none", kNoCompression},
       {"snappy", kSnappyCompression},
       {"zlib", kZlibCompression},
       {"lz4", kLZ4Compression},
       {"lz4hc", kLZ4HCCompression},
       {"zstd", kZSTD}}};
  for (const auto& [known, value] : kNames) {
    if (name != known) continue;
    const std::vector<CompressionType> supported = GetSupportedCompressions();
    if (value != kNoCompression &&
        std::find(supported.begin(), supported.end(), value) == supported.end()) {
      return Status::InvalidArgument(
          fmt::format("--compression_type={}: this build does not have that codec", name));
    }
    *type = value;
    return Status::OK();
  }
  return BadFlag("compression_type", name, "none, snappy, zlib, lz4, lz4hc, zstd");
}

Status MultipliersFromText(std::string_view text, std::vector<int>* multipliers) {
  for (size_t level = 0; !text.empty(); ++level) {
    const std::string_view number = text.substr(0, text.find(','));
    int multiplier = 0;
    const auto [end, code] =
        std::from_chars(number.data(), number.data() + number.size(), multiplier);
    if (code != std::errc() || end != number.data() + number.size()) {
      return Status::InvalidArgument(
          "--max_bytes_for_level_multiplier_additional takes numbers with commas between");
    }
    if (level >= multipliers->size()) multipliers->resize(level + 1, 1);
    (*multipliers)[level] = multiplier;
    text.remove_prefix(std::min(text.size(), number.size() + 1));
  }
  return Status::OK();
}

void SetFiles(const Flags& flags, DBOptions* options) {
  options->allow_mmap_reads = flags.mmap_read;
  options->allow_mmap_writes = flags.mmap_write;
  options->use_direct_reads = flags.use_direct_reads;
  options->use_direct_io_for_flush_and_compaction = flags.use_direct_io_for_flush_and_compaction;
  options->max_open_files = flags.open_files;
  options->max_file_opening_threads = flags.file_opening_threads;
  options->table_cache_numshardbits = flags.table_cache_numshardbits;
  options->compaction_readahead_size = flags.compaction_readahead_size;
  options->writable_file_max_buffer_size = static_cast<size_t>(flags.writable_file_max_buffer_size);
  options->bytes_per_sync = flags.bytes_per_sync;
  options->wal_bytes_per_sync = flags.wal_bytes_per_sync;
  options->delete_obsolete_files_period_micros = flags.delete_obsolete_files_period_micros;
  options->advise_random_on_open = flags.advise_random_on_open;
  options->use_fsync = flags.use_fsync;
  options->wal_dir = flags.wal_dir;
  options->max_total_wal_size = flags.max_total_wal_size;
  options->manual_wal_flush = flags.manual_wal_flush;
  if (flags.rate_limiter_bytes_per_sec > 0) {
    options->rate_limiter.reset(
        NewGenericRateLimiter(static_cast<int64_t>(flags.rate_limiter_bytes_per_sec),
                              flags.rate_limiter_refill_period_us));
  }
}

void SetBackground(const Flags& flags, DBOptions* options) {
  options->max_background_jobs = flags.max_background_jobs;
  options->max_background_compactions = flags.max_background_compactions;
  options->max_background_flushes = flags.max_background_flushes;
  options->max_subcompactions = static_cast<uint32_t>(flags.subcompactions);
  options->delayed_write_rate = flags.delayed_write_rate;
  options->enable_pipelined_write = flags.enable_pipelined_write;
  options->allow_concurrent_memtable_write = flags.allow_concurrent_memtable_write;
  options->unordered_write = flags.unordered_write;
  options->avoid_flush_during_recovery = flags.avoid_flush_during_recovery;
  options->avoid_flush_during_shutdown = flags.avoid_flush_during_shutdown;
  options->stats_dump_period_sec = static_cast<unsigned int>(flags.stats_dump_period_sec);
  options->db_write_buffer_size = static_cast<size_t>(flags.db_write_buffer_size);
}

Status SetMemtables(const Flags& flags, ColumnFamilyOptions* options) {
  options->write_buffer_size = static_cast<size_t>(flags.write_buffer_size);
  options->max_write_buffer_number = flags.max_write_buffer_number;
  options->min_write_buffer_number_to_merge = flags.min_write_buffer_number_to_merge;
  options->max_write_buffer_size_to_maintain = flags.max_write_buffer_size_to_maintain;
  options->arena_block_size = static_cast<size_t>(flags.arena_block_size);
  options->memtable_prefix_bloom_size_ratio = flags.memtable_bloom_size_ratio;
  options->memtable_whole_key_filtering = flags.memtable_whole_key_filtering;
  options->memtable_huge_page_size = flags.memtable_use_huge_page ? size_t{2} << 20 : 0;
  options->bloom_locality = static_cast<uint32_t>(flags.bloom_locality);
  options->inplace_update_support = flags.inplace_update_support;
  options->max_successive_merges = static_cast<size_t>(flags.max_successive_merges);
  if (flags.memtablerep == "skip_list") return Status::OK();

  const bool by_prefix =
      flags.memtablerep == "prefix_hash" || flags.memtablerep == "hash_linkedlist";
  if (!by_prefix && flags.memtablerep != "vector")
    return BadFlag("memtablerep", flags.memtablerep,
                   "skip_list, prefix_hash, hash_linkedlist, vector");
  if (by_prefix && flags.prefix_size == 0)
    return Status::InvalidArgument("--memtablerep=" + flags.memtablerep + " needs --prefix_size");
  const std::string factory = by_prefix
                                  ? fmt::format("{}:{}", flags.memtablerep, flags.hash_bucket_count)
                                  : flags.memtablerep;
  return AddFromText("memtable_factory=" + factory, options);
}

Status SetLevels(const Flags& flags, ColumnFamilyOptions* options) {
  options->num_levels = flags.num_levels;
  options->level0_file_num_compaction_trigger = flags.level0_file_num_compaction_trigger;
  options->level0_slowdown_writes_trigger = flags.level0_slowdown_writes_trigger;
  options->level0_stop_writes_trigger = flags.level0_stop_writes_trigger;
  options->target_file_size_base = static_cast<uint64_t>(flags.target_file_size_base);
  options->target_file_size_multiplier = flags.target_file_size_multiplier;
  options->max_bytes_for_level_base = flags.max_bytes_for_level_base;
  options->max_bytes_for_level_multiplier = flags.max_bytes_for_level_multiplier;
  options->level_compaction_dynamic_level_bytes = flags.level_compaction_dynamic_level_bytes;
  options->max_compaction_bytes = flags.max_compaction_bytes;
  options->soft_pending_compaction_bytes_limit = flags.soft_pending_compaction_bytes_limit;
  options->hard_pending_compaction_bytes_limit = flags.hard_pending_compaction_bytes_limit;
  options->disable_auto_compactions = flags.disable_auto_compactions;
  options->compaction_style = static_cast<CompactionStyle>(flags.compaction_style);
  options->compaction_pri = static_cast<CompactionPri>(flags.compaction_pri);
  options->periodic_compaction_seconds = flags.periodic_compaction_seconds;
  options->ttl = flags.ttl_seconds;
  options->optimize_filters_for_hits = flags.optimize_filters_for_hits;
  options->report_bg_io_stats = flags.report_bg_io_stats;
  return MultipliersFromText(flags.max_bytes_for_level_multiplier_additional,
                             &options->max_bytes_for_level_multiplier_additional);
}

Status SetCompression(const Flags& flags, ColumnFamilyOptions* options) {
  CompressionType compression = kNoCompression;
  Status s = CompressionByName(flags.compression_type, &compression);
  if (!s.ok()) return s;
  options->compression = compression;
  options->compression_opts.level = flags.compression_level;
  options->compression_opts.parallel_threads =
      static_cast<uint32_t>(flags.compression_parallel_threads);
  options->compression_opts.max_dict_bytes =
      static_cast<uint32_t>(flags.compression_max_dict_bytes);
  options->sample_for_compression = static_cast<uint64_t>(flags.sample_for_compression);
  if (flags.min_level_to_compress < 0) return Status::OK();
  for (int level = 0; level < flags.num_levels; ++level) {
    options->compression_per_level.push_back(level < flags.min_level_to_compress ? kNoCompression
                                                                                 : compression);
  }
  return Status::OK();
}

// Null with *none: no cache at all. Null without: the library's own.
Status MakeBlockCache(const Flags& flags, std::shared_ptr<Cache>* cache, bool* none) {
  *none = flags.cache_size == 0;
  if (flags.cache_size <= 0) return Status::OK();
  const auto bytes = static_cast<size_t>(flags.cache_size);
  if (flags.cache_type == "lru_cache") {
    LRUCacheOptions options(bytes, flags.cache_numshardbits, false,
                            flags.cache_high_pri_pool_ratio);
    options.low_pri_pool_ratio = flags.cache_low_pri_pool_ratio;
    *cache = options.MakeSharedCache();
  } else if (flags.cache_type.ends_with("hyper_clock_cache")) {
    *cache = HyperClockCacheOptions(bytes, 0, flags.cache_numshardbits).MakeSharedCache();
  } else {
    return BadFlag("cache_type", flags.cache_type,
                   "lru_cache, hyper_clock_cache, auto_hyper_clock_cache, fixed_hyper_clock_cache");
  }
  return Status::OK();
}

Status SetPlainTable(const Flags& flags, ColumnFamilyOptions* options) {
  if (flags.prefix_size == 0 || !flags.mmap_read)
    return Status::InvalidArgument("--use_plain_table needs --prefix_size and --mmap_read");
  const int bloom_bits = flags.bloom_bits < 0 ? 0 : static_cast<int>(flags.bloom_bits);
  return AddFromText(
      fmt::format(
          "plain_table_factory={{user_key_len={};bloom_bits_per_key={};hash_table_ratio=0.75}}",
          flags.key_size, bloom_bits),
      options);
}

Status SetBlockBasedTable(const Flags& flags, ColumnFamilyOptions* options) {
  if (flags.checksum_type < kNoChecksum || flags.checksum_type > kXXH3) {
    return BadFlag("checksum_type", fmt::format("{}", flags.checksum_type), "0, 1, 2, 3, 4");
  }
  BlockBasedTableOptions table;
  Status s = MakeBlockCache(flags, &table.block_cache, &table.no_block_cache);
  if (!s.ok()) return s;
  table.cache_index_and_filter_blocks = flags.cache_index_and_filter_blocks;
  table.pin_l0_filter_and_index_blocks_in_cache = flags.pin_l0_filter_and_index_blocks_in_cache;
  table.pin_top_level_index_and_filter = flags.pin_top_level_index_and_filter;
  if (flags.use_data_block_hash_index)
    table.data_block_index_type = BlockBasedTableOptions::kDataBlockBinaryAndHash;
  table.data_block_hash_table_util_ratio = flags.data_block_hash_table_util_ratio;
  table.checksum = static_cast<ChecksumType>(flags.checksum_type);
  table.block_size = static_cast<uint64_t>(flags.block_size);
  table.block_restart_interval = flags.block_restart_interval;
  table.index_block_restart_interval = flags.index_block_restart_interval;
  if (flags.bloom_bits > 0) table.filter_policy.reset(NewBloomFilterPolicy(flags.bloom_bits));
  table.whole_key_filtering = flags.whole_key_filtering;
  table.optimize_filters_for_memory = flags.optimize_filters_for_memory;
  table.read_amp_bytes_per_bit = static_cast<uint32_t>(flags.read_amp_bytes_per_bit);
  table.format_version = static_cast<uint32_t>(flags.format_version);
  table.enable_index_compression = flags.enable_index_compression;
  table.block_align = flags.block_align;
  table.initial_auto_readahead_size = static_cast<size_t>(flags.initial_auto_readahead_size);
  table.max_auto_readahead_size = static_cast<size_t>(flags.max_auto_readahead_size);
  table.num_file_reads_for_auto_readahead = flags.num_file_reads_for_auto_readahead;
  options->table_factory.reset(NewBlockBasedTableFactory(table));
  return Status::OK();
}

Status FromFlagsAlone(const Flags& flags, Options* options) {
  SetFiles(flags, options);
  SetBackground(flags, options);
  if (flags.prefix_size > 0)
    options->prefix_extractor.reset(
        NewFixedPrefixTransform(static_cast<size_t>(flags.prefix_size)));
  Status s = SetMemtables(flags, options);
  if (s.ok()) s = SetLevels(flags, options);
  if (s.ok()) s = SetCompression(flags, options);
  if (s.ok())
    s = flags.use_plain_table ? SetPlainTable(flags, options) : SetBlockBasedTable(flags, options);
  if (s.ok() && !flags.merge_operator.empty())
    s = MergeOperators::CreateFromStringId(flags.merge_operator, &options->merge_operator);
  return s;
}

Status FromOptionsFile(const Flags& flags, Options* options) {
  std::shared_ptr<Cache> cache;
  bool no_cache = false;
  Status s = MakeBlockCache(flags, &cache, &no_cache);
  DBOptions db_options;
  std::vector<ColumnFamilyDescriptor> families;
  if (s.ok())
    s = LoadOptionsFromFile(ConfigOptions(), flags.options_file, &db_options, &families,
                            no_cache ? nullptr : &cache);
  if (!s.ok()) return s;
  if (families.empty())
    return Status::InvalidArgument("--options_file=" + flags.options_file +
                                   " names no column family");
  *options = Options(db_options, families.front().options);
  return s;
}

}  // namespace

Status OptionsFromFlags(const Flags& flags, Options* options) {
  Status s =
      flags.options_file.empty() ? FromFlagsAlone(flags, options) : FromOptionsFile(flags, options);
  if (!s.ok()) return s;
  options->create_if_missing = !flags.use_existing_db;
  options->create_missing_column_families = flags.num_column_families > 1;
  if (flags.statistics) {
    options->statistics = CreateDBStatistics();
    options->statistics->set_stats_level(static_cast<StatsLevel>(flags.stats_level));
  }
  return s;
}

ReadOptions ReadOptionsFromFlags(const Flags& flags) {
  ReadOptions options(flags.verify_checksum, /*fill_cache_in=*/true);
  options.total_order_seek = flags.total_order_seek;
  options.prefix_same_as_start = flags.prefix_same_as_start;
  options.auto_prefix_mode = flags.auto_prefix_mode;
  options.readahead_size = static_cast<size_t>(flags.readahead_size);
  options.adaptive_readahead = flags.adaptive_readahead;
  options.async_io = flags.async_io;
  return options;
}

WriteOptions WriteOptionsFromFlags(const Flags& flags) {
  WriteOptions options;
  options.sync = flags.sync;
  options.disableWAL = flags.disable_wal;
  return options;
}

}  // namespace ashlar::bench
