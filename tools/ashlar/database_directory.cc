#include "tools/ashlar/database_directory.h"

#include <utility>

#include "platform/file.h"

namespace ashlar::cli {
namespace {

// A creation that was interrupted before CURRENT was written leaves these.
bool IsLeftOver(const std::string& name) {
  return name == "LOCK" || name == "IDENTITY" || name.starts_with("LOG") ||
         name.starts_with("OPTIONS-") || name.starts_with("MANIFEST-") || name.ends_with(".dbtmp");
}

}  // namespace

Outcome ListFiles(const std::string& directory, std::vector<std::string>* names) {
  Result<std::vector<std::string>> listed = ListDirectory(directory);
  Outcome outcome = FromStatus(listed.status(), "cannot look into " + directory);
  if (outcome.ok()) *names = std::move(listed).value();
  if (outcome.code == ExitCode::kIo) outcome.advice = "check its permissions";
  if (outcome.code == ExitCode::kUsage) outcome.advice = "check --db";
  return outcome;
}

Outcome InspectDirectory(const std::string& directory, DirectoryState* state) {
  const Result<FileInfo> info = GetFileInfo(directory);
  if (info.status().IsPathNotFound()) {
    *state = DirectoryState::kMissing;
    return {};
  }
  if (info.ok() && !info->is_directory) {
    *state = DirectoryState::kNotADirectory;
    return {};
  }
  std::vector<std::string> names;
  ASHLAR_CLI_RETURN_IF_FAILED(ListFiles(directory, &names));
  *state = DirectoryState::kEmpty;
  for (const std::string& name : names) {
    if (name == "CURRENT") {
      *state = DirectoryState::kDatabase;
      return {};
    }
    if (!IsLeftOver(name)) *state = DirectoryState::kForeign;
  }
  return {};
}

Outcome NoDatabase(const std::string& directory, DirectoryState state) {
  Outcome outcome = {.code = ExitCode::kIo,
                     .what = {},
                     .advice = "check --db; load and put --create make a new database"};
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
          "check --db; 'repair --dry-run' shows what is left of a database without CURRENT, and a "
          "new one needs an empty directory";
      break;
    case DirectoryState::kEmpty:
    case DirectoryState::kDatabase:
      outcome.what = "no database: " + directory + " has no file CURRENT";
      break;
  }
  return outcome;
}

}  // namespace ashlar::cli
