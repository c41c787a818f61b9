#include "table/filter/filter_builder.h"

#include <algorithm>

#include "base/assert.h"
#include "base/hash.h"
#include "key/key_prefix.h"
#include "table/filter/filter_format.h"

namespace ashlar {

int BloomProbes(int millibits_per_key) {
  // The upper ends of the ranges for 1, 2, ... 12 probes. They are RocksDB's: readers take the number from the filter, so only its size and quality
  // depend on them.
  static constexpr int kUpTo[] = {2080, 3580, 5100, 6640, 8300, 10070, 11720, 14001, 16050, 18300, 22001, 25501};
  for (int i = 0; i < static_cast<int>(std::size(kUpTo)); ++i) {
    if (millibits_per_key <= kUpTo[i]) return i + 1;
  }
  if (millibits_per_key > 50000) return 24;
  return (millibits_per_key - 1) / 2000 - 1;
}

void FilterBuilder::AddPrefix(const Slice& user_key) {
  const std::optional<Slice> prefix = KeyPrefix(args_.prefix_extractor, user_key);
  if (!prefix || (last_prefix_ && *prefix == *last_prefix_)) return;
  last_prefix_ = prefix->ToString();
  AddHash(Xxph3Hash64(*prefix));
}

std::string FilterBuilder::Finish() const {
  ASHLAR_ASSERT(args_.millibits_per_key >= 1000 && args_.millibits_per_key <= 100000);
  if (hashes_.empty()) return std::string(kFilterTailBytes, '\0');
  const uint64_t wanted = std::min((uint64_t{hashes_.size()} * static_cast<uint64_t>(args_.millibits_per_key) + 7999) / 8000, kBloomBytesMax);
  const uint64_t bytes = (wanted + kBloomLineBytes - 1) / kBloomLineBytes * kBloomLineBytes;
  const auto lines = static_cast<uint32_t>(bytes / kBloomLineBytes);
  const int probes = BloomProbes(args_.millibits_per_key);

  std::string out(bytes + kFilterTailBytes, '\0');
  auto* const bits = reinterpret_cast<uint8_t*>(out.data());
  // The lines are far apart: they are asked for some keys ahead.
  constexpr size_t kAhead = 8;
  for (size_t i = 0; i < hashes_.size(); ++i) {
    if (i + kAhead < hashes_.size()) {
      ASHLAR_PREFETCH_FOR_WRITE(bits + uint64_t{FastRange32(LowerHash32(hashes_[i + kAhead]), lines)} * kBloomLineBytes);
    }
    uint8_t* const line = bits + uint64_t{FastRange32(LowerHash32(hashes_[i]), lines)} * kBloomLineBytes;
    uint32_t h = UpperHash32(hashes_[i]);
    for (int probe = 0; probe < probes; ++probe, h *= kBloomProbeFactor) {
      const uint32_t bit = h >> kBloomBitShift;
      line[bit / 8] = static_cast<uint8_t>(line[bit / 8] | (1u << (bit % 8)));
    }
  }
  out[bytes] = static_cast<char>(kFilterMarkerBloom);
  out[bytes + 2] = static_cast<char>(probes);
  return out;
}

}  // namespace ashlar
