#include "pmem/leaf.h"

#include <algorithm>

#include "base/assert.h"

namespace ashlar::pmem {

SlotFound FindInLeaf(const Medium& medium, const KeyOrder& order, PoolOffset leaf, uint64_t commit,
                     const Slice& key, uint8_t fingerprint, RecordPart part) {
  const LeafView view(medium, leaf);
  SlotFound found;
  uint64_t candidates = Occupied(commit);
  if (order.equal_means_same_bytes) candidates &= view.Matching(fingerprint);
  // Also prefetches the record of another key, which one search in eight meets.
  for (uint64_t rest = candidates; rest != 0; rest &= rest - 1) {
    PrefetchRecord(medium, view.Slot(static_cast<uint32_t>(std::countr_zero(rest))), part);
  }
  for (; candidates != 0; candidates &= candidates - 1) {
    found.index = static_cast<uint32_t>(std::countr_zero(candidates));
    const uint64_t slot = view.Slot(found.index);
    found.offset = SlotRecord(slot);
    const std::optional<Record> record = ReadRecord(medium, found.offset);
    if (!record) {
      found.damaged = DamagedPlace(view, found.index, slot);
      return found;
    }
    if (order.comparator.Equal(record->key(), key)) {
      found.record = *record;
      found.found = true;
      return found;
    }
  }
  return found;
}

namespace {

// Heads decide almost all comparisons of a built-in order.
void SortEntries(const KeyComparator& comparator, std::vector<LeafEntry>* entries) {
  if (comparator.HasHeads() && !entries->empty()) {
    const Slice& first = entries->front().key;
    size_t shared = first.size();
    for (const LeafEntry& entry : *entries)
      shared = CommonKeyPrefixBytes(Slice(first.data(), shared), entry.key);
    for (LeafEntry& entry : *entries) entry.head = comparator.Head(entry.key, shared);
  }
  std::sort(entries->begin(), entries->end(), [&](const LeafEntry& a, const LeafEntry& b) {
    return a.head != b.head ? a.head < b.head : comparator.Compare(a.key, b.key) < 0;
  });
}

}  // namespace

void LeafContents::Read(const Medium& medium, const KeyOrder& order, PoolOffset leaf) {
  const LeafView view(medium, leaf);
  commit = view.Commit();
  damaged = 0;
  entries.clear();
  for (uint64_t rest = Occupied(commit); rest != 0; rest &= rest - 1) {
    const auto index = static_cast<uint32_t>(std::countr_zero(rest));
    const uint64_t slot = view.Slot(index);
    // Any offset may be prefetched, even one from a damaged slot.
    ASHLAR_PREFETCH(medium.view() + SlotRecord(slot));
    entries.push_back(
        {.index = index, .fingerprint = view.FingerprintOf(index), .slot = slot, .key = Slice()});
  }
  for (LeafEntry& entry : entries) {
    const std::optional<Record> record = ReadRecord(medium, entry.record());
    // With another size in the slot, the record could be copied into too little space.
    if (!record || entry.slot != EncodeSlot(entry.record(), record->bytes())) {
      damaged = DamagedPlace(view, entry.index, entry.slot);
      entries.clear();
      return;
    }
    entry.key = record->key();
  }
  SortEntries(order.comparator, &entries);
}

void SlotWriter::Finish() {
  fingerprints_.ForEachWord(leaf_.offset(),
                            [this](PoolOffset to, uint64_t word) { op_->Store(to, word); });
  for (uint32_t line = 0; line < kSlots / 8; ++line) {
    if ((slot_lines_ >> line & 1) != 0)
      op_->Flush(leaf_.offset() + kLeafSlots + line * kLineBytes, kLineBytes);
  }
}

void WriteNewLeaf(PoolOperation* op, PoolOffset leaf, const std::vector<LeafEntry>& entries,
                  PoolOffset separator, PoolOffset next) {
  ASHLAR_DCHECK(entries.size() <= kSlots);  // Requires
  std::array<uint64_t, kLeafBytes / 8> image{};
  const uint64_t occupied = entries.empty() ? 0 : kOccupiedMask >> (kSlots - entries.size());
  // Uses next 1, so that the first split selects the pointer in the line of the commit word.
  image[kLeafCommit / 8] = EncodeCommit(leaf, next, occupied, 1);
  image[kLeafNext1 / 8] = next;
  image[kLeafSeparator / 8] = separator;
  image[kLeafTag / 8] = LeafTag(leaf);
  for (size_t i = 0; i < entries.size(); ++i) {
    image[kLeafFingerprints / 8 + i / 8] |= uint64_t{entries[i].fingerprint} << (i % 8 * 8);
    image[kLeafSlots / 8 + i] = entries[i].slot;
  }
  // Lines of slots that are not occupied stay as they are.
  const size_t bytes = kLeafSlots + (entries.size() * 8 + kLineBytes - 1) / kLineBytes * kLineBytes;
  op->Copy(leaf, image.data(), bytes);
  op->Flush(leaf, bytes);
}

}  // namespace ashlar::pmem
