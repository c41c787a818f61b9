#include "tools/ashlar/database.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/filter_policy.h"
#include "ashlar/merge_operator.h"
#include "ashlar/table.h"
#include "tools/ashlar/database_directory.h"

namespace ashlar::cli {
namespace {

// The default options of a new family: filters, fast compression above and dense compression in the
// last level.
ColumnFamilyOptions NewFamilyOptions() {
  ColumnFamilyOptions options;
  BlockBasedTableOptions table_options;
  table_options.filter_policy.reset(NewBloomFilterPolicy(10));
  options.table_factory.reset(NewBlockBasedTableFactory(table_options));
  const std::vector<CompressionType> codecs = GetSupportedCompressions();
  const auto if_there = [&codecs](CompressionType codec) {
    return std::find(codecs.begin(), codecs.end(), codec) != codecs.end() ? codec : kNoCompression;
  };
  options.compression = if_there(kLZ4Compression);
  options.bottommost_compression = if_there(kZSTD);
  return options;
}

std::string CannotOpen(const std::string& directory) { return "cannot open " + directory; }

}  // namespace

Outcome Database::Open(const GlobalOptions& global, Access access,
                       std::unique_ptr<Database>* database) {
  if (access != Access::kRead && global.merge_operator && !global.column_family) {
    return {.code = ExitCode::kUsage,
            .what = "a command that writes needs --column-family with --merge-operator",
            .advice = "name the family; opening for writing records its operator"};
  }
  auto opened = std::unique_ptr<Database>(new Database(global, access));
  DirectoryState state;
  ASHLAR_CLI_RETURN_IF_FAILED(InspectDirectory(global.database, &state));
  const bool can_create = access == Access::kWriteAndCreate &&
                          (state == DirectoryState::kMissing || state == DirectoryState::kEmpty);
  if (can_create) {
    ASHLAR_CLI_RETURN_IF_FAILED(opened->CreateNew());
  } else {
    ASHLAR_CLI_RETURN_IF_FAILED(ReadSurvey(global, &opened->survey_));
    ASHLAR_CLI_RETURN_IF_FAILED(opened->OpenExisting());
  }
  *database = std::move(opened);
  return {};
}

Outcome Database::OpenToRead(const GlobalOptions& global, Survey survey,
                             std::unique_ptr<Database>* database) {
  auto opened = std::unique_ptr<Database>(new Database(global, Access::kRead));
  opened->survey_ = std::move(survey);
  ASHLAR_CLI_RETURN_IF_FAILED(opened->OpenExisting());
  *database = std::move(opened);
  return {};
}

Database::~Database() { ReleaseFamilies(); }

void Database::ReleaseFamilies() {
  // Close reports a handle that cannot be released.
  for (ColumnFamilyHandle* family : families_) (void)db_->DestroyColumnFamilyHandle(family);
  families_.clear();
}

Outcome Database::OpenExisting() {
  if (access_ != Access::kRead) ASHLAR_CLI_RETURN_IF_FAILED(survey_.CheckWritable(global_));
  survey_.WarnOfOptions(global_);
  std::vector<ColumnFamilyDescriptor> descriptors;
  for (size_t i = 0; i < survey_.families.size(); ++i) {
    const ColumnFamilyInventory& family = survey_.inventory.column_families[i];
    if (KnownComparator(family.comparator) != nullptr) {
      descriptors.push_back(survey_.families[i]);
    } else if (access_ != Access::kRead || family.metadata.name == kDefaultColumnFamilyName) {
      // Opening for writing needs all families, and every open needs the default one.
      return UnknownComparator(family);
    }
  }
  ASHLAR_CLI_RETURN_IF_FAILED(ApplyMergeOperator(&descriptors));
  DBOptions db_options = survey_.db_options;
  db_options.error_if_exists = false;
  db_options.create_if_missing = false;      // nor a wal_dir with a wrong name
  db_options.best_efforts_recovery = false;  // was meant for one open
  const Outcome logs = PlaceLogs(global_, &db_options);
  if (access_ != Access::kRead) ASHLAR_CLI_RETURN_IF_FAILED(logs);
  return OpenWith(db_options, descriptors);
}

Outcome Database::CreateNew() {
  DBOptions db_options;
  db_options.create_if_missing = true;
  ASHLAR_CLI_RETURN_IF_FAILED(PlaceLogs(global_, &db_options));
  std::vector<ColumnFamilyDescriptor> descriptors = {
      ColumnFamilyDescriptor(kDefaultColumnFamilyName, NewFamilyOptions())};
  ASHLAR_CLI_RETURN_IF_FAILED(ApplyMergeOperator(&descriptors));
  Outcome outcome = OpenWith(db_options, descriptors);
  DirectoryState state;
  if (outcome.code == ExitCode::kIo && InspectDirectory(global_.database, &state).ok() &&
      state == DirectoryState::kMissing)
    outcome.advice = kParentAdvice;
  return outcome;
}

Outcome Database::ApplyMergeOperator(std::vector<ColumnFamilyDescriptor>* descriptors) const {
  std::shared_ptr<MergeOperator> wanted;
  ASHLAR_CLI_RETURN_IF_FAILED(MakeMergeOperator(global_, &wanted));
  if (wanted == nullptr) return {};
  for (ColumnFamilyDescriptor& family : *descriptors) {
    if (global_.column_family && family.name != *global_.column_family) continue;
    if (survey_.MergeOperatorOf(family.name).empty()) {
      ASHLAR_CLI_RETURN_IF_FAILED(CheckTablesHaveNoOther(family.name, wanted->Name()));
      family.options.merge_operator = wanted;
    } else if (family.name == global_.column_family.value_or(kDefaultColumnFamilyName)) {
      ASHLAR_CLI_RETURN_IF_FAILED(survey_.CheckRecordsNoOther(family.name, wanted->Name()));
    }
  }
  return {};
}

Outcome Database::CheckTablesHaveNoOther(const std::string& column_family,
                                         const std::string& merge_operator) const {
  for (const ColumnFamilyInventory& family : survey_.inventory.column_families) {
    if (family.metadata.name != column_family) continue;
    for (const LevelMetaData& level : family.metadata.levels) {
      for (const SstFileMetaData& file : level.files) {
        TableProperties properties;
        ASHLAR_CLI_RETURN_IF_FAILED(FromStatus(
            ReadTableProperties(survey_.db_options, file, family.comparator, &properties),
            "--merge-operator"));
        ASHLAR_CLI_RETURN_IF_FAILED(CheckTableHasNoOther(column_family, file.relative_filename,
                                                         properties, merge_operator));
      }
    }
  }
  return {};
}

Outcome Database::OpenWith(const DBOptions& db_options,
                           const std::vector<ColumnFamilyDescriptor>& descriptors) {
  const Status status =
      access_ == Access::kRead
          ? DB::OpenForReadOnly(db_options, global_.database, descriptors, &families_, &db_)
          : DB::Open(db_options, global_.database, descriptors, &families_, &db_);
  Outcome outcome = FromStatus(status, CannotOpen(global_.database));
  if (outcome.code == ExitCode::kIo && outcome.advice.empty()) {
    outcome.advice =
        access_ == Access::kRead
            ? "check the path and the permissions"
            : "check the paths and permissions, and whether another process has the database open";
  }
  if (outcome.code == ExitCode::kUsage)
    outcome.advice =
        "if the log holds merges, name their operator with --merge-operator and --column-family";
  return outcome;
}

Outcome Database::ChosenFamily(ColumnFamilyHandle** family) {
  return Family(global_.column_family.value_or(kDefaultColumnFamilyName), family);
}

Outcome Database::ChosenFamilies(std::vector<ColumnFamilyHandle*>* families) {
  if (global_.column_family) {
    families->resize(1);
    return ChosenFamily(families->data());
  }
  for (const ColumnFamilyInventory& family : survey_.inventory.column_families) {
    if (FindFamily(family.metadata.name) == nullptr) return UnknownComparator(family);
  }
  *families = families_;
  return {};
}

ColumnFamilyHandle* Database::FindFamily(const std::string& name) const {
  const auto found =
      std::find_if(families_.begin(), families_.end(),
                   [&](const ColumnFamilyHandle* handle) { return handle->GetName() == name; });
  return found == families_.end() ? nullptr : *found;
}

Outcome Database::Family(const std::string& name, ColumnFamilyHandle** family) {
  *family = FindFamily(name);
  if (*family != nullptr) return {};
  for (const ColumnFamilyInventory& closed : survey_.inventory.column_families) {
    if (closed.metadata.name == name) return UnknownComparator(closed);
  }
  if (access_ != Access::kWriteAndCreate) return NoSuchFamily(name);
  ColumnFamilyOptions options = NewFamilyOptions();
  if (name == global_.column_family)
    ASHLAR_CLI_RETURN_IF_FAILED(MakeMergeOperator(global_, &options.merge_operator));
  ColumnFamilyHandle* made = nullptr;
  ASHLAR_CLI_RETURN_IF_FAILED(FromStatus(db_->CreateColumnFamily(options, name, &made),
                                         "cannot make the column family " + name));
  families_.push_back(made);
  *family = made;
  return {};
}

Outcome Database::Flush() {
  return FromStatus(db_->Flush(FlushOptions(), families_),
                    "writing the tables of " + global_.database);
}

Outcome Database::Close() {
  ReleaseFamilies();
  return FromStatus(db_->Close(), "closing " + global_.database);
}

ReadOptions SequentialReadOptions() {
  ReadOptions options;
  options.fill_cache = false;
  return options;
}

}  // namespace ashlar::cli
