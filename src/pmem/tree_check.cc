#include "pmem/tree_check.h"

#include <algorithm>

#include "base/format.h"
#include "base/out_of_memory.h"
#include "execute/epoch.h"
#include "pmem/leaf_walk.h"
#include "pmem/leaf_writer.h"
#include "pmem/tree_iterator.h"

namespace ashlar::pmem {
namespace {

// Spans of records that are emptier than this are emptied.
constexpr double kEvacuatedShareMax = 0.75;
// Large records that one pass over the tree gathers.
constexpr size_t kLargeMovesMax = 1 << 20;

// The units of 16 bytes that something refers to, to find double references.
class References {
 public:
  explicit References(uint64_t pool_bytes) : seen_(pool_bytes / kUnitBytes, false) {}
  bool AddFirst(PoolOffset offset, uint64_t bytes) {
    for (uint64_t unit = offset / kUnitBytes; unit < (offset + bytes + kUnitBytes - 1) / kUnitBytes;
         ++unit) {
      if (seen_[unit]) return false;
      seen_[unit] = true;
    }
    return true;
  }

 private:
  std::vector<bool> seen_;
};

class Verifier {
 public:
  explicit Verifier(TreeState* state) : state_(*state), references_(state->medium->bytes()) {}

  // Checks one leaf, in one version; *next is the next one of the chain. *again: a writer changed
  // it meanwhile.
  Status CheckLeaf(const BoundedLeaf& leaf, PoolOffset* next, bool* again) {
    const LeafView view(*state_.medium, leaf.offset);
    const uint64_t commit = view.Commit();
    *next = view.Next(commit);
    std::vector<LeafEntry> entries;
    PoolOffset damaged = 0;
    const bool readable =
        CollectEntries(*state_.medium, state_.order, leaf.offset, commit, &entries, &damaged);
    *again = !leaf.Unchanged();
    if (*again) return Status::OK();
    if (!readable) return state_.DamagedRecord(damaged);
    if (view.Tag() != LeafTag(leaf.offset)) return Damaged(leaf.offset, "the leaf has a wrong tag");
    if (!IsCommit(leaf.offset, *next, commit))
      return Damaged(leaf.offset, "the check of the leaf's commit word is wrong");
    ASHLAR_RETURN_IF_ERROR(CheckReference(leaf.offset, kLeafBytes));
    if (view.Separator() != 0) ASHLAR_RETURN_IF_ERROR(CheckRecord(view.Separator()));
    return CheckEntries(leaf, entries);
  }

 private:
  Status Damaged(PoolOffset offset, const char* what) const {
    return Status::Corruption(state_.medium->path(), StrCat("offset ", offset, ": ", what));
  }

  Status CheckReference(PoolOffset offset, uint64_t bytes) {
    if (state_.heap.ObjectBytes(offset) < bytes)
      return Damaged(offset, "referred to, but no object can be there");
    if (!references_.AddFirst(offset, bytes)) return Damaged(offset, "referred to twice");
    return Status::OK();
  }

  Status CheckRecord(PoolOffset offset) {
    const std::optional<Record> record = ReadRecord(*state_.medium, offset);
    if (!record) return state_.DamagedRecord(offset);
    ASHLAR_RETURN_IF_ERROR(CheckReference(offset, record->bytes()));
    return ChecksumMatches(*record) ? Status::OK()
                                    : Damaged(offset, "the record's checksum is wrong");
  }

  // Records, order, bounds, fingerprints. CollectEntries has checked the slots' sizes.
  Status CheckEntries(const BoundedLeaf& leaf, const std::vector<LeafEntry>& entries) {
    const LeafEntry* before = nullptr;
    for (const LeafEntry& entry : entries) {
      ASHLAR_RETURN_IF_ERROR(CheckRecord(entry.record()));
      // Under an order that calls different bytes equal fingerprints mean nothing.
      if (state_.order.equal_means_same_bytes && entry.fingerprint != Fingerprint(entry.key))
        return Damaged(leaf.offset, "a fingerprint is wrong");
      if (before != nullptr && state_.order.Compare(before->key, entry.key) >= 0)
        return Damaged(leaf.offset, "a key is there twice");
      before = &entry;
    }
    if (entries.empty()) return Status::OK();
    if (leaf.lower != nullptr &&
        state_.order.Compare(entries.front().key, state_.index.KeyOf(leaf.lower)) < 0) {
      return Damaged(leaf.offset, "a key is below the leaf's separator");
    }
    if (leaf.upper != nullptr &&
        state_.order.Compare(entries.back().key, state_.index.KeyOf(leaf.upper)) >= 0) {
      return Damaged(leaf.offset, "a key is above the next leaf's separator");
    }
    return Status::OK();
  }

