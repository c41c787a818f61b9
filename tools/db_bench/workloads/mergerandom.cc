#include <fmt/format.h>

#include <algorithm>

#include "tools/db_bench/workloads/all.h"

namespace ashlar::bench {
namespace {

void Adjust(Flags* flags) {
  if (flags->merge_keys < 0) return;
  flags->writes = static_cast<int64_t>(ReadsAndWritesOf(*flags));
  // Existing keys are numbered up to num.
  flags->num =
      flags->use_existing_keys ? std::min(flags->num, flags->merge_keys) : flags->merge_keys;
}

Status MergeRandom(Worker& worker) {
  Loop loop = worker.RandomLoop(ReadsAndWritesOf(worker.flags));
  Tally& tally = worker.stats.tally;
  while (loop.Continue()) {
    const uint64_t number = worker.picker.Pick(&worker.random);
    const Slice key = worker.keys.Key(number);
    const Slice value = worker.values.Next();
    worker.LimitWrites(key.size() + value.size());
    Status s = worker.database.db().Merge(worker.write_options, worker.database.Family(number), key,
                                          value);
    if (!s.ok()) return s;
    tally.bytes += key.size() + value.size();
    ++tally.writes;
    worker.stats.FinishedOps(1, Operation::kMerge);
  }
  return Status::OK();
}

std::string Describe(const Tally& tally) { return fmt::format("( updates:{})", tally.writes); }

}  // namespace

constinit const Workload kMergeRandom = {
    .name = "mergerandom",
    .summary = "merge into random keys of merge_keys; needs merge_operator",
    .adjust = Adjust,
    .run = MergeRandom,
    .describe = Describe,
};

}  // namespace ashlar::bench
