// ClipFamily: DB::ClipColumnFamily. Removes everything outside a range of keys from a family.
//
//   flush --> one batch: range deletions on both sides, up to the ends of the tables
//         --> flush, compaction of all tables: removes the deleted entries and the deletions
//
// Tables that the deletions cover are dropped unread (range_coverage.h). Rejected: calling
// DeleteFilesInRanges before the deletions, as RocksDB does. Until the deletions are written,
// readers could see versions that a dropped table had hidden.
//
// Thread safety: any thread, without locks. Lifetime: the core outlives the call.
#pragma once

#include <memory>

#include "ashlar/slice.h"
#include "lsm/lsm_core.h"

namespace ashlar {

// `handle`: the family's handle, for the batch; null: the default family.
Status ClipFamily(LsmCore* core, ColumnFamilyHandle* handle,
                  const std::shared_ptr<ColumnFamily>& family, const Slice& begin_key,
                  const Slice& end_key);

}  // namespace ashlar
