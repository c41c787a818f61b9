#include "table/filter/filter_builder.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>

#include "base/assert.h"
#include "base/coding.h"
#include "base/compiler.h"
#include "base/hash.h"
#include "key/key_prefix.h"
#include "table/filter/filter_format.h"
#include "table/filter/filter_reader.h"
#include "table/filter/ribbon_builder.h"

#if ASHLAR_X86_64
#include <immintrin.h>
#endif

namespace ashlar {

namespace {
constexpr double kBloomLineBits = 8.0 * kBloomLineBytes;
}

int BloomProbes(int millibits_per_key) {
  // The upper ends of the ranges for 1, 2, ... 12 probes, as in RocksDB. Readers take the number of
  // probes from the filter, so only the filter's size and quality depend on them.
  static constexpr int kUpTo[] = {2080,  3580,  5100,  6640,  8300,  10070,
                                  11720, 14001, 16050, 18300, 22001, 25501};
  for (int i = 0; i < static_cast<int>(std::size(kUpTo)); ++i) {
    if (millibits_per_key <= kUpTo[i]) return i + 1;
  }
  if (millibits_per_key > 50000) return 24;
  return (millibits_per_key - 1) / 2000 - 1;
}

double BloomFalsePositiveRate(int millibits_per_key) {
  const double bits_per_key = millibits_per_key / 1000.0;
  const int probes = BloomProbes(millibits_per_key);
  const auto rate_of_line = [probes](double keys) {
    return std::pow(1 - std::exp(-probes * keys / kBloomLineBits), probes);
  };
  // The number of keys in a line varies randomly. The mean of the rates at one standard deviation
  // below and above the mean number is close to the rate of the filter.
  const double keys = kBloomLineBits / bits_per_key;
  const double deviation = std::sqrt(keys);
  return (rate_of_line(keys - deviation) + rate_of_line(keys + deviation)) / 2;
}

void FilterBuilder::AddPrefix(const Slice& user_key) {
  const std::optional<Slice> prefix = KeyPrefix(args_.prefix_extractor, user_key);
  if (!prefix || (last_prefix_ && *prefix == *last_prefix_)) return;
  last_prefix_ = prefix->ToString();
  AddHash(HashOf(*prefix));
}

void FilterBuilder::AddChunk() {
  // After Clear there is one chunk, and it is empty.
  if (chunks_.empty() || entries_ > 1) chunks_.emplace_back().reserve(kHashesPerChunk);
}

namespace {

// Sets the bits of a chunk of hashes. Their lines are far apart and are prefetched some keys ahead.
struct BloomBits {
  uint8_t* bits;
  uint32_t lines;
  int probes;

  static constexpr size_t kAhead = 8;

  uint8_t* LineOf(uint64_t hash) const {
    return bits + uint64_t{FastRange32(LowerHash32(hash), lines)} * kBloomLineBytes;
  }

  void AddAll(const uint64_t* hashes, size_t n) const {
    for (size_t i = 0; i < n; ++i) {
      if (i + kAhead < n) ASHLAR_PREFETCH_FOR_WRITE(LineOf(hashes[i + kAhead]));
      uint8_t* const line = LineOf(hashes[i]);
      uint32_t h = UpperHash32(hashes[i]);
      for (int probe = 0; probe < probes; ++probe, h *= kBloomProbeFactor) {
        const uint32_t bit = h >> kBloomBitShift;
        line[bit / 8] = static_cast<uint8_t>(line[bit / 8] | (1u << (bit % 8)));
      }
    }
  }

#if ASHLAR_X86_64
  static constexpr int kWideProbesMax = 8;

