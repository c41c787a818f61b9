#include "compact/plan/file_plans.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/assert.h"
#include "base/format.h"
#include "compact/plan/level_targets.h"
#include "compact/plan/plan_builder.h"

namespace ashlar {

namespace {

// The files of a sorted level that have all of their keys in the range. They are neighbours.
FilePositions FilesInside(const TreeFiles& tree, std::span<FileMetaData* const> files,
                          const UserKeyRange& range, bool include_end) {
  auto begin = files.begin();
  if (range.smallest != nullptr) {
    begin = std::partition_point(begin, files.end(), [&](const FileMetaData* file) {
      return tree.Compare(file->smallest_user_key(), *range.smallest) < 0;
    });
  }
  auto end = files.end();
  if (range.largest != nullptr) {
    end = std::partition_point(begin, end, [&](const FileMetaData* file) {
      const int r = tree.Compare(file->largest_user_key(), *range.largest);
      return r < 0 || (r == 0 && (include_end || file->excludes_largest()));
    });
  }
  return {.begin = static_cast<size_t>(begin - files.begin()),
          .end = static_cast<size_t>(end - files.begin())};
}

// Costs a search for each range and one pass over the files, because a program may name thousands
// of ranges and the database mutex is held.
FileList FilesToDelete(const TreeView& view, Level level, std::span<const UserKeyRange> ranges,
                       bool include_end) {
  ASHLAR_ASSERT(IsSorted(level));  // neighbours are the files that may share a user key
  const TreeFiles tree(view);
  const auto files = view.files(level);
  std::vector<int64_t> changes(files.size() + 1);  // of the number of ranges that a file is inside
  for (const UserKeyRange& range : ranges) {
    const FilePositions own = FilesInside(tree, files, range, include_end);
    ++changes[own.begin];
    --changes[own.end];
  }
  FileList chosen;
  size_t position = 0;
  int64_t inside = 0;
  for (const auto group : tree.Groups(level)) {
    bool may_go = true;
    for (const FileMetaData* file : group) {
      inside += changes[position++];
      may_go &= inside > 0 && !file->being_compacted;
    }
    if (may_go) chosen.insert(chosen.end(), group.begin(), group.end());
  }
  ASHLAR_ASSERT(position == files.size());  // the groups have all files
  return chosen;
}

// Checks I8 of compaction_plan.h for the newest input of a plan that writes to level 0.
Status CheckIsFlushed(const TreeView& view, const FileMetaData* newest) {
  if (view.IsOlderThanMemTables(*newest)) return Status::OK();
  return Status::Aborted(StrCat("table ", newest->number, " has newer entries than a memtable, ",
                                "whose table would come below: flush the column family first"));
}

// Checks I10 of compaction_plan.h for the same input.
Status CheckStaysBelowNewer(const TreeView& view, const FileMetaData* newest) {
  if (view.StaysBelowNewer(*newest)) return Status::OK();
  return Status::Aborted(StrCat("a newer table of level 0 than ", newest->number,
                                " has no sequence numbers on record, and would come below the ",
                                "output: name the newest ones of these, too"));
}

// Chooses the inputs of PlanFiles.
class FileChoice {
 public:
  FileChoice(const TreeView& view, const FilesRequest& request)
      : view_(view),
        request_(request),
        named_(request.files.begin(), request.files.end()),
        tree_(view) {}

  Result<std::vector<CompactionInputs>> Choose() const {
    ASHLAR_RETURN_IF_ERROR(Check());
    std::vector<CompactionInputs> inputs;
    std::optional<FileBounds> range;  // of the inputs so far
    for (Level level = 0; level <= request_.output_level; ++level) {
      CompactionInputs own{.level = level, .files = Widened(level, range)};
      if (own.files.empty()) continue;
      for (const FileMetaData* file : own.files) {
        if (file->being_compacted)
          return Status::Aborted(StrCat("table ", file->number, ", which has to be compacted with ",
                                        "the others, is in another compaction"));
      }
      FileBounds all = tree_.RangeOf(own.files);
      if (range) tree_.Widen(&all, *range);
      range = all;
      inputs.push_back(std::move(own));
    }
    return inputs;
  }

