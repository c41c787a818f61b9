#include "lsm/life_cycle.h"

#include <memory>
#include <span>
#include <utility>

#include "base/assert.h"
#include "base/format.h"
#include "base/out_of_memory.h"
#include "base/result.h"
#include "config/validate.h"
#include "execute/rate_limiter.h"
#include "lsm/options_file.h"
#include "lsm/recovery.h"
#include "lsm/tree_inputs.h"
#include "observe/event_line.h"
#include "observe/listeners.h"

namespace ashlar {

namespace {

bool IsRecorded(const DatabaseState& state, const std::string& family) {
  MutexLock lock(state.mutex());
  return state.versions->Published().FindFamily(Slice(family)) != nullptr;
}

// Whether level 0 is merged only within itself and has a file that is newer than a replayed write.
// An earlier run of the database, with more levels or another style, ingested the file (I3 of
// file_ingestion.h).
bool HasFileThatWaitsForFlush(const ColumnFamily& family) ASHLAR_REQUIRES(kDatabaseMutex) {
  const std::span<FileMetaData* const> level0 = family.version()->files(0);  // newest first
  return family.policy().MergesWithinLevel0Only() && !level0.empty() &&
         level0.front()->largest_sequence >= family.OldestUnflushed();
}

Status ClosedError() { return Status::ShutdownInProgress("the database is closed"); }

// Records this thread as the holder of role_mutex_ for the lifetime of the object.
class RoleOfThread {
 public:
  explicit RoleOfThread(std::atomic<std::thread::id>* thread) : thread_(thread) {
    thread_->store(std::this_thread::get_id(), std::memory_order_relaxed);
  }
  ~RoleOfThread() { thread_->store(std::thread::id(), std::memory_order_relaxed); }
  RoleOfThread(const RoleOfThread&) = delete;
  RoleOfThread& operator=(const RoleOfThread&) = delete;

