#include "tools/db_bench/workloads/all.h"
#include "tools/db_bench/workloads/filling.h"
#include "tools/db_bench/workloads/on_tree.h"

namespace ashlar::bench {

constinit const Workload kFillUniqueRandom = {
    .name = "filluniquerandom",
    .summary = "write each of num keys once, in random order, by one thread",
    .needs = Workload::Needs::kFreshDatabase,
    .threads = Workload::Threads::kOne,
    .run = [](Worker& worker) { return Fill(worker, KeyOrder::kUniqueRandom); },
    .run_on_tree = [](Worker& worker) { return FillTree(worker, KeyOrder::kUniqueRandom); },
};

}  // namespace ashlar::bench
