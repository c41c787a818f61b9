// NativeFileSystem: a FileSystem on the operating system's files. FileSystem::Default() returns
// one. README.md compares the ways to write.
//
//   default             Append -> [64 KiB buffer] --Flush--> page cache --Sync--> device
//   unbuffered_appends  Append is one write --> page cache
//   use_direct_io       [two aligned buffers of 1 MiB] --> device
//   use_mmap_writes     [window of 1 MiB] in the page cache at once
//   and keeps_zero_tail [window of 256 KiB]
//
// I1: after a failed write, sync or close, every later write, flush, sync or close of that file
//     object fails with the first error. The state of the kernel's dirty pages is unknown then, and
//     a later success would be misleading.
// I2: bytes reach the file in the order of the Appends. The buffer's mutex is held across the
//     write, or only one thread appends, or at most one write is in progress and every flush, sync
//     and close waits for its end.
// I3: LOCK is opened only through LockFile, because closing any other handle to it would release
//     the record lock of this process.
//
// Thread safety: see ashlar/vfs.h.
#pragma once

#include "ashlar/vfs.h"

namespace ashlar {

class NativeFileSystem final : public vfs::FileSystem {
 public:
  const char* Name() const override { return "NativeFileSystem"; }

  Status NewSequentialFile(const std::string& path, const vfs::FileOptions& options,
                           std::unique_ptr<vfs::SequentialFile>* result) override;
  Status NewRandomAccessFile(const std::string& path, const vfs::FileOptions& options,
                             std::unique_ptr<vfs::RandomAccessFile>* result) override;
  Status NewWritableFile(const std::string& path, const vfs::FileOptions& options,
                         std::unique_ptr<vfs::WritableFile>* result) override;
  Status ReopenWritableFile(const std::string& path, const vfs::FileOptions& options,
                            std::unique_ptr<vfs::WritableFile>* result) override;
  Status ReuseWritableFile(const std::string& from, const std::string& to,
                           const vfs::FileOptions& options,
                           std::unique_ptr<vfs::WritableFile>* result) override;
  Status NewDirectory(const std::string& path, std::unique_ptr<vfs::Directory>* result) override;
  Status NewRandomRWFile(const std::string& path,
                         std::unique_ptr<vfs::RandomRWFile>* result) override;
  Status NewMemoryMappedFileBuffer(const std::string& path,
                                   std::unique_ptr<MemoryMappedFileBuffer>* result) override;

  Status FileExists(const std::string& path) override;
  Status GetChildren(const std::string& path, std::vector<std::string>* names) override;
  Status DeleteFile(const std::string& path) override;
  Status CreateDir(const std::string& path) override;
  Status CreateDirIfMissing(const std::string& path) override;
  Status DeleteDir(const std::string& path) override;
  Status GetFileSize(const std::string& path, uint64_t* bytes) override;
  Status GetFileModificationTime(const std::string& path, uint64_t* unix_seconds) override;
  Status RenameFile(const std::string& from, const std::string& to) override;
  Status LinkFile(const std::string& from, const std::string& to) override;
  Status NumFileLinks(const std::string& path, uint64_t* count) override;
  Status Truncate(const std::string& path, uint64_t bytes) override;
  Status LockFile(const std::string& path, std::unique_ptr<vfs::FileLock>* lock) override;
  Status GetFreeSpace(const std::string& path, uint64_t* bytes) override;
  Status IsDirectory(const std::string& path, bool* is_directory) override;
  Status AreFilesSame(const std::string& first, const std::string& second, bool* same) override;
  Status GetAbsolutePath(const std::string& path, std::string* absolute) override;
};

}  // namespace ashlar
