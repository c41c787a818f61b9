// The LOG file: a database's messages for operators.
//
//   2026/11/21-00:42:13.123456 4711 [WARN] message          date and time in UTC, thread
//
//   LOG               the current file
//   LOG.old.<micros>  older ones, renamed when a database is opened, when LOG grows too large or
//                     too old; the oldest are removed
//
// A log that cannot be written loses lines and continues once it can be written again. It never
// fails the database. The caller must keep out the bytes of keys and values. Control characters in
// a message are escaped, so that a message is one line.
//
// Thread safety: any thread. One mutex serialises the writes to the file. It is a leaf, and it is
// held during the write so that lines do not mix.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ashlar/env.h"
#include "ashlar/options.h"
#include "ashlar/vfs.h"
#include "base/result.h"
#include "platform/mutex.h"

namespace ashlar {

class FileLogger final : public Logger {
 public:
  struct Options {
    std::shared_ptr<vfs::FileSystem> file_system;
    std::string directory;
    std::string name = "LOG";
    std::function<uint64_t()> now_unix_micros;
    InfoLogLevel level = INFO_LEVEL;
    uint64_t file_bytes_max = 0;    // 0: no limit
    uint64_t file_seconds_max = 0;  // 0: no limit
    size_t files_max = 1000;        // includes the current one
  };

  static Result<std::shared_ptr<FileLogger>> Open(const Options& options);
  ~FileLogger() override;

  void Log(InfoLogLevel level, std::string_view message) override;
  using Logger::Logv;
  void Logv(InfoLogLevel level, const char* format, va_list ap) override {
    Log(level, FormatMessage(format, ap));
  }
  void LogHeader(const char* format, va_list ap) override {
    Log(HEADER_LEVEL, FormatMessage(format, ap));
  }
  void Flush() override;
  Status Close() override;
  size_t GetLogFileSize() const override;

 private:
  explicit FileLogger(const Options& options) : Logger(options.level), options_(options) {}

  std::string path() const { return options_.directory + "/" + options_.name; }
  Status Write(std::string_view line) ASHLAR_REQUIRES(mutex_);
  // A file object refuses all calls after its first error, so this opens the file again.
  void Continue(uint64_t now_micros) ASHLAR_REQUIRES(mutex_);
  bool IsDue(uint64_t now_micros) const ASHLAR_REQUIRES(mutex_);
  Status Roll(uint64_t now_micros) ASHLAR_REQUIRES(mutex_);
  // Ignores files that cannot be removed.
  void RemoveOldFiles();

  const Options options_;
  mutable Mutex mutex_;
  // Null after Close, or while no file can be created.
  std::unique_ptr<vfs::WritableFile> file_ ASHLAR_GUARDED_BY(mutex_);
  uint64_t opened_micros_ ASHLAR_GUARDED_BY(mutex_) = 0;
  uint64_t whole_bytes_ ASHLAR_GUARDED_BY(mutex_) = 0;    // of file_, up to the last complete line
  uint64_t failed_micros_ ASHLAR_GUARDED_BY(mutex_) = 0;  // when file_ was last tried
  bool has_failed_ ASHLAR_GUARDED_BY(mutex_) = false;     // file_ is no longer usable
  bool is_closed_ ASHLAR_GUARDED_BY(mutex_) = false;
};

// Opens the logger that DBOptions specify: a file LOG in `directory`, or in db_log_dir under a name
// derived from the absolute path of `directory`.
Result<std::shared_ptr<Logger>> OpenLogFile(const DBOptions& options, const std::string& directory);

// Logs each line of a text. `logger` may be null.
void LogLines(Logger* logger, InfoLogLevel level, std::string_view text);

// "2026/11/21-00:42:13.123456"
std::string FormatUnixMicros(uint64_t unix_micros);

}  // namespace ashlar
