#include "observe/info_log.h"

#include <algorithm>
#include <chrono>
#include <new>

#include "base/format.h"
#include "base/out_of_memory.h"
#include "base/result.h"
#include "platform/thread.h"

namespace ashlar {
namespace {

// The pause between attempts. It exists because an Env that cannot append to a file copies it.
constexpr uint64_t kRetryMicros = 1000000;
constexpr const char* kLevelTags[] = {"[DEBUG] ", "[INFO] ", "[WARN] ", "[ERROR] ", "[FATAL] ", ""};

void AppendPadded(std::string* out, uint64_t value, size_t digits) {
  const std::string text = StrCat(value);
  if (text.size() < digits) out->append(digits - text.size(), '0');
  out->append(text);
}

// Escapes control characters, because line ends and terminal escapes must not get from a message
// into the file. The rest, including UTF-8, remains readable.
void AppendOneLine(std::string* out, std::string_view message) {
  constexpr char kHexDigits[] = "0123456789abcdef";
  for (const char c : message) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      out->push_back(c);
    } else {
      *out += {'\\', 'x', kHexDigits[byte >> 4], kHexDigits[byte & 15]};
    }
  }
}

// Turns a directory into a file name: "/var/db" becomes "var_db".
std::string FlattenPath(std::string_view path) {
  while (path.starts_with('/')) path.remove_prefix(1);
  while (path.ends_with('/')) path.remove_suffix(1);
  std::string out(path);
  for (char& c : out) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_';
    if (!plain) c = '_';
  }
  return out;
}

}  // namespace

std::string FormatUnixMicros(uint64_t unix_micros) {
  const std::chrono::sys_time<std::chrono::microseconds> time{
      std::chrono::microseconds(static_cast<int64_t>(unix_micros))};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  std::string out;
  AppendPadded(&out, static_cast<uint64_t>(static_cast<int>(date.year())), 4);
  out += '/';
  AppendPadded(&out, static_cast<unsigned>(date.month()), 2);
  out += '/';
  AppendPadded(&out, static_cast<unsigned>(date.day()), 2);
  out += '-';
  AppendPadded(&out, static_cast<uint64_t>(clock.hours().count()), 2);
  out += ':';
  AppendPadded(&out, static_cast<uint64_t>(clock.minutes().count()), 2);
  out += ':';
  AppendPadded(&out, static_cast<uint64_t>(clock.seconds().count()), 2);
  out += '.';
  AppendPadded(&out, static_cast<uint64_t>(clock.subseconds().count()), 6);
  return out;
}

Result<std::shared_ptr<FileLogger>> FileLogger::Open(const Options& options) {
  std::shared_ptr<FileLogger> logger(new FileLogger(options));
  const MutexLock lock(logger->mutex_);
  ASHLAR_RETURN_IF_ERROR(logger->Roll(options.now_unix_micros()));
  return logger;
}

FileLogger::~FileLogger() {
  IgnoreBadAlloc([this] { static_cast<void>(FileLogger::Close().ok()); });
}

bool FileLogger::IsDue(uint64_t now_micros) const {
  if (file_ == nullptr) return true;
  if (options_.file_bytes_max != 0 && file_->Size() >= options_.file_bytes_max) return true;
  return options_.file_seconds_max != 0 && now_micros >= opened_micros_ &&
         (now_micros - opened_micros_) / 1000000 >= options_.file_seconds_max;
}

Status FileLogger::Roll(uint64_t now_micros) {
  if (file_ != nullptr) static_cast<void>(file_->Close().ok());  // its lost lines are not recovered
  file_.reset();
  whole_bytes_ = 0;
  has_failed_ = false;
  vfs::FileSystem& file_system = *options_.file_system;
  if (file_system.FileExists(path()).ok()) {
    uint64_t stamp = now_micros;
    while (file_system.FileExists(StrCat(path(), ".old.", stamp)).ok()) ++stamp;
    ASHLAR_RETURN_IF_ERROR(file_system.RenameFile(path(), StrCat(path(), ".old.", stamp)));
  }
  ASHLAR_RETURN_IF_ERROR(file_system.NewWritableFile(path(), vfs::FileOptions(), &file_));
  opened_micros_ = now_micros;
  RemoveOldFiles();
  return Status::OK();
}

void FileLogger::RemoveOldFiles() {
  std::vector<std::string> names;
  if (!options_.file_system->GetChildren(options_.directory, &names).ok()) return;
  const std::string prefix = StrCat(options_.name, ".old.");
  std::vector<uint64_t> stamps;
  for (const std::string& name : names) {
    uint64_t stamp;
    // A name that Roll would not write in exactly this form does not belong to this log.
    if (name.starts_with(prefix) &&
        ParseUint64(std::string_view(name).substr(prefix.size()), &stamp) &&
        name == StrCat(prefix, stamp)) {
      stamps.push_back(stamp);
    }
  }
  std::sort(stamps.begin(), stamps.end());
  for (size_t i = 0; i + std::max<size_t>(options_.files_max, 1) <= stamps.size(); ++i) {
    static_cast<void>(options_.file_system->DeleteFile(StrCat(path(), ".old.", stamps[i])).ok());
  }
}

