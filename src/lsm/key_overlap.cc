#include "lsm/key_overlap.h"

#include <algorithm>

#include "memtable/memtable_cursor.h"

namespace ashlar {

namespace {

// Whether a source's key, which is at or after the smallest bound, is within the largest bound.
bool IsWithin(const Slice& key, const KeyComparator& comparator, const FileBounds& bounds) {
  const int r = comparator.Compare(key, bounds.largest);
  return r < 0 || (r == 0 && !bounds.excludes_largest);
}

bool HasPart(const FragmentedRanges& ranges, const KeyComparator& comparator,
             const FileBounds& bounds) {
  FragmentedRanges::Cursor at(&ranges);
  at.Seek(bounds.smallest);
  return at.Valid() && IsWithin(at.begin(), comparator, bounds);
}

// An error counts as an entry.
bool HasEntry(InternalCursor* cursor, const KeyComparator& comparator, const FileBounds& bounds) {
  cursor->Seek(MakeInternalKey(bounds.smallest, kSequenceNumberMax, ValueType::kMax));
  if (!cursor->Valid()) return !cursor->status().ok();
  return IsWithin(ExtractUserKey(cursor->key()), comparator, bounds);
}

bool HasKey(const MemTable& table, const KeyComparator& comparator, const FileBounds& bounds) {
  if (table.IsEmpty()) return false;
  if (table.HasRangeDeletions()) {
    constexpr SequenceNumber kNewest[] = {kSequenceNumberMax};
    if (HasPart(table.Ranges(kNewest), comparator, bounds)) return true;
  }
  MemTableCursor cursor(&table, MemTableCursor::PinMode::kBorrowed, nullptr);
  return HasEntry(&cursor, comparator, bounds);
}

// The same for entries with a sequence of at most `newest`.
bool HasOlderKey(const MemTable& table, const KeyComparator& comparator, const FileBounds& bounds,
                 SequenceNumber newest) {
  const SequenceNumber first = table.first_sequence();
  if (first == 0 || first > newest) return false;
  if (table.HasRangeDeletions()) {
    const SequenceNumber visible[] = {newest};
    if (HasPart(table.Ranges(visible), comparator, bounds)) return true;
  }
  MemTableCursor cursor(&table, MemTableCursor::PinMode::kBorrowed, nullptr);
  cursor.Seek(MakeInternalKey(bounds.smallest, kSequenceNumberMax, ValueType::kMax));
  for (; cursor.Valid(); cursor.Next()) {
    const Slice key = cursor.key();
    if (!IsWithin(ExtractUserKey(key), comparator, bounds)) return false;
    if (TagSequence(ExtractTag(key)) <= newest) return true;
  }
  return false;
}

}  // namespace

bool HasOlderUnflushedKey(const ReadView& view, const KeyComparator& comparator,
                          const FileMetaData& file) {
  const FileBounds bounds{.smallest = file.smallest_user_key(),
                          .largest = file.largest_user_key(),
                          .excludes_largest = file.excludes_largest()};
  const SequenceNumber newest = file.largest_sequence;
  return HasOlderKey(*view.active, comparator, bounds, newest) ||
         std::any_of(view.immutable.begin(), view.immutable.end(), [&](const MemTableRef& table) {
           return HasOlderKey(*table, comparator, bounds, newest);
         });
}

bool HasUnflushedKey(const ReadView& view, const KeyComparator& comparator,
                     const FileBounds& bounds) {
  return HasKey(*view.active, comparator, bounds) ||
         std::any_of(view.immutable.begin(), view.immutable.end(),
                     [&](const MemTableRef& table) { return HasKey(*table, comparator, bounds); });
}

bool HasKey(FileMetaData* file, TableCache* tables, const KeyComparator& comparator,
            const FileBounds& bounds) {
  constexpr TableReadOptions kUncached{.fill_cache = false};
  const Result<TableRef> table = tables->Acquire(file, kUncached);
  if (!table.ok() || HasPart((*table)->ranges(), comparator, bounds)) return true;
  return HasEntry((*table)->NewCursor(kUncached).get(), comparator, bounds);
}

}  // namespace ashlar
