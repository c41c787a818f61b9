// BackgroundWork: decides which flushes and compactions run, and queues them.
//
//   a view changes -> ViewChanged (decides, under the mutex) -> executor: job (a runner works, no
//   lock held) -> VersionInstaller (MANIFEST, then versions and views) -> ViewChanged -> ...
//
// I1: each running flush of a live family is counted as a job, or belongs to a flush of several
//     families that is counted; each of its running plans as a job or as a manual step.
// I2: an error of a job is latched, unless the job was told to stop, its family was dropped, or the
//     error of a compaction passes (CompactionBackoff).
// I3: a job ends with one critical section, after everything that it held is gone: the database may
//     end once the last job is counted down.
// I4: a decision without memory latches MemoryLimit, or pauses compactions if it is about one; a
//     notification without memory is left out.
//
// Thread safety: methods marked REQUIRES under the mutex, the others without locks from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "ashlar/listener.h"
#include "base/function_ref.h"
#include "lsm/age_timer.h"
#include "lsm/candidate_queue.h"
#include "lsm/compaction_backoff.h"
#include "lsm/compaction_runner.h"
#include "lsm/coverage_scan.h"
#include "lsm/database_state.h"
#include "lsm/event_outbox.h"
#include "lsm/file_janitor.h"
#include "lsm/flush_runner.h"
#include "lsm/manual_compactions.h"
#include "lsm/space_recovery.h"
#include "lsm/stats_dumper.h"
#include "lsm/version_installer.h"
#include "lsm/view_observer.h"

namespace ashlar {

class BackgroundWork final : public ViewObserver {
 public:
  BackgroundWork(DatabaseState* state, StatsDumper::StatsText stats_text);
  BackgroundWork(const BackgroundWork&) = delete;
  BackgroundWork& operator=(const BackgroundWork&) = delete;

  // Starts the threads for these options, as many as the system allows. TryAgain: a priority has
  // none, and its jobs would wait for ever.
  static Status StartThreads(const DBOptions& options);
  // How many jobs run at once; the threads must have been started.
  void SetOptions(const DBOptions& options) ASHLAR_REQUIRES(kDatabaseMutex);

  // Call once the database takes writes.
  void StartAgeTimer() { age_timer_.Start(); }
  // Call before. resume: as in SpaceRecovery::Calls.
  void StartSpaceRecovery(std::function<SpaceRecovery::Outcome()> resume);

  // After a resume that the program asked for, or a promotion: if it failed for lack of space, the
  // resume is tried later.
  void LookForSpace(const Status& resumed) noexcept { space_recovery_.ErrorLatched(resumed); }

  // Call after a change of the family's memtables, version or options. Decides anew about the write
  // controller and jobs. I4; the end of a resume decides again.
  void ViewChanged(const std::shared_ptr<ColumnFamily>& family) noexcept override
      ASHLAR_REQUIRES(kDatabaseMutex);
  // The families decide anew whose files waited for the end of the snapshot.
  void SnapshotReleased() noexcept ASHLAR_REQUIRES(kDatabaseMutex);
  // Makes the database read-only because of this error. Listeners get the reason, the LOG the work
  // that failed.
  void LatchError(BackgroundErrorReason reason, std::string_view during,
                  const Status& error) noexcept {
    outbox_.LatchError(reason, during, error);
  }
  // Hands `job` to the executor. Stop, Pause and WaitForJobs wait for it. False, and nothing is
  // handed over, when no job begins any more.
  bool RunSoon(Executor::Priority priority, std::function<void()> job)
      ASHLAR_REQUIRES(kDatabaseMutex);

  // Waits until every memtable that is immutable now is in a table. Error: why it will not be.
  // kListeners: then until OnFlushCompleted has returned for each of them and older ones.
  enum class FlushWait : uint8_t { kTables, kListeners };
  Status WaitForFlush(std::span<const std::shared_ptr<ColumnFamily>> families, FlushWait wait);
  // The same for the commit leader. It does not wait for the end of a Resume, which waits for it.
  // Busy: background work is paused, and the writers should not wait until it goes on.
  Status LeaderWaitForFlush(std::span<const std::shared_ptr<ColumnFamily>> families);
  // When a wait ends with TimedOut, by the clock of the database; nothing: never.
  using DeadlineNanos = std::optional<uint64_t>;
  // Waits until a memtable switch would not stop the writers.
  Status WaitUntilSwitchIsFree(std::span<const std::shared_ptr<ColumnFamily>> families,
                               DeadlineNanos deadline);
  // Nothing to flush, nothing to compact, nothing running. Aborted: abort_on_pause, and a pause or
  // an abort of compactions holds such work back.
  Status WaitForIdle(bool abort_on_pause, DeadlineNanos deadline);

  // Lets running flushes end, and no job begin while it exists; at most one exists at a time, so
  // its thread may flush. Taken before the lead of the commit queue. The end of the hold starts no
  // job: the caller calls ViewChanged.
  class JobHold {
   public:
    explicit JobHold(BackgroundWork* background) : background_(background) {
      background_->HoldJobs();
    }
    ~JobHold() { background_->ReleaseJobs(); }
    JobHold(const JobHold&) = delete;
    JobHold& operator=(const JobHold&) = delete;

