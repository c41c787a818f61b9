#include "pmem/fingerprint.h"

#include "base/random.h"
#include "gtest/gtest.h"

namespace ashlar::pmem {
namespace {

TEST(FingerprintTest, ItsValuesNeverChange) {
  EXPECT_EQ(Fingerprint(""), 0);
  // The fingerprint of one byte is the permutation of (length xor byte).
  EXPECT_EQ(Fingerprint(Slice("\x01", 1)), 251);
  EXPECT_EQ(Fingerprint(Slice("\x00", 1)), 175);
  EXPECT_EQ(Fingerprint(Slice("\xfe", 1)), 151);
}

TEST(FingerprintTest, BytesAboveAsciiCountAsUnsigned) {
  std::array<int, 256> seen{};
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    seen[Fingerprint(Slice(&c, 1))]++;
  }
  for (const int count : seen) EXPECT_EQ(count, 1);
}

TEST(MatchingBytesTest, AgreesWithALoop) {
  Random random(1);
  for (int round = 0; round < 20000; ++round) {
    uint64_t word = random.Next();
    const auto fingerprint = static_cast<uint8_t>(random.Next());
    // Make matches, and neighbours that differ in one bit, frequent.
    for (int byte = 0; byte < 8; ++byte) {
      const uint64_t mask = uint64_t{0xff} << (byte * 8);
      const uint64_t near = fingerprint ^ (uint64_t{1} << random.Uniform(8));
      if (random.OneIn(3)) word = (word & ~mask) | uint64_t{fingerprint} << (byte * 8);
      if (random.OneIn(3)) word = (word & ~mask) | near << (byte * 8);
    }
    uint64_t expected = 0;
    for (int byte = 0; byte < 8; ++byte) {
      if (static_cast<uint8_t>(word >> (byte * 8)) == fingerprint) expected |= uint64_t{1} << byte;
    }
    ASSERT_EQ(MatchingBytes(word, fingerprint), expected)
        << std::hex << word << " " << int{fingerprint};
  }
}

}  // namespace
}  // namespace ashlar::pmem
