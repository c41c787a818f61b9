#include "tools/db_bench/workloads/on_tree.h"

#include <memory>

#include "ashlar/iterator.h"
#include "ashlar/write_batch.h"

namespace ashlar::bench {
namespace {

Status GetOne(Worker& worker, uint64_t number, PinnableSlice* value) {
  const Slice key = worker.keys.Key(number);
  Status s = worker.database.tree()->Get(worker.read_options, key, value);
  Tally& tally = worker.stats.tally;
  ++tally.reads;
  if (!s.ok()) return s.IsNotFound() ? Status::OK() : s;
  ++tally.found;
  tally.bytes += key.size() + value->size();
  return s;
}

// Calls add(batch, number) for each key of a batch, and writes the batch.
template <typename Add>
Status WriteBatches(Worker& worker, Operation operation, KeySequence* sequence, Loop* loop,
                    Add add) {
  const auto batch_size = static_cast<uint64_t>(worker.flags.batch_size);
  WriteBatch batch;
  for (uint64_t count = loop->Take(batch_size); count != 0; count = loop->Take(batch_size)) {
    batch.Clear();
    for (uint64_t i = 0; i < count; ++i) {
      Status s = add(&batch, sequence->Next(&worker.random));
      if (!s.ok()) return s;
    }
    Status s = worker.database.tree()->Write(batch);
    if (!s.ok()) return s;
    worker.stats.FinishedOps(count, operation);
  }
  return Status::OK();
}

void CountWrite(Worker& worker, uint64_t bytes) {
  worker.LimitWrites(bytes);
  worker.stats.tally.bytes += bytes;
  ++worker.stats.tally.writes;
}

}  // namespace

Status FillTree(Worker& worker, KeyOrder order) {
  const uint64_t writes = WritesOf(worker.flags);
  Loop loop = order == KeyOrder::kRandom ? worker.RandomLoop(writes) : worker.CountedLoop(writes);
  KeySequence sequence(order, worker.num, nullptr, worker.random.Next());
  if (worker.flags.batch_size > 1) {
    return WriteBatches(worker, Operation::kWrite, &sequence, &loop,
                        [&](WriteBatch* batch, uint64_t number) {
                          const Slice key = worker.keys.Key(number);
                          const Slice value = worker.values.Next();
                          CountWrite(worker, key.size() + value.size());
                          return batch->Put(key, value);
                        });
  }
  while (loop.Continue()) {
    const Slice key = worker.keys.Key(sequence.Next(&worker.random));
    const Slice value = worker.values.Next();
    CountWrite(worker, key.size() + value.size());
    Status s = worker.database.tree()->Put(key, value);
    if (!s.ok()) return s;
    worker.stats.FinishedOps(1, Operation::kWrite);
  }
  return Status::OK();
}

Status DeleteFromTree(Worker& worker, KeyOrder order) {
  const Flags& flags = worker.flags;
  const auto deletes = static_cast<uint64_t>(flags.deletes < 0 ? flags.num : flags.deletes);
  Loop loop = order == KeyOrder::kRandom ? worker.RandomLoop(deletes) : worker.CountedLoop(deletes);
  KeySequence sequence(order, worker.num, &worker.picker, 0);
  if (flags.batch_size > 1) {
    return WriteBatches(
        worker, Operation::kDelete, &sequence, &loop,
        [&](WriteBatch* batch, uint64_t number) { return batch->Delete(worker.keys.Key(number)); });
  }
  while (loop.Continue()) {
    Status s = worker.database.tree()->Delete(worker.keys.Key(sequence.Next(&worker.random)));
    if (!s.ok()) return s;
    worker.stats.FinishedOps(1, Operation::kDelete);
  }
  return Status::OK();
}

Status ScanTree(Worker& worker, ScanDirection direction) {
  Loop loop = worker.CountedLoop(ReadsOf(worker.flags));
  const std::unique_ptr<Iterator> iterator =
      worker.database.tree()->NewIterator(worker.read_options);
  const bool forward = direction == ScanDirection::kForward;
  forward ? iterator->SeekToFirst() : iterator->SeekToLast();
  while (iterator->Valid() && loop.Continue()) {
    worker.LimitReads(1);
    worker.stats.tally.bytes += iterator->key().size() + iterator->value().size();
    forward ? iterator->Next() : iterator->Prev();
    worker.stats.FinishedOps(1, Operation::kRead);
  }
  return iterator->status();
}

Status ReadTreeRandom(Worker& worker) {
  Loop loop = worker.RandomLoop(ReadsOf(worker.flags));
  PinnableSlice value;
  while (loop.Continue()) {
    worker.LimitReads(1);
    Status s = GetOne(worker, worker.picker.PickForRead(&worker.random), &value);
    if (!s.ok()) return s;
    worker.stats.FinishedOps(1, Operation::kRead);
  }
  return Status::OK();
}

Status MultiReadTreeRandom(Worker& worker) {
  const auto batch_size = static_cast<size_t>(worker.flags.batch_size);
  Loop loop = worker.RandomLoop(ReadsOf(worker.flags));
  std::vector<std::string> bytes(batch_size);
  std::vector<Slice> keys;
  std::vector<PinnableSlice> values;
  Tally& tally = worker.stats.tally;
  for (uint64_t count = loop.Take(batch_size); count != 0; count = loop.Take(batch_size)) {
    worker.LimitReads(count);
    keys.clear();
    for (uint64_t i = 0; i < count; ++i) {
      bytes[i] = worker.keys.Key(worker.picker.PickForRead(&worker.random)).ToString();
      keys.emplace_back(bytes[i]);
    }
    const std::vector<Status> statuses =
        worker.database.tree()->MultiGet(worker.read_options, keys, &values);
    for (size_t i = 0; i < count; ++i) {
      ++tally.reads;
      if (statuses[i].IsNotFound()) continue;
      if (!statuses[i].ok()) return statuses[i];
      ++tally.found;
      tally.bytes += keys[i].size() + values[i].size();
    }
    worker.stats.FinishedOps(count, Operation::kRead);
  }
  return Status::OK();
}

Status WriteTreeBeside(Worker& worker) {
  worker.stats.is_writer = true;
  const SharedRun& shared = worker.shared;
  while (shared.measured_at_work.load(std::memory_order_relaxed) > 0 &&
         !shared.failed.load(std::memory_order_relaxed)) {
    const Slice key = worker.keys.Key(worker.picker.Pick(&worker.random));
    const Slice value = worker.values.Next();
    Status s = worker.database.tree()->Put(key, value);
    if (!s.ok()) return s;
    worker.LimitWrites(key.size() + value.size());
    worker.stats.FinishedOps(1, Operation::kWrite);
  }
  return Status::OK();
}

Status ReadAndWriteTree(Worker& worker) {
  Loop loop = worker.RandomLoop(ReadsAndWritesOf(worker.flags));
  PinnableSlice value;
  for (int i = 0; loop.Continue(); i = i == 99 ? 0 : i + 1) {
    const uint64_t number = worker.picker.Pick(&worker.random);
    const bool read = i < worker.flags.readwritepercent;
    Status s;
    if (read) {
      s = GetOne(worker, number, &value);
    } else {
      ++worker.stats.tally.writes;
      s = worker.database.tree()->Put(worker.keys.Key(number), worker.values.Next());
    }
    if (!s.ok()) return s;
    worker.stats.FinishedOps(1, read ? Operation::kRead : Operation::kWrite);
  }
  // No MB/s, as with a database.
  worker.stats.tally.bytes = 0;
  return Status::OK();
}

}  // namespace ashlar::bench
