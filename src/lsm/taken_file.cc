#include "lsm/taken_file.h"

#include <utility>

#include "ashlar/vfs.h"
#include "base/assert.h"
#include "base/format.h"
#include "base/out_of_memory.h"
#include "base/result.h"
#include "filesystem/filename.h"
#include "lsm/wal_files.h"
#include "platform/path.h"

namespace ashlar {

namespace {

// The link is synced, because the writer of the file may not have synced it.
Status LinkFile(vfs::FileSystem* file_system, const std::string& from, const std::string& to) {
  ASHLAR_RETURN_IF_ERROR(file_system->LinkFile(from, to));
  return SyncFile(file_system, to);
}

Result<bool> Exists(vfs::FileSystem* file_system, const std::string& path) {
  const Status there = file_system->FileExists(path);
  if (there.ok() || IsMissing(there)) return there.ok();
  return there;
}

}  // namespace

Status TakenFile::Take(const DatabaseState& state, const Source& source) {
  ASHLAR_ASSERT(!taken_);  // otherwise the previous file would stay for good
  number_ = state.versions->NewFileNumber();
  path_ = TableFileName(state.directory, number_);
  taken_ = true;
  is_linked_ = false;
  if (!source.is_moved || !HasType(BaseName(source.path), FileType::kTableFile))
    return LinkOrCopy(state, source);
  const std::string next_to_original = StrCat(ParentDirectory(source.path), "/", BaseName(path_));
  ASHLAR_ASSIGN_OR_RETURN(const bool was_there, Exists(state.file_system, next_to_original));
  ASHLAR_RETURN_IF_ERROR(LinkOrCopy(state, source));
  ASHLAR_ASSIGN_OR_RETURN(const bool is_there, Exists(state.file_system, next_to_original));
  if (was_there || !is_there) return Status::OK();
  return Status::InvalidArgument(  // I3
      source.path,
      "is in the database's own directory, with a table's name; move_files would delete it");
}

Status TakenFile::LinkOrCopy(const DatabaseState& state, const Source& source) {
  if (source.may_link && source.patch.bytes.empty()) {
    const Status linked = LinkFile(state.file_system, source.path, path_);
    is_linked_ = linked.ok();
    if (linked.ok()) return linked;
    const Status removed = state.file_system->DeleteFile(path_);  // I1
    if (!removed.ok() && !removed.IsPathNotFound()) return removed;
    if (!source.may_copy) return linked.WithContext(source.path);
  }
  ASHLAR_ASSERT(!is_linked_);  // I2: the copy is not written into the original
  ASHLAR_RETURN_IF_ERROR(CopyToNewFile(state.file_system, source.path, path_, source.patch));
  uint64_t bytes = 0;
  ASHLAR_RETURN_IF_ERROR(state.file_system->GetFileSize(path_, &bytes));
  if (bytes == source.file_bytes) return Status::OK();
  return Status::Corruption(source.path, StrCat("has ", bytes, " bytes now, and had ",
                                                source.file_bytes, ": it was changed meanwhile"));
}

void TakenFile::Remove(vfs::FileSystem* file_system) noexcept {
  if (!std::exchange(taken_, false)) return;
  IgnoreBadAlloc([&] { static_cast<void>(file_system->DeleteFile(path_).ok()); });
}

}  // namespace ashlar
