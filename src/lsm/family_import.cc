#include "lsm/family_import.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/format.h"
#include "base/out_of_memory.h"
#include "base/result.h"
#include "lsm/external_file.h"
#include "lsm/imported_order.h"
#include "observe/event_line.h"

namespace ashlar {

FamilyImport::FamilyImport(LsmCore* core, OptionChanges* option_changes, const Request& request)
    : core_(core), state_(core->state.get()), option_changes_(option_changes), request_(request) {}

Result<std::shared_ptr<ColumnFamily>> FamilyImport::Run() {
  ASHLAR_RETURN_IF_ERROR(CheckRequest());
  ASHLAR_RETURN_IF_ERROR(core_->background.BeginFileCall());
  Status status = CatchBadAlloc([this] { return Prepare(); });
  if (status.ok()) {
    status = CatchBadAlloc([this] {
      // Keeps the sync in the turn short, because writers wait for the turn (I4).
      ASHLAR_RETURN_IF_ERROR(core_->commit.SyncDuringWrites());
      return core_->commit.RunExclusiveWrite([this] {
        return option_changes_->LeaderChangeFamilies(
            "import of a column family",
            [this](bool* install_failed) { return AddFamily(install_failed); });
      });
    });
  }
  for (TakenFile& taken : taken_) taken.Remove(state_->file_system);
  if (status.ok()) IgnoreBadAlloc([this] { Finish(); });
  core_->background.files().DeleteObsoleteFiles();
  core_->background.outbox().Notify();
  core_->background.EndFileCall();
  ASHLAR_RETURN_IF_ERROR(status);
  return added_;
}

// ---- Outside of the turn.

Status FamilyImport::CheckRequest() {
  ASHLAR_ASSIGN_OR_RETURN(options_,
                          option_changes_->CompleteNewOptions(request_.options, request_.name));
  if (request_.metadata.empty()) return Status::InvalidArgument("no metadata is given");
  const std::string comparator = options_.comparator->Name();
  for (const ExportImportFilesMetaData* const part : request_.metadata) {
    if (part == nullptr) return Status::InvalidArgument("a pointer to metadata is null");
    if (part->db_comparator_name != comparator) {
      return Status::InvalidArgument(
          comparator, StrCat("is the comparator of the options, and the files are of \"",
                             part->db_comparator_name, "\""));
    }
    if (part->files.empty()) return Status::InvalidArgument("the metadata lists no files");
  }
  return Status::OK();
}

Status FamilyImport::Prepare() {
  ASHLAR_RETURN_IF_ERROR(state_->error_handler.WriteStatus());
  {
    MutexLock lock(state_->mutex());
    ASHLAR_RETURN_IF_ERROR(state_->versions->Published().CheckNameIsFree(request_.name));
  }
  // All files are inspected before the first one is taken.
  const ImportedFileArgs args{.state = state_, .options = &options_};
  std::vector<size_t> ends;  // of the parts, in files_
  for (const ExportImportFilesMetaData* const part : request_.metadata) {
    for (const LiveFileMetaData& given : part->files) {
      ASHLAR_ASSIGN_OR_RETURN(ImportedFile file, InspectImportedFile(args, given));
      files_.push_back(std::move(file));
    }
    ends.push_back(files_.size());
  }
  ASHLAR_RETURN_IF_ERROR(CheckPartsDoNotOverlap(ends));
  ASHLAR_RETURN_IF_ERROR(CheckImportedOrder(args, files_));  // I1
  taken_.resize(files_.size());
  const uint64_t failures_before = state_->directory_handle->failures();
  for (size_t i = 0; i < files_.size(); ++i) {
    ASHLAR_RETURN_IF_ERROR(taken_[i].Take(*state_, {.path = files_[i].path,
                                                    .file_bytes = files_[i].meta->file_bytes,
                                                    .may_link = request_.move_files,
                                                    .is_moved = request_.move_files}));
  }
  return state_->directory_handle->Sync(failures_before);  // I4
}

Status FamilyImport::CheckPartsDoNotOverlap(std::span<const size_t> ends) const {
  struct Part {
    Slice smallest;  // user keys
    Slice largest;
    const std::string* path = nullptr;  // of the first file
  };
  const KeyComparator comparator(options_.comparator);
  std::vector<Part> parts;
  size_t at = 0;
  for (const size_t end : ends) {
    ASHLAR_ASSERT(at < end && end <= files_.size());  // CheckRequest
    Part part{.smallest = files_[at].meta->smallest_user_key(),
              .largest = files_[at].meta->largest_user_key(),
              .path = &files_[at].path};
    for (; at < end; ++at) {
      const FileMetaData& file = *files_[at].meta;
      if (comparator.Compare(file.smallest_user_key(), part.smallest) < 0)
        part.smallest = file.smallest_user_key();
      if (comparator.Compare(part.largest, file.largest_user_key()) < 0)
        part.largest = file.largest_user_key();
    }
    parts.push_back(part);
  }
  ASHLAR_ASSERT(at == files_.size());  // Prepare: the parts have all files
  std::sort(parts.begin(), parts.end(), [&](const Part& a, const Part& b) {
    return comparator.Compare(a.smallest, b.smallest) < 0;
  });
  for (size_t i = 1; i < parts.size(); ++i) {
    if (comparator.Compare(parts[i - 1].largest, parts[i].smallest) < 0) continue;
    return Status::InvalidArgument(
        *parts[i].path, StrCat("the column family that this file is of overlaps the one of ",
                               *parts[i - 1].path, "; clip them first (ClipColumnFamily)"));
  }
  return Status::OK();
}

// ---- In the turn.

Status FamilyImport::AddFamily(bool* install_failed) {
  ASHLAR_RETURN_IF_ERROR(core_->commit.LeaderPrepareLogForFamily());
  ASHLAR_RETURN_IF_ERROR(core_->commit.LeaderSyncLog());  // I4
  MutexLock installers(state_->manifest_mutex());
  VersionEdit tables = MakeEdit();
  ASHLAR_ASSIGN_OR_RETURN(OptionChanges::NewFamily family,
                          option_changes_->PrepareFamily(options_, request_.name, &tables));  // I3
  // From here on the tables belong to a version, or wait for deletion.
  for (TakenFile& taken : taken_) taken.Keep();
  added_ = family.family;
  return option_changes_->PublishFamily(std::move(family), install_failed);
}

VersionEdit FamilyImport::MakeEdit() {
  const uint64_t now = state_->clock->NowUnixMicros() / 1000000;
  VersionEdit edit;
  edit.last_sequence = state_->PublishedSequence() + 1;  // I10 of file_ingestion.h
  ASHLAR_ASSERT(taken_.size() == files_.size());         // Prepare
  edit.ReserveNewFiles(files_.size());
  for (size_t i = 0; i < files_.size(); ++i) {
    std::unique_ptr<FileMetaData> meta = std::move(files_[i].meta);
    ASHLAR_ASSERT(meta != nullptr && taken_[i].number() != 0);  // Prepare
    meta->number = taken_[i].number();
    // The data are new to this database.
    meta->creation_unix_seconds = now;
    meta->oldest_ancestor_unix_seconds = now;
    edit.last_sequence = std::max(*edit.last_sequence, meta->largest_sequence);  // I2
    edit.AddFile(files_[i].level, std::move(meta));
  }
  return edit;
}

// ---- After the turn.

void FamilyImport::Finish() {
  for (size_t i = 0; i < files_.size(); ++i) {
    const std::string& path = files_[i].path;
    EventLine(state_->logger.get(), state_->clock->NowUnixMicros(), 0, "import_finished")
        .Add("cf_name", request_.name)
        .Add("external_file", path)
        .Add("file_number", taken_[i].number())
        .Add("level", files_[i].level)
        .Add("linked", taken_[i].is_linked() ? 1 : 0);
    if (!request_.move_files) continue;
    const Status removed = state_->file_system->DeleteFile(path);
    if (!removed.ok() && !removed.IsPathNotFound()) {
      LogWarning(*state_,
                 StrCat(path, " was imported, and cannot be removed: ", removed.ToString()));
    }
  }
}

}  // namespace ashlar
