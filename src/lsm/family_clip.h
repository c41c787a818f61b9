// ClipFamily: DB::ClipColumnFamily. Takes everything outside of a range of keys out of a family.
//
//   flush --> one batch: range deletions on both sides, up to the ends of the tables
//         --> flush, compaction of the whole family: the deleted entries and the deletions go
//
// Tables that the deletions cover are dropped unread (range_coverage.h). DeleteFilesInRanges before
// the deletions, as in RocksDB, was rejected: until the deletions are written, readers could see
// versions that a dropped table had hidden.
//
// Thread safety: any thread, without locks. Lifetime: the core outlives the call.
#pragma once

#include <memory>

#include "ashlar/slice.h"
#include "lsm/lsm_core.h"

namespace ashlar {

// handle: of the family, for the batch; null: the default family.
Status ClipFamily(LsmCore* core, ColumnFamilyHandle* handle,
                  const std::shared_ptr<ColumnFamily>& family, const Slice& begin_key,
                  const Slice& end_key);

}  // namespace ashlar
