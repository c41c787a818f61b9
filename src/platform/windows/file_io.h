// Opens files by path and does I/O at an offset, for files, directories, locks and pools. For this
// folder only.
//
// Every handle for reading or writing is opened for overlapped I/O. Otherwise the system would make
// reads of one file wait for each other. Each thread waits for a pending call on its own event.
//
// Thread safety: any thread. For calls on one handle, see platform/file.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "ashlar/status.h"
#include "base/result.h"
#include "platform/file.h"
#include "platform/windows/handle.h"
#include "platform/windows/windows_headers.h"

namespace ashlar {

inline constexpr uint64_t kOffsetMax = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
inline bool IsRangeValid(uint64_t offset, uint64_t bytes) {
  return offset <= kOffsetMax && bytes <= kOffsetMax - offset;
}

// An open file does not restrict other openers. As on other systems, its name can be removed or
// given to another file.
inline constexpr DWORD kShareAll = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

// Like SystemError, but a path that leads through a file does not count as missing. `name` is the
// system's form of the path.
Status PathError(std::string_view action, const std::string& path, const std::wstring& name,
                 DWORD error);

// Calls CreateFileW, and retries while others hold the file. `action` is for the message: "open".
Result<UniqueHandle> OpenHandle(std::string_view action, const std::string& path, DWORD access,
                                DWORD share, DWORD disposition, DWORD flags);

// Opens a path to inspect, rename or delete it. Conflicts with other openers only if `access`
// requires it.
Result<UniqueHandle> OpenName(std::string_view action, const std::string& path, DWORD access);

struct HandleInfo {
  FileInfo info;
  bool is_link = false;  // or another kind of reparse point
};
Result<HandleInfo> InspectHandle(HANDLE handle, const std::string& path);

// Identifies a file. The volume costs a query to the mount manager, so InspectHandle omits it.
struct FileIdentity {
  uint64_t volume = 0;
  uint64_t index = 0;

  bool operator==(const FileIdentity&) const = default;
};
Result<FileIdentity> IdentifyHandle(HANDLE handle, const std::string& path);

// Reads n bytes, or fewer if the file ends first. Returns the number of bytes read.
Result<size_t> ReadHandle(HANDLE handle, const std::string& path, uint64_t offset, size_t n,
                          char* to);
Status WriteHandle(HANDLE handle, const std::string& path, uint64_t offset, const char* from,
                   size_t n);
Status ResizeHandle(HANDLE handle, const std::string& path, uint64_t bytes);
Status FlushHandle(HANDLE handle, const std::string& path);

// Starts write-back of a mapped view's changes; FlushHandle then waits for it.
Status FlushView(const char* data, size_t bytes, const std::string& path);
// Like FlushView, but allocates nothing. Returns false on failure, with the reason in GetLastError.
bool TryFlushView(const char* data, size_t bytes);

}  // namespace ashlar
