#include "lsm/manual_compactions.h"

#include <optional>
#include <string>
#include <utility>

#include "base/assert.h"
#include "base/format.h"
#include "base/out_of_memory.h"
#include "base/result.h"
#include "lsm/tree_inputs.h"

namespace ashlar {

namespace {
ManualCompaction MakeWalk(const CompactRangeOptions& options, const Slice* begin, const Slice* end,
                          bool has_filter, FileNumber first_new_file) {
  const auto to_optional = [](const Slice* key) {
    return key == nullptr ? std::nullopt : std::optional<std::string>(key->ToString());
  };
  BottommostLevelCompaction last_level = options.bottommost_level_compaction;
  if (last_level == BottommostLevelCompaction::kIfHaveCompactionFilter && has_filter)
    last_level = BottommostLevelCompaction::kForceOptimized;
  return ManualCompaction(
      {.begin = to_optional(begin),
       .end = to_optional(end),
       .rewrite_last_level = last_level == BottommostLevelCompaction::kForce ||
                             last_level == BottommostLevelCompaction::kForceOptimized,
       .skip_own_files = last_level == BottommostLevelCompaction::kForceOptimized,
       .first_new_file = first_new_file});
}

Status Disabled() {
  return Status::Error(Status::kIncomplete, Status::kManualCompactionPaused,
                       "manual compactions are disabled");
}
}  // namespace

// ---- The calls.

Status ManualCompactions::CompactRange(const CompactRangeOptions& options,
                                       const std::shared_ptr<ColumnFamily>& family,
                                       const Slice* begin, const Slice* end) {
  const Call call{.family = family,
                  .canceled = options.canceled,
                  .max_subcompactions = options.max_subcompactions,
                  .exclusive = options.exclusive_manual_compaction || options.change_level};
  ASHLAR_RETURN_IF_ERROR(BeginCall(call));
  Status status = CatchBadAlloc([&]() -> Status {
    ManualCompaction walk = MakeWalk(options, begin, end, family->has_compaction_filter(),
                                     state_->versions->next_file_number());
    const auto next = [&]() -> Result<Step> {
      kDatabaseMutex.AssertHeld();
      ManualCompaction::Step step = walk.Next(MakeTreeView(*state_, *family), family->policy(),
                                              state_->versions->next_file_number());
      return Step{.plan = std::move(step.plan), .conflict = step.conflict};
    };
    const auto done = [&](const CompactionPlan& plan) { walk.Installed(plan); };
    ASHLAR_RETURN_IF_ERROR(RunSteps(call, next, done));
    return options.change_level ? Refit(call, options, {.smallest = begin, .largest = end})
                                : Status::OK();
  });
  EndCall(call);
  return status;
}

Status ManualCompactions::Refit(const Call& call, const CompactRangeOptions& options,
                                const UserKeyRange& range) {
  const std::optional<Level> to =
      options.target_level < 0 ? std::nullopt
                               : std::optional<Level>(static_cast<Level>(options.target_level));
  const ColumnFamily& family = *call.family;
  const auto next = [&]() -> Result<Step> {
    kDatabaseMutex.AssertHeld();
    if (!family.running_plans.empty()) return Step{.plan = {}, .conflict = true};
    const TreeView view = MakeTreeView(*state_, family);
    const std::optional<Level> from = DeepestLevelOf(view, range);
    if (!from) return Step();
    ASHLAR_ASSIGN_OR_RETURN(std::optional<CompactionPlan> plan,
                            family.policy().PickRefit(view, *from, to));
    return Step{.plan = std::move(plan)};
  };
  return RunSteps(call, next, [](const CompactionPlan&) {});
}

Status ManualCompactions::CompactFiles(const CompactionOptions& options,
                                       const std::shared_ptr<ColumnFamily>& family,
                                       const FilesRequest& request, CompactionJobInfo* info) {
  const Call call{.family = family,
                  .canceled = options.canceled,
                  .max_subcompactions = options.max_subcompactions,
                  .exclusive = false,
                  .info = info};
  return RunOnce(call, [&]() -> Result<Step> {
    kDatabaseMutex.AssertHeld();
    ASHLAR_ASSIGN_OR_RETURN(CompactionPlan plan,
                            family->policy().PickFiles(MakeTreeView(*state_, *family), request));
    return Step{.plan = std::move(plan)};
  });
}

Status ManualCompactions::MoveLevel0(const std::shared_ptr<ColumnFamily>& family, Level to) {
  const Call call{.family = family, .exclusive = true};
  return RunOnce(call, [&]() -> Result<Step> {
    kDatabaseMutex.AssertHeld();
    if (!family->running_plans.empty()) return Step{.plan = {}, .conflict = true};
    ASHLAR_ASSIGN_OR_RETURN(std::optional<CompactionPlan> plan,
                            family->policy().PickMoveOfLevel0(MakeTreeView(*state_, *family), to));
    return Step{.plan = std::move(plan)};
  });
}

Status ManualCompactions::RunOnce(const Call& call, NextStep pick) {
  ASHLAR_RETURN_IF_ERROR(BeginCall(call));
  Status status = CatchBadAlloc([&]() -> Status {
    bool is_done = false;
    const auto next = [&]() -> Result<Step> { return is_done ? Step() : pick(); };
    return RunSteps(call, next, [&](const CompactionPlan&) { is_done = true; });
  });
  EndCall(call);
  return status;
}

Status ManualCompactions::DeleteFiles(const std::shared_ptr<ColumnFamily>& family,
                                      std::span<const UserKeyRange> ranges, bool include_end,
                                      size_t* dropped) {
  const Call call{.family = family};
  *dropped = 0;
  std::unique_ptr<Compaction> compaction;
  {
    MutexLock lock(state_->mutex());
    ASHLAR_RETURN_IF_ERROR(family->CheckNotDropped());
    ASHLAR_RETURN_IF_ERROR(state_->error_handler.WriteStatus());
    ASHLAR_RETURN_IF_ERROR(state_->CheckNotClosing());
    std::optional<CompactionPlan> plan =
        PlanFilesInRanges(MakeWholeTreeView(*state_, *family), ranges, include_end);
    if (!plan) return Status::OK();
    *dropped = plan->InputFiles();
    compaction = parts_.runner->Start(family, std::move(*plan));
    ++running_;
  }
  return RunStep(call, std::move(compaction), [](const CompactionPlan&) {});
}

Status ManualCompactions::DeleteFile(FileNumber number, bool* dropped) {
  *dropped = false;
  std::shared_ptr<ColumnFamily> family;
  std::unique_ptr<Compaction> compaction;
  {
    MutexLock lock(state_->mutex());
    ASHLAR_RETURN_IF_ERROR(state_->error_handler.WriteStatus());
    ASHLAR_RETURN_IF_ERROR(state_->CheckNotClosing());
    std::optional<CompactionPlan> plan;
    for (const std::shared_ptr<ColumnFamily>& candidate : state_->LiveFamilies()) {
      Result<std::optional<CompactionPlan>> found =
          PlanDropOfFile(MakeWholeTreeView(*state_, *candidate), number);
      if (found.status().IsNotFound()) continue;
      ASHLAR_ASSIGN_OR_RETURN(plan, std::move(found));
      family = candidate;
      break;
    }
    if (family == nullptr) return Status::InvalidArgument(StrCat("there is no table ", number));
    if (!plan) return Status::OK();
    *dropped = true;
    compaction = parts_.runner->Start(family, std::move(*plan));
    ++running_;
  }
  const Call call{.family = family};
  return RunStep(call, std::move(compaction), [](const CompactionPlan&) {});
}

void ManualCompactions::CheckInvariants() const {
  ASHLAR_ASSERT(running_ >= 0 && calls_ >= 0 && disabled_ >= 0);  // the counts of I1 and I3
  ASHLAR_ASSERT(is_disabled_.load(std::memory_order_relaxed) == (disabled_ > 0));  // I3
  int exclusive = 0;
  int waiting = 0;
  for (const std::shared_ptr<ColumnFamily>& family : state_->Families().families) {
    exclusive += family->exclusive_compaction ? 1 : 0;
    waiting += family->waiting_steps;
  }
  ASHLAR_ASSERT(exclusive <= calls_);  // I1: each belongs to a call that is under way
  ASHLAR_ASSERT(waiting <= calls_);    // I4: the same
}

// ---- Calls that are under way.

Status ManualCompactions::CheckEnabled() const {
  MutexLock lock(state_->mutex());
  return CheckAllowed();
}

Status ManualCompactions::CheckAllowed() const {
  if (parts_.runner->aborts() > 0) return StopFlags::CompactionAborted();
  return disabled_ > 0 ? Disabled() : Status::OK();
}

void ManualCompactions::Disable() {
  MutexLock lock(state_->mutex());
  ++disabled_;
  is_disabled_.store(true, std::memory_order_relaxed);
  state_->NotifyChange();
  while (calls_ > 0) state_->WaitForChange();  // I3
}

void ManualCompactions::Enable() {
  MutexLock lock(state_->mutex());
  if (disabled_ == 0) return;
  --disabled_;
  is_disabled_.store(disabled_ > 0, std::memory_order_relaxed);
}

Status ManualCompactions::BeginCall(const Call& call) {
  MutexLock lock(state_->mutex());
  ASHLAR_RETURN_IF_ERROR(CheckMayContinue(call));
  ++calls_;
  Status status = call.exclusive ? BeginExclusive(call) : Status::OK();
  if (!status.ok()) {
    --calls_;
    state_->NotifyChange();
  }
  return status;
}

Status ManualCompactions::BeginExclusive(const Call& call) {
  ASHLAR_ASSERT(call.exclusive && calls_ > 0);  // BeginCall
  ColumnFamily* const family = call.family.get();
  while (family->exclusive_compaction) {
    ASHLAR_RETURN_IF_ERROR(CheckMayContinue(call));
    state_->WaitForChange();
  }
  family->exclusive_compaction = true;
  while (!family->running_plans.empty()) {
    if (Status status = CheckMayContinue(call); !status.ok()) {
      family->exclusive_compaction = false;
      parts_.observer->ViewChanged(call.family);
      return status;
    }
    state_->WaitForChange();
  }
  ASHLAR_ASSERT(family->exclusive_compaction && family->running_plans.empty());  // I1
  return Status::OK();
}

void ManualCompactions::EndCall(const Call& call) {
  MutexLock lock(state_->mutex());
  ASHLAR_ASSERT(calls_ > 0);  // BeginCall
  --calls_;
  if (call.exclusive) {
    ASHLAR_ASSERT(call.family->exclusive_compaction);  // I1
    call.family->exclusive_compaction = false;
    parts_.observer->ViewChanged(call.family);
  }
  state_->NotifyChange();
}

Status ManualCompactions::CheckMayContinue(const Call& call) const {
  ASHLAR_RETURN_IF_ERROR(call.family->CheckNotDropped());
  ASHLAR_RETURN_IF_ERROR(state_->error_handler.WriteStatus());
  ASHLAR_RETURN_IF_ERROR(state_->CheckRunsJobs());
  ASHLAR_RETURN_IF_ERROR(CheckAllowed());
  if (call.canceled != nullptr && call.canceled->load())
    return Status::Error(Status::kIncomplete, Status::kManualCompactionPaused,
                         "the compaction was canceled");
  return Status::OK();
}

// ---- Steps.

Status ManualCompactions::RunSteps(const Call& call, NextStep next_step, StepDone step_done) {
  for (;;) {
    ASHLAR_ASSIGN_OR_RETURN(std::unique_ptr<Compaction> compaction, PickStep(call, next_step));
    if (compaction == nullptr) return Status::OK();
    ASHLAR_RETURN_IF_ERROR(RunStep(call, std::move(compaction), step_done));
  }
}

Result<std::unique_ptr<Compaction>> ManualCompactions::PickStep(const Call& call,
                                                                NextStep next_step) {
  MutexLock lock(state_->mutex());
  bool has_waited = false;
  std::unique_ptr<Compaction> compaction;
  const Status picked = CatchBadAlloc([&]() -> Status {
    kDatabaseMutex.AssertHeld();
    ASHLAR_ASSIGN_OR_RETURN(compaction, AwaitStep(call, next_step, &has_waited));
    return Status::OK();
  });
  if (has_waited) parts_.observer->ViewChanged(call.family);  // I4: compactions that were held back
  ASHLAR_RETURN_IF_ERROR(picked);
  return compaction;
}

Result<std::unique_ptr<Compaction>> ManualCompactions::AwaitStep(const Call& call,
                                                                 NextStep next_step,
                                                                 bool* has_waited) {
  for (;;) {
    ASHLAR_RETURN_IF_ERROR(CheckMayContinue(call));
    const bool excluded = call.family->exclusive_compaction && !call.exclusive;  // I1
    if (state_->HoldsJobsBack() || excluded || call.family->ingesting) {
      state_->WaitForChange();
      continue;
    }
    ASHLAR_ASSIGN_OR_RETURN(Step step, next_step());
    if (step.conflict) {
      *has_waited = true;
      ++call.family->waiting_steps;  // I4
      state_->WaitForChange();
      ASHLAR_ASSERT(call.family->waiting_steps > 0);  // counted above
      --call.family->waiting_steps;
      continue;
    }
    if (!step.plan.has_value()) return std::unique_ptr<Compaction>();
    ASHLAR_ASSERT(calls_ > 0 && disabled_ == 0);  // I3
    if (call.max_subcompactions > 0) step.plan->max_subcompactions = call.max_subcompactions;
    std::unique_ptr<Compaction> compaction =
        parts_.runner->Start(call.family, std::move(*step.plan));
    compaction->canceled = call.canceled;
    compaction->disabled = &is_disabled_;
    compaction->info = call.info;
    ++running_;
    return compaction;
  }
}

Status ManualCompactions::RunStep(const Call& call, std::unique_ptr<Compaction> compaction,
                                  StepDone step_done) {
  Status status = parts_.runner->Run(compaction.get());
  if (!IsBenign(status))
    parts_.backoff->HandleFailure(call.family, status, compaction->may_be_recorded);
  if (status.ok()) {
    status = CatchBadAlloc([&] {
      step_done(compaction->plan);
      return Status::OK();
    });
    parts_.coverage_scan->Run(call.family);
  }
  compaction.reset();
  if (!status.ok()) {
    // A successful install has already decided about jobs. Otherwise automatic compactions that
    // were blocked by the files of the step would wait for another change.
    MutexLock lock(state_->mutex());
    parts_.observer->ViewChanged(call.family);
  }
  state_->epochs.Reclaim();
  parts_.files->DeleteObsoleteFiles();
  parts_.outbox->Notify();
  parts_.stats->DumpIfDue();
  MutexLock lock(state_->mutex());
  ASHLAR_ASSERT(running_ > 0);  // PickStep, DeleteFiles
  --running_;
  state_->NotifyChange();
  return status.IsShutdownInProgress() && state_->RunsJobs() ? Status::OK() : status;  // I2
}

}  // namespace ashlar
