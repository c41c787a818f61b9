// Progress: the progress line of work on a file or a database, in entries and bytes. See
// tools/common/progress_line.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tools/common/progress_line.h"

namespace ashlar::cli {

class Progress {
 public:
  Progress(std::string what, std::optional<uint64_t> bytes_total);

  // Cheap, because it reads the clock only once in a while.
  void Update(uint64_t bytes_done, uint64_t entries_done) {
    if (line_.visible() && ++calls_ % kCallsBetweenLooks == 0 && line_.Due())
      Show(bytes_done, entries_done);
  }

  // The state that the line shows.
  struct State {
    uint64_t bytes_done;
    std::optional<uint64_t> bytes_total;
    uint64_t entries_done;
    double seconds;
  };
  static std::string Line(const std::string& what, const State& state);

 private:
  static constexpr uint64_t kCallsBetweenLooks = 64;

  void Show(uint64_t bytes_done, uint64_t entries_done);

  const std::optional<uint64_t> bytes_total_;
  ProgressLine line_;
  uint64_t calls_ = 0;
};

}  // namespace ashlar::cli
