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
// I1: a read finds every entry whose sequence was published before the read began.
// I2: entries are never changed or moved, so a value that was found stays valid while the memtable
//     is pinned.
// I3: nothing is added after MarkImmutable.
// I4: a search for range tombstones finds those whose sequence was published before it began.
// I5: a gap from FindGap contains no entry that is newer than the gap and visible to the reader.
//
// Thread safety: one thread at a time (the commit leader or the installer) calls Add,
// AddRangeDeletion, MarkImmutable and Drop. Any thread may call the rest, inside an EpochGuard in
// which it found the memtable or while it holds a count. Counters are exact after MarkImmutable.
// Lifetime: from Create to Drop plus the last pin. The block pool and the comparator outlive it.
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
  // For kBuckets, which requires a prefix extractor: the number of buckets, and the maximum number
  // of entries in the list of a bucket.
  size_t bucket_count = 0;
  uint32_t list_entries_max = 0;
  // The size of the bloom filter; 0: no filter. It holds the prefixes of keys that have one. With
  // bloom_whole_keys it also holds whole keys, and lookups then check whole keys only.
  size_t bloom_bytes = 0;
  bool bloom_whole_keys = false;
};

struct MemTableArgs {
  KeyComparator comparator;
  ArenaBlockPool* arena_blocks = nullptr;
  EpochDomain* epochs = nullptr;  // the domain of the guards in which readers find the memtable
  // Incremented while this memtable exists; null: not counted. The end of a memtable happens before
  // an acquire load that no longer counts it.
  std::atomic<int64_t>* live_count = nullptr;
  uint64_t id = 0;  // increases with each memtable of a column family; for logs and statistics
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

  // Adds an entry. Requires: no two entries have the same key, sequence and type, and key and value
  // are shorter than 4 GiB. Sequences may arrive in any order.
  void Add(SequenceNumber sequence, ValueType type, const Slice& key, const Slice& value);
  // Adds a range tombstone. Requires: begin < end, the sequence is not smaller than those of
  // earlier range tombstones, and keys are shorter than 4 GiB.
  void AddRangeDeletion(const RangeTombstone& tombstone);
  // Sets the largest sequence that an entry of an older source may have. Requires: no reader has
  // the memtable yet.
  void SetOlderThrough(SequenceNumber sequence) { older_through_ = sequence; }
  SequenceNumber older_through() const { return older_through_; }
  // Ends the active state. Requires: nothing is added afterwards.
  void MarkImmutable() {
    if constexpr (kDebugChecks) CheckInvariants();
    arena_.Seal();
    immutable_.store(true, std::memory_order_release);
  }
  // Releases the owner's reference. Call it once, after readers can no longer find the memtable,
  // which then deletes itself when all current guards and the last pin are gone. Runs no callback,
  // so it may be called under locks; call EpochDomain::Reclaim afterwards.
  void Drop() { pins_.Kill(); }

  // --- readers ---

  // Offers the lookup the visible versions of its key, newest first, until it needs no more. The
  // values are pinned through this memtable.
  void Get(Lookup* lookup) const;
  // Returns the largest sequence <= visible of a range tombstone that covers the key, or 0 if there
  // is none. Get and cursors do not apply range tombstones. Their callers do.
  SequenceNumber CoveringSequence(const Slice& user_key, SequenceNumber visible) const {
    return HasRangeDeletions() ? ranges_.CoveringSequence(user_key, visible) : 0;
  }
  CoverInterval FindCoverInterval(const Slice& user_key, SequenceNumber visible) const {
    return HasRangeDeletions() ? ranges_.FindCoverInterval(user_key, visible) : CoverInterval();
  }
  // Reads the same byte as Get.
  bool HasRangeDeletions() const {
    return (features_.load(std::memory_order_acquire) & kRangeDeletions) != 0;
  }
  // The range tombstones for readers at these ascending sequences (RangeTree::Fragments).
  FragmentedRanges Ranges(std::span<const SequenceNumber> visible) const {
    return ranges_.Fragments(visible);
  }
  // Finds the known gap around the key for a reader at this sequence whose newest source is this
  // memtable. Returns false if no gap is known.
  bool FindGap(const Slice& user_key, SequenceNumber visible, KeyGap* gap) const {
    return has_gaps_.load(std::memory_order_relaxed) &&
           !gaps_ended_.load(std::memory_order_relaxed) && gaps_.Find(user_key, visible, gap);
  }
  // Forgets all gaps and accepts no new ones, because something other than a write makes keys of
  // older sources visible again. Call it before the view with these sources is published.
  void EndGaps() const { gaps_ended_.store(true, std::memory_order_relaxed); }
  // Records a gap in which a reader at sequence gap.since found no visible entry. Requires: this
  // memtable is the newest source of that reader. Searches the memtable's entries in the gap if one
  // may be newer. Drops the gap if it may not hold for later readers.
  void RememberGap(KeyGap gap) const;

