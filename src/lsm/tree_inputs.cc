#include "lsm/tree_inputs.h"

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

TreeSizes MakeTreeSizes(const Version& version) {
  TreeSizes sizes{.level_bytes = {}, .level0_files = version.NumFiles(0)};
  for (Level level = 0; level < version.levels(); ++level)
    sizes.level_bytes.push_back(version.LevelBytes(level));
  return sizes;
}

StallInputs MakeStallInputs(const ColumnFamily& family) {
  return family.policy().MakeStallInputs(MakeTreeSizes(*family.version()),
                                         static_cast<int>(family.immutable().size()));
}

bool CompactionPending(const DatabaseState& state, const ColumnFamily& family) {
  return family.CompactsAutomatically() && family.policy().Needed(MakeTreeView(state, family));
}

}  // namespace ashlar
