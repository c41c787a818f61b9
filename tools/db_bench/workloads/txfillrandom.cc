#include "tools/db_bench/workloads/all.h"
#include "tools/db_bench/workloads/filling.h"
#include "tools/db_bench/workloads/on_tree.h"

namespace ashlar::bench {

constinit const Workload kTxFillRandom = {
    .name = "txfillrandom",
    .summary = "write num keys drawn at random, tx_size in a batch",
    .needs = Workload::Needs::kFreshDatabase,
    .adjust = [](Flags* flags) { flags->batch_size = flags->tx_size; },
    .run = [](Worker& worker) { return Fill(worker, KeyOrder::kRandom); },
    .run_on_tree = [](Worker& worker) { return FillTree(worker, KeyOrder::kRandom); },
};

}  // namespace ashlar::bench