Status FileLogger::Write(std::string_view line) {
  ASHLAR_RETURN_IF_ERROR(file_->Append(line));
  // A line that explains why the process is about to die must survive the process.
  ASHLAR_RETURN_IF_ERROR(file_->Flush());
  whole_bytes_ = file_->Size();
  return Status::OK();
}

void FileLogger::Continue(uint64_t now_micros) {
  // A clock that was set back shortens the pause.
  if (now_micros >= failed_micros_ && now_micros - failed_micros_ < kRetryMicros) return;
  failed_micros_ = now_micros;
  static_cast<void>(file_->Close().ok());  // returns its error and writes nothing
  std::unique_ptr<vfs::WritableFile> again;
  if (!options_.file_system->ReopenWritableFile(path(), vfs::FileOptions(), &again).ok()) return;
  file_ = std::move(again);
  // The failed write may have left a part of its line.
  has_failed_ = file_->Size() != whole_bytes_ && !Write("\n").ok();
}

void FileLogger::Log(InfoLogLevel level, std::string_view message) {
  if (level < GetInfoLogLevel() || level >= NUM_INFO_LOG_LEVELS) return;
  const uint64_t now_micros = options_.now_unix_micros();
  std::string line =
      StrCat(FormatUnixMicros(now_micros), " ", CurrentThreadSystemId(), " ", kLevelTags[level]);
  AppendOneLine(&line, message);
  line += '\n';

  const MutexLock lock(mutex_);
  if (!is_closed_ && has_failed_) Continue(now_micros);
  // A failed roll leaves no file, and the next line tries again.
  if (!is_closed_ && IsDue(now_micros)) static_cast<void>(Roll(now_micros).ok());
  if (file_ == nullptr || has_failed_ || Write(line).ok()) return;
  has_failed_ = true;
  failed_micros_ = now_micros;
}

void FileLogger::Flush() {
  const MutexLock lock(mutex_);
  if (file_ != nullptr) static_cast<void>(file_->Flush().ok());  // each line has been flushed
}

Status FileLogger::Close() {
  const MutexLock lock(mutex_);
  is_closed_ = true;
  if (file_ == nullptr) return Status::OK();
  const std::unique_ptr<vfs::WritableFile> file = std::move(file_);
  return file->Close();
}

size_t FileLogger::GetLogFileSize() const {
  const MutexLock lock(mutex_);
  return file_ == nullptr ? 0 : static_cast<size_t>(file_->Size());
}

Result<std::shared_ptr<Logger>> OpenLogFile(const DBOptions& options,
                                            const std::string& directory) {
  Env* const env = options.env;
  FileLogger::Options log_options{.file_system = env->EngineFiles(),
                                  .directory = directory,
                                  .now_unix_micros = [env] { return env->NowMicros(); },
                                  .level = options.info_log_level,
                                  .file_bytes_max = options.max_log_file_size,
                                  .file_seconds_max = options.log_file_time_to_roll,
                                  .files_max = options.keep_log_file_num};
  if (!options.db_log_dir.empty()) {
    log_options.directory = options.db_log_dir;
    // Databases of different programs may have the same relative name.
    std::string absolute;
    if (!log_options.file_system->GetAbsolutePath(directory, &absolute).ok()) absolute = directory;
    log_options.name = StrCat(FlattenPath(absolute), "_LOG");
    ASHLAR_RETURN_IF_ERROR(log_options.file_system->CreateDirIfMissing(log_options.directory));
  }
  ASHLAR_ASSIGN_OR_RETURN(std::shared_ptr<FileLogger> logger, FileLogger::Open(log_options));
  return std::shared_ptr<Logger>(std::move(logger));
}

void LogLines(Logger* logger, InfoLogLevel level, std::string_view text) {
  if (logger == nullptr || level < logger->GetInfoLogLevel()) return;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    logger->Log(level, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// ---- ashlar/options.h

Status CreateLoggerFromOptions(const std::string& dbname, const DBOptions& options,
                               std::shared_ptr<Logger>* logger) try {
  if (options.info_log != nullptr) {
    *logger = options.info_log;
    return Status::OK();
  }
  if (options.db_log_dir.empty())
    ASHLAR_RETURN_IF_ERROR(options.env->EngineFiles()->CreateDirIfMissing(dbname));
  ASHLAR_ASSIGN_OR_RETURN(*logger, OpenLogFile(options, dbname));
  return Status::OK();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

}  // namespace ashlar
