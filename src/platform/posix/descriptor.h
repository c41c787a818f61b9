// UniqueDescriptor: owns a file descriptor until an object takes it. For this folder only.
#pragma once

#include <unistd.h>

#include <utility>

namespace ashlar {

class UniqueDescriptor {
 public:
  // -1: none.
  explicit UniqueDescriptor(int fd) : fd_(fd) {}
  ~UniqueDescriptor() {
    if (valid()) ::close(fd_);
  }
  UniqueDescriptor(const UniqueDescriptor&) = delete;
  UniqueDescriptor& operator=(const UniqueDescriptor&) = delete;

  bool valid() const { return fd_ != -1; }
  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

}  // namespace ashlar
