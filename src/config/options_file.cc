#include "config/options_file.h"

#include <algorithm>
#include <functional>
#include <iterator>

#include "ashlar/options_util.h"
#include "ashlar/version.h"
#include "base/format.h"
#include "config/option_codec.h"
#include "config/option_table.h"
#include "config/option_text.h"
#include "filesystem/file_helpers.h"
#include "filesystem/filename.h"

namespace ashlar {
namespace {

constexpr std::string_view kVersionSection = "Version";
constexpr std::string_view kDbSection = "DBOptions";
constexpr std::string_view kFamilySection = "CFOptions";
constexpr std::string_view kTableSectionPrefix = "TableOptions/";
constexpr std::string_view kFileVersion = "1.1";
constexpr std::string_view kAuthorLine =
    "# The options of this database. Written by Ashlar, in the form that RocksDB and its tools "
    "read.";
// Far above the size of any file that is written here. Each family takes some 7 KB.
constexpr size_t kFileBytesMax = size_t{1} << 30;

void AppendOption(std::string_view name, std::string_view value, std::string* out) {
  StrAppend(out, "  ", name, "=", EscapeOptionText(value), "\n");
}

bool IsUnset(const ColumnFamilyOptions& options, const UnsupportedOption& recorded) {
  const TableFactory* const factory = options.table_factory.get();
  const BlockBasedTableOptions defaults;
  const BlockBasedTableOptions* table =
      factory == nullptr ? nullptr : factory->GetOptions<BlockBasedTableOptions>();
  if (recorded.name == "table_factory") {
    // A factory with changed options was set by the program, even if it is of the default kind.
    return factory == nullptr ||
           (table != nullptr && PrintOptions(*table) == PrintOptions(defaults));
  }
  if (table == nullptr) table = &defaults;
  return IsDefault(options, recorded.name) || IsDefault(*table, recorded.name) ||
         IsNameWithoutMember(recorded.name);
}

// Calls append with the options of the family's tables.
template <typename Append>
void VisitTableOptions(const TableFactory* factory, const Append& append) {
  if (const auto* const plain =
          factory == nullptr ? nullptr : factory->GetOptions<PlainTableOptions>())
    return append(*plain);
  const auto* const block_based =
      factory == nullptr ? nullptr : factory->GetOptions<BlockBasedTableOptions>();
  append(block_based == nullptr ? BlockBasedTableOptions() : *block_based);
}

// Append omits this name, because it is kTextOnly. Its recorded value is printed again (I3).
constexpr std::string_view kCollectors = "table_properties_collectors";

// Prints the options of one family, or of the database. See I3.
class Printer {
 public:
  // unset: the result of SelectUnset.
  Printer(std::string_view column_family, const std::vector<UnsupportedOption>& unset,
          std::string* out)
      : out_(out) {
    for (const UnsupportedOption& option : unset) {
      if (option.column_family == column_family) recorded_.push_back(&option);
    }
  }

  template <typename Struct>
  void Append(const Struct& options) const {
    for (const auto& [name, value] : PrintOptions(options)) {
      const UnsupportedOption* const recorded = Find(name);
      AppendOption(name, recorded == nullptr ? value : recorded->value, out_);
    }
  }

  void AppendFamily(const ColumnFamilyDescriptor& family) const {
    const std::string name = EscapeOptionText(family.name);
    StrAppend(out_, "\n[", kFamilySection, " \"", name, "\"]\n");
    Append(family.options);
    if (const UnsupportedOption* const collectors = Find(kCollectors); collectors != nullptr)
      AppendOption(collectors->name, collectors->value, out_);
    const TableFactory* factory = family.options.table_factory.get();
    const std::string kind =
        factory == nullptr ? TableFactory::kBlockBasedTableName() : factory->Name();
    const UnsupportedOption* const recorded_table = Find("table_factory");
    StrAppend(out_, "\n[", kTableSectionPrefix,
              recorded_table == nullptr ? kind : recorded_table->ObjectName(), " \"", name,
              "\"]\n");
    if (recorded_table != nullptr) {
      for (const auto& [option, value] : recorded_table->fields) AppendOption(option, value, out_);
      return;
    }
    VisitTableOptions(factory, [this](const auto& options) { Append(options); });
    if (factory != nullptr && factory->GetOptions<PlainTableOptions>() != nullptr) return;
    for (const UnsupportedOption* recorded : recorded_) {
      if (IsNameWithoutMember(recorded->name)) AppendOption(recorded->name, recorded->value, out_);
    }
  }

