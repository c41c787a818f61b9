#include "tools/db_bench/workloads/all.h"

namespace ashlar::bench {

constinit const Workload kWaitForCompaction = {
    .name = "waitforcompaction",
    .summary = "wait until nothing is left to flush or compact",
    .act = [](const Flags&,
              Database& database) { return database.db().WaitForCompact(WaitForCompactOptions()); },
};

}  // namespace ashlar::bench
