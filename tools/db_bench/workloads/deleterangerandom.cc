#include "tools/db_bench/workloads/all.h"
#include "tools/db_bench/workloads/deleting.h"

namespace ashlar::bench {

constinit const Workload kDeleteRangeRandom = {
    .name = "deleterangerandom",
    .summary = "delete ranges of --range_tombstone_width keys from keys drawn at random",
    .run = [](Worker& worker) { return DeleteRanges(worker, KeyOrder::kRandom); },
};

}  // namespace ashlar::bench
