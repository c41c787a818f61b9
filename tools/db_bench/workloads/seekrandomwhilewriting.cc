#include "tools/db_bench/workloads/all.h"
#include "tools/db_bench/workloads/background_writer.h"
#include "tools/db_bench/workloads/seeking.h"

namespace ashlar::bench {

constinit const Workload kSeekRandomWhileWriting = {
    .name = "seekrandomwhilewriting",
    .summary = "seekrandom while one thread writes",
    .threads = Workload::Threads::kWithWriter,
    .run = [](Worker& worker) { return worker.id == 0 ? WriteBeside(worker) : SeekRandom(worker); },
    .describe = DescribeFound,
};

}  // namespace ashlar::bench
