// Env: the environment of a database: files, time, and the threads that flush and compact.
// Databases opened with one Env share its threads. Logger: receives the messages of a database.
//
//   a program that changes files     derives from EnvWrapper, or from FileSystemWrapper
//                                    (ashlar/file_system.h) and calls NewCompositeEnv
//   a program that replaces it all   derives from Env
//
// I1: the engine opens every file of a database through the Env of its options. It calls the
//     methods below if the class overrides them, or uses the system's files without a detour.
// I2: the engine's background work runs on the threads of the Env's executor(): for an EnvWrapper
//     those of its target, for a class that derives from Env directly those of Env::Default(). The
//     engine does not use Schedule and StartThread, which are for the program.
// I3: the engine reads time with NowMicros and NowNanos and sleeps with SleepForMicroseconds, or
//     uses the SystemClock with which the Env was made (ashlar/system_clock.h).
//
// Errors: a missing file is PathNotFound; every error names the path. Thread safety: several
// threads may call every method of Env and Logger, and the const methods of RandomAccessFile, at
// once. Any other file is used by one thread at a time (see WritableFile::IsSyncThreadSafe for the
// exception). Lifetime: an Env outlives its databases and files.
#pragma once

#include <atomic>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "ashlar/customizable.h"
#include "ashlar/export.h"
#include "ashlar/rate_limiter.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/types.h"

namespace ashlar {

namespace vfs {
class FileSystem;
}

class Clock;
class Directory;
class Executor;
class FileLock;
class FileSystem;
class Logger;
class MemoryMappedFileBuffer;
class RandomAccessFile;
class RandomRWFile;
class SequentialFile;
class SystemClock;
class WritableFile;
struct DBOptions;
struct DataVerificationInfo;
struct IOOptions;
struct ImmutableDBOptions;  // only its name: for signatures of methods that programs override
struct ThreadStatus;

inline constexpr size_t kDefaultPageSize = 4096;

// Settings for reading and writing files. The members are RocksDB's. An Env of the program gets
// them with each file. SstFileWriter honours use_direct_writes, bytes_per_sync and rate_limiter;
// the files of Env::Default() honour the mmap and direct members.
struct ASHLAR_API EnvOptions {
  EnvOptions() = default;
  explicit EnvOptions(const DBOptions& options);

  bool use_mmap_reads = false;
  bool use_mmap_writes = false;
  bool use_direct_reads = false;
  bool use_direct_writes = false;
  bool allow_fallocate = true;
  bool set_fd_cloexec = true;
  uint64_t bytes_per_sync = 0;  // 0: the library's choice
  bool strict_bytes_per_sync = false;
  bool fallocate_with_keep_size = true;
  size_t compaction_readahead_size = 0;
  size_t writable_file_max_buffer_size = 1024 * 1024;
  RateLimiter* rate_limiter = nullptr;  // null: none; outlives the file
};

// The share of the processors that a thread gets, relative to other threads.
enum class CpuPriority { kIdle = 0, kLow = 1, kNormal = 2, kHigh = 3 };

class ASHLAR_API Env : public Customizable {
 public:
  // The thread pool of a job: HIGH for flushes, LOW for compactions, BOTTOM for compactions into
  // the last level, USER for the embedding program.
  enum Priority { BOTTOM, LOW, HIGH, USER, TOTAL };
  // The priority of a request to the rate limiter. In options, IO_TOTAL means "no request".
  using IOPriority = IORequestPriority;
  using enum IORequestPriority;
  // The expected lifetime of written data.
  enum WriteLifeTimeHint {
    WLTH_NOT_SET = 0,
    WLTH_NONE,
    WLTH_SHORT,
    WLTH_MEDIUM,
    WLTH_LONG,
    WLTH_EXTREME,
  };
  // The kind of call that causes I/O, for file systems of the program.
  enum class IOActivity : uint8_t {
    kFlush = 0,
    kCompaction = 1,
    kDBOpen = 2,
    kGet = 3,
    kMultiGet = 4,
    kDBIterator = 5,
    kVerifyDBChecksum = 6,
    kVerifyFileChecksums = 7,
    kGetEntity = 8,
    kMultiGetEntity = 9,
    kGetFileChecksumsFromCurrentManifest = 10,
    kUnknown = 0xFF
  };
  struct FileAttributes {
    std::string name;  // without the directory
    uint64_t size_bytes = 0;
    Temperature temperature = Temperature::kUnknown;
  };

  // An Env whose files are opened by its own methods.
  Env();
  // An Env over the files of a file system. The engine does not call the methods below.
  explicit Env(const std::shared_ptr<FileSystem>& file_system);
  // The same with the time of a clock. The engine does not call the methods on time either.
  Env(const std::shared_ptr<FileSystem>& file_system, const std::shared_ptr<SystemClock>& clock);
  ~Env() override;
  Env(const Env&) = delete;
  Env& operator=(const Env&) = delete;

  static const char* Type() { return "Environment"; }
  static const char* kDefaultName() { return "DefaultEnv"; }
  const char* Name() const override { return ""; }

  // The Env of the operating system. It lives as long as the process and is never null.
  static Env* Default();

  // ---- Files.

  virtual Status RegisterDbPaths(const std::vector<std::string>& paths);
  virtual Status UnregisterDbPaths(const std::vector<std::string>& paths);

