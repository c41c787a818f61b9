#include "lsm/imported_order.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/assert.h"
#include "base/format.h"
#include "key/cursor.h"
#include "key/internal_key.h"
#include "key/key_comparator.h"
#include "lsm/external_file.h"
#include "manifest/level_files.h"
#include "table/open/standalone_table.h"

namespace ashlar {

namespace {

constexpr TableReadOptions kUncached{.fill_cache = false};
// A seek reads and decodes its block again, so nearby keys are reached by steps.
constexpr int kStepsBeforeASeek = 32;

// The files have no numbers yet, so of two with the same sequences neither is newer.
bool IsNewer(const ImportedFile& a, const ImportedFile& b) {
  ASHLAR_ASSERT(a.meta->number == 0 && b.meta->number == 0);  // no numbers yet
  return LevelFiles::NewerFirst(a.meta.get(), b.meta.get());
}

// Whether a lookup searches `a` first. Requires: I2, or different levels.
bool IsAbove(const ImportedFile& a, const ImportedFile& b) {
  return a.level != b.level ? a.level < b.level : IsNewer(a, b);
}

// Checks I2. Two files of one ingestion may have the same number, because the ingestion gave them
// disjoint keys. The number of an ingested file may also be within the sequences of the newer file.
// The file was ingested while a memtable had none of its keys, and the table of that memtable has
// only newer entries at its keys. I1 is checked in both cases.
bool OverlapInSequences(const ImportedFile& a, const ImportedFile& b) {
  const bool a_is_newer = IsNewer(a, b);
  if (!a_is_newer && !IsNewer(b, a)) return true;
  const FileMetaData& newer = a_is_newer ? *a.meta : *b.meta;
  const FileMetaData& older = a_is_newer ? *b.meta : *a.meta;
  return newer.smallest_sequence < older.largest_sequence &&
         older.smallest_sequence != older.largest_sequence;
}

// Epoch numbers are compared even if other files have none. RocksDB then orders by sequences, but
// these two files have been read in the order of their epoch numbers. Requires: I2.
bool DifferInOrder(const ImportedFile& a, const ImportedFile& b) {
  if (a.epoch_number == 0 || b.epoch_number == 0) return false;
  return IsNewer(a, b) ? a.epoch_number < b.epoch_number : a.epoch_number > b.epoch_number;
}

SequenceNumber SequenceAt(const InternalCursor& cursor) {
  return TagSequence(ExtractTag(cursor.key()));
}

// Two files with common keys, of which a lookup searches `upper` first.
class PairCheck {
 public:
  PairCheck(const ImportedFileArgs& args, const ImportedFile& upper, const ImportedFile& lower)
      : args_(args), comparator_(args.options->comparator), upper_(upper), lower_(lower) {}

  // Whether I1 holds.
  Result<bool> UpperIsNewer() {
    if (upper_.meta->smallest_sequence > lower_.meta->largest_sequence) return true;
    ASHLAR_ASSIGN_OR_RETURN(const std::unique_ptr<StandaloneTable> upper, Open(upper_));
    ASHLAR_ASSIGN_OR_RETURN(const std::unique_ptr<StandaloneTable> lower, Open(lower_));
    const std::unique_ptr<InternalCursor> above = upper->reader()->NewCursor(kUncached);
    const std::unique_ptr<InternalCursor> below = lower->reader()->NewCursor(kUncached);
    const bool newer = EntriesAreNewer(above.get(), below.get()) &&
                       RangesAreNewer(upper->reader()->ranges(), below.get()) &&
                       RangesAreOlder(lower->reader()->ranges(), above.get());
    ASHLAR_RETURN_IF_ERROR(above->status());
    ASHLAR_RETURN_IF_ERROR(below->status());
    return newer;
  }

 private:
  Result<std::unique_ptr<StandaloneTable>> Open(const ImportedFile& file) const {
    return OpenExternalTable(*args_.state, *args_.options, file.path,
                             {.smallest = file.meta->smallest,
                              .largest = file.meta->largest,
                              .largest_sequence = file.meta->largest_sequence});
  }

  void Seek(InternalCursor* cursor, const Slice& user_key) const {
    cursor->Seek(MakeInternalKey(user_key, kSequenceNumberMax, ValueType::kMax));
  }

  // Moves to the newest version of the key or of the next one. Requires: the cursor is not past it.
  void Advance(InternalCursor* cursor, const Slice& user_key) const {
    for (int steps = 0; cursor->Valid(); ++steps) {
      if (comparator_.Compare(ExtractUserKey(cursor->key()), user_key) >= 0) return;
      if (steps == kStepsBeforeASeek) return Seek(cursor, user_key);
      cursor->Next();
    }
  }

  bool EntriesAreNewer(InternalCursor* above, InternalCursor* below) const {
    std::string user_key;
    above->SeekToFirst();
    if (above->Valid()) Seek(below, ExtractUserKey(above->key()));
    while (above->Valid() && below->Valid()) {
      user_key = ExtractUserKey(below->key()).ToString();
      const SequenceNumber newest_below = SequenceAt(*below);
      Advance(above, user_key);
      while (above->Valid() && comparator_.Compare(ExtractUserKey(above->key()), user_key) == 0) {
        if (SequenceAt(*above) <= newest_below) return false;
        above->Next();
      }
      if (above->Valid()) Advance(below, ExtractUserKey(above->key()));
    }
    return true;
  }

