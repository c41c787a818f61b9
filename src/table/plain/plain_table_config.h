// The options that concern a PlainTable, resolved once per column family.
//
// Values only; copy it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ashlar {

// How keys are stored in the file. The numbers are the format's.
enum class PlainEncoding : uint32_t {
  kPlain = 0,   // every key is stored whole
  kPrefix = 1,  // keys after the first of a prefix omit the prefix
};

struct PlainTableConfig {
  // Writing.
  uint32_t user_key_bytes = 0;  // size of every key; 0: keys have their own lengths
  PlainEncoding encoding = PlainEncoding::kPlain;
  bool store_index_in_file = false;
  bool local_bloom = false;  // the file's Bloom block has all probes of a key in one cache line

  // Both.
  uint32_t bloom_bits_per_key = 10;  // 0: no Bloom filter
  double hash_table_ratio = 0.75;    // prefixes per bucket; 0: no hash table
  size_t index_sparseness = 16;  // entries of one prefix between two places of the index; 0 means 1

  // Reading.
  bool full_scan_mode = false;  // neither hash table nor filter

  size_t Sparseness() const { return index_sparseness > 1 ? index_sparseness : 1; }
};

}  // namespace ashlar
