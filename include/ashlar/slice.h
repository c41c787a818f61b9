// Slice: a borrowed range of bytes. PinnableSlice: a range of bytes and the reference that keeps it
// alive.
//
// Lifetime: a Slice owns nothing; its bytes must outlive it. A PinnableSlice keeps its bytes valid
// until Reset(), reuse as an output, or destruction. Thread safety: values; const access from
// several threads is safe.
#pragma once

#if __cplusplus < 202002L && (!defined(_MSVC_LANG) || _MSVC_LANG < 202002L)
#error "Ashlar's C++ headers need C++20: compile with -std=c++20 (or /std:c++20), or use ashlar/c.h"
#endif

#include <cassert>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "ashlar/cleanable.h"
#include "ashlar/export.h"

namespace ashlar {

struct SliceParts;

class ASHLAR_API Slice {
 public:
  constexpr Slice() = default;
  constexpr Slice(const char* data, size_t size) : data_(data), size_(size) {}
  // NOLINTBEGIN(google-explicit-constructor): conversions are the point of them
  Slice(const std::string& s) : data_(s.data()), size_(s.size()) {}
  constexpr Slice(std::string_view s) : data_(s.data()), size_(s.size()) {}
  Slice(const char* s) : data_(s), size_(s == nullptr ? 0 : strlen(s)) {}
  // NOLINTEND(google-explicit-constructor)
  // Concatenates the pieces in *buf, which must outlive the slice.
  Slice(const SliceParts& parts, std::string* buf);

  constexpr const char* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  const char* begin() const { return data_; }
  const char* end() const { return data_ + size_; }

  char operator[](size_t i) const {
    assert(i < size_);
    return data_[i];
  }
  void clear() {
    data_ = "";
    size_ = 0;
  }
  void remove_prefix(size_t n) {
    assert(n <= size_);
    data_ += n;
    size_ -= n;
  }
  void remove_suffix(size_t n) {
    assert(n <= size_);
    size_ -= n;
  }

  // A copy of the bytes. With hex, two upper-case digits per byte.
  std::string ToString(bool hex = false) const;
  constexpr std::string_view ToStringView() const { return {data_, size_}; }
  // The reverse of ToString(true). Returns false, and leaves *result unspecified, if this is not an
  // even number of hexadecimal digits.
  bool DecodeHex(std::string* result) const;

  // Compares the bytes as unsigned numbers: < 0, 0 or > 0.
  int compare(const Slice& b) const {
    const size_t n = size_ < b.size_ ? size_ : b.size_;
    const int r = n == 0 ? 0 : memcmp(data_, b.data_, n);
    if (r != 0) return r;
    return size_ < b.size_ ? -1 : (size_ > b.size_ ? 1 : 0);
  }
  bool starts_with(const Slice& x) const {
    return size_ >= x.size_ && (x.size_ == 0 || memcmp(data_, x.data_, x.size_) == 0);
  }
  bool ends_with(const Slice& x) const {
    return size_ >= x.size_ &&
           (x.size_ == 0 || memcmp(data_ + size_ - x.size_, x.data_, x.size_) == 0);
  }
  // The length of the longest common prefix, in bytes.
  size_t difference_offset(const Slice& b) const;

 private:
  friend class PinnableSlice;
  const char* data_ = "";
  size_t size_ = 0;
};

inline bool operator==(const Slice& x, const Slice& y) {
  return x.size() == y.size() && (x.size() == 0 || memcmp(x.data(), y.data(), x.size()) == 0);
}
inline bool operator!=(const Slice& x, const Slice& y) { return !(x == y); }
inline bool operator<(const Slice& x, const Slice& y) { return x.compare(y) < 0; }

// A string in pieces; the pieces and their bytes are borrowed.
struct SliceParts {
  SliceParts(const Slice* parts_in, int num_parts_in) : parts(parts_in), num_parts(num_parts_in) {}
  SliceParts() = default;

  const Slice* parts = nullptr;
  int num_parts = 0;
};

class ASHLAR_API PinnableSlice : public Slice, public Cleanable {
 public:
  PinnableSlice() : buf_(&self_space_) {}
  // `buf` holds the bytes whenever the slice owns them. It must outlive the slice.
  explicit PinnableSlice(std::string* buf) : buf_(buf) {}

  PinnableSlice(PinnableSlice&& other) noexcept;
  PinnableSlice& operator=(PinnableSlice&& other) noexcept;
  PinnableSlice(const PinnableSlice&) = delete;
  PinnableSlice& operator=(const PinnableSlice&) = delete;

  // Refers to s, whose bytes stay valid until function(arg1, arg2) is called. The slice must not be
  // pinned.
  void PinSlice(const Slice& s, CleanupFunction function, void* arg1, void* arg2) {
    assert(!pinned_);
    pinned_ = true;
    data_ = s.data();
    size_ = s.size();
    RegisterCleanup(function, arg1, arg2);
  }
  // Refers to s and takes over the clean-ups of `cleanable`. If cleanable is null, s must outlive
  // the slice.
  void PinSlice(const Slice& s, Cleanable* cleanable) {
    assert(!pinned_);
    pinned_ = true;
    data_ = s.data();
    size_ = s.size();
    if (cleanable != nullptr) cleanable->DelegateCleanupsTo(this);
  }
  // Copies s into the buffer and refers to the copy.
  void PinSelf(const Slice& s) {
    assert(!pinned_);
    buf_->assign(s.data(), s.size());
    data_ = buf_->data();
    size_ = buf_->size();
  }
  // Refers to the bytes that the caller stored in *GetSelf().
  void PinSelf() {
    assert(!pinned_);
    data_ = buf_->data();
    size_ = buf_->size();
  }

  void remove_suffix(size_t n) {
    assert(n <= size_);
    if (pinned_) {
      size_ -= n;
    } else {
      buf_->erase(size_ - n, n);
      PinSelf();
    }
  }
  void remove_prefix(size_t n) {
    assert(n <= size_);
    if (pinned_) {
      data_ += n;
      size_ -= n;
    } else {
      buf_->erase(0, n);
      PinSelf();
    }
  }

  // Releases the pinned bytes. The slice is empty afterwards.
  void Reset() {
    Cleanable::Reset();
    pinned_ = false;
    data_ = "";
    size_ = 0;
  }
  std::string* GetSelf() { return buf_; }
  bool IsPinned() const { return pinned_; }

 private:
  std::string self_space_;
  std::string* buf_;
  bool pinned_ = false;
};

}  // namespace ashlar
