#include "tools/db_bench/workloads/all.h"

namespace ashlar::bench {

constinit const Workload kFlush = {
    .name = "flush",
    .summary = "flush the memtables",
    .act =
        [](const Flags&, Database& database) {
          return database.db().Flush(FlushOptions(), database.families());
        },
};

}  // namespace ashlar::bench
