#include "compact/plan/compaction_picker.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "compact/plan/file_plans.h"
#include "compact/plan/plan_builder.h"

namespace ashlar {

namespace {

constexpr size_t kMovedFilesMax = 4;  // files of one move; more would flood the next level
// Neighbours that one compaction moves down. More would save almost nothing (amplification_test).
constexpr size_t kNeighboursMax = 3;
// The fewest files of a merge within level 0 that replaces a compaction into the base level.
constexpr size_t kLevel0RunFilesMin = 4;
// Multiplied by the level multiplier. If level 0 is smaller than the base level by this factor, a
// compaction into the base level is a waste.
constexpr double kLevel0FarSmallerThanBase = 2.0;
// Times the target of the base level. A base level larger than this cannot keep up, because level 0
// receives more than compactions move down.
constexpr uint64_t kBaseIsBehind = 2;

class LeveledPicker {
 public:
  LeveledPicker(const TreeView& view, const LeveledConfig& config, const CompactCursors& cursors)
      : view_(view),
        config_(config),
        cursors_(cursors),
        targets_(ComputeLevelTargets(view, config)),
        builder_(view, config, targets_) {}

  std::optional<CompactionPlan> Pick() const {
    if (auto plan = PlanHiddenFiles(view_)) return plan;
    if (auto plan = PickByScore()) return plan;
    for (const PlanReason reason : kFileReasons) {
      if (auto plan = PickFirst(reason)) return plan;
    }
    return std::nullopt;
  }

  bool Needed() const {
    if (CompactionScores(view_, config_, targets_).front().score >= 1 &&
        (view_.num_levels() > 1 || builder_.MakesFewerFiles(view_.files(0))))
      return true;
    for (Level level = 0; level < view_.num_levels(); ++level) {
      for (const FileMetaData* file : view_.files(level)) {
        if (file->being_compacted) continue;
        if (IsHidden(view_, *file)) return true;
        for (const PlanReason reason : kFileReasons) {
          if (Wants(level, *file, reason)) return true;
        }
      }
    }
    return false;
  }

 private:
  // In order of priority.
  static constexpr PlanReason kFileReasons[] = {PlanReason::kMarked, PlanReason::kCoveredBytes,
                                                PlanReason::kBottommostFiles, PlanReason::kTtl,
                                                PlanReason::kPeriodic};

  std::optional<CompactionPlan> PickByScore() const {
    bool level0_waits = false;
    for (const LevelScore& candidate : CompactionScores(view_, config_, targets_)) {
      if (candidate.score < 1) break;
      if (level0_waits && candidate.level == targets_.base_level) continue;
      if (auto plan = candidate.level == 0 ? PickLevel0() : PickFromLevel(candidate.level))
        return plan;
      level0_waits = level0_waits || candidate.level == 0;
    }
    return std::nullopt;
  }

  // --- level 0 ---

  std::optional<CompactionPlan> PickLevel0() const {
    const bool idle = !AnyBusy(view_.files(0));
    if (idle && targets_.base_level > 0) {
      if (auto plan = MoveOldest()) return plan;
    }
    if (auto plan = MergeSmallLevel0()) return plan;
    if (auto plan = MergeSimilarOfLevel0()) return plan;
    if (idle && targets_.base_level > 0) {
      const FileBounds oldest = TreeFiles::RangeOf(*view_.files(0).back());
      if (auto plan = builder_.Build(
              {0, tree().Closed(0, oldest.range()), targets_.base_level, PlanReason::kLevel0Files}))
        return plan;
    }
    return MergeNewestOfLevel0();
  }

