#include "config/validate.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "ashlar/compaction_filter.h"
#include "ashlar/merge_operator.h"
#include "base/compression.h"
#include "base/format.h"
#include "base/result.h"
#include "config/cache_usage.h"
#include "config/memtable_factory.h"
#include "config/option_codec.h"
#include "config/option_table.h"

namespace ashlar {
namespace {

Status NotImplemented(std::string_view option, std::string_view value, std::string_view remedy) {
  return Status::NotSupported(
      StrCat("option ", option, "=", value, " is not implemented; ", remedy));
}
Status Bad(std::string_view option, std::string_view value, std::string_view why) {
  return Status::InvalidArgument(StrCat("option ", option, "=", value, ": ", why));
}

// Far above useful values, and far below a machine's limits.
constexpr int kBackgroundJobsMax = 4096;
constexpr size_t kBucketCountMax = size_t{1} << 30;
constexpr double kHashTableRatioMin = 0.001;
constexpr double kHashUtilRatioMin = 0.001;
constexpr uint32_t kDictionaryBytesMax = uint32_t{64} << 20;
constexpr uint32_t kTrainBytesMax = uint32_t{1} << 30;

template <typename TableOptions>
const TableOptions* TableOptionsOf(const ColumnFamilyOptions& options) {
  return options.table_factory == nullptr ? nullptr
                                          : options.table_factory->GetOptions<TableOptions>();
}

// Refuses the options that the table marks as refused, unless they have their defaults.
template <typename Struct>
Status CheckRefused(OpenFor purpose, const Struct& options) {
  const Struct defaults;
  for (const OptionEntry<Struct>& entry : OptionTableOf<Struct>()) {
    if (entry.support != Support::kRefused &&
        (entry.support != Support::kRefusedWriting || purpose == OpenFor::kReading))
      continue;
    const std::string value = entry.print(options);
    const std::string default_value = entry.print(defaults);
    if (value == default_value) continue;
    return NotImplemented(
        entry.name, value,
        default_value.empty() ? "leave it empty" : StrCat("leave it at ", default_value));
  }
  return Status::OK();
}

// Refuses invalid values of options that have an effect. They have no text to be recorded, either.
template <typename Struct>
Status CheckValues(const Struct& options) {
  for (const OptionEntry<Struct>& entry : OptionTableOf<Struct>()) {
    if (entry.support == Support::kHonoured && entry.has_text != nullptr &&
        !entry.has_text(options))
      return Bad(entry.name, entry.print(options), "there is no such value");
  }
  return Status::OK();
}

// Returns the minutes since midnight of "HH:mm", where a leading zero may be missing.
std::optional<uint64_t> ParseTimeOfDay(std::string_view text) {
  const size_t colon = text.find(':');
  uint64_t hours = 0;
  uint64_t minutes = 0;
  if (colon == std::string_view::npos || !ParseUint64(text.substr(0, colon), &hours) ||
      !ParseUint64(text.substr(colon + 1), &minutes) || hours > 23 || minutes > 59)
    return std::nullopt;
  return hours * 60 + minutes;
}

// Accepts "HH:mm-HH:mm" with two different times, and empty text.
bool IsTimeOfDayRange(std::string_view text) {
  if (text.empty()) return true;
  const size_t dash = text.find('-');
  if (dash == std::string_view::npos) return false;
  const std::optional<uint64_t> begin = ParseTimeOfDay(text.substr(0, dash));
  const std::optional<uint64_t> end = ParseTimeOfDay(text.substr(dash + 1));
  return begin.has_value() && end.has_value() && *begin != *end;
}

Status CheckDb(OpenFor purpose, const DBOptions& options) {
  ASHLAR_RETURN_IF_ERROR(CheckRefused(purpose, options));
  if (options.env == nullptr) return Bad("env", kNullText, "set it, or leave it at Env::Default()");
  if (options.keep_log_file_num == 0)
    return Bad("keep_log_file_num", "0", "the current LOG is one; set at least 1");
  if (options.max_open_files < -1 || options.max_open_files == 0) {
    return Bad("max_open_files", StrCat(options.max_open_files),
               "set -1 for all files, or a number above 0");
  }
  if (options.max_background_jobs < 0)
    return Bad("max_background_jobs", StrCat(options.max_background_jobs), "set at least 1");
  for (const auto& [name, jobs] :
       {std::pair("max_background_compactions", options.max_background_compactions),
        std::pair("max_background_flushes", options.max_background_flushes)}) {
    if (jobs < -1)
      return Bad(name, StrCat(jobs),
                 "set -1 to leave it to max_background_jobs, or how many may run at once");
    if (jobs > kBackgroundJobsMax)
      return Bad(name, StrCat(jobs),
                 StrCat("each may need a thread; set no more than ", kBackgroundJobsMax));
  }
  if (options.max_background_jobs > kBackgroundJobsMax) {
    return Bad("max_background_jobs", StrCat(options.max_background_jobs),
               StrCat("each may need a thread; set no more than ", kBackgroundJobsMax));
  }
  if (options.allow_mmap_reads && options.use_direct_reads) {
    return Bad(
        "allow_mmap_reads", "true",
        "a mapping goes through the page cache, which use_direct_reads=true forbids; choose one");
  }
  if (options.allow_mmap_writes && options.use_direct_io_for_flush_and_compaction) {
    return Bad("allow_mmap_writes", "true",
               "a mapping goes through the page cache, which "
               "use_direct_io_for_flush_and_compaction=true forbids; choose one");
  }
  if (options.row_cache != nullptr) {
    return NotImplemented("row_cache", "a cache",
                          "a cached block leads straight to its entry, so a cache of rows would "
                          "only hold them twice: leave it null, and give its memory to "
                          "block_cache");
  }
  if (options.max_write_batch_group_size_bytes == 0)
    return Bad("max_write_batch_group_size_bytes", "0", "set at least 1");
  if (!IsTimeOfDayRange(options.daily_offpeak_time_utc)) {
    return Bad("daily_offpeak_time_utc", options.daily_offpeak_time_utc,
               "leave it empty, or set HH:mm-HH:mm with two different times");
  }
  if (std::find(options.listeners.begin(), options.listeners.end(), nullptr) !=
      options.listeners.end())
    return Bad("listeners", kNullText, "add no null listener");
  return CheckValues(options);
}

Status CheckCompression(std::string_view option, CompressionType type) {
  if (type == kDisableCompressionOption) {
    return Bad(option, "kDisableCompressionOption",
               "it means \"as compression says\"; choose a codec, or kNoCompression");
  }
  if (ValidateCompressionType(type).ok()) return Status::OK();
  return NotImplemented(option, OptionCodec<CompressionType>::Print(type),
                        "this build cannot write it; choose another codec");
}

// Checks the options against their codec. With invalid ones, no table could be started.
Status CheckParameters(const char* option, CompressionType type,
                       const CompressionOptions& options) {
  return ValidateCompression(type, {.level = options.level,
                                    .window_bits = options.window_bits,
                                    .strategy = options.strategy})
      .WithContext(option);
}

Status CheckDictionary(std::string_view name, const CompressionOptions& options) {
  if (options.zstd_max_train_bytes != 0 && options.max_dict_bytes == 0) {
    return Bad(StrCat(name, ".zstd_max_train_bytes"), StrCat(options.zstd_max_train_bytes),
               "no dictionary is trained while max_dict_bytes is 0; set max_dict_bytes, or 0 here");
  }
  if (options.max_dict_bytes > kDictionaryBytesMax) {
    return Bad(StrCat(name, ".max_dict_bytes"), StrCat(options.max_dict_bytes),
               "every table keeps its dictionary in memory; set no more than 64 MiB");
  }
  if (options.zstd_max_train_bytes > kTrainBytesMax) {
    return Bad(StrCat(name, ".zstd_max_train_bytes"), StrCat(options.zstd_max_train_bytes),
               "the samples are in memory together; set no more than 1 GiB");
  }
  return Status::OK();
}

Status CheckCompressions(const ColumnFamilyOptions& options) {
  ASHLAR_RETURN_IF_ERROR(CheckCompression("compression", options.compression));
  for (const CompressionType type : options.compression_per_level)
    ASHLAR_RETURN_IF_ERROR(CheckCompression("compression_per_level", type));
  std::vector<CompressionType> used = options.compression_per_level;
  if (used.empty()) used.push_back(options.compression);
  for (const CompressionType type : used) {
    ASHLAR_RETURN_IF_ERROR(
        CheckParameters("option compression_opts", type, options.compression_opts));
  }
  const bool own = options.bottommost_compression_opts.enabled;
  if (const CompressionType type = options.bottommost_compression;
      type != kDisableCompressionOption) {
    ASHLAR_RETURN_IF_ERROR(CheckCompression("bottommost_compression", type));
    used.assign(1, type);
  }
  // If the last level has no codec of its own, it has one of the others.
  for (const CompressionType type : used) {
    ASHLAR_RETURN_IF_ERROR(CheckParameters(
        own ? "option bottommost_compression_opts" : "option compression_opts", type,
        own ? options.bottommost_compression_opts : options.compression_opts));
  }
  ASHLAR_RETURN_IF_ERROR(CheckDictionary("compression_opts", options.compression_opts));
  return own ? CheckDictionary("bottommost_compression_opts", options.bottommost_compression_opts)
             : Status::OK();
}

Status CheckUniversal(const CompactionOptionsUniversal& options, int level0_trigger) {
  const std::string_view name = "compaction_options_universal";
  if (options.min_merge_width < 2)
    return Bad(name, StrCat("{min_merge_width=", options.min_merge_width, "}"), "set at least 2");
  if (options.max_merge_width < options.min_merge_width) {
    return Bad(name, StrCat("{max_merge_width=", options.max_merge_width, "}"),
               StrCat("set at least min_merge_width, which is ", options.min_merge_width));
  }
  if (options.max_read_amp < -1 ||
      (options.max_read_amp > 0 && options.max_read_amp < level0_trigger)) {
    return Status::NotSupported(
        StrCat("option ", name, "={max_read_amp=", options.max_read_amp,
               "}: a compaction begins at as many runs as level0_file_num_compaction_trigger, ",
               level0_trigger, "; set at least that, 0 to leave it to size_ratio, or -1"));
  }
  if (options.compression_size_percent > 100) {
    return Bad(name, StrCat("{compression_size_percent=", options.compression_size_percent, "}"),
               "set 0 to 100, or -1 to compress all outputs");
  }
  return Status::OK();
}

Status CheckLevels(const ColumnFamilyOptions& options) {
  if (options.compaction_style == kCompactionStyleUniversal)
    ASHLAR_RETURN_IF_ERROR(CheckUniversal(options.compaction_options_universal,
                                          options.level0_file_num_compaction_trigger));
  if (options.num_levels > 64)
    return Bad("num_levels", StrCat(options.num_levels), "no more than 64 are possible");
  if (options.target_file_size_base == 0)
    return Bad("target_file_size_base", "0", "set at least 1");
  if (options.target_file_size_multiplier < 1)
    return Bad("target_file_size_multiplier", StrCat(options.target_file_size_multiplier),
               "set at least 1");
  if (options.max_bytes_for_level_base == 0)
    return Bad("max_bytes_for_level_base", "0", "set at least 1");
  if (!(options.max_bytes_for_level_multiplier >= 1)) {
    return Bad("max_bytes_for_level_multiplier", StrCat(options.max_bytes_for_level_multiplier),
               "set at least 1");
  }
  for (const int factor : options.max_bytes_for_level_multiplier_additional) {
    if (factor < 1)
      return Bad("max_bytes_for_level_multiplier_additional", StrCat(factor),
                 "set at least 1 for each level");
  }
  return Status::OK();
}

bool IsPowerOfTwo(uint64_t n) { return n != 0 && (n & (n - 1)) == 0; }

Status CheckAlignsBlocks(const ColumnFamilyOptions& options) {
  const auto check = [](std::string_view option, CompressionType type) {
    if (type == kNoCompression) return Status::OK();
    return Bad(
        "block_align", "true",
        StrCat("only uncompressed blocks fill whole pages; set ", option, "=kNoCompression"));
  };
  ASHLAR_RETURN_IF_ERROR(check("compression", options.compression));
  for (const CompressionType type : options.compression_per_level)
    ASHLAR_RETURN_IF_ERROR(check("compression_per_level", type));
  return options.bottommost_compression == kDisableCompressionOption
             ? Status::OK()
             : check("bottommost_compression", options.bottommost_compression);
}

// Refuses the combinations of a table's options that RocksDB refuses, for the same reasons. The
// combinations of ages that it refuses work here (docs/compatibility.md).
Status CheckTableWriting(const ColumnFamilyOptions& family_options,
                         const BlockBasedTableOptions& options) {
  if (OptionCodec<BlockBasedTableOptions::IndexType>::Print(options.index_type).find('k') != 0)
    return Bad("index_type", StrCat(static_cast<int>(options.index_type)), "no such type");
  if (options.index_type == BlockBasedTableOptions::kHashSearch &&
      family_options.prefix_extractor == nullptr) {
    return Bad("index_type", "kHashSearch",
               "it hashes prefixes, and there is no prefix_extractor; set one, or use "
               "kBinarySearch");
  }
  if (options.block_align) ASHLAR_RETURN_IF_ERROR(CheckAlignsBlocks(family_options));
  if (options.block_align && !IsPowerOfTwo(options.block_size)) {
    return Bad("block_size", StrCat(options.block_size),
               "block_align needs a power of two; set one, such as 4096");
  }
  if (options.data_block_index_type == BlockBasedTableOptions::kDataBlockBinaryAndHash &&
      !(options.data_block_hash_table_util_ratio >= kHashUtilRatioMin)) {
    return Bad(
        "data_block_hash_table_util_ratio", StrCat(options.data_block_hash_table_util_ratio),
        "kDataBlockBinaryAndHash needs entries in its buckets; set 0.75, and no less than 0.001");
  }
  return Status::OK();
}

Status CheckTable(OpenFor purpose, const ColumnFamilyOptions& family_options,
                  const BlockBasedTableOptions& options) {
  ASHLAR_RETURN_IF_ERROR(CheckRefused(purpose, options));
  if (purpose == OpenFor::kWriting)
    ASHLAR_RETURN_IF_ERROR(CheckTableWriting(family_options, options));
  if (purpose == OpenFor::kWriting && (options.format_version < 2 || options.format_version > 5)) {
    return NotImplemented(
        "format_version", StrCat(options.format_version),
        "2 to 5 can be written (0 to 7 are read); 5 is read by every RocksDB since 6.6");
  }
  if (options.block_size == 0 || options.block_size > (uint64_t{256} << 20))
    return Bad("block_size", StrCat(options.block_size), "set 1 byte to 256 MiB");
  for (const auto& [name, value] :
       {std::pair("cache_index_and_filter_blocks", options.cache_index_and_filter_blocks),
        std::pair("pin_l0_filter_and_index_blocks_in_cache",
                  options.pin_l0_filter_and_index_blocks_in_cache)}) {
    if (value && options.no_block_cache) {
      return Bad(name, "true", "there is no block cache to hold them; set no_block_cache=false");
    }
  }
  ASHLAR_RETURN_IF_ERROR(CheckCacheUsage(options));
  if (OptionCodec<ChecksumType>::Print(options.checksum).find('k') != 0)
    return Bad("checksum", StrCat(static_cast<int>(options.checksum)), "no such type");
  if (options.read_amp_bytes_per_bit != 0 && !IsPowerOfTwo(options.read_amp_bytes_per_bit)) {
    return Bad("read_amp_bytes_per_bit", StrCat(options.read_amp_bytes_per_bit),
               "set a power of two, or 0");
  }
  return purpose == OpenFor::kWriting ? CheckValues(options) : Status::OK();
}

Status CheckPlainTable(const ColumnFamilyOptions& family_options,
                       const PlainTableOptions& options) {
  ASHLAR_RETURN_IF_ERROR(CheckRefused(OpenFor::kWriting, options));
  if (OptionCodec<EncodingType>::Print(options.encoding_type).find('k') != 0)
    return Bad("encoding_type", StrCat(static_cast<int>(options.encoding_type)), "no such type");
  if (options.bloom_bits_per_key < 0)
    return Bad("bloom_bits_per_key", StrCat(options.bloom_bits_per_key),
               "set bits, or 0 for no filter");
  if (!(options.hash_table_ratio >= 0))
    return Bad("hash_table_ratio", StrCat(options.hash_table_ratio),
               "set a ratio, or 0 for no hash table");
  if (options.hash_table_ratio > 0 && options.hash_table_ratio < kHashTableRatioMin) {
    return Bad("hash_table_ratio", StrCat(options.hash_table_ratio),
               "a thousand slots for a prefix are the most; set 0.001 or more, or 0 for none");
  }
  if (options.hash_table_ratio > 0 && family_options.prefix_extractor == nullptr &&
      !options.full_scan_mode) {
    return Status::NotSupported(StrCat(
        "option hash_table_ratio=", OptionCodec<double>::Print(options.hash_table_ratio),
        ": the hash table is of prefixes, and there is no prefix_extractor; set one, or 0 for "
        "total order"));
  }
  return CheckValues(options);
}

Status CheckMemTable(const MemTableRepFactory* factory) {
  if (factory == nullptr) return Status::OK();
  if (!IsBuiltIn(*factory))
    return NotImplemented("memtable_factory", factory->Name(),
                          "use one of the factories of ashlar/memtablerep.h");
  size_t bucket_count = 0;
  if (const auto* const hash = dynamic_cast<const HashSkipListRepFactory*>(factory))
    bucket_count = hash->parameters().bucket_count;
  if (const auto* const lists = dynamic_cast<const HashLinkListRepFactory*>(factory))
    bucket_count = lists->parameters().bucket_count;
  if (bucket_count <= kBucketCountMax) return Status::OK();
  return Bad(
      "memtable_factory", factory->GetId(),
      StrCat("every memtable takes 8 bytes for a bucket; set no more than ", kBucketCountMax));
}

// Objects of the program are recorded by name. An object of the C interface has no name if one of
// its functions is missing.
Status CheckName(std::string_view option, const char* name) {
  if (name != nullptr) return Status::OK();
  return Status::InvalidArgument(
      StrCat("option ", option,
             " has no name: Name() is null. In C, no function but a destructor, partial_merge or "
             "delete_value "
             "may be null; headers of RocksDB before 11.0 have a parameter in_range before name in "
             "rocksdb_slicetransform_create, which is not there: compile with ashlar/c.h"));
}

Status CheckFamily(OpenFor purpose, const ColumnFamilyOptions& options) {
  ASHLAR_RETURN_IF_ERROR(CheckObjects(options));
  ASHLAR_RETURN_IF_ERROR(CheckRefused(purpose, options));
  ASHLAR_RETURN_IF_ERROR(CheckMemTable(options.memtable_factory.get()));
  if (purpose == OpenFor::kWriting) {
    ASHLAR_RETURN_IF_ERROR(CheckLevels(options));
    ASHLAR_RETURN_IF_ERROR(CheckCompressions(options));
    ASHLAR_RETURN_IF_ERROR(CheckValues(options));
  }
  if (const auto* const block_based = TableOptionsOf<BlockBasedTableOptions>(options))
    return CheckTable(purpose, options, *block_based);
  if (const auto* const plain = TableOptionsOf<PlainTableOptions>(options))
    return CheckPlainTable(options, *plain);
  if (options.table_factory != nullptr) {
    return NotImplemented("table_factory", options.table_factory->Name(),
                          "use NewBlockBasedTableFactory or NewPlainTableFactory");
  }
  return Status::OK();
}

template <typename Struct>
void AppendWithoutEffect(const Struct& options, std::string_view where,
                         std::vector<std::string>* out) {
  const size_t first = out->size();
  AppendIdle(OptionTableOf<Struct>(), options, Struct(), out);
  for (size_t i = first; i < out->size(); ++i) (*out)[i] += where;
}

template <typename Struct>
Status Change(const std::unordered_map<std::string, std::string>& changes, Struct* options) {
  if (changes.empty()) return Status::InvalidArgument("no options are given");
  Struct changed = *options;
  // Sorted by name, so that the same one of several errors is always reported.
  std::vector<std::pair<std::string, std::string>> sorted(changes.begin(), changes.end());
  std::sort(sorted.begin(), sorted.end());
  const ParseRules rules{.ignore_unsupported = false, .only_mutable = true};
  for (const auto& [name, value] : sorted)
    ASHLAR_RETURN_IF_ERROR(SetOption(rules, name, value, &changed));
  *options = std::move(changed);
  return Status::OK();
}

}  // namespace

Status CheckObjects(const ColumnFamilyOptions& options) {
  if (options.comparator == nullptr)
    return Bad("comparator", kNullText, "set it, or leave it at BytewiseComparator()");
  ASHLAR_RETURN_IF_ERROR(CheckName("comparator", options.comparator->Name()));
  if (options.compaction_filter != nullptr)
    ASHLAR_RETURN_IF_ERROR(CheckName("compaction_filter", options.compaction_filter->Name()));
  if (options.compaction_filter_factory != nullptr)
    ASHLAR_RETURN_IF_ERROR(
        CheckName("compaction_filter_factory", options.compaction_filter_factory->Name()));
  if (options.merge_operator != nullptr)
    ASHLAR_RETURN_IF_ERROR(CheckName("merge_operator", options.merge_operator->Name()));
  return options.prefix_extractor != nullptr
             ? CheckName("prefix_extractor", options.prefix_extractor->Name())
             : Status::OK();
}

Status ValidateOptions(const DBOptions& db_options,
                       const std::vector<ColumnFamilyDescriptor>& families, OpenFor purpose) {
  ASHLAR_RETURN_IF_ERROR(CheckDb(purpose, db_options));
  for (const ColumnFamilyDescriptor& family : families) {
    Status s = CheckFamily(purpose, family.options);
    if (!s.ok()) return s.WithContext(StrCat("column family ", NameForDisplay(family.name)));
  }
  return Status::OK();
}

std::string WhyLogsAreNotRecycled(const DBOptions& options) {
  if (options.WAL_ttl_seconds > 0 || options.WAL_size_limit_MB > 0)
    return "old logs are archived (WAL_ttl_seconds, WAL_size_limit_MB)";
  switch (options.wal_recovery_mode) {
    case WALRecoveryMode::kTolerateCorruptedTailRecords:
    case WALRecoveryMode::kAbsoluteConsistency:
      return StrCat(
          "wal_recovery_mode=", OptionCodec<WALRecoveryMode>::Print(options.wal_recovery_mode),
          " cannot tell the rest of an older log from damage");
    case WALRecoveryMode::kPointInTimeRecovery:
    case WALRecoveryMode::kSkipAnyCorruptedRecords: break;
  }
  return "";
}

std::vector<std::string> ListOptionsWithoutEffect(
    const DBOptions& db_options, const std::vector<ColumnFamilyDescriptor>& families) {
  std::vector<std::string> out;
  AppendWithoutEffect(db_options, "", &out);
  const CompressionType log_codec = db_options.wal_compression;
  if (log_codec != kNoCompression && !CompressesLogs(log_codec)) {
    out.push_back(StrCat("wal_compression=", OptionCodec<CompressionType>::Print(log_codec),
                         " because only kZSTD compresses logs, if the build has it"));
  }
  const std::string not_recycled = WhyLogsAreNotRecycled(db_options);
  if (db_options.recycle_log_file_num > 0 && !not_recycled.empty()) {
    out.push_back(StrCat("recycle_log_file_num=", db_options.recycle_log_file_num, " because ",
                         not_recycled));
  }
  for (const ColumnFamilyDescriptor& family : families) {
    const std::string where = StrCat(" of column family ", NameForDisplay(family.name));
    AppendWithoutEffect(family.options, where, &out);
    const MemTableRepFactory* const memtable = family.options.memtable_factory.get();
    if (memtable != nullptr && NeedsPrefixes(*memtable) &&
        family.options.prefix_extractor == nullptr) {
      out.push_back(StrCat("memtable_factory=", memtable->GetId(), where,
                           " for want of a prefix_extractor: memtables are SkipListFactory's"));
    }
    if (const auto* const block_based = TableOptionsOf<BlockBasedTableOptions>(family.options))
      AppendWithoutEffect(*block_based, where, &out);
    if (const auto* const plain = TableOptionsOf<PlainTableOptions>(family.options))
      AppendWithoutEffect(*plain, where, &out);
  }
  return out;
}

Status ChangeMutableOptions(const std::unordered_map<std::string, std::string>& changes,
                            ColumnFamilyOptions* options) {
  return Change(changes, options);
}
Status ChangeMutableOptions(const std::unordered_map<std::string, std::string>& changes,
                            DBOptions* options) {
  return Change(changes, options);
}

}  // namespace ashlar
