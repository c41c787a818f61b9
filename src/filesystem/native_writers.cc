#include "filesystem/native_writers.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <optional>
#include <utility>

#include "base/assert.h"
#include "base/format.h"
#include "base/out_of_memory.h"
#include "base/result.h"
#include "filesystem/aligned_buffer.h"
#include "filesystem/native_readers.h"
#include "filesystem/write_behind.h"
#include "filesystem/write_buffer.h"
#include "platform/file.h"
#include "platform/mutex.h"

namespace ashlar {
namespace {

// Large, because every piece is a round trip to the device.
constexpr size_t kDirectBufferBytes = size_t{1} << 20;
static_assert(kDirectBufferBytes % kDirectIoAlignment == 0);
// Multiples of every page size. A file that keeps its tail may be longer than its contents by up to
// a window while nothing is written.
constexpr size_t kWindowBytes = size_t{1} << 20;
constexpr size_t kTailWindowBytes = size_t{256} << 10;
// Beyond this size a system call, which accesses the page cache at most once, is as fast.
constexpr size_t kStoredBytesMax = 2048;
// A file to which hardly anything is written stays as short as its contents.
constexpr size_t kUnmappedBytes = 4096;

// Reserves space ahead of the writes, so that the file's extents are long and its metadata seldom
// changes.
class Reservation {
 public:
  // former_bytes is the size of a file that is overwritten, whose space is already reserved.
  Reservation(uint64_t step_bytes, uint64_t former_bytes)
      : step_bytes_(step_bytes), reserved_end_(former_bytes) {}

  // Called before a write that ends at `end`. If the file system cannot reserve space, no more
  // attempts are made, and the write itself reports the error. A full disk may have reserved a part
  // (ext4: all that was free).
  void Extend(OsFile* file, uint64_t end) {
    if (step_bytes_ == 0 || end <= reserved_end_) return;
    const uint64_t steps = end / step_bytes_ + (end % step_bytes_ != 0 ? 1 : 0);
    const uint64_t new_end = steps * step_bytes_;
    const Status reserved = new_end < end ? Status::NotSupported("beyond all files")
                                          : file->Reserve(reserved_end_, new_end - reserved_end_);
    if (!reserved.ok()) step_bytes_ = 0;
    if (!reserved.IsNotSupported()) reserved_end_ = new_end;
  }
  Status GiveBack(OsFile* file, uint64_t size) {
    if (reserved_end_ <= size) return Status::OK();
    reserved_end_ = size;
    return file->Truncate(size);
  }

 private:
  uint64_t step_bytes_;
  uint64_t reserved_end_;
};

struct WriterStart {
  OsFile file;
  uint64_t size;
  uint64_t preallocate_bytes;
  uint64_t former_bytes = 0;  // of a file that is overwritten
};

// The base of the writers with a buffer or a mapping. It handles the order of calls, the first
// error, and the calls that may run concurrently. Derived classes move the bytes to the file.
class NativeWritableFile : public vfs::WritableFile {
 public:
  explicit NativeWritableFile(WriterStart start)
      : file_(std::move(start.file)),
        size_(start.size),
        reservation_(start.preallocate_bytes, start.former_bytes),
        written_(start.size) {}

  Status Append(const Slice& data) override {
    MutexLock lock(mutex_);
    if (!error_.ok()) return error_;
    ASHLAR_RETURN_IF_ERROR(Latch(AppendLocked(data)));
    size_.store(size_.load(std::memory_order_relaxed) + data.size(), std::memory_order_relaxed);
    return Status::OK();
  }

  Status Flush() override {
    MutexLock lock(mutex_);
    ASHLAR_RETURN_IF_ERROR(error_);
    return Latch(FlushLocked());
  }

  Status Sync() override {
    {
      MutexLock lock(mutex_);
      ASHLAR_RETURN_IF_ERROR(error_);
      ASHLAR_RETURN_IF_ERROR(Latch(PrepareSyncLocked()));
    }
    const Status status = file_.SyncData();
    if (status.ok()) return status;
    MutexLock lock(mutex_);
    return Latch(status);
  }

