#include "compact/plan/compaction_plan.h"

#include <algorithm>
#include <functional>
#include <iterator>

#include "base/assert.h"
#include "base/format.h"

namespace ashlar {

const char* PlanReasonName(PlanReason reason) {
  switch (reason) {
    case PlanReason::kLevel0Files: return "level-0 files";
    case PlanReason::kLevelSize: return "level size";
    case PlanReason::kMarked: return "marked";
    case PlanReason::kBottommostFiles: return "bottommost files";
    case PlanReason::kTtl: return "ttl";
    case PlanReason::kPeriodic: return "periodic";
    case PlanReason::kManual: return "manual";
    case PlanReason::kHiddenFiles: return "hidden files";
    case PlanReason::kCoveredBytes: return "covered bytes";
    case PlanReason::kFiles: return "files";
    case PlanReason::kRefit: return "refit";
    case PlanReason::kDeleteFiles: return "delete files";
    case PlanReason::kSizeAmplification: return "size amplification";
    case PlanReason::kSizeRatio: return "size ratio";
    case PlanReason::kSortedRuns: return "sorted runs";
    case PlanReason::kTableBytes: return "table bytes";
    case PlanReason::kExpired: return "expired";
    case PlanReason::kFewerFiles: return "fewer files";
  }
  return "unknown";
}

bool CompactionPlan::HasInput(const FileMetaData* file) const {
  return std::any_of(inputs.begin(), inputs.end(), [&](const CompactionInputs& level) {
    return std::find(level.files.begin(), level.files.end(), file) != level.files.end();
  });
}

uint64_t CompactionPlan::InputBytes() const {
  uint64_t bytes = 0;
  for (const CompactionInputs& level : inputs) {
    for (const FileMetaData* file : level.files) bytes += file->file_bytes;
  }
  return bytes;
}

uint64_t CompactionPlan::InputFiles() const {
  uint64_t count = 0;
  for (const CompactionInputs& level : inputs) count += level.files.size();
  return count;
}

void CompactionPlan::ApplyInputs(VersionEdit* edit) const {
  for (const CompactionInputs& level : inputs) {
    for (const FileMetaData* file : level.files) {
      if (trivial_move) {
        edit->MoveFile(level.level, output_level, file);
      } else {
        edit->DeleteFile(level.level, file->number);
      }
    }
  }
}

std::string DebugString(const CompactionPlan& plan) {
  std::string text;
  for (const CompactionInputs& level : plan.inputs) {
    StrAppend(&text, text.empty() ? "L" : " + L", level.level, " [");
    for (const FileMetaData* file : level.files)
      StrAppend(&text, file == level.files.front() ? "" : " ", file->number);
    text.push_back(']');
  }
  if (plan.drops_inputs) return StrCat(text, " dropped, ", PlanReasonName(plan.reason));
  StrAppend(&text, " -> L", plan.output_level, ", ", PlanReasonName(plan.reason));
  if (plan.trivial_move) text += ", move";
  if (plan.bottommost) text += ", bottommost";
  return text;
}

void MarkInputs(const CompactionPlan& plan, bool being_compacted) {
  for (const CompactionInputs& level : plan.inputs) {
    for (FileMetaData* file : level.files) {
      ASHLAR_ASSERT(file->being_compacted != being_compacted);  // I3
      file->being_compacted = being_compacted;
    }
  }
}

bool TreeView::StaysBelowNewer(const FileMetaData& file) const {
  const auto level0 = files(0);
  const auto at = std::find(level0.begin(), level0.end(), &file);
  ASHLAR_ASSERT(at != level0.end());  // it is in the tree
  return at == level0.begin() || (*std::prev(at))->largest_sequence > 0;
}

std::span<FileMetaData* const> TreeView::MergeableLevel0() const {
  const auto level0 = files(0);
  const auto first = std::find_if(level0.begin(), level0.end(), [this](const FileMetaData* file) {
    return IsOlderThanMemTables(*file);
  });
  return level0.subspan(static_cast<size_t>(first - level0.begin()));
}

Level TreeView::LastLevel() const {
  Level last = num_levels() - 1;
  while (last > 0 && files(last).empty()) --last;
  return last;
}

uint64_t TreeView::LevelBytes(Level level) const {
  uint64_t bytes = 0;
  for (const FileMetaData* file : files(level)) bytes += file->file_bytes;
  return bytes;
}

SequenceNumber TreeView::AwaitedSnapshot() const {
  SequenceNumber awaited = kNoSnapshotAwaited;
  if (oldest_snapshot == kSequenceNumberMax) return awaited;
  const auto wait_for = [&](SequenceNumber sequence) {
    if (sequence > oldest_snapshot) awaited = std::min(awaited, sequence);
  };
  for (Level level = 0; level < num_levels(); ++level) {
    for (const FileMetaData* file : files(level)) {
      wait_for(file->coverage.hidden_since);
      if (MayHaveRemains(*file)) wait_for(file->largest_sequence);
    }
  }
  return awaited;
}

namespace {

// I6.
std::string FindVisibleInput(const TreeView& view, const CompactionPlan& plan) {
  if (plan.reason != PlanReason::kHiddenFiles) return "";
  for (const CompactionInputs& inputs : plan.inputs) {
    for (const FileMetaData* file : inputs.files) {
      const SequenceNumber since = file->coverage.hidden_since;
      if (since == 0 || since > view.oldest_snapshot)
        return StrCat("table ", file->number, " is visible to a snapshot: ", DebugString(plan));
    }
  }
  return "";
}

// Looks up files of a plan in their level. They are in the level's order, so one pass finds all of
// them. A plan is checked under the mutex, and may take any files of a large tree.
class LevelLookup {
 public:
  explicit LevelLookup(std::span<FileMetaData* const> files) : files_(files) {}

