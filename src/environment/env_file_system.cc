#include "environment/env_file_system.h"

#include <utility>

namespace ashlar {
namespace {

IOStatus ToIo(Status status) { return status_to_io_status(std::move(status)); }

class EnvSequentialFile final : public FSSequentialFile {
 public:
  explicit EnvSequentialFile(std::unique_ptr<SequentialFile> file) : file_(std::move(file)) {}

  IOStatus Read(size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) override {
    return ToIo(file_->Read(n, result, scratch));
  }
  IOStatus Skip(uint64_t n) override { return ToIo(file_->Skip(n)); }
  bool use_direct_io() const override { return file_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override { return file_->GetRequiredBufferAlignment(); }
  IOStatus InvalidateCache(size_t offset, size_t length) override {
    return ToIo(file_->InvalidateCache(offset, length));
  }
  IOStatus PositionedRead(uint64_t offset, size_t n, const IOOptions&, Slice* result, char* scratch,
                          IODebugContext*) override {
    return ToIo(file_->PositionedRead(offset, n, result, scratch));
  }

 private:
  const std::unique_ptr<SequentialFile> file_;
};

class EnvRandomAccessFile final : public FSRandomAccessFile {
 public:
  explicit EnvRandomAccessFile(std::unique_ptr<RandomAccessFile> file) : file_(std::move(file)) {}

  IOStatus Read(uint64_t offset, size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) const override {
    return ToIo(file_->Read(offset, n, result, scratch));
  }
  IOStatus Prefetch(uint64_t offset, size_t n, const IOOptions&, IODebugContext*) override {
    return ToIo(file_->Prefetch(offset, n));
  }
  IOStatus MultiRead(FSReadRequest* requests, size_t count, const IOOptions&,
                     IODebugContext*) override {
    std::vector<ReadRequest> passed(count);
    for (size_t i = 0; i < count; ++i) {
      passed[i].offset = requests[i].offset;
      passed[i].len = requests[i].len;
      passed[i].scratch = requests[i].scratch;
    }
    Status read = file_->MultiRead(passed.data(), count);
    for (size_t i = 0; i < count; ++i) {
      requests[i].result = passed[i].result;
      requests[i].status = ToIo(std::move(passed[i].status));
    }
    return ToIo(std::move(read));
  }
  size_t GetUniqueId(char* id, size_t bytes_max) const override {
    return file_->GetUniqueId(id, bytes_max);
  }
  void Hint(AccessPattern pattern) override {
    file_->Hint(static_cast<RandomAccessFile::AccessPattern>(pattern));
  }
  bool use_direct_io() const override { return file_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override { return file_->GetRequiredBufferAlignment(); }
  IOStatus InvalidateCache(size_t offset, size_t length) override {
    return ToIo(file_->InvalidateCache(offset, length));
  }
  IOStatus GetFileSize(uint64_t* bytes) override { return ToIo(file_->GetFileSize(bytes)); }

 private:
  static_assert(static_cast<int>(RandomAccessFile::DONTNEED) == static_cast<int>(kWontNeed));
  const std::unique_ptr<RandomAccessFile> file_;
};

class EnvWritableFile final : public FSWritableFile {
 public:
  explicit EnvWritableFile(std::unique_ptr<WritableFile> file) : file_(std::move(file)) {}

