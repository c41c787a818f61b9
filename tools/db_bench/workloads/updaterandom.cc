#include <fmt/format.h>

#include "tools/db_bench/workloads/all.h"
#include "tools/db_bench/workloads/reading.h"

namespace ashlar::bench {
namespace {

Status UpdateRandom(Worker& worker) {
  Loop loop = worker.RandomLoop(ReadsAndWritesOf(worker.flags));
  Tally& tally = worker.stats.tally;
  Getter getter(worker);
  while (loop.Continue()) {
    const uint64_t number = worker.picker.Pick(&worker.random);
    const Slice value = worker.values.Next();
    worker.LimitWrites(worker.keys.Key(number).size() + value.size());
    Status s = getter.Get(number);
    if (!s.ok()) return s;
    const Slice key = worker.keys.Key(number);
    s = worker.database.db().Put(worker.write_options, worker.database.Family(number), key, value);
    if (!s.ok()) return s;
    tally.bytes += key.size() + value.size();
    ++tally.writes;
    worker.stats.FinishedOps(1, Operation::kUpdate);
  }
  return Status::OK();
}

std::string Describe(const Tally& tally) {
  return fmt::format("( updates:{} found:{})", tally.writes, tally.found);
}

}  // namespace

constinit const Workload kUpdateRandom = {
    .name = "updaterandom",
    .summary = "get a random key and write it anew",
    .run = UpdateRandom,
    .describe = Describe,
};

}  // namespace ashlar::bench
