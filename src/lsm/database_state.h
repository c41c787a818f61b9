// DatabaseState: the state that the parts of an open database share. The parts (commit pipeline,
// background work, reader) hold a pointer to it. They do not use each other except as their headers
// say.
//
// I1: the version of a family is the one that the MANIFEST records for it.
// I2: the log that the MANIFEST records for a family is not newer than the oldest one it needs.
// I3: no sequence of a snapshot or of the MANIFEST is newer than the published one.
// I4: counts of pauses are not negative.
// I5: `closing` and `jobs_canceled` are set for good. Once one of them is, no job begins.
//
// Locks, outermost first (docs/locking.md): manifest_mutex, then mutex. Neither is taken by a write
// whose memtable has room, or by a read, unless a read of a secondary coincides with a catch-up.
//   manifest_mutex  serialises installers, from reading the current versions until the new ones are
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
  kPrimary,    // holds the lock and writes
  kReader,     // opened read-only
  kSecondary,  // read-only, and brought up to date from time to time with what another process
               // has written (primary_follower.h)
};

struct DatabaseState {
  DatabaseState(const DBOptions& db_options, std::string directory_path);
  ~DatabaseState();
  DatabaseState(const DatabaseState&) = delete;
  DatabaseState& operator=(const DatabaseState&) = delete;

  // Whether calls by the program that change the database are refused.
  bool read_only() const { return role.load(std::memory_order_acquire) != DatabaseRole::kPrimary; }
  bool is_secondary() const {
    return role.load(std::memory_order_acquire) == DatabaseRole::kSecondary;
  }
  // Whether this process is a child that was forked after the open.
  bool IsInForkedChild() const { return process != CurrentProcessId(); }
  // Whether jobs run, and files may be written and deleted.
  bool writes_files() const { return owns_files.load(std::memory_order_acquire); }

  SequenceNumber PublishedSequence() const {
    return published_sequence.load(std::memory_order_acquire);
  }
  // Whether the sequence is published, or may have been. Only an install of a secondary may lower
  // the published sequence (primary_follower.h, I1).
  bool WasPublished(SequenceNumber sequence) const {
    return sequence <= PublishedSequence() ||
           secondary_installs.load(std::memory_order_relaxed) != 0;
  }
  // Call inside an epoch guard, or under `mutex`.
  const FamilyTable& Families() const { return *family_table.load(std::memory_order_acquire); }
  // Replaces the table that Families() returns. Call epochs.Reclaim after releasing the mutex.
  void SetFamilies(std::unique_ptr<FamilyTable> families) ASHLAR_REQUIRES(kDatabaseMutex);
  // Every family that is not dropped, ordered by id.
  std::vector<std::shared_ptr<ColumnFamily>> LiveFamilies() const ASHLAR_REQUIRES(kDatabaseMutex);
  // Returns ShutdownInProgress once Close has begun.
  Status CheckNotClosing() const ASHLAR_REQUIRES(kDatabaseMutex);
  // Whether jobs may begin, now or after a pause (I5).
  bool RunsJobs() const ASHLAR_REQUIRES(kDatabaseMutex) {
    return !closing.load(std::memory_order_relaxed) && !jobs_canceled;
  }
  // Returns ShutdownInProgress unless RunsJobs. Call it after each change while waiting.
  Status CheckRunsJobs() const ASHLAR_REQUIRES(kDatabaseMutex);
  // Whether a pause or a hold prevents jobs from beginning.
  bool HoldsJobsBack() const ASHLAR_REQUIRES(kDatabaseMutex) {
    return background_paused > 0 || jobs_held;
  }
  // Wakes all threads that wait for `changed`, or for memory.
  void NotifyChange() ASHLAR_REQUIRES(kDatabaseMutex) {
    ++changes;
    changed.SignalAll();
    if (MemoryBudget* const budget = memory.budget(); budget != nullptr) budget->Wake();
  }
  // Waits for a change, or runs one background job here if the executor has no threads.
  void WaitForChange() ASHLAR_REQUIRES(kDatabaseMutex);
  // The same, also for a change of the memory budget since Wakes gave `seen`. Requires: a budget.
  void WaitForMemory(uint64_t seen) ASHLAR_REQUIRES(kDatabaseMutex);
  RecoveryReport CopyRecoveryReport() const ASHLAR_EXCLUDES(kDatabaseMutex);
  // Asserts I1 to I4 and the invariants of the parts. They hold between critical sections once
  // recovery has replayed the logs.
  void CheckInvariants() const ASHLAR_REQUIRES(kDatabaseMutex);

