#include "filesystem/native_file_system.h"

#include <utility>

#include "ashlar/env.h"
#include "base/result.h"
#include "filesystem/native_readers.h"
#include "filesystem/native_writers.h"
#include "platform/file.h"
#include "platform/host.h"
#include "platform/pool_file.h"

namespace ashlar {
namespace {

class NativeDirectory final : public vfs::Directory {
 public:
  explicit NativeDirectory(OsDirectory directory) : directory_(std::move(directory)) {}
  Status Sync() override { return directory_.Sync(); }

 private:
  OsDirectory directory_;
};

class NativeFileLock final : public vfs::FileLock {
 public:
  explicit NativeFileLock(std::unique_ptr<OsFileLock> lock) : lock_(std::move(lock)) {}

 private:
  const std::unique_ptr<OsFileLock> lock_;
};

// I1: after the first failure, every call except Read returns `failed_`.
class NativeRandomRWFile final : public vfs::RandomRWFile {
 public:
  explicit NativeRandomRWFile(OsFile file) : file_(std::move(file)) {}
  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    *result = Slice();
    ASHLAR_ASSIGN_OR_RETURN(const size_t got, file_.ReadAt(offset, n, scratch));
    *result = Slice(scratch, got);
    return Status::OK();
  }
  Status Write(uint64_t offset, const Slice& data) override {
    return Keep(failed_.ok() ? file_.WriteAt(offset, data) : failed_);
  }
  Status Sync() override { return Keep(failed_.ok() ? file_.SyncData() : failed_); }
  Status Close() override {
    if (std::exchange(is_closed_, true)) return failed_;
    const Status closed = file_.Close();
    return Keep(failed_.ok() ? closed : failed_);
  }

 private:
  Status Keep(Status status) {
    failed_ = status;
    return status;
  }

  OsFile file_;
  bool is_closed_ = false;
  Status failed_;
};

// The mapping may keep the pool file's lock. Another buffer of the file is then refused until the
// mapping ends.
class NativeFileBuffer final : public MemoryMappedFileBuffer {
 public:
  explicit NativeFileBuffer(std::unique_ptr<PoolMapping> mapping)
      : MemoryMappedFileBuffer(mapping->data(), mapping->bytes()), mapping_(std::move(mapping)) {}

 private:
  const std::unique_ptr<PoolMapping> mapping_;
};

}  // namespace

std::shared_ptr<vfs::FileSystem> vfs::FileSystem::Default() {
  static const std::shared_ptr<vfs::FileSystem>& native =
      *new std::shared_ptr<vfs::FileSystem>(std::make_shared<NativeFileSystem>());
  return native;
}

Status NativeFileSystem::NewSequentialFile(const std::string& path, const vfs::FileOptions& options,
                                           std::unique_ptr<vfs::SequentialFile>* result) {
  return OpenNativeSequentialFile(path, options, result);
}

Status NativeFileSystem::NewRandomAccessFile(const std::string& path,
                                             const vfs::FileOptions& options,
                                             std::unique_ptr<vfs::RandomAccessFile>* result) {
  return OpenNativeRandomAccessFile(path, options, result);
}

Status NativeFileSystem::NewWritableFile(const std::string& path, const vfs::FileOptions& options,
                                         std::unique_ptr<vfs::WritableFile>* result) {
  return OpenNativeWritableFile(path, options, ExistingContents::kCut, result);
}

Status NativeFileSystem::ReopenWritableFile(const std::string& path,
                                            const vfs::FileOptions& options,
                                            std::unique_ptr<vfs::WritableFile>* result) {
  return OpenNativeWritableFile(path, options, ExistingContents::kKeep, result);
}

Status NativeFileSystem::ReuseWritableFile(const std::string& from, const std::string& to,
                                           const vfs::FileOptions& options,
                                           std::unique_ptr<vfs::WritableFile>* result) {
  if (options.use_direct_io)
    return Status::InvalidArgument(to, "a file cannot be written over around the page cache");
  ASHLAR_RETURN_IF_ERROR(RenamePath(from, to));
  return OpenNativeWritableFile(to, options, ExistingContents::kWriteOver, result);
}

Status NativeFileSystem::NewDirectory(const std::string& path,
                                      std::unique_ptr<vfs::Directory>* result) {
  ASHLAR_ASSIGN_OR_RETURN(OsDirectory directory, OsDirectory::Open(path));
  *result = std::make_unique<NativeDirectory>(std::move(directory));
  return Status::OK();
}

