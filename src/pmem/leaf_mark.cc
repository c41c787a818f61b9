#include "pmem/leaf_mark.h"

#include "base/format.h"
#include "execute/epoch.h"
#include "pmem/leaf_walk.h"

namespace ashlar::pmem {
namespace {

// Gathers the references of the leaf, in one version of it. False: it changed meanwhile.
bool GatherReferences(const Medium& medium, const FoundLeaf& leaf,
                      std::vector<PoolOffset>* records) {
  const LeafView view(medium, leaf.offset);
  records->clear();
  if (view.Separator() != 0) records->push_back(view.Separator());
  for (uint64_t rest = Occupied(view.Commit()); rest != 0; rest &= rest - 1) {
    records->push_back(SlotRecord(view.Slot(static_cast<uint32_t>(std::countr_zero(rest)))));
  }
  return leaf.Unchanged();
}

}  // namespace

Status MarkRecords(TreeState* state, const std::atomic<bool>& stop) {
  LeafWalk walk(state);
  std::vector<PoolOffset> records;
  Status status;
  while (!stop.load(std::memory_order_relaxed)) {
    EpochGuard guard(state->epochs);
    const BoundedLeaf leaf = walk.Find();
    if (!GatherReferences(*state->medium, leaf, &records)) continue;
    // In the guard: a record that was in use is not allocated again before it is marked.
    for (const PoolOffset record : records) {
      if (!state->heap.MarkRecord(record) && status.ok()) {
        status = Status::Corruption(
            state->medium->path(), StrCat("the leaf at offset ", leaf.offset, " refers to ", record,
                                          ", where no record can be"));
      }
    }
    if (!walk.Advance(leaf)) break;
  }
  return status;
}

}  // namespace ashlar::pmem
