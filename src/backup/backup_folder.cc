#include "backup/backup_folder.h"

#include <algorithm>
#include <charconv>
#include <memory>

#include "base/crc32c.h"
#include "base/format.h"
#include "execute/rate_limiter.h"
#include "filesystem/file_helpers.h"
#include "filesystem/filename.h"
#include "platform/path.h"

namespace ashlar {
namespace {

constexpr size_t kPieceBytes = 1 << 20;
constexpr size_t kMetaBytesMax = 256 << 20;
constexpr std::string_view kTemporary = ".tmp";

bool ParseId(std::string_view name, uint32_t* id) {
  const std::from_chars_result parsed =
      std::from_chars(name.data(), name.data() + name.size(), *id);
  // Accepts one spelling of each number, so that the name can be rebuilt from it.
  return parsed.ec == std::errc() && parsed.ptr == name.data() + name.size() &&
         StrCat(*id) == name && *id != 0;
}

// The name of the file when it is complete. RocksDB's temporary names in meta begin with '.', too.
std::string_view FinalName(std::string_view name) {
  if (!name.ends_with(kTemporary)) return name;
  name.remove_suffix(kTemporary.size());
  if (name.starts_with('.')) name.remove_prefix(1);
  return name;
}

// "000012.sst" or "000012_305419896_4096.sst". RocksDB also shares blob files.
bool IsSharedName(std::string_view name) {
  const size_t digits = name.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string_view::npos) return false;
  return (name[digits] == '.' || name[digits] == '_') &&
         (name.ends_with(".sst") || name.ends_with(".ldb") || name.ends_with(".blob"));
}

bool IsDatabaseFile(std::string_view name) {
  uint64_t number = 0;
  FileType type = FileType::kTableFile;
  return ParseFileName(name, &number, &type);
}

}  // namespace

Result<CopiedFile> CopyFile(const CopyPlan& plan) {
  std::unique_ptr<vfs::SequentialFile> from;
  ASHLAR_RETURN_IF_ERROR(plan.from_system->NewSequentialFile(plan.from, vfs::FileOptions(), &from));
  std::unique_ptr<vfs::WritableFile> to;
  if (plan.to_system != nullptr)
    ASHLAR_RETURN_IF_ERROR(
        plan.to_system->NewWritableFile(plan.to, {.exclusive_create = !plan.replaces}, &to));
  const std::unique_ptr<char[]> scratch(new char[kPieceBytes]);
  CopiedFile copied;
  while (copied.bytes < plan.bytes_max) {
    if (plan.stopped && plan.stopped())
      return Status::Incomplete(plan.from, "the backup was stopped");
    const size_t wanted =
        static_cast<size_t>(std::min<uint64_t>(kPieceBytes, plan.bytes_max - copied.bytes));
    Slice piece;
    ASHLAR_RETURN_IF_ERROR(from->Read(wanted, &piece, scratch.get()));
    if (piece.empty()) break;
    WaitForLimiter({.limiter = plan.limiter, .op = RateLimiter::OpType::kRead}, piece.size(), {});
    copied.crc = crc32c::Extend(copied.crc, piece.data(), piece.size());
    copied.bytes += piece.size();
    if (to == nullptr) continue;
    WaitForLimiter({.limiter = plan.limiter}, piece.size(), {});
    ASHLAR_RETURN_IF_ERROR(to->Append(piece));
  }
  if (to != nullptr) {
    ASHLAR_RETURN_IF_ERROR(plan.sync ? to->Sync() : to->Flush());
    ASHLAR_RETURN_IF_ERROR(to->Close());
  }
  return copied;
}

Result<CopiedFile> CopyExactly(const CopyPlan& plan) {
  ASHLAR_ASSIGN_OR_RETURN(const CopiedFile copied, CopyFile(plan));
  if (copied.bytes == plan.bytes_max) return copied;
  return Status::Corruption(plan.from,
                            StrCat("ends at ", copied.bytes, " of ", plan.bytes_max, " bytes"));
}

std::string BackupFolder::Path(std::string_view below) const {
  return StrCat(directory_, "/", below);
}
std::string BackupFolder::PrivateFolder(uint32_t id) { return StrCat(kPrivateFolder, "/", id); }

Status BackupFolder::Create() {
  ASHLAR_RETURN_IF_ERROR(file_system_->CreateDirIfMissing(directory_));
  for (const std::string_view folder : {kMetaFolder, kPrivateFolder, kSharedChecksumFolder}) {
    ASHLAR_RETURN_IF_ERROR(file_system_->CreateDirIfMissing(Path(folder)));
  }
  if (!sync_) return Status::OK();
  // Two failures are ignored. The user may not be allowed to read the parent directory, and the
  // file system above a mount point may not support syncs.
  std::unique_ptr<vfs::Directory> handle;
  if (!file_system_->NewDirectory(ParentDirectory(directory_), &handle).ok()) return Status::OK();
  Status synced = handle->Sync();
  return synced.IsNotSupported() ? Status::OK() : synced;
}

Result<std::vector<std::string>> BackupFolder::List(std::string_view below) const {
  std::vector<std::string> names;
  const Status listed = file_system_->GetChildren(Path(below), &names);
  if (!listed.ok() && !listed.IsPathNotFound()) return listed;
  return names;
}

