#include "tools/db_bench/workloads/all.h"

namespace ashlar::bench {
namespace {

Status Compact(Worker& worker) {
  CompactRangeOptions options;
  options.bottommost_level_compaction = BottommostLevelCompaction::kForceOptimized;
  options.max_subcompactions = static_cast<uint32_t>(worker.flags.subcompactions);
  for (ColumnFamilyHandle* const family : worker.database.families()) {
    Status s = worker.database.db().CompactRange(options, family, nullptr, nullptr);
    if (!s.ok()) return s;
  }
  worker.stats.FinishedOps(1, Operation::kOthers);
  return Status::OK();
}

}  // namespace

constinit const Workload kCompact = {
    .name = "compact",
    .summary = "compact the whole database, the last level too, once in each thread",
    .run = Compact,
};

}  // namespace ashlar::bench
