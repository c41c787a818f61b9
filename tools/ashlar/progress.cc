#include "tools/ashlar/progress.h"

#include <fmt/format.h>

namespace ashlar::cli {
namespace {

// Returns more than 1 for a file that grows while it is read.
std::optional<double> PartOf(const Progress::State& state) {
  if (!state.bytes_total || *state.bytes_total == 0) return std::nullopt;
  return static_cast<double>(state.bytes_done) / static_cast<double>(*state.bytes_total);
}

std::string DetailOf(const Progress::State& state) {
  const double rate = state.seconds > 0 ? static_cast<double>(state.bytes_done) / state.seconds : 0;
  return fmt::format("{} entries  {:.1f} MB/s", state.entries_done, rate / 1e6);
}

}  // namespace

Progress::Progress(std::string what, std::optional<uint64_t> bytes_total)
    : bytes_total_(bytes_total), line_(std::move(what)) {}

void Progress::Show(uint64_t bytes_done, uint64_t entries_done) {
  const State state = {.bytes_done = bytes_done,
                       .bytes_total = bytes_total_,
                       .entries_done = entries_done,
                       .seconds = line_.Seconds()};
  line_.Show(PartOf(state), DetailOf(state));
}

std::string Progress::Line(const std::string& what, const State& state) {
  return ProgressLine::Text(what, PartOf(state), state.seconds, DetailOf(state));
}

}  // namespace ashlar::cli
