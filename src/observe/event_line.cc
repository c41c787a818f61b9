#include "observe/event_line.h"

#include "base/out_of_memory.h"

namespace ashlar {

EventLine::EventLine(Logger* logger, uint64_t now_unix_micros, int job, std::string_view event)
    : logger_(logger != nullptr && logger->GetInfoLogLevel() <= INFO_LEVEL ? logger : nullptr) {
  if (logger_ == nullptr) return;
  line_ = "EVENT_LOG_v1 {";
  Add("time_micros", now_unix_micros);
  if (job != 0) Add("job", job);
  Add("event", event);
}

EventLine::~EventLine() {
  if (logger_ == nullptr) return;
  // If an allocation fails, the line is lost and the process continues.
  IgnoreBadAlloc([this] {
    line_ += '}';
    logger_->Log(INFO_LEVEL, line_);
  });
}

void EventLine::AddName(std::string_view name) {
  if (!first_) line_ += ", ";
  first_ = false;
  AddText(name);
  line_ += ": ";
}

void EventLine::AddText(std::string_view text) {
  constexpr char kHexDigits[] = "0123456789abcdef";
  line_ += '"';
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (c == '"' || c == '\\') {
      line_ += {'\\', c};
    } else if (byte < 0x20 || byte >= 0x7f) {
      // Names of files and families are any bytes, and non-ASCII bytes might not be valid JSON.
      line_ += {'\\', 'u', '0', '0', kHexDigits[byte >> 4], kHexDigits[byte & 15]};
    } else {
      line_ += c;
    }
  }
  line_ += '"';
}

EventLine& EventLine::Add(std::string_view name, std::string_view text) {
  if (logger_ == nullptr) return *this;
  AddName(name);
  AddText(text);
  return *this;
}

EventLine& EventLine::Add(std::string_view name, std::span<const uint64_t> numbers) {
  if (logger_ == nullptr) return *this;
  AddName(name);
  line_ += '[';
  for (size_t i = 0; i < numbers.size(); ++i) StrAppend(&line_, i == 0 ? "" : ", ", numbers[i]);
  line_ += ']';
  return *this;
}

EventLine& EventLine::Begin(std::string_view name) {
  if (logger_ == nullptr) return *this;
  AddName(name);
  line_ += '{';
  first_ = true;
  return *this;
}

EventLine& EventLine::End() {
  if (logger_ == nullptr) return *this;
  line_ += '}';
  first_ = false;
  return *this;
}

}  // namespace ashlar
