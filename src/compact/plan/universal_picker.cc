#include "compact/plan/universal_picker.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "compact/plan/file_plans.h"
#include "compact/plan/plan_builder.h"

namespace ashlar {

namespace {

struct Run {
  Level level = 0;
  std::span<FileMetaData* const> files;  // one file if on level 0
  uint64_t bytes = 0;
  bool busy = false;
};

// runs_[begin, end).
struct Neighbours {
  size_t begin;
  size_t end;
  PlanReason reason;
  bool in_parts = false;  // two levels; only some files of the upper one
};

// A merge for the number of runs includes an older run only if it is at most this many times as
// large as the runs before it together.
constexpr double kOlderTimesMax = 4;

uint64_t Percent(uint64_t bytes, uint64_t percent) {
  return ToBytes(static_cast<double>(bytes) * static_cast<double>(percent) / 100.0);
}

class UniversalPicker {
 public:
  // as_if_idle: ignores that files are busy.
  UniversalPicker(const TreeView& view, const CompactionConfig& config, bool as_if_idle)
      : view_(view),
        config_(config),
        options_(config.universal),
        targets_(ComputeLevelTargets(view, config.common)),
        builder_(view, config.common, targets_) {
    for (size_t i = 0; i < view.files(0).size(); ++i) AddRun(0, view.files(0).subspan(i, 1));
    for (Level level = 1; level < view.num_levels(); ++level) {
      if (!view.files(level).empty()) AddRun(level, view.files(level));
    }
    if (as_if_idle) {
      for (Run& run : runs_) run.busy = false;
    }
  }

  const std::vector<Run>& runs() const { return runs_; }

  std::optional<Neighbours> Choose() const {
    if (auto chosen = ChooseByFile()) return chosen;
    if (auto chosen = ChooseParts()) return chosen;
    if (runs_.size() < Trigger()) return std::nullopt;
    if (auto chosen = ChooseForSize()) return chosen;
    if (auto chosen = ChooseSimilar(options_.size_ratio_percent, options_.merge_width_max))
      return chosen;
    return ChooseForNumber();
  }

  std::optional<CompactionPlan> Pick() const {
    if (auto plan = PlanHiddenFiles(view_)) return plan;
    const std::optional<Neighbours> chosen = Choose();
    if (!chosen) return std::nullopt;
    if (chosen->in_parts) return PickPart(runs_[chosen->begin], runs_[chosen->begin + 1]);
    return Build(*chosen, MayMove());
  }

  std::optional<CompactionPlan> Build(const Neighbours& chosen, bool may_move) const {
    ASHLAR_ASSERT(chosen.begin < chosen.end && chosen.end <= runs_.size());  // one run or more
    CompactionPlan plan;
    plan.reason = chosen.reason;
    plan.whole_runs = true;
    for (size_t i = chosen.begin; i < chosen.end; ++i) {
      const Run& run = runs_[i];
      if (run.busy) return std::nullopt;
      if (plan.inputs.empty() || plan.inputs.back().level != run.level)
        plan.inputs.push_back({.level = run.level, .files = {}});
      FileList& files = plan.inputs.back().files;
      files.insert(files.end(), run.files.begin(), run.files.end());
    }
    plan.output_level = OutputLevel(chosen.end);
    builder_.SetRange(&plan);
    if (builder_.OutputIsTaken(plan) || !MayWrite(plan)) return std::nullopt;
    builder_.Complete(&plan, may_move);
    if (!IsCompressed(chosen.end)) {
      plan.compression = kNoCompression;
      plan.bottommost_compression = false;
    }
    builder_.Check(plan);
    return plan;
  }

