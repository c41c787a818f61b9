#include "tools/db_bench/workloads/deleting.h"

#include <algorithm>
#include <string>

namespace ashlar::bench {

Status AddRangeDeletion(Worker& worker, uint64_t first, WriteBatch* batch) {
  const auto width = static_cast<uint64_t>(worker.flags.range_tombstone_width);
  ColumnFamilyHandle* const family = worker.database.Family(first);
  if (!worker.flags.expand_range_tombstones) {
    const std::string begin = worker.keys.Key(first).ToString();
    return batch->DeleteRange(family, begin, worker.keys.Key(first + width));
  }
  Status s;
  for (uint64_t i = 0; i < width && s.ok(); ++i)
    s = batch->Delete(family, worker.keys.Key(first + i));
  return s;
}

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

Status DeleteRanges(Worker& worker, KeyOrder order) {
  const Flags& flags = worker.flags;
  // A range may end after the last key, but no key follows the last existing one.
  if (flags.use_existing_keys)
    return Status::InvalidArgument("ranges are of generated keys, without --use_existing_keys");
  const auto width = std::max<uint64_t>(1, static_cast<uint64_t>(flags.range_tombstone_width));
  const uint64_t ranges = std::max<uint64_t>(1, worker.num / width);
  const auto deletes = flags.deletes < 0 ? ranges : static_cast<uint64_t>(flags.deletes);
  Loop loop = order == KeyOrder::kRandom ? worker.RandomLoop(deletes) : worker.CountedLoop(deletes);
  KeySequence sequence(order, order == KeyOrder::kRandom ? worker.num : ranges, &worker.picker, 0);
  WriteBatch batch;
  while (loop.Continue()) {
    batch.Clear();
    const uint64_t number = sequence.Next(&worker.random);
    const uint64_t first = order == KeyOrder::kRandom ? number : number * width;
    Status s = AddRangeDeletion(worker, first, &batch);
    if (s.ok()) s = worker.database.db().Write(worker.write_options, &batch);
    if (!s.ok()) return s;
    worker.stats.FinishedOps(1, Operation::kDelete);
  }
  return Status::OK();
}

}  // namespace ashlar::bench
