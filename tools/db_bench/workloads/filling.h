// Writing keys and values in batches, for the fills and overwrite.
#pragma once

#include "ashlar/status.h"
#include "tools/db_bench/keys.h"
#include "tools/db_bench/worker.h"

namespace ashlar::bench {

// Each thread writes WritesOf(flags) keys, by the clock if the order is kRandom and there is a
// duration.
Status Fill(Worker& worker, KeyOrder order);
// The same in random order, for the first `count` keys.
Status FillFirst(Worker& worker, uint64_t count);
// The same with keys drawn as key_distribution says.
Status Overwrite(Worker& worker);
// The same in random order, followed by a flush.
Status BulkLoad(Worker& worker);

}  // namespace ashlar::bench
