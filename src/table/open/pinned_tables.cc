#include "table/open/pinned_tables.h"

#include <utility>

#include "base/result.h"

namespace ashlar {

Status PinnedTables::Pin(uint64_t number, const std::string& path, uint64_t* bytes) {
  bool may_hold = false;
  {
    MutexLock lock(mutex_);
    if (const auto held = held_.find(number); held != held_.end())
      return held->second.file->Size(bytes);
    may_hold = args_.files_max == 0 || held_.size() < args_.files_max;
  }
  if (may_hold) {
    Taken opened{.file = nullptr, .path = path};
    const Status status =
        args_.file_system->NewRandomAccessFile(path, args_.file_options, &opened.file);
    if (status.IsPathNotFound()) return status;
    if (status.ok()) {
      ASHLAR_RETURN_IF_ERROR(opened.file->Size(bytes));
      MutexLock lock(mutex_);
      held_.emplace(number, std::move(opened));
      return Status::OK();
    }
  }
  return args_.file_system->GetFileSize(path, bytes);
}

PinnedTables::Taken PinnedTables::Take(uint64_t number) {
  MutexLock lock(mutex_);
  const auto held = held_.find(number);
  if (held == held_.end()) return {};
  Taken taken = std::move(held->second);
  held_.erase(held);
  return taken;
}

void PinnedTables::Retain(const std::unordered_set<uint64_t>& numbers) {
  MutexLock lock(mutex_);
  std::erase_if(held_, [&numbers](const auto& held) { return !numbers.contains(held.first); });
}

size_t PinnedTables::Count() const {
  MutexLock lock(mutex_);
  return held_.size();
}

}  // namespace ashlar
