// BackgroundWork: decides which flushes and compactions run, and queues them.
//
//   a view changes -> ViewChanged (decides, under the mutex) -> executor: job (a runner works, no
//   lock held) -> VersionInstaller (MANIFEST, then versions and views) -> ViewChanged -> ...
//
// I1: each running flush of a live family is counted as a job or belongs to a counted flush of
//     several families. Each running plan of a live family is counted as a job or a manual step.
// I2: a job's error is latched unless the job was told to stop, its family was dropped, or it is a
//     transient error of a compaction (CompactionBackoff).
// I3: a job ends with one critical section, after it has released everything that it held, because
//     the database may be destroyed once the last job is counted down.
// I4: a decision that cannot allocate memory latches MemoryLimit, or pauses compactions if it is
//     about one. A notification that cannot allocate memory is left out.
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

  // Starts the threads for these options, as many as the system allows. Returns TryAgain if a
  // priority has no thread, because its jobs would wait for ever.
  static Status StartThreads(const DBOptions& options);
  // Sets how many jobs run at once, and the periods. Requires: the threads have been started.
  void SetOptions(const DBOptions& options) ASHLAR_REQUIRES(kDatabaseMutex);

  // Call as soon as the database accepts writes.
  void StartAgeTimer() { age_timer_.Start(); }
  // Call before the database accepts writes. For `resume` see SpaceRecovery::Calls.
  void StartSpaceRecovery(std::function<SpaceRecovery::Outcome()> resume);

  // Call after a resume that the program requested, or after a promotion. If it failed for lack of
  // space, the resume is tried again later.
  void LookForSpace(const Status& resumed) noexcept { space_recovery_.ErrorLatched(resumed); }

  // Call after the family's memtables, version or options change. Re-evaluates the write controller
  // and the jobs. I4 applies if an allocation fails, and the end of a resume re-evaluates them.
  void ViewChanged(const std::shared_ptr<ColumnFamily>& family) noexcept override
      ASHLAR_REQUIRES(kDatabaseMutex);
  // Re-evaluates the families whose files have waited for the release of a snapshot.
  void SnapshotReleased() noexcept ASHLAR_REQUIRES(kDatabaseMutex);
  // Makes the database read-only because of this error. Listeners receive `reason`, and the LOG
  // receives `during`, the work that failed.
  void LatchError(BackgroundErrorReason reason, std::string_view during,
                  const Status& error) noexcept {
    outbox_.LatchError(reason, during, error);
  }
  // Hands `job` to the executor. Stop, Pause and WaitForJobs wait for it. Returns false, and hands
  // nothing over, if no more jobs may begin.
  bool RunSoon(Executor::Priority priority, std::function<void()> job)
      ASHLAR_REQUIRES(kDatabaseMutex);

  // Waits until every memtable that is immutable now is in a table, or returns why it will not be.
  // kListeners: also waits until OnFlushCompleted has returned for each of them and older ones.
  enum class FlushWait : uint8_t { kTables, kListeners };
  Status WaitForFlush(std::span<const std::shared_ptr<ColumnFamily>> families, FlushWait wait);
  // The same for the commit leader. It does not wait for a Resume to end, because Resume waits for
  // the leader. Returns Busy if background work is paused, so that writers do not wait for its end.
  Status LeaderWaitForFlush(std::span<const std::shared_ptr<ColumnFamily>> families);
  // The time on the database's clock at which a wait ends with TimedOut; nothing: never.
  using DeadlineNanos = std::optional<uint64_t>;
  // Waits until a memtable switch would not stop the writers.
  Status WaitUntilSwitchIsFree(std::span<const std::shared_ptr<ColumnFamily>> families,
                               DeadlineNanos deadline);
  // Waits until nothing runs and nothing is left to flush or compact. Returns Aborted if
  // abort_on_pause is set and a pause or an abort of compactions holds such work back.
  Status WaitForIdle(bool abort_on_pause, DeadlineNanos deadline);

  // Waits for running flushes and keeps new jobs from beginning while it exists. At most one exists
  // at a time, so its thread may flush. Acquire it before the lead of the commit queue. Its end
  // starts no job, so the caller must call ViewChanged.
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
  // Ends running jobs at their next entry, waits for them, and lets none begin until Continue.
  void Pause();
  // Returns false if nothing was paused.
  bool Continue();
  // Ends running compactions at their next entry and waiting ones at once. None starts until each
  // call is matched by a ResumeCompactions. Returns once none is under way. Flushes continue.
  void AbortCompactions();
  void ResumeCompactions();
  // Ends running jobs at their next entry and lets no more begin. Threads that wait for a job
  // return ShutdownInProgress.
  void Cancel();
  // After a Cancel, runs the queued jobs in the calling thread, where they end at their next entry.
  // The executor's threads may be busy with other databases or with functions of the program.
  void EndQueuedJobs();
  // Waits until no job runs.
  void WaitForJobs();
  // Ends running jobs at their next entry, starts no more, and waits until no job and no file call
  // runs. Sets state_->closing.
  void Stop();

  // Counts a call that changes database files in its own thread, so that Stop waits for it. Returns
  // ShutdownInProgress, without counting the call, if the database is being closed.
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

  // Asserts I1, the invariants of the parts, and that jobs are interrupted only by a pause, a
  // cancel or a close.
  void CheckInvariants() const ASHLAR_REQUIRES(kDatabaseMutex);

 private:
  Status WaitForFlush(std::span<const std::shared_ptr<ColumnFamily>> families, FlushWait wait,
                      FunctionRef<Status()> refusal);
  // Returns TimedOut if the deadline has passed.
  Status WaitForChange(DeadlineNanos deadline) ASHLAR_REQUIRES(kDatabaseMutex);
  void HoldJobs();
  void ReleaseJobs();

  void Decide(const std::shared_ptr<ColumnFamily>& family) ASHLAR_REQUIRES(kDatabaseMutex);
  // Latches the error of a decision about jobs. EventOutbox::Notify calls the listeners later.
  void FailDecision(const Status& error) noexcept ASHLAR_REQUIRES(kDatabaseMutex);
  bool MayStartJobs() const ASHLAR_REQUIRES(kDatabaseMutex);
  void UpdateWriteController() ASHLAR_REQUIRES(kDatabaseMutex);

  // Starts all jobs that may run now.
  void Schedule() ASHLAR_REQUIRES(kDatabaseMutex);
  void ScheduleFlushes() ASHLAR_REQUIRES(kDatabaseMutex);
  // Returns false if the executor did not take the job.
  bool ScheduleFlush(const std::shared_ptr<ColumnFamily>& family) ASHLAR_REQUIRES(kDatabaseMutex);
  void ScheduleCompactions() ASHLAR_REQUIRES(kDatabaseMutex);
  // Returns true if a compaction was queued. The family may then have another to run concurrently.
  bool ScheduleCompaction(const std::shared_ptr<ColumnFamily>& family)
      ASHLAR_REQUIRES(kDatabaseMutex);

  // Call if no plan was picked in `view`. Records at which oldest snapshot one may be picked.
  void AwaitSnapshot(ColumnFamily* family, const TreeView& view) ASHLAR_REQUIRES(kDatabaseMutex);

  void FlushJob(FlushRunner::Flush* flush);
  // Latches SpaceLimit if the limit is reached after the flush of this family.
  void CheckSpaceLimit(const ColumnFamily& family);
  void CompactionJob(Compaction* compaction);
  // Implements I3. `jobs` is the counter that includes the job.
  void EndJob(std::shared_ptr<ColumnFamily> family, const Status& status,
              int BackgroundWork::* jobs);

  // Whether there is anything that Stop waits for.
  bool AnyUse() const ASHLAR_REQUIRES(kDatabaseMutex) { return AnyJob() || file_calls_ > 0; }
  // All jobs except flush jobs and compaction jobs.
  int OtherJobs() const ASHLAR_REQUIRES(kDatabaseMutex) {
    return manual_.running() + flushes_.running_together() + soon_jobs_;
  }
  bool AnyJob() const ASHLAR_REQUIRES(kDatabaseMutex) {
    return flush_jobs_ + compaction_jobs_ + OtherJobs() > 0;
  }

  DatabaseState* const state_;
  // Ends running jobs. Set while paused, canceled or closing. Written under the mutex, read by jobs
  // between entries.
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
  int flush_jobs_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;  // handed to the executor, not yet ended
  int compaction_jobs_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;  // the same
  int soon_jobs_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;        // from RunSoon, not yet ended
  int file_calls_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;       // from BeginFileCall, not yet ended
  // At most the awaited_snapshot of any family.
  SequenceNumber awaited_snapshot_ ASHLAR_GUARDED_BY(kDatabaseMutex) = kNoSnapshotAwaited;
  CandidateQueue flush_candidates_ ASHLAR_GUARDED_BY(kDatabaseMutex);
  CandidateQueue compaction_candidates_ ASHLAR_GUARDED_BY(kDatabaseMutex);
};

}  // namespace ashlar
