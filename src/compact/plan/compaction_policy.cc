#include "compact/plan/compaction_policy.h"

namespace ashlar {

std::optional<CompactionPlan> LeveledPolicy::Pick(const TreeView& view) const {
  return PickCompaction(view, config_, cursors_);
}

bool LeveledPolicy::Needed(const TreeView& view) const { return NeedsCompaction(view, config_); }

ManualPick LeveledPolicy::PickManual(const TreeView& view, const ManualRequest& request) const {
  return ashlar::PickManual(view, config_, request);
}

Result<CompactionPlan> LeveledPolicy::PickFiles(const TreeView& view,
                                                const FilesRequest& request) const {
  return PlanFiles(view, config_, request);
}

Result<std::optional<CompactionPlan>> LeveledPolicy::PickRefit(const TreeView& view, Level from,
                                                               std::optional<Level> to) const {
  return PlanRefit(view, config_, from, to);
}

std::vector<LevelScore> LeveledPolicy::Scores(const TreeView& view) const {
  return CompactionScores(view, config_, ComputeLevelTargets(view, config_));
}

Level LeveledPolicy::BaseLevel(const TreeSizes& sizes) const {
  return ComputeLevelTargets(sizes.level_bytes, config_).base_level;
}

uint64_t LeveledPolicy::PendingBytes(const TreeSizes& sizes) const {
  return EstimatePendingBytes(sizes.level_bytes, sizes.level0_files, config_,
                              ComputeLevelTargets(sizes.level_bytes, config_));
}

StallInputs LeveledPolicy::MakeStallInputs(const TreeSizes& sizes, int immutable_memtables) const {
  return {.immutable_memtables = immutable_memtables,
          .level0_files = static_cast<int>(sizes.level0_files),
          .pending_bytes = PendingBytes(sizes)};
}

WriteStall LeveledPolicy::Stall(const StallInputs& inputs, const WriteStall& previous) const {
  return ComputeStall(inputs, config_, previous);
}

bool LeveledPolicy::WantsMoreCompactions(const StallInputs& inputs) const {
  return ashlar::WantsMoreCompactions(inputs, config_);
}

}  // namespace ashlar
