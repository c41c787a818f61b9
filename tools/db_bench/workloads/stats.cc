#include "tools/db_bench/workloads/all.h"
#include "tools/db_bench/workloads/showing.h"

namespace ashlar::bench {

constinit const Workload kStats = {
    .name = "stats",
    .summary = "show the property rocksdb.stats",
    .act = [](const Flags&,
              Database& database) { return ShowProperty(database, DB::Properties::kStats); },
};

}  // namespace ashlar::bench
