#include "tools/db_bench/workloads/deleting.h"

#include "ashlar/write_batch.h"

namespace ashlar::bench {

Status Delete(Worker& worker, KeyOrder order) {
  const Flags& flags = worker.flags;
  const auto deletes = static_cast<uint64_t>(flags.deletes < 0 ? flags.num : flags.deletes);
  const auto batch_size = static_cast<uint64_t>(flags.batch_size);
  Loop loop = order == KeyOrder::kRandom ? worker.RandomLoop(deletes) : worker.CountedLoop(deletes);
  KeySequence sequence(order, worker.num, &worker.picker, 0);
  WriteBatch batch;
  for (uint64_t count = loop.Take(batch_size); count != 0; count = loop.Take(batch_size)) {
    batch.Clear();
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t number = sequence.Next(&worker.random);
      Status s = batch.Delete(worker.database.Family(number), worker.keys.Key(number));
      if (!s.ok()) return s;
    }
    Status s = worker.database.db().Write(worker.write_options, &batch);
    if (!s.ok()) return s;
    worker.stats.FinishedOps(count, Operation::kDelete);
  }
  return Status::OK();
}

}  // namespace ashlar::bench
