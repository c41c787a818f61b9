#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/coding.h"

namespace ashlar {

uint64_t Hash64(const char* data, size_t n) { return XXH3_64bits(data, n); }

uint32_t XxHash32(const char* data, size_t n) { return XXH32(data, n, 0); }

uint64_t XxHash64(const char* data, size_t n) { return XXH64(data, n, 0); }

uint32_t LegacyHash32(const char* data, size_t n) {
  constexpr uint32_t kSeed = 0xbc9f1d34;
  constexpr uint32_t kMultiplier = 0xc6a4a793;
  uint32_t hash = kSeed ^ (static_cast<uint32_t>(n) * kMultiplier);
  for (; n >= 4; data += 4, n -= 4) {
    hash = (hash + DecodeFixed32(data)) * kMultiplier;
    hash ^= hash >> 16;
  }
  if (n == 0) return hash;
  // The format adds the last bytes as signed numbers, so each reaches into the bits above it.
  for (size_t i = 0; i < n; ++i) hash += static_cast<uint32_t>(static_cast<int8_t>(data[i])) << (8 * i);
  hash *= kMultiplier;
  return hash ^ (hash >> 24);
}

}  // namespace ashlar
