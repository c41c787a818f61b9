#include "ranges/file_ranges.h"

#include "base/assert.h"

namespace ashlar {

namespace {

// Returns true if a fragment ends after the key.
bool RunPast(const KeyComparator& comparator, const FragmentedRanges& ranges, const Slice& key) {
  FragmentedRanges::Cursor last(&ranges);
  last.SeekToLast();
  return last.Valid() && comparator.Compare(last.end(), key) > 0;
}

}  // namespace

FileRanges FileRanges::Cut(const KeyComparator& comparator, FragmentedRanges ranges,
                           const Bounds& bounds) {
  if (bounds.excludes_largest) return FileRanges(ranges.Cut(&bounds.smallest, &bounds.largest));
  if (!RunPast(comparator, ranges, bounds.largest))
    return FileRanges(ranges.Cut(&bounds.smallest, nullptr));
  if (comparator.kind() == KeyComparator::Kind::kBytewise) {
    const std::string next = bounds.largest.ToString() + '\0';
    const Slice end = next;
    return FileRanges(ranges.Cut(&bounds.smallest, &end));
  }
  FileRanges cut(ranges.Cut(&bounds.smallest, nullptr));
  FragmentedRanges::Cursor at(&cut.searched_);
  at.Seek(bounds.largest);
  if (!at.Valid() || comparator.Compare(at.begin(), bounds.largest) > 0)
    return FileRanges(cut.searched_.Cut(nullptr, &bounds.largest));
  cut.largest_ = bounds.largest.ToString();
  cut.largest_sequences_.assign(at.sequences().begin(), at.sequences().end());
  ASHLAR_DCHECK(!cut.largest_sequences_.empty());  // I3
  cut.before_largest_ = cut.searched_.Cut(nullptr, &bounds.largest);
  return cut;
}

}  // namespace ashlar
