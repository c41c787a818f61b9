// BackgroundWork: flushes, compactions, installs and the deletion of files that nobody needs any
// more.
//
//   a view changes -> ViewChanged: write gate, flush and compaction candidates -> Schedule: plans
//   are made under the mutex, jobs go to the executor job: run without locks -> Install (MANIFEST,
//   then versions and views at once) -> ViewChanged -> ...
//
// I1: at most one flush of a family runs at a time, and it takes every immutable memtable; so
//     memtables reach level 0 in their order.
// I2: a plan's inputs are marked from the pick until the install (or failure), so that running
//     plans never share a file.
// I3: a table file is deleted after its last version is gone, never while a MANIFEST that may be
//     current names it; a log after every family has flushed what it holds.
// I4: with several families, closed logs are synced before a flush is installed: otherwise a crash
//     could keep the flushed half of what the lost log held.
// I5: an error of a job is latched, unless the job was told to stop or its family was dropped. A
//     compaction that fails for lack of space, memory or file descriptors before its install is
//     tried again after a pause instead: nothing that was acknowledged depends on it.
// I6: a plan is installed only while it still fits the tree (I5 of compaction_plan.h): a compaction
//     never moves newer data below older.
//
// I7: what an install needs of memory is allocated before the MANIFEST is written; nothing after it
//     throws. A job that finds no memory ends like one that met an error of the file system; a
//     notification or a deletion without memory is left out.
//
// Thread safety: methods marked REQUIRES under the mutex; the others without locks, from any
// thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ashlar/listener.h"
#include "compact/plan/manual_compaction.h"
#include "compact/run/compaction_job.h"
#include "compact/run/flush_job.h"
#include "lsm/candidate_queue.h"
#include "lsm/database_state.h"
#include "lsm/job_events.h"

namespace ashlar {

class BackgroundWork {
 public:
  explicit BackgroundWork(DatabaseState* state);
  // Hands `job` to the executor. Stop and Pause wait for it. False, and nothing is handed over,
  // when the database is being closed.
  bool RunSoon(std::function<void()> job) ASHLAR_REQUIRES(kDatabaseMutex);
  // How many jobs run at once; the threads must have been started.
  void SetOptions(const DBOptions& options) ASHLAR_REQUIRES(kDatabaseMutex);
  void StartThreads(const DBOptions& options);
  BackgroundWork(const BackgroundWork&) = delete;
  BackgroundWork& operator=(const BackgroundWork&) = delete;

  // The family's memtables, version or options changed: decides anew about the write gate and about
  // jobs. Without memory for that it latches MemoryLimit; the end of a resume decides again.
  void ViewChanged(const std::shared_ptr<ColumnFamily>& family) noexcept
      ASHLAR_REQUIRES(kDatabaseMutex);
  // Starts what can be started.
  void Schedule() ASHLAR_REQUIRES(kDatabaseMutex);
  // The family's active memtable is about to become immutable.
  void MemTableSealed(const ColumnFamily& family) ASHLAR_REQUIRES(kDatabaseMutex);
  // Tells listeners and the LOG about sealed memtables and changes of write stalls, in their order.
  // They come about where locks are held or writers wait, so jobs tell them at their beginning and
  // end. Without locks.
  void NotifyChanges();
  // Makes the database read-only because of this error. Listeners are told the reason, the LOG what
  // was being done.
  void LatchError(BackgroundErrorReason reason, std::string_view during,
                  const Status& error) noexcept;

  // Records the edits in the MANIFEST and makes them current. when_published runs under the mutex,
  // in the critical section that installs the new views, and throws nothing.
  Status Install(std::vector<VersionEdit> edits, const std::function<void()>& when_published);
  // The body of Install, for callers that hold the manifest mutex.
  Status InstallLocked(std::vector<VersionEdit> edits, const std::function<void()>& when_published)
      ASHLAR_REQUIRES(kManifestMutex);
  // The same for an install that was prepared by the caller, who holds the manifest mutex.
  Status InstallPrepared(PendingInstall* install, const std::function<void()>& when_published)
      ASHLAR_REQUIRES(kManifestMutex);

  // Waits until every memtable that is immutable now is in a table. Error: what keeps it from
  // happening.
  Status WaitForFlush(std::span<const std::shared_ptr<ColumnFamily>> families);
  // Writes the immutable memtables of all live families to tables and installs them, with the log
  // numbers of all, in one atomic edit. Between HoldJobs and ReleaseJobs, when no write can come
  // and SwitchMemTables has been called for all of them.
  Status FlushTogether(std::span<const std::shared_ptr<ColumnFamily>> families,
                       TableFileCreationReason reason);
  // Records which logs each family needs, and forgets the others. At open this also starts a
  // MANIFEST of this run.
  Status RecordLogNumbers();
  // Records how long logs are that have been synced and closed for good: damage in them is not
  // taken for the end of a log afterwards.
  Status RecordSyncedLogs(std::span<const LogSet::LiveLog> logs);
  // Waits until a memtable switch would not stop the writers.
  Status WaitUntilSwitchIsFree(std::span<const std::shared_ptr<ColumnFamily>> families);
  // Compacts [begin, end] (null: unbounded) of a family whose memtables have been flushed, in the
  // calling thread.
  Status CompactRange(const CompactRangeOptions& options,
                      const std::shared_ptr<ColumnFamily>& family, const Slice* begin,
                      const Slice* end);
  // Nothing to flush, nothing to compact, nothing running. TimedOut after timeout_us (0: never).
  Status WaitForIdle(const WaitForCompactOptions& options);

