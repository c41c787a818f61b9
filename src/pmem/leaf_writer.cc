#include "pmem/leaf_writer.h"

#include <algorithm>
#include <limits>

#include "base/format.h"
#include "base/out_of_memory.h"
#include "execute/epoch.h"
#include "platform/cpu.h"
#include "platform/mutex.h"

namespace ashlar::pmem {
namespace {

// Two neighbours with at most this many entries together become one leaf. It is at most half full,
// so that it does not split again at once.
constexpr uint32_t kMergedSlotsMax = kSlots / 2;
// A removal looks for a merge only if it leaves a multiple of kMergeLooks, up to kMergeLookMax.
constexpr uint32_t kMergeLooks = 4;
constexpr uint32_t kMergeLookMax = 12;
// Replaced index nodes are freed in groups, because a pass of the epoch costs microseconds.
constexpr uint64_t kSplitsPerReclaim = 64;

// A split holds the structure mutex for some microseconds. The system takes many times longer to
// wake a thread, so a waiting thread spins for about the duration of two splits.
constexpr uint32_t kSpins = 20;
constexpr uint32_t kPausesPerSpin = 8;
Mutex& AfterSpinning(Mutex& mutex) ASHLAR_RETURN_CAPABILITY(mutex) {
  for (uint32_t spin = 0; spin < kSpins; ++spin) {
    if (mutex.TryLock()) {
      mutex.Unlock();
      break;
    }
    for (uint32_t i = 0; i < kPausesPerSpin; ++i) CpuRelax();
  }
  return mutex;
}

// SplitStrategy::kCopyOrSwap copies records of up to this many bytes.
constexpr uint64_t kShortRecordBytes = 64;

// Whether there is an object for each of these sizes, in their order.
bool CanHold(const Heap& heap, const std::vector<PoolOffset>& objects,
             const std::vector<uint64_t>& bytes) {
  if (objects.size() < bytes.size()) return false;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (heap.ObjectBytes(objects[i]) < bytes[i]) return false;
  }
  return true;
}

// Whether a separator may use a reserved space of `reserved_bytes` (I3).
bool IsPlaceFor(uint64_t separator_bytes, uint64_t reserved_bytes) {
  return reserved_bytes >= separator_bytes &&
         reserved_bytes <= std::max(separator_bytes, LeafWriter::kSeparatorAheadBytesMax);
}

bool AreOfOneClass(uint64_t a_bytes, uint64_t b_bytes) {
  return a_bytes <= kSmallBytesMax && b_bytes <= kSmallBytesMax &&
         SizeClassOf(a_bytes) == SizeClassOf(b_bytes);
}

// A LeafRef that is given back unless it is kept. Requires: the structure mutex.
class NewRefHold {
 public:
  NewRefHold(LeafIndex* index, PoolOffset leaf) : index_(*index), ref_(index->NewRef(leaf)) {}
  ~NewRefHold() {
    if (ref_ != nullptr) index_.DropRef(ref_);
  }
  NewRefHold(const NewRefHold&) = delete;
  NewRefHold& operator=(const NewRefHold&) = delete;

  LeafRef* get() const { return ref_; }
  void Keep() { ref_ = nullptr; }

 private:
  LeafIndex& index_;
  LeafRef* ref_;
};

Status CheckSizes(const Medium& medium, const Slice& key, const Slice& value) {
  constexpr size_t kBytesMax = std::numeric_limits<uint32_t>::max();
  if (key.size() > kBytesMax || value.size() > kBytesMax)
    return Status::InvalidArgument(medium.path(), "a key or value of 4 GiB or more");
  return medium.status();
}

}  // namespace

Status TreeState::ReadOnlyReason() const {
  ASHLAR_RETURN_IF_ERROR(medium->status());
  return heap.status();
}

Status TreeState::DamagedRecord(PoolOffset record) const {
  return Status::Corruption(medium->path(), StrCat("a damaged record at offset ", record));
}

// ---- Put.

