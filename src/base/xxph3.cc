#include "base/xxph3.h"

#include "base/coding.h"
#include "base/compiler.h"

namespace ashlar {
namespace {

constexpr uint64_t kPrime32A = 0x9e3779b1u;
constexpr uint64_t kPrime32B = 0x85ebca77u;
constexpr uint64_t kPrime32C = 0xc2b2ae3du;
constexpr uint64_t kPrime64A = 0x9e3779b185ebca87u;
constexpr uint64_t kPrime64B = 0xc2b2ae3d27d4eb4fu;
constexpr uint64_t kPrime64C = 0x165667b19e3779f9u;
constexpr uint64_t kPrime64D = 0x85ebca77c2b2ae63u;
constexpr uint64_t kPrime64E = 0x27d4eb2f165667c5u;

constexpr size_t kSecretBytes = 192;
// The algorithm computes some offsets from the end of the shortest secret that it allows.
constexpr size_t kSecretBytesMin = 136;
alignas(64) constexpr unsigned char kSecret[kSecretBytes] = {
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c,
    0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f,
    0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
    0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c,
    0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3,
    0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
    0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d,
    0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,
    0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
    0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e,
    0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce,
    0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
};

uint64_t Secret64(size_t offset) {
  return DecodeFixed64(reinterpret_cast<const char*>(kSecret) + offset);
}

uint64_t MultiplyAndFold(uint64_t a, uint64_t b) {
  uint64_t high;
  const uint64_t low = MultiplyFull(a, b, &high);
  return low ^ high;
}

uint64_t Avalanche(uint64_t h) {
  h ^= h >> 37;
  h *= kPrime64C;
  return h ^ (h >> 32);
}

uint64_t Mix16(const char* p, size_t secret_offset) {
  return MultiplyAndFold(DecodeFixed64(p) ^ Secret64(secret_offset),
                         DecodeFixed64(p + 8) ^ Secret64(secret_offset + 8));
}

uint64_t HashUpTo16(const char* p, size_t n) {
  if (n > 8) {
    const uint64_t first = DecodeFixed64(p) ^ Secret64(0);
    const uint64_t last = DecodeFixed64(p + n - 8) ^ Secret64(8);
    return Avalanche(n + first + last + MultiplyAndFold(first, last));
  }
  if (n >= 4) {
    const uint64_t keyed =
        (DecodeFixed32(p) | (uint64_t{DecodeFixed32(p + n - 4)} << 32)) ^ Secret64(0);
    const uint64_t mixed = n + (keyed ^ (keyed >> 51)) * kPrime32A;
    return Avalanche((mixed ^ (mixed >> 47)) * kPrime64B);
  }
  if (n > 0) {
    const auto byte = [p](size_t i) { return uint64_t{static_cast<unsigned char>(p[i])}; };
    const uint64_t combined =
        byte(0) | (byte(n / 2) << 8) | (byte(n - 1) << 16) | (uint64_t{n} << 24);
    return Avalanche((combined ^ (Secret64(0) & 0xffffffffu)) * kPrime64A);
  }
  return MultiplyAndFold(Secret64(0), kPrime64B);
}

// Pairs of 16 bytes from both ends towards the middle.
uint64_t Hash17To128(const char* p, size_t n) {
  uint64_t sum = n * kPrime64A;
  for (size_t pair = (n - 1) / 32 + 1; pair-- > 0;) {
    sum += Mix16(p + 16 * pair, 32 * pair);
    sum += Mix16(p + n - 16 * (pair + 1), 32 * pair + 16);
  }
  return Avalanche(sum);
}

uint64_t Hash129To240(const char* p, size_t n) {
  constexpr size_t kFirstRounds = 8;
  uint64_t sum = n * kPrime64A;
  for (size_t round = 0; round < kFirstRounds; ++round) sum += Mix16(p + 16 * round, 16 * round);
  sum = Avalanche(sum);
  for (size_t round = kFirstRounds; round < n / 16; ++round)
    sum += Mix16(p + 16 * round, 16 * (round - kFirstRounds) + 3);
  return Avalanche(sum + Mix16(p + n - 16, kSecretBytesMin - 17));
}

constexpr size_t kLanes = 8;
constexpr size_t kStripeBytes = 8 * kLanes;
constexpr size_t kStripesPerBlock = (kSecretBytes - kStripeBytes) / 8;

void AccumulateStripe(uint64_t* lanes, const char* p, size_t secret_offset) {
  for (size_t i = 0; i < kLanes; ++i) {
    const uint64_t word = DecodeFixed64(p + 8 * i);
    const uint64_t keyed = word ^ Secret64(secret_offset + 8 * i);
    lanes[i] += word + (keyed & 0xffffffffu) * (keyed >> 32);
  }
}

void Scramble(uint64_t* lanes) {
  for (size_t i = 0; i < kLanes; ++i) {
    const uint64_t lane =
        lanes[i] ^ (lanes[i] >> 47) ^ Secret64(kSecretBytes - kStripeBytes + 8 * i);
    lanes[i] = lane * kPrime32A;
  }
}

uint64_t MergeLanes(const uint64_t* lanes, uint64_t sum) {
  constexpr size_t kSecretOffset = 11;
  for (size_t i = 0; i < kLanes; i += 2) {
    sum += MultiplyAndFold(lanes[i] ^ Secret64(kSecretOffset + 8 * i),
                           lanes[i + 1] ^ Secret64(kSecretOffset + 8 * i + 8));
  }
  return Avalanche(sum);
}

ASHLAR_NO_INLINE uint64_t HashLong(const char* p, size_t n) {
  uint64_t lanes[kLanes] = {kPrime32C, kPrime64A, kPrime64B, kPrime64C,
                            kPrime64D, kPrime32B, kPrime64E, kPrime32A};
  const char* const end = p + n;
  const char* next = p;
  for (size_t stripe = 0; static_cast<size_t>(end - next) >= kStripeBytes; next += kStripeBytes) {
    AccumulateStripe(lanes, next, 8 * stripe);
    if (++stripe == kStripesPerBlock) {
      Scramble(lanes);
      stripe = 0;
    }
  }
  // The last stripe-sized piece covers the remaining bytes. It overlaps bytes that were already
  // read.
  if (next != end) AccumulateStripe(lanes, end - kStripeBytes, kSecretBytes - kStripeBytes - 7);
  return MergeLanes(lanes, n * kPrime64A);
}

}  // namespace

uint64_t Xxph3Hash64(const char* data, size_t n) {
  if (n <= 16) return HashUpTo16(data, n);
  if (n <= 128) return Hash17To128(data, n);
  if (n <= 240) return Hash129To240(data, n);
  return HashLong(data, n);
}

}  // namespace ashlar
