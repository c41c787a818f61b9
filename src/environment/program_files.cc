#include "environment/program_files.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "base/assert.h"
#include "base/format.h"
#include "base/out_of_memory.h"
#include "base/result.h"
#include "filesystem/filename.h"
#include "platform/mutex.h"

namespace ashlar {
namespace {

constexpr size_t kBufferBytes = size_t{64} << 10;

const IOOptions& DefaultIo() {
  static const IOOptions& options = *new IOOptions;
  return options;
}

// I5.
Status MarkMissing(Status status) {
  if (!status.IsNotFound() || status.IsPathNotFound()) return status;
  return Status::Error(Status::kNotFound, Status::kPathNotFound, status.getState());
}

Status RefuseDirect(const std::string& path) {
  return Status::NotSupported(
      path,
      "direct I/O through a file system or Env of the program: set use_direct_reads and "
      "use_direct_io_for_flush_and_compaction to false, and have use_direct_io() return false");
}

Status CheckLength(const std::string& path, size_t wanted, const Slice& result) {
  if (result.size() <= wanted) return Status::OK();
  return Status::IOError(
      path, StrCat("a read of ", wanted, " bytes returned ", result.size(), ", which is more"));
}

FileOptions ForProgram(const vfs::FileOptions& options) {
  FileOptions result;
  result.use_mmap_writes = options.use_mmap_writes;
  result.allow_fallocate = options.preallocate_bytes > 0;
  return result;
}

class ProgramSequentialFile final : public vfs::SequentialFile {
 public:
  ProgramSequentialFile(std::string path, std::unique_ptr<FSSequentialFile> file)
      : path_(std::move(path)), file_(std::move(file)) {}

  Status Read(size_t n, Slice* result, char* scratch) override {
    *result = Slice();
    size_t got = 0;
    while (got < n) {
      Slice piece;
      ASHLAR_RETURN_IF_ERROR(
          MarkMissing(file_->Read(n - got, DefaultIo(), &piece, scratch + got, nullptr)));
      ASHLAR_RETURN_IF_ERROR(CheckLength(path_, n - got, piece));
      if (piece.empty()) break;
      if (piece.data() != scratch + got) memmove(scratch + got, piece.data(), piece.size());
      got += piece.size();
    }
    *result = Slice(scratch, got);
    return Status::OK();
  }
  Status Skip(uint64_t n) override { return file_->Skip(n); }

 private:
  const std::string path_;
  const std::unique_ptr<FSSequentialFile> file_;
};

class ProgramRandomAccessFile final : public vfs::RandomAccessFile {
 public:
  ProgramRandomAccessFile(std::string path, std::shared_ptr<FileSystem> files,
                          std::unique_ptr<FSRandomAccessFile> file)
      : path_(std::move(path)), files_(std::move(files)), file_(std::move(file)) {}

  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    *result = Slice();
    ASHLAR_RETURN_IF_ERROR(file_->Read(offset, n, DefaultIo(), result, scratch, nullptr));
    return CheckLength(path_, n, *result);
  }
  Status Map(Slice*) const override {
    return Status::NotSupported(
        path_, "a file system or Env of the program maps no files: set allow_mmap_reads to false");
  }
  Status Size(uint64_t* bytes) const override {
    Status status = file_->GetFileSize(bytes);
    if (!status.IsNotSupported()) return status;
    return MarkMissing(files_->GetFileSize(path_, DefaultIo(), bytes, nullptr));
  }
  void Hint(vfs::AccessPattern pattern, uint64_t offset, uint64_t bytes) const override {
    switch (pattern) {
      case vfs::AccessPattern::kWillNeed:
        file_->Prefetch(offset, static_cast<size_t>(bytes), DefaultIo(), nullptr)
            .PermitUncheckedError();
        break;
      case vfs::AccessPattern::kNormal: file_->Hint(FSRandomAccessFile::kNormal); break;
      case vfs::AccessPattern::kRandom: file_->Hint(FSRandomAccessFile::kRandom); break;
      case vfs::AccessPattern::kSequential: file_->Hint(FSRandomAccessFile::kSequential); break;
      case vfs::AccessPattern::kDontNeed:
        file_->InvalidateCache(static_cast<size_t>(offset), static_cast<size_t>(bytes))
            .PermitUncheckedError();
        break;
    }
  }

