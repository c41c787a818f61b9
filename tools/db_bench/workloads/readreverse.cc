#include "tools/db_bench/workloads/all.h"
#include "tools/db_bench/workloads/on_tree.h"
#include "tools/db_bench/workloads/scanning.h"

namespace ashlar::bench {

constinit const Workload kReadReverse = {
    .name = "readreverse",
    .summary = "read keys in reverse order",
    .run = [](Worker& worker) { return Scan(worker, ScanDirection::kBackward); },
    .run_on_tree = [](Worker& worker) { return ScanTree(worker, ScanDirection::kBackward); },
};

}  // namespace ashlar::bench
