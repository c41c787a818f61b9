// From errno to Status, and the checks of every path. For this folder only.
#pragma once

#include <cerrno>
#include <string>
#include <string_view>

#include "ashlar/status.h"

namespace ashlar {

// "open /db/CURRENT: No such file or directory", with the code of platform/file.h.
Status SystemError(std::string_view action, const std::string& path, int error);

// Ok for a path that the system sees as it was given.
Status CheckPath(const std::string& path);

// Repeats a system call that a signal interrupted. A file system in user space may answer any call
// on a path so, also those of which the manuals do not say it (stat, rename).
template <typename Call>
auto RetryInterrupted(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

}  // namespace ashlar
