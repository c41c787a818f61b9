#include "lsm/database_lock.h"

#include <utility>

#include "base/format.h"
#include "filesystem/filename.h"
#include "platform/path.h"

namespace ashlar {

namespace {

class DatabaseLock final : public vfs::FileLock {
 public:
  DatabaseLock(std::unique_ptr<vfs::FileLock> directory, std::unique_ptr<vfs::FileLock> logs)
      : directory_(std::move(directory)), logs_(std::move(logs)) {}

 private:
  const std::unique_ptr<vfs::FileLock> directory_;
  const std::unique_ptr<vfs::FileLock> logs_;  // null if there is no second lock
};

// Returns false if they differ or the file system cannot tell.
bool AreSame(vfs::FileSystem* fs, const std::string& first, const std::string& second) {
  bool same = false;
  return fs->AreFilesSame(first, second, &same).ok() && same;
}

}  // namespace

Status LockLogs(vfs::FileSystem* file_system, const std::string& directory,
                const std::string& wal_directory, std::unique_ptr<vfs::FileLock>* lock) {
  lock->reset();
  if (WithoutSeparatorAtEnd(wal_directory) == WithoutSeparatorAtEnd(directory)) return Status::OK();
  const Status locked = file_system->LockFile(LockFileName(wal_directory), lock);
  if (locked.ok() || locked.IsPathNotFound() || AreSame(file_system, directory, wal_directory))
    return Status::OK();
  if (locked.subcode() != Status::kFileLocked) return locked;
  return locked.WithContext(
      StrCat("another database may have its logs in wal_dir, ", wal_directory));
}

Status LockDatabase(vfs::FileSystem* file_system, const std::string& directory,
                    const std::string& wal_directory, std::unique_ptr<vfs::FileLock>* lock) {
  std::unique_ptr<vfs::FileLock> of_directory;
  std::unique_ptr<vfs::FileLock> of_logs;
  Status locked = file_system->LockFile(LockFileName(directory), &of_directory);
  if (locked.ok()) locked = LockLogs(file_system, directory, wal_directory, &of_logs);
  if (!locked.ok()) return locked;
  *lock = std::make_unique<DatabaseLock>(std::move(of_directory), std::move(of_logs));
  return Status::OK();
}

}  // namespace ashlar
