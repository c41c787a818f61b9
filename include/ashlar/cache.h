// Cache: memory for uncompressed blocks. One cache may serve any number of column families and
// databases; its capacity is their common budget. It is charged for data blocks, including those
// that slices and iterators pin. With cache_index_and_filter_blocks, or the role
// kBlockBasedTableReader of cache_usage_options, it is also charged for indexes and filters.
//
// Thread safety: every method may be called by several threads at once. Only the functions below
// create a cache; do not derive from this class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "ashlar/export.h"

namespace ashlar {

class ASHLAR_API Cache {
 public:
  virtual ~Cache() = default;
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  virtual const char* Name() const = 0;

  // Bytes. Lowering the capacity evicts unpinned blocks at once.
  virtual void SetCapacity(size_t capacity) = 0;
  virtual size_t GetCapacity() const = 0;
  // A block that does not fit is read without the cache in either case. If the limit is strict, a
  // table whose charge (CacheUsageOptions in ashlar/table.h) does not fit is not opened.
  virtual void SetStrictCapacityLimit(bool strict_capacity_limit) = 0;
  virtual bool HasStrictCapacityLimit() const = 0;

  // Bytes in the cache, and the part of them that is pinned.
  virtual size_t GetUsage() const = 0;
  virtual size_t GetPinnedUsage() const = 0;
  // Number of entries.
  virtual size_t GetOccupancyCount() const = 0;
  // Always 0, because there is no hash table.
  size_t GetTableAddressCount() const { return 0; }
  // Drops every entry that is not pinned.
  virtual void EraseUnRefEntries() = 0;
  // Accepted: a cache always frees its memory.
  void DisownData() {}

 protected:
  Cache() = default;
};

// The uses of memory that may be charged to a cache. The names are RocksDB's.
// BlockBasedTableOptions::cache_usage_options decides which of them are charged.
enum class CacheEntryRole {
  kDataBlock,
  kFilterBlock,
  kFilterMetaBlock,
  kDeprecatedFilterBlock,
  kIndexBlock,
  kOtherBlock,
  kWriteBuffer,  // charged by a WriteBufferManager with a cache
  kCompressionDictionaryBuildingBuffer,
  kFilterConstruction,
  kBlockBasedTableReader,
  kFileMetadata,
  kBlobValue,
  kBlobCache,
  kMisc,
};
inline constexpr uint32_t kNumCacheEntryRoles = static_cast<uint32_t>(CacheEntryRole::kMisc) + 1;

// "BlockBasedTableReader", ...
ASHLAR_API const std::string& GetCacheEntryRoleName(CacheEntryRole role);

enum CacheMetadataChargePolicy {
  kDontChargeCacheMetadata,  // count the blocks only
  kFullChargeCacheMetadata,  // count the cache's own structures too
};
inline constexpr CacheMetadataChargePolicy kDefaultCacheMetadataChargePolicy =
    kFullChargeCacheMetadata;

struct ShardedCacheOptions {
  size_t capacity = 0;                 // bytes
  int num_shard_bits = -1;             // accepted: the cache chooses its own sharding
  bool strict_capacity_limit = false;  // see Cache::SetStrictCapacityLimit
  // Accepted: the memory of an entry always counts with its block.
  CacheMetadataChargePolicy metadata_charge_policy = kDefaultCacheMetadataChargePolicy;
};

// The names are RocksDB's. Both structs make the one kind of cache that Ashlar has.
struct ASHLAR_API LRUCacheOptions : public ShardedCacheOptions {
  double high_pri_pool_ratio = 0.5;  // accepted: index and filter blocks need no pool of their own
  double low_pri_pool_ratio = 0.0;   // accepted
  bool use_adaptive_mutex = false;   // accepted

  LRUCacheOptions() = default;
  LRUCacheOptions(size_t capacity_in, int num_shard_bits_in, bool strict_capacity_limit_in,
                  double high_pri_pool_ratio_in)
      : high_pri_pool_ratio(high_pri_pool_ratio_in) {
    capacity = capacity_in;
    num_shard_bits = num_shard_bits_in;
    strict_capacity_limit = strict_capacity_limit_in;
  }
  std::shared_ptr<Cache> MakeSharedCache() const;
};

struct ASHLAR_API HyperClockCacheOptions : public ShardedCacheOptions {
  size_t estimated_entry_charge = 0;  // accepted

  explicit HyperClockCacheOptions(size_t capacity_in, size_t estimated_entry_charge_in = 0,
                                  int num_shard_bits_in = -1, bool strict_capacity_limit_in = false)
      : estimated_entry_charge(estimated_entry_charge_in) {
    capacity = capacity_in;
    num_shard_bits = num_shard_bits_in;
    strict_capacity_limit = strict_capacity_limit_in;
  }
  std::shared_ptr<Cache> MakeSharedCache() const;
};

ASHLAR_API std::shared_ptr<Cache> NewLRUCache(size_t capacity, int num_shard_bits = -1,
                                              bool strict_capacity_limit = false,
                                              double high_pri_pool_ratio = 0.5);
ASHLAR_API std::shared_ptr<Cache> NewLRUCache(const LRUCacheOptions& cache_opts);
// Makes the same cache, as in RocksDB.
ASHLAR_API std::shared_ptr<Cache> NewClockCache(
    size_t capacity, int num_shard_bits = -1, bool strict_capacity_limit = false,
    CacheMetadataChargePolicy metadata_charge_policy = kDefaultCacheMetadataChargePolicy);

}  // namespace ashlar
