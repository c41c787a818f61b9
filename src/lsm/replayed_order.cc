#include "lsm/replayed_order.h"

#include "base/format.h"
#include "base/result.h"
#include "filesystem/filename.h"
#include "lsm/key_overlap.h"

namespace ashlar {

namespace {

Status CheckFamily(const ColumnFamily& family) {
  const ReadView& view = *family.view();
  for (const FileMetaData* file : view.version->files(0)) {
    if (!HasOlderUnflushedKey(view, family.comparator(), *file)) continue;
    return Status::NotSupported(
        StrCat("column family \"", NameForDisplay(family.name()), "\""),
        StrCat("a log has writes of keys of table ", file->number,
               " of level 0 that are older than its newest entry, number ", file->largest_sequence,
               ": sequence numbers do not order the two; compact the column family with RocksDB "
               "7.10 or later (CompactRange), or call RepairDB, and open it again"));
  }
  return Status::OK();
}

}  // namespace

Status CheckReplayedOrder(const FamilyTable& families) {
  for (const auto& family : families.families) ASHLAR_RETURN_IF_ERROR(CheckFamily(*family));
  return Status::OK();
}

}  // namespace ashlar
