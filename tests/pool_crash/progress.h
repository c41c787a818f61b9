// Progress: how far writers that run at once have come.
#pragma once

#include <cstddef>
#include <vector>

namespace ashlar::pmem {

struct WriterProgress {
  size_t returned = 0;
  size_t begun = 0;
};
// Of each writer.
using Progress = std::vector<WriterProgress>;

// Whether changes of several writers are under way.
inline bool IsShared(const Progress& progress) {
  size_t under_way = 0;
  for (const WriterProgress& writer : progress) under_way += writer.begun > writer.returned ? 1 : 0;
  return under_way > 1;
}

}  // namespace ashlar::pmem
