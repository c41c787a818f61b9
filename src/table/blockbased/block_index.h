// BlockIndex: the index of a table as flat arrays, built once when the table is opened.
//
//   block i    separator i (>= its last key, < the first key of block i + 1), offset, size,
//              slot: the cached block or null (slots exist only with a cache)
//
//   level 1    [ ................ | ................ | ... ]       every 16th head
//   heads      [ 16 | 16 | 16 | ...                        ]       8 bytes of each separator
//
// Heads are integers, taken after the common prefix of all separators except the last. A search
// reads 16 heads (two cache lines) per level, and a separator only if heads tie. The last separator
// has no head (README.md says why). A key larger than all separators leads to the last block.
//
// I1: separators and offsets ascend (separators may repeat), and blocks do not overlap.
// I2: the newest version of a key, if the table has it, is in block Find(key), and its older
//     versions follow there and in the next blocks.
// I3: heads ascend, every level has the last head of each group of 16 below it, and both are padded
//     to whole groups with the largest head.
// Thread safety: constant once built, except the slots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/assert.h"
#include "base/result.h"
#include "cache/block_cache.h"
#include "key/key_comparator.h"
#include "key/key_head.h"
#include "platform/cpu.h"
#include "platform/page_allocator.h"
#include "table/block/block_format.h"

namespace ashlar {

// How an index block is coded, from the table's properties.
struct IndexCoding {
  bool user_keys = false;     // separators have no tag
  bool delta_values = false;  // handles are relative to the previous one and have no length
  bool first_keys = false;    // the block's first key follows each handle
};

struct IndexBlockEntry {
  Slice separator;
  BlockHandle handle;
};

// Calls visit for each entry of an index block, or of the top level of a partitioned filter, until
// it returns an error. Errors name neither file nor offset.
Status VisitIndexBlock(const Slice& block, const IndexCoding& coding,
                       const std::function<Status(const IndexBlockEntry&)>& visit);

class BlockIndex {
 public:
  explicit BlockIndex(KeyComparator comparator) : comparator_(comparator) {}

  // Appends a block. Returns Corruption if it is out of order, or outside a file of file_bytes.
  Status Add(const IndexBlockEntry& entry, bool user_key, uint64_t file_bytes);
  // Builds the search structure, and slots if asked to. Call once, after the last Add.
  void Seal(bool with_slots);

  uint32_t blocks() const { return static_cast<uint32_t>(sizes_.size()); }
  BlockHandle handle(uint32_t i) const {
    ASHLAR_DCHECK(i < blocks());  // a block's number
    return {offsets_[i], sizes_[i]};
  }
  // Requires: Seal made slots, i < blocks().
  BlockSlot& slot(uint32_t i) const {
    ASHLAR_DCHECK(i < slots_.size());  // Requires
    return slots_[i];
  }
  std::span<BlockSlot> slots() const { return {slots_.data(), slots_.size()}; }
  // As stored: an internal key or, if user_keys(), a user key. Requires: i < blocks().
  Slice separator(uint32_t i) const {
    ASHLAR_DCHECK(i < blocks());  // Requires
    return Slice(separators_.data() + separator_ends_[i],
                 separator_ends_[i + 1] - separator_ends_[i]);
  }
  bool user_keys() const { return user_keys_; }
  Slice separator_user_key(uint32_t i) const {
    return user_keys_ ? separator(i) : ExtractUserKey(separator(i));
  }

  // The first block whose separator is at or after (user_key, tag); the last block if there is
  // none.
  // Requires: blocks() > 0.
  uint32_t Find(const Slice& user_key, uint64_t tag) const {
    return FindInGroup(FindGroup(user_key), user_key, tag);
  }
  // Find in two steps, for callers with other work to do while memory arrives. The first step
  // searches the upper levels, which are small. It prefetches the memory that the second step
  // reads, and the block's slot or handle.
  struct Group {
    uint64_t head = 0;     // of the key
    uint32_t first = 0;    // first block of the group; without heads all blocks are one group
    bool decided = false;  // `first` is the result
  };
  Group FindGroup(const Slice& user_key) const;
  uint32_t FindInGroup(const Group& group, const Slice& user_key, uint64_t tag) const;
  // Whether the key is larger than the last separator.
  bool IsAfterAll(const Slice& user_key, uint64_t tag) const {
    return CompareSeparator(blocks() - 1, user_key, tag) < 0;
  }

  // The first block at or after an offset in the file; blocks() if there is none.
  uint32_t BlockAtOffset(uint64_t offset) const;

  size_t MemoryBytes() const;
  // Asserts I1 and I3. Requires: Seal was called.
  void CheckInvariants() const;

 private:
  static constexpr uint32_t kFanout = kHeadGroup;
  // A group of heads is two cache lines, which PrefetchGroup relies on.
  static_assert(kFanout * sizeof(uint64_t) == 2 * kCacheLineBytes);

  int CompareSeparator(uint32_t i, const Slice& user_key, uint64_t tag) const;
  void PrefetchGroup(size_t first) const;

  KeyComparator comparator_;
  bool user_keys_ = true;
  uint32_t prefix_bytes_ = 0;  // common to the user keys of all separators except the last
  uint32_t searched_ = 0;      // blocks() - 1
  PagedVector<uint64_t> heads_;
  std::vector<PagedVector<uint64_t>> levels_;  // top first; levels_.back() summarises heads_
  PagedVector<uint64_t> offsets_;
  PagedVector<uint32_t> sizes_;
  PagedVector<char> separators_;
  PagedVector<uint32_t> separator_ends_{0};
  mutable ZeroedArray<BlockSlot> slots_;  // written by the cache
};

}  // namespace ashlar
