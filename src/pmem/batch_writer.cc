#include "pmem/batch_writer.h"

#include <algorithm>
#include <limits>

#include "base/format.h"
#include "execute/epoch.h"
#include "key/write_batch_internal.h"
#include "pmem/leaf_writer.h"

namespace ashlar::pmem {
namespace {

// A leaf that a batch overfills is split into pieces with room to grow.
constexpr size_t kPieceEntries = 40;
constexpr uint64_t kRestructuringsPerReclaim = 64;

}  // namespace

BatchWriter::~BatchWriter() {
  ReleaseSpace();
  if (published_) return;
  for (const KeyChange& change : changes_) {
    if (change.record != 0) state_.heap.Release(change.record);
  }
}

// ---- The wanted changes.

Status BatchWriter::Parse(const WriteBatch& updates) {
  BatchReader reader{Slice(updates.Data())};
  for (size_t position = 0; reader.Next(); ++position) {
    const BatchRecord& record = reader.record();
    if (record.column_family_id != 0)
      return Status::InvalidArgument(state_.medium->path(),
                                     "a persistent tree has no column families");
    switch (record.type) {
      case ValueType::kValue:
        changes_.push_back(
            {.key = record.key, .value = record.value, .is_put = true, .position = position});
        break;
      case ValueType::kDeletion:
      case ValueType::kSingleDeletion:
        changes_.push_back(
            {.key = record.key, .value = Slice(), .is_put = false, .position = position});
        break;
      case ValueType::kRangeDeletion:
        ranges_.Add(KeyRange::Between(record.key, record.value), position);
        break;
      case ValueType::kLogData:
      case ValueType::kNoop: break;
      default:
        return Status::NotSupported(
            state_.medium->path(),
            StrCat("a persistent tree does not apply ", ValueTypeName(record.type)));
    }
  }
  return reader.status();
}

// Only the last change of a key counts. It becomes a deletion if a later range covers it.
void BatchWriter::Normalise() {
  ranges_.Build();
  std::sort(changes_.begin(), changes_.end(), [this](const KeyChange& a, const KeyChange& b) {
    const int r = state_.order.Compare(a.key, b.key);
    return r < 0 || (r == 0 && a.position < b.position);
  });
  size_t kept = 0;
  for (size_t i = 0; i < changes_.size(); ++i) {
    if (i + 1 < changes_.size() && state_.order.Compare(changes_[i].key, changes_[i + 1].key) == 0)
      continue;
    changes_[kept] = changes_[i];
    if (changes_[kept].is_put && ranges_.CoversAfter(changes_[kept].key, changes_[kept].position))
      changes_[kept].is_put = false;
    kept++;
  }
  changes_.resize(kept);
}

Status BatchWriter::Write(const WriteBatch& updates) {
  ASHLAR_RETURN_IF_ERROR(state_.ReadOnlyReason());
  ASHLAR_RETURN_IF_ERROR(updates.VerifyChecksum());
  ASHLAR_RETURN_IF_ERROR(Parse(updates));
  Normalise();
  if (changes_.size() == 1 && ranges_.empty()) {
    LeafWriter writer(&state_);
    return changes_[0].is_put ? writer.Put(changes_[0].key, changes_[0].value)
                              : writer.Delete(changes_[0].key);
  }
  return Run();
}

Status BatchWriter::DeleteRange(const KeyRange& range) {
  ASHLAR_RETURN_IF_ERROR(state_.ReadOnlyReason());
  ranges_.Add(range, 0);
  Normalise();
  return Run();
}

// ---- Space.

Result<PoolOffset> BatchWriter::Allocate(uint64_t bytes) {
  return state_.heap.OrReclaim([&] { return state_.heap.Allocate(bytes, Reserve::kInsert); });
}

Status BatchWriter::AllocateRecords() {
  for (KeyChange& change : changes_) {
    if (!change.is_put || change.record != 0) continue;
    ASHLAR_ASSIGN_OR_RETURN(change.record, Allocate(RecordBytes(change.key, change.value)));
  }
  return Status::OK();
}

void BatchWriter::ReleaseSpace() {
  for (const PoolObject& piece : space_.log) {
    if (piece.offset != kSmallBatchLogOffset && piece.offset != 0)
      state_.heap.Release(piece.offset);
  }
  for (const PoolOffset leaf : space_.leaves) {
    if (leaf != 0) state_.heap.Release(leaf);
  }
  for (const PoolObject& separator : space_.separators) {
    if (separator.offset != 0) state_.heap.Release(separator.offset);
  }
  space_ = {};
}

bool BatchWriter::HasSpace(const Plan& plan) const {
  if (space_.log_words < plan.words_max || space_.leaves.size() < plan.separator_bytes.size())
    return false;
  for (size_t i = 0; i < plan.separator_bytes.size(); ++i) {
    if (space_.separators[i].bytes < plan.separator_bytes[i]) return false;
  }
  return true;
}

// Notes the space that the plan lacked. No separator shrinks, so that a batch has enough space at
// last even if other threads change its leaves all the time.
void BatchWriter::AskForMore(const Plan& plan, Plan* needed) {
  needed->words_max = plan.words_max;
  needed->separator_bytes.resize(plan.separator_bytes.size());
  for (size_t i = 0; i < plan.separator_bytes.size(); ++i)
    needed->separator_bytes[i] = std::max(needed->separator_bytes[i], plan.separator_bytes[i]);
}

Status BatchWriter::AllocateLog(size_t words, Reserve reserve) {
  const uint64_t bytes = BatchLogBytes(words);
  if (bytes <= kSmallBatchLogBytes) {
    space_.log.push_back({.offset = kSmallBatchLogOffset, .bytes = kSmallBatchLogBytes});
    space_.log_words = BatchWordsIn(kSmallBatchLogBytes);
    return Status::OK();
  }
  space_.log.emplace_back();  // before the allocation, so that no object is lost
  const Result<PoolOffset> whole = Allocate(bytes);
  if (whole.ok()) {
    space_.log.back() = {.offset = whole.value(), .bytes = bytes};
    space_.log_words = words;
    return Status::OK();
  }
  if (reserve == Reserve::kInsert) return whole.status();
  for (;;) {
    PoolObject& piece = space_.log.back();
    ASHLAR_ASSIGN_OR_RETURN(piece,
                            state_.heap.AllocateHeldBack(BatchLogBytes(words - space_.log_words)));
    space_.log_words += BatchWordsIn(piece.bytes);
    if (space_.log_words >= words) return Status::OK();
    space_.log.emplace_back();
  }
}

Status BatchWriter::AllocateSpace(const Plan& plan, Reserve reserve) {
  ReleaseSpace();
  ASHLAR_RETURN_IF_ERROR(AllocateLog(plan.words_max, reserve));
  const size_t new_leaves = plan.separator_bytes.size();
  space_.leaves.resize(new_leaves);
  space_.separators.resize(new_leaves);
  for (size_t i = 0; i < new_leaves; ++i) {
    ASHLAR_ASSIGN_OR_RETURN(space_.leaves[i],
                            state_.heap.OrReclaim([this] { return state_.heap.AllocateLeaf(); }));
    PoolObject& separator = space_.separators[i];
    ASHLAR_ASSIGN_OR_RETURN(separator.offset, Allocate(plan.separator_bytes[i]));
    separator.bytes = plan.separator_bytes[i];
  }
  return Status::OK();
}

// ---- The plan.

Status BatchWriter::DamagedBound(const char* separator) const {
  return state_.DamagedRecord(static_cast<PoolOffset>(separator - state_.medium->view()));
}

bool BatchWriter::Has(const std::vector<LeafPlan>& leaves, const LeafRef* ref) {
  return std::any_of(leaves.begin(), leaves.end(),
                     [ref](const LeafPlan& leaf) { return leaf.leaf.ref == ref; });
}

std::optional<BoundedLeaf> BatchWriter::LockLeaf(
    const std::optional<Slice>& key, bool before,
    FunctionRef<bool(const LeafRef*)> is_locked_here) const {
  for (uint32_t attempt = 0;; ++attempt) {
    const BoundedLeaf leaf =
        !key ? state_.index.PeekFirst()
             : (before ? state_.index.PeekBefore(*key) : state_.index.Peek(*key));
    if (!leaf.IsTaken() && leaf.ref->TryLock(leaf.version)) return leaf;
    if (is_locked_here(leaf.ref)) return std::nullopt;
    LeafIndex::AwaitTurn(attempt);
  }
}

// The first key at or after `upper` that the batch changes, if there is one.
std::optional<Slice> BatchWriter::NextPosition(const Slice& upper, size_t next_change) const {
  std::optional<Slice> next = ranges_.FirstFrom(upper);
  if (next_change < changes_.size() &&
      (!next || state_.order.Compare(changes_[next_change].key, *next) < 0))
    next = changes_[next_change].key;
  return next;
}

// Requires: something changes.
std::optional<Slice> BatchWriter::FirstPosition() const {
  if (ranges_.empty()) return changes_[0].key;
  const std::optional<Slice> first = ranges_.First();
  const bool change_is_first =
      first && !changes_.empty() && state_.order.Compare(changes_[0].key, *first) < 0;
  return change_is_first ? changes_[0].key : first;
}

Status BatchWriter::MakePlan(Plan* plan) {
  if (changes_.empty() && ranges_.empty()) return Status::OK();
  std::optional<Slice> position = FirstPosition();
  const char* bound = nullptr;  // that led to the position
  for (size_t next_change = 0;;) {
    const std::optional<BoundedLeaf> leaf =
        LockLeaf(position, false, [plan](const LeafRef* ref) { return Has(plan->leaves, ref); });
    if (!leaf) return DamagedBound(bound);  // I4
    ASHLAR_RETURN_IF_ERROR(AddLeaf(*leaf, &next_change, plan));
    if (leaf->upper == nullptr) break;
    const Slice upper = state_.index.KeyOf(leaf->upper);
    // I4: the search would not advance.
    if (position && state_.order.Compare(upper, *position) <= 0) return DamagedBound(leaf->upper);
    bound = leaf->upper;
    position = NextPosition(upper, next_change);
    if (!position) break;
  }
  ASHLAR_RETURN_IF_ERROR(AddPredecessors(plan));
  for (size_t i = 0; i < plan->leaves.size(); ++i) {
    const bool right_goes = i + 1 < plan->leaves.size() && plan->leaves[i + 1].dropped;
    Distribute(&plan->leaves[i], right_goes, plan);
  }
  return Status::OK();
}

LeafEntry BatchWriter::EntryOf(const KeyChange& change, uint32_t index) {
  return {.index = index,
          .fingerprint = Fingerprint(change.key),
          .slot = EncodeSlot(change.record, RecordBytes(change.key, change.value)),
          .key = change.key};
}

// Takes over the leaf's lock, and applies the changes of the leaf's keys to its entries.
Status BatchWriter::AddLeaf(const BoundedLeaf& leaf, size_t* next_change, Plan* plan) {
  LeafHold lock(leaf.ref);
  LeafPlan& out = plan->leaves.emplace_back();
  out.leaf = leaf;
  out.lock = std::move(lock);
  out.commit = LeafView(*state_.medium, leaf.offset).Commit();
  const size_t begin = *next_change;
  size_t& end = *next_change;
  while (end < changes_.size() &&
         (leaf.upper == nullptr ||
          state_.order.Compare(changes_[end].key, state_.index.KeyOf(leaf.upper)) < 0))
    end++;
  const auto occupied = static_cast<size_t>(std::popcount(Occupied(out.commit)));
  const bool fits = ranges_.empty() && occupied + (end - begin) <= kSlots;
  ASHLAR_RETURN_IF_ERROR(fits ? ApplyByKey(begin, end, &out) : ApplyInOrder(begin, end, &out));
  out.dropped = out.kept == 0 && out.entries.empty() && leaf.lower != nullptr;
  return Status::OK();
}

// Does not read the other entries' records, each of which would be a cache miss.
Status BatchWriter::ApplyByKey(size_t begin, size_t end, LeafPlan* out) const {
  out->kept = Occupied(out->commit);
  out->entries.reserve(end - begin);
  for (size_t i = begin; i < end; ++i) {
    const KeyChange& change = changes_[i];
    const SlotFound found = FindInLeaf(*state_.medium, state_.order, out->leaf.offset, out->commit,
                                       change.key, Fingerprint(change.key), RecordPart::kKey);
    if (found.damaged != 0) return state_.DamagedRecord(found.damaged);
    if (found.found) {
      out->unlinked.push_back({.offset = found.offset, .bytes = found.record.bytes()});
      out->kept &= ~(uint64_t{1} << found.index);
    }
    if (!change.is_put) continue;
    out->entries.push_back(EntryOf(change, found.found ? found.index : kNewEntry));
    out->changed_slots++;
  }
  out->added = static_cast<int64_t>(out->entries.size()) + std::popcount(out->kept) -
               std::popcount(Occupied(out->commit));
  return Status::OK();
}

// Merges the changes with the leaf's entries, both in order.
Status BatchWriter::ApplyInOrder(size_t begin, size_t end, LeafPlan* out) const {
  const LeafContents old(*state_.medium, state_.order, out->leaf.offset);
  if (old.damaged != 0) return state_.DamagedRecord(old.damaged);
  size_t next = begin;
  const auto put = [&](const KeyChange& change, uint32_t index) {
    if (!change.is_put) return;
    out->entries.push_back(EntryOf(change, index));
    out->changed_slots++;
  };
  for (const LeafEntry& entry : old.entries) {
    int r = -1;
    while (next < end && (r = state_.order.Compare(changes_[next].key, entry.key)) < 0)
      put(changes_[next++], kNewEntry);
    const KeyChange* const change = next < end && r == 0 ? &changes_[next++] : nullptr;
    if (change == nullptr && !ranges_.Covers(entry.key)) {
      out->entries.push_back(entry);
      continue;
    }
    out->unlinked.push_back(
        {.offset = entry.record(), .bytes = SlotUnits(entry.slot) * kUnitBytes});
    if (change != nullptr) put(*change, entry.index);
  }
  while (next < end) put(changes_[next++], kNewEntry);
  out->added = static_cast<int64_t>(out->entries.size()) - static_cast<int64_t>(old.entries.size());
  return Status::OK();
}

// A leaf is unlinked from its left neighbour, which therefore becomes a part of the plan.
Status BatchWriter::AddPredecessors(Plan* plan) {
  std::vector<LeafPlan> found;    // in order
  std::vector<size_t> positions;  // of the leaves right of them
  const auto is_locked_here = [&](const LeafRef* ref) {
    return Has(plan->leaves, ref) || Has(found, ref);
  };
  const auto find = [&](size_t i) ASHLAR_REQUIRES(kStructureMutex) {
    const BoundedLeaf& leaf = plan->leaves[i].leaf;
    const Slice begin = state_.index.KeyOf(leaf.lower);
    if (state_.index.Peek(begin).ref != leaf.ref) return false;
    if (i > 0 && plan->leaves[i - 1].leaf.upper == leaf.lower) return true;
    const std::optional<BoundedLeaf> left = LockLeaf(begin, true, is_locked_here);
    if (!left) return false;
    LeafPlan before;
    before.leaf = *left;
    before.lock.reset(left->ref);
    before.commit = LeafView(*state_.medium, left->offset).Commit();
    before.kept = Occupied(before.commit);
    found.push_back(std::move(before));
    positions.push_back(i);
    return left->upper == leaf.lower;
  };
  for (size_t i = 0; i < plan->leaves.size(); ++i) {
    if (!plan->leaves[i].dropped || find(i)) continue;
    return DamagedBound(plan->leaves[i].leaf.lower);  // I4
  }
  if (found.empty()) return Status::OK();
  std::vector<LeafPlan> leaves;
  leaves.reserve(plan->leaves.size() + found.size());
  size_t next = 0;
  for (size_t i = 0; i < plan->leaves.size(); ++i) {
    if (next < found.size() && positions[next] == i) leaves.push_back(std::move(found[next++]));
    leaves.push_back(std::move(plan->leaves[i]));
  }
  plan->leaves = std::move(leaves);
  return Status::OK();
}

void BatchWriter::Distribute(LeafPlan* leaf, bool right_goes, Plan* plan) {
  // I3.
  if (!leaf->dropped) {
    const bool next_changes = right_goes || leaf->entries.size() > kSlots;
    plan->words_max += leaf->changed_slots +
                       std::min<size_t>(leaf->changed_slots, kFingerprintWords) + 1 +
                       (next_changes ? 1 : 0);
  }
  const size_t count = leaf->entries.size();
  if (count <= kSlots) return;
  const size_t pieces = (count + kPieceEntries - 1) / kPieceEntries;
  for (size_t i = 1; i < pieces; ++i) {
    NewLeaf more;
    more.number = plan->separator_bytes.size();
    more.entries.assign(leaf->entries.begin() + static_cast<ptrdiff_t>(count * i / pieces),
                        leaf->entries.begin() + static_cast<ptrdiff_t>(count * (i + 1) / pieces));
    plan->separator_bytes.push_back(RecordBytes(more.entries.front().key, Slice()));
    leaf->more.push_back(std::move(more));
  }
  leaf->entries.resize(count / pieces);
}

// ---- Doing it.

// Returns, for each leaf of the plan, the one leaf that comes after that leaf and after its new
// right neighbours when the batch is complete.
std::vector<PoolOffset> BatchWriter::NextLeaves(const Plan& plan) const {
  std::vector<PoolOffset> next(plan.leaves.size());
  for (size_t i = plan.leaves.size(); i-- > 0;) {
    const LeafPlan& leaf = plan.leaves[i];
    const bool right_goes = i + 1 < plan.leaves.size() && plan.leaves[i + 1].dropped;
    // A dropped leaf's left neighbour is always in the plan, right before it.
    next[i] =
        right_goes ? next[i + 1] : LeafView(*state_.medium, leaf.leaf.offset).Next(leaf.commit);
  }
  return next;
}

void BatchWriter::AppendWords(const LeafPlan& leaf, PoolOffset next,
                              std::vector<BatchWord>* words) const {
  const LeafView view(*state_.medium, leaf.leaf.offset);
  uint64_t occupied = leaf.kept;
  for (const LeafEntry& entry : leaf.entries) {
    if (entry.index != kNewEntry) occupied |= uint64_t{1} << entry.index;
  }
  ChangedFingerprints fingerprints(view);
  std::vector<BatchWord> slots;
  for (const LeafEntry& entry : leaf.entries) {
    uint32_t index = entry.index;
    // A free slot may have this word only in memory, from a change that failed before its commit.
    const bool is_new = index == kNewEntry;
    if (is_new) {
      index = static_cast<uint32_t>(std::countr_one(occupied));
      occupied |= uint64_t{1} << index;
    }
    if (is_new || view.Slot(index) != entry.slot)
      slots.push_back({.offset = view.SlotOffset(index), .word = entry.slot});
    if (is_new || view.FingerprintOf(index) != entry.fingerprint)
      fingerprints.Set(index, entry.fingerprint);
  }
  const PoolOffset start = leaf.leaf.offset;
  const bool flip = next != view.Next(leaf.commit);
  if (flip) words->push_back({.offset = view.OtherNextOffset(leaf.commit), .word = next});
  if (flip || occupied != Occupied(leaf.commit))
    words->push_back(
        {.offset = start + kLeafCommit,
         .word = EncodeCommit(start, next, occupied, SelectedNext(leaf.commit) ^ (flip ? 1 : 0))});
  fingerprints.ForEachWord(start, [words](PoolOffset to, uint64_t word) {
    words->push_back({.offset = to, .word = word});
  });
  std::sort(slots.begin(), slots.end(),
            [](const BatchWord& a, const BatchWord& b) { return a.offset < b.offset; });
  words->insert(words->end(), slots.begin(), slots.end());
}

// Writes everything that is unreachable before the batch mark. Returns the words that the mark
// commits, and the mark.
std::vector<BatchWord> BatchWriter::WriteAside(PoolOperation* op, Plan* plan, uint64_t* mark) {
  for (const KeyChange& change : changes_) {
    if (change.is_put) WriteRecord(op, change.record, change.key, change.value);
  }
  const std::vector<PoolOffset> next_leaves = NextLeaves(*plan);
  std::vector<BatchWord> words;
  for (size_t i = 0; i < plan->leaves.size(); ++i) {
    LeafPlan& leaf = plan->leaves[i];
    if (leaf.dropped) continue;
    PoolOffset next = next_leaves[i];
    for (size_t m = leaf.more.size(); m-- > 0;) {
      NewLeaf& more = leaf.more[m];
      // The writer owns them until the mark is stored.
      more.offset = space_.leaves[more.number];
      more.separator = space_.separators[more.number].offset;
      WriteRecord(op, more.separator, more.entries.front().key, Slice());
      WriteNewLeaf(op, more.offset, more.entries, more.separator, next);
      next = more.offset;
    }
    AppendWords(leaf, next, &words);
  }
  ASHLAR_ASSERT(words.size() <= plan->words_max && words.size() <= space_.log_words);  // I3
  *mark = WriteBatchLog(op, space_.log, words);
  return words;
}

// The last step that may throw. In that case it gives back the LeafRefs of the new leaves.
void BatchWriter::PrepareIndex(Plan* plan, LeafIndex::Change* change) try {
  for (LeafPlan& leaf : plan->leaves) {
    if (leaf.dropped) state_.index.PrepareErase(leaf.leaf.lower, change);
    for (NewLeaf& more : leaf.more) {
      more.ref = state_.index.NewRef(more.offset);
      state_.index.PrepareInsert(state_.medium->view() + more.separator, more.ref, change);
    }
  }
} catch (const std::bad_alloc&) {
  for (const LeafPlan& leaf : plan->leaves) {
    for (const NewLeaf& more : leaf.more) {
      if (more.ref != nullptr) state_.index.DropRef(more.ref);
    }
  }
  throw;
}

// The batch is published by the mark, and complete when the mark is cleared.
void BatchWriter::Apply(PoolOperation* op, const std::vector<BatchWord>& words, uint64_t mark,
                        Plan* plan) {
  for (const LeafPlan& leaf : plan->leaves) {
    for (const Unlinked& record : leaf.unlinked) state_.heap.BeforeUnlink(record.offset);
    if (leaf.dropped) state_.heap.BeforeUnlink(state_.SeparatorOf(leaf.leaf));
  }
  op->Fence();
  StoreBatchMark(op, mark);
  CompleteBatch(op, words);
}

// Updates the index and the counters, after the pool has changed.
void BatchWriter::Install(Plan* plan, LeafIndex::Change* change) {
  state_.index.Publish(change);
  int64_t added = 0;
  for (const LeafPlan& leaf : plan->leaves) {
    added += leaf.added;
    retired_.insert(retired_.end(), leaf.unlinked.begin(), leaf.unlinked.end());
    if (leaf.dropped) {
      retired_.push_back({.offset = state_.SeparatorOf(leaf.leaf), .bytes = kLineBytes});
      retired_.push_back({.offset = leaf.leaf.offset, .bytes = kLeafBytes});
      state_.leaves.fetch_sub(1, std::memory_order_relaxed);
    }
    state_.leaves.fetch_add(leaf.more.size(), std::memory_order_relaxed);
  }
  // The remaining ones were not needed.
  const auto used = static_cast<ptrdiff_t>(plan->separator_bytes.size());
  space_.leaves.erase(space_.leaves.begin(), space_.leaves.begin() + used);
  space_.separators.erase(space_.separators.begin(), space_.separators.begin() + used);
  state_.entries.fetch_add(static_cast<uint64_t>(added), std::memory_order_relaxed);
}

BatchWriter::Attempt BatchWriter::Try(PoolOperation* op, Plan* plan, Status* status) {
  *status = MakePlan(plan);
  if (!status->ok() || !HasSpace(*plan)) {
    plan->leaves.clear();
    return status->ok() ? Attempt::kMoreSpace : Attempt::kFailed;
  }
  const bool changes_nothing =
      std::all_of(plan->leaves.begin(), plan->leaves.end(), [](const LeafPlan& leaf) {
        return leaf.changed_slots == 0 && leaf.unlinked.empty() && !leaf.dropped;
      });
  if (changes_nothing) {
    op->Commit();
    plan->leaves.clear();
    return Attempt::kNothing;
  }
  uint64_t mark = kNoBatchMark;
  const std::vector<BatchWord> words = WriteAside(op, plan, &mark);
  size_t retired = 0;
  for (const LeafPlan& leaf : plan->leaves) retired += leaf.unlinked.size() + 2;
  retired_.reserve(retired);
  op->ReserveStores(words.size() + 2);
  LeafIndex::Change change;
  PrepareIndex(plan, &change);
  Apply(op, words, mark, plan);
  published_ = true;
  op->Commit();  // I4 of leaf_writer.h
  Install(plan, &change);
  for (LeafPlan& leaf : plan->leaves) {
    LeafRef* const ref = leaf.lock.release();
    if (leaf.dropped) {
      ref->Kill();
      state_.index.DropRef(ref);
    } else {
      ref->Unlock();
    }
  }
  return Attempt::kDone;
}

Status BatchWriter::Run() {
  const Status status = RunWith(Reserve::kInsert);
  if (!status.IsNoSpace()) return status;
  // One thread at a time uses the held-back pages.
  MutexLock lock(state_.scarce_mutex());
  return RunWith(Reserve::kUpdate);
}

Status BatchWriter::RunWith(Reserve reserve) {
  ASHLAR_RETURN_IF_ERROR(AllocateRecords());
  Plan needed;
  // A first guess, which is enough for many batches. The plan has the exact number.
  if (reserve == Reserve::kInsert) needed.words_max = changes_.size() * 2;
  for (;;) {
    ASHLAR_RETURN_IF_ERROR(AllocateSpace(needed, reserve));
    Plan plan;
    Status status;
    Attempt attempt;
    {
      PoolOperation op(*state_.medium);
      {
        MutexLock structure(state_.structure_mutex());
        EpochGuard guard(state_.epochs);
        attempt = Try(&op, &plan, &status);
      }
      // The change that made this batch needless may not be durable yet.
      if (attempt == Attempt::kDone || attempt == Attempt::kNothing) status = op.AwaitDurable();
    }
    if (attempt == Attempt::kDone) {
      for (const Unlinked& object : retired_) state_.heap.Retire(object.offset, object.bytes);
      // Index nodes were replaced under a lock. A pass costs microseconds, more than the rest of a
      // batch.
      const bool restructured = !plan.separator_bytes.empty() ||
                                std::any_of(plan.leaves.begin(), plan.leaves.end(),
                                            [](const LeafPlan& leaf) { return leaf.dropped; });
      if (restructured && ++state_.restructurings % kRestructuringsPerReclaim == 0)
        state_.epochs.Reclaim();
      return status;
    }
    if (attempt == Attempt::kFailed || attempt == Attempt::kNothing) return status;
    AskForMore(plan, &needed);
  }
}

}  // namespace ashlar::pmem
