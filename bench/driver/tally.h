// Tally: a summary of the data read by a workload, to compare two libraries. Adding is a load, a
// multiplication and three additions, so that it does not hide the cost of the read. Sums commute,
// so that threads may read in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ashlar::bench {

struct Tally {
  uint64_t found = 0;
  uint64_t bytes = 0;     // of the values
  uint64_t checksum = 0;  // of the first eight bytes and the length of each value

  void Add(const char* value, size_t value_bytes) {
    uint64_t head = 0;
    if (value_bytes >= sizeof(head)) std::memcpy(&head, value, sizeof(head));
    found++;
    bytes += value_bytes;
    checksum += (head ^ value_bytes) * 0x9e3779b97f4a7c15ull;
  }

  void Add(const Tally& other) {
    found += other.found;
    bytes += other.bytes;
    checksum += other.checksum;
  }
};

// A hash of all contents of a database, keys and values, in order. It is slower, and used outside
// of the measured part.
class ContentsHash {
 public:
  void Add(const char* data, size_t data_bytes) {
    uint64_t word = 0;
    for (size_t at = 0; at < data_bytes; at += sizeof(word)) {
      word = 0;
      std::memcpy(&word, data + at,
                  data_bytes - at < sizeof(word) ? data_bytes - at : sizeof(word));
      hash_ = (hash_ ^ word) * 0x9e3779b97f4a7c15ull;
      hash_ ^= hash_ >> 29;
    }
    hash_ += data_bytes;
  }
  uint64_t value() const { return hash_; }

 private:
  uint64_t hash_ = 0x243f6a8885a308d3ull;
};

}  // namespace ashlar::bench
