#include "tools/db_bench/workloads/reading.h"

namespace ashlar::bench {

Status Getter::Get(uint64_t number) {
  const Database& database = worker_.database;
  const Slice key = worker_.keys.Key(number);
  ColumnFamilyHandle* const family = database.Family(number);
  Status s = pin_ ? database.db().Get(worker_.read_options, family, key, &pinned_)
                  : database.db().Get(worker_.read_options, family, key, &copy_);
  Tally& tally = worker_.stats.tally;
  ++tally.reads;
  if (!s.ok()) return s.IsNotFound() ? Status::OK() : s;
  ++tally.found;
  tally.bytes += key.size() + (pin_ ? pinned_.size() : copy_.size());
  return s;
}

Status ReadRandom(Worker& worker, uint64_t count) {
  Loop loop = worker.RandomLoop(ReadsOf(worker.flags));
  const KeyPicker picker(worker.flags, count);
  Getter getter(worker);
  while (loop.Continue()) {
    worker.LimitReads(1);
    Status s = getter.Get(picker.PickForRead(&worker.random));
    if (!s.ok()) return s;
    worker.stats.FinishedOps(1, Operation::kRead);
  }
  return Status::OK();
}

}  // namespace ashlar::bench
