// Progress: one line on standard error about long work, with rate and time left. Nothing is written unless that is a terminal.
//
//   load   45 % [#########...........]  28812 entries   43.1 MB/s  ETA 2 s      the total is known
//   load   28812 entries   43.1 MB/s                                            it is not
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace ashlar::cli {

class Progress {
 public:
  Progress(std::string what, std::optional<uint64_t> bytes_total);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  // Erases the line.
  ~Progress();

  // Cheap: looks at the clock once in a while only.
  void Update(uint64_t bytes_done, uint64_t entries_done) {
    if (visible_ && ++calls_ % kCallsBetweenLooks == 0) Look(bytes_done, entries_done);
  }

  // The line for a state of affairs.
  struct State {
    uint64_t bytes_done;
    std::optional<uint64_t> bytes_total;
    uint64_t entries_done;
    double seconds;
  };
  static std::string Line(const std::string& what, const State& state);

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr uint64_t kCallsBetweenLooks = 64;

  void Look(uint64_t bytes_done, uint64_t entries_done);

  const std::string what_;
  const std::optional<uint64_t> bytes_total_;
  const bool visible_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point shown_ = start_;
  uint64_t calls_ = 0;
  bool written_ = false;
};

}  // namespace ashlar::cli
