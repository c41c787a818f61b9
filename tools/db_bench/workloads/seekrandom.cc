#include "tools/db_bench/workloads/all.h"
#include "tools/db_bench/workloads/seeking.h"

namespace ashlar::bench {

constinit const Workload kSeekRandom = {
    .name = "seekrandom",
    .summary = "seek random keys, and read seek_nexts entries",
    .run = [](Worker& worker) { return SeekRandom(worker); },
    .describe = DescribeFound,
};

}  // namespace ashlar::bench
