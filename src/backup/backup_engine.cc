// BackupEngine: takes backups of an open database, and restores them.
//
// DB::GetLiveFilesStorageInfo lists the files of a backup in their order. Later writes in the logs
// are part of the backup as well. A record cut off at the end of the last log is a torn tail, where
// recovery ends.
#include "ashlar/backup_engine.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <span>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "ashlar/db.h"
#include "backup/backup_folder.h"
#include "backup/live_files.h"
#include "base/crc32c.h"
#include "base/format.h"
#include "base/out_of_memory.h"
#include "execute/rate_limiter.h"
#include "filesystem/file_helpers.h"
#include "filesystem/filename.h"
#include "lsm/database_lock.h"
#include "platform/mutex.h"
#include "platform/path.h"
#include "platform/thread_annotations.h"

namespace ashlar {
namespace {

// RocksDB's limit. A backup whose description is too long to be read would count as damaged.
constexpr size_t kAppMetadataBytesMax = size_t{1} << 20;

struct Backup {
  BackupMeta meta;
  uint64_t bytes = 0;
  uint32_t description_crc = 0;  // to detect another backup with the same number
};

// The backups of a directory, as they were read or last changed. A list is immutable. A change
// makes a new one, so that a call sees one state without waiting for the calls of other threads.
struct BackupList {
  std::map<BackupID, std::shared_ptr<const Backup>> backups;
  std::map<BackupID, Status> damaged;  // with the reason

  bool Contains(BackupID id) const { return backups.contains(id) || damaged.contains(id); }
};

Status WrongChecksum(const std::string& path, uint32_t crc, const BackupFile& file) {
  return Status::Corruption(path, StrCat("has checksum ", crc, ", recorded is ", file.crc));
}

const BackupFile* FindFile(const BackupMeta& meta, std::string_view name) {
  for (const BackupFile& file : meta.files) {
    if (file.name == name) return &file;
  }
  return nullptr;
}

// Returns the number of the MANIFEST that the backup's CURRENT names. Returns Corruption if CURRENT
// is missing, differs from what was copied, or names a file that the backup lacks.
Result<uint64_t> FindManifest(const BackupFolder& folder, const BackupMeta& meta) {
  const BackupFile* const current = FindFile(meta, "CURRENT");
  if (current == nullptr) return Status::Corruption("the backup has no file CURRENT");
  const std::string path = folder.Path(current->path);
  ASHLAR_ASSIGN_OR_RETURN(const CopiedFile read,
                          CopyFile({.from_system = folder.file_system(), .from = path}));
  if (read.crc != current->crc) return WrongChecksum(path, read.crc, *current);
  ASHLAR_ASSIGN_OR_RETURN(const uint64_t number,
                          ReadCurrentFile(folder.file_system(), ParentDirectory(path)));
  const std::string manifest(BaseName(DescriptorFileName("", number)));
  if (FindFile(meta, manifest) == nullptr)
    return Status::Corruption(path, StrCat("names ", manifest, ", which the backup lacks"));
  return number;
}

// Makes one backup: copies the files and lists them.
class BackupWriter {
 public:
  BackupWriter(BackupFolder* folder, uint32_t id, DB* db, const CreateBackupOptions& options,
               bool with_logs, const std::atomic<bool>& stopped, RateLimiter* limiter)
      : folder_(folder),
        id_(id),
        db_(db),
        options_(options),
        with_logs_(with_logs),
        stopped_(stopped),
        limiter_(limiter) {}

  Result<Backup> Run(const std::string& app_metadata) {
    ASHLAR_RETURN_IF_ERROR(folder_->file_system()->CreateDirIfMissing(
        folder_->Path(BackupFolder::PrivateFolder(id_))));
    constexpr uint64_t kNoFlush = std::numeric_limits<uint64_t>::max();
    ASHLAR_RETURN_IF_ERROR(VisitLiveFiles(
        db_, options_.flush_before_backup ? 0 : kNoFlush, [&](const LiveFileStorageInfo& file) {
          return file.file_type == kWalFile && !with_logs_ ? Status::OK() : AddLiveFile(file);
        }));
    int64_t now = 0;
    ASHLAR_RETURN_IF_ERROR(db_->GetEnv()->GetCurrentTime(&now));
    backup_.meta.timestamp = now;
    backup_.meta.sequence = db_->GetLatestSequenceNumber();
    backup_.meta.app_metadata = app_metadata;
    return std::move(backup_);
  }

 private:
  vfs::FileSystem* system() const { return folder_->file_system(); }

  CopyPlan PlanFrom(const FileStorageInfo& file) const {
    return {.from_system = db_->GetEnv()->EngineFiles().get(),
            .from = PathOf(file),
            .bytes_max = file.size,
            .sync = folder_->sync(),
            .stopped = [this] { return stopped_.load(); },
            .limiter = limiter_};
  }

