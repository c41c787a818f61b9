#include "base/hash.h"

#include <gtest/gtest.h>

#include <string>

namespace ashlar {
namespace {

TEST(HashTest, PublishedValuesOfXxHash) {
  EXPECT_EQ(Hash64("", 0), 0x2d06800538d394c2u);
  EXPECT_EQ(XxHash32("", 0), 0x02cc5d05u);
  EXPECT_EQ(XxHash32("abc", 3), 0x32d153ffu);
  EXPECT_EQ(XxHash64("", 0), 0xef46db3751d8e999u);
  EXPECT_EQ(XxHash64("abc", 3), 0x44bc2cf5ad770999u);
  EXPECT_EQ(Hash64(Slice("abc")), Hash64("abc", 3));
}

TEST(HashTest, HalvesOfAHash) {
  EXPECT_EQ(LowerHash32(0x1122334455667788), 0x55667788u);
  EXPECT_EQ(UpperHash32(0x1122334455667788), 0x11223344u);
}

TEST(HashTest, FastRangeCoversItsRange) {
  EXPECT_EQ(FastRange32(0, 10), 0u);
  EXPECT_EQ(FastRange32(0xffffffff, 10), 9u);
  EXPECT_EQ(FastRange32(0x80000000, 10), 5u);
  EXPECT_EQ(FastRange32(0xffffffff, 0xffffffff), 0xfffffffeu);
  EXPECT_EQ(FastRange64(0, 1000), 0u);
  EXPECT_EQ(FastRange64(~uint64_t{0}, 1000), 999u);
  EXPECT_EQ(FastRange64(uint64_t{1} << 63, uint64_t{1} << 40), uint64_t{1} << 39);
}

TEST(HashTest, FullProducts) {
  uint64_t high = 1;
  EXPECT_EQ(MultiplyFull(0, ~uint64_t{0}, &high), 0u);
  EXPECT_EQ(high, 0u);
  EXPECT_EQ(MultiplyFull(~uint64_t{0}, ~uint64_t{0}, &high), 1u);
  EXPECT_EQ(high, 0xfffffffffffffffeu);
  EXPECT_EQ(MultiplyFull(0x123456789abcdef0, 0xfedcba9876543210, &high), 0x236d88fe5618cf00u);
  EXPECT_EQ(high, 0x121fa00ad77d7422u);
}

}  // namespace
}  // namespace ashlar
