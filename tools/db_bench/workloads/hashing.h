// Checksums over one block in memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "tools/db_bench/worker.h"

namespace ashlar::bench {

// Hashes 5000 MiB, or for the duration. `function` makes a number from a block.
template <typename Function>
Status HashBlocks(Worker& worker, Operation operation, Function function) {
  constexpr uint64_t kBytes = uint64_t{5000} << 20;
  const auto block_bytes = static_cast<uint64_t>(worker.flags.block_size);
  const std::string block(block_bytes, 'x');
  Loop loop = worker.RandomLoop(std::max<uint64_t>(1, kBytes / block_bytes));
  // The sum is used, so that the compiler cannot omit the calls.
  uint64_t sum = 0;
  while (loop.Continue()) {
    sum += function(Slice(block));
    worker.stats.tally.bytes += block_bytes;
    worker.stats.FinishedOps(1, operation);
  }
  worker.stats.message = "(" + std::to_string(block_bytes) + " per op)";
  return sum == 1 ? Status::Corruption("a checksum of 1, and nothing else") : Status::OK();
}

}  // namespace ashlar::bench
