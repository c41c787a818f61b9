#include "base/crc32c.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"

namespace ashlar::crc32c {
namespace {

struct Vector {
  std::string bytes;
  uint32_t crc;
};

// The test vectors of RFC 3720, appendix B.4, and the check value of the polynomial.
std::vector<Vector> KnownVectors() {
  std::string up(32, '\0');
  std::string down(32, '\0');
  for (size_t i = 0; i < 32; ++i) {
    up[i] = static_cast<char>(i);
    down[i] = static_cast<char>(31 - i);
  }
  std::string command(48, '\0');
  command[0] = '\x01';
  command[1] = '\xc0';
  command[16] = '\x14';
  command[22] = '\x04';
  command[27] = '\x14';
  command[31] = '\x18';
  command[32] = '\x28';
  command[40] = '\x02';
  return {{"", 0},
          {"123456789", 0xe3069283},
          {std::string(32, '\0'), 0x8a9136aa},
          {std::string(32, '\xff'), 0x62a8ab43},
          {up, 0x46dd794e},
          {down, 0x113fdb5c},
          {command, 0xd9963a56}};
}

TEST(Crc32cTest, KnownVectors) {
  for (const Vector& vector : KnownVectors()) {
    EXPECT_EQ(Value(vector.bytes), vector.crc);
    EXPECT_EQ(ExtendPortable(0, vector.bytes.data(), vector.bytes.size()), vector.crc);
  }
}

TEST(Crc32cTest, BothImplementationsAgreeAtEveryLengthAndOffset) {
  constexpr uint64_t kSeed = 7;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  const std::string bytes = Random(kSeed).Bytes(1 << 14);
  for (size_t n = 0; n <= 1200; ++n) {
    const size_t offset = n % 9;
    ASSERT_EQ(Extend(0x1234, bytes.data() + offset, n),
              ExtendPortable(0x1234, bytes.data() + offset, n))
        << n;
  }
  for (const size_t n : {6143u, 6144u, 6145u, 6151u, 12288u, 12289u, 16000u}) {
    ASSERT_EQ(Value(bytes.data() + 3, n), ExtendPortable(0, bytes.data() + 3, n)) << n;
  }
}

TEST(Crc32cTest, ExtendingEqualsTheWhole) {
  constexpr uint64_t kSeed = 8;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  const std::string bytes = random.Bytes(9000);
  const uint32_t whole = Value(bytes);
  for (int i = 0; i < 300; ++i) {
    const size_t cut = random.Uniform(bytes.size() + 1);
    ASSERT_EQ(Extend(Value(bytes.data(), cut), bytes.data() + cut, bytes.size() - cut), whole)
        << cut;
  }
}

TEST(Crc32cTest, MaskIsReversibleAndTheFormats) {
  // Masking rotates right by 15 bits and adds 0xa282ead8.
  EXPECT_EQ(Mask(0), 0xa282ead8u);
  EXPECT_EQ(Mask(0x00008000), 0xa282ead9u);
  const uint32_t crc = Value("foo");
  EXPECT_NE(Mask(crc), crc);
  EXPECT_EQ(Unmask(Mask(crc)), crc);
  EXPECT_EQ(Unmask(Unmask(Mask(Mask(crc)))), crc);
}

}  // namespace
}  // namespace ashlar::crc32c
