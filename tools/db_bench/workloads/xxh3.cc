#include "base/hash.h"
#include "tools/db_bench/workloads/all.h"
#include "tools/db_bench/workloads/hashing.h"

namespace ashlar::bench {

constinit const Workload kXxh3 = {
    .name = "xxh3",
    .summary = "XXH3 over blocks of block_size",
    .run =
        [](Worker& worker) {
          return HashBlocks(worker, Operation::kHash,
                            [](const Slice& block) { return Hash64(block); });
        },
};

}  // namespace ashlar::bench
