#include "environment/vfs_file_system.h"

#include <utility>

#include "base/format.h"
#include "platform/program.h"

namespace ashlar {
namespace {

IOStatus ToIo(Status status) { return status_to_io_status(std::move(status)); }

vfs::FileOptions ForReading(const EnvOptions& options) {
  return {.use_mmap_reads = options.use_mmap_reads, .use_direct_io = options.use_direct_reads};
}

// I1.
vfs::FileOptions ForWriting(const EnvOptions& options) {
  const bool is_mapped = options.use_mmap_writes && !options.use_direct_writes;
  return {.use_direct_io = options.use_direct_writes,
          .use_mmap_writes = is_mapped,
          .unbuffered_appends = !is_mapped && !options.use_direct_writes};
}

class VfsSequentialFile final : public FSSequentialFile {
 public:
  explicit VfsSequentialFile(std::unique_ptr<vfs::SequentialFile> file) : file_(std::move(file)) {}

  IOStatus Read(size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) override {
    return ToIo(file_->Read(n, result, scratch));
  }
  IOStatus Skip(uint64_t n) override { return ToIo(file_->Skip(n)); }

 private:
  const std::unique_ptr<vfs::SequentialFile> file_;
};

class VfsRandomAccessFile final : public FSRandomAccessFile {
 public:
  explicit VfsRandomAccessFile(std::unique_ptr<vfs::RandomAccessFile> file)
      : file_(std::move(file)) {}

  IOStatus Read(uint64_t offset, size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) const override {
    return ToIo(file_->Read(offset, n, result, scratch));
  }
  IOStatus Prefetch(uint64_t offset, size_t n, const IOOptions&, IODebugContext*) override {
    file_->Hint(vfs::AccessPattern::kWillNeed, offset, n);
    return IOStatus::OK();
  }
  void Hint(AccessPattern pattern) override {
    uint64_t bytes = 0;
    if (!file_->Size(&bytes).ok()) return;
    switch (pattern) {
      case kNormal: file_->Hint(vfs::AccessPattern::kNormal, 0, bytes); break;
      case kRandom: file_->Hint(vfs::AccessPattern::kRandom, 0, bytes); break;
      case kSequential: file_->Hint(vfs::AccessPattern::kSequential, 0, bytes); break;
      case kWillNeed: file_->Hint(vfs::AccessPattern::kWillNeed, 0, bytes); break;
      case kWontNeed: file_->Hint(vfs::AccessPattern::kDontNeed, 0, bytes); break;
    }
  }
  IOStatus InvalidateCache(size_t offset, size_t length) override {
    file_->Hint(vfs::AccessPattern::kDontNeed, offset, length);
    return IOStatus::OK();
  }
  IOStatus GetFileSize(uint64_t* bytes) override { return ToIo(file_->Size(bytes)); }

 private:
  const std::unique_ptr<vfs::RandomAccessFile> file_;
};

class VfsWritableFile final : public FSWritableFile {
 public:
  VfsWritableFile(const FileOptions& options, std::unique_ptr<vfs::WritableFile> file)
      : FSWritableFile(options), file_(std::move(file)) {}

  using FSWritableFile::Append;
  IOStatus Append(const Slice& data, const IOOptions&, IODebugContext*) override {
    return ToIo(file_->Append(data));
  }
  // I4.
  IOStatus Truncate(uint64_t bytes, const IOOptions&, IODebugContext*) override {
    if (bytes == file_->Size()) return IOStatus::OK();
    return IOStatus::NotSupported(
        StrCat("an open file cannot change from ", file_->Size(), " to ", bytes,
               " bytes: close it, and call Truncate of the Env or FileSystem"));
  }
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return ToIo(file_->Flush()); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return ToIo(file_->Sync()); }
  bool IsSyncThreadSafe() const override { return true; }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return ToIo(file_->Close()); }
  uint64_t GetFileSize(const IOOptions&, IODebugContext*) override { return file_->Size(); }
  IOStatus RangeSync(uint64_t offset, uint64_t bytes, const IOOptions& options,
                     IODebugContext* dbg) override {
    if (strict_bytes_per_sync_) return Sync(options, dbg);
    return ToIo(file_->RangeSync(offset, bytes));
  }

 private:
  const std::unique_ptr<vfs::WritableFile> file_;
};

class VfsRandomRWFile final : public FSRandomRWFile {
 public:
  explicit VfsRandomRWFile(std::unique_ptr<vfs::RandomRWFile> file) : file_(std::move(file)) {}

