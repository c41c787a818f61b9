// CRC-32C (Castagnoli, polynomial 0x1edc6f41, reflected), the checksum of the write-ahead log, the
// MANIFEST and block checksum type 1.
//
// On x86-64 with SSE4.2 and PCLMULQDQ, detected at run time, the crc32 instruction runs on three
// streams at once to hide its latency, and a carry-less multiplication joins them. Other machines
// use tables, eight bytes per step. Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ashlar/slice.h"

namespace ashlar::crc32c {

// Returns the crc of A followed by data[0, n), where crc is the crc of A (0 for an empty A).
uint32_t Extend(uint32_t crc, const char* data, size_t n);
// Like Extend, but without any special instruction.
uint32_t ExtendPortable(uint32_t crc, const char* data, size_t n);

inline uint32_t Value(const char* data, size_t n) { return Extend(0, data, n); }
inline uint32_t Value(const Slice& s) { return Extend(0, s.data(), s.size()); }

// Files store masked crcs. The crc of bytes that contain their own crc is a constant, which would
// hide damage.
constexpr uint32_t kMaskDelta = 0xa282ead8u;
constexpr uint32_t Mask(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + kMaskDelta; }
constexpr uint32_t Unmask(uint32_t masked) {
  const uint32_t rotated = masked - kMaskDelta;
  return (rotated >> 17) | (rotated << 15);
}

}  // namespace ashlar::crc32c