  IOStatus Append(const Slice& data, const IOOptions&, IODebugContext*) override {
    return ToIo(file_->Append(data));
  }
  IOStatus Append(const Slice& data, const IOOptions&, const DataVerificationInfo& info,
                  IODebugContext*) override {
    return ToIo(file_->Append(data, info));
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions&,
                            IODebugContext*) override {
    return ToIo(file_->PositionedAppend(data, offset));
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions&,
                            const DataVerificationInfo& info, IODebugContext*) override {
    return ToIo(file_->PositionedAppend(data, offset, info));
  }
  IOStatus Truncate(uint64_t bytes, const IOOptions&, IODebugContext*) override {
    return ToIo(file_->Truncate(bytes));
  }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return ToIo(file_->Close()); }
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return ToIo(file_->Flush()); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return ToIo(file_->Sync()); }
  IOStatus Fsync(const IOOptions&, IODebugContext*) override { return ToIo(file_->Fsync()); }
  bool IsSyncThreadSafe() const override { return file_->IsSyncThreadSafe(); }
  bool use_direct_io() const override { return file_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override { return file_->GetRequiredBufferAlignment(); }
  void SetWriteLifeTimeHint(Env::WriteLifeTimeHint hint) override {
    file_->SetWriteLifeTimeHint(hint);
  }
  Env::WriteLifeTimeHint GetWriteLifeTimeHint() override { return file_->GetWriteLifeTimeHint(); }
  void SetIOPriority(Env::IOPriority pri) override { file_->SetIOPriority(pri); }
  Env::IOPriority GetIOPriority() override { return file_->GetIOPriority(); }
  uint64_t GetFileSize(const IOOptions&, IODebugContext*) override { return file_->GetFileSize(); }
  void SetPreallocationBlockSize(size_t bytes) override { file_->SetPreallocationBlockSize(bytes); }
  void GetPreallocationStatus(size_t* block_size, size_t* last_allocated_block) override {
    file_->GetPreallocationStatus(block_size, last_allocated_block);
  }
  size_t GetUniqueId(char* id, size_t bytes_max) const override {
    return file_->GetUniqueId(id, bytes_max);
  }
  IOStatus InvalidateCache(size_t offset, size_t length) override {
    return ToIo(file_->InvalidateCache(offset, length));
  }
  IOStatus RangeSync(uint64_t offset, uint64_t bytes, const IOOptions&, IODebugContext*) override {
    return ToIo(file_->RangeSync(offset, bytes));
  }
  void PrepareWrite(size_t offset, size_t bytes, const IOOptions&, IODebugContext*) override {
    file_->PrepareWrite(offset, bytes);
  }
  IOStatus Allocate(uint64_t offset, uint64_t bytes, const IOOptions&, IODebugContext*) override {
    return ToIo(file_->Allocate(offset, bytes));
  }

 private:
  const std::unique_ptr<WritableFile> file_;
};

class EnvRandomRWFile final : public FSRandomRWFile {
 public:
  explicit EnvRandomRWFile(std::unique_ptr<RandomRWFile> file) : file_(std::move(file)) {}

  bool use_direct_io() const override { return file_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override { return file_->GetRequiredBufferAlignment(); }
  IOStatus Write(uint64_t offset, const Slice& data, const IOOptions&, IODebugContext*) override {
    return ToIo(file_->Write(offset, data));
  }
  IOStatus Read(uint64_t offset, size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) const override {
    return ToIo(file_->Read(offset, n, result, scratch));
  }
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return ToIo(file_->Flush()); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return ToIo(file_->Sync()); }
  IOStatus Fsync(const IOOptions&, IODebugContext*) override { return ToIo(file_->Fsync()); }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return ToIo(file_->Close()); }

 private:
  const std::unique_ptr<RandomRWFile> file_;
};

class EnvDirectory final : public FSDirectory {
 public:
  explicit EnvDirectory(std::unique_ptr<Directory> directory) : directory_(std::move(directory)) {}

  IOStatus Fsync(const IOOptions&, IODebugContext*) override { return ToIo(directory_->Fsync()); }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return ToIo(directory_->Close()); }
  size_t GetUniqueId(char* id, size_t bytes_max) const override {
    return directory_->GetUniqueId(id, bytes_max);
  }

 private:
  const std::unique_ptr<Directory> directory_;
};

}  // namespace

IOStatus EnvFileSystem::NewSequentialFile(const std::string& path, const FileOptions& options,
                                          std::unique_ptr<FSSequentialFile>* result,
                                          IODebugContext*) {
  std::unique_ptr<SequentialFile> file;
  Status opened = env_->NewSequentialFile(path, &file, options);
  if (opened.ok()) *result = std::make_unique<EnvSequentialFile>(std::move(file));
  return ToIo(std::move(opened));
}

