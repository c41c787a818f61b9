// EventLine: one event as one line of the LOG, a JSON object after the mark that tools search for.
//
//   EVENT_LOG_v1 {"time_micros": 1763709733123456, "job": 3, "event": "flush_started",
//   "num_memtables": 1}
//
// The destructor writes the line. Nothing is built if there is no logger or its level excludes the
// line. Thread safety: one thread. Requires: no lock is held, because the line is written to a
// file.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ashlar/env.h"
#include "base/format.h"

namespace ashlar {

class EventLine {
 public:
  // `job` is 0 if there is none. `logger` may be null.
  EventLine(Logger* logger, uint64_t now_unix_micros, int job, std::string_view event);
  ~EventLine();
  EventLine(const EventLine&) = delete;
  EventLine& operator=(const EventLine&) = delete;

  EventLine& Add(std::string_view name, std::string_view text);
  template <std::integral T>
  EventLine& Add(std::string_view name, T number) {
    if (logger_ == nullptr) return *this;
    AddName(name);
    StrAppend(&line_, number);
    return *this;
  }
  EventLine& Add(std::string_view name, std::span<const uint64_t> numbers);
  // Fields that are added until End form an object of this name.
  EventLine& Begin(std::string_view name);
  EventLine& End();

 private:
  void AddName(std::string_view name);
  void AddText(std::string_view text);

  Logger* const logger_;  // null: the line is not written
  bool first_ = true;     // the object is still empty
  std::string line_;
};

}  // namespace ashlar
