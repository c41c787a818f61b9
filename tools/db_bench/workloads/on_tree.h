// The workloads of a persistent tree, with the same keys, values and counts as those of a database.
#pragma once

#include "ashlar/status.h"
#include "tools/db_bench/keys.h"
#include "tools/db_bench/worker.h"
#include "tools/db_bench/workloads/scanning.h"

namespace ashlar::bench {

// Puts single keys, and writes several keys in a batch.
Status FillTree(Worker& worker, KeyOrder order);
Status DeleteFromTree(Worker& worker, KeyOrder order);
Status ScanTree(Worker& worker, ScanDirection direction);
Status ReadTreeRandom(Worker& worker);
// Reads batch_size keys at once.
Status MultiReadTreeRandom(Worker& worker);
// Writes until the measured threads have ended.
Status WriteTreeBeside(Worker& worker);
// The first readwritepercent of every hundred operations are reads.
Status ReadAndWriteTree(Worker& worker);

}  // namespace ashlar::bench