  // The handle is closed even if an earlier step fails. The first error is returned.
  Status Close() override {
    MutexLock lock(mutex_);
    if (closed_) return error_;
    closed_ = true;
    Status status = error_.ok() ? Latch(FlushLocked()) : error_;
    QuiesceLocked();
    if (status.ok()) status = reservation_.GiveBack(&file_, size_.load(std::memory_order_relaxed));
    const Status close_status = file_.Close();
    if (status.ok()) status = close_status;
    error_ = status.ok() ? Status::IOError(file_.path(), "the file is closed") : status;
    return status;
  }

  uint64_t Size() const override { return size_.load(std::memory_order_relaxed); }

  // After an error, pages may have been dropped, and a later sync would not report that.
  Status RangeSync(uint64_t offset, uint64_t bytes) override {
    const Status status = file_.StartWriteBack(offset, bytes);
    if (status.ok() || status.IsNotSupported() || status.IsInvalidArgument()) return status;
    MutexLock lock(mutex_);
    return Latch(status);
  }

 protected:
  virtual Status AppendLocked(const Slice& data) ASHLAR_REQUIRES(mutex_) = 0;
  virtual Status FlushLocked() ASHLAR_REQUIRES(mutex_) = 0;
  virtual Status PrepareSyncLocked() ASHLAR_REQUIRES(mutex_) { return FlushLocked(); }
  // On return, nothing uses the file any more.
  virtual void QuiesceLocked() ASHLAR_REQUIRES(mutex_) {}

  // Writes at the end of the file's contents.
  Status WriteOut(const Slice& data) ASHLAR_REQUIRES(mutex_) {
    ASHLAR_DCHECK(error_.ok());  // I1 of native_file_system.h
    reservation_.Extend(&file_, written_ + data.size());
    ASHLAR_RETURN_IF_ERROR(file_.WriteAt(written_, data));
    written_ += data.size();
    return Status::OK();
  }

  Status Latch(Status status) ASHLAR_REQUIRES(mutex_) {
    if (!status.ok() && error_.ok()) error_ = status;
    return status;
  }

  // Written under mutex_, or by the write in progress. SyncData and StartWriteBack may run
  // concurrently with writes.
  OsFile file_;
  Mutex mutex_;
  // Written under mutex_, read by the owner. Relaxed, because nothing else is read through it.
  std::atomic<uint64_t> size_;
  Reservation reservation_ ASHLAR_GUARDED_BY(mutex_);
  // Bytes that were handed to the system, or to a thread that hands them to it.
  uint64_t written_ ASHLAR_GUARDED_BY(mutex_);
  Status error_ ASHLAR_GUARDED_BY(mutex_);  // the first one, or "closed"
  bool closed_ ASHLAR_GUARDED_BY(mutex_) = false;
};

// One thread at a time, except that Sync and RangeSync may run concurrently with Append. They share
// only the handle and the first error, so Append needs no lock.
class UnbufferedWritableFile final : public vfs::WritableFile {
 public:
  explicit UnbufferedWritableFile(WriterStart start)
      : file_(std::move(start.file)),
        reservation_(start.preallocate_bytes, start.former_bytes),
        is_reused_(start.former_bytes > 0),
        size_(start.size) {}
  ~UnbufferedWritableFile() override {
    IgnoreBadAlloc([this] { static_cast<void>(UnbufferedWritableFile::Close().ok()); });
  }

  bool AppendsAtOnce() const override { return true; }

  Status Append(const Slice& data) override {
    ASHLAR_RETURN_IF_ERROR(FirstError());
    const uint64_t end = size_.load(std::memory_order_relaxed) + data.size();
    reservation_.Extend(&file_, end);
    ASHLAR_RETURN_IF_ERROR(Latch(file_.WriteAt(end - data.size(), data)));
    size_.store(end, std::memory_order_relaxed);
    return Status::OK();
  }

  Status Flush() override {
    ASHLAR_RETURN_IF_ERROR(FirstError());
    if (!is_reused_) return Status::OK();
    return Latch(reservation_.GiveBack(&file_, size_.load(std::memory_order_relaxed)));
  }

  Status Sync() override {
    ASHLAR_RETURN_IF_ERROR(FirstError());
    return Latch(file_.SyncData());
  }

  Status Close() override {
    if (std::exchange(closed_, true)) return FirstError();
    Status status = FirstError();
    if (status.ok()) status = reservation_.GiveBack(&file_, size_.load(std::memory_order_relaxed));
    const Status close_status = file_.Close();
    if (status.ok()) status = close_status;
    static_cast<void>(
        Latch(status.ok() ? Status::IOError(file_.path(), "the file is closed") : status));
    return status;
  }