  TreeState& state_;
  References references_;
};

// Calls visit(leaf) for the leaves of a range, in order, until it returns false. visit says whether
// the leaf stayed as it was found; if not, it comes again.
template <typename Visit>
void ForEachLeaf(TreeState* state, const KeyRange& range, const Visit& visit) {
  LeafWalk walk(state, range.begin);
  for (;;) {
    EpochGuard guard(state->epochs);
    const BoundedLeaf leaf = walk.Find();
    if (!visit(leaf)) continue;
    if (!walk.Advance(leaf)) return;
    if (range.end && state->order.Compare(walk.bound(), *range.end) > 0) return;
  }
}

bool Contains(const KeyOrder& order, const KeyRange& range, const Slice& key) {
  if (range.begin) {
    const int r = order.Compare(key, *range.begin);
    if (r < 0 || (r == 0 && !range.begin_inclusive)) return false;
  }
  if (range.end) {
    const int r = order.Compare(key, *range.end);
    if (r > 0 || (r == 0 && !range.end_inclusive)) return false;
  }
  return true;
}

// Whether all keys that a leaf may have are in the range.
bool CoversLeaf(TreeState* state, const KeyRange& range, const BoundedLeaf& leaf) {
  const KeyOrder& order = state->order;
  const bool begins = !range.begin || (leaf.lower != nullptr &&
                                       Contains(order, range, state->index.KeyOf(leaf.lower)));
  const bool ends = !range.end || (leaf.upper != nullptr &&
                                   order.Compare(state->index.KeyOf(leaf.upper), *range.end) <= 0);
  return begins && ends;
}

void MergeLeaves(TreeState* state) {
  LeafWriter writer(state);
  LeafWalk walk(state);
  for (;;) {
    {
      EpochGuard guard(state->epochs);
      if (!walk.Advance(walk.Find())) return;
    }
    // The leaf that begins at the bound goes into its left neighbour, or takes its right one in.
    // In both cases the leaf that begins after it is next.
    writer.MergeAround(walk.bound(), kSlots * 3 / 4);
  }
}

struct Move {
  std::string key;
  uint64_t slot;
};

// The records of the spans that hand out nothing.
Status MoveEvacuatedRecords(TreeState* state) {
  LeafWriter writer(state);
  Status status;
  std::vector<Move> moves;
  LeafWalk walk(state);
  for (bool more = true; status.ok() && more;) {
    {
      EpochGuard guard(state->epochs);
      const BoundedLeaf leaf = walk.Find();
      std::vector<LeafEntry> entries;
      PoolOffset damaged = 0;
      moves.clear();
      const uint64_t commit = LeafView(*state->medium, leaf.offset).Commit();
      const bool readable =
          CollectEntries(*state->medium, state->order, leaf.offset, commit, &entries, &damaged);
      if (!leaf.Unchanged()) continue;
      if (!readable) status = state->DamagedRecord(damaged);
      for (const LeafEntry& entry : entries) {
        if (readable && state->heap.IsEvacuated(entry.record()))
          moves.push_back({entry.key.ToString(), entry.slot});
      }
      more = walk.Advance(leaf);
    }
    for (const Move& move : moves) {
      if (status.ok()) status = writer.Relocate(move.key, move.slot);
    }
  }
  return status;
}

// The large records below `limit`, from the pool's end towards its beginning: kLargeMovesMax of
// them at most. Between two of its leaves writers may change the tree.
std::vector<Move> FindLargeRecords(TreeState* state, PoolOffset limit) {
  const auto is_higher = [](const Move& a, const Move& b) {
    return SlotRecord(a.slot) > SlotRecord(b.slot);
  };
  std::vector<Move> found;  // a heap with the lowest at its front
  ForEachLeaf(state, KeyRange::All(), [&](const BoundedLeaf& leaf) {
    const LeafView view(*state->medium, leaf.offset);
    std::vector<LeafEntry> entries;
    PoolOffset damaged = 0;
    const bool readable = CollectEntries(*state->medium, state->order, leaf.offset, view.Commit(),
                                         &entries, &damaged);
    if (!leaf.Unchanged()) return false;
    for (const LeafEntry& entry : entries) {
      // A saturated size in a slot does not give the bytes to move.
      const uint64_t units = SlotUnits(entry.slot);
      if (!readable || units * kUnitBytes <= kSmallBytesMax || units == kSlotUnitsMax ||
          entry.record() >= limit)
        continue;
      found.push_back({entry.key.ToString(), entry.slot});
      std::push_heap(found.begin(), found.end(), is_higher);
      if (found.size() <= kLargeMovesMax) continue;
      std::pop_heap(found.begin(), found.end(), is_higher);
      found.pop_back();
    }
    return true;
  });
  std::sort_heap(found.begin(), found.end(), is_higher);
  return found;
}

// From the pool's end, so that the free pages become one run there.
Status MoveLargeRecordsDown(TreeState* state) {
  LeafWriter writer(state);
  PoolOffset limit = ~PoolOffset{0};
  for (;;) {
    const std::vector<Move> moves = FindLargeRecords(state, limit);
    for (const Move& move : moves) {
      const Status moved = writer.Relocate(move.key, move.slot);
      if (!moved.ok() && !moved.IsNoSpace()) return moved;
    }
    state->heap.Reclaim();
    if (moves.size() < kLargeMovesMax) return Status::OK();
    limit = SlotRecord(moves.back().slot);
  }
}

}  // namespace

Status VerifyTree(TreeState* state) {
  // One guard over the whole walk: unlinked records are not allocated again meanwhile, so no record
  // is met twice by moving.
  MutexLock structure(state->structure_mutex());
  EpochGuard guard(state->epochs);
  Verifier verifier(state);
  Status status;
  PoolOffset expected = state->first_leaf;
  ForEachLeaf(state, KeyRange::All(), [&](const BoundedLeaf& leaf) {
    if (!status.ok()) return true;
    PoolOffset next = 0;
    bool again = false;
    Status found = verifier.CheckLeaf(leaf, &next, &again);
    if (again) return false;
    if (found.ok() && leaf.offset != expected) {
      found = Status::Corruption(
          state->medium->path(),
          StrCat("offset ", leaf.offset, ": not the leaf that the one before leads to"));
    }
    expected = next;
    status = found;
    return true;
  });
  if (status.ok() && expected != 0)
    status = Status::Corruption(state->medium->path(),
                                StrCat("offset ", expected, ": a leaf after the last one"));
  return status;
}

uint64_t CountKeys(TreeState* state, const KeyRange& range) {
  uint64_t count = 0;
  if (range.begin && range.end && state->order.Compare(*range.begin, *range.end) > 0) return 0;
  ForEachLeaf(state, range, [&](const BoundedLeaf& leaf) {
    const uint64_t commit = LeafView(*state->medium, leaf.offset).Commit();
    auto here = static_cast<uint64_t>(std::popcount(Occupied(commit)));
    if (!CoversLeaf(state, range, leaf)) {
      std::vector<LeafEntry> entries;
      PoolOffset damaged = 0;
      here = 0;
      CollectEntries(*state->medium, state->order, leaf.offset, commit, &entries, &damaged);
      for (const LeafEntry& entry : entries)
        here += Contains(state->order, range, entry.key) ? uint64_t{1} : 0;
    }
    if (!leaf.Unchanged()) return false;
    count += here;
    return true;
  });
  return count;
}

Status DefragmentTree(TreeState* state) {
  state->heap.WaitForMark();
  ASHLAR_RETURN_IF_ERROR(state->ReadOnlyReason());
  MergeLeaves(state);
  state->heap.Reclaim();
  Status status = CatchBadAlloc([&] {
    state->heap.BeginEvacuation(kEvacuatedShareMax);
    return MoveEvacuatedRecords(state);
  });
  state->heap.Reclaim();
  state->heap.EndEvacuation();
  if (status.ok() || status.IsNoSpace()) status = MoveLargeRecordsDown(state);
  // Lack of room is no failure: all that could be moved was moved.
  return status.IsNoSpace() ? Status::OK() : status;
}

}  // namespace ashlar::pmem
