#include "memtable/memtable_bloom.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace ashlar {
namespace {

double FalsePositives(size_t bits_per_key) {
  constexpr uint64_t kKeys = 20000;
  ArenaBlockPool blocks({});
  Arena arena(&blocks);
  MemTableBloom bloom(kKeys * bits_per_key / 8);
  bloom.Allocate(&arena);
  Random random(17);
  for (uint64_t i = 0; i < kKeys; ++i) bloom.Add(random.Next());
  random = Random(17);
  for (uint64_t i = 0; i < kKeys; ++i) EXPECT_TRUE(bloom.MayMatch(random.Next()));
  uint64_t passed = 0;
  for (uint64_t i = 0; i < kKeys; ++i) passed += bloom.MayMatch(random.Next()) ? 1u : 0u;
  return static_cast<double>(passed) / kKeys;
}

TEST(MemTableBloomTest, HoldsWhatWasAddedAndLittleElse) {
  EXPECT_LT(FalsePositives(8), 0.05);
  EXPECT_LT(FalsePositives(10), 0.025);
  EXPECT_LT(FalsePositives(20), 0.003);
}

TEST(MemTableBloomTest, BeforeTheFirstKeyItHoldsNothing) {
  const MemTableBloom bloom(1);
  EXPECT_TRUE(bloom.IsOn());
  EXPECT_FALSE(bloom.MayMatch(1));
  EXPECT_FALSE(MemTableBloom(0).IsOn());
}

TEST(MemTableBloomTest, OneLineIsEnough) {
  ArenaBlockPool blocks({});
  Arena arena(&blocks);
  MemTableBloom bloom(1);
  bloom.Allocate(&arena);
  EXPECT_EQ(arena.MemoryUsed() / 64, 1u);
  bloom.Add(~uint64_t{0});
  bloom.Add(0);
  EXPECT_TRUE(bloom.MayMatch(~uint64_t{0}) && bloom.MayMatch(0));
}

}  // namespace
}  // namespace ashlar
