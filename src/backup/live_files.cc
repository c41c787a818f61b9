#include "backup/live_files.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "ashlar/db.h"
#include "base/format.h"
#include "base/result.h"
#include "config/option_text.h"
#include "filesystem/file_helpers.h"

namespace ashlar {

bool HasType(std::string_view name, FileType wanted) {
  uint64_t number = 0;
  FileType type;
  return ParseFileName(name, &number, &type) && type == wanted;
}

namespace {

std::string LogDirectory(DB* db) {
  const std::string wal_dir = db->GetDBOptions().wal_dir;
  return wal_dir.empty() ? db->GetName() : wal_dir;
}

// By number, from `oldest` on.
Result<std::map<uint64_t, std::string>> ListLogs(DB* db, uint64_t oldest) {
  std::vector<std::string> names;
  ASHLAR_RETURN_IF_ERROR(db->GetFileSystem()->GetChildren(LogDirectory(db), &names));
  std::map<uint64_t, std::string> logs;
  for (const std::string& name : names) {
    uint64_t number = 0;
    FileType type;
    if (ParseFileName(name, &number, &type) && type == FileType::kWalFile && number >= oldest)
      logs[number] = name;
  }
  return logs;
}

Result<bool> WantsFlush(DB* db, uint64_t flush_from_log_bytes, uint64_t oldest_log) {
  if (flush_from_log_bytes == 0) return true;
  if (flush_from_log_bytes == LiveFilesRequest::kNoFlush) return false;
  const std::string directory = LogDirectory(db);
  ASHLAR_ASSIGN_OR_RETURN(const auto logs, ListLogs(db, oldest_log));
  uint64_t sum = 0;
  for (const auto& [number, name] : logs) {
    uint64_t bytes = 0;
    ASHLAR_RETURN_IF_ERROR(db->GetFileSystem()->GetFileSize(directory + "/" + name, &bytes));
    sum += bytes;
  }
  return sum >= flush_from_log_bytes;
}

// What belongs to one moment.
struct Moment {
  std::vector<std::string> described;  // MANIFEST, CURRENT, OPTIONS
  std::vector<std::string> tables;
  uint64_t manifest_bytes = 0;
  std::vector<LiveFile> logs;
};

Result<Moment> TakeTables(DB* db, bool flush) {
  Moment moment;
  std::vector<std::string> files;
  ASHLAR_RETURN_IF_ERROR(db->GetLiveFiles(files, &moment.manifest_bytes, flush));
  for (const std::string& path : files) {
    std::string name(BaseName(path));
    (HasType(name, FileType::kTableFile) ? moment.tables : moment.described)
        .push_back(std::move(name));
  }
  return moment;
}

Status TakeLogs(DB* db, uint64_t oldest_log, std::vector<LiveFile>* taken) {
  // Data buffered in the process belong to the moment. A read-only database has none.
  const Status flushed = db->FlushWAL(false);
  if (!flushed.ok() && !flushed.IsNotSupported()) return flushed;
  const std::string directory = LogDirectory(db);
  ASHLAR_ASSIGN_OR_RETURN(const auto logs, ListLogs(db, oldest_log));
  for (const auto& [number, name] : logs) {  // I1
    LiveFile log{.kind = LiveFile::Kind::kLog, .directory = directory, .name = name};
    ASHLAR_RETURN_IF_ERROR(db->GetFileSystem()->GetFileSize(log.path(), &log.bytes));
    taken->push_back(std::move(log));
  }
  return Status::OK();
}

// While this lives there are no writes and no ingestions.
class WritesHeld {
 public:
  explicit WritesHeld(DB* db) : db_(db), status_(db->LockWAL()) {}
  ~WritesHeld() {
    if (status_.ok()) static_cast<void>(db_->UnlockWAL().ok());
  }
  WritesHeld(const WritesHeld&) = delete;
  WritesHeld& operator=(const WritesHeld&) = delete;

  const Status& status() const { return status_; }

