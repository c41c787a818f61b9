#include "table/blockbased/filter_partitions.h"

#include "table/blockbased/index_block_builder.h"

namespace ashlar {

void FilterPartitions::Cut(const Slice& separator) {
  entries_ += filter_->entries();
  char* const block = blocks_.Reserve(filter_->BlockBytesMax());
  const size_t bytes = filter_->Finish(block);
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
  written.top = write(top.Finish());
  written.bytes += written.top.size;
  return written;
}

}  // namespace ashlar