  uint64_t Size() const override { return size_.load(std::memory_order_relaxed); }

  Status RangeSync(uint64_t offset, uint64_t bytes) override {
    const Status status = file_.StartWriteBack(offset, bytes);
    return status.IsNotSupported() || status.IsInvalidArgument() ? status : Latch(status);
  }

 private:
  Status FirstError() const {
    if (!failed_.load(std::memory_order_acquire)) [[likely]]
      return Status::OK();
    MutexLock lock(mutex_);
    return error_;
  }

  Status Latch(Status status) {
    if (status.ok()) [[likely]]
      return status;
    MutexLock lock(mutex_);
    if (error_.ok()) error_ = status;
    failed_.store(true, std::memory_order_release);
    return status;
  }

  OsFile file_;
  Reservation reservation_;
  const bool is_reused_;
  // Written by Append, read by the owner. Relaxed, because nothing else is read through it.
  std::atomic<uint64_t> size_;
  bool closed_ = false;
  // Set after error_ (release), tested before every operation (acquire).
  std::atomic<bool> failed_{false};
  mutable Mutex mutex_;
  Status error_ ASHLAR_GUARDED_BY(mutex_);  // the first one, or "closed"
};

class BufferedWritableFile final : public NativeWritableFile {
 public:
  explicit BufferedWritableFile(WriterStart start)
      : NativeWritableFile(std::move(start)), buffer_(new char[kWriteBufferBytes]) {}
  ~BufferedWritableFile() override {
    IgnoreBadAlloc([this] { static_cast<void>(BufferedWritableFile::Close().ok()); });
  }

 private:
  Status AppendLocked(const Slice& data) override ASHLAR_REQUIRES(mutex_) {
    if (data.size() > kWriteBufferBytes - used_) ASHLAR_RETURN_IF_ERROR(FlushLocked());
    if (data.size() >= kWriteBufferBytes) return WriteOut(data);
    memcpy(buffer_.get() + used_, data.data(), data.size());
    used_ += data.size();
    return Status::OK();
  }

  Status FlushLocked() override ASHLAR_REQUIRES(mutex_) {
    if (used_ == 0) return Status::OK();
    const Slice pending(buffer_.get(), std::exchange(used_, 0));
    return WriteOut(pending);
  }

  const std::unique_ptr<char[]> buffer_;  // the bytes are guarded by mutex_
  size_t used_ ASHLAR_GUARDED_BY(mutex_) = 0;
};

// The file up to written_ consists of whole blocks, written or in flight. If the last block is not
// full, the buffer starts with its bytes, so that the block can be rewritten when it grows.
//
// After the first buffer has been filled, there are two: one fills while the other is written.
class DirectWritableFile final : public NativeWritableFile {
 public:
  explicit DirectWritableFile(WriterStart start) : NativeWritableFile(std::move(start)) {}
  ~DirectWritableFile() override {
    IgnoreBadAlloc([this] { static_cast<void>(DirectWritableFile::Close().ok()); });
  }

 private:
  Status AppendLocked(const Slice& data) override ASHLAR_REQUIRES(mutex_) {
    Slice rest = data;
    while (!rest.empty()) {
      const size_t n = std::min(rest.size(), kDirectBufferBytes - used_);
      memcpy(filling_->data() + used_, rest.data(), n);
      used_ += n;
      rest.remove_prefix(n);
      is_flushed_ = false;
      if (used_ == kDirectBufferBytes) ASHLAR_RETURN_IF_ERROR(BeginWrite());
    }
    return Status::OK();
  }

  Status BeginWrite() ASHLAR_REQUIRES(mutex_) {
    if (other_ == nullptr) other_ = std::make_unique<AlignedBuffer>(kDirectBufferBytes);
    reservation_.Extend(&file_, written_ + used_);
    ASHLAR_RETURN_IF_ERROR(behind_.Begin(written_, Slice(filling_->data(), used_)));
    written_ += std::exchange(used_, 0);
    std::swap(filling_, other_);
    return Status::OK();
  }

