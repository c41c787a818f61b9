// FileJanitor: deletes files that the database no longer needs.
//
//   log     every family has flushed its records, the MANIFEST says so --ReleaseLogs--> obsolete
//           obsolete --DeleteObsoleteFiles--> moved to the archive, if there is one (wal_archive.h)
//                                             or kept to be written over (spare_logs.h), or deleted
//   table   its last version is gone --> obsolete
//   obsolete --DeleteObsoleteFiles--> deleted, or kept while a MANIFEST may name it
//        |\--the file system refuses--> undeleted --period, DeleteObsoleteFiles--> deleted
//        \--there is an SstFileManager with a rate--> trash (space/trash_bin.h): counts as deleted
//
// I1: a table file is deleted after its last version is gone, never while a MANIFEST that may be
//     current names it.
// I2: a log is deleted or archived after every family has flushed its records, and after the
//     MANIFEST says that it may be missing. If the MANIFEST listed the log, it no longer does.
// I3: a file is deleted, or made trash, only while this process has the lock on the database. Trash
//     is deleted without the lock, because no database uses such a name.
// I4: a file that is not deleted for lack of memory is found and deleted by the next open. So is
//     one that the file system still refuses to delete when the database is closed.
//
// Thread safety: methods marked REQUIRES under the database mutex; the others without locks, from
// any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lsm/database_state.h"
#include "lsm/wal_archive.h"
#include "manifest/version_edit.h"

namespace ashlar {

// Why a log is kept. A new reason needs a value here and its case in file_janitor.cc.
enum class LogNeed : uint8_t {
  kCurrent,    // writes are appended to it
  kUnflushed,  // a family has writes in it that are in no table
};
inline constexpr LogNeed kLogNeeds[] = {LogNeed::kCurrent, LogNeed::kUnflushed};

class FileJanitor {
 public:
  explicit FileJanitor(DatabaseState* state) : state_(state), archive_(state) {}
  FileJanitor(const FileJanitor&) = delete;
  FileJanitor& operator=(const FileJanitor&) = delete;

  // Sets how long after a failed deletion DeleteObsoleteFiles tries it again.
  void SetRetryPeriod(uint64_t micros) {
    retry_period_micros_.store(micros, std::memory_order_relaxed);
  }

  // Finds the archived logs. Call with LOCK held. A retry of a failed promotion calls it again.
  Status FindArchive();
  // Deletes obsolete tables and logs. Called after jobs, by Close, and when deletions are enabled
  // again.
  void DeleteObsoleteFiles() noexcept;
  // The same, and cheap while there is nothing to delete.
  void DeleteObsoleteFilesIfAny() noexcept;
  // The same for a job. It does not wait for a thread that deletes thousands of files, because that
  // thread deletes these too before it continues. At most one job waits while it does so.
  void DeleteOrLeaveObsoleteFiles() noexcept;
  // Makes logs obsolete that are older than the oldest one recorded as needed. The second requires
  // that its argument was OldestRecordedLog.
  void ReleaseLogs() noexcept;
  void ReleaseLogs(uint64_t oldest_recorded) noexcept;

  // Deletes a log from the archive, whether it is old enough or not.
  Status DeleteArchivedLog(uint64_t number);
  // Nothing is deleted until each call is matched by an Enable.
  void Disable();
  // Returns false if deletions were not disabled.
  bool Enable();
  bool IsDisabled() const { return disabled_.load(std::memory_order_relaxed) > 0; }
  // Deletes nothing from here on, because LOCK is about to be released.
  void Stop();

  // The oldest log that is needed once these edits are installed.
  uint64_t OldestNeededLog(std::span<const VersionEdit> edits) const
      ASHLAR_REQUIRES(kDatabaseMutex);
  // The oldest log that a recovery would look for. It may be older than the oldest needed log,
  // because a log is kept until the MANIFEST says that it may be missing.
  uint64_t OldestRecordedLog() const ASHLAR_REQUIRES(kDatabaseMutex);

 private:
  // The oldest log that is needed for this reason, once these edits are installed.
  uint64_t OldestLog(LogNeed need, std::span<const VersionEdit> edits) const
      ASHLAR_REQUIRES(kDatabaseMutex);

  struct DeletedTable {
    std::string path;
    uint64_t number = 0;
    Status status;
  };
  // Returns false if another thread is deleting, which will also find what is obsolete now.
  bool DeleteUnlessAnotherDoes() noexcept;
  void Delete(std::vector<DeletedTable>* deleted) noexcept;
  void DeleteUnderLock(std::vector<DeletedTable>* deleted) ASHLAR_REQUIRES(deletion_mutex_);
  void Notify(const std::vector<DeletedTable>& deleted) noexcept;
  // Archives a log if there is an archive, or else keeps it as a spare log if possible. Deletes
  // other logs and any other file.
  Status Remove(const std::string& path) ASHLAR_REQUIRES(deletion_mutex_);
  void DeleteTables(ObsoleteFiles::Taken* undeleted, std::vector<DeletedTable>* deleted)
      ASHLAR_REQUIRES(deletion_mutex_);
  // Moves the undeleted files to `obsolete` if the period has passed since the first failure.
  void TakeUndeletedIfDue(ObsoleteFiles::Taken* obsolete) ASHLAR_REQUIRES(deletion_mutex_);
  void KeepUndeleted(ObsoleteFiles::Taken&& undeleted) ASHLAR_REQUIRES(deletion_mutex_);
  // Asserts I3, and that each kept table is listed once, because it is deleted once.
  void CheckInvariants() const ASHLAR_REQUIRES(deletion_mutex_);

  DatabaseState* const state_;
  Mutex deletion_mutex_;  // one deleter at a time; held across the deletion of files
  WalArchive archive_ ASHLAR_GUARDED_BY(deletion_mutex_);
  std::vector<ObsoleteTable> kept_tables_ ASHLAR_GUARDED_BY(deletion_mutex_);
  ObsoleteFiles::Taken undeleted_ ASHLAR_GUARDED_BY(deletion_mutex_);
  uint64_t undeleted_since_nanos_ ASHLAR_GUARDED_BY(deletion_mutex_) = 0;  // if there are any
  bool stopped_ ASHLAR_GUARDED_BY(deletion_mutex_) = false;
  // Calls of DeleteUnlessAnotherDoes that the first of them serves. Acquire and release, so that it
  // finds the files of the calls that it has counted.
  std::atomic<uint64_t> deletions_asked_{0};
  std::atomic<uint64_t> retry_period_micros_{0};  // relaxed: it orders nothing
  std::atomic<int> disabled_{0};                  // written under deletion_mutex_
};

}  // namespace ashlar
