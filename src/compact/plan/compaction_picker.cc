#include "compact/plan/compaction_picker.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace ashlar {

namespace {

using Files = std::vector<FileMetaData*>;

constexpr size_t kMovedFilesMax = 4;  // of one move: more would flood the next level
constexpr size_t kLevel0RunFilesMin =
    4;  // of a compaction within level 0 that is done because the way down is busy
// Times the level multiplier: how much smaller than the base level level 0 must be for a compaction
// into it to be a waste.
constexpr double kLevel0FarSmallerThanBase = 2.0;

// User keys, both ends included unless the largest is excluded; null: unbounded.
struct Range {
  const Slice* smallest = nullptr;
  const Slice* largest = nullptr;
  bool excludes_largest = false;  // the end of a range tombstone
};
struct ClosedRange {
  Slice smallest;
  Slice largest;
  bool excludes_largest = false;
  Range range() const { return {&smallest, &largest, excludes_largest}; }
};

bool AnyBusy(std::span<FileMetaData* const> files) {
  return std::any_of(files.begin(), files.end(),
                     [](const FileMetaData* file) { return file->being_compacted; });
}
uint64_t TotalBytes(std::span<FileMetaData* const> files) {
  uint64_t bytes = 0;
  for (const FileMetaData* file : files) bytes += file->file_bytes;
  return bytes;
}

// Questions about key ranges and files.
class Tree {
 public:
  explicit Tree(const TreeView& view) : view_(view) {}

  int Compare(const Slice& a, const Slice& b) const { return view_.comparator.Compare(a, b); }
  bool Overlap(const FileMetaData& file, const Range& range) const {
    return (range.smallest == nullptr || !EndsBefore(file, *range.smallest)) &&
           (range.largest == nullptr || !BeginsAfter(file, range));
  }
  bool Overlap(const ClosedRange& a, const ClosedRange& b) const {
    return !IsAfter(b.smallest, a.range()) && !IsAfter(a.smallest, b.range());
  }

  static ClosedRange RangeOf(const FileMetaData& file) {
    return {file.smallest_user_key(), file.largest_user_key(), file.excludes_largest()};
  }
  void Widen(ClosedRange* range, const ClosedRange& other) const {
    if (Compare(other.smallest, range->smallest) < 0) range->smallest = other.smallest;
    const int r = Compare(other.largest, range->largest);
    if (r > 0) {
      range->largest = other.largest;
      range->excludes_largest = other.excludes_largest;
    } else if (r == 0 && !other.excludes_largest) {
      range->excludes_largest = false;
    }
  }
  ClosedRange RangeOf(std::span<FileMetaData* const> files) const {
    ClosedRange range = RangeOf(*files.front());
    for (const FileMetaData* file : files) Widen(&range, RangeOf(*file));
    return range;
  }

  // Files that overlap, without closing the set. Levels above 0 keep files sorted, so these are
  // neighbours.
  std::span<FileMetaData* const> Overlapping(Level level, const Range& range) const {
    const auto files = view_.files(level);
    const auto begin =
        range.smallest == nullptr
            ? files.begin()
            : std::partition_point(files.begin(), files.end(), [&](const FileMetaData* file) {
                return EndsBefore(*file, *range.smallest);
              });
    const auto end = range.largest == nullptr
                         ? files.end()
                         : std::partition_point(begin, files.end(), [&](const FileMetaData* file) {
                             return !BeginsAfter(*file, range);
                           });
    return {begin, end};
  }

  // The overlapping files, and the files that must move with them (I1 of compaction_plan.h).
  Files Closed(Level level, const Range& range) const {
    return IsSorted(level) ? ClosedOnSortedLevel(level, range) : ClosedOnLevel0(range);
  }

