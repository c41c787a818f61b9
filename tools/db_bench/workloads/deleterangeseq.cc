#include "tools/db_bench/workloads/all.h"
#include "tools/db_bench/workloads/deleting.h"

namespace ashlar::bench {

constinit const Workload kDeleteRangeSeq = {
    .name = "deleterangeseq",
    .summary = "delete ranges of --range_tombstone_width keys in order",
    .run = [](Worker& worker) { return DeleteRanges(worker, KeyOrder::kSequential); },
};

}  // namespace ashlar::bench
