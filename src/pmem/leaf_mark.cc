#include "pmem/leaf_mark.h"

#include "base/format.h"
#include "execute/epoch.h"
#include "pmem/leaf_walk.h"
#include "pmem/record.h"

namespace ashlar::pmem {
namespace {

// Gathers the references of the leaf in one version of it, each with the minimum bytes of its
// record. Returns false if the leaf changed meanwhile.
bool GatherReferences(const Medium& medium, const FoundLeaf& leaf,
                      std::vector<PoolObject>* records) {
  const LeafView view(medium, leaf.offset);
  records->clear();
  if (const PoolOffset separator = view.Separator(); separator != 0) {
    const std::optional<Record> record = ReadRecord(medium, separator);
    records->push_back({.offset = separator, .bytes = record ? record->bytes() : ~uint64_t{0}});
  }
  for (uint64_t rest = Occupied(view.Commit()); rest != 0; rest &= rest - 1) {
    const uint64_t slot = view.Slot(static_cast<uint32_t>(std::countr_zero(rest)));
    records->push_back({.offset = SlotRecord(slot), .bytes = SlotUnits(slot) * kUnitBytes});
  }
  return leaf.Unchanged();
}

// Whether a leaf's bound is as it was written. Also true for null, which means no bound.
bool IsWhole(const Medium& medium, const char* separator) {
  if (separator == nullptr) return true;
  const std::optional<Record> record =
      ReadRecord(medium, static_cast<PoolOffset>(separator - medium.view()));
  return record && ChecksumMatches(*record);
}

Status Damage(const Medium& medium, const std::string& what) {
  return Status::Corruption(medium.path(),
                            StrCat(what,
                                   ". The pool takes no changes, so that nothing is overwritten: "
                                   "copy its entries to a new pool, or restore a copy"));
}

}  // namespace

Status MarkRecords(TreeState* state, const std::atomic<bool>& stop,
                   const std::function<void()>& before_leaf) {
  LeafWalk walk(state);
  std::vector<PoolObject> records;
  while (!stop.load(std::memory_order_relaxed)) {
    if (before_leaf) before_leaf();
    EpochGuard guard(state->epochs);
    const BoundedLeaf leaf = walk.Find();
    if (!GatherReferences(*state->medium, leaf, &records)) continue;
    // Inside the guard, so that a record in use is not allocated again before it is marked.
    for (const PoolObject& record : records) {
      if (state->heap.MarkRecord(record.offset, record.bytes)) continue;
      return Damage(*state->medium,
                    StrCat("the leaf at offset ", leaf.offset, " refers to ", record.offset,
                           ", where the span map has no such record"));
    }
    // The walk follows them. The open has checked them, but later damage would lead past leaves.
    for (const char* const bound : {leaf.lower, leaf.upper}) {
      if (IsWhole(*state->medium, bound)) continue;
      return Damage(*state->medium, StrCat("the separator at offset ",
                                           bound - state->medium->view(), " is damaged"));
    }
    if (!walk.Advance(leaf)) break;
  }
  return Status::OK();
}

}  // namespace ashlar::pmem
