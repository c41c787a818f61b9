#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <atomic>

#include "base/coding.h"
#include "base/hash_wide.h"

namespace ashlar {

namespace {

// From this size on XXH3 works in stripes, in which wide vectors are twice as fast (4 KiB blocks).
constexpr size_t kStripedBytes = 256;

using HashFunction = uint64_t (*)(const char*, size_t);

uint64_t HashStriped(const char* data, size_t n) { return XXH3_64bits(data, n); }

uint64_t HashStripedFirstTime(const char* data, size_t n);

// Starts as a function that replaces this pointer, so it is ready before any constructor has run.
// Relaxed, because all its values give the same result.
constinit std::atomic<HashFunction> hash_striped{&HashStripedFirstTime};

uint64_t HashStripedFirstTime(const char* data, size_t n) {
  HashFunction best = &HashStriped;
#if ASHLAR_X86_64
  if (ASHLAR_CPU_HAS_AVX2()) best = &Hash64Avx2;
#endif
  hash_striped.store(best, std::memory_order_relaxed);
  return best(data, n);
}

}  // namespace

uint64_t Hash64(const char* data, size_t n) {
  return n < kStripedBytes ? XXH3_64bits(data, n)
                           : hash_striped.load(std::memory_order_relaxed)(data, n);
}

uint32_t XxHash32(const char* data, size_t n) { return XXH32(data, n, 0); }

uint64_t XxHash64(const char* data, size_t n) { return XXH64(data, n, 0); }

uint32_t LegacyHash32(const char* data, size_t n, uint32_t seed) {
  constexpr uint32_t kMultiplier = 0xc6a4a793;
  uint32_t hash = seed ^ (static_cast<uint32_t>(n) * kMultiplier);
  for (; n >= 4; data += 4, n -= 4) {
    hash = (hash + DecodeFixed32(data)) * kMultiplier;
    hash ^= hash >> 16;
  }
  if (n == 0) return hash;
  // The format adds the last bytes as signed numbers, so each reaches into the bits above it.
  for (size_t i = 0; i < n; ++i)
    hash += static_cast<uint32_t>(static_cast<int8_t>(data[i])) << (8 * i);
  hash *= kMultiplier;
  return hash ^ (hash >> 24);
}

}  // namespace ashlar
