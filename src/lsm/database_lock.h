// The locks of a database: LOCK in its directory, and LOCK in a separate wal_dir.
//
// Logs have no mark of their database. A copy that is opened with the wal_dir of its original, or
// two databases that share one, would replay and delete each other's logs. RocksDB takes no lock in
// a wal_dir, and leaves the file alone there; a backup that it restores deletes it with the logs.
// So the second lock excludes Ashlar's writers from each other, and RocksDB's where wal_dir is the
// directory of another database.
//
// Rejected: a name for the second lock by which a wal_dir that is the database's own directory, by
// another path, needs no comparison. It would not exclude the database whose directory it is.
//
// Thread safety: any thread.
#pragma once

#include <memory>
#include <string>

#include "ashlar/status.h"
#include "ashlar/vfs.h"

namespace ashlar {

// Both locks, as one. IOError with the subcode kFileLocked: one of them is held, by this process or
// another.
Status LockDatabase(vfs::FileSystem* file_system, const std::string& directory,
                    const std::string& wal_directory, std::unique_ptr<vfs::FileLock>* lock);
// The second one. *lock is null, without an error, if the two directories are one or wal_directory
// does not exist. Requires: the lock of the directory is held.
Status LockLogs(vfs::FileSystem* file_system, const std::string& directory,
                const std::string& wal_directory, std::unique_ptr<vfs::FileLock>* lock);

}  // namespace ashlar
