// PlainIndex: locates the entries of an open PlainTable. Built in one pass over them.
//
//   sparse index   offset and head (key_comparator.h) of every sparseness-th full key, ascending,
//                  for searches in either direction
//   hash table     one slot of 8 bytes per prefix:
//                  low half of the prefix's hash | bit 31: many | offset of its first entry
//                  The high half of the hash gives the first slot to probe. A collision takes the
//                  next free slot. At most 9 of 10 slots are taken.
//
// A prefix of up to sparseness entries is read from its offset on. A prefix with more is found
// through the sparse index, and its slot only shows that it exists. The search for an absent prefix
// ends at a free slot: it reads one cache line and no entry. So the hash table is also the filter.
//
// I1: offsets ascend, and each is the offset of an entry with a full key.
// I2: there is one head per offset: the head of the user key after the bytes that all keys of the
//     table begin with. Heads ascend.
// I3: every prefix of the table has a slot, and at least one slot is free.
//
// RocksDB's buckets of offsets were rejected. A bucket does not name its prefix, so each lookup
// reads an entry only to learn that it has another prefix. In total order each step of its binary
// search is a cache miss. Buckets in the file cannot be trusted, because nothing in a PlainTable
// has a checksum. Thread safety: constant once created.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/coding.h"
#include "base/hash.h"

namespace ashlar {

class PlainIndex {
 public:
  // ---- Building.

  void ReserveSparseEntries(uint64_t entries) { offsets_.reserve(static_cast<size_t>(entries)); }
  void AddSparseEntry(uint32_t offset) { offsets_.push_back(offset); }
  // Sets one head for each sparse entry. Call after the last AddSparseEntry.
  void SetHeads(std::vector<uint64_t> heads) { heads_ = std::move(heads); }
  struct Prefix {
    uint64_t hash;
    uint32_t offset;
    bool many;
  };
  // Requires: prefixes_per_slot > 0.
  void SetPrefixes(const std::vector<Prefix>& prefixes, double prefixes_per_slot);

  // ---- Sparse index.

  uint32_t sparse_entries() const { return static_cast<uint32_t>(offsets_.size()); }
  uint32_t offset(uint32_t sparse) const { return offsets_[sparse]; }
  // Sparse entries before `first` have smaller heads, those from `last` on have larger heads.
  struct Range {
    uint32_t first;
    uint32_t last;
  };
  Range FindHead(uint64_t head) const;
  // The last sparse entry at or before an offset; 0 if all are after it. Requires: sparse_entries()
  // > 0.
  uint32_t SparseEntryAtOffset(uint32_t offset) const;

  // ---- Prefixes.

  bool has_prefixes() const { return !slots_.empty(); }
  // Prefetches the first slot that a Probe reads.
  void Prefetch(uint64_t hash) const {
    ASHLAR_PREFETCH(&slots_[FastRange32(UpperHash32(hash), static_cast<uint32_t>(slots_.size()))]);
  }
  // Visits the slots that may belong to a prefix: for (Probe p(index, hash); p.found(); p.Next()).
  class Probe {
   public:
    Probe(const PlainIndex& index, uint64_t hash)
        : slots_(index.slots_.data()),
          end_(slots_ + index.slots_.size()),
          tag_(LowerHash32(hash)),
          slot_(slots_ +
                FastRange32(UpperHash32(hash), static_cast<uint32_t>(index.slots_.size()))) {
      SkipOthers();
    }
    bool found() const { return *slot_ != kFree; }
    void Next() {
      Step();
      SkipOthers();
    }
    uint32_t offset() const { return static_cast<uint32_t>(*slot_) & ~kManyBit; }
    bool many() const { return (static_cast<uint32_t>(*slot_) & kManyBit) != 0; }

   private:
    void Step() {
      if (++slot_ == end_) slot_ = slots_;
    }
    // Skips the slots of other hashes. Terminates, because one slot is free (I3).
    void SkipOthers() {
      while (*slot_ != kFree && static_cast<uint32_t>(*slot_ >> 32) != tag_) Step();
    }

    const uint64_t* const slots_;
    const uint64_t* const end_;
    const uint32_t tag_;
    const uint64_t* slot_;
  };

  // Asserts that offsets and heads ascend (I1, I2), and I3.
  void CheckInvariants() const;

  size_t MemoryBytes() const {
    return offsets_.capacity() * sizeof(uint32_t) + heads_.capacity() * sizeof(uint64_t) +
           slots_.capacity() * sizeof(uint64_t);
  }

 private:
  static constexpr uint32_t kManyBit = uint32_t{1} << 31;
  // Never the offset of an entry, because the footer follows the last entry.
  static constexpr uint64_t kFree = ~uint64_t{0};

  std::vector<uint32_t> offsets_;
  std::vector<uint64_t> heads_;
  std::vector<uint64_t> slots_;
};

}  // namespace ashlar
