// ProgramFiles: adapts a program's FileSystem to the engine's files.
//
//   Append -> [64 KiB buffer] --Flush--> FSWritableFile::Append, Flush --Sync--> Sync
//
// I1: after a failed write, sync or close, every later call on that file object fails with the
//     first error.
// I2: the size of a writable file is counted here. It is the size at the open plus all appended
//     bytes. FSWritableFile::GetFileSize is not called.
// I3: mutex_ serializes the calls on one FSWritableFile, except Sync if the file's IsSyncThreadSafe
//     returns true.
// I4: a sequential read returns fewer bytes than wanted only at the end of the file, because short
//     reads are continued.
// I5: a missing file is IsPathNotFound(), even if the program returns NotFound.
// I6: if ReopenWritableFile or Truncate is NotSupported, the file, or its beginning, is copied to
//     <path>.dbtmp. The copy is made durable and renamed, so at every moment the path has either
//     all its old bytes or all its new ones. In this way a log can be truncated after an error. A
//     file never grows by this. A copy that a crash leaves is a temporary file
//     (filesystem/filename.h), which the next open deletes.
//
// Direct I/O and mapped reads are NotSupported. An exclusive creation first checks for the file and
// then creates it, in two calls.
//
// Thread safety and lifetime: as in ashlar/vfs.h; open files keep the FileSystem alive.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/file_system.h"
#include "ashlar/vfs.h"

namespace ashlar {

class ProgramFiles final : public vfs::FileSystem {
 public:
  explicit ProgramFiles(std::shared_ptr<ashlar::FileSystem> files) : files_(std::move(files)) {}

  const std::shared_ptr<ashlar::FileSystem>& files() const { return files_; }
  const char* Name() const override { return files_->Name(); }

  Status NewSequentialFile(const std::string& path, const vfs::FileOptions& options,
                           std::unique_ptr<vfs::SequentialFile>* result) override;
  Status NewRandomAccessFile(const std::string& path, const vfs::FileOptions& options,
                             std::unique_ptr<vfs::RandomAccessFile>* result) override;
  Status NewWritableFile(const std::string& path, const vfs::FileOptions& options,
                         std::unique_ptr<vfs::WritableFile>* result) override;
  Status ReopenWritableFile(const std::string& path, const vfs::FileOptions& options,
                            std::unique_ptr<vfs::WritableFile>* result) override;
  Status NewDirectory(const std::string& path, std::unique_ptr<vfs::Directory>* result) override;

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

 private:
  // I6. Returns the copy, open for appending. `bytes` is the length of the beginning to copy.
  // Without it, the complete file is copied if it exists.
  Status ReplaceByCopy(const std::string& path, std::optional<uint64_t> bytes,
                       const vfs::FileOptions& options, std::unique_ptr<FSWritableFile>* result);
  Status CopyTo(const std::string& path, std::optional<uint64_t> bytes, FSWritableFile* to);

  const std::shared_ptr<ashlar::FileSystem> files_;
};

}  // namespace ashlar
