// LoadTable: reads once, from the end of a file, the parts that an open table keeps in memory.
//
//   file     [data blocks] ... [filter] [index] [dictionary] [properties] [metaindex] [footer]
//   order         -               7        6         5            3            2         1
//   range deletions: between index and dictionary, read with 6
//   4: CheckSupported refuses what Ashlar does not implement, before anything large is read
//
// The last 64 KiB are read in one piece. They hold all these blocks if the table is small.
//
// Refused with NotSupported: unknown index types, user-defined indexes, and external tables of an
// unknown version. An entry of an unknown type fails the lookup or the cursor that reads it, not
// the load.
//
// I1: TableParts come from a table whose footer, metaindex, properties and index are readable, and
//     which was written with the comparator that it is opened with.
// I2: unless the load is tolerant, each block of meta_blocks that was read has a correct checksum.
// I3: a tolerant load omits a damaged filter, damaged range deletions, and damaged partitions of a
//     two-level index. The parts that remain are as good as in an intact table.
// Thread safety: pure functions.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ashlar/table_properties.h"
#include "ashlar/vfs.h"
#include "base/result.h"
#include "key/key_comparator.h"
#include "key/prefix_extractors.h"
#include "observe/recorder.h"
#include "ranges/file_ranges.h"
#include "table/blockbased/block_file.h"
#include "table/blockbased/block_index.h"
#include "table/blockbased/range_block.h"
#include "table/blockbased/sequence_override.h"
#include "table/blockbased/table_filter.h"
#include "table/table_damage.h"

namespace ashlar {

struct TableLoadArgs {
  std::unique_ptr<vfs::RandomAccessFile> file;
  std::string file_name;
  uint64_t file_bytes = 0;
  KeyComparator comparator{nullptr};
  bool mmap_reads = false;
  bool with_slots = false;  // make the index's slots for cached blocks
  Recorder recorder;
  SequenceNumber largest_sequence = kSequenceNumberMax;  // kSequenceNumberMax: not known
  PrefixExtractors* prefix_extractors = nullptr;         // null: no prefixes are usable
  // The bounds of the file in the MANIFEST, internal keys. Range tombstones are cut to them. Empty:
  // not known. The bytes outlive the call.
  Slice smallest = {};
  Slice largest = {};
  bool tolerant = false;  // damage of the parts in I3 is noted in TableParts::damage
};

// Constant for the life of the open table, except the slots of the index.
struct TableParts {
  BlockIndex index;
  SequenceOverride sequence_override;
  TableFilter filter;
  BlockFile file;
  TableProperties properties;
  std::vector<BlockHandle> meta_blocks;  // all blocks of the file except data blocks
  FileRanges ranges;                     // cut to the bounds of the file
  std::optional<BlockHandle> range_block;
  bool ranges_are_ordered = true;  // false: a table made for ingestion (range_block.h)
  TableDamage damage;              // with TableLoadArgs::tolerant

  // Asserts the invariants of the parts.
  void CheckInvariants() const;
};

Result<TableParts> LoadTable(TableLoadArgs args);

}  // namespace ashlar
