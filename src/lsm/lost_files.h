// Files that recovery or a repair removes from the database and keeps, such as lost/000012.log.
//
//   open     replay finds damage -> KeepLog: copy, synced, its name durable -> the replayed records
//            are written to tables -> the log is deleted
//   repair   KeepFile: link or copy, durable -> the new MANIFEST -> the file is deleted
//
// Files are copied or linked, not renamed, because a crash before the new state is installed leads
// to another attempt, which reads the file. If lost/000012.log exists with other contents, the copy
// is lost/000012.log.1, and so on. With the same contents it is only synced, because the process
// that made it may have died before. Nothing reads or deletes the copies, except DestroyDB.
//
// Thread safety: one thread, which holds LOCK.
#pragma once

#include <cstdint>
#include <string>

#include "ashlar/vfs.h"
#include "base/result.h"
#include "lsm/database_state.h"

namespace ashlar {

// Copies the log and returns the path of the copy.
Result<std::string> KeepLog(const DatabaseState& state, uint64_t number);
// Links the file `path`, or copies it if it cannot be linked, and returns its path in lost/.
// Requires: the file is not written any more.
Result<std::string> KeepFile(vfs::FileSystem* file_system, const std::string& directory,
                             const std::string& path);
// Removes the copies, and their directory if nothing else is in it.
Status DeleteLostFiles(vfs::FileSystem* file_system, const std::string& directory);

}  // namespace ashlar
