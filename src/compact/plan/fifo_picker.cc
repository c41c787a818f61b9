#include "compact/plan/fifo_picker.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "compact/plan/file_plans.h"
#include "compact/plan/plan_builder.h"

namespace ashlar {

namespace {

struct AgedFile {
  Level level;
  FileMetaData* file;
};

// Oldest first.
std::vector<AgedFile> FilesByAge(const TreeView& view) {
  std::vector<AgedFile> files;
  for (Level level = view.num_levels(); level-- > 0;) {
    const size_t first = files.size();
    for (FileMetaData* file : view.files(level)) files.push_back({level, file});
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(first), files.end(),
              [](const AgedFile& a, const AgedFile& b) {
                return a.file->largest_sequence < b.file->largest_sequence;
              });
  }
  return files;
}

std::optional<CompactionPlan> PlanDrop(const TreeView& view, std::span<const AgedFile> oldest,
                                       PlanReason reason) {
  std::vector<CompactionInputs> inputs;
  for (Level level = 0; level < view.num_levels(); ++level) {
    CompactionInputs own{.level = level, .files = {}};
    for (FileMetaData* file : view.files(level)) {
      if (std::any_of(oldest.begin(), oldest.end(),
                      [file](const AgedFile& aged) { return aged.file == file; }))
        own.files.push_back(file);
    }
    if (!own.files.empty()) inputs.push_back(std::move(own));
  }
  return PlanDropOf(view, std::move(inputs), reason);
}

std::optional<CompactionPlan> PickExpired(const TreeView& view, const FifoConfig& config,
                                          std::span<const AgedFile> files) {
  if (config.ttl_seconds == 0 || view.now_unix_seconds <= config.ttl_seconds) return std::nullopt;
  const uint64_t limit = view.now_unix_seconds - config.ttl_seconds;
  size_t count = 0;
  for (; count < files.size(); ++count) {
    const uint64_t born = files[count].file->creation_unix_seconds;
    if (born == 0 || born >= limit) break;
  }
  return PlanDrop(view, files.first(count), PlanReason::kExpired);
}

std::optional<CompactionPlan> PickOversize(const TreeView& view, const FifoConfig& config,
                                           std::span<const AgedFile> files) {
  uint64_t bytes = 0;
  for (const AgedFile& aged : files) bytes += aged.file->file_bytes;
  size_t count = 0;
  for (; count < files.size() && bytes > config.table_bytes_max; ++count)
    bytes -= files[count].file->file_bytes;
  return PlanDrop(view, files.first(count), PlanReason::kTableBytes);
}

// A file that is as large as a merged one stays as it is.
std::optional<CompactionPlan> PickMerge(const TreeView& view, const CompactionConfig& config) {
  const auto level0 = view.files(0);
  const auto trigger =
      static_cast<size_t>(std::max(2, config.common.level0_file_num_compaction_trigger));
  uint64_t bytes = 0;
  uint64_t bytes_per_file = UINT64_MAX;
  size_t count = 0;
  for (; count < level0.size(); ++count) {
    bytes += level0[count]->file_bytes;
    if (count == 0) continue;
    const uint64_t next = bytes / count;
    if (next > bytes_per_file || next > config.fifo.merged_file_bytes_max ||
        bytes > config.common.max_compaction_bytes)
      break;
    bytes_per_file = next;
  }
  if (count < trigger) return std::nullopt;
  const LevelTargets targets = ComputeLevelTargets(view, config.common);
  const PlanBuilder builder(view, config.common, targets);
  return builder.Build(
      {.level = 0,
       .files = FileList(level0.begin(), level0.begin() + static_cast<std::ptrdiff_t>(count)),
       .output_level = 0,
       .reason = PlanReason::kFewerFiles});
}

// Of a tree in which nothing runs.
std::optional<CompactionPlan> PickIdle(const TreeView& view, const CompactionConfig& config) {
  const std::vector<AgedFile> files = FilesByAge(view);
  if (auto plan = PickExpired(view, config.fifo, files)) return plan;
  if (auto plan = PickOversize(view, config.fifo, files)) return plan;
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
  ASHLAR_ASSERT(view.num_levels() == config.common.num_levels);
  return IsIdle(view) ? PickIdle(view, config) : std::nullopt;
}

bool NeedsFifo(const TreeView& view, const CompactionConfig& config) {
  // The running plans leave another tree, about which the end of each asks again.
  return !IsIdle(view) || PickIdle(view, config).has_value();
}

double FifoScore(const TreeView& view, const CompactionConfig& config) {
  uint64_t bytes = 0;
  for (Level level = 0; level < view.num_levels(); ++level) bytes += view.LevelBytes(level);
  return static_cast<double>(bytes) /
         static_cast<double>(std::max<uint64_t>(1, config.fifo.table_bytes_max));
}

}  // namespace ashlar