  // Lets running flushes end and no job begin until ReleaseJobs.
  void HoldJobs();
  void ReleaseJobs();
  void Pause();
  // False: nothing was paused.
  bool Continue();
  // Ends running jobs at their next entry, starts no more, and waits until none runs.
  // state_->closing is set.
  void Stop();

  // Deletes obsolete tables and logs. Called after jobs, by Close, and when deletions are enabled
  // again.
  void DeleteObsoleteFiles() noexcept;
  // The same, and cheap while there is nothing to delete.
  void DeleteObsoleteFilesIfAny() noexcept;
  // Released logs, to be deleted.
  void ReleaseLogs();

  // The oldest log that is needed once these edits are installed.
  uint64_t OldestNeededLog(std::span<const VersionEdit> edits) const
      ASHLAR_REQUIRES(kDatabaseMutex);
  // The oldest log that a recovery would look for. It may lag behind what is needed: a log is kept
  // until the MANIFEST says that it may be missing.
  uint64_t OldestRecordedLog() const ASHLAR_REQUIRES(kDatabaseMutex);

  // ---- For the table of properties.
  int RunningFlushes() const ASHLAR_REQUIRES(kDatabaseMutex) { return flush_jobs_; }
  int RunningCompactions() const ASHLAR_REQUIRES(kDatabaseMutex) {
    return compaction_jobs_ + manual_compactions_;
  }
  bool CompactionPending(const ColumnFamily& family) const ASHLAR_REQUIRES(kDatabaseMutex);
  TreeView View(const ColumnFamily& family) const ASHLAR_REQUIRES(kDatabaseMutex) {
    return MakeTreeView(family, family.version());
  }

 private:
  // A plan on its way through the executor. Holds what the plan borrows.
  struct Compaction {
    std::shared_ptr<ColumnFamily> family;
    Version* version = nullptr;  // one count
    CompactionPlan plan;
    ColumnFamilyOptions options;
    std::vector<SequenceNumber> snapshots = {};
    const std::atomic<bool>* canceled = nullptr;
    std::unique_ptr<JobEvents> events = {};
    bool installing = false;  // the MANIFEST may have the edit
  };
  // Jobs that wait in the executor for their time, and may outlive the database there. Its mutex is
  // taken before the database mutex.
  struct Timers {
    Mutex mutex;
    bool stopped ASHLAR_GUARDED_BY(mutex) = false;
  };
  struct StallChange {
    WriteStallInfo info;
    StallCause cause = StallCause::kNone;
  };
  using Change = std::variant<MemTableInfo, StallChange>;

  void Decide(const std::shared_ptr<ColumnFamily>& family) ASHLAR_REQUIRES(kDatabaseMutex);
  // Latches the error of a decision about jobs; NotifyChanges tells the listeners.
  void FailDecision(const Status& error) noexcept ASHLAR_REQUIRES(kDatabaseMutex);
  void NotifyError(BackgroundErrorReason reason, std::string_view during, const Status& error,
                   bool latched) noexcept;
  void LatchJobError(BackgroundErrorReason reason, std::string_view job, const ColumnFamily& family,
                     const Status& error) noexcept;
  void PublishInstall(PendingInstall* install,
                      std::span<const std::shared_ptr<ColumnFamily>> changed,
                      const std::function<void()>& when_published) noexcept
      ASHLAR_REQUIRES(kManifestMutex);
  bool MayStartJobs() const ASHLAR_REQUIRES(kDatabaseMutex);
  void UpdateGate() ASHLAR_REQUIRES(kDatabaseMutex);
  TreeView MakeTreeView(const ColumnFamily& family, Version* version) const
      ASHLAR_REQUIRES(kDatabaseMutex);
  StallInputs MakeStallInputs(const ColumnFamily& family) const ASHLAR_REQUIRES(kDatabaseMutex);

