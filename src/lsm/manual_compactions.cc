#include "lsm/manual_compactions.h"

#include <optional>
#include <string>
#include <utility>

#include "base/assert.h"
#include "base/out_of_memory.h"
#include "base/result.h"
#include "lsm/tree_inputs.h"

namespace ashlar {

namespace {
ManualCompaction MakeWalk(const CompactRangeOptions& options, const Slice* begin, const Slice* end,
                          FileNumber first_new_file) {
  const auto to_optional = [](const Slice* key) {
    return key == nullptr ? std::nullopt : std::optional<std::string>(key->ToString());
  };
  const BottommostLevelCompaction last_level = options.bottommost_level_compaction;
  return ManualCompaction(
      {.begin = to_optional(begin),
       .end = to_optional(end),
       .rewrite_last_level = last_level == BottommostLevelCompaction::kForce ||
                             last_level == BottommostLevelCompaction::kForceOptimized,
       .skip_own_files = last_level == BottommostLevelCompaction::kForceOptimized,
       .first_new_file = first_new_file});
}
}  // namespace

Status ManualCompactions::CompactRange(const CompactRangeOptions& options,
                                       const std::shared_ptr<ColumnFamily>& family,
                                       const Slice* begin, const Slice* end) {
  Call call{.options = options,
            .family = family,
            .walk = MakeWalk(options, begin, end, state_->versions->next_file_number())};
  if (options.exclusive_manual_compaction) ASHLAR_RETURN_IF_ERROR(BeginExclusive(family.get()));
  Status status = CatchBadAlloc([&] { return Walk(&call); });
  if (options.exclusive_manual_compaction) EndExclusive(family);
  return status;
}

Status ManualCompactions::BeginExclusive(ColumnFamily* family) {
  MutexLock lock(state_->mutex());
  while (family->exclusive_compaction) {
    if (state_->closing.load(std::memory_order_relaxed))
      return Status::ShutdownInProgress("the database is being closed");
    state_->WaitForChange();
  }
  family->exclusive_compaction = true;
  return Status::OK();
}

void ManualCompactions::EndExclusive(const std::shared_ptr<ColumnFamily>& family) {
  MutexLock lock(state_->mutex());
  ASHLAR_ASSERT(family->exclusive_compaction);  // I1
  family->exclusive_compaction = false;
  parts_.observer->ViewChanged(family);
}

Status ManualCompactions::Walk(Call* call) {
  for (;;) {
    ASHLAR_ASSIGN_OR_RETURN(std::unique_ptr<Compaction> compaction, PickStep(call));
    if (compaction == nullptr) return Status::OK();
    ASHLAR_RETURN_IF_ERROR(RunStep(call, std::move(compaction)));
  }
}

Status ManualCompactions::CheckMayContinue(const Call& call) const {
  if (call.family->dropped()) return Status::ColumnFamilyDropped(call.family->name());
  ASHLAR_RETURN_IF_ERROR(state_->latch.WriteStatus());
  if (state_->closing.load(std::memory_order_relaxed))
    return Status::ShutdownInProgress("the database is being closed");
  if (call.options.canceled != nullptr && call.options.canceled->load())
    return Status::Error(Status::kIncomplete, Status::kManualCompactionPaused,
                         "the compaction was canceled");
  return Status::OK();
}

Result<std::unique_ptr<Compaction>> ManualCompactions::PickStep(Call* call) {
  MutexLock lock(state_->mutex());
  for (;;) {
    ASHLAR_RETURN_IF_ERROR(CheckMayContinue(*call));
    if (state_->background_paused > 0) {
      state_->WaitForChange();
      continue;
    }
    ManualCompaction::Step step =
        call->walk.Next(MakeTreeView(*state_, *call->family), call->family->policy(),
                        state_->versions->next_file_number());
    if (step.done) return std::unique_ptr<Compaction>();
    if (step.conflict) {
      state_->WaitForChange();
      continue;
    }
    ASHLAR_ASSERT(step.plan.has_value());  // neither done nor in conflict
    if (call->options.max_subcompactions > 0)
      step.plan->max_subcompactions = call->options.max_subcompactions;
    std::unique_ptr<Compaction> compaction =
        parts_.runner->Start(call->family, std::move(*step.plan));
    compaction->canceled = call->options.canceled;
    ++running_;
    return compaction;
  }
}

Status ManualCompactions::RunStep(Call* call, std::unique_ptr<Compaction> compaction) {
  Status status = parts_.runner->Run(compaction.get());
  if (!IsBenign(status))
    parts_.backoff->HandleFailure(call->family, status, compaction->may_be_recorded);
  if (status.ok()) {
    status = CatchBadAlloc([&] {
      call->walk.Installed(compaction->plan);
      return Status::OK();
    });
  }
  compaction.reset();
  state_->epochs.Reclaim();
  parts_.files->DeleteObsoleteFiles();
  parts_.outbox->Notify();
  parts_.stats->DumpIfDue();
  MutexLock lock(state_->mutex());
  ASHLAR_ASSERT(running_ > 0);  // PickStep
  --running_;
  state_->NotifyChange();
  const bool is_closing = state_->closing.load(std::memory_order_relaxed);
  return status.IsShutdownInProgress() && !is_closing ? Status::OK() : status;  // I2
}

}  // namespace ashlar
