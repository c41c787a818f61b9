// FlushRunner: one flush, of one family or of several together.
//
//   Start (database mutex: marks memtables, copies settings)
//     -> Run: list of snapshots (database mutex), tables (no lock), log numbers (database mutex)
//     -> VersionInstaller (MANIFEST, views) -> memory of the memtables, logs
//
// I1: at most one flush of a family runs at a time, and it takes every immutable memtable. So
//     memtables reach level 0 in their order.
// I2: if a flush leaves a family out, the logs before the log number that it records are closed
//     and are synced after the number is chosen. Otherwise a crash could lose a log but keep its
//     flushed part, and an open would refuse the family as ahead of the others. With an archive the
//     logs are synced too, because it has no gaps.
// I3: a failed flush leaves its memtables immutable and due for a flush. Its tables are deleted
//     unless the MANIFEST may name them.
//
// Thread safety: methods marked REQUIRES under the mutex, the others without locks from any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "ashlar/listener.h"
#include "compact/run/flush_job.h"
#include "lsm/event_outbox.h"
#include "lsm/file_janitor.h"
#include "lsm/job_events.h"
#include "lsm/job_settings.h"
#include "lsm/version_installer.h"

namespace ashlar {

class FlushRunner {
 public:
  struct Parts {
    DatabaseState* state = nullptr;
    EventOutbox* outbox = nullptr;
    FileJanitor* files = nullptr;
    VersionInstaller* installer = nullptr;
    const std::atomic<bool>* interrupt = nullptr;  // ends running jobs
  };
  explicit FlushRunner(const Parts& parts) : parts_(parts), state_(parts.state) {}
  FlushRunner(const FlushRunner&) = delete;
  FlushRunner& operator=(const FlushRunner&) = delete;

  // One family's part, from the marked memtables to the edit that installs their table.
  struct Flush {
    std::shared_ptr<ColumnFamily> family;
    TableFileCreationReason reason = TableFileCreationReason::kFlush;
    const std::atomic<bool>* interrupt = nullptr;
    JobSettings settings;
    FlushReason switched_for = FlushReason::kOthers;
    bool releases_log = false;  // ColumnFamily::log_release_wanted
    std::vector<MemTableRef> tables = {};
    VersionEdit edit = {};
    TableJobStatistics statistics = {};
    std::unique_ptr<JobEvents> events = {};  // null: nothing to write, nothing to report
    DatabaseMemory::PendingFlush pending = {};
  };

  // Begins a flush of the immutable memtables of the family. Run or Cancel ends it.
  std::unique_ptr<Flush> Start(const std::shared_ptr<ColumnFamily>& family)
      ASHLAR_REQUIRES(kDatabaseMutex);
  // I3. Ends a flush that has not run or has failed.
  static void Cancel(const Flush& flush) ASHLAR_REQUIRES(kDatabaseMutex);
  // Writes the memtables to a table and installs it.
  Status Run(Flush* flush);
  // Flushes these families, one or all live ones, in this thread. One atomic edit has the log
  // numbers of all. Neither a pause nor a cancel stops it. Requires: a JobHold. A flush of all
  // families also requires that no write can arrive and that SwitchMemTables has been called for
  // them.
  Status RunTogether(std::span<const std::shared_ptr<ColumnFamily>> families,
                     TableFileCreationReason reason);
  // The number of calls of RunTogether that are under way.
  int running_together() const ASHLAR_REQUIRES(kDatabaseMutex) { return running_together_; }

 private:
  // Counts the flush, marks the memtables and copies the settings.
  Flush Begin(const std::shared_ptr<ColumnFamily>& family, TableFileCreationReason reason,
              const std::atomic<bool>* interrupt) ASHLAR_REQUIRES(kDatabaseMutex);
  // The common path of all flushes. `begun` is the outcome of Begin.
  Status RunAll(std::span<Flush> flushes, const Status& begun);
  Status BuildAndInstall(std::span<Flush> flushes);
  // I2. Returns true if other families are alive, so that closed logs have to be synced.
  bool SetLogNumbers(std::span<Flush> flushes);
  Status Build(Flush* flush);
  Status BuildTable(Flush* flush);
  Status Install(std::span<Flush> flushes);
  // I3.
  void Abandon(std::span<Flush> flushes);
  // Call after the listeners of these flushes, which are installed, have returned.
  void EndReports(std::span<const Flush> flushes);
  // Whether listeners are notified of the flush once it is installed.
  bool IsReported(const Flush& flush) const {
    return flush.events != nullptr && !state_->options.listeners.empty();
  }

  const Parts parts_;
  DatabaseState* const state_;
  int running_together_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;
};

}  // namespace ashlar
