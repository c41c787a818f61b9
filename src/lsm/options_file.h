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

// Reads the newest undamaged OPTIONS file. Recorded objects that only the program can make, and
// that it has not set, are stored in the state. A family without its recorded merge operator gets
// an UnknownMergeOperator. *wal_dir is the recorded one if Ashlar wrote the file, because RocksDB's
// checkpoints record that of the original. A damaged file causes a warning in the LOG. An I/O error
// fails an open for writing, which would lose the names.
Status TakeRecordedOptions(DatabaseState* state, std::vector<ColumnFamilyDescriptor>* families,
                           std::string* wal_dir);
// Returns only the wal_dir; empty if there is none, or if the file cannot be read.
std::string ReadRecordedWalDir(const DatabaseState& state);
// Writes a new OPTIONS file durably. All older ones except the latest become obsolete.
Status WriteNewOptionsFile(DatabaseState* state,
                           const std::vector<ColumnFamilyDescriptor>& families);
// Opens the LOG of a database that was given no logger. If that fails, there is no LOG. Logs the
// version and the options, and which have no effect. Requires: the database's lock.
void OpenInfoLog(DatabaseState* state, const std::string& directory,
                 const std::vector<ColumnFamilyDescriptor>& families);

}  // namespace ashlar
