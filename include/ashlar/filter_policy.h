// FilterPolicy: decides which filter a table has. With a filter most reads of an absent key read no
// data block.
//
// A filter hashes the bytes of a key. Do not use one with a comparator for which different bytes
// are equal keys (for example, one that ignores case), because a Get would miss a key that was put
// with other bytes. RocksDB has the same rule.
//
// Immutable; safe to use by several threads at once.
#pragma once

#include <string>

#include "ashlar/customizable.h"
#include "ashlar/export.h"

namespace ashlar {

class ASHLAR_API FilterPolicy : public Customizable {
 public:
  static const char* Type() { return "FilterPolicy"; }

  // Stored with every table: "rocksdb.BuiltinBloomFilter".
  const char* Name() const override = 0;
  // The text form in an OPTIONS file, such as "bloomfilter:10:false".
  std::string GetId() const override = 0;
  // Thousandths of a bit per key; 0 builds no filter.
  virtual int MillibitsPerKey() const = 0;
  // Tables on this level and deeper ones get Ribbon filters, the others Bloom filters. A flush is
  // at level -1. With kCompactionStyleFIFO and kCompactionStyleNone, and from SstFileWriter, each
  // table counts as one of the last level. INT_MAX: no table gets a Ribbon filter.
  virtual int BloomBeforeLevel() const = 0;
};

// A Bloom filter with about `bits_per_key` bits per key. 10 gives 1 % false positives; each further
// 5 bits divide that by ten. Values below 0.5 mean no filter, and above 100 mean 100. The second
// argument once chose the block-by-block filter and has no effect. The caller owns the result.
ASHLAR_API const FilterPolicy* NewBloomFilterPolicy(double bits_per_key,
                                                    bool use_block_based_builder = false);

// A Ribbon filter has as many false positives as a Bloom filter with these bits per key, in about
// 30 % less space. Building and querying it takes several times as long. Tables of levels before
// `bloom_before_level` get a Bloom filter (BloomBeforeLevel). The default, 0, means the tables of
// flushes, which live shortest; -1 means none. The caller owns the result.
ASHLAR_API const FilterPolicy* NewRibbonFilterPolicy(double bloom_equivalent_bits_per_key,
                                                     int bloom_before_level = 0);

}  // namespace ashlar
