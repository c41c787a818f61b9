#include "ashlar/slice.h"

#include <utility>

namespace ashlar {
namespace {

constexpr char kHexDigits[] = "0123456789ABCDEF";

// Returns -1 if c is not a hexadecimal digit.
constexpr int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

Slice::Slice(const SliceParts& parts, std::string* buf) {
  buf->clear();
  for (int i = 0; i < parts.num_parts; ++i)
    buf->append(parts.parts[i].data(), parts.parts[i].size());
  *this = Slice(*buf);
}

std::string Slice::ToString(bool hex) const {
  if (!hex) return std::string(data_, size_);
  std::string result;
  result.reserve(2 * size_);
  for (const char c : *this) {
    const auto byte = static_cast<unsigned char>(c);
    result += kHexDigits[byte >> 4];
    result += kHexDigits[byte & 0xf];
  }
  return result;
}

bool Slice::DecodeHex(std::string* result) const {
  if (size_ % 2 != 0) return false;
  result->clear();
  result->reserve(size_ / 2);
  for (size_t i = 0; i < size_; i += 2) {
    const int high = HexValue(data_[i]);
    const int low = HexValue(data_[i + 1]);
    if (high < 0 || low < 0) return false;
    result->push_back(static_cast<char>(static_cast<unsigned char>(high * 16 + low)));
  }
  return true;
}

size_t Slice::difference_offset(const Slice& b) const {
  const size_t n = size_ < b.size_ ? size_ : b.size_;
  size_t i = 0;
  while (i < n && data_[i] == b.data_[i]) ++i;
  return i;
}

PinnableSlice::PinnableSlice(PinnableSlice&& other) noexcept : buf_(&self_space_) {
  if (!other.pinned_ || other.buf_ != &other.self_space_) {
    *this = std::move(other);
    return;
  }
  // A pinned slice moves without its buffer, which holds nothing.
  data_ = std::exchange(other.data_, "");
  size_ = std::exchange(other.size_, 0);
  pinned_ = std::exchange(other.pinned_, false);
  Cleanable::operator=(std::move(other));
}

PinnableSlice& PinnableSlice::operator=(PinnableSlice&& other) noexcept {
  if (this == &other) return *this;
  Reset();
  const bool owned_in_other = !other.pinned_ && other.data_ == other.buf_->data();
  const bool uses_own_space = other.buf_ == &other.self_space_;
  self_space_ = std::move(other.self_space_);
  buf_ = uses_own_space ? &self_space_ : other.buf_;
  // A short string is stored inside its object, so its bytes moved with it.
  data_ = owned_in_other ? buf_->data() : other.data_;
  size_ = other.size_;
  pinned_ = other.pinned_;
  Cleanable::operator=(std::move(other));

  // Gives the moved-from base class and string a defined state again.
  other.self_space_.clear();  // NOLINT(bugprone-use-after-move)
  other.buf_ = &other.self_space_;
  other.Reset();
  return *this;
}

}  // namespace ashlar
