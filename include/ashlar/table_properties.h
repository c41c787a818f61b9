// TableProperties: the properties block of a table file. Classes of the program can add properties
// to it, or request the compaction of the table.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "ashlar/customizable.h"
#include "ashlar/export.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/types.h"

namespace ashlar {

using UserCollectedProperties = std::map<std::string, std::string>;

struct ASHLAR_API TableProperties {
  uint64_t orig_file_number = 0;
  // The offset of the global sequence number of a table for ingestion, in bytes from the start of
  // the file. 0: it has none.
  uint64_t external_sst_file_global_seqno_offset = 0;
  uint64_t data_size = 0;   // bytes of all data blocks
  uint64_t index_size = 0;  // bytes of the index block
  uint64_t index_partitions = 0;
  uint64_t top_level_index_size = 0;
  uint64_t index_key_is_user_key = 0;
  uint64_t index_value_is_delta_encoded = 0;
  uint64_t filter_size = 0;
  uint64_t raw_key_size = 0;    // bytes of all internal keys before compression
  uint64_t raw_value_size = 0;  // bytes of all values before compression
  uint64_t num_data_blocks = 0;
  uint64_t num_entries = 0;    // of every type
  uint64_t num_deletions = 0;  // deletes and single deletes, point and range
  uint64_t num_merge_operands = 0;
  uint64_t num_range_deletions = 0;
  uint64_t num_filter_entries = 0;
  uint64_t format_version = 0;
  uint64_t fixed_key_len = 0;
  uint64_t column_family_id = 0x7fffffff;  // unknown
  uint64_t creation_time = 0;              // seconds since 1970, here and below; 0: unknown
  uint64_t oldest_key_time = 0;
  uint64_t file_creation_time = 0;
  // RocksDB records these if it samples blocks for compression; Ashlar does not. Bytes; 0: unknown.
  uint64_t slow_compression_estimated_data_size = 0;
  uint64_t fast_compression_estimated_data_size = 0;

  // Recorded by RocksDB's releases after 7.8, each since a different one. Tables that Ashlar writes
  // do not have them. 0: unknown, unless a comment names another value.
  uint64_t num_data_blocks_compression_rejected = 0;  // stored uncompressed: not small enough
  uint64_t num_data_blocks_compression_bypassed = 0;  // stored uncompressed: not tried
  uint64_t num_uniform_blocks = 0;                    // data blocks with evenly spaced keys
  uint64_t newest_key_time = 0;
  uint64_t tail_start_offset = 0;                  // of the bytes after the data blocks
  uint64_t user_defined_timestamps_persisted = 1;  // 0: keys were stored without theirs
  uint64_t key_largest_seqno = UINT64_MAX;         // UINT64_MAX: unknown
  uint64_t key_smallest_seqno = UINT64_MAX;
  uint64_t data_block_restart_interval = 0;
  uint64_t index_block_restart_interval = 0;
  uint64_t separate_key_value_in_data_block = 0;  // 1: keys and values are stored separately
  uint64_t udi_is_primary_index = 0;              // if not 0, the table is refused (NotSupported)
  std::string seqno_to_time_mapping;              // in RocksDB's encoding

  bool HasKeyLargestSeqno() const { return key_largest_seqno != UINT64_MAX; }
  bool HasKeySmallestSeqno() const { return key_smallest_seqno != UINT64_MAX; }

  std::string db_id;
  std::string db_session_id;
  std::string db_host_id;
  std::string column_family_name;
  std::string filter_policy_name;
  std::string comparator_name;
  std::string merge_operator_name;
  std::string prefix_extractor_name;
  std::string property_collectors_names;
  std::string compression_name;
  std::string compression_options;
  // Those of the program's collectors, and properties that this release has no field for.
  UserCollectedProperties user_collected_properties;

  // Not recorded in tables. Listeners that are notified of a new table receive them.
  uint64_t uncompressed_data_size = 0;          // bytes of all data blocks of a block-based table
  UserCollectedProperties readable_properties;  // of the program's collectors

  // "name<kv_delim>value<prop_delim>" for each property.
  std::string ToString(const std::string& prop_delim = "; ",
                       const std::string& kv_delim = "=") const;
};

// Receives the entries of one new table, in key order, and its range deletions. Its first failure
// or exception is written to the LOG. The table is written in any case, but without the collector's
// properties after an exception or if Finish fails. Lifetime: from the first entry of the table
// until after Finish. Thread safety: one thread at a time.
class ASHLAR_API TablePropertiesCollector {
 public:
  virtual ~TablePropertiesCollector() = default;

  // The older form of AddUserKey, which calls it.
  virtual Status Add(const Slice& key, const Slice& value);
  // Called for each entry. For a range deletion, key is its begin and value is its end. file_size:
  // the bytes of the table so far.
  virtual Status AddUserKey(const Slice& key, const Slice& value, EntryType type,
                            SequenceNumber seq, uint64_t file_size);
  // Called after each data block, with its bytes before compression. Ashlar compresses no samples,
  // so the two estimates are 0.
  virtual void BlockAdd(uint64_t block_uncomp_bytes, uint64_t block_compressed_bytes_fast,
                        uint64_t block_compressed_bytes_slow);
  // Called after the last entry, to add properties to the table. Names that begin with "rocksdb."
  // are ignored.
  virtual Status Finish(UserCollectedProperties* properties) = 0;
  // Called after Finish. Texts for people, which become TableProperties::readable_properties.
  virtual UserCollectedProperties GetReadableProperties() const = 0;
  virtual const char* Name() const = 0;
  // Called after Finish. If true, the table is compacted even if its level is not full. Ignored in
  // a bottommost compaction, and in a family with one level.
  virtual bool NeedCompact() const { return false; }
};

// Makes a collector for each new table. Thread safety: all methods, from any thread.
class ASHLAR_API TablePropertiesCollectorFactory : public Customizable {
 public:
  struct Context {
    static const uint32_t kUnknownColumnFamily = 0x7fffffff;
    static const int kUnknownLevelAtCreation = -1;
    static const int kUnknownNumLevels = -1;

    uint32_t column_family_id = kUnknownColumnFamily;
    // The level that the table is made for, of num_levels. -1: unknown.
    int level_at_creation = kUnknownLevelAtCreation;
    int num_levels = kUnknownNumLevels;
    // The largest sequence number, because data have no tiers.
    SequenceNumber last_level_inclusive_max_seqno_threshold = (SequenceNumber{1} << 56) - 1;
  };

  static const char* Type() { return "TablePropertiesCollectorFactory"; }
  // Returns a collector that the caller owns. Null: none for this table.
  virtual TablePropertiesCollector* CreateTablePropertiesCollector(Context context) = 0;
  const char* Name() const override = 0;
  using Customizable::ToString;
  virtual std::string ToString() const { return Name(); }
};

// By path of the table file.
using TablePropertiesCollection =
    std::unordered_map<std::string, std::shared_ptr<const TableProperties>>;

}  // namespace ashlar
