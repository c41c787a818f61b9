#include "compact/plan/fifo_picker.h"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "compact/plan/file_plans.h"
#include "compact/plan/plan_builder.h"

namespace ashlar {

namespace {

// A merge takes data that is at most a tenth of the ttl old (I2).
constexpr uint64_t kTtlPerAgeOfMergedData = 10;

// Files that are dropped together (TreeFiles::Groups). A group is as old as its youngest file.
struct FileGroup {
  std::span<FileMetaData* const> files;
  SequenceNumber largest_sequence = 0;
  uint64_t born_unix_seconds = 0;  // 0: unknown for some file
  uint64_t bytes = 0;
};

FileGroup MakeGroup(std::span<FileMetaData* const> files) {
  FileGroup group{.files = files, .bytes = TotalBytes(files)};
  bool known = true;
  for (const FileMetaData* file : files) {
    group.largest_sequence = std::max(group.largest_sequence, file->largest_sequence);
    group.born_unix_seconds = std::max(group.born_unix_seconds, file->creation_unix_seconds);
    known &= file->creation_unix_seconds != 0;
  }
  if (!known) group.born_unix_seconds = 0;
  return group;
}

// Oldest first. Only old versions of RocksDB left files above level 0 that share user keys.
std::vector<FileGroup> GroupsByAge(const TreeView& view) {
  const TreeFiles tree(view);
  std::vector<FileGroup> groups;
  for (Level level = view.num_levels(); level-- > 0;) {
    const size_t first = groups.size();
    for (const auto files : tree.Groups(level)) groups.push_back(MakeGroup(files));
    // Level 0 is ordered by age, even where files have no recorded sequences.
    if (!IsSorted(level)) {
      std::reverse(groups.begin() + static_cast<std::ptrdiff_t>(first), groups.end());
      continue;
    }
    std::sort(groups.begin() + static_cast<std::ptrdiff_t>(first), groups.end(),
              [](const FileGroup& a, const FileGroup& b) {
                return a.largest_sequence < b.largest_sequence;
              });
  }
  return groups;
}

std::optional<CompactionPlan> PlanDrop(const TreeView& view, std::span<const FileGroup> oldest,
                                       PlanReason reason) {
  std::unordered_set<const FileMetaData*> dropped;
  for (const FileGroup& group : oldest) dropped.insert(group.files.begin(), group.files.end());
  if (dropped.empty()) return std::nullopt;
  std::vector<CompactionInputs> inputs;
  for (Level level = 0; level < view.num_levels(); ++level) {
    CompactionInputs own{.level = level, .files = {}};
    for (FileMetaData* file : view.files(level)) {
      if (dropped.contains(file)) own.files.push_back(file);
    }
    if (!own.files.empty()) inputs.push_back(std::move(own));
  }
  return PlanDropOf(view, std::move(inputs), reason);
}

std::optional<CompactionPlan> PickExpired(const TreeView& view, const FifoConfig& config,
                                          std::span<const FileGroup> groups) {
  size_t count = 0;
  while (count < groups.size() && view.IsOlder(groups[count].born_unix_seconds, config.ttl_seconds))
    ++count;
  return PlanDrop(view, groups.first(count), PlanReason::kExpired);
}

std::optional<CompactionPlan> PickOversize(const TreeView& view, const FifoConfig& config,
                                           std::span<const FileGroup> groups) {
  uint64_t bytes = 0;
  for (const FileGroup& group : groups) bytes += group.bytes;
  size_t count = 0;
  for (; count < groups.size() && bytes > config.table_bytes_max; ++count)
    bytes -= groups[count].bytes;
  return PlanDrop(view, groups.first(count), PlanReason::kTableBytes);
}

// Returns the number of files to merge. Files are added as long as each lowers the cost, in bytes
// written per file removed. 0: too few, or too costly. The limit applies to the cost of all
// together. With files of equal size, two cost twice that size, and five 1.25 times.
size_t CountMerged(std::span<FileMetaData* const> files, const CompactionConfig& config) {
  const auto trigger =
      static_cast<size_t>(std::max(2, config.common.level0_file_num_compaction_trigger));
  uint64_t bytes = 0;
  uint64_t bytes_per_file = UINT64_MAX;
  size_t count = 0;
  for (; count < files.size(); ++count) {
    bytes += files[count]->file_bytes;
    if (count == 0) continue;
    const uint64_t next = bytes / count;
    if (next > bytes_per_file || bytes > config.common.max_compaction_bytes) break;
    bytes_per_file = next;
  }
  return count < trigger || bytes_per_file > config.fifo.merged_file_bytes_max ? 0 : count;
}

// True if the data is too old to merge. The merged file is new, and stays for another full ttl.
bool IsTooOldToMerge(const TreeView& view, const FifoConfig& config, const FileMetaData& file) {
  if (config.ttl_seconds == 0) return false;
  const uint64_t oldest = file.oldest_ancestor_unix_seconds != 0 ? file.oldest_ancestor_unix_seconds
                                                                 : file.creation_unix_seconds;
  return view.IsOlder(oldest, std::max<uint64_t>(1, config.ttl_seconds / kTtlPerAgeOfMergedData));
}

// Merges the newest files for which it pays. No merge starts at a file that exceeds the limit.
std::optional<CompactionPlan> PickMerge(const TreeView& view, const CompactionConfig& config) {
  std::span<FileMetaData* const> level0 = view.MergeableLevel0();
  const auto too_old = std::find_if(level0.begin(), level0.end(), [&](const FileMetaData* file) {
    return IsTooOldToMerge(view, config.fifo, *file);
  });
  level0 = level0.first(static_cast<size_t>(too_old - level0.begin()));
  for (size_t first = 0; first < level0.size(); ++first) {
    if (level0[first]->file_bytes > config.fifo.merged_file_bytes_max) continue;
    if (!view.StaysBelowNewer(*level0[first])) continue;  // I10 of compaction_plan.h
    const auto older = level0.subspan(first);
    const size_t count = CountMerged(older, config);
    if (count == 0) continue;
    const LevelTargets targets = ComputeLevelTargets(view, config.common);
    const PlanBuilder builder(view, config.common, targets);
    if (!builder.MakesFewerFiles(older.first(count))) continue;
    return builder.Build(
        {.level = 0,
         .files = FileList(older.begin(), older.begin() + static_cast<std::ptrdiff_t>(count)),
         .output_level = 0,
         .reason = PlanReason::kFewerFiles});
  }
  return std::nullopt;
}

// Requires: no plan runs on the tree.
std::optional<CompactionPlan> PickIdle(const TreeView& view, const CompactionConfig& config) {
  const std::vector<FileGroup> groups = GroupsByAge(view);
  if (auto plan = PickExpired(view, config.fifo, groups)) return plan;
  if (auto plan = PickOversize(view, config.fifo, groups)) return plan;
  return config.fifo.may_compact ? PickMerge(view, config) : std::nullopt;
}

bool IsIdle(const TreeView& view) {
  if (!view.running.empty()) return false;
  for (Level level = 0; level < view.num_levels(); ++level) {
    if (AnyBusy(view.files(level))) return false;
  }
  return true;
}

}  // namespace

std::optional<CompactionPlan> PickFifo(const TreeView& view, const CompactionConfig& config) {
  ASHLAR_ASSERT(view.num_levels() == config.common.num_levels);  // TreeView has the config's levels
  return IsIdle(view) ? PickIdle(view, config) : std::nullopt;
}

bool NeedsFifo(const TreeView& view, const CompactionConfig& config) {
  // Running plans change the tree, and NeedsFifo is called again at the end of each.
  return !IsIdle(view) || PickIdle(view, config).has_value();
}

double FifoScore(const TreeView& view, const CompactionConfig& config) {
  uint64_t bytes = 0;
  for (Level level = 0; level < view.num_levels(); ++level) bytes += view.LevelBytes(level);
  return static_cast<double>(bytes) /
         static_cast<double>(std::max<uint64_t>(1, config.fifo.table_bytes_max));
}

}  // namespace ashlar
