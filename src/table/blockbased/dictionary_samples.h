// Samples of the data blocks of a table, from which its compression dictionary is made.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ashlar/slice.h"

namespace ashlar {

struct DictionarySamples {
  std::string bytes;          // one sample after another
  std::vector<size_t> sizes;  // of the samples
};

// Takes whole blocks at even distances, bytes_max in all, of which the last may be cut. blocks: one
// after another. sizes: of the blocks; their sum is the size of `blocks`.
DictionarySamples TakeSamples(const Slice& blocks, const std::vector<uint32_t>& sizes,
                              size_t bytes_max);

}  // namespace ashlar
