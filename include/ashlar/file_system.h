// FileSystem: RocksDB's interface to files, for programs that implement or wrap one. A database
// uses it through NewCompositeEnv (ashlar/env.h). Its methods are Env's methods on files, with
// options, an IOStatus for each call, and a context for messages.
//
// I1: the engine passes default IOOptions and a null IODebugContext*.
// I2: the engine calls NewSequentialFile, NewRandomAccessFile, NewWritableFile, ReopenWritableFile,
//     ReuseWritableFile, NewDirectory and the methods on paths up to UnlockFile. It does not call
//     asynchronous reads, MultiRead, or methods that need direct I/O.
// I3: an open returns NotSupported if the database's options ask for direct I/O, or if
//     use_direct_io() of a file is true. The engine does not align its reads and writes here.
//
// Thread safety and lifetime as in ashlar/env.h. A database keeps the FileSystem of its Env alive.
#pragma once

#include <any>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ashlar/customizable.h"
#include "ashlar/env.h"
#include "ashlar/export.h"
#include "ashlar/io_status.h"
#include "ashlar/slice.h"
#include "ashlar/table.h"
#include "ashlar/types.h"

namespace ashlar {

class FSDirectory;
class FSRandomAccessFile;
class FSRandomRWFile;
class FSSequentialFile;
class FSWritableFile;

using AccessPattern = RandomAccessFile::AccessPattern;
using FileAttributes = Env::FileAttributes;

// How urgent a request is.
enum class IOPriority : uint8_t { kIOLow, kIOHigh, kIOTotal };

// The kind of data that is read or written.
enum class IOType : uint8_t {
  kData,
  kFilter,
  kIndex,
  kMetadata,
  kWAL,
  kManifest,
  kLog,
  kUnknown,
  kInvalid,
};

// The positions of the bits of FileSystem::SupportedOps.
enum FSSupportedOps { kAsyncIO, kFSBuffer, kVerifyAndReconstructRead, kFSPrefetch };

// Options of one call.
struct IOOptions {
  std::chrono::microseconds timeout{0};  // 0: none
  IOPriority prio = IOPriority::kIOLow;
  Env::IOPriority rate_limiter_priority = Env::IO_TOTAL;
  IOType type = IOType::kUnknown;
  std::unordered_map<std::string, std::string> property_bag;
  bool force_dir_fsync = false;
  bool do_not_recurse = false;  // GetChildren: this directory only
  bool verify_and_reconstruct_read = false;
  Env::IOActivity io_activity = Env::IOActivity::kUnknown;

  IOOptions() = default;
  explicit IOOptions(bool force_dir_fsync_) : force_dir_fsync(force_dir_fsync_) {}
};

// Why a directory is made durable.
struct DirFsyncOptions {
  enum FsyncReason : uint8_t {
    kNewFileSynced,
    kFileRenamed,
    kDirRenamed,
    kFileDeleted,
    kDefault,
  } reason = kDefault;
  std::string renamed_new_name;  // for kFileRenamed

  DirFsyncOptions() = default;
  explicit DirFsyncOptions(std::string file_renamed_new_name)
      : reason(kFileRenamed), renamed_new_name(std::move(file_renamed_new_name)) {}
  explicit DirFsyncOptions(FsyncReason fsync_reason) : reason(fsync_reason) {}
};

// Promises of the caller that opens a file, as bits.
enum class FileOpenContract : uint8_t {
  kDefault = 0,
  kNoReopenForWrite = 1 << 0,
  kNoReadersWhileOpenForWrite = 1 << 1,
};
constexpr FileOpenContract operator|(FileOpenContract a, FileOpenContract b) {
  return static_cast<FileOpenContract>(static_cast<uint8_t>(a) | static_cast<uint8_t>(b));
}
inline FileOpenContract& operator|=(FileOpenContract& a, FileOpenContract b) { return a = a | b; }
constexpr bool HasFileOpenContract(FileOpenContract contracts, FileOpenContract contract) {
  return (static_cast<uint8_t>(contracts) & static_cast<uint8_t>(contract)) ==
         static_cast<uint8_t>(contract);
}

// Options of one file.
struct ASHLAR_API FileOptions : EnvOptions {
  IOOptions io_options;
  Temperature temperature = Temperature::kUnknown;
  FileOpenContract open_contract = FileOpenContract::kDefault;
  ChecksumType handoff_checksum_type = ChecksumType::kCRC32c;
  Env::WriteLifeTimeHint write_hint = Env::WLTH_NOT_SET;
  std::string file_checksum;
  std::string file_checksum_func_name;
  std::string* file_metadata = nullptr;

  FileOptions() = default;
  FileOptions(const DBOptions& options) : EnvOptions(options) {}   // NOLINT: as RocksDB's
  FileOptions(const EnvOptions& options) : EnvOptions(options) {}  // NOLINT: as RocksDB's
};

// Messages of a file system about a call. One call at a time may use it.
struct ASHLAR_API IODebugContext {
  std::string file_path;
  std::map<std::string, uint64_t> counters;
  std::string msg;
  const std::string* request_id = nullptr;  // borrowed, or owned by a copy
  // The bits of trace_data.
  enum TraceData : char { kRequestID = 0 };
  uint64_t trace_data = 0;
  std::any cost_info;

