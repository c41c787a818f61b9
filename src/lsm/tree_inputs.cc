#include "lsm/tree_inputs.h"

#include <vector>

#include "compact/plan/level_targets.h"

namespace ashlar {

TreeView MakeTreeView(const DatabaseState& state, const ColumnFamily& family) {
  const Version& version = *family.version();
  TreeView view{.comparator = family.comparator(),
                .levels = {},
                .running = family.running_plans,
                .now_unix_seconds = state.clock->NowUnixMicros() / 1000000,
                .oldest_snapshot = state.snapshots.oldest() != nullptr
                                       ? state.snapshots.oldest()->GetSequenceNumber()
                                       : kSequenceNumberMax};
  for (Level level = 0; level < version.levels(); ++level)
    view.levels.push_back(version.files(level));
  return view;
}

StallInputs MakeStallInputs(const ColumnFamily& family) {
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

bool CompactionPending(const DatabaseState& state, const ColumnFamily& family) {
  return !family.leveled().disable_auto_compactions &&
         NeedsCompaction(MakeTreeView(state, family), family.leveled());
}

}  // namespace ashlar
