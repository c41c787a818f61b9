#include "table/blockbased/index_builder.h"

#include <algorithm>
#include <optional>

#include "base/assert.h"
#include "base/coding.h"
#include "key/key_prefix.h"
#include "table/blockbased/index_block_builder.h"

namespace ashlar {

namespace {

// RocksDB's rule: separators of internal keys that were shortened carry the tag that sorts before
// every stored one.
constexpr uint64_t kSeparatorTag = PackTag(kSequenceNumberMax, ValueType::kWideColumnEntity);

}  // namespace

void IndexBuilder::AddKey(const Slice& internal_key) {
  if (args_.kind == IndexKind::kBinaryWithFirstKey) {
    if (first_key_bytes_.size() > blocks_.size()) return;
    first_keys_.insert(first_keys_.end(), internal_key.data(),
                       internal_key.data() + internal_key.size());
    first_key_bytes_.push_back(static_cast<uint32_t>(internal_key.size()));
    return;
  }
  ASHLAR_DCHECK(args_.kind == IndexKind::kHash);  // wants_keys(): the only other kind
  if (!all_have_prefixes_) return;
  const std::optional<Slice> prefix =
      KeyPrefix(args_.prefix_extractor, ExtractUserKey(internal_key));
  if (!prefix) {
    all_have_prefixes_ = false;
    return;
  }
  const size_t block = blocks_.size();
  if (prefix_blocks_ == 0 || *prefix != Slice(prefix_)) {
    EndPrefix();
    prefix_ = prefix->ToString();
    prefix_first_block_ = block;
  }
  prefix_blocks_ = block - prefix_first_block_ + 1;
}

void IndexBuilder::EndPrefix() {
  if (prefix_blocks_ == 0) return;
  prefixes_.prefixes += prefix_;
  PutVarint32(&prefixes_.metadata, static_cast<uint32_t>(prefix_.size()));
  PutVarint32(&prefixes_.metadata, static_cast<uint32_t>(prefix_first_block_));
  PutVarint32(&prefixes_.metadata, static_cast<uint32_t>(prefix_blocks_));
}

IndexBuilder::Prefixes IndexBuilder::TakePrefixes() {
  if (!all_have_prefixes_) return {};
  EndPrefix();
  prefix_blocks_ = 0;
  return std::move(prefixes_);
}

bool IndexBuilder::AddBlock(const Slice& last_key, const Slice& next_key, uint32_t block_bytes) {
  const Slice last_user_key = ExtractUserKey(last_key);
  Slice separator = last_key;
  const bool shares_user_key =
      !next_key.empty() && args_.comparator.Equal(last_user_key, ExtractUserKey(next_key));
  if (shares_user_key) {
    separators_are_user_keys_ = false;
  } else if (args_.shortening != IndexShortening::kNone) {
    std::string& shorter = separator_;
    shorter.assign(last_user_key.data(), last_user_key.size());
    const Comparator* const user = args_.comparator.user_comparator();
    if (!next_key.empty()) {
      user->FindShortestSeparator(&shorter, ExtractUserKey(next_key));
    } else if (args_.shortening == IndexShortening::kSeparatorsAndSuccessor) {
      user->FindShortSuccessor(&shorter);
    }
    if (shorter.size() <= last_user_key.size() &&
        args_.comparator.Compare(last_user_key, shorter) < 0) {
      PutFixed64(&shorter, kSeparatorTag);
      separator = shorter;
    }
  }
  ASHLAR_DCHECK(args_.comparator.CompareInternal(last_key, separator) <= 0);  // I1
  ASHLAR_DCHECK(next_key.empty() ||
                args_.comparator.CompareInternal(separator, next_key) < 0);  // I1
  separators_.insert(separators_.end(), separator.data(), separator.data() + separator.size());
  blocks_.push_back(
      {.separator_bytes = static_cast<uint32_t>(separator.size()), .bytes = block_bytes});
  return !shares_user_key;
}

uint64_t IndexBuilder::WholeBytesMax() const {
  // Four lengths, a handle, and a restart.
  constexpr uint64_t kOverhead = 4 * kVarint32BytesMax + kBlockHandleBytesMax + sizeof(uint32_t);
  return separators_.size() + first_keys_.size() + blocks_.size() * kOverhead;
}

IndexBuilder::Written IndexBuilder::Finish(WriteBlock write) const {
  // A 1024th of the largest block, so that the block over the partitions is small, too.
  const bool too_large =
      args_.kind != IndexKind::kTwoLevel && WholeBytesMax() > args_.block_bytes_max;
  const IndexKind kind = too_large ? IndexKind::kTwoLevel : args_.kind;
  const uint64_t partition_bytes = too_large ? args_.block_bytes_max / 1024 : args_.partition_bytes;
  const bool partitioned = kind == IndexKind::kTwoLevel;
  const bool has_first_keys = kind == IndexKind::kBinaryWithFirstKey;
  ASHLAR_ASSERT(!has_first_keys || first_key_bytes_.size() == blocks_.size());  // one per block
  IndexBlockBuilder block(args_.restart_interval, args_.delta_values);
  IndexBlockBuilder top(args_.restart_interval, args_.delta_values);
  Written written;
  written.kind = kind;
  const auto write_block = [&](IndexBlockBuilder* finished) {
    const BlockHandle handle = write(finished->Finish());
    written.bytes += handle.size + kBlockTrailerBytes;
    return handle;
  };
  const char* separator = separators_.data();
  const char* first_key = first_keys_.data();
  BlockHandle handle;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    handle.size = blocks_[i].bytes;
    const Slice stored = Stored(Slice(separator, blocks_[i].separator_bytes));
    if (has_first_keys) {
      const Slice key(first_key, first_key_bytes_[i]);
      block.Add(stored, handle, &key);
      first_key += key.size();
    } else {
      block.Add(stored, handle, nullptr);
    }
    separator += blocks_[i].separator_bytes;
    const uint64_t end = handle.offset + handle.size + kBlockTrailerBytes;
    handle.offset = (end + args_.alignment - 1) / args_.alignment * args_.alignment;  // I2
    const bool last = i + 1 == blocks_.size();
    // A partition may hold a single separator, so the block over the partitions might get too
    // large, too. Once that block is half full, partitions get larger, so that few follow.
    const uint64_t full_bytes = top.CurrentBytes() < args_.block_bytes_max / 2
                                    ? partition_bytes
                                    : std::max(partition_bytes, args_.block_bytes_max / 8);
    if (partitioned && (last || block.CurrentBytes() >= full_bytes)) {
      top.Add(stored, write_block(&block), nullptr);
      block.Reset();
      ++written.partitions;
    }
  }
  // The arrays hold exactly these keys.
  ASHLAR_ASSERT(separator == separators_.data() + separators_.size());
  ASHLAR_ASSERT(!has_first_keys || first_key == first_keys_.data() + first_keys_.size());
  written.top = write_block(partitioned ? &top : &block);
  if (partitioned) written.top_level_bytes = written.top.size + kBlockTrailerBytes;
  return written;
}

}  // namespace ashlar
