// Converts errno to Status and checks paths. For this folder only.
#pragma once

#include <cerrno>
#include <string>
#include <string_view>

#include "ashlar/status.h"

namespace ashlar {

// "open /db/CURRENT: No such file or directory", with the code that platform/file.h defines.
Status SystemError(std::string_view action, const std::string& path, int error);

// Returns ok if the system sees the path exactly as it was given.
Status CheckPath(const std::string& path);

// Repeats a system call that a signal interrupted. A user-space file system may fail any call on a
// path with EINTR, even calls whose manuals do not mention it (stat, rename).
template <typename Call>
auto RetryInterrupted(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

}  // namespace ashlar