  bool RangesAreNewer(const FragmentedRanges& ranges, InternalCursor* below) const {
    FragmentedRanges::Cursor at(&ranges);
    for (at.SeekToFirst(); at.Valid(); at.Next()) {
      const SequenceNumber oldest = at.sequences().back();
      if (oldest > lower_.meta->largest_sequence) continue;
      for (Seek(below, BeginOf(at, *upper_.meta)); IsWithin(*below, at, *upper_.meta);
           below->Next()) {
        if (oldest <= SequenceAt(*below)) return false;
      }
    }
    return true;
  }

  bool RangesAreOlder(const FragmentedRanges& ranges, InternalCursor* above) const {
    FragmentedRanges::Cursor at(&ranges);
    for (at.SeekToFirst(); at.Valid(); at.Next()) {
      const SequenceNumber newest = at.sequences().front();
      if (newest < upper_.meta->smallest_sequence) continue;
      for (Seek(above, BeginOf(at, *lower_.meta)); IsWithin(*above, at, *lower_.meta);
           above->Next()) {
        if (SequenceAt(*above) <= newest) return false;
      }
    }
    return true;
  }

  // A fragment may extend past the bounds of its file on both sides, and has no effect there.
  Slice BeginOf(const FragmentedRanges::Cursor& fragment, const FileMetaData& file) const {
    const Slice smallest = file.smallest_user_key();
    return comparator_.Compare(fragment.begin(), smallest) < 0 ? smallest : fragment.begin();
  }
  bool IsWithin(const InternalCursor& cursor, const FragmentedRanges::Cursor& fragment,
                const FileMetaData& file) const {
    if (!cursor.Valid()) return false;
    const Slice user_key = ExtractUserKey(cursor.key());
    return comparator_.Compare(user_key, fragment.end()) < 0 &&
           !file.EndsBefore(comparator_, user_key);
  }

  const ImportedFileArgs& args_;
  const KeyComparator comparator_;
  const ImportedFile& upper_;
  const ImportedFile& lower_;
};

// I1.
Status CheckVersions(const ImportedFileArgs& args, const ImportedFile& upper,
                     const ImportedFile& lower) {
  ASHLAR_ASSIGN_OR_RETURN(const bool holds, PairCheck(args, upper, lower).UpperIsNewer());
  if (holds) return Status::OK();
  return Status::InvalidArgument(
      upper.path, StrCat("of level ", upper.level, " has an older version of a key than ",
                         lower.path, " of level ", lower.level,
                         ", and reads would find it first; compact the column family before it "
                         "is exported"));
}

// Checks I2 for two files with common keys.
Status CheckLevel0(const ImportedFile& before, const ImportedFile& file) {
  if (OverlapInSequences(before, file)) {
    return Status::InvalidArgument(
        file.path, StrCat("overlaps ", before.path,
                          " in keys and in sequence numbers, and both are of level 0; compact "
                          "the column family before it is exported"));
  }
  if (!DifferInOrder(before, file)) return Status::OK();
  return Status::NotSupported(
      file.path, StrCat("overlaps ", before.path,
                        " on level 0, and their epoch numbers (LiveFileMetaData::epoch_number) "
                        "order them otherwise than their sequence numbers; compact the column "
                        "family before it is exported"));
}

}  // namespace

Status CheckImportedOrder(const ImportedFileArgs& args, std::span<const ImportedFile> files) {
  const KeyComparator comparator(args.options->comparator);
  std::vector<const ImportedFile*> sorted;
  sorted.reserve(files.size());
  for (const ImportedFile& file : files) sorted.push_back(&file);
  std::sort(sorted.begin(), sorted.end(), [&](const ImportedFile* a, const ImportedFile* b) {
    return comparator.CompareInternal(a->meta->smallest, b->meta->smallest) < 0;
  });
  for (size_t i = 0; i < sorted.size(); ++i) {
    const ImportedFile& before = *sorted[i];
    for (size_t j = i + 1; j < sorted.size(); ++j) {
      const ImportedFile& file = *sorted[j];
      if (before.meta->EndsBefore(comparator, file.meta->smallest_user_key())) break;
      const bool of_one_level = file.level == before.level;
      if (of_one_level && IsSorted(file.level)) {
        // Versions of a key may continue in the next file.
        if (comparator.CompareInternal(before.meta->largest, file.meta->smallest) < 0) continue;
        return Status::InvalidArgument(
            file.path, StrCat("overlaps ", before.path, ", and both are of level ", file.level));
      }
      if (of_one_level) ASHLAR_RETURN_IF_ERROR(CheckLevel0(before, file));
      const bool is_above = IsAbove(before, file);
      ASHLAR_RETURN_IF_ERROR(
          CheckVersions(args, is_above ? before : file, is_above ? file : before));
    }
  }
  return Status::OK();
}

}  // namespace ashlar