  Status Add(const std::string& path, const std::string& name, const CopiedFile& copied) {
    backup_.meta.files.push_back({.path = path, .name = name, .crc = copied.crc});
    backup_.bytes += copied.bytes;
    if (!options_.progress_callback) return Status::OK();
    try {
      options_.progress_callback();
    } catch (const std::bad_alloc&) {
      throw;
    } catch (...) {
      return Status::Aborted("CreateBackupOptions::progress_callback threw an exception");
    }
    return Status::OK();
  }

  Status AddLiveFile(const LiveFileStorageInfo& file) {
    if (!file.replacement_contents.empty())
      return AddText(file.relative_filename, file.replacement_contents);
    return file.file_type == kTableFile ? AddTable(file) : AddPrivate(file);
  }

  Status AddText(const std::string& name, const std::string& text) {
    const std::string path = StrCat(BackupFolder::PrivateFolder(id_), "/", name);
    ASHLAR_RETURN_IF_ERROR(
        WriteStringToFile(system(), text, folder_->Path(path),
                          folder_->sync() ? Durability::kSynced : Durability::kBuffered));
    ASHLAR_ASSIGN_OR_RETURN(const CopiedFile written,
                            CopyFile({.from_system = system(), .from = folder_->Path(path)}));
    return Add(path, name, written);
  }

  Status AddPrivate(const FileStorageInfo& file) {
    const std::string& name = file.relative_filename;
    const std::string path = StrCat(BackupFolder::PrivateFolder(id_), "/", name);
    CopyPlan plan = PlanFrom(file);
    plan.to_system = system();
    plan.to = folder_->Path(path);
    ASHLAR_ASSIGN_OR_RETURN(CopiedFile copied, CopyExactly(plan));
    if (file.file_type == kDescriptorFile && !with_logs_) {
      ASHLAR_RETURN_IF_ERROR(ForgetLogs(system(), folder_->Path(BackupFolder::PrivateFolder(id_)),
                                        file.file_number, folder_->sync()));
      ASHLAR_ASSIGN_OR_RETURN(copied, CopyFile({.from_system = system(), .from = plan.to}));
    }
    return Add(path, name, copied);
  }

  // Reads a table first if an earlier backup may have it, and copies it if its contents are new.
  // The file number does not decide this, because other databases may use the same one.
  Status AddTable(const FileStorageInfo& table) {
    const std::string& name = table.relative_filename;
    CopyPlan plan = PlanFrom(table);
    ASHLAR_ASSIGN_OR_RETURN(const bool like, SharedHasLike(name, plan.bytes_max));
    if (like) {
      ASHLAR_ASSIGN_OR_RETURN(const CopiedFile read, CopyExactly(plan));
      ASHLAR_RETURN_IF_ERROR(CheckAgainstRecord(table, read.crc));
      const std::string path = SharedPath(name, read.crc, read.bytes);
      uint64_t there = 0;
      if (system()->GetFileSize(folder_->Path(path), &there).ok() && there == read.bytes &&
          folder_->SyncFile(path).ok()) {  // I2 of backup_folder.h
        return Add(path, name, read);
      }
    }
    plan.to_system = system();
    plan.to = folder_->Path(StrCat(kSharedChecksumFolder, "/.", name, ".tmp"));
    ASHLAR_ASSIGN_OR_RETURN(const CopiedFile copied, CopyExactly(plan));
    ASHLAR_RETURN_IF_ERROR(CheckAgainstRecord(table, copied.crc));
    const std::string path = SharedPath(name, copied.crc, copied.bytes);
    ASHLAR_RETURN_IF_ERROR(system()->RenameFile(plan.to, folder_->Path(path)));
    return Add(path, name, copied);
  }

  // Returns whether a shared file came from a table of this name and size.
  Result<bool> SharedHasLike(const std::string& name, uint64_t bytes) {
    if (!shared_listed_) {
      ASHLAR_RETURN_IF_ERROR(system()->GetChildren(folder_->Path(kSharedChecksumFolder), &shared_));
      std::sort(shared_.begin(), shared_.end());
      shared_listed_ = true;
    }
    const size_t dot = name.rfind('.');
    const std::string begin = name.substr(0, dot) + "_";
    const std::string end = StrCat("_", bytes, name.substr(dot));
    auto other = std::lower_bound(shared_.begin(), shared_.end(), begin);
    while (other != shared_.end() && other->starts_with(begin) && !other->ends_with(end)) ++other;
    return other != shared_.end() && other->starts_with(begin);
  }

