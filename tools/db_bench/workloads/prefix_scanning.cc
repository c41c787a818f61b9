#include "tools/db_bench/workloads/prefix_scanning.h"

#include <algorithm>
#include <memory>
#include <string>

#include "ashlar/iterator.h"

namespace ashlar::bench {

Status ScanPrefixes(Worker& worker) {
  const auto prefix_bytes = static_cast<size_t>(worker.flags.prefix_size);
  if (prefix_bytes == 0) return Status::InvalidArgument("scans of prefixes need --prefix_size");
  Loop loop = worker.RandomLoop(ReadsOf(worker.flags));
  Tally& tally = worker.stats.tally;
  std::string prefix;
  while (loop.Continue()) {
    worker.LimitReads(1);
    const uint64_t number = worker.picker.PickForRead(&worker.random);
    const Slice key = worker.keys.Key(number);
    prefix.assign(key.data(), std::min(prefix_bytes, key.size()));
    const std::unique_ptr<Iterator> iterator(
        worker.database.db().NewIterator(worker.read_options, worker.database.Family(number)));
    uint64_t entries = 0;
    for (iterator->Seek(prefix); iterator->Valid() && iterator->key().starts_with(prefix);
         iterator->Next()) {
      tally.bytes += iterator->key().size() + iterator->value().size();
      ++entries;
    }
    if (!iterator->status().ok()) return iterator->status();
    ++tally.reads;
    if (entries > 0) ++tally.found;
    worker.stats.FinishedOps(1, Operation::kSeek);
  }
  return Status::OK();
}

}  // namespace ashlar::bench
