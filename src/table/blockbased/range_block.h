// Reads the range deletion block of a block-based table. TableBuilder writes it.
//
//   rocksdb.range_del   entries with restart interval 1
//     key     internal key (begin, sequence, 0f)
//     value   user key `end`
//
// In a table that an engine wrote, the entries are in the order of internal keys. In a table made
// for ingestion they are in the order of the calls that made it. RocksDB's SstFileWriter wrote
// empty ranges before it checked for them. They are counted as entries but left out.
//
// An engine writes fragments. Each entry takes one step of FragmentedRanges::MakeWithin, and more
// for long keys. Old releases of RocksDB wrote unfragmented tombstones. A block that takes
// more than kOverlapStepsMax steps beyond those of fragments is refused, because n nested
// tombstones make fragments with n * n sequences, so a small block would take all memory.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>

#include "ashlar/slice.h"
#include "base/result.h"
#include "ranges/fragmented_ranges.h"
#include "table/blockbased/sequence_override.h"

namespace ashlar {

struct RangeBlockArgs {
  KeyComparator comparator{nullptr};
  SequenceOverride sequence_override;
  bool ordered = true;  // Corruption if a begin is smaller than the previous one
};

// 512 MiB of sequences.
inline constexpr uint64_t kOverlapStepsMax = uint64_t{1} << 26;

struct RangeBlock {
  FragmentedRanges ranges;
  uint64_t entries = 0;  // in the block, empty ranges included
};

// Returns Corruption if an entry is damaged, is not a range tombstone, ends before its begin or is
// out of order, or if entries overlap too much. The caller adds file and offset.
Result<RangeBlock> DecodeRangeBlock(const Slice& block, const RangeBlockArgs& args);

}  // namespace ashlar
