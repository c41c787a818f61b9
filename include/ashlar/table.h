// The layout of table files. A column family names a TableFactory; the block-based one is the
// default. Tables of both kinds can be read with every factory, so the factory may change from one
// open to the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "ashlar/cache.h"
#include "ashlar/customizable.h"
#include "ashlar/export.h"
#include "ashlar/filter_policy.h"

namespace ashlar {

enum ChecksumType : char {
  kNoChecksum = 0x0,
  kCRC32c = 0x1,
  kxxHash = 0x2,
  kxxHash64 = 0x3,
  kXXH3 = 0x4,
};

// Where index and filter blocks are kept. Accepted: those of an open table are always in memory.
enum class PinningTier { kFallback, kNone, kFlushedAndSimilar, kAll };

struct MetadataCacheOptions {
  PinningTier top_level_index_pinning = PinningTier::kFallback;
  PinningTier partition_pinning = PinningTier::kFallback;
  PinningTier unpartitioned_pinning = PinningTier::kFallback;
};

// Whether the memory of one role is charged to the block cache.
struct CacheEntryRoleOptions {
  enum class Decision {
    kEnabled,
    kDisabled,
    kFallback,  // as CacheUsageOptions::options says; there it means that it is not charged
  };
  Decision charged = Decision::kFallback;

  bool operator==(const CacheEntryRoleOptions& other) const { return charged == other.charged; }
};

// One role can be enabled: kBlockBasedTableReader, the memory of open tables, with their indexes
// and filters. A table that does not fit next to the pinned blocks is not charged; in a cache with
// strict_capacity_limit its open fails with MemoryLimit. kEnabled for any other role, or for all
// of them, is NotSupported; with no_block_cache, InvalidArgument.
struct CacheUsageOptions {
  CacheEntryRoleOptions options = {};  // of roles without an entry in options_overrides
  std::map<CacheEntryRole, CacheEntryRoleOptions> options_overrides = {};
};

// Members marked "accepted" have no effect and change no result; "refused" ones make DB::Open fail
// with NotSupported unless they have their default.
//
// DB::SetOptions with "block_based_table_factory" and a list, such as "{block_size=16384;}", can
// change all members except block_cache, no_block_cache, cache_usage_options (which has no text)
// and the refused ones. Options for writing apply from the next table on, and options for reading
// to tables that are opened later.
struct BlockBasedTableOptions {
  static const char* kName() { return "BlockTableOptions"; }

  // The cache for blocks. If it is null and no_block_cache is false, the column family gets its own
  // cache of 32 MiB. Not used with no_block_cache.
  std::shared_ptr<Cache> block_cache;
  bool no_block_cache = false;
  // True if the in-memory index and filter of a table are charged to the block cache. They stay in
  // memory as long as the table is open, and are not evicted; max_open_files bounds them. The next
  // four options, by which RocksDB keeps them from eviction, are therefore accepted. With
  // no_block_cache, this one and the second of the four are InvalidArgument, as in RocksDB.
  bool cache_index_and_filter_blocks = false;
  bool cache_index_and_filter_blocks_with_high_priority = true;
  bool pin_l0_filter_and_index_blocks_in_cache = false;
  bool pin_top_level_index_and_filter = true;
  MetadataCacheOptions metadata_cache_options;
  // Not in texts and OPTIONS files, as in RocksDB.
  CacheUsageOptions cache_usage_options;

  enum IndexType : char {
    kBinarySearch = 0x00,
    // Also maps each prefix to its blocks, for RocksDB. Requires a prefix_extractor. A table with a
    // key outside its domain has no such map.
    kHashSearch = 0x01,
    // Partitions of metadata_block_size and an index over them.
    kTwoLevelIndexSearch = 0x02,
    // Also stores the first key of each block.
    kBinarySearchWithFirstKey = 0x03,
  };
  // The index of new tables. In memory, the index of an open table is the same for all types.
  IndexType index_type = kBinarySearch;

