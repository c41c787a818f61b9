// The range deletion block of a block-based table: reading it. TableBuilder writes it.
//
//   rocksdb.range_del   entries with restart interval 1
//     key     internal key (begin, sequence, 0f)
//     value   user key `end`
//
// A table that an engine wrote has them in the order of internal keys. A table made for ingestion
// has them in the order of the calls that made it. RocksDB's SstFileWriter wrote empty ranges
// before it had a check for them. They count, and are left out.
//
// An engine writes fragments, which take one step of FragmentedRanges::MakeWithin for each entry,
// and more for long keys. Old releases of RocksDB wrote tombstones as they came. A block that takes
// more than kOverlapStepsMax steps beyond those of fragments is refused: n nested tombstones make
// fragments with n * n sequences, so a small block would take all memory.
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
  bool ordered = true;  // Corruption for a begin that is smaller than the one before
};

// 512 MiB of sequences.
inline constexpr uint64_t kOverlapStepsMax = uint64_t{1} << 26;

struct RangeBlock {
  FragmentedRanges ranges;
  uint64_t entries = 0;  // of the block, with those of empty ranges
};

// Corruption: an entry is damaged, is no range tombstone, ends before its begin, or is out of
// order, or the entries overlap too much. The caller adds file and offset.
Result<RangeBlock> DecodeRangeBlock(const Slice& block, const RangeBlockArgs& args);

}  // namespace ashlar
