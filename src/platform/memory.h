// Pages: their size, advice about them, and memory that consists of them.
#pragma once

#include <cstddef>

namespace ashlar {

// Bytes of an ordinary page; a power of two.
size_t PageBytes();

// Advises that [start, start + bytes) be backed by huge pages when it is touched. Never fails.
// Parts that do not fill a huge page are left alone.
void AdviseHugePages(void* start, size_t bytes);

// Maps zeroed memory. UnmapPages returns it to the system at once, whereas a general allocator may
// keep large pieces depending on their neighbours. The address and the advice allow huge pages if
// the system has them. Returns null if no memory is available. The signatures match the hooks of
// memtable/arena.h. Thread safety: any thread.
void* MapPages(size_t bytes) noexcept;
// Requires: a result of MapPages(bytes), not null.
void UnmapPages(void* start, size_t bytes) noexcept;

}  // namespace ashlar
