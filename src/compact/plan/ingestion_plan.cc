#include "compact/plan/ingestion_plan.h"

#include <algorithm>
#include <iterator>

namespace ashlar {

namespace {

bool HasRange(const TreeFiles& tree, const CompactionPlan& plan, const FileBounds& bounds) {
  return tree.Overlap({plan.smallest, plan.largest, plan.excludes_largest}, bounds);
}

// True if a running plan with keys of the range excludes the level. A plan assumes that no data in
// its range reach the levels that it passes or writes to, or those below its output.
bool IsBarred(const TreeView& view, const TreeFiles& tree, Level level, const FileBounds& bounds) {
  return level > 0 &&
         std::any_of(view.running.begin(), view.running.end(), [&](const CompactionPlan* plan) {
           if (plan->drops_inputs || !HasRange(tree, *plan, bounds)) return false;
           if (plan->output_level < plan->start_level()) return level >= plan->output_level;
           if (plan->older_unknown && level > plan->output_level) return false;
           return IsSorted(plan->output_level) &&
                  (level > plan->start_level() || level == plan->output_level);
         });
}

}  // namespace

IngestionPlace PlaceIngestedFile(const TreeView& view, const IngestionRules& rules,
                                 const IngestedRange& file, std::span<const PlacedRange> earlier) {
  const TreeFiles tree(view);
  bool tree_is_empty = true;
  for (Level level = 0; level < view.num_levels(); ++level)
    tree_is_empty &= view.files(level).empty();
  IngestionPlace place;
  for (Level level = 0; level < view.num_levels(); ++level) {
    bool fits = true;
    const UserKeyBounds range = file.bounds.range();
    for (FileMetaData* const other :
         IsSorted(level) ? tree.Overlapping(level, range) : view.files(level)) {
      if (!tree.Overlap(*other, range)) continue;
      fits = false;
      if (file.without_keys == nullptr || !file.without_keys->contains(other->number))
        place.covers_older = true;
    }
    for (const PlacedRange& other : earlier) {
      if (other.level == level && tree.Overlap(other.bounds, file.bounds))
        place.covers_older = true;
    }
    if (IsBarred(view, tree, level, file.bounds)) place.covers_older = true;
    if (place.covers_older) break;  // I1, I2
    const bool may_take = level >= rules.base_level && level <= rules.last_level &&
                          !rules.only_level0 &&
                          (!rules.fills_levels_only || !view.files(level).empty() || tree_is_empty);
    if (level > 0 && may_take && fits) place.level = level;
  }
  return place;
}

PlacedFiles::Ranges::const_iterator PlacedFiles::FirstAfter(const Edge& edge) const {
  auto range = ranges_.upper_bound(edge);
  if (range == ranges_.begin()) return range;
  const auto before = std::prev(range);
  return IsBefore(edge, before->second.end) ? before : range;
}

PlacedFiles::Overlapping PlacedFiles::Find(const FileBounds& bounds) const {
  Overlapping found;
  const Edge end = EndOf(bounds);
  for (auto range = FirstAfter(BeginOf(bounds));
       range != ranges_.end() && IsBefore(range->first, end); ++range) {
    found.level = found.any ? std::min(found.level, range->second.level) : range->second.level;
    found.sequence = std::max(found.sequence, range->second.sequence);
    found.any = true;
  }
  return found;
}

void PlacedFiles::Add(const FileBounds& bounds, Level level, SequenceNumber sequence) {
  const Edge begin = BeginOf(bounds);
  const Edge end = EndOf(bounds);
  if (!IsBefore(begin, end)) return;  // no key, so nothing has to be above it
  Range own{.end = end, .level = level, .sequence = sequence};
  for (auto range = FirstAfter(begin); range != ranges_.end() && IsBefore(range->first, end);) {
    const auto [earlier_begin, earlier] = *range;
    // A later file that overlaps only this one has to be above both.
    own.level = std::min(own.level, earlier.level);
    own.sequence = std::max(own.sequence, earlier.sequence);
    range = ranges_.erase(range);
    if (IsBefore(earlier_begin, begin)) {
      ranges_.emplace(earlier_begin,
                      Range{.end = begin, .level = earlier.level, .sequence = earlier.sequence});
    }
    if (IsBefore(end, earlier.end)) {
      ranges_.emplace(end, earlier);
      break;
    }
  }
  ranges_.emplace(begin, own);
}

bool FitsBelow(const TreeView& view, Level level, const FileBounds& bounds) {
  const TreeFiles tree(view);
  return tree.Overlapping(level, bounds.range()).empty() && !IsBarred(view, tree, level, bounds);
}

}  // namespace ashlar
