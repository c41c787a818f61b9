#include "compact/plan/manual_compaction.h"

#include <utility>

#include "base/assert.h"

namespace ashlar {

void ManualCompaction::EnterLevel(Level level) {
  ASHLAR_ASSERT(level >= level_);  // I1
  level_ = level;
  begin_ = args_.begin;
  rewrite_below_.reset();
}

ManualCompaction::Step ManualCompaction::Next(const TreeView& view, const CompactionPolicy& policy,
                                              FileNumber next_file_number) {
  for (; !finished_ && level_ <= view.LastLevel(); EnterLevel(level_ + 1)) {
    const bool last = level_ > 0 && level_ == view.LastLevel();
    if (last && !args_.rewrite_last_level) break;
    if (last && !rewrite_below_.has_value()) {
      // A universal plan has rewritten all levels at once.
      const bool once = args_.skip_own_files || policy.config().style == kCompactionStyleUniversal;
      const bool skip_own = once && last_written_ == level_;
      rewrite_below_ = skip_own ? args_.first_new_file : next_file_number;
    }
    ManualPick pick =
        policy.PickManual(view, {.level = level_,
                                 .rewrite_in_place = last,
                                 .begin = begin_,
                                 .end = args_.end,
                                 .files_numbered_below = rewrite_below_.value_or(UINT64_MAX)});
    ASHLAR_ASSERT(!pick.plan || pick.plan->reason == PlanReason::kManual);  // PickManual sets it
    if (pick.conflict) return {.plan = {}, .conflict = true};
    if (!pick.plan.has_value()) continue;
    done_through_ = std::move(pick.done_through);
    return {.plan = std::move(pick.plan)};
  }
  finished_ = true;
  return {.plan = {}, .conflict = false, .done = true};
}

void ManualCompaction::Installed(const CompactionPlan& plan) {
  ASHLAR_ASSERT(!finished_ && plan.start_level() >= level_);  // I1
  ASHLAR_ASSERT(plan.output_level >= level_);                 // I1
  last_written_ = plan.output_level;
  if (done_through_.has_value()) {
    begin_ = std::exchange(done_through_, std::nullopt);
    return;
  }
  const bool in_place = plan.output_level == plan.start_level();
  finished_ = in_place && plan.start_level() > 0;
  EnterLevel(in_place ? level_ + 1 : plan.output_level);
}

}  // namespace ashlar