  IODebugContext() = default;
  IODebugContext(const IODebugContext& other);
  IODebugContext& operator=(const IODebugContext& other);

  void AddCounter(std::string& name, uint64_t value) { counters.emplace(name, value); }
  void SetRequestId(const std::string* id) {
    request_id = id;
    trace_data |= uint64_t{1} << kRequestID;
  }
  std::string ToString();

 private:
  std::string owned_request_id_;
};

using IOHandleDeleter = std::function<void(void*)>;

class ASHLAR_API FileSystem : public Customizable {
 public:
  FileSystem() = default;
  ~FileSystem() override;
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;

  static const char* Type() { return "FileSystem"; }
  static const char* kDefaultName() { return "DefaultFileSystem"; }
  const char* Name() const override = 0;

  // The file system of the operating system. It lives as long as the process.
  static std::shared_ptr<FileSystem> Default();

  virtual Status RegisterDbPaths(const std::vector<std::string>& paths);
  virtual Status UnregisterDbPaths(const std::vector<std::string>& paths);

  virtual IOStatus NewSequentialFile(const std::string& path, const FileOptions& options,
                                     std::unique_ptr<FSSequentialFile>* result,
                                     IODebugContext* dbg) = 0;
  virtual IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                                       std::unique_ptr<FSRandomAccessFile>* result,
                                       IODebugContext* dbg) = 0;
  virtual IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                                   std::unique_ptr<FSWritableFile>* result,
                                   IODebugContext* dbg) = 0;
  virtual IOStatus ReopenWritableFile(const std::string& path, const FileOptions& options,
                                      std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg);
  virtual IOStatus ReuseWritableFile(const std::string& path, const std::string& old_path,
                                     const FileOptions& options,
                                     std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg);
  virtual IOStatus NewRandomRWFile(const std::string& path, const FileOptions& options,
                                   std::unique_ptr<FSRandomRWFile>* result, IODebugContext* dbg);
  virtual IOStatus NewMemoryMappedFileBuffer(const std::string& path,
                                             std::unique_ptr<MemoryMappedFileBuffer>* result);
  virtual IOStatus NewDirectory(const std::string& path, const IOOptions& options,
                                std::unique_ptr<FSDirectory>* result, IODebugContext* dbg) = 0;

  virtual IOStatus FileExists(const std::string& path, const IOOptions& options,
                              IODebugContext* dbg) = 0;
  virtual IOStatus GetChildren(const std::string& dir, const IOOptions& options,
                               std::vector<std::string>* names, IODebugContext* dbg) = 0;
  virtual IOStatus GetChildrenFileAttributes(const std::string& dir, const IOOptions& options,
                                             std::vector<FileAttributes>* attributes,
                                             IODebugContext* dbg);
  virtual IOStatus DeleteFile(const std::string& path, const IOOptions& options,
                              IODebugContext* dbg) = 0;
  virtual IOStatus Truncate(const std::string& path, size_t bytes, const IOOptions& options,
                            IODebugContext* dbg);
  virtual IOStatus CreateDir(const std::string& dir, const IOOptions& options,
                             IODebugContext* dbg) = 0;
  virtual IOStatus CreateDirIfMissing(const std::string& dir, const IOOptions& options,
                                      IODebugContext* dbg) = 0;
  virtual IOStatus DeleteDir(const std::string& dir, const IOOptions& options,
                             IODebugContext* dbg) = 0;
  virtual IOStatus GetFileSize(const std::string& path, const IOOptions& options, uint64_t* bytes,
                               IODebugContext* dbg) = 0;
  virtual IOStatus GetFileModificationTime(const std::string& path, const IOOptions& options,
                                           uint64_t* unix_seconds, IODebugContext* dbg) = 0;
  virtual IOStatus RenameFile(const std::string& from, const std::string& to,
                              const IOOptions& options, IODebugContext* dbg) = 0;
  virtual IOStatus LinkFile(const std::string& from, const std::string& to,
                            const IOOptions& options, IODebugContext* dbg);
  virtual IOStatus SyncFile(const std::string& path, const FileOptions& file_options,
                            const IOOptions& options, bool use_fsync, IODebugContext* dbg);
  virtual IOStatus NumFileLinks(const std::string& path, const IOOptions& options, uint64_t* count,
                                IODebugContext* dbg);
  virtual IOStatus AreFilesSame(const std::string& first, const std::string& second,
                                const IOOptions& options, bool* same, IODebugContext* dbg);
  virtual IOStatus LockFile(const std::string& path, const IOOptions& options, FileLock** lock,
                            IODebugContext* dbg) = 0;
  virtual IOStatus UnlockFile(FileLock* lock, const IOOptions& options, IODebugContext* dbg) = 0;
  virtual IOStatus GetTestDirectory(const IOOptions& options, std::string* path,
                                    IODebugContext* dbg) = 0;
  virtual IOStatus NewLogger(const std::string& path, const IOOptions& options,
                             std::shared_ptr<Logger>* result, IODebugContext* dbg);
  virtual IOStatus GetAbsolutePath(const std::string& path, const IOOptions& options,
                                   std::string* absolute, IODebugContext* dbg) = 0;
  virtual IOStatus GetFreeSpace(const std::string& path, const IOOptions& options, uint64_t* bytes,
                                IODebugContext* dbg);
  virtual IOStatus IsDirectory(const std::string& path, const IOOptions& options,
                               bool* is_directory, IODebugContext* dbg) = 0;

  virtual void SanitizeFileOptions(FileOptions* options) const;
  virtual FileOptions OptimizeForLogRead(const FileOptions& options) const;
  virtual FileOptions OptimizeForManifestRead(const FileOptions& options) const;
  virtual FileOptions OptimizeForLogWrite(const FileOptions& options,
                                          const DBOptions& db_options) const;
  virtual FileOptions OptimizeForManifestWrite(const FileOptions& options) const;
  virtual FileOptions OptimizeForCompactionTableWrite(const FileOptions& options,
                                                      const ImmutableDBOptions& db_options) const;
  virtual FileOptions OptimizeForCompactionTableRead(const FileOptions& options,
                                                     const ImmutableDBOptions& db_options) const;
  virtual FileOptions OptimizeForBlobFileRead(const FileOptions& options,
                                              const ImmutableDBOptions& db_options) const;

  // Asynchronous reads: Poll waits for some of them, AbortIO cancels them. Default: there are none.
  virtual IOStatus Poll(std::vector<void*>& io_handles, size_t min_completions);
  virtual IOStatus AbortIO(std::vector<void*>& io_handles);
  virtual void DiscardCacheForDirectory(const std::string& path);
  virtual void SupportedOps(int64_t& supported_ops);
};