 private:
  DB* const db_;
  const Status status_;
};

// I3. Flushes and compactions repeat it, too, because the MANIFEST does not tell them apart.
Result<Moment> TakeMoment(DB* db, bool flush, uint64_t oldest_log) {
  constexpr int kAttemptsWithWriters = 10;
  for (int attempt = 0; attempt < kAttemptsWithWriters; ++attempt) {
    ASHLAR_ASSIGN_OR_RETURN(Moment moment, TakeTables(db, flush && attempt == 0));
    ASHLAR_RETURN_IF_ERROR(TakeLogs(db, oldest_log, &moment.logs));
    ASHLAR_ASSIGN_OR_RETURN(const Moment after, TakeTables(db, false));
    if (after.manifest_bytes == moment.manifest_bytes && after.described == moment.described)
      return moment;
  }
  const WritesHeld held(db);
  ASHLAR_RETURN_IF_ERROR(held.status());
  ASHLAR_ASSIGN_OR_RETURN(Moment moment, TakeTables(db, false));
  ASHLAR_RETURN_IF_ERROR(TakeLogs(db, oldest_log, &moment.logs));
  return moment;
}

Status VisitDescription(const std::string& directory, const std::string& name,
                        uint64_t manifest_bytes, FunctionRef<Status(const LiveFile&)> visit) {
  using Kind = LiveFile::Kind;
  if (HasType(name, FileType::kCurrentFile)) return Status::OK();
  if (!HasType(name, FileType::kDescriptorFile))
    return visit({.kind = Kind::kOptions, .directory = directory, .name = name});
  ASHLAR_RETURN_IF_ERROR(visit(
      {.kind = Kind::kManifest, .directory = directory, .name = name, .bytes = manifest_bytes}));
  return visit(
      {.kind = Kind::kCurrent, .directory = directory, .name = "CURRENT", .contents = name + "\n"});
}

}  // namespace

DeletionsHeld::DeletionsHeld(DB* db) : db_(db), status_(db->DisableFileDeletions()) {}

DeletionsHeld::~DeletionsHeld() {
  if (status_.ok()) static_cast<void>(db_->EnableFileDeletions().ok());
}

Status VisitLiveFiles(DB* db, const LiveFilesRequest& request,
                      FunctionRef<Status(const LiveFile&)> visit) {
  const DeletionsHeld held(db);
  ASHLAR_RETURN_IF_ERROR(held.status());
  uint64_t oldest_log = 0;
  db->GetIntProperty(DB::Properties::kMinLogNumberToKeep, &oldest_log);
  ASHLAR_ASSIGN_OR_RETURN(const bool flush,
                          WantsFlush(db, request.flush_from_log_bytes, oldest_log));
  ASHLAR_ASSIGN_OR_RETURN(const Moment moment, request.with_logs ? TakeMoment(db, flush, oldest_log)
                                                                 : TakeTables(db, flush));
  for (const std::string& name : moment.described)
    ASHLAR_RETURN_IF_ERROR(VisitDescription(db->GetName(), name, moment.manifest_bytes, visit));
  for (const LiveFile& log : moment.logs) ASHLAR_RETURN_IF_ERROR(visit(log));
  for (const std::string& name : moment.tables)
    ASHLAR_RETURN_IF_ERROR(visit({.directory = db->GetName(), .name = name}));
  return Status::OK();
}

Status SetLogFolder(FileSystem* file_system, const std::string& options_file,
                    const std::string& wal_dir) {
  constexpr size_t kOptionsBytesMax = size_t{64} << 20;
  constexpr std::string_view kSection = "[DBOptions]\n";
  ASHLAR_ASSIGN_OR_RETURN(const std::string text,
                          ReadFileToString(file_system, options_file, kOptionsBytesMax));
  std::string changed;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = std::string_view(text).substr(at, end - at);
    at = end;
    const std::string_view content = TrimSpaces(line);
    if (content.substr(0, content.find('=')) == "wal_dir") continue;
    changed += line;
    if (line == kSection && !wal_dir.empty())
      StrAppend(&changed, "  wal_dir=", EscapeOptionText(wal_dir), "\n");
  }
  return changed == text
             ? Status::OK()
             : WriteStringToFile(file_system, changed, options_file, Durability::kSynced);
}

}  // namespace ashlar