  void ScheduleFlushes() ASHLAR_REQUIRES(kDatabaseMutex);
  void FlushJob(std::shared_ptr<ColumnFamily> family);
  // The end of every job of the executor: what it held goes, files included, before whoever waits
  // for the last job is told.
  void EndJob(std::shared_ptr<ColumnFamily> family, int BackgroundWork::* jobs);
  // One flush of one family: from the marked memtables to the edit that installs their table.
  struct Flush {
    std::shared_ptr<ColumnFamily> family;
    std::vector<MemTableRef> tables = {};
    VersionEdit edit = {};
    TableJobStatistics statistics = {};
    TableFileCreationReason reason = TableFileCreationReason::kFlush;
    std::unique_ptr<JobEvents> events = {};  // null: nothing to write, nothing to tell
    const std::atomic<bool>* stop = nullptr;
  };
  void NotifyFlushEnded(Flush* flush, const Status& status) noexcept;
  Status BuildFlush(Flush* flush);
  Status BuildFlushTable(Flush* flush);
  void NotifyChange(const Change& change);
  void CountStall(ColumnFamily* family, StallState before) ASHLAR_REQUIRES(kDatabaseMutex);
  Status ExecuteCompaction(Compaction* compaction, TableJobResult* result);
  // What the LOG gets every stats_dump_period_sec, at the end of a job.
  void DumpStatsIfDue();
  // Tables of a flush that did not come to an install.
  void DiscardTables(Flush* flush);
  Status InstallFlushes(std::span<Flush> flushes);

  void ScheduleCompactions() ASHLAR_REQUIRES(kDatabaseMutex);
  // True if a compaction was queued: the family may have another to run concurrently.
  bool ScheduleCompaction(const std::shared_ptr<ColumnFamily>& family)
      ASHLAR_REQUIRES(kDatabaseMutex);
  // No compaction of the family is picked until the retry. Returns the seconds until then.
  uint64_t PauseCompactions(const std::shared_ptr<ColumnFamily>& family,
                            const Status& error) noexcept ASHLAR_REQUIRES(kDatabaseMutex);
  std::unique_ptr<Compaction> StartCompaction(const std::shared_ptr<ColumnFamily>& family,
                                              CompactionPlan plan) ASHLAR_REQUIRES(kDatabaseMutex);
  void CompactionJob(Compaction* compaction);
  // I5.
  void HandleFailure(const Compaction& compaction, const Status& error);
  // Lets compactions of the family be picked again then. False: the executor is shutting down.
  bool RetryCompactionAfter(uint64_t seconds, const std::shared_ptr<ColumnFamily>& family);
  int OtherJobs() const ASHLAR_REQUIRES(kDatabaseMutex) {
    return manual_compactions_ + joint_flushes_ + soon_jobs_;
  }
  Status Compact(Compaction* compaction);
  Status InstallCompaction(Compaction* compaction, TableJobResult* result);
  void EndCompaction(Compaction* compaction) ASHLAR_REQUIRES(kDatabaseMutex);

  // I6, before the plan's edit is prepared: the version cannot change until the install, because
  // the caller holds the manifest mutex.
  void AssertFits(const Compaction& compaction) const ASHLAR_REQUIRES(kManifestMutex);
  // Runs the plans of the walk, in the calling thread.
  Status RunManualCompaction(const CompactRangeOptions& options,
                             const std::shared_ptr<ColumnFamily>& family, ManualCompaction* walk);

  struct DeletedTable {
    std::string path;
    uint64_t number = 0;
    Status status;
  };
  void DeleteUnderLock(std::vector<DeletedTable>* deleted) ASHLAR_REQUIRES(deletion_mutex_);

  TableJobArgs MakeJobArgs(const ColumnFamily& family, const ColumnFamilyOptions& options,
                           std::vector<SequenceNumber> snapshots) const;

  DatabaseState* const state_;
  int flush_jobs_max_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 1;
  int compaction_jobs_max_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 1;
  int flush_jobs_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;  // handed to the executor and not ended
  int compaction_jobs_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;     // the same
  int manual_compactions_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;  // in callers' threads
  int soon_jobs_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;           // of RunSoon, not ended
  int joint_flushes_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;  // FlushTogether, in callers' threads
  std::vector<Change> untold_changes_ ASHLAR_GUARDED_BY(kDatabaseMutex);
  bool telling_changes_ ASHLAR_GUARDED_BY(kDatabaseMutex) =
      false;  // one thread tells, so that they are told in their order
  bool decision_failed_ ASHLAR_GUARDED_BY(kDatabaseMutex) = false;  // and listeners are not told
  uint64_t stats_dumped_nanos_ ASHLAR_GUARDED_BY(kDatabaseMutex);
  CandidateQueue flush_candidates_ ASHLAR_GUARDED_BY(kDatabaseMutex);
  CandidateQueue compaction_candidates_ ASHLAR_GUARDED_BY(kDatabaseMutex);
  const std::shared_ptr<Timers> timers_ = std::make_shared<Timers>();
  // Ends running jobs: closing, or paused. Written under the mutex, read by jobs between entries.
  std::atomic<bool> interrupt_{false};

  Mutex deletion_mutex_;  // one deleter at a time; held across the deletion of files
  std::vector<ObsoleteTable> kept_tables_ ASHLAR_GUARDED_BY(deletion_mutex_);
};

}  // namespace ashlar
