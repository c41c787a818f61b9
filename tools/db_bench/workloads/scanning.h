// Reading all entries in order.
#pragma once

#include "ashlar/status.h"
#include "tools/db_bench/worker.h"

namespace ashlar::bench {

enum class ScanDirection { kForward, kBackward };

// Each thread reads ReadsOf(flags) entries from one end of the database.
Status Scan(Worker& worker, ScanDirection direction);

}  // namespace ashlar::bench