 private:
  void AddRun(Level level, std::span<FileMetaData* const> files) {
    runs_.push_back(
        {.level = level, .files = files, .bytes = TotalBytes(files), .busy = AnyBusy(files)});
  }
  size_t Trigger() const {
    return static_cast<size_t>(std::max(1, config_.common.level0_file_num_compaction_trigger));
  }
  // Idle runs above this number are merged.
  size_t RunsMax() const {
    if (options_.runs_max > 0) return std::max(Trigger(), static_cast<size_t>(options_.runs_max));
    const bool by_ratio = options_.runs_max == 0 && !options_.stops_at_similar_size;
    return by_ratio ? std::max(Trigger(), std::min(RunsOfSizeRatio(), RunsBelowStalls()))
                    : Trigger();
  }
  // Writers that wait for fewer runs than an idle tree has would wait forever.
  size_t RunsBelowStalls() const {
    const int stalls = std::min(config_.common.level0_slowdown_writes_trigger,
                                config_.common.level0_stop_writes_trigger);
    return static_cast<size_t>(std::max(1, stalls)) - 1;
  }
  // Counts the runs of a tree whose newest run was just flushed, if each other run is as small as
  // it can be without being of similar size to all newer ones together.
  size_t RunsOfSizeRatio() const {
    uint64_t largest = 0;
    for (const Run& run : runs_) largest = std::max(largest, run.bytes);
    const double factor = 1 + options_.size_ratio_percent / 100.0;
    auto run = static_cast<double>(std::max<uint64_t>(1, options_.flushed_bytes));
    double newer = 0;
    size_t count = 1;
    for (; run < static_cast<double>(largest); ++count) {
      newer += run;
      run = newer * factor;
    }
    return count;
  }
  bool HasRoomBelow() const { return view_.num_levels() > 1; }
  // I8 and I10 of compaction_plan.h.
  bool MayWrite(const CompactionPlan& plan) const {
    const FileMetaData& newest = *plan.inputs.front().files.front();
    return IsSorted(plan.output_level) ||
           (view_.IsOlderThanMemTables(newest) && view_.StaysBelowNewer(newest));
  }

  Level OutputLevel(size_t end) const {
    ASHLAR_DCHECK(end > 0 && end <= runs_.size());  // the end of Neighbours
    if (end == runs_.size()) return view_.num_levels() - 1;
    return runs_[end].level == 0 ? 0 : runs_[end].level - 1;
  }

  bool MakesFewerRuns(size_t begin, size_t end) const {
    if (IsSorted(OutputLevel(end))) return true;
    const auto inputs = view_.files(0).subspan(begin, end - begin);
    // A choice that I10 refuses would be made again and again.
    return view_.StaysBelowNewer(*inputs.front()) && builder_.MakesFewerFiles(inputs);
  }

  // Returns nothing if one of the runs is busy.
  std::optional<Neighbours> ToOldest(size_t from, PlanReason reason) const {
    // I10 of compaction_plan.h
    while (!HasRoomBelow() && !view_.StaysBelowNewer(*runs_[from].files.front())) --from;
    for (size_t i = from; i < runs_.size(); ++i) {
      if (runs_[i].busy) return std::nullopt;
    }
    return Neighbours{from, runs_.size(), reason};
  }

  std::optional<PlanReason> ReasonOf(size_t run, const FileMetaData& file) const {
    // With a single level the output would be marked again.
    if (file.marked_for_compaction && HasRoomBelow()) return PlanReason::kMarked;
    const auto rewritten = [&] {
      uint64_t bytes = 0;
      for (size_t i = run; i < runs_.size(); ++i) bytes += runs_[i].bytes;
      return bytes;
    };
    if (run + 1 < runs_.size() && builder_.tree().CoversMuch(runs_[run].level, file, rewritten))
      return PlanReason::kCoveredBytes;
    if (view_.IsOlder(file.creation_unix_seconds, config_.common.periodic_compaction_seconds))
      return PlanReason::kPeriodic;
    return std::nullopt;
  }
  std::optional<Neighbours> ChooseByFile() const {
    for (size_t i = 0; i < runs_.size(); ++i) {
      for (const FileMetaData* file : runs_[i].files) {
        const std::optional<PlanReason> reason = ReasonOf(i, *file);
        if (!reason) continue;
        if (auto chosen = ToOldest(i, *reason)) return chosen;
        break;
      }
    }
    return std::nullopt;
  }

  std::optional<Neighbours> ChooseForSize() const {
    if (runs_.size() < 2) return std::nullopt;
    const bool busy =
        std::any_of(runs_.begin(), runs_.end(), [](const Run& run) { return run.busy; });
    if (busy || !IsAmplified()) return std::nullopt;
    // The runs above are first merged into one, which is then merged down in parts.
    const size_t end = KeepsOldest() ? runs_.size() - 1 : runs_.size();
    if ((end == 1 && runs_.size() > 1) || !MakesFewerRuns(0, end)) return std::nullopt;
    return Neighbours{0, end, PlanReason::kSizeAmplification};
  }
  bool IsAmplified() const {
    uint64_t above = 0;
    for (size_t i = 0; i + 1 < runs_.size(); ++i) above += runs_[i].bytes;
    return runs_.size() > 1 &&
           above >= Percent(runs_.back().bytes, options_.size_amplification_percent_max);
  }
  // True in incremental mode if there is a level for a run between the oldest and level 0.
  bool KeepsOldest() const { return options_.incremental && runs_.back().level > 1; }

