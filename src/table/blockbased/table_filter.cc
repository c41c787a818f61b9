#include "table/blockbased/table_filter.h"

#include <algorithm>

#include "base/assert.h"

namespace ashlar {

void TableFilter::SetWhole(BlockContents contents) {
  ASHLAR_ASSERT(!IsPresent());  // I2
  contents_ = std::move(contents);
  whole_ = FilterReader(contents_.data);
}

void TableFilter::SetPartitions(BlockIndex index, std::vector<Partition> partitions) {
  ASHLAR_ASSERT(!IsPresent());                         // I2
  ASHLAR_ASSERT(partitions.size() == index.blocks());  // I2
  partition_index_.emplace(std::move(index));
  partitions_ = std::move(partitions);
}

// If the filter has no whole keys, a key is absent if its prefix is.
bool TableFilter::PrefixMayMatch(Lookup* lookup) const {
  const HashedPrefix* const prefix = lookup->prefix(prefix_extractor_.get());
  if (prefix == nullptr || !IsPresent()) return true;
  if (partitions_.empty()) return whole_.MayMatch(prefix->filter_hash, prefix->bytes);
  const uint32_t partition = partition_index_->Find(lookup->user_key(), lookup->seek_tag());
  ASHLAR_DCHECK(partition < partitions_.size());  // I2
  return partitions_[partition].reader.MayMatch(prefix->filter_hash, prefix->bytes);
}

bool TableFilter::PartitionMayMatch(Lookup* lookup) const {
  if (partitions_.empty()) return true;
  const uint32_t partition = partition_index_->Find(lookup->user_key(), lookup->seek_tag());
  ASHLAR_DCHECK(partition < partitions_.size());  // I2
  return partitions_[partition].reader.MayMatch(lookup->filter_hash(), lookup->user_key());
}

bool TableFilter::MayMatch(const HashedPrefix& prefix, const Slice& internal_target,
                           bool forward) const {
  if (partitions_.empty()) return whole_.MayMatch(prefix.filter_hash, prefix.bytes);
  // The first entry of the prefix may be in the next partition, because a separator may be larger
  // than the last key before it. For a backward seek it may be in the previous one.
  const uint32_t here =
      partition_index_->Find(ExtractUserKey(internal_target), ExtractTag(internal_target));
  const uint32_t first = forward || here == 0 ? here : here - 1;
  const uint32_t last = forward ? std::min(here + 1, partition_index_->blocks() - 1) : here;
  ASHLAR_DCHECK(last < partitions_.size());  // I2
  for (uint32_t i = first; i <= last; ++i) {
    if (partitions_[i].reader.MayMatch(prefix.filter_hash, prefix.bytes)) return true;
  }
  return false;
}

size_t TableFilter::MemoryBytes() const {
  size_t bytes = contents_.owned ? contents_.data.size() : 0;
  if (partition_index_) bytes += partition_index_->MemoryBytes();
  for (const Partition& partition : partitions_)
    bytes += partition.contents.owned ? partition.contents.data.size() : 0;
  return bytes;
}

void TableFilter::CheckInvariants() const {
  ASHLAR_ASSERT(whole_.MatchesAll() || partitions_.empty());                                 // I2
  ASHLAR_ASSERT(partitions_.size() == (partition_index_ ? partition_index_->blocks() : 0));  // I2
  if (partition_index_) partition_index_->CheckInvariants();
}

}  // namespace ashlar
