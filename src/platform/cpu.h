// Processor properties and instructions. Features that change results of nothing but speed are
// detected where they are used (base/crc32c.h).
#pragma once

#include <cstdint>

#if defined(_MSC_VER)
#include <intrin.h>
#endif

namespace ashlar {

// Processors that this process may run on, at least 1. Constant for the life of the process.
uint32_t HardwareThreads();

// Cache line size, for padding data that different threads write.
inline constexpr uint32_t kCacheLineBytes = 64;

// Hints the processor that this thread spins.
inline void CpuRelax() {
#if defined(_MSC_VER)
  _mm_pause();
#elif defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

}  // namespace ashlar
