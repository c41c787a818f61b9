#include "table/open/pinned_tables.h"

#include <utility>

#include "base/assert.h"
#include "base/result.h"

namespace ashlar {

Status PinnedTables::Pin(uint64_t number, const std::string& path, uint64_t* bytes) {
  bool has_room = false;
  {
    MutexLock lock(mutex_);
    if (const auto pinned = pinned_.find(number); pinned != pinned_.end())
      return pinned->second.file->Size(bytes);
    has_room = args_.files_max == 0 || pinned_.size() < args_.files_max;
  }
  if (has_room) {
    Taken opened{.file = nullptr, .path = path};
    const Status status =
        args_.file_system->NewRandomAccessFile(path, args_.file_options, &opened.file);
    if (status.IsPathNotFound()) return status;
    if (status.ok()) {
      ASHLAR_RETURN_IF_ERROR(opened.file->Size(bytes));
      MutexLock lock(mutex_);
      pinned_.emplace(number, std::move(opened));
      ASHLAR_ASSERT(args_.files_max == 0 || pinned_.size() <= args_.files_max);  // I1
      return Status::OK();
    }
  }
  return args_.file_system->GetFileSize(path, bytes);
}

PinnedTables::Taken PinnedTables::Take(uint64_t number) {
  MutexLock lock(mutex_);
  const auto pinned = pinned_.find(number);
  if (pinned == pinned_.end()) return {};
  Taken taken = std::move(pinned->second);
  pinned_.erase(pinned);
  return taken;
}

void PinnedTables::Retain(const std::unordered_set<uint64_t>& numbers) {
  MutexLock lock(mutex_);
  std::erase_if(pinned_,
                [&numbers](const auto& pinned) { return !numbers.contains(pinned.first); });
}

size_t PinnedTables::Count() const {
  MutexLock lock(mutex_);
  return pinned_.size();
}

}  // namespace ashlar
