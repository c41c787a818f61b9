// Leaves: functions that read and write the lines of a leaf (layout.h). Callers take the locks and
// order the operations.
//
// A reader without a lock may see any mixture of a leaf's states, but each word is consistent. A
// slot that was ever published refers to a record that stays as long as the reader's epoch guard. A
// result from several words is valid only after FoundLeaf::Unchanged.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <vector>

#include "ashlar/slice.h"
#include "base/compiler.h"
#include "key/key_comparator.h"
#include "platform/cpu.h"
#include "pmem/fingerprint.h"
#include "pmem/layout.h"
#include "pmem/medium.h"
#include "pmem/record.h"

namespace ashlar::pmem {

// The order of keys, and whether fingerprints may be used. They may not be used under an order in
// which different bytes can be equal.
struct KeyOrder {
  explicit KeyOrder(const Comparator* user)
      : comparator(user),
        equal_means_same_bytes(comparator.kind() != KeyComparator::Kind::kCustom ||
                               !user->CanKeysWithDifferentByteContentsBeEqual()) {}
  int Compare(const Slice& a, const Slice& b) const { return comparator.Compare(a, b); }

  const KeyComparator comparator;
  const bool equal_means_same_bytes;
};

class LeafView {
 public:
  LeafView(const Medium& medium, PoolOffset leaf) : medium_(medium), leaf_(leaf) {}

  PoolOffset offset() const { return leaf_; }
  uint64_t Commit() const { return medium_.Load(leaf_ + kLeafCommit); }
  PoolOffset Next(uint64_t commit) const {
    return medium_.Load(leaf_ + LeafNext(SelectedNext(commit)));
  }
  // The pointer that the next change of the commit word may select.
  PoolOffset OtherNextOffset(uint64_t commit) const {
    return leaf_ + LeafNext(1 - SelectedNext(commit));
  }
  PoolOffset Separator() const { return medium_.Load(leaf_ + kLeafSeparator); }
  uint64_t Tag() const { return medium_.Load(leaf_ + kLeafTag); }
  uint64_t Slot(uint32_t index) const { return medium_.Load(SlotOffset(index)); }
  uint64_t FingerprintWord(uint32_t word) const {
    return medium_.Load(leaf_ + kLeafFingerprints + uint64_t{8} * word);
  }
  uint8_t FingerprintOf(uint32_t index) const {
    return static_cast<uint8_t>(FingerprintWord(index / 8) >> (index % 8 * 8));
  }
  // One bit for each slot, occupied or not, that has this fingerprint.
  uint64_t Matching(uint8_t fingerprint) const {
    uint64_t slots = 0;
    for (uint32_t word = 0; word < kFingerprintWords; ++word)
      slots |= MatchingBytes(FingerprintWord(word), fingerprint) << (word * 8);
    return slots;
  }

  PoolOffset SlotOffset(uint32_t index) const { return leaf_ + kLeafSlots + uint64_t{8} * index; }

 private:
  const Medium& medium_;
  const PoolOffset leaf_;
};

// The place to name in an error if the record of a slot cannot be read. It is never 0. It is the
// offset of the record, or of the slot if that of the record is 0.
inline PoolOffset DamagedPlace(const LeafView& leaf, uint32_t index, uint64_t slot) {
  const PoolOffset record = SlotRecord(slot);
  return record != 0 ? record : leaf.SlotOffset(index);
}

// The result of a search in one leaf. If a record cannot be read, `damaged` is its DamagedPlace
// (not 0) and the other fields are not valid.
struct SlotFound {
  bool found = false;
  uint32_t index = 0;
  PoolOffset offset = 0;
  Record record = {};
  PoolOffset damaged = 0;
};
// The part of the record that the caller will read. It decides how much is prefetched before the
// record's lengths are known.
enum class RecordPart : uint8_t { kKey, kAll };
SlotFound FindInLeaf(const Medium& medium, const KeyOrder& order, PoolOffset leaf, uint64_t commit,
                     const Slice& key, uint8_t fingerprint, RecordPart part);

static_assert(kLineBytes == kCacheLineBytes);  // the processor flushes such lines

// Prefetches a slot's record. A short record is prefetched completely, because its key and value
// may cross the end of a line. Of a longer one only the beginning is prefetched.
inline void PrefetchRecord(const Medium& medium, uint64_t slot, RecordPart part) {
  constexpr uint64_t kKeyBytes = 2 * kLineBytes;
  // The processor prefetches the following lines itself.
  constexpr uint64_t kAllBytes = 16 * kLineBytes;
  const char* const start = medium.view() + SlotRecord(slot);
  const uint64_t bytes =
      std::min(SlotUnits(slot) * kUnitBytes, part == RecordPart::kKey ? kKeyBytes : kAllBytes);
  PrefetchRange(start, bytes);
  ASHLAR_PREFETCH(start + bytes - 1);
}
// Prefetches the record that FindInLeaf will read first. Works with any mixture of a leaf's states.
inline void PrefetchCandidate(const Medium& medium, PoolOffset leaf, uint8_t fingerprint) {
  const LeafView view(medium, leaf);
  const uint64_t candidates = Occupied(view.Commit()) & view.Matching(fingerprint);
  if (candidates != 0)
    PrefetchRecord(medium, view.Slot(static_cast<uint32_t>(std::countr_zero(candidates))),
                   RecordPart::kKey);
}

// The same for a Put. Without a candidate, prefetches the free slot's line, which was not read yet.
inline void PrefetchForPut(const Medium& medium, PoolOffset leaf, uint8_t fingerprint) {
  const LeafView view(medium, leaf);
  const uint64_t occupied = Occupied(view.Commit());
  const uint64_t candidates = occupied & view.Matching(fingerprint);
  if (candidates != 0) {
    PrefetchRecord(medium, view.Slot(static_cast<uint32_t>(std::countr_zero(candidates))),
                   RecordPart::kKey);
  } else {
    // For a full leaf this is the line after the leaf.
    const auto free = static_cast<uint32_t>(std::countr_one(occupied));
    ASHLAR_PREFETCH(medium.view() + view.SlotOffset(free));
  }
}

struct LeafEntry {
  uint32_t index;  // of the slot
  uint8_t fingerprint;
  uint64_t slot;
  Slice key;
  uint64_t head = 0;  // of the key after the common prefix of the leaf's keys

