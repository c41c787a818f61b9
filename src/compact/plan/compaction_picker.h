// The leveled pickers: pure functions from a tree to the next compaction.
//
// Automatic, in this order; the first that can run now wins:
//   0. files that range tombstones hide are dropped, without reading them
//   1. levels by score, highest first, while the score is >= 1
//        level 0 -> base level     the oldest file and all that overlap it; oldest files that
//                                  overlap nothing just move
//        level 0 -> level 0        when the way to the base level is busy, or would cost much for
//                                  little: next to a base level that is 20 times as large, or
//                                  that is larger and twice its target
//        level n -> level n + 1    the first file in the order of compaction_pri. By default that
//                                  is the one that drags along the fewest bytes per byte of its
//                                  own; equals take turns
//   2. files marked for compaction
//   3. files whose range tombstones cover many bytes of older runs, so that the space comes back
//   4. files on the last level with deletions or versions that no snapshot needs any more
//   5. ttl, 6. periodic
//
// Starvation: while level 0 waits for the base level no further compaction leaves the base level.
// Several plans run at once when they touch neither the same files nor the same keys of an output
// level; level 0 -> base runs alone on level 0. Thread safety: pure functions; call under the mutex
// that guards the view.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compact/plan/compaction_plan.h"
#include "compact/plan/level_targets.h"
#include "compact/plan/leveled_config.h"

namespace ashlar {

// Where each level continues.
class CompactCursors {
 public:
  // Call when a plan was accepted.
  void Advance(const CompactionPlan& plan);
  // kMinOverlappingRatio: the largest user key of the last plan that started there. Null: the level
  // begins from its first file.
  const std::string* After(Level level) const;

  // kRoundRobin: the smallest internal key of the file to begin with. Null: the level begins from
  // its first file.
  const std::string* Next(Level level) const;
  void SetNext(Level level, const std::string& internal_key);

 private:
  std::vector<std::optional<std::string>> after_;  // [level]
  std::vector<std::optional<std::string>> next_;   // [level]
};

// Nothing: there is no work, or none that can run concurrently with view.running. Ignores
// disable_auto_compactions.
std::optional<CompactionPlan> PickCompaction(const TreeView& view, const LeveledConfig& config,
                                             const CompactCursors& cursors);

// Whether PickCompaction might find work, now or once running plans end.
bool NeedsCompaction(const TreeView& view, const LeveledConfig& config);

// The request has no output level. PickManual derives it from the view: level 0 -> base level, n ->
// n + 1, or n -> n with rewrite_in_place. The base level may move between two picks.
struct ManualRequest {
  Level level = 0;
  // Level > 0 only: the files are rewritten on their level, even where a move would do.
  bool rewrite_in_place = false;
  std::optional<std::string> begin;  // user keys, both included; nothing: unbounded
  std::optional<std::string> end;
  // With rewrite_in_place: newer files are left alone, so that the pass ends.
  uint64_t files_numbered_below = UINT64_MAX;
};
struct ManualPick {
  std::optional<CompactionPlan> plan;
  // The range has files, but they or their neighbours are busy. Call again after a running plan
  // ended.
  bool conflict = false;
  // Set if the plan covers only the first part of the range, because the whole would be too large.
  // Continue after this user key.
  std::optional<std::string> done_through;
};
ManualPick PickManual(const TreeView& view, const LeveledConfig& config,
                      const ManualRequest& request);

}  // namespace ashlar
