#include "platform/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/assert.h"
#include "base/format.h"
#include "platform/memory.h"
#include "platform/posix/descriptor.h"
#include "platform/posix/file_info.h"
#include "platform/posix/posix_error.h"

namespace ashlar {
namespace {

constexpr intptr_t kClosed = -1;
constexpr mode_t kFileMode = 0600;
constexpr uint64_t kOffsetMax = static_cast<uint64_t>(std::numeric_limits<off_t>::max());

int OpenFlags(const OpenRequest& request) {
  int flags = O_CLOEXEC;
  switch (request.mode) {
    case OpenMode::kRead: flags |= O_RDONLY; break;
    case OpenMode::kReadNoFollow: flags |= O_RDONLY | O_NOFOLLOW; break;
    // Also readable, because a mapping for writing would be refused otherwise.
    case OpenMode::kCreateTruncate: flags |= O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW; break;
    case OpenMode::kCreateExclusive: flags |= O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW; break;
    case OpenMode::kOpenOrCreate: flags |= O_RDWR | O_CREAT | O_NOFOLLOW; break;
  }
  if (request.direct_io) flags |= O_DIRECT;
  // A pipe planted under one of Ashlar's names must not block the open. The flag has no effect on
  // regular files.
  return flags | O_NONBLOCK;
}

// Uses O_NOATIME if the system allows it (to a file's owner). It saves 3 % of a cached read.
int OpenQuietly(const char* path, const OpenRequest& request) {
  const int flags = OpenFlags(request);
  const bool reads = request.mode == OpenMode::kRead || request.mode == OpenMode::kReadNoFollow;
  const int fd = ::open(path, flags | (reads ? O_NOATIME : 0), kFileMode);
  return fd == -1 && reads && errno == EPERM ? ::open(path, flags, kFileMode) : fd;
}

bool IsRangeValid(uint64_t offset, uint64_t bytes) {
  return offset <= kOffsetMax && bytes <= kOffsetMax - offset;
}

int ToFadvise(FileAdvice advice) {
  switch (advice) {
    case FileAdvice::kNormal: return POSIX_FADV_NORMAL;
    case FileAdvice::kRandom: return POSIX_FADV_RANDOM;
    case FileAdvice::kSequential: return POSIX_FADV_SEQUENTIAL;
    case FileAdvice::kWillNeed: return POSIX_FADV_WILLNEED;
    case FileAdvice::kDontNeed: return POSIX_FADV_DONTNEED;
  }
  return POSIX_FADV_NORMAL;
}

int ToMadvise(FileAdvice advice) {
  switch (advice) {
    case FileAdvice::kNormal: return MADV_NORMAL;
    case FileAdvice::kRandom: return MADV_RANDOM;
    case FileAdvice::kSequential: return MADV_SEQUENTIAL;
    case FileAdvice::kWillNeed: return MADV_WILLNEED;
    case FileAdvice::kDontNeed: return MADV_DONTNEED;
  }
  return MADV_NORMAL;
}

}  // namespace

Result<OsFile> OsFile::Open(const std::string& path, const OpenRequest& request) {
  ASHLAR_RETURN_IF_ERROR(CheckPath(path));
  UniqueDescriptor fd(
      AboveStandardStreams(RetryInterrupted([&] { return OpenQuietly(path.c_str(), request); })));
  if (!fd.valid()) {
    if (request.direct_io && errno == EINVAL) {
      return Status::InvalidArgument(StrCat("open ", path),
                                     "this file system cannot bypass the page cache (direct I/O)");
    }
    return SystemError("open", path, errno);
  }
  OsFile file(path, fd.get(), request.direct_io);
  fd.Release();
  struct stat info;
  if (RetryInterrupted([&] { return ::fstat(file.fd(), &info); }) == -1)
    return SystemError("inspect", path, errno);
  if (!S_ISREG(info.st_mode))
    return Status::IOError(StrCat("open ", path),
                           S_ISDIR(info.st_mode) ? "is a directory" : "is not a regular file");
  return file;
}

OsFile::OsFile(OsFile&& other) noexcept
    : path_(std::move(other.path_)),
      handle_(std::exchange(other.handle_, kClosed)),
      direct_io_(other.direct_io_) {}

OsFile& OsFile::operator=(OsFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(handle_, other.handle_);
  std::swap(direct_io_, other.direct_io_);
  return *this;
}

OsFile::~OsFile() {
  if (handle_ != kClosed) ::close(fd());
}

Result<size_t> OsFile::ReadAt(uint64_t offset, size_t n, char* to) const {
  // No byte is beyond the system's largest offset.
  if (offset > kOffsetMax) return size_t{0};
  n = static_cast<size_t>(std::min<uint64_t>(n, kOffsetMax - offset));
  size_t done = 0;
  while (done < n) {
    const ssize_t got = RetryInterrupted(
        [&] { return ::pread(fd(), to + done, n - done, static_cast<off_t>(offset + done)); });
    if (got == -1) {
      // With direct I/O, the system refuses an offset past the file's unaligned end instead of
      // reporting the end.
      if (errno == EINVAL && done > 0) break;
      return SystemError(StrCat("read at ", offset + done, " from"), path_, errno);
    }
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

Status OsFile::WriteAt(uint64_t offset, const Slice& data) {
  if (!IsRangeValid(offset, data.size()))
    return Status::InvalidArgument(path_, "write beyond the largest file offset");
  size_t done = 0;
  while (done < data.size()) {
    const ssize_t put = RetryInterrupted([&] {
      return ::pwrite(fd(), data.data() + done, data.size() - done,
                      static_cast<off_t>(offset + done));
    });
    if (put <= 0)
      return SystemError(StrCat("write at ", offset + done, " to"), path_, put == 0 ? EIO : errno);
    done += static_cast<size_t>(put);
  }
  return Status::OK();
}

Status OsFile::SyncData() {
  // Pages dirtied through a shared mapping are ordinary dirty pages of the file. fdatasync writes
  // them without an earlier msync.
  if (RetryInterrupted([&] { return ::fdatasync(fd()); }) == -1)
    return SystemError("sync", path_, errno);
  return Status::OK();
}

Status OsFile::StartWriteBack(uint64_t offset, uint64_t bytes) {
  if (!IsRangeValid(offset, bytes))
    return Status::InvalidArgument(path_, "range beyond the largest file offset");
  const auto start = [&] {
    return ::sync_file_range(fd(), static_cast<off_t>(offset), static_cast<off_t>(bytes),
                             SYNC_FILE_RANGE_WRITE);
  };
  if (RetryInterrupted(start) == 0) return Status::OK();
  // EPERM: a sandbox blocks the call. ESPIPE: the page cache holds no such file.
  const bool refused = errno == ENOSYS || errno == EPERM || errno == ESPIPE;
  return refused ? Status::NotSupported("start write-back", path_)
                 : SystemError("start write-back", path_, errno);
}

Status OsFile::Reserve(uint64_t offset, uint64_t bytes) {
  if (!IsRangeValid(offset, bytes))
    return Status::InvalidArgument(path_, "range beyond the largest file offset");
  const auto reserve = [&] {
    return ::fallocate(fd(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                       static_cast<off_t>(bytes));
  };
  if (RetryInterrupted(reserve) == -1)
    return errno == EOPNOTSUPP ? Status::NotSupported("reserve space", path_)
                               : SystemError("reserve space", path_, errno);
  return Status::OK();
}

Status OsFile::Truncate(uint64_t bytes) {
  if (bytes > kOffsetMax)
    return Status::InvalidArgument(path_, "size beyond the largest file offset");
  if (RetryInterrupted([&] { return ::ftruncate(fd(), static_cast<off_t>(bytes)); }) == -1)
    return SystemError("truncate", path_, errno);
  return Status::OK();
}

Result<FileInfo> OsFile::Info() const {
  struct stat info;
  if (RetryInterrupted([&] { return ::fstat(fd(), &info); }) == -1)
    return SystemError("inspect", path_, errno);
  return ToFileInfo(info);
}

void OsFile::Advise(FileAdvice advice, uint64_t offset, uint64_t bytes) const {
  if (!IsRangeValid(offset, bytes)) return;
  static_cast<void>(::posix_fadvise(fd(), static_cast<off_t>(offset), static_cast<off_t>(bytes),
                                    ToFadvise(advice)));
}

Status OsFile::Close() {
  ASHLAR_ASSERT(handle_ != kClosed);  // it is closed once
  const int fd = static_cast<int>(std::exchange(handle_, kClosed));
  // When close is interrupted, Linux has already released the descriptor. A second close could
  // close another thread's descriptor.
  if (::close(fd) == -1 && errno != EINTR) return SystemError("close", path_, errno);
  return Status::OK();
}

bool MappedFilesCanShrink() { return true; }

Result<OsMapping> OsMapping::MapForReading(const OsFile& file, uint64_t bytes) {
  if (bytes == 0) return OsMapping(nullptr, 0);
  if (bytes > std::numeric_limits<size_t>::max())
    return Status::NotSupported(file.path(), "too large to map");
  void* data = ::mmap(nullptr, static_cast<size_t>(bytes), PROT_READ, MAP_SHARED, file.fd(), 0);
  if (data == MAP_FAILED) return SystemError("map", file.path(), errno);
  return OsMapping(static_cast<char*>(data), static_cast<size_t>(bytes));
}

OsMapping::OsMapping(OsMapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

OsMapping::~OsMapping() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

Result<OsWindow> OsWindow::Map(const OsFile& file, uint64_t offset, size_t bytes) {
  if (!IsRangeValid(offset, bytes))
    return Status::InvalidArgument(file.path(), "mapping beyond the largest file offset");
  void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd(),
                      static_cast<off_t>(offset));
  if (data == MAP_FAILED) return SystemError("map for writing", file.path(), errno);
  return OsWindow(static_cast<char*>(data), offset, bytes);
}

OsWindow::OsWindow(OsWindow&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), offset_(other.offset_), bytes_(other.bytes_) {}

OsWindow& OsWindow::operator=(OsWindow&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(offset_, other.offset_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

OsWindow::~OsWindow() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

// A shared mapping uses the pages of the page cache, so there is nothing to write.
Status OsWindow::Flush() { return Status::OK(); }

void OsMapping::Advise(FileAdvice advice, uint64_t offset, uint64_t bytes) const {
  if (offset >= bytes_ || bytes == 0) return;
  const uint64_t end = bytes > bytes_ - offset ? bytes_ : offset + bytes;
  const uint64_t first = offset & ~uint64_t{PageBytes() - 1};
  static_cast<void>(::madvise(data_ + first, static_cast<size_t>(end - first), ToMadvise(advice)));
}

}  // namespace ashlar