 private:
  const std::string path_;
  const std::shared_ptr<FileSystem> files_;
  const std::unique_ptr<FSRandomAccessFile> file_;
};

class ProgramWritableFile final : public vfs::WritableFile {
 public:
  ProgramWritableFile(std::unique_ptr<FSWritableFile> file, uint64_t bytes,
                      const vfs::FileOptions& options)
      : file_(std::move(file)),
        is_buffered_(!options.unbuffered_appends),
        sync_is_thread_safe_(file_->IsSyncThreadSafe()),
        bytes_(bytes),
        written_bytes_(bytes) {
    file_->SetPreallocationBlockSize(static_cast<size_t>(options.preallocate_bytes));
  }
  ~ProgramWritableFile() override {
    IgnoreBadAlloc([this] { static_cast<void>(ProgramWritableFile::Close().ok()); });
  }

  Status Append(const Slice& data) override {
    const MutexLock lock(mutex_);
    if (!failed_.ok()) return failed_;
    if (is_buffered_ && buffer_.size() + data.size() > kBufferBytes)
      ASHLAR_RETURN_IF_ERROR(WriteBuffer());
    if (is_buffered_ && data.size() < kBufferBytes) {
      buffer_.append(data.data(), data.size());
    } else {
      ASHLAR_RETURN_IF_ERROR(Write(data));
    }
    bytes_ += data.size();  // I2: not if something has failed or thrown
    return Status::OK();
  }

  // Also flushes files without a buffer here, because the program's file may have one.
  Status Flush() override {
    const MutexLock lock(mutex_);
    return FlushLocked();
  }

  Status Sync() override {
    {
      const MutexLock lock(mutex_);
      ASHLAR_RETURN_IF_ERROR(FlushLocked());
      if (!sync_is_thread_safe_) return Keep(file_->Sync(DefaultIo(), nullptr));
    }
    Status synced = file_->Sync(DefaultIo(), nullptr);
    const MutexLock lock(mutex_);
    return Keep(std::move(synced));
  }

  Status Close() override {
    const MutexLock lock(mutex_);
    if (std::exchange(is_closed_, true)) return failed_;
    const Status flushed = FlushLocked();  // kept by Keep
    Status closed = file_->Close(DefaultIo(), nullptr);
    return flushed.ok() ? Keep(std::move(closed)) : flushed;
  }

  uint64_t Size() const override {
    const MutexLock lock(mutex_);
    return bytes_;
  }

  Status RangeSync(uint64_t offset, uint64_t bytes) override {
    const MutexLock lock(mutex_);
    if (!failed_.ok()) return failed_;
    Status started = file_->RangeSync(offset, bytes, DefaultIo(), nullptr);
    return started.IsNotSupported() ? started : Keep(std::move(started));
  }

 private:
  // I1. Keeps the first error. Returns it, or Ok.
  Status Keep(Status status) ASHLAR_REQUIRES(mutex_) {
    if (failed_.ok()) failed_ = std::move(status);
    return failed_;
  }
  Status Write(const Slice& data) ASHLAR_REQUIRES(mutex_) {
    ASHLAR_DCHECK(failed_.ok());  // I1
    if (data.empty()) return Status::OK();
    file_->PrepareWrite(static_cast<size_t>(written_bytes_), data.size(), DefaultIo(), nullptr);
    written_bytes_ += data.size();
    return Keep(file_->Append(data, DefaultIo(), nullptr));
  }
  Status WriteBuffer() ASHLAR_REQUIRES(mutex_) {
    ASHLAR_RETURN_IF_ERROR(Write(buffer_));
    buffer_.clear();
    return Status::OK();
  }
  Status FlushLocked() ASHLAR_REQUIRES(mutex_) {
    if (!failed_.ok()) return failed_;
    ASHLAR_RETURN_IF_ERROR(WriteBuffer());
    return Keep(file_->Flush(DefaultIo(), nullptr));
  }