 private:
  const UnsupportedOption* Find(std::string_view name) const {
    const auto found =
        std::find_if(recorded_.begin(), recorded_.end(),
                     [name](const UnsupportedOption* option) { return option->name == name; });
    return found == recorded_.end() ? nullptr : *found;
  }

  std::vector<const UnsupportedOption*> recorded_;
  std::string* const out_;
};

template <typename Struct>
void AppendLogLines(std::string_view prefix, const Struct& options, std::string* out) {
  for (const auto& [name, value] : PrintOptions(options)) {
    StrAppend(out, prefix, name, ": ",
              value == "true" ? "1" : (value == "false" ? "0" : EscapeForDisplay(value)), "\n");
  }
}

// Reads a file line by line. States: nothing yet -> Version -> DBOptions -> CFOptions ->
// TableOptions -> CFOptions ...
class Parser {
 public:
  Parser(const std::string& source, const OptionsFileRules& rules) : source_(source) {
    rules_ = ParseRules{.ignore_unknown = rules.ignore_unknown,
                        .ignore_unsupported = rules.ignore_unsupported,
                        .values_are_escaped = true,
                        .ignored = &file_.ignored,
                        .unsupported = &unsupported_};
    ignore_newer_values_ = rules.ignore_newer_values;
  }

  Result<ParsedOptionsFile> Run(std::string_view text) {
    file_.by_ashlar = text.starts_with(kAuthorLine);
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      ++line_number_;
      Status s = TakeLine(StripComment(text.substr(0, end)));
      if (!s.ok()) return s.WithContext(StrCat(source_, ": line ", line_number_));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    FinishTable();
    if (!has_version_) return Missing(kVersionSection);
    if (!has_db_) return Missing(kDbSection);
    if (file_.families.empty()) return Missing(kFamilySection);
    if (file_.families.front().name != kDefaultColumnFamilyName)
      return Bad("the first column family is not \"default\"").WithContext(source_);
    return std::move(file_);
  }

 private:
  enum class Section { kNone, kVersion, kDb, kFamily, kBlockBasedTable, kPlainTable, kOtherTable };

  // A truncated file, or one that is no OPTIONS file, must not pass for options.
  Status Missing(std::string_view section) const {
    return Status::Corruption(StrCat(source_, ": there is no section [", section, "]"));
  }
  static Status Bad(std::string_view what) { return Status::InvalidArgument(what); }

  Status TakeLine(std::string_view line) {
    if (line.empty()) return Status::OK();
    if (line.front() == '[') return TakeSection(line);
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) return Bad("neither a section nor name=value");
    const std::string_view name = TrimSpaces(line.substr(0, equals));
    const std::string_view value = TrimSpaces(line.substr(equals + 1));
    if (name.empty()) return Bad("no name before '='");
    return TakeOption(name, value);
  }

  Status TakeSection(std::string_view line) {
    FinishTable();
    if (line.back() != ']') return Bad("a section without ']'");
    line = line.substr(1, line.size() - 2);
    const size_t quote = line.find('"');
    const std::string_view title = TrimSpaces(line.substr(0, quote));
    std::string argument;
    if (quote != std::string_view::npos) {
      const size_t last_quote = line.rfind('"');
      if (last_quote == quote) return Bad("a section with one quotation mark");
      argument = UnescapeOptionText(line.substr(quote + 1, last_quote - quote - 1));
    }
    if (title == kVersionSection) return Enter(Section::kVersion, &has_version_);
    if (!has_version_) return Bad("the first section is not [Version]");
    if (title == kDbSection) return Enter(Section::kDb, &has_db_);
    if (!has_db_) return Bad("the second section is not [DBOptions]");
    if (title == kFamilySection) return EnterFamily(argument);
    if (title.starts_with(kTableSectionPrefix))
      return EnterTable(title.substr(kTableSectionPrefix.size()), argument);
    return Bad(StrCat("unknown section ", title));
  }

  Status Enter(Section section, bool* seen) {
    if (*seen) return Bad("a section that was there before");
    *seen = true;
    section_ = section;
    return Status::OK();
  }