  // A cursor in total order that holds a count on the memtable; memtable_cursor.h defines the
  // entries it sees.
  std::unique_ptr<InternalCursor> NewCursor() const;
  // Whether a cursor in total order also sees entries added after its first seek.
  bool CursorsFollow() const { return std::holds_alternative<EntryTree>(index_); }

  // The source of pins on this memtable's bytes.
  PinSource pin_source() const { return {&kMemTablePin, const_cast<MemTable*>(this)}; }

  // The number of counts held now. Exact while no read is in progress.
  int64_t PinCount() const { return pins_.Count(); }

  uint64_t id() const { return id_; }
  bool immutable() const { return immutable_.load(std::memory_order_acquire); }
  bool IsEmpty() const { return entries() == 0 && range_deletions() == 0; }
  // The number of entries and, among them, of deletions. Range tombstones do not count.
  uint64_t entries() const { return entries_.load(std::memory_order_relaxed); }
  uint64_t deletions() const { return deletions_.load(std::memory_order_relaxed); }
  uint64_t range_deletions() const { return range_deletions_.load(std::memory_order_relaxed); }
  // Bytes of user keys, tags and values, without the overhead of the structure. The end of a range
  // tombstone counts as its value.
  uint64_t data_bytes() const { return data_bytes_.load(std::memory_order_relaxed); }
  // The smallest and the largest sequence that was added; 0 while the memtable is empty.
  SequenceNumber first_sequence() const {
    const SequenceNumber first = first_sequence_.load(std::memory_order_relaxed);
    return first == kNoSequence ? 0 : first;
  }
  SequenceNumber last_sequence() const { return last_sequence_.load(std::memory_order_relaxed); }
  // Memory held: the memtable object and its arena blocks, including their free parts. Never 0.
  size_t ApproximateMemoryUsage() const { return sizeof(*this) + ArenaBytes(); }
  // Memory of the arena blocks alone, including their free parts.
  size_t ArenaBytes() const { return arena_.MemoryAllocated(); }
  // Memory of the entries and nodes written so far, which decides whether the memtable is full. The
  // buckets and the bloom filter are allocated with the first entry. They do not count, because
  // they alone would fill a small write buffer.
  size_t ApproximateMemoryUsed() const { return used_bytes_.load(std::memory_order_relaxed); }
  const KeyComparator& comparator() const { return comparator_; }
  // The extractor at the time when the memtable was created; null: none.
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
  // ones. The other kinds always count, which reads every entry.
  RangeEstimate ApproximateRange(const Slice& start, const Slice& limit) const;

  // Asserts the invariants of the parts, and that the counters agree with them. Allocates nothing.
  // Requires: no writer is active.
  void CheckInvariants() const;

  static const PinOps kMemTablePin;

 private:
  friend class MemTableCursor;

  explicit MemTable(const MemTableArgs& args);
  ~MemTable();
  static void Delete(void* self);

  // Bits of features_. kOtherIndex: not IsPlain. kRangeDeletions: there are range tombstones.
  enum Feature : uint8_t { kOtherIndex = 1, kRangeDeletions = 2 };
  // Larger than every sequence.
  static constexpr SequenceNumber kNoSequence = kSequenceNumberMax + 1;

  // Whether the index is a tree and there is no bloom filter.
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
  // For index kinds that are not sorted. SharedSortedEntries requires immutable(). Its result is
  // valid as long as the memtable.
  std::unique_ptr<const SortedEntries> SortEntries() const;
  const SortedEntries* SharedSortedEntries() const;

  const uint64_t id_;
  const std::shared_ptr<const SliceTransform> prefix_extractor_;

  const KeyComparator comparator_;
  // Stored with release after a range tombstone, loaded with acquire before ranges_ is searched.
  std::atomic<uint8_t> features_;

  // Only the writer writes these. Readers of the index and the filter need no lock.
  Arena arena_;
  std::variant<EntryTree, EntryBuckets, VectorIndex> index_;
  RangeTree ranges_;
  MemTableBloom bloom_;
  const bool bloom_whole_keys_;
  SequenceNumber older_through_ = kSequenceNumberMax;
  size_t fixed_bytes_ = 0;  // writer only: the bytes of the buckets and the filter

  // Relaxed: one writer, any number of readers.
  std::atomic<uint64_t> entries_{0};
  std::atomic<uint64_t> deletions_{0};
  std::atomic<uint64_t> data_bytes_{0};
  std::atomic<size_t> used_bytes_{0};
  std::atomic<uint64_t> range_deletions_{0};
  std::atomic<SequenceNumber> first_sequence_{kNoSequence};
  std::atomic<SequenceNumber> last_sequence_{0};
  // Set by readers before gaps_ gets its first gap. If a writer does not see it set, the reader's
  // search finds the writer's entry (RememberGap).
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
