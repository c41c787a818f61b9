#include "tools/db_bench/workloads/all.h"

namespace ashlar::bench {
namespace {

Status CompactAll(const Flags& flags, Database& database) {
  CompactRangeOptions options;
  options.max_subcompactions = static_cast<uint32_t>(flags.subcompactions);
  for (ColumnFamilyHandle* const family : database.families()) {
    Status s = database.db().CompactRange(options, family, nullptr, nullptr);
    if (!s.ok()) return s;
  }
  return Status::OK();
}

}  // namespace

constinit const Workload kCompactAll = {
    .name = "compactall",
    .summary = "compact the whole database, not measured",
    .act = CompactAll,
};

}  // namespace ashlar::bench
