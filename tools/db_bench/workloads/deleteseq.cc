#include "tools/db_bench/workloads/all.h"
#include "tools/db_bench/workloads/deleting.h"
#include "tools/db_bench/workloads/on_tree.h"

namespace ashlar::bench {

constinit const Workload kDeleteSeq = {
    .name = "deleteseq",
    .summary = "delete keys in order",
    .run = [](Worker& worker) { return Delete(worker, KeyOrder::kSequential); },
    .run_on_tree = [](Worker& worker) { return DeleteFromTree(worker, KeyOrder::kSequential); },
};

}  // namespace ashlar::bench