// If the tree takes no changes because of damage, the allocation fails.
Status LeafWriter::Put(const Slice& key, const Slice& value) {
  ASHLAR_RETURN_IF_ERROR(CheckSizes(*state_.medium, key, value));
  const Result<PoolOffset> record = state_.heap.Allocate(RecordBytes(key, value), Reserve::kInsert);
  if (!record.ok()) return PutWhenFull(key, value);
  return PutRecord(key, value, record.value(), false);
}

// One thread at a time uses the held-back objects, and waits until the replaced record is free.
Status LeafWriter::PutWhenFull(const Slice& key, const Slice& value) {
  MutexLock lock(state_.scarce_mutex());
  const uint64_t bytes = RecordBytes(key, value);
  bool is_held_back = false;
  Result<PoolOffset> record =
      state_.heap.OrReclaim([&] { return state_.heap.Allocate(bytes, Reserve::kInsert); });
  if (!record.ok()) {
    is_held_back = true;
    record = state_.heap.Allocate(bytes, Reserve::kUpdate);
  }
  if (!record.ok()) return record.status();
  const Status status = PutRecord(key, value, record.value(), is_held_back);
  if (is_held_back) state_.heap.ReclaimRecent();
  return status;
}

// Owns the record until it is published. After that nothing throws (I2).
Status LeafWriter::PutRecord(const Slice& key, const Slice& value, PoolOffset record,
                             bool is_held_back) {
  Entry entry = {.key = key,
                 .value = value,
                 .record = record,
                 .fingerprint = Fingerprint(key),
                 .is_held_back = is_held_back};
  try {
    return PutOwned(&entry);
  } catch (const std::bad_alloc&) {
    state_.heap.Release(record);
    return Status::MemoryLimit();
  }
}

Status LeafWriter::PutOwned(Entry* entry) {
  for (bool tried_to_fill = false;;) {
    Outcome outcome;
    Status status;
    {
      PoolOperation op(*state_.medium);
      WriteRecord(&op, entry->record, entry->key, entry->value);
      {
        EpochGuard guard(state_.epochs);
        outcome = TryPut(&op, entry);
        while (outcome == Outcome::kFull) outcome = PutWithSplit(&op, entry);
      }
      if (outcome == Outcome::kDone) status = op.AwaitDurable();
    }
    for (const PoolOffset record : entry->copied) state_.heap.Retire(record, kShortRecordBytes);
    entry->copied.clear();
    if (outcome == Outcome::kDone) {
      if (entry->replaced != 0) state_.heap.Retire(entry->replaced, entry->replaced_bytes);
      // Reserves space for the next split, whose separator probably has this length. Without that
      // space the split tries again, and fails with the reason.
      if (entry->separator_bytes != 0 && entry->separator_bytes <= kSeparatorAheadBytesMax)  // I3
        static_cast<void>(FillReserve(entry->separator_bytes, {}));
      return status;
    }
    if (outcome == Outcome::kSplitOnly) continue;
    if (outcome == Outcome::kNeedReserve) {
      status = state_.heap.OrReclaim(
          [&] { return FillReserve(entry->separator_bytes, entry->copy_bytes); });
      entry->may_fill = !status.ok();
      if (status.ok() || !tried_to_fill) {
        tried_to_fill = entry->may_fill;
        continue;
      }
    } else if (outcome == Outcome::kMissing) {
      status = Status::NoSpace(state_.medium->path(), "the pool is full");
    } else {
      status = state_.DamagedRecord(entry->damaged);
    }
    state_.heap.Release(entry->record);
    return status;
  }
}

LeafWriter::Outcome LeafWriter::TryPut(PoolOperation* op, Entry* entry) {
  for (;;) {
    const FoundLeaf leaf = state_.index.Find(entry->key);
    // Before the lock, because taking it waits until the new record's stores are done.
    PrefetchForPut(*state_.medium, leaf.offset, entry->fingerprint);
    if (!leaf.ref->TryLock(leaf.version)) continue;
    LeafLock lock(leaf.ref);
    return PutLocked(op, leaf, entry, &lock);
  }
}

