#include <fmt/format.h>

#include <algorithm>

#include "tools/db_bench/workloads/all.h"
#include "tools/db_bench/workloads/filling.h"

namespace ashlar::bench {
namespace {

uint64_t KeysOf(int64_t num) { return static_cast<uint64_t>(std::max<int64_t>(1, num / 1000)); }

// num is not changed, because the prefixes of the keys depend on it.
void Adjust(Flags* flags) {
  flags->sync = true;
  if (flags->writes < 0) flags->writes = static_cast<int64_t>(KeysOf(flags->num));
}

}  // namespace

constinit const Workload kFillSync = {
    .name = "fillsync",
    .summary = "write num / 1000 random keys, each durable before the next",
    .needs = Workload::Needs::kFreshDatabase,
    .adjust = Adjust,
    .run = [](Worker& worker) { return FillFirst(worker, KeysOf(worker.flags.num)); },
    .describe = [](const Tally& tally) { return fmt::format("({} ops)", tally.writes); },
};

}  // namespace ashlar::bench
