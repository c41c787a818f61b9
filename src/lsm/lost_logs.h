// Copies of damaged logs: lost/000012.log in the database's directory, made before the log itself
// is deleted.
//
//   open: replay finds damage -> KeepLog: copy, synced, its name durable -> the replayed records
//   are written to tables -> the log is deleted
//
// A copy and not a rename: until the tables are installed a crash leads to another replay, which
// reads the log. If lost/000012.log is there with other contents, the copy is lost/000012.log.1,
// and so on; with the same contents it is left as it is. Nothing reads or deletes the copies,
// except DestroyDB.
//
// Thread safety: one thread, while the database is being opened.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "lsm/database_state.h"

namespace ashlar {

// The path of the copy.
Result<std::string> KeepLog(const DatabaseState& state, uint64_t number);
// Removes the copies, and their directory if nothing else is in it.
Status DeleteLostLogs(FileSystem* file_system, const std::string& directory);

}  // namespace ashlar
