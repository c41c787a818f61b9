// EnvOverFiles: implements the file methods of an Env with its FileSystem, and the time methods
// with its SystemClock. Derived classes add threads.
//
// I1: each call makes one call of GetFileSystem(), with default IOOptions and without a context, or
//     one call of GetSystemClock().
// I2: an error keeps its code, its subcode, its text, and the facts that IOStatus adds.
//
// Thread safety and lifetime: as in ashlar/env.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ashlar/env.h"
#include "ashlar/system_clock.h"

namespace ashlar {

class EnvOverFiles : public Env {
 public:
  EnvOverFiles(const std::shared_ptr<FileSystem>& files, const std::shared_ptr<SystemClock>& clock)
      : Env(files, clock) {}

  Status RegisterDbPaths(const std::vector<std::string>& paths) override;
  Status UnregisterDbPaths(const std::vector<std::string>& paths) override;
  Status NewSequentialFile(const std::string& path, std::unique_ptr<SequentialFile>* result,
                           const EnvOptions& options) override;
  Status NewRandomAccessFile(const std::string& path, std::unique_ptr<RandomAccessFile>* result,
                             const EnvOptions& options) override;
  Status NewWritableFile(const std::string& path, std::unique_ptr<WritableFile>* result,
                         const EnvOptions& options) override;
  Status ReopenWritableFile(const std::string& path, std::unique_ptr<WritableFile>* result,
                            const EnvOptions& options) override;
  Status ReuseWritableFile(const std::string& path, const std::string& old_path,
                           std::unique_ptr<WritableFile>* result,
                           const EnvOptions& options) override;
  Status NewRandomRWFile(const std::string& path, std::unique_ptr<RandomRWFile>* result,
                         const EnvOptions& options) override;
  Status NewMemoryMappedFileBuffer(const std::string& path,
                                   std::unique_ptr<MemoryMappedFileBuffer>* result) override;
  Status NewDirectory(const std::string& path, std::unique_ptr<Directory>* result) override;
  Status FileExists(const std::string& path) override;
  Status GetChildren(const std::string& dir, std::vector<std::string>* names) override;
  Status GetChildrenFileAttributes(const std::string& dir,
                                   std::vector<FileAttributes>* attributes) override;
  Status DeleteFile(const std::string& path) override;
  Status Truncate(const std::string& path, size_t bytes) override;
  Status CreateDir(const std::string& dir) override;
  Status CreateDirIfMissing(const std::string& dir) override;
  Status DeleteDir(const std::string& dir) override;
  Status GetFileSize(const std::string& path, uint64_t* bytes) override;
  Status GetFileModificationTime(const std::string& path, uint64_t* unix_seconds) override;
  Status RenameFile(const std::string& from, const std::string& to) override;
  Status LinkFile(const std::string& from, const std::string& to) override;
  Status NumFileLinks(const std::string& path, uint64_t* count) override;
  Status AreFilesSame(const std::string& first, const std::string& second, bool* same) override;
  Status LockFile(const std::string& path, FileLock** lock) override;
  Status UnlockFile(FileLock* lock) override;
  Status GetTestDirectory(std::string* path) override;
  Status NewLogger(const std::string& path, std::shared_ptr<Logger>* result) override;
  Status GetAbsolutePath(const std::string& path, std::string* absolute) override;
  Status GetFreeSpace(const std::string& path, uint64_t* bytes) override;
  Status IsDirectory(const std::string& path, bool* is_directory) override;
  Status SyncFile(const std::string& path, const EnvOptions& options, bool use_fsync) override;

  uint64_t NowMicros() override { return GetSystemClock()->NowMicros(); }
  uint64_t NowNanos() override { return GetSystemClock()->NowNanos(); }
  uint64_t NowCPUNanos() override { return GetSystemClock()->CPUNanos(); }
  void SleepForMicroseconds(int micros) override { GetSystemClock()->SleepForMicroseconds(micros); }
  Status GetCurrentTime(int64_t* unix_time) override {
    return GetSystemClock()->GetCurrentTime(unix_time);
  }
  std::string TimeToString(uint64_t unix_seconds) override {
    return GetSystemClock()->TimeToString(unix_seconds);
  }
};

}  // namespace ashlar
