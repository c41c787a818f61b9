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

// Whole blocks at even distances, bytes_max in all: the last sample is cut. blocks: one after
// another. sizes: theirs, which add up to the bytes of `blocks`.
DictionarySamples TakeSamples(const Slice& blocks, const std::vector<uint32_t>& sizes,
                              size_t bytes_max);

}  // namespace ashlar