  BackupFolder* const folder_;
  const uint32_t id_;
  DB* const db_;
  const CreateBackupOptions& options_;
  const bool with_logs_;
  const std::atomic<bool>& stopped_;
  RateLimiter* const limiter_;  // null: no limit
  bool shared_listed_ = false;
  std::vector<std::string> shared_;  // sorted, for many searches among many files
  Backup backup_;
};

// Restores the files of a backup to the directory of a database, which may exist already.
class Restorer {
 public:
  Restorer(const BackupFolder& folder, vfs::FileSystem* file_system, const std::string& db_dir,
           const std::string& wal_dir, RateLimiter* limiter)
      : folder_(folder),
        system_(file_system),
        db_dir_(db_dir),
        wal_dir_(wal_dir.empty() ? db_dir : wal_dir),
        limiter_(limiter) {}

  Status Run(const BackupMeta& meta, const RestoreOptions& options) {
    for (const std::string& folder : {db_dir_, wal_dir_})
      ASHLAR_RETURN_IF_ERROR(CheckHasNoBackups(folder));
    ASHLAR_ASSIGN_OR_RETURN(const uint64_t manifest_number, FindManifest(folder_, meta));
    for (const std::string& folder : {db_dir_, wal_dir_})
      ASHLAR_RETURN_IF_ERROR(CreateDirDurably(system_, folder));
    std::unique_ptr<vfs::FileLock> lock;
    ASHLAR_RETURN_IF_ERROR(LockDatabase(system_, db_dir_, wal_dir_, &lock));
    ASHLAR_RETURN_IF_ERROR(CheckBackupsHaveNoLock(&lock));
    ASHLAR_RETURN_IF_ERROR(Clear(options.keep_log_files));
    for (const BackupFile& file : meta.files)
      ASHLAR_RETURN_IF_ERROR(Put(file, options.keep_log_files));
    if (wal_dir_ != db_dir_) ASHLAR_RETURN_IF_ERROR(SyncFolder(wal_dir_));
    std::unique_ptr<vfs::Directory> handle;
    ASHLAR_RETURN_IF_ERROR(system_->NewDirectory(db_dir_, &handle));
    ASHLAR_RETURN_IF_ERROR(handle->Sync());
    // From here on there is a database again.
    return SetCurrentFile(system_, db_dir_, manifest_number, handle.get());
  }

 private:
  // Backup files are named like files of a database, so Clear would delete them. This compares
  // paths before anything is created. CheckBackupsHaveNoLock finds the folder by any other path.
  Status CheckHasNoBackups(const std::string& folder) const {
    if (system_ != folder_.file_system()) return Status::OK();
    for (const std::string_view name : {kPrivateFolder, kSharedFolder, kSharedChecksumFolder}) {
      if (StrCat(folder, "/").starts_with(StrCat(folder_.Path(name), "/")))
        return IsOfBackups(folder);
    }
    return Status::OK();
  }

  // Requires that the locks of the replaced database are held. If a folder of the backups has one
  // of them, it is a folder of the database, whatever its path and file system. Then this releases
  // the locks, deletes the lock file and returns an error.
  Status CheckBackupsHaveNoLock(std::unique_ptr<vfs::FileLock>* held) const {
    std::vector<std::string> folders = {std::string(kPrivateFolder), std::string(kSharedFolder),
                                        std::string(kSharedChecksumFolder)};
    std::vector<std::string> names;
    ASHLAR_RETURN_IF_ERROR(
        folder_.file_system()->GetChildren(folder_.Path(kPrivateFolder), &names));
    for (const std::string& name : names) folders.push_back(StrCat(kPrivateFolder, "/", name));
    for (const std::string& folder : folders) {
      const std::string path = LockFileName(folder_.Path(folder));
      if (!folder_.file_system()->FileExists(path).ok()) continue;
      std::unique_ptr<vfs::FileLock> lock;
      if (folder_.file_system()->LockFile(path, &lock).ok()) continue;
      // Windows deletes no held file, so there a second attempt follows the release.
      const bool is_gone = folder_.file_system()->DeleteFile(path).ok();
      held->reset();
      if (!is_gone) static_cast<void>(folder_.file_system()->DeleteFile(path).ok());
      return IsOfBackups(folder_.Path(folder));
    }
    return Status::OK();
  }

  static Status IsOfBackups(const std::string& folder) {
    return Status::InvalidArgument(folder,
                                   "is a folder of the backups; restore to another directory");
  }

  Status SyncFolder(const std::string& path) const {
    std::unique_ptr<vfs::Directory> handle;
    ASHLAR_RETURN_IF_ERROR(system_->NewDirectory(path, &handle));
    return handle->Sync();
  }

  Status Remove(const std::string& path) const {
    const Status removed = system_->DeleteFile(path);
    return removed.IsPathNotFound() ? Status::OK() : removed;
  }

