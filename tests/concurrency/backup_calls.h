// The calls of BackupEngine, as calls.h has those of DB.
//
// An engine is for one thread at a time, except StopBackup: so each call opens its own. Engines may
// share a directory, whose changes exclude each other: then a change may be refused with IOError,
// and a backup may be gone.
//
// Thread safety: a call is made by several threads at once, each with its CallArgs.
#pragma once

#include "tests/concurrency/calls.h"

namespace ashlar {

// CreateNewBackup, RestoreDBFromLatestBackup and PurgeOldBackups, in a directory of the thread. The
// engine is the scene's running backup meanwhile.
void MakeBackup(const CallArgs& args);
// Stops the scene's running backup. Without one, stops an engine that then makes none.
void StopBackup(const CallArgs& args);
// GetBackupInfo and VerifyBackup, in the directory of all threads.
void VerifyBackup(const CallArgs& args);
// CreateNewBackup, DeleteBackup and GarbageCollect, in the directory of all threads.
void DeleteBackup(const CallArgs& args);

}  // namespace ashlar
