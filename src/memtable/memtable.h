// MemTable: the newest writes of a column family, in memory and in order, until a flush writes them
// to a table. README.md has the reasons for the choice of the index.
//
//   arena   [entry][entry][node of the index][entry] ...     memtable/entry.h; entries never move
//   index   over the entries, of the kind chosen at construction:
//             tree      user key ascending, tag descending (default)     memtable/entry_tree.h
//             buckets   by the hash of the prefix, then in order         memtable/entry_buckets.h
//             vector    in insertion order                               memtable/vector_index.h
//   bloom   proves that a key is absent; off by default                  memtable/memtable_bloom.h
//   ranges  range tombstones, apart from the entries                     memtable/range_tree.h
//   gaps    key ranges without a visible entry, of a tree          memtable/known_gaps.h
//   states  active --MarkImmutable--> immutable
//           active or immutable --Drop--> dropped --last pin released--> freed
//
// I1: an entry whose sequence was published before a read began is found by that read.
// I2: entries are never changed or moved: a value that was found stays valid while the memtable is
//     pinned.
// I3: nothing is added after MarkImmutable.
// I4: a search for range tombstones finds those whose sequence was published before it began.
// I5: an entry that is newer than a gap is in no gap that FindGap returns to a reader that sees it.
//
// Thread safety: one thread at a time (the commit leader or the installer) calls Add,
// AddRangeDeletion, MarkImmutable and Drop. Everything else from any thread: inside an EpochGuard
// in which the memtable was found, or holding a count. Counters are exact after MarkImmutable.
// Lifetime: from Create to Drop plus the last pin; the block pool and the comparator outlive it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "ashlar/slice_transform.h"
#include "base/assert.h"
#include "base/pin.h"
#include "execute/shared_count.h"
#include "key/cursor.h"
#include "key/key_comparator.h"
#include "key/lookup.h"
#include "memtable/arena.h"
#include "memtable/entry_buckets.h"
#include "memtable/entry_tree.h"
#include "memtable/known_gaps.h"
#include "memtable/memtable_bloom.h"
#include "memtable/range_tree.h"
#include "memtable/sorted_entries.h"
#include "memtable/vector_index.h"

namespace ashlar {

enum class MemTableKind : uint8_t { kTree, kBuckets, kLog };

struct MemTableShape {
  MemTableKind kind = MemTableKind::kTree;
  // kBuckets needs a prefix extractor: the number of buckets, and the most entries of a list in a
  // bucket.
  size_t bucket_count = 0;
  uint32_t list_entries_max = 0;
  // Of the bloom filter; 0: none. It holds the prefixes of keys that have one, and whole keys if
  // asked to; lookups then go by whole keys alone.
  size_t bloom_bytes = 0;
  bool bloom_whole_keys = false;
};

struct MemTableArgs {
  KeyComparator comparator;
  ArenaBlockPool* arena_blocks = nullptr;
  EpochDomain* epochs = nullptr;  // of the guards in which readers find the memtable
  // Counts this memtable while it exists; null: not counted. The end of a memtable happens before a
  // load with acquire that does not count it any more.
  std::atomic<int64_t>* live_count = nullptr;
  uint64_t id = 0;  // grows with every memtable of a column family; for logs and statistics
  std::shared_ptr<const SliceTransform> prefix_extractor = nullptr;  // null: keys have no prefixes
  MemTableShape shape = {};
};

class MemTable {
 public:
  struct Dropper {
    void operator()(MemTable* memtable) const { memtable->Drop(); }
  };
  using Owner = std::unique_ptr<MemTable, Dropper>;

  static Owner Create(const MemTableArgs& args) { return Owner(new MemTable(args)); }
  MemTable(const MemTable&) = delete;
  MemTable& operator=(const MemTable&) = delete;

  // --- the writer ---

  // Adds an entry. No two entries have the same key, sequence and type; sequences may come in any
  // order. key and value are shorter than 4 GiB.
  void Add(SequenceNumber sequence, ValueType type, const Slice& key, const Slice& value);
  // Adds a range tombstone. Requires: begin < end, the sequence is not smaller than those of
  // earlier range tombstones, and keys are shorter than 4 GiB.
  void AddRangeDeletion(const RangeTombstone& tombstone);
  // The largest sequence that an entry of an older source may have. Requires: no reader has the
  // memtable yet.
  void SetOlderThrough(SequenceNumber sequence) { older_through_ = sequence; }
  SequenceNumber older_through() const { return older_through_; }
  // Nothing is added later.
  void MarkImmutable() {
    if constexpr (kDebugChecks) CheckInvariants();
    arena_.Seal();
    immutable_.store(true, std::memory_order_release);
  }
  // Releases the owner's reference. Call once, after readers can no longer find the memtable. It
  // deletes itself when all current guards and the last pin are gone. Runs no callback, so it may
  // be called under locks; call EpochDomain::Reclaim afterwards.
  void Drop() { pins_.Kill(); }

