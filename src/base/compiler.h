// The compiler conditionals of the code base. Extensions to ISO C++20 are defined only here, with a
// form for GCC, Clang and MSVC.
//
// Conditionals on the operating system belong to src/platform.
#pragma once

#include <cstdint>

#if defined(__GNUC__) || defined(__clang__)
#define ASHLAR_LIKELY(x) (__builtin_expect(static_cast<bool>(x), 1))
#define ASHLAR_UNLIKELY(x) (__builtin_expect(static_cast<bool>(x), 0))
// Starts loading the cache line at p. Any p is allowed, even one that is not mapped. Is a
// statement. GCC assumes that a function that only loads and prefetches has no effects, and drops
// calls of it. The empty assembly is an effect.
#define ASHLAR_PREFETCH(p) \
  do {                     \
    __asm__ volatile("");  \
    __builtin_prefetch(p); \
  } while (false)
#define ASHLAR_PREFETCH_FOR_WRITE(p) \
  do {                               \
    __asm__ volatile("");            \
    __builtin_prefetch(p, 1);        \
  } while (false)
#define ASHLAR_NO_INLINE __attribute__((noinline))
#define ASHLAR_ALWAYS_INLINE inline __attribute__((always_inline))
// Marks a function whose format argument follows the rules of printf. Both positions count from 1,
// and the `this` of a member function is the first.
#define ASHLAR_PRINTF_FORMAT(format_position, first_argument) \
  __attribute__((format(printf, format_position, first_argument)))
#elif defined(_MSC_VER)
#include <intrin.h>
#define ASHLAR_LIKELY(x) (static_cast<bool>(x))
#define ASHLAR_UNLIKELY(x) (static_cast<bool>(x))
#if defined(_M_X64) || defined(_M_IX86)
#define ASHLAR_PREFETCH(p) _mm_prefetch(reinterpret_cast<const char*>(p), _MM_HINT_T0)
#else
#define ASHLAR_PREFETCH(p) static_cast<void>(p)
#endif
#define ASHLAR_PREFETCH_FOR_WRITE(p) ASHLAR_PREFETCH(p)
#define ASHLAR_NO_INLINE __declspec(noinline)
#define ASHLAR_ALWAYS_INLINE __forceinline
#define ASHLAR_PRINTF_FORMAT(format_position, first_argument)
#else
#define ASHLAR_LIKELY(x) (static_cast<bool>(x))
#define ASHLAR_UNLIKELY(x) (static_cast<bool>(x))
#define ASHLAR_PREFETCH(p) static_cast<void>(p)
#define ASHLAR_PREFETCH_FOR_WRITE(p) static_cast<void>(p)
#define ASHLAR_NO_INLINE
#define ASHLAR_ALWAYS_INLINE inline
#define ASHLAR_PRINTF_FORMAT(format_position, first_argument)
#endif

// Marks a parameter, or the object of a member function. A view that the function returns must not
// outlive it.
#if defined(__clang__)
#define ASHLAR_LIFETIME_BOUND [[clang::lifetimebound]]
#elif defined(_MSC_VER)
#define ASHLAR_LIFETIME_BOUND [[msvc::lifetimebound]]
#else
#define ASHLAR_LIFETIME_BOUND
#endif

// x86-64: the instruction set beyond the baseline that a single function may use. Such a function
// must only be called after a check at run time.
#if defined(__x86_64__) || defined(_M_X64)
#define ASHLAR_X86_64 1
#if defined(__GNUC__) || defined(__clang__)
#define ASHLAR_TARGET(features) __attribute__((target(features)))
#define ASHLAR_CPU_HAS_CRC32C() \
  (__builtin_cpu_supports("sse4.2") != 0 && __builtin_cpu_supports("pclmul") != 0)
#define ASHLAR_CPU_HAS_AVX2() (__builtin_cpu_supports("avx2") != 0)
#else
#define ASHLAR_TARGET(features)
// Leaf 1, ECX: bit 20 is SSE4.2, bit 1 PCLMULQDQ.
#define ASHLAR_CPU_HAS_CRC32C()                                           \
  ([] {                                                                   \
    int registers[4];                                                     \
    __cpuid(registers, 1);                                                \
    return (registers[2] >> 20 & 1) != 0 && (registers[2] >> 1 & 1) != 0; \
  }())
// Leaf 1, ECX: bit 27, the system saves the wide registers, bit 28 AVX; leaf 7, EBX: bit 5 AVX2.
#define ASHLAR_CPU_HAS_AVX2()                        \
  ([] {                                              \
    int registers[4];                                \
    __cpuid(registers, 1);                           \
    if ((registers[2] >> 27 & 3) != 3) return false; \
    if ((_xgetbv(0) & 6) != 6) return false;         \
    __cpuidex(registers, 7, 0);                      \
    return (registers[1] >> 5 & 1) != 0;             \
  }())
#endif
#else
#define ASHLAR_X86_64 0
#endif

#if defined(__SANITIZE_ADDRESS__)
#define ASHLAR_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASHLAR_ADDRESS_SANITIZER 1
#endif
#endif
#if !defined(ASHLAR_ADDRESS_SANITIZER)
#define ASHLAR_ADDRESS_SANITIZER 0
#endif

// Marks free memory. AddressSanitizer reports accesses to it until it is allocated again.
#if ASHLAR_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#define ASHLAR_POISON(p, n) ASAN_POISON_MEMORY_REGION(p, n)
#define ASHLAR_UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
#else
#define ASHLAR_POISON(p, n) (static_cast<void>(p), static_cast<void>(n))
#define ASHLAR_UNPOISON(p, n) (static_cast<void>(p), static_cast<void>(n))
#endif

namespace ashlar {

// Computes the full product of a and b. Returns the low half and stores the high half.
inline uint64_t MultiplyFull(uint64_t a, uint64_t b, uint64_t* high) {
#if defined(__SIZEOF_INT128__)
  __extension__ using Uint128 = unsigned __int128;
  const Uint128 product = static_cast<Uint128>(a) * b;
  *high = static_cast<uint64_t>(product >> 64);
  return static_cast<uint64_t>(product);
#elif defined(_MSC_VER) && defined(_M_X64)
  return _umul128(a, b, high);
#else
  const uint64_t a_low = a & 0xffffffffu, a_high = a >> 32, b_low = b & 0xffffffffu,
                 b_high = b >> 32;
  const uint64_t low = a_low * b_low;
  const uint64_t middle = a_high * b_low + (low >> 32);  // at most 2^64 - 2^32: cannot wrap
  const uint64_t cross = a_low * b_high + (middle & 0xffffffffu);
  *high = a_high * b_high + (middle >> 32) + (cross >> 32);
  return (cross << 32) | (low & 0xffffffffu);
#endif
}

}  // namespace ashlar
