// SyncedDirectory: makes durable the names that concurrent jobs create in a directory.
//
//   failures() -> files are created, linked, renamed -> Sync(what failures() was)
//
// I1: Sync returns Ok only if no sync of the directory has failed since failures() was called. The
//     system reports a directory's write error to only one sync, but names of other jobs may be in
//     the blocks that it could not write (file systems without a journal).
//
// Syncs run one at a time: one could succeed before the error of a concurrent one is counted.
//
// Thread safety: any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "ashlar/vfs.h"
#include "base/result.h"
#include "platform/mutex.h"

namespace ashlar {

class SyncedDirectory {
 public:
  explicit SyncedDirectory(std::unique_ptr<vfs::Directory> directory)
      : directory_(std::move(directory)) {}
  static Result<std::shared_ptr<SyncedDirectory>> Open(vfs::FileSystem* file_system,
                                                       const std::string& path);

  // The number of failed syncs. Call before the job creates its first name.
  uint64_t failures() const { return failures_.load(std::memory_order_acquire); }
  Status Sync(uint64_t failures_before);

 private:
  const std::unique_ptr<vfs::Directory> directory_;
  Mutex mutex_;                             // held across the sync
  Status error_ ASHLAR_GUARDED_BY(mutex_);  // of the last failed sync
  // Written under mutex_ after a failed sync (release), read by jobs that begin (acquire).
  std::atomic<uint64_t> failures_{0};
};

}  // namespace ashlar
