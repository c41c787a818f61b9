#include "platform/cache_flush.h"

#include <atomic>

#include "base/compiler.h"
#include "platform/cpu.h"

#if ASHLAR_X86_64
#include <immintrin.h>
#if !defined(_MSC_VER)
#include <cpuid.h>
#endif
#endif

namespace ashlar {
namespace {

#if ASHLAR_X86_64

// Leaf 7, EBX: bit 23 is CLFLUSHOPT, bit 24 CLWB. Every x86-64 has CLFLUSH.
uint32_t ExtendedFeatures() {
#if defined(_MSC_VER)
  int registers[4] = {};
  __cpuidex(registers, 7, 0);
  return static_cast<uint32_t>(registers[1]);
#else
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 ? ebx : 0;
#endif
}

FlushInstruction Detect() {
  const uint32_t features = ExtendedFeatures();
  if ((features >> 24 & 1) != 0) return FlushInstruction::kClwb;
  return (features >> 23 & 1) != 0 ? FlushInstruction::kClflushopt : FlushInstruction::kClflush;
}

ASHLAR_TARGET("clwb") void WriteBack(const char* first, const char* end) {
  for (const char* line = first; line < end; line += kCacheLineBytes)
    _mm_clwb(const_cast<char*>(line));
}
ASHLAR_TARGET("clflushopt") void FlushWeakly(const char* first, const char* end) {
  for (const char* line = first; line < end; line += kCacheLineBytes)
    _mm_clflushopt(const_cast<char*>(line));
}
void Flush(const char* first, const char* end) {
  for (const char* line = first; line < end; line += kCacheLineBytes) _mm_clflush(line);
}

#else

FlushInstruction Detect() { return FlushInstruction::kNone; }

#endif

}  // namespace

FlushInstruction BestFlushInstruction() {
  static const FlushInstruction best = Detect();
  return best;
}

const char* FlushInstructionName(FlushInstruction instruction) {
  switch (instruction) {
    case FlushInstruction::kNone: return "none";
    case FlushInstruction::kClflush: return "clflush";
    case FlushInstruction::kClflushopt: return "clflushopt";
    case FlushInstruction::kClwb: return "clwb";
  }
  return "unknown";
}

void FlushLines(FlushInstruction instruction, const void* start, size_t bytes) {
#if ASHLAR_X86_64
  const auto address = reinterpret_cast<uintptr_t>(start);
  const char* const first = static_cast<const char*>(start) - address % kCacheLineBytes;
  const char* const end = static_cast<const char*>(start) + bytes;
  switch (instruction) {
    case FlushInstruction::kNone: return;
    case FlushInstruction::kClflush: return Flush(first, end);
    case FlushInstruction::kClflushopt: return FlushWeakly(first, end);
    case FlushInstruction::kClwb: return WriteBack(first, end);
  }
#else
  static_cast<void>(instruction);
  static_cast<void>(start);
  static_cast<void>(bytes);
#endif
}

void FlushFence() {
#if ASHLAR_X86_64
  _mm_sfence();
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace ashlar
