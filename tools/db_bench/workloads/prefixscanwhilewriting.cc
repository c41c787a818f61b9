#include "tools/db_bench/workloads/all.h"
#include "tools/db_bench/workloads/background_writer.h"
#include "tools/db_bench/workloads/prefix_scanning.h"

namespace ashlar::bench {

constinit const Workload kPrefixScanWhileWriting = {
    .name = "prefixscanwhilewriting",
    .summary = "prefixscan beside one thread that writes",
    .threads = Workload::Threads::kBesideWriter,
    .run =
        [](Worker& worker) { return worker.id == 0 ? WriteBeside(worker) : ScanPrefixes(worker); },
    .describe = DescribeFound,
};

}  // namespace ashlar::bench
