// Recovery: opens the database in a directory.
//
//   check options -> directory, LOCK, LOG -> (new database) -> names in OPTIONS -> MANIFEST ->
//   column families -> logs into memtables -> [writable] copies of damaged logs, LifeCycle
//
// A read-only open takes no lock, and another process may write the database concurrently:
//
//   CURRENT, MANIFEST -> all tables and logs opened -> MANIFEST unchanged? -> families, logs
//     ^---- something is missing or damaged, the MANIFEST has changed, or later a log was released
//           before it was read (read_without_lock.h)
//
// I1: a refused open leaves the files as they were. Before all checks have passed only LOCK, LOG
//     and the first files of a new database are written.
// I2: the replayed records become durable in one atomic edit over all families. The edit has log
//     numbers beyond the replayed logs, so a crash before it repeats the replay and a crash after
//     it never applies a record twice.
// I3: a log that ended early is never appended to. Its records are not replayed again after the
//     edit of I2.
// I4: no byte of a damaged log is lost, because it is copied before the edit of I2 (lost_files.h).
// I5: facts found before the lock was taken are not relied on afterwards, except to refuse.
// I6: a read-only database opens no file by its name later, if the limit on open files suffices.
// I7: no existing table is written again, because a cut-off ingestion may have linked it there.
// I8: for writing, replayed writes are newer than level 0 at their keys (replayed_order.h).
//
// Thread safety: one thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/vfs.h"
#include "base/result.h"
#include "lsm/database_state.h"
#include "lsm/log_replay.h"

namespace ashlar {

struct OpenArgs {
  DBOptions options;
  std::string directory;
  std::vector<ColumnFamilyDescriptor> families;
  bool read_only = false;
  bool error_if_log_exists = false;  // read-only
  // Read-only, and catches up with the process that writes the database (primary_follower.h).
  bool secondary = false;
  std::string secondary_path = {};  // of its LOG
  bool repaired = false;            // a repair has read the logs and needs none elsewhere
};

struct RecoveredDatabase {
  std::unique_ptr<DatabaseState> state;
  std::unique_ptr<LogReplay> replay;
};
// Returns the state with its families and with the records of the logs in memtables. There is no
// background work yet. DatabaseState::recovery is the report.
Result<RecoveredDatabase> RecoverDatabase(OpenArgs args);

// Makes a family over a version. Used by recovery and by CreateColumnFamily.
std::shared_ptr<ColumnFamily> MakeColumnFamily(DatabaseState* state,
                                               const ColumnFamilyState& recorded, Version* version,
                                               const ColumnFamilyOptions& options,
                                               uint64_t log_number) ASHLAR_REQUIRES(kDatabaseMutex);

// Takes the locks (database_lock.h) and opens the handles of the directories.
Status TakeDatabase(DatabaseState* state);
// Call after TakeDatabase, before anything is created. A power cut may undo what a process that
// died did not sync. Names in one directory become durable together. If the logs are in another
// one, this syncs the names of the existing database or, if there is none, those of old logs.
Status SyncWhatWasFound(const DatabaseState& state, bool is_there);
// Undoes TakeDatabase, even after a failure halfway. Requires: everything that was written since is
// what the next recovery expects after a crash.
void ReturnDatabase(DatabaseState* state);
// Call after the search for logs. Returns InvalidArgument if wal_dir has no log that may be needed,
// but the directory or recorded_wal_dir (of OPTIONS; may be empty) has one with writes, unless an
// open database, of which this is a copy, uses the latter. An open without these logs would release
// them, because their numbers are below its own. Without the lock this only warns.
Status CheckLogsAreNotElsewhere(DatabaseState* state, const std::string& recorded_wal_dir);
// Ensures I4 and I7. Requires: all logs are replayed.
Status KeepFound(DatabaseState* state);
// Writes the findings of the recovery to the LOG.
void LogRecovery(const DatabaseState& state);

// Deletes every unreferenced file of the database: tables, MANIFESTs, OPTIONS, temporary files. Old
// logs (in DBOptions::wal_dir too) become obsolete, because FileJanitor may have to archive them.
// Tables and temporary files from own_files_begin on are of this run. A running compaction may be
// writing them, and no version lists them yet.
void DeleteOrphans(DatabaseState* state, uint64_t oldest_needed_log, FileNumber own_files_begin);

// Returns the text of the file IDENTITY without its newline.
Result<std::string> ReadIdentity(vfs::FileSystem* file_system, const std::string& directory);
// Ensures that a database that is open for writing has an identity, in IDENTITY and in the next
// MANIFEST. A backup lacks the file, so the MANIFEST's identity is written to it.
Status EnsureIdentity(DatabaseState* state);
std::string NewDatabaseId();  // a random UUID
std::string NewSessionId();   // 20 characters, base 36

}  // namespace ashlar
