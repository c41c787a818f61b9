#include "tools/ashlar/database.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/filter_policy.h"
#include "ashlar/merge_operator.h"
#include "ashlar/options_util.h"
#include "ashlar/table.h"

namespace ashlar::cli {
namespace {

namespace fs = std::filesystem;

enum class DirectoryState { kMissing, kNotADirectory, kEmpty, kForeign, kDatabase };

// A creation that was interrupted before CURRENT was written leaves these.
bool IsLeftOver(const std::string& name) {
  return name == "LOCK" || name == "IDENTITY" || name.starts_with("LOG") || name.starts_with("OPTIONS-") || name.starts_with("MANIFEST-") ||
         name.ends_with(".dbtmp");
}

Outcome Inspect(const std::string& directory, DirectoryState* state) {
  std::error_code error;
  const fs::file_status status = fs::status(directory, error);
  if (status.type() == fs::file_type::not_found) {
    *state = DirectoryState::kMissing;
    return {};
  }
  if (!error && status.type() != fs::file_type::directory) {
    *state = DirectoryState::kNotADirectory;
    return {};
  }
  *state = DirectoryState::kEmpty;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name == "CURRENT") {
      *state = DirectoryState::kDatabase;
      return {};
    }
    if (!IsLeftOver(name)) *state = DirectoryState::kForeign;
  }
  if (error) return {.code = ExitCode::kIo, .what = "cannot look into " + directory + ": " + error.message(), .advice = "check its permissions"};
  return {};
}

Outcome NoDatabase(const std::string& directory, DirectoryState state) {
  Outcome outcome = {.code = ExitCode::kIo, .what = {}, .advice = "check --db; load makes a new database"};
  switch (state) {
    case DirectoryState::kMissing: outcome.what = "no database: " + directory + " does not exist"; break;
    case DirectoryState::kNotADirectory: outcome.what = "no database: " + directory + " is not a directory"; break;
    case DirectoryState::kForeign:
      outcome.what = "no database: " + directory + " has no file CURRENT, but other files";
      outcome.advice = "check --db; a new database needs an empty directory or one that does not exist";
      break;
    case DirectoryState::kEmpty:
    case DirectoryState::kDatabase: outcome.what = "no database: " + directory + " has no file CURRENT"; break;
  }
  return outcome;
}

// What a new family gets where its creator has no wishes: filters, fast compression above and dense compression in the last level.
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

Outcome Database::Open(const GlobalOptions& global, Access access, std::unique_ptr<Database>* database) {
  DirectoryState state;
  ASHLAR_CLI_RETURN_IF_FAILED(Inspect(global.database, &state));
  auto opened = std::unique_ptr<Database>(new Database(global, access));
  const bool can_create = access == Access::kWriteAndCreate && (state == DirectoryState::kMissing || state == DirectoryState::kEmpty);
  if (state == DirectoryState::kDatabase) {
    ASHLAR_CLI_RETURN_IF_FAILED(opened->OpenExisting());
  } else if (can_create) {
    ASHLAR_CLI_RETURN_IF_FAILED(opened->CreateNew());
  } else {
    return NoDatabase(global.database, state);
  }
  *database = std::move(opened);
  return {};
}

Database::~Database() { ReleaseFamilies(); }

void Database::ReleaseFamilies() {
  // A handle that cannot be given back is reported by Close.
  for (ColumnFamilyHandle* family : families_) (void)db_->DestroyColumnFamilyHandle(family);
  families_.clear();
}

Outcome Database::OpenExisting() {
  DBOptions db_options;
  std::vector<ColumnFamilyDescriptor> descriptors;
  ASHLAR_CLI_RETURN_IF_FAILED(LoadDescriptors(&db_options, &descriptors));
  ASHLAR_CLI_RETURN_IF_FAILED(ApplyMergeOperator(&descriptors));
  db_options.error_if_exists = false;
  return OpenWith(db_options, descriptors);
}

Outcome Database::CreateNew() {
  DBOptions db_options;
  db_options.create_if_missing = true;
  std::vector<ColumnFamilyDescriptor> descriptors = {ColumnFamilyDescriptor(kDefaultColumnFamilyName, NewFamilyOptions())};
  ASHLAR_CLI_RETURN_IF_FAILED(ApplyMergeOperator(&descriptors));
  return OpenWith(db_options, descriptors);
}