Result<std::vector<uint32_t>> BackupFolder::ListBackups() const {
  ASHLAR_ASSIGN_OR_RETURN(const std::vector<std::string> names, List(kMetaFolder));
  std::vector<uint32_t> ids;
  for (const std::string& name : names) {
    uint32_t id = 0;
    if (ParseId(name, &id)) ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

Result<uint32_t> BackupFolder::DescriptionCrc(uint32_t id) const {
  ASHLAR_ASSIGN_OR_RETURN(
      const std::string text,
      ReadFileToString(file_system_, Path(StrCat(kMetaFolder, "/", id)), kMetaBytesMax));
  return crc32c::Value(text.data(), text.size());
}

Result<BackupMeta> BackupFolder::Read(uint32_t id, uint64_t* bytes) const {
  const std::string path = Path(StrCat(kMetaFolder, "/", id));
  ASHLAR_ASSIGN_OR_RETURN(const std::string text,
                          ReadFileToString(file_system_, path, kMetaBytesMax));
  Result<BackupMeta> meta = ParseBackupMeta(text, id);
  if (!meta.ok()) return meta.status().WithContext(path);
  *bytes = 0;
  bool has_current = false;
  for (const BackupFile& file : meta->files) {
    has_current |= file.name == "CURRENT";
    uint64_t size = 0;
    const Status found = file_system_->GetFileSize(Path(file.path), &size);
    if (!found.ok())
      return found.IsPathNotFound()
                 ? Status::Corruption(path, StrCat(Path(file.path), " is missing"))
                 : found;
    if (const std::optional<uint64_t> named = BytesInPath(file.path); named.value_or(size) != size)
      return Status::Corruption(path, StrCat(Path(file.path), " has ", size, " bytes"));
    *bytes += size;
  }
  if (!has_current) return Status::Corruption(path, "it names no file CURRENT");
  return meta;
}

Status BackupFolder::SyncFolder(std::string_view below) const {
  return sync_ ? SyncDirectory(file_system_, Path(below)) : Status::OK();
}

Status BackupFolder::SyncFile(const std::string& below) const {
  return sync_ ? ashlar::SyncFile(file_system_, Path(below)) : Status::OK();
}

Status BackupFolder::Commit(uint32_t id, const BackupMeta& meta) {
  ASHLAR_RETURN_IF_ERROR(SyncFolder(kSharedChecksumFolder));
  ASHLAR_RETURN_IF_ERROR(SyncFolder(PrivateFolder(id)));
  ASHLAR_RETURN_IF_ERROR(SyncFolder(kPrivateFolder));
  const std::string path = Path(StrCat(kMetaFolder, "/", id));
  const std::string temporary = path + ".tmp";
  ASHLAR_RETURN_IF_ERROR(WriteStringToFile(file_system_, PrintBackupMeta(meta), temporary,
                                           sync_ ? Durability::kSynced : Durability::kBuffered));
  ASHLAR_RETURN_IF_ERROR(file_system_->RenameFile(temporary, path));
  ASHLAR_RETURN_IF_ERROR(SyncFolder(kMetaFolder));
  // Makes the folders themselves durable, for the first backup.
  return sync_ ? SyncFolder(".") : Status::OK();
}

Status BackupFolder::RemoveMeta(uint32_t id) {
  return file_system_->DeleteFile(Path(StrCat(kMetaFolder, "/", id)));
}

Status BackupFolder::SyncMetas() const { return SyncFolder(kMetaFolder); }

Status BackupFolder::RemoveUnused(const std::vector<uint32_t>& backups, bool remove_shared,
                                  const std::function<bool(const std::string& path)>& wanted) {
  ASHLAR_ASSIGN_OR_RETURN(const std::vector<std::string> metas, List(kMetaFolder));
  for (const std::string& name : metas) {
    uint32_t id = 0;
    if (name.ends_with(kTemporary) && ParseId(FinalName(name), &id))
      ASHLAR_RETURN_IF_ERROR(file_system_->DeleteFile(Path(StrCat(kMetaFolder, "/", name))));
  }
  for (const std::string_view folder : {kSharedChecksumFolder, kSharedFolder}) {
    ASHLAR_ASSIGN_OR_RETURN(const std::vector<std::string> shared, List(folder));
    for (const std::string& name : shared) {
      if (!IsSharedName(FinalName(name))) continue;  // I3
      const std::string path = StrCat(folder, "/", name);
      const bool temporary = name.ends_with(kTemporary);
      if (temporary || (remove_shared && !wanted(path)))
        ASHLAR_RETURN_IF_ERROR(file_system_->DeleteFile(Path(path)));
    }
  }
  ASHLAR_ASSIGN_OR_RETURN(const std::vector<std::string> folders, List(kPrivateFolder));
  for (const std::string& name : folders) {
    // RocksDB names a folder <id>.tmp while it fills it.
    const std::string_view number = std::string_view(name).substr(0, name.find('.'));
    uint32_t id = 0;
    if (!ParseId(number, &id) ||
        (number == name && std::binary_search(backups.begin(), backups.end(), id)))
      continue;
    const std::string folder = StrCat(kPrivateFolder, "/", name);
    ASHLAR_ASSIGN_OR_RETURN(const std::vector<std::string> files, List(folder));
    bool is_empty = true;
    for (const std::string& file : files) {
      if (!IsDatabaseFile(file)) {  // I3
        is_empty = false;
        continue;
      }
      ASHLAR_RETURN_IF_ERROR(file_system_->DeleteFile(Path(StrCat(folder, "/", file))));
    }
    if (is_empty) ASHLAR_RETURN_IF_ERROR(file_system_->DeleteDir(Path(folder)));
  }
  return Status::OK();
}

}  // namespace ashlar
