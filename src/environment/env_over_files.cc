#include "environment/env_over_files.h"

#include <utility>

#include "ashlar/file_system.h"

namespace ashlar {
namespace {

const IOOptions& DefaultIo() {
  static const IOOptions& options = *new IOOptions;
  return options;
}

class SequentialFileOfFs final : public SequentialFile {
 public:
  explicit SequentialFileOfFs(std::unique_ptr<FSSequentialFile> file) : file_(std::move(file)) {}

  Status Read(size_t n, Slice* result, char* scratch) override {
    return file_->Read(n, DefaultIo(), result, scratch, nullptr);
  }
  Status Skip(uint64_t n) override { return file_->Skip(n); }
  bool use_direct_io() const override { return file_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override { return file_->GetRequiredBufferAlignment(); }
  Status InvalidateCache(size_t offset, size_t length) override {
    return file_->InvalidateCache(offset, length);
  }
  Status PositionedRead(uint64_t offset, size_t n, Slice* result, char* scratch) override {
    return file_->PositionedRead(offset, n, DefaultIo(), result, scratch, nullptr);
  }

 private:
  const std::unique_ptr<FSSequentialFile> file_;
};

class RandomAccessFileOfFs final : public RandomAccessFile {
 public:
  explicit RandomAccessFileOfFs(std::unique_ptr<FSRandomAccessFile> file)
      : file_(std::move(file)) {}

  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    return file_->Read(offset, n, DefaultIo(), result, scratch, nullptr);
  }
  Status Prefetch(uint64_t offset, size_t n) override {
    return file_->Prefetch(offset, n, DefaultIo(), nullptr);
  }
  Status MultiRead(ReadRequest* requests, size_t count) override {
    std::vector<FSReadRequest> passed(count);
    for (size_t i = 0; i < count; ++i) {
      passed[i].offset = requests[i].offset;
      passed[i].len = requests[i].len;
      passed[i].scratch = requests[i].scratch;
    }
    Status read = file_->MultiRead(passed.data(), count, DefaultIo(), nullptr);
    for (size_t i = 0; i < count; ++i) {
      requests[i].result = passed[i].result;
      requests[i].status = std::move(passed[i].status);
    }
    return read;
  }
  size_t GetUniqueId(char* id, size_t bytes_max) const override {
    return file_->GetUniqueId(id, bytes_max);
  }
  void Hint(AccessPattern pattern) override {
    file_->Hint(static_cast<FSRandomAccessFile::AccessPattern>(pattern));
  }
  bool use_direct_io() const override { return file_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override { return file_->GetRequiredBufferAlignment(); }
  Status InvalidateCache(size_t offset, size_t length) override {
    return file_->InvalidateCache(offset, length);
  }
  Status GetFileSize(uint64_t* bytes) override { return file_->GetFileSize(bytes); }

 private:
  const std::unique_ptr<FSRandomAccessFile> file_;
};

class WritableFileOfFs final : public WritableFile {
 public:
  explicit WritableFileOfFs(std::unique_ptr<FSWritableFile> file) : file_(std::move(file)) {}

  Status Append(const Slice& data) override { return file_->Append(data, DefaultIo(), nullptr); }
  Status Append(const Slice& data, const DataVerificationInfo& info) override {
    return file_->Append(data, DefaultIo(), info, nullptr);
  }
  Status PositionedAppend(const Slice& data, uint64_t offset) override {
    return file_->PositionedAppend(data, offset, DefaultIo(), nullptr);
  }
  Status PositionedAppend(const Slice& data, uint64_t offset,
                          const DataVerificationInfo& info) override {
    return file_->PositionedAppend(data, offset, DefaultIo(), info, nullptr);
  }
  Status Truncate(uint64_t bytes) override { return file_->Truncate(bytes, DefaultIo(), nullptr); }
  Status Close() override { return file_->Close(DefaultIo(), nullptr); }
  Status Flush() override { return file_->Flush(DefaultIo(), nullptr); }
  Status Sync() override { return file_->Sync(DefaultIo(), nullptr); }
  Status Fsync() override { return file_->Fsync(DefaultIo(), nullptr); }
  bool IsSyncThreadSafe() const override { return file_->IsSyncThreadSafe(); }
  bool use_direct_io() const override { return file_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override { return file_->GetRequiredBufferAlignment(); }
  void SetIOPriority(Env::IOPriority pri) override { file_->SetIOPriority(pri); }
  Env::IOPriority GetIOPriority() override { return file_->GetIOPriority(); }
  void SetWriteLifeTimeHint(Env::WriteLifeTimeHint hint) override {
    file_->SetWriteLifeTimeHint(hint);
  }
  Env::WriteLifeTimeHint GetWriteLifeTimeHint() override { return file_->GetWriteLifeTimeHint(); }
  uint64_t GetFileSize() override { return file_->GetFileSize(DefaultIo(), nullptr); }
  void SetPreallocationBlockSize(size_t bytes) override { file_->SetPreallocationBlockSize(bytes); }
  void GetPreallocationStatus(size_t* block_size, size_t* last_allocated_block) override {
    file_->GetPreallocationStatus(block_size, last_allocated_block);
  }
  size_t GetUniqueId(char* id, size_t bytes_max) const override {
    return file_->GetUniqueId(id, bytes_max);
  }
  Status InvalidateCache(size_t offset, size_t length) override {
    return file_->InvalidateCache(offset, length);
  }
  Status RangeSync(uint64_t offset, uint64_t bytes) override {
    return file_->RangeSync(offset, bytes, DefaultIo(), nullptr);
  }
  void PrepareWrite(size_t offset, size_t bytes) override {
    file_->PrepareWrite(offset, bytes, DefaultIo(), nullptr);
  }
  Status Allocate(uint64_t offset, uint64_t bytes) override {
    return file_->Allocate(offset, bytes, DefaultIo(), nullptr);
  }

 private:
  const std::unique_ptr<FSWritableFile> file_;
};

class RandomRWFileOfFs final : public RandomRWFile {
 public:
  explicit RandomRWFileOfFs(std::unique_ptr<FSRandomRWFile> file) : file_(std::move(file)) {}

