#include "tools/db_bench/workloads/all.h"
#include "tools/db_bench/workloads/filling.h"
#include "tools/db_bench/workloads/on_tree.h"

namespace ashlar::bench {

constinit const Workload kFillSeq = {
    .name = "fillseq",
    .summary = "write num keys in order",
    .needs = Workload::Needs::kFreshDatabase,
    .run = [](Worker& worker) { return Fill(worker, KeyOrder::kSequential); },
    .run_on_tree = [](Worker& worker) { return FillTree(worker, KeyOrder::kSequential); },
};

}  // namespace ashlar::bench
