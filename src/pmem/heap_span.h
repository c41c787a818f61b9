// HeapSpan: a run of pages with objects of one size, and a bitmap of the taken ones. Volatile.
//
// I1: `taken` is the number of set bits of objects. The bits after the last object are set.
// I2: no word before `hint` has a free bit.
//
// Thread safety: under the heap's mutex.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/assert.h"
#include "pmem/layout.h"

namespace ashlar::pmem {

struct HeapSpan {
  HeapSpan(const SpanEntry& span_entry, uint32_t span_class, uint64_t bytes_of_object)
      : entry(span_entry),
        class_index(span_class),
        object_bytes(bytes_of_object),
        objects(static_cast<uint32_t>(span_entry.pages * kPageBytes / bytes_of_object)),
        bits((objects + 63) / 64, 0) {
    // The bits after the last object are always set.
    if (objects % 64 != 0) bits.back() = ~uint64_t{0} << (objects % 64);
  }

  uint32_t IndexOf(PoolOffset offset) const {
    return static_cast<uint32_t>((offset - page * kPageBytes) / object_bytes);
  }
  PoolOffset ObjectAt(uint32_t index) const { return page * kPageBytes + index * object_bytes; }
  bool Holds(PoolOffset offset) const {
    return (offset - page * kPageBytes) % object_bytes == 0 && IndexOf(offset) < objects;
  }
  // Bytes of volatile state.
  uint64_t VolatileBytes() const { return sizeof(*this) + bits.size() * sizeof(uint64_t); }
  bool IsTaken(uint32_t index) const { return (bits[index / 64] >> (index % 64) & 1) != 0; }
  void Take(uint32_t index) {
    ASHLAR_DCHECK(!IsTaken(index));  // I1
    bits[index / 64] |= uint64_t{1} << (index % 64);
    taken++;
  }
  void Free(uint32_t index) {
    ASHLAR_ASSERT(IsTaken(index));  // I1
    bits[index / 64] &= ~(uint64_t{1} << (index % 64));
    taken--;
    hint = std::min(hint, index / 64);
  }
  // Takes the first free objects, at most `count` and all from one word of the bitmap. Bit i of the
  // mask is the object first + i. Requires: an object is free, and count > 0.
  struct Taken {
    uint32_t first;
    uint64_t mask;
  };
  Taken TakeFirstFree(uint64_t count) {
    while (bits[hint] == ~uint64_t{0}) hint++;
    uint64_t mask = 0;
    for (uint64_t free = ~bits[hint]; free != 0 && count > 0; free &= free - 1, --count)
      mask |= free & (~free + 1);
    bits[hint] |= mask;
    taken += static_cast<uint32_t>(std::popcount(mask));
    return {.first = hint * 64, .mask = mask};
  }

  uint64_t page = 0;  // set when the heap has a place for the span
  const SpanEntry entry;
  const uint32_t class_index;  // kSizeClasses for leaves; unused for large objects
  const uint64_t object_bytes;
  const uint32_t objects;
  uint32_t taken = 0;
  uint32_t hint = 0;        // no word before it has a free bit
  uint32_t open_place = 0;  // in the list of its class, while is_open
  bool marking = false;     // existed at open, and the mark is not finished
  bool is_open = false;     // listed in its class, hands out objects
  bool evacuated = false;   // hands out nothing for now, so that it may become empty
  std::vector<uint64_t> bits;
};

}  // namespace ashlar::pmem
