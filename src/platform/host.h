// Facts from the system about the machine and its paths.
//
// Thread safety: any thread.
#pragma once

#include <string>

#include "base/result.h"

namespace ashlar {

// Returns an empty string if the system reports no name.
std::string HostName();
// Returns the path as an absolute one, resolved against the current directory. Symbolic links are
// kept. The file need not exist.
Result<std::string> AbsolutePath(const std::string& path);
// Returns true if both paths lead to the same file. PathNotFound if either file is missing.
Result<bool> AreSameFile(const std::string& first, const std::string& second);

}  // namespace ashlar
