// LifeCycle: from a recovered database to one that takes writes, from a latched error back to one,
// and to a closed one.
//
//   RecoverDatabase --> StartWriting --> OPEN <--Resume-- read-only by a latched error
//                            |            |
//                            +------------+--> CloseFiles --> CLOSED, LOCK released
//
// I1: every step of a close runs, even after a step that failed.
// I2: no file is written or deleted after LOCK is released. Before that jobs have ended,
//     ErrorHandler refuses new logs, and OPTIONS and deletions are stopped.
//
// Thread safety: StartWriting by the thread that opens; the rest from any thread, without locks.
#pragma once

#include <vector>

#include "ashlar/db.h"
#include "lsm/lsm_core.h"
#include "lsm/option_changes.h"

namespace ashlar {

class LifeCycle {
 public:
  LifeCycle(LsmCore* core, OptionChanges* changes);
  LifeCycle(const LifeCycle&) = delete;
  LifeCycle& operator=(const LifeCycle&) = delete;

  // The part of a writable open after recovery: a new log, replayed data into tables, missing
  // families, OPTIONS, old files.
  Status StartWriting(const std::vector<ColumnFamilyDescriptor>& families);
  // Clears the latched error, if there is one.
  Status Resume();
  // Aborted while snapshots, iterators or pins are held; otherwise CloseFiles.
  Status Close();
  // Closes everything. The second call returns the status of the first.
  Status CloseFiles();

 private:
  // The reason why the database cannot be closed now. Ok when there is none.
  Status CheckNothingIsHeld();
  bool MustFlushUnloggedWrites() const;
  Status FlushUnloggedWrites();
  Status CloseLogs();
  void AssertReplayedLogsAreNotNeeded() const;
  void AssertNoJobRuns() const;
  Status TryToResume();

  LsmCore* const core_;
  OptionChanges* const changes_;
  DatabaseState* const state_;
  BackgroundWork& background_;
  CommitPipeline& commit_;
  bool closed_ ASHLAR_GUARDED_BY(kDatabaseMutex) = false;
  Status close_status_ ASHLAR_GUARDED_BY(kDatabaseMutex);
};

}  // namespace ashlar
