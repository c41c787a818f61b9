// TableBuilder: writes one block-based table from entries in ascending order.
//
//   Create ──> Add*, AddRangeDeletion* ──> Finish ──> (the caller syncs and closes the file)
//                └── error ──> further calls do nothing; status() and Finish return the first error
//
//   file  data blocks | filter | index | dictionary | range deletions | properties | metaindex |
//         footer
//
// I1: keys ascend strictly in internal-key order, entries and range deletions each on their own.
// I2: each distinct user key enters the filter once: as a whole, as its prefix, or both, as the
//     config says.
// I3: after an error nothing more is appended to the file.
// I4: while blocks wait for a dictionary, none is in the file. They are in raw_, in order.
//
// The file is written in pieces of 64 KiB to 2 MiB, at multiples of that size. Each piece waits for
// the rate limiter. There is no virtual call per entry. A value is copied only once, because a
// block that is not compressed is built in the output.
//
// Lifetime: the file, the comparator and the limiter outlive the builder. Destroying an unfinished
// builder leaves the file as it is. Thread safety: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/compression_type.h"
#include "ashlar/rate_limiter.h"
#include "ashlar/slice_transform.h"
#include "ashlar/table_properties.h"
#include "ashlar/vfs.h"
#include "base/byte_buffer.h"
#include "base/compression.h"
#include "base/result.h"
#include "key/key_comparator.h"
#include "observe/recorder.h"
#include "ranges/range_tombstone.h"
#include "table/block/block_builder.h"
#include "table/block/block_format.h"
#include "table/blockbased/filter_partitions.h"
#include "table/blockbased/index_builder.h"
#include "table/blockbased/table_config.h"
#include "table/filter/filter_builder.h"
#include "table/property_collectors.h"
#include "table/table_properties.h"

namespace ashlar {

struct TableWriteArgs {
  vfs::WritableFile* file = nullptr;  // an empty file, at its beginning
  std::string file_name{};            // for error texts
  KeyComparator comparator{nullptr};
  BlockBasedTableConfig config{};
  std::shared_ptr<const SliceTransform> prefix_extractor{};  // null: none
  CompressionType compression = kNoCompression;
  CompressionParameters compression_parameters{};
  DictionaryParameters dictionary{};
  uint64_t target_file_bytes = 0;  // bounds the blocks that wait for a dictionary; 0: unknown
  TableReads reads = TableReads::kBlockCache;
  RateLimiter* rate_limiter = nullptr;
  IORequestPriority priority = IO_LOW;  // of the requests to the limiter
  Recorder recorder{};
  PropertyCollectors::Factories collector_factories{};
  int level = -1;  // the level that the table is for, of num_levels; -1: unknown
  int num_levels = -1;
  Logger* logger = nullptr;  // for failures of collectors; null: none
  // The table is for ingestion, so its properties have room for a global sequence number.
  bool is_external = false;

  // Recorded in the properties.
  uint32_t column_family_id = 0;
  std::string column_family_name{};
  std::string merge_operator_name{};  // empty: none
  std::string db_id{};
  std::string db_session_id{};
  std::string db_host_id{};
  uint64_t file_number = 0;
  uint64_t creation_unix_seconds = 0;  // of the oldest data in it
  uint64_t oldest_key_unix_seconds = 0;
  uint64_t file_creation_unix_seconds = 0;
};

struct TableWriteResult {
  uint64_t file_bytes = 0;
  TableProperties properties;
  // Internal keys; empty: there were no entries. A range deletion counts from (begin, sequence, 0f)
  // to (end, kSequenceNumberMax, 0f), which sorts before every entry of `end`.
  std::string smallest;
  std::string largest;
  SequenceNumber smallest_sequence = 0;
  SequenceNumber largest_sequence = 0;
  // Data blocks with at least 100 point deletions, or with at least half of their bytes in them.
  // The last block does not count by bytes, because a table may have only a few entries.
  uint64_t dense_blocks = 0;
  bool collectors_need_compaction = false;

  // True if scans over the table skip many deletions: at least 8 blocks, and at least 5 % of all
  // blocks, are dense. The thresholds are Pebble's, except for the 8.
  bool IsDense() const {
    return dense_blocks >= 8 && dense_blocks * 20 >= properties.num_data_blocks;
  }
};

class TableBuilder {
 public:
  // Returns InvalidArgument or NotSupported for settings that cannot be written.
  static Result<std::unique_ptr<TableBuilder>> Create(TableWriteArgs args);
  ~TableBuilder();
  TableBuilder(const TableBuilder&) = delete;
  TableBuilder& operator=(const TableBuilder&) = delete;

  // Requires (asserted): the key is larger than all earlier keys, and its type IsPointType.
  void Add(const Slice& internal_key, const Slice& value);
  // May be called before, between or after calls of Add. Requires (asserted): begin < end, and
  // (begin, sequence) is after those of all earlier range deletions in the order of internal keys.
  void AddRangeDeletion(const RangeTombstone& tombstone);
  // Records the snapshot versions among the entries (table_properties.h). Call before Finish.
  void RecordSnapshotVersions(uint64_t count) {
    ashlar::RecordSnapshotVersions(count, &properties_);
  }
  // Completes the table. Call once.
  Status Finish(TableWriteResult* result);

  const Status& status() const { return status_; }
  // The number of entries, range deletions included.
  uint64_t entries() const { return properties_.num_entries; }
  // The approximate size of the file if it were finished now, without index, filter, range
  // deletions, and blocks that wait for a dictionary.
  uint64_t EstimatedFileBytes() const { return offset_ + data_block_.CurrentBytes(); }

