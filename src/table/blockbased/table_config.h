// The options that concern a block-based table, resolved once per column family.
//
// Values only; copy it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "table/block/block_format.h"
#include "table/filter/filter_builder.h"
#include "table/filter/filter_format.h"

namespace ashlar {

// Numbered as in the index type property of the format.
enum class IndexKind : uint8_t { kBinary = 0, kHash = 1, kTwoLevel = 2, kBinaryWithFirstKey = 3 };

enum class IndexShortening : uint8_t { kNone, kSeparators, kSeparatorsAndSuccessor };

// How a table's blocks will be read. Decides the size of the pieces in which the file is written.
enum class TableReads : uint8_t { kBlockCache, kPageCache, kMapping };

struct BlockBasedTableConfig {
  // Writing.
  size_t block_bytes = 4096;
  int block_bytes_deviation_percent = 10;
  int restart_interval = 16;
  int index_restart_interval = 1;
  uint32_t format_version = kFormatVersionDefault;
  BlockChecksum checksum = BlockChecksum::kXxh3;
  IndexShortening index_shortening = IndexShortening::kSeparators;
  bool key_delta_encoding = true;
  bool whole_key_filtering = true;
  int filter_millibits_per_key = 0;  // 0: no filter
  // kBloom or kRibbon. Below format_version 5 the Bloom filter is the legacy one.
  FilterKind filter_kind = FilterKind::kBloom;
  const char* filter_policy_property = kBloomPolicyPropertyValue;
  bool enable_index_compression = true;
  IndexKind index_kind = IndexKind::kBinary;
  // The approximate size of a partition of the index or of the filter.
  size_t partition_bytes = 4096;
  bool partition_filters = false;  // has an effect only with IndexKind::kTwoLevel
  // An index that might exceed this in one block is partitioned. A whole filter is left out.
  uint64_t meta_block_bytes_max = kBlockBytesMax;
  // Buckets per entry of the hash index in a data block. 0: none.
  double hash_buckets_per_entry = 0;
  bool block_align = false;  // data blocks do not cross pages without need

  // Reading.
  bool cache_index_and_filter_blocks = false;  // charge them to the block cache
  // The same, and a table that does not fit into a strict cache fails to open.
  bool charge_table_readers = false;
  size_t readahead_bytes_initial = 8 << 10;
  size_t readahead_bytes_max = 256 << 10;
  bool verify_checksums = true;
};

}  // namespace ashlar
