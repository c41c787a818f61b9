// IndexBuilder: builds the blocks of a table's index from the separators of its data blocks.
//
//   kBinary, kHash        one block: separator, handle
//   kBinaryWithFirstKey   one block: separator, handle and the first internal key of the block
//   kTwoLevel             partitions like kBinary, then one block over them: the last separator of
//                         each partition, its handle
//   kHash, in addition    prefixes | per prefix: varint32 bytes, first data block, data blocks
//
// An index that might be too large for one block is written as kTwoLevel.
//
// Handles in one block are relative to the previous handle where the format says so. Blocks then
// follow each other in the file without gaps, both data blocks and partitions.
//
// I1: separator i is >= the last key of data block i and < the first key of data block i + 1.
//     Separators are user keys if no two neighbouring blocks share one.
// I2: data blocks follow each other from the start of the file. In aligned tables each begins at
//     the next multiple of the alignment.
// Lifetime: the comparator and the prefix extractor outlive the builder. Thread safety: one thread.
#pragma once

#include <cstdint>
#include <string>

#include "ashlar/slice.h"
#include "ashlar/slice_transform.h"
#include "base/assert.h"
#include "base/function_ref.h"
#include "key/internal_key.h"
#include "key/key_comparator.h"
#include "platform/page_allocator.h"
#include "table/block/block_format.h"
#include "table/blockbased/table_config.h"

namespace ashlar {

class IndexBuilder {
 public:
  struct Args {
    KeyComparator comparator{nullptr};
    IndexKind kind = IndexKind::kBinary;
    IndexShortening shortening = IndexShortening::kSeparators;
    int restart_interval = 1;
    size_t partition_bytes = 4096;
    uint64_t block_bytes_max = kBlockBytesMax;
    bool delta_values = true;
    uint64_t alignment = 1;                            // of data blocks
    const SliceTransform* prefix_extractor = nullptr;  // for kHash
  };
  // Appends a block to the file.
  using WriteBlock = FunctionRef<BlockHandle(const Slice& contents)>;
  struct Written {
    IndexKind kind = IndexKind::kBinary;
    BlockHandle top;               // named by the footer
    uint64_t bytes = 0;            // of all blocks, with their trailers
    uint64_t partitions = 0;       // 0: the index is not partitioned
    uint64_t top_level_bytes = 0;  // of a partitioned index
  };
  struct Prefixes {
    std::string prefixes;
    std::string metadata;
  };

  explicit IndexBuilder(const Args& args) : args_(args) {}

  // Whether AddKey must be called for each entry, before the entry enters its block.
  bool wants_keys() const {
    return args_.kind == IndexKind::kBinaryWithFirstKey || args_.kind == IndexKind::kHash;
  }
  void AddKey(const Slice& internal_key);
  // Ends a data block of block_bytes without its trailer. next_key: empty after the last block.
  // Returns whether the next key is another user key.
  bool AddBlock(const Slice& last_key, const Slice& next_key, uint32_t block_bytes);
  // Sets the size of a block whose size was not known when it was added.
  void SetBlockBytes(size_t block, uint32_t block_bytes) {
    ASHLAR_ASSERT(block < blocks_.size());  // it was added
    blocks_[block].bytes = block_bytes;
  }

  size_t blocks() const { return blocks_.size(); }
  bool separators_are_user_keys() const { return separators_are_user_keys_; }
  // As stored in an index: a user key or an internal key.
  Slice Stored(const Slice& separator) const {
    return Slice(separator.data(), separator.size() - (separators_are_user_keys_ ? kTagBytes : 0));
  }
  // The internal key that separates the last block from the next. Requires: blocks() > 0.
  Slice last_separator() const {
    ASHLAR_ASSERT(!blocks_.empty());  // Requires
    const size_t bytes = blocks_.back().separator_bytes;
    return Slice(separators_.data() + separators_.size() - bytes, bytes);
  }

  // An upper bound of the size of the index in one block.
  uint64_t WholeBytesMax() const;
  // Writes the blocks of the index. Call once, after the last AddBlock.
  Written Finish(WriteBlock write) const;
  // The additional bytes of kHash. Empty if a key has no prefix; readers then search.
  Prefixes TakePrefixes();

 private:
  struct Block {
    uint32_t separator_bytes;  // of the internal separator, in separators_
    uint32_t bytes;            // without the trailer
  };
  void EndPrefix();

  const Args args_;
  PagedVector<char> separators_;  // internal separators, one after another
  PagedVector<Block> blocks_;
  std::string separator_;  // scratch
  bool separators_are_user_keys_ = true;
  PagedVector<char> first_keys_;           // kBinaryWithFirstKey: one after another
  PagedVector<uint32_t> first_key_bytes_;  // one for each block that has begun

  Prefixes prefixes_;
  std::string prefix_;  // of the last key
  size_t prefix_first_block_ = 0;
  size_t prefix_blocks_ = 0;  // 0: there is no last key
  bool all_have_prefixes_ = true;
};

}  // namespace ashlar
