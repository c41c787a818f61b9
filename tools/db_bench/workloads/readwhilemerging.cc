#include "tools/db_bench/workloads/all.h"
#include "tools/db_bench/workloads/background_writer.h"
#include "tools/db_bench/workloads/reading.h"

namespace ashlar::bench {

constinit const Workload kReadWhileMerging = {
    .name = "readwhilemerging",
    .summary = "readrandom while one thread merges",
    .threads = Workload::Threads::kWithWriter,
    .run =
        [](Worker& worker) {
          return worker.id == 0 ? MergeBeside(worker) : ReadRandom(worker, worker.num);
        },
    .describe = DescribeFound,
};

}  // namespace ashlar::bench