  virtual Status NewSequentialFile(const std::string& path, std::unique_ptr<SequentialFile>* result,
                                   const EnvOptions& options) = 0;
  virtual Status NewRandomAccessFile(const std::string& path,
                                     std::unique_ptr<RandomAccessFile>* result,
                                     const EnvOptions& options) = 0;
  // Creates the file, or truncates an existing one to 0 bytes.
  virtual Status NewWritableFile(const std::string& path, std::unique_ptr<WritableFile>* result,
                                 const EnvOptions& options) = 0;
  // Opens a file for appending, and creates it if it is missing. Default: NotSupported.
  virtual Status ReopenWritableFile(const std::string& path, std::unique_ptr<WritableFile>* result,
                                    const EnvOptions& options);
  // Renames old_path to path and opens it for writing. By default calls RenameFile and then
  // NewWritableFile.
  virtual Status ReuseWritableFile(const std::string& path, const std::string& old_path,
                                   std::unique_ptr<WritableFile>* result,
                                   const EnvOptions& options);
  // Opens an existing file. Default: NotSupported.
  virtual Status NewRandomRWFile(const std::string& path, std::unique_ptr<RandomRWFile>* result,
                                 const EnvOptions& options);
  // Maps an existing file that is not empty; one buffer of it at a time. Default: NotSupported.
  virtual Status NewMemoryMappedFileBuffer(const std::string& path,
                                           std::unique_ptr<MemoryMappedFileBuffer>* result);
  virtual Status NewDirectory(const std::string& path, std::unique_ptr<Directory>* result) = 0;

  // Returns Ok, NotFound, or the error that prevented the check.
  virtual Status FileExists(const std::string& path) = 0;
  // Returns names in no particular order.
  virtual Status GetChildren(const std::string& dir, std::vector<std::string>* names) = 0;
  // By default uses GetChildren and GetFileSize; leaves out files that vanish in between.
  virtual Status GetChildrenFileAttributes(const std::string& dir,
                                           std::vector<FileAttributes>* attributes);
  virtual Status DeleteFile(const std::string& path) = 0;
  // Default: NotSupported.
  virtual Status Truncate(const std::string& path, size_t bytes);
  // Fails if the directory exists.
  virtual Status CreateDir(const std::string& dir) = 0;
  virtual Status CreateDirIfMissing(const std::string& dir) = 0;
  virtual Status DeleteDir(const std::string& dir) = 0;
  virtual Status GetFileSize(const std::string& path, uint64_t* bytes) = 0;
  virtual Status GetFileModificationTime(const std::string& path, uint64_t* unix_seconds) = 0;
  // Atomically replaces `to`.
  virtual Status RenameFile(const std::string& from, const std::string& to) = 0;
  // By default these three return NotSupported. A database works without them.
  virtual Status LinkFile(const std::string& from, const std::string& to);
  virtual Status NumFileLinks(const std::string& path, uint64_t* count);
  virtual Status AreFilesSame(const std::string& first, const std::string& second, bool* same);
  // Makes a closed file durable. By default uses ReopenWritableFile.
  virtual Status SyncFile(const std::string& path, const EnvOptions& options, bool use_fsync);
  // The Env owns *lock until UnlockFile. IOError: another holder has the lock.
  virtual Status LockFile(const std::string& path, FileLock** lock) = 0;
  virtual Status UnlockFile(FileLock* lock) = 0;
  // An existing directory for the files of tests.
  virtual Status GetTestDirectory(std::string* path) = 0;
  virtual Status GetAbsolutePath(const std::string& path, std::string* absolute) = 0;
  // By default these two return NotSupported.
  virtual Status GetFreeSpace(const std::string& path, uint64_t* bytes);
  virtual Status IsDirectory(const std::string& path, bool* is_directory);
  // Default: a file in the format of LOG; an existing one is renamed to <path>.old.<micros>.
  virtual Status NewLogger(const std::string& path, std::shared_ptr<Logger>* result);

  // Options of one kind of file, made from those of all files. Not called by the engine.
  virtual EnvOptions OptimizeForLogRead(const EnvOptions& options) const;
  virtual EnvOptions OptimizeForManifestRead(const EnvOptions& options) const;
  virtual EnvOptions OptimizeForLogWrite(const EnvOptions& options,
                                         const DBOptions& db_options) const;
  virtual EnvOptions OptimizeForManifestWrite(const EnvOptions& options) const;
  virtual EnvOptions OptimizeForCompactionTableWrite(const EnvOptions& options,
                                                     const ImmutableDBOptions& db_options) const;
  virtual EnvOptions OptimizeForCompactionTableRead(const EnvOptions& options,
                                                    const ImmutableDBOptions& db_options) const;
  virtual EnvOptions OptimizeForBlobFileRead(const EnvOptions& options,
                                             const ImmutableDBOptions& db_options) const;
  virtual void SanitizeEnvOptions(EnvOptions* options) const;

  // The same files as a FileSystem.
  const std::shared_ptr<FileSystem>& GetFileSystem() const { return file_system_; }

  // ---- Threads.

  // Runs function(arg) on a thread of the pool. `tag` identifies it for UnSchedule, which calls
  // unschedule(arg) instead for each function that has not begun, and returns their number
  // (default: 0).
  virtual void Schedule(void (*function)(void* arg), void* arg, Priority pri = LOW,
                        void* tag = nullptr, void (*unschedule)(void* arg) = nullptr) = 0;
  virtual int UnSchedule(void* tag, Priority pri);
  // Runs function(arg) on a thread of its own. WaitForJoin waits for all of these (default: none).
  virtual void StartThread(void (*function)(void* arg), void* arg) = 0;
  template <typename Function, typename... Args>
  void StartThreadTyped(Function function, Args&&... args);
  virtual void WaitForJoin();
  // Reserve and release threads of a pool, and return the number. Default: 0.
  virtual int ReserveThreads(int threads, Priority pri);
  virtual int ReleaseThreads(int threads, Priority pri);
  // The number of jobs that wait for a thread. Default: 0.
  virtual unsigned int GetThreadPoolQueueLen(Priority pri = LOW) const;