  Status EnterFamily(const std::string& name) {
    for (const ColumnFamilyDescriptor& family : file_.families) {
      if (family.name == name)
        return Bad(StrCat("column family ", NameForDisplay(name), " was there before"));
    }
    file_.families.emplace_back(name, ColumnFamilyOptions());
    section_ = Section::kFamily;
    return Status::OK();
  }

  Status EnterTable(std::string_view factory, const std::string& family) {
    if (file_.families.empty() || file_.families.back().name != family)
      return Bad("table options without their column family before them");
    section_ = Section::kOtherTable;
    if (factory == TableFactory::kBlockBasedTableName()) {
      section_ = Section::kBlockBasedTable;
      table_.reset(NewBlockBasedTableFactory());
    } else if (factory == TableFactory::kPlainTableName()) {
      section_ = Section::kPlainTable;
      table_.reset(NewPlainTableFactory());
    }
    return Status::OK();
  }

  // Moves the unsupported entries of the last option to file_.
  void TakeUnsupported() {
    for (auto& [name, value] : unsupported_) {
      const std::string family =
          section_ == Section::kDb ? std::string() : file_.families.back().name;
      if (name != "comparator")
        file_.unsupported.push_back(
            {.column_family = family, .name = std::move(name), .value = std::move(value)});
    }
    unsupported_.clear();
  }

  // Takes an option of a table factory that is not implemented.
  void TakeField(std::string_view name, std::string_view value) {
    file_.ignored.push_back(
        StrCat(name, "=", value, ": of a table factory that is not implemented"));
    for (UnsupportedOption& option : file_.unsupported) {
      if (option.column_family != file_.families.back().name || option.name != "table_factory")
        continue;
      option.fields.emplace_back(name, UnescapeOptionText(value));
    }
  }

  void FinishTable() {
    if (table_ != nullptr) file_.families.back().options.table_factory = std::move(table_);
    section_ = Section::kNone;
  }

  Status TakeOption(std::string_view name, std::string_view value) {
    const Status set = SetInSection(name, value);
    const bool is_of_options = section_ != Section::kVersion && section_ != Section::kNone;
    if (!set.IsInvalidArgument() || !is_newer_ || !ignore_newer_values_ || !is_of_options)
      ASHLAR_RETURN_IF_ERROR(set);
    if (!set.ok()) file_.ignored.push_back(StrCat(name, "=", value, ": ", set.getState()));
    TakeUnsupported();
    return Status::OK();
  }

  Status SetInSection(std::string_view name, std::string_view value) {
    switch (section_) {
      case Section::kVersion: return TakeVersion(name, value);
      case Section::kDb: return SetOption(rules_, name, value, &file_.db_options);
      case Section::kFamily: return SetOption(rules_, name, value, &file_.families.back().options);
      case Section::kBlockBasedTable:
        return SetOption(rules_, name, value, table_->GetOptions<BlockBasedTableOptions>());
      case Section::kPlainTable:
        return SetOption(rules_, name, value, table_->GetOptions<PlainTableOptions>());
      case Section::kOtherTable: TakeField(name, value); return Status::OK();
      case Section::kNone: break;
    }
    return Bad("an option before the first section");
  }

  Status TakeVersion(std::string_view name, std::string_view value) {
    if (name == "options_file_version") {
      if (value != "1" && !value.starts_with("1."))
        return Bad(StrCat("options_file_version ", value, " is unknown; 1.x can be read"));
    } else if (name == "rocksdb_version") {
      file_.rocksdb_version = value;
      is_newer_ = IsNewer(value);
      if (is_newer_) rules_.ignore_unknown = true;
    }
    return Status::OK();
  }

  // Returns whether the version is newer than the release whose names are all known here.
  static bool IsNewer(std::string_view version) {
    const size_t dot = version.find('.');
    uint64_t major;
    uint64_t minor;
    if (dot == std::string_view::npos || !ParseUint64(version.substr(0, dot), &major)) return false;
    const std::string_view rest = version.substr(dot + 1);
    if (!ParseUint64(rest.substr(0, rest.find('.')), &minor)) return false;
    return major > kRocksDbFormatMajor ||
           (major == kRocksDbFormatMajor && minor > kRocksDbFormatMinor);
  }

