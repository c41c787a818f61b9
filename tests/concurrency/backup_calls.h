// The calls of BackupEngine, as calls.h has those of DB.
//
// Each call opens an engine of its own. Engines may share a directory, in which changes exclude
// each other. So a change may be refused with IOError, and a backup may be gone. The calls of
// EngineCalls run on one engine, where a change waits for the previous one and none is refused.
//
// Thread safety: a call is made by several threads at once, each with its CallArgs.
#pragma once

#include "tests/concurrency/calls.h"

namespace ashlar {

// CreateNewBackup, RestoreDBFromLatestBackup and PurgeOldBackups, in a directory of the thread. In
// the meantime the engine is the scene's running backup.
void MakeBackup(const CallArgs& args);
// RestoreDBFromBackup, of any backup in the directory of all threads.
void RestoreBackup(const CallArgs& args);
// Stops the scene's running backup. If there is none, stops an engine, which then makes no backup.
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
