// LifeCycle: makes a recovered database writable, resumes it after a latched error, promotes a
// secondary to the primary, and closes the database.
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
// I2: only the LOG and trash are written or deleted without LOCK. Before LOCK is released, jobs
//     have ended, ErrorHandler refuses new logs, and OPTIONS and deletions are stopped. An open
//     database holds LOCK if and only if writes_files() is true, except during a promotion.
// I3: until the new MANIFEST, a promotion can be undone, because it changes only what a recovery
//     expects after a crash, and no reader sees less. Until then the database is a secondary, which
//     has a follower, and writes_files() is false. From then on it is a primary without a follower.
// I4: at most one catch-up, promotion or close runs at a time.
// I5: a cancel and a close flush writes that no log has, in their own thread and after jobs have
//     ended for good. So no pause delays them, and no commit leader waits for a job meanwhile.
//
// Thread safety: the opening thread calls StartWriting. Any thread without locks may call the rest.
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
  // follower: null unless the database is a secondary.
  LifeCycle(LsmCore* core, OptionChanges* changes, std::unique_ptr<PrimaryFollower> follower);
  LifeCycle(const LifeCycle&) = delete;
  LifeCycle& operator=(const LifeCycle&) = delete;

  // Completes a writable open after recovery: starts a new log, flushes replayed data, creates
  // missing families, writes OPTIONS and deletes old files.
  Status StartWriting(const std::vector<ColumnFamilyDescriptor>& families);
  // Implement DB::TryCatchUpWithPrimary and DB::PromoteToPrimary of a secondary.
  Status CatchUp();
  Status Promote();
  // Clears the latched error, if any, and finishes a promotion that the error interrupted.
  Status Resume();
  // Resumes without a call of the program, unless a listener declines.
  SpaceRecovery::Outcome ResumeByItself();
  // Ends jobs for good, flushes writes that no log has, and records families that the OPTIONS file
  // does not list yet. wait: returns once no job runs.
  void Cancel(bool wait);
  // Returns Aborted while snapshots, iterators or pins are held; otherwise calls CloseFiles.
  Status Close();
  // Closes everything. The second call returns the status of the first.
  Status CloseFiles();
  // Replaces CloseFiles in a forked child. It takes no mutex, because a thread of the parent may
  // have held it at the fork.
  void Abandon() noexcept ASHLAR_NO_THREAD_SAFETY_ANALYSIS {
    static_cast<void>(follower_.release());  // NOLINT(bugprone-unused-return-value)
  }
  // Asserts I2, I3 and the follower's invariants. Waits for a running catch-up, promotion or close.
  void CheckInvariants();

 private:
  // The parts of StartWriting. Nothing is written to a new log before TakeWrites has flushed the
  // replayed writes, if they have to be flushed.
  Status StartLog();
  Status TakeWrites(const std::vector<ColumnFamilyDescriptor>& families);
  // Records which logs and files are no longer needed, and deletes them. Requires: a JobHold;
  // replayed writes that must be flushed are in tables.
  Status DropWhatWasReplayed();
  // Completes a promotion whose TakeWrites failed.
  Status FinishPromotion();
  // Returns NotSupported or InvalidArgument for options that an open for writing refuses.
  Status CheckMayWrite() const;
  // TakeOver takes LOCK and makes its own MANIFEST current. StaySecondary undoes a failed one.
  Status TakeOver() ASHLAR_REQUIRES(role_mutex_);
  void StaySecondary() ASHLAR_REQUIRES(role_mutex_);
  Status CheckIsSecondary() const;
  // Returns Busy if this thread holds role_mutex_, because a listener made the call.
  Status CheckHasNoRole() const;
  Status CheckFollows() const ASHLAR_REQUIRES(role_mutex_);
  Status CloseFilesLocked() ASHLAR_REQUIRES(role_mutex_);
  void CheckRole() const ASHLAR_REQUIRES(role_mutex_);
  // Returns the reason why the database cannot be closed now, or Ok.
  Status CheckNothingIsHeld();
  bool MustFlushUnloggedWrites() const;
  // Requires for all three: jobs have ended for good (I5). Every family is flushed, and the first
  // error is returned. A flush error that is not benign is latched, unless an error is latched
  // already. An error that was latched before is returned, too. EndWrites, which a close calls,
  // refuses new writes before it flushes the acknowledged ones.
  Status EndWrites();
  Status FlushUnloggedWrites();
  using Families = std::span<const std::shared_ptr<ColumnFamily>>;
  Status FlushEachFamily(FunctionRef<Status(Families)> switch_memtables);
  Status CloseLogs();
  void AssertReplayedLogsAreNotNeeded() const;
  void AssertNoJobRuns() const;
  // automatic: true if the program did not call Resume. A listener may clear it to decline.
  Status Resume(bool* automatic);
  Status TryToResume(bool* automatic);
  // With an SstFileManager, starts to account for the existing tables and for later ones.
  void OpenSpace();
  void StartTimers();

  LsmCore* const core_;
  OptionChanges* const changes_;
  DatabaseState* const state_;
  BackgroundWork& background_;
  CommitPipeline& commit_;
  Mutex role_mutex_;  // I4
  // The thread that holds role_mutex_. Relaxed, because a thread compares it only with its own id.
  std::atomic<std::thread::id> role_thread_{};
  // Null if the database is the primary, was opened read-only, or is closed.
  std::unique_ptr<PrimaryFollower> follower_ ASHLAR_GUARDED_BY(role_mutex_);
  // Written by the promotion before the role is published, and then by Resume, one at a time.
  bool promotion_is_unfinished_ = false;
  // The first file number of this run. Written before jobs begin.
  FileNumber own_files_begin_ = 0;
  bool closed_ ASHLAR_GUARDED_BY(role_mutex_) = false;
  Status close_status_ ASHLAR_GUARDED_BY(role_mutex_);
};

}  // namespace ashlar
