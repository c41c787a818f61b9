// Checks the directory that --db names.
#pragma once

#include <string>
#include <vector>

#include "tools/ashlar/outcome.h"

namespace ashlar::cli {

// kEmpty: nothing, or leftovers of an interrupted creation. kForeign: other files, of something
// else or of a database that has lost CURRENT.
enum class DirectoryState { kMissing, kNotADirectory, kEmpty, kForeign, kDatabase };
inline bool IsDirectory(DirectoryState state) {
  return state != DirectoryState::kMissing && state != DirectoryState::kNotADirectory;
}

// Where a directory could not be made.
inline constexpr const char* kParentAdvice = "its parent directory must exist and be writable";

// The names in it, in no order.
Outcome ListFiles(const std::string& directory, std::vector<std::string>* names);
Outcome InspectDirectory(const std::string& directory, DirectoryState* state);

// The failure of a command that needs a database where there is none.
Outcome NoDatabase(const std::string& directory, DirectoryState state);

}  // namespace ashlar::cli
