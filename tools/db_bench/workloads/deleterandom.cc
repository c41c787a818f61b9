#include "tools/db_bench/workloads/all.h"
#include "tools/db_bench/workloads/deleting.h"
#include "tools/db_bench/workloads/on_tree.h"

namespace ashlar::bench {

constinit const Workload kDeleteRandom = {
    .name = "deleterandom",
    .summary = "delete keys drawn at random",
    .run = [](Worker& worker) { return Delete(worker, KeyOrder::kRandom); },
    .run_on_tree = [](Worker& worker) { return DeleteFromTree(worker, KeyOrder::kRandom); },
};

}  // namespace ashlar::bench
