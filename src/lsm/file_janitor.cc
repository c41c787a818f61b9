#include "lsm/file_janitor.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/assert.h"
#include "base/format.h"
#include "base/out_of_memory.h"
#include "filesystem/filename.h"
#include "lsm/job_events.h"
#include "lsm/wal_files.h"

namespace ashlar {

namespace {

// Family -> the oldest log that it will need. Allocates nothing if there are no edits.
using LogNumbers = std::unordered_map<ColumnFamilyId, uint64_t>;

LogNumbers LogNumbersOf(std::span<const VersionEdit> edits) {
  LogNumbers numbers;
  for (const VersionEdit& edit : edits) {
    if (!edit.log_number.has_value()) continue;
    uint64_t& number = numbers[edit.column_family];
    number = std::max(number, *edit.log_number);
  }
  return numbers;
}

uint64_t OldestUnflushedLog(const ColumnFamily& family, const LogNumbers& numbers)
    ASHLAR_REQUIRES(kDatabaseMutex) {
  const auto number = numbers.find(family.id());
  return number == numbers.end() ? family.OldestLogNumber()
                                 : std::max(family.OldestLogNumber(), number->second);
}

bool IsStillThere(const Status& deleted) { return !deleted.ok() && !deleted.IsPathNotFound(); }

}  // namespace

uint64_t FileJanitor::OldestLog(LogNeed need, std::span<const VersionEdit> edits) const {
  uint64_t oldest = UINT64_MAX;
  switch (need) {
    case LogNeed::kCurrent: return state_->logs.current_number();
    case LogNeed::kUnflushed: {
      // A map, because a recovery may have an edit for each of thousands of families.
      const LogNumbers numbers = LogNumbersOf(edits);
      for (const std::shared_ptr<ColumnFamily>& family : state_->Families().families)
        oldest = std::min(oldest, OldestUnflushedLog(*family, numbers));
      return oldest;
    }
  }
  return 0;
}

uint64_t FileJanitor::OldestNeededLog(std::span<const VersionEdit> edits) const {
  uint64_t oldest = UINT64_MAX;
  for (const LogNeed need : kLogNeeds) oldest = std::min(oldest, OldestLog(need, edits));
  ASHLAR_ASSERT(oldest <= state_->logs.current_number());  // I2: never the current log
  return oldest;
}

uint64_t FileJanitor::OldestRecordedLog() const {
  const PublishedState& recorded = state_->versions->Published();
  const uint64_t oldest = std::min(OldestNeededLog({}), recorded.MinLogNumberToRecover());
  // I2
  return recorded.recorded_logs.empty() ? oldest
                                        : std::min(oldest, recorded.recorded_logs.begin()->first);
}

void FileJanitor::ReleaseLogs() noexcept {
  uint64_t oldest = 0;
  {
    MutexLock lock(state_->mutex());
    oldest = OldestRecordedLog();
  }
  ReleaseLogs(oldest);
}

void FileJanitor::ReleaseLogs(uint64_t oldest_recorded) noexcept {
  IgnoreBadAlloc([&] {
    // I1 of wal_archive.h. A log that failed stays as it is.
    if (WalArchive::IsEnabled(*state_)) static_cast<void>(state_->logs.SyncClosed().ok());
    const std::vector<uint64_t> released = state_->logs.ReleaseUpTo(oldest_recorded);
    // The next check of the limit on logs is then computed from the logs that are left.
    if (!released.empty())
      static_cast<void>(state_->room_check_wanted.exchange(true, std::memory_order_acq_rel));
    for (const uint64_t log : released) {
      ASHLAR_ASSERT(log < state_->logs.current_number());  // I2
      state_->obsolete_files.AddOther(WalFileName(state_->wal_directory, log));
    }
  });
}

Status FileJanitor::FindArchive() {
  MutexLock deleting(deletion_mutex_);
  return archive_.Find();
}

void FileJanitor::DeleteObsoleteFiles() noexcept {
  if (DeleteUnlessAnotherDoes()) return;
  std::vector<DeletedTable> deleted;
  Delete(&deleted);
  Notify(deleted);
}

void FileJanitor::DeleteObsoleteFilesIfAny() noexcept {
  if (state_->obsolete_files.Some()) DeleteObsoleteFiles();
}

void FileJanitor::DeleteOrLeaveObsoleteFiles() noexcept {
  static_cast<void>(DeleteUnlessAnotherDoes());
}

bool FileJanitor::DeleteUnlessAnotherDoes() noexcept {
  if (deletions_asked_.fetch_add(1, std::memory_order_acq_rel) > 0) return false;
  std::vector<DeletedTable> deleted;
  Delete(&deleted);
  // For calls made meanwhile. The next caller deletes for itself, so no thread does so for ever.
  if (deletions_asked_.exchange(0, std::memory_order_acq_rel) > 1) Delete(&deleted);
  Notify(deleted);  // last, so that a slow listener delays no deletion
  return true;
}

Status FileJanitor::DeleteArchivedLog(uint64_t number) {
  MutexLock deleting(deletion_mutex_);
  if (stopped_) return Status::ShutdownInProgress("the database is being closed");  // I3
  return archive_.Delete(number);
}

void FileJanitor::Disable() {
  MutexLock deleting(deletion_mutex_);
  disabled_.fetch_add(1, std::memory_order_relaxed);
}

bool FileJanitor::Enable() {
  MutexLock deleting(deletion_mutex_);
  if (!IsDisabled()) return false;
  const int before = disabled_.fetch_sub(1, std::memory_order_relaxed);
  ASHLAR_ASSERT(before > 0);  // Disable
  return true;
}

void FileJanitor::Stop() {
  MutexLock deleting(deletion_mutex_);
  stopped_ = true;
}

void FileJanitor::CheckInvariants() const {
  ASHLAR_ASSERT(disabled_.load(std::memory_order_relaxed) >= 0);  // Disable and Enable pair
  ASHLAR_ASSERT(stopped_ || state_->lock != nullptr);             // I3
  ASHLAR_ASSERT(kept_tables_.empty() || state_->writes_files());  // I3
  std::unordered_set<uint64_t> numbers;
  for (const ObsoleteTable& table : kept_tables_) {
    ASHLAR_ASSERT(table.number < state_->versions->next_file_number());  // of this database
    const bool is_new = numbers.insert(table.number).second;
    ASHLAR_ASSERT(is_new);  // each table is kept once
  }
}

void FileJanitor::Delete(std::vector<DeletedTable>* deleted) noexcept {
  if (!state_->writes_files() || state_->IsInForkedChild()) return;  // I3
  IgnoreBadAlloc([&] {
    MutexLock deleting(deletion_mutex_);
    DeleteUnderLock(deleted);
  });
}

void FileJanitor::Notify(const std::vector<DeletedTable>& deleted) noexcept {
  for (const DeletedTable& table : deleted) {
    IgnoreBadAlloc([&] { NotifyTableDeleted(*state_, table.path, table.number, table.status); });
  }
}

void FileJanitor::DeleteUnderLock(std::vector<DeletedTable>* deleted) {
  if (IsDisabled() || stopped_) return;
  ASHLAR_ASSERT(state_->lock != nullptr);  // I3
  ASHLAR_ASSERT(state_->writes_files());   // files may be deleted
  ObsoleteFiles::Taken taken = state_->obsolete_files.Take();
  TakeUndeletedIfDue(&taken);
  ObsoleteFiles::Taken undeleted;
  for (const std::string& path : taken.others) {
    IgnoreBadAlloc([&] {
      deletion_mutex_.AssertHeld();
      if (IsStillThere(Remove(path))) undeleted.others.insert(path);
    });
  }
  // A failed deletion is in the LOG, and is tried again.
  IgnoreBadAlloc([&] {
    deletion_mutex_.AssertHeld();
    static_cast<void>(archive_.Purge().ok());
  });
  kept_tables_.insert(kept_tables_.end(), taken.tables.begin(), taken.tables.end());
  if (!kept_tables_.empty()) DeleteTables(&undeleted, deleted);
  KeepUndeleted(std::move(undeleted));
}

Status FileJanitor::Remove(const std::string& path) {
  const std::optional<uint64_t> log = ParseWalName(path);
  if (!log.has_value()) return DeleteObsoleteFile(*state_, path);
  if (archive_.IsEnabled()) {
    Status archived = archive_.Add(*log);
    if (IsStillThere(archived))
      LogWarning(*state_, StrCat("a log could not be archived: ", archived.ToString()));
    return archived;
  }
  return state_->logs.KeepReleased(*log) ? Status::OK() : DeleteObsoleteFile(*state_, path);
}

void FileJanitor::DeleteTables(ObsoleteFiles::Taken* undeleted,
                               std::vector<DeletedTable>* deleted) {
  std::vector<ObsoleteTable> kept;
  for (const ObsoleteTable& table : std::exchange(kept_tables_, {})) {
    if (state_->versions->IsLive(table.number)) {
      kept.push_back(table);
      continue;
    }
    IgnoreBadAlloc([&] {
      const std::string path = TableFileName(state_->directory, table.number);
      // Untracked before the deletion, because trash is counted too.
      state_->space.Untrack(table.number);
      const Status status = DeleteObsoleteFile(*state_, path);
      if (IsStillThere(status)) {
        state_->space.Track(table.number, table.file_bytes);
        undeleted->tables.push_back(table);
      }
      deleted->push_back({.path = path, .number = table.number, .status = status});
    });
  }
  kept_tables_ = std::move(kept);
  if constexpr (kDebugChecks) CheckInvariants();
}

void FileJanitor::TakeUndeletedIfDue(ObsoleteFiles::Taken* obsolete) {
  constexpr uint64_t kNanosPerMicro = 1000;
  if (undeleted_.Empty()) return;
  const uint64_t waited_nanos = state_->clock->NowNanos() - undeleted_since_nanos_;
  if (waited_nanos / kNanosPerMicro < retry_period_micros_.load(std::memory_order_relaxed)) return;
  obsolete->tables.insert(obsolete->tables.end(), undeleted_.tables.begin(),
                          undeleted_.tables.end());
  obsolete->others.merge(undeleted_.others);
  undeleted_ = {};
}

void FileJanitor::KeepUndeleted(ObsoleteFiles::Taken&& undeleted) {
  if (undeleted.Empty()) return;
  // The earliest failure decides when all files are tried again.
  if (undeleted_.Empty()) undeleted_since_nanos_ = state_->clock->NowNanos();
  undeleted_.tables.insert(undeleted_.tables.end(), undeleted.tables.begin(),
                           undeleted.tables.end());
  undeleted_.others.merge(undeleted.others);
}

}  // namespace ashlar
