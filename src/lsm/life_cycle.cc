#include "lsm/life_cycle.h"

#include <memory>
#include <utility>

#include "base/assert.h"
#include "base/out_of_memory.h"
#include "base/result.h"
#include "lsm/recovery.h"
#include "observe/event_line.h"
#include "observe/listeners.h"

namespace ashlar {

namespace {

bool IsRecorded(const DatabaseState& state, const std::string& family) {
  MutexLock lock(state.mutex());
  return state.versions->Published().FindFamily(Slice(family)) != nullptr;
}

}  // namespace

LifeCycle::LifeCycle(LsmCore* core, OptionChanges* changes)
    : core_(core),
      changes_(changes),
      state_(core->state.get()),
      background_(core->background),
      commit_(core->commit) {}

// ---- Opening.

Status LifeCycle::StartWriting(const std::vector<ColumnFamilyDescriptor>& families) {
  ASHLAR_ASSERT(!state_->read_only && state_->lock != nullptr);
  const bool must_flush = state_->recovery.must_flush;
  // Tables that the MANIFEST dropped while it was replayed; most went long ago. DeleteOrphans finds
  // those that are left.
  state_->obsolete_files.Take();
  // These logs stay next to the new one: a sync of the new one has to make them durable, too.
  if (!must_flush) ASHLAR_RETURN_IF_ERROR(state_->logs.SyncAdopted());
  const LogSet::NewLog log{.number = state_->versions->NewFileNumber(),
                           .next_sequence = state_->PublishedSequence() + 1,
                           .directory_handle = state_->wal_directory_handle.get()};
  ASHLAR_RETURN_IF_ERROR(commit_.RunExclusive([&] { return state_->logs.StartNewLog(log); }));
  ASHLAR_ASSERT(state_->logs.current_number() == log.number);
  std::vector<std::shared_ptr<ColumnFamily>> live;
  {
    MutexLock lock(state_->mutex());
    live = state_->LiveFamilies();
    for (const std::shared_ptr<ColumnFamily>& family : live)
      family->AdvanceEmptyMemTable(state_->logs.current_number());
  }
  ASHLAR_RETURN_IF_ERROR(EnsureIdentity(state_));
  {
    // No job of the pool takes one of the memtables before they go to tables together, and none
    // writes a table while orphans are deleted: they are the tables that no version lists.
    const BackgroundWork::JobHold hold(&background_);
    if (must_flush) {
      ASHLAR_RETURN_IF_ERROR(commit_.SwitchMemTables(live, FlushReason::kOthers));
      ASHLAR_RETURN_IF_ERROR(
          background_.flushes().RunTogether(live, TableFileCreationReason::kRecovery));
      AssertReplayedLogsAreNotNeeded();
    }
    ASHLAR_RETURN_IF_ERROR(background_.installer().RecordLogNumbers());
    ASHLAR_RETURN_IF_ERROR(background_.files().FindArchive());
    background_.files().ReleaseLogs();
    background_.files().DeleteObsoleteFiles();
    uint64_t oldest_log = 0;
    {
      MutexLock lock(state_->mutex());
      oldest_log = background_.files().OldestRecordedLog();
    }
    DeleteOrphans(state_, oldest_log);
    background_.files().DeleteObsoleteFilesIfAny();
  }
  for (const ColumnFamilyDescriptor& family : families) {
    if (IsRecorded(*state_, family.name)) continue;
    ASHLAR_RETURN_IF_ERROR(changes_->CreateFamily(family.options, family.name));
  }
  ASHLAR_RETURN_IF_ERROR(changes_->WriteOptionsFile());
  EventLine(state_->logger.get(), state_->clock->NowUnixMicros(), 0, "recovery_finished")
      .Add("bytes_not_replayed", state_->recovery.BytesNotReplayed())
      .Add("damaged_wal_files", state_->recovery.DamagedLogs())
      .Add("status", "OK");
  background_.StartAgeTimer();
  MutexLock lock(state_->mutex());
  if constexpr (kDebugChecks) state_->CheckInvariants();
  for (const std::shared_ptr<ColumnFamily>& family : state_->Families().families)
    background_.ViewChanged(family);
  return Status::OK();
}

void LifeCycle::AssertReplayedLogsAreNotNeeded() const {
  MutexLock lock(state_->mutex());
  for (const std::shared_ptr<ColumnFamily>& family : state_->Families().families) {
    for (const uint64_t log : state_->recovery.logs)
      ASHLAR_ASSERT(log < family->OldestLogNumber());  // I2 of recovery.h
  }
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
  {
    MutexLock lock(state_->mutex());
    if (closed_) return close_status_;
  }
  // Jobs hold tables and blocks, too.
  background_.Pause();
  const Status held = CatchBadAlloc([this] { return CheckNothingIsHeld(); });
  background_.Continue();
  ASHLAR_RETURN_IF_ERROR(held);
  return CloseFiles();
}

Status LifeCycle::CloseFiles() {
  {
    MutexLock lock(state_->mutex());
    if (closed_) return close_status_;
  }
  Status status;
  // I1. The first error is reported.
  const auto attempt = [&status](const auto& step) {
    const Status done = CatchBadAlloc(step);
    if (status.ok()) status = done;
  };
  if (!state_->read_only) {
    attempt([this] { return FlushUnloggedWrites(); });
    background_.Stop();
    attempt([this] {
      background_.outbox().Notify();
      return Status::OK();
    });
    state_->error_handler.Set(Status::ShutdownInProgress("the database is closed"),
                              BackgroundErrorReason::kFlush);
    attempt([this] { return CloseLogs(); });
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
    state_->lock.reset();
  }
  if (state_->is_secondary) {
    // No catch-up is under way, and none begins.
    MutexLock installers(state_->manifest_mutex());
    MutexLock lock(state_->mutex());
    state_->closing.store(true, std::memory_order_relaxed);
  }
  if (state_->logger != nullptr) state_->logger->Flush();
  MutexLock lock(state_->mutex());
  closed_ = true;
  close_status_ = status;
  return status;
}

void LifeCycle::AssertNoJobRuns() const {
  MutexLock lock(state_->mutex());
  ASHLAR_ASSERT(background_.RunningFlushes() == 0);      // I2
  ASHLAR_ASSERT(background_.RunningCompactions() == 0);  // I2
}

Status LifeCycle::FlushUnloggedWrites() {
  if (!MustFlushUnloggedWrites() || state_->error_handler.IsSet()) return Status::OK();
  // A flush that the program paused would be waited for forever: no call can continue it once the
  // database is closed.
  while (background_.Continue()) {
  }
  return core_->FlushAll(FlushOptions(), FlushReason::kShutDown);
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
  // Also after an open that failed before it synced the logs that it found.
  ASHLAR_ASSERT(state_->error_handler.IsSet());  // no log is started from here on
  std::erase_if(logs, [](const LogSet::LiveLog& log) { return !log.synced; });
  const Status recorded = background_.installer().RecordSyncedLogs(logs);
  return closed.ok() ? recorded : closed;
}

// ---- Resuming.

Status LifeCycle::Resume() {
  const Status begun = state_->error_handler.BeginResume();
  if (begun.IsNotFound()) return Status::OK();
  ASHLAR_RETURN_IF_ERROR(begun);
  BackgroundErrorRecoveryInfo info;
  info.old_bg_error = state_->error_handler.status();
  // The resume ends, also when a step of it fails.
  const Status status =
      state_->error_handler.FinishResume(CatchBadAlloc([this] { return TryToResume(); }));
  info.new_bg_error = status;
  IgnoreBadAlloc([&] {
    if (status.ok()) LogInfo(*state_, "resumed: the database is writable again");
    NotifyAll(state_->options.listeners, &EventListener::OnErrorRecoveryEnd, info);
  });
  background_.files().ReleaseLogs();
  background_.files().DeleteObsoleteFiles();
  MutexLock lock(state_->mutex());
  for (const std::shared_ptr<ColumnFamily>& family : state_->Families().families)
    background_.ViewChanged(family);
  return status;
}

// The contents of the failed log are not known. A new log replaces it, and all acknowledged writes
// are flushed in one edit over all families, so that no part of the old log is ever read again. The
// set of families does not change meanwhile, because the error is latched.
Status LifeCycle::TryToResume() {
  ASHLAR_ASSERT(state_->error_handler.IsSet());  // BeginResume
  bool automatic = false;
  NotifyAll(state_->options.listeners, &EventListener::OnErrorRecoveryBegin,
            state_->error_handler.reason(), state_->error_handler.status(), &automatic);
  std::vector<std::shared_ptr<ColumnFamily>> families;
  const BackgroundWork::JobHold hold(&background_);
  ASHLAR_RETURN_IF_ERROR(commit_.RunExclusive([&]() -> Status {
    {
      MutexLock lock(state_->mutex());
      // Close takes the lead to close the logs: a log that is created before is closed with them,
      // and none is created afterwards.
      if (state_->closing.load(std::memory_order_relaxed))
        return Status::ShutdownInProgress("the database is being closed");
      families = state_->LiveFamilies();
    }
    return commit_.LeaderSwitchMemTables(families, FlushReason::kErrorRecovery);
  }));
  return background_.flushes().RunTogether(families, TableFileCreationReason::kFlush);
}

}  // namespace ashlar
