#include "config/option_table.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <type_traits>

#include "ashlar/rate_limiter.h"
#include "base/format.h"
#include "config/option_codec.h"

namespace ashlar {
namespace {

constexpr Support kHonoured = Support::kHonoured;
constexpr Support kAccepted = Support::kAccepted;
constexpr Support kRefused = Support::kRefused;
constexpr Support kRefusedWriting = Support::kRefusedWriting;
constexpr bool kMutable = true;
constexpr bool kFixed = false;

template <typename M>
struct MemberOf;
template <typename Struct, typename T>
struct MemberOf<T Struct::*> {
  using Class = Struct;
  using Type = T;
};

// kFields: the fields of a struct that is the value of an option.
template <typename Struct>
struct FieldsOf;

// Returns OptionEntry::append_idle_fields.
template <auto kMember>
constexpr auto IdleFieldsOf() {
  using Struct = typename MemberOf<decltype(kMember)>::Class;
  using T = typename MemberOf<decltype(kMember)>::Type;
  using Append = void (*)(const Struct&, const Struct&, std::vector<std::string>*);
  if constexpr (requires { FieldsOf<T>::kFields; }) {
    return Append([](const Struct& options, const Struct& defaults, std::vector<std::string>* out) {
      AppendIdle<T>(FieldsOf<T>::kFields, options.*kMember, defaults.*kMember, out);
    });
  } else {
    return Append(nullptr);
  }
}

// Returns OptionEntry::print_text.
template <auto kMember>
constexpr auto TextPrinterOf() {
  using Struct = typename MemberOf<decltype(kMember)>::Class;
  using T = typename MemberOf<decltype(kMember)>::Type;
  using Print = std::string (*)(const Struct&);
  if constexpr (requires { FieldsOf<T>::kFields; }) {
    return Print([](const Struct& options) { return OptionCodec<T>::PrintText(options.*kMember); });
  } else if constexpr (std::is_same_v<T, std::string>) {
    // Parsing a list removes the braces around a value, so text with braces gets another pair.
    return Print([](const Struct& options) {
      const std::string& value = options.*kMember;
      return value.starts_with('{') ? StrCat("{", value, "}") : value;
    });
  } else {
    return Print(nullptr);
  }
}

template <typename T>
bool HasText(const T& value) {
  if constexpr (requires { FieldsOf<T>::kFields; }) {
    return std::all_of(std::begin(FieldsOf<T>::kFields), std::end(FieldsOf<T>::kFields),
                       [&value](const OptionEntry<T>& field) {
                         return field.has_text == nullptr || field.has_text(value);
                       });
  } else if constexpr (std::is_same_v<T, double>) {
    return std::isfinite(value);
  } else {
    return std::any_of(std::begin(EnumNames<T>::kNames), std::end(EnumNames<T>::kNames),
                       [value](const auto& named) { return named.first == value; });
  }
}

// Returns OptionEntry::has_text.
template <auto kMember>
constexpr auto TextCheckOf() {
  using Struct = typename MemberOf<decltype(kMember)>::Class;
  using T = typename MemberOf<decltype(kMember)>::Type;
  using Check = bool (*)(const Struct&);
  if constexpr (
      requires { FieldsOf<T>::kFields; } || requires { EnumNames<T>::kNames; } ||
      std::is_same_v<T, double>) {
    return Check([](const Struct& options) { return HasText<T>(options.*kMember); });
  } else {
    return Check(nullptr);
  }
}

template <auto kMember>
constexpr auto Option(const char* name, Support support, bool is_mutable,
                      Place place = Place::kFile) {
  using Struct = typename MemberOf<decltype(kMember)>::Class;
  using T = typename MemberOf<decltype(kMember)>::Type;
  return OptionEntry<Struct>{
      .name = name,
      .support = support,
      .is_mutable = is_mutable,
      .place = place,
      .parse = [](std::string_view text,
                  Struct* options) { return OptionCodec<T>::Parse(text, &(options->*kMember)); },
      .print = [](const Struct& options) { return OptionCodec<T>::Print(options.*kMember); },
      .print_text = TextPrinterOf<kMember>(),
      .append_idle_fields = IdleFieldsOf<kMember>(),
      .has_text = TextCheckOf<kMember>(),
  };
}

}  // namespace

// ---- Structs inside options

// A struct as the value of an option: "{a=1;b=2;}". Fields that are not given keep their values.
// Some structs have an older form without names, which FieldsOf::ParseUnnamed parses.
template <typename Struct>
  requires requires { FieldsOf<Struct>::kFields; }
struct OptionCodec<Struct> {
  static Status Parse(std::string_view text, Struct* value) {
    if constexpr (requires { FieldsOf<Struct>::ParseUnnamed(text, value); }) {
      if (!text.empty() && text.find_first_of("={") == std::string_view::npos)
        return FieldsOf<Struct>::ParseUnnamed(text, value);
    }
    ASHLAR_ASSIGN_OR_RETURN(const OptionPairs pairs, ParseOptionPairs(text));
    Struct parsed = *value;
    for (const auto& [name, field_text] : pairs) {
      const auto field =
          std::find_if(std::begin(FieldsOf<Struct>::kFields), std::end(FieldsOf<Struct>::kFields),
                       [&wanted = name](const OptionEntry<Struct>& e) { return wanted == e.name; });
      if (field == std::end(FieldsOf<Struct>::kFields)) {
        if (IsNameWithoutMember(name)) continue;
        return Status::InvalidArgument(StrCat("it has no field ", name));
      }
      const Status s = field->parse(field_text, &parsed);
      if (!s.ok()) return Status::InvalidArgument(StrCat("field ", name, ": ", s.getState()));
    }
    *value = std::move(parsed);
    return Status::OK();
  }
  static std::string Print(const Struct& value) { return PrintFields(value, Place::kFile); }
  static std::string PrintText(const Struct& value) { return PrintFields(value, Place::kTextOnly); }

