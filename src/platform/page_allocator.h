// PageAllocator: memory of containers that grow large and go again while the process lives on: a table's index, the hashes of a filter in the making.
//
// From kMappedBytesMin on it is taken from the system and returned to it at once. From the general allocator such pieces leave holes between small
// ones that live longer, and a store that compacts all day holds on to them: 11 MiB after 10 million writes.
//
// Stateless: any instance frees what another has allocated. Thread safety: any thread.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

#include "platform/memory.h"

namespace ashlar {

template <typename T>
class PageAllocator {
 public:
  using value_type = T;
  static constexpr size_t kMappedBytesMin = size_t{64} << 10;

  PageAllocator() = default;
  template <typename U>
  PageAllocator(const PageAllocator<U>&) {}  // NOLINT(google-explicit-constructor): what the standard asks of an allocator

  // Throws std::bad_alloc.
  T* allocate(size_t n) {
    const size_t bytes = n * sizeof(T);
    if (bytes / sizeof(T) != n) throw std::bad_alloc();
    if (bytes < kMappedBytesMin) return static_cast<T*>(::operator new(bytes));
    void* const pages = MapPages(bytes);
    if (pages == nullptr) throw std::bad_alloc();
    return static_cast<T*>(pages);
  }
  void deallocate(T* p, size_t n) noexcept {
    const size_t bytes = n * sizeof(T);
    if (bytes < kMappedBytesMin) {
      ::operator delete(p);
    } else {
      UnmapPages(p, bytes);
    }
  }

  friend bool operator==(const PageAllocator&, const PageAllocator&) { return true; }
};

template <typename T>
using PagedVector = std::vector<T, PageAllocator<T>>;

}  // namespace ashlar
