// RocksDB's own code computed the values below from the bytes of TestBytes. They also cover
// LegacyHash32, the other hash that old filters use.
#include "base/xxph3.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/hash.h"

namespace ashlar {
namespace {

std::string TestBytes(size_t n) {
  std::string bytes;
  for (uint64_t i = 1; i <= n; ++i) bytes += static_cast<char>((i * 0x9e3779b97f4a7c15u) >> 56);
  return bytes;
}

struct Expected {
  size_t length;
  uint64_t xxph3;
  uint32_t legacy;
};

constexpr Expected kExpected[] = {
    {0, 0x5342c3010fe1dd04u, 0xbc9f1d34u},    {1, 0xea3ca782d6e7dd56u, 0xd902f846u},
    {2, 0x2a57b3b569af5f9eu, 0x79612c69u},    {3, 0x4d9a9d25548184e5u, 0x17668aa6u},
    {4, 0xa25174db10391ad7u, 0xff7959dbu},    {5, 0xad1ed88b13318d0au, 0xef43c935u},
    {7, 0xc97b0340d0289d13u, 0x79ce7fceu},    {8, 0x9c55c5234669fd52u, 0x2f23e658u},
    {9, 0x0e199d351407fccau, 0x31a43882u},    {10, 0xf6adc7319011878au, 0xd042b097u},
    {12, 0x3d0a80a9c057664cu, 0x2011d995u},   {15, 0xc4fc9f673cbdefadu, 0xda10a3a0u},
    {16, 0x3fcd97360b5af5eeu, 0x23831429u},   {17, 0x02afe253c16fdc85u, 0x7a5c4ff1u},
    {20, 0x3cb3a356d4b0e429u, 0x30a0f73cu},   {24, 0x23495a661558a29eu, 0xd8212641u},
    {31, 0xd4b59f3e25fdf368u, 0x305967c1u},   {32, 0xe2ca58ae646a63b3u, 0x8a7fd3b3u},
    {33, 0xed1d3a4852aade77u, 0xbb205ce1u},   {48, 0xe7cc2b3458421ab8u, 0x47d86356u},
    {63, 0xb32e89e570286494u, 0x5a261c75u},   {64, 0x965325e842f2efcdu, 0xa025c073u},
    {65, 0x068be3134fc19acau, 0xa1ecb2a0u},   {96, 0x880e040e9a8e85abu, 0x500cbb46u},
    {97, 0x6a671727598c36beu, 0x95606598u},   {100, 0xd0e62e2c5f10cb18u, 0x3deaf991u},
    {127, 0x9bad186ad85b9cb8u, 0x70744496u},  {128, 0x9b5d49fbbd17e2dau, 0x3366f0e0u},
    {129, 0xf736d11389e2fdffu, 0xd914637au},  {144, 0xfabccae603b889cfu, 0x18b1c58fu},
    {160, 0x83aaf6795d278601u, 0x9c628805u},  {192, 0xae6da21ff9de0437u, 0xe615df80u},
    {239, 0x3051787cf5c58b10u, 0x6da13325u},  {240, 0xa141ddd6df6706b8u, 0xa9c1006fu},
    {241, 0x46715313cad998f9u, 0x7b534876u},  {255, 0x4d103b33a3d9ff94u, 0x156a274fu},
    {256, 0xe1a68327c4688f3au, 0x43b9e838u},  {257, 0x29f090078ea9506eu, 0x1ae9ec57u},
    {319, 0x4d1c4040b524b9cfu, 0x6d439b3au},  {320, 0x982a5d1c60cd006bu, 0xd45bfd8au},
    {511, 0xa06d7313b429592cu, 0x8c8e0dbbu},  {512, 0xfc4e0ea2564ae14eu, 0x9dc2069fu},
    {600, 0xb1fa1897e28a5edeu, 0x61d85d0fu},  {1023, 0x34fafa4068b9eb24u, 0xa34bb9e8u},
    {1024, 0x0daad46ec085e08du, 0x439f0320u}, {1025, 0xd5547866f3bcae6au, 0xf488a520u},
    {1088, 0x6f6417d2715f1c2cu, 0xd44bb147u}, {2047, 0x7319198e970dfa9fu, 0x919e36feu},
    {2048, 0x1d8056d55bc60f62u, 0x59c56f1bu},
};

TEST(Xxph3Test, EqualsRocksDbAtTheEdgesOfEveryBranch) {
  const std::string bytes = TestBytes(2048);
  for (const Expected& expected : kExpected)
    EXPECT_EQ(Xxph3Hash64(bytes.data(), expected.length), expected.xxph3) << expected.length;
}

TEST(LegacyHashTest, EqualsRocksDb) {
  const std::string bytes = TestBytes(2048);
  for (const Expected& expected : kExpected)
    EXPECT_EQ(LegacyHash32(bytes.data(), expected.length, kLegacyFilterHashSeed), expected.legacy)
        << expected.length;
}

TEST(Xxph3Test, EqualsRocksDbAtEveryLength) {
  const std::string bytes = TestBytes(2048);
  uint64_t xxph3 = 0;
  uint32_t legacy = 0;
  for (size_t n = 0; n <= bytes.size(); ++n) {
    xxph3 = (xxph3 ^ Xxph3Hash64(bytes.data(), n)) * 0x9e3779b97f4a7c15u;
    legacy = (legacy ^ LegacyHash32(bytes.data(), n, kLegacyFilterHashSeed)) * 0x9e3779b1u;
    if (n == 600) {
      EXPECT_EQ(xxph3, 0xd87186ba541d26d2u);
      EXPECT_EQ(legacy, 0x94f4d85fu);
    }
  }
  EXPECT_EQ(xxph3, 0xb0a290fe968e03acu);
  EXPECT_EQ(legacy, 0xaf534a08u);
}

TEST(Xxph3Test, ReadsNothingOutsideTheKey) {
  const std::string bytes = TestBytes(520);
  for (size_t n = 0; n <= bytes.size(); ++n) {
    // An exact allocation, so that AddressSanitizer detects a stray read.
    const auto key = std::make_unique<char[]>(n);
    bytes.copy(key.get(), n);
    ASSERT_EQ(Xxph3Hash64(key.get(), n), Xxph3Hash64(bytes.data(), n));
  }
}

TEST(Xxph3Test, IsNotTheFinalXxh3) { EXPECT_NE(Xxph3Hash64(Slice("key")), Hash64(Slice("key"))); }

}  // namespace
}  // namespace ashlar
