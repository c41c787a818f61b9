// Checkpoint: links or copies files of the database (all live ones, or the tables of one family)
// into a temporary folder, and renames the folder.
//
//   <to>.checkpoint-tmp   tables linked or copied, the rest copied; all synced, the folder too
//       -- rename -->  <to>  -- sync of the parent -->  durable
//   <to>.checkpoint-lock  a lock file, held from before the folder is made until after the sync
//
// The holder of the lock owns the folder. A folder without a held lock was left by an attempt that
// crashed, because the system releases the locks of a process that ends. The lock file is next to
// the folder, because Windows does not rename a folder with a held file. The lock file is removed
// at the end. An empty one that a crash left is reused.
//
// I1: <to> exists only when it is complete, even after a power cut.
// I2: only files with names of a database are removed. A foreign folder with the temporary name is
//     not emptied, and a lock file with contents is not removed.
// I3: a copy is written to a file that this call creates, because an existing one may be a link to
//     the original.
// I4: the folder is made, filled, renamed and removed only while the lock is held.
#include "ashlar/checkpoint.h"

#include <memory>
#include <utility>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/db.h"
#include "ashlar/metadata.h"
#include "backup/backup_folder.h"
#include "backup/live_files.h"
#include "base/format.h"
#include "base/function_ref.h"
#include "base/out_of_memory.h"
#include "base/result.h"
#include "filesystem/file_helpers.h"
#include "filesystem/filename.h"
#include "platform/path.h"

namespace ashlar {
namespace {

Status SyncFolder(vfs::FileSystem* system, const std::string& path) {
  std::unique_ptr<vfs::Directory> handle;
  ASHLAR_RETURN_IF_ERROR(system->NewDirectory(path, &handle));
  return handle->Sync();
}

// I2. Returns OK if the folder does not exist any more.
Status RemoveFolder(vfs::FileSystem* system, const std::string& path) {
  std::vector<std::string> names;
  const Status listed = system->GetChildren(path, &names);
  if (listed.IsPathNotFound()) return Status::OK();
  ASHLAR_RETURN_IF_ERROR(listed);
  for (const std::string& name : names) {
    uint64_t number = 0;
    FileType type;
    if (ParseFileName(name, &number, &type))
      ASHLAR_RETURN_IF_ERROR(system->DeleteFile(path + "/" + name));
  }
  return system->DeleteDir(path);
}

// Holds <to>.checkpoint-lock from Take until the object is destroyed.
class DestinationLock {
 public:
  DestinationLock(vfs::FileSystem* system, const std::string& to)
      : system_(system), path_(to + ".checkpoint-lock") {}
  ~DestinationLock() {
    if (lock_ != nullptr) IgnoreBadAlloc([this] { Remove(); });
  }
  DestinationLock(const DestinationLock&) = delete;
  DestinationLock& operator=(const DestinationLock&) = delete;

  // Returns Busy if another checkpoint to the destination runs, here or in another process.
  Status Take() {
    Status taken = system_->LockFile(path_, &lock_);
    if (taken.subcode() != Status::kFileLocked) return taken;
    return Status::Busy("another checkpoint to this directory is under way", taken.getState());
  }

 private:
  // I2. Removes the file before the release. Otherwise another call could lock it in between.
  // Windows removes no file that any process holds, so there a second attempt follows the release.
  void Remove() {
    uint64_t bytes = 0;
    if (!system_->GetFileSize(path_, &bytes).ok() || bytes > 0) return;
    const bool removed = system_->DeleteFile(path_).ok();
    lock_.reset();
    if (!removed) static_cast<void>(system_->DeleteFile(path_).ok());
  }

  vfs::FileSystem* const system_;
  const std::string path_;
  std::unique_ptr<vfs::FileLock> lock_;
};

// Makes the folder <to>.
class FolderWriter {
 public:
  FolderWriter(vfs::FileSystem* system, std::string to)
      : system_(system), to_(std::move(to)), temporary_(to_ + ".checkpoint-tmp") {}

  // `fill` adds the files.
  Status Run(FunctionRef<Status()> fill) {
    ASHLAR_RETURN_IF_ERROR(CheckIsFree());  // first, so that a refusal writes nothing
    DestinationLock lock(system_, to_);
    ASHLAR_RETURN_IF_ERROR(lock.Take());  // I4
    // Another call may have published the folder before this one had the lock.
    ASHLAR_RETURN_IF_ERROR(CheckIsFree());
    ASHLAR_RETURN_IF_ERROR(RemoveFolder(system_, temporary_));
    Status status = CatchBadAlloc([&]() -> Status {
      ASHLAR_RETURN_IF_ERROR(system_->CreateDir(temporary_));
      ASHLAR_RETURN_IF_ERROR(fill());
      return SyncFolder(system_, temporary_);
    });
    if (status.ok()) status = Publish();
    // Returns the first error. The next call removes the rest.
    if (!status.ok())
      IgnoreBadAlloc([this] { static_cast<void>(RemoveFolder(system_, temporary_).ok()); });
    return status;
  }

  // ---- For `fill`.

  Status Add(const LiveFileStorageInfo& file) const {
    const std::string to = temporary_ + "/" + file.relative_filename;
    if (!file.replacement_contents.empty())
      return WriteStringToFile(system_, file.replacement_contents, to, Durability::kSynced);
    if (file.file_type == kTableFile) return LinkOrCopy(file, to);
    ASHLAR_RETURN_IF_ERROR(Copy(file, to));
    return file.file_type == kOptionsFile ? SetLogFolder(system_, to, "") : Status::OK();
  }

