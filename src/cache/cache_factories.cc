// The public functions that make a cache. All of them make the same kind.
#include <memory>

#include "ashlar/cache.h"
#include "cache/block_cache.h"

namespace ashlar {

namespace {

std::shared_ptr<Cache> MakeCache(const ShardedCacheOptions& options) {
  auto cache = std::make_shared<BlockCache>(options.capacity);
  cache->SetStrictCapacityLimit(options.strict_capacity_limit);
  return cache;
}

}  // namespace

std::shared_ptr<Cache> LRUCacheOptions::MakeSharedCache() const { return MakeCache(*this); }
std::shared_ptr<Cache> HyperClockCacheOptions::MakeSharedCache() const { return MakeCache(*this); }

std::shared_ptr<Cache> NewLRUCache(size_t capacity, int num_shard_bits, bool strict_capacity_limit,
                                   double high_pri_pool_ratio) {
  return NewLRUCache(
      LRUCacheOptions(capacity, num_shard_bits, strict_capacity_limit, high_pri_pool_ratio));
}
std::shared_ptr<Cache> NewLRUCache(const LRUCacheOptions& cache_opts) {
  return cache_opts.MakeSharedCache();
}
std::shared_ptr<Cache> NewClockCache(size_t capacity, int num_shard_bits,
                                     bool strict_capacity_limit,
                                     CacheMetadataChargePolicy metadata_charge_policy) {
  LRUCacheOptions options;
  options.capacity = capacity;
  options.num_shard_bits = num_shard_bits;
  options.strict_capacity_limit = strict_capacity_limit;
  options.metadata_charge_policy = metadata_charge_policy;
  return options.MakeSharedCache();
}

}  // namespace ashlar
