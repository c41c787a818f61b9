#include "tools/db_bench/options_from_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "ashlar/cache.h"
#include "ashlar/convenience.h"
#include "ashlar/file_checksum.h"
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

Status CompressionByName(std::string_view flag, const std::string& name, CompressionType* type) {
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
          fmt::format("--{}={}: this build does not have that codec", flag, name));
    }
    *type = value;
    return Status::OK();
  }
  return BadFlag(flag, name, "none, snappy, zlib, lz4, lz4hc, zstd");
}

// Flags that are options under another name.
constexpr std::pair<std::string_view, std::string_view> kOptionOfFlag[] = {
    {"file_opening_threads", "max_file_opening_threads"},
    {"memtable_bloom_size_ratio", "memtable_prefix_bloom_size_ratio"},
    {"mmap_read", "allow_mmap_reads"},
    {"mmap_write", "allow_mmap_writes"},
    {"open_files", "max_open_files"},
    {"subcompactions", "max_subcompactions"},
    {"ttl_seconds", "ttl"},
};
// Flags with the name of an option but another form of value. They are set below.
constexpr std::string_view kOwnForm[] = {
    "compaction_pri", "compaction_style", "merge_operator", "rate_limiter_bytes_per_sec",
    "statistics",     "wal_compression",  "wal_dir"};

using OptionTexts = std::unordered_map<std::string, std::string>;

// Returns the flags as texts of options, including flags that are not options.
OptionTexts TextsOf(const Flags& flags) {
  OptionTexts texts;
  for (auto& [flag, value] : FlagValues(flags)) {
    if (std::find(std::begin(kOwnForm), std::end(kOwnForm), flag) != std::end(kOwnForm)) continue;
    const auto* const renamed = std::find_if(std::begin(kOptionOfFlag), std::end(kOptionOfFlag),
                                             [&](const auto& row) { return row.first == flag; });
    texts.emplace(renamed != std::end(kOptionOfFlag) ? renamed->second : flag, std::move(value));
  }
  std::string& multipliers = texts["max_bytes_for_level_multiplier_additional"];
  std::replace(multipliers.begin(), multipliers.end(), ',', ':');
  if (multipliers.empty()) texts.erase("max_bytes_for_level_multiplier_additional");
  return texts;
}

// Refuses wrong values, and names that the struct does not have.
ConfigOptions StrictTexts() {
  ConfigOptions config;
  config.ignore_unsupported_options = false;
  config.input_strings_escaped = false;  // a folder may have backslashes
  return config;
}

// Keeps the texts whose names are in `printed`, the text of a struct of options.
Status KeepNamesIn(const std::string& printed, const OptionTexts& texts, OptionTexts* kept) {
  OptionTexts names;
  Status s = StringToMap(printed, &names);
  for (const auto& text : texts)
    if (names.contains(text.first)) kept->insert(text);
  return s;
}

Status SetFromTexts(const OptionTexts& texts, DBOptions* options) {
  std::string printed;
  OptionTexts kept;
  Status s = GetStringFromDBOptions(&printed, *options);
  if (s.ok()) s = KeepNamesIn(printed, texts, &kept);
  return s.ok() ? GetDBOptionsFromMap(StrictTexts(), *options, kept, options) : s;
}

Status SetFromTexts(const OptionTexts& texts, ColumnFamilyOptions* options) {
  std::string printed;
  OptionTexts kept;
  Status s = GetStringFromColumnFamilyOptions(&printed, *options);
  if (s.ok()) s = KeepNamesIn(printed, texts, &kept);
  return s.ok() ? GetColumnFamilyOptionsFromMap(StrictTexts(), *options, kept, options) : s;
}

Status SetFromTexts(const OptionTexts& texts, BlockBasedTableOptions* options) {
  std::string printed;
  OptionTexts fields;
  OptionTexts kept;
  ColumnFamilyOptions family;
  family.table_factory.reset(NewBlockBasedTableFactory(*options));
  Status s = GetStringFromColumnFamilyOptions(&printed, family);
  if (s.ok()) s = StringToMap(printed, &fields);
  if (s.ok()) s = KeepNamesIn(fields["block_based_table_factory"], texts, &kept);
  return s.ok() ? GetBlockBasedTableOptionsFromMap(StrictTexts(), *options, kept, options) : s;
}

void SetRateLimiter(const Flags& flags, DBOptions* options) {
  if (flags.rate_limiter_bytes_per_sec == 0) return;
  options->rate_limiter.reset(NewGenericRateLimiter(
      static_cast<int64_t>(flags.rate_limiter_bytes_per_sec), flags.rate_limiter_refill_period_us,
      /*fairness=*/10,
      flags.rate_limit_bg_reads ? RateLimiter::Mode::kReadsOnly : RateLimiter::Mode::kWritesOnly,
      flags.rate_limiter_auto_tuned, flags.rate_limiter_single_burst_bytes));
}

