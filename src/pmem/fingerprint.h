// The one-byte hash of a key that leaves keep for each slot: the Pearson hash with the
// permutation of RFC 3074, over unsigned bytes.
//
// I1: it never changes, because it is part of the pool's format.
// Thread safety: pure functions.
#pragma once

#include <array>
#include <cstdint>

#include "ashlar/slice.h"
#include "pmem/layout.h"

namespace ashlar::pmem {

uint8_t Fingerprint(const Slice& key);

// One bit for each of the 8 bytes of `word` that equals `fingerprint`: bit i for byte i.
inline uint64_t MatchingBytes(uint64_t word, uint8_t fingerprint) {
  constexpr uint64_t kOnes = 0x0101010101010101u;
  constexpr uint64_t kLow7 = 0x7f7f7f7f7f7f7f7fu;
  const uint64_t x = word ^ (kOnes * fingerprint);
  // The top bit of each byte that is zero; exact, no carries between bytes.
  const uint64_t zeros = ~(((x & kLow7) + kLow7) | x | kLow7);
  // Gathers the top bits: byte i to bit i.
  return (zeros >> 7) * 0x0102040810204080u >> 56;
}

}  // namespace ashlar::pmem
