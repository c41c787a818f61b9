// The workloads of a persistent tree, with the same keys, values and counts as those of a database.
#pragma once

#include "ashlar/status.h"
#include "tools/db_bench/keys.h"
#include "tools/db_bench/worker.h"
#include "tools/db_bench/workloads/scanning.h"

namespace ashlar::bench {

// Single keys are put, several go into a batch.
Status FillTree(Worker& worker, KeyOrder order);
Status DeleteFromTree(Worker& worker, KeyOrder order);
Status ScanTree(Worker& worker, ScanDirection direction);
Status ReadTreeRandom(Worker& worker);
// batch_size at once.
Status MultiReadTreeRandom(Worker& worker);
// Until those that are measured have ended.
Status WriteTreeBeside(Worker& worker);
// Of every hundred operations the first readwritepercent are reads.
Status ReadAndWriteTree(Worker& worker);

}  // namespace ashlar::bench
