// Range coverage: the older data that the range tombstones of one table cover. It finds files that
// an edit alone can drop, and the bytes that a compaction of the table would free.
//
//   table of a newer run     [b ------------------ t)@50
//   older run              (a-d)  (e-h)  (k-m)  (p-w)      @ up to 40
//                           cut   hidden hidden  cut
//
// C1: a file is hidden since sequence s if each of its keys, from its smallest to its largest, is
//     covered by a tombstone of a newer run whose sequence is above every sequence of the file and
//     at most s. So readers at s or later see no entry and no range tombstone of the file, and the
//     newer run deletes everything that these would delete in older runs.
// C2: a hidden file stays hidden. A tombstone leaves the tree only if a newer one replaces it in
//     its snapshot stripe, or if no older run has keys of its range (R7 of
//     docs/range-deletions.md). DeleteFilesInRanges drops tables with their tombstones. The files
//     that they hid then count as visible again, except inputs of a plan that drops them.
// C3: a hidden file may be dropped once no snapshot is older than s. The tombstones stay.
//
// Thread safety: pure. Lifetime: borrows its arguments.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/function_ref.h"
#include "compact/plan/compaction_plan.h"
#include "ranges/fragmented_ranges.h"

namespace ashlar {

struct RangeCoverage {
  struct HiddenFile {
    FileMetaData* file;
    SequenceNumber since;
  };
  std::vector<HiddenFile> hidden;
  // The approximate bytes of other files that are covered, in all older runs.
  uint64_t covered_bytes = 0;
};

// Estimates the bytes of the file in [begin, end).
using BytesOfRange =
    FunctionRef<uint64_t(FileMetaData* file, const Slice& begin, const Slice& end)>;

// `ranges` are the range tombstones of `table`, a file of `level`. Skips files that are known to be
// hidden. Counts no bytes if bytes_of_range is null. With more than some hundred tombstones, it
// estimates the bytes from a sample.
RangeCoverage FindRangeCoverage(const TreeView& view, Level level, const FileMetaData& table,
                                const FragmentedRanges& ranges, const BytesOfRange* bytes_of_range);

}  // namespace ashlar