class ASHLAR_API FSSequentialFile {
 public:
  FSSequentialFile() = default;
  virtual ~FSSequentialFile();

  virtual IOStatus Read(size_t n, const IOOptions& options, Slice* result, char* scratch,
                        IODebugContext* dbg) = 0;
  virtual IOStatus Skip(uint64_t n) = 0;
  virtual bool use_direct_io() const { return false; }
  virtual size_t GetRequiredBufferAlignment() const { return kDefaultPageSize; }
  virtual IOStatus InvalidateCache(size_t offset, size_t length);
  virtual IOStatus PositionedRead(uint64_t offset, size_t n, const IOOptions& options,
                                  Slice* result, char* scratch, IODebugContext* dbg);
  virtual Temperature GetTemperature() const { return Temperature::kUnknown; }
};

using FSAllocationPtr = std::unique_ptr<void, std::function<void(void*)>>;

// One of several reads. The file sets result and status, and also fs_scratch if the result is in
// memory of the file system.
struct FSReadRequest {
  uint64_t offset = 0;
  size_t len = 0;
  char* scratch = nullptr;
  Slice result;
  IOStatus status;
  FSAllocationPtr fs_scratch;
};

class ASHLAR_API FSRandomAccessFile {
 public:
  enum AccessPattern { kNormal, kRandom, kSequential, kWillNeed, kWontNeed };
  static constexpr size_t kMaxFileOpenMetadataSize = 8 * 1024;

  FSRandomAccessFile() = default;
  virtual ~FSRandomAccessFile();

  virtual IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result,
                        char* scratch, IODebugContext* dbg) const = 0;
  virtual IOStatus Prefetch(uint64_t offset, size_t n, const IOOptions& options,
                            IODebugContext* dbg);
  virtual IOStatus MultiRead(FSReadRequest* requests, size_t count, const IOOptions& options,
                             IODebugContext* dbg);
  virtual size_t GetUniqueId(char* id, size_t bytes_max) const;
  virtual void Hint(AccessPattern pattern);
  virtual bool use_direct_io() const { return false; }
  virtual size_t GetRequiredBufferAlignment() const { return kDefaultPageSize; }
  virtual IOStatus InvalidateCache(size_t offset, size_t length);
  // By default this and SubmitReadAsync read at once and call back before they return.
  virtual IOStatus ReadAsync(FSReadRequest& request, const IOOptions& options,
                             std::function<void(FSReadRequest&, void*)> callback,
                             void* callback_arg, void** io_handle, IOHandleDeleter* deleter,
                             IODebugContext* dbg);
  // RocksDB 7.8's form. By default calls the form above. Calls of the form above do not reach a
  // class that overrides only this one.
  virtual IOStatus ReadAsync(FSReadRequest& request, const IOOptions& options,
                             std::function<void(const FSReadRequest&, void*)> callback,
                             void* callback_arg, void** io_handle, IOHandleDeleter* deleter,
                             IODebugContext* dbg);
  // A function that fits both forms is passed to the first.
  template <typename Callback>
    requires std::invocable<Callback&, FSReadRequest&, void*>
  IOStatus ReadAsync(FSReadRequest& request, const IOOptions& options, Callback callback,
                     void* callback_arg, void** io_handle, IOHandleDeleter* deleter,
                     IODebugContext* dbg) {
    return ReadAsync(request, options,
                     std::function<void(FSReadRequest&, void*)>(std::move(callback)), callback_arg,
                     io_handle, deleter, dbg);
  }
  virtual bool SubmitReadAsync(FSReadRequest& request, const IOOptions& options,
                               std::function<void(FSReadRequest&)> callback, IODebugContext* dbg);
  virtual Temperature GetTemperature() const { return Temperature::kUnknown; }
  virtual IOStatus GetFileSize(uint64_t* bytes);
  virtual IOStatus GetFileOpenMetadata(std::string* metadata);
};

