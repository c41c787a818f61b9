// The last five bytes of a filter block, which define the format of the other bytes, and the
// constants that determine the bits of a Bloom filter.
//
//   fast local Bloom   ff | 00 | probes in the low five bits, 0 = lines of 64 bytes in the high
//                      three | 00 00
//   Ribbon             fe | seed | number of blocks, 24 bits
//   legacy Bloom       probes, 1 to 127 | fixed32 number of lines
//   00 and all else    matches every key
//   a filter of at most five bytes matches no key
#pragma once

#include <cstddef>
#include <cstdint>

namespace ashlar {

inline constexpr size_t kFilterTailBytes = 5;
inline constexpr int8_t kFilterMarkerBloom = -1;
inline constexpr int8_t kFilterMarkerRibbon = -2;

inline constexpr uint64_t kBloomLineBytes = 64;
inline constexpr uint64_t kBloomBytesMax = 0xffffffc0u;
inline constexpr uint32_t kBloomProbeFactor = 0x9e3779b9u;
inline constexpr int kBloomBitShift = 23;  // 9 bits address a line
// Legacy Bloom: old releases of RocksDB use 32-bit numbers to address the bits.
inline constexpr uint64_t kLegacyBloomBitsMax = 0xffff0000u;

// Names of filters in the metaindex: "<kind>." and the policy's name.
inline constexpr char kFullFilterPrefix[] = "fullfilter.";
inline constexpr char kPartitionedFilterPrefix[] = "partitionedfilter.";
inline constexpr char kBuiltinFilterName[] = "rocksdb.BuiltinBloomFilter";
// The values that RocksDB writes to property rocksdb.filter.policy: which policy made the filter.
inline constexpr char kBloomPolicyPropertyValue[] = "bloomfilter";
inline constexpr char kRibbonPolicyPropertyValue[] = "ribbonfilter";

}  // namespace ashlar