  // The number of threads of one priority. Env::Default() begins with 1 for HIGH and LOW; DB::Open
  // raises it to the number in its options, or as far as the system allows. With 0, the jobs of the
  // priority wait: flushes (HIGH), and with them writers, or compactions (LOW). Numbers for BOTTOM
  // and USER are stored and reported but start no threads, because the threads of LOW run their
  // work and compact into the last level.
  virtual void SetBackgroundThreads(int number, Priority pri = LOW) = 0;
  virtual int GetBackgroundThreads(Priority pri = LOW) = 0;
  virtual void IncBackgroundThreadsIfNeeded(int number, Priority pri) = 0;
  // Controls whether other users may open the files. By default accepted without effect.
  virtual Status SetAllowNonOwnerAccess(bool allow);
  // Lowers the priority of the threads of HIGH or LOW from their next job on. The first form makes
  // their reads and writes wait for those of other threads. The others lower their share of the
  // processors: to low (kLow, and the third form) or to idle priority. Nothing raises it again:
  // kNormal and kHigh have no effect. Best effort. By default these do nothing; Env::Default()
  // implements them. BOTTOM and USER have no threads.
  virtual void LowerThreadPoolIOPriority(Priority pool = LOW);
  virtual Status LowerThreadPoolCPUPriority(Priority pool, CpuPriority pri);
  virtual void LowerThreadPoolCPUPriority(Priority pool = LOW);
  // Lists the threads that run background jobs for databases of this Env, and other threads while
  // they run one. If the database has enable_thread_tracking, each has its operation
  // (ashlar/thread_status.h). May start the threads.
  virtual Status GetThreadList(std::vector<ThreadStatus>* thread_list);
  // A number that identifies the calling thread.
  virtual uint64_t GetThreadID() const;
  static std::string PriorityToString(Priority priority);
  static std::string IOActivityToString(IOActivity activity);

  // ---- Time, and the machine. GetSystemClock: the same time; never null.

  const std::shared_ptr<SystemClock>& GetSystemClock() const { return system_clock_; }

  // Microseconds since 1970; nanoseconds of a monotonic clock with an unspecified start (default:
  // from NowMicros); processor time of the calling thread in nanoseconds (default: 0).
  virtual uint64_t NowMicros() = 0;
  virtual uint64_t NowNanos();
  virtual uint64_t NowCPUNanos();
  virtual void SleepForMicroseconds(int micros) = 0;
  // Seconds since 1970.
  virtual Status GetCurrentTime(int64_t* unix_time) = 0;
  // Returns seconds since 1970 as text.
  virtual std::string TimeToString(uint64_t unix_seconds) = 0;
  // Writes at most `bytes` bytes, including the zero at the end.
  virtual Status GetHostName(char* name, uint64_t bytes) = 0;
  virtual Status GetHostNameString(std::string* name);
  // Returns a text that no other call returns, on any machine.
  virtual std::string GenerateUniqueId();

  // ---- For the engine: its view of this Env. Not for programs.

  const std::shared_ptr<vfs::FileSystem>& EngineFiles() const { return engine_files_; }
  virtual Executor* executor();
  virtual Clock* clock();

 private:
  const std::shared_ptr<FileSystem> file_system_;
  const std::shared_ptr<vfs::FileSystem> engine_files_;  // of file_system_
  const std::shared_ptr<SystemClock> system_clock_;
  const std::shared_ptr<Clock> clock_;  // over system_clock_
};

template <typename Function, typename... Args>
void Env::StartThreadTyped(Function function, Args&&... args) {
  using Call = std::pair<Function, std::tuple<std::decay_t<Args>...>>;
  StartThread(
      [](void* arg) {
        const std::unique_ptr<Call> call(static_cast<Call*>(arg));
        std::apply(call->first, std::move(call->second));
      },
      new Call(std::move(function),
               std::tuple<std::decay_t<Args>...>(std::forward<Args>(args)...)));
}

// ---- Files. All sizes and offsets are in bytes. A class of the program need not override a method
// that has a default or only advises.

class ASHLAR_API SequentialFile {
 public:
  SequentialFile() = default;
  virtual ~SequentialFile();

  // Reads up to n bytes into scratch and points *result at them. An empty *result with Ok is the
  // end of the file.
  virtual Status Read(size_t n, Slice* result, char* scratch) = 0;
  virtual Status Skip(uint64_t n) = 0;
  // Whether reads must be aligned. The engine refuses such files.
  virtual bool use_direct_io() const { return false; }
  virtual size_t GetRequiredBufferAlignment() const { return kDefaultPageSize; }
  // Default: NotSupported.
  virtual Status InvalidateCache(size_t offset, size_t length);
  // Needs direct I/O. Default: NotSupported.
  virtual Status PositionedRead(uint64_t offset, size_t n, Slice* result, char* scratch);
};

// One of several reads. The file sets result and status.
struct ReadRequest {
  uint64_t offset = 0;
  size_t len = 0;
  char* scratch = nullptr;
  Slice result;
  Status status;
};

class ASHLAR_API RandomAccessFile {
 public:
  enum AccessPattern { NORMAL, RANDOM, SEQUENTIAL, WILLNEED, DONTNEED };

  RandomAccessFile() = default;
  virtual ~RandomAccessFile();