  enum DataBlockIndexType : char {
    kDataBlockBinarySearch = 0,
    // A hash index at the end of each block, for RocksDB. Blocks in Ashlar's cache have their own
    // index. Not written with a comparator for which different bytes may be equal.
    kDataBlockBinaryAndHash = 1,
  };
  DataBlockIndexType data_block_index_type = kDataBlockBinarySearch;
  double data_block_hash_table_util_ratio = 0.75;  // keys per bucket

  // The checksum of each block. Tables with any of the types are read.
  ChecksumType checksum = kXXH3;

  // Approximate bytes of a data block before compression. A block is closed early if it is within
  // block_size_deviation percent of that and the next entry would exceed it.
  uint64_t block_size = 4 * 1024;
  int block_size_deviation = 10;
  // A key is stored completely every so many entries, in data blocks and in the index. At least 1.
  int block_restart_interval = 16;
  int index_block_restart_interval = 1;
  // Approximate bytes of a partition of the index or of the filter.
  uint64_t metadata_block_size = 4096;
  // Writes the filter in partitions. No effect without kTwoLevelIndexSearch, as in RocksDB.
  bool partition_filters = false;
  // Accepted: index and filter are always cut independently.
  bool decouple_partitioned_filters = true;
  bool optimize_filters_for_memory = false;  // accepted
  // Whether keys in a block share prefixes. If not, RocksDB can pin them without a copy.
  bool use_delta_encoding = true;

  // Null: no filter.
  std::shared_ptr<const FilterPolicy> filter_policy;
  // Whether the filter holds whole keys.
  bool whole_key_filtering = true;

  bool detect_filter_construct_corruption = false;  // accepted
  bool verify_compression = false;                  // accepted
  uint32_t read_amp_bytes_per_bit = 0;              // accepted

  // The format of new tables: 2 to 5. Every RocksDB since 6.6 reads 5. Below 5, Bloom filters are
  // RocksDB's legacy ones, with more false positives. Tables of versions 0 to 7 can be read.
  uint32_t format_version = 5;
  bool enable_index_compression = true;
  // Data blocks begin at multiples of 4 KiB (of block_size if that is less), padded with zeros.
  // Needs kNoCompression and a block_size that is a power of two.
  bool block_align = false;

  enum class IndexShorteningMode : char {
    kNoShortening,
    kShortenSeparators,
    kShortenSeparatorsAndSuccessor
  };
  IndexShorteningMode index_shortening = IndexShorteningMode::kShortenSeparators;

  // Readahead of an iterator that scans, in bytes. It starts at the initial size and doubles up to
  // the maximum. If either is 0, blocks are read one by one.
  size_t max_auto_readahead_size = 256 * 1024;
  size_t initial_auto_readahead_size = 8 * 1024;
  uint64_t num_file_reads_for_auto_readahead = 2;  // accepted

  enum class PrepopulateBlockCache : char { kDisable, kFlushOnly, kFlushAndCompaction };
  PrepopulateBlockCache prepopulate_block_cache = PrepopulateBlockCache::kDisable;  // accepted

