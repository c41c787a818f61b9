// ProgressLine: a line on standard error that shows the progress of long work, with a bar and the
// time left. Nothing is written unless standard error is a terminal.
//
//   load   45 % [#########...........]  28812 entries   43.1 MB/s  ETA 2 s      the amount is known
//   load   28812 entries   43.1 MB/s                                            it is not
//
// The caller supplies the text between bar and ETA. Thread safety: one thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace ashlar::cli {

class ProgressLine {
 public:
  explicit ProgressLine(std::string what);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  // Erases the line.
  ~ProgressLine();

  bool visible() const { return visible_; }
  // Returns whether the line is old enough to be rewritten. Reads the clock.
  bool Due() const;
  // part: the completed fraction, 0 to 1.
  void Show(std::optional<double> part, std::string_view detail);
  double Seconds() const;

  static std::string Text(std::string_view what, std::optional<double> part, double seconds,
                          std::string_view detail);

 private:
  using Clock = std::chrono::steady_clock;

  const std::string what_;
  const bool visible_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point shown_ = start_;
  bool written_ = false;
};

}  // namespace ashlar::cli