  std::optional<Neighbours> ChooseParts() const {
    if (runs_.size() < 2 || !KeepsOldest() || !IsAmplified()) return std::nullopt;
    const size_t upper = runs_.size() - 2;
    if (runs_[upper].level == 0 || runs_[upper].busy || runs_.back().busy) return std::nullopt;
    return Neighbours{upper, runs_.size(), PlanReason::kSizeAmplification, true};
  }

  // Starts at the newest run that has enough neighbours of similar size.
  std::optional<Neighbours> ChooseSimilar(uint64_t ratio_percent, size_t width_max) const {
    const size_t width_min = std::max<size_t>(2, options_.merge_width_min);
    const size_t count = runs_.size() - (KeepsOldest() ? 1 : 0);
    for (size_t begin = 0; begin + width_min <= count; ++begin) {
      if (runs_[begin].busy) continue;
      uint64_t bytes = runs_[begin].bytes;
      size_t end = begin + 1;
      for (; end < count && end - begin < width_max && !runs_[end].busy; ++end) {
        const uint64_t next = runs_[end].bytes;
        if (Percent(bytes, 100 + ratio_percent) < next) break;
        if (options_.stops_at_similar_size) {
          if (Percent(next, 100 + ratio_percent) < bytes) break;
          bytes = next;
        } else {
          bytes += next;
        }
      }
      if (end - begin >= width_min && MakesFewerRuns(begin, end))
        return Neighbours{begin, end, PlanReason::kSizeRatio};
    }
    return std::nullopt;
  }

  std::optional<Neighbours> ChooseForNumber() const {
    const auto idle = static_cast<size_t>(
        std::count_if(runs_.begin(), runs_.end(), [](const Run& run) { return !run.busy; }));
    const size_t runs_max = RunsMax();
    if (idle <= runs_max) return std::nullopt;
    const size_t width = std::min<size_t>(idle - runs_max + 1, options_.merge_width_max);
    if (width < 2) return std::nullopt;
    const size_t count = runs_.size() - (KeepsOldest() ? 1 : 0);
    for (size_t begin = 0; begin + 1 < count; ++begin) {
      size_t end = begin;
      uint64_t bytes = 0;
      while (end < count && end - begin < width && !runs_[end].busy) bytes += runs_[end++].bytes;
      if (end - begin < 2) continue;
      const double times = std::min(RunFactor(begin, runs_max) / 2, kOlderTimesMax);
      while (end < count && end - begin < options_.merge_width_max && !runs_[end].busy &&
             runs_[end].bytes <= ToBytes(times * static_cast<double>(bytes)))
        bytes += runs_[end++].bytes;
      if (MakesFewerRuns(begin, end)) return Neighbours{begin, end, PlanReason::kSortedRuns};
    }
    return std::nullopt;
  }
  // The size of a run relative to the next newer one, if runs_max runs have equal ratios from the
  // newest to the largest.
  double RunFactor(size_t newest, size_t runs_max) const {
    if (runs_max < 2) return 1;
    uint64_t largest = 0;
    for (const Run& run : runs_) largest = std::max(largest, run.bytes);
    const auto smallest = static_cast<double>(std::max<uint64_t>(1, runs_[newest].bytes));
    return std::pow(static_cast<double>(largest) / smallest, 1 / static_cast<double>(runs_max - 1));
  }

