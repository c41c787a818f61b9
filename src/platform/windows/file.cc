// OsFile, OsMapping and OsWindow, of platform/file.h.
#include "platform/file.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/assert.h"
#include "base/format.h"
#include "platform/memory.h"
#include "platform/windows/file_io.h"
#include "platform/windows/handle.h"
#include "platform/windows/windows_error.h"
#include "platform/windows/windows_headers.h"

namespace ashlar {
namespace {

constexpr intptr_t kClosed = -1;

HANDLE ToHandle(intptr_t handle) { return reinterpret_cast<HANDLE>(handle); }

DWORD ToAccess(OpenMode mode) {
  const bool reads_only = mode == OpenMode::kRead || mode == OpenMode::kReadNoFollow;
  return reads_only ? GENERIC_READ : GENERIC_READ | GENERIC_WRITE;
}

// The file is truncated after the open, because creating over it would follow a link and change its
// attributes.
DWORD ToDisposition(OpenMode mode) {
  switch (mode) {
    case OpenMode::kRead:
    case OpenMode::kReadNoFollow: return OPEN_EXISTING;
    case OpenMode::kCreateExclusive: return CREATE_NEW;
    case OpenMode::kCreateTruncate:
    case OpenMode::kOpenOrCreate: break;
  }
  return OPEN_ALWAYS;
}

DWORD ToFlags(const OpenRequest& request) {
  DWORD flags = FILE_ATTRIBUTE_NORMAL | FILE_FLAG_OVERLAPPED;
  if (request.mode != OpenMode::kRead) flags |= FILE_FLAG_OPEN_REPARSE_POINT;
  if (request.direct_io) flags |= FILE_FLAG_NO_BUFFERING;
  return flags;
}

bool IsAligned(uint64_t offset, size_t n, const char* address) {
  return offset % kDirectIoAlignment == 0 && n % kDirectIoAlignment == 0 &&
         reinterpret_cast<uintptr_t>(address) % kDirectIoAlignment == 0;
}

Status Misaligned(const std::string& path) {
  return Status::InvalidArgument(path, "unbuffered I/O that is not aligned");
}

// The system maps at multiples of this granularity, which is larger than a page.
uint64_t MappingGranularity() {
  static const uint64_t granularity = [] {
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return uint64_t{info.dwAllocationGranularity};
  }();
  return granularity;
}

// Maps [offset, offset + bytes) of the file. Requires: offset is a multiple of the granularity. The
// view keeps the file's section alive.
Result<char*> MapView(HANDLE file, const std::string& path, DWORD protection, DWORD access,
                      uint64_t offset, size_t bytes) {
  const UniqueHandle section(CreateFileMappingW(file, nullptr, protection, 0, 0, nullptr));
  if (!section.valid()) return SystemError("map", path, GetLastError());
  void* const data = MapViewOfFile(section.get(), access, static_cast<DWORD>(offset >> 32),
                                   static_cast<DWORD>(offset), bytes);
  if (data == nullptr) return SystemError("map", path, GetLastError());
  return static_cast<char*>(data);
}

}  // namespace

Result<OsFile> OsFile::Open(const std::string& path, const OpenRequest& request) {
  ASHLAR_ASSIGN_OR_RETURN(UniqueHandle handle,
                          OpenHandle("open", path, ToAccess(request.mode), kShareAll,
                                     ToDisposition(request.mode), ToFlags(request)));
  if (GetFileType(handle.get()) != FILE_TYPE_DISK)
    return Status::IOError(StrCat("open ", path), "is not a regular file");
  ASHLAR_ASSIGN_OR_RETURN(const HandleInfo found, InspectHandle(handle.get(), path));
  if (found.info.is_directory) return Status::IOError(StrCat("open ", path), "is a directory");
  if (found.is_link && request.mode != OpenMode::kRead)
    return Status::IOError(StrCat("open ", path), "is a symbolic link");
  if (request.mode == OpenMode::kCreateTruncate && found.info.bytes > 0)
    ASHLAR_RETURN_IF_ERROR(ResizeHandle(handle.get(), path, 0));
  return OsFile(path, reinterpret_cast<intptr_t>(handle.Release()), request.direct_io);
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
  if (handle_ != kClosed) CloseHandle(ToHandle(handle_));
}

Result<size_t> OsFile::ReadAt(uint64_t offset, size_t n, char* to) const {
  if (direct_io_ && !IsAligned(offset, n, to)) return Misaligned(path_);
  return ReadHandle(ToHandle(handle_), path_, offset, n, to);
}

Status OsFile::WriteAt(uint64_t offset, const Slice& data) {
  if (direct_io_ && !IsAligned(offset, data.size(), data.data())) return Misaligned(path_);
  return WriteHandle(ToHandle(handle_), path_, offset, data.data(), data.size());
}

Status OsFile::SyncData() { return FlushHandle(ToHandle(handle_), path_); }

// The system has no call that starts the write-back of a range without waiting for it. It starts
// the write-back on its own soon enough.
Status OsFile::StartWriteBack(uint64_t offset, uint64_t bytes) {
  if (!IsRangeValid(offset, bytes))
    return Status::InvalidArgument(path_, "range beyond the largest file offset");
  return Status::OK();
}

Status OsFile::Reserve(uint64_t offset, uint64_t bytes) {
  if (!IsRangeValid(offset, bytes))
    return Status::InvalidArgument(path_, "range beyond the largest file offset");
  FILE_STANDARD_INFO now;
  if (!GetFileInformationByHandleEx(ToHandle(handle_), FileStandardInfo, &now, sizeof(now)))
    return SystemError("inspect", path_, GetLastError());
  // An allocation below the file's end would truncate the file, and one below the allocated size
  // would free space. The call is made even if there is nothing to do, because its result shows
  // whether the volume supports it.
  FILE_ALLOCATION_INFO wanted;
  wanted.AllocationSize.QuadPart = std::max(
      {static_cast<LONGLONG>(offset + bytes), now.EndOfFile.QuadPart, now.AllocationSize.QuadPart});
  if (SetFileInformationByHandle(ToHandle(handle_), FileAllocationInfo, &wanted, sizeof(wanted)))
    return Status::OK();
  const DWORD error = GetLastError();
  return IsUnsupported(error) ? Status::NotSupported("reserve space", path_)
                              : SystemError("reserve space", path_, error);
}

Status OsFile::Truncate(uint64_t bytes) { return ResizeHandle(ToHandle(handle_), path_, bytes); }

Result<FileInfo> OsFile::Info() const {
  ASHLAR_ASSIGN_OR_RETURN(const HandleInfo found, InspectHandle(ToHandle(handle_), path_));
  return found.info;
}

// The system accepts advice only when a file is opened.
void OsFile::Advise(FileAdvice, uint64_t, uint64_t) const {}

Status OsFile::Close() {
  ASHLAR_ASSERT(handle_ != kClosed);  // it is closed once
  if (!CloseHandle(ToHandle(std::exchange(handle_, kClosed))))
    return SystemError("close", path_, GetLastError());
  return Status::OK();
}

bool MappedFilesCanShrink() { return false; }

Result<OsMapping> OsMapping::MapForReading(const OsFile& file, uint64_t bytes) {
  if (bytes == 0) return OsMapping(nullptr, 0);
  if (bytes > std::numeric_limits<size_t>::max())
    return Status::InvalidArgument(file.path(), "too large to be mapped");
  ASHLAR_ASSIGN_OR_RETURN(char* const data,
                          MapView(ToHandle(file.handle_), file.path(), PAGE_READONLY, FILE_MAP_READ,
                                  0, static_cast<size_t>(bytes)));
  return OsMapping(data, static_cast<size_t>(bytes));
}

OsMapping::OsMapping(OsMapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

OsMapping::~OsMapping() {
  if (data_ != nullptr) UnmapViewOfFile(data_);
}

void OsMapping::Advise(FileAdvice advice, uint64_t offset, uint64_t bytes) const {
  if (advice != FileAdvice::kWillNeed || offset >= bytes_ || bytes == 0) return;
  WIN32_MEMORY_RANGE_ENTRY range{data_ + offset,
                                 static_cast<size_t>(std::min<uint64_t>(bytes, bytes_ - offset))};
  static_cast<void>(PrefetchVirtualMemory(GetCurrentProcess(), 1, &range, 0));
}

Result<OsWindow> OsWindow::Map(const OsFile& file, uint64_t offset, size_t bytes) {
  ASHLAR_ASSERT(offset % PageBytes() == 0 && bytes % PageBytes() == 0);  // Requires
  // Without this check the system would extend the file.
  ASHLAR_ASSIGN_OR_RETURN(const FileInfo info, file.Info());
  if (bytes == 0 || offset > info.bytes || bytes > info.bytes - offset)
    return Status::InvalidArgument(file.path(), "window beyond the end of the file");
  const uint64_t lead = offset % MappingGranularity();
  ASHLAR_ASSIGN_OR_RETURN(
      char* const data,
      MapView(ToHandle(file.handle_), file.path(), PAGE_READWRITE, FILE_MAP_READ | FILE_MAP_WRITE,
              offset - lead, static_cast<size_t>(lead) + bytes));
  return OsWindow(data + lead, offset, bytes);
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
  // A view begins at a multiple of the granularity.
  if (data_ != nullptr) UnmapViewOfFile(data_ - offset_ % MappingGranularity());
}

Status OsWindow::Flush() { return FlushView(data_, bytes_, "a file's window"); }

}  // namespace ashlar
