#include "lsm/options_file.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "ashlar/version.h"
#include "base/assert.h"
#include "base/format.h"
#include "base/result.h"
#include "config/options_file.h"
#include "config/validate.h"
#include "filesystem/filename.h"
#include "key/unknown_merge_operator.h"
#include "observe/info_log.h"

namespace ashlar {

namespace {

// Returns the newest OPTIONS file that is not damaged, or an empty one if there is none.
Result<ParsedOptionsFile> ReadRecordedOptions(const DatabaseState& state) {
  std::vector<uint64_t> listed;
  for (;;) {
    ASHLAR_ASSIGN_OR_RETURN(std::vector<uint64_t> numbers,
                            ListOptionsFiles(state.file_system, state.directory));
    bool vanished = false;
    for (const uint64_t number : numbers) {
      Result<ParsedOptionsFile> file =
          ReadOptionsFile(state.file_system, OptionsFileName(state.directory, number),
                          {.ignore_unknown = true, .ignore_newer_values = true});
      if (file.ok()) return file;
      const Status& status = file.status();
      vanished |= status.IsPathNotFound();
      // The next OPTIONS file would lose the names in an undamaged file that this disk cannot read
      // at the moment.
      const bool unreadable = status.IsIOError() && !status.IsPathNotFound();
      if (unreadable && !state.read_only()) return status;
      LogWarning(state, StrCat("recovery: an OPTIONS file could not be read: ", status.ToString()));
    }
    // A concurrent writer may have replaced all files that were listed.
    if (!vanished || numbers == listed) return ParsedOptionsFile();
    listed = std::move(numbers);
  }
}

std::string WalDirIn(const ParsedOptionsFile& recorded) {
  return recorded.by_ashlar ? recorded.db_options.wal_dir : std::string();
}

}  // namespace

std::string ReadRecordedWalDir(const DatabaseState& state) {
  const Result<ParsedOptionsFile> recorded = ReadRecordedOptions(state);
  return recorded.ok() ? WalDirIn(*recorded) : std::string();
}

Status TakeRecordedOptions(DatabaseState* state, std::vector<ColumnFamilyDescriptor>* families,
                           std::string* wal_dir) {
  ASHLAR_ASSIGN_OR_RETURN(const ParsedOptionsFile recorded, ReadRecordedOptions(*state));
  *wal_dir = WalDirIn(recorded);
  std::vector<UnsupportedOption> unset =
      SelectUnset(recorded.unsupported, state->options, *families);
  for (const UnsupportedOption& option : unset) {
    if (option.name != "merge_operator") continue;
    const auto named = [&option](const ColumnFamilyDescriptor& family) {
      return family.name == option.column_family;
    };
    const auto family = std::find_if(families->begin(), families->end(), named);
    ASHLAR_ASSERT(family != families->end());  // SelectUnset
    family->options.merge_operator =
        std::make_shared<UnknownMergeOperator>(option.ObjectName(), option.value);
  }
  MutexLock lock(state->mutex());
  state->unsupported_options = std::move(unset);
  return Status::OK();
}

Status WriteNewOptionsFile(DatabaseState* state,
                           const std::vector<ColumnFamilyDescriptor>& families) {
  DBOptions options;
  std::vector<UnsupportedOption> unsupported;
  {
    MutexLock lock(state->mutex());
    options = state->current_options;
    unsupported = state->unsupported_options;
  }
  const uint64_t number = state->versions->NewFileNumber();
  ASHLAR_RETURN_IF_ERROR(WriteOptionsFile(state->file_system, state->directory, number,
                                          PrintOptionsFile(options, families, unsupported)));
  std::vector<std::string> names;
  ASHLAR_RETURN_IF_ERROR(state->file_system->GetChildren(state->directory, &names));
  uint64_t previous = 0;
  std::vector<uint64_t> older;
  for (const std::string& name : names) {
    uint64_t other = 0;
    FileType type;
    if (!ParseFileName(name, &other, &type) || type != FileType::kOptionsFile || other >= number)
      continue;
    older.push_back(other);
    previous = std::max(previous, other);
  }
  for (const uint64_t other : older) {
    if (other != previous) state->obsolete_files.AddOther(OptionsFileName(state->directory, other));
  }
  return Status::OK();
}

void OpenInfoLog(DatabaseState* state, const std::string& directory,
                 const std::vector<ColumnFamilyDescriptor>& families) {
  // The LOG gets these lines at any level, but a logger of the program only at its own level.
  InfoLogLevel level = INFO_LEVEL;
  if (state->logger == nullptr) {
    Result<std::shared_ptr<Logger>> logger = OpenLogFile(state->options, directory);
    if (!logger.ok()) return;
    state->logger = std::move(logger).value();
    level = HEADER_LEVEL;
  }
  if (level < state->logger->GetInfoLogLevel()) return;
  const auto log = [state, level](std::string_view line) { state->logger->Log(level, line); };
  log(StrCat("Ashlar ", GetAshlarVersionAsString()));
  log(StrCat("opening ", state->directory, ", session ", state->session_id));
  LogLines(state->logger.get(), level, PrintOptionsForLog(state->options, families));
  for (const std::string& option : ListOptionsWithoutEffect(state->options, families))
    log(StrCat("option without effect: ", option));
}

}  // namespace ashlar