  const std::string source_;
  ParseRules rules_;
  bool ignore_newer_values_ = false;
  bool is_newer_ = false;
  ParsedOptionsFile file_;
  OptionPairs unsupported_;  // of the option that is being read
  Section section_ = Section::kNone;
  // The factory of the section that is being read. Null if the section is not a table's.
  std::unique_ptr<TableFactory> table_;
  bool has_version_ = false;
  bool has_db_ = false;
  size_t line_number_ = 0;
};

}  // namespace

std::vector<UnsupportedOption> SelectUnset(const std::vector<UnsupportedOption>& recorded,
                                           const DBOptions& db_options,
                                           const std::vector<ColumnFamilyDescriptor>& families) {
  std::vector<UnsupportedOption> unset;
  std::copy_if(recorded.begin(), recorded.end(), std::back_inserter(unset),
               [&](const UnsupportedOption& option) {
                 if (option.column_family.empty()) return IsDefault(db_options, option.name);
                 const auto named = [&option](const ColumnFamilyDescriptor& family) {
                   return family.name == option.column_family;
                 };
                 const auto family = std::find_if(families.begin(), families.end(), named);
                 return family != families.end() && IsUnset(family->options, option);
               });
  return unset;
}

std::string PrintOptionsFile(const DBOptions& db_options,
                             const std::vector<ColumnFamilyDescriptor>& families,
                             const std::vector<UnsupportedOption>& unsupported) {
  std::string out = StrCat(kAuthorLine, "\n\n");
  StrAppend(&out, "[", kVersionSection, "]\n  rocksdb_version=", kRocksDbFormatMajor, ".",
            kRocksDbFormatMinor, ".", kRocksDbFormatPatch,
            "\n  options_file_version=", kFileVersion, "\n\n[", kDbSection, "]\n");
  const std::vector<UnsupportedOption> unset = SelectUnset(unsupported, db_options, families);
  Printer("", unset, &out).Append(db_options);
  const auto is_default = [](const ColumnFamilyDescriptor& family) {
    return family.name == kDefaultColumnFamilyName;
  };
  for (const ColumnFamilyDescriptor& family : families) {
    if (is_default(family)) Printer(family.name, unset, &out).AppendFamily(family);
  }
  for (const ColumnFamilyDescriptor& family : families) {
    if (!is_default(family)) Printer(family.name, unset, &out).AppendFamily(family);
  }
  return out;
}

std::string PrintOptionsForLog(const DBOptions& options) {
  std::string out;
  AppendLogLines("                 Options.", options, &out);
  return out;
}

std::string PrintOptionsForLog(const ColumnFamilyOptions& options) {
  std::string out;
  AppendLogLines("                 Options.", options, &out);
  out += "           table_factory options:\n";
  VisitTableOptions(options.table_factory.get(),
                    [&out](const auto& table) { AppendLogLines("  ", table, &out); });
  return out;
}

std::string PrintOptionsForLog(const DBOptions& db_options,
                               const std::vector<ColumnFamilyDescriptor>& families) {
  std::string out = PrintOptionsForLog(db_options);
  for (const ColumnFamilyDescriptor& family : families) {
    StrAppend(&out, "--------------- Options for column family [", NameForDisplay(family.name),
              "]:\n", PrintOptionsForLog(family.options));
  }
  return out;
}

Result<ParsedOptionsFile> ParseOptionsFile(std::string_view text, const std::string& source,
                                           const OptionsFileRules& rules) {
  return Parser(source, rules).Run(text);
}

Result<ParsedOptionsFile> ReadOptionsFile(vfs::FileSystem* file_system, const std::string& path,
                                          const OptionsFileRules& rules) {
  ASHLAR_ASSIGN_OR_RETURN(const std::string text,
                          ReadFileToString(file_system, path, kFileBytesMax));
  return ParseOptionsFile(text, path, rules);
}

Status WriteOptionsFile(vfs::FileSystem* file_system, const std::string& directory, uint64_t number,
                        std::string_view text) {
  const std::string temporary = TempOptionsFileName(directory, number);
  ASHLAR_RETURN_IF_ERROR(WriteStringToFile(file_system, text, temporary, Durability::kSynced));
  ASHLAR_RETURN_IF_ERROR(file_system->RenameFile(temporary, OptionsFileName(directory, number)));
  std::unique_ptr<vfs::Directory> handle;
  ASHLAR_RETURN_IF_ERROR(file_system->NewDirectory(directory, &handle));
  return handle->Sync();
}

