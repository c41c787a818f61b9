#include "tools/db_bench/workloads/all.h"
#include "tools/db_bench/workloads/background_writer.h"
#include "tools/db_bench/workloads/prefix_scanning.h"

namespace ashlar::bench {

constinit const Workload kPrefixScanWhileWriting = {
    .name = "prefixscanwhilewriting",
    .summary = "prefixscan while one thread writes",
    .threads = Workload::Threads::kWithWriter,
    .run =
        [](Worker& worker) { return worker.id == 0 ? WriteBeside(worker) : ScanPrefixes(worker); },
    .describe = DescribeFound,
};

}  // namespace ashlar::bench
