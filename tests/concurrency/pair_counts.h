// PairCounts: the number of meetings (pair_run.h) of each pair of calls in this process.
//
// If the environment variable ASHLAR_PAIRS_REPORT is set, the process writes them at its end to the
// file that it names, as the page docs/concurrent-calls.md (./dev pairs).
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ashlar {

class PairCounts {
 public:
  static PairCounts& Get();
  // `a` and `b` are positions in `calls`, in any order. Each title has a table of its own.
  void Add(const std::string& title, const std::vector<std::string>& calls, size_t a, size_t b,
           uint64_t meetings);
  std::string ToMarkdown() const;

 private:
  struct Table {
    std::string title;
    std::vector<std::string> calls;
    std::map<std::pair<size_t, size_t>, uint64_t> meetings;
  };

  static void Append(const Table& table, std::string* text);

  std::vector<Table> tables_;
};

}  // namespace ashlar