 private:
  Status CheckIsFree() const {
    const Status exists = system_->FileExists(to_);
    if (exists.ok())
      return Status::InvalidArgument(to_, "exists; a checkpoint or export makes its own directory");
    return exists.IsNotFound() ? Status::OK() : exists;
  }

  Status Publish() {
    const Status status = CatchBadAlloc([this]() -> Status {
      ASHLAR_RETURN_IF_ERROR(system_->RenameFile(temporary_, to_));  // I1
      return SyncFolder(system_, ParentDirectory(to_));
    });
    // Undoes a completed rename, so that no folder <to> is left after an error.
    if (!status.ok()) {
      IgnoreBadAlloc([this] {
        if (system_->FileExists(temporary_).IsNotFound())
          static_cast<void>(system_->RenameFile(to_, temporary_).ok());
      });
    }
    return status;
  }

  Status LinkOrCopy(const FileStorageInfo& file, const std::string& to) const {
    if (system_->LinkFile(PathOf(file), to).ok()) return Status::OK();
    // The link may exist although its call failed. I3.
    const Status removed = system_->DeleteFile(to);
    if (!removed.ok() && !removed.IsPathNotFound()) return removed;
    return Copy(file, to);
  }

  Status Copy(const FileStorageInfo& file, const std::string& to) const {
    ASHLAR_ASSIGN_OR_RETURN(const CopiedFile copied, CopyExactly({.from_system = system_,
                                                                  .from = PathOf(file),
                                                                  .to_system = system_,
                                                                  .to = to,
                                                                  .bytes_max = file.size,
                                                                  .replaces = false}));
    return CheckAgainstRecord(file, copied.crc);
  }

  vfs::FileSystem* const system_;
  const std::string to_;
  const std::string temporary_;
};

class CheckpointImpl final : public Checkpoint {
 public:
  explicit CheckpointImpl(DB* db) : db_(db) {}

  Status CreateCheckpoint(const std::string& checkpoint_dir, uint64_t log_size_for_flush,
                          uint64_t* sequence_number_ptr) override try {
    ASHLAR_ASSIGN_OR_RETURN(const std::string to, FolderName(checkpoint_dir));
    const uint64_t sequence = db_->GetLatestSequenceNumber();
    FolderWriter folder(db_->GetEnv()->EngineFiles().get(), to);
    ASHLAR_RETURN_IF_ERROR(folder.Run([&] {
      return VisitLiveFiles(db_, log_size_for_flush,
                            [&](const LiveFileStorageInfo& file) { return folder.Add(file); });
    }));
    if (sequence_number_ptr != nullptr) *sequence_number_ptr = sequence;
    return Status::OK();
  } catch (const std::bad_alloc&) {
    return Status::MemoryLimit();
  }

  Status ExportColumnFamily(ColumnFamilyHandle* handle, const std::string& export_dir,
                            ExportImportFilesMetaData** metadata) override try {
    *metadata = nullptr;
    ASHLAR_ASSIGN_OR_RETURN(const std::string to, FolderName(export_dir));
    if (handle == nullptr) handle = db_->DefaultColumnFamily();
    auto exported = std::make_unique<ExportImportFilesMetaData>();
    exported->db_comparator_name = handle->GetComparator()->Name();
    FolderWriter folder(db_->GetEnv()->EngineFiles().get(), to);
    const auto fill = [&]() -> Status {
      const DeletionsHeld held(db_);
      ASHLAR_RETURN_IF_ERROR(held.status());
      ASHLAR_RETURN_IF_ERROR(db_->Flush(FlushOptions(), handle));
      exported->files = ListTables(handle, to);
      for (const LiveFileMetaData& file : exported->files) {
        LiveFileStorageInfo source;
        static_cast<FileStorageInfo&>(source) = file;
        source.directory = db_->GetName();
        ASHLAR_RETURN_IF_ERROR(folder.Add(source));
      }
      return Status::OK();
    };
    ASHLAR_RETURN_IF_ERROR(folder.Run(fill));
    *metadata = exported.release();
    return Status::OK();
  } catch (const std::bad_alloc&) {
    return Status::MemoryLimit();
  }

 private:
  static Result<std::string> FolderName(const std::string& given) {
    const size_t end = given.find_last_not_of(kPathSeparators);
    if (end == std::string::npos)
      return Status::InvalidArgument(given, "is not the name of a new directory");
    return given.substr(0, end + 1);
  }

  // Describes the tables as they will be in `to`.
  std::vector<LiveFileMetaData> ListTables(ColumnFamilyHandle* handle, const std::string& to) {
    ColumnFamilyMetaData family;
    db_->GetColumnFamilyMetaData(handle, &family);
    std::vector<LiveFileMetaData> tables;
    for (const LevelMetaData& level : family.levels) {
      for (const SstFileMetaData& file : level.files) {
        LiveFileMetaData& table = tables.emplace_back();
        static_cast<SstFileMetaData&>(table) = file;
        table.directory = to;
        table.db_path = to;
        table.being_compacted = false;
        table.column_family_name = family.name;
        table.level = level.level;
      }
    }
    return tables;
  }

  DB* const db_;
};

}  // namespace

Status Checkpoint::Create(DB* db, Checkpoint** checkpoint_ptr) try {
  *checkpoint_ptr = nullptr;
  if (db == nullptr) return Status::InvalidArgument("the database is null");
  *checkpoint_ptr = new CheckpointImpl(db);
  return Status::OK();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

}  // namespace ashlar
