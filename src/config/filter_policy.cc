// The filter policies: how many bits a key gets, and which kind of filter a level gets. The filters
// themselves belong to the tables.
#include "ashlar/filter_policy.h"

#include <climits>
#include <cmath>

#include "base/format.h"

namespace ashlar {
namespace {

constexpr double kBitsPerKeyMax = 100;

// Below half a bit there is no filter. Less than one bit is rounded up to one, because a smaller
// filter would cost more than it saves.
int ToMillibits(double bits_per_key) {
  if (!(bits_per_key >= 0.5)) return 0;
  if (bits_per_key < 1) return 1000;
  return static_cast<int>(std::lround(std::min(bits_per_key, kBitsPerKeyMax) * 1000));
}

class BloomFilterPolicy final : public FilterPolicy {
 public:
  explicit BloomFilterPolicy(double bits_per_key)
      : bits_per_key_(bits_per_key), millibits_per_key_(ToMillibits(bits_per_key)) {}
  const char* Name() const override { return "rocksdb.BuiltinBloomFilter"; }
  std::string GetId() const override { return StrCat("bloomfilter:", bits_per_key_, ":false"); }
  int MillibitsPerKey() const override { return millibits_per_key_; }
  int BloomBeforeLevel() const override { return INT_MAX; }

 private:
  const double bits_per_key_;
  const int millibits_per_key_;
};

class RibbonFilterPolicy final : public FilterPolicy {
 public:
  RibbonFilterPolicy(double bits_per_key, int bloom_before_level)
      : bits_per_key_(bits_per_key),
        millibits_per_key_(ToMillibits(bits_per_key)),
        bloom_before_level_(bloom_before_level) {}
  const char* Name() const override { return "rocksdb.BuiltinBloomFilter"; }
  std::string GetId() const override {
    return StrCat("ribbonfilter:", bits_per_key_, ":", bloom_before_level_);
  }
  int MillibitsPerKey() const override { return millibits_per_key_; }
  int BloomBeforeLevel() const override { return bloom_before_level_; }

 private:
  const double bits_per_key_;
  const int millibits_per_key_;
  const int bloom_before_level_;
};

}  // namespace

const FilterPolicy* NewBloomFilterPolicy(double bits_per_key, bool /*use_block_based_builder*/) {
  return new BloomFilterPolicy(bits_per_key);
}

const FilterPolicy* NewRibbonFilterPolicy(double bloom_equivalent_bits_per_key,
                                          int bloom_before_level) {
  return new RibbonFilterPolicy(bloom_equivalent_bits_per_key, bloom_before_level);
}

}  // namespace ashlar