  // Moves the oldest files that overlap neither each other nor the base level.
  std::optional<CompactionPlan> MoveOldest() const {
    const auto level0 = view_.files(0);
    FileList files;
    FileBounds range;
    for (auto it = level0.rbegin(); it != level0.rend(); ++it) {
      const FileBounds own = TreeFiles::RangeOf(**it);
      if (std::any_of(files.begin(), files.end(),
                      [&](const FileMetaData* file) { return tree().Overlap(*file, own.range()); }))
        break;
      FileBounds grown = files.empty() ? own : range;
      tree().Widen(&grown, own);
      if (!tree().Overlapping(targets_.base_level, grown.range()).empty()) break;
      range = grown;
      files.insert(files.begin(), *it);
    }
    // The oldest file could always move into an empty level. Those that overlap it would then drag
    // it along again.
    const bool base_is_empty = view_.files(targets_.base_level).empty();
    if (files.empty() || (base_is_empty && files.size() < level0.size())) return std::nullopt;
    auto plan = builder_.Build({0, files, targets_.base_level, PlanReason::kLevel0Files});
    // As a compaction it would leave out files that should be compacted with these.
    return plan && plan->trivial_move ? plan : std::nullopt;
  }

  std::optional<CompactionPlan> MergeLevel0(FileList files) const {
    if (!builder_.MakesFewerFiles(files)) return std::nullopt;
    return builder_.Build({0, std::move(files), 0, PlanReason::kLevel0Files});
  }

  // Merges the newest files, up to the first busy one. Used if level 0 is the only level or much
  // smaller than the base level, which would have to be rewritten for few bytes.
  std::optional<CompactionPlan> MergeSmallLevel0() const {
    const auto level0 = view_.MergeableLevel0();
    const auto files_min =
        static_cast<size_t>(std::max(2, config_.level0_file_num_compaction_trigger));
    const uint64_t average = AverageEntryBytes(view_);
    double bytes = 0;
    for (const FileMetaData* file : level0)
      bytes += static_cast<double>(CompensatedBytes(*file, average));
    const double factor =
        kLevel0FarSmallerThanBase * std::max(10.0, config_.max_bytes_for_level_multiplier);
    const bool only_level = view_.num_levels() == 1;
    if (!only_level && static_cast<double>(view_.LevelBytes(targets_.base_level)) <= bytes * factor)
      return std::nullopt;
    const auto busy = std::find_if(level0.begin(), level0.end(),
                                   [](const FileMetaData* file) { return file->being_compacted; });
    if (static_cast<size_t>(busy - level0.begin()) < files_min) return std::nullopt;
    return MergeLevel0({level0.begin(), busy});
  }

  // Merges the newest files, up to one that is larger than they are together. Used while the base
  // level is over twice its target and larger than level 0, so that rewriting it would move few
  // bytes at high cost. Level 0 grows in few large files until the rewrite pays.
  std::optional<CompactionPlan> MergeSimilarOfLevel0() const {
    if (view_.num_levels() == 1) return std::nullopt;
    const uint64_t base_bytes = view_.LevelBytes(targets_.base_level);
    if (base_bytes / kBaseIsBehind <= targets_.of(targets_.base_level) ||
        base_bytes <= view_.LevelBytes(0))
      return std::nullopt;
    const auto level0 = view_.MergeableLevel0();
    uint64_t bytes = 0;
    size_t count = 0;
    for (; count < level0.size() && !level0[count]->being_compacted; ++count) {
      const uint64_t next = level0[count]->file_bytes;
      if (next > std::max(bytes, 2 * level0[0]->file_bytes)) break;
      if (bytes + next > config_.max_compaction_bytes) break;
      bytes += next;
    }
    if (count < kLevel0RunFilesMin) return std::nullopt;
    return MergeLevel0({level0.begin(), level0.begin() + static_cast<std::ptrdiff_t>(count)});
  }

  // Used while the base level or level 0 is busy. Merges as many of the newest files as make each
  // file removed cheaper than the one before.
  std::optional<CompactionPlan> MergeNewestOfLevel0() const {
    const auto level0 = view_.MergeableLevel0();
    if (level0.size() <
            static_cast<size_t>(std::max(0, config_.level0_file_num_compaction_trigger)) + 2 ||
        level0[0]->being_compacted)
      return std::nullopt;
    uint64_t bytes = level0[0]->file_bytes;
    uint64_t bytes_per_file = UINT64_MAX;
    size_t count = 1;
    for (; count < level0.size() && !level0[count]->being_compacted; ++count) {
      bytes += level0[count]->file_bytes;
      const uint64_t next = bytes / count;
      if (next > bytes_per_file || bytes > config_.max_compaction_bytes) break;
      bytes_per_file = next;
    }
    if (count < kLevel0RunFilesMin) return std::nullopt;
    return MergeLevel0({level0.begin(), level0.begin() + static_cast<std::ptrdiff_t>(count)});
  }

