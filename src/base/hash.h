// Hash functions: those that the file formats fix, and the one for tables in memory.
//
//   Hash64        XXH3, 64 bits, no seed: tables in memory, and block checksum type 4
//   XxHash32/64   XXH32 and XXH64 with seed 0: block checksum types 2 and 3
//   LegacyHash32  the 32-bit Murmur variant of LevelDB's filters: for legacy Bloom filters, and for
//                 the index in a PlainTable
//   base/xxph3.h  the preview of XXH3 that RocksDB's filters are built on; it is not Hash64
//
// I1. None of these may change: all but in-memory uses of Hash64 are part of a file format.
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ashlar/slice.h"
#include "base/compiler.h"

namespace ashlar {

uint64_t Hash64(const char* data, size_t n);
inline uint64_t Hash64(const Slice& s) { return Hash64(s.data(), s.size()); }

uint32_t XxHash32(const char* data, size_t n);
uint64_t XxHash64(const char* data, size_t n);

inline constexpr uint32_t kLegacyFilterHashSeed = 0xbc9f1d34;
inline constexpr uint32_t kPlainTableHashSeed = 397;
uint32_t LegacyHash32(const char* data, size_t n, uint32_t seed);

constexpr uint32_t LowerHash32(uint64_t hash) { return static_cast<uint32_t>(hash); }
constexpr uint32_t UpperHash32(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }

// Maps a hash to [0, range) in proportion to its value, with one multiplication instead of a
// remainder. The high bits of the hash decide.
constexpr uint32_t FastRange32(uint32_t hash, uint32_t range) {
  return static_cast<uint32_t>((uint64_t{hash} * range) >> 32);
}
inline uint64_t FastRange64(uint64_t hash, uint64_t range) {
  uint64_t high;
  static_cast<void>(MultiplyFull(hash, range, &high));
  return high;
}

}  // namespace ashlar
