// VfsFileSystem: adapts the engine's files to a FileSystem that programs call or wrap. It serves
// FileSystem::Default(), and the file methods of Env::Default() and NewMemEnv.
//
// I1: when Append returns, the operating system has its bytes, as in RocksDB. If the options
//     request direct or mapped writes, Flush does the rest.
// I2: a file requires no alignment from its user (use_direct_io() is false), because the engine's
//     files align direct I/O themselves.
// I3: a lock ends with UnlockFile, which deletes the object.
// I4: a writable file is as long as its appended bytes. Its Truncate refuses any other length.
//
// Thread safety and lifetime: as in ashlar/file_system.h; open files do not need the FileSystem.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/file_system.h"
#include "ashlar/vfs.h"

namespace ashlar {

class VfsFileSystem final : public FileSystem {
 public:
  explicit VfsFileSystem(std::shared_ptr<vfs::FileSystem> files) : files_(std::move(files)) {}

  const std::shared_ptr<vfs::FileSystem>& files() const { return files_; }
  const char* Name() const override { return files_->Name(); }

  IOStatus NewSequentialFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<FSSequentialFile>* result,
                             IODebugContext* dbg) override;
  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* result,
                               IODebugContext* dbg) override;
  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg) override;
  IOStatus ReopenWritableFile(const std::string& path, const FileOptions& options,
                              std::unique_ptr<FSWritableFile>* result,
                              IODebugContext* dbg) override;
  IOStatus NewRandomRWFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSRandomRWFile>* result, IODebugContext* dbg) override;
  IOStatus NewMemoryMappedFileBuffer(const std::string& path,
                                     std::unique_ptr<MemoryMappedFileBuffer>* result) override;
  IOStatus NewDirectory(const std::string& path, const IOOptions& options,
                        std::unique_ptr<FSDirectory>* result, IODebugContext* dbg) override;
  IOStatus FileExists(const std::string& path, const IOOptions& options,
                      IODebugContext* dbg) override;
  IOStatus GetChildren(const std::string& dir, const IOOptions& options,
                       std::vector<std::string>* names, IODebugContext* dbg) override;
  IOStatus DeleteFile(const std::string& path, const IOOptions& options,
                      IODebugContext* dbg) override;
  IOStatus Truncate(const std::string& path, size_t bytes, const IOOptions& options,
                    IODebugContext* dbg) override;
  IOStatus CreateDir(const std::string& dir, const IOOptions& options,
                     IODebugContext* dbg) override;
  IOStatus CreateDirIfMissing(const std::string& dir, const IOOptions& options,
                              IODebugContext* dbg) override;
  IOStatus DeleteDir(const std::string& dir, const IOOptions& options,
                     IODebugContext* dbg) override;
  IOStatus GetFileSize(const std::string& path, const IOOptions& options, uint64_t* bytes,
                       IODebugContext* dbg) override;
  IOStatus GetFileModificationTime(const std::string& path, const IOOptions& options,
                                   uint64_t* unix_seconds, IODebugContext* dbg) override;
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* dbg) override;
  IOStatus LinkFile(const std::string& from, const std::string& to, const IOOptions& options,
                    IODebugContext* dbg) override;
  IOStatus NumFileLinks(const std::string& path, const IOOptions& options, uint64_t* count,
                        IODebugContext* dbg) override;
  IOStatus AreFilesSame(const std::string& first, const std::string& second,
                        const IOOptions& options, bool* same, IODebugContext* dbg) override;
  IOStatus LockFile(const std::string& path, const IOOptions& options, FileLock** lock,
                    IODebugContext* dbg) override;
  IOStatus UnlockFile(FileLock* lock, const IOOptions& options, IODebugContext* dbg) override;
  IOStatus GetTestDirectory(const IOOptions& options, std::string* path,
                            IODebugContext* dbg) override;
  IOStatus GetAbsolutePath(const std::string& path, const IOOptions& options, std::string* absolute,
                           IODebugContext* dbg) override;
  IOStatus GetFreeSpace(const std::string& path, const IOOptions& options, uint64_t* bytes,
                        IODebugContext* dbg) override;
  IOStatus IsDirectory(const std::string& path, const IOOptions& options, bool* is_directory,
                       IODebugContext* dbg) override;
  // Asynchronous reads are not supported.
  void SupportedOps(int64_t& supported_ops) override;

 private:
  const std::shared_ptr<vfs::FileSystem> files_;
};

}  // namespace ashlar
