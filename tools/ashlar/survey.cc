#include "tools/ashlar/survey.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "ashlar/comparator.h"
#include "ashlar/merge_operator.h"
#include "tools/ashlar/database_directory.h"

namespace ashlar::cli {
namespace {

// The numbers of the OPTIONS files, newest first.
Outcome ListOptionsFiles(const std::string& directory, std::vector<uint64_t>* numbers) {
  constexpr std::string_view kPrefix = "OPTIONS-";
  numbers->clear();
  std::vector<std::string> names;
  ASHLAR_CLI_RETURN_IF_FAILED(ListFiles(directory, &names));
  for (const std::string& name : names) {
    if (!name.starts_with(kPrefix)) continue;
    uint64_t number = 0;
    const std::from_chars_result parsed =
        std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), number);
    if (parsed.ec == std::errc() && parsed.ptr == name.data() + name.size())
      numbers->push_back(number);
  }
  std::sort(numbers->begin(), numbers->end(), std::greater<>());
  return {};
}

std::string OptionsFileName(uint64_t number) {
  std::string digits = std::to_string(number);
  if (digits.size() < 6) digits.insert(0, 6 - digits.size(), '0');
  return "OPTIONS-" + digits;
}

// Reads the newest readable OPTIONS file. Sets *vanished if one was deleted after it was listed.
void ReadNewest(const std::string& directory, const std::vector<uint64_t>& numbers, Survey* survey,
                std::vector<ColumnFamilyDescriptor>* recorded, bool* vanished) {
  ConfigOptions config;
  config.ignore_unknown_options = true;
  survey->options_damage = {};
  *vanished = false;
  for (const uint64_t number : numbers) {
    const std::string name = OptionsFileName(number);
    Status status = LoadOptionsFromFile(config, directory + "/" + name, &survey->db_options,
                                        recorded, nullptr, &survey->unsupported);
    if (status.ok()) {
      survey->options_used = name;
      return;
    }
    *vanished |= status.IsPathNotFound();
    // A setting that cannot be read is not the caller's mistake. The file is damaged.
    if (status.IsInvalidArgument()) status = Status::Corruption(status.getState());
    if (survey->options_damage.ok())
      survey->options_damage = FromStatus(status, "cannot read the options");
  }
}

}  // namespace

Outcome ReadOptionsFile(const std::string& directory, Survey* survey,
                        std::vector<ColumnFamilyDescriptor>* recorded) {
  std::vector<uint64_t> numbers;
  ASHLAR_CLI_RETURN_IF_FAILED(ListOptionsFiles(directory, &numbers));
  for (;;) {
    bool vanished = false;
    ReadNewest(directory, numbers, survey, recorded, &vanished);
    if (!vanished) return {};
    // The program that has the database open has written newer files, and deleted the listed
    // ones.
    const std::vector<uint64_t> before = std::exchange(numbers, {});
    ASHLAR_CLI_RETURN_IF_FAILED(ListOptionsFiles(directory, &numbers));
    if (numbers == before) return {};
  }
}

Outcome ReadSurvey(const GlobalOptions& global, Survey* survey) {
  const std::string& directory = global.database;
  DirectoryState state;
  ASHLAR_CLI_RETURN_IF_FAILED(InspectDirectory(directory, &state));
  if (state != DirectoryState::kDatabase) return NoDatabase(directory, state);
  ASHLAR_CLI_RETURN_IF_FAILED(FromStatus(ReadInventory(DBOptions(), directory, &survey->inventory),
                                         "cannot open " + directory));
  std::vector<ColumnFamilyDescriptor> recorded;
  ASHLAR_CLI_RETURN_IF_FAILED(ReadOptionsFile(directory, survey, &recorded));
  // The MANIFEST has the families and their comparators. The OPTIONS file may be older, or
  // missing.
  for (const ColumnFamilyInventory& family : survey->inventory.column_families) {
    const std::string& name = family.metadata.name;
    const auto found =
        std::find_if(recorded.begin(), recorded.end(),
                     [&](const ColumnFamilyDescriptor& other) { return other.name == name; });
    survey->families.push_back(
        found == recorded.end() ? ColumnFamilyDescriptor(name, ColumnFamilyOptions()) : *found);
    if (const Comparator* known = KnownComparator(family.comparator))
      survey->families.back().options.comparator = known;
  }
  return {};
}