  // --- readers ---

  // Offers the versions of the key that the lookup may see, newest first, until it needs no more.
  // The values are pinned through this memtable.
  void Get(Lookup* lookup) const;
  // The largest sequence <= visible of a range tombstone that covers the key; 0: none. Get and
  // cursors do not apply range tombstones. Their callers do.
  SequenceNumber CoveringSequence(const Slice& user_key, SequenceNumber visible) const {
    return HasRangeDeletions() ? ranges_.CoveringSequence(user_key, visible) : 0;
  }
  CoverInterval FindCoverInterval(const Slice& user_key, SequenceNumber visible) const {
    return HasRangeDeletions() ? ranges_.FindCoverInterval(user_key, visible) : CoverInterval();
  }
  // Reads the byte that Get reads.
  bool HasRangeDeletions() const {
    return (features_.load(std::memory_order_acquire) & kRangeDeletions) != 0;
  }
  // The range tombstones for readers at these sequences, which ascend (RangeTree::Fragments).
  FragmentedRanges Ranges(std::span<const SequenceNumber> visible) const {
    return ranges_.Fragments(visible);
  }
  // The known gap around the key for a reader of this sequence, whose newest source is this
  // memtable. False: none is known.
  bool FindGap(const Slice& user_key, SequenceNumber visible, KeyGap* gap) const {
    return has_gaps_.load(std::memory_order_relaxed) &&
           !gaps_ended_.load(std::memory_order_relaxed) && gaps_.Find(user_key, visible, gap);
  }
  // Forgets all gaps and accepts no new ones, because something other than writes makes keys of
  // older sources visible again. Call before the view with these sources is published.
  void EndGaps() const { gaps_ended_.store(true, std::memory_order_relaxed); }
  // Records a gap without a visible entry, found by a reader of sequence gap.since whose newest
  // source is this memtable. Searches the memtable's entries of the gap if one may be newer. Drops
  // the gap if it may not hold for later readers.
  void RememberGap(KeyGap gap) const;

  // A cursor in total order that holds a count on the memtable; memtable_cursor.h defines the
  // entries it sees.
  std::unique_ptr<InternalCursor> NewCursor() const;
  // Whether a cursor in total order also sees entries added after its first seek.
  bool CursorsFollow() const { return std::holds_alternative<EntryTree>(index_); }

  // The source of pins on this memtable's bytes.
  PinSource pin_source() const { return {&kMemTablePin, const_cast<MemTable*>(this)}; }

  // Counts held now; exact while no read is in progress.
  int64_t PinCount() const { return pins_.Count(); }

  uint64_t id() const { return id_; }
  bool immutable() const { return immutable_.load(std::memory_order_acquire); }
  bool IsEmpty() const { return entries() == 0 && range_deletions() == 0; }
  // Entries and deletions without range tombstones.
  uint64_t entries() const { return entries_.load(std::memory_order_relaxed); }
  uint64_t deletions() const { return deletions_.load(std::memory_order_relaxed); }
  uint64_t range_deletions() const { return range_deletions_.load(std::memory_order_relaxed); }
  // User keys, tags and values, without the overhead of the structure. Of a range tombstone the
  // end is the value.
  uint64_t data_bytes() const { return data_bytes_.load(std::memory_order_relaxed); }
  // The smallest and the largest sequence added; 0 while empty.
  SequenceNumber first_sequence() const {
    const SequenceNumber first = first_sequence_.load(std::memory_order_relaxed);
    return first == kNoSequence ? 0 : first;
  }
  SequenceNumber last_sequence() const { return last_sequence_.load(std::memory_order_relaxed); }
  // Memory held: the memtable itself and whole arena blocks. Never 0.
  size_t ApproximateMemoryUsage() const { return sizeof(*this) + ArenaBytes(); }
  // Whole arena blocks alone.
  size_t ArenaBytes() const { return arena_.MemoryAllocated(); }
  // Memory of the entries and nodes written so far; it decides whether a memtable is full. Buckets
  // and bloom filter exist from the first entry on and do not count, because they alone would fill
  // a small write buffer.
  size_t ApproximateMemoryUsed() const { return used_bytes_.load(std::memory_order_relaxed); }
  const KeyComparator& comparator() const { return comparator_; }
  // The one of the time when the memtable was made; null: none.
  const SliceTransform* prefix_extractor() const { return prefix_extractor_.get(); }