 private:
  struct Place {
    Level level = 0;
    const FileMetaData* file = nullptr;
  };
  using Places = std::unordered_map<FileNumber, Place>;

  bool IsNamed(const FileMetaData* file) const { return named_.contains(file->number); }

  Status Check() const {
    if (request_.files.empty()) return Status::InvalidArgument("no table is named");
    if (request_.output_level >= view_.num_levels()) {
      return Status::InvalidArgument(StrCat("output level ", request_.output_level,
                                            ": the last one is ", view_.num_levels() - 1));
    }
    Places places;
    for (Level level = 0; level < view_.num_levels(); ++level) {
      for (const FileMetaData* file : view_.files(level)) {
        if (IsNamed(file)) places[file->number] = {.level = level, .file = file};
      }
    }
    for (const FileNumber number : request_.files)
      ASHLAR_RETURN_IF_ERROR(CheckFile(places, number));
    return Status::OK();
  }
  Status CheckFile(const Places& places, FileNumber number) const {
    const auto place = places.find(number);
    if (place == places.end())
      return Status::InvalidArgument(StrCat("the column family has no table ", number));
    const auto& [level, file] = place->second;
    if (level > request_.output_level) {
      return Status::InvalidArgument(StrCat("table ", number, " is on level ", level,
                                            ", below output level ", request_.output_level));
    }
    if (file->being_compacted)
      return Status::Aborted(StrCat("table ", number, " is in another compaction"));
    return Status::OK();
  }

  // Returns the files of the level that are named or have keys of the range, those between them,
  // and those that have to move with them. The output may span the files between. If files of level
  // 0 move down, all older ones move too. If they stay on level 0, they are merged alone.
  FileList Widened(Level level, const std::optional<FileBounds>& range) const {
    const auto files = view_.files(level);
    if (!IsSorted(level)) {
      ASHLAR_DCHECK(!range);  // level 0 is the first
      const auto is_named = [this](const FileMetaData* file) { return IsNamed(file); };
      const auto newest = std::find_if(files.begin(), files.end(), is_named);
      const auto oldest = std::find_if(files.rbegin(), files.rend(), is_named);
      return {newest, IsSorted(request_.output_level) ? files.end() : oldest.base()};
    }
    std::optional<FileBounds> bounds = range;
    for (const FileMetaData* file : files) {
      if (!IsNamed(file)) continue;
      const FileBounds own = TreeFiles::RangeOf(*file);
      if (!bounds) bounds = own;
      tree_.Widen(&*bounds, own);
    }
    return bounds ? tree_.Closed(level, bounds->range()) : FileList();
  }