// Passed to a file with the data of an append.
struct DataVerificationInfo {
  Slice checksum;
};

class ASHLAR_API FSWritableFile {
 public:
  FSWritableFile() = default;
  explicit FSWritableFile(const FileOptions& options)
      : strict_bytes_per_sync_(options.strict_bytes_per_sync) {}
  virtual ~FSWritableFile();
  FSWritableFile(const FSWritableFile&) = delete;
  FSWritableFile& operator=(const FSWritableFile&) = delete;

  virtual IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) = 0;
  virtual IOStatus Append(const Slice& data, const IOOptions& options,
                          const DataVerificationInfo& info, IODebugContext* dbg);
  virtual IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                                    IODebugContext* dbg);
  virtual IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                                    const DataVerificationInfo& info, IODebugContext* dbg);
  virtual IOStatus Truncate(uint64_t bytes, const IOOptions& options, IODebugContext* dbg);
  virtual IOStatus Close(const IOOptions& options, IODebugContext* dbg) = 0;
  virtual IOStatus Flush(const IOOptions& options, IODebugContext* dbg) = 0;
  virtual IOStatus Sync(const IOOptions& options, IODebugContext* dbg) = 0;
  virtual IOStatus Fsync(const IOOptions& options, IODebugContext* dbg);
  virtual bool IsSyncThreadSafe() const { return false; }
  virtual bool use_direct_io() const { return false; }
  virtual size_t GetRequiredBufferAlignment() const { return kDefaultPageSize; }
  virtual void SetWriteLifeTimeHint(Env::WriteLifeTimeHint hint) { write_hint_ = hint; }
  virtual Env::WriteLifeTimeHint GetWriteLifeTimeHint() { return write_hint_; }
  virtual void SetIOPriority(Env::IOPriority pri) { io_priority_ = pri; }
  virtual Env::IOPriority GetIOPriority() { return io_priority_; }
  virtual uint64_t GetFileSize(const IOOptions& options, IODebugContext* dbg);
  virtual void SetPreallocationBlockSize(size_t bytes) { preallocation_block_size_ = bytes; }
  virtual void GetPreallocationStatus(size_t* block_size, size_t* last_allocated_block);
  virtual size_t GetUniqueId(char* id, size_t bytes_max) const;
  virtual IOStatus InvalidateCache(size_t offset, size_t length);
  virtual IOStatus RangeSync(uint64_t offset, uint64_t bytes, const IOOptions& options,
                             IODebugContext* dbg);
  virtual void PrepareWrite(size_t offset, size_t bytes, const IOOptions& options,
                            IODebugContext* dbg);
  virtual IOStatus Allocate(uint64_t offset, uint64_t bytes, const IOOptions& options,
                            IODebugContext* dbg);

 protected:
  size_t preallocation_block_size() { return preallocation_block_size_; }

 private:
  size_t last_preallocated_block_ = 0;
  size_t preallocation_block_size_ = 0;

 protected:
  Env::IOPriority io_priority_ = Env::IO_TOTAL;
  Env::WriteLifeTimeHint write_hint_ = Env::WLTH_NOT_SET;
  const bool strict_bytes_per_sync_ = false;
};

class ASHLAR_API FSRandomRWFile {
 public:
  FSRandomRWFile() = default;
  virtual ~FSRandomRWFile();
  FSRandomRWFile(const FSRandomRWFile&) = delete;
  FSRandomRWFile& operator=(const FSRandomRWFile&) = delete;

  virtual bool use_direct_io() const { return false; }
  virtual size_t GetRequiredBufferAlignment() const { return kDefaultPageSize; }
  virtual IOStatus Write(uint64_t offset, const Slice& data, const IOOptions& options,
                         IODebugContext* dbg) = 0;
  virtual IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result,
                        char* scratch, IODebugContext* dbg) const = 0;
  virtual IOStatus Flush(const IOOptions& options, IODebugContext* dbg) = 0;
  virtual IOStatus Sync(const IOOptions& options, IODebugContext* dbg) = 0;
  virtual IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) {
    return Sync(options, dbg);
  }
  virtual IOStatus Close(const IOOptions& options, IODebugContext* dbg) = 0;
  virtual Temperature GetTemperature() const { return Temperature::kUnknown; }
};