  IOStatus Write(uint64_t offset, const Slice& data, const IOOptions&, IODebugContext*) override {
    return ToIo(file_->Write(offset, data));
  }
  IOStatus Read(uint64_t offset, size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) const override {
    return ToIo(file_->Read(offset, n, result, scratch));
  }
  // The operating system already has every write.
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return ToIo(file_->Sync()); }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return ToIo(file_->Close()); }

 private:
  const std::unique_ptr<vfs::RandomRWFile> file_;
};

class VfsDirectory final : public FSDirectory {
 public:
  explicit VfsDirectory(std::unique_ptr<vfs::Directory> directory)
      : directory_(std::move(directory)) {}

  IOStatus Fsync(const IOOptions&, IODebugContext*) override { return ToIo(directory_->Sync()); }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }

 private:
  const std::unique_ptr<vfs::Directory> directory_;
};

class VfsFileLock final : public FileLock {
 public:
  explicit VfsFileLock(std::unique_ptr<vfs::FileLock> lock) : lock_(std::move(lock)) {}

 private:
  const std::unique_ptr<vfs::FileLock> lock_;
};

}  // namespace

IOStatus VfsFileSystem::NewSequentialFile(const std::string& path, const FileOptions& options,
                                          std::unique_ptr<FSSequentialFile>* result,
                                          IODebugContext*) {
  std::unique_ptr<vfs::SequentialFile> file;
  Status opened = files_->NewSequentialFile(path, ForReading(options), &file);
  if (opened.ok()) *result = std::make_unique<VfsSequentialFile>(std::move(file));
  return ToIo(std::move(opened));
}

IOStatus VfsFileSystem::NewRandomAccessFile(const std::string& path, const FileOptions& options,
                                            std::unique_ptr<FSRandomAccessFile>* result,
                                            IODebugContext*) {
  std::unique_ptr<vfs::RandomAccessFile> file;
  Status opened = files_->NewRandomAccessFile(path, ForReading(options), &file);
  if (opened.ok()) *result = std::make_unique<VfsRandomAccessFile>(std::move(file));
  return ToIo(std::move(opened));
}

IOStatus VfsFileSystem::NewWritableFile(const std::string& path, const FileOptions& options,
                                        std::unique_ptr<FSWritableFile>* result, IODebugContext*) {
  std::unique_ptr<vfs::WritableFile> file;
  Status opened = files_->NewWritableFile(path, ForWriting(options), &file);
  if (opened.ok()) *result = std::make_unique<VfsWritableFile>(options, std::move(file));
  return ToIo(std::move(opened));
}

IOStatus VfsFileSystem::ReopenWritableFile(const std::string& path, const FileOptions& options,
                                           std::unique_ptr<FSWritableFile>* result,
                                           IODebugContext*) {
  std::unique_ptr<vfs::WritableFile> file;
  Status opened = files_->ReopenWritableFile(path, ForWriting(options), &file);
  if (opened.ok()) *result = std::make_unique<VfsWritableFile>(options, std::move(file));
  return ToIo(std::move(opened));
}

IOStatus VfsFileSystem::NewRandomRWFile(const std::string& path, const FileOptions&,
                                        std::unique_ptr<FSRandomRWFile>* result, IODebugContext*) {
  std::unique_ptr<vfs::RandomRWFile> file;
  Status opened = files_->NewRandomRWFile(path, &file);
  if (opened.ok()) *result = std::make_unique<VfsRandomRWFile>(std::move(file));
  return ToIo(std::move(opened));
}

IOStatus VfsFileSystem::NewMemoryMappedFileBuffer(const std::string& path,
                                                  std::unique_ptr<MemoryMappedFileBuffer>* result) {
  return ToIo(files_->NewMemoryMappedFileBuffer(path, result));
}

IOStatus VfsFileSystem::NewDirectory(const std::string& path, const IOOptions&,
                                     std::unique_ptr<FSDirectory>* result, IODebugContext*) {
  std::unique_ptr<vfs::Directory> directory;
  Status opened = files_->NewDirectory(path, &directory);
  if (opened.ok()) *result = std::make_unique<VfsDirectory>(std::move(directory));
  return ToIo(std::move(opened));
}

IOStatus VfsFileSystem::FileExists(const std::string& path, const IOOptions&, IODebugContext*) {
  return ToIo(files_->FileExists(path));
}

IOStatus VfsFileSystem::GetChildren(const std::string& dir, const IOOptions&,
                                    std::vector<std::string>* names, IODebugContext*) {
  return ToIo(files_->GetChildren(dir, names));
}