  const std::unique_ptr<FSWritableFile> file_;  // I3
  const bool is_buffered_;
  const bool sync_is_thread_safe_;
  mutable Mutex mutex_;
  std::string buffer_ ASHLAR_GUARDED_BY(mutex_);
  uint64_t bytes_ ASHLAR_GUARDED_BY(mutex_);          // I2
  uint64_t written_bytes_ ASHLAR_GUARDED_BY(mutex_);  // bytes_ without the buffer
  bool is_closed_ ASHLAR_GUARDED_BY(mutex_) = false;
  Status failed_ ASHLAR_GUARDED_BY(mutex_);
};

class ProgramDirectory final : public vfs::Directory {
 public:
  explicit ProgramDirectory(std::unique_ptr<FSDirectory> directory)
      : directory_(std::move(directory)) {}
  Status Sync() override {
    return directory_->FsyncWithDirOptions(DefaultIo(), nullptr, DirFsyncOptions());
  }

 private:
  const std::unique_ptr<FSDirectory> directory_;
};

class ProgramLock final : public vfs::FileLock {
 public:
  explicit ProgramLock(std::shared_ptr<FileSystem> files) : files_(std::move(files)) {}
  ~ProgramLock() override {
    if (lock_ != nullptr) files_->UnlockFile(lock_, DefaultIo(), nullptr).PermitUncheckedError();
  }

  Status Take(const std::string& path) {
    ashlar::FileLock* taken = nullptr;
    ASHLAR_RETURN_IF_ERROR(MarkMissing(files_->LockFile(path, DefaultIo(), &taken, nullptr)));
    lock_ = taken;
    return Status::OK();
  }

 private:
  const std::shared_ptr<FileSystem> files_;
  ashlar::FileLock* lock_ = nullptr;  // null: not taken, or the file system has no locks
};

}  // namespace

Status ProgramFiles::NewSequentialFile(const std::string& path, const vfs::FileOptions& options,
                                       std::unique_ptr<vfs::SequentialFile>* result) {
  if (options.use_direct_io) return RefuseDirect(path);
  std::unique_ptr<FSSequentialFile> file;
  ASHLAR_RETURN_IF_ERROR(
      MarkMissing(files_->NewSequentialFile(path, ForProgram(options), &file, nullptr)));
  if (file->use_direct_io()) return RefuseDirect(path);
  *result = std::make_unique<ProgramSequentialFile>(path, std::move(file));
  return Status::OK();
}

Status ProgramFiles::NewRandomAccessFile(const std::string& path, const vfs::FileOptions& options,
                                         std::unique_ptr<vfs::RandomAccessFile>* result) {
  if (options.use_direct_io) return RefuseDirect(path);
  std::unique_ptr<FSRandomAccessFile> file;
  ASHLAR_RETURN_IF_ERROR(
      MarkMissing(files_->NewRandomAccessFile(path, ForProgram(options), &file, nullptr)));
  if (file->use_direct_io()) return RefuseDirect(path);
  *result = std::make_unique<ProgramRandomAccessFile>(path, files_, std::move(file));
  return Status::OK();
}

Status ProgramFiles::NewWritableFile(const std::string& path, const vfs::FileOptions& options,
                                     std::unique_ptr<vfs::WritableFile>* result) {
  if (options.use_direct_io) return RefuseDirect(path);
  if (options.exclusive_create) {
    const Status there = FileExists(path);
    if (there.ok()) return Status::IOError(StrCat("create ", path), "the file exists");
    if (!there.IsNotFound()) return there;
  }
  std::unique_ptr<FSWritableFile> file;
  ASHLAR_RETURN_IF_ERROR(
      MarkMissing(files_->NewWritableFile(path, ForProgram(options), &file, nullptr)));
  if (file->use_direct_io()) return RefuseDirect(path);
  *result = std::make_unique<ProgramWritableFile>(std::move(file), 0, options);
  return Status::OK();
}

