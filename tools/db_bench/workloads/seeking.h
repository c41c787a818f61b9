// Seeking random keys.
#pragma once

#include "ashlar/status.h"
#include "tools/db_bench/worker.h"

namespace ashlar::bench {

// Each thread seeks ReadsOf(flags) keys, or for the duration. A seek has a new iterator, or with
// use_tailing_iterator one that is kept for the family. It is bounded by max_scan_distance, and
// seek_nexts entries are read from it. Found means that the key existed.
Status SeekRandom(Worker& worker);

}  // namespace ashlar::bench