  // Reads n bytes at offset. *result may point into scratch (n bytes, caller's) or into memory that
  // lives as long as the file. Fewer than n bytes with Ok means that the file ends there.
  virtual Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const = 0;
  // Hints that these bytes will be read soon. Default: no effect.
  virtual Status Prefetch(uint64_t offset, size_t n);
  // By default calls Read for each request. Ok means that each request has its own status.
  virtual Status MultiRead(ReadRequest* requests, size_t count);
  // Writes an identifier of the file to id and returns its length. Default: 0, the file has none.
  virtual size_t GetUniqueId(char* id, size_t bytes_max) const;
  virtual void Hint(AccessPattern pattern);
  virtual bool use_direct_io() const { return false; }
  virtual size_t GetRequiredBufferAlignment() const { return kDefaultPageSize; }
  virtual Status InvalidateCache(size_t offset, size_t length);
  // Default: NotSupported. The engine then calls Env::GetFileSize.
  virtual Status GetFileSize(uint64_t* bytes);
};

class ASHLAR_API WritableFile {
 public:
  WritableFile() = default;
  explicit WritableFile(const EnvOptions& options)
      : strict_bytes_per_sync_(options.strict_bytes_per_sync) {}
  virtual ~WritableFile();
  WritableFile(const WritableFile&) = delete;
  WritableFile& operator=(const WritableFile&) = delete;

  virtual Status Append(const Slice& data) = 0;
  // With a checksum of the data. Default: ignores it. The engine passes none.
  virtual Status Append(const Slice& data, const DataVerificationInfo& info);
  // These two need direct I/O. Default: NotSupported.
  virtual Status PositionedAppend(const Slice& data, uint64_t offset);
  virtual Status PositionedAppend(const Slice& data, uint64_t offset,
                                  const DataVerificationInfo& info);
  // Default: Ok, without effect.
  virtual Status Truncate(uint64_t bytes);
  virtual Status Close() = 0;
  virtual Status Flush() = 0;
  // Makes the appended bytes durable. Fsync also makes the file's metadata durable. Default: Sync.
  virtual Status Sync() = 0;
  virtual Status Fsync();
  // Whether Sync and Fsync may run concurrently with Append and Flush.
  virtual bool IsSyncThreadSafe() const { return false; }
  virtual bool use_direct_io() const { return false; }
  virtual size_t GetRequiredBufferAlignment() const { return kDefaultPageSize; }
  virtual void SetIOPriority(Env::IOPriority pri) { io_priority_ = pri; }
  virtual Env::IOPriority GetIOPriority() { return io_priority_; }
  virtual void SetWriteLifeTimeHint(Env::WriteLifeTimeHint hint) { write_hint_ = hint; }
  virtual Env::WriteLifeTimeHint GetWriteLifeTimeHint() { return write_hint_; }
  // The engine does not call it, because it counts the bytes itself.
  virtual uint64_t GetFileSize() { return 0; }
  // Allocate reserves space in blocks of this size. 0, the default, reserves none.
  virtual void SetPreallocationBlockSize(size_t bytes) { preallocation_block_size_ = bytes; }
  virtual void GetPreallocationStatus(size_t* block_size, size_t* last_allocated_block);
  virtual size_t GetUniqueId(char* id, size_t bytes_max) const;
  virtual Status InvalidateCache(size_t offset, size_t length);
  // Starts write-back of a range. Default: Sync if the options ask for strict_bytes_per_sync.
  virtual Status RangeSync(uint64_t offset, uint64_t bytes);
  // Called before an append at this offset. Default: reserves the blocks that it reaches.
  virtual void PrepareWrite(size_t offset, size_t bytes);
  virtual Status Allocate(uint64_t offset, uint64_t bytes);

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

// A file that is read and written at any offset.
class ASHLAR_API RandomRWFile {
 public:
  RandomRWFile() = default;
  virtual ~RandomRWFile();
  RandomRWFile(const RandomRWFile&) = delete;
  RandomRWFile& operator=(const RandomRWFile&) = delete;

  virtual bool use_direct_io() const { return false; }
  virtual size_t GetRequiredBufferAlignment() const { return kDefaultPageSize; }
  // Extends the file if it is too short.
  virtual Status Write(uint64_t offset, const Slice& data) = 0;
  virtual Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const = 0;
  virtual Status Flush() = 0;
  virtual Status Sync() = 0;
  virtual Status Fsync() { return Sync(); }
  virtual Status Close() = 0;
};

// A file that is mapped as memory for reading and writing. Stores reach the file some time later,
// at the latest when the buffer is destroyed.
class ASHLAR_API MemoryMappedFileBuffer {
 public:
  MemoryMappedFileBuffer(void* base, size_t length) : base_(base), length_(length) {}
  virtual ~MemoryMappedFileBuffer() = 0;
  MemoryMappedFileBuffer(const MemoryMappedFileBuffer&) = delete;
  MemoryMappedFileBuffer& operator=(const MemoryMappedFileBuffer&) = delete;

  void* GetBase() const { return base_; }
  size_t GetLen() const { return length_; }

 protected:
  void* base_;
  const size_t length_;
};

class ASHLAR_API Directory {
 public:
  virtual ~Directory();
  // Makes the directory's entries durable: creations, renames, removals.
  virtual Status Fsync() = 0;
  // Default: NotSupported. The engine does not call it.
  virtual Status Close();
  virtual size_t GetUniqueId(char* id, size_t bytes_max) const;
};

class ASHLAR_API FileLock {
 public:
  FileLock() = default;
  virtual ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
};

// ---- Loggers.

enum InfoLogLevel : unsigned char {
  DEBUG_LEVEL = 0,
  INFO_LEVEL,
  WARN_LEVEL,
  ERROR_LEVEL,
  FATAL_LEVEL,
  HEADER_LEVEL,  // always written
  NUM_INFO_LOG_LEVELS,
};

// A class of the program overrides Log, or Logv(format, ap) if it was written for RocksDB; each
// calls the other by default. With Log alone, messages of Logv(level, …) arrive at INFO_LEVEL with
// the name of their level. To keep the level, override that Logv as well, with FormatMessage.
class ASHLAR_API Logger {
 public:
  static constexpr size_t kDoNotSupportGetLogFileSize = SIZE_MAX;