 private:
  static std::string PrintFields(const Struct& value, Place place) {
    std::string out = "{";
    for (const OptionEntry<Struct>& field : FieldsOf<Struct>::kFields) {
      if (field.place == Place::kFile || field.place == place)
        StrAppend(&out, field.name, "=", field.print(value), ";");
    }
    return out + "}";
  }
};

// A list of structs: "{a=1}:{a=2}".
template <typename Struct>
  requires requires { FieldsOf<Struct>::kFields; }
struct OptionCodec<std::vector<Struct>> {
  static Status Parse(std::string_view text, std::vector<Struct>* value) {
    std::vector<Struct> parsed;
    while (!text.empty()) {
      size_t end = 0;
      for (int depth = 0; end < text.size() && (depth > 0 || text[end] != ':'); ++end) {
        if (text[end] == '{') ++depth;
        if (text[end] == '}') --depth;
      }
      ASHLAR_RETURN_IF_ERROR(
          OptionCodec<Struct>::Parse(TrimSpaces(text.substr(0, end)), &parsed.emplace_back()));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    *value = std::move(parsed);
    return Status::OK();
  }
  static std::string Print(const std::vector<Struct>& value) {
    std::string out;
    for (const Struct& element : value)
      StrAppend(&out, out.empty() ? "{" : ":", OptionCodec<Struct>::Print(element));
    return out.empty() ? out : out + "}";
  }
};

namespace {

#define ASHLAR_FIELD(Struct, field, support) Option<&Struct::field>(#field, support, kMutable)
// A field of a release after 7.8. OPTIONS files have only the names of 7.8.
#define ASHLAR_NEW_FIELD(Struct, field, support) \
  Option<&Struct::field>(#field, support, kMutable, Place::kTextOnly)

template <>
struct FieldsOf<FileTemperatureAge> {
  static constexpr OptionEntry<FileTemperatureAge> kFields[] = {
      ASHLAR_FIELD(FileTemperatureAge, temperature, kHonoured),
      ASHLAR_FIELD(FileTemperatureAge, age, kHonoured),
  };
};

template <>
struct FieldsOf<CompressionOptions> {
  static constexpr OptionEntry<CompressionOptions> kFields[] = {
      ASHLAR_FIELD(CompressionOptions, window_bits, kHonoured),
      ASHLAR_FIELD(CompressionOptions, level, kHonoured),
      ASHLAR_FIELD(CompressionOptions, strategy, kHonoured),
      ASHLAR_FIELD(CompressionOptions, max_dict_bytes, kHonoured),
      ASHLAR_FIELD(CompressionOptions, zstd_max_train_bytes, kHonoured),
      ASHLAR_FIELD(CompressionOptions, parallel_threads, kAccepted),
      ASHLAR_FIELD(CompressionOptions, enabled, kHonoured),
      ASHLAR_FIELD(CompressionOptions, max_dict_buffer_bytes, kHonoured),
      ASHLAR_FIELD(CompressionOptions, use_zstd_dict_trainer, kHonoured),
  };
  // "window_bits:level:strategy", and any number of the fields that follow them. If there are six
  // values, the last is `enabled`, which is older than parallel_threads.
  static Status ParseUnnamed(std::string_view text, CompressionOptions* value) {
    constexpr size_t kFewest = 3;
    constexpr size_t kEnabled = 6;
    const auto count = static_cast<size_t>(std::count(text.begin(), text.end(), ':')) + 1;
    if (count < kFewest || count > std::size(kFields))
      return Status::InvalidArgument("neither a list in braces nor window_bits:level:strategy...");
    CompressionOptions parsed = *value;
    for (size_t i = 0; i < count; ++i) {
      const size_t end = std::min(text.find(':'), text.size());
      const size_t field = count == kEnabled && i + 1 == count ? kEnabled : i;
      const Status s = kFields[field].parse(TrimSpaces(text.substr(0, end)), &parsed);
      if (!s.ok())
        return Status::InvalidArgument(StrCat("field ", kFields[field].name, ": ", s.getState()));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    *value = parsed;
    return Status::OK();
  }
};

template <>
struct FieldsOf<CompactionOptionsUniversal> {
  static constexpr OptionEntry<CompactionOptionsUniversal> kFields[] = {
      ASHLAR_FIELD(CompactionOptionsUniversal, size_ratio, kHonoured),
      ASHLAR_FIELD(CompactionOptionsUniversal, min_merge_width, kHonoured),
      ASHLAR_FIELD(CompactionOptionsUniversal, max_merge_width, kHonoured),
      ASHLAR_FIELD(CompactionOptionsUniversal, max_size_amplification_percent, kHonoured),
      ASHLAR_FIELD(CompactionOptionsUniversal, compression_size_percent, kHonoured),
      ASHLAR_FIELD(CompactionOptionsUniversal, stop_style, kHonoured),
      ASHLAR_FIELD(CompactionOptionsUniversal, allow_trivial_move, kHonoured),
      ASHLAR_FIELD(CompactionOptionsUniversal, incremental, kHonoured),
      ASHLAR_NEW_FIELD(CompactionOptionsUniversal, max_read_amp, kHonoured),
      ASHLAR_NEW_FIELD(CompactionOptionsUniversal, reduce_file_locking, kAccepted),
  };
};

template <>
struct FieldsOf<CompactionOptionsFIFO> {
  static constexpr OptionEntry<CompactionOptionsFIFO> kFields[] = {
      ASHLAR_FIELD(CompactionOptionsFIFO, max_table_files_size, kHonoured),
      ASHLAR_FIELD(CompactionOptionsFIFO, allow_compaction, kHonoured),
      ASHLAR_FIELD(CompactionOptionsFIFO, age_for_warm, kAccepted),
      ASHLAR_NEW_FIELD(CompactionOptionsFIFO, file_temperature_age_thresholds, kAccepted),
      ASHLAR_NEW_FIELD(CompactionOptionsFIFO, allow_trivial_copy_when_change_temperature,
                       kAccepted),
      ASHLAR_NEW_FIELD(CompactionOptionsFIFO, trivial_copy_buffer_size, kAccepted),
      ASHLAR_NEW_FIELD(CompactionOptionsFIFO, max_data_files_size, kHonoured),
      ASHLAR_NEW_FIELD(CompactionOptionsFIFO, use_kv_ratio_compaction, kAccepted),
  };
  // A value without a name is the size limit of all tables.
  static Status ParseUnnamed(std::string_view text, CompactionOptionsFIFO* value) {
    return OptionCodec<uint64_t>::Parse(text, &value->max_table_files_size);
  }
};

template <>
struct FieldsOf<MetadataCacheOptions> {
  static constexpr OptionEntry<MetadataCacheOptions> kFields[] = {
      ASHLAR_FIELD(MetadataCacheOptions, top_level_index_pinning, kHonoured),
      ASHLAR_FIELD(MetadataCacheOptions, partition_pinning, kHonoured),
      ASHLAR_FIELD(MetadataCacheOptions, unpartitioned_pinning, kHonoured),
  };
};

#undef ASHLAR_FIELD
#undef ASHLAR_NEW_FIELD

// ---- The tables

#define ASHLAR_OPTION(member, ...) Option<&Struct::member>(#member, __VA_ARGS__)

struct DbTable {
  using Struct = DBOptions;
  static constexpr OptionEntry<DBOptions> kEntries[] = {
      ASHLAR_OPTION(create_if_missing, kHonoured, kFixed),
      ASHLAR_OPTION(create_missing_column_families, kHonoured, kFixed),
      ASHLAR_OPTION(error_if_exists, kHonoured, kFixed),
      ASHLAR_OPTION(paranoid_checks, kAccepted, kFixed),
      ASHLAR_OPTION(best_efforts_recovery, kHonoured, kFixed),
      ASHLAR_OPTION(fail_if_options_file_error, kHonoured, kFixed),
      ASHLAR_OPTION(skip_checking_sst_file_sizes_on_db_open, kAccepted, kFixed),
      ASHLAR_OPTION(skip_stats_update_on_db_open, kAccepted, kFixed),
      ASHLAR_OPTION(allow_ingest_behind, kHonoured, kFixed),
      ASHLAR_OPTION(flush_verify_memtable_count, kAccepted, kFixed),
      ASHLAR_OPTION(track_and_verify_wals_in_manifest, kHonoured, kFixed),
      ASHLAR_OPTION(verify_sst_unique_id_in_manifest, kAccepted, kFixed),
      ASHLAR_OPTION(enforce_single_del_contracts, kAccepted, kFixed),
      ASHLAR_OPTION(write_dbid_to_manifest, kAccepted, kFixed),
      ASHLAR_OPTION(db_host_id, kHonoured, kFixed),
      ASHLAR_OPTION(listeners, kHonoured, kFixed, Place::kTextOnly),
      ASHLAR_OPTION(file_checksum_gen_factory, kHonoured, kFixed),
      ASHLAR_OPTION(lowest_used_cache_tier, kAccepted, kFixed),
      ASHLAR_OPTION(info_log_level, kHonoured, kFixed),
      ASHLAR_OPTION(db_log_dir, kHonoured, kFixed),
      ASHLAR_OPTION(max_log_file_size, kHonoured, kFixed),
      ASHLAR_OPTION(log_file_time_to_roll, kHonoured, kFixed),
      ASHLAR_OPTION(keep_log_file_num, kHonoured, kFixed),
      ASHLAR_OPTION(allow_data_in_errors, kAccepted, kFixed),
      ASHLAR_OPTION(max_open_files, kHonoured, kMutable),
      ASHLAR_OPTION(max_file_opening_threads, kAccepted, kFixed),
      ASHLAR_OPTION(table_cache_numshardbits, kAccepted, kFixed),
      ASHLAR_OPTION(db_paths, kRefused, kFixed, Place::kTextOnly),
      ASHLAR_OPTION(use_fsync, kAccepted, kFixed),
      ASHLAR_OPTION(allow_fallocate, kHonoured, kFixed),
      ASHLAR_OPTION(allow_mmap_reads, kHonoured, kFixed),
      ASHLAR_OPTION(allow_mmap_writes, kHonoured, kFixed),
      ASHLAR_OPTION(use_direct_reads, kHonoured, kFixed),
      ASHLAR_OPTION(use_direct_io_for_flush_and_compaction, kHonoured, kFixed),
      ASHLAR_OPTION(is_fd_close_on_exec, kAccepted, kFixed),
      ASHLAR_OPTION(advise_random_on_open, kHonoured, kFixed),
      ASHLAR_OPTION(access_hint_on_compaction_start, kAccepted, kFixed),
      ASHLAR_OPTION(random_access_max_buffer_size, kAccepted, kFixed),
      ASHLAR_OPTION(writable_file_max_buffer_size, kAccepted, kMutable),
      ASHLAR_OPTION(bytes_per_sync, kHonoured, kMutable),
      ASHLAR_OPTION(wal_bytes_per_sync, kHonoured, kMutable),
      ASHLAR_OPTION(strict_bytes_per_sync, kAccepted, kMutable),
      ASHLAR_OPTION(compaction_readahead_size, kHonoured, kMutable),
      ASHLAR_OPTION(log_readahead_size, kAccepted, kFixed),
      ASHLAR_OPTION(delete_obsolete_files_period_micros, kHonoured, kMutable),
      ASHLAR_OPTION(max_manifest_file_size, kHonoured, kMutable),
      ASHLAR_OPTION(manifest_preallocation_size, kAccepted, kMutable),
      ASHLAR_OPTION(avoid_unnecessary_blocking_io, kAccepted, kFixed),
      ASHLAR_OPTION(wal_dir, kHonoured, kFixed),
      ASHLAR_OPTION(max_total_wal_size, kHonoured, kMutable),
      ASHLAR_OPTION(wal_recovery_mode, kHonoured, kFixed),
      ASHLAR_OPTION(manual_wal_flush, kHonoured, kFixed),
      ASHLAR_OPTION(wal_compression, kHonoured, kFixed),
      ASHLAR_OPTION(WAL_ttl_seconds, kHonoured, kFixed),
      ASHLAR_OPTION(WAL_size_limit_MB, kHonoured, kFixed),
      ASHLAR_OPTION(recycle_log_file_num, kHonoured, kFixed),
      ASHLAR_OPTION(wal_filter, kHonoured, kFixed),
      ASHLAR_OPTION(avoid_flush_during_recovery, kHonoured, kFixed),
      ASHLAR_OPTION(avoid_flush_during_shutdown, kHonoured, kMutable),
      ASHLAR_OPTION(max_background_jobs, kHonoured, kMutable),
      ASHLAR_OPTION(max_background_compactions, kHonoured, kMutable),
      ASHLAR_OPTION(max_background_flushes, kHonoured, kMutable),
      ASHLAR_OPTION(max_subcompactions, kHonoured, kMutable),
      ASHLAR_OPTION(max_bgerror_resume_count, kAccepted, kFixed),
      ASHLAR_OPTION(bgerror_resume_retry_interval, kAccepted, kFixed),
      ASHLAR_OPTION(delayed_write_rate, kHonoured, kMutable),
      ASHLAR_OPTION(db_write_buffer_size, kHonoured, kFixed),
      ASHLAR_OPTION(max_write_batch_group_size_bytes, kHonoured, kFixed),
      ASHLAR_OPTION(enable_pipelined_write, kAccepted, kFixed),
      ASHLAR_OPTION(allow_concurrent_memtable_write, kAccepted, kFixed),
      ASHLAR_OPTION(enable_write_thread_adaptive_yield, kAccepted, kFixed),
      ASHLAR_OPTION(write_thread_max_yield_usec, kAccepted, kFixed),
      ASHLAR_OPTION(write_thread_slow_yield_usec, kAccepted, kFixed),
      ASHLAR_OPTION(use_adaptive_mutex, kAccepted, kFixed),
      ASHLAR_OPTION(enable_thread_tracking, kHonoured, kFixed),
      ASHLAR_OPTION(dump_malloc_stats, kAccepted, kFixed),
      ASHLAR_OPTION(unordered_write, kRefusedWriting, kFixed),
      ASHLAR_OPTION(two_write_queues, kRefusedWriting, kFixed),
      ASHLAR_OPTION(allow_2pc, kRefusedWriting, kFixed),
      ASHLAR_OPTION(atomic_flush, kRefusedWriting, kFixed),
      ASHLAR_OPTION(stats_dump_period_sec, kHonoured, kMutable),
      ASHLAR_OPTION(stats_persist_period_sec, kAccepted, kMutable),
      ASHLAR_OPTION(persist_stats_to_disk, kRefusedWriting, kFixed),
      ASHLAR_OPTION(stats_history_buffer_size, kAccepted, kMutable),
      ASHLAR_OPTION(prefix_seek_opt_in_only, kHonoured, kFixed, Place::kTextOnly),
      ASHLAR_OPTION(daily_offpeak_time_utc, kAccepted, kMutable, Place::kTextOnly),
      ASHLAR_OPTION(checksum_handoff_file_types, kAccepted, kFixed, Place::kTextOnly),
      ASHLAR_OPTION(calculate_sst_write_lifetime_hint_set, kAccepted, kFixed, Place::kTextOnly),
      ASHLAR_OPTION(compaction_verify_record_count, kAccepted, kFixed, Place::kTextOnly),
      ASHLAR_OPTION(track_and_verify_wals, kAccepted, kFixed, Place::kTextOnly),
      ASHLAR_OPTION(write_identity_file, kAccepted, kFixed, Place::kTextOnly),
      ASHLAR_OPTION(open_files_async, kAccepted, kFixed, Place::kTextOnly),
      ASHLAR_OPTION(fast_sst_open, kAccepted, kMutable, Place::kTextOnly),
      ASHLAR_OPTION(optimize_manifest_for_recovery, kAccepted, kMutable, Place::kTextOnly),
      ASHLAR_OPTION(reuse_manifest_on_open, kAccepted, kFixed, Place::kTextOnly),
      ASHLAR_OPTION(verify_manifest_content_on_close, kAccepted, kMutable, Place::kTextOnly),
      ASHLAR_OPTION(max_manifest_space_amp_pct, kAccepted, kMutable, Place::kTextOnly),
      ASHLAR_OPTION(use_direct_io_for_compaction_reads, kAccepted, kFixed, Place::kTextOnly),
      ASHLAR_OPTION(read_io_executor_threads, kAccepted, kFixed, Place::kTextOnly),
      ASHLAR_OPTION(async_wal_precreate, kAccepted, kFixed, Place::kTextOnly),
      ASHLAR_OPTION(background_close_inactive_wals, kAccepted, kFixed, Place::kTextOnly),
      ASHLAR_OPTION(enforce_write_buffer_manager_during_recovery, kAccepted, kFixed,
                    Place::kTextOnly),
      ASHLAR_OPTION(max_compaction_trigger_wakeup_seconds, kHonoured, kMutable, Place::kTextOnly),
      ASHLAR_OPTION(follower_refresh_catchup_period_ms, kAccepted, kFixed, Place::kTextOnly),
      ASHLAR_OPTION(follower_catchup_retry_count, kAccepted, kFixed, Place::kTextOnly),
      ASHLAR_OPTION(follower_catchup_retry_wait_ms, kAccepted, kFixed, Place::kTextOnly),
      ASHLAR_OPTION(metadata_write_temperature, kAccepted, kFixed, Place::kTextOnly),
      ASHLAR_OPTION(wal_write_temperature, kAccepted, kFixed, Place::kTextOnly),
      ASHLAR_OPTION(sst_file_manager, kHonoured, kFixed, Place::kTextOnly),
      ASHLAR_OPTION(write_buffer_manager, kHonoured, kFixed, Place::kTextOnly),
      // The text form of a rate limiter is its rate.
      OptionEntry<DBOptions>{
          .name = "rate_limiter_bytes_per_sec",
          .support = kHonoured,
          .is_mutable = kFixed,
          .place = Place::kTextOnly,
          .parse =
              [](std::string_view text, DBOptions* options) {
                int64_t bytes_per_second = 0;
                ASHLAR_RETURN_IF_ERROR(OptionCodec<int64_t>::Parse(text, &bytes_per_second));
                if (bytes_per_second <= 0) return Status::InvalidArgument("not above 0");
                options->rate_limiter.reset(NewGenericRateLimiter(bytes_per_second));
                return Status::OK();
              },
          .print = [](const DBOptions&) { return std::string(); },
      },
  };
};

constexpr char kTableFactory[] = "table_factory";
constexpr char kBlockBasedTableFields[] = "block_based_table_factory";
constexpr char kPlainTableFields[] = "plain_table_factory";

// An option whose value lists the options of one kind of table. Setting it selects that kind for
// the family. An open database keeps its kind.
template <const char* (*kTableName)()>
constexpr OptionEntry<ColumnFamilyOptions> TableFields(const char* name, bool is_mutable) {
  return {
      .name = name,
      .support = kHonoured,
      .is_mutable = is_mutable,
      .place = Place::kTextOnly,
      .parse =
          [](std::string_view text, ColumnFamilyOptions* options) {
            return SetTableFields(ParseRules{}, kTableName(), text, &options->table_factory);
          },
      .print = [](const ColumnFamilyOptions&) { return std::string(); },
      .parse_by_rules =
          [](const ParseRules& rules, std::string_view text, ColumnFamilyOptions* options) {
            const std::string kind =
                OptionCodec<std::shared_ptr<TableFactory>>::Print(options->table_factory);
            if (rules.only_mutable && kind != kTableName())
              return Status::InvalidArgument(
                  StrCat("the tables of the column family are ", kind, "s"));
            return SetTableFields(rules, kTableName(), text, &options->table_factory);
          },
      .has_table_options = true,
  };
}

constexpr OptionEntry<ColumnFamilyOptions> TableFactoryItself() {
  OptionEntry<ColumnFamilyOptions> entry =
      Option<&ColumnFamilyOptions::table_factory>(kTableFactory, kHonoured, kFixed);
  entry.parse_by_rules = [](const ParseRules& rules, std::string_view text,
                            ColumnFamilyOptions* options) {
    return SetTableFactory(rules, text, &options->table_factory);
  };
  return entry;
}

struct ColumnFamilyTable {
  using Struct = ColumnFamilyOptions;
  static constexpr OptionEntry<ColumnFamilyOptions> kEntries[] = {
      ASHLAR_OPTION(comparator, kHonoured, kFixed),
      ASHLAR_OPTION(merge_operator, kHonoured, kFixed),
      ASHLAR_OPTION(compaction_filter, kHonoured, kFixed),
      ASHLAR_OPTION(compaction_filter_factory, kHonoured, kFixed),
      ASHLAR_OPTION(write_buffer_size, kHonoured, kMutable),
      ASHLAR_OPTION(max_write_buffer_number, kHonoured, kMutable),
      ASHLAR_OPTION(min_write_buffer_number_to_merge, kHonoured, kFixed),
      ASHLAR_OPTION(max_write_buffer_number_to_maintain, kAccepted, kFixed),
      ASHLAR_OPTION(max_write_buffer_size_to_maintain, kAccepted, kFixed),
      ASHLAR_OPTION(memtable_factory, kHonoured, kFixed),
      ASHLAR_OPTION(arena_block_size, kAccepted, kMutable),
      ASHLAR_OPTION(memtable_prefix_bloom_size_ratio, kHonoured, kMutable),
      ASHLAR_OPTION(memtable_whole_key_filtering, kHonoured, kMutable),
      ASHLAR_OPTION(memtable_huge_page_size, kAccepted, kMutable),
      ASHLAR_OPTION(memtable_protection_bytes_per_key, kAccepted, kMutable),
      ASHLAR_OPTION(bloom_locality, kHonoured, kFixed),
      ASHLAR_OPTION(inplace_update_support, kRefusedWriting, kFixed),
      ASHLAR_OPTION(inplace_update_num_locks, kAccepted, kMutable),
      ASHLAR_OPTION(inplace_callback, kRefusedWriting, kFixed, Place::kTextOnly),
      ASHLAR_OPTION(experimental_mempurge_threshold, kAccepted, kMutable),
      ASHLAR_OPTION(memtable_insert_with_hint_prefix_extractor, kAccepted, kFixed),
      ASHLAR_OPTION(max_successive_merges, kHonoured, kMutable),
      ASHLAR_OPTION(num_levels, kHonoured, kFixed),
      ASHLAR_OPTION(compaction_style, kHonoured, kFixed),
      ASHLAR_OPTION(compaction_pri, kHonoured, kFixed),
      ASHLAR_OPTION(disable_auto_compactions, kHonoured, kMutable),
      ASHLAR_OPTION(level0_file_num_compaction_trigger, kHonoured, kMutable),
      ASHLAR_OPTION(level0_slowdown_writes_trigger, kHonoured, kMutable),
      ASHLAR_OPTION(level0_stop_writes_trigger, kHonoured, kMutable),
      ASHLAR_OPTION(target_file_size_base, kHonoured, kMutable),
      ASHLAR_OPTION(target_file_size_multiplier, kHonoured, kMutable),
      ASHLAR_OPTION(max_bytes_for_level_base, kHonoured, kMutable),
      ASHLAR_OPTION(max_bytes_for_level_multiplier, kHonoured, kMutable),
      ASHLAR_OPTION(max_bytes_for_level_multiplier_additional, kHonoured, kMutable),
      ASHLAR_OPTION(level_compaction_dynamic_level_bytes, kHonoured, kFixed),
      ASHLAR_OPTION(level_compaction_dynamic_file_size, kAccepted, kFixed),
      ASHLAR_OPTION(max_compaction_bytes, kHonoured, kMutable),
      ASHLAR_OPTION(ignore_max_compaction_bytes_for_input, kAccepted, kMutable),
      ASHLAR_OPTION(soft_pending_compaction_bytes_limit, kHonoured, kMutable),
      ASHLAR_OPTION(hard_pending_compaction_bytes_limit, kHonoured, kMutable),
      ASHLAR_OPTION(compaction_options_universal, kHonoured, kMutable),
      ASHLAR_OPTION(compaction_options_fifo, kHonoured, kMutable),
      ASHLAR_OPTION(ttl, kHonoured, kMutable),
      ASHLAR_OPTION(periodic_compaction_seconds, kHonoured, kMutable),
      ASHLAR_OPTION(sst_partitioner_factory, kHonoured, kFixed),
      ASHLAR_OPTION(compaction_thread_limiter, kAccepted, kFixed, Place::kTextOnly),
      ASHLAR_OPTION(preclude_last_level_data_seconds, kAccepted, kMutable),
      ASHLAR_OPTION(preserve_internal_time_seconds, kAccepted, kMutable),
      ASHLAR_OPTION(last_level_temperature, kAccepted, kMutable),
      ASHLAR_OPTION(report_bg_io_stats, kHonoured, kMutable),
      TableFactoryItself(),
      ASHLAR_OPTION(compression, kHonoured, kMutable),
      ASHLAR_OPTION(compression_per_level, kHonoured, kMutable),
      ASHLAR_OPTION(bottommost_compression, kHonoured, kMutable),
      ASHLAR_OPTION(compression_opts, kHonoured, kMutable),
      ASHLAR_OPTION(bottommost_compression_opts, kHonoured, kMutable),
      ASHLAR_OPTION(sample_for_compression, kAccepted, kMutable),
      ASHLAR_OPTION(prefix_extractor, kHonoured, kMutable),
      ASHLAR_OPTION(optimize_filters_for_hits, kHonoured, kFixed),
      ASHLAR_OPTION(table_properties_collector_factories, kHonoured, kFixed, Place::kTextOnly),
      ASHLAR_OPTION(cf_paths, kRefused, kFixed, Place::kTextOnly),
      ASHLAR_OPTION(paranoid_file_checks, kHonoured, kMutable),
      ASHLAR_OPTION(force_consistency_checks, kAccepted, kFixed),
      ASHLAR_OPTION(check_flush_compaction_key_order, kAccepted, kMutable),
      ASHLAR_OPTION(max_sequential_skip_in_iterations, kHonoured, kMutable),
      ASHLAR_OPTION(iterators_remember_gaps, kHonoured, kMutable, Place::kTextOnly),
      ASHLAR_OPTION(compact_dense_deletions, kHonoured, kMutable, Place::kTextOnly),
      ASHLAR_OPTION(enable_blob_files, kRefusedWriting, kMutable),
      ASHLAR_OPTION(min_blob_size, kAccepted, kMutable),
      ASHLAR_OPTION(blob_file_size, kAccepted, kMutable),
      ASHLAR_OPTION(blob_compression_type, kAccepted, kMutable),
      ASHLAR_OPTION(enable_blob_garbage_collection, kAccepted, kMutable),
      ASHLAR_OPTION(blob_garbage_collection_age_cutoff, kAccepted, kMutable),
      ASHLAR_OPTION(blob_garbage_collection_force_threshold, kAccepted, kMutable),
      ASHLAR_OPTION(blob_compaction_readahead_size, kAccepted, kMutable),
      ASHLAR_OPTION(blob_file_starting_level, kAccepted, kMutable),
      ASHLAR_OPTION(blob_cache, kAccepted, kFixed, Place::kTextOnly),
      ASHLAR_OPTION(prepopulate_blob_cache, kAccepted, kMutable),
      ASHLAR_OPTION(verify_output_flags, kHonoured, kMutable, Place::kTextOnly),
      ASHLAR_OPTION(target_file_size_is_upper_bound, kAccepted, kMutable, Place::kTextOnly),
      ASHLAR_OPTION(read_triggered_compaction_threshold, kAccepted, kMutable, Place::kTextOnly),
      ASHLAR_OPTION(bottommost_file_compaction_delay, kAccepted, kMutable, Place::kTextOnly),
      ASHLAR_OPTION(strict_max_successive_merges, kHonoured, kMutable, Place::kTextOnly),
      ASHLAR_OPTION(disallow_memtable_writes, kRefusedWriting, kFixed, Place::kTextOnly),
      ASHLAR_OPTION(cf_allow_ingest_behind, kHonoured, kFixed, Place::kTextOnly),
      ASHLAR_OPTION(default_temperature, kAccepted, kFixed, Place::kTextOnly),
      ASHLAR_OPTION(default_write_temperature, kAccepted, kMutable, Place::kTextOnly),
      ASHLAR_OPTION(memtable_op_scan_flush_trigger, kAccepted, kMutable, Place::kTextOnly),
      ASHLAR_OPTION(memtable_avg_op_scan_flush_trigger, kAccepted, kMutable, Place::kTextOnly),
      ASHLAR_OPTION(min_tombstones_for_range_conversion, kAccepted, kMutable, Place::kTextOnly),
      ASHLAR_OPTION(memtable_max_range_deletions, kAccepted, kMutable, Place::kTextOnly),
      ASHLAR_OPTION(memtable_batch_lookup_optimization, kAccepted, kMutable, Place::kTextOnly),
      ASHLAR_OPTION(memtable_verify_per_key_checksum_on_seek, kAccepted, kMutable,
                    Place::kTextOnly),
      ASHLAR_OPTION(paranoid_memory_checks, kAccepted, kMutable, Place::kTextOnly),
      ASHLAR_OPTION(block_protection_bytes_per_key, kAccepted, kMutable, Place::kTextOnly),
      ASHLAR_OPTION(uncache_aggressiveness, kAccepted, kMutable, Place::kTextOnly),
      ASHLAR_OPTION(persist_user_defined_timestamps, kAccepted, kFixed, Place::kTextOnly),
      ASHLAR_OPTION(enable_blob_direct_write, kRefusedWriting, kFixed, Place::kTextOnly),
      ASHLAR_OPTION(blob_direct_write_partitions, kAccepted, kMutable, Place::kTextOnly),
      // Other names of table_factory in text. Their values are its options alone.
      TableFields<&TableFactory::kBlockBasedTableName>(kBlockBasedTableFields, kMutable),
      TableFields<&TableFactory::kPlainTableName>(kPlainTableFields, kFixed),
      // Another name of memtable_factory in text.
      OptionEntry<ColumnFamilyOptions>{
          .name = "memtable",
          .support = kHonoured,
          .is_mutable = kFixed,
          .place = Place::kTextOnly,
          .parse =
              [](std::string_view text, ColumnFamilyOptions* options) {
                return OptionCodec<std::shared_ptr<MemTableRepFactory>>::Parse(
                    text, &options->memtable_factory);
              },
          .print = [](const ColumnFamilyOptions&) { return std::string(); },
      },
      // RocksDB's name of table_properties_collector_factories in text and in OPTIONS files.
      Option<&ColumnFamilyOptions::table_properties_collector_factories>(
          "table_properties_collectors", kHonoured, kFixed, Place::kTextOnly),
  };
};

// RocksDB 6.10 to 6.14 write 8 bytes for this option of 4 bytes. The upper half is format_version,
// so 17179869184 is 0 with format_version 4.
constexpr OptionEntry<BlockBasedTableOptions> ReadAmpBytesPerBit() {
  OptionEntry<BlockBasedTableOptions> entry =
      Option<&BlockBasedTableOptions::read_amp_bytes_per_bit>("read_amp_bytes_per_bit", kAccepted,
                                                              kMutable);
  entry.parse = [](std::string_view text, BlockBasedTableOptions* options) {
    uint64_t with_next_member = 0;
    ASHLAR_RETURN_IF_ERROR(OptionCodec<uint64_t>::Parse(text, &with_next_member));
    options->read_amp_bytes_per_bit = static_cast<uint32_t>(with_next_member);
    return Status::OK();
  };
  return entry;
}

// Changes of mutable options apply to tables that are written or opened later. block_cache and
// no_block_cache are fixed, because they decide where the blocks of open tables are.
struct BlockBasedTable {
  using Struct = BlockBasedTableOptions;
  static constexpr OptionEntry<BlockBasedTableOptions> kEntries[] = {
      ASHLAR_OPTION(block_cache, kHonoured, kFixed, Place::kTextOnly),
      ASHLAR_OPTION(no_block_cache, kHonoured, kFixed),
      ASHLAR_OPTION(cache_index_and_filter_blocks, kHonoured, kMutable),
      ASHLAR_OPTION(cache_index_and_filter_blocks_with_high_priority, kAccepted, kMutable),
      ASHLAR_OPTION(pin_l0_filter_and_index_blocks_in_cache, kAccepted, kMutable),
      ASHLAR_OPTION(pin_top_level_index_and_filter, kAccepted, kMutable),
      ASHLAR_OPTION(metadata_cache_options, kAccepted, kMutable),
      ASHLAR_OPTION(index_type, kHonoured, kMutable),
      ASHLAR_OPTION(data_block_index_type, kHonoured, kMutable),
      ASHLAR_OPTION(data_block_hash_table_util_ratio, kHonoured, kMutable),
      ASHLAR_OPTION(checksum, kHonoured, kMutable),
      ASHLAR_OPTION(block_size, kHonoured, kMutable),
      ASHLAR_OPTION(block_size_deviation, kHonoured, kMutable),
      ASHLAR_OPTION(block_restart_interval, kHonoured, kMutable),
      ASHLAR_OPTION(index_block_restart_interval, kHonoured, kMutable),
      ASHLAR_OPTION(metadata_block_size, kHonoured, kMutable),
      ASHLAR_OPTION(partition_filters, kHonoured, kMutable),
      ASHLAR_OPTION(decouple_partitioned_filters, kAccepted, kMutable, Place::kTextOnly),
      ASHLAR_OPTION(optimize_filters_for_memory, kAccepted, kMutable),
      ASHLAR_OPTION(use_delta_encoding, kHonoured, kMutable, Place::kTextOnly),
      ASHLAR_OPTION(filter_policy, kHonoured, kMutable),
      ASHLAR_OPTION(whole_key_filtering, kHonoured, kMutable),
      ASHLAR_OPTION(detect_filter_construct_corruption, kAccepted, kMutable),
      ASHLAR_OPTION(verify_compression, kAccepted, kMutable),
      ReadAmpBytesPerBit(),
      ASHLAR_OPTION(format_version, kHonoured, kMutable),
      ASHLAR_OPTION(enable_index_compression, kHonoured, kMutable),
      ASHLAR_OPTION(block_align, kHonoured, kMutable),
      ASHLAR_OPTION(index_shortening, kHonoured, kMutable),
      ASHLAR_OPTION(max_auto_readahead_size, kHonoured, kMutable),
      ASHLAR_OPTION(initial_auto_readahead_size, kHonoured, kMutable),
      ASHLAR_OPTION(num_file_reads_for_auto_readahead, kAccepted, kMutable),
      ASHLAR_OPTION(prepopulate_block_cache, kAccepted, kMutable),
      ASHLAR_OPTION(index_block_search_type, kAccepted, kMutable, Place::kTextOnly),
      ASHLAR_OPTION(uniform_cv_threshold, kAccepted, kMutable, Place::kTextOnly),
      ASHLAR_OPTION(separate_key_value_in_data_block, kAccepted, kMutable, Place::kTextOnly),
      ASHLAR_OPTION(super_block_alignment_size, kAccepted, kMutable, Place::kTextOnly),
      ASHLAR_OPTION(super_block_alignment_space_overhead_ratio, kAccepted, kMutable,
                    Place::kTextOnly),
      ASHLAR_OPTION(use_udi_as_primary_index, kRefusedWriting, kFixed, Place::kTextOnly),
      ASHLAR_OPTION(fail_if_no_udi_on_open, kRefused, kFixed, Place::kTextOnly),
  };
};

struct PlainTable {
  using Struct = PlainTableOptions;
  static constexpr OptionEntry<PlainTableOptions> kEntries[] = {
      ASHLAR_OPTION(user_key_len, kHonoured, kFixed),
      ASHLAR_OPTION(bloom_bits_per_key, kHonoured, kFixed),
      ASHLAR_OPTION(hash_table_ratio, kHonoured, kFixed),
      ASHLAR_OPTION(index_sparseness, kHonoured, kFixed),
      ASHLAR_OPTION(huge_page_tlb_size, kAccepted, kFixed),
      ASHLAR_OPTION(encoding_type, kHonoured, kFixed),
      ASHLAR_OPTION(full_scan_mode, kHonoured, kFixed),
      ASHLAR_OPTION(store_index_in_file, kHonoured, kFixed),
  };
};

#undef ASHLAR_OPTION

// ---- Names of other releases

// Names that were retired before the release whose format is written here, or added after it, and
// names of parts that have no member. Their defaults change nothing. Sorted.
constexpr std::string_view kNamesWithoutMember[] = {
    "allow_os_buffer",
    "base_background_compactions",
    "blob_compression_opts",
    "blob_direct_write_partition_strategy",
    "block_cache_compressed",
    "bottommost_temperature",
    "checksum",
    "compaction_measure_io_stats",
    "compression_manager",
    "concurrent_prepare",
    "disableDataSync",
    "disable_data_sync",
    "expanded_compaction_factor",
    "experimental_allow_mempurge",
    "experimental_mempurge_policy",
    "experimental_mempurge_threshold",
    "filter_deletes",
    "flush_block_policy_factory",
    "hard_rate_limit",
    "hash_index_allow_collision",
    "index_per_partition",
    "max_compressed_bytes_per_kb",
    "max_grandparent_overlap_factor",
    "max_mem_compaction_level",
    "memtable_prefix_bloom_bits",
    "memtable_prefix_bloom_huge_page_tlb_size",
    "memtable_prefix_bloom_probes",
    "memtable_veirfy_per_key_checksum_on_seek",
    "min_partial_merge_operands",
    "new_table_reader_for_compaction_inputs",
    "preserve_deletes",
    "purge_redundant_kvs_while_flush",
    "rate_limit_delay_max_milliseconds",
    "rate_limiter",
    "reserve_table_builder_memory",
    "reserve_table_reader_memory",
    "row_cache",
    "seq_per_batch",
    "skip_log_error_on_recovery",
    "skip_table_builder_flush",
    "snap_refresh_nanos",
    "soft_rate_limit",
    "source_compaction_factor",
    "ttl",
    "use_direct_writes",
    "user_defined_index_factory",
    "verify_checksums_in_compaction",
};
static_assert(std::is_sorted(std::begin(kNamesWithoutMember), std::end(kNamesWithoutMember)));

// The only object among these names that the reference release writes.
constexpr std::string_view kFlushBlockPolicy = "flush_block_policy_factory";
constexpr std::string_view kDefaultFlushBlockPolicy = "FlushBlockBySizePolicyFactory";

void NoteIgnored(const ParseRules& rules, std::string_view name, std::string_view value,
                 std::string_view why) {
  if (rules.ignored != nullptr) rules.ignored->push_back(StrCat(name, "=", value, ": ", why));
}

}  // namespace

std::span<const OptionEntry<DBOptions>> DbOptionTable() { return DbTable::kEntries; }
std::span<const OptionEntry<ColumnFamilyOptions>> ColumnFamilyOptionTable() {
  return ColumnFamilyTable::kEntries;
}
std::span<const OptionEntry<BlockBasedTableOptions>> BlockBasedTableOptionTable() {
  return BlockBasedTable::kEntries;
}
std::span<const OptionEntry<PlainTableOptions>> PlainTableOptionTable() {
  return PlainTable::kEntries;
}

template <>
std::span<const OptionEntry<DBOptions>> OptionTableOf() {
  return DbOptionTable();
}
template <>
std::span<const OptionEntry<ColumnFamilyOptions>> OptionTableOf() {
  return ColumnFamilyOptionTable();
}
template <>
std::span<const OptionEntry<BlockBasedTableOptions>> OptionTableOf() {
  return BlockBasedTableOptionTable();
}
template <>
std::span<const OptionEntry<PlainTableOptions>> OptionTableOf() {
  return PlainTableOptionTable();
}

bool IsNameWithoutMember(std::string_view name) {
  return std::binary_search(std::begin(kNamesWithoutMember), std::end(kNamesWithoutMember), name);
}

namespace {

template <typename Struct>
const OptionEntry<Struct>* FindOption(std::string_view name) {
  const auto table = OptionTableOf<Struct>();
  const auto entry = std::find_if(table.begin(), table.end(),
                                  [name](const OptionEntry<Struct>& e) { return name == e.name; });
  return entry == table.end() ? nullptr : &*entry;
}

// Returns why a name that is not in the struct's table is refused.
template <typename Struct>
std::string_view ReasonForUnknown([[maybe_unused]] std::string_view name) {
  if constexpr (std::is_same_v<Struct, ColumnFamilyOptions>) {
    if (FindOption<DBOptions>(name) != nullptr)
      return "it is an option of the database, not of a column family (DB::SetDBOptions)";
  }
  if constexpr (std::is_same_v<Struct, DBOptions>) {
    if (FindOption<ColumnFamilyOptions>(name) != nullptr)
      return "it is an option of a column family, not of the database (DB::SetOptions)";
  }
  return "there is no such option";
}

// Finds the option whose value is a list of fields. For a table factory: the option of its kind.
template <typename Struct>
const OptionEntry<Struct>* FindOptionWithFields(std::string_view name,
                                                [[maybe_unused]] const Struct& options) {
  if constexpr (std::is_same_v<Struct, ColumnFamilyOptions>) {
    if (name == kTableFactory) {
      const std::string kind =
          OptionCodec<std::shared_ptr<TableFactory>>::Print(options.table_factory);
      if (kind == TableFactory::kBlockBasedTableName()) name = kBlockBasedTableFields;
      if (kind == TableFactory::kPlainTableName()) name = kPlainTableFields;
    }
  }
  const OptionEntry<Struct>* const entry = FindOption<Struct>(name);
  const bool has_fields =
      entry != nullptr && (entry->append_idle_fields != nullptr || entry->has_table_options);
  return has_fields ? entry : nullptr;
}

}  // namespace

template <typename Struct>
Status SetOption(const ParseRules& rules, std::string_view name, std::string_view value,
                 Struct* options) {
  const OptionEntry<Struct>* const entry = FindOption<Struct>(name);
  if (entry == nullptr) {
    const size_t dot = name.find('.');
    const OptionEntry<Struct>* const whole =
        dot == std::string_view::npos ? nullptr
                                      : FindOptionWithFields(name.substr(0, dot), *options);
    if (whole != nullptr) {
      return SetOption(rules, whole->name, StrCat("{", name.substr(dot + 1), "={", value, "}}"),
                       options);
    }
    if (!rules.only_mutable && IsNameWithoutMember(name)) {
      NoteIgnored(rules, name, value, "not needed");
      // Records an object of the program. The other names without a member are plain values, or
      // unknown to the reference release.
      if (rules.unsupported != nullptr && name == kFlushBlockPolicy &&
          value != kDefaultFlushBlockPolicy) {
        rules.unsupported->emplace_back(
            name, rules.values_are_escaped ? UnescapeOptionText(value) : std::string(value));
      }
      return Status::OK();
    }
    if (!rules.ignore_unknown)
      return Status::InvalidArgument(StrCat("option ", name, ": ", ReasonForUnknown<Struct>(name)));
    NoteIgnored(rules, name, value, "unknown");
    return Status::OK();
  }
  if (rules.only_mutable && !entry->is_mutable) {
    return Status::InvalidArgument(
        StrCat("option ", name, ": cannot change while the database is open; set it at open"));
  }
  const std::string text =
      rules.values_are_escaped ? UnescapeOptionText(value) : std::string(value);
  ParseRules inside = rules;
  inside.values_are_escaped = false;  // `text` has no escapes
  const Status s = entry->parse_by_rules != nullptr ? entry->parse_by_rules(inside, text, options)
                                                    : entry->parse(text, options);
  if (s.ok()) return s;
  // Options without effect may have RocksDB values that are unknown here.
  const bool optional = rules.ignore_bad_values ||
                        (s.IsNotSupported() && rules.ignore_unsupported) ||
                        (entry->support == Support::kAccepted && rules.ignore_unknown);
  if (!optional) return s.WithContext(StrCat("option ", name, "=", text));
  if (s.IsNotSupported() && rules.unsupported != nullptr)
    rules.unsupported->emplace_back(name, text);
  NoteIgnored(rules, name, value, s.getState());
  return Status::OK();
}

namespace {

template <typename Struct>
bool ReadsBack(const OptionEntry<Struct>& entry, const std::string& value) {
  Struct read;
  return entry.parse(value, &read).ok();
}

}  // namespace

template <typename Struct>
OptionPairs PrintOptions(const Struct& options, Place place) {
  const bool to_text = place == Place::kTextOnly;
  const Struct defaults;
  OptionPairs out;
  for (const OptionEntry<Struct>& entry : OptionTableOf<Struct>()) {
    if (entry.place != Place::kFile && !to_text) continue;
    // Omits objects that files do not have, because null would remove those of the base options.
    if (entry.place != Place::kFile && entry.print(defaults) == kNullText) continue;
    if (entry.has_text != nullptr && !entry.has_text(options)) continue;
    const auto print = to_text && entry.print_text != nullptr ? entry.print_text : entry.print;
    std::string value = print(options);
    const bool says_nothing = value.empty() && entry.print(defaults).empty();
    if (says_nothing || (entry.place != Place::kFile && !ReadsBack(entry, value))) continue;
    out.emplace_back(entry.name, std::move(value));
  }
  return out;
}

template <typename Struct>
bool IsDefault(const Struct& options, std::string_view name) {
  const OptionEntry<Struct>* const entry = FindOption<Struct>(name);
  return entry != nullptr && entry->print(options) == entry->print(Struct());
}

template bool IsDefault(const DBOptions&, std::string_view);
template bool IsDefault(const ColumnFamilyOptions&, std::string_view);
template bool IsDefault(const BlockBasedTableOptions&, std::string_view);
template bool IsDefault(const PlainTableOptions&, std::string_view);
template Status SetOption(const ParseRules&, std::string_view, std::string_view, DBOptions*);
template Status SetOption(const ParseRules&, std::string_view, std::string_view,
                          ColumnFamilyOptions*);
template Status SetOption(const ParseRules&, std::string_view, std::string_view,
                          BlockBasedTableOptions*);
template Status SetOption(const ParseRules&, std::string_view, std::string_view,
                          PlainTableOptions*);
template OptionPairs PrintOptions(const DBOptions&, Place);
template OptionPairs PrintOptions(const ColumnFamilyOptions&, Place);
template OptionPairs PrintOptions(const BlockBasedTableOptions&, Place);
template OptionPairs PrintOptions(const PlainTableOptions&, Place);

}  // namespace ashlar