Status SetMemtables(const Flags& flags, ColumnFamilyOptions* options) {
  options->memtable_huge_page_size = flags.memtable_use_huge_page ? size_t{2} << 20 : 0;
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

Status SetCompression(const Flags& flags, ColumnFamilyOptions* options) {
  CompressionType compression = kNoCompression;
  Status s = CompressionByName("compression_type", flags.compression_type, &compression);
  if (!s.ok()) return s;
  options->compression = compression;
  options->compression_opts.level = flags.compression_level;
  options->compression_opts.parallel_threads =
      static_cast<uint32_t>(flags.compression_parallel_threads);
  options->compression_opts.max_dict_bytes =
      static_cast<uint32_t>(flags.compression_max_dict_bytes);
  options->compression_opts.zstd_max_train_bytes =
      static_cast<uint32_t>(flags.compression_zstd_max_train_bytes);
  options->compression_opts.max_dict_buffer_bytes = flags.compression_max_dict_buffer_bytes;
  options->compression_opts.use_zstd_dict_trainer = flags.compression_use_zstd_dict_trainer;
  if (flags.min_level_to_compress < 0) return Status::OK();
  for (int level = 0; level < flags.num_levels; ++level) {
    options->compression_per_level.push_back(level < flags.min_level_to_compress ? kNoCompression
                                                                                 : compression);
  }
  return Status::OK();
}

// A null cache means no cache at all if *none is set, and else the library's own.
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

Status SetBlockBasedTable(const Flags& flags, const OptionTexts& texts,
                          ColumnFamilyOptions* options) {
  if (flags.checksum_type < kNoChecksum || flags.checksum_type > kXXH3) {
    return BadFlag("checksum_type", fmt::format("{}", flags.checksum_type), "0, 1, 2, 3, 4");
  }
  BlockBasedTableOptions table;
  Status s = SetFromTexts(texts, &table);
  if (s.ok()) s = MakeBlockCache(flags, &table.block_cache, &table.no_block_cache);
  if (!s.ok()) return s;
  if (flags.use_data_block_hash_index)
    table.data_block_index_type = BlockBasedTableOptions::kDataBlockBinaryAndHash;
  table.checksum = static_cast<ChecksumType>(flags.checksum_type);
  if (flags.index_with_first_key)
    table.index_type = BlockBasedTableOptions::kBinarySearchWithFirstKey;
  if (flags.partition_index || flags.partition_index_and_filters)
    table.index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
  table.partition_filters = flags.partition_index_and_filters;
  if (flags.bloom_bits > 0) {
    table.filter_policy.reset(flags.use_ribbon_filter ? NewRibbonFilterPolicy(flags.bloom_bits)
                                                      : NewBloomFilterPolicy(flags.bloom_bits));
  }
  options->table_factory.reset(NewBlockBasedTableFactory(table));
  return Status::OK();
}

// A number of 0 keeps the default.
void SetUniversal(const Flags& flags, CompactionOptionsUniversal* options) {
  const auto set = [](int value, unsigned int* option) {
    if (value != 0) *option = static_cast<unsigned int>(value);
  };
  set(flags.universal_size_ratio, &options->size_ratio);
  set(flags.universal_min_merge_width, &options->min_merge_width);
  set(flags.universal_max_merge_width, &options->max_merge_width);
  set(flags.universal_max_size_amplification_percent, &options->max_size_amplification_percent);
  options->compression_size_percent = flags.universal_compression_size_percent;
  options->allow_trivial_move = flags.universal_allow_trivial_move;
  options->incremental = flags.universal_incremental;
  options->stop_style = static_cast<CompactionStopStyle>(flags.universal_stop_style);
  options->max_read_amp = flags.universal_max_read_amp;
}

// As in RocksDB, a size limit of 0 drops all tables.
void SetFifo(const Flags& flags, ColumnFamilyOptions* options) {
  if (flags.fifo_compaction_ttl != 0) options->ttl = flags.fifo_compaction_ttl;
  options->compaction_options_fifo.max_table_files_size =
      flags.fifo_compaction_max_table_files_size_mb << 20;
  options->compaction_options_fifo.max_data_files_size =
      flags.fifo_compaction_max_data_files_size_mb << 20;
  options->compaction_options_fifo.allow_compaction = flags.fifo_compaction_allow_compaction;
}

Status FromFlagsAlone(const Flags& flags, Options* options) {
  const OptionTexts texts = TextsOf(flags);
  DBOptions db_options;
  ColumnFamilyOptions family_options;
  Status s = SetFromTexts(texts, &db_options);
  if (s.ok()) s = SetFromTexts(texts, &family_options);
  if (!s.ok()) return s;
  db_options.wal_dir = flags.wal_dir;
  *options = Options(db_options, family_options);
  options->compaction_style = static_cast<CompactionStyle>(flags.compaction_style);
  options->compaction_pri = static_cast<CompactionPri>(flags.compaction_pri);
  SetUniversal(flags, &options->compaction_options_universal);
  if (options->compaction_style == kCompactionStyleFIFO) SetFifo(flags, options);
  SetRateLimiter(flags, options);
  s = CompressionByName("wal_compression", flags.wal_compression, &options->wal_compression);
  if (!s.ok()) return s;
  if (flags.prefix_size > 0)
    options->prefix_extractor.reset(
        NewFixedPrefixTransform(static_cast<size_t>(flags.prefix_size)));
  s = SetMemtables(flags, options);
  if (s.ok()) s = SetCompression(flags, options);
  if (s.ok())
    s = flags.use_plain_table ? SetPlainTable(flags, options)
                              : SetBlockBasedTable(flags, texts, options);
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
  // The folders in the file are another database's, whose logs would be replayed and destroyed.
  db_options.wal_dir = flags.wal_dir;
  db_options.db_log_dir.clear();
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
  if (flags.file_checksum) options->file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
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
