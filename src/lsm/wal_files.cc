#include "lsm/wal_files.h"

#include <algorithm>
#include <map>
#include <utility>

#include "ashlar/vfs.h"
#include "base/assert.h"
#include "filesystem/filename.h"
#include "key/write_batch_internal.h"

namespace ashlar {

namespace {

class FoundWal final : public WalFile {
 public:
  struct Args {
    uint64_t number = 0;
    bool archived = false;
    SequenceNumber start = 0;
    uint64_t bytes = 0;
  };
  explicit FoundWal(const Args& args) : args_(args) {}

  std::string PathName() const override {
    return WalFileName(args_.archived ? ArchiveDirectory("") : "", args_.number);
  }
  uint64_t LogNumber() const override { return args_.number; }
  WalFileType Type() const override { return args_.archived ? kArchivedLogFile : kAliveLogFile; }
  SequenceNumber StartSequence() const override { return args_.start; }
  uint64_t SizeFileBytes() const override { return args_.bytes; }

 private:
  const Args args_;
};

// An open log without a reader.
struct WalContents {
  std::string name;
  std::unique_ptr<vfs::SequentialFile> file;
  OpenWal wal;
};

Result<WalContents> OpenAt(const DatabaseState& state, const std::string& directory,
                           uint64_t number) {
  WalContents found;
  found.name = WalFileName(directory, number);
  OpenWal& wal = found.wal;
  // Loaded before the progress, because a promotion begins its log before it changes the role.
  wal.grows = state.is_secondary();
  // Loaded before the length, because a log that is not current any more is complete.
  wal.progress = state.logs.CurrentProgress();
  if (wal.progress != nullptr && wal.progress->number != number) wal.progress.reset();
  ASHLAR_RETURN_IF_ERROR(
      state.file_system->NewSequentialFile(found.name, vfs::FileOptions(), &found.file));
  if (wal.progress != nullptr) {
    wal.grows = false;
    wal.bytes = wal.progress->good_bytes.load(std::memory_order_acquire);  // I2
  } else {
    ASHLAR_RETURN_IF_ERROR(state.file_system->GetFileSize(found.name, &wal.bytes));
  }
  return found;
}

Result<WalContents> OpenAnywhere(const DatabaseState& state, uint64_t number) {
  Result<WalContents> live = OpenAt(state, state.wal_directory, number);
  if (live.ok() || !IsMissing(live.status())) return live;
  Result<WalContents> found = OpenAt(state, ArchiveDirectory(state.wal_directory), number);
  if (found.ok()) found->wal.archived = true;
  return found;
}

}  // namespace

std::optional<uint64_t> ParseWalName(std::string_view path) {
  uint64_t number = 0;
  FileType type = FileType::kTempFile;
  if (!ParseFileName(BaseName(path), &number, &type) || type != FileType::kWalFile)
    return std::nullopt;
  return number;
}

Result<std::vector<WalLocation>> ListWalFiles(const DatabaseState& state) {
  const uint64_t current = state.logs.current_number();  // 0: read-only
  std::map<uint64_t, bool> archived;
  const auto add = [&](const std::vector<std::string>& names, bool is_archived) {
    for (const std::string& name : names) {
      const std::optional<uint64_t> number = ParseWalName(name);
      if (!number.has_value() || !state.versions->MayBelong(*number)) continue;
      if (current == 0 || *number <= current) archived[*number] = is_archived;  // I3
    }
  };
  std::vector<std::string> names;
  ASHLAR_RETURN_IF_ERROR(state.file_system->GetChildren(state.wal_directory, &names));
  add(names, /*is_archived=*/false);
  names.clear();
  const Status listed =
      state.file_system->GetChildren(ArchiveDirectory(state.wal_directory), &names);
  if (!listed.ok() && !IsMissing(listed)) return listed;
  if (listed.ok()) add(names, /*is_archived=*/true);  // I1
  std::vector<WalLocation> logs;
  for (const auto& [number, is_archived] : archived)
    logs.push_back({.number = number, .archived = is_archived});
  return logs;
}

Result<OpenWal> OpenWalFile(const DatabaseState& state, uint64_t number) {
  ASHLAR_ASSIGN_OR_RETURN(WalContents found, OpenAnywhere(state, number));
  found.wal.reader = std::make_unique<LogReader>(std::move(found.file), std::move(found.name),
                                                 number, found.wal.bytes);
  return std::move(found.wal);
}

Status ContinueWalFile(const DatabaseState& state, uint64_t number, OpenWal* wal) {
  ASHLAR_ASSERT(wal->reader != nullptr && wal->reader->log_number() == number);  // OpenWalFile
  ASHLAR_ASSIGN_OR_RETURN(WalContents found, OpenAnywhere(state, number));
  const uint64_t offset = wal->reader->last_good_offset();
  if (found.wal.bytes < offset) return Status::OK();
  ASHLAR_RETURN_IF_ERROR(wal->reader->ContinueAt(offset, std::move(found.file), found.wal.bytes));
  found.wal.reader = std::move(wal->reader);
  *wal = std::move(found.wal);
  return Status::OK();
}

std::optional<SequenceNumber> ReadStartSequence(LogReader* reader) {
  ASHLAR_ASSERT(reader->last_good_offset() == 0);  // nothing was read yet
  Slice record;
  std::string scratch;
  if (!reader->ReadRecord(&record, &scratch) || record.size() < WriteBatchInternal::kHeaderBytes)
    return std::nullopt;
  return WriteBatchInternal::Sequence(record);
}

Status GetSortedWals(const DatabaseState& state, VectorWalPtr* files) {
  files->clear();
  ASHLAR_ASSIGN_OR_RETURN(const std::vector<WalLocation> logs, ListWalFiles(state));
  for (const WalLocation& log : logs) {
    Result<OpenWal> wal = OpenWalFile(state, log.number);
    if (!wal.ok() && IsMissing(wal.status())) continue;
    ASHLAR_RETURN_IF_ERROR(wal.status());
    const std::optional<SequenceNumber> start = ReadStartSequence(wal->reader.get());
    if (wal->reader->outcome() == LogReader::Outcome::kIoError) return wal->reader->status();
    if (!start.has_value()) continue;
    files->push_back(std::make_unique<FoundWal>(FoundWal::Args{
        .number = log.number, .archived = wal->archived, .start = *start, .bytes = wal->bytes}));
  }
  // Archived ones first, each kind by number.
  std::sort(files->begin(), files->end(), [](const auto& a, const auto& b) {
    return std::pair(a->Type() != kArchivedLogFile, a->LogNumber()) <
           std::pair(b->Type() != kArchivedLogFile, b->LogNumber());
  });
  return Status::OK();
}

Status GetCurrentWal(const DatabaseState& state, std::unique_ptr<WalFile>* file) {
  if (file == nullptr) return Status::InvalidArgument("GetCurrentWalFile: the pointer is null");
  const std::shared_ptr<const LogProgress> progress = state.logs.CurrentProgress();
  if (progress == nullptr) return Status::NotFound("the database has no log that is written to");
  *file = std::make_unique<FoundWal>(FoundWal::Args{
      .number = progress->number, .bytes = progress->good_bytes.load(std::memory_order_acquire)});
  return Status::OK();
}

}  // namespace ashlar
