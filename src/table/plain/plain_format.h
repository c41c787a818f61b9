// The bytes of a PlainTable around its entries: footer, names, the 32-bit hash, and the two blocks
// of an index in the file. docs/formats/plain_table.md draws the blocks.
//
//   file     entry ... | [Bloom block] | [index block] | properties block | metaindex block |
//            footer; blocks have no trailers
//   footer   metaindex handle, index handle (0, 0), zeros up to 40 bytes | fixed64 4f3418eb7a8f13b8
//            48 bytes, version 0
//       or   u8 checksum type | 40 bytes as above | fixed32 version, 1 to 5 |
//            fixed64 8242229663bf9564                                          53 bytes, only read
//   metaindex names  PlainTableIndexBlock, kBloomBlock, rocksdb.properties
//
//   Bloom block   6 probes with h = hash of the prefix (without prefixes: of the user key)
//   index block   varint32 buckets | varint32 prefixes | fixed32 bucket ... | sub-index ...
//   bucket        bit 31 clear: the offset of the only place; 7fffffff: none
//                 bit 31 set: the offset of its sub-index: varint32 places | fixed32 offset ...
//
// Thread safety: pure functions, and builders for one thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ashlar/slice.h"
#include "base/result.h"
#include "table/block/block_format.h"

namespace ashlar {

// Offsets have 31 bits, and this value means "none".
inline constexpr uint64_t kPlainFileBytesMax = (uint64_t{1} << 31) - 1;
// The limit of the bytes that keys share with the full keys before them. A table with more is
// refused, unless they are at most kPlainSharedExpansionMax times the size of its data.
inline constexpr uint64_t kPlainSharedBytesMax = uint64_t{1} << 30;
inline constexpr uint64_t kPlainSharedExpansionMax = 64;
// The size at which a flush or compaction ends a file. With an index in the file it may be smaller.
inline constexpr uint64_t kPlainOutputBytesMax = kPlainFileBytesMax / 2;
// The same limit for entries and index together. It leaves room for an entry of 512 MiB, its part
// of the index, and the properties.
inline constexpr uint64_t kPlainIndexedOutputBytesMax = kPlainFileBytesMax - (uint64_t{514} << 20);

inline constexpr char kPlainBloomBlock[] = "kBloomBlock";
inline constexpr char kPlainIndexBlock[] = "PlainTableIndexBlock";
inline constexpr char kPlainPropertiesBlock[] = "rocksdb.properties";

void PutPlainFooter(std::string* out, const BlockHandle& metaindex);
// Returns the handle of the metaindex, checked to be inside the file. tail: the last
// min(kFooterBytes, file_bytes) bytes of a PlainTable. The caller adds the file's name to errors.
Result<BlockHandle> DecodePlainFooter(const Slice& tail, uint64_t file_bytes);

// The hash that both blocks use.
uint32_t PlainTableHash(const Slice& bytes);

// The Bloom block over the hashes of all entries, in any order. Requires: hashes, bits_per_key > 0.
struct PlainBloomBlock {
  std::string bytes;
  uint32_t lines = 0;  // recorded in the properties; 0: not local
};
PlainBloomBlock BuildPlainBloom(const std::vector<uint32_t>& hashes, uint32_t bits_per_key,
                                bool local);
// An upper bound of the size of the block.
uint64_t PlainBloomBytesMax(uint64_t hashes, uint32_t bits_per_key);

// Collects the places of an index block: the first entry of each prefix, and every sparseness-th
// after it.
class PlainIndexBlockBuilder {
 public:
  // hash_table_ratio: prefixes per bucket; 0: one bucket.
  PlainIndexBlockBuilder(double hash_table_ratio, size_t sparseness)
      : hash_table_ratio_(hash_table_ratio), sparseness_(sparseness) {}

  // Requires: file order. new_prefix: the first entry, or the previous one has another prefix.
  void Add(bool new_prefix, uint32_t prefix_hash, uint32_t offset);
  std::string Finish() const;
  // An upper bound of the bytes that Finish would return after so many more calls of Add.
  uint64_t BytesMax(uint32_t more_entries) const;

 private:
  struct Place {
    uint32_t hash;
    uint32_t offset;
  };
  uint32_t Buckets(uint32_t prefixes) const;

  const double hash_table_ratio_;
  const size_t sparseness_;
  std::vector<Place> places_;
  uint32_t prefixes_ = 0;
  size_t since_place_ = 0;
};

}  // namespace ashlar
