#include "tools/ashlar/database_directory.h"

#include <utility>

#include "platform/file.h"
#include "platform/host.h"
#include "platform/path.h"

namespace ashlar::cli {
namespace {

// A creation that was interrupted before CURRENT was written leaves these.
bool IsLeftOver(const std::string& name) {
  return name == "LOCK" || name == "IDENTITY" || name.starts_with("LOG") ||
         name.starts_with("OPTIONS-") || name.starts_with("MANIFEST-") || name.ends_with(".dbtmp");
}

// Whether the path is the directory or below it. False for a path with "..", which may lead out.
bool IsWithin(std::string path, const std::string& directory) {
  if (path.find("..") != std::string::npos) return false;
  for (;;) {
    const Result<bool> same = AreSameFile(path, directory);
    if (same.ok() && *same) return true;
    std::string parent = ParentDirectory(path);
    if (parent == path) return false;
    path = std::move(parent);
  }
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

Outcome PlaceLogs(const GlobalOptions& global, DBOptions* options) {
  if (global.wal_dir) {
    options->wal_dir = *global.wal_dir;
    return {};
  }
  if (options->wal_dir.empty() || IsWithin(options->wal_dir, global.database)) return {};
  return {.code = ExitCode::kUsage,
          .what = "the OPTIONS file of " + global.database + " places the logs outside of it, in " +
                  options->wal_dir,
          .advice =
              "a copy names the logs of its original there; --wal-dir DIR says where the "
              "logs of this database are, which may be that directory"};
}

}  // namespace ashlar::cli