 private:
  std::atomic<std::thread::id>* const thread_;
};

}  // namespace

LifeCycle::LifeCycle(LsmCore* core, OptionChanges* changes,
                     std::unique_ptr<PrimaryFollower> follower)
    : core_(core),
      changes_(changes),
      state_(core->state.get()),
      background_(core->background),
      commit_(core->commit),
      follower_(std::move(follower)) {
  ASHLAR_ASSERT((follower_ != nullptr) == state_->is_secondary());  // Requires
}

// ---- Opening.

Status LifeCycle::StartWriting(const std::vector<ColumnFamilyDescriptor>& families) {
  ASHLAR_ASSERT(state_->writes_files());  // Requires: a writable open
  OpenSpace();
  ASHLAR_RETURN_IF_ERROR(StartLog());
  ASHLAR_RETURN_IF_ERROR(EnsureIdentity(state_));
  ASHLAR_RETURN_IF_ERROR(TakeWrites(families));
  StartTimers();
  return Status::OK();
}

Status LifeCycle::StartLog() {
  ASHLAR_ASSERT(state_->lock != nullptr);  // I2
  // Tables that the MANIFEST dropped during its replay. Most were deleted long ago, and
  // DeleteOrphans finds the rest.
  state_->obsolete_files.Take();
  // The adopted logs stay next to the new log, so they must be durable before it is first synced.
  const RecoveryReport recovery = state_->CopyRecoveryReport();
  if (!recovery.must_flush) ASHLAR_RETURN_IF_ERROR(state_->logs.SyncAdopted());
  const LogSet::NewLog log{.number = state_->versions->NewFileNumber(),
                           .next_sequence = state_->PublishedSequence() + 1,
                           .directory_handle = state_->wal_directory_handle.get()};
  own_files_begin_ = log.number;
  ASHLAR_RETURN_IF_ERROR(commit_.RunExclusive([&] { return state_->logs.StartNewLog(log); }));
  ASHLAR_ASSERT(state_->logs.current_number() == log.number);  // StartNewLog
  for (const uint64_t replayed : recovery.logs)
    ASHLAR_ASSERT(replayed < log.number);  // I3 of recovery.h: none of them is appended to
  MutexLock lock(state_->mutex());
  for (const std::shared_ptr<ColumnFamily>& family : state_->Families().families)
    family->AdvanceEmptyMemTable(state_->logs.current_number());
  return Status::OK();
}

Status LifeCycle::TakeWrites(const std::vector<ColumnFamilyDescriptor>& families) {
  std::vector<std::shared_ptr<ColumnFamily>> live;
  bool must_flush = false;
  {
    MutexLock lock(state_->mutex());
    live = state_->LiveFamilies();
    must_flush = state_->recovery.must_flush;
    // I4 of recovery.h: the edit of the flush is not recorded yet.
    ASHLAR_ASSERT(state_->recovery.kept_logs.size() >= state_->recovery.DamagedLogs().size());
    for (const std::shared_ptr<ColumnFamily>& family : live)
      must_flush |= HasFileThatWaitsForFlush(*family);
  }
  {
    // Prevents jobs of the pool from taking a memtable before all are flushed together.
    const BackgroundWork::JobHold hold(&background_);
    if (must_flush) {
      ASHLAR_RETURN_IF_ERROR(commit_.SwitchMemTables(live, FlushReason::kOthers));
      ASHLAR_RETURN_IF_ERROR(
          background_.flushes().RunTogether(live, TableFileCreationReason::kRecovery));
      AssertReplayedLogsAreNotNeeded();
    }
    ASHLAR_RETURN_IF_ERROR(DropWhatWasReplayed());
  }
  for (const ColumnFamilyDescriptor& family : families) {
    if (IsRecorded(*state_, family.name)) continue;
    ASHLAR_RETURN_IF_ERROR(changes_->CreateFamily(family.options, family.name).status());
  }
  ASHLAR_RETURN_IF_ERROR(changes_->WriteOptionsFile());
  const RecoveryReport recovery = state_->CopyRecoveryReport();
  EventLine(state_->logger.get(), state_->clock->NowUnixMicros(), 0, "recovery_finished")
      .Add("bytes_not_replayed", recovery.BytesNotReplayed())
      .Add("damaged_wal_files", recovery.DamagedLogs())
      .Add("status", "OK");
  MutexLock lock(state_->mutex());
  if constexpr (kDebugChecks) state_->CheckInvariants();
  for (const std::shared_ptr<ColumnFamily>& family : state_->Families().families)
    background_.ViewChanged(family);
  return Status::OK();
}

Status LifeCycle::DropWhatWasReplayed() {
  ASHLAR_RETURN_IF_ERROR(background_.installer().RecordLogNumbers());
  ASHLAR_RETURN_IF_ERROR(background_.files().FindArchive());
  background_.files().ReleaseLogs();
  background_.files().DeleteObsoleteFiles();
  uint64_t oldest_log = 0;
  {
    MutexLock lock(state_->mutex());
    oldest_log = background_.files().OldestRecordedLog();
  }
  DeleteOrphans(state_, oldest_log, own_files_begin_);
  background_.files().DeleteObsoleteFilesIfAny();
  state_->logs.StartKeeping();
  return Status::OK();
}

void LifeCycle::StartTimers() {
  background_.StartSpaceRecovery([this] { return ResumeByItself(); });
  background_.StartAgeTimer();
}

void LifeCycle::OpenSpace() {
  // Runs before owns_files is set, because readers that end then delete files and use the account.
  ASHLAR_ASSERT(!state_->is_secondary() || !state_->writes_files());
  const DBOptions& options = state_->options;
  if (options.sst_file_manager == nullptr) return;
  state_->space.Open({.manager = options.sst_file_manager,
                      .directory = state_->directory,
                      .maps_tables = options.allow_mmap_reads,
                      .has_logs = state_->wal_directory == state_->directory});
  if (options.statistics != nullptr) options.sst_file_manager->SetStatisticsPtr(options.statistics);
  MutexLock lock(state_->mutex());
  for (const std::shared_ptr<ColumnFamily>& family : state_->Families().families) {
    const Version& version = *family->version();
    for (Level level = 0; level < version.levels(); ++level) {
      for (const FileMetaData* const file : version.files(level))
        state_->space.Track(file->number, file->file_bytes);
    }
  }
}

void LifeCycle::AssertReplayedLogsAreNotNeeded() const {
  MutexLock lock(state_->mutex());
  if (state_->recovery.logs.empty()) return;
  const uint64_t newest = state_->recovery.logs.back();  // they ascend
  for (const std::shared_ptr<ColumnFamily>& family : state_->Families().families)
    ASHLAR_ASSERT(newest < family->OldestLogNumber());  // I2 of recovery.h
}

// ---- Following, and taking over.

Status LifeCycle::CheckIsSecondary() const {
  if (state_->is_secondary()) return Status::OK();
  return Status::NotSupported(
      "the database is no secondary: it was not opened by OpenAsSecondary, or is the primary now");
}

Status LifeCycle::CheckHasNoRole() const {
  if (role_thread_.load(std::memory_order_relaxed) != std::this_thread::get_id())
    return Status::OK();
  return Status::Busy(
      "this thread is catching up, promoting or closing the database; call it after the listener "
      "has returned");
}

Status LifeCycle::CheckFollows() const {
  if (closed_) return Status::ShutdownInProgress("the database is closed");
  ASHLAR_RETURN_IF_ERROR(CheckIsSecondary());
  ASHLAR_ASSERT(follower_ != nullptr);  // it is an open secondary
  return Status::OK();
}

void LifeCycle::CheckRole() const {
  if (closed_) {
    ASHLAR_ASSERT(follower_ == nullptr && state_->lock == nullptr);  // I2
    return;
  }
  ASHLAR_ASSERT((follower_ != nullptr) == state_->is_secondary());     // I3
  ASHLAR_ASSERT(state_->writes_files() == (state_->lock != nullptr));  // I2
  ASHLAR_ASSERT(follower_ == nullptr || !state_->writes_files());      // I3
}

void LifeCycle::CheckInvariants() {
  MutexLock role(role_mutex_);
  CheckRole();
  if (follower_ == nullptr) return;
  MutexLock installers(state_->manifest_mutex());
  follower_->CheckInvariants();
}

Status LifeCycle::CatchUp() {
  // Checked first, so that a primary returns NotSupported even when it is closed.
  ASHLAR_RETURN_IF_ERROR(CheckIsSecondary());
  ASHLAR_RETURN_IF_ERROR(CheckHasNoRole());
  MutexLock role(role_mutex_);
  const RoleOfThread thread(&role_thread_);
  ASHLAR_RETURN_IF_ERROR(CheckFollows());
  return follower_->CatchUp();
}

Status LifeCycle::Promote() {
  ASHLAR_RETURN_IF_ERROR(CheckIsSecondary());
  ASHLAR_RETURN_IF_ERROR(CheckHasNoRole());
  MutexLock role(role_mutex_);
  const RoleOfThread thread(&role_thread_);
  ASHLAR_RETURN_IF_ERROR(CheckFollows());
  ASHLAR_RETURN_IF_ERROR(CheckMayWrite());
  ASHLAR_RETURN_IF_ERROR(BackgroundWork::StartThreads(state_->options));
  const Status taken = CatchBadAlloc([this] {
    role_mutex_.AssertHeld();
    return TakeOver();
  });
  if (!taken.ok()) {
    StaySecondary();
    IgnoreBadAlloc(
        [&] { LogWarning(*state_, StrCat("the database stays a secondary: ", taken.ToString())); });
    return taken;
  }
  ASHLAR_ASSERT(state_->lock != nullptr);  // I2
  Status started = CatchBadAlloc([this] {
    OpenSpace();
    return Status::OK();
  });
  // I3. Writers are let in once the replayed writes are in tables, or an error is latched.
  state_->owns_files.store(true, std::memory_order_release);
  follower_.reset();
  if (started.ok()) started = CatchBadAlloc([this] { return TakeWrites({}); });
  promotion_is_unfinished_ = !started.ok();
  if (!started.ok())
    background_.LatchError(BackgroundErrorReason::kFlush, "the promotion", started);
  StartTimers();
  state_->role.store(DatabaseRole::kPrimary, std::memory_order_release);
  if constexpr (kDebugChecks) CheckRole();
  IgnoreBadAlloc([&] {
    LogInfo(*state_,
            StrCat("the database was a secondary, and is the primary now: ", started.ToString()));
  });
  return started;
}

Status LifeCycle::CheckMayWrite() const {
  std::vector<ColumnFamilyDescriptor> families;
  {
    MutexLock lock(state_->mutex());
    for (const std::shared_ptr<ColumnFamily>& family : state_->Families().families)
      families.emplace_back(family->name(), family->options());
  }
  if (state_->options.wal_filter != nullptr) {
    return Status::NotSupported(
        "DBOptions::wal_filter could take back what the secondary has shown; open the database "
        "with DB::Open");
  }
  ASHLAR_RETURN_IF_ERROR(
      CheckRateLimiter(state_->options.rate_limiter.get()).WithContext("option rate_limiter"));
  return ValidateOptions(state_->options, families, OpenFor::kWriting);
}

Status LifeCycle::TakeOver() {
  const Status locked = TakeDatabase(state_);
  if (locked.subcode() == Status::kFileLocked) return Status::Busy(locked.ToString());
  ASHLAR_RETURN_IF_ERROR(locked);
  ASHLAR_RETURN_IF_ERROR(SyncWhatWasFound(*state_, /*is_there=*/true));
  state_->memory.SetTakesWrites(true);  // the recovery replays into new memtables
  ASHLAR_RETURN_IF_ERROR(follower_->Recover());
  if (state_->CopyRecoveryReport().logs.empty())
    ASHLAR_RETURN_IF_ERROR(CheckLogsAreNotElsewhere(state_, ReadRecordedWalDir(*state_)));
  ASHLAR_RETURN_IF_ERROR(KeepFound(state_));
  LogRecovery(*state_);
  ASHLAR_RETURN_IF_ERROR(StartLog());
  ASHLAR_RETURN_IF_ERROR(EnsureIdentity(state_));
  return background_.installer().RecordOwner();
}

void LifeCycle::StaySecondary() {
  ASHLAR_ASSERT(follower_ != nullptr);  // I3: it can catch up again
  state_->logs.Forget();
  state_->memory.SetTakesWrites(false);
  {
    MutexLock installers(state_->manifest_mutex());
    state_->versions->StopWriting();
  }
  ReturnDatabase(state_);
  if constexpr (kDebugChecks) CheckRole();
}

// ---- Closing.

Status LifeCycle::CheckNothingIsHeld() {
  {
    MutexLock lock(state_->mutex());
    if (state_->snapshots.size() > 0)
      return Status::Aborted("snapshots are still held; release them before Close");
  }
  return core_->CheckNothingIsRead();
}

Status LifeCycle::Close() {
  ASHLAR_RETURN_IF_ERROR(CheckHasNoRole());
  MutexLock role(role_mutex_);
  const RoleOfThread thread(&role_thread_);
  if (closed_) return close_status_;
  // Running jobs hold tables and blocks, too.
  background_.Pause();
  const Status held = CatchBadAlloc([this] { return CheckNothingIsHeld(); });
  background_.Continue();
  ASHLAR_RETURN_IF_ERROR(held);
  return CloseFilesLocked();
}

Status LifeCycle::CloseFiles() {
  MutexLock role(role_mutex_);
  const RoleOfThread thread(&role_thread_);
  return closed_ ? close_status_ : CloseFilesLocked();
}

Status LifeCycle::CloseFilesLocked() {
  ASHLAR_ASSERT(!closed_);  // the callers checked
  Status status;
  // I1. The first error is reported.
  const auto attempt = [&status](const auto& step) {
    const Status done = CatchBadAlloc(step);
    if (status.ok()) status = done;
  };
  if (state_->writes_files()) {
    background_.Cancel();
    background_.EndQueuedJobs();
    attempt([this] { return EndWrites(); });
    background_.Stop();
    attempt([this] {
      background_.outbox().Notify();
      return Status::OK();
    });
    state_->error_handler.Set(ClosedError(), BackgroundErrorReason::kFlush);
    attempt([this] { return CloseLogs(); });
    attempt([this] { return changes_->RecordPending(); });  // the families are final from here on
    attempt([this] {
      background_.files().DeleteObsoleteFiles();
      return Status::OK();
    });
    background_.files().Stop();
    changes_->Stop();
    AssertNoJobRuns();
    MutexLock installers(state_->manifest_mutex());
    attempt([this] {
      kManifestMutex.AssertHeld();
      return state_->versions->Close();
    });
    state_->space.Close();
    state_->lock.reset();
  }
  follower_.reset();
  if (!status.ok()) {
    IgnoreBadAlloc(
        [&] { LogWarning(*state_, StrCat("an error during the close: ", status.ToString())); });
  }
  if (state_->logger != nullptr) state_->logger->Flush();
  ASHLAR_ASSERT(state_->lock == nullptr);  // I1
  closed_ = true;
  if constexpr (kDebugChecks) CheckRole();
  close_status_ = status;
  return status;
}

void LifeCycle::AssertNoJobRuns() const {
  MutexLock lock(state_->mutex());
  ASHLAR_ASSERT(background_.RunningFlushes() == 0);      // I2
  ASHLAR_ASSERT(background_.RunningCompactions() == 0);  // I2
  ASHLAR_ASSERT(!state_->RunsJobs());                    // I5 of database_state.h
}

void LifeCycle::Cancel(bool wait) {
  background_.Cancel();
  // Only with `wait`, because a listener may call Cancel without it in a job.
  if (wait) background_.EndQueuedJobs();
  const Status flushed = CatchBadAlloc([this] { return FlushUnloggedWrites(); });
  // The job that would record families later does not start any more. The LOG has an error, if any.
  static_cast<void>(CatchBadAlloc([this] { return changes_->RecordPending(); }).ok());
  background_.files().DeleteObsoleteFiles();
  background_.outbox().Notify();
  IgnoreBadAlloc([&] {
    LogInfo(*state_, StrCat("background work was canceled; the flush of writes that no log has: ",
                            flushed.ToString()));
  });
  if (wait) background_.WaitForJobs();
}

Status LifeCycle::EndWrites() {
  Status refusal;
  // Exclusive, because a write that is acknowledged after the switch below would be lost. No resume
  // allows writes again (I1 of error_handler.h).
  ASHLAR_RETURN_IF_ERROR(commit_.RunExclusive([&] {
    refusal = state_->error_handler.WriteStatus();
    state_->error_handler.Set(ClosedError(), BackgroundErrorReason::kFlush);
    return Status::OK();
  }));
  if (!MustFlushUnloggedWrites()) return Status::OK();
  ASHLAR_RETURN_IF_ERROR(refusal);
  return FlushEachFamily([this](Families families) {
    return commit_.RunExclusive(
        [&] { return commit_.LeaderSwitchMemTables(families, FlushReason::kShutDown); });
  });
}

Status LifeCycle::FlushUnloggedWrites() {
  if (!MustFlushUnloggedWrites()) return Status::OK();
  // After an error, the writes may be in no table, and only a resume would flush them.
  ASHLAR_RETURN_IF_ERROR(state_->error_handler.WriteStatus());
  return FlushEachFamily([this](Families families) {
    return commit_.SwitchMemTables(families, FlushReason::kShutDown);
  });
}

Status LifeCycle::FlushEachFamily(FunctionRef<Status(Families)> switch_memtables) {
  const BackgroundWork::JobHold hold(&background_);
  std::vector<std::shared_ptr<ColumnFamily>> families;
  {
    MutexLock lock(state_->mutex());
    ASHLAR_ASSERT(!state_->RunsJobs());  // I5
    families = state_->LiveFamilies();
  }
  ASHLAR_RETURN_IF_ERROR(switch_memtables(families));
  // One by one, because writes continue after a cancel, so the families share no point in time. The
  // failure of one family does not prevent the flush of the others.
  Status first;
  for (const std::shared_ptr<ColumnFamily>& family : families) {
    {
      MutexLock lock(state_->mutex());
      if (family->immutable().empty()) continue;
    }
    const Status flushed =
        background_.flushes().RunTogether({&family, 1}, TableFileCreationReason::kFlush);
    if (flushed.ok() || family->dropped()) continue;
    if (!IsBenign(flushed)) {
      background_.outbox().LatchJobError(BackgroundErrorReason::kFlush, "a flush", *family,
                                         flushed);
    }
    if (first.ok()) first = flushed;
  }
  return first;
}

bool LifeCycle::MustFlushUnloggedWrites() const {
  if (!state_->unlogged_writes.load(std::memory_order_relaxed)) return false;
  MutexLock lock(state_->mutex());
  if (state_->current_options.avoid_flush_during_shutdown) return false;
  for (const std::shared_ptr<ColumnFamily>& family : state_->Families().families) {
    if (!family->ActiveLocked()->IsEmpty() || !family->immutable().empty()) return true;
  }
  return false;
}

Status LifeCycle::CloseLogs() {
  std::vector<LogSet::LiveLog> logs;
  const Status closed = commit_.RunExclusive([&] {
    const Status logs_synced = state_->logs.Close();
    logs = state_->logs.LiveLogs();
    return logs_synced;
  });
  // Logs are unsynced after an error, or if the open failed before it synced those that it found.
  ASHLAR_ASSERT(state_->error_handler.IsSet());  // no log is started from here on
  std::erase_if(logs, [](const LogSet::LiveLog& log) { return !log.synced; });
  const Status recorded = background_.installer().RecordSyncedLogs(logs);
  return closed.ok() ? recorded : closed;
}

// ---- Resuming.

Status LifeCycle::Resume() {
  bool automatic = false;
  const Status resumed = Resume(&automatic);
  // The error that is latched now may be the first one that lack of space caused.
  background_.LookForSpace(resumed);
  return resumed;
}

SpaceRecovery::Outcome LifeCycle::ResumeByItself() {
  bool automatic = true;
  const Status resumed = Resume(&automatic);
  if (resumed.ok()) return SpaceRecovery::Outcome::kResumed;
  return automatic && (IsLackOfSpace(resumed) || resumed.IsBusy())
             ? SpaceRecovery::Outcome::kLacksSpace
             : SpaceRecovery::Outcome::kEnded;
}

Status LifeCycle::Resume(bool* automatic) {
  const Status begun = state_->error_handler.BeginResume();
  if (begun.IsNotFound()) return Status::OK();
  ASHLAR_RETURN_IF_ERROR(begun);
  BackgroundErrorRecoveryInfo info;
  info.old_bg_error = state_->error_handler.status();
  // FinishResume is called even if a step of the resume fails.
  const Status status = state_->error_handler.FinishResume(CatchBadAlloc([&]() -> Status {
    ASHLAR_RETURN_IF_ERROR(TryToResume(automatic));
    return promotion_is_unfinished_ ? FinishPromotion() : Status::OK();
  }));
  info.new_bg_error = status;
  IgnoreBadAlloc([&] {
    if (status.ok()) LogInfo(*state_, "resumed: the database is writable again");
    NotifyAll(state_->options.listeners, &EventListener::OnErrorRecoveryCompleted,
              info.old_bg_error);
    NotifyAll(state_->options.listeners, &EventListener::OnErrorRecoveryEnd, info);
  });
  background_.files().ReleaseLogs();
  background_.files().DeleteObsoleteFiles();
  {
    MutexLock lock(state_->mutex());
    for (const std::shared_ptr<ColumnFamily>& family : state_->Families().families)
      background_.ViewChanged(family);
  }
  background_.outbox().Notify();
  return status;
}

Status LifeCycle::FinishPromotion() {
  ASHLAR_ASSERT(state_->writes_files());  // I3: it is a primary since the new MANIFEST
  {
    const BackgroundWork::JobHold hold(&background_);
    AssertReplayedLogsAreNotNeeded();
    ASHLAR_RETURN_IF_ERROR(DropWhatWasReplayed());
  }
  ASHLAR_RETURN_IF_ERROR(changes_->WriteOptionsFile());
  promotion_is_unfinished_ = false;
  return Status::OK();
}

// The contents of the failed log are not known. A new log replaces it, and all acknowledged writes
// are flushed in one edit over all families, so that no part of the old log is ever read again. The
// set of families does not change until then, because the error is latched.
Status LifeCycle::TryToResume(bool* automatic) {
  ASHLAR_ASSERT(state_->error_handler.IsSet());  // BeginResume
  const bool was_asked = !*automatic;
  const Status error = state_->error_handler.status();
  NotifyAll(state_->options.listeners, &EventListener::OnErrorRecoveryBegin,
            state_->error_handler.reason(), error, automatic);
  if (!was_asked && !*automatic) return error;
  // The flush would exceed the limit.
  if (error.IsSpaceLimit() && state_->space.IsLimitReached()) return error;
  std::vector<std::shared_ptr<ColumnFamily>> families;
  const BackgroundWork::JobHold hold(&background_);
  ASHLAR_RETURN_IF_ERROR(commit_.RunExclusive([&]() -> Status {
    {
      MutexLock lock(state_->mutex());
      // Close also runs exclusively to close the logs. It closes a log that was created before, and
      // this check prevents that one is created afterwards.
      if (Status closing = state_->CheckNotClosing(); !closing.ok()) return closing;
      families = state_->LiveFamilies();
    }
    // A running group may have failed in the memtables, and a part of a batch must not be flushed
    // (I2 of error_handler.h). No group follows, because the error is latched.
    if (Status failed = state_->error_handler.JobStatus(); !failed.ok()) return failed;
    return commit_.LeaderSwitchMemTables(families, FlushReason::kErrorRecovery);
  }));
  return background_.flushes().RunTogether(families, TableFileCreationReason::kFlush);
}

}  // namespace ashlar
