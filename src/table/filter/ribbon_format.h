// The Ribbon filter ("Ribbon filter: practically smaller than Bloom and Xor", Dillinger, Walzer) in
// the layout of RocksDB's Standard128: the parts that its reader and its builder share.
//
//   filter   segments | fe | seed | number of blocks, 24 bits
//   segment  16 bytes: one column of the solution for 128 slots, bit i = slot i of the block
//   block    128 slots: `columns` segments, one fewer in the blocks before upper_start_block
//
// A hash defines an equation: the parity of (row & solution[start, start + 128)) equals, in every
// column, that column's bit of `result`. Keys of the filter satisfy their equations. Another key
// does so by chance, with probability 2^-columns.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/coding.h"
#include "base/hash.h"

namespace ashlar {

inline constexpr uint32_t kRibbonBits = 128;
inline constexpr uint32_t kRibbonSegmentBytes = kRibbonBits / 8;
inline constexpr uint32_t kRibbonColumnsMax = 32;
inline constexpr uint32_t kRibbonBlocksMin = 2;
inline constexpr uint32_t kRibbonBlocksMax = (uint32_t{1} << 24) - 1;

struct RibbonRow {
  uint64_t low = 0;
  uint64_t high = 0;
};

constexpr RibbonRow ShiftLeft(RibbonRow row, uint32_t n) {
  if (n == 0) return row;
  if (n >= 64) return {0, row.low << (n - 64)};
  return {row.low << n, (row.high << n) | (row.low >> (64 - n))};
}
// Requires: 0 < n < 128.
constexpr RibbonRow ShiftRight(RibbonRow row, uint32_t n) {
  if (n >= 64) return {row.high >> (n - 64), 0};
  return {(row.low >> n) | (row.high << (64 - n)), row.high >> n};
}

struct RibbonEquation {
  uint32_t start;  // slot
  RibbonRow row;   // bit 0 is set
  uint32_t result;
};

// The number of slots at which a row of 128 bits can start.
constexpr uint32_t RibbonStarts(uint32_t blocks) { return blocks * kRibbonBits - kRibbonBits + 1; }

// The number that the seed in a filter's tail stands for.
constexpr uint32_t RibbonSeed(uint8_t seed) {
  constexpr uint64_t kFactor = 0xc78219a23eeadd03u;
  constexpr uint64_t kMask = 0xf0f0f0f0f0f0f0f0u;
  uint64_t mixed = seed * kFactor;
  mixed ^= (mixed & kMask) >> 4;
  return static_cast<uint32_t>(mixed);
}

inline RibbonEquation MakeRibbonEquation(uint64_t hash, uint32_t seed, uint32_t starts) {
  constexpr uint64_t kRehash = 0x6193d459236a3a0du;
  constexpr uint64_t kRowFactor = 0xc28f82822b650bedu;
  constexpr uint64_t kRowXor = 0xc367844a6e52731du;
  const uint64_t h = (hash ^ seed) * kRehash;
  const uint64_t mixed = h * kRowFactor;
  return {.start = static_cast<uint32_t>(FastRange64(h, starts)),
          .row = {.low = (mixed ^ kRowXor) | 1, .high = mixed},
          .result = static_cast<uint32_t>(ByteSwap64(mixed))};
}

}  // namespace ashlar