 private:
  // Whether the key is after all of the range, which has a largest key.
  bool IsAfter(const Slice& user_key, const Range& range) const {
    const int r = Compare(user_key, *range.largest);
    return r > 0 || (r == 0 && range.excludes_largest);
  }
  bool BeginsAfter(const FileMetaData& file, const Range& range) const {
    return IsAfter(file.smallest_user_key(), range);
  }
  bool EndsBefore(const FileMetaData& file, const Slice& user_key) const {
    return file.EndsBefore(view_.comparator, user_key);
  }

  Files ClosedOnLevel0(const Range& range) const {
    const auto all = view_.files(0);
    std::vector<bool> taken(all.size(), false);
    Slice smallest;
    Slice largest;
    Range grown = range;
    for (bool again = true; again;) {
      again = false;
      for (size_t i = 0; i < all.size(); ++i) {
        if (taken[i] || !Overlap(*all[i], grown)) continue;
        taken[i] = true;
        again = true;
        if (grown.smallest != nullptr &&
            Compare(all[i]->smallest_user_key(), *grown.smallest) < 0) {
          smallest = all[i]->smallest_user_key();
          grown.smallest = &smallest;
        }
        if (grown.largest == nullptr) continue;
        const int r = Compare(all[i]->largest_user_key(), *grown.largest);
        if (r > 0 || (r == 0 && !all[i]->excludes_largest())) {
          largest = all[i]->largest_user_key();
          grown.largest = &largest;
          grown.excludes_largest = all[i]->excludes_largest();
        }
      }
    }
    Files files;
    for (size_t i = 0; i < all.size(); ++i) {
      if (taken[i]) files.push_back(all[i]);
    }
    return files;
  }

  Files ClosedOnSortedLevel(Level level, const Range& range) const {
    const auto all = view_.files(level);
    const auto overlapping = Overlapping(level, range);
    if (overlapping.empty()) return {};
    auto first = static_cast<size_t>(overlapping.data() - all.data());
    size_t last = first + overlapping.size() - 1;
    while (first > 0 && ShareUserKey(*all[first - 1], *all[first])) --first;
    while (last + 1 < all.size() && ShareUserKey(*all[last], *all[last + 1])) ++last;
    return {all.data() + first, all.data() + last + 1};
  }

  bool ShareUserKey(const FileMetaData& left, const FileMetaData& right) const {
    return !left.excludes_largest() &&
           Compare(left.largest_user_key(), right.smallest_user_key()) == 0;
  }

  const TreeView& view_;
};

// Turns the files that a compaction starts from into a plan, or finds that it cannot run now.
class PlanBuilder {
 public:
  struct Start {
    Level level;
    Files files;  // closed
    Level output_level;
    PlanReason reason;
    bool may_move = true;
  };

  PlanBuilder(const TreeView& view, const LeveledConfig& config, const LevelTargets& targets)
      : view_(view),
        config_(config),
        targets_(targets),
        tree_(view),
        last_level_(view.LastLevel()) {}

  const Tree& tree() const { return tree_; }

  std::optional<CompactionPlan> Build(Start start) const {
    ASHLAR_ASSERT(start.output_level < view_.num_levels());
    if (start.files.empty() || AnyBusy(start.files)) return std::nullopt;
    Files below;
    if (start.output_level != start.level) {
      below = tree_.Closed(start.output_level, tree_.RangeOf(start.files).range());
      if (AnyBusy(below)) return std::nullopt;
      if (!below.empty()) GrowForFree(&start, below);
    }
    CompactionPlan plan;
    plan.output_level = start.output_level;
    plan.reason = start.reason;
    plan.inputs.push_back({start.level, start.files});
    if (!below.empty()) plan.inputs.push_back({start.output_level, below});
    SetRange(&plan);
    if (OutputIsTaken(plan)) return std::nullopt;
    Complete(&plan, start.may_move);
    if constexpr (kDebugChecks) CheckPlanInvariants(view_, plan);
    AssertPlanFits(view_, plan);  // I5 of compaction_plan.h
    return plan;
  }

