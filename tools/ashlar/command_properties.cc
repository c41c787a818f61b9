// properties [NAME]: shows a property of the database. Without a name, shows all numeric ones.
#include "tools/ashlar/command.h"
#include "tools/ashlar/database.h"

namespace ashlar::cli {
namespace {

using Properties = DB::Properties;

std::vector<std::string> NumberNames() {
  return {Properties::kNumImmutableMemTable,
          Properties::kNumImmutableMemTableFlushed,
          Properties::kMemTableFlushPending,
          Properties::kNumRunningFlushes,
          Properties::kCurSizeActiveMemTable,
          Properties::kCurSizeAllMemTables,
          Properties::kSizeAllMemTables,
          Properties::kNumEntriesActiveMemTable,
          Properties::kNumEntriesImmMemTables,
          Properties::kNumDeletesActiveMemTable,
          Properties::kNumDeletesImmMemTables,
          Properties::kCompactionPending,
          Properties::kNumRunningCompactions,
          Properties::kEstimatePendingCompactionBytes,
          Properties::kBackgroundErrors,
          Properties::kActualDelayedWriteRate,
          Properties::kIsWriteStopped,
          Properties::kEstimateNumKeys,
          Properties::kEstimateTableReadersMem,
          Properties::kEstimateLiveDataSize,
          Properties::kEstimateOldestKeyTime,
          Properties::kTotalSstFilesSize,
          Properties::kLiveSstFilesSize,
          Properties::kObsoleteSstFilesSize,
          Properties::kIsFileDeletionsEnabled,
          Properties::kBaseLevel,
          Properties::kMinLogNumberToKeep,
          Properties::kMinObsoleteSstNumberToKeep,
          Properties::kNumSnapshots,
          Properties::kOldestSnapshotTime,
          Properties::kOldestSnapshotSequence,
          Properties::kNumLiveVersions,
          Properties::kCurrentSuperVersionNumber,
          Properties::kBlockCacheCapacity,
          Properties::kBlockCacheUsage,
          Properties::kBlockCachePinnedUsage};
}

class PropertiesCommand final : public Command {
 public:
  const char* Name() const override { return "properties"; }
  const char* Summary() const override {
    return "Show a property by name, or all that are numbers";
  }

  void Declare(OptionSet* options) override {
    options->OptionalOperand("NAME", "Such as rocksdb.stats or rocksdb.estimate-num-keys", &name_);
  }

  Outcome Run(const GlobalOptions& global) override {
    std::unique_ptr<Database> database;
    ASHLAR_CLI_RETURN_IF_FAILED(Database::Open(global, Access::kRead, &database));
    ColumnFamilyHandle* family = nullptr;
    ASHLAR_CLI_RETURN_IF_FAILED(database->ChosenFamily(&family));
    return name_ ? ShowOne(global, database->db(), family)
                 : ShowNumbers(global, database->db(), family);
  }

 private:
  Outcome ShowOne(const GlobalOptions& global, DB* db, ColumnFamilyHandle* family) const {
    std::string value;
    if (!db->GetProperty(family, *name_, &value)) {
      return {.code = ExitCode::kNotFound,
              .what = "there is no property " + *name_,
              .advice = "ashlar properties lists those that are numbers"};
    }
    std::string text = EncodeBytes(ByteFormat::kText, value);
    if (global.format == OutputFormat::kTable) {
      if (!text.ends_with('\n')) text += '\n';
      (void)fwrite(text.data(), 1, text.size(), stdout);
    } else {
      WriteObject(global.format, {{"property", *name_}, {"value", text}}, stdout);
    }
    return {};
  }

  static Outcome ShowNumbers(const GlobalOptions& global, DB* db, ColumnFamilyHandle* family) {
    const auto writer =
        MakeRecordWriter(global.format, global.Layout({"property", "value"}, false), stdout);
    for (const std::string& name : NumberNames()) {
      uint64_t value = 0;
      if (db->GetIntProperty(family, name, &value)) writer->Add({name, value});
    }
    writer->Finish();
    return {};
  }

  std::optional<std::string> name_;
};

}  // namespace

std::unique_ptr<Command> MakePropertiesCommand() { return std::make_unique<PropertiesCommand>(); }

}  // namespace ashlar::cli