// The MANIFEST knows which families there are; the OPTIONS file may be older, or missing.
Outcome Database::LoadDescriptors(DBOptions* db_options, std::vector<ColumnFamilyDescriptor>* descriptors) {
  std::vector<std::string> names;
  ASHLAR_CLI_RETURN_IF_FAILED(FromStatus(DB::ListColumnFamilies(*db_options, global_.database, &names), CannotOpen(global_.database)));

  ConfigOptions config;
  config.ignore_unknown_options = true;
  std::vector<ColumnFamilyDescriptor> recorded;
  const Status status = LoadLatestOptions(config, global_.database, db_options, &recorded);
  // A setting that cannot be read is not the caller's: the file is damaged.
  if (status.IsInvalidArgument()) return FromStatus(Status::Corruption(status.ToString()), CannotOpen(global_.database));
  if (!status.ok() && !status.IsNotFound()) return FromStatus(status, CannotOpen(global_.database));
  for (const std::string& name : names) {
    const auto found = std::find_if(recorded.begin(), recorded.end(), [&](const ColumnFamilyDescriptor& family) { return family.name == name; });
    descriptors->push_back(found == recorded.end() ? ColumnFamilyDescriptor(name, ColumnFamilyOptions()) : *found);
  }
  return {};
}

Outcome Database::MakeMergeOperator(std::shared_ptr<MergeOperator>* merge_operator) {
  if (!global_.merge_operator) return {};
  const Status status = MergeOperators::CreateFromStringId(*global_.merge_operator, merge_operator);
  if (status.ok()) return {};
  return {.code = ExitCode::kUsage, .what = "--merge-operator: " + status.ToString(), .advice = "uint64add, stringappend, put and max are known"};
}

Outcome Database::ApplyMergeOperator(std::vector<ColumnFamilyDescriptor>* descriptors) {
  std::shared_ptr<MergeOperator> wanted;
  ASHLAR_CLI_RETURN_IF_FAILED(MakeMergeOperator(&wanted));
  if (wanted == nullptr) return {};
  for (ColumnFamilyDescriptor& family : *descriptors) {
    std::shared_ptr<MergeOperator>& has = family.options.merge_operator;
    // Opening for writing records the operator: families that nobody spoke of stay as they are.
    if (global_.column_family && family.name != *global_.column_family) continue;
    if (has == nullptr) {
      has = wanted;
    } else if (std::string_view(has->Name()) != wanted->Name() && family.name == global_.column_family.value_or(kDefaultColumnFamilyName)) {
      return {.code = ExitCode::kUsage,
              .what = "column family " + family.name + " has the merge operator " + has->Name(),
              .advice = "leave --merge-operator out"};
    }
  }
  return {};
}

Outcome Database::OpenWith(const DBOptions& db_options, const std::vector<ColumnFamilyDescriptor>& descriptors) {
  const Status status = access_ == Access::kRead ? DB::OpenForReadOnly(db_options, global_.database, descriptors, &families_, &db_)
                                                 : DB::Open(db_options, global_.database, descriptors, &families_, &db_);
  Outcome outcome = FromStatus(status, CannotOpen(global_.database));
  if (outcome.code == ExitCode::kIo && outcome.advice.empty()) {
    outcome.advice = access_ == Access::kRead ? "check the permissions" : "check the permissions, and whether another process has the database open";
  }
  if (outcome.code == ExitCode::kUsage)
    outcome.advice = "if the database has a comparator or merge operator of its own, only its program can open it";
  return outcome;
}

Outcome Database::ChosenFamily(ColumnFamilyHandle** family) { return Family(global_.column_family.value_or(kDefaultColumnFamilyName), family); }

Outcome Database::ChosenFamilies(std::vector<ColumnFamilyHandle*>* families) {
  if (!global_.column_family) {
    *families = families_;
    return {};
  }
  families->resize(1);
  return ChosenFamily(families->data());
}

Outcome Database::Family(const std::string& name, ColumnFamilyHandle** family) {
  const auto found = std::find_if(families_.begin(), families_.end(), [&](const ColumnFamilyHandle* handle) { return handle->GetName() == name; });
  if (found != families_.end()) {
    *family = *found;
    return {};
  }
  if (access_ != Access::kWriteAndCreate) {
    return {.code = ExitCode::kUsage, .what = "there is no column family " + name, .advice = "column-families lists them; load makes new ones"};
  }
  ColumnFamilyOptions options = NewFamilyOptions();
  ASHLAR_CLI_RETURN_IF_FAILED(MakeMergeOperator(&options.merge_operator));
  ColumnFamilyHandle* made = nullptr;
  ASHLAR_CLI_RETURN_IF_FAILED(FromStatus(db_->CreateColumnFamily(options, name, &made), "cannot make the column family " + name));
  families_.push_back(made);
  *family = made;
  return {};
}

Outcome Database::Flush() { return FromStatus(db_->Flush(FlushOptions(), families_), "writing the tables of " + global_.database); }

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
