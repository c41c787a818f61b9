// Facts from the system about the machine and its paths.
//
// Thread safety: any thread.
#pragma once

#include <string>

#include "base/result.h"

namespace ashlar {

// Empty when the system does not say.
std::string HostName();
// The path from the root or the drive, by the current directory; links are kept. The file need not
// exist.
Result<std::string> AbsolutePath(const std::string& path);
// Whether two paths lead to one file. PathNotFound if either leads to none.
Result<bool> AreSameFile(const std::string& first, const std::string& second);

}  // namespace ashlar
