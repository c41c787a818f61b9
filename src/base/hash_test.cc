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

// The expected values come from the baseline code, over bytes 0, 1, 2, ... modulo 251.
TEST(HashTest, LongInputsHaveTheSameValueOnEveryProcessor) {
  std::string bytes;
  for (size_t i = 0; i < 5000; ++i) bytes.push_back(static_cast<char>(i % 251));
  EXPECT_EQ(Hash64(bytes.data(), 240), 0x375a384d957fe865u);
  EXPECT_EQ(Hash64(bytes.data(), 241), 0x02e8cd95421c6d02u);
  EXPECT_EQ(Hash64(bytes.data(), 255), 0x074191baf9c49567u);
  EXPECT_EQ(Hash64(bytes.data(), 256), 0x44f5d90dacde463au);
  EXPECT_EQ(Hash64(bytes.data(), 257), 0x88fc3f7934a6c9beu);
  EXPECT_EQ(Hash64(bytes.data(), 1024), 0xe5d78bafa45b2aa5u);
  EXPECT_EQ(Hash64(bytes.data(), 1025), 0xe95c42288f28186eu);
  EXPECT_EQ(Hash64(bytes.data(), 4096), 0x7135ffa504f1bc71u);
  EXPECT_EQ(Hash64(bytes.data(), 4097), 0xb69d29f17d48293fu);
  EXPECT_EQ(Hash64(bytes.data(), 5000), 0xb418500fc42320eeu);
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
