#include "tools/db_bench/workloads/scanning.h"

#include <memory>

#include "ashlar/iterator.h"

namespace ashlar::bench {
namespace {

Status ScanFamily(Worker& worker, ColumnFamilyHandle* family, ScanDirection direction, Loop* loop) {
  const std::unique_ptr<Iterator> iterator(
      worker.database.db().NewIterator(worker.read_options, family));
  const bool forward = direction == ScanDirection::kForward;
  forward ? iterator->SeekToFirst() : iterator->SeekToLast();
  while (iterator->Valid() && loop->Continue()) {
    worker.LimitReads(1);
    worker.stats.tally.bytes += iterator->key().size() + iterator->value().size();
    forward ? iterator->Next() : iterator->Prev();
    worker.stats.FinishedOps(1, Operation::kRead);
  }
  return iterator->status();
}

}  // namespace

Status Scan(Worker& worker, ScanDirection direction) {
  Loop loop = worker.CountedLoop(ReadsOf(worker.flags));
  for (ColumnFamilyHandle* const family : worker.database.families()) {
    Status s = ScanFamily(worker, family, direction, &loop);
    if (!s.ok()) return s;
  }
  return Status::OK();
}

}  // namespace ashlar::bench