  Status Clear(bool keep_logs) const {
    // Removes CURRENT first. From then on there is no database.
    ASHLAR_RETURN_IF_ERROR(Remove(CurrentFileName(db_dir_)));
    ASHLAR_RETURN_IF_ERROR(SyncFolder(db_dir_));
    for (const std::string& folder : std::set<std::string>{db_dir_, wal_dir_}) {
      ASHLAR_RETURN_IF_ERROR(ClearFolder(folder, keep_logs));
      ASHLAR_RETURN_IF_ERROR(ClearArchive(folder, keep_logs));
    }
    return Status::OK();
  }

  // The replaced database may have its logs in either folder.
  Status ClearFolder(const std::string& folder, bool keep_logs) const {
    std::vector<std::string> names;
    ASHLAR_RETURN_IF_ERROR(system_->GetChildren(folder, &names));
    for (const std::string& name : names) {
      uint64_t number = 0;
      FileType type;
      if (!ParseFileName(name, &number, &type) || type == FileType::kDBLockFile) continue;
      const bool goes = type == FileType::kWalFile ? !keep_logs : folder == db_dir_;
      if (goes) ASHLAR_RETURN_IF_ERROR(Remove(folder + "/" + name));
    }
    return Status::OK();
  }

  // GetUpdatesSince would return archived logs as writes of the restored database. Logs that are
  // kept are moved to the log folder, because recovery would find a gap without them.
  Status ClearArchive(const std::string& folder, bool keep_logs) const {
    if (keep_logs && folder != wal_dir_) return Status::OK();
    const std::string archive = ArchiveDirectory(folder);
    std::vector<std::string> names;
    const Status listed = system_->GetChildren(archive, &names);
    if (listed.IsPathNotFound()) return Status::OK();
    ASHLAR_RETURN_IF_ERROR(listed);
    for (const std::string& name : names) {
      if (!HasType(name, FileType::kWalFile)) continue;
      const std::string path = archive + "/" + name;
      ASHLAR_RETURN_IF_ERROR(keep_logs ? Unarchive(path, folder + "/" + name) : Remove(path));
    }
    return SyncFolder(archive);
  }

  Status Unarchive(const std::string& from, const std::string& to) const {
    const Status exists = system_->FileExists(to);
    return exists.IsNotFound() ? system_->RenameFile(from, to) : exists;
  }

  Status Put(const BackupFile& file, bool keep_logs) const {
    if (HasType(file.name, FileType::kCurrentFile)) return Status::OK();
    const bool log = HasType(file.name, FileType::kWalFile);
    const std::string to = (log ? wal_dir_ : db_dir_) + "/" + file.name;
    if (log && keep_logs && system_->FileExists(to).ok()) return Status::OK();
    const std::string from = folder_.Path(file.path);
    ASHLAR_ASSIGN_OR_RETURN(const CopiedFile copied, CopyFile({.from_system = folder_.file_system(),
                                                               .from = from,
                                                               .to_system = system_,
                                                               .to = to,
                                                               .limiter = limiter_}));
    if (copied.crc == file.crc)
      return HasType(file.name, FileType::kOptionsFile)
                 ? SetLogFolder(system_, to, wal_dir_ == db_dir_ ? "" : wal_dir_)
                 : Status::OK();
    static_cast<void>(system_->DeleteFile(to).ok());
    return WrongChecksum(from, copied.crc, file);
  }

  const BackupFolder& folder_;
  vfs::FileSystem* const system_;
  const std::string db_dir_;
  const std::string wal_dir_;
  RateLimiter* const limiter_;  // null: no limit
};

// The limiter of the options, or a new one with their rate. Null if there is no limit.
std::shared_ptr<RateLimiter> LimiterOf(const std::shared_ptr<RateLimiter>& limiter,
                                       uint64_t bytes_per_second) {
  if (limiter != nullptr || bytes_per_second == 0) return limiter;
  const uint64_t bytes_max = std::numeric_limits<int64_t>::max();
  return std::shared_ptr<RateLimiter>(
      NewGenericRateLimiter(static_cast<int64_t>(std::min(bytes_per_second, bytes_max))));
}

Status CheckOptions(const BackupEngineOptions& options) {
  if (!options.share_table_files || !options.share_files_with_checksum) {
    return Status::NotSupported(
        "BackupEngineOptions::share_table_files and share_files_with_checksum: backups always "
        "share tables by their checksum; leave both true");
  }
  if (options.schema_version != 1) {
    return Status::NotSupported(
        StrCat("BackupEngineOptions::schema_version=", options.schema_version,
               ": only schema 1 is written; leave it at 1"));
  }
  for (const auto& [name, limiter] :
       {std::pair("backup_rate_limiter", options.backup_rate_limiter.get()),
        std::pair("restore_rate_limiter", options.restore_rate_limiter.get())}) {
    ASHLAR_RETURN_IF_ERROR(
        CheckRateLimiter(limiter).WithContext(StrCat("BackupEngineOptions::", name)));
  }
  return Status::OK();
}

class BackupEngineImpl final : public BackupEngine {
 public:
  BackupEngineImpl(const BackupEngineOptions& options, Env* db_env)
      : options_(options),
        db_system_(db_env->EngineFiles()),
        backup_system_(
            (options.backup_env == nullptr ? db_env : options.backup_env)->EngineFiles()),
        folder_(backup_system_.get(), options.backup_dir, options.sync),
        backup_limiter_(LimiterOf(options.backup_rate_limiter, options.backup_rate_limit)),
        restore_limiter_(LimiterOf(options.restore_rate_limiter, options.restore_rate_limit)) {}