  // The same for up to kWideProbesMax probes. The positions of their bits are computed together.
  ASHLAR_TARGET("avx2") void AddAllWide(const uint64_t* hashes, size_t n) const {
    alignas(32) uint32_t factors[kWideProbesMax];
    uint32_t factor = 1;
    for (uint32_t& f : factors) {
      f = factor;
      factor *= kBloomProbeFactor;
    }
    const __m256i all_factors = _mm256_load_si256(reinterpret_cast<const __m256i*>(factors));
    for (size_t i = 0; i < n; ++i) {
      if (i + kAhead < n) ASHLAR_PREFETCH_FOR_WRITE(LineOf(hashes[i + kAhead]));
      uint8_t* const line = LineOf(hashes[i]);
      const __m256i h = _mm256_mullo_epi32(
          _mm256_set1_epi32(static_cast<int>(UpperHash32(hashes[i]))), all_factors);
      const __m256i bit = _mm256_srli_epi32(h, kBloomBitShift);
      alignas(32) uint32_t words[kWideProbesMax];
      alignas(32) uint32_t masks[kWideProbesMax];
      _mm256_store_si256(reinterpret_cast<__m256i*>(words), _mm256_srli_epi32(bit, 5));
      _mm256_store_si256(
          reinterpret_cast<__m256i*>(masks),
          _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_and_si256(bit, _mm256_set1_epi32(31))));
      for (int probe = 0; probe < probes; ++probe) {
        char* const word = reinterpret_cast<char*>(line) + size_t{words[probe]} * sizeof(uint32_t);
        EncodeFixed32(word, DecodeFixed32(word) | masks[probe]);
      }
    }
  }
#endif
};

struct LegacyBloomBits {
  uint8_t* bits;
  uint32_t lines;
  int probes;

  void Add(uint32_t hash) const {
    constexpr auto kLineBits = static_cast<uint32_t>(8 * kBloomLineBytes);
    uint8_t* const line = bits + uint64_t{hash % lines} * kBloomLineBytes;
    const uint32_t delta = std::rotr(hash, 17);
    for (int probe = 0; probe < probes; ++probe, hash += delta) {
      const uint32_t bit = hash % kLineBits;
      line[bit / 8] = static_cast<uint8_t>(line[bit / 8] | (1u << (bit % 8)));
    }
  }
};

// As in RocksDB.
int LegacyBitsPerKey(int millibits_per_key) { return (millibits_per_key + 500) / 1000; }
int LegacyBloomProbes(int millibits_per_key) {
  return std::clamp(LegacyBitsPerKey(millibits_per_key) * 69 / 100, 1, 30);
}

}  // namespace

size_t FilterBuilder::BloomBytes() const {
  // The range of FilterBuilderArgs.
  ASHLAR_ASSERT(args_.millibits_per_key >= 1000 && args_.millibits_per_key <= 100000);
  const uint64_t wanted =
      std::min((uint64_t{entries_} * static_cast<uint64_t>(args_.millibits_per_key) + 7999) / 8000,
               kBloomBytesMax);
  return (wanted + kBloomLineBytes - 1) / kBloomLineBytes * kBloomLineBytes;
}

size_t FilterBuilder::LegacyBloomBytes() const {
  if (entries_ == 0) return 0;
  constexpr uint64_t kLineBits = 8 * kBloomLineBytes;
  const auto bits_per_key = static_cast<uint64_t>(LegacyBitsPerKey(args_.millibits_per_key));
  const uint64_t wanted = std::min(uint64_t{entries_} * bits_per_key, kLegacyBloomBitsMax);
  // The number of lines is odd, so that more bits of the hash affect the remainder.
  return (((wanted + kLineBits - 1) / kLineBits) | 1) * kBloomLineBytes;
}

size_t FilterBuilder::BlockBytesMax() const {
  const bool legacy = args_.kind == FilterKind::kLegacyBloom;
  return (legacy ? LegacyBloomBytes() : BloomBytes()) + kFilterTailBytes;
}

