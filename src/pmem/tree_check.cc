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

// Spans of records with at most this share of their objects in use are emptied.
constexpr double kEvacuatedShareMax = 0.75;
// The number of large records that one pass over the tree gathers.
constexpr size_t kLargeMovesMax = 1 << 20;
// Rounds in which large records make room for each other. About ten are enough for records of two
// sizes. Each costs some passes over the tree.
constexpr uint32_t kLargeRoundsMax = 64;
// One free page in this many may stay outside of the longest run.
constexpr uint64_t kApartShareMax = 8;

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

  // Checks one leaf in one version. *next is the next leaf of the chain. *again is true if a writer
  // changed the leaf meanwhile.
  Status CheckLeaf(const BoundedLeaf& leaf, PoolOffset* next, bool* again) {
    const LeafView view(*state_.medium, leaf.offset);
    const LeafContents contents(*state_.medium, state_.order, leaf.offset);
    *next = view.Next(contents.commit);
    *again = !leaf.Unchanged();
    if (*again) return Status::OK();
    if (contents.damaged != 0) return state_.DamagedRecord(contents.damaged);
    if (view.Tag() != LeafTag(leaf.offset)) return Damaged(leaf.offset, "the leaf has a wrong tag");
    if (!IsCommit(leaf.offset, *next, contents.commit))
      return Damaged(leaf.offset, "the check of the leaf's commit word is wrong");
    ASHLAR_RETURN_IF_ERROR(CheckReference(leaf.offset, kLeafBytes));
    const PoolOffset separator = leaf.lower == nullptr ? 0 : state_.SeparatorOf(leaf);
    if (view.Separator() != separator)
      return Damaged(leaf.offset, "the leaf's separator is not the one that leads to it");
    if (separator != 0) ASHLAR_RETURN_IF_ERROR(CheckRecord(separator));
    return CheckEntries(leaf, contents.entries);
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

  // Records, order, bounds, fingerprints. LeafContents has checked the slots' sizes.
  Status CheckEntries(const BoundedLeaf& leaf, const std::vector<LeafEntry>& entries) {
    const LeafEntry* before = nullptr;
    for (const LeafEntry& entry : entries) {
      ASHLAR_RETURN_IF_ERROR(CheckRecord(entry.record()));
      // Under an order in which different bytes can be equal, fingerprints mean nothing.
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

// Calls visit(leaf, rest) for the leaves of a range, in order. visit returns whether the leaf
// stayed unchanged; if not, it is called again. `rest` is the part of the range that earlier leaves
// did not cover. A leaf that merges with the next one is visited again, with entries before `rest`.
template <typename Visit>
void ForEachLeaf(TreeState* state, const KeyRange& range, const Visit& visit) {
  LeafWalk walk(state, range.begin);
  KeyRange rest = range;
  for (;;) {
    EpochGuard guard(state->epochs);
    const BoundedLeaf leaf = walk.Find();
    if (!visit(leaf, rest)) continue;
    if (!walk.Advance(leaf)) return;
    if (range.end && state->order.Compare(walk.bound(), *range.end) > 0) return;
    rest.begin = Slice(walk.bound());
    rest.begin_inclusive = true;
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
    // The leaf that begins at the bound is merged into its left neighbour, or takes in its right
    // one. In both cases the leaf that begins after it is next.
    writer.MergeAround(walk.bound(), kSlots * 3 / 4);
  }
}

struct Move {
  std::string key;
  uint64_t slot;
};

// Moves the records of the spans that hand out nothing.
Status MoveEvacuatedRecords(TreeState* state) {
  LeafWriter writer(state);
  Status status;
  std::vector<Move> moves;
  LeafWalk walk(state);
  for (bool more = true; status.ok() && more;) {
    {
      EpochGuard guard(state->epochs);
      const BoundedLeaf leaf = walk.Find();
      const LeafContents contents(*state->medium, state->order, leaf.offset);
      moves.clear();
      if (!leaf.Unchanged()) continue;
      if (contents.damaged != 0) status = state->DamagedRecord(contents.damaged);
      for (const LeafEntry& entry : contents.entries) {
        if (!state->heap.IsEvacuated(entry.record())) continue;
        // Evacuated spans have small records, whose slots give the size.
        if (SlotUnits(entry.slot) == kSlotUnitsMax) status = state->DamagedRecord(entry.record());
        moves.push_back({entry.key.ToString(), entry.slot});
      }
      more = walk.Advance(leaf);
    }
    for (const Move& move : moves) {
      if (status.ok()) status = writer.Relocate(move.key, move.slot, Toward::kBeginning);
    }
  }
  return status;
}

// At most kLargeMovesMax large records to move. Towards the pool's beginning these are records
// below `bound`, highest first; towards its end, records above it, lowest first. Writers may change
// the tree between two leaves.
std::vector<Move> FindLargeRecords(TreeState* state, Toward end, PoolOffset bound) {
  const bool goes_down = end == Toward::kBeginning;
  const auto is_first = [goes_down](const Move& a, const Move& b) {
    return goes_down ? SlotRecord(a.slot) > SlotRecord(b.slot)
                     : SlotRecord(a.slot) < SlotRecord(b.slot);
  };
  std::vector<Move> found;  // a heap with the last one at its front
  ForEachLeaf(state, KeyRange::All(), [&](const BoundedLeaf& leaf, const KeyRange& /*rest*/) {
    const LeafContents contents(*state->medium, state->order, leaf.offset);
    if (!leaf.Unchanged()) return false;
    for (const LeafEntry& entry : contents.entries) {
      // A saturated size in a slot does not give the bytes to move.
      const uint64_t units = SlotUnits(entry.slot);
      const bool is_outside = goes_down ? entry.record() >= bound : entry.record() <= bound;
      if (units * kUnitBytes <= kSmallBytesMax || units == kSlotUnitsMax || is_outside) continue;
      found.push_back({entry.key.ToString(), entry.slot});
      std::push_heap(found.begin(), found.end(), is_first);
      if (found.size() <= kLargeMovesMax) continue;
      std::pop_heap(found.begin(), found.end(), is_first);
      found.pop_back();
    }
    return true;
  });
  std::sort_heap(found.begin(), found.end(), is_first);
  return found;
}

// Moves the records for which there is a place.
Status MoveEach(TreeState* state, const std::vector<Move>& moves, Toward end) {
  LeafWriter writer(state);
  for (const Move& move : moves) {
    const Status moved = writer.Relocate(move.key, move.slot, end);
    if (!moved.ok() && !moved.IsNoSpace()) return moved;
  }
  state->heap.Reclaim();
  return Status::OK();
}

// Starts at the pool's end, so that the free pages become one run there.
Status MoveLargeRecordsDown(TreeState* state) {
  PoolOffset bound = ~PoolOffset{0};
  for (;;) {
    const std::vector<Move> moves = FindLargeRecords(state, Toward::kBeginning, bound);
    ASHLAR_RETURN_IF_ERROR(MoveEach(state, moves, Toward::kBeginning));
    if (moves.size() < kLargeMovesMax) return Status::OK();
    bound = SlotRecord(moves.back().slot);
  }
}

// Moves records down, into holes below. If most free pages stay scattered, because records are
// longer than the holes between them, it moves each record up once and then down again. The pages
// of a moved record and the holes around it become one run, so each round adds the holes between
// the moved records to the free run.
//
// It ends after kLargeRoundsMax rounds, or earlier if a round has neither made the longest run
// longer nor moved the first free page up.
Status MoveLargeRecordsTogether(TreeState* state) {
  ASHLAR_RETURN_IF_ERROR(MoveLargeRecordsDown(state));
  FreePages free = state->heap.CountFreePages();
  uint64_t longest_run = free.longest_run;
  PoolOffset first = free.first;
  for (uint32_t round = 0; round < kLargeRoundsMax; ++round) {
    if (free.all <= free.longest_run + free.all / kApartShareMax) break;
    const std::vector<Move> moves = FindLargeRecords(state, Toward::kEnd, free.first);
    if (moves.empty()) break;
    ASHLAR_RETURN_IF_ERROR(MoveEach(state, moves, Toward::kEnd));
    ASHLAR_RETURN_IF_ERROR(MoveLargeRecordsDown(state));
    free = state->heap.CountFreePages();
    if (free.longest_run <= longest_run && free.first <= first) break;
    longest_run = std::max(longest_run, free.longest_run);
    first = std::max(first, free.first);
  }
  return Status::OK();
}

}  // namespace

Status VerifyTree(TreeState* state) {
  // One guard for all leaves. Unlinked records are not allocated again meanwhile, so no record is
  // visited twice because it moved.
  MutexLock structure(state->structure_mutex());
  EpochGuard guard(state->epochs);
  Verifier verifier(state);
  Status status;
  PoolOffset expected = state->first_leaf;
  ForEachLeaf(state, KeyRange::All(), [&](const BoundedLeaf& leaf, const KeyRange& /*rest*/) {
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
  ForEachLeaf(state, range, [&](const BoundedLeaf& leaf, const KeyRange& rest) {
    uint64_t here = 0;
    if (CoversLeaf(state, rest, leaf)) {
      here = static_cast<uint64_t>(
          std::popcount(Occupied(LeafView(*state->medium, leaf.offset).Commit())));
    } else {
      const LeafContents contents(*state->medium, state->order, leaf.offset);
      for (const LeafEntry& entry : contents.entries)
        here += Contains(state->order, rest, entry.key) ? uint64_t{1} : 0;
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
  if (status.ok() || status.IsNoSpace()) status = MoveLargeRecordsTogether(state);
  // Lack of space is no failure, because everything that could be moved was moved.
  return status.IsNoSpace() ? Status::OK() : status;
}

}  // namespace ashlar::pmem
