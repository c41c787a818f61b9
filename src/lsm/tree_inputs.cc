#include "lsm/tree_inputs.h"

#include "base/assert.h"

namespace ashlar {

namespace {

TreeView ViewOfLevels(const DatabaseState& state, const ColumnFamily& family, Level levels)
    ASHLAR_REQUIRES(kDatabaseMutex) {
  const Version& version = *family.version();
  ASHLAR_ASSERT(levels <= version.levels());  // CompactedLevels, or all levels
  TreeView view{.comparator = family.comparator(),
                .levels = {},
                .running = family.running_plans,
                .now_unix_seconds = state.clock->NowUnixMicros() / 1000000,
                .oldest_snapshot = state.snapshots.oldest_sequence(),
                .oldest_unflushed = family.OldestUnflushed()};
  view.has_level_below = levels < version.levels();
  for (Level level = 0; level < levels; ++level) view.levels.push_back(version.files(level));
  return view;
}

}  // namespace

Level CompactedLevels(const ColumnFamily& family) {
  return family.policy().config().common.num_levels;
}

TreeView MakeTreeView(const DatabaseState& state, const ColumnFamily& family) {
  return ViewOfLevels(state, family, CompactedLevels(family));
}

TreeView MakeWholeTreeView(const DatabaseState& state, const ColumnFamily& family) {
  return ViewOfLevels(state, family, family.version()->levels());
}

TreeSizes MakeTreeSizes(const ColumnFamily& family) {
  const Version& version = *family.version();
  ASHLAR_ASSERT(CompactedLevels(family) <= version.levels());  // the version may have one more
  TreeSizes sizes{.level_bytes = {}, .level0_files = version.NumFiles(0)};
  for (Level level = 0; level < CompactedLevels(family); ++level)
    sizes.level_bytes.push_back(version.LevelBytes(level));
  return sizes;
}

StallInputs MakeStallInputs(const ColumnFamily& family) {
  return family.policy().MakeStallInputs(MakeTreeSizes(family),
                                         static_cast<int>(family.immutable().size()));
}

bool CompactionPending(const DatabaseState& state, const ColumnFamily& family) {
  return family.CompactsAutomatically() && family.policy().Needed(MakeTreeView(state, family));
}

}  // namespace ashlar
