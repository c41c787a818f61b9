// TreeFiles: queries on the key ranges of a tree's files. PlanBuilder: turns the files that a
// compaction starts from into a plan. The pickers of this folder share both. File ingestion uses
// TreeFiles, too.
//
// Thread safety: none; under the mutex that guards the view. Lifetime: the view outlives them.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/function_ref.h"
#include "compact/plan/compaction_plan.h"
#include "compact/plan/level_targets.h"
#include "compact/plan/leveled_config.h"

namespace ashlar {

using FileList = std::vector<FileMetaData*>;

// A file is compacted for the bytes that its range tombstones cover if they are at least
// kCoveredBytesMin, and if the compaction rewrites at most kRewrittenPerCoveredByte bytes for each.
inline constexpr uint64_t kCoveredBytesMin = uint64_t{1} << 20;
inline constexpr uint64_t kRewrittenPerCoveredByte = 4;

// Level-0 tables that overlap nowhere and have this many bytes on average are not merged within
// level 0. Requires: the size of its tables has a limit.
inline uint64_t FullLevel0Bytes(const LeveledConfig& config) {
  ASHLAR_DCHECK(config.level0_file_bytes_max != UINT64_MAX);  // Requires
  return std::max<uint64_t>(2, config.level0_file_bytes_max) / 2;
}

// User keys, both ends included unless the largest is excluded; null: unbounded.
struct UserKeyBounds {
  const Slice* smallest = nullptr;
  const Slice* largest = nullptr;
  bool excludes_largest = false;  // largest is the end of a range tombstone
};
struct FileBounds {
  Slice smallest;
  Slice largest;
  bool excludes_largest = false;
  UserKeyBounds range() const { return {&smallest, &largest, excludes_largest}; }
};

inline bool AnyBusy(std::span<FileMetaData* const> files) {
  return std::any_of(files.begin(), files.end(),
                     [](const FileMetaData* file) { return file->being_compacted; });
}
inline uint64_t TotalBytes(std::span<FileMetaData* const> files) {
  uint64_t bytes = 0;
  for (const FileMetaData* file : files) bytes += file->file_bytes;
  return bytes;
}

// Queries on key ranges and files.
class TreeFiles {
 public:
  explicit TreeFiles(const TreeView& view) : view_(view) {}

  int Compare(const Slice& a, const Slice& b) const { return view_.comparator.Compare(a, b); }
  bool Overlap(const FileMetaData& file, const UserKeyBounds& range) const {
    return (range.smallest == nullptr || !EndsBefore(file, *range.smallest)) &&
           (range.largest == nullptr || !BeginsAfter(file, range));
  }
  bool Overlap(const FileBounds& a, const FileBounds& b) const {
    return !IsAfter(b.smallest, a.range()) && !IsAfter(a.smallest, b.range());
  }

  static FileBounds RangeOf(const FileMetaData& file) {
    return {file.smallest_user_key(), file.largest_user_key(), file.excludes_largest()};
  }
  void Widen(FileBounds* range, const FileBounds& other) const {
    if (Compare(other.smallest, range->smallest) < 0) range->smallest = other.smallest;
    const int r = Compare(other.largest, range->largest);
    if (r > 0) {
      range->largest = other.largest;
      range->excludes_largest = other.excludes_largest;
    } else if (r == 0 && !other.excludes_largest) {
      range->excludes_largest = false;
    }
  }
  FileBounds RangeOf(std::span<FileMetaData* const> files) const {
    ASHLAR_ASSERT(!files.empty());  // a range needs a file
    FileBounds range = RangeOf(*files.front());
    for (const FileMetaData* file : files) Widen(&range, RangeOf(*file));
    return range;
  }

