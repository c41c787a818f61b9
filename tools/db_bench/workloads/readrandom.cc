#include "tools/db_bench/workloads/all.h"
#include "tools/db_bench/workloads/on_tree.h"
#include "tools/db_bench/workloads/reading.h"

namespace ashlar::bench {

constinit const Workload kReadRandom = {
    .name = "readrandom",
    .summary = "get keys drawn at random",
    .run = [](Worker& worker) { return ReadRandom(worker, worker.num); },
    .run_on_tree = ReadTreeRandom,
    .describe = DescribeFound,
};

}  // namespace ashlar::bench
