#include "tools/db_bench/workloads/all.h"
#include "tools/db_bench/workloads/on_tree.h"
#include "tools/db_bench/workloads/scanning.h"

namespace ashlar::bench {

constinit const Workload kReadSeq = {
    .name = "readseq",
    .summary = "read keys in order",
    .run = [](Worker& worker) { return Scan(worker, ScanDirection::kForward); },
    .run_on_tree = [](Worker& worker) { return ScanTree(worker, ScanDirection::kForward); },
};

}  // namespace ashlar::bench