 private:
  // Adds files of the start level whose range is rewritten anyway. They cost nothing.
  void GrowForFree(Start* start, const Files& below) const {
    ClosedRange all = tree_.RangeOf(start->files);
    tree_.Widen(&all, tree_.RangeOf(below));
    Files grown = tree_.Closed(start->level, all.range());
    if (grown.size() <= start->files.size() || AnyBusy(grown)) return;
    const uint64_t limit = config_.max_compaction_bytes > UINT64_MAX / 2
                               ? UINT64_MAX
                               : config_.max_compaction_bytes * 2;
    if (TotalBytes(grown) + TotalBytes(below) >= limit) return;
    if (tree_.Closed(start->output_level, tree_.RangeOf(grown).range()).size() != below.size())
      return;
    start->files = std::move(grown);
  }

  void SetRange(CompactionPlan* plan) const {
    ClosedRange range = tree_.RangeOf(plan->inputs.front().files);
    for (const CompactionInputs& inputs : plan->inputs)
      tree_.Widen(&range, tree_.RangeOf(inputs.files));
    plan->smallest = range.smallest.ToString();
    plan->largest = range.largest.ToString();
    plan->excludes_largest = range.excludes_largest;
  }

  bool OutputIsTaken(const CompactionPlan& plan) const {
    if (!IsSorted(plan.output_level)) return false;
    const ClosedRange range{plan.smallest, plan.largest, plan.excludes_largest};
    return std::any_of(
        view_.running.begin(), view_.running.end(), [&](const CompactionPlan* other) {
          return other->output_level == plan.output_level &&
                 tree_.Overlap(range, {other->smallest, other->largest, other->excludes_largest});
        });
  }

  void Complete(CompactionPlan* plan, bool may_move) const {
    const Slice smallest(plan->smallest);
    const Slice largest(plan->largest);
    if (!IsSorted(plan->output_level)) plan->older = OlderLevel0Files(*plan);
    for (Level level = plan->output_level + 1; level < view_.num_levels(); ++level) {
      const auto overlapping =
          tree_.Overlapping(level, {&smallest, &largest, plan->excludes_largest});
      if (!overlapping.empty()) plan->older.emplace_back(overlapping.begin(), overlapping.end());
    }
    if (IsSorted(plan->output_level)) {
      if (!plan->older.empty()) plan->grandparents = plan->older.front();
      plan->bottommost = plan->older.empty();
    }

    const CompressionChoice compression =
        ChooseCompression(config_, targets_, last_level_, plan->output_level);
    plan->compression = compression.type;
    plan->bottommost_compression = compression.bottommost;
    plan->max_grandparent_overlap_bytes = config_.max_compaction_bytes;
    // A run is one file on level 0.
    const bool cut = IsSorted(plan->output_level);
    plan->max_output_file_bytes =
        cut ? TargetFileBytes(config_, targets_, plan->output_level) : UINT64_MAX;
    plan->max_subcompactions = cut ? std::max<uint32_t>(1, config_.max_subcompactions) : 1;
    plan->trivial_move = may_move && MayMove(*plan);
  }

  // The files of level 0 that are older than the inputs and share keys with them, a run each.
  std::vector<Files> OlderLevel0Files(const CompactionPlan& plan) const {
    const Slice smallest(plan.smallest);
    const Slice largest(plan.largest);
    const auto all = view_.files(0);  // newest first
    std::vector<Files> older;
    for (auto file = all.rbegin(); *file != plan.inputs.front().files.back(); ++file) {
      if (tree_.Overlap(**file, {&smallest, &largest, plan.excludes_largest}))
        older.push_back({*file});
    }
    std::reverse(older.begin(), older.end());
    return older;
  }

