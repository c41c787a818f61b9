// The thread that writes concurrently with the measured threads, until they have ended.
// benchmark_write_rate_limit is its limit.
#pragma once

#include "ashlar/status.h"
#include "tools/db_bench/worker.h"

namespace ashlar::bench {

Status WriteBeside(Worker& worker);
Status MergeBeside(Worker& worker);

}  // namespace ashlar::bench
