// repair: makes a damaged database one that can be opened.
//
//   --dry-run   lists the kept and the lost parts of each column family and file, changes nothing
//   --force     repairs, and lists the same rows
//
// A row for each column family, then one for each table and log. The options are those of the
// newest OPTIONS file that can be read; families that it does not name get the defaults.
#include <memory>
#include <utility>
#include <vector>

#include "ashlar/merge_operator.h"
#include "ashlar/options_util.h"
#include "ashlar/repair.h"
#include "tools/ashlar/command.h"
#include "tools/ashlar/database_directory.h"

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
    DBOptions db_options;
    ColumnFamilyOptions unknown;
    std::vector<ColumnFamilyDescriptor> families;
    ASHLAR_CLI_RETURN_IF_FAILED(ReadOptions(global, &db_options, &families, &unknown));
    const Outcome logs = PlaceLogs(global, &db_options);
    if (!dry_run_) ASHLAR_CLI_RETURN_IF_FAILED(logs);
    if (!logs.ok()) global.Warn(logs.what);
    RepairReport report;
    Outcome repaired = FromStatus(
        RepairDB(global.database, db_options, families, unknown, {.dry_run = dry_run_}, &report),
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
  static Outcome ReadOptions(const GlobalOptions& global, DBOptions* db_options,
                             std::vector<ColumnFamilyDescriptor>* families,
                             ColumnFamilyOptions* unknown) {
    ConfigOptions config;
    config.ignore_unknown_options = true;
    const Status loaded = LoadLatestOptions(config, global.database, db_options, families);
    if (!loaded.ok()) {
      *db_options = DBOptions();
      families->clear();
      global.Warn("no OPTIONS file can be read; used instead: the defaults");
    }
    db_options->create_if_missing = false;
    if (!global.merge_operator) return {};
    std::shared_ptr<MergeOperator> merge_operator;
    ASHLAR_CLI_RETURN_IF_FAILED(
        FromStatus(MergeOperators::CreateFromStringId(*global.merge_operator, &merge_operator),
                   "--merge-operator"));
    unknown->merge_operator = merge_operator;
    for (ColumnFamilyDescriptor& family : *families) {
      if (family.options.merge_operator == nullptr) family.options.merge_operator = merge_operator;
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
                   file.bytes, file.entries, file.lost_blocks, file.lost_bytes, file.reason});
    }
    writer->Finish();
  }

  bool dry_run_ = false;
  bool force_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeRepairCommand() { return std::make_unique<RepairCommand>(); }

}  // namespace ashlar::cli