Status ProgramFiles::ReopenWritableFile(const std::string& path, const vfs::FileOptions& options,
                                        std::unique_ptr<vfs::WritableFile>* result) {
  if (options.use_direct_io) return RefuseDirect(path);
  uint64_t bytes = 0;
  const Status sized = GetFileSize(path, &bytes);
  if (sized.IsPathNotFound()) {
    bytes = 0;
  } else if (!sized.ok()) {
    return sized;
  }
  std::unique_ptr<FSWritableFile> file;
  Status opened =
      MarkMissing(files_->ReopenWritableFile(path, ForProgram(options), &file, nullptr));
  if (opened.IsNotSupported()) opened = ReplaceByCopy(path, std::nullopt, options, &file);
  if (!opened.ok()) return opened;
  if (file->use_direct_io()) return RefuseDirect(path);
  *result = std::make_unique<ProgramWritableFile>(std::move(file), bytes, options);
  return Status::OK();
}

Status ProgramFiles::ReplaceByCopy(const std::string& path, std::optional<uint64_t> bytes,
                                   const vfs::FileOptions& options,
                                   std::unique_ptr<FSWritableFile>* result) {
  const std::string copy = StrCat(path, ".dbtmp");
  std::unique_ptr<FSWritableFile> file;
  ASHLAR_RETURN_IF_ERROR(
      MarkMissing(files_->NewWritableFile(copy, ForProgram(options), &file, nullptr)));
  Status copied = CopyTo(path, bytes, file.get());
  if (copied.ok()) copied = file->Flush(DefaultIo(), nullptr);
  if (copied.ok()) copied = file->Sync(DefaultIo(), nullptr);
  if (copied.ok()) copied = files_->RenameFile(copy, path, DefaultIo(), nullptr);
  if (!copied.ok()) {
    file.reset();
    files_->DeleteFile(copy, DefaultIo(), nullptr).PermitUncheckedError();
    return copied;
  }
  *result = std::move(file);
  return Status::OK();
}

Status ProgramFiles::CopyTo(const std::string& path, std::optional<uint64_t> bytes,
                            FSWritableFile* to) {
  std::unique_ptr<vfs::SequentialFile> from;
  const Status opened = NewSequentialFile(path, vfs::FileOptions(), &from);
  if (opened.IsPathNotFound() && !bytes.has_value()) return Status::OK();
  ASHLAR_RETURN_IF_ERROR(opened);
  const std::unique_ptr<char[]> scratch(new char[kBufferBytes]);
  uint64_t left = bytes.value_or(std::numeric_limits<uint64_t>::max());
  while (left > 0) {
    Slice piece;
    const auto wanted = static_cast<size_t>(std::min<uint64_t>(left, kBufferBytes));
    ASHLAR_RETURN_IF_ERROR(from->Read(wanted, &piece, scratch.get()));
    if (piece.empty()) break;
    ASHLAR_RETURN_IF_ERROR(to->Append(piece, DefaultIo(), nullptr));
    left -= piece.size();
  }
  if (bytes.has_value() && left > 0)
    return Status::IOError(path, StrCat("has ", left, " bytes less than it is to have"));
  return Status::OK();
}

Status ProgramFiles::NewDirectory(const std::string& path,
                                  std::unique_ptr<vfs::Directory>* result) {
  std::unique_ptr<FSDirectory> directory;
  ASHLAR_RETURN_IF_ERROR(MarkMissing(files_->NewDirectory(path, DefaultIo(), &directory, nullptr)));
  *result = std::make_unique<ProgramDirectory>(std::move(directory));
  return Status::OK();
}

