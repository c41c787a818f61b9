#include "tools/db_bench/workloads/all.h"
#include "tools/db_bench/workloads/background_writer.h"
#include "tools/db_bench/workloads/on_tree.h"
#include "tools/db_bench/workloads/reading.h"

namespace ashlar::bench {

constinit const Workload kReadWhileWriting = {
    .name = "readwhilewriting",
    .summary = "readrandom while one thread writes",
    .threads = Workload::Threads::kWithWriter,
    .run =
        [](Worker& worker) {
          return worker.id == 0 ? WriteBeside(worker) : ReadRandom(worker, worker.num);
        },
    .run_on_tree =
        [](Worker& worker) {
          return worker.id == 0 ? WriteTreeBeside(worker) : ReadTreeRandom(worker);
        },
    .describe = DescribeFound,
};

}  // namespace ashlar::bench