void Survey::WarnOfOptions(const GlobalOptions& global) const {
  if (options_damage.ok()) return;
  global.Warn(options_damage.what +
              "; used instead: " + (options_used.empty() ? "the defaults" : options_used));
}

Outcome Survey::CheckWritable(const GlobalOptions& global) const {
  if (!options_damage.ok() && !global.ignore_damaged_options) {
    Outcome damage = options_damage;
    damage.advice =
        "commands that read work; --ignore-damaged-options writes with " +
        (options_used.empty() ? std::string("the defaults") : "the options of " + options_used) +
        ", and replaces the damaged file";
    return damage;
  }
  for (const ColumnFamilyDescriptor& family : families) {
    const UnsupportedOption* const factory = FindUnsupported(family.name, "table_factory");
    if (factory == nullptr) continue;
    return {.code = ExitCode::kNotSupported,
            .what = "column family " + family.name + " has the table factory " +
                    factory->ObjectName() + ", which only its program has",
            .advice =
                "its tables would be written in a format that the program may not read; commands "
                "that read may work"};
  }
  return {};
}

Outcome Survey::ChosenFamilies(const GlobalOptions& global,
                               std::vector<const ColumnFamilyInventory*>* chosen) const {
  chosen->clear();
  for (const ColumnFamilyInventory& family : inventory.column_families) {
    if (!global.column_family || family.metadata.name == *global.column_family)
      chosen->push_back(&family);
  }
  return chosen->empty() ? NoSuchFamily(*global.column_family) : Outcome();
}

std::string Survey::MergeOperatorOf(const std::string& column_family) const {
  for (const ColumnFamilyDescriptor& family : families) {
    if (family.name == column_family && family.options.merge_operator != nullptr)
      return family.options.merge_operator->Name();
  }
  const UnsupportedOption* const unknown = FindUnsupported(column_family, "merge_operator");
  return unknown == nullptr ? std::string() : unknown->ObjectName();
}

Outcome Survey::CheckRecordsNoOther(const std::string& column_family,
                                    const std::string& merge_operator) const {
  const std::string recorded = MergeOperatorOf(column_family);
  if (recorded.empty() || recorded == merge_operator) return {};
  return {.code = ExitCode::kUsage,
          .what = "column family " + column_family + " has the merge operator " + recorded,
          .advice = "leave --merge-operator out"};
}

const UnsupportedOption* Survey::FindUnsupported(const std::string& column_family,
                                                 const std::string& option) const {
  const auto found =
      std::find_if(unsupported.begin(), unsupported.end(), [&](const UnsupportedOption& candidate) {
        return candidate.column_family == column_family && candidate.name == option;
      });
  return found == unsupported.end() ? nullptr : &*found;
}

Outcome MakeMergeOperator(const GlobalOptions& global,
                          std::shared_ptr<MergeOperator>* merge_operator) {
  if (!global.merge_operator) return {};
  const Status status = MergeOperators::CreateFromStringId(*global.merge_operator, merge_operator);
  if (status.ok()) return {};
  return {.code = ExitCode::kUsage,
          .what = "--merge-operator: " + status.ToString(),
          .advice = "uint64add, stringappend, put and max are known"};
}

Outcome CheckTableHasNoOther(const std::string& column_family, const std::string& table,
                             const TableProperties& properties, const std::string& merge_operator) {
  const std::string& name = properties.merge_operator_name;
  if (name.empty() || name == "nullptr" || name == merge_operator) return {};
  return {.code = ExitCode::kUsage,
          .what = "table " + table + " of column family " + column_family +
                  " was written with the merge operator " + name,
          .advice = "leave --merge-operator out, or name that operator"};
}

const Comparator* KnownComparator(const std::string& name) {
  for (const Comparator* known : {BytewiseComparator(), ReverseBytewiseComparator()}) {
    if (name == known->Name()) return known;
  }
  return nullptr;
}

Outcome UnknownComparator(const ColumnFamilyInventory& family) {
  return {.code = ExitCode::kNotSupported,
          .what = "column family " + family.metadata.name + " is ordered by the comparator " +
                  family.comparator + ", which only its program has",
          .advice = "column-families, stats and verify work without it"};
}

Outcome NoSuchFamily(const std::string& name) {
  return {.code = ExitCode::kUsage,
          .what = "there is no column family " + name,
          .advice = "column-families lists them; load and put --create make new ones"};
}

}  // namespace ashlar::cli
