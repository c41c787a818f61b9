#include "manifest/epoch_order.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "base/format.h"
#include "table/file_metadata.h"

namespace ashlar {

namespace {

bool AllHaveEpochNumbers(const Version& version) {
  for (Level level = 0; level < version.levels(); ++level) {
    for (const FileMetaData* file : version.files(level)) {
      if (file->epoch_number == 0) return false;
    }
  }
  return true;
}

bool IsOlderByEpoch(const FileMetaData* a, const FileMetaData* b) {
  return a->epoch_number < b->epoch_number;
}

bool HaveCommonKeys(const KeyComparator& comparator, const FileMetaData& a, const FileMetaData& b) {
  return !a.EndsBefore(comparator, b.smallest_user_key()) &&
         !b.EndsBefore(comparator, a.smallest_user_key());
}

}  // namespace

Status CheckEpochOrder(const KeyComparator& comparator, const Version& version) {
  const std::span<FileMetaData* const> files = version.files(0);  // newest first, by sequences
  // The common case, without comparing each pair of thousands of tables.
  const bool is_descending =
      std::adjacent_find(files.begin(), files.end(), IsOlderByEpoch) == files.end();
  if (is_descending || !AllHaveEpochNumbers(version)) return Status::OK();
  for (size_t i = 0; i < files.size(); ++i) {
    for (size_t j = i + 1; j < files.size(); ++j) {
      if (!IsOlderByEpoch(files[i], files[j]) || !HaveCommonKeys(comparator, *files[i], *files[j]))
        continue;
      return Status::NotSupported(StrCat(
          "tables ", files[i]->number, " and ", files[j]->number,
          " of level 0 have common keys, and their epoch numbers (", files[i]->epoch_number, ", ",
          files[j]->epoch_number, ") order them otherwise than their sequence numbers (up to ",
          files[i]->largest_sequence, ", ", files[j]->largest_sequence,
          "); compact the column family with RocksDB 7.10 or later (CompactRange), and open it "
          "again"));
    }
  }
  return Status::OK();
}

}  // namespace ashlar
