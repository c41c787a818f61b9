#include "tools/ashlar/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "tools/ashlar/terminal.h"

namespace ashlar::cli {

Progress::Progress(std::string what, std::optional<uint64_t> bytes_total)
    : what_(std::move(what)), bytes_total_(bytes_total), visible_(IsTerminal(stderr)) {}

Progress::~Progress() {
  if (written_) fmt::print(stderr, "\r\033[K");
}

void Progress::Look(uint64_t bytes_done, uint64_t entries_done) {
  const Clock::time_point now = Clock::now();
  if (now - shown_ < std::chrono::milliseconds(100)) return;
  shown_ = now;
  written_ = true;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  fmt::print(stderr, "\r{}\033[K",
             Line(what_, {.bytes_done = bytes_done, .bytes_total = bytes_total_, .entries_done = entries_done, .seconds = seconds}));
  (void)fflush(stderr);
}

std::string Progress::Line(const std::string& what, const State& state) {
  constexpr size_t kBarColumns = 20;
  const double rate = state.seconds > 0 ? static_cast<double>(state.bytes_done) / state.seconds : 0;
  const std::string tail = fmt::format("{} entries  {:.1f} MB/s", state.entries_done, rate / 1e6);
  if (!state.bytes_total || *state.bytes_total == 0) return fmt::format("{}  {}", what, tail);

  // A file may grow while it is read.
  const uint64_t done = std::min(state.bytes_done, *state.bytes_total);
  const double part = static_cast<double>(done) / static_cast<double>(*state.bytes_total);
  const auto filled = static_cast<size_t>(part * kBarColumns);
  const std::string left = rate > 0 ? fmt::format("  ETA {:.0f} s", static_cast<double>(*state.bytes_total - done) / rate) : std::string();
  return fmt::format("{} {:3.0f} % [{}{}]  {}{}", what, part * 100, std::string(filled, '#'), std::string(kBarColumns - filled, '.'), tail, left);
}

}  // namespace ashlar::cli