  Status FlushLocked() override ASHLAR_REQUIRES(mutex_) {
    ASHLAR_RETURN_IF_ERROR(behind_.Wait());
    if (is_flushed_) return Status::OK();
    char* const data = filling_->data();
    const size_t whole = used_ / kDirectIoAlignment * kDirectIoAlignment;
    if (whole > 0) ASHLAR_RETURN_IF_ERROR(WriteOut(Slice(data, whole)));
    used_ -= whole;
    memmove(data, data + whole, used_);
    if (used_ > 0) {
      memset(data + used_, 0, kDirectIoAlignment - used_);
      ASHLAR_RETURN_IF_ERROR(file_.WriteAt(written_, Slice(data, kDirectIoAlignment)));
      ASHLAR_RETURN_IF_ERROR(file_.Truncate(written_ + used_));
    }
    is_flushed_ = true;
    return Status::OK();
  }

  void QuiesceLocked() override ASHLAR_REQUIRES(mutex_) { static_cast<void>(behind_.Wait()); }

  // The bytes are guarded by mutex_, except those being written, which do not change.
  std::unique_ptr<AlignedBuffer> filling_ ASHLAR_GUARDED_BY(mutex_) =
      std::make_unique<AlignedBuffer>(kDirectBufferBytes);
  std::unique_ptr<AlignedBuffer> other_ ASHLAR_GUARDED_BY(mutex_);  // null until the first was full
  size_t used_ ASHLAR_GUARDED_BY(mutex_) = 0;
  bool is_flushed_ ASHLAR_GUARDED_BY(mutex_) = true;
  WriteBehind behind_ ASHLAR_GUARDED_BY(mutex_){&file_};  // destroyed before the members it uses
};

// Append copies into a sliding window of the mapped file. The file is extended to the end of the
// window, and truncated to the appended bytes before any reader relies on its size.
//
// A file that keeps its tail is a log, to which many small pieces are appended. Sync does not
// truncate it, because every Sync would then change its size twice. Larger pieces use write(),
// which sees the same pages.
class MappedWritableFile final : public NativeWritableFile {
 public:
  // Requires: the space of the first window is reserved (CanMap).
  MappedWritableFile(WriterStart start, bool keeps_tail)
      : NativeWritableFile(std::move(start)),
        keeps_tail_(keeps_tail),
        window_bytes_(keeps_tail ? kTailWindowBytes : kWindowBytes),
        reserved_(true) {}
  ~MappedWritableFile() override {
    IgnoreBadAlloc([this] { static_cast<void>(MappedWritableFile::Close().ok()); });
  }

  bool AppendsAtOnce() const override { return true; }

 private:
  Status AppendLocked(const Slice& data) override ASHLAR_REQUIRES(mutex_) {
    if (keeps_tail_ && (data.size() > kStoredBytesMax || written_ < kUnmappedBytes))
      return WriteOut(data);
    Slice rest = data;
    while (!rest.empty()) {
      if (!extended_ || written_ >= window_->end()) ASHLAR_RETURN_IF_ERROR(PrepareWindow());
      const size_t n =
          static_cast<size_t>(std::min<uint64_t>(rest.size(), window_->end() - written_));
      memcpy(window_->data() + (written_ - window_->offset()), rest.data(), n);
      written_ += n;
      rest.remove_prefix(n);
    }
    return Status::OK();
  }

  Status FlushLocked() override ASHLAR_REQUIRES(mutex_) {
    if (!extended_ && !reserved_) return Status::OK();
    extended_ = false;
    reserved_ = false;
    if (window_.has_value()) ASHLAR_RETURN_IF_ERROR(window_->Flush());
    if (!MappedFilesCanShrink()) window_.reset();
    return file_.Truncate(written_);
  }

  Status PrepareSyncLocked() override ASHLAR_REQUIRES(mutex_) {
    if (!keeps_tail_) return FlushLocked();
    return window_.has_value() ? window_->Flush() : Status::OK();
  }

  // A window that is written in one call is in large pages of the page cache if the system has
  // them. That takes one or two faults instead of one for each page of 4 KiB. Each of those would
  // first read zeros from the reserved space.
  Status FillWithZeros(uint64_t end) ASHLAR_REQUIRES(mutex_) {
    static std::array<char, kTailWindowBytes> zeros;  // never written to, so it takes no memory
    return file_.WriteAt(written_, Slice(zeros.data(), static_cast<size_t>(end - written_)));
  }

