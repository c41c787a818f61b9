// The universal pickers: pure functions from a tree to the next compaction.
//
// The tree is a list of sorted runs, newest to oldest: the files of level 0, then the levels below
// that have files. A plan merges neighbours of this list into one run:
//
//   runs     f9 f8 f7 | L3 | L5        f9 + f8 -> level 0      the next older run is a file
//                                      f9 + f8 + f7 -> L2      the next older run is L3
//                                      L3 + L5 -> last level   there is no older run
//
// Automatic picks try these in order. The first that can run now wins:
//   0. files that range tombstones hide are dropped
//   1. a periodic or marked file, or one that covers many bytes: its run and all older runs
//   With level0_file_num_compaction_trigger runs or more:
//   2. size amplification: all runs, if those above the oldest exceed
//      max_size_amplification_percent of it. Incremental: merges the runs above the oldest, then
//      merges that run down in parts of about max_compaction_bytes, whatever the number of runs
//   3. size ratio: a run and older ones, as long as each is not larger than all before it together
//   4. number: the newest runs, as many as bring the number down to the limit, and older ones that
//      are not much larger (README.md explains why)
//
// A run with a busy file is busy as a whole, and no choice of neighbours includes it. So no plan
// passes another, and newer data stays above older (I5 of compaction_plan.h). README.md: space.
// Thread safety: pure functions; call under the mutex that guards the view.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "compact/plan/compaction_config.h"
#include "compact/plan/compaction_picker.h"
#include "compact/plan/compaction_plan.h"

namespace ashlar {

// Returns nothing if there is no work, or none that can run concurrently with view.running. Ignores
// disable_auto_compactions.
std::optional<CompactionPlan> PickUniversal(const TreeView& view, const CompactionConfig& config);
// Whether PickUniversal might find work, now or once running plans end.
bool NeedsUniversal(const TreeView& view, const CompactionConfig& config);
// Merges all runs into the last level if a file has keys of the range; rewrite_in_place: the level.
ManualPick PickManualUniversal(const TreeView& view, const CompactionConfig& config,
                               const ManualRequest& request);
// The number of idle sorted runs, divided by the number at which compactions begin.
double UniversalScore(const TreeView& view, const CompactionConfig& config);

}  // namespace ashlar
