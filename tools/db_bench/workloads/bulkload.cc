#include "tools/db_bench/workloads/all.h"
#include "tools/db_bench/workloads/filling.h"

namespace ashlar::bench {

constinit const Workload kBulkLoad = {
    .name = "bulkload",
    .summary =
        "write num random keys without a log into a database prepared for it; compact afterwards",
    .needs = Workload::Needs::kBulkLoadDatabase,
    .adjust = [](Flags* flags) { flags->disable_wal = true; },
    .run = [](Worker& worker) { return BulkLoad(worker); },
};

}  // namespace ashlar::bench
