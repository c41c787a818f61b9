// PageAllocator: memory for containers that grow large and are freed while the process continues,
// such as a table's index or the hashes of a filter under construction.
//
// Allocations of at least kMappedBytesMin are mapped from the system, and freeing unmaps them at
// once. In the general allocator such pieces leave holes between small ones that live longer. A
// store that compacts all day would retain those holes: 11 MiB after 10 million writes.
//
// Stateless, so any instance can free the allocations of another. Thread safety: any thread.
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>
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
  // NOLINTNEXTLINE(google-explicit-constructor): required of an allocator by the standard
  PageAllocator(const PageAllocator<U>&) {}

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

// An array of n zero-filled objects. Requires: T has no destructor, and zeros are its
// value-initialized state. Unwritten pages of large allocations take no memory.
template <typename T>
class ZeroedArray {
 public:
  ZeroedArray() = default;
  explicit ZeroedArray(size_t n) : data_(PageAllocator<T>().allocate(n)), size_(n) {
    if (n * sizeof(T) < PageAllocator<T>::kMappedBytesMin)
      memset(static_cast<void*>(data_), 0, n * sizeof(T));
  }
  ~ZeroedArray() {
    if (data_ != nullptr) PageAllocator<T>().deallocate(data_, size_);
  }
  ZeroedArray(ZeroedArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  ZeroedArray& operator=(ZeroedArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ZeroedArray(const ZeroedArray&) = delete;
  ZeroedArray& operator=(const ZeroedArray&) = delete;

  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }

 private:
  static_assert(std::is_trivially_destructible_v<T>);

  T* data_ = nullptr;
  size_t size_ = 0;
};

template <typename T>
using PagedVector = std::vector<T, PageAllocator<T>>;

}  // namespace ashlar
