// LifeCycle: from a recovered database to one that takes writes, from a latched error back to one,
// and to a closed one.
//
//   RecoverDatabase --> StartWriting --> OPEN <--Resume-- read-only by a latched error
//                            |            |
//                            +------------+--> CloseFiles --> CLOSED, LOCK released
//
//   SECONDARY --Promote: LOCK, Recover, new log--> new MANIFEST --TakeWrites--> OPEN
//       ^------------ any error --------/              \--any error--> read-only by that error
//
//   OPEN --Cancel--> OPEN without jobs: reads, and writes as long as the memtables have room
//
// I1: every step of a close runs, even after a step that failed.
// I2: no file but the LOG and trash is written or deleted without LOCK. Before it is released jobs
//     have ended, ErrorHandler refuses new logs, and OPTIONS and deletions are stopped. An open
//     database has LOCK if and only if writes_files() is true, except during a promotion.
// I3: up to the new MANIFEST a promotion changes nothing that a recovery does not expect after a
//     crash, and no reader sees less: it can be undone. Until then the database is a secondary: it
//     has a follower, and writes_files() is false. From there on it is a primary, without one.
// I4: at most one catch-up, promotion or close runs at a time.
// I5: a cancel and a close flush writes that no log has, in their own thread and after jobs have
//     ended for good: no pause delays them, and no thread that leads waits for a job meanwhile.
//
// Thread safety: StartWriting by the thread that opens; the rest from any thread, without locks.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "ashlar/db.h"
#include "base/function_ref.h"
#include "lsm/lsm_core.h"
#include "lsm/option_changes.h"
#include "lsm/primary_follower.h"
#include "platform/mutex.h"

namespace ashlar {

class LifeCycle {
 public:
  // follower: of a secondary; null: the database is none.
  LifeCycle(LsmCore* core, OptionChanges* changes, std::unique_ptr<PrimaryFollower> follower);
  LifeCycle(const LifeCycle&) = delete;
  LifeCycle& operator=(const LifeCycle&) = delete;

  // The part of a writable open after recovery: a new log, the flush of replayed data, missing
  // families, OPTIONS, old files.
  Status StartWriting(const std::vector<ColumnFamilyDescriptor>& families);
  // Of a secondary: DB::TryCatchUpWithPrimary and DB::PromoteToPrimary.
  Status CatchUp();
  Status Promote();
  // Clears the latched error, if there is one, and finishes a promotion that it ended.
  Status Resume();
  // The same without the program's asking, unless a listener declines.
  SpaceRecovery::Outcome ResumeByItself();
  // Ends jobs for good, flushes writes that no log has, and records families that the OPTIONS file
  // does not list yet. wait: returns once no job runs.
  void Cancel(bool wait);
  // Aborted while snapshots, iterators or pins are held; otherwise CloseFiles.
  Status Close();
  // Closes everything. The second call returns the status of the first.
  Status CloseFiles();
  // Instead of CloseFiles, in a forked child. It takes no mutex, because a thread of the parent may
  // have held it at the fork.
  void Abandon() noexcept ASHLAR_NO_THREAD_SAFETY_ANALYSIS {
    static_cast<void>(follower_.release());  // NOLINT(bugprone-unused-return-value)
  }
  // Asserts I2, I3 and those of the follower. Waits for a catch-up, promotion or close in progress.
  void CheckInvariants();

 private:
  // The parts of StartWriting. Nothing is written to a new log before TakeWrites has flushed the
  // replayed writes, if they have to be flushed.
  Status StartLog();
  Status TakeWrites(const std::vector<ColumnFamilyDescriptor>& families);
  // Records which logs and files are not needed any more, and deletes them. Requires: the replayed
  // writes are in tables; a JobHold.
  Status DropWhatWasReplayed();
  // The remaining steps of a promotion whose TakeWrites failed.
  Status FinishPromotion();
  // NotSupported and InvalidArgument for options that an open for writing refuses.
  Status CheckMayWrite() const;
  // From a secondary to a current MANIFEST of its own, and back after an error.
  Status TakeOver() ASHLAR_REQUIRES(role_mutex_);
  void StaySecondary() ASHLAR_REQUIRES(role_mutex_);
  Status CheckIsSecondary() const;
  // Busy if this thread is in one of them: a listener calls it.
  Status CheckHasNoRole() const;
  Status CheckFollows() const ASHLAR_REQUIRES(role_mutex_);
  Status CloseFilesLocked() ASHLAR_REQUIRES(role_mutex_);
  void CheckRole() const ASHLAR_REQUIRES(role_mutex_);
  // The reason why the database cannot be closed now. Ok when there is none.
  Status CheckNothingIsHeld();
  bool MustFlushUnloggedWrites() const;
  // Requires of the three: jobs have ended for good (I5). An error of a flush is the latched one,
  // unless there is one already; the first one is returned, after all families had their turn. An
  // error that is latched before is returned, too. EndWrites, of a close, refuses writes before it
  // flushes the acknowledged ones.
  Status EndWrites();
  Status FlushUnloggedWrites();
  using Families = std::span<const std::shared_ptr<ColumnFamily>>;
  Status FlushEachFamily(FunctionRef<Status(Families)> switch_memtables);
  Status CloseLogs();
  void AssertReplayedLogsAreNotNeeded() const;
  void AssertNoJobRuns() const;
  // automatic: whether the program has not asked; a listener may clear it, which declines.
  Status Resume(bool* automatic);
  Status TryToResume(bool* automatic);
  // Counts the tables there are, and later ones, if there is an SstFileManager.
  void OpenSpace();
  void StartTimers();

  LsmCore* const core_;
  OptionChanges* const changes_;
  DatabaseState* const state_;
  BackgroundWork& background_;
  CommitPipeline& commit_;
  Mutex role_mutex_;  // I4
  // That holds role_mutex_. A thread looks only for itself, which needs no order.
  std::atomic<std::thread::id> role_thread_{};
  // Null if the database is the primary, was opened read-only, or is closed.
  std::unique_ptr<PrimaryFollower> follower_ ASHLAR_GUARDED_BY(role_mutex_);
  // Written by the promotion before the role is published, and then by Resume, one at a time.
  bool promotion_is_unfinished_ = false;
  // From this number on, files are of this run. Written before jobs begin.
  FileNumber own_files_begin_ = 0;
  bool closed_ ASHLAR_GUARDED_BY(role_mutex_) = false;
  Status close_status_ ASHLAR_GUARDED_BY(role_mutex_);
};

}  // namespace ashlar