  // ---- Options of releases after 7.8. Not written to OPTIONS files, which have that release's
  // names.
  enum BlockSearchType : char { kBinary = 0x00, kInterpolation = 0x01, kAuto = 0x02 };
  // Accepted, both: the searches in a table's index are Ashlar's own.
  BlockSearchType index_block_search_type = kBinary;
  double uniform_cv_threshold = -1;
  bool separate_key_value_in_data_block = false;            // accepted: they stay together
  size_t super_block_alignment_size = 0;                    // accepted
  size_t super_block_alignment_space_overhead_ratio = 128;  // accepted
  // Refused, both: programs cannot supply indexes.
  bool use_udi_as_primary_index = false;
  bool fail_if_no_udi_on_open = false;
};

// How a PlainTable stores its keys.
enum EncodingType : char {
  kPlain,  // every key completely
  // keys with the same prefix as the key before omit the prefix; without a
  // ColumnFamilyOptions::prefix_extractor the same as kPlain
  kPrefix,
};

// Properties of PlainTables, among TableProperties::user_collected_properties.
struct ASHLAR_API PlainTablePropertyNames {
  static const std::string kEncodingType;
  static const std::string kBloomVersion;
  static const std::string kNumBloomBlocks;
};

inline constexpr uint32_t kPlainTableVariableLength = 0;

// Tables without blocks, compression or checksums, for data that fits into memory. They are mapped
// with DBOptions::allow_mmap_reads. Otherwise, and in an Env that maps no files, all of an open
// table is read into memory. A file holds up to 2 GiB.
//
// With a prefix extractor and a hash_table_ratio above 0, lookups and seeks within a prefix use a
// hash table of prefixes. Others search an index of every index_sparseness-th key. Iterators move
// and seek in both directions in every mode.
struct PlainTableOptions {
  static const char* kName() { return "PlainTableOptions"; }

  // The length of every user key in bytes. It is then not stored with the key (kPlain), and a key
  // of another length is InvalidArgument. kPlainTableVariableLength: each key has its own length.
  uint32_t user_key_len = kPlainTableVariableLength;
  // Bits per key of the Bloom filter. In memory it holds whole keys, and exists only without a hash
  // table, which filters by itself. With store_index_in_file, the file has one, too. 0: none.
  // Values are clamped to 1 to 100 in memory. See ColumnFamilyOptions::bloom_locality.
  int bloom_bits_per_key = 10;
  // Prefixes per slot of the hash table; in memory at most 0.9. 0: no hash table. Above 0 without a
  // prefix extractor: NotSupported at open.
  double hash_table_ratio = 0.75;
  // One key in so many is indexed; in the file, one in so many of each prefix. 0 is the same as 1.
  size_t index_sparseness = 16;
  size_t huge_page_tlb_size = 0;  // accepted
  EncodingType encoding_type = kPlain;
  // Opens tables without hash table and Bloom filter, for programs that only scan. Lookups search.
  bool full_scan_mode = false;
  // Also writes index and Bloom filter into the file, so that RocksDB need not read all keys at
  // open. Ashlar always reads all keys, to verify them.
  bool store_index_in_file = false;
};

// RocksDB's cuckoo tables, for programs that choose them at run time. Ashlar does not implement
// them.
struct CuckooTableOptions {
  static const char* kName() { return "CuckooTableOptions"; }

  double hash_table_ratio = 0.9;
  uint32_t max_search_depth = 100;
  uint32_t cuckoo_block_size = 5;
  bool identity_as_first_hash = false;
  bool use_module_hash = true;
};

// Made by the functions below only; not for subclassing.
class ASHLAR_API TableFactory : public Customizable {
 public:
  static const char* Type() { return "TableFactory"; }
  static const char* kBlockBasedTableName() { return "BlockBasedTable"; }
  static const char* kPlainTableName() { return "PlainTable"; }
  static const char* kCuckooTableName() { return "CuckooTable"; }

  TableFactory(const TableFactory&) = delete;
  TableFactory& operator=(const TableFactory&) = delete;

  // For the options call GetOptions<BlockBasedTableOptions>() or GetOptions<PlainTableOptions>().
  const char* Name() const override = 0;

 protected:
  TableFactory() = default;
};

// The caller owns the result.
ASHLAR_API TableFactory* NewBlockBasedTableFactory(
    const BlockBasedTableOptions& table_options = BlockBasedTableOptions());
ASHLAR_API TableFactory* NewPlainTableFactory(
    const PlainTableOptions& options = PlainTableOptions());
// Every open with this factory returns NotSupported.
ASHLAR_API TableFactory* NewCuckooTableFactory(
    const CuckooTableOptions& table_options = CuckooTableOptions());

}  // namespace ashlar
