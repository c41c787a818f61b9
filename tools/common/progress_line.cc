#include "tools/common/progress_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "platform/program.h"

namespace ashlar::cli {

ProgressLine::ProgressLine(std::string what)
    : what_(std::move(what)), visible_(IsTerminal(stderr)) {}

ProgressLine::~ProgressLine() {
  if (written_) fmt::print(stderr, "\r\033[K");
}

bool ProgressLine::Due() const {
  return visible_ && Clock::now() - shown_ >= std::chrono::milliseconds(100);
}

double ProgressLine::Seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

void ProgressLine::Show(std::optional<double> part, std::string_view detail) {
  if (!visible_) return;
  shown_ = Clock::now();
  written_ = true;
  fmt::print(stderr, "\r{}\033[K", Text(what_, part, Seconds(), detail));
  (void)fflush(stderr);
}

std::string ProgressLine::Text(std::string_view what, std::optional<double> part, double seconds,
                               std::string_view detail) {
  constexpr size_t kBarColumns = 20;
  if (!part) return fmt::format("{}  {}", what, detail);
  const double done = std::clamp(*part, 0.0, 1.0);
  const auto filled = static_cast<size_t>(done * kBarColumns);
  const std::string left = done > 0 && seconds > 0
                               ? fmt::format("  ETA {:.0f} s", seconds * (1 - done) / done)
                               : std::string();
  return fmt::format("{} {:3.0f} % [{}{}]  {}{}", what, done * 100, std::string(filled, '#'),
                     std::string(kBarColumns - filled, '.'), detail, left);
}

}  // namespace ashlar::cli
