#include "memtable/memtable.h"

#include <algorithm>
#include <limits>

#include "base/assert.h"
#include "memtable/memtable_cursor.h"

namespace ashlar {

namespace {

// A counter that one thread writes needs no locked instruction.
template <typename T>
void AddAsWriter(std::atomic<T>* counter, T n) {
  counter->store(counter->load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}

constexpr size_t kFieldBytesMax = std::numeric_limits<uint32_t>::max();
// Ranges with no more entries than this are counted one by one.
constexpr uint64_t kCountedEntriesMax = 256;

}  // namespace

const PinOps MemTable::kMemTablePin = {
    .acquire = [](void* owner) { static_cast<MemTable*>(owner)->pins_.Acquire(); },
    .release = [](void* owner, void*) { static_cast<MemTable*>(owner)->pins_.Release(); },
};

MemTable::MemTable(const MemTableArgs& args)
    : id_(args.id),
      prefix_extractor_(args.prefix_extractor),
      arena_(args.arena_blocks),
      tree_(args.comparator, &arena_),
      live_count_(args.live_count),
      pins_([](void* memtable) { delete static_cast<MemTable*>(memtable); }, this) {
  if (live_count_ != nullptr) live_count_->fetch_add(1, std::memory_order_relaxed);
}

MemTable::~MemTable() {
  if (live_count_ != nullptr) live_count_->fetch_sub(1, std::memory_order_relaxed);
}

void MemTable::Add(SequenceNumber sequence, ValueType type, const Slice& key, const Slice& value) {
  ASHLAR_ASSERT(key.size() <= kFieldBytesMax && value.size() <= kFieldBytesMax);
  ASHLAR_DCHECK(!immutable());
  tree_.Insert(NewEntry(&arena_, key, PackTag(sequence, type), value));

  if (type == ValueType::kDeletion || type == ValueType::kSingleDeletion) AddAsWriter(&deletions_, uint64_t{1});
  AddAsWriter(&data_bytes_, uint64_t{key.size() + kTagBytes + value.size()});
  used_bytes_.store(arena_.MemoryUsed(), std::memory_order_relaxed);
  if (IsEmpty() || sequence < first_sequence()) first_sequence_.store(sequence, std::memory_order_relaxed);
  if (sequence > last_sequence()) last_sequence_.store(sequence, std::memory_order_relaxed);
  AddAsWriter(&entries_, uint64_t{1});
}

void MemTable::Get(Lookup* lookup) const { tree_.Get(lookup, pin_source()); }

std::unique_ptr<InternalCursor> MemTable::NewCursor() const { return std::make_unique<MemTableCursor>(this, MemTableCursor::Hold::kPinned); }

MemTable::RangeEstimate MemTable::ApproximateRange(const Slice& start, const Slice& limit) const {
  RangeEstimate counted;
  EntryTree::Walk walk(&tree_);
  for (walk.Seek(start, SeekTag(kSequenceNumberMax)); counted.entries < kCountedEntriesMax; walk.Next()) {
    if (!walk.Valid()) return counted;
    const DecodedEntry entry = DecodeEntry(walk.entry());
    if (comparator().Compare(entry.user_key(), limit) >= 0) return counted;
    ++counted.entries;
    counted.data_bytes += entry.internal_key().size() + entry.value().size();
  }
  const double share = tree_.FractionBefore(limit) - tree_.FractionBefore(start);
  const auto estimated = [share](uint64_t total) { return static_cast<uint64_t>(std::max(share, 0.0) * static_cast<double>(total)); };
  return {.entries = std::max(counted.entries, estimated(entries())), .data_bytes = std::max(counted.data_bytes, estimated(data_bytes()))};
}

void MemTable::CheckInvariants() const {
  ASHLAR_ASSERT(tree_.CheckInvariants() == entries());
  ASHLAR_ASSERT(deletions() <= entries());
  ASHLAR_ASSERT(first_sequence() <= last_sequence());
}

}  // namespace ashlar
