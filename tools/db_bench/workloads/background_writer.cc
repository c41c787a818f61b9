#include "tools/db_bench/workloads/background_writer.h"

namespace ashlar::bench {
namespace {

template <typename WriteOne>
Status UntilOthersEnd(Worker& worker, WriteOne write) {
  worker.stats.is_writer = true;
  const SharedRun& shared = worker.shared;
  while (shared.measured_at_work.load(std::memory_order_relaxed) > 0 &&
         !shared.failed.load(std::memory_order_relaxed)) {
    const uint64_t number = worker.picker.Pick(&worker.random);
    const Slice key = worker.keys.Key(number);
    const Slice value = worker.values.Next();
    Status s = write(worker.database.Family(number), key, value);
    if (!s.ok()) return s;
    worker.LimitWrites(key.size() + value.size());
    worker.stats.FinishedOps(1, Operation::kWrite);
  }
  return Status::OK();
}

}  // namespace

Status WriteBeside(Worker& worker) {
  return UntilOthersEnd(worker,
                        [&](ColumnFamilyHandle* family, const Slice& key, const Slice& value) {
                          return worker.database.db().Put(worker.write_options, family, key, value);
                        });
}

Status MergeBeside(Worker& worker) {
  return UntilOthersEnd(
      worker, [&](ColumnFamilyHandle* family, const Slice& key, const Slice& value) {
        return worker.database.db().Merge(worker.write_options, family, key, value);
      });
}

}  // namespace ashlar::bench
