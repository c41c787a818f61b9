// Options from and to text, for ashlar/convenience.h. The functions loop over the option tables.
#include "ashlar/convenience.h"

#include <algorithm>

#include "ashlar/db.h"
#include "base/compression.h"
#include "base/format.h"
#include "config/option_codec.h"
#include "config/option_table.h"
#include "config/option_text.h"

namespace ashlar {
namespace {

ParseRules RulesFrom(const ConfigOptions& config_options) {
  return {.ignore_unknown = config_options.ignore_unknown_options,
          .ignore_bad_values = config_options.ignore_unknown_options,
          .ignore_unsupported = config_options.ignore_unsupported_options,
          .values_are_escaped = config_options.input_strings_escaped,
          .only_mutable = config_options.mutable_options_only};
}

template <typename Struct>
Status ApplyPairs(const ConfigOptions& config_options, const OptionPairs& pairs, const Struct& base,
                  Struct* result) {
  Struct changed = base;
  const ParseRules rules = RulesFrom(config_options);
  for (const auto& [name, value] : pairs) {
    const Status s = SetOption(rules, name, value, &changed);
    if (!s.ok()) return Status::InvalidArgument(s.getState());  // even if it is NotSupported
  }
  *result = std::move(changed);
  return Status::OK();
}

template <typename Struct>
Status ApplyText(const ConfigOptions& config_options, const std::string& text, const Struct& base,
                 Struct* result) {
  ASHLAR_ASSIGN_OR_RETURN(const OptionPairs pairs, ParseOptionPairs(text));
  return ApplyPairs(config_options, pairs, base, result);
}

// Sorts a map by name, so that the same one of several errors is always reported.
OptionPairs Sorted(const std::unordered_map<std::string, std::string>& map) {
  OptionPairs pairs(map.begin(), map.end());
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

// Returns whether the struct has an option (only_mutable: a mutable option) of this name.
template <typename Struct>
bool IsNameOf(std::string_view name, bool only_mutable = false) {
  const auto table = OptionTableOf<Struct>();
  return std::any_of(table.begin(), table.end(),
                     [name, only_mutable](const OptionEntry<Struct>& entry) {
                       return name == entry.name && (entry.is_mutable || !only_mutable);
                     });
}

// Prints the options as text that the same ConfigOptions can parse.
template <typename Struct>
std::string PrintAll(const ConfigOptions& config_options, const Struct& options,
                     std::string_view delimiter) {
  OptionPairs pairs = PrintOptions(options, Place::kTextOnly);
  if (config_options.mutable_options_only)
    std::erase_if(pairs, [](const auto& pair) { return !IsNameOf<Struct>(pair.first, true); });
  return JoinOptionPairs(pairs, delimiter);
}

// Appends the options of one kind of table, if the family's tables are of this kind.
template <typename TableOptions>
void AppendTableOptions(const ConfigOptions& config_options, const TableFactory& factory,
                        std::string_view name, std::string* out) {
  const auto* const options = factory.GetOptions<TableOptions>();
  if (options == nullptr) return;
  if (config_options.mutable_options_only && !IsNameOf<ColumnFamilyOptions>(name, true)) return;
  StrAppend(out, name, "={", PrintAll(config_options, *options, ";"), "}",
            config_options.delimiter);
}

}  // namespace

Status GetDBOptionsFromMap(const ConfigOptions& config_options, const DBOptions& base_options,
                           const std::unordered_map<std::string, std::string>& opts_map,
                           DBOptions* new_options) {
  return ApplyPairs(config_options, Sorted(opts_map), base_options, new_options);
}
Status GetColumnFamilyOptionsFromMap(const ConfigOptions& config_options,
                                     const ColumnFamilyOptions& base_options,
                                     const std::unordered_map<std::string, std::string>& opts_map,
                                     ColumnFamilyOptions* new_options) {
  return ApplyPairs(config_options, Sorted(opts_map), base_options, new_options);
}
Status GetBlockBasedTableOptionsFromMap(
    const ConfigOptions& config_options, const BlockBasedTableOptions& table_options,
    const std::unordered_map<std::string, std::string>& opts_map,
    BlockBasedTableOptions* new_table_options) {
  return ApplyPairs(config_options, Sorted(opts_map), table_options, new_table_options);
}
Status GetPlainTableOptionsFromMap(const ConfigOptions& config_options,
                                   const PlainTableOptions& table_options,
                                   const std::unordered_map<std::string, std::string>& opts_map,
                                   PlainTableOptions* new_table_options) {
  return ApplyPairs(config_options, Sorted(opts_map), table_options, new_table_options);
}

Status GetDBOptionsFromString(const ConfigOptions& config_options, const DBOptions& base_options,
                              const std::string& opts_str, DBOptions* new_options) {
  return ApplyText(config_options, opts_str, base_options, new_options);
}
Status GetColumnFamilyOptionsFromString(const ConfigOptions& config_options,
                                        const ColumnFamilyOptions& base_options,
                                        const std::string& opts_str,
                                        ColumnFamilyOptions* new_options) {
  return ApplyText(config_options, opts_str, base_options, new_options);
}
Status GetBlockBasedTableOptionsFromString(const ConfigOptions& config_options,
                                           const BlockBasedTableOptions& table_options,
                                           const std::string& opts_str,
                                           BlockBasedTableOptions* new_table_options) {
  return ApplyText(config_options, opts_str, table_options, new_table_options);
}
Status GetPlainTableOptionsFromString(const ConfigOptions& config_options,
                                      const PlainTableOptions& table_options,
                                      const std::string& opts_str,
                                      PlainTableOptions* new_table_options) {
  return ApplyText(config_options, opts_str, table_options, new_table_options);
}

Status GetOptionsFromString(const ConfigOptions& config_options, const Options& base_options,
                            const std::string& opts_str, Options* new_options) {
  ASHLAR_ASSIGN_OR_RETURN(const OptionPairs pairs, ParseOptionPairs(opts_str));
  OptionPairs db_pairs;
  OptionPairs family_pairs;
  for (const auto& pair : pairs)
    (IsNameOf<DBOptions>(pair.first) ? db_pairs : family_pairs).push_back(pair);
  DBOptions db_options;
  ColumnFamilyOptions family_options;
  ASHLAR_RETURN_IF_ERROR(
      ApplyPairs<DBOptions>(config_options, db_pairs, base_options, &db_options));
  ASHLAR_RETURN_IF_ERROR(
      ApplyPairs<ColumnFamilyOptions>(config_options, family_pairs, base_options, &family_options));
  *new_options = Options(db_options, family_options);
  return Status::OK();
}

Status GetDBOptionsFromString(const DBOptions& base_options, const std::string& opts_str,
                              DBOptions* new_options) {
  return GetDBOptionsFromString(ConfigOptions(), base_options, opts_str, new_options);
}
Status GetColumnFamilyOptionsFromString(const ColumnFamilyOptions& base_options,
                                        const std::string& opts_str,
                                        ColumnFamilyOptions* new_options) {
  return GetColumnFamilyOptionsFromString(ConfigOptions(), base_options, opts_str, new_options);
}
Status GetBlockBasedTableOptionsFromString(const BlockBasedTableOptions& table_options,
                                           const std::string& opts_str,
                                           BlockBasedTableOptions* new_table_options) {
  return GetBlockBasedTableOptionsFromString(ConfigOptions(), table_options, opts_str,
                                             new_table_options);
}
Status GetPlainTableOptionsFromString(const PlainTableOptions& table_options,
                                      const std::string& opts_str,
                                      PlainTableOptions* new_table_options) {
  return GetPlainTableOptionsFromString(ConfigOptions(), table_options, opts_str,
                                        new_table_options);
}
Status GetOptionsFromString(const Options& base_options, const std::string& opts_str,
                            Options* new_options) {
  return GetOptionsFromString(ConfigOptions(), base_options, opts_str, new_options);
}

Status GetStringFromDBOptions(const ConfigOptions& config_options, const DBOptions& db_options,
                              std::string* opts_str) {
  *opts_str = PrintAll(config_options, db_options, config_options.delimiter);
  return Status::OK();
}
Status GetStringFromColumnFamilyOptions(const ConfigOptions& config_options,
                                        const ColumnFamilyOptions& cf_options,
                                        std::string* opts_str) {
  *opts_str = PrintAll(config_options, cf_options, config_options.delimiter);
  const TableFactory* const factory = cf_options.table_factory.get();
  if (factory == nullptr) return Status::OK();
  AppendTableOptions<BlockBasedTableOptions>(config_options, *factory, "block_based_table_factory",
                                             opts_str);
  AppendTableOptions<PlainTableOptions>(config_options, *factory, "plain_table_factory", opts_str);
  return Status::OK();
}
Status GetStringFromDBOptions(std::string* opts_str, const DBOptions& db_options,
                              const std::string& delimiter) {
  ConfigOptions config_options;
  config_options.delimiter = delimiter;
  return GetStringFromDBOptions(config_options, db_options, opts_str);
}
Status GetStringFromColumnFamilyOptions(std::string* opts_str,
                                        const ColumnFamilyOptions& cf_options,
                                        const std::string& delimiter) {
  ConfigOptions config_options;
  config_options.delimiter = delimiter;
  return GetStringFromColumnFamilyOptions(config_options, cf_options, opts_str);
}

Status GetStringFromCompressionType(std::string* compression_str,
                                    CompressionType compression_type) {
  *compression_str = OptionCodec<CompressionType>::Print(compression_type);
  if (compression_str->front() == 'k') return Status::OK();
  return Status::InvalidArgument(StrCat("there is no compression type ", *compression_str));
}

std::vector<CompressionType> GetSupportedCompressions() {
  std::vector<CompressionType> types = SupportedCompressionTypes();
  types.insert(types.begin(), kNoCompression);
  return types;
}

Status StringToMap(const std::string& opts_str,
                   std::unordered_map<std::string, std::string>* opts_map) {
  ASHLAR_ASSIGN_OR_RETURN(OptionPairs pairs, ParseOptionPairs(opts_str));
  opts_map->clear();
  for (auto& [name, value] : pairs) (*opts_map)[std::move(name)] = std::move(value);
  return Status::OK();
}

void CancelAllBackgroundWork(DB* db, bool wait) { db->CancelAllBackgroundWork(wait); }

Status DeleteFilesInRange(DB* db, ColumnFamilyHandle* column_family, const Slice* begin,
                          const Slice* end, bool include_end) {
  const RangePtr range(begin, end);
  return DeleteFilesInRanges(db, column_family, &range, 1, include_end);
}

Status DeleteFilesInRanges(DB* db, ColumnFamilyHandle* column_family, const RangePtr* ranges,
                           size_t n, bool include_end) {
  return db->DeleteFilesInRanges(column_family, ranges, n, include_end);
}

}  // namespace ashlar
