// FilterPartitions: cuts the filter of a table into partitions as its keys arrive, and writes them.
//
//   file   filter of a partition | ... | upper level: the last separator of each partition, handle
//
// A partition ends with a data block that is followed by another user key, so each version of a key
// leads to the partition that has the key. A seek within a prefix may lead to the partition before
// or after the one that has the first key with the prefix. Therefore a partition also has the
// prefixes of the last key before it and of the first key after it.
//
// Index and filter are cut at different separators, which RocksDB calls decoupled partitions.
//
// I1: each key is in the filter whose separator is the first at or after the key.
// Lifetime: the filter builder outlives this object. Thread safety: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ashlar/slice.h"
#include "base/byte_buffer.h"
#include "table/blockbased/index_builder.h"
#include "table/filter/filter_builder.h"

namespace ashlar {

class FilterPartitions {
 public:
  // entries_max: a partition with at least this many entries ends with the data block.
  FilterPartitions(FilterBuilder* filter, size_t entries_max)
      : filter_(filter), entries_max_(entries_max) {}

  // Call after a data block, and before the next key enters the filter. Requires: the user keys
  // differ. separator: an internal key.
  void EndBlock(const Slice& separator, const Slice& last_user_key, const Slice& next_user_key) {
    if (filter_->entries() < entries_max_) return;
    filter_->AddPrefixOf(next_user_key);
    Cut(separator);
    filter_->AddPrefixOf(last_user_key);
  }

  struct Written {
    BlockHandle top;
    uint64_t entries = 0;
    uint64_t bytes = 0;  // of all blocks, without their trailers
  };
  // Writes everything. Call once, after the last key. last_separator: the table's last separator.
  struct FinishArgs {
    Slice last_separator;
    int restart_interval = 1;
    bool delta_values = true;
  };
  Written Finish(const FinishArgs& args, const IndexBuilder& index, IndexBuilder::WriteBlock write);

  uint64_t entries() const { return entries_ + filter_->entries(); }

 private:
  struct Partition {
    std::string separator;  // an internal key
    size_t bytes;           // in blocks_
  };

  void Cut(const Slice& separator);

  FilterBuilder* const filter_;
  const size_t entries_max_;
  uint64_t entries_ = 0;  // of the partitions that are cut
  std::vector<Partition> partitions_;
  ByteBuffer blocks_;  // of the partitions, one after another
};

}  // namespace ashlar
