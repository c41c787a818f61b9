#include "base/crc32c.h"
#include "tools/db_bench/workloads/all.h"
#include "tools/db_bench/workloads/hashing.h"

namespace ashlar::bench {

constinit const Workload kCrc32c = {
    .name = "crc32c",
    .summary = "CRC-32C over blocks of block_size",
    .run =
        [](Worker& worker) {
          return HashBlocks(worker, Operation::kCrc,
                            [](const Slice& block) { return uint64_t{crc32c::Value(block)}; });
        },
};

}  // namespace ashlar::bench
