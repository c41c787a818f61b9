// The FIFO pickers: pure functions from a tree to the next compaction.
//
// Files are dropped from the oldest on: the deepest level first, at last level 0. Neighbours of a
// level that share a user key are dropped together, or a deleted key could come back. Automatic, in
// this order:
//   1. ttl: the oldest files, while they were written longer ago than the ttl
//   2. size: the oldest files, while all together have more than max_table_files_size bytes
//   3. with allow_compaction: the newest files of level 0 are merged, as many as make each file
//      that disappears cheaper than the one before. With a ttl only files whose oldest data is
//      at most a tenth of it old
// One plan runs at a time.
//
// I1: ttl drops no data younger than the ttl, because data is at least as old as its file.
// I2: data of level 0 older than 1.1 ttl is dropped by the next pick that may run. Its file, and
//     each older one, was written before its oldest data was a tenth of the ttl old. (Or a second,
//     with a ttl of less than ten.)
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
// Bytes of all files, per byte of the limit.
double FifoScore(const TreeView& view, const CompactionConfig& config);

}  // namespace ashlar