  // --- deeper levels ---

  struct Cost {
    double value;      // by compaction_pri; the lowest is first
    size_t files = 1;  // that have this cost together: the file and its next neighbours
  };
  struct Candidate {
    bool marked;
    Cost cost;
    bool has_turn;  // decides among equal costs
    size_t index;
    bool operator<(const Candidate& other) const {
      if (marked != other.marked) return marked;
      if (cost.value != other.cost.value) return cost.value < other.cost.value;
      if (has_turn != other.has_turn) return has_turn;
      return index < other.index;
    }
  };

  std::vector<Candidate> Candidates(Level level) const {
    const auto files = view_.files(level);
    const std::vector<Cost> costs = Costs(level);
    std::vector<Candidate> candidates;
    for (size_t i = 0; i < files.size(); ++i) {
      if (files[i]->being_compacted) continue;
      candidates.push_back({.marked = files[i]->marked_for_compaction,
                            .cost = costs[i],
                            .has_turn = HasTurn(level, *files[i]),
                            .index = i});
    }
    std::sort(candidates.begin(), candidates.end());
    return candidates;
  }

  // One cost for each file of the level.
  std::vector<Cost> Costs(Level level) const {
    if (config_.compaction_pri == kMinOverlappingRatio) return OverlapRatios(level);
    const uint64_t average = AverageEntryBytes(view_);
    std::vector<Cost> costs;
    for (const FileMetaData* file : view_.files(level))
      costs.push_back({.value = CostOf(*file, average)});
    return costs;
  }
  double CostOf(const FileMetaData& file, uint64_t average_entry_bytes) const {
    switch (config_.compaction_pri) {
      case kByCompensatedSize:
        return -static_cast<double>(CompensatedBytes(file, average_entry_bytes));
      case kOldestLargestSeqFirst: return static_cast<double>(file.largest_sequence);
      case kOldestSmallestSeqFirst: return static_cast<double>(file.smallest_sequence);
      case kMinOverlappingRatio:
      case kRoundRobin: break;
    }
    return 0;
  }
  // The fewest bytes rewritten below per byte that leaves the level, for the file alone or with its
  // next neighbours. Neighbours share the file below at their common edge.
  std::vector<Cost> OverlapRatios(Level level) const {
    const auto files = view_.files(level);
    const uint64_t average = AverageEntryBytes(view_);
    const std::vector<Overlap> overlaps = OverlapsBelow(level);
    std::vector<Cost> costs;
    for (size_t i = 0; i < files.size(); ++i) {
      Cost least;
      uint64_t own = 0;
      for (size_t count = 1; count <= std::min(kNeighboursMax, files.size() - i); ++count) {
        const FileMetaData& last = *files[i + count - 1];
        own += std::max<uint64_t>(1, CompensatedBytes(last, average));
        const uint64_t below = overlaps[i + count - 1].end - overlaps[i].begin;
        const double ratio = static_cast<double>(below) / static_cast<double>(own);
        const bool is_too_much = last.being_compacted || below > config_.max_compaction_bytes ||
                                 own > config_.max_compaction_bytes - below;
        if (count > 1 && is_too_much) break;
        if (count == 1 || ratio < least.value) least = {.value = ratio, .files = count};
      }
      costs.push_back(least);
    }
    return costs;
  }
  // For each file: the bytes of the level below that precede the files it overlaps, and the same
  // sum including the overlapped files.
  struct Overlap {
    uint64_t begin;
    uint64_t end;
  };
  std::vector<Overlap> OverlapsBelow(Level level) const {
    const auto below = view_.files(level + 1);
    std::vector<Overlap> overlaps;
    size_t next = 0;
    uint64_t before = 0;
    for (const FileMetaData* file : view_.files(level)) {
      for (; next < below.size() &&
             tree().Compare(below[next]->largest_user_key(), file->smallest_user_key()) < 0;
           ++next) {
        before += below[next]->file_bytes;
      }
      uint64_t end = before;
      for (size_t i = next; i < below.size() && tree().Compare(below[i]->smallest_user_key(),
                                                               file->largest_user_key()) <= 0;
           ++i) {
        end += below[i]->file_bytes;
      }
      overlaps.push_back({.begin = before, .end = end});
    }
    return overlaps;
  }
  bool HasTurn(Level level, const FileMetaData& file) const {
    if (config_.compaction_pri == kRoundRobin) {
      const std::string* const next = cursors_.Next(level);
      return next == nullptr || view_.comparator.CompareInternal(file.smallest, *next) >= 0;
    }
    const std::string* const after = cursors_.After(level);
    return after == nullptr || tree().Compare(file.smallest_user_key(), *after) > 0;
  }

