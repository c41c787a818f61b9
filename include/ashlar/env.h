// Env: the world a database runs in: a file system, a clock, and the threads that flush and
// compact. Databases opened with one Env share its threads. Logger: the destination of a database's
// messages.
//
// Thread safety: every method of both classes may be called by several threads at once. Lifetime:
// an Env outlives every database that uses it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ashlar/export.h"
#include "ashlar/rate_limiter.h"
#include "ashlar/status.h"
#include "ashlar/vfs.h"

namespace ashlar {

class Clock;
class Executor;
struct DBOptions;

// How files are read and written: RocksDB's members. SstFileWriter honours use_direct_writes,
// bytes_per_sync and rate_limiter; the others are accepted.
struct ASHLAR_API EnvOptions {
  EnvOptions() = default;
  explicit EnvOptions(const DBOptions& options);

  bool use_mmap_reads = false;
  bool use_mmap_writes = true;
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

// How much processor time a thread gets next to others.
enum class CpuPriority { kIdle = 0, kLow = 1, kNormal = 2, kHigh = 3 };

class ASHLAR_API Env {
 public:
  // The thread pool of a job: HIGH flushes, LOW compacts, BOTTOM compacts into the last level, USER
  // belongs to the embedding program.
  enum Priority { BOTTOM, LOW, HIGH, USER, TOTAL };
  // The priority of a request to the rate limiter. In options, IO_TOTAL means "no request".
  using IOPriority = IORequestPriority;
  using enum IORequestPriority;
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
    kUnknown = 0xFF
  };

  virtual ~Env() = default;

  // The operating system's world; lives as long as the process. Never null.
  static Env* Default();

  virtual const std::shared_ptr<vfs::FileSystem>& EngineFiles() const = 0;

  // The number of threads of one priority. Defaults: 1 for HIGH and LOW. DB::Open raises it to the
  // number in its options. Numbers for BOTTOM and USER are kept and reported, but start no threads:
  // the threads of LOW compact into the last level, too.
  virtual void SetBackgroundThreads(int number, Priority pri = LOW) = 0;
  virtual void IncBackgroundThreadsIfNeeded(int number, Priority pri) = 0;
  virtual int GetBackgroundThreads(Priority pri = LOW) = 0;

  // Microseconds since 1970; nanoseconds of a monotonic clock with an unspecified start.
  virtual uint64_t NowMicros() = 0;
  virtual uint64_t NowNanos() = 0;
  // Seconds since 1970.
  Status GetCurrentTime(int64_t* unix_time);

  // The engine's view of threads and time.
  virtual Executor* executor() = 0;
  virtual Clock* clock() = 0;

  // Shorthands for the methods of the file system.
  Status FileExists(const std::string& path) { return EngineFiles()->FileExists(path); }
  Status GetChildren(const std::string& dir, std::vector<std::string>* names) {
    return EngineFiles()->GetChildren(dir, names);
  }
  Status DeleteFile(const std::string& path) { return EngineFiles()->DeleteFile(path); }
  Status CreateDir(const std::string& dir) { return EngineFiles()->CreateDir(dir); }
  Status CreateDirIfMissing(const std::string& dir) {
    return EngineFiles()->CreateDirIfMissing(dir);
  }
  Status DeleteDir(const std::string& dir) { return EngineFiles()->DeleteDir(dir); }
  Status GetFileSize(const std::string& path, uint64_t* bytes) {
    return EngineFiles()->GetFileSize(path, bytes);
  }
  Status RenameFile(const std::string& from, const std::string& to) {
    return EngineFiles()->RenameFile(from, to);
  }
};

// An Env whose files live in memory and are gone with it; clock and threads are those of
// `base_env`, which must outlive it. The caller owns the result.
ASHLAR_API Env* NewMemEnv(Env* base_env);
// An Env with another file system; clock and threads are those of `base_env` (null:
// Env::Default()), which must outlive it.
ASHLAR_API std::unique_ptr<Env> NewCompositeEnv(const std::shared_ptr<vfs::FileSystem>& file_system,
                                                Env* base_env = nullptr);

enum InfoLogLevel : unsigned char {
  DEBUG_LEVEL = 0,
  INFO_LEVEL,
  WARN_LEVEL,
  ERROR_LEVEL,
  FATAL_LEVEL,
  HEADER_LEVEL,  // always written
  NUM_INFO_LOG_LEVELS,
};

class ASHLAR_API Logger {
 public:
  explicit Logger(InfoLogLevel log_level = INFO_LEVEL) : log_level_(log_level) {}
  virtual ~Logger() = default;
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;

  // Writes one message, without a newline at its end. Called only for messages at or above the
  // level; never holds up the caller for long, never fails. Key and value bytes are not in
  // messages.
  virtual void Log(InfoLogLevel level, std::string_view message) = 0;
  // Writes buffered messages to the operating system.
  virtual void Flush() {}
  virtual Status Close() { return Status::OK(); }
  // Bytes written so far.
  virtual size_t GetLogFileSize() const { return 0; }

  virtual InfoLogLevel GetInfoLogLevel() const {
    return log_level_.load(std::memory_order_relaxed);
  }
  virtual void SetInfoLogLevel(InfoLogLevel log_level) {
    log_level_.store(log_level, std::memory_order_relaxed);
  }

 private:
  std::atomic<InfoLogLevel> log_level_;
};

}  // namespace ashlar
