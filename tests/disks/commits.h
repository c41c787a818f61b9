// The commits of the load, and the contents after some of them.
//
//   commit n of a thread, in each of the two families:
//     put     t<thread>/last    = n
//     put     t<thread>/<n>     = bytes that are a function of thread, n and family
//     delete  t<thread>/<n-50>, if n is a multiple of 3
//
// D1. The contents of a store are those after some number of commits of each thread, the same
//     number in both families. So a checker needs no list of the commits.
// D2. A commit that failed is repeated under the same number. Its bytes are the same, so it does
//     no harm if the failed one took effect.
// Keys that begin with "x/" belong to ingested tables and are only counted.
// Thread safety: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ashlar/status.h"

namespace ashlar::disks {

inline constexpr size_t kFamilies = 2;
inline constexpr uint64_t kThreads = 2;
inline constexpr char kIngestedPrefix[] = "x/";

struct Change {
  size_t family = 0;
  bool is_put = false;
  std::string key;
  std::string value;
};

std::vector<Change> CommitOf(uint64_t thread, uint64_t n);

std::string LastKey(uint64_t thread);

using Contents = std::map<std::string, std::string>;

struct Found {
  std::array<uint64_t, kThreads> commits = {};
  uint64_t ingested = 0;  // keys, in all families
};

// Returns Corruption with the first key that no number of commits explains. Empties `families`.
Status FindCommits(std::array<Contents, kFamilies>* families, Found* found);

}  // namespace ashlar::disks