 private:
  explicit TableBuilder(TableWriteArgs args);

  Slice last_key() const { return last_key_.From(0); }
  bool BlockIsFull(const Slice& internal_key, const Slice& value) const {
    const size_t now = data_block_.CurrentBytes();
    if (now <= block_bytes_full_) [[likely]] {
      return false;
    }
    return !data_block_.Empty() &&
           (now >= args_.config.block_bytes ||
            now + internal_key.size() + value.size() + entry_overhead_ > args_.config.block_bytes);
  }
  // Whether adding the key would make a block that readers may refuse.
  bool SharesTooMuch(size_t shared) const {
    return block_shared_bytes_ + shared > kBlockSharedBytesMax && !data_block_.Empty();
  }
  void FinishDataBlock(bool is_last);
  // Completes data_block_ and returns its stored size, or 0 if it waits for a dictionary.
  uint32_t StoreDataBlock();
  // Makes the dictionary and writes the blocks that wait for it.
  void EndBuffering();
  // Appends zeros up to the alignment of data blocks.
  void AlignOutput();
  void AddToIndex(const Slice& next_key);
  void CountAdded(SequenceNumber sequence, const Slice& internal_key, const Slice& value) {
    if (sequence < smallest_sequence_) smallest_sequence_ = sequence;
    if (sequence > largest_sequence_) largest_sequence_ = sequence;
    ++properties_.num_entries;
    properties_.raw_key_size += internal_key.size();
    properties_.raw_value_size += value.size();
  }
  void CountEntry(const Slice& internal_key, const Slice& value) {
    const uint64_t tag = ExtractTag(internal_key);
    const ValueType type = TagType(tag);
    ASHLAR_ASSERT(IsPointType(type));  // Requires of Add
    CountAdded(TagSequence(tag), internal_key, value);
    if (type == ValueType::kValue) [[likely]] {
      return;
    }
    if (IsTombstone(type)) {
      ++properties_.num_deletions;
      ++block_deletions_;
      block_deletion_bytes_ += internal_key.size() + value.size();
    }
    if (IsOperand(type)) ++properties_.num_merge_operands;
  }
  // Compresses into compressed_. Returns false if that does not save enough.
  bool Compress(Compressor* compressor, const Slice& raw);
  // Appends the block, compressed if that helps, and its trailer. Null compressor: store as it is.
  BlockHandle WriteBlock(const Slice& raw, Compressor* compressor);
  // Appends the trailer of the block that begins at `start` in output_.
  BlockHandle EndBlock(size_t start, CompressionType type);
  // Appends the first bytes of output_ to the file.
  void HandOver(size_t bytes);
  // The metaindex: names and handles, in order.
  using MetaBlocks = std::map<std::string, std::string>;
  static void AddMetaBlock(const std::string& name, const BlockHandle& handle, MetaBlocks* blocks);
  void WriteFilter(MetaBlocks* blocks);
  void WriteWholeFilter(MetaBlocks* blocks);
  // Returns the handle for the footer.
  BlockHandle WriteIndex(MetaBlocks* blocks);
  void FillProperties();
  // The bounds of entries and range deletions together.
  void FillBounds(TableWriteResult* result) const;

  const TableWriteArgs args_;
  const size_t piece_bytes_;
  std::unique_ptr<Compressor> compressor_;               // null: store as it is
  std::unique_ptr<FilterBuilder> filter_;                // null: no filter
  std::unique_ptr<FilterPartitions> filter_partitions_;  // null: the filter is whole
  ByteBuffer output_;                                    // blocks that are not yet in the file
  uint64_t offset_ = 0;                                  // of the next block in the file
  // The blocks that wait for a dictionary, then the current data block if it will be compressed.
  ByteBuffer raw_;
  std::string compressed_;
  bool buffering_;                        // data blocks wait for a dictionary
  std::vector<uint32_t> buffered_bytes_;  // of each
  const uint64_t buffer_bytes_max_;
  std::string dictionary_;
  std::unique_ptr<Compressor> dictionary_compressor_;  // of data blocks; null: compressor_
  BlockBuilder data_block_;        // in raw_ if it will be compressed, otherwise in output_
  const size_t block_bytes_full_;  // a block this large is cut before an entry that would not fit
  const size_t entry_overhead_;    // about what an entry and its block add to key and value
  const uint64_t alignment_;       // of data blocks; 1: none
  std::string smallest_;
  ByteBuffer last_key_;
  SequenceNumber smallest_sequence_ = kSequenceNumberMax;
  SequenceNumber largest_sequence_ = 0;

  IndexBuilder index_;
  IndexKind index_kind_ = IndexKind::kBinary;  // as written
  uint32_t pending_block_bytes_ = 0;  // of a finished block whose separator waits for the next key
  bool has_pending_block_ = false;
  uint64_t block_shared_bytes_ = 0;  // upper bound of the bytes that keys of the data block share
  uint64_t block_deletions_ = 0;     // point deletions in the current data block
  uint64_t block_deletion_bytes_ = 0;
  uint64_t dense_blocks_ = 0;

  BlockBuilder range_block_;
  std::string smallest_range_;  // internal keys; empty: no range deletions
  std::string last_range_;
  std::string range_end_;  // the largest end, a user key

  TableProperties properties_;
  PropertyCollectors collectors_;
  Status status_;
};

// The context for the collectors of the table's factories.
inline TablePropertiesCollectorFactory::Context CollectorContext(const TableWriteArgs& args) {
  TablePropertiesCollectorFactory::Context context;
  context.column_family_id = args.column_family_id;
  context.level_at_creation = args.level;
  context.num_levels = args.num_levels;
  return context;
}

}  // namespace ashlar
