#include "pmem/pool_storage.h"

#include "base/format.h"
#include "pmem/new_name.h"

namespace ashlar::pmem {
namespace {

// Writers wait for the last sync of a new log, so that sync has at most this much to write.
constexpr uint64_t kNextLogUnsyncedMax = uint64_t{1} << 20;

Status RemoveIfThere(const std::string& path) {
  const Status removed = RemoveFile(path);
  return removed.IsPathNotFound() ? Status::OK() : removed;
}

uint64_t RoundUpToGrowth(uint64_t bytes) {
  return (bytes + kLogGrowthBytes - 1) / kLogGrowthBytes * kLogGrowthBytes;
}

class LogFile final : public LogSource {
 public:
  LogFile(const OsFile* file, uint64_t bytes) : file_(*file), bytes_(bytes) {}

  uint64_t bytes() const override { return bytes_; }
  Status ReadAt(uint64_t offset, size_t n, char* to) const override {
    ASHLAR_ASSIGN_OR_RETURN(const size_t read, file_.ReadAt(offset, n, to));
    if (read == n) return Status::OK();
    return Status::IOError(file_.path(), "the file was cut while it was read");
  }

 private:
  const OsFile& file_;
  const uint64_t bytes_;
};

}  // namespace

Status FileStorage::UseLog(const std::function<Status(const LogSource&)>& use) const {
  ASHLAR_ASSIGN_OR_RETURN(const OsFile log,
                          OsFile::Open(log_path_, {.mode = OpenMode::kReadNoFollow}));
  ASHLAR_ASSIGN_OR_RETURN(const FileInfo info, log.Info());
  return use(LogFile(&log, info.bytes));
}

Status FileStorage::Log::Write(uint64_t offset, const Slice& contents) {
  const uint64_t needed = RoundUpToGrowth(offset + contents.size());
  if (needed > bytes) {
    ASHLAR_RETURN_IF_ERROR(file.Truncate(needed));
    bytes = needed;
  }
  return file.WriteAt(offset, contents);
}

// Overwrites the log before the last one, if it was kept, so that no blocks have to be allocated.
Status FileStorage::PrepareLog(uint64_t offset, const Slice& bytes) {
  if (!next_) {
    // The spare log of another session may have any length (I1).
    if (!log_) ASHLAR_RETURN_IF_ERROR(RemoveIfThere(spare_path()));
    const bool has_spare = log_.has_value() && RenamePath(spare_path(), next_path()).ok();
    ASHLAR_ASSIGN_OR_RETURN(
        OsFile file, OsFile::Open(next_path(), {.mode = has_spare ? OpenMode::kOpenOrCreate
                                                                  : OpenMode::kCreateTruncate}));
    ASHLAR_ASSIGN_OR_RETURN(const FileInfo info, file.Info());
    next_.emplace(Log{.file = std::move(file), .bytes = info.bytes});
    next_unsynced_bytes_ = 0;
  }
  ASHLAR_RETURN_IF_ERROR(next_->Write(offset, bytes));
  next_unsynced_bytes_ += bytes.size();
  if (next_unsynced_bytes_ < kNextLogUnsyncedMax) return Status::OK();
  next_unsynced_bytes_ = 0;
  return next_->file.SyncData();
}

// Gives the log a second name before it loses its own. Otherwise the next log is a new file.
void FileStorage::KeepSpare() {
  static_cast<void>(RemoveFile(spare_path()));
  static_cast<void>(HardLink(log_path_, spare_path()));
}

Status FileStorage::CreateLog(const Slice& head) {
  ASHLAR_RETURN_IF_ERROR(PrepareLog(0, head));
  const uint64_t bytes = next_->bytes;
  ASHLAR_RETURN_IF_ERROR(next_->file.SyncData());
  // Not every system can rename an open file.
  ASHLAR_RETURN_IF_ERROR(next_->file.Close());
  next_.reset();
  if (log_) {
    ASHLAR_RETURN_IF_ERROR(log_->file.Close());
    log_.reset();
    KeepSpare();
  }
  ASHLAR_RETURN_IF_ERROR(RenamePath(next_path(), log_path_));
  ASHLAR_RETURN_IF_ERROR(SyncFolderOf(log_path_));
  ASHLAR_ASSIGN_OR_RETURN(OsFile log, OsFile::Open(log_path_, {.mode = OpenMode::kOpenOrCreate}));
  log_.emplace(Log{.file = std::move(log), .bytes = bytes});
  return Status::OK();
}

Status FileStorage::WriteLog(uint64_t offset, const Slice& bytes) {
  return log_->Write(offset, bytes);
}

Status FileStorage::RemoveLeftovers() {
  if (next_) ASHLAR_RETURN_IF_ERROR(next_->file.Close());
  if (log_) ASHLAR_RETURN_IF_ERROR(log_->file.Close());
  next_.reset();
  log_.reset();
  ASHLAR_RETURN_IF_ERROR(RemoveIfThere(next_path()));
  return RemoveIfThere(spare_path());
}

Status FileStorage::RemoveLog() {
  ASHLAR_RETURN_IF_ERROR(RemoveLeftovers());
  ASHLAR_RETURN_IF_ERROR(RemoveFile(log_path_));
  return SyncFolderOf(log_path_);
}

Status FileStorage::KeepLog() {
  ASHLAR_RETURN_IF_ERROR(RemoveLeftovers());
  for (uint64_t number = 1;; ++number) {
    const std::string kept = StrCat(log_path_, ".lost-", number);
    const Status looked = GetFileInfo(kept).status();
    if (looked.ok()) continue;
    if (!looked.IsPathNotFound()) return looked;
    ASHLAR_RETURN_IF_ERROR(GiveNewName(log_path_, kept));
    return SyncFolderOf(log_path_);
  }
}

}  // namespace ashlar::pmem
