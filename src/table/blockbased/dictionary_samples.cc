#include "table/blockbased/dictionary_samples.h"

#include <algorithm>

#include "base/assert.h"

namespace ashlar {

DictionarySamples TakeSamples(const Slice& blocks, const std::vector<uint32_t>& sizes,
                              size_t bytes_max) {
  DictionarySamples samples;
  if (sizes.empty() || bytes_max == 0) return samples;
  // As many blocks of mean size as fill bytes_max, or all blocks if there are fewer.
  const size_t mean = std::max<size_t>(blocks.size() / sizes.size(), 1);
  const size_t wanted = std::clamp<size_t>(bytes_max / mean + 1, 1, sizes.size());
  samples.bytes.reserve(std::min(bytes_max, blocks.size()));
  size_t offset = 0;
  for (size_t i = 0, taken = 0; i < sizes.size() && samples.bytes.size() < bytes_max; ++i) {
    // Sample number k is block k * blocks / wanted.
    ASHLAR_ASSERT(offset + sizes[i] <= blocks.size());  // the sizes add up to blocks.size()
    if (i == taken * sizes.size() / wanted) {
      const size_t bytes = std::min<size_t>(sizes[i], bytes_max - samples.bytes.size());
      samples.bytes.append(blocks.data() + offset, bytes);
      samples.sizes.push_back(bytes);
      ++taken;
    }
    offset += sizes[i];
  }
  return samples;
}

}  // namespace ashlar