  explicit Logger(InfoLogLevel log_level = INFO_LEVEL) : log_level_(log_level) {}
  virtual ~Logger();
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;

  // Writes one message, without a newline at its end. Called only for messages at or above the
  // level. Must return soon, and cannot fail. Messages contain no bytes of keys and values.
  // Default: calls Logv(level, …).
  virtual void Log(InfoLogLevel level, std::string_view message);
  // The same with a printf format. Default: calls Log at INFO_LEVEL.
  virtual void Logv(const char* format, va_list ap);
  // By default drops a message below the level and writes others with Logv(format, ap), prefixed
  // with the level's name unless it is INFO_LEVEL. Messages of HEADER_LEVEL go to LogHeader.
  virtual void Logv(InfoLogLevel level, const char* format, va_list ap);
  // Default: calls Logv(format, ap).
  virtual void LogHeader(const char* format, va_list ap);
  // Writes buffered messages to the operating system.
  virtual void Flush() {}
  // By default calls CloseImpl, once.
  virtual Status Close();
  // Bytes written so far.
  virtual size_t GetLogFileSize() const { return 0; }

  virtual InfoLogLevel GetInfoLogLevel() const {
    return log_level_.load(std::memory_order_relaxed);
  }
  virtual void SetInfoLogLevel(InfoLogLevel log_level) {
    log_level_.store(log_level, std::memory_order_relaxed);
  }

 protected:
  virtual Status CloseImpl();
  // Formats a printf message.
  static std::string FormatMessage(const char* format, va_list ap);
  bool closed_ = false;

 private:
  std::atomic<InfoLogLevel> log_level_;
};

// Write a printf message with Logv unless it is below the logger's level. Log without a level uses
// INFO_LEVEL, Header always writes with LogHeader, LogFlush calls Flush. Null: no effect.
ASHLAR_API void Log(InfoLogLevel level, const std::shared_ptr<Logger>& logger, const char* format,
                    ...) ASHLAR_API_PRINTF(3, 4);
ASHLAR_API void Log(const std::shared_ptr<Logger>& logger, const char* format, ...)
    ASHLAR_API_PRINTF(2, 3);
ASHLAR_API void Debug(const std::shared_ptr<Logger>& logger, const char* format, ...)
    ASHLAR_API_PRINTF(2, 3);
ASHLAR_API void Info(const std::shared_ptr<Logger>& logger, const char* format, ...)
    ASHLAR_API_PRINTF(2, 3);
ASHLAR_API void Warn(const std::shared_ptr<Logger>& logger, const char* format, ...)
    ASHLAR_API_PRINTF(2, 3);
ASHLAR_API void Error(const std::shared_ptr<Logger>& logger, const char* format, ...)
    ASHLAR_API_PRINTF(2, 3);
ASHLAR_API void Fatal(const std::shared_ptr<Logger>& logger, const char* format, ...)
    ASHLAR_API_PRINTF(2, 3);
ASHLAR_API void Header(const std::shared_ptr<Logger>& logger, const char* format, ...)
    ASHLAR_API_PRINTF(2, 3);
ASHLAR_API void LogFlush(const std::shared_ptr<Logger>& logger);

ASHLAR_API void Log(InfoLogLevel level, Logger* logger, const char* format, ...)
    ASHLAR_API_PRINTF(3, 4);
ASHLAR_API void Log(Logger* logger, const char* format, ...) ASHLAR_API_PRINTF(2, 3);
ASHLAR_API void Debug(Logger* logger, const char* format, ...) ASHLAR_API_PRINTF(2, 3);
ASHLAR_API void Info(Logger* logger, const char* format, ...) ASHLAR_API_PRINTF(2, 3);
ASHLAR_API void Warn(Logger* logger, const char* format, ...) ASHLAR_API_PRINTF(2, 3);
ASHLAR_API void Error(Logger* logger, const char* format, ...) ASHLAR_API_PRINTF(2, 3);
ASHLAR_API void Fatal(Logger* logger, const char* format, ...) ASHLAR_API_PRINTF(2, 3);
ASHLAR_API void Header(Logger* logger, const char* format, ...) ASHLAR_API_PRINTF(2, 3);
ASHLAR_API void LogFlush(Logger* logger);

// ---- Whole files, and other Envs.

// Creates or replaces the file. should_sync: its bytes are durable on return. If a write fails, the
// file is deleted. io_options: accepted.
ASHLAR_API Status WriteStringToFile(Env* env, const Slice& data, const std::string& path,
                                    bool should_sync = false,
                                    const IOOptions* io_options = nullptr);
ASHLAR_API Status ReadFileToString(Env* env, const std::string& path, std::string* data);
// The default of Env::NewLogger.
ASHLAR_API Status NewEnvLogger(const std::string& path, Env* env, std::shared_ptr<Logger>* result);

// An Env whose files are in memory and are lost when it is destroyed. Its clock and threads are
// those of `base_env`, which must outlive it. The caller owns the result.
ASHLAR_API Env* NewMemEnv(Env* base_env);
// An Env that adds the time of its calls on files to PerfContext (env_…_nanos), for threads at
// kEnableTimeExceptForMutex and above. The rest is that of `base_env` (null: Env::Default()), which
// must outlive it. The caller owns the result. Reads and writes of open files are not measured.
ASHLAR_API Env* NewTimedEnv(Env* base_env);
// An Env with another file system and, in the last form, another clock. `base_env` (null:
// Env::Default()) provides the rest and must outlive it. The second form is for ashlar/vfs.h.
ASHLAR_API std::unique_ptr<Env> NewCompositeEnv(const std::shared_ptr<FileSystem>& file_system,
                                                Env* base_env = nullptr);
ASHLAR_API std::unique_ptr<Env> NewCompositeEnv(const std::shared_ptr<vfs::FileSystem>& file_system,
                                                Env* base_env = nullptr);
ASHLAR_API std::unique_ptr<Env> NewCompositeEnv(const std::shared_ptr<FileSystem>& file_system,
                                                const std::shared_ptr<SystemClock>& clock,
                                                Env* base_env = nullptr);

// ---- Wrappers. Each passes every call on to its target.

class ASHLAR_API EnvWrapper : public Env {
 public:
  // The first form borrows the target; null: Env::Default().
  explicit EnvWrapper(Env* target);
  explicit EnvWrapper(std::unique_ptr<Env>&& target);
  explicit EnvWrapper(const std::shared_ptr<Env>& target);
  ~EnvWrapper() override;