  const TreeView& view_;
  const FilesRequest& request_;
  const std::unordered_set<FileNumber> named_;  // those of the request
  const TreeFiles tree_;
};

// Moves all files of a level. Requires: it has some.
CompactionPlan PlanMoveOf(const TreeView& view, const LeveledConfig& config, Level from, Level to) {
  const auto files = view.files(from);
  CompactionPlan plan;
  plan.inputs.push_back({from, FileList(files.begin(), files.end())});
  plan.output_level = to;
  plan.reason = PlanReason::kRefit;
  plan.trivial_move = true;
  plan.older_unknown = view.has_level_below;
  plan.max_output_file_bytes = UINT64_MAX;
  const LevelTargets targets = ComputeLevelTargets(view, config);
  const PlanBuilder builder(view, config, targets);
  builder.SetRange(&plan);
  builder.Check(plan);
  return plan;
}

}  // namespace

std::optional<CompactionPlan> PlanDropOf(const TreeView& view, std::vector<CompactionInputs> inputs,
                                         PlanReason reason) {
  if (inputs.empty()) return std::nullopt;
  for (const CompactionInputs& level : inputs) {
    for (const FileMetaData* file : level.files)
      ASHLAR_ASSERT(!file->being_compacted);  // I3 of compaction_plan.h
  }
  CompactionPlan plan;
  plan.inputs = std::move(inputs);
  plan.output_level = plan.inputs.back().level;
  plan.reason = reason;
  plan.drops_inputs = true;
  plan.max_output_file_bytes = UINT64_MAX;
  const TreeFiles tree(view);
  FileBounds range = tree.RangeOf(plan.inputs.front().files);
  for (const CompactionInputs& level : plan.inputs) tree.Widen(&range, tree.RangeOf(level.files));
  plan.smallest = range.smallest.ToString();
  plan.largest = range.largest.ToString();
  plan.excludes_largest = range.excludes_largest;
  if constexpr (kDebugChecks) CheckPlanInvariants(view, plan);
  AssertPlanFits(view, plan);
  return plan;
}

std::optional<CompactionPlan> PlanHiddenFiles(const TreeView& view) {
  std::vector<CompactionInputs> inputs;
  for (Level level = 0; level < view.num_levels(); ++level) {
    CompactionInputs own{.level = level, .files = {}};
    for (FileMetaData* file : view.files(level)) {
      if (!file->being_compacted && IsHidden(view, *file)) own.files.push_back(file);
    }
    if (!own.files.empty()) inputs.push_back(std::move(own));
  }
  return PlanDropOf(view, std::move(inputs), PlanReason::kHiddenFiles);
}

std::optional<CompactionPlan> PlanFilesInRanges(const TreeView& view,
                                                std::span<const UserKeyRange> ranges,
                                                bool include_end) {
  std::vector<CompactionInputs> inputs;
  for (Level level = 1; level < view.num_levels(); ++level) {
    CompactionInputs own{.level = level, .files = FilesToDelete(view, level, ranges, include_end)};
    if (!own.files.empty()) inputs.push_back(std::move(own));
  }
  return PlanDropOf(view, std::move(inputs), PlanReason::kDeleteFiles);
}

Result<std::optional<CompactionPlan>> PlanDropOfFile(const TreeView& view, FileNumber number) {
  const TreeFiles tree(view);
  for (Level level = 0; level < view.num_levels(); ++level) {
    const auto has_number = [number](const FileMetaData* file) { return file->number == number; };
    const auto groups = tree.Groups(level);
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& candidate) {
      return std::any_of(candidate.begin(), candidate.end(), has_number);
    });
    if (group == groups.end()) continue;
    FileMetaData* const file = *std::find_if(group->begin(), group->end(), has_number);
    if (file->being_compacted) return std::optional<CompactionPlan>();
    for (Level deeper = level + 1; deeper < view.num_levels(); ++deeper) {
      if (!view.files(deeper).empty())
        return Status::InvalidArgument(
            StrCat("table ", number, " is not on the deepest level that has tables"));
    }
    if (!IsSorted(level) && view.files(level).back() != file)
      return Status::InvalidArgument(StrCat("table ", number, " is not the oldest one of level 0"));
    if (group->size() > 1)
      return Status::InvalidArgument(
          StrCat("table ", number, " shares a user key with its neighbour"));
    return PlanDropOf(view, {{.level = level, .files = {file}}}, PlanReason::kDeleteFiles);
  }
  return Status::NotFound(StrCat("there is no table ", number));
}

Result<CompactionPlan> PlanFiles(const TreeView& view, const LeveledConfig& config,
                                 const FilesRequest& request) {
  CompactionPlan plan;
  ASHLAR_ASSIGN_OR_RETURN(plan.inputs, FileChoice(view, request).Choose());
  ASHLAR_ASSERT(!plan.inputs.empty());  // each named file is on a level that was visited
  plan.output_level = request.output_level;
  plan.reason = PlanReason::kFiles;
  if (!IsSorted(plan.output_level)) {
    const FileMetaData* const newest = plan.inputs.front().files.front();
    ASHLAR_RETURN_IF_ERROR(CheckIsFlushed(view, newest));
    ASHLAR_RETURN_IF_ERROR(CheckStaysBelowNewer(view, newest));
  }
  const LevelTargets targets = ComputeLevelTargets(view, config);
  const PlanBuilder builder(view, config, targets);
  builder.SetRange(&plan);
  if (builder.OutputIsTaken(plan))
    return Status::Aborted("another compaction writes to the same range of keys");
  builder.Complete(&plan, request.may_move && !config.has_filter);
  if (request.compression != kDisableCompressionOption) {
    plan.compression = request.compression;
    plan.bottommost_compression = false;
  }
  if (IsSorted(plan.output_level))
    plan.max_output_file_bytes = std::max<uint64_t>(1, request.output_file_bytes_max);
  builder.Check(plan);
  return plan;
}