  Status Open(bool read_only) {
    ASHLAR_RETURN_IF_ERROR(CheckOptions(options_));
    if (read_only && options_.destroy_old_data) {
      return Status::InvalidArgument(
          "BackupEngineOptions::destroy_old_data: a BackupEngineReadOnly deletes no backups; leave "
          "it off");
    }
    if (!read_only) ASHLAR_RETURN_IF_ERROR(folder_.Create());
    if (options_.destroy_old_data) {
      return WhileLocked([this]() ASHLAR_REQUIRES(change_mutex_) { return RemoveAll(); });
    }
    MutexLock one_change(change_mutex_);
    if (read_only) {
      ASHLAR_RETURN_IF_ERROR(ReadList());
      KeepNewest(options_.max_valid_backups_to_open);
      return Status::OK();
    }
    std::unique_ptr<vfs::FileLock> lock;
    const Status locked = backup_system_->LockFile(LockFileName(options_.backup_dir), &lock);
    ASHLAR_RETURN_IF_ERROR(ReadList());
    // While another engine makes a backup, its unfinished files look like leftovers. Without the
    // lock, the first change removes the leftovers.
    return locked.ok() ? RemoveLeftovers() : Status::OK();
  }

  // ---- Queries.

  void GetBackupInfo(std::vector<BackupInfo>* backup_infos) const override {
    backup_infos->clear();
    const std::shared_ptr<const BackupList> list = List();
    for (const auto& [id, backup] : list->backups) backup_infos->push_back(InfoOf(id, *backup));
  }
  Status GetBackupInfo(BackupID backup_id, BackupInfo* backup_info) const override {
    return CatchBadAlloc([&]() -> Status {
      ASHLAR_ASSIGN_OR_RETURN(const std::shared_ptr<const Backup> backup, Find(backup_id));
      *backup_info = InfoOf(backup_id, *backup);
      return Status::OK();
    });
  }
  Status GetLatestBackupInfo(BackupInfo* backup_info) const override {
    return CatchBadAlloc([&]() -> Status {
      const std::shared_ptr<const BackupList> list = List();
      if (list->backups.empty()) return NoBackups();
      const auto& [id, backup] = *list->backups.rbegin();
      *backup_info = InfoOf(id, *backup);
      return Status::OK();
    });
  }
  void GetCorruptedBackups(std::vector<BackupID>* corrupt_backup_ids) const override {
    corrupt_backup_ids->clear();
    const std::shared_ptr<const BackupList> list = List();
    for (const auto& [id, why] : list->damaged) corrupt_backup_ids->push_back(id);
  }

  Status VerifyBackup(BackupID backup_id, bool verify_with_checksum) const override {
    return CatchBadAlloc([&] { return Verify(backup_id, verify_with_checksum); });
  }

  // ---- Restoring.

  Status RestoreDBFromBackup(const RestoreOptions& options, BackupID backup_id,
                             const std::string& db_dir, const std::string& wal_dir) const override {
    return CatchBadAlloc([&] { return Restore(options, backup_id, db_dir, wal_dir); });
  }
  Status RestoreDBFromLatestBackup(const RestoreOptions& options, const std::string& db_dir,
                                   const std::string& wal_dir) const override {
    return CatchBadAlloc([&]() -> Status {
      const std::shared_ptr<const BackupList> list = List();
      if (list->backups.empty()) return NoBackups();
      return Restore(options, list->backups.rbegin()->first, db_dir, wal_dir);
    });
  }

  // ---- Changes.

  Status CreateNewBackupWithMetadata(const CreateBackupOptions& options, DB* db,
                                     const std::string& app_metadata,
                                     BackupID* new_backup_id) override {
    return WhileLocked([&]() ASHLAR_REQUIRES(change_mutex_) {
      return Create(options, db, app_metadata, new_backup_id);
    });
  }

