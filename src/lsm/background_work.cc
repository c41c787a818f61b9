#include "lsm/background_work.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "base/out_of_memory.h"
#include "base/result.h"
#include "filesystem/filename.h"
#include "lsm/resolve_options.h"
#include "memtable/memtable_cursor.h"

namespace ashlar {

namespace {

WriteController::State ToGateState(StallState state) {
  switch (state) {
    case StallState::kNone: return WriteController::State::kOpen;
    case StallState::kDelayed: return WriteController::State::kDelayed;
    case StallState::kStopped: return WriteController::State::kStopped;
  }
  return WriteController::State::kOpen;
}

// Doublings of the pause after a compaction that failed for lack of space or descriptors: 1 s at
// first, 32 s at most.
constexpr uint32_t kCompactionPauseDoublings = 5;

// The job did not fail: it was told to stop, or there is nobody left to do it for.
bool IsBenign(const Status& status) {
  return status.ok() || status.IsShutdownInProgress() || status.IsColumnFamilyDropped() ||
         (status.IsIncomplete() && status.subcode() == Status::kManualCompactionPaused);
}

}  // namespace

BackgroundWork::BackgroundWork(DatabaseState* state, StatsText stats_text)
    : state_(state),
      outbox_(state),
      files_(state),
      stats_text_(std::move(stats_text)),
      stats_dumped_nanos_(state->clock->NowNanos()) {
  StartThreads(state_->options);
  MutexLock lock(state_->mutex());
  SetOptions(state_->options);
}

void BackgroundWork::SetOptions(const DBOptions& options) {
  flush_jobs_max_ = ResolveFlushJobs(options);
  compaction_jobs_max_ = ResolveCompactionJobs(options);
}

void BackgroundWork::StartThreads(const DBOptions& options) {
  if (state_->read_only) return;
  state_->env->IncBackgroundThreadsIfNeeded(ResolveFlushJobs(options), Env::HIGH);
  state_->env->IncBackgroundThreadsIfNeeded(ResolveCompactionJobs(options), Env::LOW);
}

bool BackgroundWork::RunSoon(std::function<void()> job) {
  if (state_->closing.load(std::memory_order_relaxed)) return false;
  const bool taken =
      state_->executor->Schedule(Executor::Priority::kHigh, [this, job = std::move(job)] {
        IgnoreBadAlloc(job);
        MutexLock lock(state_->mutex());
        --soon_jobs_;
        state_->NotifyChange();
      });
  soon_jobs_ += taken ? 1 : 0;
  return taken;
}

// ---- Deciding.

bool BackgroundWork::MayStartJobs() const {
  return !state_->closing.load(std::memory_order_relaxed) && !state_->read_only &&
         state_->background_paused == 0 && !state_->latch.BlocksJobs();
}

TreeView BackgroundWork::MakeTreeView(const ColumnFamily& family, Version* version) const {
  TreeView view{.comparator = family.comparator(),
                .levels = {},
                .running = family.running_plans,
                .now_unix_seconds = state_->clock->NowUnixMicros() / 1000000,
                .oldest_snapshot = state_->snapshots.oldest() != nullptr
                                       ? state_->snapshots.oldest()->GetSequenceNumber()
                                       : kSequenceNumberMax};
  for (Level level = 0; level < version->levels(); ++level)
    view.levels.push_back(version->files(level));
  return view;
}

bool BackgroundWork::CompactionPending(const ColumnFamily& family) const {
  return !family.leveled().disable_auto_compactions &&
         NeedsCompaction(View(family), family.leveled());
}

StallInputs BackgroundWork::MakeStallInputs(const ColumnFamily& family) const {
  const Version& version = *family.version();
  std::vector<uint64_t> level_bytes;
  for (Level level = 0; level < version.levels(); ++level)
    level_bytes.push_back(version.LevelBytes(level));
  const LevelTargets targets = ComputeLevelTargets(level_bytes, family.leveled());
  return StallInputs{.immutable_memtables = static_cast<int>(family.immutable().size()),
                     .level0_files = static_cast<int>(version.NumFiles(0)),
                     .pending_bytes = EstimatePendingBytes(level_bytes, version.NumFiles(0),
                                                           family.leveled(), targets)};
}

void BackgroundWork::UpdateGate() {
  WriteStall worst;
  bool behind = false;
  for (const std::shared_ptr<ColumnFamily>& family : state_->Families().families) {
    behind |= family->compaction_behind;
    if (family->stall.state < worst.state) continue;
    const bool slower = family->stall.state > worst.state ||
                        family->stall.bytes_per_second < worst.bytes_per_second;
    if (slower) worst = family->stall;
  }
  state_->gate.Set(ToGateState(worst.state), worst.bytes_per_second);
  state_->gate.SetCompactionBehind(behind);
}

void BackgroundWork::ViewChanged(const std::shared_ptr<ColumnFamily>& family) noexcept {
  if (state_->read_only) return;
  const Status decided = CatchBadAlloc([&] {
    kDatabaseMutex.AssertHeld();
    Decide(family);
    return Status::OK();
  });
  if (!decided.ok()) FailDecision(decided);
  state_->NotifyChange();
}

void BackgroundWork::FailDecision(const Status& error) noexcept {
  if (state_->latch.Set(error, BackgroundErrorReason::kFlush)) outbox_.AddFailedDecision();
  state_->NotifyChange();
}

void BackgroundWork::Decide(const std::shared_ptr<ColumnFamily>& family) {
  const StallState state_before = family->stall.state;
  const bool behind_before = family->compaction_behind;
  const StallInputs inputs = MakeStallInputs(*family);
  family->stall = ComputeStall(inputs, family->leveled(), family->stall);
  family->compaction_behind = !family->dropped() && WantsMoreCompactions(inputs, family->leveled());
  if (family->dropped()) family->stall.state = StallState::kNone;
  if (family->stall.state != state_before) {
    if (family->stall.state == StallState::kDelayed) ++family->totals.delays;
    if (family->stall.state == StallState::kStopped) ++family->totals.stops;
    outbox_.AddStall(*family, state_before);
  }
  const bool quiet = state_before == StallState::kNone && family->stall.state == StallState::kNone;
  if (!quiet || behind_before != family->compaction_behind) UpdateGate();
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

void BackgroundWork::LatchError(BackgroundErrorReason reason, std::string_view during,
                                const Status& error) noexcept {
  const bool latched = state_->latch.Set(error, reason);
  outbox_.NotifyError(reason, during, error, latched);
  MutexLock lock(state_->mutex());
  state_->NotifyChange();
}

// ---- Installing.

Status BackgroundWork::Install(std::vector<VersionEdit> edits,
                               const std::function<void()>& when_published) {
  MutexLock installers(state_->manifest_mutex());
  return InstallLocked(std::move(edits), when_published);
}

Status BackgroundWork::InstallLocked(std::vector<VersionEdit> edits,
                                     const std::function<void()>& when_published) {
  for (VersionEdit& edit : edits) edit.last_sequence = state_->PublishedSequence();
  if (std::any_of(edits.begin(), edits.end(),
                  [](const VersionEdit& edit) { return edit.log_number.has_value(); })) {
    MutexLock lock(state_->mutex());
    // Families without data do not record that they need no old log; this says it for all. So a log
    // that is missing is a log that is lost.
    edits.back().min_log_number_to_keep = files_.OldestNeededLog(edits);
  }
  ASHLAR_ASSIGN_OR_RETURN(const std::unique_ptr<PendingInstall> install,
                          state_->versions->Prepare(std::move(edits)));
  return InstallPrepared(install.get(), when_published);
}

Status BackgroundWork::InstallPrepared(PendingInstall* install,
                                       const std::function<void()>& when_published) {
  const FileNumber manifest_before = state_->versions->manifest_number();
  std::vector<std::shared_ptr<ColumnFamily>> changed;
  changed.reserve(install->changes().size());
  {
    MutexLock lock(state_->mutex());
    for (const PendingInstall::Change& change : install->changes()) {
      const std::shared_ptr<ColumnFamily>& family = state_->Families().Shared(change.family->id);
      if (change.version == nullptr || family == nullptr) continue;
      family->PrepareView();
      changed.push_back(family);
    }
  }
  ASHLAR_RETURN_IF_ERROR(state_->versions->Write(install));
  PublishInstall(install, changed, when_published);
  if (manifest_before != 0 && state_->versions->MayDeleteManifest(manifest_before)) {
    IgnoreBadAlloc([&] {
      state_->obsolete_files.AddOther(DescriptorFileName(state_->directory, manifest_before));
    });
  }
  state_->epochs.Reclaim();
  return Status::OK();
}

// I6: no memory is needed from here on.
void BackgroundWork::PublishInstall(PendingInstall* install,
                                    std::span<const std::shared_ptr<ColumnFamily>> changed,
                                    const std::function<void()>& when_published) noexcept {
  std::vector<Version*> replaced;
  {
    MutexLock lock(state_->mutex());
    for (const PendingInstall::Change& change : install->changes()) {
      ColumnFamily* const family = state_->Families().Find(change.family->id);
      if (change.version != nullptr && family != nullptr) family->SetVersion(change.version);
    }
    replaced = state_->versions->Publish(install);
    when_published();
    for (const std::shared_ptr<ColumnFamily>& family : changed) family->InstallPreparedView();
    for (const std::shared_ptr<ColumnFamily>& family : changed) ViewChanged(family);
    state_->NotifyChange();
  }
  for (Version* version : replaced) version->Unref();
}

// ---- Flushing.

void BackgroundWork::ScheduleFlushes() {
  while (MayStartJobs() && flush_jobs_ < flush_jobs_max_ && !flush_candidates_.empty()) {
    std::shared_ptr<ColumnFamily> family = flush_candidates_.Pop();
    if (family->dropped() || !family->WantsFlush()) continue;
    bool taken = false;
    const Status queued = CatchBadAlloc([&] {
      taken = state_->executor->Schedule(Executor::Priority::kHigh,
                                         [this, family]() mutable { FlushJob(std::move(family)); });
      return Status::OK();
    });
    if (!queued.ok()) FailDecision(queued);
    if (!taken) return;
    // The job cannot have begun: it takes the mutex first.
    ++family->running_flushes;
    ++flush_jobs_;
  }
}

void BackgroundWork::FlushJob(std::shared_ptr<ColumnFamily> family) {
  outbox_.Notify();
  Status status;
  {
    Flush flush{.family = family};
    status = CatchBadAlloc([&]() -> Status {
      ASHLAR_RETURN_IF_ERROR(BuildFlush(&flush));
      return InstallFlushes({&flush, 1});
    });
    NotifyFlushEnded(&flush, status);
    if (!status.ok()) {
      DiscardTables(&flush);
      MutexLock lock(state_->mutex());
      family->EndFlush(0);
      // Whoever waits for it is told by the latch; a resume asks again.
      family->flush_wanted = true;
    }
  }
  // The job's references were the last ones: the next memtable can have the memory at once.
  state_->epochs.ReclaimPatiently();
  if (!IsBenign(status)) LatchJobError(BackgroundErrorReason::kFlush, "a flush", *family, status);
  files_.ReleaseLogs();
  EndJob(std::move(family), &BackgroundWork::flush_jobs_);
}

void BackgroundWork::NotifyFlushEnded(Flush* flush, const Status& status) noexcept {
  if (flush->events == nullptr) return;
  IgnoreBadAlloc([&] { flush->events->FlushEnded(flush->tables, flush->statistics, status); });
}

void BackgroundWork::LatchJobError(BackgroundErrorReason reason, std::string_view job,
                                   const ColumnFamily& family, const Status& error) noexcept {
  std::string during;
  IgnoreBadAlloc([&] { during = StrCat(job, " of column family ", family.name()); });
  LatchError(reason, during.empty() ? job : during, error);
}

void BackgroundWork::EndJob(std::shared_ptr<ColumnFamily> family, int BackgroundWork::* jobs) {
  IgnoreBadAlloc([this] { DumpStatsIfDue(); });
  {
    MutexLock lock(state_->mutex());
    ViewChanged(family);
    // A family that was dropped and let go meanwhile ends here, and its files with it.
    family.reset();
  }
  state_->epochs.Reclaim();
  files_.DeleteObsoleteFiles();
  outbox_.Notify();
  MutexLock lock(state_->mutex());
  --(this->*jobs);
  const Status scheduled = CatchBadAlloc([this] {
    kDatabaseMutex.AssertHeld();
    Schedule();
    return Status::OK();
  });
  if (!scheduled.ok()) FailDecision(scheduled);
  // Whoever waits for the last job may end the database once the mutex is free.
  state_->NotifyChange();
}

Status BackgroundWork::BuildFlush(Flush* flush) {
  flush->edit.column_family = flush->family->id();
  {
    MutexLock lock(state_->mutex());
    flush->tables = flush->family->StartFlush();
    if (flush->tables.empty()) return Status::OK();
    flush->switched_for = flush->family->flush_reason;
    flush->settings = TakeJobSettings(*flush->family);
  }
  flush->events = std::make_unique<JobEvents>(state_, *flush->family, flush->reason);
  flush->events->FlushBegun(flush->tables, flush->switched_for);
  return BuildFlushTable(flush);
}

Status BackgroundWork::BuildFlushTable(Flush* flush) {
  FlushJobArgs args{.job = MakeJobArgs(*flush->family, *flush->settings), .memtables = {}};
  if (flush->stop != nullptr) args.job.stop.shutting_down = flush->stop;
  args.job.output.observer = flush->events.get();
  args.job.output.sync_histogram = TABLE_SYNC_MICROS;
  args.job.output.table.priority = IO_HIGH;
  args.job.output.table.compression = ResolveFlushCompression(flush->settings->options);
  for (auto table = flush->tables.rbegin(); table != flush->tables.rend(); ++table) {
    args.memtables.push_back(
        std::make_unique<MemTableCursor>(table->get(), MemTableCursor::Hold::kBorrowed, nullptr));
    args.expected_entries += (*table)->entries();
  }
  TableJobResult result;
  ASHLAR_RETURN_IF_ERROR(RunFlush(std::move(args), &result));
  flush->statistics = result.statistics;
  result.AddFilesTo(0, &flush->edit);
  return Status::OK();
}

Status BackgroundWork::InstallFlushes(std::span<Flush> flushes) {
  ASHLAR_RETURN_IF_ERROR(state_->directory_handle->Sync());
  size_t live_families = 0;
  {
    MutexLock lock(state_->mutex());
    live_families = state_->Families().families.size();
    for (Flush& flush : flushes)
      flush.edit.log_number = flush.family->LogNumberAfterFlush(flush.tables.size());
  }
  if (live_families > flushes.size()) ASHLAR_RETURN_IF_ERROR(state_->logs.SyncClosed());
  std::vector<VersionEdit> edits;
  edits.reserve(flushes.size());
  for (Flush& flush : flushes) edits.push_back(std::move(flush.edit));
  ASHLAR_RETURN_IF_ERROR(Install(std::move(edits), [&] {
    kDatabaseMutex.AssertHeld();
    for (Flush& flush : flushes) {
      flush.family->EndFlush(flush.tables.size());
      if (!flush.tables.empty()) flush.family->totals.CountJob(0, flush.statistics);
    }
  }));
  return Status::OK();
}

Status BackgroundWork::FlushTogether(std::span<const std::shared_ptr<ColumnFamily>> families,
                                     TableFileCreationReason reason) {
  outbox_.Notify();
  std::vector<Flush> flushes;
  flushes.reserve(families.size());
  {
    MutexLock lock(state_->mutex());
    if (state_->closing.load(std::memory_order_relaxed))
      return Status::ShutdownInProgress("the database is being closed");
    ++joint_flushes_;
    for (const std::shared_ptr<ColumnFamily>& family : families) {
      ++family->running_flushes;
      // A pause of the user's does not stop it: without it the database would stay read-only.
      flushes.push_back(Flush{.family = family, .reason = reason, .stop = &state_->closing});
    }
  }
  const Status status = CatchBadAlloc([&]() -> Status {
    for (Flush& flush : flushes) ASHLAR_RETURN_IF_ERROR(BuildFlush(&flush));
    return InstallFlushes(flushes);
  });
  for (Flush& flush : flushes) {
    NotifyFlushEnded(&flush, status);
    if (!status.ok()) DiscardTables(&flush);
  }
  MutexLock lock(state_->mutex());
  for (const Flush& flush : flushes) {
    if (!status.ok()) flush.family->EndFlush(0);
  }
  --joint_flushes_;
  state_->NotifyChange();
  return status;
}

void BackgroundWork::DiscardTables(Flush* flush) {
  for (NewFile& file : flush->edit.TakeNewFiles()) {
    if (file.owned == nullptr) continue;
    state_->open_tables.Evict(file.owned.get());
    IgnoreBadAlloc([&] {
      const std::string path = TableFileName(state_->directory, file.owned->number);
      NotifyTableDeleted(*state_, path, file.owned->number, DeleteObsoleteFile(*state_, path));
    });
  }
}

Status BackgroundWork::RecordLogNumbers() {
  std::vector<VersionEdit> edits;
  std::vector<VersionEdit> forget;
  {
    MutexLock lock(state_->mutex());
    const RecordedLogs& recorded = state_->versions->recorded_logs();
    // An edit of its own: readers pass over whatever else stands in an edit about logs.
    if (!recorded.empty() && recorded.begin()->first < files_.OldestNeededLog({}))
      forget.emplace_back().log_deletion = files_.OldestNeededLog({});
    for (const std::shared_ptr<ColumnFamily>& family : state_->LiveFamilies()) {
      VersionEdit& edit = edits.emplace_back();
      edit.column_family = family->id();
      edit.log_number = family->OldestLogNumber();
    }
  }
  ASHLAR_RETURN_IF_ERROR(Install(std::move(edits), [] {}));
  return forget.empty() ? Status::OK() : Install(std::move(forget), [] {});
}

Status BackgroundWork::RecordSyncedLogs(std::span<const LogSet::LiveLog> logs) {
  std::vector<VersionEdit> edits(1);
  for (const LogSet::LiveLog& log : logs) {
    if (log.synced && log.bytes > 0)
      edits[0].log_additions.push_back({.number = log.number, .synced_bytes = log.bytes});
  }
  return edits[0].log_additions.empty() ? Status::OK() : Install(std::move(edits), [] {});
}

Status BackgroundWork::WaitForFlush(std::span<const std::shared_ptr<ColumnFamily>> families) {
  MutexLock lock(state_->mutex());
  std::vector<uint64_t> last_ids;
  for (const std::shared_ptr<ColumnFamily>& family : families) {
    last_ids.push_back(family->immutable().empty() ? 0 : family->immutable().back().table->id());
    family->flush_wanted = !family->immutable().empty();
    flush_candidates_.Push(family);
  }
  ScheduleFlushes();
  for (size_t i = 0; i < families.size(); ++i) {
    const ColumnFamily& family = *families[i];
    while (!family.dropped() && !family.immutable().empty() &&
           family.immutable().front().table->id() <= last_ids[i]) {
      ASHLAR_RETURN_IF_ERROR(state_->latch.JobStatus());
      if (state_->closing.load(std::memory_order_relaxed))
        return Status::ShutdownInProgress("the database is being closed");
      state_->WaitForChange();
    }
  }
  return Status::OK();
}

Status BackgroundWork::WaitUntilSwitchIsFree(
    std::span<const std::shared_ptr<ColumnFamily>> families) {
  MutexLock lock(state_->mutex());
  for (const std::shared_ptr<ColumnFamily>& family : families) {
    const auto would_stop = [&]() ASHLAR_REQUIRES(kDatabaseMutex) {
      StallInputs inputs = MakeStallInputs(*family);
      ++inputs.immutable_memtables;
      ++inputs.level0_files;
      return !family->dropped() &&
             ComputeStall(inputs, family->leveled(), family->stall).state == StallState::kStopped;
    };
    while (would_stop()) {
      ASHLAR_RETURN_IF_ERROR(state_->latch.WriteStatus());
      if (state_->closing.load(std::memory_order_relaxed))
        return Status::ShutdownInProgress("the database is being closed");
      // Without jobs nothing would change.
      if (flush_jobs_ + compaction_jobs_ + manual_compactions_ == 0) return Status::OK();
      state_->WaitForChange();
    }
  }
  return Status::OK();
}

// ---- Compacting.

void BackgroundWork::ScheduleCompactions() {
  while (MayStartJobs() && compaction_jobs_ < compaction_jobs_max_ &&
         !compaction_candidates_.empty()) {
    const std::shared_ptr<ColumnFamily> family = compaction_candidates_.Pop();
    const Status picked = CatchBadAlloc([&] {
      kDatabaseMutex.AssertHeld();
      if (ScheduleCompaction(family)) compaction_candidates_.Push(family);
      return Status::OK();
    });
    if (!picked.ok()) PauseCompactions(family, picked);
  }
}

bool BackgroundWork::ScheduleCompaction(const std::shared_ptr<ColumnFamily>& family) {
  if (family->dropped() || family->exclusive_compaction || family->compaction_paused ||
      family->leveled().disable_auto_compactions)
    return false;
  std::optional<CompactionPlan> plan = PickCompaction(MakeTreeView(*family, family->version()),
                                                      family->leveled(), family->compact_cursors);
  if (!plan.has_value()) return false;
  family->compact_cursors.Advance(*plan);
  std::unique_ptr<Compaction> compaction = StartCompaction(family, std::move(*plan));
  bool taken = false;
  const Status queued = CatchBadAlloc([&] {
    taken = state_->executor->Schedule(Executor::Priority::kLow,
                                       [this, job = compaction.get()] { CompactionJob(job); });
    return Status::OK();
  });
  if (!taken) {
    EndCompaction(compaction.get());
    compaction->version->Unref();
    if (!queued.ok()) PauseCompactions(family, queued);
    return false;
  }
  // The job cannot have begun: it takes the mutex first.
  ++compaction_jobs_;
  static_cast<void>(compaction.release());
  return true;
}

std::unique_ptr<BackgroundWork::Compaction> BackgroundWork::StartCompaction(
    const std::shared_ptr<ColumnFamily>& family, CompactionPlan plan) {
  auto compaction = std::make_unique<Compaction>(Compaction{.family = family,
                                                            .version = family->version(),
                                                            .plan = std::move(plan),
                                                            .settings = TakeJobSettings(*family)});
  family->running_plans.push_back(&compaction->plan);
  compaction->version->Ref();
  MarkInputs(compaction->plan, true);
  return compaction;
}

void BackgroundWork::EndCompaction(Compaction* compaction) {
  MarkInputs(compaction->plan, false);
  std::erase(compaction->family->running_plans, &compaction->plan);
}

void BackgroundWork::CompactionJob(Compaction* compaction) {
  outbox_.Notify();
  std::shared_ptr<ColumnFamily> family = compaction->family;
  const Status status = Compact(compaction);
  if (!IsBenign(status)) HandleFailure(*compaction, status);
  compaction->version->Unref();
  delete compaction;
  EndJob(std::move(family), &BackgroundWork::compaction_jobs_);
}

void BackgroundWork::HandleFailure(const Compaction& compaction, const Status& error) {
  const std::shared_ptr<ColumnFamily>& family = compaction.family;
  const bool passes =
      error.IsNoSpace() || error.IsMemoryLimit() || error.subcode() == Status::kOpenFilesLimit;
  if (compaction.installing || !passes)
    return LatchJobError(BackgroundErrorReason::kCompaction, "a compaction", *family, error);
  uint64_t pause_seconds = 0;
  {
    MutexLock lock(state_->mutex());
    pause_seconds = PauseCompactions(family, error);
  }
  IgnoreBadAlloc([&] {
    LogWarning(*state_, StrCat("a compaction of column family ", family->name(),
                               " failed, nothing is lost, and it is tried again in ", pause_seconds,
                               " s: ", error.ToString()));
  });
}

uint64_t BackgroundWork::PauseCompactions(const std::shared_ptr<ColumnFamily>& family,
                                          const Status& error) noexcept {
  family->compaction_failure = error;
  const uint64_t seconds = uint64_t{1}
                           << std::min(family->compaction_failures, kCompactionPauseDoublings);
  if (family->compaction_failures < kCompactionPauseDoublings) ++family->compaction_failures;
  // Without memory for the timer the next change of the family's view is the retry.
  if (!family->compaction_paused) {
    IgnoreBadAlloc([&] {
      kDatabaseMutex.AssertHeld();
      family->compaction_paused = RetryCompactionAfter(seconds, family);
    });
  }
  state_->NotifyChange();
  return seconds;
}

bool BackgroundWork::RetryCompactionAfter(uint64_t seconds,
                                          const std::shared_ptr<ColumnFamily>& family) {
  // A family must not outlive the database, so the job holds none.
  const auto retry = [timers = timers_, this, waiting = std::weak_ptr<ColumnFamily>(family)] {
    MutexLock running(timers->mutex);
    if (timers->stopped) return;
    MutexLock lock(state_->mutex());
    const std::shared_ptr<ColumnFamily> found = waiting.lock();
    if (found == nullptr) return;
    found->compaction_paused = false;
    ViewChanged(found);
  };
  return state_->executor->ScheduleAfter(seconds * 1000000, Executor::Priority::kLow, retry);
}

Status BackgroundWork::ExecuteCompaction(Compaction* compaction, TableJobResult* result) {
  const CompactionPlan& plan = compaction->plan;
  if (interrupt_.load(std::memory_order_relaxed))
    return Status::ShutdownInProgress("the database is being closed");
  if (plan.trivial_move) return Status::OK();
  const ColumnFamilyOptions& options = compaction->settings.options;
  CompactionJobArgs args{.plan = &plan,
                         .job = MakeJobArgs(*compaction->family, compaction->settings)};
  args.job.output.observer = compaction->events.get();
  args.job.stop.canceled = compaction->canceled;
  args.job.output.table.compression_parameters =
      ResolveCompressionParameters(options, plan.bottommost_compression);
  if (plan.bottommost && options.optimize_filters_for_hits)
    args.job.output.table.config.filter_millibits_per_key = 0;
  ASHLAR_RETURN_IF_ERROR(RunCompaction(args, result));
  return state_->directory_handle->Sync();
}

Status BackgroundWork::Compact(Compaction* compaction) {
  const CompactionPlan& plan = compaction->plan;
  TableJobResult result;
  const Status status = CatchBadAlloc([&]() -> Status {
    compaction->events = std::make_unique<JobEvents>(state_, *compaction->family,
                                                     TableFileCreationReason::kCompaction);
    compaction->events->CompactionBegun(plan, *compaction->version);
    ASHLAR_RETURN_IF_ERROR(ExecuteCompaction(compaction, &result));
    return InstallCompaction(compaction, &result);
  });
  if (!status.ok()) {
    MutexLock lock(state_->mutex());
    EndCompaction(compaction);
  }
  if (compaction->events != nullptr)
    IgnoreBadAlloc([&] { compaction->events->CompactionEnded(plan, result.statistics, status); });
  return status;
}

Status BackgroundWork::InstallCompaction(Compaction* compaction, TableJobResult* result) {
  const CompactionPlan& plan = compaction->plan;
  std::vector<VersionEdit> edits;
  edits.reserve(1);
  MutexLock installers(state_->manifest_mutex());
  AssertFits(*compaction);
  edits.push_back(MakeEdit(plan, plan.trivial_move ? nullptr : result));
  edits[0].column_family = compaction->family->id();
  edits[0].last_sequence = state_->PublishedSequence();
  ASHLAR_ASSIGN_OR_RETURN(const std::unique_ptr<PendingInstall> install,
                          state_->versions->Prepare(std::move(edits)));
  compaction->installing = true;
  return InstallPrepared(install.get(), [&] {
    kDatabaseMutex.AssertHeld();
    EndCompaction(compaction);
    compaction->family->compaction_failures = 0;
    if (!plan.trivial_move)
      compaction->family->totals.CountJob(plan.output_level, result->statistics);
  });
}

void BackgroundWork::AssertFits(const Compaction& compaction) const {
  MutexLock lock(state_->mutex());
  // A dropped family takes no edit: the install answers with ColumnFamilyDropped.
  if (compaction.family->dropped()) return;
  AssertPlanFits(MakeTreeView(*compaction.family, compaction.family->version()),
                 compaction.plan);  // I5: the alternative is stale reads for good
}

Status BackgroundWork::RunManualCompaction(const CompactRangeOptions& options,
                                           const std::shared_ptr<ColumnFamily>& family,
                                           ManualCompaction* walk) {
  for (;;) {
    std::unique_ptr<Compaction> compaction;
    {
      MutexLock lock(state_->mutex());
      if (family->dropped()) return Status::ColumnFamilyDropped(family->name());
      ASHLAR_RETURN_IF_ERROR(state_->latch.WriteStatus());
      if (state_->closing.load(std::memory_order_relaxed))
        return Status::ShutdownInProgress("the database is being closed");
      if (options.canceled != nullptr && options.canceled->load())
        return Status::Error(Status::kIncomplete, Status::kManualCompactionPaused,
                             "the compaction was canceled");
      if (state_->background_paused > 0) {
        state_->WaitForChange();
        continue;
      }
      ManualCompaction::Step step =
          walk->Next(MakeTreeView(*family, family->version()), family->leveled(),
                     state_->versions->next_file_number());
      if (step.done) return Status::OK();
      if (step.conflict) {
        state_->WaitForChange();
        continue;
      }
      if (options.max_subcompactions > 0)
        step.plan->max_subcompactions = options.max_subcompactions;
      compaction = StartCompaction(family, std::move(*step.plan));
      compaction->canceled = options.canceled;
      ++manual_compactions_;
    }
    Status status = Compact(compaction.get());
    if (!IsBenign(status)) HandleFailure(*compaction, status);
    if (status.ok()) {
      status = CatchBadAlloc([&] {
        walk->Installed(compaction->plan);
        return Status::OK();
      });
    }
    compaction->version->Unref();
    state_->epochs.Reclaim();
    files_.DeleteObsoleteFiles();
    outbox_.Notify();
    IgnoreBadAlloc([this] { DumpStatsIfDue(); });
    {
      MutexLock lock(state_->mutex());
      --manual_compactions_;
      state_->NotifyChange();
      // A pause interrupted it: the same range is next once work continues.
      if (status.IsShutdownInProgress() && !state_->closing.load(std::memory_order_relaxed))
        continue;
    }
    ASHLAR_RETURN_IF_ERROR(status);
  }
}

Status BackgroundWork::CompactRange(const CompactRangeOptions& options,
                                    const std::shared_ptr<ColumnFamily>& family, const Slice* begin,
                                    const Slice* end) {
  const auto to_optional = [](const Slice* key) {
    return key == nullptr ? std::nullopt : std::optional<std::string>(key->ToString());
  };
  const BottommostLevelCompaction last_level = options.bottommost_level_compaction;
  ManualCompaction walk(
      {.begin = to_optional(begin),
       .end = to_optional(end),
       .rewrite_last_level = last_level == BottommostLevelCompaction::kForce ||
                             last_level == BottommostLevelCompaction::kForceOptimized,
       .skip_own_files = last_level == BottommostLevelCompaction::kForceOptimized,
       .first_new_file = state_->versions->next_file_number()});
  if (options.exclusive_manual_compaction) {
    MutexLock lock(state_->mutex());
    while (family->exclusive_compaction && !state_->closing.load(std::memory_order_relaxed))
      state_->WaitForChange();
    family->exclusive_compaction = true;
  }
  const Status status = CatchBadAlloc([&] { return RunManualCompaction(options, family, &walk); });
  if (options.exclusive_manual_compaction) {
    MutexLock lock(state_->mutex());
    family->exclusive_compaction = false;
    ViewChanged(family);
  }
  return status;
}

BackgroundWork::JobSettings BackgroundWork::TakeJobSettings(const ColumnFamily& family) const {
  return {.options = family.options(),
          .snapshots = state_->snapshots.Sequences(),
          .bytes_per_sync = state_->current_options.bytes_per_sync,
          .readahead_bytes = state_->current_options.compaction_readahead_size};
}

TableJobArgs BackgroundWork::MakeJobArgs(const ColumnFamily& family,
                                         const JobSettings& settings) const {
  const ColumnFamilyOptions& options = settings.options;
  TableJobArgs args;
  CompactionOutputArgs& output = args.output;
  output.file_system = state_->file_system;
  output.directory = state_->directory;
  output.file_options.use_direct_io = state_->options.use_direct_io_for_flush_and_compaction;
  output.file_options.use_mmap_writes = state_->options.allow_mmap_writes;
  output.file_options.preallocate_bytes = 0;
  output.creation_unix_seconds = state_->clock->NowUnixMicros() / 1000000;
  output.new_file_number = [versions = state_->versions.get()] {
    return versions->NewFileNumber();
  };
  output.bytes_per_sync = settings.bytes_per_sync;
  output.table.comparator = family.comparator();
  output.table.config = ResolveTableConfig(options);
  if (WritesPlainTables(options)) output.plain = ResolvePlainTableConfig(options);
  output.table.prefix_extractor = options.prefix_extractor;
  output.table.compression_parameters = ResolveCompressionParameters(options, false);
  output.table.recorder = state_->recorder;
  output.table.reads = ResolveTableReads(state_->options, options);
  output.table.rate_limiter = state_->options.rate_limiter.get();
  output.table.column_family_id = family.id();
  output.table.column_family_name = family.name();
  output.table.merge_operator_name =
      family.merge_operator() != nullptr ? family.merge_operator()->Name() : "";
  output.table.db_id = state_->versions->database_id();
  output.table.db_session_id = state_->session_id;
  output.table.db_host_id =
      state_->options.db_host_id == kHostnameForDbHostId ? "" : state_->options.db_host_id;
  args.tables = family.tables();
  args.snapshots = settings.snapshots;
  args.merge_operator = family.merge_operator();
  args.clock = state_->clock;
  args.stop.shutting_down = &interrupt_;
  args.verification =
      options.paranoid_file_checks ? OutputVerification::kBlocks : OutputVerification::kOpen;
  args.readahead_bytes = settings.readahead_bytes;
  args.hint_readahead = !state_->options.use_direct_reads;
  return args;
}

// ---- Waiting, pausing, stopping.

Status BackgroundWork::WaitForIdle(const WaitForCompactOptions& options) {
  const uint64_t start_ns = state_->clock->NowNanos();
  const auto timeout_us = static_cast<uint64_t>(options.timeout.count());
  MutexLock lock(state_->mutex());
  for (;;) {
    bool wanted = flush_jobs_ + compaction_jobs_ + manual_compactions_ > 0;
    for (const std::shared_ptr<ColumnFamily>& family : state_->LiveFamilies())
      wanted |= family->WantsFlush();
    for (const std::shared_ptr<ColumnFamily>& family : state_->LiveFamilies()) {
      if (!wanted && family->compaction_paused) return family->compaction_failure;
    }
    if (!wanted) return Status::OK();
    ASHLAR_RETURN_IF_ERROR(state_->latch.WriteStatus());
    if (state_->closing.load(std::memory_order_relaxed))
      return Status::ShutdownInProgress("the database is being closed");
    if (state_->background_paused > 0 && options.abort_on_pause)
      return Status::Aborted("background work is paused");
    if (timeout_us > 0) {
      const uint64_t waited_us = (state_->clock->NowNanos() - start_ns) / 1000;
      if (waited_us >= timeout_us) return Status::TimedOut("background work is not finished");
      state_->clock->WaitForMicros(state_->changed, state_->mutex(), timeout_us - waited_us);
    } else {
      state_->WaitForChange();
    }
  }
}

void BackgroundWork::HoldJobs() {
  MutexLock lock(state_->mutex());
  ++state_->background_paused;
  while (flush_jobs_ > 0) state_->WaitForChange();
}

void BackgroundWork::ReleaseJobs() {
  MutexLock lock(state_->mutex());
  --state_->background_paused;
}

void BackgroundWork::Pause() {
  MutexLock lock(state_->mutex());
  ++state_->background_paused;
  interrupt_.store(true, std::memory_order_relaxed);
  while (flush_jobs_ + compaction_jobs_ + OtherJobs() > 0) state_->WaitForChange();
}

bool BackgroundWork::Continue() {
  MutexLock lock(state_->mutex());
  if (state_->background_paused == 0) return false;
  if (--state_->background_paused > 0) return true;
  interrupt_.store(state_->closing.load(std::memory_order_relaxed), std::memory_order_relaxed);
  for (const std::shared_ptr<ColumnFamily>& family : state_->Families().families)
    ViewChanged(family);
  return true;
}

void BackgroundWork::Stop() {
  {
    // The executor outlives the database, and so may what waits there for its time.
    MutexLock timers(timers_->mutex);
    timers_->stopped = true;
  }
  MutexLock lock(state_->mutex());
  state_->closing.store(true, std::memory_order_release);
  interrupt_.store(true, std::memory_order_relaxed);
  state_->NotifyChange();
  while (flush_jobs_ + compaction_jobs_ + OtherJobs() > 0) state_->WaitForChange();
  flush_candidates_.Clear();
  compaction_candidates_.Clear();
}

// ---- Statistics in the LOG.

void BackgroundWork::DumpStatsIfDue() {
  if (state_->logger == nullptr) return;
  std::vector<std::shared_ptr<ColumnFamily>> families;
  {
    const uint64_t now_nanos = state_->clock->NowNanos();
    MutexLock lock(state_->mutex());
    const uint64_t period_seconds = state_->current_options.stats_dump_period_sec;
    if (period_seconds == 0 || (now_nanos - stats_dumped_nanos_) / 1000000000 < period_seconds)
      return;
    stats_dumped_nanos_ = now_nanos;
    families = state_->LiveFamilies();
  }
  std::string text = stats_text_(families);
  if (state_->options.statistics != nullptr)
    text += "STATISTICS:\n" + state_->options.statistics->ToString();
  LogInfo(*state_, "------- DUMPING STATS -------");
  LogInfoLines(*state_, text);
}

}  // namespace ashlar
