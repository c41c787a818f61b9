// The files that an open database writes for people and other programs: the OPTIONS file and the
// LOG.
//
// Thread safety: the caller serialises writers of OPTIONS files.
#pragma once

#include <string>
#include <vector>

#include "ashlar/db.h"
#include "lsm/database_state.h"

namespace ashlar {

// Reads from the newest undamaged OPTIONS file the objects that only the program can make and that
// it has not set. They go into the state; a family without the merge operator that is recorded gets
// an UnknownMergeOperator. *wal_dir: the recorded one, if Ashlar wrote the file: RocksDB's
// checkpoints have that of the original. A damaged file is a warning in the LOG; an I/O error fails
// an open for writing, which would lose the names.
Status TakeRecordedOptions(DatabaseState* state, std::vector<ColumnFamilyDescriptor>* families,
                           std::string* wal_dir);
// The same wal_dir alone; empty: none, or the file cannot be read.
std::string ReadRecordedWalDir(const DatabaseState& state);
// A new OPTIONS file, durable; older ones but the latest become obsolete.
Status WriteNewOptionsFile(DatabaseState* state,
                           const std::vector<ColumnFamilyDescriptor>& families);
// Opens the LOG of a database that was given no logger; without one if that fails. Logs the version
// and the options, and which have no effect. Requires: the database's lock.
void OpenInfoLog(DatabaseState* state, const std::string& directory,
                 const std::vector<ColumnFamilyDescriptor>& families);

}  // namespace ashlar
