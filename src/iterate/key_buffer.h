// KeyBuffer: a copy of a key that is replaced often. Assigning is a memcpy: a std::string spends more on deciding where to put the bytes.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>

#include "ashlar/slice.h"

namespace ashlar {

class KeyBuffer {
 public:
  // key may be this buffer's own.
  void Assign(const Slice& key) {
    if (key.data() == data_.get()) return;
    if (key.size() > capacity_) Grow(key.size());
    if (!key.empty()) memcpy(data_.get(), key.data(), key.size());
    size_ = key.size();
  }
  // Valid until the next Assign of another key.
  Slice key() const { return Slice(data_.get(), size_); }

 private:
  void Grow(size_t bytes) {
    capacity_ = std::max(bytes, 2 * capacity_);
    data_ = std::make_unique_for_overwrite<char[]>(capacity_);
  }

  size_t capacity_ = 64;
  size_t size_ = 0;
  std::unique_ptr<char[]> data_ = std::make_unique_for_overwrite<char[]>(capacity_);
};

}  // namespace ashlar