  // The files that overlap the range, without closing the set. Requires: a level above 0. Its files
  // are sorted, so these are neighbours.
  std::span<FileMetaData* const> Overlapping(Level level, const UserKeyBounds& range) const {
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

  // Whether no deeper level can have keys of the range.
  bool HasNothingBelow(Level level, const FileBounds& bounds) const {
    if (view_.has_level_below) return false;
    for (Level below = level + 1; below < view_.num_levels(); ++below) {
      if (!Overlapping(below, bounds.range()).empty()) return false;
    }
    return true;
  }

  bool EndsBefore(const FileMetaData& file, const Slice& user_key) const {
    return file.EndsBefore(view_.comparator, user_key);
  }
  // True if the bytes that the file's tombstones cover are worth a compaction that rewrites
  // rewritten() bytes. Tombstones that a snapshot does not see delete nothing yet.
  bool CoversMuch(Level level, const FileMetaData& file, FunctionRef<uint64_t()> rewritten) const {
    const FileMetaData::Coverage& coverage = file.coverage;
    return coverage.covered_bytes >= kCoveredBytesMin && coverage.counted_at_level == level &&
           file.largest_sequence <= view_.oldest_snapshot &&
           coverage.covered_bytes >= rewritten() / kRewrittenPerCoveredByte;
  }
  // Whether neighbours of a sorted level have versions of one user key.
  bool ShareUserKey(const FileMetaData& left, const FileMetaData& right) const {
    return !left.excludes_largest() &&
           Compare(left.largest_user_key(), right.smallest_user_key()) == 0;
  }
  // The files of the level in groups of neighbours that share user keys. A file that left its group
  // alone could take the newest version of a key with it. On level 0 each file is a group, because
  // the order of level 0 does not depend on keys.
  std::vector<std::span<FileMetaData* const>> Groups(Level level) const {
    const auto files = view_.files(level);
    std::vector<std::span<FileMetaData* const>> groups;
    for (size_t first = 0; first < files.size();) {
      size_t end = first + 1;
      while (IsSorted(level) && end < files.size() && ShareUserKey(*files[end - 1], *files[end]))
        ++end;
      groups.push_back(files.subspan(first, end - first));
      first = end;
    }
    return groups;
  }
  // The overlapping files, and the files that must move with them (I1 of compaction_plan.h).
  FileList Closed(Level level, const UserKeyBounds& range) const {
    return IsSorted(level) ? ClosedOnSortedLevel(level, range) : ClosedOnLevel0(range);
  }

 private:
  // True if the key is after the range. Requires: the range has a largest key.
  bool IsAfter(const Slice& user_key, const UserKeyBounds& range) const {
    ASHLAR_DCHECK(range.largest != nullptr);  // Requires
    const int r = Compare(user_key, *range.largest);
    return r > 0 || (r == 0 && range.excludes_largest);
  }
  bool BeginsAfter(const FileMetaData& file, const UserKeyBounds& range) const {
    return IsAfter(file.smallest_user_key(), range);
  }

  FileList ClosedOnLevel0(const UserKeyBounds& range) const {
    const auto all = view_.files(0);
    std::vector<bool> taken(all.size(), false);
    Slice smallest;
    Slice largest;
    UserKeyBounds grown = range;
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
    FileList files;
    for (size_t i = 0; i < all.size(); ++i) {
      if (taken[i]) files.push_back(all[i]);
    }
    return files;
  }

  FileList ClosedOnSortedLevel(Level level, const UserKeyBounds& range) const {
    const auto all = view_.files(level);
    const auto overlapping = Overlapping(level, range);
    if (overlapping.empty()) return {};
    auto first = static_cast<size_t>(overlapping.data() - all.data());
    size_t last = first + overlapping.size() - 1;
    while (first > 0 && ShareUserKey(*all[first - 1], *all[first])) --first;
    while (last + 1 < all.size() && ShareUserKey(*all[last], *all[last + 1])) ++last;
    return {all.data() + first, all.data() + last + 1};
  }

  const TreeView& view_;
};

// Turns the files that a compaction starts from into a plan, or finds that it cannot run now.
class PlanBuilder {
 public:
  struct Start {
    Level level;
    FileList files;  // closed
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

  const TreeFiles& tree() const { return tree_; }

  std::optional<CompactionPlan> Build(Start start) const {
    // Only a plan of kRefit moves up (I7 of compaction_plan.h), and none writes below the view.
    ASHLAR_ASSERT(start.level <= start.output_level && start.output_level < view_.num_levels());
    if (start.files.empty()) return std::nullopt;
    if (!IsSorted(start.output_level)) TakeFilesBetween(&start.files);
    if (AnyBusy(start.files)) return std::nullopt;
    FileList below;
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
    Check(plan);
    return plan;
  }

  // The functions below are parts of Build, for plans whose inputs are chosen differently.
  // Sets the range of all inputs.
  void SetRange(CompactionPlan* plan) const {
    ASHLAR_ASSERT(!plan->inputs.empty());  // inputs: never empty
    FileBounds range = tree_.RangeOf(plan->inputs.front().files);
    for (const CompactionInputs& inputs : plan->inputs)
      tree_.Widen(&range, tree_.RangeOf(inputs.files));
    plan->smallest = range.smallest.ToString();
    plan->largest = range.largest.ToString();
    plan->excludes_largest = range.excludes_largest;
  }
  // True if a running plan writes to the same place, or if one of the two is bottommost and the
  // other writes below it.
  bool OutputIsTaken(const CompactionPlan& plan) const {
    if (!IsSorted(plan.output_level)) return false;
    const FileBounds range{plan.smallest, plan.largest, plan.excludes_largest};
    return std::any_of(
        view_.running.begin(), view_.running.end(), [&](const CompactionPlan* other) {
          return !other->drops_inputs &&
                 tree_.Overlap(range, {other->smallest, other->largest, other->excludes_largest}) &&
                 (ShareLevels(plan, *other) || MeetInGap(plan, *other));
        });
  }

