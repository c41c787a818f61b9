// Runner: runs a history on several libraries at once and compares their answers.
//
// Each library starts with a directory of its own. At "exchange" and "kill", library i continues
// with the directory of library i - 1. So all directories have the same contents at any time, and
// all answers must agree.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/differential/history.h"
#include "tests/differential/peer.h"

namespace ashlar::differential {

struct Divergence {
  size_t line;                       // index in the history
  std::vector<std::string> answers;  // one per library
};

struct Counts {
  uint64_t histories = 0;
  uint64_t operations = 0;                                 // per library
  uint64_t exchanges = 0;                                  // directories that changed hands
  uint64_t kills = 0;                                      // of these, after SIGKILL
  std::map<std::string_view, uint64_t> known_differences;  // by reason
};

class Runner {
 public:
  // Creates directories below `scratch`, and removes them.
  Runner(std::vector<std::unique_ptr<Peer>> peers, std::string scratch)
      : peers_(std::move(peers)), scratch_(std::move(scratch)) {}
  ~Runner();

  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // Returns the first difference that is not a known one.
  std::optional<Divergence> Run(const History& history);

  const std::vector<std::unique_ptr<Peer>>& peers() const { return peers_; }
  const Counts& counts() const { return counts_; }
  // Keeps the directories of the last run.
  void keep_directories() { keep_ = true; }

 private:
  std::optional<Divergence> RunLines(const History& history);
  // Sends lines [start, end), and compares their answers.
  std::optional<Divergence> Compare(const History& history, size_t start, size_t end);
  std::optional<Divergence> CompareOne(const std::string& line, size_t index,
                                       std::vector<std::string> answers);
  // Runs the line at this index, "exchange" or "kill". Also compares the answers to a close.
  std::optional<Divergence> Exchange(const std::string& line, size_t index);
  std::string DirectoryOf(size_t peer) const;
  std::string LineFor(size_t peer, const std::string& line) const;
  void RemoveDirectories();

  const std::vector<std::unique_ptr<Peer>> peers_;
  const std::string scratch_;
  size_t exchanges_ = 0;  // in this history
  bool keep_ = false;
  Counts counts_;
};

}  // namespace ashlar::differential