  Env* target() const { return target_; }

  const char* Name() const override { return target_->Name(); }
  const Customizable* Inner() const override { return target_; }
  Status RegisterDbPaths(const std::vector<std::string>& paths) override {
    return target_->RegisterDbPaths(paths);
  }
  Status UnregisterDbPaths(const std::vector<std::string>& paths) override {
    return target_->UnregisterDbPaths(paths);
  }
  Status NewSequentialFile(const std::string& path, std::unique_ptr<SequentialFile>* result,
                           const EnvOptions& options) override {
    return target_->NewSequentialFile(path, result, options);
  }
  Status NewRandomAccessFile(const std::string& path, std::unique_ptr<RandomAccessFile>* result,
                             const EnvOptions& options) override {
    return target_->NewRandomAccessFile(path, result, options);
  }
  Status NewWritableFile(const std::string& path, std::unique_ptr<WritableFile>* result,
                         const EnvOptions& options) override {
    return target_->NewWritableFile(path, result, options);
  }
  Status ReopenWritableFile(const std::string& path, std::unique_ptr<WritableFile>* result,
                            const EnvOptions& options) override {
    return target_->ReopenWritableFile(path, result, options);
  }
  Status ReuseWritableFile(const std::string& path, const std::string& old_path,
                           std::unique_ptr<WritableFile>* result,
                           const EnvOptions& options) override {
    return target_->ReuseWritableFile(path, old_path, result, options);
  }
  Status NewRandomRWFile(const std::string& path, std::unique_ptr<RandomRWFile>* result,
                         const EnvOptions& options) override {
    return target_->NewRandomRWFile(path, result, options);
  }
  Status NewMemoryMappedFileBuffer(const std::string& path,
                                   std::unique_ptr<MemoryMappedFileBuffer>* result) override {
    return target_->NewMemoryMappedFileBuffer(path, result);
  }
  Status NewDirectory(const std::string& path, std::unique_ptr<Directory>* result) override {
    return target_->NewDirectory(path, result);
  }
  Status FileExists(const std::string& path) override { return target_->FileExists(path); }
  Status GetChildren(const std::string& dir, std::vector<std::string>* names) override {
    return target_->GetChildren(dir, names);
  }
  Status GetChildrenFileAttributes(const std::string& dir,
                                   std::vector<FileAttributes>* attributes) override {
    return target_->GetChildrenFileAttributes(dir, attributes);
  }
  Status DeleteFile(const std::string& path) override { return target_->DeleteFile(path); }
  Status Truncate(const std::string& path, size_t bytes) override {
    return target_->Truncate(path, bytes);
  }
  Status CreateDir(const std::string& dir) override { return target_->CreateDir(dir); }
  Status CreateDirIfMissing(const std::string& dir) override {
    return target_->CreateDirIfMissing(dir);
  }
  Status DeleteDir(const std::string& dir) override { return target_->DeleteDir(dir); }
  Status GetFileSize(const std::string& path, uint64_t* bytes) override {
    return target_->GetFileSize(path, bytes);
  }
  Status GetFileModificationTime(const std::string& path, uint64_t* unix_seconds) override {
    return target_->GetFileModificationTime(path, unix_seconds);
  }
  Status RenameFile(const std::string& from, const std::string& to) override {
    return target_->RenameFile(from, to);
  }
  Status LinkFile(const std::string& from, const std::string& to) override {
    return target_->LinkFile(from, to);
  }
  Status NumFileLinks(const std::string& path, uint64_t* count) override {
    return target_->NumFileLinks(path, count);
  }
  Status AreFilesSame(const std::string& first, const std::string& second, bool* same) override {
    return target_->AreFilesSame(first, second, same);
  }
  Status SyncFile(const std::string& path, const EnvOptions& options, bool use_fsync) override {
    return target_->SyncFile(path, options, use_fsync);
  }
  Status LockFile(const std::string& path, FileLock** lock) override {
    return target_->LockFile(path, lock);
  }
  Status UnlockFile(FileLock* lock) override { return target_->UnlockFile(lock); }
  Status GetTestDirectory(std::string* path) override { return target_->GetTestDirectory(path); }
  Status GetAbsolutePath(const std::string& path, std::string* absolute) override {
    return target_->GetAbsolutePath(path, absolute);
  }
  Status GetFreeSpace(const std::string& path, uint64_t* bytes) override {
    return target_->GetFreeSpace(path, bytes);
  }
  Status IsDirectory(const std::string& path, bool* is_directory) override {
    return target_->IsDirectory(path, is_directory);
  }
  Status NewLogger(const std::string& path, std::shared_ptr<Logger>* result) override {
    return target_->NewLogger(path, result);
  }
  EnvOptions OptimizeForLogRead(const EnvOptions& options) const override {
    return target_->OptimizeForLogRead(options);
  }
  EnvOptions OptimizeForManifestRead(const EnvOptions& options) const override {
    return target_->OptimizeForManifestRead(options);
  }
  EnvOptions OptimizeForLogWrite(const EnvOptions& options,
                                 const DBOptions& db_options) const override {
    return target_->OptimizeForLogWrite(options, db_options);
  }
  EnvOptions OptimizeForManifestWrite(const EnvOptions& options) const override {
    return target_->OptimizeForManifestWrite(options);
  }
  EnvOptions OptimizeForCompactionTableWrite(const EnvOptions& options,
                                             const ImmutableDBOptions& db_options) const override {
    return target_->OptimizeForCompactionTableWrite(options, db_options);
  }
  EnvOptions OptimizeForCompactionTableRead(const EnvOptions& options,
                                            const ImmutableDBOptions& db_options) const override {
    return target_->OptimizeForCompactionTableRead(options, db_options);
  }
  EnvOptions OptimizeForBlobFileRead(const EnvOptions& options,
                                     const ImmutableDBOptions& db_options) const override {
    return target_->OptimizeForBlobFileRead(options, db_options);
  }
  void SanitizeEnvOptions(EnvOptions* options) const override {
    target_->SanitizeEnvOptions(options);
  }