Status ProgramFiles::FileExists(const std::string& path) {
  Status status = files_->FileExists(path, DefaultIo(), nullptr);
  if (!status.IsPathNotFound() || status.IsNotFound()) return status;
  return Status::NotFound(status.getState());
}

Status ProgramFiles::GetChildren(const std::string& path, std::vector<std::string>* names) {
  ASHLAR_RETURN_IF_ERROR(MarkMissing(files_->GetChildren(path, DefaultIo(), names, nullptr)));
  std::erase_if(*names, [](const std::string& name) { return name == "." || name == ".."; });
  return Status::OK();
}

Status ProgramFiles::DeleteFile(const std::string& path) {
  return MarkMissing(files_->DeleteFile(path, DefaultIo(), nullptr));
}

Status ProgramFiles::CreateDir(const std::string& path) {
  return MarkMissing(files_->CreateDir(path, DefaultIo(), nullptr));
}

Status ProgramFiles::CreateDirIfMissing(const std::string& path) {
  return MarkMissing(files_->CreateDirIfMissing(path, DefaultIo(), nullptr));
}

Status ProgramFiles::DeleteDir(const std::string& path) {
  return MarkMissing(files_->DeleteDir(path, DefaultIo(), nullptr));
}

Status ProgramFiles::GetFileSize(const std::string& path, uint64_t* bytes) {
  return MarkMissing(files_->GetFileSize(path, DefaultIo(), bytes, nullptr));
}

Status ProgramFiles::GetFileModificationTime(const std::string& path, uint64_t* unix_seconds) {
  return MarkMissing(files_->GetFileModificationTime(path, DefaultIo(), unix_seconds, nullptr));
}

Status ProgramFiles::RenameFile(const std::string& from, const std::string& to) {
  return MarkMissing(files_->RenameFile(from, to, DefaultIo(), nullptr));
}

Status ProgramFiles::LinkFile(const std::string& from, const std::string& to) {
  return MarkMissing(files_->LinkFile(from, to, DefaultIo(), nullptr));
}

Status ProgramFiles::NumFileLinks(const std::string& path, uint64_t* count) {
  return MarkMissing(files_->NumFileLinks(path, DefaultIo(), count, nullptr));
}

Status ProgramFiles::Truncate(const std::string& path, uint64_t bytes) {
  Status cut =
      MarkMissing(files_->Truncate(path, static_cast<size_t>(bytes), DefaultIo(), nullptr));
  // Trash is then deleted in one step, because a paced step is not worth a copy of the rest.
  if (!cut.IsNotSupported() || IsTrashFileName(BaseName(path))) return cut;
  std::unique_ptr<FSWritableFile> file;
  ASHLAR_RETURN_IF_ERROR(ReplaceByCopy(path, bytes, vfs::FileOptions(), &file));
  return file->Close(DefaultIo(), nullptr);
}

Status ProgramFiles::LockFile(const std::string& path, std::unique_ptr<vfs::FileLock>* lock) {
  // Allocated first, so that every acquired lock has an owner.
  auto taken = std::make_unique<ProgramLock>(files_);
  ASHLAR_RETURN_IF_ERROR(taken->Take(path));
  *lock = std::move(taken);
  return Status::OK();
}

Status ProgramFiles::GetFreeSpace(const std::string& path, uint64_t* bytes) {
  return MarkMissing(files_->GetFreeSpace(path, DefaultIo(), bytes, nullptr));
}

Status ProgramFiles::IsDirectory(const std::string& path, bool* is_directory) {
  return MarkMissing(files_->IsDirectory(path, DefaultIo(), is_directory, nullptr));
}

Status ProgramFiles::AreFilesSame(const std::string& first, const std::string& second, bool* same) {
  return MarkMissing(files_->AreFilesSame(first, second, DefaultIo(), same, nullptr));
}

Status ProgramFiles::GetAbsolutePath(const std::string& path, std::string* absolute) {
  return files_->GetAbsolutePath(path, DefaultIo(), absolute, nullptr);
}

}  // namespace ashlar
