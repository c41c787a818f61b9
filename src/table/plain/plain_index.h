// PlainIndex: where the entries of an open PlainTable are, made from one pass over them.
//
//   marks   offset and head (key_comparator.h) of every sparseness-th entry that can be read by
//           itself, ascending: any search, either direction
//   hash    one slot of 8 bytes per prefix: low half of the prefix's hash | bit 31: many | offset
//           of its first entry the high half of the hash says where to begin; the next free slot
//           takes what collides; at most 9 of 10 slots are taken
//
// A prefix of up to sparseness entries is read from its offset on. One with more is searched by the
// marks: its slot says only that it is there. An absent prefix ends at a free slot: one cache line,
// no entry is looked at. This is the filter too; a Bloom filter before it would cost a second line
// for every key that is there.
//
// I1: offsets ascend; each is that of an entry that can be read by itself.
// I2: heads are those of the user keys at the marks behind what all keys of the table begin with,
//     and ascend.
// I3: every prefix of the table has a slot.
//
// Rejected: RocksDB's buckets of offsets, in memory or as they may lie in the file. A bucket names
// no prefix, so each lookup reads an entry to learn that it is another's; in total order each step
// of its binary search is a cache miss; and what lies in the file would have to be believed, for
// nothing in a PlainTable has a checksum. Thread safety: constant once made.
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

  void ReserveMarks(uint64_t marks) { offsets_.reserve(static_cast<size_t>(marks)); }
  void AddMark(uint32_t offset) { offsets_.push_back(offset); }
  // After all marks; one for each.
  void SetHeads(std::vector<uint64_t> heads) { heads_ = std::move(heads); }
  struct Prefix {
    uint64_t hash;
    uint32_t offset;
    bool many;
  };
  // prefixes_per_slot: above 0.
  void SetPrefixes(const std::vector<Prefix>& prefixes, double prefixes_per_slot);

  // ---- Marks.

  uint32_t marks() const { return static_cast<uint32_t>(offsets_.size()); }
  uint32_t offset(uint32_t mark) const { return offsets_[mark]; }
  // Marks below first have smaller heads, marks from last on have larger ones.
  struct Range {
    uint32_t first;
    uint32_t last;
  };
  Range FindHead(uint64_t head) const;
  // The last mark at or before an offset; 0 when all are behind it. Precondition: marks() > 0.
  uint32_t MarkAtOffset(uint32_t offset) const;

  // ---- Prefixes.

  bool has_prefixes() const { return !slots_.empty(); }
  // Asks for the memory that a Probe begins with.
  void Prefetch(uint64_t hash) const {
    ASHLAR_PREFETCH(&slots_[FastRange32(UpperHash32(hash), static_cast<uint32_t>(slots_.size()))]);
  }
  // Walks the slots that may be a prefix's: for (Probe p(index, hash); p.found(); p.Next()).
  class Probe {
   public:
    Probe(const PlainIndex& index, uint64_t hash)
        : slots_(index.slots_.data()),
          end_(slots_ + index.slots_.size()),
          tag_(LowerHash32(hash)),
          slot_(slots_ +
                FastRange32(UpperHash32(hash), static_cast<uint32_t>(index.slots_.size()))) {
      Settle();
    }
    bool found() const { return *slot_ != kFree; }
    void Next() {
      Step();
      Settle();
    }
    uint32_t offset() const { return static_cast<uint32_t>(*slot_) & ~kManyBit; }
    bool many() const { return (static_cast<uint32_t>(*slot_) & kManyBit) != 0; }

   private:
    void Step() {
      if (++slot_ == end_) slot_ = slots_;
    }
    // There is a free slot: the walk ends.
    void Settle() {
      while (*slot_ != kFree && static_cast<uint32_t>(*slot_ >> 32) != tag_) Step();
    }

    const uint64_t* const slots_;
    const uint64_t* const end_;
    const uint32_t tag_;
    const uint64_t* slot_;
  };

  size_t MemoryBytes() const {
    return offsets_.capacity() * sizeof(uint32_t) + heads_.capacity() * sizeof(uint64_t) +
           slots_.capacity() * sizeof(uint64_t);
  }

 private:
  static constexpr uint32_t kManyBit = uint32_t{1} << 31;
  // No entry is at the offset that this would be: the footer comes behind it.
  static constexpr uint64_t kFree = ~uint64_t{0};

  std::vector<uint32_t> offsets_;
  std::vector<uint64_t> heads_;
  std::vector<uint64_t> slots_;
};

}  // namespace ashlar
