#include "tools/db_bench/workloads/all.h"
#include "tools/db_bench/workloads/filling.h"
#include "tools/db_bench/workloads/on_tree.h"

namespace ashlar::bench {

constinit const Workload kFillRandom = {
    .name = "fillrandom",
    .summary = "write num keys drawn at random",
    .needs = Workload::Needs::kFreshDatabase,
    .run = [](Worker& worker) { return Fill(worker, KeyOrder::kRandom); },
    .run_on_tree = [](Worker& worker) { return FillTree(worker, KeyOrder::kRandom); },
};

}  // namespace ashlar::bench
