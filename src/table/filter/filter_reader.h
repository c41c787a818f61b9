// FilterReader: tests with a filter block whether a key may be in the table. Reads every kind of
// filter that RocksDB has written: the fast local Bloom filter, the Ribbon filter (Standard128),
// and the legacy Bloom filter of format_version < 5. An unknown kind matches every key.
//
// I1: MayMatch is true for every key that was added, for every kind.
// I2: nothing outside the block is read, for any bytes in it.
// Lifetime: the block's bytes outlive the reader, which is a value that may be copied.
// Thread safety: const.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ashlar/slice.h"
#include "base/compiler.h"
#include "base/hash.h"
#include "table/filter/filter_format.h"

namespace ashlar {

class FilterReader {
 public:
  // Matches every key.
  FilterReader() = default;
  explicit FilterReader(const Slice& block);

  // hash: FilterHash(key), or Xxph3Hash64(prefix).
  bool MayMatch(uint64_t hash, const Slice& key) const {
    if (kind_ == Kind::kBloom) [[likely]] {
      return BloomMayMatch(hash);
    }
    return OtherMayMatch(hash, key);
  }
  // The same for a LegacyHash32. Requires: a legacy Bloom filter.
  bool LegacyBloomMayMatch(uint32_t hash) const;
  bool MatchesAll() const { return kind_ == Kind::kMatchesAll; }
  // Prefetches the line that MayMatch(hash, ...) reads.
  void Prefetch(uint64_t hash) const {
    if (kind_ == Kind::kBloom) ASHLAR_PREFETCH(BloomLine(hash));
  }

 private:
  enum class Kind : uint8_t { kMatchesAll, kMatchesNone, kBloom, kRibbon, kLegacyBloom };

  void InitBloom(const Slice& block);
  void InitRibbon(const Slice& block);
  void InitLegacyBloom(const Slice& block, uint32_t probes);

  const char* BloomLine(uint64_t hash) const {
    return data_ + uint64_t{FastRange32(LowerHash32(hash), lines_)} * kBloomLineBytes;
  }
  // The bit that h addresses, in bit 0 of the result.
  static uint32_t BloomBit(const char* line, uint32_t h) {
    const uint32_t bit = h >> kBloomBitShift;
    return uint32_t{static_cast<uint8_t>(line[bit / 8])} >> (bit % 8);
  }
  bool BloomMayMatch(uint64_t hash) const {
    const char* const line = BloomLine(hash);
    uint32_t h = UpperHash32(hash);
    // Three probes share one branch, because which probe fails first cannot be predicted.
    uint32_t i = 0;
    for (; i + 3 <= probes_; i += 3, h *= kBloomProbeFactor) {
      const uint32_t first = BloomBit(line, h);
      const uint32_t second = BloomBit(line, h *= kBloomProbeFactor);
      const uint32_t third = BloomBit(line, h *= kBloomProbeFactor);
      if ((first & second & third & 1) == 0) return false;
    }
    for (; i < probes_; ++i, h *= kBloomProbeFactor) {
      if ((BloomBit(line, h) & 1) == 0) return false;
    }
    return true;
  }
  bool OtherMayMatch(uint64_t hash, const Slice& key) const;
  bool RibbonMayMatch(uint64_t hash) const;

  Kind kind_ = Kind::kMatchesAll;
  uint32_t probes_ = 0;
  uint32_t lines_ = 0;            // Bloom kinds
  uint32_t line_bytes_log2_ = 0;  // legacy Bloom
  const char* data_ = nullptr;
  // Ribbon.
  uint32_t seed_ = 0;
  uint32_t starts_ = 0;
  uint32_t columns_ = 0;  // of blocks from upper_start_block_ on; one fewer before
  uint32_t upper_start_block_ = 0;
};

}  // namespace ashlar