IOStatus VfsFileSystem::DeleteFile(const std::string& path, const IOOptions&, IODebugContext*) {
  return ToIo(files_->DeleteFile(path));
}

IOStatus VfsFileSystem::Truncate(const std::string& path, size_t bytes, const IOOptions&,
                                 IODebugContext*) {
  return ToIo(files_->Truncate(path, bytes));
}

IOStatus VfsFileSystem::CreateDir(const std::string& dir, const IOOptions&, IODebugContext*) {
  return ToIo(files_->CreateDir(dir));
}

IOStatus VfsFileSystem::CreateDirIfMissing(const std::string& dir, const IOOptions&,
                                           IODebugContext*) {
  return ToIo(files_->CreateDirIfMissing(dir));
}

IOStatus VfsFileSystem::DeleteDir(const std::string& dir, const IOOptions&, IODebugContext*) {
  return ToIo(files_->DeleteDir(dir));
}

IOStatus VfsFileSystem::GetFileSize(const std::string& path, const IOOptions&, uint64_t* bytes,
                                    IODebugContext*) {
  return ToIo(files_->GetFileSize(path, bytes));
}

IOStatus VfsFileSystem::GetFileModificationTime(const std::string& path, const IOOptions&,
                                                uint64_t* unix_seconds, IODebugContext*) {
  return ToIo(files_->GetFileModificationTime(path, unix_seconds));
}

IOStatus VfsFileSystem::RenameFile(const std::string& from, const std::string& to, const IOOptions&,
                                   IODebugContext*) {
  return ToIo(files_->RenameFile(from, to));
}

IOStatus VfsFileSystem::LinkFile(const std::string& from, const std::string& to, const IOOptions&,
                                 IODebugContext*) {
  return ToIo(files_->LinkFile(from, to));
}

IOStatus VfsFileSystem::NumFileLinks(const std::string& path, const IOOptions&, uint64_t* count,
                                     IODebugContext*) {
  return ToIo(files_->NumFileLinks(path, count));
}

IOStatus VfsFileSystem::AreFilesSame(const std::string& first, const std::string& second,
                                     const IOOptions&, bool* same, IODebugContext*) {
  return ToIo(files_->AreFilesSame(first, second, same));
}

IOStatus VfsFileSystem::LockFile(const std::string& path, const IOOptions&, FileLock** lock,
                                 IODebugContext*) {
  *lock = nullptr;
  std::unique_ptr<vfs::FileLock> taken;
  Status locked = files_->LockFile(path, &taken);
  if (locked.ok()) *lock = new VfsFileLock(std::move(taken));
  return ToIo(std::move(locked));
}

IOStatus VfsFileSystem::UnlockFile(FileLock* lock, const IOOptions&, IODebugContext*) {
  delete lock;
  return IOStatus::OK();
}

IOStatus VfsFileSystem::GetTestDirectory(const IOOptions&, std::string* path, IODebugContext*) {
  // Contains the user's id, because users cannot write to each other's directories.
  *path = StrCat(TemporaryDirectory(), "/ashlar-test-", CurrentUserId());
  // A file system in memory has no directory for temporary files yet.
  for (size_t slash = path->find('/', 1); slash != std::string::npos;
       slash = path->find('/', slash + 1)) {
    const std::string parent = path->substr(0, slash);
    if (!files_->FileExists(parent).ok()) {
      Status made = files_->CreateDirIfMissing(parent);
      if (!made.ok()) return ToIo(std::move(made));
    }
  }
  return ToIo(files_->CreateDirIfMissing(*path));
}

IOStatus VfsFileSystem::GetAbsolutePath(const std::string& path, const IOOptions&,
                                        std::string* absolute, IODebugContext*) {
  return ToIo(files_->GetAbsolutePath(path, absolute));
}

IOStatus VfsFileSystem::GetFreeSpace(const std::string& path, const IOOptions&, uint64_t* bytes,
                                     IODebugContext*) {
  return ToIo(files_->GetFreeSpace(path, bytes));
}

IOStatus VfsFileSystem::IsDirectory(const std::string& path, const IOOptions&, bool* is_directory,
                                    IODebugContext*) {
  return ToIo(files_->IsDirectory(path, is_directory));
}

void VfsFileSystem::SupportedOps(int64_t& supported_ops) {
  supported_ops = int64_t{1} << kFSPrefetch;
}

}  // namespace ashlar
