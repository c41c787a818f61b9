// ByteBuffer: an array of bytes that grows at its end. Unlike a string, it does not fill the room
// with zeros before the room is written.
//
//   data() [ bytes ............ | room ...... ]          char* p = Reserve(n);
//          0                 size()      capacity        write up to n bytes at p;
//                                                        Extend(bytes written)
//
// Lifetime: pointers into it are valid until the next Reserve or Append. Thread safety: one thread.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

#include "ashlar/slice.h"
#include "base/assert.h"
#include "base/compiler.h"

namespace ashlar {

// memcpy without a call for 8 to 32 bytes, the sizes of most keys. Uses two moves that may overlap
// each other. Requires: the two areas do not overlap.
inline void CopyShort(char* to, const char* from, size_t n) {
  if (n > 16 && n <= 32) [[likely]] {
    memcpy(to, from, 16);
    memcpy(to + n - 16, from + n - 16, 16);
  } else if (n >= 8 && n <= 16) {
    memcpy(to, from, 8);
    memcpy(to + n - 8, from + n - 8, 8);
  } else if (n > 0) {
    memcpy(to, from, n);
  }
}

class ByteBuffer {
 public:
  ByteBuffer() = default;
  ByteBuffer(const ByteBuffer&) = delete;
  ByteBuffer& operator=(const ByteBuffer&) = delete;

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  char* data() { return data_.get(); }
  const char* data() const { return data_.get(); }
  Slice From(size_t start) const ASHLAR_LIFETIME_BOUND {
    return Slice(data_.get() + start, size_ - start);
  }

  // Returns room for n more bytes after the last byte.
  char* Reserve(size_t n) {
    if (n > capacity_ - size_) [[unlikely]] {
      Grow(n);
    }
    return data_.get() + size_;
  }
  // Adds the first n bytes of the room to the buffer.
  void Extend(size_t n) {
    ASHLAR_DCHECK(n <= capacity_ - size_);  // Requires: Reserve made the room
    size_ += n;
  }
  void Append(const Slice& bytes) {
    if (bytes.empty()) return;
    memcpy(Reserve(bytes.size()), bytes.data(), bytes.size());
    size_ += bytes.size();
  }
  void RemoveFront(size_t n) {
    size_ -= n;
    if (size_ > 0) memmove(data_.get(), data_.get() + n, size_);
  }
  // Removes all bytes but keeps the memory.
  void Clear() { size_ = 0; }

 private:
  ASHLAR_NO_INLINE void Grow(size_t n) {
    const size_t wanted = size_ + n;
    const size_t capacity = wanted > 2 * capacity_ ? wanted : 2 * capacity_;
    auto grown = std::make_unique_for_overwrite<char[]>(capacity);
    if (size_ > 0) memcpy(grown.get(), data_.get(), size_);
    data_ = std::move(grown);
    capacity_ = capacity;
  }

  std::unique_ptr<char[]> data_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace ashlar
