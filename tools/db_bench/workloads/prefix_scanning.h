// Reading all entries that share a random key's prefix.
#pragma once

#include "ashlar/status.h"
#include "tools/db_bench/worker.h"

namespace ashlar::bench {

// Each thread reads ReadsOf(flags) prefixes, or for the duration, each with a new iterator. Found
// means that the prefix had an entry.
Status ScanPrefixes(Worker& worker);

}  // namespace ashlar::bench
