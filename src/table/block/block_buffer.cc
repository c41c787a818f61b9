#include "table/block/block_buffer.h"

#include <limits>

#include "base/assert.h"
#include "base/compiler.h"
#include "platform/page_allocator.h"

namespace ashlar {

namespace {

constexpr size_t kKeptBytesMax = size_t{64} << 10;
// The blocks of one table differ little in size. The larger of two buffers is kept: it fits both.
bool Serves(size_t capacity, size_t n) { return capacity >= n && capacity - n <= n / 8; }

// The buffer that a thread keeps for reuse. It has no destructor, so that blocks may be freed until
// the thread ends.
struct Kept {
  char* data = nullptr;
  uint32_t capacity = 0;
  bool closed = false;  // the thread is ending: nothing is kept any more
};
constinit thread_local Kept kept;

// Frees the kept buffer when the thread ends. Constructed when the first buffer is kept.
struct KeptUntilTheEnd {
  ~KeptUntilTheEnd() {
    kept.closed = true;
    if (kept.data != nullptr) ASHLAR_UNPOISON(kept.data, kept.capacity);
    delete[] std::exchange(kept.data, nullptr);
  }
};

}  // namespace

BlockBuffer::BlockBuffer(size_t n) {
  ASHLAR_ASSERT(n <= std::numeric_limits<uint32_t>::max());  // Requires
  Kept& mine = kept;
  if (mine.data != nullptr && Serves(mine.capacity, n)) {
    data_ = std::exchange(mine.data, nullptr);
    capacity_ = mine.capacity;
    ASHLAR_UNPOISON(data_, capacity_);
    return;
  }
  data_ = new char[n];
  capacity_ = static_cast<uint32_t>(n);
}

BlockBuffer BlockBuffer::OfPages(size_t n) {
  if (n < PageAllocator<char>::kMappedBytesMin) return BlockBuffer(n);
  ASHLAR_ASSERT(n <= std::numeric_limits<uint32_t>::max());  // Requires
  BlockBuffer buffer;
  buffer.data_ = PageAllocator<char>().allocate(n);
  buffer.capacity_ = static_cast<uint32_t>(n);
  buffer.of_pages_ = true;
  return buffer;
}

void BlockBuffer::GiveBack() {
  if (of_pages_) return PageAllocator<char>().deallocate(data_, capacity_);
  Kept& mine = kept;
  if (mine.closed || capacity_ > kKeptBytesMax ||
      (mine.data != nullptr && Serves(mine.capacity, capacity_))) {
    delete[] data_;
    return;
  }
  static thread_local const KeptUntilTheEnd until_the_end;
  static_cast<void>(&until_the_end);
  if (mine.data != nullptr) {
    ASHLAR_UNPOISON(mine.data, mine.capacity);
    delete[] mine.data;
  }
  ASHLAR_POISON(data_, capacity_);
  mine = {.data = data_, .capacity = capacity_, .closed = false};
}

}  // namespace ashlar