class ASHLAR_API FSDirectory {
 public:
  virtual ~FSDirectory();
  virtual IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) = 0;
  // Default: Fsync. The engine calls this one.
  virtual IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* dbg,
                                       const DirFsyncOptions& dir_fsync_options);
  virtual IOStatus Close(const IOOptions& options, IODebugContext* dbg);
  virtual size_t GetUniqueId(char* id, size_t bytes_max) const;
};

// ---- Wrappers. Each passes every call on to its target.

class ASHLAR_API FileSystemWrapper : public FileSystem {
 public:
  explicit FileSystemWrapper(const std::shared_ptr<FileSystem>& target) : target_(target) {}
  ~FileSystemWrapper() override;

  FileSystem* target() const { return target_.get(); }
  const Customizable* Inner() const override { return target_.get(); }

  Status RegisterDbPaths(const std::vector<std::string>& paths) override {
    return target_->RegisterDbPaths(paths);
  }
  Status UnregisterDbPaths(const std::vector<std::string>& paths) override {
    return target_->UnregisterDbPaths(paths);
  }
  IOStatus NewSequentialFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<FSSequentialFile>* result,
                             IODebugContext* dbg) override {
    return target_->NewSequentialFile(path, options, result, dbg);
  }
  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* result,
                               IODebugContext* dbg) override {
    return target_->NewRandomAccessFile(path, options, result, dbg);
  }
  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg) override {
    return target_->NewWritableFile(path, options, result, dbg);
  }
  IOStatus ReopenWritableFile(const std::string& path, const FileOptions& options,
                              std::unique_ptr<FSWritableFile>* result,
                              IODebugContext* dbg) override {
    return target_->ReopenWritableFile(path, options, result, dbg);
  }
  IOStatus ReuseWritableFile(const std::string& path, const std::string& old_path,
                             const FileOptions& options, std::unique_ptr<FSWritableFile>* result,
                             IODebugContext* dbg) override {
    return target_->ReuseWritableFile(path, old_path, options, result, dbg);
  }
  IOStatus NewRandomRWFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSRandomRWFile>* result, IODebugContext* dbg) override {
    return target_->NewRandomRWFile(path, options, result, dbg);
  }
  IOStatus NewMemoryMappedFileBuffer(const std::string& path,
                                     std::unique_ptr<MemoryMappedFileBuffer>* result) override {
    return target_->NewMemoryMappedFileBuffer(path, result);
  }
  IOStatus NewDirectory(const std::string& path, const IOOptions& options,
                        std::unique_ptr<FSDirectory>* result, IODebugContext* dbg) override {
    return target_->NewDirectory(path, options, result, dbg);
  }
  IOStatus FileExists(const std::string& path, const IOOptions& options,
                      IODebugContext* dbg) override {
    return target_->FileExists(path, options, dbg);
  }
  IOStatus GetChildren(const std::string& dir, const IOOptions& options,
                       std::vector<std::string>* names, IODebugContext* dbg) override {
    return target_->GetChildren(dir, options, names, dbg);
  }
  IOStatus GetChildrenFileAttributes(const std::string& dir, const IOOptions& options,
                                     std::vector<FileAttributes>* attributes,
                                     IODebugContext* dbg) override {
    return target_->GetChildrenFileAttributes(dir, options, attributes, dbg);
  }
  IOStatus DeleteFile(const std::string& path, const IOOptions& options,
                      IODebugContext* dbg) override {
    return target_->DeleteFile(path, options, dbg);
  }
  IOStatus Truncate(const std::string& path, size_t bytes, const IOOptions& options,
                    IODebugContext* dbg) override {
    return target_->Truncate(path, bytes, options, dbg);
  }
  IOStatus CreateDir(const std::string& dir, const IOOptions& options,
                     IODebugContext* dbg) override {
    return target_->CreateDir(dir, options, dbg);
  }
  IOStatus CreateDirIfMissing(const std::string& dir, const IOOptions& options,
                              IODebugContext* dbg) override {
    return target_->CreateDirIfMissing(dir, options, dbg);
  }
  IOStatus DeleteDir(const std::string& dir, const IOOptions& options,
                     IODebugContext* dbg) override {
    return target_->DeleteDir(dir, options, dbg);
  }
  IOStatus GetFileSize(const std::string& path, const IOOptions& options, uint64_t* bytes,
                       IODebugContext* dbg) override {
    return target_->GetFileSize(path, options, bytes, dbg);
  }
  IOStatus GetFileModificationTime(const std::string& path, const IOOptions& options,
                                   uint64_t* unix_seconds, IODebugContext* dbg) override {
    return target_->GetFileModificationTime(path, options, unix_seconds, dbg);
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* dbg) override {
    return target_->RenameFile(from, to, options, dbg);
  }
  IOStatus LinkFile(const std::string& from, const std::string& to, const IOOptions& options,
                    IODebugContext* dbg) override {
    return target_->LinkFile(from, to, options, dbg);
  }
  IOStatus SyncFile(const std::string& path, const FileOptions& file_options,
                    const IOOptions& options, bool use_fsync, IODebugContext* dbg) override {
    return target_->SyncFile(path, file_options, options, use_fsync, dbg);
  }
  IOStatus NumFileLinks(const std::string& path, const IOOptions& options, uint64_t* count,
                        IODebugContext* dbg) override {
    return target_->NumFileLinks(path, options, count, dbg);
  }
  IOStatus AreFilesSame(const std::string& first, const std::string& second,
                        const IOOptions& options, bool* same, IODebugContext* dbg) override {
    return target_->AreFilesSame(first, second, options, same, dbg);
  }
  IOStatus LockFile(const std::string& path, const IOOptions& options, FileLock** lock,
                    IODebugContext* dbg) override {
    return target_->LockFile(path, options, lock, dbg);
  }
  IOStatus UnlockFile(FileLock* lock, const IOOptions& options, IODebugContext* dbg) override {
    return target_->UnlockFile(lock, options, dbg);
  }
  IOStatus GetTestDirectory(const IOOptions& options, std::string* path,
                            IODebugContext* dbg) override {
    return target_->GetTestDirectory(options, path, dbg);
  }
  IOStatus NewLogger(const std::string& path, const IOOptions& options,
                     std::shared_ptr<Logger>* result, IODebugContext* dbg) override {
    return target_->NewLogger(path, options, result, dbg);
  }
  IOStatus GetAbsolutePath(const std::string& path, const IOOptions& options, std::string* absolute,
                           IODebugContext* dbg) override {
    return target_->GetAbsolutePath(path, options, absolute, dbg);
  }
  IOStatus GetFreeSpace(const std::string& path, const IOOptions& options, uint64_t* bytes,
                        IODebugContext* dbg) override {
    return target_->GetFreeSpace(path, options, bytes, dbg);
  }
  IOStatus IsDirectory(const std::string& path, const IOOptions& options, bool* is_directory,
                       IODebugContext* dbg) override {
    return target_->IsDirectory(path, options, is_directory, dbg);
  }
  void SanitizeFileOptions(FileOptions* options) const override {
    target_->SanitizeFileOptions(options);
  }
  FileOptions OptimizeForLogRead(const FileOptions& options) const override {
    return target_->OptimizeForLogRead(options);
  }
  FileOptions OptimizeForManifestRead(const FileOptions& options) const override {
    return target_->OptimizeForManifestRead(options);
  }
  FileOptions OptimizeForLogWrite(const FileOptions& options,
                                  const DBOptions& db_options) const override {
    return target_->OptimizeForLogWrite(options, db_options);
  }
  FileOptions OptimizeForManifestWrite(const FileOptions& options) const override {
    return target_->OptimizeForManifestWrite(options);
  }
  FileOptions OptimizeForCompactionTableWrite(const FileOptions& options,
                                              const ImmutableDBOptions& db_options) const override {
    return target_->OptimizeForCompactionTableWrite(options, db_options);
  }
  FileOptions OptimizeForCompactionTableRead(const FileOptions& options,
                                             const ImmutableDBOptions& db_options) const override {
    return target_->OptimizeForCompactionTableRead(options, db_options);
  }
  FileOptions OptimizeForBlobFileRead(const FileOptions& options,
                                      const ImmutableDBOptions& db_options) const override {
    return target_->OptimizeForBlobFileRead(options, db_options);
  }
  IOStatus Poll(std::vector<void*>& io_handles, size_t min_completions) override {
    return target_->Poll(io_handles, min_completions);
  }
  IOStatus AbortIO(std::vector<void*>& io_handles) override { return target_->AbortIO(io_handles); }
  void DiscardCacheForDirectory(const std::string& path) override {
    target_->DiscardCacheForDirectory(path);
  }
  void SupportedOps(int64_t& supported_ops) override { target_->SupportedOps(supported_ops); }

 protected:
  std::shared_ptr<FileSystem> target_;
};