  std::optional<CompactionPlan> PickFromLevel(Level level) const {
    for (const Candidate& candidate : Candidates(level)) {
      auto plan = PickFiles(level, candidate.index, candidate.cost.files, level + 1,
                            PlanReason::kLevelSize);
      if (!plan) plan = PickFile(level, candidate.index, level + 1, PlanReason::kLevelSize);
      if (!plan) continue;
      if (config_.compaction_pri == kRoundRobin) SetNextCursor(level, &*plan);
      return plan;
    }
    return std::nullopt;
  }

  // The cursor wraps from the last file of the level to the first.
  void SetNextCursor(Level level, CompactionPlan* plan) const {
    const auto files = view_.files(level);
    const auto last = std::find(files.begin(), files.end(), plan->inputs.front().files.back());
    ASHLAR_ASSERT(last != files.end());  // the inputs are of this level
    const FileMetaData& next = last + 1 == files.end() ? *files.front() : **(last + 1);
    plan->next_cursor = next.smallest;
  }

  std::optional<CompactionPlan> PickFile(Level level, size_t index, Level output_level,
                                         PlanReason reason) const {
    return PickFiles(level, index, 1, output_level, reason);
  }
  // Picks `count` neighbours.
  std::optional<CompactionPlan> PickFiles(Level level, size_t index, size_t count,
                                          Level output_level, PlanReason reason) const {
    const FileList files =
        tree().Closed(level, tree().RangeOf(view_.files(level).subspan(index, count)).range());
    if (output_level != level && level > 0) {
      FileList extended = files;
      ExtendMove(level, output_level, &extended);
      if (auto plan = builder_.Build({level, std::move(extended), output_level, reason}))
        return plan;
    }
    return builder_.Build({level, files, output_level, reason});
  }

  // Extends a move by a few neighbours that would only move, too.
  void ExtendMove(Level level, Level output_level, FileList* files) const {
    const auto all = view_.files(level);
    uint64_t bytes = TotalBytes(*files);
    FileBounds range = tree().RangeOf(*files);
    if (!tree().Overlapping(output_level, range.range()).empty()) return;
    while (files->size() < kMovedFilesMax) {
      const auto next =
          static_cast<size_t>(std::find(all.begin(), all.end(), files->back()) - all.begin()) + 1;
      if (next >= all.size() || all[next]->being_compacted) return;
      const FileList closed = tree().Closed(level, TreeFiles::RangeOf(*all[next]).range());
      bytes += all[next]->file_bytes;
      tree().Widen(&range, TreeFiles::RangeOf(*all[next]));
      if (closed.size() > 1 || bytes > config_.max_compaction_bytes ||
          !tree().Overlapping(output_level, range.range()).empty())
        return;
      files->push_back(all[next]);
    }
  }

  // --- reasons that a file has by itself ---

