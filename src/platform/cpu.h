// Processor properties and instructions. Features that only affect speed are detected where they
// are used (base/crc32c.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/compiler.h"

#if defined(_MSC_VER)
#include <intrin.h>
#endif

namespace ashlar {

// Processors that this process may run on, at least 1. Constant for the life of the process.
uint32_t HardwareThreads();

// Cache line size, for padding data that different threads write, and for prefetching.
inline constexpr uint32_t kCacheLineBytes = 64;

// Starts loading the cache lines of [start, start + bytes), beginning with the line of `start`. Any
// address is allowed.
inline void PrefetchRange(const void* start, size_t bytes) {
  const char* const p = static_cast<const char*>(start);
  for (size_t i = 0; i < bytes; i += kCacheLineBytes) ASHLAR_PREFETCH(p + i);
}

// Like PrefetchRange, for lines that are about to be written.
inline void PrefetchRangeForWrite(const void* start, size_t bytes) {
  const char* const p = static_cast<const char*>(start);
  for (size_t i = 0; i < bytes; i += kCacheLineBytes) ASHLAR_PREFETCH_FOR_WRITE(p + i);
}

// Hints to the processor that this thread is spinning.
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
