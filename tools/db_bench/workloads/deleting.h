// Deleting keys in batches, and ranges of keys.
#pragma once

#include <cstdint>

#include "ashlar/status.h"
#include "ashlar/write_batch.h"
#include "tools/db_bench/keys.h"
#include "tools/db_bench/worker.h"

namespace ashlar::bench {

// Each thread deletes --deletes keys, by the clock if the order is kRandom and there is a duration.
Status Delete(Worker& worker, KeyOrder order);

// Deletes --range_tombstone_width keys from `first` on, by one record, or one by one with
// --expand_range_tombstones.
Status AddRangeDeletion(Worker& worker, uint64_t first, WriteBatch* batch);
// Each thread deletes --deletes ranges, or as many as the keys have. In the order kSequential, they
// are adjacent.
Status DeleteRanges(Worker& worker, KeyOrder order);

}  // namespace ashlar::bench
