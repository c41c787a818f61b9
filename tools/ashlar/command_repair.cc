// repair: makes a damaged database one that can be opened.
//
//   --dry-run   lists the kept and the lost parts of each column family and file, changes nothing
//   --force     repairs, and lists the same rows
//
// Writes a row for each column family, then one for each table and log. The options are those of
// the newest readable OPTIONS file. Families that it does not name get the defaults. If it is not
// the newest file, --ignore-damaged-options is required, because it may name another wal_dir, and a
// repair omits the writes of logs that it does not find.
#include <charconv>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/inspect.h"
#include "ashlar/merge_operator.h"
#include "ashlar/repair.h"
#include "platform/file.h"
#include "tools/ashlar/command.h"
#include "tools/ashlar/database_directory.h"
#include "tools/ashlar/survey.h"

namespace ashlar::cli {
namespace {

const char* NameOf(RepairFate fate) {
  switch (fate) {
    case RepairFate::kKept: return "kept";
    case RepairFate::kRecovered: return "recovered";
    case RepairFate::kSalvaged: return "salvaged";
    case RepairFate::kReplayed: return "replayed";
    case RepairFate::kLeftOut: return "left out";
    case RepairFate::kUnreadable: return "unreadable";
    case RepairFate::kMissing: return "missing";
  }
  return "";
}

// Returns false if the file is no table or cannot be read, which the repair reports.
bool ReadTable(const DBOptions& options, const std::string& directory, std::string_view name,
               TableProperties* properties) {
  constexpr std::string_view kEnd = ".sst";
  if (!name.ends_with(kEnd)) return false;
  SstFileMetaData table;
  table.directory = directory;
  const char* const end = name.data() + name.size() - kEnd.size();
  const std::from_chars_result parsed = std::from_chars(name.data(), end, table.file_number);
  if (parsed.ec != std::errc() || parsed.ptr != end) return false;
  const Result<FileInfo> info = GetFileInfo(directory + "/" + std::string(name));
  if (!info.ok()) return false;
  table.size = info->bytes;
  for (const Comparator* const order : {BytewiseComparator(), ReverseBytewiseComparator()}) {
    if (ReadTableProperties(options, table, order->Name(), properties).ok()) return true;
  }
  return false;
}

class RepairCommand final : public Command {
 public:
  const char* Name() const override { return "repair"; }
  const char* Summary() const override {
    return "Make a damaged database one that can be opened; --dry-run lists the losses";
  }

  void Declare(OptionSet* options) override {
    options->Flag("--dry-run", "Report what would be kept and lost, and change nothing", &dry_run_);
    options->Flag("--force", "Repair; what is damaged or left out is moved to lost/", &force_);
  }

  Outcome Run(const GlobalOptions& global) override {
    if (dry_run_ == force_) {
      return {.code = ExitCode::kUsage,
              .what = "repair needs either --dry-run or --force",
              .advice = "look at what --dry-run reports first"};
    }
    DirectoryState state;
    ASHLAR_CLI_RETURN_IF_FAILED(InspectDirectory(global.database, &state));
    // CURRENT may be the lost file. The library refuses a directory without files of a database.
    if (!IsDirectory(state)) return NoDatabase(global.database, state);
    Survey survey;
    ColumnFamilyOptions unknown;
    ASHLAR_CLI_RETURN_IF_FAILED(ReadOptions(global, &survey));
    ASHLAR_CLI_RETURN_IF_FAILED(ApplyMergeOperator(global, &survey, &unknown));
    const Outcome logs = PlaceLogs(global, &survey.db_options);
    if (!dry_run_) ASHLAR_CLI_RETURN_IF_FAILED(logs);
    if (!logs.ok()) global.Warn(logs.what);
    RepairReport report;
    Outcome repaired = FromStatus(RepairDB(global.database, survey.db_options, survey.families,
                                           unknown, {.dry_run = dry_run_}, &report),
                                  "cannot repair " + global.database);
    if (repaired.code == ExitCode::kIo && repaired.advice.empty())
      repaired.advice =
          "no other process may have the database open; LOCK must be writable, all files readable";
    if (repaired.ok() || !report.files.empty()) Write(global, report);
    ASHLAR_CLI_RETURN_IF_FAILED(repaired);
    if (!report.manifest_reason.empty()) global.Warn(report.manifest_reason);
    if (!report.needs_repair) global.Warn("nothing is damaged; the database was left as it is");
    return {};
  }

