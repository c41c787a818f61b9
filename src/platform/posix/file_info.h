// ToFileInfo: the answer of stat as FileInfo. For this folder only.
#pragma once

#include <sys/stat.h>

#include <cstdint>

#include "platform/file.h"

namespace ashlar {

inline FileInfo ToFileInfo(const struct stat& from) {
  return {.bytes = S_ISREG(from.st_mode) ? static_cast<uint64_t>(from.st_size) : 0,
          .modified_unix_seconds = static_cast<uint64_t>(from.st_mtime),
          .is_directory = S_ISDIR(from.st_mode),
          .links = static_cast<uint64_t>(from.st_nlink)};
}

}  // namespace ashlar
