// Paths as text: what separates their components. platform/file.h says which paths there are.
#pragma once

#include <string>
#include <string_view>

namespace ashlar {

#if defined(_WIN32)
inline constexpr std::string_view kPathSeparators = "/\\";
#else
inline constexpr std::string_view kPathSeparators = "/";
#endif

// The directory that holds what the path names: "." for a bare name; the root holds itself. By the
// path's text alone.
std::string ParentDirectory(std::string path);

}  // namespace ashlar