  // Picks as many files of the upper level as fit. It starts with the file that rewrites the fewest
  // bytes of the lower level per byte of its own.
  std::optional<CompactionPlan> PickPart(const Run& upper_run, const Run& lower_run) const {
    const TreeFiles& tree = builder_.tree();
    const Level upper = upper_run.level;
    const Level lower = lower_run.level;
    ASHLAR_ASSERT(IsSorted(upper) && upper < lower);  // ChooseParts took two levels
    const auto drag = [&](const FileMetaData* file) {
      const uint64_t below = TotalBytes(tree.Overlapping(lower, TreeFiles::RangeOf(*file).range()));
      return static_cast<double>(below) /
             static_cast<double>(std::max<uint64_t>(1, file->file_bytes));
    };
    const auto files = upper_run.files;
    const auto cheapest =
        std::min_element(files.begin(), files.end(),
                         [&](const auto* a, const auto* b) { return drag(a) < drag(b); });
    const auto bytes_with = [&](const FileList& some) {
      return TotalBytes(some) + TotalBytes(tree.Closed(lower, tree.RangeOf(some).range()));
    };
    FileList part = tree.Closed(upper, TreeFiles::RangeOf(**cheapest).range());
    for (auto next = std::find(files.begin(), files.end(), part.back()) + 1; next != files.end();) {
      FileList grown = part;
      const FileList more = tree.Closed(upper, TreeFiles::RangeOf(**next).range());
      grown.insert(grown.end(), more.begin(), more.end());
      if (bytes_with(grown) > config_.common.max_compaction_bytes) break;
      next = std::find(files.begin(), files.end(), more.back()) + 1;
      part = std::move(grown);
    }
    return builder_.Build({.level = upper,
                           .files = std::move(part),
                           .output_level = lower,
                           .reason = PlanReason::kSizeAmplification,
                           .may_move = MayMove()});
  }

  // If only a part of the tree is compressed, inputs may have another codec than their output would
  // have, because flushed tables are not compressed.
  bool MayMove() const { return options_.may_move && options_.compression_size_percent < 0; }

  // The oldest compression_size_percent of the bytes are compressed.
  bool IsCompressed(size_t end) const {
    if (options_.compression_size_percent < 0) return true;
    uint64_t total = 0;
    uint64_t older = 0;
    for (size_t i = 0; i < runs_.size(); ++i) {
      total += runs_[i].bytes;
      if (i >= end) older += runs_[i].bytes;
    }
    return older < Percent(total, static_cast<uint64_t>(options_.compression_size_percent));
  }

  const TreeView& view_;
  const CompactionConfig& config_;
  const UniversalConfig& options_;
  const LevelTargets targets_;
  const PlanBuilder builder_;
  std::vector<Run> runs_;
};

bool HasKeysOf(const TreeView& view, const ManualRequest& request) {
  const TreeFiles tree(view);
  const Slice begin = request.begin ? Slice(*request.begin) : Slice();
  const Slice end = request.end ? Slice(*request.end) : Slice();
  const UserKeyBounds range{request.begin ? &begin : nullptr, request.end ? &end : nullptr};
  for (Level level = 0; level < view.num_levels(); ++level) {
    for (const FileMetaData* file : view.files(level)) {
      if (tree.Overlap(*file, range)) return true;
    }
  }
  return false;
}

}  // namespace

std::optional<CompactionPlan> PickUniversal(const TreeView& view, const CompactionConfig& config) {
  ASHLAR_ASSERT(view.num_levels() == config.common.num_levels);  // TreeView has the config's levels
  return UniversalPicker(view, config, false).Pick();
}

bool NeedsUniversal(const TreeView& view, const CompactionConfig& config) {
  for (Level level = 0; level < view.num_levels(); ++level) {
    for (const FileMetaData* file : view.files(level)) {
      if (!file->being_compacted && IsHidden(view, *file)) return true;
    }
  }
  return UniversalPicker(view, config, true).Choose().has_value();
}

ManualPick PickManualUniversal(const TreeView& view, const CompactionConfig& config,
                               const ManualRequest& request) {
  const UniversalPicker picker(view, config, false);
  const std::vector<Run>& runs = picker.runs();
  ManualPick pick;
  if (!HasKeysOf(view, request)) return pick;
  const bool is_level = runs.size() == 1 && runs.front().level > 0;
  if (request.level > 0) {
    // Below level 0, the only work is to rewrite the one level that is left.
    const auto is_new = [&](const FileMetaData* file) {
      return file->number >= request.files_numbered_below;
    };
    const auto files = view.files(request.level);
    const bool rewrites =
        request.rewrite_in_place && !std::all_of(files.begin(), files.end(), is_new);
    if (!rewrites || !is_level) return pick;
  } else if (is_level) {
    return pick;
  }
  pick.plan = picker.Build({0, runs.size(), PlanReason::kManual}, false);
  pick.conflict = !pick.plan.has_value();
  return pick;
}

double UniversalScore(const TreeView& view, const CompactionConfig& config) {
  const UniversalPicker picker(view, config, false);
  const auto idle = std::count_if(picker.runs().begin(), picker.runs().end(),
                                  [](const Run& r) { return !r.busy; });
  return static_cast<double>(idle) / std::max(1, config.common.level0_file_num_compaction_trigger);
}

}  // namespace ashlar
