#include "memtable/memtable.h"

#include <algorithm>
#include <limits>

#include "base/assert.h"
#include "base/out_of_memory.h"
#include "key/key_comparator.h"
#include "memtable/memtable_cursor.h"
#include "platform/asymmetric_fence.h"

namespace ashlar {

namespace {

// A counter with a single writer needs no locked instruction.
template <typename T>
void AddAsWriter(std::atomic<T>* counter, T n) {
  counter->store(counter->load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}

constexpr size_t kFieldBytesMax = std::numeric_limits<uint32_t>::max();
// Ranges with fewer entries than this are counted; longer ones are estimated.
constexpr uint64_t kCountedEntriesMax = 256;

}  // namespace

const PinOps MemTable::kMemTablePin = {
    .acquire = [](void* owner) { static_cast<MemTable*>(owner)->pins_.Acquire(); },
    .release = [](void* owner, void*) { static_cast<MemTable*>(owner)->pins_.Release(); },
};

MemTable::MemTable(const MemTableArgs& args)
    : id_(args.id),
      prefix_extractor_(args.prefix_extractor),
      comparator_(args.comparator),
      features_(args.shape.kind == MemTableKind::kTree && args.shape.bloom_bytes == 0
                    ? uint8_t{0}
                    : uint8_t{kOtherIndex}),
      arena_(args.arena_blocks),
      index_(std::in_place_type<EntryTree>, args.comparator, &arena_),
      ranges_(args.comparator, &arena_),
      bloom_(args.shape.bloom_bytes),
      bloom_whole_keys_(args.shape.bloom_whole_keys),
      gaps_(args.comparator),
      live_count_(args.live_count),
      pins_(args.epochs, &MemTable::Delete, this) {
  if (args.shape.kind == MemTableKind::kBuckets) {
    ASHLAR_ASSERT(prefix_extractor_ != nullptr);  // MemTableShape: kBuckets needs it
    index_.emplace<EntryBuckets>(comparator_, &arena_, args.shape.bucket_count,
                                 args.shape.list_entries_max);
  } else if (args.shape.kind == MemTableKind::kLog) {
    index_.emplace<VectorIndex>(comparator_, &arena_);
  }
  if (live_count_ != nullptr) live_count_->fetch_add(1, std::memory_order_relaxed);
}

MemTable::~MemTable() { delete sorted_.load(std::memory_order_acquire); }

// The count is decremented last, because the arena returns its blocks to the database.
void MemTable::Delete(void* self) {
  auto* const memtable = static_cast<MemTable*>(self);
  std::atomic<int64_t>* const live_count = memtable->live_count_;
  delete memtable;
  if (live_count != nullptr) live_count->fetch_sub(1, std::memory_order_release);
}

void MemTable::Add(SequenceNumber sequence, ValueType type, const Slice& key, const Slice& value) {
  ASHLAR_ASSERT(key.size() <= kFieldBytesMax && value.size() <= kFieldBytesMax);  // Requires
  ASHLAR_DCHECK(!immutable());                                                    // I3
  const uint64_t tag = PackTag(sequence, type);
  if (IsPlain()) [[likely]] {
    std::get_if<EntryTree>(&index_)->Insert(NewEntry(&arena_, key, tag, value));
  } else {
    AddToFilterAndIndex(key, tag, value);
  }

  if (IsTombstone(type)) AddAsWriter(&deletions_, uint64_t{1});
  CountAdded(sequence, key.size() + kTagBytes + value.size());
  AddAsWriter(&entries_, uint64_t{1});
  LightFence();  // pairs with the HeavyFence in RememberGap
  if (has_gaps_.load(std::memory_order_relaxed)) [[unlikely]] {
    gaps_.Added(key);
  }
}

ASHLAR_ALWAYS_INLINE void MemTable::CountAdded(SequenceNumber sequence, size_t data_bytes) {
  AddAsWriter(&data_bytes_, uint64_t{data_bytes});
  used_bytes_.store(arena_.MemoryUsed() - fixed_bytes_, std::memory_order_relaxed);
  if (sequence < first_sequence_.load(std::memory_order_relaxed))
    first_sequence_.store(sequence, std::memory_order_relaxed);
  if (sequence > last_sequence()) last_sequence_.store(sequence, std::memory_order_relaxed);
}

void MemTable::AddRangeDeletion(const RangeTombstone& tombstone) {
  // Requires: keys are shorter than 4 GiB.
  ASHLAR_ASSERT(tombstone.begin.size() <= kFieldBytesMax && tombstone.end.size() <= kFieldBytesMax);
  ASHLAR_DCHECK(!immutable());  // I3
  ranges_.Add(tombstone);
  features_.store(features_.load(std::memory_order_relaxed) | kRangeDeletions,
                  std::memory_order_release);
  CountAdded(tombstone.sequence, tombstone.begin.size() + kTagBytes + tombstone.end.size());
  AddAsWriter(&range_deletions_, uint64_t{1});
}

// Allocates the memory that does not depend on the number of entries. It waits for the first entry,
// because every family has a memtable and many memtables stay empty.
void MemTable::AllocateFixed() {
  const size_t used = arena_.MemoryUsed();
  auto* const buckets = std::get_if<EntryBuckets>(&index_);
  if (buckets != nullptr && !buckets->allocated()) buckets->Allocate();
  if (bloom_.IsOn() && !bloom_.allocated()) bloom_.Allocate(&arena_);
  fixed_bytes_ += arena_.MemoryUsed() - used;
}

void MemTable::AddToFilterAndIndex(const Slice& key, uint64_t tag, const Slice& value) {
  if (entries() == 0) AllocateFixed();
  PrefixMemo memo;
  const HashedPrefix* const prefix = memo.Find(prefix_extractor_.get(), key);
  if (bloom_.IsOn()) {
    if (prefix != nullptr) bloom_.Add(prefix->filter_hash);
    if (bloom_whole_keys_) bloom_.Add(FilterHash(key));
  }
  if (auto* const buckets = std::get_if<EntryBuckets>(&index_)) {
    return buckets->Add(prefix != nullptr ? prefix->filter_hash : FilterHash(key), key, tag, value);
  }
  const char* const entry = NewEntry(&arena_, key, tag, value);
  if (auto* const log = std::get_if<VectorIndex>(&index_)) return log->Add(entry);
  std::get_if<EntryTree>(&index_)->Insert(entry);
}

void MemTable::Get(Lookup* lookup) const {
  if (IsPlain()) [[likely]] {
    return std::get_if<EntryTree>(&index_)->Get(lookup, pin_source());
  }
  if (!FilterRulesOut(lookup)) GetFromIndex(lookup);
}

bool MemTable::FilterRulesOut(Lookup* lookup) const {
  if (!bloom_.IsOn()) return false;
  if (bloom_whole_keys_) return !bloom_.MayMatch(lookup->filter_hash());
  const HashedPrefix* const prefix = lookup->prefix(prefix_extractor_.get());
  return prefix != nullptr && !bloom_.MayMatch(prefix->filter_hash);
}

void MemTable::GetFromIndex(Lookup* lookup) const {
  if (const auto* const buckets = std::get_if<EntryBuckets>(&index_)) {
    const HashedPrefix* const prefix = lookup->prefix(prefix_extractor_.get());
    return buckets->Get(prefix != nullptr ? prefix->filter_hash : lookup->filter_hash(), lookup,
                        pin_source());
  }
  if (const auto* const log = std::get_if<VectorIndex>(&index_)) {
    return immutable() ? SharedSortedEntries()->Get(lookup, pin_source())
                       : log->Get(lookup, pin_source());
  }
  std::get_if<EntryTree>(&index_)->Get(lookup, pin_source());
}

// For a concurrent Add, either the writer sees the store of has_gaps_ after its insert, or this
// thread sees the insert after the fence.
void MemTable::RememberGap(KeyGap gap) const {
  const auto* const tree = std::get_if<EntryTree>(&index_);
  if (tree == nullptr || immutable() || gap.since < older_through_ ||
      gaps_ended_.load(std::memory_order_relaxed))
    return;
  IgnoreBadAlloc([&] {
    KnownGaps::Pending* const pending = gaps_.Announce(gap);
    if (pending == nullptr) return;
    has_gaps_.store(true, std::memory_order_relaxed);
    HeavyFence();
    if (SearchNewer(*tree, gap, pending)) {
      gaps_.Prove(pending);
    } else {
      gaps_.Forget(pending);
    }
  });
}

// Collects the gap's keys that have a newer entry. Returns false if the gap is not worth keeping.
bool MemTable::SearchNewer(const EntryTree& tree, const KeyGap& gap,
                           KnownGaps::Pending* pending) const try {
  if (last_sequence() <= gap.since) return true;
  EntryTree::Walk walk(&tree);
  for (walk.Seek(gap.begin.key, SeekTag(kSequenceNumberMax)); walk.Valid(); walk.Next()) {
    const DecodedEntry entry = DecodeEntry(walk.entry());
    if (comparator_.Compare(entry.user_key(), gap.end.key) > 0) break;
    if (TagSequence(entry.tag()) > gap.since && !gaps_.AddNewer(pending, entry.user_key()))
      return false;
  }
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

std::unique_ptr<InternalCursor> MemTable::NewCursor() const {
  return std::make_unique<MemTableCursor>(this, MemTableCursor::PinMode::kPinned, nullptr);
}

// Requires: the index is not a tree.
std::vector<const char*> MemTable::CollectEntries() const {
  std::vector<const char*> collected;
  collected.reserve(entries());
  if (const auto* const buckets = std::get_if<EntryBuckets>(&index_)) {
    buckets->Collect(&collected);
  } else {
    std::get_if<VectorIndex>(&index_)->Collect(&collected);
  }
  return collected;
}

std::unique_ptr<const SortedEntries> MemTable::SortEntries() const {
  return std::make_unique<SortedEntries>(comparator_, CollectEntries());
}

// Concurrent readers each sort a copy, and all but the first discard theirs, so that no reader
// waits.
const SortedEntries* MemTable::SharedSortedEntries() const {
  const SortedEntries* shared = sorted_.load(std::memory_order_acquire);
  if (shared != nullptr) return shared;
  std::unique_ptr<const SortedEntries> made = SortEntries();
  if (!sorted_.compare_exchange_strong(shared, made.get(), std::memory_order_acq_rel,
                                       std::memory_order_acquire))
    return shared;
  return made.release();
}

MemTable::RangeEstimate MemTable::ApproximateRange(const Slice& start, const Slice& limit) const {
  const auto* const tree = std::get_if<EntryTree>(&index_);
  return tree != nullptr ? EstimateRange(*tree, start, limit) : CountRange(start, limit);
}

MemTable::RangeEstimate MemTable::CountRange(const Slice& start, const Slice& limit) const {
  RangeEstimate counted;
  for (const char* const entry : CollectEntries()) {
    const DecodedEntry decoded = DecodeEntry(entry);
    if (comparator_.Compare(decoded.user_key(), start) >= 0 &&
        comparator_.Compare(decoded.user_key(), limit) < 0)
      counted.Add(decoded);
  }
  return counted;
}

MemTable::RangeEstimate MemTable::EstimateRange(const EntryTree& tree, const Slice& start,
                                                const Slice& limit) const {
  RangeEstimate counted;
  EntryTree::Walk walk(&tree);
  for (walk.Seek(start, SeekTag(kSequenceNumberMax)); counted.entries < kCountedEntriesMax;
       walk.Next()) {
    if (!walk.Valid()) return counted;
    const DecodedEntry entry = DecodeEntry(walk.entry());
    if (comparator_.Compare(entry.user_key(), limit) >= 0) return counted;
    counted.Add(entry);
  }
  const double share = tree.FractionBefore(limit) - tree.FractionBefore(start);
  const auto estimated = [share](uint64_t total) {
    return static_cast<uint64_t>(std::max(share, 0.0) * static_cast<double>(total));
  };
  return {.entries = std::max(counted.entries, estimated(entries())),
          .data_bytes = std::max(counted.data_bytes, estimated(data_bytes()))};
}

void MemTable::CheckInvariants() const {
  if (const auto* const tree = std::get_if<EntryTree>(&index_))
    ASHLAR_ASSERT(tree->CheckInvariants() == entries());  // the counter agrees
  if (const auto* const buckets = std::get_if<EntryBuckets>(&index_))
    ASHLAR_ASSERT(buckets->CheckInvariants() == entries());  // the counter agrees
  if (const auto* const log = std::get_if<VectorIndex>(&index_))
    ASHLAR_ASSERT(log->size() == entries());                        // the counter agrees
  ASHLAR_ASSERT(deletions() <= entries());                          // entries() includes deletions
  ASHLAR_ASSERT(IsEmpty() || first_sequence() <= last_sequence());  // smallest and largest
  // A range deletion whose allocation failed may have left boundaries without a cover.
  const size_t range_slots = ranges_.CheckInvariants();
  ASHLAR_ASSERT(range_slots > 0 || !HasRangeDeletions());         // I4
  ASHLAR_ASSERT((range_deletions() > 0) == HasRangeDeletions());  // I4
  gaps_.CheckInvariants();
  arena_.CheckInvariants();
}

}  // namespace ashlar
