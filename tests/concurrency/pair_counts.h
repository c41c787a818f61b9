// PairCounts: how often each pair of calls was under way at once, in this process.
//
// With the environment variable ASHLAR_PAIRS_REPORT the process writes them at its end to the file
// that it names, as the page docs/concurrent-calls.md (./dev pairs).
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace ashlar {

class PairCounts {
 public:
  static PairCounts& Get();
  // Of positions in Calls(), in any order: calls that began while one of the other was under way.
  void Add(size_t a, size_t b, uint64_t began_meanwhile);
  std::string ToMarkdown() const;

 private:
  std::map<std::pair<size_t, size_t>, uint64_t> counts_;
};

}  // namespace ashlar
