// The target size of each level, the urgency of each level, and the bytes that compactions still
// have to move.
//
// Static sizes: level 1 has max_bytes_for_level_base. Each further level is larger by the
// multiplier. Dynamic sizes (level_compaction_dynamic_level_bytes): the targets are divided down
// from the size of the largest level, so that the upper levels have about 1/multiplier of the data.
// The first level whose target is at most max_bytes_for_level_base is the base level. Level 0 is
// compacted into it, and the levels between are empty.
//
//   largest level 300 GB, base 256 MB, multiplier 10:
//     L6 300 GB   L5 30 GB   L4 3 GB   L3 0.3 GB -> L2 30 MB = base level   L1 empty
//
// I1: 1 <= base_level < num_levels. With num_levels == 1 base_level is 0.
// I2: in dynamic mode levels 1 .. base_level - 1 have no files.
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compact/plan/compaction_plan.h"
#include "compact/plan/leveled_config.h"

namespace ashlar {

// Converts a computed number of bytes, which is not negative. Returns UINT64_MAX if it is larger,
// so that limits beyond all sizes stay beyond them.
uint64_t ToBytes(double bytes);

struct LevelTargets {
  Level base_level = 1;
  // Levels 1 to this one have to be emptied into lower levels, because the tree needs fewer levels
  // than it has. 0: none.
  Level lowest_unnecessary_level = 0;
  std::vector<uint64_t> bytes_max;  // [level]; UINT64_MAX: never compacted for its size

  uint64_t of(Level level) const { return bytes_max[level]; }
  // Asserts I1, and I2 for dynamic sizes.
  void CheckInvariants(std::span<const uint64_t> level_bytes, const LeveledConfig& config) const;
};
// level_bytes has one entry for every level of the config.
LevelTargets ComputeLevelTargets(std::span<const uint64_t> level_bytes,
                                 const LeveledConfig& config);
LevelTargets ComputeLevelTargets(const TreeView& view, const LeveledConfig& config);

struct LevelScore {
  Level level = 0;
  double score = 0;  // >= 1: a compaction is due
};
// Returns one score per level except the last, the highest first. Files being compacted do not
// count. A file with many deletions counts for more than its bytes.
std::vector<LevelScore> CompactionScores(const TreeView& view, const LeveledConfig& config,
                                         const LevelTargets& targets);

// Estimate of the bytes that compactions would have to read and write until every level is within
// its target.
uint64_t EstimatePendingBytes(std::span<const uint64_t> level_bytes, size_t level0_files,
                              const LeveledConfig& config, const LevelTargets& targets);

// The bytes at which files written to `level` are cut.
uint64_t TargetFileBytes(const LeveledConfig& config, const LevelTargets& targets, Level level);

// The codec for files that compactions write to `level`. last_level: the deepest level that holds
// files.
struct CompressionChoice {
  CompressionType type = kNoCompression;
  // True for the last level that has files. bottommost_compression_opts then apply if they are
  // enabled, even if bottommost_compression is not set.
  bool bottommost = false;
};
CompressionChoice ChooseCompression(const LeveledConfig& config, const LevelTargets& targets,
                                    Level last_level, Level level);

// Returns the file's bytes, or more if deletions prevail, because compacting such files frees space
// below. average_entry_bytes: of the whole tree.
uint64_t CompensatedBytes(const FileMetaData& file, uint64_t average_entry_bytes);
uint64_t AverageEntryBytes(const TreeView& view);

}  // namespace ashlar
