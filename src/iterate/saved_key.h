// SavedKey: a copy of a key that is replaced often. Short keys are stored in the object. Assign is
// a memcpy, which costs less than std::string's choice of where to store the bytes.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>

#include "key/internal_key.h"

namespace ashlar {

class SavedKey {
 public:
  SavedKey() = default;
  SavedKey(const SavedKey&) = delete;
  SavedKey& operator=(const SavedKey&) = delete;

  // `key` may be key().
  void Assign(const Slice& key) {
    if (key.data() == data_) return;
    Reserve(key.size());
    if (!key.empty()) memcpy(data_, key.data(), key.size());
    size_ = key.size();
  }
  // Requires: user_key is not within key().
  void AssignInternal(const Slice& user_key, uint64_t tag) {
    Reserve(user_key.size() + kTagBytes);
    if (!user_key.empty()) memcpy(data_, user_key.data(), user_key.size());
    EncodeFixed64(data_ + user_key.size(), tag);
    size_ = user_key.size() + kTagBytes;
  }
  void Clear() { size_ = 0; }
  // Valid until the next Assign of another key.
  Slice key() const { return Slice(data_, size_); }

 private:
  void Reserve(size_t bytes) {
    if (bytes <= capacity_) [[likely]] {
      return;
    }
    const size_t capacity = std::max(bytes, 2 * capacity_);
    heap_ = std::make_unique_for_overwrite<char[]>(capacity);  // a failure changes nothing
    data_ = heap_.get();
    capacity_ = capacity;
  }

  char inline_[64];
  std::unique_ptr<char[]> heap_;
  char* data_ = inline_;
  size_t capacity_ = sizeof(inline_);
  size_t size_ = 0;
};

}  // namespace ashlar
