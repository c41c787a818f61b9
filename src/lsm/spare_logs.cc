#include "lsm/spare_logs.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "filesystem/filename.h"

namespace ashlar {

void SpareLogs::CheckInvariants() const {
  MutexLock lock(mutex_);
  ASHLAR_ASSERT(numbers_.size() <= spares_max_);  // I2
  for (const uint64_t number : numbers_)
    ASHLAR_ASSERT(std::count(numbers_.begin(), numbers_.end(), number) == 1);  // I2
}

void SpareLogs::Start(uint64_t number) {
  MutexLock lock(mutex_);
  first_ = number;
}

void SpareLogs::Exclude(uint64_t number) {
  MutexLock lock(mutex_);
  if (first_ != kNever) first_ = std::max(first_, number + 1);
}

bool SpareLogs::PrepareKeep(uint64_t number) {
  MutexLock lock(mutex_);
  if (number < first_ || numbers_.size() >= spares_max_) return false;
  numbers_.reserve(numbers_.size() + 1);
  return true;
}

bool SpareLogs::Keep(uint64_t number) {
  if (!PrepareKeep(number)) return false;
  const std::string log = WalFileName(directory_, number);
  const std::string spare = TempFileName(directory_, number);
  // A second name is a copy that must not change. A file system that counts no links makes none.
  uint64_t links = 1;
  const Status counted = file_system_->NumFileLinks(log, &links);
  if ((!counted.ok() && !counted.IsNotSupported()) || links != 1) return false;
  if (!file_system_->RenameFile(log, spare).ok()) return false;
  bool is_closed = false;
  {
    MutexLock lock(mutex_);
    is_closed = first_ == kNever;
    if (!is_closed) numbers_.push_back(number);  // reserved, so it does not throw
  }
  if (is_closed) Delete(spare);
  if constexpr (kDebugChecks) CheckInvariants();
  return true;
}

std::unique_ptr<vfs::WritableFile> SpareLogs::Take(uint64_t number,
                                                   const vfs::FileOptions& options) {
  uint64_t kept = 0;
  {
    MutexLock lock(mutex_);
    if (numbers_.empty()) return nullptr;
    kept = numbers_.front();
    numbers_.erase(numbers_.begin());
  }
  ASHLAR_ASSERT(kept < number);  // the kept log is obsolete, and the new one is the newest
  const std::string spare = TempFileName(directory_, kept);
  const std::string log = WalFileName(directory_, number);
  // An existing file of this name is not the database's, and NewWritableFile refuses it.
  if (!file_system_->FileExists(log).IsNotFound()) {
    Delete(spare);
    return nullptr;
  }
  std::unique_ptr<vfs::WritableFile> file;
  const Status reused = file_system_->ReuseWritableFile(spare, log, options, &file);
  if (reused.ok()) return file;
  Delete(spare);
  if (!reused.IsNotSupported()) Delete(log);
  return nullptr;
}

void SpareLogs::Close() {
  std::vector<uint64_t> kept;
  {
    MutexLock lock(mutex_);
    first_ = kNever;
    kept = std::exchange(numbers_, {});
  }
  for (const uint64_t number : kept) Delete(TempFileName(directory_, number));
}

// If the deletion fails, the next open deletes the file.
void SpareLogs::Delete(const std::string& path) {
  static_cast<void>(file_system_->DeleteFile(path).ok());
}

}  // namespace ashlar
