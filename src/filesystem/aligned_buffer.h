// AlignedBuffer: memory that unbuffered I/O accepts.
#pragma once

#include <cstddef>
#include <new>

#include "platform/file.h"

namespace ashlar {

class AlignedBuffer {
 public:
  explicit AlignedBuffer(size_t bytes)
      : data_(static_cast<char*>(::operator new(bytes, std::align_val_t{kDirectIoAlignment}))) {}
  ~AlignedBuffer() { ::operator delete(data_, std::align_val_t{kDirectIoAlignment}); }
  AlignedBuffer(const AlignedBuffer&) = delete;
  AlignedBuffer& operator=(const AlignedBuffer&) = delete;

  char* data() const { return data_; }

 private:
  char* const data_;
};

}  // namespace ashlar
