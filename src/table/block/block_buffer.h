// BlockBuffer: the memory of one block's bytes.
//
// Each thread keeps the last buffer that was freed on it, for its next block of about the same
// size. Without a cache every lookup reads a block, and allocating and freeing a few kilobytes each
// time costs more than searching them. A thread keeps at most one small buffer.
//
// Blocks that are kept as long as their table is open are large and few. From 64 KiB on they have
// their own pages, which return to the system with the table (platform/page_allocator.h).
//
// One buffer per open table was rejected, because a pinned value keeps its block, so the buffer
// would have to be shared and counted.
//
// Thread safety: one thread at a time; may be freed on any thread. Lifetime: owns the memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace ashlar {

class BlockBuffer {
 public:
  BlockBuffer() = default;
  // Memory for at least n bytes. Requires: n <= UINT32_MAX.
  explicit BlockBuffer(size_t n);
  // The same for a block that is kept as long as its table. Throws std::bad_alloc.
  static BlockBuffer OfPages(size_t n);
  BlockBuffer(BlockBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        capacity_(std::exchange(other.capacity_, 0)),
        of_pages_(other.of_pages_) {}
  BlockBuffer& operator=(BlockBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(capacity_, other.capacity_);
    std::swap(of_pages_, other.of_pages_);
    return *this;
  }
  BlockBuffer(const BlockBuffer&) = delete;
  BlockBuffer& operator=(const BlockBuffer&) = delete;
  ~BlockBuffer() {
    if (data_ != nullptr) GiveBack();
  }

  // Null if there is no buffer.
  char* get() const { return data_; }
  size_t capacity() const { return capacity_; }
  explicit operator bool() const { return data_ != nullptr; }

 private:
  void GiveBack();

  char* data_ = nullptr;
  uint32_t capacity_ = 0;  // blocks are smaller than 4 GiB
  bool of_pages_ = false;
};

}  // namespace ashlar