// The wrappers of files do not own their target, except those called OwnerWrapper.
class ASHLAR_API FSSequentialFileWrapper : public FSSequentialFile {
 public:
  explicit FSSequentialFileWrapper(FSSequentialFile* target) : target_(target) {}
  FSSequentialFile* target() const { return target_; }

  IOStatus Read(size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) override {
    return target_->Read(n, options, result, scratch, dbg);
  }
  IOStatus Skip(uint64_t n) override { return target_->Skip(n); }
  bool use_direct_io() const override { return target_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override {
    return target_->GetRequiredBufferAlignment();
  }
  IOStatus InvalidateCache(size_t offset, size_t length) override {
    return target_->InvalidateCache(offset, length);
  }
  IOStatus PositionedRead(uint64_t offset, size_t n, const IOOptions& options, Slice* result,
                          char* scratch, IODebugContext* dbg) override {
    return target_->PositionedRead(offset, n, options, result, scratch, dbg);
  }
  Temperature GetTemperature() const override { return target_->GetTemperature(); }

 private:
  FSSequentialFile* const target_;
};

class ASHLAR_API FSSequentialFileOwnerWrapper : public FSSequentialFileWrapper {
 public:
  explicit FSSequentialFileOwnerWrapper(std::unique_ptr<FSSequentialFile>&& target)
      : FSSequentialFileWrapper(target.get()), owned_(std::move(target)) {}