  void StopBackup() override { stopped_.store(true); }

  Status PurgeOldBackups(uint32_t num_backups_to_keep) override {
    return WhileLocked([&]() ASHLAR_REQUIRES(change_mutex_) -> Status {
      const std::shared_ptr<const BackupList> list = List();
      std::vector<BackupID> old;
      for (const auto& [id, backup] : list->backups) {
        if (list->backups.size() - old.size() <= num_backups_to_keep) break;
        old.push_back(id);
      }
      ASHLAR_RETURN_IF_ERROR(Remove(old));
      return RemoveUnused();
    });
  }

  Status DeleteBackup(BackupID backup_id) override {
    return WhileLocked([&]() ASHLAR_REQUIRES(change_mutex_) -> Status {
      if (!List()->Contains(backup_id)) return NoBackup(backup_id);
      ASHLAR_RETURN_IF_ERROR(Remove({&backup_id, 1}));
      return RemoveUnused();
    });
  }

  Status GarbageCollect() override {
    return WhileLocked([this]() ASHLAR_REQUIRES(change_mutex_) { return RemoveUnused(); });
  }

 private:
  Status Restore(const RestoreOptions& options, BackupID backup_id, const std::string& db_dir,
                 const std::string& wal_dir) const {
    if (options.mode != RestoreOptions::kPurgeAllFiles)
      return Status::NotSupported(StrCat("RestoreOptions::mode=", static_cast<int>(options.mode),
                                         " is not implemented; leave it at kPurgeAllFiles"));
    // The files of the backup must exist before anything in db_dir is changed.
    ASHLAR_RETURN_IF_ERROR(Verify(backup_id, false));
    ASHLAR_ASSIGN_OR_RETURN(const std::shared_ptr<const Backup> backup, Find(backup_id));
    return UnlessDeleted(
        backup_id, Restorer(folder_, db_system_.get(), db_dir, wal_dir, restore_limiter_.get())
                       .Run(backup->meta, options));
  }

  Status Verify(BackupID backup_id, bool verify_with_checksum) const {
    ASHLAR_ASSIGN_OR_RETURN(const std::shared_ptr<const Backup> backup, Find(backup_id));
    return UnlessDeleted(backup_id, VerifyFiles(backup_id, *backup, verify_with_checksum));
  }

  // Another thread or engine may delete a backup while it is read. It deletes the description
  // before the files.
  Status UnlessDeleted(BackupID backup_id, const Status& status) const {
    return !status.ok() && folder_.DescriptionCrc(backup_id).status().IsPathNotFound()
               ? NoBackup(backup_id)
               : status;
  }

  Status VerifyFiles(BackupID backup_id, const Backup& backup, bool verify_with_checksum) const {
    uint64_t bytes = 0;
    ASHLAR_ASSIGN_OR_RETURN(const BackupMeta meta, folder_.Read(backup_id, &bytes));
    // The listed backup was deleted, and another backup got its number.
    if (meta != backup.meta) return NoBackup(backup_id);
    if (bytes != backup.bytes)
      return Status::Corruption(options_.backup_dir,
                                StrCat("backup ", backup_id, " has ", bytes, " bytes, and had ",
                                       backup.bytes, " when it was listed"));
    ASHLAR_RETURN_IF_ERROR(FindManifest(folder_, meta).status());
    if (!verify_with_checksum) return Status::OK();
    for (const BackupFile& file : meta.files) {
      ASHLAR_ASSIGN_OR_RETURN(const CopiedFile read, CopyFile({.from_system = backup_system_.get(),
                                                               .from = folder_.Path(file.path),
                                                               .limiter = backup_limiter_.get()}));
      if (read.crc != file.crc) return WrongChecksum(folder_.Path(file.path), read.crc, file);
    }
    return Status::OK();
  }

  // Runs each change of the directory. One change runs at a time among all threads and processes,
  // starting from the current list.
  template <typename Change>
  Status WhileLocked(const Change& change) {
    return CatchBadAlloc([&]() -> Status {
      MutexLock one_change(change_mutex_);
      std::unique_ptr<vfs::FileLock> lock;
      const Status locked = backup_system_->LockFile(LockFileName(options_.backup_dir), &lock);
      if (!locked.ok()) return locked.WithContext("a change of the backups needs their lock");
      ASHLAR_RETURN_IF_ERROR(ReadList());
      ASHLAR_RETURN_IF_ERROR(RemoveLeftovers());
      return change();
    });
  }

