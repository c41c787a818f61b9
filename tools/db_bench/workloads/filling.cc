#include "tools/db_bench/workloads/filling.h"

#include <string>

#include "ashlar/write_batch.h"
#include "tools/db_bench/workloads/deleting.h"

namespace ashlar::bench {
namespace {

// Returns whether a range is deleted after the thread's write `written`, counted from 1.
bool IsRangeDue(const Flags& flags, int64_t written) {
  const int64_t after = written - flags.writes_before_delete_range;
  return flags.writes_per_range_tombstone > 0 && after > 0 &&
         after % flags.writes_per_range_tombstone == 0 &&
         after / flags.writes_per_range_tombstone <= flags.max_num_range_tombstones;
}

Status WriteKeys(Worker& worker, KeySequence sequence, Loop loop) {
  const auto batch_size = static_cast<uint64_t>(worker.flags.batch_size);
  int64_t written = 0;
  WriteBatch batch;
  for (uint64_t count = loop.Take(batch_size); count != 0; count = loop.Take(batch_size)) {
    batch.Clear();
    uint64_t bytes = 0;
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t number = sequence.Next(&worker.random);
      const Slice key = worker.keys.Key(number);
      const Slice value = worker.values.Next();
      Status s = batch.Put(worker.database.Family(number), key, value);
      if (!s.ok()) return s;
      bytes += key.size() + value.size();
      if (!IsRangeDue(worker.flags, ++written)) continue;
      s = AddRangeDeletion(worker, sequence.Next(&worker.random), &batch);
      if (!s.ok()) return s;
    }
    worker.LimitWrites(bytes);
    Status s = worker.database.db().Write(worker.write_options, &batch);
    if (!s.ok()) return s;
    worker.stats.tally.bytes += bytes;
    worker.stats.tally.writes += count;
    worker.stats.FinishedOps(count, Operation::kWrite);
  }
  return Status::OK();
}

}  // namespace

Status Fill(Worker& worker, KeyOrder order) {
  const uint64_t writes = WritesOf(worker.flags);
  const Loop loop =
      order == KeyOrder::kRandom ? worker.RandomLoop(writes) : worker.CountedLoop(writes);
  return WriteKeys(worker, KeySequence(order, worker.num, nullptr, worker.random.Next()), loop);
}

Status FillFirst(Worker& worker, uint64_t count) {
  return WriteKeys(worker, KeySequence(KeyOrder::kRandom, count, nullptr, 0),
                   worker.RandomLoop(WritesOf(worker.flags)));
}

Status Overwrite(Worker& worker) {
  return WriteKeys(worker, KeySequence(KeyOrder::kRandom, worker.num, &worker.picker, 0),
                   worker.RandomLoop(WritesOf(worker.flags)));
}

Status BulkLoad(Worker& worker) {
  Status s = Fill(worker, KeyOrder::kRandom);
  return s.ok() ? worker.database.db().Flush(FlushOptions(), worker.database.families()) : s;
}

}  // namespace ashlar::bench
