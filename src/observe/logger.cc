// Logger: its optional methods, and the conversions between its two forms.
#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "ashlar/env.h"

namespace ashlar {
namespace {

constexpr std::array<const char*, NUM_INFO_LOG_LEVELS> kLevelNames = {"DEBUG", "INFO",  "WARN",
                                                                      "ERROR", "FATAL", "HEADER"};

void CallLogv(Logger* logger, InfoLogLevel level, const char* format, ...) {
  va_list ap;
  va_start(ap, format);
  logger->Logv(level, format, ap);
  va_end(ap);
}

}  // namespace

Logger::~Logger() = default;

std::string Logger::FormatMessage(const char* format, va_list ap) {
  va_list again;
  va_copy(again, ap);
  const int bytes = vsnprintf(nullptr, 0, format, again);
  va_end(again);
  if (bytes <= 0) return {};
  std::string text(static_cast<size_t>(bytes), '\0');
  // The string has room for the zero at the end.
  vsnprintf(text.data(), text.size() + 1, format, ap);
  return text;
}

void Logger::Log(InfoLogLevel level, std::string_view message) {
  CallLogv(this, level, "%.*s", static_cast<int>(std::min<size_t>(message.size(), 1 << 20)),
           message.data());
}

void Logger::Logv(const char* format, va_list ap) { Log(INFO_LEVEL, FormatMessage(format, ap)); }

void Logger::Logv(InfoLogLevel level, const char* format, va_list ap) {
  if (level < GetInfoLogLevel() || level >= NUM_INFO_LOG_LEVELS) return;
  if (level == INFO_LEVEL) {
    Logv(format, ap);
  } else if (level == HEADER_LEVEL) {
    LogHeader(format, ap);
  } else {
    Logv((std::string("[") + kLevelNames[level] + "] " + format).c_str(), ap);
  }
}

void Logger::LogHeader(const char* format, va_list ap) { Logv(format, ap); }

Status Logger::Close() {
  if (closed_) return Status::OK();
  closed_ = true;
  return CloseImpl();
}

Status Logger::CloseImpl() { return Status::OK(); }

// ---- The functions of programs. A macro, because va_start needs the variadic function itself.

namespace {

void Write(Logger* logger, InfoLogLevel level, const char* format, va_list ap) {
  if (logger == nullptr) return;
  if (level == HEADER_LEVEL) {
    logger->LogHeader(format, ap);
  } else if (level >= logger->GetInfoLogLevel()) {
    logger->Logv(level, format, ap);
  }
}

}  // namespace

#define ASHLAR_WRITE(logger, level) \
  va_list ap;                       \
  va_start(ap, format);             \
  Write(logger, level, format, ap); \
  va_end(ap)

#define ASHLAR_LOG_FUNCTION(name, level)                                      \
  void name(const std::shared_ptr<Logger>& logger, const char* format, ...) { \
    ASHLAR_WRITE(logger.get(), level);                                        \
  }                                                                           \
  void name(Logger* logger, const char* format, ...) { ASHLAR_WRITE(logger, level); }

ASHLAR_LOG_FUNCTION(Log, INFO_LEVEL)
ASHLAR_LOG_FUNCTION(Debug, DEBUG_LEVEL)
ASHLAR_LOG_FUNCTION(Info, INFO_LEVEL)
ASHLAR_LOG_FUNCTION(Warn, WARN_LEVEL)
ASHLAR_LOG_FUNCTION(Error, ERROR_LEVEL)
ASHLAR_LOG_FUNCTION(Fatal, FATAL_LEVEL)
ASHLAR_LOG_FUNCTION(Header, HEADER_LEVEL)
#undef ASHLAR_LOG_FUNCTION

void Log(InfoLogLevel level, const std::shared_ptr<Logger>& logger, const char* format, ...) {
  ASHLAR_WRITE(logger.get(), level);
}
void Log(InfoLogLevel level, Logger* logger, const char* format, ...) {
  ASHLAR_WRITE(logger, level);
}
#undef ASHLAR_WRITE

void LogFlush(Logger* logger) {
  if (logger != nullptr) logger->Flush();
}
void LogFlush(const std::shared_ptr<Logger>& logger) { LogFlush(logger.get()); }

}  // namespace ashlar
