#include "manifest/version_builder.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/assert.h"
#include "base/format.h"

namespace ashlar {

VersionBuilder::VersionBuilder(const Args& args) : args_(args) {}

VersionBuilder::~VersionBuilder() {
  for (auto& [level, changes] : changes_) {
    for (const auto& [number, file] : changes.added) args_.live->Release(file);
  }
}

Status VersionBuilder::Apply(VersionEdit* edit) {
  if (edit->deleted_files().empty() && edit->new_files().empty()) return Status::OK();
  if (!base_indexed_) IndexBase();
  Status status;
  for (const DeletedFile& deleted : edit->deleted_files()) {
    if (status.ok()) status = ApplyDeletion(deleted);
  }
  // Every new file is taken over, even after an error, because LiveFiles evicts its open table.
  for (NewFile& added : edit->new_files()) {
    if (!status.ok()) {
      args_.live->Discard(std::move(added.owned));
      continue;
    }
    const FileNumber number = added.file->number;
    FileMetaData* const adopted =
        added.owned != nullptr ? TakeOver(std::move(added.owned)) : nullptr;
    status = ApplyAddition(added.level, number, adopted);
  }
  edit->TakeNewFiles();
  return status;
}

void VersionBuilder::CheckInvariants() const {
  size_t added = 0;
  for (const auto& [level, changes] : changes_) {
    for (const auto& [number, file] : changes.added) {
      const auto place = where_.find(number);
      ASHLAR_ASSERT(place != where_.end() && place->second.level == level);  // I1
      ASHLAR_ASSERT(place->second.file == file && file->number == number);   // I1
      ++added;
    }
    for (const FileNumber number : changes.deleted)
      ASHLAR_ASSERT(removed_from_base_.contains(number));  // I1
  }
  const size_t in_base = base_indexed_ && args_.base != nullptr ? args_.base->NumFiles() : 0;
  ASHLAR_ASSERT(where_.size() == in_base - removed_from_base_.size() + added);  // I1
}

void VersionBuilder::IndexBase() {
  ASHLAR_ASSERT(where_.empty() && changes_.empty());  // the base is indexed first
  // Args: the base of `known` is empty
  ASHLAR_ASSERT(args_.base == nullptr || args_.known == nullptr);
  base_indexed_ = true;
  for (Level level = 0; args_.known != nullptr && level < args_.known->levels(); ++level) {
    for (FileMetaData* file : args_.known->files(level)) known_.emplace(file->number, file);
  }
  if (args_.base == nullptr) return;
  for (Level level = 0; level < args_.base->levels(); ++level) {
    for (FileMetaData* file : args_.base->files(level))
      where_.emplace(file->number, Place{.level = level, .file = file});
  }
}

FileMetaData* VersionBuilder::TakeOver(std::unique_ptr<FileMetaData> brought) {
  const auto known = known_.find(brought->number);
  const auto moved = removed_from_base_.find(brought->number);
  if (known == known_.end() && moved == removed_from_base_.end())
    return args_.live->Adopt(std::move(brought));
  FileMetaData* const file = known != known_.end() ? known->second : moved->second;
  // RocksDB renumbers the tables of a family if one of them has no epoch number.
  if (file->epoch_number != brought->epoch_number) return args_.live->Adopt(std::move(brought));
  LiveFiles::Acquire(file);
  return file;
}

Status VersionBuilder::ApplyDeletion(const DeletedFile& deleted) {
  const auto place = where_.find(deleted.number);
  if (place == where_.end() || place->second.level != deleted.level) {
    return Status::Corruption(StrCat("table ", deleted.number, " is deleted from level ",
                                     deleted.level, ", where it is not"));
  }
  LevelChanges& changes = changes_[deleted.level];
  FileMetaData* const file = place->second.file;
  where_.erase(place);
  const auto added = changes.added.find(deleted.number);
  if (added == changes.added.end()) {
    changes.deleted.insert(deleted.number);
    removed_from_base_.emplace(deleted.number, file);
  } else {
    ASHLAR_ASSERT(added->second == file);  // I1
    args_.live->Release(added->second);
    changes.added.erase(added);
  }
  return Status::OK();
}

Status VersionBuilder::ApplyAddition(Level level, FileNumber number, FileMetaData* adopted) {
  FileMetaData* file = adopted;
  if (file == nullptr) {
    const auto moved = removed_from_base_.find(number);
    if (moved == removed_from_base_.end())
      return Status::Corruption(
          StrCat("table ", number, " moves to level ", level, " but leaves none"));
    file = moved->second;
    LiveFiles::Acquire(file);
  }
  try {
    if (where_.emplace(number, Place{.level = level, .file = file}).second) {
      changes_[level].added.emplace(number, file);
      return Status::OK();
    }
  } catch (const std::bad_alloc&) {
    args_.live->Release(file);
    throw;
  }
  args_.live->Release(file);
  return Status::Corruption(
      StrCat("table ", number, " is added to level ", level, " but is in the tree already"));
}

Result<Version*> VersionBuilder::Build() {
  if constexpr (kDebugChecks) CheckInvariants();
  for (const auto& [level, changes] : changes_) {
    if (level >= args_.levels && !changes.added.empty()) {
      return Status::InvalidArgument(
          StrCat("the database has tables in level ", level, ", but num_levels is ", args_.levels));
    }
  }
  Version::Levels levels;
  for (Level level = 0; level < args_.levels; ++level) {
    std::shared_ptr<const LevelFiles> files = BuildLevel(level);
    ASHLAR_RETURN_IF_ERROR(files->Validate());
    levels.push_back(std::move(files));
  }
  auto* const version = new Version(args_.comparator, std::move(levels), args_.base);
  if constexpr (kDebugChecks) version->CheckInvariants();
  return version;
}

std::shared_ptr<const LevelFiles> VersionBuilder::BuildLevel(Level level) const {
  const auto changes = changes_.find(level);
  const bool in_base = args_.base != nullptr && level < args_.base->levels();
  if (in_base && changes == changes_.end()) return args_.base->level(level);
  std::vector<FileMetaData*> files;
  if (in_base) {
    for (FileMetaData* file : args_.base->files(level)) {
      if (!changes->second.deleted.contains(file->number)) files.push_back(file);
    }
  }
  if (changes != changes_.end()) {
    for (const auto& [number, file] : changes->second.added) files.push_back(file);
  }
  const auto earlier = [this, level](const FileMetaData* a, const FileMetaData* b) {
    return IsSorted(level) ? args_.comparator.CompareInternal(a->smallest, b->smallest) < 0
                           : LevelFiles::NewerFirst(a, b);
  };
  std::sort(files.begin(), files.end(), earlier);
  return std::make_shared<const LevelFiles>(args_.comparator, level, std::move(files), args_.live);
}

}  // namespace ashlar
