#include "base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace ashlar {
namespace {

TEST(RandomTest, ASeedIsASequence) {
  Random a(42);
  Random b(42);
  Random c(43);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const uint64_t value = a.Next();
    EXPECT_EQ(value, b.Next());
    differs |= value != c.Next();
  }
  EXPECT_TRUE(differs);
}

TEST(RandomTest, PublishedValuesOfTheGenerator) {
  // xoshiro256** with the state that splitmix64 derives from seed 0.
  Random random(0);
  EXPECT_EQ(random.Next(), 0x99ec5f36cb75f2b4u);
  EXPECT_EQ(random.Next(), 0xbf6e1f784956452au);
  EXPECT_EQ(random.Next(), 0x1a5f849d4933e6e0u);
}

TEST(RandomTest, UniformReachesItsRangeEvenly) {
  Random random(5);
  std::vector<int> counts(10);
  for (int i = 0; i < 100000; ++i) ++counts[random.Uniform(10)];
  EXPECT_GT(*std::min_element(counts.begin(), counts.end()), 9500);
  EXPECT_LT(*std::max_element(counts.begin(), counts.end()), 10500);
  EXPECT_EQ(random.Uniform(1), 0u);
}

TEST(RandomTest, RangesIncludeTheirEnds) {
  Random random(6);
  bool low = false;
  bool high = false;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t value = random.Between(3, 7);
    ASSERT_GE(value, 3u);
    ASSERT_LE(value, 7u);
    low |= value == 3;
    high |= value == 7;
    ASSERT_LT(random.Skewed(20), uint64_t{1} << 20);
    const double real = random.NextDouble();
    ASSERT_GE(real, 0.0);
    ASSERT_LT(real, 1.0);
  }
  EXPECT_TRUE(low && high);
  static_cast<void>(random.Between(0, ~uint64_t{0}));
  EXPECT_EQ(random.Bytes(37).size(), 37u);
}

}  // namespace
}  // namespace ashlar
