#include "tools/db_bench/workloads/all.h"

namespace ashlar::bench {
namespace {

Status VerifyChecksum(Worker& worker) {
  Status s = worker.database.db().VerifyChecksum(worker.read_options);
  worker.stats.FinishedOps(1, Operation::kOthers);
  return s;
}

}  // namespace

constinit const Workload kVerifyChecksum = {
    .name = "verifychecksum",
    .summary = "check every block of every table",
    .run = VerifyChecksum,
};

}  // namespace ashlar::bench
