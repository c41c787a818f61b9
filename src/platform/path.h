// Paths as text and their separators. platform/file.h defines the valid paths.
#pragma once

#include <string>
#include <string_view>

namespace ashlar {

#if defined(_WIN32)
inline constexpr std::string_view kPathSeparators = "/\\";
#else
inline constexpr std::string_view kPathSeparators = "/";
#endif

// Returns the path without separators at its end. The root is unchanged.
std::string WithoutSeparatorAtEnd(std::string path);

// Returns the parent directory of a path: "." for a bare name, the root for the root itself. Uses
// only the text of the path.
std::string ParentDirectory(std::string path);

}  // namespace ashlar
