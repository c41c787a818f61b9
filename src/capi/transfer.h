// How errors, bytes and arrays pass between C and C++.
//
// Memory for the caller comes from malloc, so that rocksdb_free or free can release it. CopyValue
// reports a failed allocation, because a value may have many megabytes. The others end the process,
// because every function of the interface is noexcept and they throw std::bad_alloc.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>

#include "ashlar/slice.h"
#include "ashlar/status.h"

namespace ashlar::capi {

// Allocates at least one byte, so that an empty value is not null. Returns null if that fails.
inline void* TryAllocate(size_t bytes) { return std::malloc(bytes == 0 ? 1 : bytes); }

inline void* Allocate(size_t bytes) {
  void* const memory = TryAllocate(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

// Returns null if the allocation fails.
inline char* TryCopyBytes(const Slice& bytes) {
  char* const copy = static_cast<char*>(TryAllocate(bytes.size()));
  if (copy != nullptr && !bytes.empty()) memcpy(copy, bytes.data(), bytes.size());
  return copy;
}

inline char* CopyBytes(const Slice& bytes) {
  char* const copy = TryCopyBytes(bytes);
  if (copy == nullptr) throw std::bad_alloc();
  return copy;
}

// Copies a value and sets its size. Returns null with size 0 and an error if the allocation fails.
char* CopyValue(const Slice& value, size_t* size, char** errptr);

// Copies the text and appends a 0 byte.
char* CopyText(const Slice& text);

// The text's own bytes. Sets *size unless `size` is null. Returns null if there is no text.
inline const char* BorrowText(const std::string* text, size_t* size) {
  if (size != nullptr) *size = text == nullptr ? 0 : text->size();
  return text == nullptr ? nullptr : text->c_str();
}

// CopyText of the status's text, for an error in an array.
inline char* CopyError(const Status& status) { return CopyText(status.ToString()); }

// Replaces the text that `errptr` points to with the text of a failed status.
void SetError(char** errptr, const Status& status);

// Returns whether the status is ok. Calls SetError if it is not.
inline bool Check(char** errptr, const Status& status) {
  if (status.ok()) [[likely]] {
    return true;
  }
  SetError(errptr, status);
  return false;
}

// An array of n default-constructed elements. It uses no heap memory while n is small. MultiGet
// needs four of them per call.
template <typename T, size_t kInline = 64>
class ScratchArray {
 public:
  explicit ScratchArray(size_t n)
      : n_(n),
        data_(n <= kInline ? reinterpret_cast<T*>(inline_) : std::allocator<T>().allocate(n)) {
    std::uninitialized_default_construct_n(data_, n);
  }
  ~ScratchArray() {
    std::destroy_n(data_, n_);
    if (n_ > kInline) std::allocator<T>().deallocate(data_, n_);
  }
  ScratchArray(const ScratchArray&) = delete;
  ScratchArray& operator=(const ScratchArray&) = delete;

  T* data() { return data_; }
  T& operator[](size_t i) { return data_[i]; }

 private:
  const size_t n_;
  T* const data_;
  // NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers is what T = char* asks for
  alignas(T) std::byte inline_[kInline * sizeof(T)];
};

}  // namespace ashlar::capi