  // Reads new and changed descriptions. Keeps the old list after an error, because with a partial
  // list a restore of the latest backup would take an older one. A backup may vanish during the
  // call if the lock file is not held.
  Status ReadList() ASHLAR_REQUIRES(change_mutex_) {
    ASHLAR_ASSIGN_OR_RETURN(const std::vector<uint32_t> ids, folder_.ListBackups());
    const std::shared_ptr<const BackupList> known = List();
    auto list = std::make_shared<BackupList>();
    for (const uint32_t id : ids) {
      latest_id_ = std::max(latest_id_, id);
      const Result<uint32_t> crc = folder_.DescriptionCrc(id);
      if (crc.status().IsPathNotFound()) continue;
      ASHLAR_RETURN_IF_ERROR(crc.status());
      if (const auto same = known->backups.find(id);
          same != known->backups.end() && same->second->description_crc == *crc) {
        list->backups.insert(*same);
        continue;
      }
      uint64_t bytes = 0;
      Result<BackupMeta> meta = folder_.Read(id, &bytes);
      if (meta.ok()) {
        list->backups[id] = std::make_shared<const Backup>(
            Backup{.meta = std::move(meta).value(), .bytes = bytes, .description_crc = *crc});
      } else if (folder_.DescriptionCrc(id).status().IsPathNotFound()) {
        continue;
      } else if (meta.status().IsCorruption() || meta.status().IsNotSupported()) {
        list->damaged[id] = meta.status();
      } else {
        return meta.status();
      }
    }
    SetList(std::move(list));
    return Status::OK();
  }

  // Keeps only this many of the newest usable backups in the list.
  void KeepNewest(int count) ASHLAR_REQUIRES(change_mutex_) {
    const auto backups_max = static_cast<size_t>(std::max(count, 0));
    auto list = std::make_shared<BackupList>(*List());
    while (list->backups.size() > backups_max) list->backups.erase(list->backups.begin());
    SetList(std::move(list));
  }

  std::shared_ptr<const BackupList> List() const {
    MutexLock lock(list_mutex_);
    return list_;
  }
  void SetList(std::shared_ptr<const BackupList> list) ASHLAR_REQUIRES(change_mutex_) {
    MutexLock lock(list_mutex_);
    list_.swap(list);
  }

  // Removes the descriptions of listed backups, not their files. If one removal fails, those before
  // it are done.
  Status Remove(std::span<const BackupID> ids) ASHLAR_REQUIRES(change_mutex_) {
    if (ids.empty()) return Status::OK();
    auto list = std::make_shared<BackupList>(*List());
    Status removed;
    for (const BackupID id : ids) {
      removed = folder_.RemoveMeta(id);
      if (!removed.ok()) break;
      list->backups.erase(id);
      list->damaged.erase(id);
    }
    // Syncs after an error, too, because the next change removes files that no description names.
    const Status synced = folder_.SyncMetas();
    if (!synced.ok()) return removed.ok() ? synced : removed;
    SetList(std::move(list));
    return removed;
  }

  Status RemoveAll() ASHLAR_REQUIRES(change_mutex_) {
    const std::shared_ptr<const BackupList> list = List();
    std::vector<BackupID> ids;
    for (const auto& [id, backup] : list->backups) ids.push_back(id);
    for (const auto& [id, why] : list->damaged) ids.push_back(id);
    ASHLAR_RETURN_IF_ERROR(Remove(ids));
    return RemoveUnused();
  }

  // Removes files of backups that did not finish before this engine was opened. Does so once.
  Status RemoveLeftovers() ASHLAR_REQUIRES(change_mutex_) {
    if (leftovers_removed_) return Status::OK();
    ASHLAR_RETURN_IF_ERROR(RemoveUnused());
    leftovers_removed_ = true;
    return Status::OK();
  }

  Status Create(const CreateBackupOptions& options, DB* db, const std::string& app_metadata,
                BackupID* new_backup_id) ASHLAR_REQUIRES(change_mutex_) {
    if (stopped_.load()) return Status::Incomplete(options_.backup_dir, "the backup was stopped");
    if (app_metadata.size() > kAppMetadataBytesMax) {
      return Status::InvalidArgument(
          "App metadata too large",
          StrCat(app_metadata.size(), " bytes, at most ", kAppMetadataBytesMax));
    }
    if (options.atomic_flush)
      return Status::NotSupported(
          "CreateBackupOptions::atomic_flush is not implemented; leave it off");
    if (options.exclude_files_callback)
      return Status::NotSupported(
          "CreateBackupOptions::exclude_files_callback is not implemented; leave it empty");
    if (latest_id_ == std::numeric_limits<BackupID>::max())
      return Status::NotSupported(options_.backup_dir,
                                  StrCat("no number is left after that of backup ", latest_id_,
                                         "; back up to another directory"));
    const uint32_t id = latest_id_ + 1;
    Backup backup;
    auto list = std::make_shared<BackupList>(*List());
    const Status committed = CatchBadAlloc([&]() -> Status {
      ASHLAR_ASSIGN_OR_RETURN(
          backup, BackupWriter(&folder_, id, db, options, options_.backup_log_files, stopped_,
                               backup_limiter_.get())
                      .Run(app_metadata));
      return folder_.Commit(id, backup.meta);
    });
    latest_id_ = id;
    if (!committed.ok()) {
      // The description may exist without being durable. The next open checks it. Until then the
      // files of the backup are kept, even if it is unknown whether the description exists.
      if (!backup_system_->FileExists(folder_.Path(StrCat(kMetaFolder, "/", id))).IsNotFound()) {
        list->damaged[id] = committed;
        SetList(std::move(list));
      }
      static_cast<void>(RemoveUnused().ok());
      return committed;
    }
    const std::string text = PrintBackupMeta(backup.meta);
    backup.description_crc = crc32c::Value(text.data(), text.size());
    list->backups[id] = std::make_shared<const Backup>(std::move(backup));
    SetList(std::move(list));
    if (new_backup_id != nullptr) *new_backup_id = id;
    return Status::OK();
  }

