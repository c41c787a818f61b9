// The leveled pickers: pure functions from a tree to the next compaction.
//
// Automatic picks try these in order. The first that can run now wins:
//   0. files that range tombstones hide are dropped without being read
//   1. levels by score, highest first, while the score is >= 1
//        level 0 -> base level     the oldest file and all files that overlap it; oldest files that
//                                  overlap nothing are moved without a rewrite
//        level 0 -> level 0        when level 0 or the base level is busy, or when rewriting the
//                                  base level would cost much for little: it is 20 times as large
//                                  as level 0, or it is larger than level 0 and twice its target
//        level n -> level n + 1    the first file in the order of compaction_pri. The default order
//                                  begins with the file that overlaps the fewest bytes of the next
//                                  level per byte of its own; files of equal cost take turns
//   2. files marked for compaction
//   3. files whose range tombstones cover many bytes of older runs, to reclaim that space
//   4. files on the last level with deletions or versions that no snapshot needs any more
//   5. ttl, 6. periodic
//
// Starvation: while level 0 waits for the base level, no further compaction leaves the base level.
// Plans run concurrently if they share no files and no keys of an output level. A plan from level 0
// to the base level starts only while level 0 is idle. Thread safety: pure functions; call under
// the mutex that guards the view.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compact/plan/compaction_plan.h"
#include "compact/plan/level_targets.h"
#include "compact/plan/leveled_config.h"

namespace ashlar {

// The position where the next compaction of each level begins.
class CompactCursors {
 public:
  // Call when a plan is accepted.
  void Advance(const CompactionPlan& plan);
  // Any order except kRoundRobin: the largest user key that the last plan for the level's size took
  // from the level. Null: the level begins from its first file.
  const std::string* After(Level level) const;

  // kRoundRobin: the smallest internal key of the file to begin with. Null: the level begins from
  // its first file.
  const std::string* Next(Level level) const;
  void SetNext(Level level, const std::string& internal_key);

 private:
  std::vector<std::optional<std::string>> after_;  // [level]
  std::vector<std::optional<std::string>> next_;   // [level]
};

// Returns nothing if there is no work, or none that can run concurrently with view.running. Ignores
// disable_auto_compactions.
std::optional<CompactionPlan> PickCompaction(const TreeView& view, const LeveledConfig& config,
                                             const CompactCursors& cursors);

// Whether PickCompaction might find work, now or once running plans end.
bool NeedsCompaction(const TreeView& view, const LeveledConfig& config);

// The request has no output level, because the base level may change between two picks. PickManual
// derives it from the view: level 0 -> base level, n -> n + 1, or n -> n with rewrite_in_place.
struct ManualRequest {
  Level level = 0;
  // Level > 0 only: rewrites the files on their level, even where a move would suffice.
  bool rewrite_in_place = false;
  std::optional<std::string> begin;  // user keys, both inclusive; nothing: unbounded
  std::optional<std::string> end;
  // With rewrite_in_place: skips files with this number or a higher one, so that the pass ends.
  uint64_t files_numbered_below = UINT64_MAX;
};
struct ManualPick {
  std::optional<CompactionPlan> plan;
  // True if the range has files that cannot be compacted now, because they, their neighbours or
  // their output are busy. Call again after a running plan ends.
  bool conflict = false;
  // Set if the plan covers only the first part of the range, because a plan for all of it would be
  // too large. Continue after this user key.
  std::optional<std::string> done_through;
};
ManualPick PickManual(const TreeView& view, const LeveledConfig& config,
                      const ManualRequest& request);

}  // namespace ashlar
