// Writing keys and values in batches: shared by the fills and overwrite.
#pragma once

#include "ashlar/status.h"
#include "tools/db_bench/keys.h"
#include "tools/db_bench/worker.h"

namespace ashlar::bench {

// Each thread writes WritesOf(flags) keys, by the clock if the order is kRandom and there is a
// duration.
Status Fill(Worker& worker, KeyOrder order);
// In random order, of the first `count` keys.
Status FillFirst(Worker& worker, uint64_t count);
// The same with keys drawn as key_distribution says.
Status Overwrite(Worker& worker);
// In random order, and then into tables.
Status BulkLoad(Worker& worker);

}  // namespace ashlar::bench
