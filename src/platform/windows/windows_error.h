// Converts GetLastError to Status and retries calls on shared files. For this folder only.
//
// A virus scanner, an indexer or a backup program may briefly hold a file in a way that excludes
// this process. RetryWhileShared repeats a refused call, with pauses that double, before it reports
// the error.
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

// "open C:/db/CURRENT: The process cannot access the file …", with the code that platform/file.h
// defines. The path is shown as the caller gave it.
Status SystemError(std::string_view action, const std::string& path, DWORD error);

// Returns true if the system, or the volume, reports that it has no such operation.
bool IsUnsupported(DWORD error);

// The pauses between the attempts: 1, 2, 4 … ms, about a quarter of a second in total.
inline constexpr int kSharingPauses = 8;
inline constexpr uint64_t kFirstSharingPauseMicros = 1000;

inline bool IsHeldByOthers(DWORD error) {
  return error == ERROR_SHARING_VIOLATION || error == ERROR_LOCK_VIOLATION ||
         error == ERROR_USER_MAPPED_FILE;
}

// The reason why a file that was opened for deletion could not be deleted. The system denies access
// to a read-only file and to a mapped one. The latter is retried, as it will be unmapped.
inline DWORD DeletionError(DWORD error, bool read_only) {
  return error == ERROR_ACCESS_DENIED && !read_only ? DWORD{ERROR_USER_MAPPED_FILE} : error;
}

// Repeats call(), which returns true or sets the last error, until it succeeds, fails for another
// reason, or runs out of attempts. GetLastError then returns the last attempt's error.
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
