#include "platform/pool_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <new>

#include "base/format.h"
#include "platform/cache_flush.h"
#include "platform/clock.h"
#include "platform/file.h"
#include "platform/memory.h"
#include "platform/posix/descriptor.h"
#include "platform/posix/huge_pages.h"
#include "platform/posix/posix_error.h"

namespace ashlar {
namespace {

// The magic numbers of file systems that keep their files in memory (statfs(2)).
constexpr uint64_t kTmpfsMagic = 0x01021994;
constexpr uint64_t kRamfsMagic = 0x858458f6;
constexpr uint64_t kHugetlbfsMagic = 0x958458f6;

// MADV_COLLAPSE, since Linux 6.1; older C libraries do not name it.
constexpr int kCollapse = 25;

constexpr uint64_t kBytesMax = static_cast<uint64_t>(std::numeric_limits<off_t>::max());

Status TakeLock(int fd, const std::string& path) {
  if (RetryInterrupted([&] { return ::flock(fd, LOCK_EX | LOCK_NB); }) == 0) return Status::OK();
  if (errno == EWOULDBLOCK)
    return Status::IOError(StrCat("open ", path),
                           "in use by another process, or by another handle of this one");
  return SystemError("lock", path, errno);
}

bool IsNamed(int fd, const std::string& path) {
  struct stat opened;
  struct stat named;
  return RetryInterrupted([&] { return ::fstat(fd, &opened); }) == 0 &&
         RetryInterrupted([&] { return ::stat(path.c_str(), &named); }) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

// Another process may have removed or renamed the file between the open and the lock.
Status CheckStillNamed(int fd, const std::string& path) {
  if (IsNamed(fd, path)) return Status::OK();
  return Status::IOError(StrCat("open ", path),
                         "in use by another process, which replaced it; try again");
}

bool IsInMemory(int fd) {
  struct statfs info;
  if (RetryInterrupted([&] { return ::fstatfs(fd, &info); }) != 0) return false;
  const auto type = static_cast<uint64_t>(static_cast<uint32_t>(info.f_type));
  return type == kTmpfsMagic || type == kRamfsMagic || type == kHugetlbfsMagic;
}

// A signal interrupts the system call, and some file systems (tmpfs) then release all that it has
// reserved. A file is therefore reserved in pieces, and each piece is retried until it succeeds.
constexpr uint64_t kPieceBytes = uint64_t{16} << 20;

// Returns 0 or an error number.
int ReservePiece(int fd, uint64_t offset, uint64_t bytes) {
  int error = 0;
  do {
    error = ::posix_fallocate(fd, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  } while (error == EINTR);
  return error;
}

// Gives a new file in memory as many huge pages as the system has, under any mount options. A small
// page costs a fault at its first touch, and a page-table walk for nearly every record that is
// read. To turn one small page into a huge one takes less time than to add 511 more small pages.
//
// On a machine whose free memory is fragmented, a huge page costs a hundred times as much. The loop
// therefore stops when huge pages take longer than effort_max allows (MakeHugePages).
void ReserveHugePages(int fd, uint64_t bytes, double effort_max) {
  if (!(effort_max > 0) || bytes < kHugePageBytes || !IsInMemory(fd) ||
      ::ftruncate(fd, static_cast<off_t>(bytes)) != 0)
    return;
  const auto mapped_bytes = static_cast<size_t>(bytes);
  void* const data = ::mmap(AddressForHugePages(mapped_bytes), mapped_bytes, PROT_READ | PROT_WRITE,
                            MAP_SHARED, fd, 0);
  if (data == MAP_FAILED) return;
  MakeHugePages(
      bytes / kHugePageBytes, effort_max, MonotonicNanos,
      [&] { return ReservePiece(fd, 0, kHugePageBytes) == 0; },
      [&](uint64_t page) {
        const size_t at = static_cast<size_t>(page) * kHugePageBytes;
        if (ReservePiece(fd, at, PageBytes()) != 0) return false;
        // EAGAIN: the system cannot collapse this page now.
        return ::madvise(static_cast<char*>(data) + at, kHugePageBytes, kCollapse) == 0 ||
               errno == EAGAIN;
      });
  ::munmap(data, mapped_bytes);
}

Status Reserve(int fd, const std::string& path, uint64_t bytes, double huge_pages_effort_max) {
  if (bytes > kBytesMax) return Status::InvalidArgument(path, "larger than any file can be");
  ReserveHugePages(fd, bytes, huge_pages_effort_max);
  uint64_t end = 0;
  do {
    const uint64_t piece = std::min(kPieceBytes, bytes - end);
    const int error = ReservePiece(fd, end, piece);
    if (error != 0) return SystemError(StrCat("reserve ", bytes, " bytes for"), path, error);
    end += piece;
  } while (end < bytes);
  return Status::OK();
}

}  // namespace

PoolMapping::~PoolMapping() { ::munmap(data_, bytes_); }

Status PoolMapping::DiscardPages(uint64_t offset, uint64_t bytes) {
  const uint64_t page_bytes = PageBytes();
  const uint64_t begin = (offset + page_bytes - 1) / page_bytes * page_bytes;
  const uint64_t end = (offset + bytes) / page_bytes * page_bytes;
  // madvise would round the end up.
  if (begin >= end) return Status::OK();
  if (::madvise(data_ + begin, static_cast<size_t>(end - begin), MADV_DONTNEED) == 0)
    return Status::OK();
  // madvise fails at a locked page (EINVAL) and skips the pages after it, so retry page by page.
  for (uint64_t at = begin; at < end; at += page_bytes) {
    if (::madvise(data_ + at, static_cast<size_t>(page_bytes), MADV_DONTNEED) == -1 &&
        errno != EINVAL)
      return SystemError("discard pages of", "a pool's mapping", errno);
  }
  return Status::OK();
}

Result<std::unique_ptr<PoolFile>> PoolFile::Open(const std::string& path) {
  ASHLAR_RETURN_IF_ERROR(CheckPath(path));
  UniqueDescriptor fd(AboveStandardStreams(
      RetryInterrupted([&] { return ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK); })));
  if (!fd.valid()) return SystemError("open", path, errno);
  struct stat info;
  if (RetryInterrupted([&] { return ::fstat(fd.get(), &info); }) == -1)
    return SystemError("inspect", path, errno);
  if (!S_ISREG(info.st_mode))
    return Status::IOError(StrCat("open ", path), "is not a regular file");
  std::unique_ptr<PoolFile> file(new PoolFile(path, fd.get(), static_cast<uint64_t>(info.st_size)));
  fd.Release();
  ASHLAR_RETURN_IF_ERROR(TakeLock(file->fd(), path));
  ASHLAR_RETURN_IF_ERROR(CheckStillNamed(file->fd(), path));
  return file;
}

Result<std::unique_ptr<PoolFile>> PoolFile::Create(const std::string& path, uint64_t bytes,
                                                   double huge_pages_effort_max) {
  ASHLAR_RETURN_IF_ERROR(CheckPath(path));
  UniqueDescriptor fd(AboveStandardStreams(RetryInterrupted([&] {
    return ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  })));
  if (!fd.valid()) return SystemError("create", path, errno);
  std::unique_ptr<PoolFile> file(new PoolFile(path, fd.get(), bytes));
  fd.Release();
  // Until the lock is taken, the name may refer to a file of another process.
  ASHLAR_RETURN_IF_ERROR(TakeLock(file->fd(), path));
  ASHLAR_RETURN_IF_ERROR(CheckStillNamed(file->fd(), path));
  const Status status = Reserve(file->fd(), path, bytes, huge_pages_effort_max);
  if (!status.ok()) {
    ::unlink(path.c_str());
    return status;
  }
  return file;
}

Result<std::unique_ptr<PoolFile>> PoolFile::CreateAnonymous(uint64_t bytes,
                                                            double huge_pages_effort_max) {
  const std::string name = "(anonymous pool)";
  UniqueDescriptor fd(AboveStandardStreams(::memfd_create("ashlar-pool", MFD_CLOEXEC)));
  if (!fd.valid()) return SystemError("create", name, errno);
  std::unique_ptr<PoolFile> file(new PoolFile(name, fd.get(), bytes));
  fd.Release();
  ASHLAR_RETURN_IF_ERROR(Reserve(file->fd(), name, bytes, huge_pages_effort_max));
  return file;
}

// I2. Closing alone would leave the lock with a child that was forked meanwhile.
PoolFile::~PoolFile() {
  if (process_ == CurrentProcessId()) RetryInterrupted([&] { return ::flock(fd(), LOCK_UN); });
  ::close(fd());
}

std::string PoolFile::RealPath() const {
  const std::unique_ptr<char, void (*)(void*)> resolved(::realpath(path_.c_str(), nullptr), ::free);
  if (resolved == nullptr) return path_;
  std::string path = resolved.get();
  return IsNamed(fd(), path) ? path : path_;
}

PoolBacking PoolFile::Backing() const {
  if (IsInMemory(fd())) return PoolBacking::kSharedMemory;
  void* const page =
      ::mmap(nullptr, PageBytes(), PROT_READ, MAP_SHARED_VALIDATE | MAP_SYNC, fd(), 0);
  if (page == MAP_FAILED) return PoolBacking::kStorage;
  ::munmap(page, PageBytes());
  return PoolBacking::kDax;
}

Result<std::unique_ptr<PoolMapping>> PoolFile::Map(PoolMapMode mode) const {
  if (bytes_ == 0 || bytes_ > std::numeric_limits<size_t>::max())
    return Status::InvalidArgument(path_, "cannot be mapped: empty or too large");
  const int protection = mode == PoolMapMode::kSharedReadOnly ? PROT_READ : PROT_READ | PROT_WRITE;
  int flags = MAP_SHARED;
  if (mode == PoolMapMode::kSharedSync) flags = MAP_SHARED_VALIDATE | MAP_SYNC;
  if (mode == PoolMapMode::kPrivate) flags = MAP_PRIVATE | MAP_NORESERVE;
  const auto bytes = static_cast<size_t>(bytes_);
  void* const data = ::mmap(AddressForHugePages(bytes), bytes, protection, flags, fd(), 0);
  if (data == MAP_FAILED) return SystemError("map", path_, errno);
  AdviseHugePages(data, bytes);
  std::unique_ptr<PoolMapping> mapping(new (std::nothrow)
                                           PoolMapping(static_cast<char*>(data), bytes));
  if (mapping == nullptr) {
    ::munmap(data, bytes);
    return Status::MemoryLimit();
  }
  return mapping;
}

Status PoolFile::ReadAt(uint64_t offset, size_t n, char* to) const {
  size_t done = 0;
  while (done < n) {
    const ssize_t got = RetryInterrupted(
        [&] { return ::pread(fd(), to + done, n - done, static_cast<off_t>(offset + done)); });
    if (got <= 0)
      return SystemError(StrCat("read at ", offset + done, " from"), path_, got == 0 ? EIO : errno);
    done += static_cast<size_t>(got);
  }
  return Status::OK();
}

Status PoolFile::WriteAt(uint64_t offset, const char* from, size_t n) {
  size_t done = 0;
  while (done < n) {
    const ssize_t put = RetryInterrupted(
        [&] { return ::pwrite(fd(), from + done, n - done, static_cast<off_t>(offset + done)); });
    if (put <= 0)
      return SystemError(StrCat("write at ", offset + done, " to"), path_, put == 0 ? EIO : errno);
    done += static_cast<size_t>(put);
  }
  return Status::OK();
}

Status PoolFile::SyncData() {
  if (RetryInterrupted([&] { return ::fsync(fd()); }) == -1)
    return SystemError("sync", path_, errno);
  return Status::OK();
}

// The kernel names the persistence domain of each region of non-volatile memory: "cpu_cache" or
// "memory_controller".
bool CachesArePersistent() {
  const std::string devices = "/sys/bus/nd/devices";
  const Result<std::vector<std::string>> names = ListDirectory(devices);
  if (!names.ok()) return false;
  bool found = false;
  for (const std::string& name : names.value()) {
    if (!name.starts_with("region")) continue;
    Result<OsFile> file =
        OsFile::Open(StrCat(devices, "/", name, "/persistence_domain"), {.mode = OpenMode::kRead});
    char text[32] = {};
    if (!file.ok() || !file->ReadAt(0, sizeof(text), text).ok() ||
        !std::string_view(text).starts_with("cpu_cache"))
      return false;
    found = true;
  }
  return found;
}

}  // namespace ashlar
