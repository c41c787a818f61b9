#include <algorithm>
#include <string>
#include <vector>

#include "tools/db_bench/workloads/all.h"
#include "tools/db_bench/workloads/on_tree.h"

namespace ashlar::bench {
namespace {

// The keys of one MultiGet: numbers, bytes and families.
class KeyBatch {
 public:
  explicit KeyBatch(Worker& worker)
      : worker_(worker), bytes_(static_cast<size_t>(worker.flags.batch_size)) {}

  void Draw(uint64_t count) {
    keys_.clear();
    families_.clear();
    uint64_t number = 0;
    for (uint64_t i = 0; i < count; ++i) {
      number = i == 0 ? First(count) : Following(number);
      bytes_[i] = worker_.keys.Key(number).ToString();
      keys_.emplace_back(bytes_[i]);
      families_.push_back(worker_.database.Family(number));
    }
  }
  const std::vector<Slice>& keys() const { return keys_; }
  std::vector<ColumnFamilyHandle*>& families() { return families_; }

 private:
  uint64_t stride() const { return static_cast<uint64_t>(worker_.flags.multiread_stride); }
  // Returns a number such that the last number of the stride is still a key.
  uint64_t First(uint64_t count) {
    const uint64_t number = worker_.picker.PickForRead(&worker_.random);
    const uint64_t span = (count - 1) * stride();
    return number + span < worker_.num ? number : worker_.num - std::min(worker_.num, span + 1);
  }
  uint64_t Following(uint64_t number) {
    return stride() > 0 ? (number + stride()) % worker_.num
                        : worker_.picker.PickForRead(&worker_.random);
  }

  Worker& worker_;
  std::vector<std::string> bytes_;
  std::vector<Slice> keys_;
  std::vector<ColumnFamilyHandle*> families_;
};

// Adds one key's outcome. An absent key is no error.
Status Count(const Status& s, size_t bytes, Tally* tally) {
  ++tally->reads;
  if (s.ok()) {
    ++tally->found;
    tally->bytes += bytes;
  }
  return s.IsNotFound() ? Status::OK() : s;
}

Status GetPinned(Worker& worker, KeyBatch* batch, std::vector<PinnableSlice>* values,
                 std::vector<Status>* statuses) {
  const std::vector<Slice>& keys = batch->keys();
  for (PinnableSlice& value : *values) value.Reset();
  worker.database.db().MultiGet(worker.read_options, keys.size(), batch->families().data(),
                                keys.data(), values->data(), statuses->data());
  for (size_t i = 0; i < keys.size(); ++i) {
    Status s = Count((*statuses)[i], keys[i].size() + (*values)[i].size(), &worker.stats.tally);
    if (!s.ok()) return s;
  }
  return Status::OK();
}

Status GetCopies(Worker& worker, KeyBatch* batch, std::vector<std::string>* values) {
  const std::vector<Slice>& keys = batch->keys();
  const std::vector<Status> statuses =
      worker.database.db().MultiGet(worker.read_options, batch->families(), keys, values);
  for (size_t i = 0; i < keys.size(); ++i) {
    Status s = Count(statuses[i], keys[i].size() + (*values)[i].size(), &worker.stats.tally);
    if (!s.ok()) return s;
  }
  return Status::OK();
}

Status MultiReadRandom(Worker& worker) {
  const auto batch_size = static_cast<size_t>(worker.flags.batch_size);
  Loop loop = worker.RandomLoop(ReadsOf(worker.flags));
  KeyBatch batch(worker);
  std::vector<PinnableSlice> pinned(batch_size);
  std::vector<Status> statuses(batch_size);
  std::vector<std::string> copies;
  for (uint64_t count = loop.Take(batch_size); count != 0; count = loop.Take(batch_size)) {
    worker.LimitReads(count);
    batch.Draw(count);
    Status s = worker.flags.multiread_batched ? GetPinned(worker, &batch, &pinned, &statuses)
                                              : GetCopies(worker, &batch, &copies);
    if (!s.ok()) return s;
    worker.stats.FinishedOps(count, Operation::kRead);
  }
  return Status::OK();
}

}  // namespace

constinit const Workload kMultiReadRandom = {
    .name = "multireadrandom",
    .summary = "get batch_size random keys at once",
    .run = MultiReadRandom,
    .run_on_tree = MultiReadTreeRandom,
    .describe = DescribeFound,
};

}  // namespace ashlar::bench
