#include "lsm/family_clip.h"

#include <optional>
#include <string>

#include "ashlar/write_batch.h"
#include "base/format.h"
#include "base/result.h"

namespace ashlar {

namespace {

// The first and the last key of the tables, range deletions included.
struct KeyEnds {
  std::string smallest;
  std::string largest;
  bool excludes_largest = false;  // no entry has it
};

// Returns nothing if there are no tables.
std::optional<KeyEnds> FindEnds(const DatabaseState& state, const ColumnFamily& family) {
  const KeyComparator& comparator = family.comparator();
  const FileMetaData* first = nullptr;
  const FileMetaData* last = nullptr;
  MutexLock lock(state.mutex());
  const Version& version = *family.version();
  for (Level level = 0; level < version.levels(); ++level) {
    for (const FileMetaData* const file : version.files(level)) {
      if (first == nullptr || comparator.CompareInternal(file->smallest, first->smallest) < 0)
        first = file;
      if (last == nullptr || comparator.CompareInternal(last->largest, file->largest) < 0)
        last = file;
    }
  }
  if (first == nullptr) return std::nullopt;
  return KeyEnds{.smallest = first->smallest_user_key().ToString(),
                 .largest = last->largest_user_key().ToString(),
                 .excludes_largest = last->excludes_largest()};
}

}  // namespace

Status ClipFamily(LsmCore* core, ColumnFamilyHandle* handle,
                  const std::shared_ptr<ColumnFamily>& family, const Slice& begin_key,
                  const Slice& end_key) {
  const KeyComparator& comparator = family->comparator();
  if (comparator.Compare(begin_key, end_key) > 0)
    return Status::InvalidArgument(NameForDisplay(family->name()),
                                   "the end of the range is before its begin");
  ManualCompactions& compactions = core->background.manual_compactions();
  ASHLAR_RETURN_IF_ERROR(compactions.CheckEnabled());
  FlushOptions flush;
  flush.allow_write_stall = true;
  ASHLAR_RETURN_IF_ERROR(core->FlushFamilies(flush, {&family, 1}, FlushReason::kDeleteFiles));
  const std::optional<KeyEnds> ends = FindEnds(*core->state, *family);
  if (!ends) return Status::OK();

  WriteBatch deletions;
  const auto delete_range = [&](const Slice& begin, const Slice& end) -> Status {
    ASHLAR_RETURN_IF_ERROR(family->CheckRange(begin, end));
    return deletions.DeleteRange(handle, begin, end);
  };
  if (comparator.Compare(ends->smallest, begin_key) < 0)
    ASHLAR_RETURN_IF_ERROR(delete_range(ends->smallest, begin_key));
  if (comparator.Compare(end_key, ends->largest) <= 0) {
    ASHLAR_RETURN_IF_ERROR(delete_range(end_key, ends->largest));
    if (!ends->excludes_largest) ASHLAR_RETURN_IF_ERROR(deletions.Delete(handle, ends->largest));
  }
  if (deletions.Count() == 0) return Status::OK();
  ASHLAR_RETURN_IF_ERROR(core->commit.Write(WriteOptions(), &deletions));
  ASHLAR_RETURN_IF_ERROR(core->FlushFamilies(flush, {&family, 1}, FlushReason::kDeleteFiles));
  CompactRangeOptions options;
  options.exclusive_manual_compaction = true;
  options.bottommost_level_compaction = BottommostLevelCompaction::kForceOptimized;
  return compactions.CompactRange(options, family, nullptr, nullptr);
}

}  // namespace ashlar
