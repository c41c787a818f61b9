// ProofCounts: how much a proof has checked. Its text leaves out counts of zero.
#pragma once

#include <cstdint>
#include <string>

namespace ashlar::pmem {

struct ProofCounts {
  uint64_t operations = 0;
  uint64_t epochs = 0;
  uint64_t whole_epochs = 0;  // all of whose images were checked
  uint64_t checkpoints = 0;   // syncs of the pool, if it has a log
  uint64_t images = 0;        // nested ones included
  uint64_t nested_images = 0;
  uint64_t refused_allocations = 0;
  uint64_t shared_epochs = 0;  // with changes of several writers in progress

  void Add(const ProofCounts& more);
  std::string ToString() const;
};

}  // namespace ashlar::pmem
