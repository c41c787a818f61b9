// From GetLastError to Status, and the patience that shared files need. For this folder only.
//
// A virus scanner, an indexer or a backup program may hold a file for a moment in a way that
// excludes us. Such a refusal is asked about again, with pauses that double, before it is believed:
// RetryWhileShared.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ashlar/status.h"
#include "platform/clock.h"
#include "platform/windows/windows_headers.h"

namespace ashlar {

// "open C:/db/CURRENT: The process cannot access the file …", with the code of platform/file.h. The
// path is shown as the caller gave it.
Status SystemError(std::string_view action, const std::string& path, DWORD error);

// Whether the system, or the volume, says that it has no such operation.
bool IsUnsupported(DWORD error);

// The pauses between the attempts: 1, 2, 4 … ms, about a quarter of a second together.
inline constexpr int kSharingPauses = 8;
inline constexpr uint64_t kFirstSharingPauseMicros = 1000;

inline bool IsHeldByOthers(DWORD error) {
  return error == ERROR_SHARING_VIOLATION || error == ERROR_LOCK_VIOLATION ||
         error == ERROR_USER_MAPPED_FILE;
}

// Why a file stays that was opened with the right to delete it. The system denies access to one
// with a view that is mapped, which will be unmapped, and to one that is read-only.
inline DWORD DeletionError(DWORD error, bool read_only) {
  return error == ERROR_ACCESS_DENIED && !read_only ? DWORD{ERROR_USER_MAPPED_FILE} : error;
}

// Calls call(), which says whether it succeeded and leaves the reason with SetLastError, until it
// succeeds, fails for a reason of its own, or the patience ends. GetLastError is that of the last
// attempt.
template <typename Call>
bool RetryWhileShared(Call call) {
  uint64_t pause = kFirstSharingPauseMicros;
  for (int i = 0;; i++) {
    if (call()) return true;
    const DWORD error = GetLastError();
    if (!IsHeldByOthers(error) || i == kSharingPauses) return false;
    SleepForMicros(pause);
    pause *= 2;
    SetLastError(error);
  }
}

}  // namespace ashlar
