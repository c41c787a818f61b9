// BlockIndex: the index of a table as flat arrays, made once when the table is opened.
//
//   block i      separator i (>= its last key, < the first key of block i + 1) · offset · size ·
//                slot: the cached block or null; none without a cache
//
//   heads        the first 8 bytes of each separator behind the prefix that all but the last share,
//                as sorted integers; above them levels that hold every 16th:
//
//                level 2   [ ................ ]
//                level 1   [ ................ | ................ | ... ]
//                heads     [ 16 | 16 | 16 | ...                        ]
//
// A search reads 16 heads per level, two cache lines, and no separator unless heads tie.
//
// The last separator is left out: it bounds nothing that the file's largest key does not, and
// RocksDB may write it so that it shares no prefix with the others. A key behind it leads to the
// last block, where it is not found.
//
// Two-level indexes are flattened; hash indexes and indexes with first keys are read as what they
// contain, a binary index. A plain binary search over separators was rejected: 15 dependent cache
// misses in a table of a million entries. Eytzinger order was: it needs a second array for the
// ranks.
//
// I1: separators do not descend; blocks lie one behind the other inside the file.
// I2: a key, if it is in the table at all, begins in block Find(key), and its older versions follow
//     there and in the next blocks.
// Thread safety: constant once built, but for the slots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "cache/block_cache.h"
#include "key/key_comparator.h"
#include "platform/page_allocator.h"
#include "table/block/block_format.h"

namespace ashlar {

// How an index block is coded, from the table's properties.
struct IndexCoding {
  bool user_keys = false;     // separators without tag
  bool delta_values = false;  // handles relative to the one before, without length
  bool first_keys = false;    // handles followed by the block's first key
};

struct IndexBlockEntry {
  Slice separator;
  BlockHandle handle;
};

// Calls visit for each entry of an index block, or of the top level of a partitioned filter, until
// it returns an error. Errors come without file and offset.
Status VisitIndexBlock(const Slice& block, const IndexCoding& coding,
                       const std::function<Status(const IndexBlockEntry&)>& visit);

class BlockIndex {
 public:
  explicit BlockIndex(KeyComparator comparator) : comparator_(comparator) {}

  // Appends a block; the order is checked. file_bytes bounds the handle.
  Status Add(const IndexBlockEntry& entry, bool user_key, uint64_t file_bytes);
  // After the last Add: builds the search structure, and the slots where there is a cache.
  void Seal(bool with_cells);

  uint32_t blocks() const { return static_cast<uint32_t>(sizes_.size()); }
  BlockHandle handle(uint32_t i) const { return {offsets_[i], sizes_[i]}; }
  // Only with slots.
  BlockSlot& slot(uint32_t i) { return cells_[i]; }
  const BlockSlot& slot(uint32_t i) const { return cells_[i]; }
  std::span<const BlockSlot> slots() const { return {cells_.data(), cells_.size()}; }
  std::span<BlockSlot> slots() { return {cells_.data(), cells_.size()}; }
  // As stored: an internal key, or a user key.
  Slice separator(uint32_t i) const {
    return Slice(separators_.data() + separator_ends_[i],
                 separator_ends_[i + 1] - separator_ends_[i]);
  }
  bool user_keys() const { return user_keys_; }
  Slice separator_user_key(uint32_t i) const {
    return user_keys_ ? separator(i) : ExtractUserKey(separator(i));
  }

  // The first block whose separator is not before (user_key, tag); the last block when there is
  // none. Precondition: blocks() > 0.
  uint32_t Find(const Slice& user_key, uint64_t tag) const {
    return FindInGroup(FindGroup(user_key), user_key, tag);
  }
  // Find in two halves, for callers who have something to do while memory arrives: the first walks
  // the upper levels, which are small, and asks for what the second reads, and for the block's slot
  // or handle.
  struct Group {
    uint64_t head = 0;     // of the key
    uint32_t first = 0;    // block of the group; without heads there is one group of all
    bool decided = false;  // first is the block
  };
  Group FindGroup(const Slice& user_key) const;
  uint32_t FindInGroup(const Group& group, const Slice& user_key, uint64_t tag) const;
  // Whether the key lies behind the last separator.
  bool IsBehindAll(const Slice& user_key, uint64_t tag) const {
    return CompareSeparator(blocks() - 1, user_key, tag) < 0;
  }

  // The first block at or behind a place in the file; blocks() when there is none.
  uint32_t BlockAtOffset(uint64_t offset) const;

  size_t MemoryBytes() const;

 private:
  static constexpr uint32_t kFanout = 16;

  int CompareSeparator(uint32_t i, const Slice& user_key, uint64_t tag) const;
  void PrefetchGroup(size_t first) const;

  const KeyComparator comparator_;
  bool user_keys_ = true;
  uint32_t prefix_bytes_ = 0;    // common to all separators' user keys but the last
  uint32_t searched_ = 0;        // blocks() - 1
  PagedVector<uint64_t> heads_;  // padded with the largest head to a multiple of kFanout
  std::vector<PagedVector<uint64_t>> levels_;  // top first; levels_.back() summarises heads_
  PagedVector<uint64_t> offsets_;
  PagedVector<uint32_t> sizes_;
  PagedVector<char> separators_;
  PagedVector<uint32_t> separator_ends_{0};
  ZeroedArray<BlockSlot> cells_;
};

}  // namespace ashlar