   private:
    BackgroundWork* const background_;
  };
  // Ends running jobs at their next entry, and lets none begin until Continue.
  void Pause();
  // False: nothing was paused.
  bool Continue();
  // Ends running compactions at their next entry and waiting ones at once. None starts until
  // ResumeCompactions has been called as often. Returns once none is under way. Flushes continue.
  void AbortCompactions();
  void ResumeCompactions();
  // Ends running jobs at their next entry, and lets none begin any more. Threads that wait for a
  // job return ShutdownInProgress.
  void Cancel();
  // After a Cancel: runs the jobs that wait for a thread here, where they end at their next entry.
  // The threads may be busy with other databases, or with functions of the program.
  void EndQueuedJobs();
  // Waits until no job runs.
  void WaitForJobs();
  // Ends running jobs at their next entry, starts no more, and waits until none runs.
  // state_->closing is set.
  void Stop();

  // Counts a call that changes files of the database in its own thread, so that Stop waits for its
  // end. ShutdownInProgress: the database is being closed, and nothing is counted.
  Status BeginFileCall();
  void EndFileCall();

  int RunningFlushes() const ASHLAR_REQUIRES(kDatabaseMutex) { return flush_jobs_; }
  int RunningCompactions() const ASHLAR_REQUIRES(kDatabaseMutex) {
    return compaction_jobs_ + manual_.running();
  }
  int CompactionAborts() const ASHLAR_REQUIRES(kDatabaseMutex) { return compactions_.aborts(); }

  EventOutbox& outbox() { return outbox_; }
  FileJanitor& files() { return files_; }
  const FileJanitor& files() const { return files_; }
  VersionInstaller& installer() { return installer_; }
  FlushRunner& flushes() { return flushes_; }
  ManualCompactions& manual_compactions() { return manual_; }

  // Asserts I1, the invariants of the parts, and that a job is interrupted only by a pause or for
  // good.
  void CheckInvariants() const ASHLAR_REQUIRES(kDatabaseMutex);

 private:
  Status WaitForFlush(std::span<const std::shared_ptr<ColumnFamily>> families, FlushWait wait,
                      FunctionRef<Status()> refusal);
  // TimedOut: the deadline had come before.
  Status WaitForChange(DeadlineNanos deadline) ASHLAR_REQUIRES(kDatabaseMutex);
  void HoldJobs();
  void ReleaseJobs();

  void Decide(const std::shared_ptr<ColumnFamily>& family) ASHLAR_REQUIRES(kDatabaseMutex);
  // Latches the error of a decision about jobs; Notify calls the listeners.
  void FailDecision(const Status& error) noexcept ASHLAR_REQUIRES(kDatabaseMutex);
  bool MayStartJobs() const ASHLAR_REQUIRES(kDatabaseMutex);
  void UpdateWriteController() ASHLAR_REQUIRES(kDatabaseMutex);

  // Starts all jobs that may run now.
  void Schedule() ASHLAR_REQUIRES(kDatabaseMutex);
  void ScheduleFlushes() ASHLAR_REQUIRES(kDatabaseMutex);
  // False: the executor takes no job.
  bool ScheduleFlush(const std::shared_ptr<ColumnFamily>& family) ASHLAR_REQUIRES(kDatabaseMutex);
  void ScheduleCompactions() ASHLAR_REQUIRES(kDatabaseMutex);
  // True if a compaction was queued: the family may have another to run concurrently.
  bool ScheduleCompaction(const std::shared_ptr<ColumnFamily>& family)
      ASHLAR_REQUIRES(kDatabaseMutex);

  // Nothing was picked in this tree of the family.
  void AwaitSnapshot(ColumnFamily* family, const TreeView& view) ASHLAR_REQUIRES(kDatabaseMutex);

  void FlushJob(FlushRunner::Flush* flush);
  // Latches SpaceLimit if the limit is reached after the flush of this family.
  void CheckSpaceLimit(const ColumnFamily& family);
  void CompactionJob(Compaction* compaction);
  // I3. `jobs` counts the job.
  void EndJob(std::shared_ptr<ColumnFamily> family, const Status& status,
              int BackgroundWork::* jobs);

  // Everything that Stop waits for.
  bool AnyUse() const ASHLAR_REQUIRES(kDatabaseMutex) { return AnyJob() || file_calls_ > 0; }
  // All but flush jobs and compaction jobs.
  int OtherJobs() const ASHLAR_REQUIRES(kDatabaseMutex) {
    return manual_.running() + flushes_.running_together() + soon_jobs_;
  }
  bool AnyJob() const ASHLAR_REQUIRES(kDatabaseMutex) {
    return flush_jobs_ + compaction_jobs_ + OtherJobs() > 0;
  }

  DatabaseState* const state_;
  // Ends running jobs: paused, canceled, or closing. Written under the mutex, read by jobs between
  // entries.
  std::atomic<bool> interrupt_{false};
  SpaceRecovery space_recovery_;
  EventOutbox outbox_;
  FileJanitor files_;
  StatsDumper stats_;
  VersionInstaller installer_;
  FlushRunner flushes_;
  CompactionRunner compactions_;
  CompactionBackoff backoff_;
  CoverageScan coverage_;
  ManualCompactions manual_;
  AgeTimer age_timer_;

  int flush_jobs_max_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 1;
  int compaction_jobs_max_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 1;
  int flush_jobs_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;  // handed to the executor and not ended
  int compaction_jobs_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;  // the same
  int soon_jobs_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;        // of RunSoon, not ended
  int file_calls_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;       // of BeginFileCall, not ended
  // Not larger than that of any family.
  SequenceNumber awaited_snapshot_ ASHLAR_GUARDED_BY(kDatabaseMutex) = kNoSnapshotAwaited;
  CandidateQueue flush_candidates_ ASHLAR_GUARDED_BY(kDatabaseMutex);
  CandidateQueue compaction_candidates_ ASHLAR_GUARDED_BY(kDatabaseMutex);
};

}  // namespace ashlar
