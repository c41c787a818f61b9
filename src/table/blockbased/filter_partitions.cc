#include "table/blockbased/filter_partitions.h"

#include "base/assert.h"
#include "table/blockbased/index_block_builder.h"

namespace ashlar {

void FilterPartitions::Cut(const Slice& separator) {
  entries_ += filter_->entries();
  const size_t bytes_max = filter_->BlockBytesMax();
  const size_t bytes = filter_->Finish(blocks_.Reserve(bytes_max));
  ASHLAR_ASSERT(bytes <= bytes_max);  // the most that Finish writes
  blocks_.Extend(bytes);
  partitions_.push_back({.separator = separator.ToString(), .bytes = bytes});
}

FilterPartitions::Written FilterPartitions::Finish(const FinishArgs& args,
                                                   const IndexBuilder& index,
                                                   IndexBuilder::WriteBlock write) {
  Cut(args.last_separator);
  Written written{.top = {}, .entries = entries_, .bytes = 0};
  IndexBlockBuilder top(args.restart_interval, args.delta_values);
  const char* block = blocks_.data();
  for (const Partition& partition : partitions_) {
    const BlockHandle handle = write(Slice(block, partition.bytes));
    top.Add(index.Stored(partition.separator), handle, nullptr);
    written.bytes += handle.size;
    block += partition.bytes;
  }
  ASHLAR_ASSERT(block == blocks_.data() + blocks_.size());  // blocks_ holds only these
  written.top = write(top.Finish());
  written.bytes += written.top.size;
  return written;
}

}  // namespace ashlar
