// Deleting keys in batches.
#pragma once

#include "ashlar/status.h"
#include "tools/db_bench/keys.h"
#include "tools/db_bench/worker.h"

namespace ashlar::bench {

// Each thread deletes --deletes keys, by the clock if the order is kRandom and there is a duration.
Status Delete(Worker& worker, KeyOrder order);

}  // namespace ashlar::bench
