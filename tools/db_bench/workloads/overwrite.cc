#include "tools/db_bench/workloads/all.h"
#include "tools/db_bench/workloads/filling.h"

namespace ashlar::bench {

constinit const Workload kOverwrite = {
    .name = "overwrite",
    .summary = "write num random keys into the database that is there",
    .run = [](Worker& worker) { return Overwrite(worker); },
};

}  // namespace ashlar::bench
