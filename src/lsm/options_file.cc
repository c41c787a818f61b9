#include "lsm/options_file.h"

#include <algorithm>
#include <utility>

#include "ashlar/version.h"
#include "base/format.h"
#include "base/result.h"
#include "config/options_file.h"
#include "config/validate.h"
#include "filesystem/filename.h"
#include "observe/info_log.h"

namespace ashlar {

Status WriteNewOptionsFile(DatabaseState* state, const std::vector<ColumnFamilyDescriptor>& families) {
  DBOptions options;
  {
    MutexLock lock(state->mutex);
    options = state->current_options;
  }
  const uint64_t number = state->versions->NewFileNumber();
  ASHLAR_RETURN_IF_ERROR(WriteOptionsFile(state->file_system, state->directory, number, PrintOptionsFile(options, families)));
  std::vector<std::string> names;
  ASHLAR_RETURN_IF_ERROR(state->file_system->GetChildren(state->directory, &names));
  uint64_t previous = 0;
  std::vector<uint64_t> older;
  for (const std::string& name : names) {
    uint64_t other = 0;
    FileType type;
    if (!ParseFileName(name, &other, &type) || type != FileType::kOptionsFile || other >= number) continue;
    older.push_back(other);
    previous = std::max(previous, other);
  }
  for (const uint64_t other : older) {
    if (other != previous) state->obsolete_files.AddOther(OptionsFileName(state->directory, other));
  }
  return Status::OK();
}

void OpenInfoLog(DatabaseState* state) {
  if (state->logger == nullptr) {
    Result<std::shared_ptr<Logger>> logger = OpenLogFile(state->options, state->directory);
    if (logger.ok()) state->logger = std::move(logger).value();
  }
  std::vector<ColumnFamilyDescriptor> families;
  {
    MutexLock lock(state->mutex);
    for (const std::shared_ptr<ColumnFamily>& family : state->LiveFamilies()) families.emplace_back(family->name(), family->options());
  }
  LogInfo(*state, StrCat("Ashlar ", GetAshlarVersionAsString()));
  LogInfo(*state, StrCat("opened ", state->directory, ", session ", state->session_id, ", sequence ", state->PublishedSequence()));
  LogInfoLines(*state, PrintOptionsFile(state->options, families));
  for (const std::string& option : ListOptionsWithoutEffect(state->options, families)) LogInfo(*state, StrCat("option without effect: ", option));
}

}  // namespace ashlar