// On kDone, the entry is published and committed, and the leaf is unlocked. On kFull, the caller's
// scope keeps the lock.
LeafWriter::Outcome LeafWriter::PutLocked(PoolOperation* op, const FoundLeaf& leaf, Entry* entry,
                                          LeafLock* lock) {
  const LeafView view(*state_.medium, leaf.offset);
  const uint64_t commit = view.Commit();
  const SlotFound found = FindInLeaf(*state_.medium, state_.order, leaf.offset, commit, entry->key,
                                     entry->fingerprint, RecordPart::kKey);
  if (found.damaged != 0) {
    entry->damaged = found.damaged;
    return Outcome::kDamaged;
  }
  // A record of another class would not restore the object that this class holds back.
  if (entry->is_held_back &&
      (!found.found || !AreOfOneClass(found.record.bytes(), RecordBytes(entry->key, entry->value))))
    return Outcome::kMissing;
  if (found.found) {
    state_.heap.BeforeUnlink(found.offset);
    PublishSlot(op, view.SlotOffset(found.index), entry->slot());
    op->Commit();
    lock->Release();
    entry->replaced = found.offset;
    entry->replaced_bytes = found.record.bytes();
    return Outcome::kDone;
  }
  const uint64_t occupied = Occupied(commit);
  const auto count = static_cast<uint32_t>(std::popcount(occupied));
  const bool may_fill = entry->may_fill || (leaf.is_last && count == kSlotsFilled &&
                                            IsAboveAll(leaf, commit, entry->key));
  if (count >= (may_fill ? kSlots : kSlotsFilled)) return Outcome::kFull;
  const auto index = static_cast<uint32_t>(std::countr_one(occupied));
  SlotWriter slots(op, view);
  slots.Put(index, entry->slot(), entry->fingerprint);
  slots.Finish();
  op->Fence();
  PublishCommit(op, leaf.offset, view.Next(commit), occupied | uint64_t{1} << index,
                SelectedNext(commit));
  op->Commit();
  lock->Release();
  state_.entries.fetch_add(1, std::memory_order_relaxed);
  return Outcome::kDone;
}

bool LeafWriter::IsAboveAll(const FoundLeaf& leaf, uint64_t commit, const Slice& key) const {
  const LeafView view(*state_.medium, leaf.offset);
  for (uint64_t rest = Occupied(commit); rest != 0; rest &= rest - 1) {
    const std::optional<Record> record = ReadRecord(
        *state_.medium, SlotRecord(view.Slot(static_cast<uint32_t>(std::countr_zero(rest)))));
    if (!record || state_.order.Compare(record->key(), key) > 0) return false;
  }
  return true;
}

// ---- Split.

// Reads the records before it takes the mutex, because that takes longer than the split. The guard
// keeps them, and the version of the leaf shows whether the leaf has changed since. A leaf that has
// changed is read again under the mutex, because other threads may change it all the time.
LeafWriter::Outcome LeafWriter::PutWithSplit(PoolOperation* op, Entry* entry) {
  const FoundLeaf before = state_.index.Find(entry->key);
  const LeafContents contents(*state_.medium, state_.order, before.offset);
  MutexLock structure(AfterSpinning(state_.structure_mutex()));
  for (FoundLeaf leaf = before;; leaf = state_.index.Find(entry->key)) {
    if (!leaf.ref->TryLock(leaf.version)) continue;
    LeafLock lock(leaf.ref);
    const Outcome outcome = PutLocked(op, leaf, entry, &lock);
    if (outcome != Outcome::kFull) return outcome;
    if (leaf.ref == before.ref && leaf.version == before.version)
      return Split(op, leaf, contents, entry, &lock);
    return Split(op, leaf, LeafContents(*state_.medium, state_.order, leaf.offset), entry, &lock);
  }
}