Result<std::vector<uint64_t>> ListOptionsFiles(vfs::FileSystem* file_system,
                                               const std::string& directory) {
  std::vector<std::string> names;
  ASHLAR_RETURN_IF_ERROR(file_system->GetChildren(directory, &names));
  std::vector<uint64_t> numbers;
  for (const std::string& name : names) {
    uint64_t number;
    FileType type;
    if (ParseFileName(name, &number, &type) && type == FileType::kOptionsFile)
      numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end(), std::greater<>());
  return numbers;
}

Result<uint64_t> FindNewestOptionsFile(vfs::FileSystem* file_system, const std::string& directory) {
  ASHLAR_ASSIGN_OR_RETURN(const std::vector<uint64_t> numbers,
                          ListOptionsFiles(file_system, directory));
  if (numbers.empty() || numbers.front() == 0)
    return Status::NotFound(directory, "there is no OPTIONS file");
  return numbers.front();
}

// ---- ashlar/options_util.h

namespace {

// Returns NotFound for a missing directory, because programs create a database after NotFound.
Result<uint64_t> NewestOptionsFileOrNotFound(Env* env, const std::string& dbpath) {
  Result<uint64_t> number = FindNewestOptionsFile(env->EngineFiles().get(), dbpath);
  if (!number.status().IsPathNotFound()) return number;
  return Status::Error(Status::kNotFound, Status::kPathNotFound, dbpath,
                       "does not exist, so there is no OPTIONS file");
}

}  // namespace

Status GetLatestOptionsFileName(const std::string& dbpath, Env* env,
                                std::string* options_file_name) {
  ASHLAR_ASSIGN_OR_RETURN(const uint64_t number, NewestOptionsFileOrNotFound(env, dbpath));
  *options_file_name = BaseName(OptionsFileName(dbpath, number));
  return Status::OK();
}

std::string UnsupportedOption::ObjectName() const { return ObjectNameIn(value); }

Status LoadOptionsFromFile(const ConfigOptions& config_options,
                           const std::string& options_file_name, DBOptions* db_options,
                           std::vector<ColumnFamilyDescriptor>* cf_descs,
                           std::shared_ptr<Cache>* cache) {
  std::vector<UnsupportedOption> unsupported;
  return LoadOptionsFromFile(config_options, options_file_name, db_options, cf_descs, cache,
                             &unsupported);
}

Status LoadOptionsFromFile(const ConfigOptions& config_options,
                           const std::string& options_file_name, DBOptions* db_options,
                           std::vector<ColumnFamilyDescriptor>* cf_descs,
                           std::shared_ptr<Cache>* cache,
                           std::vector<UnsupportedOption>* unsupported) {
  const OptionsFileRules rules{.ignore_unknown = config_options.ignore_unknown_options,
                               .ignore_unsupported = config_options.ignore_unsupported_options};
  ASHLAR_ASSIGN_OR_RETURN(
      ParsedOptionsFile file,
      ReadOptionsFile(config_options.env->EngineFiles().get(), options_file_name, rules));
  *db_options = file.db_options;
  db_options->env = config_options.env;
  *cf_descs = std::move(file.families);
  *unsupported = std::move(file.unsupported);
  if (cache == nullptr) return Status::OK();
  for (ColumnFamilyDescriptor& family : *cf_descs) {
    BlockBasedTableOptions* table =
        family.options.table_factory->GetOptions<BlockBasedTableOptions>();
    if (table != nullptr && !table->no_block_cache) table->block_cache = *cache;
  }
  return Status::OK();
}

Status LoadLatestOptions(const ConfigOptions& config_options, const std::string& dbpath,
                         DBOptions* db_options, std::vector<ColumnFamilyDescriptor>* cf_descs,
                         std::shared_ptr<Cache>* cache) {
  uint64_t missing = 0;
  for (;;) {
    ASHLAR_ASSIGN_OR_RETURN(const uint64_t number,
                            NewestOptionsFileOrNotFound(config_options.env, dbpath));
    Status loaded = LoadOptionsFromFile(config_options, OptionsFileName(dbpath, number), db_options,
                                        cf_descs, cache);
    // A writer deletes a file once there are two newer ones, so this retries with the newest.
    if (!loaded.IsPathNotFound() || number == missing) return loaded;
    missing = number;
  }
}

}  // namespace ashlar
