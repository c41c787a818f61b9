// LeafWriter: changes of single entries and of their leaves.
//
//   insert   record, slot, fingerprint | fence | commit word | fence
//   update   record                    | fence | slot        | fence
//   remove   commit word | fence
//   split    new leaf with the moved slots, separator, other next pointer, and the insert that
//            caused it | fence | commit word of the old leaf | fence
//   merge    the right leaf's slots into free slots of its left neighbour, other next pointer
//            | fence | commit word of the left | fence
//
// The commit word, one of the next pointers and the fingerprints are in one line. Stores to one
// line become durable in their order, so this pointer and the fingerprints need no flush of their
// own.
//
// A leaf takes kSlotsFilled entries, so that a split finds a free slot if the new entry stays in
// the left leaf. The last leaf takes kSlots entries from ascending inserts. Its split moves only
// the new key, so that ascending loads fill leaves.
//
// I1: between two fences nothing is stored to a line on which a published state depends, except the
//     publication of that state.
// I2: a change fails only before its first store to something published, also when out of memory.
// I3: a separator occupies at most its own length, or kSeparatorAheadBytesMax (README.md).
// I4: a change commits before the index leads to its leaves. A new leaf has no lock, so a change of
//     it by another thread could precede the leaf in the log and be lost at replay.
#pragma once

#include "pmem/tree_state.h"

namespace ashlar::pmem {

class LeafWriter {
 public:
  explicit LeafWriter(TreeState* state) : state_(*state) {}

  Status Put(const Slice& key, const Slice& value) ASHLAR_TAKES_SCARCE_MUTEX;
  Status Delete(const Slice& key) ASHLAR_BEGINS_OPERATION;
  // Merges the leaf of `key` with a neighbour if the two have at most `slots_max` entries together.
  // Returns true if a leaf was removed.
  bool MergeAround(const Slice& key, uint32_t slots_max) ASHLAR_BEGINS_OPERATION;
  // Moves the record in this slot, a large one towards that end of the pool. Returns Ok also if the
  // slot has changed, and Corruption for damage. Requires: the slot gives the record's size.
  Status Relocate(const Slice& key, uint64_t slot, Toward end) ASHLAR_BEGINS_OPERATION;

  static constexpr uint32_t kSlotsFilled = kSlots - 1;
  // The length of a leaf, which is taken ahead together with a separator.
  static constexpr uint64_t kSeparatorAheadBytesMax = kLeafBytes;

 private:
  enum class Outcome : uint8_t { kDone, kFull, kMissing, kNeedReserve, kDamaged, kSplitOnly };
  // One Put in progress.
  struct Entry {
    Slice key;
    Slice value;
    PoolOffset record;
    uint8_t fingerprint;
    bool is_held_back;        // the record may only replace one of its size class
    bool may_fill = false;    // no space for a split, so the leaf's last slot may be used
    PoolOffset replaced = 0;  // the record that was unlinked
    uint64_t replaced_bytes = 0;
    PoolOffset damaged = 0;
    uint64_t separator_bytes = 0;           // of the separator that a split wrote, or would write
    std::vector<uint64_t> copy_bytes = {};  // and of the records that it would copy
    std::vector<PoolOffset> copied = {};    // the records that were copied
    uint64_t slot() const { return EncodeSlot(record, RecordBytes(key, value)); }
  };
  // One split, before anything is stored.
  struct SplitPlan {
    LeafEntry fresh;               // the new entry
    std::vector<LeafEntry> moved;  // to the right, in order, with the new entry if it goes there
    uint64_t commit;               // the leaf's word
    uint64_t occupied;             // the slots that stay
    bool goes_left;                // the new entry, into a slot that was free before
    // A full leaf whose new first entry would stay: it is inserted after the split.
    bool is_split_only;
  };

  Status PutRecord(const Slice& key, const Slice& value, PoolOffset record,
                   bool is_held_back) ASHLAR_BEGINS_OPERATION;
  Status PutOwned(Entry* entry) ASHLAR_BEGINS_OPERATION;
  Status PutWhenFull(const Slice& key, const Slice& value) ASHLAR_TAKES_SCARCE_MUTEX;
  Outcome TryPut(PoolOperation* op, Entry* entry);
  Outcome PutLocked(PoolOperation* op, const FoundLeaf& leaf, Entry* entry, LeafLock* lock);
  Outcome PutWithSplit(PoolOperation* op, Entry* entry)
      ASHLAR_EXCLUDES(kStructureMutex, kLeafLock, kHeapMutex);
  Status MoveRecord(const Slice& key, uint64_t slot, PoolOffset record,
                    bool* moved) ASHLAR_BEGINS_OPERATION;
  Outcome Split(PoolOperation* op, const FoundLeaf& leaf, const LeafContents& contents,
                Entry* entry, LeafLock* lock) ASHLAR_REQUIRES(kStructureMutex);
  SplitPlan PlanSplit(const FoundLeaf& leaf, const LeafContents& contents,
                      const Entry& entry) const;
  bool HasSpaceForSplit(const SplitPlan& plan, Entry* entry) const ASHLAR_REQUIRES(kStructureMutex);
  void CopyMovedRecords(PoolOperation* op, SplitPlan* plan, Entry* entry)
      ASHLAR_REQUIRES(kStructureMutex);
  void StoreSplit(PoolOperation* op, const FoundLeaf& leaf, const SplitPlan& plan,
                  const Entry& entry) ASHLAR_REQUIRES(kStructureMutex);
  Status FillReserve(uint64_t separator_bytes,
                     const std::vector<uint64_t>& copy_bytes) ASHLAR_BEGINS_OPERATION;
  void ReleaseReserve(const SplitReserve& reserve);
  bool IsCopied(const SplitPlan& plan, const LeafEntry& entry) const;
  bool IsAboveAll(const FoundLeaf& leaf, uint64_t commit, const Slice& key) const;
  bool Merge(PoolOperation* op, const BoundedLeaf& left, const BoundedLeaf& right,
             uint32_t slots_max) ASHLAR_REQUIRES(kStructureMutex);

  TreeState& state_;
};

}  // namespace ashlar::pmem
