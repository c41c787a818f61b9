// Progress: the numbers of changes that concurrent writers have begun and completed.
#pragma once

#include <cstddef>
#include <vector>

namespace ashlar::pmem {

struct WriterProgress {
  size_t returned = 0;
  size_t begun = 0;
};
// One element per writer.
using Progress = std::vector<WriterProgress>;

// Returns whether changes of several writers are in progress.
inline bool IsShared(const Progress& progress) {
  size_t under_way = 0;
  for (const WriterProgress& writer : progress) under_way += writer.begun > writer.returned ? 1 : 0;
  return under_way > 1;
}

}  // namespace ashlar::pmem