  // Sets all members except reason, inputs, output level and range.
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
      plan->bottommost = plan->older.empty() && !view_.has_level_below;
    }
    plan->older_unknown = view_.has_level_below;

    const CompressionChoice compression =
        ChooseCompression(config_, targets_, last_level_, plan->output_level);
    plan->compression = compression.type;
    plan->bottommost_compression = compression.bottommost;
    plan->max_grandparent_overlap_bytes = config_.max_compaction_bytes;
    // On level 0, a run is one file.
    const bool cut = IsSorted(plan->output_level);
    plan->max_output_file_bytes =
        cut ? TargetFileBytes(config_, targets_, plan->output_level) : UINT64_MAX;
    plan->max_subcompactions = cut ? std::max<uint32_t>(1, config_.max_subcompactions) : 1;
    plan->trivial_move = may_move && MayMove(*plan);
  }

  // Returns false if a merge of these files within level 0 would write as many again: there is only
  // one, or they overlap nowhere and average at least half the size limit of level-0 tables.
  bool MakesFewerFiles(std::span<FileMetaData* const> level0) const {
    if (level0.size() < 2) return false;
    if (config_.level0_file_bytes_max == UINT64_MAX) return true;
    if (TotalBytes(level0) / FullLevel0Bytes(config_) + 1 < level0.size()) return true;
    FileList by_key(level0.begin(), level0.end());
    std::sort(by_key.begin(), by_key.end(), [&](const FileMetaData* a, const FileMetaData* b) {
      return tree_.Compare(a->smallest_user_key(), b->smallest_user_key()) < 0;
    });
    return std::adjacent_find(by_key.begin(), by_key.end(),
                              [&](const FileMetaData* a, const FileMetaData* b) {
                                return !tree_.EndsBefore(*a, b->smallest_user_key());
                              }) != by_key.end();
  }

  void Check(const CompactionPlan& plan) const {
    if constexpr (kDebugChecks) CheckPlanInvariants(view_, plan);
    AssertPlanFits(view_, plan);  // I5 of compaction_plan.h
  }

 private:
  // I3 of compaction_plan.h: the levels that a plan has for itself.
  static bool ShareLevels(const CompactionPlan& a, const CompactionPlan& b) {
    const auto first_level = [](const CompactionPlan& plan) {
      return std::min(plan.start_level() + 1, plan.output_level);
    };
    return first_level(b) <= a.output_level && first_level(a) <= b.output_level;
  }
  // I9 of compaction_plan.h. Requires: their ranges overlap, and b runs.
  bool MeetInGap(const CompactionPlan& a, const CompactionPlan& b) const {
    return (b.output_level < a.output_level && b.bottommost) ||
           (a.output_level < b.output_level &&
            tree_.HasNothingBelow(a.output_level, {a.smallest, a.largest, a.excludes_largest}));
  }

  // Adds the files of level 0 between the newest and the oldest (I1 of compaction_plan.h), and
  // newer ones that I10 names. RocksDB 7.8 refuses a level 0 in which a file has older sequences
  // than an older file.
  void TakeFilesBetween(FileList* files) const {
    const auto all = view_.files(0);
    auto newest = std::find(all.begin(), all.end(), files->front());
    const auto oldest = std::find(newest, all.end(), files->back());
    ASHLAR_ASSERT(oldest != all.end());  // they are in the order of the level
    while (!view_.StaysBelowNewer(**newest)) --newest;
    files->assign(newest, oldest + 1);
  }

  // Adds files of the start level whose range is rewritten anyway, so that they cost nothing.
  void GrowForFree(Start* start, const FileList& below) const {
    FileBounds all = tree_.RangeOf(start->files);
    tree_.Widen(&all, tree_.RangeOf(below));
    FileList grown = tree_.Closed(start->level, all.range());
    if (grown.size() <= start->files.size() || AnyBusy(grown)) return;
    const uint64_t limit = config_.max_compaction_bytes > UINT64_MAX / 2
                               ? UINT64_MAX
                               : config_.max_compaction_bytes * 2;
    if (TotalBytes(grown) + TotalBytes(below) >= limit) return;
    if (tree_.Closed(start->output_level, tree_.RangeOf(grown).range()).size() != below.size())
      return;
    start->files = std::move(grown);
  }

  // The level-0 files that are older than the inputs and share keys with them, each as a run.
  std::vector<FileList> OlderLevel0Files(const CompactionPlan& plan) const {
    const Slice smallest(plan.smallest);
    const Slice largest(plan.largest);
    const auto all = view_.files(0);               // newest first
    ASHLAR_ASSERT(!IsSorted(plan.start_level()));  // the loop ends at an input
    std::vector<FileList> older;
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
    const FileList& files = plan.inputs.front().files;
    for (size_t i = 0; i < files.size(); ++i) {
      const FileBounds range = TreeFiles::RangeOf(*files[i]);
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
  const TreeFiles tree_;
  const Level last_level_;
};

}  // namespace ashlar
