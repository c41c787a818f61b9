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

void FilterBuilder::AddChunk() { chunks_.push_back(std::make_unique_for_overwrite<uint64_t[]>(kHashesPerChunk)); }

std::string FilterBuilder::Finish() const {
  ASHLAR_ASSERT(args_.millibits_per_key >= 1000 && args_.millibits_per_key <= 100000);
  if (entries_ == 0) return std::string(kFilterTailBytes, '\0');
  const uint64_t wanted = std::min((uint64_t{entries_} * static_cast<uint64_t>(args_.millibits_per_key) + 7999) / 8000, kBloomBytesMax);
  const uint64_t bytes = (wanted + kBloomLineBytes - 1) / kBloomLineBytes * kBloomLineBytes;
  const auto lines = static_cast<uint32_t>(bytes / kBloomLineBytes);
  const int probes = BloomProbes(args_.millibits_per_key);

  std::string out(bytes + kFilterTailBytes, '\0');
  auto* const bits = reinterpret_cast<uint8_t*>(out.data());
  const auto line_of = [bits, lines](uint64_t hash) { return bits + uint64_t{FastRange32(LowerHash32(hash), lines)} * kBloomLineBytes; };
  // The lines are far apart: they are asked for some keys ahead.
  constexpr size_t kAhead = 8;
  for (size_t c = 0; c < chunks_.size(); ++c) {
    const uint64_t* const hashes = chunks_[c].get();
    const size_t n = c + 1 < chunks_.size() ? kHashesPerChunk : entries_ - c * kHashesPerChunk;
    for (size_t i = 0; i < n; ++i) {
      if (i + kAhead < n) ASHLAR_PREFETCH_FOR_WRITE(line_of(hashes[i + kAhead]));
      uint8_t* const line = line_of(hashes[i]);
      uint32_t h = UpperHash32(hashes[i]);
      for (int probe = 0; probe < probes; ++probe, h *= kBloomProbeFactor) {
        const uint32_t bit = h >> kBloomBitShift;
        line[bit / 8] = static_cast<uint8_t>(line[bit / 8] | (1u << (bit % 8)));
      }
    }
  }
  out[bytes] = static_cast<char>(kFilterMarkerBloom);
  out[bytes + 2] = static_cast<char>(probes);
  return out;
}

}  // namespace ashlar
