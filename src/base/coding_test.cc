#include "base/coding.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"

namespace ashlar {
namespace {

constexpr uint64_t kMax64 = std::numeric_limits<uint64_t>::max();
constexpr uint32_t kMax32 = std::numeric_limits<uint32_t>::max();

std::vector<uint64_t> EdgeValues() {
  std::vector<uint64_t> values = {0, kMax64};
  for (int bit = 0; bit < 64; ++bit) {
    const uint64_t power = uint64_t{1} << bit;
    values.insert(values.end(), {power - 1, power, power + 1});
  }
  return values;
}

TEST(CodingTest, FixedIsLittleEndian) {
  std::string bytes(2, 0);
  EncodeFixed16(bytes.data(), 0x0102);
  PutFixed32(&bytes, 0x03040506);
  PutFixed64(&bytes, 0x0708090a0b0c0d0e);
  EXPECT_EQ(bytes, std::string("\x02\x01\x06\x05\x04\x03\x0e\x0d\x0c\x0b\x0a\x09\x08\x07", 14));
  EXPECT_EQ(DecodeFixed16(bytes.data()), 0x0102);
  Slice input(bytes.data() + 2, bytes.size() - 2);
  uint32_t v32 = 0;
  uint64_t v64 = 0;
  EXPECT_TRUE(GetFixed32(&input, &v32));
  EXPECT_TRUE(GetFixed64(&input, &v64));
  EXPECT_EQ(v32, 0x03040506u);
  EXPECT_EQ(v64, 0x0708090a0b0c0d0eu);
  EXPECT_TRUE(input.empty());
}

TEST(CodingTest, FixedRefusesShortInput) {
  const std::string bytes(7, 'x');
  Slice input(bytes);
  uint64_t v64 = 0;
  EXPECT_FALSE(GetFixed64(&input, &v64));
  EXPECT_EQ(input.size(), 7u);
  input = Slice(bytes.data(), 3);
  uint32_t v32 = 0;
  EXPECT_FALSE(GetFixed32(&input, &v32));
}

TEST(CodingTest, VarintsRoundTripAtEveryWidth) {
  for (const uint64_t value : EdgeValues()) {
    std::string bytes;
    PutVarint64(&bytes, value);
    EXPECT_EQ(bytes.size(), VarintLength(value));
    Slice input(bytes);
    uint64_t v64 = ~value;
    ASSERT_TRUE(GetVarint64(&input, &v64)) << value;
    EXPECT_EQ(v64, value);
    EXPECT_TRUE(input.empty());

    uint32_t v32 = 0;
    input = Slice(bytes);
    EXPECT_EQ(GetVarint32(&input, &v32), value <= kMax32) << value;
    if (value <= kMax32) {
      EXPECT_EQ(v32, value);
    }
  }
}

TEST(CodingTest, VarintBytesAreTheFormat) {
  std::string bytes;
  PutVarint32(&bytes, 300);
  EXPECT_EQ(bytes, "\xac\x02");
  bytes.clear();
  PutVarint32(&bytes, kMax32);
  EXPECT_EQ(bytes, "\xff\xff\xff\xff\x0f");
}

TEST(CodingTest, EveryTruncatedVarintIsRefusedAndLeavesTheInput) {
  for (const uint64_t value : EdgeValues()) {
    std::string bytes;
    PutVarint64(&bytes, value);
    for (size_t n = 0; n < bytes.size(); ++n) {
      // An exact allocation, so that AddressSanitizer detects a read past the end.
      const auto cut = std::make_unique<char[]>(n);
      memcpy(cut.get(), bytes.data(), n);
      Slice input(cut.get(), n);
      uint64_t v64 = 0;
      uint32_t v32 = 0;
      EXPECT_FALSE(GetVarint64(&input, &v64));
      EXPECT_FALSE(GetVarint32(&input, &v32));
      EXPECT_EQ(input.size(), n);
    }
  }
}

TEST(CodingTest, VarintsThatDoNotFitAreRefused) {
  const std::array<std::string, 3> too_much_for_32 = {
      "\xff\xff\xff\xff\x10", "\xff\xff\xff\xff\xff\x01", "\x80\x80\x80\x80\x80\x01"};
  for (const std::string& bytes : too_much_for_32) {
    Slice input(bytes);
    uint32_t v32 = 0;
    EXPECT_FALSE(GetVarint32(&input, &v32));
  }
  const std::array<std::string, 2> too_much_for_64 = {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02",
                                                      "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x81"};
  for (const std::string& bytes : too_much_for_64) {
    Slice input(bytes);
    uint64_t v64 = 0;
    EXPECT_FALSE(GetVarint64(&input, &v64));
  }
}

TEST(CodingTest, NeedlesslyLongVarintIsRead) {
  const std::string bytes("\x85\x80\x00", 3);
  Slice input(bytes);
  uint32_t v32 = 0;
  EXPECT_TRUE(GetVarint32(&input, &v32));
  EXPECT_EQ(v32, 5u);
  EXPECT_TRUE(input.empty());
}

TEST(CodingTest, ZigZagMakesSmallNegativesShort) {
  EXPECT_EQ(ZigZagEncode(0), 0u);
  EXPECT_EQ(ZigZagEncode(-1), 1u);
  EXPECT_EQ(ZigZagEncode(1), 2u);
  EXPECT_EQ(ZigZagEncode(std::numeric_limits<int64_t>::min()), kMax64);
  for (const uint64_t raw : EdgeValues()) {
    const auto value = static_cast<int64_t>(raw);
    EXPECT_EQ(ZigZagDecode(ZigZagEncode(value)), value);
    std::string bytes;
    PutZigZag64(&bytes, value);
    Slice input(bytes);
    uint64_t read = 0;
    EXPECT_TRUE(GetVarint64(&input, &read));
    EXPECT_EQ(ZigZagDecode(read), value);
  }
}

TEST(CodingTest, LengthPrefixedSlicesRoundTrip) {
  std::string bytes;
  const std::vector<std::string> texts = {"", "a", std::string(127, 'b'), std::string(128, 'c'),
                                          std::string(70000, 'd')};
  for (const std::string& text : texts) PutLengthPrefixedSlice(&bytes, text);
  Slice input(bytes);
  for (const std::string& text : texts) {
    Slice read;
    ASSERT_TRUE(GetLengthPrefixedSlice(&input, &read));
    EXPECT_EQ(read.ToString(), text);
  }
  EXPECT_TRUE(input.empty());
}

TEST(CodingTest, LengthBeyondTheInputIsRefused) {
  std::string bytes;
  PutVarint32(&bytes, kMax32);
  bytes += "abc";
  Slice input(bytes);
  Slice read("before");
  EXPECT_FALSE(GetLengthPrefixedSlice(&input, &read));
  EXPECT_EQ(input.size(), bytes.size());
  EXPECT_EQ(read.ToString(), "before");
}

TEST(CodingTest, HeadOfEveryLengthReadsNothingElse) {
  for (size_t n = 0; n <= 9; ++n) {
    const auto key = std::make_unique<char[]>(n);
    uint64_t expected = 0;
    for (size_t i = 0; i < n; ++i) {
      key[i] = static_cast<char>(0xf1 + i);
      if (i < 8) expected |= (0xf1 + i) << (56 - 8 * i);
    }
    EXPECT_EQ(LoadHead(key.get(), n), expected) << n;
  }
}

TEST(CodingTest, HeadsSortAsTheBytesDo) {
  constexpr uint64_t kSeed = 20240501;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  const auto make_key = [&random] {
    std::string key(random.Uniform(12), '\0');
    for (char& c : key) c = static_cast<char>(random.Uniform(3) * 127);
    return key;
  };
  for (int i = 0; i < 20000; ++i) {
    const std::string a = make_key();
    const std::string b = make_key();
    const uint64_t head_a = LoadHead(a.data(), a.size());
    const uint64_t head_b = LoadHead(b.data(), b.size());
    if (head_a != head_b) {
      ASSERT_EQ(head_a < head_b, Slice(a).compare(b) < 0);
    }
  }
}

TEST(CodingTest, ByteSwapsAndBigEndianStores) {
  EXPECT_EQ(ByteSwap16(0x0102), 0x0201);
  EXPECT_EQ(ByteSwap32(0x01020304), 0x04030201u);
  EXPECT_EQ(ByteSwap64(0x0102030405060708), 0x0807060504030201u);
  char bytes[8];
  StoreBigEndian64(bytes, 0x0102030405060708);
  EXPECT_EQ(bytes[0], 1);
  EXPECT_EQ(bytes[7], 8);
  EXPECT_EQ(LoadBigEndian64(bytes), 0x0102030405060708u);
}

}  // namespace
}  // namespace ashlar
