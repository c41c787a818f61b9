// PlainTableBuilder: writes one PlainTable from entries in ascending order.
//
//   Create ──> Add* ──> Finish ──> (the caller syncs and closes the file)
//                └── error ──> further calls do nothing; status() and Finish return the first error
//
// I1: keys ascend strictly in the order of internal keys.
// I2: no entry begins and no file ends beyond the reach of the format's 31-bit offsets. An entry
//     that would do so is refused with InvalidArgument.
// I3: after an error nothing more is appended to the file.
//
// Members of TableWriteArgs about blocks and compression have no effect here. The file is written
// in pieces of 64 KiB, each of which waits for the rate limiter. The prefix extractor is the only
// virtual call per entry. Lifetime: the file, the comparator and the limiter outlive the builder.
// Destroying an unfinished builder leaves the file as it is. Thread safety: one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ashlar/slice_transform.h"
#include "table/blockbased/table_builder.h"
#include "table/plain/plain_entry.h"
#include "table/plain/plain_format.h"
#include "table/plain/plain_table_config.h"
#include "table/table_properties.h"

namespace ashlar {

class PlainTableBuilder {
 public:
  // Returns InvalidArgument for settings that cannot be written.
  static Result<std::unique_ptr<PlainTableBuilder>> Create(TableWriteArgs args,
                                                           const PlainTableConfig& config);
  PlainTableBuilder(const PlainTableBuilder&) = delete;
  PlainTableBuilder& operator=(const PlainTableBuilder&) = delete;

  // Requires (asserted): the key is larger than all earlier keys, and its type IsPointType.
  void Add(const Slice& internal_key, const Slice& value);
  // Fails with NotSupported, because the format has no range deletions.
  void AddRangeDeletion(const RangeTombstone& tombstone);
  // Records the snapshot versions among the entries (table_properties.h). Call before Finish.
  void RecordSnapshotVersions(uint64_t count) {
    ashlar::RecordSnapshotVersions(count, &properties_);
  }
  // Completes the table. Call once.
  Status Finish(TableWriteResult* result);

  const Status& status() const { return status_; }
  // The size of the entries so far, but at least kPlainOutputBytesMax if the index in the file
  // would not leave room for many more entries.
  uint64_t EstimatedFileBytes() const {
    const bool is_full = index_ && offset_ + IndexBytesMax(0) >= kPlainIndexedOutputBytesMax;
    return is_full ? std::max(offset_, kPlainOutputBytesMax) : offset_;
  }

 private:
  PlainTableBuilder(TableWriteArgs args, const PlainTableConfig& config);

  Status CheckEntry(const Slice& user_key, const Slice& value) const;
  // An upper bound of the size of the index blocks in the file after so many more entries.
  // Requires: an index.
  uint64_t IndexBytesMax(uint32_t more_entries) const {
    return index_->BytesMax(more_entries) +
           PlainBloomBytesMax(properties_.num_entries + more_entries, config_.bloom_bits_per_key);
  }
  void CountEntry(const Slice& internal_key, uint64_t tag, const Slice& value);
  // Writes the part of the entry before the key's bytes. Returns how many key bytes are left out.
  size_t PutKeyBegin(const Slice& user_key, const Slice& prefix, bool new_prefix, std::string* out);
  BlockHandle WriteBlock(const Slice& contents);
  void FlushOutput();
  void FillProperties();

  const TableWriteArgs args_;
  PlainTableConfig config_;
  const SliceTransform* const prefix_extractor_;  // of args_; null: none
  const PlainEncoding encoding_;
  const bool needs_prefixes_;

  std::string output_;   // bytes not yet handed to the file
  uint64_t offset_ = 0;  // of the next byte
  std::string smallest_;
  std::string last_key_;
  std::string last_prefix_;
  size_t entries_since_full_key_ = 0;  // kPrefix: of this prefix, including the full key
  uint64_t shared_bytes_ = 0;          // kPrefix: total size of the prefixes of all keys
  bool shares_ = true;                 // kPrefix: keys may omit their prefix
  SequenceNumber smallest_sequence_ = kSequenceNumberMax;
  SequenceNumber largest_sequence_ = 0;

  // For the index in the file.
  std::optional<PlainIndexBlockBuilder> index_;
  std::vector<uint32_t> hashes_;

  TableProperties properties_;
  PropertyCollectors collectors_;
  Status status_;
};

}  // namespace ashlar