size_t FilterBuilder::Finish(char* block) {
  size_t bytes = 0;
  if (args_.kind == FilterKind::kRibbon) bytes = FinishRibbon(block);
  if (args_.kind == FilterKind::kLegacyBloom) bytes = FinishLegacyBloom(block);
  if (bytes == 0) bytes = FinishBloom(block);
  ASHLAR_DCHECK(bytes <= BlockBytesMax());  // a larger Ribbon filter was not written
  if constexpr (kDebugChecks) CheckMatches(Slice(block, bytes));
  Clear();
  return bytes;
}

void FilterBuilder::CheckMatches(const Slice& block) const {
  const FilterReader reader(block);
  const bool legacy = args_.kind == FilterKind::kLegacyBloom;
  for (const Chunk& chunk : chunks_) {
    // I1 of filter_reader.h, and of ribbon_builder.h.
    for (const uint64_t hash : chunk) {
      ASHLAR_ASSERT(legacy ? reader.LegacyBloomMayMatch(LowerHash32(hash))
                           : reader.MayMatch(hash, Slice()));
    }
  }
}

size_t FilterBuilder::FinishBloom(char* block) {
  const size_t bytes = BloomBytes();
  memset(block, 0, bytes + kFilterTailBytes);
  if (entries_ == 0) return kFilterTailBytes;
  ASHLAR_DCHECK(bytes > 0 && bytes % kBloomLineBytes == 0);  // whole lines: BloomBytes
  const int probes = BloomProbes(args_.millibits_per_key);
  const BloomBits bloom{.bits = reinterpret_cast<uint8_t*>(block),
                        .lines = static_cast<uint32_t>(bytes / kBloomLineBytes),
                        .probes = probes};
  auto add_all = &BloomBits::AddAll;
#if ASHLAR_X86_64
  if (probes <= BloomBits::kWideProbesMax && ASHLAR_CPU_HAS_AVX2())
    add_all = &BloomBits::AddAllWide;
#endif
  for (Chunk& chunk : chunks_) {
    (bloom.*add_all)(chunk.data(), chunk.size());
    if (&chunk != chunks_.data()) chunk = Chunk();  // frees memory for the filter that is written
  }
  block[bytes] = static_cast<char>(kFilterMarkerBloom);
  block[bytes + 2] = static_cast<char>(probes);
  return bytes + kFilterTailBytes;
}

size_t FilterBuilder::FinishLegacyBloom(char* block) {
  const size_t bytes = LegacyBloomBytes();
  memset(block, 0, bytes + kFilterTailBytes);
  if (entries_ == 0) return kFilterTailBytes;
  ASHLAR_DCHECK(bytes / kBloomLineBytes % 2 == 1);  // LegacyBloomBytes
  const LegacyBloomBits bloom{.bits = reinterpret_cast<uint8_t*>(block),
                              .lines = static_cast<uint32_t>(bytes / kBloomLineBytes),
                              .probes = LegacyBloomProbes(args_.millibits_per_key)};
  for (Chunk& chunk : chunks_) {
    for (const uint64_t hash : chunk) bloom.Add(LowerHash32(hash));
    if (&chunk != chunks_.data()) chunk = Chunk();  // frees memory for the filter that is written
  }
  block[bytes] = static_cast<char>(bloom.probes);
  EncodeFixed32(block + bytes + 1, bloom.lines);
  return bytes + kFilterTailBytes;
}

size_t FilterBuilder::FinishRibbon(char* block) const {
  if (entries_ == 0 || entries_ > RibbonBuilder::kEntriesMax) return 0;
  RibbonBuilder ribbon(entries_, BloomFalsePositiveRate(args_.millibits_per_key));
  if (ribbon.BlockBytes() > BlockBytesMax()) return 0;
  const std::vector<std::span<const uint64_t>> hashes(chunks_.begin(), chunks_.end());
  return ribbon.Build(hashes, block) ? ribbon.BlockBytes() : 0;
}

void FilterBuilder::Clear() {
  if (chunks_.size() > 1) chunks_.resize(1);
  if (!chunks_.empty()) chunks_.front().clear();
  last_prefix_.reset();
  entries_ = 0;
}

}  // namespace ashlar