  // Makes the window that contains written_ writable.
  Status PrepareWindow() ASHLAR_REQUIRES(mutex_) {
    const uint64_t begin = written_ - written_ % window_bytes_;
    reserved_ = true;
    ASHLAR_RETURN_IF_ERROR(file_.Reserve(begin, window_bytes_));
    ASHLAR_RETURN_IF_ERROR(keeps_tail_ ? FillWithZeros(begin + window_bytes_)
                                       : file_.Truncate(begin + window_bytes_));
    extended_ = true;
    if (window_.has_value() && window_->offset() == begin) return Status::OK();
    if (window_.has_value()) ASHLAR_RETURN_IF_ERROR(window_->Flush());
    ASHLAR_ASSIGN_OR_RETURN(window_, OsWindow::Map(file_, begin, window_bytes_));
    return Status::OK();
  }

  const bool keeps_tail_;
  const size_t window_bytes_;
  std::optional<OsWindow> window_ ASHLAR_GUARDED_BY(mutex_);
  bool extended_ ASHLAR_GUARDED_BY(mutex_) = false;  // the file reaches to the window's end
  bool reserved_ ASHLAR_GUARDED_BY(mutex_);  // there may be reserved space beyond written_ to free
};

// Returns true if there is space for a first window. Without it a store might hit a full disk. A
// file that keeps its tail is not mapped if a trial mapping fails, or if the system does not keep
// stores and writes coherent (such a system does not truncate a mapped file either).
bool CanMap(OsFile* file, uint64_t bytes, bool keeps_tail) {
  const size_t window_bytes = keeps_tail ? kTailWindowBytes : kWindowBytes;
  const uint64_t begin = bytes - bytes % window_bytes;
  const Status reserved = file->Reserve(begin, window_bytes);
  if (reserved.ok() &&
      (!keeps_tail || (MappedFilesCanShrink() && OsWindow::Map(*file, begin, window_bytes).ok())))
    return true;
  // The file is written without a window, so the reserved space or the part of it is freed.
  if (!reserved.IsNotSupported()) static_cast<void>(file->Truncate(bytes).ok());
  return false;
}

OpenMode ChooseMode(const vfs::FileOptions& options, ExistingContents existing) {
  if (existing != ExistingContents::kCut) return OpenMode::kOpenOrCreate;
  return options.exclusive_create ? OpenMode::kCreateExclusive : OpenMode::kCreateTruncate;
}

}  // namespace

Status OpenNativeWritableFile(const std::string& path, const vfs::FileOptions& options,
                              ExistingContents existing,
                              std::unique_ptr<vfs::WritableFile>* result) {
  ASHLAR_RETURN_IF_ERROR(CheckNoLockFile(path));
  if (options.use_mmap_writes && options.use_direct_io)
    return Status::InvalidArgument(path, "a mapping cannot bypass the page cache (direct I/O)");
  ASHLAR_ASSIGN_OR_RETURN(OsFile file, OsFile::Open(path, {.mode = ChooseMode(options, existing),
                                                           .direct_io = options.use_direct_io}));
  ASHLAR_ASSIGN_OR_RETURN(const FileInfo info, file.Info());
  if (options.use_direct_io && info.bytes % kDirectIoAlignment != 0) {
    return Status::InvalidArgument(
        path, "cannot append around the page cache to a file whose last block is not full");
  }
  const bool is_reused = existing == ExistingContents::kWriteOver;
  WriterStart start{.file = std::move(file),
                    .size = is_reused ? 0 : info.bytes,
                    .preallocate_bytes = options.preallocate_bytes,
                    .former_bytes = is_reused ? info.bytes : 0};
  if (is_reused) {
    *result = std::make_unique<UnbufferedWritableFile>(std::move(start));
  } else if (options.use_direct_io) {
    *result = std::make_unique<DirectWritableFile>(std::move(start));
  } else if (options.use_mmap_writes && CanMap(&start.file, info.bytes, options.keeps_zero_tail)) {
    *result = std::make_unique<MappedWritableFile>(std::move(start), options.keeps_zero_tail);
  } else if (options.unbuffered_appends) {
    *result = std::make_unique<UnbufferedWritableFile>(std::move(start));
  } else {
    *result = std::make_unique<BufferedWritableFile>(std::move(start));
  }
  return Status::OK();
}

}  // namespace ashlar
