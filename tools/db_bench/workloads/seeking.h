// Seeking random keys.
#pragma once

#include "ashlar/status.h"
#include "tools/db_bench/worker.h"

namespace ashlar::bench {

// Each thread seeks ReadsOf(flags) keys, or for the duration; each with a new iterator, or with
// use_tailing_iterator one kept iterator per family, bounded by max_scan_distance, from which
// seek_nexts entries are read. Found: the key was there.
Status SeekRandom(Worker& worker);

}  // namespace ashlar::bench
