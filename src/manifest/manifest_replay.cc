#include "manifest/manifest_replay.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "ashlar/comparator.h"
#include "base/assert.h"
#include "base/format.h"
#include "filesystem/file_helpers.h"
#include "filesystem/filename.h"
#include "manifest/epoch_order.h"

namespace ashlar {

void RecordLogs(const VersionEdit& edit, RecordedLogs* logs) {
  for (const LogAddition& addition : edit.log_additions) {
    std::optional<uint64_t>& synced = (*logs)[addition.number];
    if (addition.synced_bytes.has_value())
      synced = std::max(synced.value_or(0), *addition.synced_bytes);
  }
  if (edit.log_deletion.has_value())
    logs->erase(logs->begin(), logs->lower_bound(*edit.log_deletion));
}

ManifestReplay::ManifestReplay(const Args& args) : args_(args) {
  // If a family is named twice, the first spec counts.
  for (const ColumnFamilySpec& spec : args.specs) specs_.emplace(spec.name, &spec);
}

Result<RecoveredState> ManifestReplay::Run() {
  const ColumnFamilySpec* const default_spec = FindSpec(kDefaultFamilyName);
  if (default_spec == nullptr)
    return Status::InvalidArgument("the column family \"default\" must be opened");
  ASHLAR_ASSIGN_OR_RETURN(const std::unique_ptr<ManifestReader> manifest, OpenManifest());
  state_.manifest_number = manifest->number();
  if (continues_) {
    StartFromBase();
  } else {
    ASHLAR_RETURN_IF_ERROR(OpenFamily(kDefaultFamilyId, *default_spec));
  }
  uint64_t number = 0;
  for (bool more = true; more;) {
    ASHLAR_RETURN_IF_ERROR(ApplyAll(manifest.get(), &number));
    // I1
    const bool may_grow = args_.pinned_tables != nullptr && manifest->status().ok();
    ASHLAR_ASSIGN_OR_RETURN(more,
                            may_grow ? manifest->Extend(args_.file_system) : Result<bool>(false));
  }
  state_.manifest_bytes = manifest->file_bytes();
  if (!args_.best_efforts) ASHLAR_RETURN_IF_ERROR(manifest->status());
  state_.manifest_end = manifest->end();
  for (const auto& [id, family] : complete_.families) {
    if (!family.is_newest) state_.went_back.push_back(family.name);
  }
  ASHLAR_RETURN_IF_ERROR(Finish().WithContext(manifest->file_name()));
  return std::move(state_);
}

Status ManifestReplay::ApplyAll(ManifestReader* manifest, uint64_t* number) {
  for (;;) {
    VersionEdit edit;
    if (!manifest->Next(&edit)) return Status::OK();
    ++*number;
    if (IsBeyond(edit, *number)) {
      TakeDatabaseFields(edit);
    } else {
      ASHLAR_RETURN_IF_ERROR(Apply(&edit).WithContext(manifest->file_name()));
    }
  }
}

Result<std::unique_ptr<ManifestReader>> ManifestReplay::OpenManifest() {
  if (args_.base != nullptr) return OpenFromBase();
  if (!args_.best_efforts) return ManifestReader::Open(args_.file_system, args_.directory);
  ASHLAR_ASSIGN_OR_RETURN(complete_, FindCompleteStates(args_.file_system, args_.directory));
  return ManifestReader::OpenNumber(args_.file_system, args_.directory, complete_.manifest_number,
                                    0);
}

Result<std::unique_ptr<ManifestReader>> ManifestReplay::OpenFromBase() {
  ASHLAR_ASSIGN_OR_RETURN(const FileNumber current,
                          ReadCurrentFile(args_.file_system, args_.directory));
  ASHLAR_ASSERT(args_.base_place != nullptr);  // Args: a base comes with its place
  const ManifestPlace& place = *args_.base_place;
  if (current < place.manifest_number) {
    return Status::Corruption(
        DescriptorFileName(args_.directory, current),
        StrCat("is older than the MANIFEST that was current before, of number ",
               place.manifest_number, ": the database was replaced by another; open it again"));
  }
  continues_ = current == place.manifest_number;
  if (!continues_) return ManifestReader::Open(args_.file_system, args_.directory);
  return ManifestReader::OpenNumber(args_.file_system, args_.directory, current,
                                    place.manifest_end);
}

void ManifestReplay::StartFromBase() {
  ASHLAR_ASSERT(builders_.empty() && state_.published.families.empty());  // Run has applied no edit
  const ManifestPlace& place = *args_.base_place;
  state_.database_id = place.database_id;
  state_.unopened = place.unopened;
  state_.published.max_column_family = args_.base->max_column_family;
  state_.published.last_sequence = args_.base->last_sequence;
  state_.published.min_log_number_to_keep = args_.base->min_log_number_to_keep;
  state_.published.recorded_logs = args_.base->recorded_logs;
  next_file_number_ = place.next_file_number;
  has_log_number_ = true;
  has_last_sequence_ = true;
  for (const auto& [id, family] : args_.base->families) {
    auto copy = std::make_unique<ColumnFamilyState>(*family);
    copy->current = nullptr;
    builders_.emplace(
        id, std::make_unique<VersionBuilder>(VersionBuilder::Args{.comparator = family->comparator,
                                                                  .levels = family->levels,
                                                                  .base = family->current,
                                                                  .live = args_.live}));
    state_.published.families.Add(std::move(copy));
  }
}

Version* ManifestReplay::BaseVersion(ColumnFamilyId id) const {
  const ColumnFamilyState* const family =
      args_.base != nullptr ? args_.base->FindFamily(id) : nullptr;
  return family != nullptr ? family->current : nullptr;
}

bool ManifestReplay::IsBeyond(const VersionEdit& edit, uint64_t number) const {
  if (!args_.best_efforts || edit.ManipulatesColumnFamily() || edit.RecordsLogs()) return false;
  const auto family = complete_.families.find(edit.column_family);
  return family != complete_.families.end() && number > family->second.edit;
}

Status ManifestReplay::Apply(VersionEdit* edit) {
  if (edit->added_column_family.has_value()) {
    ASHLAR_RETURN_IF_ERROR(AddFamily(*edit));
  } else if (edit->drops_column_family) {
    ASHLAR_RETURN_IF_ERROR(DropFamily(*edit));
  } else if (edit->RecordsLogs()) {
    RecordLogs(*edit, &state_.published.recorded_logs);
  } else {
    ASHLAR_RETURN_IF_ERROR(ApplyToFamily(edit));
  }
  ColumnFamilyState* const family = state_.published.FindFamily(edit->column_family);
  if (family != nullptr) ASHLAR_RETURN_IF_ERROR(TakeFamilyFields(*edit, family));
  TakeDatabaseFields(*edit);
  return Status::OK();
}

Status ManifestReplay::AddFamily(const VersionEdit& edit) {
  const std::string& name = *edit.added_column_family;
  const ColumnFamilyId id = edit.column_family;
  if (state_.published.FindFamily(id) != nullptr || state_.unopened.contains(id))
    return Status::Corruption(StrCat("column family ", id, " is added twice"));
  state_.published.max_column_family = std::max(state_.published.max_column_family, id);
  const ColumnFamilySpec* const spec = FindSpec(name);
  const bool is_new = args_.base != nullptr && BaseVersion(id) == nullptr;
  if (spec != nullptr && is_new) ASHLAR_RETURN_IF_ERROR(CheckWasNotDropped(id, name));
  if (spec != nullptr && !is_new) return OpenFamily(id, *spec);
  if (name == kStatisticsFamilyName && !is_new)
    return OpenFamily(
        id, ColumnFamilySpec{.name = name, .comparator = KeyComparator(BytewiseComparator())});
  state_.unopened.emplace(id, name);
  return Status::OK();
}

Status ManifestReplay::CheckWasNotDropped(ColumnFamilyId id, const std::string& name) const {
  if (id > args_.base->max_column_family || args_.base_place->unopened.contains(id))
    return Status::OK();
  return Status::Corruption(StrCat("column family \"", NameForDisplay(name),
                                   "\" was dropped, and is there again, because its writer took "
                                   "the drop back; open the database again"));
}

Status ManifestReplay::DropFamily(const VersionEdit& edit) {
  if (edit.column_family == kDefaultFamilyId)
    return Status::Corruption("the default column family is dropped");
  const bool opened = state_.published.families.Erase(edit.column_family);
  builders_.erase(edit.column_family);
  if (opened || state_.unopened.erase(edit.column_family) > 0) return Status::OK();
  return Status::Corruption(
      StrCat("column family ", edit.column_family, " is dropped but does not exist"));
}

Status ManifestReplay::ApplyToFamily(VersionEdit* edit) {
  const auto builder = builders_.find(edit->column_family);
  if (builder != builders_.end()) return builder->second->Apply(edit);
  if (state_.unopened.contains(edit->column_family)) return Status::OK();
  return Status::Corruption(
      StrCat("an edit names column family ", edit->column_family, ", which does not exist"));
}

Status ManifestReplay::TakeFamilyFields(const VersionEdit& edit, ColumnFamilyState* family) {
  if (edit.log_number.has_value()) {
    family->log_number = std::max(family->log_number, *edit.log_number);
    has_log_number_ = true;
  }
  for (const auto& [level, key] : edit.compact_cursors) family->compact_cursors[level] = key;
  const std::string given = family->comparator.user_comparator()->Name();
  if (edit.comparator.has_value() && *edit.comparator != given) {
    return Status::InvalidArgument(
        given, StrCat("does not match existing comparator ", *edit.comparator,
                      " of column family \"", NameForDisplay(family->name), "\""));
  }
  return Status::OK();
}

void ManifestReplay::TakeDatabaseFields(const VersionEdit& edit) {
  if (edit.database_id.has_value()) state_.database_id = *edit.database_id;
  if (edit.next_file_number.has_value())
    next_file_number_ = std::max(next_file_number_.value_or(0), *edit.next_file_number);
  if (edit.previous_log_number.has_value())
    state_.next_file_number = std::max(state_.next_file_number, *edit.previous_log_number + 1);
  if (edit.max_column_family.has_value())
    state_.published.max_column_family =
        std::max(state_.published.max_column_family, *edit.max_column_family);
  if (edit.min_log_number_to_keep.has_value())
    state_.published.min_log_number_to_keep =
        std::max(state_.published.min_log_number_to_keep, *edit.min_log_number_to_keep);
  if (edit.last_sequence.has_value())
    state_.published.last_sequence = std::max(state_.published.last_sequence, *edit.last_sequence);
  has_last_sequence_ |= edit.last_sequence.has_value();
}

const ColumnFamilySpec* ManifestReplay::FindSpec(const std::string& name) const {
  const auto spec = specs_.find(name);
  return spec == specs_.end() ? nullptr : spec->second;
}

Status ManifestReplay::OpenFamily(ColumnFamilyId id, const ColumnFamilySpec& spec) {
  if (const auto* const other = state_.published.FindFamily(Slice(spec.name)); other != nullptr) {
    return Status::Corruption(
        StrCat("column families ", other->id, " and ", id, " have the same name"));
  }
  state_.published.families.Add(std::make_unique<ColumnFamilyState>(id, spec));
  builders_.emplace(
      id, std::make_unique<VersionBuilder>(VersionBuilder::Args{.comparator = spec.comparator,
                                                                .levels = spec.levels,
                                                                .base = nullptr,
                                                                .known = BaseVersion(id),
                                                                .live = args_.live}));
  return Status::OK();
}

Status ManifestReplay::Finish() {
  ASHLAR_RETURN_IF_ERROR(CheckComplete());
  if (args_.base != nullptr) ASHLAR_RETURN_IF_ERROR(CheckContinuesBase());
  if (args_.all_families_must_open) ASHLAR_RETURN_IF_ERROR(CheckAllOpened());
  ASHLAR_RETURN_IF_ERROR(BuildVersions());
  RaiseNextFileNumber();
  if (args_.all_families_must_open) ASHLAR_RETURN_IF_ERROR(CheckNumbersAreLeft());
  return CheckTables();
}

Status ManifestReplay::CheckComplete() const {
  std::string missing;
  if (!has_log_number_) missing += " log number,";
  if (!next_file_number_.has_value()) missing += " next file number,";
  if (!has_last_sequence_) missing += " last sequence,";
  if (missing.empty()) return Status::OK();
  missing.pop_back();
  return Status::Corruption(StrCat("no edit has a", missing));
}

Status ManifestReplay::CheckContinuesBase() const {
  const std::string& before = args_.base_place->database_id;
  if (!before.empty() && !state_.database_id.empty() && state_.database_id != before) {
    return Status::Corruption(StrCat("the database of identity ", before,
                                     " was replaced by that of ", state_.database_id,
                                     "; open it again"));
  }
  if (state_.published.last_sequence >= args_.base->last_sequence) return Status::OK();
  return Status::Corruption(StrCat("the last sequence is ", state_.published.last_sequence,
                                   ", and was ", args_.base->last_sequence,
                                   " before: the database was replaced by an older state of it; "
                                   "open it again"));
}

Status ManifestReplay::CheckAllOpened() const {
  if (state_.unopened.empty()) return Status::OK();
  std::string names;
  const char* separator = "";  // a name may be empty
  for (const auto& [id, name] : state_.unopened)
    StrAppend(&names, std::exchange(separator, ", "), NameForDisplay(name));
  names += "; name every family in the open, as DB::ListColumnFamilies gives them";
  return Status::InvalidArgument("Column families not opened", names);
}

Status ManifestReplay::BuildVersions() {
  ASHLAR_ASSERT(builders_.size() == state_.published.families.size());  // one builder per family
  for (const auto& [id, family] : state_.published.families) {
    if (continues_ && !builders_.at(id)->HasChanges()) {
      family->current = BaseVersion(id);
      ASHLAR_ASSERT(family->current != nullptr);  // StartFromBase
      family->current->Ref();
      continue;
    }
    Result<Version*> version = builders_.at(id)->Build();
    if (!version.ok())
      return version.status().WithContext(
          StrCat("column family \"", NameForDisplay(family->name), "\""));
    family->current = *version;
    ASHLAR_RETURN_IF_ERROR(
        CheckEpochOrder(family->comparator, **version)  // I2
            .WithContext(StrCat("column family \"", NameForDisplay(family->name), "\"")));
  }
  builders_.clear();
  return Status::OK();
}

void ManifestReplay::RaiseNextFileNumber() {
  FileNumber used = std::max(next_file_number_.value_or(0), state_.manifest_number + 1);
  for (const auto& [id, family] : state_.published.families) {
    used = std::max(used, family->log_number + 1);
    for (Level level = 0; level < family->levels; ++level) {
      for (const FileMetaData* file : family->current->files(level))
        used = std::max(used, file->number + 1);
    }
  }
  if (!state_.published.recorded_logs.empty())
    used = std::max(used, state_.published.recorded_logs.rbegin()->first + 1);
  state_.next_file_number =
      std::max({state_.next_file_number, used, state_.published.min_log_number_to_keep});
  ASHLAR_ASSERT(state_.next_file_number > state_.manifest_number);  // I6 of version_set.h
}

Status ManifestReplay::CheckNumbersAreLeft() const {
  if (state_.next_file_number > kFileNumberMax - kFileNumbersUnrecordedMax) {
    return Status::Corruption(StrCat("the file number ", state_.next_file_number - 1,
                                     " is in use, and too few are left up to the highest, ",
                                     kFileNumberMax, "; the database can be opened read-only"));
  }
  if (state_.published.last_sequence > kSequenceNumberMaxAtOpen) {
    return Status::Corruption(StrCat("the last sequence is ", state_.published.last_sequence,
                                     ", and too few are left up to the highest, ",
                                     kSequenceNumberMax, "; the database can be opened read-only"));
  }
  return Status::OK();
}

Status ManifestReplay::CheckTables() const {
  std::unordered_set<FileNumber> seen;
  for (const auto& [id, family] : state_.published.families) {
    // Tables that the base also has were checked before.
    std::unordered_set<const FileMetaData*> known;
    const Version* const before = BaseVersion(id);
    if (family->current == before) continue;
    for (Level level = 0; before != nullptr && level < before->levels(); ++level)
      known.insert(before->files(level).begin(), before->files(level).end());
    for (Level level = 0; level < family->levels; ++level) {
      for (const FileMetaData* file : family->current->files(level)) {
        if (known.contains(file)) continue;
        if (!seen.insert(file->number).second)
          return Status::Corruption(
              StrCat("table ", file->number, " belongs to more than one column family"));
        ASHLAR_RETURN_IF_ERROR(CheckTable(*file));
      }
    }
  }
  return Status::OK();
}

Status ManifestReplay::TableBytes(const FileMetaData& file, const std::string& name,
                                  uint64_t* bytes) const {
  if (args_.pinned_tables != nullptr) return args_.pinned_tables->Pin(file.number, name, bytes);
  return args_.file_system->GetFileSize(name, bytes);
}

Status ManifestReplay::CheckTable(const FileMetaData& file) const {
  std::string name = TableFileName(args_.directory, file.number);
  uint64_t bytes = 0;
  Status status = TableBytes(file, name, &bytes);
  if (status.IsPathNotFound()) {
    const std::string legacy_name = LegacyTableFileName(args_.directory, file.number);
    const Status legacy_status = TableBytes(file, legacy_name, &bytes);
    if (legacy_status.IsPathNotFound())
      return Status::Corruption(StrCat(name, ": the table is missing"));
    name = legacy_name;
    status = legacy_status;
  }
  ASHLAR_RETURN_IF_ERROR(std::move(status));
  if (bytes == file.file_bytes) return Status::OK();
  return Status::Corruption(
      StrCat(name, ": the table has ", bytes, " bytes, but ", file.file_bytes, " are on record"));
}

}  // namespace ashlar
