// DatabaseState: the state that the parts of an open database share. The parts (commit pipeline,
// background work, reader) hold a pointer to it. They know nothing of each other except as their
// headers say.
//
// I1: the version of a family is the one that the MANIFEST gives it.
// I2: the log that the MANIFEST says a family needs is not newer than the one it does need.
// I3: no sequence of a snapshot or of the MANIFEST is newer than the published one.
// I4: counts of pauses are not negative.
// I5: `closing` and `jobs_canceled` are set for good. Once one of them is, no job begins.
//
// Locks, outermost first (docs/locking.md): manifest_mutex, then mutex. Neither is taken by a write
// that finds its memtable with room, nor on a read, unless a secondary's meets a catch-up.
//   manifest_mutex  serialises installers: from reading the current versions until the new ones are
//                   published. Held across the write of the MANIFEST.
//   mutex           the families' guarded members, the snapshots, the job counters. Never held
//                   across I/O, a callback or a log line.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/options.h"
#include "ashlar/options_util.h"
#include "ashlar/vfs.h"
#include "cache/block_cache.h"
#include "execute/clock.h"
#include "execute/epoch.h"
#include "execute/executor.h"
#include "filesystem/synced_directory.h"
#include "lsm/column_family.h"
#include "lsm/error_handler.h"
#include "lsm/log_set.h"
#include "lsm/obsolete_files.h"
#include "lsm/recovery_report.h"
#include "lsm/snapshot_list.h"
#include "lsm/write_controller.h"
#include "manifest/database_locks.h"
#include "manifest/version_set.h"
#include "memtable/arena.h"
#include "memtable/memory_budget.h"
#include "observe/recorder.h"
#include "platform/mutex.h"
#include "platform/thread.h"
#include "space/database_space.h"

namespace ashlar {

// What this object may do with the database. LifeCycle promotes a secondary to the primary.
enum class DatabaseRole : uint8_t {
  kPrimary,    // it has the lock, and writes
  kReader,     // opened read-only
  kSecondary,  // read-only, and replaced from time to time by what another process has written
               // since (primary_follower.h)
};

struct DatabaseState {
  DatabaseState(const DBOptions& db_options, std::string directory_path);
  ~DatabaseState();
  DatabaseState(const DatabaseState&) = delete;
  DatabaseState& operator=(const DatabaseState&) = delete;

  // Whether calls of the program that change the database are refused.
  bool read_only() const { return role.load(std::memory_order_acquire) != DatabaseRole::kPrimary; }
  bool is_secondary() const {
    return role.load(std::memory_order_acquire) == DatabaseRole::kSecondary;
  }
  // Whether this process is a child that was forked later.
  bool IsInForkedChild() const { return process != CurrentProcessId(); }
  // Whether jobs run, and files may be written and deleted.
  bool writes_files() const { return owns_files.load(std::memory_order_acquire); }

  SequenceNumber PublishedSequence() const {
    return published_sequence.load(std::memory_order_acquire);
  }
  // Whether the sequence is or was the published one, or below it. Only an install of a secondary
  // may lower that (primary_follower.h, I1).
  bool WasPublished(SequenceNumber sequence) const {
    return sequence <= PublishedSequence() ||
           secondary_installs.load(std::memory_order_relaxed) != 0;
  }
  // Inside an epoch guard, or under `mutex`.
  const FamilyTable& Families() const { return *family_table.load(std::memory_order_acquire); }
  // Replaces the table that Families() gives. Call epochs.Reclaim after releasing the mutex.
  void SetFamilies(std::unique_ptr<FamilyTable> families) ASHLAR_REQUIRES(kDatabaseMutex);
  // Every family that is not dropped, by id.
  std::vector<std::shared_ptr<ColumnFamily>> LiveFamilies() const ASHLAR_REQUIRES(kDatabaseMutex);
  // ShutdownInProgress: Close has begun.
  Status CheckNotClosing() const ASHLAR_REQUIRES(kDatabaseMutex);
  // Whether jobs may begin, now or after a pause (I5).
  bool RunsJobs() const ASHLAR_REQUIRES(kDatabaseMutex) {
    return !closing.load(std::memory_order_relaxed) && !jobs_canceled;
  }
  // ShutdownInProgress unless RunsJobs. A thread that waits for a job asks this after each change.
  Status CheckRunsJobs() const ASHLAR_REQUIRES(kDatabaseMutex);
  // Whether no job begins before a pause or a hold has ended.
  bool HoldsJobsBack() const ASHLAR_REQUIRES(kDatabaseMutex) {
    return background_paused > 0 || jobs_held;
  }
  // Wakes all threads that wait for `changed`, or for memory.
  void NotifyChange() ASHLAR_REQUIRES(kDatabaseMutex) {
    ++changes;
    changed.SignalAll();
    if (MemoryBudget* const budget = memory.budget(); budget != nullptr) budget->Wake();
  }
  // Waits for a change, or does a piece of background work where no thread would.
  void WaitForChange() ASHLAR_REQUIRES(kDatabaseMutex);
  // The same for a change here or in the memory budget since Wakes was `seen`. Requires: a budget.
  void WaitForMemory(uint64_t seen) ASHLAR_REQUIRES(kDatabaseMutex);
  RecoveryReport CopyRecoveryReport() const ASHLAR_EXCLUDES(kDatabaseMutex);
  // Asserts I1 to I4 and the invariants of the parts. True between critical sections once recovery
  // has replayed the logs.
  void CheckInvariants() const ASHLAR_REQUIRES(kDatabaseMutex);

  // Waits until everything that was unlinked before and is not pinned is deleted: a view, then its
  // members, then theirs.
  void DrainEpochs();

