// Files that recovery or a repair takes out of the database: lost/000012.log in its directory.
//
//   open     replay finds damage -> KeepLog: copy, synced, its name durable -> the replayed records
//            are written to tables -> the log is deleted
//   repair   KeepFile: link or copy, durable -> the new MANIFEST -> the file is deleted
//
// A copy or a link, and not a rename: until the new state is installed a crash leads to another
// attempt, which reads the file. If lost/000012.log is there with other contents, the copy is
// lost/000012.log.1, and so on; with the same contents it is left as it is, and synced, because the
// process that made it may have died before. Nothing reads or deletes the copies, except DestroyDB.
//
// Thread safety: one thread, which holds LOCK.
#pragma once

#include <cstdint>
#include <string>

#include "ashlar/vfs.h"
#include "base/result.h"
#include "lsm/database_state.h"

namespace ashlar {

// Copies the log. The path of the copy.
Result<std::string> KeepLog(const DatabaseState& state, uint64_t number);
// Links the file `path`, or copies it where the file system has no links. It must not be written to
// any more. The path in lost/.
Result<std::string> KeepFile(vfs::FileSystem* file_system, const std::string& directory,
                             const std::string& path);
// Removes the copies, and their directory if nothing else is in it.
Status DeleteLostFiles(vfs::FileSystem* file_system, const std::string& directory);

}  // namespace ashlar
