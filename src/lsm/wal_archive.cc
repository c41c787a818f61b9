#include "lsm/wal_archive.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>

#include "ashlar/vfs.h"
#include "base/assert.h"
#include "base/result.h"
#include "filesystem/filename.h"
#include "lsm/database_state.h"
#include "lsm/wal_files.h"

namespace ashlar {

namespace {

constexpr uint64_t kNanosPerSecond = 1000000000;
constexpr uint64_t kBytesPerMegabyte = uint64_t{1} << 20;

uint64_t MultiplySaturated(uint64_t a, uint64_t b) {
  return a > std::numeric_limits<uint64_t>::max() / b ? std::numeric_limits<uint64_t>::max()
                                                      : a * b;
}

}  // namespace

WalArchive::WalArchive(const DatabaseState* state)
    : state_(state),
      directory_(ArchiveDirectory(state->wal_directory)),
      ttl_nanos_(MultiplySaturated(state->options.WAL_ttl_seconds, kNanosPerSecond)),
      bytes_max_(MultiplySaturated(state->options.WAL_size_limit_MB, kBytesPerMegabyte)) {}

bool WalArchive::IsEnabled(const DatabaseState& state) {
  return state.options.WAL_ttl_seconds > 0 || state.options.WAL_size_limit_MB > 0;
}

void WalArchive::CheckInvariants() const {
  uint64_t bytes = 0;
  for (const auto& [number, log] : logs_) bytes += log.bytes;
  ASHLAR_ASSERT(bytes == bytes_);               // the sum over the logs
  ASHLAR_ASSERT(logs_.empty() || IsEnabled());  // if not, it is left alone
}

Status WalArchive::Find() {
  ASHLAR_ASSERT(state_->lock != nullptr);  // Requires
  if (!IsEnabled()) return Status::OK();
  std::vector<std::string> names;
  const Status listed = state_->file_system->GetChildren(directory_, &names);
  if (IsMissing(listed)) return Status::OK();
  ASHLAR_RETURN_IF_ERROR(listed);
  for (const std::string& name : names) {
    const std::optional<uint64_t> number = ParseWalName(name);
    if (!number.has_value() || !state_->versions->MayBelong(*number)) continue;
    if (logs_.contains(*number)) continue;
    Log log{.since_nanos = state_->clock->NowNanos()};
    ASHLAR_RETURN_IF_ERROR(
        state_->file_system->GetFileSize(WalFileName(directory_, *number), &log.bytes));
    bytes_ += log.bytes;
    logs_.emplace(*number, log);
  }
  if constexpr (kDebugChecks) CheckInvariants();
  return Status::OK();
}

Status WalArchive::Add(uint64_t number) {
  ASHLAR_ASSERT(IsEnabled());                             // the caller checked
  ASHLAR_ASSERT(number < state_->logs.current_number());  // I4
  vfs::FileSystem* const fs = state_->file_system;
  const std::string from = WalFileName(state_->wal_directory, number);
  Log log{.since_nanos = state_->clock->NowNanos()};
  ASHLAR_RETURN_IF_ERROR(fs->GetFileSize(from, &log.bytes));
  if (logs_.empty()) {
    const uint64_t failures_before = state_->wal_directory_handle->failures();
    ASHLAR_RETURN_IF_ERROR(fs->CreateDirIfMissing(directory_));
    ASHLAR_RETURN_IF_ERROR(state_->wal_directory_handle->Sync(failures_before));
  }
  ASHLAR_RETURN_IF_ERROR(fs->RenameFile(from, WalFileName(directory_, number)));
  // An existing file of this name was replaced.
  Log& kept = logs_[number];
  bytes_ += log.bytes - kept.bytes;
  kept = log;
  if constexpr (kDebugChecks) CheckInvariants();
  // Makes the new name durable. Otherwise the next open may find the old one and move it again.
  std::unique_ptr<vfs::Directory> archive;
  ASHLAR_RETURN_IF_ERROR(fs->NewDirectory(directory_, &archive));
  return archive->Sync();
}

bool WalArchive::IsTooMuch(const Log& oldest, uint64_t now_nanos) const {
  if (bytes_max_ > 0 && bytes_ > bytes_max_) return true;
  // An Env without NowNanos uses the wall clock, which may be set back.
  return ttl_nanos_ > 0 && now_nanos > oldest.since_nanos &&
         now_nanos - oldest.since_nanos > ttl_nanos_;
}

Status WalArchive::Delete(uint64_t number) {
  ASHLAR_RETURN_IF_ERROR(DeleteObsoleteFile(*state_, WalFileName(directory_, number)));
  const auto log = logs_.find(number);
  if (log == logs_.end()) return Status::OK();  // not registered by this run
  ASHLAR_ASSERT(bytes_ >= log->second.bytes);   // the sum has this log
  bytes_ -= log->second.bytes;
  logs_.erase(log);
  if constexpr (kDebugChecks) CheckInvariants();
  return Status::OK();
}

Status WalArchive::Purge() {
  const uint64_t now_nanos = state_->clock->NowNanos();
  while (!logs_.empty() && IsTooMuch(logs_.begin()->second, now_nanos)) {  // I3
    const auto oldest = logs_.begin();
    const Status deleted = DeleteObsoleteFile(*state_, WalFileName(directory_, oldest->first));
    if (!deleted.ok() && !deleted.IsPathNotFound()) return deleted;
    ASHLAR_ASSERT(bytes_ >= oldest->second.bytes);  // the sum has this log
    bytes_ -= oldest->second.bytes;
    logs_.erase(oldest);
  }
  if constexpr (kDebugChecks) CheckInvariants();
  return Status::OK();
}

}  // namespace ashlar
