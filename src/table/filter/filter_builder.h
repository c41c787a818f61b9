// FilterBuilder: the hashes of a table's keys in, RocksDB's full Bloom filter block out ("fast local Bloom").
//
//   block   lines of 64 bytes | ff 00 probes 00 00
//
// A key lives in one line: line = fastrange32(low half of the hash, number of lines); bit of probe i = (high half x 0x9e3779b9^i) >> 23. The hash is
// base/xxph3.h. Size: ceil(n x millibits / 8000) bytes, rounded up to whole lines. No keys: only five zero bytes, which match nothing.
//
// Thread safety: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ashlar {

// Probes per key that cost the fewest false positives at this size.
int BloomProbes(int millibits_per_key);

class FilterBuilder {
 public:
  // millibits_per_key: 1000 to 100000.
  explicit FilterBuilder(int millibits_per_key) : millibits_per_key_(millibits_per_key) {}

  // Equal neighbours count once.
  void AddHash(uint64_t hash) {
    if (hashes_.empty() || hashes_.back() != hash) hashes_.push_back(hash);
  }
  size_t entries() const { return hashes_.size(); }
  // The contents of the filter block.
  std::string Finish() const;

 private:
  const int millibits_per_key_;
  std::vector<uint64_t> hashes_;
};

}  // namespace ashlar