  bool MayMove(const CompactionPlan& plan) const {
    if (plan.inputs.size() != 1 || plan.start_level() == plan.output_level) return false;
    if (ChooseCompression(config_, targets_, last_level_, plan.start_level()).type !=
        plan.compression)
      return false;
    const Files& files = plan.inputs.front().files;
    for (size_t i = 0; i < files.size(); ++i) {
      const ClosedRange range = Tree::RangeOf(*files[i]);
      for (size_t j = 0; !IsSorted(plan.start_level()) && j < i; ++j) {
        if (tree_.Overlap(*files[j], range.range())) return false;
      }
      // A file that overlaps much of the level below the next would be expensive to compact from
      // there.
      if (plan.output_level + 1 == view_.num_levels()) continue;
      if (files[i]->file_bytes +
              TotalBytes(tree_.Overlapping(plan.output_level + 1, range.range())) >
          config_.max_compaction_bytes)
        return false;
    }
    return true;
  }

  const TreeView& view_;
  const LeveledConfig& config_;
  const LevelTargets& targets_;
  const Tree tree_;
  const Level last_level_;
};

class LeveledPicker {
 public:
  LeveledPicker(const TreeView& view, const LeveledConfig& config, const CompactCursors& cursors)
      : view_(view),
        config_(config),
        cursors_(cursors),
        targets_(ComputeLevelTargets(view, config)),
        builder_(view, config, targets_) {}

  std::optional<CompactionPlan> Pick() const {
    if (auto plan = PickByScore()) return plan;
    if (auto plan = PickFirst(PlanReason::kMarked)) return plan;
    if (auto plan = PickFirst(PlanReason::kBottommostDeletes)) return plan;
    if (auto plan = PickFirst(PlanReason::kTtl)) return plan;
    return PickFirst(PlanReason::kPeriodic);
  }

  bool Needed() const {
    if (CompactionScores(view_, config_, targets_).front().score >= 1) return true;
    for (Level level = 0; level < view_.num_levels(); ++level) {
      for (const FileMetaData* file : view_.files(level)) {
        if (file->being_compacted) continue;
        for (const PlanReason reason : kFileReasons) {
          if (Wants(level, *file, reason)) return true;
        }
      }
    }
    return false;
  }

 private:
  static constexpr PlanReason kFileReasons[] = {PlanReason::kMarked, PlanReason::kBottommostDeletes,
                                                PlanReason::kTtl, PlanReason::kPeriodic};

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
    if (idle && targets_.base_level > 0) {
      const ClosedRange oldest = Tree::RangeOf(*view_.files(0).back());
      if (auto plan = builder_.Build(
              {0, tree().Closed(0, oldest.range()), targets_.base_level, PlanReason::kLevel0Files}))
        return plan;
    }
    return MergeNewestOfLevel0();
  }

  // Oldest files that overlap neither each other nor the base level.
  std::optional<CompactionPlan> MoveOldest() const {
    const auto level0 = view_.files(0);
    Files files;
    ClosedRange range;
    for (auto it = level0.rbegin(); it != level0.rend(); ++it) {
      const ClosedRange own = Tree::RangeOf(**it);
      if (std::any_of(files.begin(), files.end(),
                      [&](const FileMetaData* file) { return tree().Overlap(*file, own.range()); }))
        break;
      ClosedRange grown = files.empty() ? own : range;
      tree().Widen(&grown, own);
      if (!tree().Overlapping(targets_.base_level, grown.range()).empty()) break;
      range = grown;
      files.insert(files.begin(), *it);
    }
    // Into an empty level the oldest file could always move; those that overlap it would then drag
    // it along again.
    const bool base_is_empty = view_.files(targets_.base_level).empty();
    if (files.empty() || (base_is_empty && files.size() < level0.size())) return std::nullopt;
    auto plan = builder_.Build({0, files, targets_.base_level, PlanReason::kLevel0Files});
    // As a compaction it would leave out files that should be compacted with these.
    return plan && plan->trivial_move ? plan : std::nullopt;
  }

  std::optional<CompactionPlan> MergeLevel0(Files files) const {
    return builder_.Build({0, std::move(files), 0, PlanReason::kLevel0Files});
  }

