// VaryingBytes: the first positions at which the keys of a set have different bytes. These bytes
// order the keys, because all keys agree at the positions between them.
//
//   log [00 00 00 07] 01 [00 00 3a 10]
//   log [00 00 00 09] 01 [00 00 12 80]      positions 6, 9, 10; the heads are 07 3a 10, 09 12 80
//
// Keys are compared as if zeros followed them. This loses the order of keys that differ only in
// such zeros.
//
// I1: at each position below limit() that is not in the list, all keys have the byte common().
// I2: the list ascends and has at most kPositionsMax positions. If it is full, the limit is after
//     the last one.
//
// Thread safety: one thread. Copies are values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ashlar/slice.h"
#include "base/assert.h"
#include "base/coding.h"

namespace ashlar {

// The first bytes of a key as big-endian integers, with zeros after its end.
inline constexpr size_t kKeyWords = 8;
struct KeyWords {
  std::array<uint64_t, kKeyWords> words;

  KeyWords(const Slice& key, size_t count) {
    for (size_t i = 0; i < count; ++i)
      words[i] = key.size() > 8 * i ? LoadHead(key.data() + 8 * i, key.size() - 8 * i) : 0;
  }
  uint8_t byte(size_t position) const {
    return static_cast<uint8_t>(words[position / 8] >> (56 - position % 8 * 8));
  }
};

class VaryingBytes {
 public:
  static constexpr size_t kPositionsMax = 8;

  VaryingBytes() {
    common_.fill(0);
    constant_.fill(~uint64_t{0});
  }

  // Adds a key to the set. Calls change(slot, byte) for each position that begins to vary. The head
  // of each earlier key then gets the byte at the slot, and loses its last byte if the list was
  // full (InsertByte).
  template <typename Change>
  void Include(const Slice& key, const Change& change);

  size_t count() const { return count_; }
  size_t position(size_t slot) const { return positions_[slot]; }
  // Positions from here on are ignored.
  size_t limit() const { return limit_ < key_bytes_max_ ? limit_ : key_bytes_max_; }
  uint8_t common(size_t position) const {
    return static_cast<uint8_t>(common_[position / 8] >> (56 - position % 8 * 8));
  }
  // The bytes of a key of the set at the positions. The byte at the first one is the highest.
  uint64_t HeadOf(const Slice& key) const;
  void CheckInvariants() const;
  static uint64_t InsertByte(uint64_t head, size_t slot, uint8_t byte);
  static uint8_t ByteOf(uint64_t head, size_t slot) {
    return static_cast<uint8_t>(head >> (56 - 8 * slot));
  }

 private:
  bool IsConstant(size_t position) const {
    return (constant_[position / 8] >> (56 - position % 8 * 8) & 1) != 0;
  }
  void SetNotConstant(size_t position) {
    constant_[position / 8] &= ~(uint64_t{0xff} << (56 - position % 8 * 8));
  }
  template <typename Change>
  void IncludeWord(const KeyWords& key, size_t word, const Change& change);

  std::array<uint64_t, kKeyWords> common_;    // as KeyWords
  std::array<uint64_t, kKeyWords> constant_;  // ff at positions of I1
  std::array<uint8_t, kPositionsMax> positions_{};
  size_t count_ = 0;
  size_t limit_ = 8 * kKeyWords;
  size_t key_bytes_max_ = 0;
  bool is_empty_ = true;
};

template <typename Change>
void VaryingBytes::Include(const Slice& key, const Change& change) {
  if (key.size() > key_bytes_max_) key_bytes_max_ = key.size();
  const size_t words = (limit() + 7) / 8;
  const KeyWords own(key, words);
  if (is_empty_) {
    is_empty_ = false;
    for (size_t i = 0; i < words; ++i) common_[i] = own.words[i];
    return;
  }
  for (size_t i = 0; i < words; ++i) {
    if (((own.words[i] ^ common_[i]) & constant_[i]) != 0) [[unlikely]] {
      IncludeWord(own, i, change);
      if constexpr (kDebugChecks) CheckInvariants();
    }
  }
}

template <typename Change>
void VaryingBytes::IncludeWord(const KeyWords& key, size_t word, const Change& change) {
  for (size_t position = 8 * word; position < 8 * word + 8 && position < limit(); ++position) {
    if (key.byte(position) == common(position) || !IsConstant(position)) continue;
    size_t slot = 0;
    while (slot < count_ && positions_[slot] < position) ++slot;
    for (size_t at = kPositionsMax - 1; at > slot; --at) positions_[at] = positions_[at - 1];
    positions_[slot] = static_cast<uint8_t>(position);
    SetNotConstant(position);
    if (count_ < kPositionsMax) ++count_;
    if (count_ == kPositionsMax) {
      while (limit_ > size_t{positions_[count_ - 1]} + 1) SetNotConstant(--limit_);  // I2
    }
    change(slot, common(position));
  }
}

}  // namespace ashlar
