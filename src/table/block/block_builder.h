// BlockBuilder: builds the bytes of a block from entries.
//
//   entry     varint32 shared | varint32 unshared | varint32 value bytes | key[shared, ..) | value
//   block     entry ... | fixed32 restart offset ... | [hash index] | fixed32 number of restarts
//
// Every restart_interval-th entry is a restart, which stores its whole key. Index blocks with
// delta-coded handles have no value lengths. A data block may have a hash index, which bit 31 of
// the number of restarts indicates.
//
// I1: the first entry is a restart, and restarts ascend.
// Requires of the caller: keys ascend. The builder does not compare them.
// Thread safety: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "ashlar/slice.h"
#include "base/assert.h"
#include "base/byte_buffer.h"
#include "base/coding.h"
#include "key/internal_key.h"
#include "table/block/block_format.h"
#include "table/block/hash_index_builder.h"

namespace ashlar {

class BlockBuilder {
 public:
  struct Args {
    int restart_interval = 16;  // >= 1
    bool delta_keys = true;     // false: every key is stored whole
    bool values_have_length = true;
    double hash_buckets_per_entry = 0;  // 0: no hash index; otherwise keys are internal keys
  };

  explicit BlockBuilder(const Args& args) : BlockBuilder(args, nullptr) {}
  // Appends its block to `target`, which outlives the builder and is not changed by others between
  // the first Add and Finish. Null: the builder uses its own memory.
  BlockBuilder(const Args& args, ByteBuffer* target)
      : args_(args), buffer_(target != nullptr ? target : &own_) {
    if (args.hash_buckets_per_entry > 0) hash_index_.emplace(args.hash_buckets_per_entry);
    Reset();
  }

  bool Empty() const { return empty_; }
  // Whether the next entry stores its whole key.
  bool AtRestart() const { return since_restart_ == 0; }
  // The number of bytes that Finish would return now.
  size_t CurrentBytes() const {
    return buffer_->size() - start_ + hash_index_bytes_ +
           sizeof(uint32_t) * (restarts_.size() + (AtRestart() && !Empty() ? 2 : 1));
  }

  // shared: bytes that the key has in common with the previous key of this block. Ignored for an
  // entry that stores its whole key.
  void Add(const Slice& key, const Slice& value, size_t shared) {
    if (since_restart_ == 0) {
      ASHLAR_DCHECK(empty_ || buffer_->size() - start_ > restarts_.back());  // I1
      if (!empty_) restarts_.push_back(static_cast<uint32_t>(buffer_->size() - start_));
      shared = 0;
    } else if (!args_.delta_keys) {
      shared = 0;
    }
    ASHLAR_DCHECK(shared <= key.size());  // bytes in common with the previous key
    const size_t unshared = key.size() - shared;
    char* const begin = buffer_->Reserve(3 * kVarint32BytesMax + unshared + value.size());
    char* p = begin;
    p = EncodeVarint32(p, static_cast<uint32_t>(shared));
    p = EncodeVarint32(p, static_cast<uint32_t>(unshared));
    if (args_.values_have_length) p = EncodeVarint32(p, static_cast<uint32_t>(value.size()));
    CopyShort(p, key.data() + shared, unshared);
    p += unshared;
    if (!value.empty()) memcpy(p, value.data(), value.size());
    p += value.size();
    buffer_->Extend(static_cast<size_t>(p - begin));
    empty_ = false;
    if (hash_index_) [[unlikely]] {
      hash_index_->Add(ExtractUserKey(key), restarts_.size() - 1);
      hash_index_bytes_ = hash_index_->Bytes();
    }
    if (++since_restart_ == args_.restart_interval) since_restart_ = 0;
  }

  // Returns the complete block, valid until more is appended to its memory.
  Slice Finish() {
    ASHLAR_DCHECK(restarts_.front() == 0 && (restarts_.size() == 1 || restarts_[1] > 0));  // I1
    auto count = static_cast<uint32_t>(restarts_.size());
    char* p = buffer_->Reserve(sizeof(uint32_t) * (restarts_.size() + 1));
    for (const uint32_t restart : restarts_) {
      EncodeFixed32(p, restart);
      p += sizeof(uint32_t);
    }
    buffer_->Extend(sizeof(uint32_t) * restarts_.size());
    if (hash_index_ && !empty_ &&
        hash_index_->Fits(buffer_->size() - start_ + hash_index_bytes_ + sizeof(uint32_t))) {
      hash_index_->Finish(buffer_);
      count |= kBlockHashIndexBit;
    }
    EncodeFixed32(buffer_->Reserve(sizeof(uint32_t)), count);
    buffer_->Extend(sizeof(uint32_t));
    return buffer_->From(start_);
  }
  // Begins a new block at the end of the target.
  void Reset() {
    own_.Clear();
    start_ = buffer_->size();
    restarts_.assign(1, 0);
    since_restart_ = 0;
    empty_ = true;
    if (hash_index_) hash_index_->Reset();
    hash_index_bytes_ = 0;
  }

 private:
  const Args args_;
  ByteBuffer own_;
  ByteBuffer* const buffer_;
  size_t start_ = 0;  // of the block in the buffer
  std::vector<uint32_t> restarts_;
  int since_restart_ = 0;  // entries since the last restart; 0: the next one is a restart
  bool empty_ = true;
  std::optional<HashIndexBuilder> hash_index_;
  size_t hash_index_bytes_ = 0;
};

}  // namespace ashlar
