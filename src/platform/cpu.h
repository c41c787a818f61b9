// What the library asks of the processor. Features that change results of nothing but speed are detected where they are used (base/crc32c.h).
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(_MSC_VER)
#include <intrin.h>
#endif

#include "base/compiler.h"

namespace ashlar {

// Processors that this process may run on, at least 1. Constant for the life of the process.
uint32_t HardwareThreads();

// Cache line: for padding what different threads write, and for asking for memory.
inline constexpr uint32_t kCacheLineBytes = 64;

// Asks for the n bytes at p, a line at a time; p need not be the beginning of a line, nor be mapped.
inline void PrefetchLines(const void* p, size_t n) {
  const char* const first = static_cast<const char*>(p);
  for (size_t i = 0; i < n; i += kCacheLineBytes) ASHLAR_PREFETCH(first + i);
}

// Tells the processor that this thread spins.
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
