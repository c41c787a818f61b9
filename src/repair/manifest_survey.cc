#include "repair/manifest_survey.h"

#include <algorithm>
#include <utility>

#include "ashlar/comparator.h"
#include "base/format.h"
#include "filesystem/file_helpers.h"
#include "filesystem/filename.h"
#include "manifest/column_family_state.h"
#include "manifest/manifest_reader.h"
#include "manifest/manifest_replay.h"

namespace ashlar {

namespace {

class Survey {
 public:
  explicit Survey(FileNumber number) {
    survey_.number = number;
    Add(kDefaultFamilyId, kDefaultFamilyName);
  }

  // Returns Corruption if the edit contradicts the ones before it.
  Status Apply(VersionEdit* edit) {
    TakeDatabaseFields(*edit);
    if (edit->added_column_family.has_value()) {
      if (survey_.families.contains(edit->column_family))
        return Status::Corruption(StrCat("column family ", edit->column_family, " is added twice"));
      Add(edit->column_family, *edit->added_column_family);
    } else if (edit->drops_column_family) {
      return Drop(edit->column_family);
    } else if (edit->RecordsLogs()) {
      RecordLogs(*edit, &survey_.recorded_logs);
      return Status::OK();
    }
    const auto found = survey_.families.find(edit->column_family);
    if (found == survey_.families.end())
      return Status::Corruption(
          StrCat("an edit names column family ", edit->column_family, ", which does not exist"));
    RecordedFamily& family = found->second;
    if (edit->comparator.has_value()) family.comparator = *edit->comparator;
    if (edit->log_number.has_value()) {
      family.log_number = std::max(family.log_number, *edit->log_number);
      has_log_number_ = true;
    }
    return ApplyTables(edit, &family);
  }

  // A new MANIFEST begins with the complete state, in several edits. If one of these fields is
  // missing, the MANIFEST was cut off before the end of these edits.
  bool IsUsable() const { return has_log_number_ && has_next_file_number_ && has_last_sequence_; }
  ManifestSurvey Take() { return std::move(survey_); }

 private:
  void Add(ColumnFamilyId id, std::string name) {
    RecordedFamily family;
    family.name = std::move(name);
    family.comparator = BytewiseComparator()->Name();  // if no edit names one
    survey_.families[id] = std::move(family);
    survey_.max_column_family = std::max(survey_.max_column_family, id);
  }

  Status Drop(ColumnFamilyId id) {
    const auto found = survey_.families.find(id);
    if (found == survey_.families.end())
      return Status::Corruption(StrCat("column family ", id, " is dropped but does not exist"));
    for (const auto& [number, table] : found->second.tables) survey_.deleted.insert(number);
    survey_.families.erase(found);
    return Status::OK();
  }

  Status ApplyTables(VersionEdit* edit, RecordedFamily* family) {
    std::map<FileNumber, RecordedTable> moved;
    for (const DeletedFile& deleted : edit->deleted_files()) {
      auto table = family->tables.extract(deleted.number);
      if (table.empty())
        return Status::Corruption(
            StrCat("table ", deleted.number, " is deleted but does not exist"));
      survey_.deleted.insert(deleted.number);
      moved[deleted.number] = std::move(table.mapped());
    }
    for (NewFile& added : edit->TakeNewFiles()) {
      const FileNumber number = added.owned->number;
      if (added.owned->smallest_sequence != added.owned->largest_sequence) {
        family->flushed_sequence =
            std::max(family->flushed_sequence, added.owned->largest_sequence);
      }
      survey_.next_file_number = std::max(survey_.next_file_number, number + 1);
      survey_.deleted.erase(number);
      family->tables[number] = {.level = added.level, .file = std::move(added.owned)};
    }
    return Status::OK();
  }

  void TakeDatabaseFields(const VersionEdit& edit) {
    if (edit.database_id.has_value()) survey_.database_id = *edit.database_id;
    has_next_file_number_ |= edit.next_file_number.has_value();
    has_last_sequence_ |= edit.last_sequence.has_value();
    survey_.next_file_number =
        std::max(survey_.next_file_number, edit.next_file_number.value_or(0));
    survey_.last_sequence = std::max(survey_.last_sequence, edit.last_sequence.value_or(0));
    survey_.max_column_family =
        std::max(survey_.max_column_family, edit.max_column_family.value_or(0));
    survey_.min_log_number_to_keep =
        std::max(survey_.min_log_number_to_keep, edit.min_log_number_to_keep.value_or(0));
  }

  ManifestSurvey survey_;
  bool has_log_number_ = false;
  bool has_next_file_number_ = false;
  bool has_last_sequence_ = false;
};

// Returns a survey with number 0 if the MANIFEST is not usable. `damage` has the reason.
Result<ManifestSurvey> ReadOne(vfs::FileSystem* file_system, const std::string& directory,
                               FileNumber number) {
  ASHLAR_ASSIGN_OR_RETURN(const std::unique_ptr<ManifestReader> reader,
                          ManifestReader::OpenNumber(file_system, directory, number, 0));
  Survey survey(number);
  Status damage;
  while (damage.ok()) {
    VersionEdit edit;
    if (!reader->Next(&edit)) break;
    damage = survey.Apply(&edit).WithContext(reader->file_name());
  }
  if (damage.ok()) damage = reader->status();
  if (!damage.ok() && !damage.IsCorruption()) return damage;
  if (damage.ok() && reader->ends_incomplete())
    damage = Status::Corruption(reader->file_name(), "its last edit is incomplete");
  const bool usable = survey.IsUsable();
  if (!usable && damage.ok())
    damage = Status::Corruption(reader->file_name(), "it holds no whole state");
  ManifestSurvey result = survey.Take();
  if (!usable) result = ManifestSurvey();
  result.damage = damage;
  return result;
}

}  // namespace

Result<ManifestSurvey> SurveyManifests(vfs::FileSystem* file_system, const std::string& directory,
                                       std::vector<FileNumber> numbers) {
  std::sort(numbers.rbegin(), numbers.rend());
  const Result<uint64_t> current = ReadCurrentFile(file_system, directory);
  Status damage;
  if (current.ok() && std::find(numbers.begin(), numbers.end(), *current) != numbers.end()) {
    std::erase(numbers, *current);
    numbers.insert(numbers.begin(), *current);
  } else if (current.ok()) {
    damage = Status::Corruption(
        StrCat(CurrentFileName(directory),
               " names a file that is missing: ", DescriptorFileName(directory, *current)));
  } else if (current.status().IsCorruption()) {
    damage = current.status();
  } else if (current.status().IsPathNotFound()) {
    damage = Status::Corruption(CurrentFileName(directory), "is missing");
  } else {
    return current.status();
  }
  for (const FileNumber number : numbers) {
    ASHLAR_ASSIGN_OR_RETURN(ManifestSurvey survey, ReadOne(file_system, directory, number));
    // The first reason is the cause. The others follow from it.
    if (damage.ok()) damage = survey.damage;
    survey.damage = damage;
    if (survey.number != 0) return survey;
  }
  ManifestSurvey none;
  none.damage = damage.ok() ? Status::Corruption(directory, "there is no MANIFEST") : damage;
  return none;
}

}  // namespace ashlar
