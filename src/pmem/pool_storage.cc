#include "pmem/pool_storage.h"

#include "platform/path.h"

namespace ashlar::pmem {
namespace {

Status SyncFolderOf(const std::string& path) {
  ASHLAR_ASSIGN_OR_RETURN(OsDirectory folder, OsDirectory::Open(ParentDirectory(path)));
  return folder.Sync();
}

}  // namespace

std::string LogPath(const std::string& pool_path) { return pool_path + ".log"; }

Status FileStorage::UseLog(const std::function<Status(const Slice&)>& use) const {
  ASHLAR_ASSIGN_OR_RETURN(const OsFile log,
                          OsFile::Open(LogPath(path()), {.mode = OpenMode::kReadNoFollow}));
  ASHLAR_ASSIGN_OR_RETURN(const FileInfo info, log.Info());
  ASHLAR_ASSIGN_OR_RETURN(const OsMapping mapping, OsMapping::MapForReading(log, info.bytes));
  return use(mapping.contents());
}

Status FileStorage::CreateLog(const Slice& head) {
  const std::string temporary = LogPath(path()) + ".creating";
  ASHLAR_ASSIGN_OR_RETURN(OsFile fresh,
                          OsFile::Open(temporary, {.mode = OpenMode::kCreateTruncate}));
  ASHLAR_RETURN_IF_ERROR(fresh.WriteAt(0, head));
  ASHLAR_RETURN_IF_ERROR(fresh.SyncData());
  // Not every system renames what is open.
  ASHLAR_RETURN_IF_ERROR(fresh.Close());
  ASHLAR_RETURN_IF_ERROR(RenamePath(temporary, LogPath(path())));
  ASHLAR_RETURN_IF_ERROR(SyncFolderOf(path()));
  ASHLAR_ASSIGN_OR_RETURN(OsFile log,
                          OsFile::Open(LogPath(path()), {.mode = OpenMode::kOpenOrCreate}));
  log_.emplace(std::move(log));
  return Status::OK();
}

Status FileStorage::RemoveLog() {
  if (log_) ASHLAR_RETURN_IF_ERROR(log_->Close());
  log_.reset();
  ASHLAR_RETURN_IF_ERROR(RemoveFile(LogPath(path())));
  return SyncFolderOf(path());
}

}  // namespace ashlar::pmem