IOStatus EnvFileSystem::NewRandomAccessFile(const std::string& path, const FileOptions& options,
                                            std::unique_ptr<FSRandomAccessFile>* result,
                                            IODebugContext*) {
  std::unique_ptr<RandomAccessFile> file;
  Status opened = env_->NewRandomAccessFile(path, &file, options);
  if (opened.ok()) *result = std::make_unique<EnvRandomAccessFile>(std::move(file));
  return ToIo(std::move(opened));
}

IOStatus EnvFileSystem::NewWritableFile(const std::string& path, const FileOptions& options,
                                        std::unique_ptr<FSWritableFile>* result, IODebugContext*) {
  std::unique_ptr<WritableFile> file;
  Status opened = env_->NewWritableFile(path, &file, options);
  if (opened.ok()) *result = std::make_unique<EnvWritableFile>(std::move(file));
  return ToIo(std::move(opened));
}

IOStatus EnvFileSystem::ReopenWritableFile(const std::string& path, const FileOptions& options,
                                           std::unique_ptr<FSWritableFile>* result,
                                           IODebugContext*) {
  std::unique_ptr<WritableFile> file;
  Status opened = env_->ReopenWritableFile(path, &file, options);
  if (opened.ok()) *result = std::make_unique<EnvWritableFile>(std::move(file));
  return ToIo(std::move(opened));
}

IOStatus EnvFileSystem::ReuseWritableFile(const std::string& path, const std::string& old_path,
                                          const FileOptions& options,
                                          std::unique_ptr<FSWritableFile>* result,
                                          IODebugContext*) {
  std::unique_ptr<WritableFile> file;
  Status opened = env_->ReuseWritableFile(path, old_path, &file, options);
  if (opened.ok()) *result = std::make_unique<EnvWritableFile>(std::move(file));
  return ToIo(std::move(opened));
}

IOStatus EnvFileSystem::NewRandomRWFile(const std::string& path, const FileOptions& options,
                                        std::unique_ptr<FSRandomRWFile>* result, IODebugContext*) {
  std::unique_ptr<RandomRWFile> file;
  Status opened = env_->NewRandomRWFile(path, &file, options);
  if (opened.ok()) *result = std::make_unique<EnvRandomRWFile>(std::move(file));
  return ToIo(std::move(opened));
}

IOStatus EnvFileSystem::NewMemoryMappedFileBuffer(const std::string& path,
                                                  std::unique_ptr<MemoryMappedFileBuffer>* result) {
  return ToIo(env_->NewMemoryMappedFileBuffer(path, result));
}

IOStatus EnvFileSystem::NewDirectory(const std::string& path, const IOOptions&,
                                     std::unique_ptr<FSDirectory>* result, IODebugContext*) {
  std::unique_ptr<Directory> directory;
  Status opened = env_->NewDirectory(path, &directory);
  if (opened.ok()) *result = std::make_unique<EnvDirectory>(std::move(directory));
  return ToIo(std::move(opened));
}

IOStatus EnvFileSystem::FileExists(const std::string& path, const IOOptions&, IODebugContext*) {
  return ToIo(env_->FileExists(path));
}

IOStatus EnvFileSystem::GetChildren(const std::string& dir, const IOOptions&,
                                    std::vector<std::string>* names, IODebugContext*) {
  return ToIo(env_->GetChildren(dir, names));
}

IOStatus EnvFileSystem::GetChildrenFileAttributes(const std::string& dir, const IOOptions&,
                                                  std::vector<FileAttributes>* attributes,
                                                  IODebugContext*) {
  return ToIo(env_->GetChildrenFileAttributes(dir, attributes));
}

IOStatus EnvFileSystem::DeleteFile(const std::string& path, const IOOptions&, IODebugContext*) {
  return ToIo(env_->DeleteFile(path));
}