 private:
  const std::unique_ptr<FSSequentialFile> owned_;
};

class ASHLAR_API FSRandomAccessFileWrapper : public FSRandomAccessFile {
 public:
  explicit FSRandomAccessFileWrapper(FSRandomAccessFile* target) : target_(target) {}
  FSRandomAccessFile* target() const { return target_; }

  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const override {
    return target_->Read(offset, n, options, result, scratch, dbg);
  }
  IOStatus Prefetch(uint64_t offset, size_t n, const IOOptions& options,
                    IODebugContext* dbg) override {
    return target_->Prefetch(offset, n, options, dbg);
  }
  IOStatus MultiRead(FSReadRequest* requests, size_t count, const IOOptions& options,
                     IODebugContext* dbg) override {
    return target_->MultiRead(requests, count, options, dbg);
  }
  size_t GetUniqueId(char* id, size_t bytes_max) const override {
    return target_->GetUniqueId(id, bytes_max);
  }
  void Hint(AccessPattern pattern) override { target_->Hint(pattern); }
  bool use_direct_io() const override { return target_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override {
    return target_->GetRequiredBufferAlignment();
  }
  IOStatus InvalidateCache(size_t offset, size_t length) override {
    return target_->InvalidateCache(offset, length);
  }
  using FSRandomAccessFile::ReadAsync;
  IOStatus ReadAsync(FSReadRequest& request, const IOOptions& options,
                     std::function<void(FSReadRequest&, void*)> callback, void* callback_arg,
                     void** io_handle, IOHandleDeleter* deleter, IODebugContext* dbg) override {
    return target_->ReadAsync(request, options, std::move(callback), callback_arg, io_handle,
                              deleter, dbg);
  }
  IOStatus ReadAsync(FSReadRequest& request, const IOOptions& options,
                     std::function<void(const FSReadRequest&, void*)> callback, void* callback_arg,
                     void** io_handle, IOHandleDeleter* deleter, IODebugContext* dbg) override {
    return target_->ReadAsync(request, options, std::move(callback), callback_arg, io_handle,
                              deleter, dbg);
  }
  bool SubmitReadAsync(FSReadRequest& request, const IOOptions& options,
                       std::function<void(FSReadRequest&)> callback, IODebugContext* dbg) override {
    return target_->SubmitReadAsync(request, options, std::move(callback), dbg);
  }
  Temperature GetTemperature() const override { return target_->GetTemperature(); }
  IOStatus GetFileSize(uint64_t* bytes) override { return target_->GetFileSize(bytes); }
  IOStatus GetFileOpenMetadata(std::string* metadata) override {
    return target_->GetFileOpenMetadata(metadata);
  }

 private:
  FSRandomAccessFile* const target_;
};

class ASHLAR_API FSRandomAccessFileOwnerWrapper : public FSRandomAccessFileWrapper {
 public:
  explicit FSRandomAccessFileOwnerWrapper(std::unique_ptr<FSRandomAccessFile>&& target)
      : FSRandomAccessFileWrapper(target.get()), owned_(std::move(target)) {}

