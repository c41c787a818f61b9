// Plans for given files, which are not chosen by the shape of the tree: files that range tombstones
// hide, files in a deleted range, the files of CompactFiles and PromoteL0, and the files of a level
// that CompactRange moves to another level.
//
// Thread safety: pure functions; call under the mutex that guards the view.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ashlar/compression_type.h"
#include "base/result.h"
#include "compact/plan/compaction_plan.h"
#include "compact/plan/leveled_config.h"
#include "manifest/level_files.h"

namespace ashlar {

// True if no reader at the oldest snapshot or later sees anything of the file.
inline bool IsHidden(const TreeView& view, const FileMetaData& file) {
  return file.coverage.hidden_since != 0 && file.coverage.hidden_since <= view.oldest_snapshot;
}
// Drops all hidden files that are in no other plan. Returns nothing if there are none.
std::optional<CompactionPlan> PlanHiddenFiles(const TreeView& view);

// Drops the inputs. Returns nothing if there are none. Requires: no level without files.
std::optional<CompactionPlan> PlanDropOf(const TreeView& view, std::vector<CompactionInputs> inputs,
                                         PlanReason reason);

// Drops the files of sorted levels that are completely inside one of the ranges. Neighbours that
// share a user key are dropped together or not at all, and files in other plans stay. include_end
// false: the largest keys of the ranges are excluded. Returns nothing if there are no such files.
std::optional<CompactionPlan> PlanFilesInRanges(const TreeView& view,
                                                std::span<const UserKeyRange> ranges,
                                                bool include_end);

// Drops one file: the plan of DB::DeleteFile. Returns nothing if another plan has it. NotFound:
// there is no such file. InvalidArgument: without it older versions of its keys could appear.
Result<std::optional<CompactionPlan>> PlanDropOfFile(const TreeView& view, FileNumber number);

// Marks the files that have keys of the range, except those of the last level with files. Call
// under the mutex that guards the marks.
void MarkForCompaction(const TreeView& view, const UserKeyRange& range);

struct FilesRequest {
  std::vector<FileNumber> files;
  Level output_level = 0;
  // kDisableCompressionOption: the compression of the output level.
  CompressionType compression = kDisableCompressionOption;
  uint64_t output_file_bytes_max = UINT64_MAX;
  bool may_move = false;
};
// The plan of DB::CompactFiles: compacts the files, and those that have to move with them, to the
// output level. InvalidArgument: a file or the level does not exist, or a file is deeper. Aborted:
// a running plan has one of the files, or writes to the same keys.
Result<CompactionPlan> PlanFiles(const TreeView& view, const LeveledConfig& config,
                                 const FilesRequest& request);

// Moves all files of `from` to `to`. Without `to` they move up to the smallest level that can hold
// them, as long as the levels on the way are empty. Returns no plan if they are there already or
// there are none. InvalidArgument: there is no such level. NotSupported: `to` or a level on the way
// has files, or `from` is level 0. Aborted: more than one file would move to level 0, or a memtable
// has older entries than the one file. Requires: no plan runs.
Result<std::optional<CompactionPlan>> PlanRefit(const TreeView& view, const LeveledConfig& config,
                                                Level from, std::optional<Level> to);
// The plan of DB::PromoteL0: moves all files of level 0 to `to`. Returns no plan if there are none.
// InvalidArgument: there is no such level below level 0, two files overlap, or a level down to `to`
// has files. Requires: no plan runs.
Result<std::optional<CompactionPlan>> PlanMoveOfLevel0(const TreeView& view,
                                                       const LeveledConfig& config, Level to);
// Returns the deepest level with a file that has keys of the range, or nothing if none has.
std::optional<Level> DeepestLevelOf(const TreeView& view, const UserKeyRange& range);

}  // namespace ashlar