LeafWriter::Outcome LeafWriter::Split(PoolOperation* op, const FoundLeaf& leaf,
                                      const LeafContents& contents, Entry* entry, LeafLock* lock) {
  if (contents.damaged != 0) {
    entry->damaged = contents.damaged;
    return Outcome::kDamaged;
  }
  SplitPlan plan = PlanSplit(leaf, contents, *entry);
  if (!HasSpaceForSplit(plan, entry)) return Outcome::kNeedReserve;
  CopyMovedRecords(op, &plan, entry);
  StoreSplit(op, leaf, plan, *entry);
  lock->Release();
  state_.leaves.fetch_add(1, std::memory_order_relaxed);
  state_.splits.fetch_add(1, std::memory_order_relaxed);
  if (plan.is_split_only) return Outcome::kSplitOnly;
  state_.entries.fetch_add(1, std::memory_order_relaxed);
  return Outcome::kDone;
}

LeafWriter::SplitPlan LeafWriter::PlanSplit(const FoundLeaf& leaf, const LeafContents& contents,
                                            const Entry& entry) const {
  const std::vector<LeafEntry>& entries = contents.entries;
  const auto at = std::lower_bound(entries.begin(), entries.end(), entry.key,
                                   [this](const LeafEntry& a, const Slice& key) {
                                     return state_.order.Compare(a.key, key) < 0;
                                   });
  const auto rank = static_cast<size_t>(at - entries.begin());
  const size_t count = entries.size();
  size_t split_at = (count + 1) / 2;
  if (leaf.is_last && rank == count) split_at = count;
  const bool has_free_slot = count < kSlots;
  if (!has_free_slot && rank < split_at && rank > 0) split_at = rank;
  const bool goes_right = rank >= split_at;
  SplitPlan plan = {.fresh = {.index = 0,
                              .fingerprint = entry.fingerprint,
                              .slot = entry.slot(),
                              .key = entry.key},
                    .moved = {entries.begin() + static_cast<ptrdiff_t>(split_at), entries.end()},
                    .commit = contents.commit,
                    .occupied = Occupied(contents.commit),
                    .goes_left = !goes_right && has_free_slot,
                    .is_split_only = !goes_right && !has_free_slot};
  for (const LeafEntry& move : plan.moved) plan.occupied &= ~(uint64_t{1} << move.index);
  if (goes_right)
    plan.moved.insert(plan.moved.begin() + static_cast<ptrdiff_t>(rank - split_at), plan.fresh);
  return plan;
}

// Whether the reserve has the objects of this split. Stores their sizes in the entry.
bool LeafWriter::HasSpaceForSplit(const SplitPlan& plan, Entry* entry) const {
  const SplitReserve& reserve = state_.reserve;
  entry->separator_bytes = RecordBytes(plan.moved.front().key, Slice());
  entry->copy_bytes.clear();
  for (const LeafEntry& move : plan.moved) {
    if (IsCopied(plan, move)) entry->copy_bytes.push_back(SlotUnits(move.slot) * kUnitBytes);
  }
  return reserve.leaf != 0 && IsPlaceFor(entry->separator_bytes, reserve.separator_bytes) &&
         CanHold(state_.heap, reserve.copies, entry->copy_bytes);
}

// Makes the moved slots refer to copies of their records, if the strategy requires it.
void LeafWriter::CopyMovedRecords(PoolOperation* op, SplitPlan* plan, Entry* entry) {
  for (size_t i = 0, copy = 0; copy < entry->copy_bytes.size(); ++i) {
    LeafEntry& move = plan->moved[i];
    if (!IsCopied(*plan, move)) continue;
    const PoolOffset to = state_.reserve.copies[copy++];
    const std::optional<Record> record = ReadRecord(*state_.medium, move.record());
    WriteRecord(op, to, record->key(), record->value());
    entry->copied.push_back(move.record());
    move.slot = EncodeSlot(to, record->bytes());
  }
}

