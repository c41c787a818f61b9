#include "lsm/background_work.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/assert.h"
#include "base/out_of_memory.h"
#include "base/result.h"
#include "lsm/resolve_options.h"
#include "lsm/tree_inputs.h"

namespace ashlar {

namespace {

WriteController::State ToControllerState(StallState state) {
  switch (state) {
    case StallState::kNone: return WriteController::State::kOpen;
    case StallState::kDelayed: return WriteController::State::kDelayed;
    case StallState::kStopped: return WriteController::State::kStopped;
  }
  return WriteController::State::kOpen;
}

}  // namespace

BackgroundWork::BackgroundWork(DatabaseState* state, StatsDumper::StatsText stats_text)
    : state_(state),
      space_recovery_(state),
      outbox_(state, &space_recovery_),
      files_(state),
      stats_(state, std::move(stats_text)),
      installer_(state, &files_, this),
      flushes_({.state = state,
                .outbox = &outbox_,
                .files = &files_,
                .installer = &installer_,
                .interrupt = &interrupt_}),
      compactions_(state, &installer_, &interrupt_),
      backoff_(state, &outbox_, this),
      coverage_(state, this),
      manual_({.state = state,
               .runner = &compactions_,
               .backoff = &backoff_,
               .coverage_scan = &coverage_,
               .outbox = &outbox_,
               .files = &files_,
               .stats = &stats_,
               .observer = this}),
      age_timer_(state, this) {
  MutexLock lock(state_->mutex());
  SetOptions(state_->options);
}

void BackgroundWork::SetOptions(const DBOptions& options) {
  flush_jobs_max_ = ResolveFlushJobs(options);
  compaction_jobs_max_ = ResolveCompactionJobs(options);
  stats_.SetPeriod(options.stats_dump_period_sec);
  files_.SetRetryPeriod(options.delete_obsolete_files_period_micros);
  state_->space.SetRetryPeriod(options.delete_obsolete_files_period_micros);
}

Status BackgroundWork::StartThreads(const DBOptions& options) {
  // Start one thread per priority first, so that neither priority takes all that the system allows.
  for (const auto priority : {Executor::Priority::kHigh, Executor::Priority::kLow}) {
    const Status raised = options.env->executor()->RaiseBackgroundThreads(1, priority);
    if (raised.IsTryAgain()) {
      return Status::TryAgain(raised.ToString(),
                              "background work needs a thread for flushes and one for compactions: "
                              "raise the limit of threads, or lower max_background_jobs");
    }
    ASHLAR_RETURN_IF_ERROR(raised);
  }
  options.env->IncBackgroundThreadsIfNeeded(ResolveFlushJobs(options), Env::HIGH);
  options.env->IncBackgroundThreadsIfNeeded(ResolveCompactionJobs(options), Env::LOW);
  return Status::OK();
}

void BackgroundWork::StartSpaceRecovery(std::function<SpaceRecovery::Outcome()> resume) {
  space_recovery_.Start({.resume = std::move(resume), .run_job = [this](std::function<void()> job) {
                           kDatabaseMutex.AssertHeld();
                           return RunSoon(Executor::Priority::kLow, std::move(job));
                         }});
  // An error that was latched before this call has not triggered a look for space yet.
  IgnoreBadAlloc([this] { LookForSpace(state_->error_handler.status()); });
}

// ---- Deciding.

bool BackgroundWork::MayStartJobs() const {
  return state_->RunsJobs() && state_->writes_files() && !state_->HoldsJobsBack() &&
         !state_->error_handler.BlocksJobs();
}

void BackgroundWork::UpdateWriteController() {
  WriteStall worst;
  bool behind = false;
  for (const std::shared_ptr<ColumnFamily>& family : state_->Families().families) {
    behind |= family->compaction_behind;
    if (family->stall.state < worst.state) continue;
    const bool slower = family->stall.state > worst.state ||
                        family->stall.bytes_per_second < worst.bytes_per_second;
    if (slower) worst = family->stall;
  }
  state_->write_controller.Set(ToControllerState(worst.state), worst.bytes_per_second);
  state_->write_controller.SetCompactionBehind(behind);
}

void BackgroundWork::ViewChanged(const std::shared_ptr<ColumnFamily>& family) noexcept {
  if (!state_->writes_files()) return;
  const Status decided = CatchBadAlloc([&] {
    kDatabaseMutex.AssertHeld();
    Decide(family);
    return Status::OK();
  });
  if (!decided.ok()) FailDecision(decided);
  if constexpr (kDebugChecks) CheckInvariants();
  state_->NotifyChange();
}

void BackgroundWork::CheckInvariants() const {
  size_t flushes = 0;
  size_t plans = 0;
  const std::vector<std::shared_ptr<ColumnFamily>>& families = state_->Families().families;
  for (const std::shared_ptr<ColumnFamily>& family : families) {
    flushes += static_cast<size_t>(family->running_flushes);
    plans += family->running_plans.size();
    ASHLAR_ASSERT(awaited_snapshot_ <= family->awaited_snapshot);  // SnapshotReleased misses none
    CompactionBackoff::CheckInvariants(*family);
    for (const CompactionPlan* const plan : family->running_plans)
      CompactionRunner::CheckMarks(*plan);
  }
  // The sums exclude dropped families, and a flush of several families is one job.
  ASHLAR_ASSERT(flush_jobs_ >= 0 && compaction_jobs_ >= 0 && soon_jobs_ >= 0);  // I1
  ASHLAR_ASSERT(flushes <= static_cast<size_t>(flush_jobs_) ||
                flushes_.running_together() > 0);                     // I1
  ASHLAR_ASSERT(plans <= static_cast<size_t>(RunningCompactions()));  // I1
  ASHLAR_ASSERT(!interrupt_.load(std::memory_order_relaxed) || state_->background_paused > 0 ||
                !state_->RunsJobs());  // a pause, or for good
  flush_candidates_.CheckInvariants();
  compaction_candidates_.CheckInvariants();
  manual_.CheckInvariants();
}

void BackgroundWork::FailDecision(const Status& error) noexcept {
  if (state_->error_handler.Set(error, BackgroundErrorReason::kFlush)) outbox_.AddFailedDecision();
  state_->NotifyChange();
}

void BackgroundWork::Decide(const std::shared_ptr<ColumnFamily>& family) {
  const StallState state_before = family->stall.state;
  const uint64_t rate_before = family->stall.bytes_per_second;
  const bool behind_before = family->compaction_behind;
  const StallInputs inputs = MakeStallInputs(*family);
  family->stall = family->policy().Stall(inputs, family->stall);
  family->compaction_behind = !family->dropped() && family->policy().WantsMoreCompactions(inputs);
  if (family->dropped()) family->stall.state = StallState::kNone;
  // Must precede the steps below, which may fail for lack of memory. Otherwise the next decision
  // would find the stall unchanged and would not let the writers continue.
  const bool quiet = state_before == StallState::kNone && family->stall.state == StallState::kNone;
  const bool same_stall = family->stall.state == state_before &&
                          (quiet || family->stall.bytes_per_second == rate_before);
  // Only after a change, because it iterates over all families, and all may decide at once.
  if (!same_stall || behind_before != family->compaction_behind) UpdateWriteController();
  if (family->stall.state != state_before) {
    if (family->stall.state == StallState::kDelayed) ++family->totals.delays;
    if (family->stall.state == StallState::kStopped) ++family->totals.stops;
    IgnoreBadAlloc([&] {
      kDatabaseMutex.AssertHeld();
      outbox_.AddStall(*family, state_before);
    });  // I4
  }
  if (family->dropped()) {
    flush_candidates_.Erase(family);
    compaction_candidates_.Erase(family);
  } else {
    flush_candidates_.Push(family);
    compaction_candidates_.Push(family);
  }
  Schedule();
}

void BackgroundWork::Schedule() {
  ScheduleFlushes();
  ScheduleCompactions();
}

// ---- Queueing.

bool BackgroundWork::RunSoon(Executor::Priority priority, std::function<void()> job) {
  if (!state_->RunsJobs()) return false;
  const bool taken = state_->executor->ScheduleOf(this, priority, [this, job = std::move(job)] {
    IgnoreBadAlloc(job);
    MutexLock lock(state_->mutex());
    ASHLAR_ASSERT(soon_jobs_ > 0);  // RunSoon counted it
    --soon_jobs_;
    state_->NotifyChange();
  });
  soon_jobs_ += taken ? 1 : 0;
  return taken;
}

void BackgroundWork::ScheduleFlushes() {
  while (MayStartJobs() && flush_jobs_ < flush_jobs_max_ && !flush_candidates_.empty()) {
    const std::shared_ptr<ColumnFamily> family = flush_candidates_.Pop();
    if (family->dropped() || !family->WantsFlush()) continue;
    bool taken = false;
    const Status queued = CatchBadAlloc([&] {
      kDatabaseMutex.AssertHeld();
      taken = ScheduleFlush(family);
      return Status::OK();
    });
    if (!queued.ok()) FailDecision(queued);
    if (!taken) return;
  }
}

bool BackgroundWork::ScheduleFlush(const std::shared_ptr<ColumnFamily>& family) {
  std::unique_ptr<FlushRunner::Flush> flush = flushes_.Start(family);
  bool taken = false;
  const Status queued = CatchBadAlloc([&] {
    taken = state_->executor->ScheduleOf(this, Executor::Priority::kHigh,
                                         [this, job = flush.get()] { FlushJob(job); });
    return Status::OK();
  });
  if (!taken) {
    FlushRunner::Cancel(*flush);
    if (!queued.ok()) FailDecision(queued);
    return false;
  }
  // The job cannot end before this, because it needs the mutex to install or to give up.
  ++flush_jobs_;
  [[maybe_unused]] FlushRunner::Flush* const owned_by_job = flush.release();
  return true;
}

void BackgroundWork::ScheduleCompactions() {
  while (MayStartJobs() && compactions_.aborts() == 0 && compaction_jobs_ < compaction_jobs_max_ &&
         !compaction_candidates_.empty()) {
    const std::shared_ptr<ColumnFamily> family = compaction_candidates_.Pop();
    const Status picked = CatchBadAlloc([&] {
      kDatabaseMutex.AssertHeld();
      if (ScheduleCompaction(family)) compaction_candidates_.Push(family);
      return Status::OK();
    });
    if (!picked.ok()) backoff_.Pause(family, picked);
  }
}

bool BackgroundWork::ScheduleCompaction(const std::shared_ptr<ColumnFamily>& family) {
  if (family->dropped() || family->exclusive_compaction || family->ingesting ||
      family->waiting_steps > 0 || family->compaction_paused || !family->CompactsAutomatically())
    return false;
  const TreeView view = MakeTreeView(*state_, *family);
  std::optional<CompactionPlan> plan = family->policy().Pick(view);
  if (!plan.has_value()) {
    AwaitSnapshot(family.get(), view);
    return false;
  }
  family->policy().Accept(*plan);
  std::unique_ptr<Compaction> compaction = compactions_.Start(family, std::move(*plan));
  bool taken = false;
  const Status queued = CatchBadAlloc([&] {
    taken = state_->executor->ScheduleOf(this, Executor::Priority::kLow,
                                         [this, job = compaction.get()] { CompactionJob(job); });
    return Status::OK();
  });
  if (!taken) {
    compactions_.Cancel(compaction.get());
    if (!queued.ok()) backoff_.Pause(family, queued);
    return false;
  }
  // The job cannot end before this, because it needs the mutex to install or to give up.
  ++compaction_jobs_;
  [[maybe_unused]] Compaction* const owned_by_job = compaction.release();
  return true;
}

void BackgroundWork::AwaitSnapshot(ColumnFamily* family, const TreeView& view) {
  family->awaited_snapshot = view.AwaitedSnapshot();
  awaited_snapshot_ = std::min(awaited_snapshot_, family->awaited_snapshot);
}

void BackgroundWork::SnapshotReleased() noexcept {
  const SequenceNumber oldest = state_->snapshots.oldest_sequence();
  if (oldest < awaited_snapshot_) return;
  // ViewChanged does not replace the family table, so this reference stays valid.
  const std::vector<std::shared_ptr<ColumnFamily>>& families = state_->Families().families;
  for (const std::shared_ptr<ColumnFamily>& family : families) {
    if (family->awaited_snapshot > oldest) continue;
    family->awaited_snapshot = kNoSnapshotAwaited;
    ViewChanged(family);
  }
  awaited_snapshot_ = kNoSnapshotAwaited;
  for (const std::shared_ptr<ColumnFamily>& family : families)
    awaited_snapshot_ = std::min(awaited_snapshot_, family->awaited_snapshot);
}

// ---- Jobs.

void BackgroundWork::FlushJob(FlushRunner::Flush* flush) {
  outbox_.Notify();
  std::shared_ptr<ColumnFamily> family = flush->family;
  const Status status = flushes_.Run(flush);
  if (!IsBenign(status))
    outbox_.LatchJobError(BackgroundErrorReason::kFlush, "a flush", *family, status);  // I2
  delete flush;  // after the latch: writers that wait for this flush find its error
  if (status.ok()) {
    CheckSpaceLimit(*family);
    coverage_.Run(family);
  }
  EndJob(std::move(family), status, &BackgroundWork::flush_jobs_);
}

void BackgroundWork::CheckSpaceLimit(const ColumnFamily& family) {
  if (!state_->space.IsLimitReached()) return;
  outbox_.LatchJobError(
      BackgroundErrorReason::kFlush, "a flush", family,
      Status::SpaceLimit(
          state_->directory,
          "the limit of SstFileManager::SetMaxAllowedSpaceUsage is reached; raise it, or "
          "free space, and the database resumes by itself"));
}

void BackgroundWork::CompactionJob(Compaction* compaction) {
  outbox_.Notify();
  std::shared_ptr<ColumnFamily> family = compaction->family;
  const Status status = compactions_.Run(compaction);
  // A failed drop of hidden files has forgotten that they are hidden, so they are scanned again.
  const bool scans = status.ok() || compaction->plan.reason == PlanReason::kHiddenFiles;
  if (!IsBenign(status)) backoff_.HandleFailure(family, status, compaction->may_be_recorded);  // I2
  delete compaction;
  if (scans) coverage_.Run(family);
  EndJob(std::move(family), status, &BackgroundWork::compaction_jobs_);
}

void BackgroundWork::EndJob(std::shared_ptr<ColumnFamily> family, const Status& status,
                            int BackgroundWork::* jobs) {
  stats_.DumpIfDue();
  if (!status.ok()) {
    // After a success the install has called ViewChanged already.
    MutexLock lock(state_->mutex());
    ViewChanged(family);
  }
  // Destroys a family that was dropped and released meanwhile, so that its files can be deleted.
  family.reset();
  state_->epochs.Reclaim();
  files_.DeleteOrLeaveObsoleteFiles();
  outbox_.Notify();
  MutexLock lock(state_->mutex());
  ASHLAR_ASSERT(this->*jobs > 0);  // I1
  --(this->*jobs);
  const Status scheduled = CatchBadAlloc([this] {
    kDatabaseMutex.AssertHeld();
    Schedule();
    return Status::OK();
  });
  if (!scheduled.ok()) FailDecision(scheduled);
  state_->NotifyChange();  // I3
}

// ---- Waiting, pausing, stopping.

Status BackgroundWork::WaitForFlush(std::span<const std::shared_ptr<ColumnFamily>> families,
                                    FlushWait wait) {
  return WaitForFlush(families, wait, [this] { return state_->error_handler.JobStatus(); });
}

Status BackgroundWork::LeaderWaitForFlush(std::span<const std::shared_ptr<ColumnFamily>> families) {
  return WaitForFlush(families, FlushWait::kTables, [this]() -> Status {
    kDatabaseMutex.AssertHeld();
    ASHLAR_RETURN_IF_ERROR(state_->error_handler.WriteStatus());
    return state_->background_paused > 0 ? Status::Busy("background work is paused") : Status::OK();
  });
}

Status BackgroundWork::WaitForFlush(std::span<const std::shared_ptr<ColumnFamily>> families,
                                    FlushWait wait, FunctionRef<Status()> refusal) {
  MutexLock lock(state_->mutex());
  std::vector<uint64_t> active_ids;
  for (const std::shared_ptr<ColumnFamily>& family : families) {
    active_ids.push_back(family->ActiveLocked()->id());
    family->flush_wanted = !family->immutable().empty();
    if (!family->dropped()) flush_candidates_.Push(family);
  }
  ScheduleFlushes();
  for (size_t i = 0; i < families.size(); ++i) {
    const ColumnFamily& family = *families[i];
    while (!family.dropped() && !family.immutable().empty() &&
           family.immutable().front().table->id() < active_ids[i]) {
      ASHLAR_RETURN_IF_ERROR(refusal());
      ASHLAR_RETURN_IF_ERROR(state_->CheckRunsJobs());
      state_->WaitForChange();
    }
  }
  if (wait == FlushWait::kTables) return Status::OK();
  for (size_t i = 0; i < families.size(); ++i) {
    while (!families[i]->dropped() && families[i]->ReportsFlushBefore(active_ids[i]))
      state_->WaitForChange();
  }
  return Status::OK();
}

Status BackgroundWork::WaitForChange(DeadlineNanos deadline) {
  if (!deadline.has_value()) {
    state_->WaitForChange();
    return Status::OK();
  }
  constexpr uint64_t kNanosPerMicro = 1000;
  const uint64_t now = state_->clock->NowNanos();
  if (now >= *deadline) return Status::TimedOut("background work is not finished");
  const uint64_t left_us = (*deadline - now - 1) / kNanosPerMicro + 1;
  state_->clock->WaitForMicros(state_->changed, state_->mutex(), left_us);
  return Status::OK();
}

Status BackgroundWork::WaitUntilSwitchIsFree(
    std::span<const std::shared_ptr<ColumnFamily>> families, DeadlineNanos deadline) {
  MutexLock lock(state_->mutex());
  for (const std::shared_ptr<ColumnFamily>& family : families) {
    const auto would_stop = [&]() ASHLAR_REQUIRES(kDatabaseMutex) {
      StallInputs inputs = MakeStallInputs(*family);
      ++inputs.immutable_memtables;
      ++inputs.level0_files;
      return !family->dropped() &&
             family->policy().Stall(inputs, family->stall).state == StallState::kStopped;
    };
    while (would_stop()) {
      ASHLAR_RETURN_IF_ERROR(state_->error_handler.WriteStatus());
      ASHLAR_RETURN_IF_ERROR(state_->CheckRunsJobs());
      // Nothing would change without running jobs.
      if (flush_jobs_ + RunningCompactions() == 0) return Status::OK();
      ASHLAR_RETURN_IF_ERROR(WaitForChange(deadline));
    }
  }
  return Status::OK();
}

Status BackgroundWork::WaitForIdle(bool abort_on_pause, DeadlineNanos deadline) {
  MutexLock lock(state_->mutex());
  for (;;) {
    ASHLAR_RETURN_IF_ERROR(state_->CheckRunsJobs());
    const bool is_paused = state_->HoldsJobsBack();
    const bool holds_compactions = is_paused || compactions_.aborts() > 0;
    bool wanted = flush_jobs_ + RunningCompactions() > 0;
    bool held_back = is_paused;
    // Running jobs cause thousands of changes, each perhaps with as many families to check.
    const std::vector<std::shared_ptr<ColumnFamily>>& families = state_->Families().families;
    const bool asks_families = !wanted || (abort_on_pause && holds_compactions && !is_paused);
    for (size_t i = 0; i < families.size() && asks_families; ++i) {
      const std::shared_ptr<ColumnFamily>& family = families[i];
      // If none of these holds, a compaction that may run is a job already.
      const bool waits_for_call =
          family->exclusive_compaction || family->ingesting || family->waiting_steps > 0;
      const bool is_pending = (holds_compactions || waits_for_call) && !family->compaction_paused &&
                              CompactionPending(*state_, *family);
      wanted |= family->WantsFlush() || is_pending;
      held_back |= holds_compactions && is_pending;
    }
    for (size_t i = 0; i < families.size() && !wanted; ++i) {
      if (families[i]->compaction_paused) return families[i]->compaction_failure;
    }
    if (!wanted) return Status::OK();
    ASHLAR_RETURN_IF_ERROR(state_->error_handler.WriteStatus());
    if (held_back && abort_on_pause) return Status::Aborted("background work is paused");
    ASHLAR_RETURN_IF_ERROR(WaitForChange(deadline));
  }
}

void BackgroundWork::HoldJobs() {
  MutexLock lock(state_->mutex());
  while (state_->jobs_held) state_->WaitForChange();
  state_->jobs_held = true;
  while (flush_jobs_ > 0) state_->WaitForChange();
}

void BackgroundWork::ReleaseJobs() {
  MutexLock lock(state_->mutex());
  ASHLAR_ASSERT(state_->jobs_held);  // HoldJobs
  state_->jobs_held = false;
  state_->NotifyChange();
}

void BackgroundWork::Pause() {
  {
    MutexLock lock(state_->mutex());
    ++state_->background_paused;
    interrupt_.store(true, std::memory_order_relaxed);
  }
  EndQueuedJobs();
  WaitForJobs();
}

bool BackgroundWork::Continue() {
  MutexLock lock(state_->mutex());
  if (state_->background_paused == 0) return false;
  if (--state_->background_paused > 0) return true;
  interrupt_.store(!state_->RunsJobs(), std::memory_order_relaxed);
  for (const std::shared_ptr<ColumnFamily>& family : state_->Families().families)
    ViewChanged(family);
  return true;
}

void BackgroundWork::AbortCompactions() {
  MutexLock lock(state_->mutex());
  compactions_.Abort();
  state_->NotifyChange();
  while (compaction_jobs_ + manual_.calls() > 0) state_->WaitForChange();
}

void BackgroundWork::ResumeCompactions() {
  MutexLock lock(state_->mutex());
  if (!compactions_.Allow()) return;
  for (const std::shared_ptr<ColumnFamily>& family : state_->Families().families)
    ViewChanged(family);
}

void BackgroundWork::Cancel() {
  MutexLock lock(state_->mutex());
  state_->jobs_canceled = true;
  interrupt_.store(true, std::memory_order_relaxed);
  state_->NotifyChange();
}

void BackgroundWork::EndQueuedJobs() { state_->executor->RunQueuedJobs(this); }

void BackgroundWork::WaitForJobs() {
  MutexLock lock(state_->mutex());
  while (AnyJob()) state_->WaitForChange();
}

Status BackgroundWork::BeginFileCall() {
  MutexLock lock(state_->mutex());
  ASHLAR_RETURN_IF_ERROR(state_->CheckNotClosing());
  ++file_calls_;
  return Status::OK();
}

void BackgroundWork::EndFileCall() {
  MutexLock lock(state_->mutex());
  ASHLAR_ASSERT(file_calls_ > 0);  // BeginFileCall
  --file_calls_;
  state_->NotifyChange();
}

void BackgroundWork::Stop() {
  backoff_.Stop();
  age_timer_.Stop();
  space_recovery_.Stop();
  MutexLock lock(state_->mutex());
  state_->closing.store(true, std::memory_order_relaxed);
  interrupt_.store(true, std::memory_order_relaxed);
  state_->NotifyChange();
  while (AnyUse()) state_->WaitForChange();
  if constexpr (kDebugChecks) CheckInvariants();
  flush_candidates_.Clear();
  compaction_candidates_.Clear();
}

}  // namespace ashlar
