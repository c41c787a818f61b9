// Pages: their size, advice about them, and memory made of them.
#pragma once

#include <cstddef>

namespace ashlar {

// Bytes of an ordinary page; a power of two.
size_t PageBytes();

// Advises that [start, start + bytes) be backed by huge pages when it is touched. Never fails.
// Parts that do not fill a huge page are left alone.
void AdviseHugePages(void* start, size_t bytes);

// Zeroed memory from the system, returned to it at once. A general allocator may keep large pieces,
// depending on their neighbours. It is laid and advised so that it can be huge pages, where the
// system has them. Null: there is none. The signatures fit the hooks of memtable/arena.h. Thread
// safety: any thread.
void* MapPages(size_t bytes) noexcept;
// Requires: a result of MapPages(bytes), not null.
void UnmapPages(void* start, size_t bytes) noexcept;

}  // namespace ashlar