 private:
  const std::unique_ptr<FSRandomAccessFile> owned_;
};

class ASHLAR_API FSWritableFileWrapper : public FSWritableFile {
 public:
  explicit FSWritableFileWrapper(FSWritableFile* target) : target_(target) {}
  FSWritableFile* target() const { return target_; }

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
    return target_->Append(data, options, dbg);
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const DataVerificationInfo& info,
                  IODebugContext* dbg) override {
    return target_->Append(data, options, info, dbg);
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            IODebugContext* dbg) override {
    return target_->PositionedAppend(data, offset, options, dbg);
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            const DataVerificationInfo& info, IODebugContext* dbg) override {
    return target_->PositionedAppend(data, offset, options, info, dbg);
  }
  IOStatus Truncate(uint64_t bytes, const IOOptions& options, IODebugContext* dbg) override {
    return target_->Truncate(bytes, options, dbg);
  }
  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override {
    return target_->Close(options, dbg);
  }
  IOStatus Flush(const IOOptions& options, IODebugContext* dbg) override {
    return target_->Flush(options, dbg);
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
    return target_->Sync(options, dbg);
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return target_->Fsync(options, dbg);
  }
  bool IsSyncThreadSafe() const override { return target_->IsSyncThreadSafe(); }
  bool use_direct_io() const override { return target_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override {
    return target_->GetRequiredBufferAlignment();
  }
  void SetWriteLifeTimeHint(Env::WriteLifeTimeHint hint) override {
    target_->SetWriteLifeTimeHint(hint);
  }
  Env::WriteLifeTimeHint GetWriteLifeTimeHint() override { return target_->GetWriteLifeTimeHint(); }
  void SetIOPriority(Env::IOPriority pri) override { target_->SetIOPriority(pri); }
  Env::IOPriority GetIOPriority() override { return target_->GetIOPriority(); }
  uint64_t GetFileSize(const IOOptions& options, IODebugContext* dbg) override {
    return target_->GetFileSize(options, dbg);
  }
  void SetPreallocationBlockSize(size_t bytes) override {
    target_->SetPreallocationBlockSize(bytes);
  }
  void GetPreallocationStatus(size_t* block_size, size_t* last_allocated_block) override {
    target_->GetPreallocationStatus(block_size, last_allocated_block);
  }
  size_t GetUniqueId(char* id, size_t bytes_max) const override {
    return target_->GetUniqueId(id, bytes_max);
  }
  IOStatus InvalidateCache(size_t offset, size_t length) override {
    return target_->InvalidateCache(offset, length);
  }
  IOStatus RangeSync(uint64_t offset, uint64_t bytes, const IOOptions& options,
                     IODebugContext* dbg) override {
    return target_->RangeSync(offset, bytes, options, dbg);
  }
  void PrepareWrite(size_t offset, size_t bytes, const IOOptions& options,
                    IODebugContext* dbg) override {
    target_->PrepareWrite(offset, bytes, options, dbg);
  }
  IOStatus Allocate(uint64_t offset, uint64_t bytes, const IOOptions& options,
                    IODebugContext* dbg) override {
    return target_->Allocate(offset, bytes, options, dbg);
  }

 private:
  FSWritableFile* const target_;
};

class ASHLAR_API FSWritableFileOwnerWrapper : public FSWritableFileWrapper {
 public:
  explicit FSWritableFileOwnerWrapper(std::unique_ptr<FSWritableFile>&& target)
      : FSWritableFileWrapper(target.get()), owned_(std::move(target)) {}

 private:
  const std::unique_ptr<FSWritableFile> owned_;
};

class ASHLAR_API FSRandomRWFileWrapper : public FSRandomRWFile {
 public:
  explicit FSRandomRWFileWrapper(FSRandomRWFile* target) : target_(target) {}
  FSRandomRWFile* target() const { return target_; }

  bool use_direct_io() const override { return target_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override {
    return target_->GetRequiredBufferAlignment();
  }
  IOStatus Write(uint64_t offset, const Slice& data, const IOOptions& options,
                 IODebugContext* dbg) override {
    return target_->Write(offset, data, options, dbg);
  }
  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const override {
    return target_->Read(offset, n, options, result, scratch, dbg);
  }
  IOStatus Flush(const IOOptions& options, IODebugContext* dbg) override {
    return target_->Flush(options, dbg);
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
    return target_->Sync(options, dbg);
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return target_->Fsync(options, dbg);
  }
  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override {
    return target_->Close(options, dbg);
  }
  Temperature GetTemperature() const override { return target_->GetTemperature(); }

 private:
  FSRandomRWFile* const target_;
};

class ASHLAR_API FSRandomRWFileOwnerWrapper : public FSRandomRWFileWrapper {
 public:
  explicit FSRandomRWFileOwnerWrapper(std::unique_ptr<FSRandomRWFile>&& target)
      : FSRandomRWFileWrapper(target.get()), owned_(std::move(target)) {}

 private:
  const std::unique_ptr<FSRandomRWFile> owned_;
};

class ASHLAR_API FSDirectoryWrapper : public FSDirectory {
 public:
  explicit FSDirectoryWrapper(std::unique_ptr<FSDirectory>&& target)
      : owned_(std::move(target)), target_(owned_.get()) {}
  explicit FSDirectoryWrapper(FSDirectory* target) : target_(target) {}

  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return target_->Fsync(options, dbg);
  }
  IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* dbg,
                               const DirFsyncOptions& dir_fsync_options) override {
    return target_->FsyncWithDirOptions(options, dbg, dir_fsync_options);
  }
  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override {
    return target_->Close(options, dbg);
  }
  size_t GetUniqueId(char* id, size_t bytes_max) const override {
    return target_->GetUniqueId(id, bytes_max);
  }

 private:
  const std::unique_ptr<FSDirectory> owned_;  // null: borrowed
  FSDirectory* const target_;
};

// ---- Whole files.

// Creates or replaces the file. should_sync: its bytes are durable on return. If a write fails, the
// file is deleted.
ASHLAR_API IOStatus WriteStringToFile(FileSystem* file_system, const Slice& data,
                                      const std::string& path, bool should_sync = false,
                                      const IOOptions& io_options = IOOptions(),
                                      const FileOptions& file_options = FileOptions());
ASHLAR_API IOStatus ReadFileToString(FileSystem* file_system, const std::string& path,
                                     std::string* data);
ASHLAR_API IOStatus ReadFileToString(FileSystem* file_system, const std::string& path,
                                     const IOOptions& options, std::string* data);

}  // namespace ashlar
