// The keys, values and access patterns of a run: a pure function of the flags, so that every
// library gets the same bytes in the same order.
//
//   key(i), plain       [2i, 8 bytes big endian][zeros]                    the layout of db_bench
//   key(i), prefixed    [the same text in every key][2i, 8 bytes big endian]
//   key(i), grouped     [2(i / group), 8 bytes big endian][zeros][i % group, 8 bytes big endian]
//   key(i), random      [a permutation of 2i, 8 bytes][further bytes that depend on i]
//
// Numbers are doubled so that a missing key, 2i + 1, is between two existing keys. Values point
// into a pool of bytes that compress to about a half. Their first bytes depend on the key's number
// and on the generation (0: loaded, 1: overwritten). Making them takes no time.
//
// Thread safety: immutable after construction.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ashlar::bench {

// splitmix64's mixing step.
uint64_t Mix(uint64_t x);

// xoshiro256**, seeded through splitmix64.
class Random {
 public:
  explicit Random(uint64_t seed);
  uint64_t Next();
  // Uniform in [0, limit); limit > 0.
  uint64_t Below(uint64_t limit);
  // Uniform in [0, 1).
  double Fraction();

 private:
  uint64_t state_[4];
};

enum class KeyLayout { kPlain, kPrefixed, kGrouped, kRandom };

struct DatasetOptions {
  uint64_t num = 0;
  size_t key_bytes = 16;  // at least 8; grouped: at least 16
  size_t value_bytes = 100;
  KeyLayout layout = KeyLayout::kPlain;
  uint64_t group = 1;       // keys per prefix
  size_t prefix_bytes = 0;  // grouped: at least 8
  uint64_t seed = 1;
};

class Dataset {
 public:
  explicit Dataset(const DatasetOptions& options);

  const DatasetOptions& options() const { return options_; }
  uint64_t num() const { return options_.num; }

  // Writes key_bytes bytes.
  void MakeKey(uint64_t number, char* key) const;
  void MakeMissingKey(uint64_t number, char* key) const;
  // The value is valid as long as the dataset exists.
  std::string_view Value(uint64_t number, uint64_t generation) const;

 private:
  void MakeDoubledKey(uint64_t doubled, char* key) const;

  const DatasetOptions options_;
  std::string key_template_;
  std::string pool_;
};

// Access patterns: the keys to use, in order. They are made before the clock starts.
std::vector<uint32_t> InOrder(uint64_t num);
std::vector<uint32_t> Shuffled(uint64_t num, uint64_t seed);
std::vector<uint32_t> Uniform(uint64_t num, uint64_t count, uint64_t seed);
// Zipf's law with exponent 0.99, the popular keys scattered over the key space.
std::vector<uint32_t> Skewed(uint64_t num, uint64_t count, uint64_t seed);

}  // namespace ashlar::bench
