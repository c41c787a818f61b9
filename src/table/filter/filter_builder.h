// FilterBuilder: a table's keys in, RocksDB's full Bloom filter block out ("fast local Bloom").
//
//   block   lines of 64 bytes | ff 00 probes 00 00
//
// A key lives in one line: line = fastrange32(low half of the hash, number of lines); bit of probe
// i = (high half x 0x9e3779b9^i) >> 23. The hash is base/xxph3.h. Size: ceil(n x millibits / 8000)
// bytes, rounded up to whole lines. No keys: only five zero bytes, which match nothing.
//
// A filter holds whole keys, or prefixes of the keys that have one, or both. A prefix that several
// keys in a row share counts once.
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
#include "base/xxph3.h"
#include "platform/page_allocator.h"

namespace ashlar {

// Probes per key that cost the fewest false positives at this size.
int BloomProbes(int millibits_per_key);

struct FilterBuilderArgs {
  int millibits_per_key = 0;  // 1000 to 100000
  bool whole_keys = true;
  const SliceTransform* prefix_extractor = nullptr;  // null: no prefixes; outlives the builder
};

class FilterBuilder {
 public:
  explicit FilterBuilder(const FilterBuilderArgs& args) : args_(args) {}

  // Ascending, each user key once.
  void AddKey(const Slice& user_key) {
    if (args_.whole_keys) AddHash(Xxph3Hash64(user_key));
    if (args_.prefix_extractor != nullptr) AddPrefix(user_key);
  }
  // Equal neighbours count once.
  void AddHash(uint64_t hash) {
    if (entries_ > 0 && hash == last_hash_) return;
    if (entries_++ % kHashesPerChunk == 0) [[unlikely]] {
      AddChunk();
    }
    chunks_.back().push_back(last_hash_ = hash);
  }
  size_t entries() const { return entries_; }
  // Of the filter block, as of now.
  size_t BlockBytes() const;
  // Writes the contents of the filter block, BlockBytes of them, to `block`. Once: the hashes go as
  // they are used.
  void Finish(char* block);

 private:
  // 256 KiB: hashes are never moved, and what is taken for them is never more than this beyond what
  // they need.
  static constexpr size_t kHashesPerChunk = 32768;
  using Chunk = PagedVector<uint64_t>;

  // Of the Bloom filter alone; 0 without keys.
  size_t BloomBytes() const;
  void AddPrefix(const Slice& user_key);
  void AddChunk();

  const FilterBuilderArgs args_;
  std::optional<std::string> last_prefix_;
  size_t entries_ = 0;
  uint64_t last_hash_ = 0;
  std::vector<Chunk> chunks_;  // all but the last are full
};

}  // namespace ashlar