  void Schedule(void (*function)(void* arg), void* arg, Priority pri = LOW, void* tag = nullptr,
                void (*unschedule)(void* arg) = nullptr) override {
    target_->Schedule(function, arg, pri, tag, unschedule);
  }
  int UnSchedule(void* tag, Priority pri) override { return target_->UnSchedule(tag, pri); }
  void StartThread(void (*function)(void* arg), void* arg) override {
    target_->StartThread(function, arg);
  }
  void WaitForJoin() override { target_->WaitForJoin(); }
  int ReserveThreads(int threads, Priority pri) override {
    return target_->ReserveThreads(threads, pri);
  }
  int ReleaseThreads(int threads, Priority pri) override {
    return target_->ReleaseThreads(threads, pri);
  }
  unsigned int GetThreadPoolQueueLen(Priority pri = LOW) const override {
    return target_->GetThreadPoolQueueLen(pri);
  }
  void SetBackgroundThreads(int number, Priority pri = LOW) override {
    target_->SetBackgroundThreads(number, pri);
  }
  int GetBackgroundThreads(Priority pri = LOW) override {
    return target_->GetBackgroundThreads(pri);
  }
  void IncBackgroundThreadsIfNeeded(int number, Priority pri) override {
    target_->IncBackgroundThreadsIfNeeded(number, pri);
  }
  Status SetAllowNonOwnerAccess(bool allow) override {
    return target_->SetAllowNonOwnerAccess(allow);
  }
  void LowerThreadPoolIOPriority(Priority pool = LOW) override {
    target_->LowerThreadPoolIOPriority(pool);
  }
  Status LowerThreadPoolCPUPriority(Priority pool, CpuPriority pri) override {
    return target_->LowerThreadPoolCPUPriority(pool, pri);
  }
  void LowerThreadPoolCPUPriority(Priority pool = LOW) override {
    target_->LowerThreadPoolCPUPriority(pool);
  }
  Status GetThreadList(std::vector<ThreadStatus>* thread_list) override {
    return target_->GetThreadList(thread_list);
  }
  uint64_t GetThreadID() const override { return target_->GetThreadID(); }

  uint64_t NowMicros() override { return target_->NowMicros(); }
  uint64_t NowNanos() override { return target_->NowNanos(); }
  uint64_t NowCPUNanos() override { return target_->NowCPUNanos(); }
  void SleepForMicroseconds(int micros) override { target_->SleepForMicroseconds(micros); }
  Status GetCurrentTime(int64_t* unix_time) override { return target_->GetCurrentTime(unix_time); }
  std::string TimeToString(uint64_t unix_seconds) override {
    return target_->TimeToString(unix_seconds);
  }
  Status GetHostName(char* name, uint64_t bytes) override {
    return target_->GetHostName(name, bytes);
  }
  Status GetHostNameString(std::string* name) override { return target_->GetHostNameString(name); }
  std::string GenerateUniqueId() override { return target_->GenerateUniqueId(); }

  Executor* executor() override;

 private:
  const std::shared_ptr<Env> owned_;  // null: borrowed
  Env* const target_;
};

// The wrappers of files do not own their target.
class ASHLAR_API SequentialFileWrapper : public SequentialFile {
 public:
  explicit SequentialFileWrapper(SequentialFile* target) : target_(target) {}

