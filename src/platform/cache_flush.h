// Moves bytes from the processor's caches to persistent memory.
//
// A line is durable after its last store, then FlushLines, then FlushFence. The instruction is
// chosen at run time: clwb keeps the line in the cache, clflushopt and clflush evict it. If the
// caches survive a power failure (eADR), no line needs a flush, but the order of stores still needs
// the fence.
//
// Thread safety: any thread; FlushFence orders the calling thread's flushes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ashlar {

enum class FlushInstruction : uint8_t { kNone, kClflush, kClflushopt, kClwb };

// The best that this processor has; kNone where the library knows none.
FlushInstruction BestFlushInstruction();
const char* FlushInstructionName(FlushInstruction instruction);

// Every cache line that [start, start + bytes) touches. The instruction must be one that the
// processor has.
void FlushLines(FlushInstruction instruction, const void* start, size_t bytes);
// Stores and flushes before it are done before any store after it.
void FlushFence();

// Whether the system says that the caches are inside the persistence domain of every
// persistent-memory region that it has; false when it has none.
bool CachesArePersistent();

}  // namespace ashlar
