// Pages: their size, advice about them, and memory that is made of them.
#pragma once

#include <cstddef>

namespace ashlar {

// Bytes of an ordinary page; a power of two.
size_t PageBytes();

// Asks that [start, start + bytes) be backed by huge pages as it is touched. Advice only: never
// fails, and parts that do not fill a huge page are left alone.
void AdviseHugePages(void* start, size_t bytes);

// Zeroed memory straight from the system, and back to it at once: what a general allocator keeps of
// large pieces depends on what lies beside them. It is laid and advised so that it can be huge
// pages, where the system has them. Null: there is none. The signatures fit the hooks of
// base/arena.h. Thread safety: any thread.
void* MapPages(size_t bytes) noexcept;
// Precondition: what MapPages(bytes) returned, and not null.
void UnmapPages(void* start, size_t bytes) noexcept;

}  // namespace ashlar
