#include "base/crc32c.h"

#include <array>
#include <atomic>

#include "base/coding.h"
#include "base/compiler.h"

#if ASHLAR_X86_64
#include <nmmintrin.h>
#include <wmmintrin.h>
#endif

namespace ashlar::crc32c {
namespace {

constexpr uint32_t kPolynomialReflected = 0x82f63b78;

// Reflected polynomials: bit 31 - i of the integer is the coefficient of x^i.
constexpr uint32_t MultiplyByX(uint32_t a) {
  return (a >> 1) ^ ((a & 1) != 0 ? kPolynomialReflected : 0);
}

// kTables[k][b] is the contribution of byte b, followed by k zero bytes, to a crc.
constexpr auto MakeTables() {
  std::array<std::array<uint32_t, 256>, 8> tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = MultiplyByX(crc);
    tables[0][byte] = crc;
  }
  for (size_t k = 1; k < tables.size(); ++k) {
    for (size_t byte = 0; byte < 256; ++byte)
      tables[k][byte] = (tables[k - 1][byte] >> 8) ^ tables[0][tables[k - 1][byte] & 0xff];
  }
  return tables;
}
constexpr auto kTables = MakeTables();

uint32_t ExtendByByte(uint32_t state, char byte) {
  return (state >> 8) ^ kTables[0][(state ^ static_cast<unsigned char>(byte)) & 0xff];
}

#if ASHLAR_X86_64

constexpr size_t kStreamWordsMax = 256;
constexpr size_t kStreamWordsMin = 8;

// kShifts[w] = x^(64 w - 33) mod P. The crc32 instruction of a 64-bit carry-less product a *
// kShifts[w] gives a * x^(64 w) mod P: the instruction multiplies by x^32, and the reflected
// product is shifted down by one bit.
constexpr auto MakeShifts() {
  std::array<uint32_t, 2 * kStreamWordsMax + 1> shifts{};
  uint32_t power = 1;  // x^31
  for (size_t w = 1; w < shifts.size(); ++w) {
    shifts[w] = power;
    for (int bit = 0; bit < 64; ++bit) power = MultiplyByX(power);
  }
  return shifts;
}
constexpr auto kShifts = MakeShifts();

ASHLAR_TARGET("sse4.2,pclmul") uint64_t ShiftByWords(uint64_t state, size_t words) {
  const __m128i product =
      _mm_clmulepi64_si128(_mm_cvtsi64_si128(static_cast<long long>(state)),
                           _mm_cvtsi64_si128(static_cast<long long>(kShifts[words])), 0);
  return static_cast<uint64_t>(_mm_cvtsi128_si64(product));
}

// Runs three adjacent streams over p[0, 24 * words) at once.
ASHLAR_TARGET("sse4.2,pclmul")
uint64_t ExtendThreeStreams(uint64_t state, const char* p, size_t words) {
  uint64_t a = state;
  uint64_t b = 0;
  uint64_t c = 0;
  const size_t stream_bytes = 8 * words;
  for (const char* const end = p + stream_bytes; p != end; p += 8) {
    a = _mm_crc32_u64(a, DecodeFixed64(p));
    b = _mm_crc32_u64(b, DecodeFixed64(p + stream_bytes));
    c = _mm_crc32_u64(c, DecodeFixed64(p + 2 * stream_bytes));
  }
  return _mm_crc32_u64(0, ShiftByWords(a, 2 * words) ^ ShiftByWords(b, words)) ^ c;
}

ASHLAR_TARGET("sse4.2,pclmul") uint32_t ExtendHardware(uint32_t crc, const char* data, size_t n) {
  uint64_t state = ~crc;
  while (n >= 3 * 8 * kStreamWordsMin) {
    const size_t words = n / 24 < kStreamWordsMax ? n / 24 : kStreamWordsMax;
    state = ExtendThreeStreams(state, data, words);
    data += 24 * words;
    n -= 24 * words;
  }
  for (; n >= 8; data += 8, n -= 8) state = _mm_crc32_u64(state, DecodeFixed64(data));
  auto state32 = static_cast<uint32_t>(state);
  for (; n > 0; ++data, --n) state32 = _mm_crc32_u8(state32, static_cast<unsigned char>(*data));
  return ~state32;
}

#endif

using ExtendFunction = uint32_t (*)(uint32_t, const char*, size_t);

ExtendFunction BestFunction() {
#if ASHLAR_X86_64
  if (ASHLAR_CPU_HAS_CRC32C()) return &ExtendHardware;
#endif
  return &ExtendPortable;
}

uint32_t ExtendFirstTime(uint32_t crc, const char* data, size_t n);

// Starts as a function that replaces this pointer, so it is ready before any constructor has run.
// Relaxed, because the result is the same whichever of its values a thread sees.
constinit std::atomic<ExtendFunction> extend_function{&ExtendFirstTime};

uint32_t ExtendFirstTime(uint32_t crc, const char* data, size_t n) {
  const ExtendFunction best = BestFunction();
  extend_function.store(best, std::memory_order_relaxed);
  return best(crc, data, n);
}

}  // namespace

uint32_t ExtendPortable(uint32_t crc, const char* data, size_t n) {
  uint32_t state = ~crc;
  for (; n >= 8; data += 8, n -= 8) {
    const uint32_t low = DecodeFixed32(data) ^ state;
    const uint32_t high = DecodeFixed32(data + 4);
    state = kTables[7][low & 0xff] ^ kTables[6][(low >> 8) & 0xff] ^
            kTables[5][(low >> 16) & 0xff] ^ kTables[4][low >> 24] ^ kTables[3][high & 0xff] ^
            kTables[2][(high >> 8) & 0xff] ^ kTables[1][(high >> 16) & 0xff] ^
            kTables[0][high >> 24];
  }
  for (; n > 0; ++data, --n) state = ExtendByByte(state, *data);
  return ~state;
}

uint32_t Extend(uint32_t crc, const char* data, size_t n) {
  return extend_function.load(std::memory_order_relaxed)(crc, data, n);
}

}  // namespace ashlar::crc32c
