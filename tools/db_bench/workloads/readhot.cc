#include "tools/db_bench/workloads/all.h"
#include "tools/db_bench/workloads/reading.h"

namespace ashlar::bench {

constinit const Workload kReadHot = {
    .name = "readhot",
    .summary = "get keys drawn from a hundredth of all",
    .run = [](Worker& worker) { return ReadRandom(worker, (worker.num + 99) / 100); },
    .describe = DescribeFound,
};

}  // namespace ashlar::bench
