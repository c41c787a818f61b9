// SmallFileSystem: a FileSystem as a program may write it, with files in memory and only the pure
// virtual methods. A missing file is NotFound, a sequential read returns at most seven bytes, and a
// writable file does not report its size.
//
// Thread safety: all methods; one mutex. Lifetime: open files keep the state alive.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ashlar/file_system.h"
#include "platform/mutex.h"

namespace ashlar {

class SmallFileSystem final : public FileSystem {
 public:
  struct State {
    mutable Mutex mutex;
    std::map<std::string, std::shared_ptr<std::string>> files ASHLAR_GUARDED_BY(mutex);
    std::set<std::string> directories ASHLAR_GUARDED_BY(mutex);
    std::set<std::string> locks ASHLAR_GUARDED_BY(mutex);
    int appends ASHLAR_GUARDED_BY(mutex) = 0;
    // Appends to files whose path contains `failing_name` fail with `failure`.
    std::string failing_name ASHLAR_GUARDED_BY(mutex);
    IOStatus failure ASHLAR_GUARDED_BY(mutex);
  };

  const char* Name() const override { return "SmallFileSystem"; }
  int appends() const {
    const MutexLock lock(state_->mutex);
    return state_->appends;
  }
  void FailAppends(const std::string& name, const IOStatus& failure) {
    const MutexLock lock(state_->mutex);
    state_->failing_name = name;
    state_->failure = failure;
  }

  IOStatus NewSequentialFile(const std::string& path, const FileOptions&,
                             std::unique_ptr<FSSequentialFile>* result, IODebugContext*) override;
  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions&,
                               std::unique_ptr<FSRandomAccessFile>* result,
                               IODebugContext*) override;
  IOStatus NewWritableFile(const std::string& path, const FileOptions&,
                           std::unique_ptr<FSWritableFile>* result, IODebugContext*) override;
  IOStatus NewDirectory(const std::string& path, const IOOptions&,
                        std::unique_ptr<FSDirectory>* result, IODebugContext*) override;
  IOStatus FileExists(const std::string& path, const IOOptions&, IODebugContext*) override;
  IOStatus GetChildren(const std::string& dir, const IOOptions&, std::vector<std::string>* names,
                       IODebugContext*) override;
  IOStatus DeleteFile(const std::string& path, const IOOptions&, IODebugContext*) override;
  IOStatus CreateDir(const std::string& dir, const IOOptions&, IODebugContext*) override;
  IOStatus CreateDirIfMissing(const std::string& dir, const IOOptions&, IODebugContext*) override;
  IOStatus DeleteDir(const std::string& dir, const IOOptions&, IODebugContext*) override;
  IOStatus GetFileSize(const std::string& path, const IOOptions&, uint64_t* bytes,
                       IODebugContext*) override;
  IOStatus GetFileModificationTime(const std::string&, const IOOptions&, uint64_t* unix_seconds,
                                   IODebugContext*) override {
    *unix_seconds = 1;
    return IOStatus::OK();
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions&,
                      IODebugContext*) override;
  IOStatus LockFile(const std::string& path, const IOOptions&, FileLock** lock,
                    IODebugContext*) override;
  IOStatus UnlockFile(FileLock* lock, const IOOptions&, IODebugContext*) override;
  IOStatus GetTestDirectory(const IOOptions&, std::string* path, IODebugContext*) override {
    *path = "/test";
    return IOStatus::OK();
  }
  IOStatus GetAbsolutePath(const std::string& path, const IOOptions&, std::string* absolute,
                           IODebugContext*) override {
    *absolute = path;
    return IOStatus::OK();
  }
  IOStatus IsDirectory(const std::string& path, const IOOptions&, bool* is_directory,
                       IODebugContext*) override;

 private:
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace ashlar
