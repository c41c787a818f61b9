#include "tools/db_bench/workloads/all.h"
#include "tools/db_bench/workloads/filling.h"
#include "tools/db_bench/workloads/on_tree.h"

namespace ashlar::bench {

constinit const Workload kFillBatch = {
    .name = "fillbatch",
    .summary = "write num keys in order, 1000 in a batch",
    .needs = Workload::Needs::kFreshDatabase,
    .adjust = [](Flags* flags) { flags->batch_size = 1000; },
    .run = [](Worker& worker) { return Fill(worker, KeyOrder::kSequential); },
    .run_on_tree = [](Worker& worker) { return FillTree(worker, KeyOrder::kSequential); },
};

}  // namespace ashlar::bench
