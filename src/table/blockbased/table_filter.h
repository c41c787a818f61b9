// TableFilter: the filter of a block-based table, whole or in partitions.
//
//   whole        MayMatch ──> [filter]
//   partitions   MayMatch ──> [partition index] ──> [filter of the partition]
//
// A filter holds whole keys, prefixes of keys, or both, as the table's properties say. Its prefixes
// were made by the transform that the properties name, which may differ from the family's present
// one. A filter whose transform is not available has no usable prefixes.
//
// I1: MayMatch is true for every key, and for the prefix of every key, that the table holds.
// I2: at most one of the whole filter and the partitions is present. Without either, everything
//     matches. There is one partition for each entry of their index.
// Lifetime: owns its blocks, or points into the table's mapping. Thread safety: constant once made.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "ashlar/slice_transform.h"
#include "key/lookup.h"
#include "key/seek_prefix.h"
#include "table/blockbased/block_file.h"
#include "table/blockbased/block_index.h"
#include "table/filter/filter_reader.h"

namespace ashlar {

class TableFilter {
 public:
  struct Partition {
    FilterReader reader;
    BlockContents contents;
  };

  // Matches everything.
  TableFilter() = default;
  // Null prefix_extractor: the filter has no usable prefixes.
  TableFilter(bool whole_keys, std::shared_ptr<const SliceTransform> prefix_extractor)
      : whole_keys_(whole_keys), prefix_extractor_(std::move(prefix_extractor)) {}
  // Sets the filter itself. Call only one of them, at most once.
  void SetWhole(BlockContents contents);
  void SetPartitions(BlockIndex index, std::vector<Partition> partitions);

  bool IsPresent() const { return !whole_.MatchesAll() || !partitions_.empty(); }
  bool IsUsable() const { return whole_keys_ || prefix_extractor_ != nullptr; }
  // True if one filter block covers the whole keys of the table, the common case.
  bool HasOneForKeys() const { return whole_keys_ && !whole_.MatchesAll(); }
  bool has_whole_keys() const { return whole_keys_; }
  // Null: the filter has no usable prefixes.
  const SliceTransform* prefix_extractor() const { return prefix_extractor_.get(); }
  uint32_t partitions() const { return static_cast<uint32_t>(partitions_.size()); }

  // Prefetches the line that MayMatch reads. Requires: HasOneForKeys().
  void Prefetch(uint64_t filter_hash) const { whole_.Prefetch(filter_hash); }
  bool MayMatch(Lookup* lookup) const {
    if (!whole_keys_) [[unlikely]] {
      return PrefixMayMatch(lookup);
    }
    if (!whole_.MatchesAll()) [[likely]] {
      return whole_.MayMatch(lookup->filter_hash(), lookup->user_key());
    }
    return PartitionMayMatch(lookup);
  }
  // Whether a seek within a prefix may find an entry. Requires: prefix_extractor() made the prefix,
  // and IsPresent().
  bool MayMatch(const HashedPrefix& prefix, const Slice& internal_target, bool forward) const;

  size_t MemoryBytes() const;
  // Asserts I2.
  void CheckInvariants() const;

 private:
  bool PrefixMayMatch(Lookup* lookup) const;
  bool PartitionMayMatch(Lookup* lookup) const;

  bool whole_keys_ = true;
  FilterReader whole_;  // matches everything if there is none
  std::shared_ptr<const SliceTransform> prefix_extractor_;
  BlockContents contents_;
  std::optional<BlockIndex> partition_index_;
  std::vector<Partition> partitions_;
};

}  // namespace ashlar
