#include "tools/db_bench/workloads/seeking.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "ashlar/iterator.h"

namespace ashlar::bench {
namespace {

// The key at which an iterator from `number` ends, forwards or backwards.
std::string BoundFor(Worker& worker, uint64_t number) {
  const auto distance = static_cast<uint64_t>(worker.flags.max_scan_distance);
  if (worker.flags.reverse_iterator)
    return worker.keys.Key(number - std::min(number, distance)).ToString();
  // No key follows the last existing key, but a generated key may be any number.
  const uint64_t last = worker.flags.use_existing_keys ? worker.num - 1 : worker.num;
  return worker.keys.Key(std::min(last, number + distance)).ToString();
}

}  // namespace

Status SeekRandom(Worker& worker) {
  const Flags& flags = worker.flags;
  const bool reverse = flags.reverse_iterator;
  Loop loop = worker.RandomLoop(ReadsOf(flags));
  Tally& tally = worker.stats.tally;
  ReadOptions options = worker.read_options;
  options.tailing = flags.use_tailing_iterator;
  std::string bound;
  Slice bound_slice;
  if (flags.max_scan_distance > 0)
    (reverse ? options.iterate_lower_bound : options.iterate_upper_bound) = &bound_slice;
  std::map<ColumnFamilyHandle*, std::unique_ptr<Iterator>> iterators;
  while (loop.Continue()) {
    worker.LimitReads(1);
    const uint64_t number = worker.picker.Pick(&worker.random);
    if (flags.max_scan_distance > 0) {
      bound = BoundFor(worker, number);
      bound_slice = bound;
    }
    const Slice key =
        flags.seek_missing_prefix ? worker.keys.MissingKey(number) : worker.keys.Key(number);
    ColumnFamilyHandle* const family = worker.database.Family(number);
    std::unique_ptr<Iterator>& iterator = iterators[family];
    if (iterator == nullptr) iterator.reset(worker.database.db().NewIterator(options, family));
    iterator->Seek(key);
    ++tally.reads;
    if (iterator->Valid() && iterator->key() == key) ++tally.found;
    for (int i = 0; i < flags.seek_nexts && iterator->Valid(); ++i) {
      tally.bytes += iterator->key().size() + iterator->value().size();
      reverse ? iterator->Prev() : iterator->Next();
    }
    if (!iterator->status().ok()) return iterator->status();
    if (!options.tailing) iterator.reset();
    worker.stats.FinishedOps(1, Operation::kSeek);
  }
  return Status::OK();
}

}  // namespace ashlar::bench
