// Directories and operations on paths, of platform/file.h.
#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdio>
#include <limits>
#include <utility>

#include "base/format.h"
#include "platform/file.h"
#include "platform/posix/descriptor.h"
#include "platform/posix/file_info.h"
#include "platform/posix/posix_error.h"

namespace ashlar {
namespace {

constexpr intptr_t kClosed = -1;
constexpr mode_t kDirectoryMode = 0700;

struct DirectoryCloser {
  void operator()(DIR* stream) const { ::closedir(stream); }
};

int CreateDirectory(const std::string& path) {
  return RetryInterrupted([&] { return ::mkdir(path.c_str(), kDirectoryMode); });
}

}  // namespace

Result<OsDirectory> OsDirectory::Open(const std::string& path) {
  ASHLAR_RETURN_IF_ERROR(CheckPath(path));
  UniqueDescriptor fd(
      RetryInterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!fd.valid()) return SystemError("open directory", path, errno);
  OsDirectory directory(path, fd.get());
  fd.Release();
  return directory;
}

OsDirectory::OsDirectory(OsDirectory&& other) noexcept
    : path_(std::move(other.path_)), handle_(std::exchange(other.handle_, kClosed)) {}

OsDirectory::~OsDirectory() {
  if (handle_ != kClosed) ::close(static_cast<int>(handle_));
}

Status OsDirectory::Sync() {
  if (RetryInterrupted([&] { return ::fsync(static_cast<int>(handle_)); }) == 0)
    return Status::OK();
  // EINVAL: the file system has no sync of directories (squashfs, proc).
  return errno == EINVAL ? Status::NotSupported(StrCat("sync directory ", path_),
                                                "this file system has no sync of directories")
                         : SystemError("sync directory", path_, errno);
}

Result<FileInfo> GetFileInfo(const std::string& path) {
  ASHLAR_RETURN_IF_ERROR(CheckPath(path));
  struct stat info;
  if (RetryInterrupted([&] { return ::stat(path.c_str(), &info); }) == -1)
    return SystemError("inspect", path, errno);
  return ToFileInfo(info);
}

Result<std::vector<std::string>> ListDirectory(const std::string& path) {
  ASHLAR_RETURN_IF_ERROR(CheckPath(path));
  std::unique_ptr<DIR, DirectoryCloser> stream;
  const auto open_stream = [&] {
    stream.reset(::opendir(path.c_str()));
    return stream == nullptr ? -1 : 0;
  };
  if (RetryInterrupted(open_stream) == -1) return SystemError("list", path, errno);
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (entry == nullptr && errno == EINTR) continue;
    if (entry == nullptr) break;
    std::string name(entry->d_name);
    if (name != "." && name != "..") names.push_back(std::move(name));
  }
  if (errno != 0) return SystemError("list", path, errno);
  return names;
}

Status MakeDirectory(const std::string& path) {
  ASHLAR_RETURN_IF_ERROR(CheckPath(path));
  if (CreateDirectory(path) == -1) return SystemError("create directory", path, errno);
  return Status::OK();
}

Status MakeDirectoryIfMissing(const std::string& path) {
  ASHLAR_RETURN_IF_ERROR(CheckPath(path));
  if (CreateDirectory(path) == 0) return Status::OK();
  if (errno != EEXIST) return SystemError("create directory", path, errno);
  ASHLAR_ASSIGN_OR_RETURN(const FileInfo info, GetFileInfo(path));
  if (!info.is_directory)
    return Status::IOError(StrCat("create directory ", path), "exists, but is not a directory");
  return Status::OK();
}

Status RemoveDirectory(const std::string& path) {
  ASHLAR_RETURN_IF_ERROR(CheckPath(path));
  if (RetryInterrupted([&] { return ::rmdir(path.c_str()); }) == -1)
    return SystemError("remove directory", path, errno);
  return Status::OK();
}

Status RemoveFile(const std::string& path) {
  ASHLAR_RETURN_IF_ERROR(CheckPath(path));
  if (RetryInterrupted([&] { return ::unlink(path.c_str()); }) == -1)
    return SystemError("remove", path, errno);
  return Status::OK();
}

Status RenamePath(const std::string& from, const std::string& to) {
  ASHLAR_RETURN_IF_ERROR(CheckPath(from));
  ASHLAR_RETURN_IF_ERROR(CheckPath(to));
  if (RetryInterrupted([&] { return ::rename(from.c_str(), to.c_str()); }) == -1)
    return SystemError(StrCat("rename ", from, " to"), to, errno);
  return Status::OK();
}

Status RenameToNewPath(const std::string& from, const std::string& to) {
  ASHLAR_RETURN_IF_ERROR(CheckPath(from));
  ASHLAR_RETURN_IF_ERROR(CheckPath(to));
#ifdef RENAME_NOREPLACE
  const auto rename_to_new = [&] {
    return ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE);
  };
  if (RetryInterrupted(rename_to_new) == 0) return Status::OK();
  // A file system that supports no flags also returns EINVAL.
  if (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP)
    return SystemError(StrCat("rename ", from, " to"), to, errno);
#endif
  return Status::NotSupported(StrCat("rename ", from, " to ", to),
                              "this file system has no rename that replaces nothing");
}

Status HardLink(const std::string& from, const std::string& to) {
  ASHLAR_RETURN_IF_ERROR(CheckPath(from));
  ASHLAR_RETURN_IF_ERROR(CheckPath(to));
  if (RetryInterrupted([&] { return ::link(from.c_str(), to.c_str()); }) == 0) return Status::OK();
  if (errno == EXDEV || errno == EPERM || errno == EOPNOTSUPP || errno == EMLINK ||
      errno == ENOSYS) {
    return Status::NotSupported(StrCat("link ", from, " to ", to),
                                "not on this file system, or not between these two");
  }
  return SystemError(StrCat("link ", from, " to"), to, errno);
}

Status TruncatePath(const std::string& path, uint64_t bytes) {
  ASHLAR_RETURN_IF_ERROR(CheckPath(path));
  if (bytes > static_cast<uint64_t>(std::numeric_limits<off_t>::max()))
    return Status::InvalidArgument(path, "size beyond the largest file offset");
  // truncate() follows a link, and so could truncate a file in another directory.
  const UniqueDescriptor fd(AboveStandardStreams(RetryInterrupted(
      [&] { return ::open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC); })));
  const auto cut = [&] { return ::ftruncate(fd.get(), static_cast<off_t>(bytes)); };
  if (!fd.valid() || RetryInterrupted(cut) == -1) return SystemError("truncate", path, errno);
  return Status::OK();
}

Result<uint64_t> FreeBytes(const std::string& path) {
  ASHLAR_RETURN_IF_ERROR(CheckPath(path));
  struct statvfs info;
  if (RetryInterrupted([&] { return ::statvfs(path.c_str(), &info); }) == -1)
    return SystemError("ask for free space of", path, errno);
  return static_cast<uint64_t>(info.f_bavail) * static_cast<uint64_t>(info.f_frsize);
}

size_t OpenFilesMax() {
  struct rlimit limit;
  if (::getrlimit(RLIMIT_NOFILE, &limit) == -1 || limit.rlim_cur == RLIM_INFINITY)
    return std::numeric_limits<size_t>::max();
  return static_cast<size_t>(limit.rlim_cur);
}

}  // namespace ashlar
