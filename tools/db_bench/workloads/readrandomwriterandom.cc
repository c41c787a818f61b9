#include <fmt/format.h>

#include "tools/db_bench/workloads/all.h"
#include "tools/db_bench/workloads/on_tree.h"
#include "tools/db_bench/workloads/reading.h"

namespace ashlar::bench {
namespace {

// The first readwritepercent of every hundred operations are reads.
Status ReadRandomWriteRandom(Worker& worker) {
  Loop loop = worker.RandomLoop(ReadsAndWritesOf(worker.flags));
  Getter getter(worker);
  for (int i = 0; loop.Continue(); i = i == 99 ? 0 : i + 1) {
    const uint64_t number = worker.picker.Pick(&worker.random);
    const bool read = i < worker.flags.readwritepercent;
    Status s;
    if (read) {
      s = getter.Get(number);
    } else {
      ++worker.stats.tally.writes;
      s = worker.database.db().Put(worker.write_options, worker.database.Family(number),
                                   worker.keys.Key(number), worker.values.Next());
    }
    if (!s.ok()) return s;
    worker.stats.FinishedOps(1, read ? Operation::kRead : Operation::kWrite);
  }
  // RocksDB's result of this workload has no MB/s.
  worker.stats.tally.bytes = 0;
  return Status::OK();
}

std::string Describe(const Tally& tally) {
  return fmt::format("( reads:{} writes:{} total:{} found:{})", tally.reads, tally.writes,
                     tally.reads + tally.writes, tally.found);
}

}  // namespace

constinit const Workload kReadRandomWriteRandom = {
    .name = "readrandomwriterandom",
    .summary = "get and write random keys by turns, as readwritepercent says",
    .run = ReadRandomWriteRandom,
    .run_on_tree = ReadAndWriteTree,
    .describe = Describe,
};

}  // namespace ashlar::bench
