// The calls of BackupEngine, as calls.h has those of DB.
//
// Each call opens an engine of its own. Engines may share a directory, whose changes exclude each
// other: then a change may be refused with IOError, and a backup may be gone. The calls of
// EngineCalls are made on one engine: a change waits for the one before it, and none is refused.
//
// Thread safety: a call is made by several threads at once, each with its CallArgs.
#pragma once

#include "tests/concurrency/calls.h"

namespace ashlar {

// CreateNewBackup, RestoreDBFromLatestBackup and PurgeOldBackups, in a directory of the thread. The
// engine is the scene's running backup meanwhile.
void MakeBackup(const CallArgs& args);
// RestoreDBFromBackup, of any backup in the directory of all threads.
void RestoreBackup(const CallArgs& args);
// Stops the scene's running backup. Without one, stops an engine that then makes none.
void StopBackup(const CallArgs& args);
// GetBackupInfo and VerifyBackup, in the directory of all threads.
void VerifyBackup(const CallArgs& args);
// CreateNewBackup, DeleteBackup and GarbageCollect, in the directory of all threads.
void DeleteBackup(const CallArgs& args);

struct EngineCall {
  const char* name;
  void (*run)(const CallArgs& args, BackupEngine* engine);
};

const std::vector<EngineCall>& EngineCalls();

}  // namespace ashlar
