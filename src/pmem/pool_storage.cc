#include "pmem/pool_storage.h"

#include "base/format.h"
#include "platform/path.h"

namespace ashlar::pmem {
namespace {

Status SyncFolderOf(const std::string& path) {
  ASHLAR_ASSIGN_OR_RETURN(OsDirectory folder, OsDirectory::Open(ParentDirectory(path)));
  return folder.Sync();
}

uint64_t RoundUpToGrowth(uint64_t bytes) {
  return (bytes + kLogGrowthBytes - 1) / kLogGrowthBytes * kLogGrowthBytes;
}

}  // namespace

Status FileStorage::UseLog(const std::function<Status(const Slice&)>& use) const {
  ASHLAR_ASSIGN_OR_RETURN(const OsFile log,
                          OsFile::Open(log_path_, {.mode = OpenMode::kReadNoFollow}));
  ASHLAR_ASSIGN_OR_RETURN(const FileInfo info, log.Info());
  ASHLAR_ASSIGN_OR_RETURN(const OsMapping mapping, OsMapping::MapForReading(log, info.bytes));
  return use(mapping.contents());
}

Status FileStorage::CreateLog(const Slice& head) {
  const std::string temporary = log_path_ + ".creating";
  ASHLAR_ASSIGN_OR_RETURN(OsFile fresh,
                          OsFile::Open(temporary, {.mode = OpenMode::kCreateTruncate}));
  ASHLAR_RETURN_IF_ERROR(fresh.WriteAt(0, head));
  const uint64_t bytes = RoundUpToGrowth(head.size());
  ASHLAR_RETURN_IF_ERROR(fresh.Truncate(bytes));
  ASHLAR_RETURN_IF_ERROR(fresh.SyncData());
  // Not every system renames an open file.
  ASHLAR_RETURN_IF_ERROR(fresh.Close());
  ASHLAR_RETURN_IF_ERROR(RenamePath(temporary, log_path_));
  ASHLAR_RETURN_IF_ERROR(SyncFolderOf(log_path_));
  ASHLAR_ASSIGN_OR_RETURN(OsFile log, OsFile::Open(log_path_, {.mode = OpenMode::kOpenOrCreate}));
  log_.emplace(std::move(log));
  log_bytes_ = bytes;
  return Status::OK();
}

Status FileStorage::WriteLog(uint64_t offset, const Slice& bytes) {
  const uint64_t needed = RoundUpToGrowth(offset + bytes.size());
  if (needed > log_bytes_) {
    ASHLAR_RETURN_IF_ERROR(log_->Truncate(needed));
    log_bytes_ = needed;
  }
  return log_->WriteAt(offset, bytes);
}

Status FileStorage::RemoveLog() {
  if (log_) ASHLAR_RETURN_IF_ERROR(log_->Close());
  log_.reset();
  ASHLAR_RETURN_IF_ERROR(RemoveFile(log_path_));
  return SyncFolderOf(log_path_);
}

Status FileStorage::KeepLog() {
  for (uint64_t number = 1;; ++number) {
    const std::string kept = StrCat(log_path_, ".lost-", number);
    const Status linked = HardLink(log_path_, kept);
    if (linked.ok()) return RemoveLog();
    if (GetFileInfo(kept).status().IsPathNotFound()) return linked;
  }
}

}  // namespace ashlar::pmem
