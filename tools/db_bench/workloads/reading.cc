#include "tools/db_bench/workloads/reading.h"

namespace ashlar::bench {

Status Getter::Get(uint64_t number) {
  const Database& database = worker_.database;
  const Slice key = worker_.keys.Key(number);
  size_t value_bytes = 0;
  Status s;
  if (pin_) {
    pinned_.Reset();
    s = database.db().Get(worker_.read_options, database.Family(number), key, &pinned_);
    value_bytes = pinned_.size();
  } else {
    s = database.db().Get(worker_.read_options, database.Family(number), key, &copy_);
    value_bytes = copy_.size();
  }
  Tally& tally = worker_.stats.tally;
  ++tally.reads;
  if (s.ok()) {
    ++tally.found;
    tally.bytes += key.size() + value_bytes;
  }
  return s.IsNotFound() ? Status::OK() : s;
}

Status ReadRandom(Worker& worker, uint64_t count) {
  Loop loop = worker.RandomLoop(ReadsOf(worker.flags));
  const KeyPicker picker(worker.flags, count);
  Getter getter(worker);
  while (loop.Continue()) {
    Status s = getter.Get(picker.PickForRead(&worker.random));
    if (!s.ok()) return s;
    worker.LimitReads(1);
    worker.stats.FinishedOps(1, Operation::kRead);
  }
  return Status::OK();
}

}  // namespace ashlar::bench
