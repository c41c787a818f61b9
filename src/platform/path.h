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

// The same path; the root stays as it is.
std::string WithoutSeparatorAtEnd(std::string path);

// The parent directory of a path: "." for a bare name; the root is its own parent. By the path's
// text alone.
std::string ParentDirectory(std::string path);

}  // namespace ashlar