  struct RangeEstimate {
    uint64_t entries = 0;
    uint64_t data_bytes = 0;

    void Add(const DecodedEntry& entry) {
      ++entries;
      data_bytes += entry.internal_key().size() + entry.value().size();
    }
  };
  // Statistics of the user keys in [start, limit). A tree counts short ranges and estimates long
  // ones; the other kinds count, which reads every entry.
  RangeEstimate ApproximateRange(const Slice& start, const Slice& limit) const;

  // Asserts the invariants of the parts, and that the counters agree with them. Allocates nothing.
  // Not while a writer is active.
  void CheckInvariants() const;

  static const PinOps kMemTablePin;

 private:
  friend class MemTableCursor;

  explicit MemTable(const MemTableArgs& args);
  ~MemTable();
  static void Delete(void* self);

  // Why Get and Add leave their shortest path.
  enum Feature : uint8_t { kOtherIndex = 1, kRangeDeletions = 2 };
  // Larger than every sequence.
  static constexpr SequenceNumber kNoSequence = kSequenceNumberMax + 1;

  // A tree without a filter, which is asked nothing else.
  bool IsPlain() const { return (features_.load(std::memory_order_relaxed) & kOtherIndex) == 0; }
  void CountAdded(SequenceNumber sequence, size_t data_bytes);
  bool SearchNewer(const EntryTree& tree, const KeyGap& gap, KnownGaps::Pending* pending) const;
  void AllocateFixed();
  void AddToFilterAndIndex(const Slice& key, uint64_t tag, const Slice& value);
  bool FilterRulesOut(Lookup* lookup) const;
  void GetFromIndex(Lookup* lookup) const;
  RangeEstimate EstimateRange(const EntryTree& tree, const Slice& start, const Slice& limit) const;
  RangeEstimate CountRange(const Slice& start, const Slice& limit) const;
  std::vector<const char*> CollectEntries() const;
  // For kinds without an order of their own. Shared: precondition immutable(); valid as long as the
  // memtable.
  std::unique_ptr<const SortedEntries> SortEntries() const;
  const SortedEntries* SharedSortedEntries() const;

  const uint64_t id_;
  const std::shared_ptr<const SliceTransform> prefix_extractor_;

  const KeyComparator comparator_;
  // Release by the writer after the first range tombstone, acquire before ranges_ is searched.
  std::atomic<uint8_t> features_;

  // Written by the writer alone; the readers of index and filter need no lock.
  Arena arena_;
  std::variant<EntryTree, EntryBuckets, VectorIndex> index_;
  RangeTree ranges_;
  MemTableBloom bloom_;
  const bool bloom_whole_keys_;
  SequenceNumber older_through_ = kSequenceNumberMax;
  size_t fixed_bytes_ = 0;  // the writer's: of buckets and filter

  // Written by the writer (relaxed), read by anyone (relaxed).
  std::atomic<uint64_t> entries_{0};
  std::atomic<uint64_t> deletions_{0};
  std::atomic<uint64_t> data_bytes_{0};
  std::atomic<size_t> used_bytes_{0};
  std::atomic<uint64_t> range_deletions_{0};
  std::atomic<SequenceNumber> first_sequence_{kNoSequence};
  std::atomic<SequenceNumber> last_sequence_{0};
  // Set by readers before gaps_ has the first gap. A writer that has not seen it has an entry that
  // the reader's search finds (RememberGap).
  mutable std::atomic<bool> has_gaps_{false};
  // Readers of a view that was published after the store see it.
  mutable std::atomic<bool> gaps_ended_{false};
  // Release in MarkImmutable, acquire in immutable(). A thread that sees it set sees every entry.
  std::atomic<bool> immutable_{false};

  mutable std::atomic<const SortedEntries*> sorted_{
      nullptr};  // when immutable: set once, by the first reader (release / acquire)

  mutable KnownGaps gaps_;

  std::atomic<int64_t>* const live_count_;  // null: not counted

  mutable SharedCount pins_;
};

}  // namespace ashlar
