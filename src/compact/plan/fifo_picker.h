// The FIFO pickers: pure functions from a tree to the next compaction.
//
// Files are dropped oldest first, from the deepest level up to level 0. Neighbours of a level that
// share a user key are dropped together, because otherwise a deleted key could come back. Automatic
// picks, in this order:
//   1. ttl: drops the oldest files, as long as they were written longer ago than the ttl
//   2. size: drops the oldest files, as long as the total exceeds max_table_files_size bytes
//   3. with allow_compaction: merges the newest files of level 0, as long as each further file
//      lowers the cost per file removed. With a ttl, it takes only files whose oldest data is at
//      most a tenth of the ttl old
// One plan runs at a time.
//
// I1: ttl drops no data younger than the ttl, because data is at least as old as its file.
// I2: data of level 0 older than 1.1 ttl is dropped by the next pick that may run. Its file, and
//     each older one, was written before its oldest data was a tenth of the ttl old, or one second
//     old if the ttl is less than ten seconds.
//
// Thread safety: pure functions; call under the mutex that guards the view.
#pragma once

#include <optional>

#include "compact/plan/compaction_config.h"
#include "compact/plan/compaction_plan.h"

namespace ashlar {

std::optional<CompactionPlan> PickFifo(const TreeView& view, const CompactionConfig& config);
// Whether PickFifo finds work once running plans end.
bool NeedsFifo(const TreeView& view, const CompactionConfig& config);
// The bytes of all files divided by the limit.
double FifoScore(const TreeView& view, const CompactionConfig& config);

}  // namespace ashlar
