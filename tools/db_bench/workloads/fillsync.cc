#include <fmt/format.h>

#include <algorithm>

#include "tools/db_bench/workloads/all.h"
#include "tools/db_bench/workloads/filling.h"

namespace ashlar::bench {
namespace {

void Adjust(Flags* flags) {
  flags->sync = true;
  const bool writes_given = flags->writes >= 0;
  flags->num = std::max<int64_t>(1, flags->num / 1000);
  if (!writes_given) flags->writes = flags->num;
}

}  // namespace

constinit const Workload kFillSync = {
    .name = "fillsync",
    .summary = "write num / 1000 random keys, each durable before the next",
    .needs = Workload::Needs::kFreshDatabase,
    .adjust = Adjust,
    .run = [](Worker& worker) { return Fill(worker, KeyOrder::kRandom); },
    .describe = [](const Tally& tally) { return fmt::format("({} ops)", tally.writes); },
};

}  // namespace ashlar::bench
