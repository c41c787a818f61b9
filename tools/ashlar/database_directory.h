// Checks the directory that --db names.
#pragma once

#include <string>
#include <vector>

#include "ashlar/options.h"
#include "tools/ashlar/command.h"
#include "tools/ashlar/outcome.h"

namespace ashlar::cli {

// kEmpty: nothing, or leftovers of an interrupted creation. kForeign: other files, of something
// else or of a database that has lost CURRENT.
enum class DirectoryState { kMissing, kNotADirectory, kEmpty, kForeign, kDatabase };
inline bool IsDirectory(DirectoryState state) {
  return state != DirectoryState::kMissing && state != DirectoryState::kNotADirectory;
}

// The advice if a directory could not be made.
inline constexpr const char* kParentAdvice = "its parent directory must exist and be writable";

// Lists the names in the directory, in no order.
Outcome ListFiles(const std::string& directory, std::vector<std::string>* names);
Outcome InspectDirectory(const std::string& directory, DirectoryState* state);

// Returns the failure of a command that needs a database where there is none.
Outcome NoDatabase(const std::string& directory, DirectoryState state);

// Takes wal_dir from --wal-dir. Without that option, returns kUsage if the wal_dir of the OPTIONS
// file is outside of --db. The OPTIONS file of a copied database names the logs of the original,
// which a command that writes would delete.
Outcome PlaceLogs(const GlobalOptions& global, DBOptions* options);

}  // namespace ashlar::cli
