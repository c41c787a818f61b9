// LogSink: receives lines for the operator. The engine does not depend on the file or service that
// stores them.
//
//   LogLine(sink, LogLevel::kInfo, "flush: table ", number, ", ", HumanBytes(bytes));
//
// Thread safety: Log may be called from any number of threads. Never call it while holding a mutex:
// it may do I/O. Lifetime: the text is only valid during the call.
#pragma once

#include <string_view>

#include "base/format.h"

namespace ashlar {

enum class LogLevel : unsigned char { kDebug, kInfo, kWarn, kError, kFatal, kHeader };

class LogSink {
 public:
  virtual ~LogSink() = default;
  // One message, without a line end.
  virtual void Log(LogLevel level, std::string_view text) = 0;
  // False if a message of this level would be dropped; do not format it then.
  virtual bool IsEnabled(LogLevel level) const = 0;
};

// sink may be null.
template <typename... Parts>
void LogLine(LogSink* sink, LogLevel level, const Parts&... parts) {
  if (sink != nullptr && sink->IsEnabled(level)) sink->Log(level, StrCat(parts...));
}

}  // namespace ashlar
