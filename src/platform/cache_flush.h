// Moves bytes from the processor's caches to persistent memory.
//
// A line is durable once FlushLines and then FlushFence have followed its last store. The
// instruction is chosen at run time. clwb keeps the line in the cache; clflushopt and clflush evict
// it. If the caches survive a power failure (eADR), no line needs a flush, but the order of stores
// still needs the fence.
//
// Thread safety: any thread; FlushFence orders the calling thread's flushes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ashlar {

enum class FlushInstruction : uint8_t { kNone, kClflush, kClflushopt, kClwb };

// The best instruction of this processor; kNone if the library supports none of its instructions.
FlushInstruction BestFlushInstruction();
const char* FlushInstructionName(FlushInstruction instruction);

// Flushes every cache line that [start, start + bytes) touches. Requires: the processor has the
// instruction.
void FlushLines(FlushInstruction instruction, const void* start, size_t bytes);
// Completes all earlier stores and flushes before any later store.
void FlushFence();

// Returns true if the system reports that the caches are inside the persistence domain of every
// persistent-memory region. Returns false if there is no such region.
bool CachesArePersistent();

}  // namespace ashlar