  Status RemoveUnused() ASHLAR_REQUIRES(change_mutex_) {
    const std::shared_ptr<const BackupList> list = List();
    std::vector<uint32_t> ids;
    std::unordered_set<std::string_view> wanted;  // thousands of backups may share their tables
    for (const auto& [id, backup] : list->backups) {
      ids.push_back(id);
      for (const BackupFile& file : backup->meta.files) wanted.insert(file.path);
    }
    for (const auto& [id, why] : list->damaged) ids.push_back(id);
    std::sort(ids.begin(), ids.end());
    // Shared files are kept while a backup is damaged, because it is unknown which of them it has.
    return folder_.RemoveUnused(ids, list->damaged.empty(),
                                [&](const std::string& path) { return wanted.contains(path); });
  }

  static BackupInfo InfoOf(uint32_t id, const Backup& backup) {
    BackupInfo info;
    info.backup_id = id;
    info.timestamp = backup.meta.timestamp;
    info.size = backup.bytes;
    info.number_files = static_cast<uint32_t>(backup.meta.files.size());
    info.app_metadata = backup.meta.app_metadata;
    return info;
  }

  Status NoBackups() const { return Status::NotFound(options_.backup_dir, "there is no backup"); }
  Status NoBackup(BackupID id) const {
    return Status::NotFound(options_.backup_dir, StrCat("no such backup: ", id));
  }

  Result<std::shared_ptr<const Backup>> Find(BackupID id) const {
    const std::shared_ptr<const BackupList> list = List();
    if (const auto damaged = list->damaged.find(id); damaged != list->damaged.end())
      return damaged->second;
    const auto found = list->backups.find(id);
    if (found == list->backups.end()) return NoBackup(id);
    return found->second;
  }

  const BackupEngineOptions options_;
  const std::shared_ptr<vfs::FileSystem> db_system_;
  const std::shared_ptr<vfs::FileSystem> backup_system_;
  BackupFolder folder_;
  // Null: no limit.
  const std::shared_ptr<RateLimiter> backup_limiter_;
  const std::shared_ptr<RateLimiter> restore_limiter_;
  Mutex change_mutex_;  // orders this engine's threads; before the file's lock and list_mutex_
  mutable Mutex list_mutex_;
  std::shared_ptr<const BackupList> list_ ASHLAR_GUARDED_BY(list_mutex_) =
      std::make_shared<const BackupList>();
  uint32_t latest_id_ ASHLAR_GUARDED_BY(change_mutex_) = 0;
  bool leftovers_removed_ ASHLAR_GUARDED_BY(change_mutex_) = false;
  // Set by any thread and read by the one that copies. No other data depends on it.
  std::atomic<bool> stopped_ = false;
};

template <typename Engine>
Status OpenEngine(const BackupEngineOptions& options, Env* db_env, bool read_only,
                  Engine** backup_engine) {
  *backup_engine = nullptr;
  return CatchBadAlloc([&]() -> Status {
    auto engine =
        std::make_unique<BackupEngineImpl>(options, db_env == nullptr ? Env::Default() : db_env);
    ASHLAR_RETURN_IF_ERROR(engine->Open(read_only));
    *backup_engine = engine.release();
    return Status::OK();
  });
}

}  // namespace

Status BackupEngineReadOnly::Open(const BackupEngineOptions& options, Env* db_env,
                                  BackupEngineReadOnly** backup_engine) {
  return OpenEngine(options, db_env, true, backup_engine);
}

Status BackupEngine::Open(const BackupEngineOptions& options, Env* db_env,
                          BackupEngine** backup_engine) {
  return OpenEngine(options, db_env, false, backup_engine);
}

}  // namespace ashlar