  Status Read(size_t n, Slice* result, char* scratch) override {
    return target_->Read(n, result, scratch);
  }
  Status Skip(uint64_t n) override { return target_->Skip(n); }
  bool use_direct_io() const override { return target_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override {
    return target_->GetRequiredBufferAlignment();
  }
  Status InvalidateCache(size_t offset, size_t length) override {
    return target_->InvalidateCache(offset, length);
  }
  Status PositionedRead(uint64_t offset, size_t n, Slice* result, char* scratch) override {
    return target_->PositionedRead(offset, n, result, scratch);
  }

 private:
  SequentialFile* const target_;
};

class ASHLAR_API RandomAccessFileWrapper : public RandomAccessFile {
 public:
  explicit RandomAccessFileWrapper(RandomAccessFile* target) : target_(target) {}

  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    return target_->Read(offset, n, result, scratch);
  }
  Status Prefetch(uint64_t offset, size_t n) override { return target_->Prefetch(offset, n); }
  Status MultiRead(ReadRequest* requests, size_t count) override {
    return target_->MultiRead(requests, count);
  }
  size_t GetUniqueId(char* id, size_t bytes_max) const override {
    return target_->GetUniqueId(id, bytes_max);
  }
  void Hint(AccessPattern pattern) override { target_->Hint(pattern); }
  bool use_direct_io() const override { return target_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override {
    return target_->GetRequiredBufferAlignment();
  }
  Status InvalidateCache(size_t offset, size_t length) override {
    return target_->InvalidateCache(offset, length);
  }
  Status GetFileSize(uint64_t* bytes) override { return target_->GetFileSize(bytes); }

 private:
  RandomAccessFile* const target_;
};

class ASHLAR_API WritableFileWrapper : public WritableFile {
 public:
  explicit WritableFileWrapper(WritableFile* target) : target_(target) {}

  Status Append(const Slice& data) override { return target_->Append(data); }
  Status Append(const Slice& data, const DataVerificationInfo& info) override {
    return target_->Append(data, info);
  }
  Status PositionedAppend(const Slice& data, uint64_t offset) override {
    return target_->PositionedAppend(data, offset);
  }
  Status PositionedAppend(const Slice& data, uint64_t offset,
                          const DataVerificationInfo& info) override {
    return target_->PositionedAppend(data, offset, info);
  }
  Status Truncate(uint64_t bytes) override { return target_->Truncate(bytes); }
  Status Close() override { return target_->Close(); }
  Status Flush() override { return target_->Flush(); }
  Status Sync() override { return target_->Sync(); }
  Status Fsync() override { return target_->Fsync(); }
  bool IsSyncThreadSafe() const override { return target_->IsSyncThreadSafe(); }
  bool use_direct_io() const override { return target_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override {
    return target_->GetRequiredBufferAlignment();
  }
  void SetIOPriority(Env::IOPriority pri) override { target_->SetIOPriority(pri); }
  Env::IOPriority GetIOPriority() override { return target_->GetIOPriority(); }
  void SetWriteLifeTimeHint(Env::WriteLifeTimeHint hint) override {
    target_->SetWriteLifeTimeHint(hint);
  }
  Env::WriteLifeTimeHint GetWriteLifeTimeHint() override { return target_->GetWriteLifeTimeHint(); }
  uint64_t GetFileSize() override { return target_->GetFileSize(); }
  void SetPreallocationBlockSize(size_t bytes) override {
    target_->SetPreallocationBlockSize(bytes);
  }
  void GetPreallocationStatus(size_t* block_size, size_t* last_allocated_block) override {
    target_->GetPreallocationStatus(block_size, last_allocated_block);
  }
  size_t GetUniqueId(char* id, size_t bytes_max) const override {
    return target_->GetUniqueId(id, bytes_max);
  }
  Status InvalidateCache(size_t offset, size_t length) override {
    return target_->InvalidateCache(offset, length);
  }
  Status RangeSync(uint64_t offset, uint64_t bytes) override {
    return target_->RangeSync(offset, bytes);
  }
  void PrepareWrite(size_t offset, size_t bytes) override { target_->PrepareWrite(offset, bytes); }
  Status Allocate(uint64_t offset, uint64_t bytes) override {
    return target_->Allocate(offset, bytes);
  }

 private:
  WritableFile* const target_;
};

class ASHLAR_API RandomRWFileWrapper : public RandomRWFile {
 public:
  explicit RandomRWFileWrapper(RandomRWFile* target) : target_(target) {}

  bool use_direct_io() const override { return target_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override {
    return target_->GetRequiredBufferAlignment();
  }
  Status Write(uint64_t offset, const Slice& data) override { return target_->Write(offset, data); }
  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    return target_->Read(offset, n, result, scratch);
  }
  Status Flush() override { return target_->Flush(); }
  Status Sync() override { return target_->Sync(); }
  Status Fsync() override { return target_->Fsync(); }
  Status Close() override { return target_->Close(); }

 private:
  RandomRWFile* const target_;
};

class ASHLAR_API DirectoryWrapper : public Directory {
 public:
  explicit DirectoryWrapper(Directory* target) : target_(target) {}

  Status Fsync() override { return target_->Fsync(); }
  Status Close() override { return target_->Close(); }
  size_t GetUniqueId(char* id, size_t bytes_max) const override {
    return target_->GetUniqueId(id, bytes_max);
  }

 private:
  Directory* const target_;
};

class ASHLAR_API LoggerWrapper : public Logger {
 public:
  explicit LoggerWrapper(Logger* target) : target_(target) {}

  void Log(InfoLogLevel level, std::string_view message) override { target_->Log(level, message); }
  void Logv(const char* format, va_list ap) override { target_->Logv(format, ap); }
  void Logv(InfoLogLevel level, const char* format, va_list ap) override {
    target_->Logv(level, format, ap);
  }
  void LogHeader(const char* format, va_list ap) override { target_->LogHeader(format, ap); }
  void Flush() override { target_->Flush(); }
  Status Close() override { return target_->Close(); }
  size_t GetLogFileSize() const override { return target_->GetLogFileSize(); }
  InfoLogLevel GetInfoLogLevel() const override { return target_->GetInfoLogLevel(); }
  void SetInfoLogLevel(InfoLogLevel log_level) override { target_->SetInfoLogLevel(log_level); }

 private:
  Logger* const target_;
};

}  // namespace ashlar
