// The level of an ingested file: the deepest that can hold it.
//
//   level 0     always: the file gets the newest sequence number, and the engine flushes first
//   level n     n is at or below the base level, no file of n overlaps the range, no level down
//               to n has a key of the file, and no running plan with keys of the range passes
//               or writes to n
//
// I1: newer data stay above older. No level down to the result has a key of the file. The exception
//     is level 0, where the file gets the newest sequence number.
// I2: the result conflicts with no running plan. With the file in the tree, FindPlanViolation finds
//     nothing for any running plan (property of ingestion_plan_test.cc).
// I3: a file that covers nothing older shares no key with any file of the tree.
//
// A file of the tree that overlaps the range but has no key in it does not violate I1. It still
// excludes its own level, because files of a level have disjoint ranges. The caller finds such
// files by reading them. One that it does not report only moves the result up.
//
// Thread safety: pure functions; call under the mutex that guards the view.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "compact/plan/compaction_plan.h"
#include "compact/plan/plan_builder.h"

namespace ashlar {

struct IngestionRules {
  Level base_level = 1;  // the level that level 0 is compacted into
  Level last_level = 0;  // the deepest level for ingested files
  bool only_level0 = false;
  // Levels without files stay empty unless the whole tree is empty, because each would become
  // another sorted run.
  bool fills_levels_only = false;
};

struct IngestedRange {
  FileBounds bounds;
  // Files of the tree whose range overlaps, but that have no key in it.
  const std::unordered_set<FileNumber>* without_keys = nullptr;  // null: none is known
};
// A file of the same call that was placed already, in the order of the call.
struct PlacedRange {
  FileBounds bounds;
  Level level = 0;
};

struct IngestionPlace {
  Level level = 0;
  // True if the tree, a running plan or an earlier file of the call may have older data at keys of
  // the file.
  bool covers_older = false;
};

IngestionPlace PlaceIngestedFile(const TreeView& view, const IngestionRules& rules,
                                 const IngestedRange& file, std::span<const PlacedRange> earlier);

// The files of a call that are placed already. Where two overlap, the later one represents both. It
// is above the earlier one (I1), so a further file only has to be above it. Placing a file
// therefore costs O(log n) on average, even if all files of a call overlap.
//
// Lifetime: borrows the comparator's object and the bounds.
class PlacedFiles {
 public:
  explicit PlacedFiles(const KeyComparator& comparator) : ranges_(EdgeOrder{comparator}) {}

  // Describes the placed files that overlap.
  struct Overlapping {
    bool any = false;
    Level level = 0;              // the lowest number
    SequenceNumber sequence = 0;  // the largest one
  };
  Overlapping Find(const FileBounds& bounds) const;
  void Add(const FileBounds& bounds, Level level, SequenceNumber sequence);

 private:
  // A position between keys: before the key, or directly after it.
  struct Edge {
    Slice user_key;
    bool is_after = false;
  };
  struct EdgeOrder {
    KeyComparator comparator;
    bool operator()(const Edge& a, const Edge& b) const {
      const int r = comparator.Compare(a.user_key, b.user_key);
      return r < 0 || (r == 0 && !a.is_after && b.is_after);
    }
  };
  struct Range {
    Edge end;
    Level level = 0;
    SequenceNumber sequence = 0;
  };
  using Ranges = std::map<Edge, Range, EdgeOrder>;  // by begin; disjoint

  static Edge BeginOf(const FileBounds& bounds) { return {bounds.smallest, false}; }
  static Edge EndOf(const FileBounds& bounds) { return {bounds.largest, !bounds.excludes_largest}; }
  bool IsBefore(const Edge& a, const Edge& b) const { return ranges_.key_comp()(a, b); }
  // The first range that ends after the edge.
  Ranges::const_iterator FirstAfter(const Edge& edge) const;

  Ranges ranges_;
};

// True if the file can be placed below all data of the tree, on this level.
bool FitsBelow(const TreeView& view, Level level, const FileBounds& bounds);

}  // namespace ashlar