  PoolOffset record() const { return SlotRecord(slot); }
};
// The entries of a leaf at one commit word. The keys are valid in the caller's epoch guard.
struct LeafContents {
  LeafContents() = default;
  LeafContents(const Medium& medium, const KeyOrder& order, PoolOffset leaf) {
    Read(medium, order, leaf);
  }
  void Read(const Medium& medium, const KeyOrder& order, PoolOffset leaf);

  uint64_t commit = 0;
  std::vector<LeafEntry> entries;  // in order; empty if one is damaged
  // Not 0: the DamagedPlace of a record that cannot be read, or whose slot gives another size.
  PoolOffset damaged = 0;
};

// A leaf's fingerprints with the changes that were set.
class ChangedFingerprints {
 public:
  explicit ChangedFingerprints(const LeafView& leaf) {
    for (uint32_t word = 0; word < kFingerprintWords; ++word)
      words_[word] = leaf.FingerprintWord(word);
  }
  void Set(uint32_t index, uint8_t fingerprint) {
    const uint32_t shift = index % 8 * 8;
    uint64_t& word = words_[index / 8];
    word = (word & ~(uint64_t{0xff} << shift)) | uint64_t{fingerprint} << shift;
    changed_ |= 1u << (index / 8);
  }
  // Calls `store` with the offset and the value of each word in which a fingerprint was set.
  template <typename Function>
  void ForEachWord(PoolOffset leaf, const Function& store) const {
    for (uint32_t word = 0; word < kFingerprintWords; ++word) {
      if ((changed_ >> word & 1) != 0)
        store(leaf + kLeafFingerprints + uint64_t{8} * word, words_[word]);
    }
  }

 private:
  std::array<uint64_t, kFingerprintWords> words_;
  uint32_t changed_ = 0;
};

// Collects changes of slots that are not occupied yet, so that each line is flushed once. The
// fingerprints are flushed with the commit word, which is in their line.
class SlotWriter {
 public:
  SlotWriter(PoolOperation* op, const LeafView& leaf) : op_(op), leaf_(leaf), fingerprints_(leaf) {}
  void Put(uint32_t index, uint64_t slot, uint8_t fingerprint) {
    op_->Store(leaf_.SlotOffset(index), slot);
    slot_lines_ |= 1u << (index / 8);
    fingerprints_.Set(index, fingerprint);
  }
  // Stores the fingerprints and flushes the slots. The caller then fences and calls PublishCommit.
  void Finish();

 private:
  PoolOperation* const op_;
  const LeafView leaf_;
  ChangedFingerprints fingerprints_;
  uint32_t slot_lines_ = 0;
};

// Writes and flushes a leaf that nothing refers to yet, with these entries in slots 0, 1 and so on.
// Requires: at most kSlots entries.
void WriteNewLeaf(PoolOperation* op, PoolOffset leaf, const std::vector<LeafEntry>& entries,
                  PoolOffset separator, PoolOffset next);

// Stores the pointer that PublishCommit will select. The caller fences.
inline void StoreOtherNext(PoolOperation* op, const LeafView& leaf, uint64_t commit,
                           PoolOffset next) {
  const PoolOffset other = leaf.OtherNextOffset(commit);
  op->Store(other, next);
  // Next 1 is not in the line of the commit word.
  if (SelectedNext(commit) == 0) op->Flush(other, 8);
}

// Publishes a record in an occupied slot. The one store follows a fence and is flushed and fenced.
inline void PublishSlot(PoolOperation* op, PoolOffset at, uint64_t slot) {
  op->Fence();
  op->Store(at, slot);
  op->Flush(at, 8);
  op->Fence();
}

// Publishes a leaf's occupied slots and its valid next pointer with one store, which is flushed and
// fenced. Requires: `next` is already stored at index selected_next.
inline void PublishCommit(PoolOperation* op, PoolOffset leaf, PoolOffset next, uint64_t occupied,
                          uint32_t selected_next) {
  op->Store(leaf + kLeafCommit, EncodeCommit(leaf, next, occupied, selected_next));
  op->Flush(leaf + kLeafCommit, 8);
  op->Fence();
}

}  // namespace ashlar::pmem
