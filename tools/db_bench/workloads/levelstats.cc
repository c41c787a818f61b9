#include "tools/db_bench/workloads/all.h"
#include "tools/db_bench/workloads/showing.h"

namespace ashlar::bench {

constinit const Workload kLevelStats = {
    .name = "levelstats",
    .summary = "show the property rocksdb.levelstats",
    .act = [](const Flags&,
              Database& database) { return ShowProperty(database, DB::Properties::kLevelStats); },
};

}  // namespace ashlar::bench