 private:
  Outcome ReadOptions(const GlobalOptions& global, Survey* survey) const {
    ASHLAR_CLI_RETURN_IF_FAILED(ReadOptionsFile(global.database, survey, &survey->families));
    if (!dry_run_) ASHLAR_CLI_RETURN_IF_FAILED(survey->CheckWritable(global));
    survey->WarnOfOptions(global);
    if (survey->options_damage.ok() && survey->options_used.empty())
      global.Warn("there is no OPTIONS file; used instead: the defaults");
    survey->db_options.create_if_missing = false;
    return {};
  }

  // I1 and I2 of database.h.
  Outcome ApplyMergeOperator(const GlobalOptions& global, Survey* survey,
                             ColumnFamilyOptions* unknown) const {
    if (!global.merge_operator) return {};
    if (!dry_run_ && !global.column_family) {
      return {.code = ExitCode::kUsage,
              .what = "repair --force needs --column-family with --merge-operator",
              .advice = "name the family; a repair records its operator"};
    }
    std::shared_ptr<MergeOperator> wanted;
    ASHLAR_CLI_RETURN_IF_FAILED(MakeMergeOperator(global, &wanted));
    if (!global.column_family) {
      unknown->merge_operator = wanted;
      for (ColumnFamilyDescriptor& family : survey->families) {
        if (survey->MergeOperatorOf(family.name).empty()) family.options.merge_operator = wanted;
      }
      return {};
    }
    const std::string& name = *global.column_family;
    ASHLAR_CLI_RETURN_IF_FAILED(survey->CheckRecordsNoOther(name, wanted->Name()));
    if (!survey->MergeOperatorOf(name).empty()) return {};
    ASHLAR_CLI_RETURN_IF_FAILED(
        CheckTablesHaveNoOther(global, survey->db_options, name, wanted->Name()));
    for (ColumnFamilyDescriptor& family : survey->families) {
      if (family.name != name) continue;
      family.options.merge_operator = wanted;
      return {};
    }
    survey->families.emplace_back(name, ColumnFamilyOptions()).options.merge_operator = wanted;
    return {};
  }

  // Checks all tables in the directory, because the MANIFEST may be lost. Each names its family.
  static Outcome CheckTablesHaveNoOther(const GlobalOptions& global, const DBOptions& options,
                                        const std::string& column_family,
                                        const std::string& merge_operator) {
    std::vector<std::string> names;
    ASHLAR_CLI_RETURN_IF_FAILED(ListFiles(global.database, &names));
    for (const std::string& name : names) {
      TableProperties properties;
      if (!ReadTable(options, global.database, name, &properties)) continue;
      if (properties.column_family_name == column_family)
        ASHLAR_CLI_RETURN_IF_FAILED(
            CheckTableHasNoOther(column_family, name, properties, merge_operator));
    }
    return {};
  }

  static std::string Tables(uint64_t number) {
    return std::to_string(number) + (number == 1 ? " table" : " tables");
  }

  static void Write(const GlobalOptions& global, const RepairReport& report) {
    const auto writer =
        MakeRecordWriter(global.format,
                         global.Layout({"name", "column_family", "fate", "bytes", "entries",
                                        "lost_blocks", "lost_bytes", "reason"},
                                       true),
                         stdout);
    const auto escaped = [](const std::string& text) {
      return EncodeBytes(ByteFormat::kEscape, text);
    };
    for (const RepairColumnFamily& family : report.column_families) {
      std::string reason;
      if (family.lost_tables != 0)
        reason = Tables(family.lost_tables) + (family.lost_tables == 1 ? " is lost" : " are lost");
      writer->Add({Tables(family.tables), escaped(family.name),
                   std::string(family.is_merged ? "merged" : "kept"), uint64_t{0}, family.entries,
                   family.lost_blocks, uint64_t{0}, reason});
    }
    for (const RepairFile& file : report.files) {
      writer->Add({file.name, escaped(file.column_family), std::string(NameOf(file.fate)),
                   file.bytes, file.entries, file.lost_blocks, file.lost_bytes,
                   escaped(file.reason)});
    }
    writer->Finish();
  }

  bool dry_run_ = false;
  bool force_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeRepairCommand() { return std::make_unique<RepairCommand>(); }

}  // namespace ashlar::cli
