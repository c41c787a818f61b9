#include "tests/differential/runner.h"

#include <filesystem>

#include "tests/differential/known_differences.h"

namespace ashlar::differential {

namespace {

bool IsForRunner(const std::string& line) { return line == "exchange" || line == "kill"; }

}  // namespace

Runner::~Runner() {
  for (const auto& peer : peers_) peer->Kill();
  if (!keep_) RemoveDirectories();
}

std::optional<Divergence> Runner::Run(const History& history) {
  RemoveDirectories();
  for (size_t i = 0; i < peers_.size(); i++) std::filesystem::create_directories(DirectoryOf(i));
  exchanges_ = 0;
  counts_.histories++;
  std::optional<Divergence> divergence = RunLines(history);
  if (divergence) {
    // Answers may be pending and databases open.
    for (const auto& peer : peers_) peer->Kill();
  }
  return divergence;
}

std::optional<Divergence> Runner::RunLines(const History& history) {
  History with_end = history;
  with_end.push_back("close");
  size_t start = 0, bytes = 0;
  for (size_t i = 0; i < with_end.size(); i++) {
    const bool for_runner = IsForRunner(with_end[i]);
    const size_t line_bytes = with_end[i].size() + scratch_.size() + 32;
    if (for_runner || bytes + line_bytes > Peer::kLinesBytesMax) {
      if (auto divergence = Compare(with_end, start, i)) return divergence;
      bytes = 0;
      start = for_runner ? i + 1 : i;
    }
    if (for_runner) {
      if (auto divergence = Exchange(with_end[i], i)) return divergence;
    } else {
      bytes += line_bytes;
    }
  }
  return Compare(with_end, start, with_end.size());
}

std::optional<Divergence> Runner::Compare(const History& history, size_t start, size_t end) {
  for (size_t peer = 0; peer < peers_.size(); peer++) {
    std::string lines;
    for (size_t i = start; i < end; i++) lines += LineFor(peer, history[i]) + "\n";
    if (!lines.empty()) peers_[peer]->Send(lines);
  }
  for (size_t i = start; i < end; i++) {
    std::vector<std::string> answers;
    for (const auto& peer : peers_) answers.push_back(peer->Receive());
    counts_.operations++;
    if (auto divergence = CompareOne(history[i], i, std::move(answers))) return divergence;
  }
  return {};
}

std::optional<Divergence> Runner::CompareOne(const std::string& line, size_t index,
                                             std::vector<std::string> answers) {
  std::vector<std::string> comparable, names;
  bool equal = true, alive = true;
  for (size_t i = 0; i < answers.size(); i++) {
    comparable.push_back(Comparable(answers[i]));
    names.push_back(peers_[i]->name());
    equal = equal && comparable[i] == comparable[0];
    alive = alive && !answers[i].starts_with("died") && answers[i] != "hangs";
  }
  if (equal && alive) return {};
  const std::string_view reason =
      alive ? ReasonForDifference(line, names, comparable) : std::string_view();
  if (reason.empty()) return Divergence{.line = index, .answers = std::move(answers)};
  counts_.known_differences[reason]++;
  return {};
}

std::optional<Divergence> Runner::Exchange(const std::string& line, size_t index) {
  if (line == "kill") {
    for (const auto& peer : peers_) peer->Kill();
    counts_.kills += peers_.size();
  } else {
    for (const auto& peer : peers_) peer->Send("close\n");
    // A library that dies in its close may have stored everything already.
    std::vector<std::string> answers;
    for (const auto& peer : peers_) answers.push_back(peer->Receive());
    if (auto divergence = CompareOne("close", index, std::move(answers))) return divergence;
  }
  exchanges_++;
  counts_.exchanges += peers_.size();
  return {};
}

std::string Runner::DirectoryOf(size_t peer) const {
  const size_t count = peers_.size();
  return scratch_ + "/" + std::to_string((peer + count * exchanges_ - exchanges_) % count);
}

std::string Runner::LineFor(size_t peer, const std::string& line) const {
  const size_t at = line.find(" @");
  if (at == std::string::npos || (!line.starts_with("open") && !line.starts_with("families")))
    return line;
  return line.substr(0, at + 1) + DirectoryOf(peer) + "/db" + line.substr(at + 2);
}

void Runner::RemoveDirectories() {
  std::error_code ignored;  // they may be absent
  std::filesystem::remove_all(scratch_, ignored);
}

}  // namespace ashlar::differential