Status NativeFileSystem::NewRandomRWFile(const std::string& path,
                                         std::unique_ptr<vfs::RandomRWFile>* result) {
  ASHLAR_RETURN_IF_ERROR(CheckNoLockFile(path));
  ASHLAR_RETURN_IF_ERROR(GetFileInfo(path).status());
  ASHLAR_ASSIGN_OR_RETURN(OsFile file, OsFile::Open(path, {.mode = OpenMode::kOpenOrCreate}));
  *result = std::make_unique<NativeRandomRWFile>(std::move(file));
  return Status::OK();
}

Status NativeFileSystem::NewMemoryMappedFileBuffer(
    const std::string& path, std::unique_ptr<MemoryMappedFileBuffer>* result) {
  ASHLAR_RETURN_IF_ERROR(CheckNoLockFile(path));
  ASHLAR_ASSIGN_OR_RETURN(const std::unique_ptr<PoolFile> file, PoolFile::Open(path));
  ASHLAR_ASSIGN_OR_RETURN(std::unique_ptr<PoolMapping> mapping, file->Map(PoolMapMode::kShared));
  *result = std::make_unique<NativeFileBuffer>(std::move(mapping));
  return Status::OK();
}

Status NativeFileSystem::FileExists(const std::string& path) {
  Status status = GetFileInfo(path).status();
  return status.IsPathNotFound() ? Status::NotFound(path) : status;
}

Status NativeFileSystem::GetChildren(const std::string& path, std::vector<std::string>* names) {
  ASHLAR_ASSIGN_OR_RETURN(*names, ListDirectory(path));
  return Status::OK();
}

Status NativeFileSystem::DeleteFile(const std::string& path) { return RemoveFile(path); }

Status NativeFileSystem::CreateDir(const std::string& path) { return MakeDirectory(path); }

Status NativeFileSystem::CreateDirIfMissing(const std::string& path) {
  return MakeDirectoryIfMissing(path);
}

Status NativeFileSystem::DeleteDir(const std::string& path) { return RemoveDirectory(path); }

Status NativeFileSystem::GetFileSize(const std::string& path, uint64_t* bytes) {
  ASHLAR_ASSIGN_OR_RETURN(const FileInfo info, GetFileInfo(path));
  *bytes = info.bytes;
  return Status::OK();
}

Status NativeFileSystem::GetFileModificationTime(const std::string& path, uint64_t* unix_seconds) {
  ASHLAR_ASSIGN_OR_RETURN(const FileInfo info, GetFileInfo(path));
  *unix_seconds = info.modified_unix_seconds;
  return Status::OK();
}

Status NativeFileSystem::RenameFile(const std::string& from, const std::string& to) {
  return RenamePath(from, to);
}

Status NativeFileSystem::NumFileLinks(const std::string& path, uint64_t* count) {
  ASHLAR_ASSIGN_OR_RETURN(const FileInfo info, GetFileInfo(path));
  *count = info.links;
  return Status::OK();
}

Status NativeFileSystem::LinkFile(const std::string& from, const std::string& to) {
  return HardLink(from, to);
}

Status NativeFileSystem::Truncate(const std::string& path, uint64_t bytes) {
  ASHLAR_RETURN_IF_ERROR(CheckNoLockFile(path));
  return TruncatePath(path, bytes);
}

Status NativeFileSystem::LockFile(const std::string& path, std::unique_ptr<vfs::FileLock>* lock) {
  ASHLAR_ASSIGN_OR_RETURN(std::unique_ptr<OsFileLock> held, OsFileLock::Acquire(path));
  *lock = std::make_unique<NativeFileLock>(std::move(held));
  return Status::OK();
}

Status NativeFileSystem::GetFreeSpace(const std::string& path, uint64_t* bytes) {
  ASHLAR_ASSIGN_OR_RETURN(*bytes, FreeBytes(path));
  return Status::OK();
}

Status NativeFileSystem::IsDirectory(const std::string& path, bool* is_directory) {
  ASHLAR_ASSIGN_OR_RETURN(const FileInfo info, GetFileInfo(path));
  *is_directory = info.is_directory;
  return Status::OK();
}

Status NativeFileSystem::AreFilesSame(const std::string& first, const std::string& second,
                                      bool* same) {
  ASHLAR_ASSIGN_OR_RETURN(*same, AreSameFile(first, second));
  return Status::OK();
}

Status NativeFileSystem::GetAbsolutePath(const std::string& path, std::string* absolute) {
  ASHLAR_ASSIGN_OR_RETURN(*absolute, AbsolutePath(path));
  return Status::OK();
}

}  // namespace ashlar