// Stores the new leaf in the pool, commits, and adds it to the index. Uses up the reserve.
void LeafWriter::StoreSplit(PoolOperation* op, const FoundLeaf& leaf, const SplitPlan& plan,
                            const Entry& entry) {
  const LeafView view(*state_.medium, leaf.offset);
  const uint32_t next = 1 - SelectedNext(plan.commit);
  SplitReserve& reserve = state_.reserve;
  WriteRecord(op, reserve.separator, plan.moved.front().key, Slice());
  WriteNewLeaf(op, reserve.leaf, plan.moved, reserve.separator, view.Next(plan.commit));
  NewRefHold right(&state_.index, reserve.leaf);
  LeafIndex::Change change;
  state_.index.PrepareInsert(state_.medium->view() + reserve.separator, right.get(), &change);
  StoreOtherNext(op, view, plan.commit, reserve.leaf);
  uint64_t occupied = plan.occupied;
  if (plan.goes_left) {
    const auto index = static_cast<uint32_t>(std::countr_one(Occupied(plan.commit)));
    SlotWriter slots(op, view);
    slots.Put(index, plan.fresh.slot, plan.fresh.fingerprint);
    slots.Finish();
    occupied |= uint64_t{1} << index;
  }
  for (const PoolOffset record : entry.copied) state_.heap.BeforeUnlink(record);
  op->Fence();
  PublishCommit(op, leaf.offset, reserve.leaf, occupied, next);
  // Copies beyond the needed ones were never used.
  for (size_t i = entry.copied.size(); i < reserve.copies.size(); ++i)
    state_.heap.Release(reserve.copies[i]);
  reserve = {};
  right.Keep();
  op->Commit();  // I4
  state_.index.Publish(&change);
}

// Allocates space for a split. Requires: no operation and no lock of this thread.
Status LeafWriter::FillReserve(uint64_t separator_bytes, const std::vector<uint64_t>& copy_bytes) {
  if (state_.splits.load(std::memory_order_relaxed) % kSplitsPerReclaim == 0)
    state_.epochs.Reclaim();
  SplitReserve fresh = {
      .leaf = 0, .separator = 0, .separator_bytes = separator_bytes, .copies = {}};
  const auto allocate = [&]() -> Status {
    ASHLAR_ASSIGN_OR_RETURN(fresh.leaf, state_.heap.AllocateLeaf());
    ASHLAR_ASSIGN_OR_RETURN(fresh.separator,
                            state_.heap.Allocate(separator_bytes, Reserve::kInsert));
    for (const uint64_t bytes : copy_bytes) {
      fresh.copies.push_back(0);
      ASHLAR_ASSIGN_OR_RETURN(fresh.copies.back(), state_.heap.Allocate(bytes, Reserve::kInsert));
    }
    return Status::OK();
  };
  const Status status = CatchBadAlloc(allocate);
  if (status.ok()) {
    MutexLock structure(AfterSpinning(state_.structure_mutex()));
    std::swap(fresh, state_.reserve);
  }
  // The earlier reserve, or the part of the new one that could be allocated.
  ReleaseReserve(fresh);
  return status;
}

void LeafWriter::ReleaseReserve(const SplitReserve& reserve) {
  if (reserve.leaf != 0) state_.heap.Release(reserve.leaf);
  if (reserve.separator != 0) state_.heap.Release(reserve.separator);
  for (const PoolOffset copy : reserve.copies) {
    if (copy != 0) state_.heap.Release(copy);
  }
}

// Only records of a size class are copied. Every strategy moves the slot of a record that has its
// own span. The new entry's record is never copied, because nothing else refers to it.
bool LeafWriter::IsCopied(const SplitPlan& plan, const LeafEntry& entry) const {
  if (entry.slot == plan.fresh.slot) return false;
  const uint64_t bytes = SlotUnits(entry.slot) * kUnitBytes;
  switch (state_.split_strategy) {
    case SplitStrategy::kZeroCopySwap: return false;
    case SplitStrategy::kCopyOrSwap: return bytes <= kShortRecordBytes;
    case SplitStrategy::kNaiveCopy: return bytes <= kSmallBytesMax;
  }
  return false;
}

// ---- Delete and merge.

