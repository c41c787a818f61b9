// FilterBuilder: builds a filter block from a table's keys: RocksDB's full Bloom filter ("fast
// local Bloom"), its legacy Bloom filter, or its Ribbon filter (ribbon_format.h).
//
//   Bloom          lines of 64 bytes | ff 00 probes 00 00
//   legacy Bloom   lines of 64 bytes, an odd number of them | probes | fixed32 number of lines
//
// A key is in one line: line = fastrange32(low half of the hash, number of lines); bit of probe i =
// (high half x 0x9e3779b9^i) >> 23. The hash is base/xxph3.h. Size: ceil(n x millibits / 8000)
// bytes, rounded up to whole lines. Without keys: five zero bytes, which match nothing. A Ribbon
// filter has the false-positive rate of a Bloom filter of these millibits in about 30 % fewer
// bytes. A Bloom filter is written instead if it is smaller or the equations have no solution.
//
// Legacy Bloom: line = hash % number of lines; bit of probe i = (hash + i x (hash rotated right by
// 17)) % 512. The hash is LegacyHash32, bits per key are rounded, and probes are 69 % of them, 1 to
// 30. It is for format_version < 5, which RocksDB before 6.6 reads. Those releases mistake the last
// bytes of the other kinds for a number of lines, and miss keys if the block has a size that fits.
//
// A filter has whole keys, or prefixes of the keys that have one, or both. A prefix that several
// consecutive keys share counts once.
//
// Thread safety: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ashlar/slice.h"
#include "ashlar/slice_transform.h"
#include "base/assert.h"
#include "base/hash.h"
#include "base/xxph3.h"
#include "key/key_comparator.h"
#include "platform/page_allocator.h"

namespace ashlar {

// The number of probes per key with the fewest false positives at this size.
int BloomProbes(int millibits_per_key);
// The approximate fraction of absent keys that such a Bloom filter lets through.
double BloomFalsePositiveRate(int millibits_per_key);

enum class FilterKind : uint8_t { kBloom, kRibbon, kLegacyBloom };

struct FilterBuilderArgs {
  FilterKind kind = FilterKind::kBloom;
  int millibits_per_key = 0;  // 1000 to 100000
  bool whole_keys = true;
  const SliceTransform* prefix_extractor = nullptr;  // null: no prefixes; outlives the builder
};

class FilterBuilder {
 public:
  explicit FilterBuilder(const FilterBuilderArgs& args) : args_(args) {}

  // Requires: keys ascend, and each user key is added once.
  void AddKey(const Slice& user_key) {
    if (args_.whole_keys) AddHash(HashOf(ComparedPart(user_key)));
    if (args_.prefix_extractor != nullptr) AddPrefix(user_key);
  }
  // Adds the prefix of a key without the key.
  void AddPrefixOf(const Slice& user_key) {
    if (args_.prefix_extractor != nullptr) AddPrefix(user_key);
  }
  // Consecutive equal hashes count once. For legacy Bloom the hash is a LegacyHash32.
  void AddHash(uint64_t hash) {
    if (entries_ > 0 && hash == last_hash_) return;
    if (entries_++ % kHashesPerChunk == 0) [[unlikely]] {
      AddChunk();
    }
    ASHLAR_DCHECK(chunks_.back().size() < kHashesPerChunk);  // AddChunk made room
    chunks_.back().push_back(last_hash_ = hash);
  }
  size_t entries() const { return entries_; }
  // The largest size that Finish could return now. Exact for Bloom filters.
  size_t BlockBytesMax() const;
  // Writes the filter block and returns its size. Afterwards the builder is empty and can build
  // another filter.
  size_t Finish(char* block);

 private:
  // 256 KiB. Hashes are never moved, and their memory exceeds their size by at most one chunk.
  static constexpr size_t kHashesPerChunk = 32768;
  using Chunk = PagedVector<uint64_t>;

  // The hash of a whole key or of a prefix.
  uint64_t HashOf(const Slice& bytes) const {
    if (args_.kind == FilterKind::kLegacyBloom) [[unlikely]] {
      return LegacyHash32(bytes.data(), bytes.size(), kLegacyFilterHashSeed);
    }
    return Xxph3Hash64(bytes);
  }
  // The size of the bits alone; 0 without keys.
  size_t BloomBytes() const;
  size_t LegacyBloomBytes() const;
  size_t FinishBloom(char* block);
  size_t FinishLegacyBloom(char* block);
  // Returns 0 if no Ribbon filter was written.
  size_t FinishRibbon(char* block) const;
  // I1 of filter_reader.h and of ribbon_builder.h: the block matches the hashes still in memory.
  void CheckMatches(const Slice& block) const;
  void AddPrefix(const Slice& user_key);
  void AddChunk();
  // Keeps the memory of one chunk.
  void Clear();

  const FilterBuilderArgs args_;
  std::optional<std::string> last_prefix_;
  size_t entries_ = 0;
  uint64_t last_hash_ = 0;
  std::vector<Chunk> chunks_;  // all but the last are full
};

}  // namespace ashlar