  bool Wants(Level level, const FileMetaData& file, PlanReason reason) const {
    switch (reason) {
      case PlanReason::kMarked: return file.marked_for_compaction;
      case PlanReason::kCoveredBytes: return CoversMuch(level, file);
      case PlanReason::kBottommostFiles:
        return level > 0 && MayHaveRemains(file) && file.largest_sequence > 0 &&
               file.largest_sequence <= view_.oldest_snapshot &&
               tree().HasNothingBelow(level, TreeFiles::RangeOf(file));
      case PlanReason::kTtl:
        return LeavesByTtl(level) &&
               view_.IsOlder(file.oldest_ancestor_unix_seconds, config_.ttl_seconds);
      case PlanReason::kPeriodic:
        return view_.IsOlder(file.creation_unix_seconds, config_.periodic_compaction_seconds);
      default: return false;
    }
  }
  // Level 0 also moves if no deeper level has files, because deletions are dropped only below it.
  bool LeavesByTtl(Level level) const {
    return level == 0 ? view_.num_levels() > 1 : level < view_.LastLevel();
  }
  bool CoversMuch(Level level, const FileMetaData& file) const {
    return level < view_.LastLevel() &&
           tree().CoversMuch(
               level, file,
               [&] {
                 const Level output_level = OutputLevel(level, PlanReason::kCoveredBytes);
                 return file.file_bytes + TotalBytes(tree().Overlapping(
                                              output_level, TreeFiles::RangeOf(file).range()));
               });
  }

  std::optional<CompactionPlan> PickFirst(PlanReason reason) const {
    for (Level level = 0; level < view_.num_levels(); ++level) {
      const auto files = view_.files(level);
      // One plan at a time takes files of level 0 down.
      if (level == 0 && AnyBusy(files)) continue;
      for (size_t i = 0; i < files.size(); ++i) {
        if (files[i]->being_compacted || !Wants(level, *files[i], reason)) continue;
        if (auto plan = PickFile(level, i, OutputLevel(level, reason), reason)) return plan;
      }
    }
    return std::nullopt;
  }

  Level OutputLevel(Level level, PlanReason reason) const {
    if (reason == PlanReason::kBottommostFiles) return level;
    if (level == 0) return targets_.base_level;
    return level < view_.LastLevel() ? level + 1 : level;
  }

  const TreeFiles& tree() const { return builder_.tree(); }