  bool Has(const FileMetaData* file) {
    const auto next = files_.begin() + static_cast<std::ptrdiff_t>(next_);
    auto found = std::find(next, files_.end(), file);
    if (found == files_.end()) {
      found = std::find(files_.begin(), next, file);
      if (found == next) return false;
    }
    next_ = static_cast<size_t>(found - files_.begin()) + 1;
    return true;
  }

 private:
  const std::span<FileMetaData* const> files_;
  size_t next_ = 0;  // after the file that was found last
};

// Looks up files of a level among the inputs of a plan, in the order of the level. Inputs are
// usually found in their turn; any other file takes a binary search.
class InputLookup {
 public:
  explicit InputLookup(std::span<FileMetaData* const> inputs) : inputs_(inputs) {}

  bool Has(const FileMetaData* file) {
    if (next_ < inputs_.size() && inputs_[next_] == file) {
      ++next_;
      return true;
    }
    // Not an input, or an input out of turn.
    if (sorted_.size() < inputs_.size()) {
      sorted_.assign(inputs_.begin(), inputs_.end());
      std::sort(sorted_.begin(), sorted_.end(), std::less<>());
    }
    return std::binary_search(sorted_.begin(), sorted_.end(), file, std::less<>());
  }

 private:
  const std::span<FileMetaData* const> inputs_;
  std::vector<const FileMetaData*> sorted_;  // by address, once it is needed
  size_t next_ = 0;                          // after those that were found in their turn
};

std::span<FileMetaData* const> InputsOf(const CompactionPlan& plan, Level level) {
  for (const CompactionInputs& inputs : plan.inputs) {
    if (inputs.level == level) return inputs.files;
  }
  return {};
}

}  // namespace

std::string FindPlanViolation(const TreeView& view, const CompactionPlan& plan) {
  for (const CompactionInputs& inputs : plan.inputs) {
    LevelLookup of_level(view.files(inputs.level));
    for (const FileMetaData* file : inputs.files) {
      if (!of_level.Has(file)) {
        return StrCat("table ", file->number, " left level ", inputs.level, " before the plan ",
                      DebugString(plan));
      }
    }
  }
  if (plan.drops_inputs) return FindVisibleInput(view, plan);
  if (!IsSorted(plan.output_level) && plan.reason != PlanReason::kRefit) return "";
  const auto overlap = [&](const FileMetaData& file, const Slice& smallest, const Slice& largest,
                           bool excludes_largest) {
    const int r = view.comparator.Compare(file.smallest_user_key(), largest);
    return !file.EndsBefore(view.comparator, smallest) && (r < 0 || (r == 0 && !excludes_largest));
  };
  const std::vector<FileMetaData*>& moving = plan.inputs.front().files;
  const auto overlaps_moving = [&](const FileMetaData& file) {
    return std::any_of(moving.begin(), moving.end(), [&](const FileMetaData* input) {
      return overlap(file, input->smallest_user_key(), input->largest_user_key(),
                     input->excludes_largest());
    });
  };
  const auto violation = [&](const FileMetaData& file, Level level) {
    return StrCat("table ", file.number, " on level ", level, " holds keys of the plan ",
                  DebugString(plan));
  };
  for (Level level = plan.output_level; level < plan.start_level(); ++level) {
    for (const FileMetaData* file : view.files(level)) {
      if (IsSorted(level) && overlaps_moving(*file)) return violation(*file, level);  // I7
    }
  }
  if (!IsSorted(plan.output_level)) return "";
  // Level 0 is sorted from new to old, so the files before the first input are newer.
  bool after_an_input = false;
  InputLookup inputs_of_level0(InputsOf(plan, 0));
  for (const FileMetaData* file : view.files(0)) {
    const bool input = inputs_of_level0.Has(file);
    after_an_input |= input;
    if (!input && after_an_input && overlaps_moving(*file)) return violation(*file, 0);
  }
  const Level last = plan.bottommost ? view.num_levels() - 1 : plan.output_level;
  for (Level level = plan.start_level() + 1; level <= last; ++level) {
    InputLookup inputs_of_level(InputsOf(plan, level));
    for (const FileMetaData* file : view.files(level)) {
      if (inputs_of_level.Has(file)) continue;
      if (level < plan.output_level
              ? overlaps_moving(*file)
              : overlap(*file, plan.smallest, plan.largest, plan.excludes_largest))
        return violation(*file, level);
    }
  }
  return "";
}

namespace {

// I1 and I3 for the inputs of one level.
void CheckInputs(const TreeView& view, const CompactionPlan& plan, const CompactionInputs& inputs) {
  ASHLAR_ASSERT(!inputs.files.empty());             // no level without files
  ASHLAR_ASSERT(inputs.level < view.num_levels());  // no plan reads the level below
  const auto all = view.files(inputs.level);
  const auto first = std::find(all.begin(), all.end(), inputs.files.front());
  ASHLAR_ASSERT(first != all.end());  // the inputs are in the tree
  for (const FileMetaData* file : inputs.files) {
    ASHLAR_ASSERT(!file->being_compacted);  // I3
    // smallest and largest: the range of all inputs.
    ASHLAR_ASSERT(view.comparator.Compare(file->smallest_user_key(), plan.smallest) >= 0);
    ASHLAR_ASSERT(view.comparator.Compare(file->largest_user_key(), plan.largest) <= 0);
  }
  if (!IsSorted(inputs.level) && IsSorted(plan.output_level)) return;
  ASHLAR_ASSERT(static_cast<size_t>(all.end() - first) >= inputs.files.size());  // I1
  ASHLAR_ASSERT(std::equal(inputs.files.begin(), inputs.files.end(), first));    // I1: neighbours
  if (!IsSorted(inputs.level)) return;
  const auto end = first + static_cast<std::ptrdiff_t>(inputs.files.size());
  // I1: a clean cut on both sides.
  ASHLAR_ASSERT(first == all.begin() ||
                (*std::prev(first))->EndsBefore(view.comparator, (*first)->smallest_user_key()));
  ASHLAR_ASSERT(end == all.end() ||
                (*std::prev(end))->EndsBefore(view.comparator, (*end)->smallest_user_key()));
}

// I2.
void CheckWholeRuns(const TreeView& view, const CompactionPlan& plan) {
  for (const CompactionInputs& inputs : plan.inputs) {
    const auto all = view.files(inputs.level);
    const auto first = std::find(all.begin(), all.end(), inputs.files.front());
    ASHLAR_ASSERT(static_cast<size_t>(all.end() - first) >= inputs.files.size());  // I2
    ASHLAR_ASSERT(std::equal(inputs.files.begin(), inputs.files.end(), first));    // I2: neighbours
    const size_t after = static_cast<size_t>(all.end() - first) - inputs.files.size();
    ASHLAR_ASSERT(after == 0 || (inputs.level == 0 && plan.output_level == 0));  // I2
    ASHLAR_ASSERT(first == all.begin() || inputs.level == 0);                    // I2
  }
  for (Level level = plan.start_level() + 1; level <= plan.output_level; ++level) {
    for (const FileMetaData* file : view.files(level)) ASHLAR_ASSERT(plan.HasInput(file));  // I2
  }
}

// I3 and I6.
void CheckDroppedInputs(const TreeView& view, const CompactionPlan& plan) {
  for (const CompactionInputs& inputs : plan.inputs) {
    ASHLAR_ASSERT(!inputs.files.empty() && inputs.level < view.num_levels());             // I6
    for (const FileMetaData* file : inputs.files) ASHLAR_ASSERT(!file->being_compacted);  // I3
  }
}

}  // namespace

void CheckPlanInvariants(const TreeView& view, const CompactionPlan& plan) {
  ASHLAR_ASSERT(!plan.inputs.empty());  // inputs: never empty
  ASHLAR_ASSERT(plan.inputs.size() <= 2 || plan.whole_runs || plan.reason == PlanReason::kFiles ||
                plan.drops_inputs);                         // I2, I6
  ASHLAR_ASSERT(plan.output_level < view.num_levels());     // no plan writes the level below
  ASHLAR_ASSERT(!plan.drops_inputs || !plan.trivial_move);  // I6: the files leave the tree
  if (plan.drops_inputs) return CheckDroppedInputs(view, plan);
  // Only a plan of kRefit moves up (I7). smallest and largest: the range of all inputs.
  ASHLAR_ASSERT(plan.start_level() <= plan.output_level || plan.reason == PlanReason::kRefit);
  ASHLAR_ASSERT(view.comparator.Compare(plan.smallest, plan.largest) <= 0);
  for (const CompactionInputs& inputs : plan.inputs) CheckInputs(view, plan, inputs);
  if (!IsSorted(plan.output_level)) {
    for (const FileMetaData* file : plan.inputs.front().files)
      ASHLAR_ASSERT(view.IsOlderThanMemTables(*file));  // I8
    ASHLAR_ASSERT(plan.start_level() > 0 ||
                  view.StaysBelowNewer(*plan.inputs.front().files.front()));  // I10
  }
  const Level last_input = plan.inputs.back().level;
  ASHLAR_ASSERT(plan.inputs.size() == 1 || last_input == plan.output_level || plan.whole_runs ||
                plan.reason == PlanReason::kFiles);  // I2
  if (plan.whole_runs) CheckWholeRuns(view, plan);
  // bottommost: no older run has keys of the range. older_unknown: some may be added below.
  ASHLAR_ASSERT(!plan.bottommost || (IsSorted(plan.output_level) && plan.older.empty()));
  ASHLAR_ASSERT(plan.older_unknown == view.has_level_below);
  ASHLAR_ASSERT(!plan.bottommost || !plan.older_unknown);
  for (const std::vector<FileMetaData*>& run : plan.older) {
    ASHLAR_ASSERT(!run.empty());  // I4
    for (const FileMetaData* file : run) {
      // I4: files of older runs, in the range.
      ASHLAR_ASSERT(!plan.HasInput(file));
      ASHLAR_ASSERT(view.comparator.Compare(file->smallest_user_key(), plan.largest) <= 0);
      ASHLAR_ASSERT(view.comparator.Compare(file->largest_user_key(), plan.smallest) >= 0);
    }
  }
  ASHLAR_ASSERT(!plan.trivial_move || plan.inputs.size() == 1);  // a move is of one level
  ASHLAR_ASSERT(plan.max_subcompactions >= 1 && plan.max_output_file_bytes > 0);  // no limit is 0
}

void AssertPlanFits(const TreeView& view, const CompactionPlan& plan) {
  const std::string violation = FindPlanViolation(view, plan);
  if (!violation.empty()) AssertFailed(violation.c_str(), __FILE__, __LINE__);
}

}  // namespace ashlar
