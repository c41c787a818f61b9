// The locks of a database: LOCK in its directory, and LOCK in a separate wal_dir.
//
// Logs do not say to which database they belong. A copy that is opened with the wal_dir of its
// original, or two databases that share one, would replay and delete each other's logs. RocksDB
// takes no lock in a wal_dir and ignores the LOCK file there, but restoring a backup deletes it
// with the logs. So the second lock excludes Ashlar's writers from each other, and excludes
// RocksDB's writers where wal_dir is the directory of another database.
//
// Rejected: another name for the second lock, so that a wal_dir that is the database's directory by
// another path needs no comparison. It would not exclude a database that has this directory.
//
// Thread safety: any thread.
#pragma once

#include <memory>
#include <string>

#include "ashlar/status.h"
#include "ashlar/vfs.h"

namespace ashlar {

// Takes both locks as one. Returns IOError with the subcode kFileLocked if one of them is held by
// this process or another.
Status LockDatabase(vfs::FileSystem* file_system, const std::string& directory,
                    const std::string& wal_directory, std::unique_ptr<vfs::FileLock>* lock);
// Takes the second lock. *lock is null, without an error, if both directories are the same or
// wal_directory does not exist. Requires: the lock of the directory is held.
Status LockLogs(vfs::FileSystem* file_system, const std::string& directory,
                const std::string& wal_directory, std::unique_ptr<vfs::FileLock>* lock);

}  // namespace ashlar