Status LeafWriter::Delete(const Slice& key) {
  ASHLAR_RETURN_IF_ERROR(state_.ReadOnlyReason());
  const uint8_t fingerprint = Fingerprint(key);
  PoolOffset removed = 0;
  uint64_t removed_bytes = 0;
  uint32_t left_over = 0;
  Status status;
  {
    PoolOperation op(*state_.medium);
    {
      EpochGuard guard(state_.epochs);
      for (;;) {
        const FoundLeaf leaf = state_.index.Find(key);
        PrefetchCandidate(*state_.medium, leaf.offset, fingerprint);
        if (!leaf.ref->TryLock(leaf.version)) continue;
        LeafLock lock(leaf.ref);
        const LeafView view(*state_.medium, leaf.offset);
        const uint64_t commit = view.Commit();
        const SlotFound found = FindInLeaf(*state_.medium, state_.order, leaf.offset, commit, key,
                                           fingerprint, RecordPart::kKey);
        if (found.damaged != 0) return state_.DamagedRecord(found.damaged);
        if (!found.found) {
          // The deletion that was first may not be durable yet.
          op.Commit();
          lock.ReleaseUnchanged();
          break;
        }
        const uint64_t occupied = Occupied(commit) & ~(uint64_t{1} << found.index);
        state_.heap.BeforeUnlink(found.offset);
        PublishCommit(&op, leaf.offset, view.Next(commit), occupied, SelectedNext(commit));
        op.Commit();
        lock.Release();
        removed = found.offset;
        removed_bytes = found.record.bytes();
        left_over = static_cast<uint32_t>(std::popcount(occupied));
        break;
      }
    }
    status = op.AwaitDurable();
  }
  if (removed == 0) return status;
  state_.entries.fetch_sub(1, std::memory_order_relaxed);
  state_.heap.Retire(removed, removed_bytes);
  // If an allocation fails, the leaves stay as they are.
  if (left_over <= kMergeLookMax && left_over % kMergeLooks == 0)
    IgnoreBadAlloc([&] { MergeAround(key, kMergedSlotsMax); });
  return status;
}

bool LeafWriter::MergeAround(const Slice& key, uint32_t slots_max) {
  PoolOperation op(*state_.medium);
  PoolOffset gone = 0;
  PoolOffset separator = 0;
  {
    MutexLock structure(AfterSpinning(state_.structure_mutex()));
    EpochGuard guard(state_.epochs);
    const BoundedLeaf leaf = state_.index.FindBounded(key);
    for (const bool with_left : {true, false}) {
      if ((with_left ? leaf.lower : leaf.upper) == nullptr) continue;
      const BoundedLeaf left =
          with_left ? state_.index.FindBefore(state_.index.KeyOf(leaf.lower)) : leaf;
      const BoundedLeaf right =
          with_left ? leaf : state_.index.FindBounded(state_.index.KeyOf(leaf.upper));
      if (!Merge(&op, left, right, slots_max)) continue;
      gone = right.offset;
      separator = state_.SeparatorOf(right);
      break;
    }
  }
  if (gone == 0) return false;
  // The log's error, if any, is latched in the medium.
  static_cast<void>(op.AwaitDurable());
  state_.heap.Retire(gone, kLeafBytes);
  state_.heap.Retire(separator, kShortRecordBytes);
  return true;
}