  bool use_direct_io() const override { return file_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override { return file_->GetRequiredBufferAlignment(); }
  Status Write(uint64_t offset, const Slice& data) override {
    return file_->Write(offset, data, DefaultIo(), nullptr);
  }
  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    return file_->Read(offset, n, DefaultIo(), result, scratch, nullptr);
  }
  Status Flush() override { return file_->Flush(DefaultIo(), nullptr); }
  Status Sync() override { return file_->Sync(DefaultIo(), nullptr); }
  Status Fsync() override { return file_->Fsync(DefaultIo(), nullptr); }
  Status Close() override { return file_->Close(DefaultIo(), nullptr); }

 private:
  const std::unique_ptr<FSRandomRWFile> file_;
};

class DirectoryOfFs final : public Directory {
 public:
  explicit DirectoryOfFs(std::unique_ptr<FSDirectory> directory)
      : directory_(std::move(directory)) {}

  Status Fsync() override {
    return directory_->FsyncWithDirOptions(DefaultIo(), nullptr, DirFsyncOptions());
  }
  Status Close() override { return directory_->Close(DefaultIo(), nullptr); }
  size_t GetUniqueId(char* id, size_t bytes_max) const override {
    return directory_->GetUniqueId(id, bytes_max);
  }

 private:
  const std::unique_ptr<FSDirectory> directory_;
};

}  // namespace

Status EnvOverFiles::RegisterDbPaths(const std::vector<std::string>& paths) {
  return GetFileSystem()->RegisterDbPaths(paths);
}

Status EnvOverFiles::UnregisterDbPaths(const std::vector<std::string>& paths) {
  return GetFileSystem()->UnregisterDbPaths(paths);
}

Status EnvOverFiles::NewSequentialFile(const std::string& path,
                                       std::unique_ptr<SequentialFile>* result,
                                       const EnvOptions& options) {
  std::unique_ptr<FSSequentialFile> file;
  Status opened = GetFileSystem()->NewSequentialFile(path, options, &file, nullptr);
  if (opened.ok()) *result = std::make_unique<SequentialFileOfFs>(std::move(file));
  return opened;
}

Status EnvOverFiles::NewRandomAccessFile(const std::string& path,
                                         std::unique_ptr<RandomAccessFile>* result,
                                         const EnvOptions& options) {
  std::unique_ptr<FSRandomAccessFile> file;
  Status opened = GetFileSystem()->NewRandomAccessFile(path, options, &file, nullptr);
  if (opened.ok()) *result = std::make_unique<RandomAccessFileOfFs>(std::move(file));
  return opened;
}

Status EnvOverFiles::NewWritableFile(const std::string& path, std::unique_ptr<WritableFile>* result,
                                     const EnvOptions& options) {
  std::unique_ptr<FSWritableFile> file;
  Status opened = GetFileSystem()->NewWritableFile(path, options, &file, nullptr);
  if (opened.ok()) *result = std::make_unique<WritableFileOfFs>(std::move(file));
  return opened;
}

Status EnvOverFiles::ReopenWritableFile(const std::string& path,
                                        std::unique_ptr<WritableFile>* result,
                                        const EnvOptions& options) {
  std::unique_ptr<FSWritableFile> file;
  Status opened = GetFileSystem()->ReopenWritableFile(path, options, &file, nullptr);
  if (opened.ok()) *result = std::make_unique<WritableFileOfFs>(std::move(file));
  return opened;
}

Status EnvOverFiles::ReuseWritableFile(const std::string& path, const std::string& old_path,
                                       std::unique_ptr<WritableFile>* result,
                                       const EnvOptions& options) {
  std::unique_ptr<FSWritableFile> file;
  Status opened = GetFileSystem()->ReuseWritableFile(path, old_path, options, &file, nullptr);
  if (opened.ok()) *result = std::make_unique<WritableFileOfFs>(std::move(file));
  return opened;
}

Status EnvOverFiles::NewRandomRWFile(const std::string& path, std::unique_ptr<RandomRWFile>* result,
                                     const EnvOptions& options) {
  std::unique_ptr<FSRandomRWFile> file;
  Status opened = GetFileSystem()->NewRandomRWFile(path, options, &file, nullptr);
  if (opened.ok()) *result = std::make_unique<RandomRWFileOfFs>(std::move(file));
  return opened;
}

Status EnvOverFiles::NewMemoryMappedFileBuffer(const std::string& path,
                                               std::unique_ptr<MemoryMappedFileBuffer>* result) {
  return GetFileSystem()->NewMemoryMappedFileBuffer(path, result);
}

Status EnvOverFiles::NewDirectory(const std::string& path, std::unique_ptr<Directory>* result) {
  std::unique_ptr<FSDirectory> directory;
  Status opened = GetFileSystem()->NewDirectory(path, DefaultIo(), &directory, nullptr);
  if (opened.ok()) *result = std::make_unique<DirectoryOfFs>(std::move(directory));
  return opened;
}

Status EnvOverFiles::FileExists(const std::string& path) {
  return GetFileSystem()->FileExists(path, DefaultIo(), nullptr);
}

Status EnvOverFiles::GetChildren(const std::string& dir, std::vector<std::string>* names) {
  return GetFileSystem()->GetChildren(dir, DefaultIo(), names, nullptr);
}

Status EnvOverFiles::GetChildrenFileAttributes(const std::string& dir,
                                               std::vector<FileAttributes>* attributes) {
  return GetFileSystem()->GetChildrenFileAttributes(dir, DefaultIo(), attributes, nullptr);
}

Status EnvOverFiles::DeleteFile(const std::string& path) {
  return GetFileSystem()->DeleteFile(path, DefaultIo(), nullptr);
}

Status EnvOverFiles::Truncate(const std::string& path, size_t bytes) {
  return GetFileSystem()->Truncate(path, bytes, DefaultIo(), nullptr);
}

Status EnvOverFiles::CreateDir(const std::string& dir) {
  return GetFileSystem()->CreateDir(dir, DefaultIo(), nullptr);
}

Status EnvOverFiles::CreateDirIfMissing(const std::string& dir) {
  return GetFileSystem()->CreateDirIfMissing(dir, DefaultIo(), nullptr);
}

Status EnvOverFiles::DeleteDir(const std::string& dir) {
  return GetFileSystem()->DeleteDir(dir, DefaultIo(), nullptr);
}

Status EnvOverFiles::GetFileSize(const std::string& path, uint64_t* bytes) {
  return GetFileSystem()->GetFileSize(path, DefaultIo(), bytes, nullptr);
}

Status EnvOverFiles::GetFileModificationTime(const std::string& path, uint64_t* unix_seconds) {
  return GetFileSystem()->GetFileModificationTime(path, DefaultIo(), unix_seconds, nullptr);
}

Status EnvOverFiles::RenameFile(const std::string& from, const std::string& to) {
  return GetFileSystem()->RenameFile(from, to, DefaultIo(), nullptr);
}

Status EnvOverFiles::LinkFile(const std::string& from, const std::string& to) {
  return GetFileSystem()->LinkFile(from, to, DefaultIo(), nullptr);
}

Status EnvOverFiles::NumFileLinks(const std::string& path, uint64_t* count) {
  return GetFileSystem()->NumFileLinks(path, DefaultIo(), count, nullptr);
}

Status EnvOverFiles::AreFilesSame(const std::string& first, const std::string& second, bool* same) {
  return GetFileSystem()->AreFilesSame(first, second, DefaultIo(), same, nullptr);
}

Status EnvOverFiles::LockFile(const std::string& path, FileLock** lock) {
  return GetFileSystem()->LockFile(path, DefaultIo(), lock, nullptr);
}

Status EnvOverFiles::UnlockFile(FileLock* lock) {
  return GetFileSystem()->UnlockFile(lock, DefaultIo(), nullptr);
}

Status EnvOverFiles::GetTestDirectory(std::string* path) {
  return GetFileSystem()->GetTestDirectory(DefaultIo(), path, nullptr);
}

Status EnvOverFiles::NewLogger(const std::string& path, std::shared_ptr<Logger>* result) {
  return GetFileSystem()->NewLogger(path, DefaultIo(), result, nullptr);
}

Status EnvOverFiles::GetAbsolutePath(const std::string& path, std::string* absolute) {
  return GetFileSystem()->GetAbsolutePath(path, DefaultIo(), absolute, nullptr);
}

Status EnvOverFiles::GetFreeSpace(const std::string& path, uint64_t* bytes) {
  return GetFileSystem()->GetFreeSpace(path, DefaultIo(), bytes, nullptr);
}

Status EnvOverFiles::IsDirectory(const std::string& path, bool* is_directory) {
  return GetFileSystem()->IsDirectory(path, DefaultIo(), is_directory, nullptr);
}

Status EnvOverFiles::SyncFile(const std::string& path, const EnvOptions& options, bool use_fsync) {
  return GetFileSystem()->SyncFile(path, options, DefaultIo(), use_fsync, nullptr);
}

}  // namespace ashlar