  // The newest files up to the first busy one. Only when level 0 is much smaller than the base
  // level, which would have to be rewritten for little.
  std::optional<CompactionPlan> MergeSmallLevel0() const {
    const auto level0 = view_.files(0);
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

  // While the way down is busy: as many of the newest files as make each file that disappears
  // cheaper than the one before.
  std::optional<CompactionPlan> MergeNewestOfLevel0() const {
    const auto level0 = view_.files(0);
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

  struct Candidate {
    bool marked;
    double overlap_ratio;  // bytes rewritten below per byte that leaves the level
    bool after_cursor;
    size_t index;
    bool operator<(const Candidate& other) const {
      if (marked != other.marked) return marked;
      if (overlap_ratio != other.overlap_ratio) return overlap_ratio < other.overlap_ratio;
      if (after_cursor != other.after_cursor) return after_cursor;
      return index < other.index;
    }
  };

  std::vector<Candidate> Candidates(Level level) const {
    const auto files = view_.files(level);
    const auto below = view_.files(level + 1);
    const std::string* cursor = cursors_.After(level);
    const uint64_t average = AverageEntryBytes(view_);
    std::vector<Candidate> candidates;
    size_t next = 0;
    for (size_t i = 0; i < files.size(); ++i) {
      const FileMetaData& file = *files[i];
      while (next < below.size() &&
             tree().Compare(below[next]->largest_user_key(), file.smallest_user_key()) < 0)
        ++next;
      uint64_t overlap = 0;
      for (size_t j = next; j < below.size() && tree().Compare(below[j]->smallest_user_key(),
                                                               file.largest_user_key()) <= 0;
           ++j) {
        overlap += below[j]->file_bytes;
      }
      if (file.being_compacted) continue;
      const double own =
          static_cast<double>(std::max<uint64_t>(1, CompensatedBytes(file, average)));
      candidates.push_back({.marked = file.marked_for_compaction,
                            .overlap_ratio = static_cast<double>(overlap) / own,
                            .after_cursor = cursor == nullptr ||
                                            tree().Compare(file.smallest_user_key(), *cursor) > 0,
                            .index = i});
    }
    std::sort(candidates.begin(), candidates.end());
    return candidates;
  }

  std::optional<CompactionPlan> PickFromLevel(Level level) const {
    for (const Candidate& candidate : Candidates(level)) {
      if (auto plan = PickFile(level, candidate.index, level + 1, PlanReason::kLevelSize))
        return plan;
    }
    return std::nullopt;
  }

  std::optional<CompactionPlan> PickFile(Level level, size_t index, Level output_level,
                                         PlanReason reason) const {
    const Files files = tree().Closed(level, Tree::RangeOf(*view_.files(level)[index]).range());
    if (output_level != level && level > 0) {
      Files extended = files;
      ExtendMove(level, output_level, &extended);
      if (auto plan = builder_.Build({level, std::move(extended), output_level, reason}))
        return plan;
    }
    return builder_.Build({level, files, output_level, reason});
  }

  // A file that only moves takes a few neighbours along that would only move too.
  void ExtendMove(Level level, Level output_level, Files* files) const {
    const auto all = view_.files(level);
    uint64_t bytes = TotalBytes(*files);
    ClosedRange range = tree().RangeOf(*files);
    if (!tree().Overlapping(output_level, range.range()).empty()) return;
    while (files->size() < kMovedFilesMax) {
      const auto next =
          static_cast<size_t>(std::find(all.begin(), all.end(), files->back()) - all.begin()) + 1;
      if (next >= all.size() || all[next]->being_compacted) return;
      const Files closed = tree().Closed(level, Tree::RangeOf(*all[next]).range());
      bytes += all[next]->file_bytes;
      tree().Widen(&range, Tree::RangeOf(*all[next]));
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
      case PlanReason::kBottommostDeletes:
        return level > 0 && file.deletions > 0 && file.largest_sequence > 0 &&
               file.largest_sequence <= view_.oldest_snapshot && NothingBelow(level, file);
      case PlanReason::kTtl:
        return level < view_.LastLevel() &&
               IsOlder(file.oldest_ancestor_unix_seconds, config_.ttl_seconds);
      case PlanReason::kPeriodic:
        return IsOlder(file.creation_unix_seconds, config_.periodic_compaction_seconds);
      default: return false;
    }
  }
  bool NothingBelow(Level level, const FileMetaData& file) const {
    const ClosedRange range = Tree::RangeOf(file);
    for (Level below = level + 1; below < view_.num_levels(); ++below) {
      if (!tree().Overlapping(below, range.range()).empty()) return false;
    }
    return true;
  }
  bool IsOlder(uint64_t unix_seconds, uint64_t seconds_max) const {
    return seconds_max > 0 && unix_seconds > 0 && view_.now_unix_seconds > seconds_max &&
           unix_seconds < view_.now_unix_seconds - seconds_max;
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
    if (reason == PlanReason::kBottommostDeletes) return level;
    if (level == 0) return targets_.base_level;
    return level < view_.LastLevel() ? level + 1 : level;
  }

  const Tree& tree() const { return builder_.tree(); }

  const TreeView& view_;
  const LeveledConfig& config_;
  const CompactCursors& cursors_;
  const LevelTargets targets_;
  const PlanBuilder builder_;
};

// The part of a level that one manual compaction takes.
struct ManualFiles {
  Files files;
  bool more = false;  // later files of the range are left
};
ManualFiles ChooseManualFiles(const Tree& tree, const LeveledConfig& config,
                              const ManualRequest& request) {
  const Slice begin = request.begin.has_value() ? Slice(*request.begin) : Slice();
  const Slice end = request.end.has_value() ? Slice(*request.end) : Slice();
  const Range range{request.begin.has_value() ? &begin : nullptr,
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
  size_t count = 1;
  for (uint64_t bytes = overlapping[0]->file_bytes; count < overlapping.size(); ++count) {
    bytes += overlapping[count]->file_bytes;
    if (bytes > config.max_compaction_bytes) break;
  }
  ManualFiles chosen{tree.Closed(request.level, tree.RangeOf(overlapping.first(count)).range())};
  chosen.more = tree.Compare(chosen.files.back()->largest_user_key(), last.largest_user_key()) < 0;
  return chosen;
}

}  // namespace

void CompactCursors::Advance(const CompactionPlan& plan) {
  const Level level = plan.start_level();
  ASHLAR_ASSERT(level < kLevelsMax && !plan.inputs.front().files.empty());
  if (level == 0 || plan.reason != PlanReason::kLevelSize) return;
  if (after_.size() <= level) after_.resize(level + 1);
  after_[level] = plan.inputs.front().files.back()->largest_user_key().ToString();
}

const std::string* CompactCursors::After(Level level) const {
  return level < after_.size() && after_[level].has_value() ? &*after_[level] : nullptr;
}

std::optional<CompactionPlan> PickCompaction(const TreeView& view, const LeveledConfig& config,
                                             const CompactCursors& cursors) {
  ASHLAR_ASSERT(view.num_levels() == config.num_levels);
  return LeveledPicker(view, config, cursors).Pick();
}

bool NeedsCompaction(const TreeView& view, const LeveledConfig& config) {
  return LeveledPicker(view, config, CompactCursors()).Needed();
}

ManualPick PickManual(const TreeView& view, const LeveledConfig& config,
                      const ManualRequest& request) {
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
                       .may_move = !request.rewrite_in_place});
  }
  pick.conflict = !pick.plan.has_value();
  ASHLAR_ASSERT(!pick.plan || pick.plan->start_level() == request.level);
  if (pick.plan && chosen.more)
    pick.done_through = pick.plan->inputs.front().files.back()->largest_user_key().ToString();
  return pick;
}

}  // namespace ashlar