// Commits if it merges. Gives up if a leaf is busy, because the next removal looks again. The locks
// of two leaves are one scope, because the analysis has one name for them. The structure mutex
// orders them.
bool LeafWriter::Merge(PoolOperation* op, const BoundedLeaf& left, const BoundedLeaf& right,
                       uint32_t slots_max) {
  if (!left.ref->TryLock(left.version)) return false;
  if (!right.ref->TryLock(right.version)) {
    left.ref->UnlockUnchanged();
    return false;
  }
  LeafPairLock locks(left.ref, right.ref);
  const LeafView into(*state_.medium, left.offset);
  const LeafView from(*state_.medium, right.offset);
  const uint64_t left_commit = into.Commit();
  const uint64_t right_commit = from.Commit();
  uint64_t occupied = Occupied(left_commit);
  // The index finds neighbours by the keys of separators. If damage has changed such a key, the
  // index finds another leaf.
  const auto are_neighbours = [&] {
    return left.upper == right.lower &&
           state_.index.Peek(state_.index.KeyOf(right.lower)).ref == right.ref;
  };
  if (static_cast<uint32_t>(std::popcount(occupied) + std::popcount(Occupied(right_commit))) >
          slots_max ||
      !are_neighbours()) {
    locks.ReleaseUnchanged();
    return false;
  }
  LeafIndex::Change change;
  state_.index.PrepareErase(right.lower, &change);
  SlotWriter slots(op, into);
  for (uint64_t rest = Occupied(right_commit); rest != 0; rest &= rest - 1) {
    const auto index = static_cast<uint32_t>(std::countr_zero(rest));
    const auto free = static_cast<uint32_t>(std::countr_one(occupied));
    slots.Put(free, from.Slot(index), from.FingerprintOf(index));
    occupied |= uint64_t{1} << free;
  }
  slots.Finish();
  StoreOtherNext(op, into, left_commit, from.Next(right_commit));
  state_.heap.BeforeUnlink(state_.SeparatorOf(right));
  op->Fence();
  PublishCommit(op, left.offset, from.Next(right_commit), occupied, 1 - SelectedNext(left_commit));
  op->Commit();  // I4
  state_.index.Publish(&change);
  locks.ReleaseMerged();
  state_.index.DropRef(right.ref);
  state_.leaves.fetch_sub(1, std::memory_order_relaxed);
  state_.merges.fetch_add(1, std::memory_order_relaxed);
  return true;
}

// ---- Relocation.

Status LeafWriter::Relocate(const Slice& key, uint64_t slot, Toward end) {
  ASHLAR_ASSERT(SlotUnits(slot) < kSlotUnitsMax);  // Requires: the slot gives the size
  // Rounding up to units stays in the same size class.
  const uint64_t bytes = SlotUnits(slot) * kUnitBytes;
  ASHLAR_ASSIGN_OR_RETURN(const PoolOffset record,
                          bytes > kSmallBytesMax
                              ? state_.heap.AllocateToward(end, bytes, SlotRecord(slot))
                              : state_.heap.Allocate(bytes, Reserve::kMove));
  bool moved = false;
  const Status status = CatchBadAlloc([&] { return MoveRecord(key, slot, record, &moved); });
  if (moved) {
    state_.heap.Retire(SlotRecord(slot), SlotUnits(slot) * kUnitBytes);
  } else {
    state_.heap.Release(record);
  }
  return status;
}

// Writes the slot's record to another place, unless the slot has changed.
Status LeafWriter::MoveRecord(const Slice& key, uint64_t slot, PoolOffset record, bool* moved) {
  PoolOperation op(*state_.medium);
  {
    EpochGuard guard(state_.epochs);
    FoundLeaf leaf = state_.index.Find(key);
    while (!leaf.ref->TryLock(leaf.version)) leaf = state_.index.Find(key);
    LeafLock lock(leaf.ref);
    const LeafView view(*state_.medium, leaf.offset);
    const SlotFound found = FindInLeaf(*state_.medium, state_.order, leaf.offset, view.Commit(),
                                       key, Fingerprint(key), RecordPart::kAll);
    if (!found.found || view.Slot(found.index) != slot) return Status::OK();
    // The copy would have a correct checksum and hide the damage.
    if (!ChecksumMatches(found.record)) return state_.DamagedRecord(found.offset);
    WriteRecord(&op, record, found.record.key(), found.record.value());
    state_.heap.BeforeUnlink(found.offset);
    PublishSlot(&op, view.SlotOffset(found.index), EncodeSlot(record, found.record.bytes()));
    op.Commit();
    *moved = true;
  }
  return op.AwaitDurable();
}

}  // namespace ashlar::pmem
