// BackgroundWork: flushes, compactions and installs.
//
//   a view changes -> ViewChanged (decides, under the mutex) -> executor: job (works, no lock held)
//   -> Install (MANIFEST, then versions and views at once) -> ViewChanged -> ...
//
// I1: at most one flush of a family runs at a time, and it takes every immutable memtable. So
//     memtables reach level 0 in their order.
// I2: a plan's inputs are marked from the pick until the install or the failure, so that running
//     plans never share a file.
// I3: with several families, closed logs are synced before a flush is installed. Otherwise a crash
//     could keep the flushed half of a lost log.
// I4: an error of a job is latched, unless the job was told to stop or its family was dropped. A
//     compaction that fails before its install for lack of space, memory or file descriptors is
//     tried again after a pause, because no acknowledged write depends on it.
// I5: a plan is installed only while it still fits the tree (I5 of compaction_plan.h): a compaction
//     never moves newer data below older.
// I6: an install allocates its memory before it writes the MANIFEST, and throws nothing after. A
//     job without memory ends as after an error of the file system. A notification is left out.
//
// Thread safety: methods marked REQUIRES under the mutex, the others without locks from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ashlar/listener.h"
#include "compact/plan/manual_compaction.h"
#include "compact/run/compaction_job.h"
#include "compact/run/flush_job.h"
#include "lsm/candidate_queue.h"
#include "lsm/database_state.h"
#include "lsm/event_outbox.h"
#include "lsm/file_janitor.h"
#include "lsm/job_events.h"

namespace ashlar {

class BackgroundWork {
 public:
  // Text about the families for the LOG, made without locks.
  using StatsText =
      std::function<std::string(std::span<const std::shared_ptr<ColumnFamily>> families)>;
  BackgroundWork(DatabaseState* state, StatsText stats_text);
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

  // ---- For the table of properties.
  int RunningFlushes() const ASHLAR_REQUIRES(kDatabaseMutex) { return flush_jobs_; }
  int RunningCompactions() const ASHLAR_REQUIRES(kDatabaseMutex) {
    return compaction_jobs_ + manual_compactions_;
  }
  bool CompactionPending(const ColumnFamily& family) const ASHLAR_REQUIRES(kDatabaseMutex);
  TreeView View(const ColumnFamily& family) const ASHLAR_REQUIRES(kDatabaseMutex) {
    return MakeTreeView(family, family.version());
  }

  EventOutbox& outbox() { return outbox_; }
  FileJanitor& files() { return files_; }
  const FileJanitor& files() const { return files_; }

 private:
  // What a job needs of the guarded state, as of the decision to run it.
  struct JobSettings {
    ColumnFamilyOptions options;
    std::vector<SequenceNumber> snapshots;
    uint64_t bytes_per_sync = 0;
    size_t readahead_bytes = 0;
  };
  // A plan on its way through the executor. Holds what the plan borrows.
  struct Compaction {
    std::shared_ptr<ColumnFamily> family;
    Version* version = nullptr;  // one count
    CompactionPlan plan;
    JobSettings settings;
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

  void Decide(const std::shared_ptr<ColumnFamily>& family) ASHLAR_REQUIRES(kDatabaseMutex);
  // Latches the error of a decision about jobs; NotifyChanges tells the listeners.
  void FailDecision(const Status& error) noexcept ASHLAR_REQUIRES(kDatabaseMutex);
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
    FlushReason switched_for = FlushReason::kOthers;
    // Made when the flush begins: the default options would allocate before.
    std::optional<JobSettings> settings = {};
    VersionEdit edit = {};
    TableJobStatistics statistics = {};
    TableFileCreationReason reason = TableFileCreationReason::kFlush;
    std::unique_ptr<JobEvents> events = {};  // null: nothing to write, nothing to tell
    const std::atomic<bool>* stop = nullptr;
  };
  void NotifyFlushEnded(Flush* flush, const Status& status) noexcept;
  Status BuildFlush(Flush* flush);
  Status BuildFlushTable(Flush* flush);
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
  // I4.
  void HandleFailure(const Compaction& compaction, const Status& error);
  // Lets compactions of the family be picked again then. False: the executor is shutting down.
  bool RetryCompactionAfter(uint64_t seconds, const std::shared_ptr<ColumnFamily>& family);
  int OtherJobs() const ASHLAR_REQUIRES(kDatabaseMutex) {
    return manual_compactions_ + joint_flushes_ + soon_jobs_;
  }
  Status Compact(Compaction* compaction);
  Status InstallCompaction(Compaction* compaction, TableJobResult* result);
  void EndCompaction(Compaction* compaction) ASHLAR_REQUIRES(kDatabaseMutex);

  // I5, before the plan's edit is prepared: the version cannot change until the install, because
  // the caller holds the manifest mutex.
  void AssertFits(const Compaction& compaction) const ASHLAR_REQUIRES(kManifestMutex);
  // Runs the plans of the walk, in the calling thread.
  Status RunManualCompaction(const CompactRangeOptions& options,
                             const std::shared_ptr<ColumnFamily>& family, ManualCompaction* walk);

  JobSettings TakeJobSettings(const ColumnFamily& family) const ASHLAR_REQUIRES(kDatabaseMutex);
  TableJobArgs MakeJobArgs(const ColumnFamily& family, const JobSettings& settings) const;

  DatabaseState* const state_;
  EventOutbox outbox_;
  FileJanitor files_;
  const StatsText stats_text_;
  int flush_jobs_max_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 1;
  int compaction_jobs_max_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 1;
  int flush_jobs_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;  // handed to the executor and not ended
  int compaction_jobs_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;     // the same
  int manual_compactions_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;  // in callers' threads
  int soon_jobs_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;           // of RunSoon, not ended
  int joint_flushes_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;  // FlushTogether, in callers' threads
  uint64_t stats_dumped_nanos_ ASHLAR_GUARDED_BY(kDatabaseMutex);
  CandidateQueue flush_candidates_ ASHLAR_GUARDED_BY(kDatabaseMutex);
  CandidateQueue compaction_candidates_ ASHLAR_GUARDED_BY(kDatabaseMutex);
  const std::shared_ptr<Timers> timers_ = std::make_shared<Timers>();
  // Ends running jobs: closing, or paused. Written under the mutex, read by jobs between entries.
  std::atomic<bool> interrupt_{false};
};

}  // namespace ashlar
