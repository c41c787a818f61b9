// FixedVector: a vector of at most N elements inside the object itself, for short-lived batches
// that should not allocate.
//
// Thread safety: that of std::vector.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "base/assert.h"

namespace ashlar {

template <typename T, size_t N>
class FixedVector {
 public:
  FixedVector() = default;
  ~FixedVector() { clear(); }
  FixedVector(const FixedVector&) = delete;
  FixedVector& operator=(const FixedVector&) = delete;

  // Requires: size() < N.
  template <typename... Args>
  T& emplace_back(Args&&... args) {
    ASHLAR_ASSERT(size_ < N);  // Requires
    T* const element = std::construct_at(data() + size_, std::forward<Args>(args)...);
    ++size_;
    return *element;
  }
  void clear() {
    std::destroy_n(data(), size_);
    size_ = 0;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](size_t i) { return data()[i]; }
  T& back() { return data()[size_ - 1]; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  // NOLINTNEXTLINE(google-explicit-constructor): as of the containers of the standard
  operator std::span<T>() { return {data(), size_}; }

 private:
  T* data() { return reinterpret_cast<T*>(storage_); }

  alignas(T) std::byte storage_[N * sizeof(T)];
  size_t size_ = 0;
};

}  // namespace ashlar