  const TreeView& view_;
  const LeveledConfig& config_;
  const CompactCursors& cursors_;
  const LevelTargets targets_;
  const PlanBuilder builder_;
};

// The part of a level that one manual compaction takes.
struct ManualFiles {
  FileList files;
  bool more = false;  // later files of the range are left
};
ManualFiles ChooseManualFiles(const TreeFiles& tree, const LeveledConfig& config,
                              const ManualRequest& request) {
  const Slice begin = request.begin.has_value() ? Slice(*request.begin) : Slice();
  const Slice end = request.end.has_value() ? Slice(*request.end) : Slice();
  const UserKeyBounds range{request.begin.has_value() ? &begin : nullptr,
                            request.end.has_value() ? &end : nullptr};
  if (request.level == 0) return {tree.Closed(0, range)};

  auto overlapping = tree.Overlapping(request.level, range);
  if (overlapping.empty()) return {};
  const FileMetaData& last = *overlapping.back();
  if (request.rewrite_in_place) {
    const auto is_new = [&](const FileMetaData* file) {
      return file->number >= request.files_numbered_below;
    };
    while (!overlapping.empty() && is_new(overlapping.front()))
      overlapping = overlapping.subspan(1);
    const auto first_new = std::find_if(overlapping.begin(), overlapping.end(), is_new);
    overlapping = overlapping.first(static_cast<size_t>(first_new - overlapping.begin()));
  }
  if (overlapping.empty()) return {};
  // A part also rewrites what the next level has between the part's first and last key.
  const auto below = request.rewrite_in_place
                         ? std::span<FileMetaData* const>()
                         : tree.Overlapping(request.level + 1, tree.RangeOf(overlapping).range());
  size_t counted = 0;  // files of `below` that are counted
  const auto bytes_with = [&](const FileMetaData& file) {
    uint64_t bytes = file.file_bytes;
    const FileBounds bounds = TreeFiles::RangeOf(file);
    while (counted < below.size() && (tree.EndsBefore(*below[counted], bounds.smallest) ||
                                      tree.Overlap(*below[counted], bounds.range())))
      bytes += below[counted++]->file_bytes;
    return bytes;
  };
  size_t count = 1;
  for (uint64_t bytes = bytes_with(*overlapping[0]); count < overlapping.size(); ++count) {
    bytes += bytes_with(*overlapping[count]);
    if (bytes > config.max_compaction_bytes) break;
  }
  ManualFiles chosen{tree.Closed(request.level, tree.RangeOf(overlapping.first(count)).range())};
  chosen.more = tree.Compare(chosen.files.back()->largest_user_key(), last.largest_user_key()) < 0;
  return chosen;
}

}  // namespace

void CompactCursors::Advance(const CompactionPlan& plan) {
  const Level level = plan.start_level();
  // A Version has at most kLevelsMax levels, and a plan has no level without files.
  ASHLAR_ASSERT(level < kLevelsMax && !plan.inputs.front().files.empty());
  if (level == 0 || plan.reason != PlanReason::kLevelSize) return;
  if (!plan.next_cursor.empty()) SetNext(level, plan.next_cursor);
  if (after_.size() <= level) after_.resize(level + 1);
  after_[level] = plan.inputs.front().files.back()->largest_user_key().ToString();
}

const std::string* CompactCursors::Next(Level level) const {
  return level < next_.size() && next_[level].has_value() ? &*next_[level] : nullptr;
}

void CompactCursors::SetNext(Level level, const std::string& internal_key) {
  ASHLAR_ASSERT(level < kLevelsMax);  // I3 of version_edit.h
  if (next_.size() <= level) next_.resize(level + 1);
  next_[level] = internal_key;
}

const std::string* CompactCursors::After(Level level) const {
  return level < after_.size() && after_[level].has_value() ? &*after_[level] : nullptr;
}

std::optional<CompactionPlan> PickCompaction(const TreeView& view, const LeveledConfig& config,
                                             const CompactCursors& cursors) {
  ASHLAR_ASSERT(view.num_levels() == config.num_levels);  // TreeView has the config's levels
  return LeveledPicker(view, config, cursors).Pick();
}

bool NeedsCompaction(const TreeView& view, const LeveledConfig& config) {
  return LeveledPicker(view, config, CompactCursors()).Needed();
}

ManualPick PickManual(const TreeView& view, const LeveledConfig& config,
                      const ManualRequest& request) {
  // ManualRequest: a level of the tree; level 0 is not rewritten in place.
  ASHLAR_ASSERT(request.level < view.num_levels() &&
                (request.level > 0 || !request.rewrite_in_place));
  const LevelTargets targets = ComputeLevelTargets(view, config);
  const PlanBuilder builder(view, config, targets);
  const ManualFiles chosen = ChooseManualFiles(builder.tree(), config, request);
  ManualPick pick;
  if (chosen.files.empty()) return pick;
  const Level next_level = request.level == 0 ? targets.base_level : request.level + 1;
  // At most one plan at a time takes files of level 0 to the base level.
  if (request.level != 0 || !AnyBusy(view.files(0))) {
    pick.plan =
        builder.Build({.level = request.level,
                       .files = chosen.files,
                       .output_level = request.rewrite_in_place ? request.level : next_level,
                       .reason = PlanReason::kManual,
                       .may_move = !request.rewrite_in_place && !config.has_filter});
  }
  pick.conflict = !pick.plan.has_value();
  ASHLAR_ASSERT(!pick.plan || pick.plan->start_level() == request.level);  // from Start::level
  if (pick.plan && chosen.more)
    pick.done_through = pick.plan->inputs.front().files.back()->largest_user_key().ToString();
  return pick;
}

}  // namespace ashlar
