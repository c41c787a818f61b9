#include "platform/path.h"

#include <utility>

namespace ashlar {

std::string WithoutSeparatorAtEnd(std::string path) {
  while (path.size() > 1 && kPathSeparators.find(path.back()) != std::string_view::npos)
    path.pop_back();
  return path;
}

std::string ParentDirectory(std::string path) {
  path = WithoutSeparatorAtEnd(std::move(path));
  const size_t separator = path.find_last_of(kPathSeparators);
  if (separator == std::string::npos) return ".";
  // Without its separator the root would be empty or would mean a drive's current directory.
  const bool is_root = separator == 0 || path[separator - 1] == ':';
  path.resize(is_root ? separator + 1 : separator);
  return path;
}

}  // namespace ashlar