void MarkForCompaction(const TreeView& view, const UserKeyRange& range) {
  const TreeFiles tree(view);
  for (Level level = 0; level < view.LastLevel(); ++level) {
    for (FileMetaData* file : view.files(level)) {
      if (tree.Overlap(*file, {range.smallest, range.largest})) file->marked_for_compaction = true;
    }
  }
}

std::optional<Level> DeepestLevelOf(const TreeView& view, const UserKeyRange& range) {
  const TreeFiles tree(view);
  for (Level level = view.num_levels(); level-- > 0;) {
    const auto files = view.files(level);
    if (std::any_of(files.begin(), files.end(), [&](const FileMetaData* file) {
          return tree.Overlap(*file, {range.smallest, range.largest});
        }))
      return level;
  }
  return std::nullopt;
}

Result<std::optional<CompactionPlan>> PlanRefit(const TreeView& view, const LeveledConfig& config,
                                                Level from, std::optional<Level> to) {
  using Plan = std::optional<CompactionPlan>;
  ASHLAR_ASSERT(view.running.empty() && from < view.num_levels());  // Requires; the level exists
  const auto files = view.files(from);
  const auto is_empty = [&](Level level) { return view.files(level).empty(); };
  if (to && *to >= view.num_levels()) {
    return Status::InvalidArgument(
        StrCat("target level ", *to, ": the last one is ", view.num_levels() - 1));
  }
  Level target = to.value_or(from);
  if (!to) {
    const LevelTargets targets = ComputeLevelTargets(view, config);
    const uint64_t bytes = view.LevelBytes(from);
    while (target > 1 && is_empty(target - 1) && targets.of(target - 1) >= bytes) --target;
  }
  if (target == from || files.empty()) return Plan();
  if (from == 0)
    return Status::NotSupported("change_level: files of level 0 do not move to another level");
  for (Level level = std::min(target, from + 1); level <= std::max(target, from - 1); ++level) {
    if (!is_empty(level)) {
      return Status::NotSupported(StrCat("change_level: level ", level, ", from level ", from,
                                         " to level ", target, ", is not empty"));
    }
  }
  if (target == 0 && files.size() > 1) {
    return Status::Aborted(
        StrCat("change_level: only one file may move to level 0, not ", files.size()));
  }
  if (target == 0) ASHLAR_RETURN_IF_ERROR(CheckIsFlushed(view, files.front()));
  return Plan(PlanMoveOf(view, config, from, target));
}

Result<std::optional<CompactionPlan>> PlanMoveOfLevel0(const TreeView& view,
                                                       const LeveledConfig& config, Level to) {
  using Plan = std::optional<CompactionPlan>;
  ASHLAR_ASSERT(view.running.empty());  // Requires
  if (to == 0 || to >= view.num_levels()) {
    return Status::InvalidArgument(
        StrCat("target level ", to, ": the levels below level 0 are 1 to ", view.num_levels() - 1));
  }
  const TreeFiles tree(view);
  FileList files(view.files(0).begin(), view.files(0).end());
  std::sort(files.begin(), files.end(), [&](const FileMetaData* a, const FileMetaData* b) {
    return tree.Compare(a->smallest_user_key(), b->smallest_user_key()) < 0;
  });
  for (size_t i = 1; i < files.size(); ++i) {
    if (!tree.EndsBefore(*files[i - 1], files[i]->smallest_user_key())) {
      return Status::InvalidArgument(StrCat("the ranges of tables ", files[i - 1]->number, " and ",
                                            files[i]->number, " of level 0 overlap"));
    }
  }
  for (Level level = 1; level <= to; ++level) {
    if (!view.files(level).empty())
      return Status::InvalidArgument(StrCat("level ", level, " is not empty"));
  }
  if (files.empty()) return Plan();
  return Plan(PlanMoveOf(view, config, 0, to));
}

}  // namespace ashlar
