#include "filesystem/synced_directory.h"

#include "base/assert.h"
#include "base/out_of_memory.h"

namespace ashlar {

Result<std::shared_ptr<SyncedDirectory>> SyncedDirectory::Open(vfs::FileSystem* file_system,
                                                               const std::string& path) {
  std::unique_ptr<vfs::Directory> directory;
  ASHLAR_RETURN_IF_ERROR(file_system->NewDirectory(path, &directory));
  return std::make_shared<SyncedDirectory>(std::move(directory));
}

Status SyncedDirectory::Sync(uint64_t failures_before) {
  MutexLock lock(mutex_);
  ASHLAR_ASSERT(failures_before <= failures());  // failures() only grows
  Status synced = CatchBadAlloc([this] { return directory_->Sync(); });
  if (!synced.ok()) {
    error_ = std::move(synced);
    failures_.fetch_add(1, std::memory_order_release);
  }
  return failures() == failures_before ? Status::OK() : error_;  // I1
}

}  // namespace ashlar
