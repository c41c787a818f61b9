#include "tools/db_bench/workloads/all.h"
#include "tools/db_bench/workloads/on_tree.h"
#include "tools/db_bench/workloads/reading.h"

namespace ashlar::bench {

constinit const Workload kReadMissing = {
    .name = "readmissing",
    .summary = "get random keys that do not exist: one byte longer than the others",
    .adjust = [](Flags* flags) { ++flags->key_size; },
    .run =
        [](Worker& worker) {
          if (worker.flags.use_existing_keys)
            return Status::InvalidArgument("with --use_existing_keys every key exists");
          return ReadRandom(worker, worker.num);
        },
    .run_on_tree = ReadTreeRandom,
    .describe = DescribeFound,
};

}  // namespace ashlar::bench