  // Waits until everything that was unlinked before and is not pinned is deleted. This includes a
  // view, then its members, then their members.
  void DrainEpochs();

  // Everything that readers of this database find without a lock is retired here. It is the first
  // member because it must outlive the retired objects.
  EpochDomain epochs;

  // ---- Constant after open, except for the marked ones, which a promotion sets before owns_files.
  const DBOptions options;  // as opened; current_options has the changes of SetDBOptions
  const uint64_t process = CurrentProcessId();  // that opened it; a forked child only abandons it
  const std::string directory;
  const std::string wal_directory;
  Env* const env;
  vfs::FileSystem* const file_system;
  Clock* const clock;
  Executor* const executor;
  const Recorder recorder;
  const uint64_t default_delayed_write_rate;  // read once: the limiter may be the program's
  std::shared_ptr<Logger> logger;             // may be null
  std::unique_ptr<vfs::FileLock> lock;  // null when read-only; set by a promotion, as the next two
  std::shared_ptr<SyncedDirectory> directory_handle;
  std::shared_ptr<SyncedDirectory> wal_directory_handle;  // the same one if both are one directory
  std::string session_id;
  std::shared_ptr<PinnedTables> pinned_tables;  // null unless opened read-only
  DB* db = nullptr;                             // for listeners

  // Kept until no family or table uses them and no block of them is pinned.
  std::vector<std::shared_ptr<Cache>> block_caches ASHLAR_GUARDED_BY(kDatabaseMutex);

  // ---- Self-synchronised.
  // The open writes the next two before other threads have access to the database, and a promotion
  // writes them (release) after setting what they permit. Any thread reads them (acquire).
  std::atomic<DatabaseRole> role{DatabaseRole::kPrimary};
  std::atomic<bool> owns_files{true};
  // Set if a memtable is full, the logs are too long, memtables take too much memory, or limits
  // have changed. Any thread may set it, also one of another database (memory_budget.h). The commit
  // leader clears it with an exchange (acq_rel), so its check sees the limits and numbers of all
  // threads that have set it.
  std::atomic<bool> room_check_wanted{false};
  DatabaseMemory memory;
  ArenaBlockPool arena_blocks;
  ErrorHandler error_handler;
  WriteController write_controller;
  LogSet logs;
  OpenTables open_tables;
  ObsoleteFiles obsolete_files;
  DatabaseSpace space;  // opened by LifeCycle::OpenSpace
  // Installers use it under manifest_mutex, and Publish under both mutexes (version_set.h).
  std::unique_ptr<VersionSet> versions;
  // Written by the commit leader (release) after the memtables, and under the mutex by installs and
  // catch-ups. Readers acquire it after the view (read_view.h, I2).
  std::atomic<SequenceNumber> published_sequence{0};
  // Twice the install count; odd while one replaces sequence and views (primary_follower.h, I7).
  std::atomic<uint64_t> secondary_installs{0};
  std::atomic<FamilyTable*> family_table{nullptr};  // written under mutex, read inside epoch guards
  std::atomic<bool> closing{false};  // written under mutex, read by jobs between entries
  std::atomic<int> next_job_id{1};   // flushes and compactions, for listeners and the LOG
  // Counts of objects that may outlive a close. The database is destroyed once each is 0 or its
  // objects are linked (LsmCore::IsInUse). Each falls (release) with the last access of its object
  // to the database, and is read (acquire) before the destruction.
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
  CondVar changed;  // signalled when a member below, a view or a job changes
  uint64_t changes ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;
  DBOptions current_options ASHLAR_GUARDED_BY(kDatabaseMutex);
  // From the OPTIONS file at open. New OPTIONS files include them until they are set.
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

// Deletes the file, or makes it trash (DatabaseSpace). A failure is a warning in the LOG.
// FileJanitor and the next open try again.
Status DeleteObsoleteFile(const DatabaseState& state, const std::string& path);

// Lines for the LOG.
void LogInfo(const DatabaseState& state, const std::string& message);
void LogWarning(const DatabaseState& state, const std::string& message);

}  // namespace ashlar
