// IndexBlockBuilder: one block of (separator, handle) entries: an index, a partition of one, or the
// upper level of a partitioned index or filter.
//
//   entry   as in block_builder.h; value: the handle, or the zigzag varint64 of its size minus the
//           previous handle's size; the previous block then ends where this one begins
//
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <string>

#include "ashlar/slice.h"
#include "base/assert.h"
#include "base/coding.h"
#include "key/key_head.h"
#include "table/block/block_builder.h"
#include "table/block/block_format.h"

namespace ashlar {

class IndexBlockBuilder {
 public:
  IndexBlockBuilder(int restart_interval, bool delta_values)
      : delta_values_(delta_values),
        block_({.restart_interval = restart_interval,
                .delta_keys = true,
                .values_have_length = !delta_values}) {}

  // first_key: null unless the index has first keys.
  void Add(const Slice& separator, const BlockHandle& handle, const Slice* first_key) {
    const size_t shared = block_.AtRestart() ? 0 : CommonPrefixBytes(previous_, separator);
    value_.clear();
    // A reader distinguishes the two forms by the shared bytes.
    if (delta_values_ && shared != 0) {
      ASHLAR_ASSERT(handle.offset == previous_end_);  // a reader derives the offset
      PutZigZag64(&value_,
                  static_cast<int64_t>(handle.size) - static_cast<int64_t>(previous_bytes_));
    } else {
      PutBlockHandle(&value_, handle);
    }
    if (first_key != nullptr) PutLengthPrefixedSlice(&value_, *first_key);
    block_.Add(separator, value_, shared);
    previous_.assign(separator.data(), separator.size());
    previous_bytes_ = handle.size;
    previous_end_ = handle.offset + handle.size + kBlockTrailerBytes;
  }
  bool Empty() const { return block_.Empty(); }
  size_t CurrentBytes() const { return block_.CurrentBytes(); }
  Slice Finish() { return block_.Finish(); }
  void Reset() { block_.Reset(); }

 private:
  const bool delta_values_;
  BlockBuilder block_;
  std::string value_;
  std::string previous_;
  uint64_t previous_bytes_ = 0;
  uint64_t previous_end_ = 0;  // of the block with its trailer
};

}  // namespace ashlar