  // Everything that readers of this database find without a lock is retired here. The first member,
  // because it outlives the retired objects.
  EpochDomain epochs;

  // ---- Constant after open; those that a promotion sets before it sets owns_files are marked.
  const DBOptions options;  // as opened; current_options has the changes of SetDBOptions
  const uint64_t process = CurrentProcessId();  // that opens it; a forked child only leaves it
  const std::string directory;
  const std::string wal_directory;
  Env* const env;
  vfs::FileSystem* const file_system;
  Clock* const clock;
  Executor* const executor;
  const Recorder recorder;
  const uint64_t default_delayed_write_rate;  // asked for once: the limiter may be the program's
  std::shared_ptr<Logger> logger;             // may be null
  std::unique_ptr<vfs::FileLock> lock;  // null when read-only; set by a promotion, as the next two
  std::shared_ptr<SyncedDirectory> directory_handle;
  std::shared_ptr<SyncedDirectory> wal_directory_handle;  // the same one if it is that directory
  std::string session_id;
  std::shared_ptr<PinnedTables> pinned_tables;  // null unless opened read-only
  DB* db = nullptr;                             // for listeners

  // Kept until no family and no table uses them and no block of them is pinned.
  std::vector<std::shared_ptr<Cache>> block_caches ASHLAR_GUARDED_BY(kDatabaseMutex);

  // ---- Self-synchronised.
  // Both are written by the open, before other threads know the database, and by a promotion
  // (release, after what they allow was set). Any thread reads them (acquire).
  std::atomic<DatabaseRole> role{DatabaseRole::kPrimary};
  std::atomic<bool> owns_files{true};
  // A memtable is full, the logs are too long, memtables take too much memory, or limits were
  // changed. Any thread sets it, also of another database (memory_budget.h), and the commit leader
  // clears it, by an exchange (acq_rel), so the check finds the limits and numbers of all threads
  // that have set it.
  std::atomic<bool> room_check_wanted{false};
  DatabaseMemory memory;
  ArenaBlockPool arena_blocks;
  ErrorHandler error_handler;
  WriteController write_controller;
  LogSet logs;
  OpenTables open_tables;
  ObsoleteFiles obsolete_files;
  DatabaseSpace space;  // opened by LifeCycle::OpenSpace
  // See version_set.h: installers under manifest_mutex, Publish under both.
  std::unique_ptr<VersionSet> versions;
  // Written by the commit leader (release) after the memtables, and under the mutex by installs and
  // catch-ups; readers acquire it after the view (read_view.h, I2).
  std::atomic<SequenceNumber> published_sequence{0};
  // Twice the number; odd while one replaces sequence and views (primary_follower.h, I7).
  std::atomic<uint64_t> secondary_installs{0};
  std::atomic<FamilyTable*> family_table{nullptr};  // written under mutex, read inside epoch guards
  std::atomic<bool> closing{false};  // written under mutex; jobs look at it between entries
  std::atomic<int> next_job_id{1};   // flushes and compactions, for listeners and the LOG
  // What may outlive the database, which ends once they are 0 or linked (LsmCore::IsInUse). Each
  // falls (release) with the last access of its object to the database, and is read (acquire)
  // before the end.
  std::atomic<int64_t> live_iterators{0};
  std::atomic<int64_t> live_handles{0};    // of column families, the default one's own included
  std::atomic<int64_t> live_memtables{0};  // constructed and not destroyed
  std::atomic<int64_t> live_views{0};      // the same for read views
  std::atomic<int64_t> live_blocks{0};     // the same for data blocks of this database's tables
  // max_total_wal_size; 0: from the memtables. Written by SetDBOptions, read by the commit leader.
  std::atomic<uint64_t> log_bytes_max;
  std::atomic<bool> unlogged_writes{false};  // a write left records out of the log
  std::atomic<uint64_t> lost_errors{0};      // of ReportLostError

  // ---- Locks and the members that they guard.
  Mutex& manifest_mutex() ASHLAR_RETURN_CAPABILITY(kManifestMutex) { return manifest_mutex_; }
  Mutex& mutex() const ASHLAR_RETURN_CAPABILITY(kDatabaseMutex) { return mutex_; }
  CondVar changed;  // any of the below, a view or a job changed
  uint64_t changes ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;
  DBOptions current_options ASHLAR_GUARDED_BY(kDatabaseMutex);
  // Of the OPTIONS file at open; written until they are set.
  std::vector<UnsupportedOption> unsupported_options ASHLAR_GUARDED_BY(kDatabaseMutex);
  SnapshotList snapshots ASHLAR_GUARDED_BY(kDatabaseMutex);
  RecoveryReport recovery ASHLAR_GUARDED_BY(kDatabaseMutex);  // of the open or the promotion
  int background_paused ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;
  bool jobs_held ASHLAR_GUARDED_BY(kDatabaseMutex) = false;      // a BackgroundWork::JobHold exists
  bool jobs_canceled ASHLAR_GUARDED_BY(kDatabaseMutex) = false;  // I5; by BackgroundWork::Cancel
  bool snapshots_wait ASHLAR_GUARDED_BY(kDatabaseMutex) = false;  // I11 of file_ingestion.h

 private:
  Mutex manifest_mutex_ ASHLAR_ACQUIRED_BEFORE(mutex_);
  mutable Mutex mutex_;
};

// Deletes it, or makes it trash (DatabaseSpace). A failure is a warning in the LOG. FileJanitor
// tries again, and so does the next open.
Status DeleteObsoleteFile(const DatabaseState& state, const std::string& path);

// Lines for the LOG.
void LogInfo(const DatabaseState& state, const std::string& message);
void LogWarning(const DatabaseState& state, const std::string& message);

}  // namespace ashlar
