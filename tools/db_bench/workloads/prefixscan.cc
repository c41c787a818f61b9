#include "tools/db_bench/workloads/all.h"
#include "tools/db_bench/workloads/prefix_scanning.h"

namespace ashlar::bench {

constinit const Workload kPrefixScan = {
    .name = "prefixscan",
    .summary = "read all entries of a random key's prefix",
    .run = [](Worker& worker) { return ScanPrefixes(worker); },
    .describe = DescribeFound,
};

}  // namespace ashlar::bench
