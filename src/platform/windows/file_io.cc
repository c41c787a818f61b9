#include "platform/windows/file_io.h"

#include <algorithm>

#include "base/format.h"
#include "base/kept_by_thread.h"
#include "platform/windows/windows_error.h"
#include "platform/windows/windows_path.h"

namespace ashlar {
namespace {

// One call transfers less than 4 GiB. This size keeps pieces aligned for unbuffered I/O.
constexpr size_t kPieceBytesMax = size_t{1} << 30;
constexpr uint64_t kTicksPerSecond = 10'000'000;  // of a FILETIME
// 1970 in a FILETIME, which counts from 1601.
constexpr uint64_t kUnixEpochTicks = 116'444'736'000'000'000;

uint64_t Join(DWORD high, DWORD low) { return static_cast<uint64_t>(high) << 32 | low; }

// The calling thread's event, or null if the system has none left.
struct ThreadEvent {
  HANDLE get() const { return handle.valid() ? handle.get() : nullptr; }

  const UniqueHandle handle{CreateEventW(nullptr, TRUE, FALSE, nullptr)};
};

// Runs one overlapped call at an offset to completion. On failure returns false with GetLastError.
template <typename Call>
bool Transfer(HANDLE handle, uint64_t offset, DWORD* moved, Call call) {
  const KeptByThread<ThreadEvent> event;
  OVERLAPPED request = {};
  request.Offset = static_cast<DWORD>(offset);
  request.OffsetHigh = static_cast<DWORD>(offset >> 32);
  request.hEvent = event->get();
  *moved = 0;
  if (request.hEvent == nullptr) {
    // Otherwise the error of an earlier call would remain, perhaps the end of a file.
    SetLastError(ERROR_NO_SYSTEM_RESOURCES);
    return false;
  }
  if (!call(&request) && GetLastError() != ERROR_IO_PENDING) return false;
  return GetOverlappedResult(handle, &request, moved, TRUE) != 0;
}

}  // namespace

Status PathError(std::string_view action, const std::string& path, const std::wstring& name,
                 DWORD error) {
  if (error == ERROR_PATH_NOT_FOUND) {
    std::wstring above = name;
    for (size_t slash = above.rfind(L'\\'); slash != std::wstring::npos && slash > 0;
         slash = above.rfind(L'\\')) {
      above.resize(slash);
      const DWORD attributes = GetFileAttributesW(above.c_str());
      if (attributes == INVALID_FILE_ATTRIBUTES) continue;
      if ((attributes & FILE_ATTRIBUTE_DIRECTORY) == 0)
        return SystemError(action, path, ERROR_DIRECTORY);
      break;
    }
  }
  return SystemError(action, path, error);
}

Result<UniqueHandle> OpenHandle(std::string_view action, const std::string& path, DWORD access,
                                DWORD share, DWORD disposition, DWORD flags) {
  ASHLAR_ASSIGN_OR_RETURN(const std::wstring name, ToSystemPath(path));
  UniqueHandle handle;
  const bool opened = RetryWhileShared([&] {
    handle = UniqueHandle(
        CreateFileW(name.c_str(), access, share, nullptr, disposition, flags, nullptr));
    return handle.valid();
  });
  if (!opened) return PathError(action, path, name, GetLastError());
  return handle;
}

Result<UniqueHandle> OpenName(std::string_view action, const std::string& path, DWORD access) {
  return OpenHandle(action, path, access, kShareAll, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS);
}

Result<HandleInfo> InspectHandle(HANDLE handle, const std::string& path) {
  FILE_BASIC_INFO basic;
  FILE_STANDARD_INFO standard;
  if (!GetFileInformationByHandleEx(handle, FileBasicInfo, &basic, sizeof(basic)) ||
      !GetFileInformationByHandleEx(handle, FileStandardInfo, &standard, sizeof(standard)))
    return SystemError("inspect", path, GetLastError());
  HandleInfo result;
  result.info.is_directory = standard.Directory != 0;
  result.info.bytes =
      result.info.is_directory ? 0 : static_cast<uint64_t>(standard.EndOfFile.QuadPart);
  const auto ticks = static_cast<uint64_t>(basic.LastWriteTime.QuadPart);
  result.info.modified_unix_seconds =
      ticks < kUnixEpochTicks ? 0 : (ticks - kUnixEpochTicks) / kTicksPerSecond;
  result.info.links = standard.NumberOfLinks;
  result.is_link = (basic.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0;
  return result;
}

Result<FileIdentity> IdentifyHandle(HANDLE handle, const std::string& path) {
  BY_HANDLE_FILE_INFORMATION system;
  if (!GetFileInformationByHandle(handle, &system))
    return SystemError("identify", path, GetLastError());
  return FileIdentity{.volume = system.dwVolumeSerialNumber,
                      .index = Join(system.nFileIndexHigh, system.nFileIndexLow)};
}

Result<size_t> ReadHandle(HANDLE handle, const std::string& path, uint64_t offset, size_t n,
                          char* to) {
  // No byte is beyond the system's largest offset.
  if (offset > kOffsetMax) return size_t{0};
  n = static_cast<size_t>(std::min<uint64_t>(n, kOffsetMax - offset));
  size_t done = 0;
  while (done < n) {
    const DWORD piece = static_cast<DWORD>(std::min(n - done, kPieceBytesMax));
    DWORD got = 0;
    if (!Transfer(handle, offset + done, &got, [&](OVERLAPPED* request) {
          return ReadFile(handle, to + done, piece, nullptr, request);
        })) {
      const DWORD error = GetLastError();
      if (error == ERROR_HANDLE_EOF) break;
      return SystemError(StrCat("read at ", offset + done, " from"), path, error);
    }
    done += got;
    // A piece that stops short has reached the end. Unbuffered handles do not allow another read
    // from there.
    if (got < piece) break;
  }
  return done;
}

Status WriteHandle(HANDLE handle, const std::string& path, uint64_t offset, const char* from,
                   size_t n) {
  if (!IsRangeValid(offset, n))
    return Status::InvalidArgument(path, "write beyond the largest file offset");
  size_t done = 0;
  while (done < n) {
    const DWORD piece = static_cast<DWORD>(std::min(n - done, kPieceBytesMax));
    DWORD put = 0;
    const bool written = Transfer(handle, offset + done, &put, [&](OVERLAPPED* request) {  //
      return WriteFile(handle, from + done, piece, nullptr, request);
    });
    if (!written || put == 0)
      return SystemError(StrCat("write at ", offset + done, " to"), path,
                         written ? ERROR_WRITE_FAULT : GetLastError());
    done += put;
  }
  return Status::OK();
}

Status ResizeHandle(HANDLE handle, const std::string& path, uint64_t bytes) {
  if (bytes > kOffsetMax)
    return Status::InvalidArgument(path, "size beyond the largest file offset");
  FILE_END_OF_FILE_INFO end;
  end.EndOfFile.QuadPart = static_cast<LONGLONG>(bytes);
  const bool done = RetryWhileShared([&] {
    return SetFileInformationByHandle(handle, FileEndOfFileInfo, &end, sizeof(end)) != 0;
  });
  return done ? Status::OK() : SystemError("truncate", path, GetLastError());
}

Status FlushHandle(HANDLE handle, const std::string& path) {
  if (!RetryWhileShared([&] { return FlushFileBuffers(handle) != 0; }))
    return SystemError("sync", path, GetLastError());
  return Status::OK();
}

bool TryFlushView(const char* data, size_t bytes) {
  // While the system itself is writing a part of the view, it refuses with a lock violation.
  return RetryWhileShared([&] { return FlushViewOfFile(data, bytes) != 0; });
}

Status FlushView(const char* data, size_t bytes, const std::string& path) {
  if (!TryFlushView(data, bytes)) return SystemError("flush the mapping of", path, GetLastError());
  return Status::OK();
}

}  // namespace ashlar
