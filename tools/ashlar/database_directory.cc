#include "tools/ashlar/database_directory.h"

#include <filesystem>
#include <system_error>

namespace ashlar::cli {
namespace {

namespace fs = std::filesystem;

// A creation that was interrupted before CURRENT was written leaves these.
bool IsLeftOver(const std::string& name) {
  return name == "LOCK" || name == "IDENTITY" || name.starts_with("LOG") ||
         name.starts_with("OPTIONS-") || name.starts_with("MANIFEST-") || name.ends_with(".dbtmp");
}

}  // namespace

Outcome InspectDirectory(const std::string& directory, DirectoryState* state) {
  std::error_code error;
  const fs::file_status status = fs::status(directory, error);
  if (status.type() == fs::file_type::not_found) {
    *state = DirectoryState::kMissing;
    return {};
  }
  if (!error && status.type() != fs::file_type::directory) {
    *state = DirectoryState::kNotADirectory;
    return {};
  }
  *state = DirectoryState::kEmpty;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name == "CURRENT") {
      *state = DirectoryState::kDatabase;
      return {};
    }
    if (!IsLeftOver(name)) *state = DirectoryState::kForeign;
  }
  if (error)
    return {.code = ExitCode::kIo,
            .what = "cannot look into " + directory + ": " + error.message(),
            .advice = "check its permissions"};
  return {};
}

Outcome NoDatabase(const std::string& directory, DirectoryState state) {
  Outcome outcome = {
      .code = ExitCode::kIo, .what = {}, .advice = "check --db; load makes a new database"};
  switch (state) {
    case DirectoryState::kMissing:
      outcome.what = "no database: " + directory + " does not exist";
      break;
    case DirectoryState::kNotADirectory:
      outcome.what = "no database: " + directory + " is not a directory";
      break;
    case DirectoryState::kForeign:
      outcome.what = "no database: " + directory + " has no file CURRENT, but other files";
      outcome.advice =
          "check --db; a new database needs an empty directory or one that does not exist";
      break;
    case DirectoryState::kEmpty:
    case DirectoryState::kDatabase:
      outcome.what = "no database: " + directory + " has no file CURRENT";
      break;
  }
  return outcome;
}

}  // namespace ashlar::cli
