#include "manifest/complete_states.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/format.h"
#include "filesystem/file_helpers.h"
#include "filesystem/filename.h"
#include "manifest/column_family_state.h"

namespace ashlar {

namespace {

class Search {
 public:
  Search(vfs::FileSystem* file_system, const std::string& directory)
      : fs_(file_system), directory_(directory) {}

  Result<CompleteStates> Run(FileNumber manifest_number) {
    ASHLAR_ASSIGN_OR_RETURN(const std::unique_ptr<ManifestReader> reader,
                            ManifestReader::OpenNumber(fs_, directory_, manifest_number, 0));
    families_[kDefaultFamilyId].state.name = kDefaultFamilyName;
    while (true) {
      VersionEdit edit;
      if (!reader->Next(&edit)) break;
      ++edits_;
      ASHLAR_RETURN_IF_ERROR(Apply(&edit).WithContext(reader->file_name()));
    }
    if (!reader->status().ok() && !reader->status().IsCorruption()) return reader->status();
    if (!has_log_number_ || !has_numbers_)
      return Status::Corruption(reader->file_name(), "it holds no whole state");
    CompleteStates states;
    states.manifest_number = manifest_number;
    states.damage = reader->status();
    for (auto& [id, family] : families_) {
      if (!family.has_complete) {
        ASHLAR_ASSERT(!family.missing.empty());  // ApplyTables
        return Status::Corruption(
            StrCat(directory_, ": no state of column family \"", NameForDisplay(family.state.name),
                   "\" has all of its tables"),
            StrCat("missing is table ", *family.missing.begin()));
      }
      family.state.is_newest = family.missing.empty() && states.damage.ok();
      states.families[id] = std::move(family.state);
    }
    return states;
  }

 private:
  struct Family {
    CompleteState state;
    bool has_complete = true;  // an empty family is complete
    std::set<FileNumber> tables;
    std::set<FileNumber> missing;  // of the tables
  };

  Status Apply(VersionEdit* edit) {
    has_log_number_ |= edit->log_number.has_value();
    has_numbers_ |= edit->next_file_number.has_value() && edit->last_sequence.has_value();
    if (edit->added_column_family.has_value())
      families_[edit->column_family].state = {.name = *edit->added_column_family, .edit = edits_};
    if (edit->drops_column_family) {
      families_.erase(edit->column_family);
      return Status::OK();
    }
    const auto found = families_.find(edit->column_family);
    if (found == families_.end())
      return Status::Corruption(
          StrCat("an edit names column family ", edit->column_family, ", which does not exist"));
    if (!edit->RecordsLogs()) return ApplyTables(edit, &found->second);
    return Status::OK();
  }

  Status ApplyTables(VersionEdit* edit, Family* family) {
    for (const DeletedFile& deleted : edit->deleted_files()) {
      family->tables.erase(deleted.number);
      family->missing.erase(deleted.number);
    }
    const bool began_empty = family->tables.empty();
    for (const NewFile& added : edit->new_files()) {
      family->tables.insert(added.file->number);
      ASHLAR_ASSIGN_OR_RETURN(const bool is_there, Exists(*added.file));
      if (!is_there) family->missing.insert(added.file->number);
    }
    // Before its first tables a family has no data, so that state is not the one to go back to.
    if (began_empty && !family->tables.empty()) family->has_complete = false;
    if (!family->missing.empty()) return Status::OK();
    family->has_complete = true;
    family->state.edit = edits_;
    return Status::OK();
  }

  Result<bool> Exists(const FileMetaData& file) {
    const auto known = exists_.find(file.number);
    if (known != exists_.end()) return known->second;
    uint64_t bytes = 0;
    Status status = fs_->GetFileSize(TableFileName(directory_, file.number), &bytes);
    if (status.IsPathNotFound())
      status = fs_->GetFileSize(LegacyTableFileName(directory_, file.number), &bytes);
    if (!status.ok() && !status.IsPathNotFound()) return status;
    return exists_[file.number] = status.ok() && bytes == file.file_bytes;
  }

  vfs::FileSystem* const fs_;
  const std::string& directory_;
  std::map<ColumnFamilyId, Family> families_;
  std::map<FileNumber, bool> exists_;
  uint64_t edits_ = 0;
  bool has_log_number_ = false;
  bool has_numbers_ = false;
};

// The MANIFEST that CURRENT names first, then the others, newest first.
Result<std::vector<FileNumber>> ListManifests(vfs::FileSystem* file_system,
                                              const std::string& directory,
                                              const Result<FileNumber>& current) {
  std::vector<std::string> names;
  ASHLAR_RETURN_IF_ERROR(file_system->GetChildren(directory, &names));
  std::vector<FileNumber> numbers;
  for (const std::string& name : names) {
    uint64_t number = 0;
    FileType type;
    if (ParseFileName(name, &number, &type) && type == FileType::kDescriptorFile)
      numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end(), [&](FileNumber a, FileNumber b) {
    const bool a_is_current = current.ok() && a == *current;
    const bool b_is_current = current.ok() && b == *current;
    return a_is_current != b_is_current ? a_is_current : a > b;
  });
  return numbers;
}

}  // namespace

Result<CompleteStates> FindCompleteStates(vfs::FileSystem* file_system,
                                          const std::string& directory) {
  const Result<FileNumber> current = ReadCurrentFile(file_system, directory);
  ASHLAR_ASSIGN_OR_RETURN(const std::vector<FileNumber> numbers,
                          ListManifests(file_system, directory, current));
  Status refused;
  if (current.ok() && std::find(numbers.begin(), numbers.end(), *current) == numbers.end()) {
    refused = Status::Corruption(
        StrCat(CurrentFileName(directory),
               " names a file that is missing: ", DescriptorFileName(directory, *current)));
  }
  for (const FileNumber number : numbers) {
    Result<CompleteStates> states = Search(file_system, directory).Run(number);
    if (states.ok()) {
      // The MANIFEST that should have been read may have newer edits.
      for (auto& [id, family] : states->families) family.is_newest &= refused.ok();
      return states;
    }
    if (!states.status().IsCorruption()) return states.status();
    if (refused.ok()) refused = states.status();
  }
  return refused.ok() ? Status::Corruption(directory, "there is no MANIFEST") : refused;
}

}  // namespace ashlar
