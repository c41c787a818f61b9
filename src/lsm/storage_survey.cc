#include "lsm/storage_survey.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "ashlar/file_checksum.h"
#include "base/assert.h"
#include "base/format.h"
#include "config/options_file.h"
#include "filesystem/filename.h"

namespace ashlar {

namespace {

// Prevents deletions of files for its lifetime.
class DeletionsDisabled {
 public:
  explicit DeletionsDisabled(FileJanitor* files) : files_(files) { files_->Disable(); }
  ~DeletionsDisabled() {
    files_->Enable();
    files_->DeleteObsoleteFilesIfAny();
  }
  DeletionsDisabled(const DeletionsDisabled&) = delete;
  DeletionsDisabled& operator=(const DeletionsDisabled&) = delete;

 private:
  FileJanitor* const files_;
};

// Prevents writes and ingestions for its lifetime.
class WritesLocked {
 public:
  explicit WritesLocked(CommitPipeline* commit) : commit_(commit), status_(commit->LockWrites()) {}
  ~WritesLocked() {
    if (status_.ok()) commit_->UnlockWrites();
  }
  WritesLocked(const WritesLocked&) = delete;
  WritesLocked& operator=(const WritesLocked&) = delete;

  const Status& status() const { return status_; }

 private:
  CommitPipeline* const commit_;
  const Status status_;
};

}  // namespace

Result<ShownManifest> FindShownManifest(const DatabaseState& state, bool reads_only) {
  const VersionSet& versions = *state.versions;
  if (reads_only)
    return ShownManifest{versions.place().manifest_number, versions.place().manifest_end};
  const ShownManifest manifest{versions.manifest_number(), versions.manifest_bytes()};
  if (versions.IsUncertain()) {
    return Status::IOError(DescriptorFileName(state.directory, manifest.number),
                           "a write of the MANIFEST has failed: its contents are not known before "
                           "Resume has succeeded");
  }
  if (manifest.bytes == 0) return Status::ShutdownInProgress("the database was closed");
  return manifest;
}

Result<std::vector<LiveFileStorageInfo>> StorageSurvey::Run() {
  std::optional<DeletionsDisabled> disabled;
  if (!reads_only_) disabled.emplace(&core_->background.files());
  ASHLAR_RETURN_IF_ERROR(Flush());
  ASHLAR_ASSIGN_OR_RETURN(Moment moment, TakeMoment(OldestLog()));
  Files files;
  ASHLAR_RETURN_IF_ERROR(AddDescription(moment, &files));
  for (Files* const part : {&moment.logs, &moment.tables})
    std::move(part->begin(), part->end(), std::back_inserter(files));
  return files;
}

uint64_t StorageSurvey::OldestLog() const {
  MutexLock lock(state_->mutex());
  if (!reads_only_) return core_->background.files().OldestRecordedLog();
  return state_->versions->Published().MinLogNumberToRecover();
}

Result<std::map<uint64_t, std::string>> StorageSurvey::ListLogs(uint64_t oldest) const {
  std::vector<std::string> names;
  ASHLAR_RETURN_IF_ERROR(state_->file_system->GetChildren(state_->wal_directory, &names));
  std::map<uint64_t, std::string> logs;
  for (const std::string& name : names) {
    uint64_t number = 0;
    FileType type;
    if (ParseFileName(name, &number, &type) && type == FileType::kWalFile && number >= oldest)
      logs[number] = StrCat(state_->wal_directory, "/", name);
  }
  return logs;
}

Result<uint64_t> StorageSurvey::LogBytes(uint64_t number, const std::string& path) const {
  const std::shared_ptr<const LogProgress> progress = state_->logs.CurrentProgress();
  uint64_t bytes = 0;
  if (progress == nullptr || number < progress->number) {
    ASHLAR_RETURN_IF_ERROR(state_->file_system->GetFileSize(path, &bytes));
  } else if (number == progress->number) {
    bytes = progress->good_bytes.load(std::memory_order_acquire);
  }
  return bytes;  // 0: no record is in the log yet
}

Result<bool> StorageSurvey::WantsFlush() const {
  const uint64_t from_bytes = options_.wal_size_for_flush;
  if (reads_only_ || from_bytes == std::numeric_limits<uint64_t>::max()) return false;
  if (from_bytes == 0) return true;
  ASHLAR_ASSIGN_OR_RETURN(const auto logs, ListLogs(OldestLog()));
  uint64_t sum = 0;
  for (const auto& [number, path] : logs) {
    ASHLAR_ASSIGN_OR_RETURN(const uint64_t bytes, LogBytes(number, path));
    sum += bytes;
  }
  return sum >= from_bytes;
}

Status StorageSurvey::Flush() {
  ASHLAR_ASSIGN_OR_RETURN(const bool wanted, WantsFlush());
  if (!wanted) return Status::OK();
  if (options_.atomic_flush) {
    return Status::NotSupported(
        "LiveFilesStorageInfoOptions::atomic_flush is not implemented; leave it off");
  }
  return core_->FlushAll(FlushOptions(), FlushReason::kGetLiveFiles);
}

// I3. Flushes and compactions cause a retry, too, because the MANIFEST does not tell them apart.
Result<StorageSurvey::Moment> StorageSurvey::TakeMoment(uint64_t oldest_log) {
  if (reads_only_) {
    ASHLAR_ASSIGN_OR_RETURN(Moment moment, TakeTree());
    Result<Files> logs = TakeLogs(oldest_log);
    // Checked before an error of the logs is returned, because the writer may have deleted one.
    ASHLAR_RETURN_IF_ERROR(state_->versions->CheckManifestUnchanged(moment.place));
    ASHLAR_ASSIGN_OR_RETURN(moment.logs, std::move(logs));
    return moment;
  }
  constexpr int kAttemptsWithWriters = 10;
  for (int attempt = 0; attempt < kAttemptsWithWriters; ++attempt) {
    ASHLAR_ASSIGN_OR_RETURN(Moment moment, TakeOnce(oldest_log));
    MutexLock installers(state_->manifest_mutex());
    if (state_->versions->manifest_number() == moment.manifest.number &&
        state_->versions->manifest_bytes() == moment.manifest.bytes)
      return moment;
  }
  const WritesLocked locked(&core_->commit);
  ASHLAR_RETURN_IF_ERROR(locked.status());
  return TakeOnce(oldest_log);
}

Result<StorageSurvey::Moment> StorageSurvey::TakeOnce(uint64_t oldest_log) {
  ASHLAR_ASSIGN_OR_RETURN(Moment moment, TakeTree());
  ASHLAR_ASSIGN_OR_RETURN(moment.logs, TakeLogs(oldest_log));
  return moment;
}

Result<StorageSurvey::Moment> StorageSurvey::TakeTree() {
  MutexLock installers(state_->manifest_mutex());
  Moment moment;
  ASHLAR_ASSIGN_OR_RETURN(moment.manifest, FindShownManifest(*state_, reads_only_));
  if (reads_only_) moment.place = state_->versions->place();
  std::vector<const Version*> versions;
  {
    MutexLock lock(state_->mutex());
    for (const std::shared_ptr<ColumnFamily>& family : state_->Families().families)
      versions.push_back(family->version());
  }
  // Only an install replaces versions, so the manifest mutex keeps them, and writers do not wait.
  for (const Version* const version : versions) {
    for (Level level = 0; level < version->levels(); ++level) {
      for (const FileMetaData* const file : version->files(level)) {
        LiveFileStorageInfo& table = moment.tables.emplace_back(
            Describe(TableFileName(state_->directory, file->number), FileType::kTableFile,
                     file->number, file->file_bytes));
        table.temperature = file->temperature;
        if (!options_.include_checksum_info) continue;
        table.file_checksum = file->checksum;
        table.file_checksum_func_name = file->checksum_function;
      }
    }
  }
  return moment;
}

Result<StorageSurvey::Files> StorageSurvey::TakeLogs(uint64_t oldest_log) {
  // Data buffered in the process belong to the moment.
  if (!reads_only_) ASHLAR_RETURN_IF_ERROR(core_->commit.FlushLog());
  ASHLAR_ASSIGN_OR_RETURN(const auto logs, ListLogs(oldest_log));
  Files files;
  for (const auto& [number, path] : logs) {                             // I1
    ASHLAR_ASSERT(files.empty() || files.back().file_number < number);  // I1
    ASHLAR_ASSIGN_OR_RETURN(const uint64_t bytes, LogBytes(number, path));
    files.push_back(Describe(path, FileType::kWalFile, number, bytes));
    files.back().trim_to_size = true;  // I2
  }
  return files;
}

Status StorageSurvey::AddDescription(const Moment& moment, Files* files) const {
  const std::string manifest = DescriptorFileName(state_->directory, moment.manifest.number);
  files->push_back(
      Describe(manifest, FileType::kDescriptorFile, moment.manifest.number, moment.manifest.bytes));
  files->back().trim_to_size = true;  // I2

  const std::string current = StrCat(BaseName(manifest), "\n");
  files->push_back(
      Describe(CurrentFileName(state_->directory), FileType::kCurrentFile, 0, current.size()));
  files->back().replacement_contents = current;

  const Result<uint64_t> number = FindNewestOptionsFile(state_->file_system, state_->directory);
  if (number.status().IsNotFound()) return Status::OK();
  ASHLAR_RETURN_IF_ERROR(number.status());
  const std::string options = OptionsFileName(state_->directory, *number);
  uint64_t bytes = 0;
  ASHLAR_RETURN_IF_ERROR(state_->file_system->GetFileSize(options, &bytes));
  files->push_back(Describe(options, FileType::kOptionsFile, *number, bytes));
  return Status::OK();
}

LiveFileStorageInfo StorageSurvey::Describe(const std::string& path, FileType type, uint64_t number,
                                            uint64_t bytes) const {
  LiveFileStorageInfo file;
  file.relative_filename = BaseName(path);
  ASHLAR_ASSERT(path.size() > file.relative_filename.size());  // "directory/name"
  file.directory = path.substr(0, path.size() - file.relative_filename.size() - 1);
  file.file_number = number;
  file.file_type = type;
  file.size = bytes;
  if (options_.include_checksum_info) file.file_checksum_func_name = kUnknownFileChecksumFuncName;
  return file;
}

}  // namespace ashlar