IOStatus EnvFileSystem::Truncate(const std::string& path, size_t bytes, const IOOptions&,
                                 IODebugContext*) {
  return ToIo(env_->Truncate(path, bytes));
}

IOStatus EnvFileSystem::CreateDir(const std::string& dir, const IOOptions&, IODebugContext*) {
  return ToIo(env_->CreateDir(dir));
}

IOStatus EnvFileSystem::CreateDirIfMissing(const std::string& dir, const IOOptions&,
                                           IODebugContext*) {
  return ToIo(env_->CreateDirIfMissing(dir));
}

IOStatus EnvFileSystem::DeleteDir(const std::string& dir, const IOOptions&, IODebugContext*) {
  return ToIo(env_->DeleteDir(dir));
}

IOStatus EnvFileSystem::GetFileSize(const std::string& path, const IOOptions&, uint64_t* bytes,
                                    IODebugContext*) {
  return ToIo(env_->GetFileSize(path, bytes));
}

IOStatus EnvFileSystem::GetFileModificationTime(const std::string& path, const IOOptions&,
                                                uint64_t* unix_seconds, IODebugContext*) {
  return ToIo(env_->GetFileModificationTime(path, unix_seconds));
}

IOStatus EnvFileSystem::RenameFile(const std::string& from, const std::string& to, const IOOptions&,
                                   IODebugContext*) {
  return ToIo(env_->RenameFile(from, to));
}

IOStatus EnvFileSystem::LinkFile(const std::string& from, const std::string& to, const IOOptions&,
                                 IODebugContext*) {
  return ToIo(env_->LinkFile(from, to));
}

IOStatus EnvFileSystem::NumFileLinks(const std::string& path, const IOOptions&, uint64_t* count,
                                     IODebugContext*) {
  return ToIo(env_->NumFileLinks(path, count));
}

IOStatus EnvFileSystem::AreFilesSame(const std::string& first, const std::string& second,
                                     const IOOptions&, bool* same, IODebugContext*) {
  return ToIo(env_->AreFilesSame(first, second, same));
}

IOStatus EnvFileSystem::LockFile(const std::string& path, const IOOptions&, FileLock** lock,
                                 IODebugContext*) {
  return ToIo(env_->LockFile(path, lock));
}

IOStatus EnvFileSystem::UnlockFile(FileLock* lock, const IOOptions&, IODebugContext*) {
  return ToIo(env_->UnlockFile(lock));
}

IOStatus EnvFileSystem::GetTestDirectory(const IOOptions&, std::string* path, IODebugContext*) {
  return ToIo(env_->GetTestDirectory(path));
}

IOStatus EnvFileSystem::NewLogger(const std::string& path, const IOOptions&,
                                  std::shared_ptr<Logger>* result, IODebugContext*) {
  return ToIo(env_->NewLogger(path, result));
}

IOStatus EnvFileSystem::GetAbsolutePath(const std::string& path, const IOOptions&,
                                        std::string* absolute, IODebugContext*) {
  return ToIo(env_->GetAbsolutePath(path, absolute));
}

IOStatus EnvFileSystem::GetFreeSpace(const std::string& path, const IOOptions&, uint64_t* bytes,
                                     IODebugContext*) {
  return ToIo(env_->GetFreeSpace(path, bytes));
}

IOStatus EnvFileSystem::IsDirectory(const std::string& path, const IOOptions&, bool* is_directory,
                                    IODebugContext*) {
  return ToIo(env_->IsDirectory(path, is_directory));
}

IOStatus EnvFileSystem::SyncFile(const std::string& path, const FileOptions& file_options,
                                 const IOOptions&, bool use_fsync, IODebugContext*) {
  return ToIo(env_->SyncFile(path, file_options, use_fsync));
}

void EnvFileSystem::SupportedOps(int64_t& supported_ops) {
  supported_ops = int64_t{1} << kFSPrefetch;
}

}  // namespace ashlar
