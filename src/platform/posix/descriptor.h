// UniqueDescriptor: owns a file descriptor until an object takes it. For this folder only.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace ashlar {

// Moves the new descriptor of a data file above 2. A program that has closed its standard streams
// still prints to descriptors 1 and 2, and so into a file with one of them. Returns -1 with errno
// on failure. (LOCK may have a low one: it has no data, and a close would drop the lock.)
inline int AboveStandardStreams(int fd) {
  if (fd == -1 || fd > STDERR_FILENO) return fd;
  const int above = ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int error = errno;
  ::close(fd);
  errno = error;
  return above;
}

class UniqueDescriptor {
 public:
  // -1 means no descriptor.
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
