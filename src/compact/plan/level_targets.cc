#include "compact/plan/level_targets.h"

#include <algorithm>

#include "base/assert.h"

namespace ashlar {

namespace {

constexpr uint64_t kUnbounded = UINT64_MAX;

uint64_t Scale(uint64_t bytes, double factor) {
  return ToBytes(static_cast<double>(bytes) * factor);
}

double AdditionalMultiplier(const LeveledConfig& config, Level level) {
  const auto& factors = config.max_bytes_for_level_multiplier_additional;
  return level < factors.size() ? static_cast<double>(factors[level]) : 1.0;
}

LevelTargets StaticTargets(const LeveledConfig& config) {
  LevelTargets targets;
  targets.base_level = config.num_levels > 1 ? 1 : 0;
  targets.bytes_max.assign(config.num_levels, config.max_bytes_for_level_base);
  for (Level level = 2; level < config.num_levels; ++level) {
    const size_t i = level;
    targets.bytes_max[i] =
        Scale(Scale(targets.bytes_max[i - 1], config.max_bytes_for_level_multiplier),
              AdditionalMultiplier(config, level - 1));
  }
  return targets;
}

// The base level and its target, for a largest level of `largest_bytes`.
struct BaseLevel {
  Level level;
  uint64_t bytes;
  Level lowest_unnecessary = 0;
};
BaseLevel PlaceBaseLevel(const LeveledConfig& config, Level first_level_with_files,
                         uint64_t largest_bytes) {
  const double multiplier = config.max_bytes_for_level_multiplier;
  const uint64_t base_max = config.max_bytes_for_level_base;
  const uint64_t base_min = Scale(base_max, 1 / multiplier);

  BaseLevel base{.level = first_level_with_files, .bytes = largest_bytes};
  for (Level level = config.num_levels - 2; level >= first_level_with_files; --level) {
    base.bytes = Scale(base.bytes, 1 / multiplier);
    if (base.lowest_unnecessary == 0 && base.bytes <= base_min) base.lowest_unnecessary = level;
  }
  if (base.bytes <= base_min) {
    // The data would fit into fewer levels. The first level with files stays the base level until
    // it is empty.
    base.bytes = base_min + 1;
    return base;
  }
  while (base.level > 1 && base.bytes > base_max) {
    --base.level;
    base.bytes = Scale(base.bytes, 1 / multiplier);
  }
  base.bytes = std::clamp<uint64_t>(base.bytes, 1, base_max);
  return base;
}

LevelTargets DynamicTargets(std::span<const uint64_t> level_bytes, const LeveledConfig& config) {
  LevelTargets targets;
  targets.bytes_max.assign(config.num_levels, kUnbounded);
  const auto first = std::find_if(level_bytes.begin() + 1, level_bytes.end(),
                                  [](uint64_t bytes) { return bytes > 0; });
  if (first == level_bytes.end()) {
    targets.base_level = config.num_levels - 1;
    return targets;
  }
  const uint64_t largest = *std::max_element(first, level_bytes.end());
  const BaseLevel base =
      PlaceBaseLevel(config, static_cast<Level>(first - level_bytes.begin()), largest);
  targets.base_level = base.level;
  targets.lowest_unnecessary_level = base.lowest_unnecessary;
  uint64_t bytes = base.bytes;
  for (Level level = base.level; level < config.num_levels; ++level) {
    // A level may always grow to the base size. With smaller targets the upper levels would compete
    // with level 0 for compactions.
    targets.bytes_max[level] = std::max(bytes, config.max_bytes_for_level_base);
    bytes = Scale(bytes, config.max_bytes_for_level_multiplier);
  }
  return targets;
}

struct LevelSize {
  uint64_t bytes = 0;       // of all files
  uint64_t idle_bytes = 0;  // of files not being compacted, compensated for deletions
  size_t idle_files = 0;
};
LevelSize MeasureLevel(const TreeView& view, Level level, uint64_t average_entry_bytes) {
  LevelSize size;
  for (const FileMetaData* file : view.files(level)) {
    size.bytes += file->file_bytes;
    if (file->being_compacted) continue;
    size.idle_bytes += CompensatedBytes(*file, average_entry_bytes);
    ++size.idle_files;
  }
  return size;
}

double Ratio(uint64_t bytes, uint64_t bytes_max) {
  return static_cast<double>(bytes) / static_cast<double>(std::max<uint64_t>(bytes_max, 1));
}

// Dynamic scores above 1 are multiplied by this. A score that is divided by the bytes on their way
// down thus stays above the threshold.
constexpr double kBatch = 10.0;

double Level0Score(const LevelSize& level0, const LevelSize& base, const LeveledConfig& config,
                   const LevelTargets& targets) {
  double score = static_cast<double>(level0.idle_files) /
                 std::max(1, config.level0_file_num_compaction_trigger);
  if (config.num_levels == 1) return score;
  if (!config.level_compaction_dynamic_level_bytes)
    return std::max(score, Ratio(level0.idle_bytes, config.max_bytes_for_level_base));
  if (level0.idle_bytes >= config.max_bytes_for_level_base) score = std::max(score, 1.01);
  const uint64_t base_max = targets.of(targets.base_level);
  if (level0.idle_bytes > base_max)
    score = std::max(score, Ratio(level0.idle_bytes, std::max(base.bytes, base_max)));
  return score > 1 ? score * kBatch : score;
}

// incoming: bytes that the levels above still have to move down. A level that is about to receive
// many bytes waits, because otherwise it would be compacted twice.
double DeeperLevelScore(const LevelSize& size, Level level, double incoming,
                        const LeveledConfig& config, const LevelTargets& targets) {
  const uint64_t bytes_max = targets.of(level);
  if (!config.level_compaction_dynamic_level_bytes || size.idle_bytes < bytes_max) {
    const double score = Ratio(size.idle_bytes, bytes_max);
    if (!config.level_compaction_dynamic_level_bytes) return score;
    const bool drain = size.idle_bytes > 0 && level <= targets.lowest_unnecessary_level;
    return drain ? std::max(score,
                            kBatch * (1.001 + 0.001 * (targets.lowest_unnecessary_level - level)))
                 : score;
  }
  return static_cast<double>(size.idle_bytes) / (static_cast<double>(bytes_max) + incoming) *
         kBatch;
}

}  // namespace

uint64_t ToBytes(double bytes) {
  // The largest double below 2^64 is 2^64 - 2048. Larger ones must not be converted.
  constexpr double kLargest = 18446744073709549568.0;
  return bytes >= kLargest ? UINT64_MAX : static_cast<uint64_t>(bytes);
}

void LevelTargets::CheckInvariants(std::span<const uint64_t> level_bytes,
                                   const LeveledConfig& config) const {
  ASHLAR_ASSERT(bytes_max.size() == config.num_levels);            // bytes_max: [level]
  ASHLAR_ASSERT(base_level < config.num_levels);                   // I1
  ASHLAR_ASSERT(base_level >= (config.num_levels > 1 ? 1u : 0u));  // I1
  ASHLAR_ASSERT(lowest_unnecessary_level < config.num_levels);     // a level, or 0: none
  if (!config.level_compaction_dynamic_level_bytes) return;
  for (Level level = 1; level < base_level; ++level) ASHLAR_ASSERT(level_bytes[level] == 0);  // I2
}

LevelTargets ComputeLevelTargets(std::span<const uint64_t> level_bytes,
                                 const LeveledConfig& config) {
  ASHLAR_ASSERT(level_bytes.size() == config.num_levels);  // Requires
  const bool dynamic = config.level_compaction_dynamic_level_bytes && config.num_levels > 1;
  LevelTargets targets = dynamic ? DynamicTargets(level_bytes, config) : StaticTargets(config);
  if constexpr (kDebugChecks) targets.CheckInvariants(level_bytes, config);
  return targets;
}

LevelTargets ComputeLevelTargets(const TreeView& view, const LeveledConfig& config) {
  std::vector<uint64_t> level_bytes;
  for (Level level = 0; level < view.num_levels(); ++level) {
    // A MANIFEST may record tables of no bytes, or of more than 2^64 together. Their level must not
    // count as empty, because a compaction must not pass over the tables of a level.
    const uint64_t bytes = view.LevelBytes(level);
    level_bytes.push_back(view.files(level).empty() ? 0 : std::max<uint64_t>(1, bytes));
  }
  return ComputeLevelTargets(level_bytes, config);
}

std::vector<LevelScore> CompactionScores(const TreeView& view, const LeveledConfig& config,
                                         const LevelTargets& targets) {
  const uint64_t average = AverageEntryBytes(view);
  std::vector<LevelSize> sizes;
  for (Level level = 0; level < view.num_levels(); ++level)
    sizes.push_back(MeasureLevel(view, level, average));

  std::vector<LevelScore> scores;
  scores.push_back(
      {.level = 0, .score = Level0Score(sizes[0], sizes[targets.base_level], config, targets)});
  double incoming = static_cast<double>(sizes[0].bytes);
  for (Level level = 1; level + 1 < view.num_levels(); ++level) {
    const LevelSize& size = sizes[level];
    scores.push_back(
        {.level = level, .score = DeeperLevelScore(size, level, incoming, config, targets)});
    if (level <= targets.lowest_unnecessary_level) {
      incoming += static_cast<double>(size.bytes);
    } else if (size.bytes > targets.of(level)) {
      incoming += static_cast<double>(size.bytes - targets.of(level));
    }
  }
  std::sort(scores.begin(), scores.end(), [](const LevelScore& a, const LevelScore& b) {
    return a.score != b.score ? a.score > b.score : a.level < b.level;
  });
  return scores;
}

uint64_t EstimatePendingBytes(std::span<const uint64_t> level_bytes, size_t level0_files,
                              const LeveledConfig& config, const LevelTargets& targets) {
  if (config.num_levels == 1) return 0;
  uint64_t pending = 0;
  uint64_t arriving = 0;  // bytes that the level above will have moved down
  const bool level0_due =
      level0_files >= static_cast<size_t>(std::max(1, config.level0_file_num_compaction_trigger)) ||
      level_bytes[0] >= config.max_bytes_for_level_base;
  if (level0_due) {
    arriving = level_bytes[0];
    pending = arriving + level_bytes[targets.base_level];
  }
  for (Level level = targets.base_level; level + 1 < config.num_levels; ++level) {
    const uint64_t bytes = level_bytes[level] + arriving;
    arriving = 0;
    if (bytes <= targets.of(level)) continue;
    arriving = bytes - targets.of(level);
    const uint64_t next = level_bytes[level + 1];
    // Files move into an empty level without a rewrite.
    if (next > 0) pending += Scale(arriving, Ratio(next, bytes) + 1);
  }
  return pending;
}

uint64_t TargetFileBytes(const LeveledConfig& config, const LevelTargets& targets, Level level) {
  uint64_t bytes = config.target_file_size_base;
  for (Level i = targets.base_level; i < level; ++i)
    bytes = Scale(bytes, config.target_file_size_multiplier);
  return bytes;
}

CompressionChoice ChooseCompression(const LeveledConfig& config, const LevelTargets& targets,
                                    Level last_level, Level level) {
  // If there is only one level, all output of compactions is on the last level.
  const bool bottommost = level >= last_level && (level > 0 || config.num_levels == 1);
  if (bottommost && config.bottommost_compression != kDisableCompressionOption)
    return {.type = config.bottommost_compression, .bottommost = true};
  const auto& per_level = config.compression_per_level;
  if (per_level.empty()) return {.type = config.compression, .bottommost = bottommost};
  // With dynamic sizes the list counts from the base level, so that its first entries are not spent
  // on levels that stay empty.
  const size_t index =
      level == 0 || level < targets.base_level ? 0 : level - targets.base_level + 1;
  return {.type = per_level[std::min(index, per_level.size() - 1)], .bottommost = bottommost};
}

uint64_t CompensatedBytes(const FileMetaData& file, uint64_t average_entry_bytes) {
  if (file.entries == 0 || file.deletions < file.entries - file.deletions) return file.file_bytes;
  // Only the surplus counts, because a tree with as many deletions as other entries keeps its size.
  // It counts twice, because each deletion removes itself and an entry below.
  const uint64_t surplus = file.deletions - (file.entries - file.deletions);
  return file.file_bytes + surplus * average_entry_bytes * 2;
}

uint64_t AverageEntryBytes(const TreeView& view) {
  uint64_t bytes = 0;
  uint64_t entries = 0;
  for (const auto& files : view.levels) {
    for (const FileMetaData* file : files) {
      if (file->entries == 0) continue;
      bytes += file->file_bytes;
      entries += file->entries;
    }
  }
  return entries == 0 ? 0 : bytes / entries;
}

}  // namespace ashlar
