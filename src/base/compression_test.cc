#include "base/compression.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "base/coding.h"
#include "base/random.h"

namespace ashlar {
namespace {

constexpr size_t kNoLimit = size_t{1} << 30;

class CompressionTest : public testing::TestWithParam<CompressionType> {
 protected:
  static std::unique_ptr<Compressor> Make(const Slice& dictionary) {
    Result<std::unique_ptr<Compressor>> compressor = Compressor::Create(GetParam(), {}, dictionary);
    EXPECT_TRUE(compressor.ok()) << compressor.status().ToString();
    return std::move(compressor).value();
  }
};

// Entries that look like a data block: keys in order, values with some repetition.
std::string BlockLike(uint64_t seed, size_t bytes) {
  Random random(seed);
  std::string out;
  while (out.size() < bytes) {
    out += "user:" + std::to_string(1000000 + out.size()) + ":name=";
    out += random.Bytes(4);
    out += ";city=Amsterdam;status=active;";
  }
  out.resize(bytes);
  return out;
}

TEST_P(CompressionTest, RoundTripsBlocksOfEverySize) {
  const auto compressor = Make({});
  std::string stored;
  std::string back;
  for (const size_t bytes : {64u, 100u, 1000u, 4096u, 16384u, 70000u, 1000000u}) {
    const std::string raw = BlockLike(bytes, bytes);
    if (!compressor->Compress(raw, &stored)) {
      EXPECT_LE(bytes, 100u);
      continue;
    }
    EXPECT_LT(stored.size(), raw.size() - raw.size() / 8);
    ASSERT_TRUE(Decompress(GetParam(), stored, nullptr, kNoLimit, &back).ok());
    EXPECT_EQ(back, raw);
  }
}

TEST_P(CompressionTest, StoredBytesBeginWithTheRawSize) {
  std::string stored;
  ASSERT_TRUE(Make({})->Compress(std::string(5000, 'a'), &stored));
  Slice input(stored);
  uint32_t raw_bytes = 0;
  ASSERT_TRUE(GetVarint32(&input, &raw_bytes));
  EXPECT_EQ(raw_bytes, 5000u);
}

TEST_P(CompressionTest, LeavesAloneWhatDoesNotShrink) {
  const auto compressor = Make({});
  const std::string text = BlockLike(1, 4096);
  std::string stored;
  std::string back;
  for (const std::string& raw : {std::string(), std::string("a"), std::string("aaaaaaa"),
                                 Random(3).Bytes(4096), Random(4).Bytes(70000)}) {
    EXPECT_FALSE(compressor->Compress(raw, &stored)) << raw.size();
    // The compressor still works after it has given up.
    ASSERT_TRUE(compressor->Compress(text, &stored));
    ASSERT_TRUE(Decompress(GetParam(), stored, nullptr, kNoLimit, &back).ok());
    EXPECT_EQ(back, text);
  }
}

TEST_P(CompressionTest, DictionaryHelpsAndIsNeededBack) {
  const std::string dictionary = BlockLike(10, 20000);
  const auto plain = Make({});
  const auto with_dictionary = Make(dictionary);
  const DecompressionDictionary prepared{Slice(dictionary)};
  const std::string raw = BlockLike(11, 600);
  std::string small;
  std::string smaller;
  std::string back;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(plain->Compress(raw, &small));
    ASSERT_TRUE(with_dictionary->Compress(raw, &smaller));
    ASSERT_TRUE(Decompress(GetParam(), smaller, &prepared, kNoLimit, &back).ok());
    EXPECT_EQ(back, raw);
  }
  if (GetParam() == kSnappyCompression) return;
  EXPECT_LT(smaller.size(), small.size());
  const Status without = Decompress(GetParam(), smaller, nullptr, kNoLimit, &back);
  EXPECT_TRUE(!without.ok() || back != raw);
}

TEST_P(CompressionTest, LongDictionaryIsUsedToItsEnd) {
  const std::string dictionary = BlockLike(12, 300000);
  const DecompressionDictionary prepared{Slice(dictionary)};
  const std::string raw = BlockLike(13, 3000);
  std::string stored;
  std::string back;
  ASSERT_TRUE(Make(dictionary)->Compress(raw, &stored));
  ASSERT_TRUE(Decompress(GetParam(), stored, &prepared, kNoLimit, &back).ok());
  EXPECT_EQ(back, raw);
}

TEST_P(CompressionTest, ClaimBeyondTheLimitIsRefusedUnread) {
  std::string stored;
  ASSERT_TRUE(Make({})->Compress(std::string(5000, 'a'), &stored));
  std::string back = "untouched";
  const Status status = Decompress(GetParam(), stored, nullptr, 4999, &back);
  EXPECT_TRUE(status.IsCorruption());
  EXPECT_NE(std::string(status.getState()).find("5000"), std::string::npos);
  EXPECT_EQ(back, "untouched");
  EXPECT_TRUE(Decompress(GetParam(), stored, nullptr, 5000, &back).ok());
}

// Otherwise a tiny block that claims the largest size would get that memory before it is read.
TEST_P(CompressionTest, AClaimThatTheBytesCannotHoldIsRefusedUnread) {
  std::string stored;
  ASSERT_TRUE(Make({})->Compress(std::string(5000, 'a'), &stored));
  constexpr size_t kLimit = size_t{1} << 30;
  EXPECT_EQ(*DecompressedSize(GetParam(), stored, kLimit), 5000U);
  std::string bomb;
  PutVarint32(&bomb, kLimit);
  bomb += stored.substr(VarintLength(5000));
  const Status status = DecompressedSize(GetParam(), bomb, kLimit).status();
  EXPECT_TRUE(status.IsCorruption());
  EXPECT_NE(status.ToString().find("more than it can hold"), std::string::npos)
      << status.ToString();
}

// The highest ratio that each codec reaches is within its bound.
TEST_P(CompressionTest, EightMillionEqualBytesAreTaken) {
  const std::string raw(size_t{8} << 20, 'a');
  std::string stored;
  std::string back;
  ASSERT_TRUE(Make({})->Compress(raw, &stored));
  ASSERT_TRUE(Decompress(GetParam(), stored, nullptr, raw.size(), &back).ok()) << stored.size();
  EXPECT_EQ(back, raw);
}

TEST_P(CompressionTest, EveryTruncationIsCorruption) {
  const std::string raw = BlockLike(5, 900);
  std::string stored;
  ASSERT_TRUE(Make({})->Compress(raw, &stored));
  std::string back;
  for (size_t n = 0; n < stored.size(); ++n) {
    const std::string cut(stored.data(), n);
    EXPECT_TRUE(Decompress(GetParam(), cut, nullptr, kNoLimit, &back).IsCorruption()) << n;
  }
}

TEST_P(CompressionTest, AWrongClaimIsCorruption) {
  const std::string raw(5000, 'a');
  std::string stored;
  ASSERT_TRUE(Make({})->Compress(raw, &stored));
  Slice payload(stored);
  uint32_t raw_bytes = 0;
  ASSERT_TRUE(GetVarint32(&payload, &raw_bytes));
  std::string back;
  for (const uint32_t claim : {0u, 1u, 4999u, 5001u, 100000u}) {
    std::string lie;
    PutVarint32(&lie, claim);
    lie.append(payload.data(), payload.size());
    EXPECT_TRUE(Decompress(GetParam(), lie, nullptr, kNoLimit, &back).IsCorruption()) << claim;
  }
}

TEST_P(CompressionTest, DamagedBytesNeverLeadOutsideTheBuffers) {
  constexpr uint64_t kSeed = 99;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  const std::string raw = BlockLike(6, 3000);
  std::string stored;
  ASSERT_TRUE(Make({})->Compress(raw, &stored));
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = stored;
    for (uint64_t flips = 1 + random.Uniform(3); flips > 0; --flips) {
      damaged[random.Uniform(damaged.size())] ^= static_cast<char>(1u << random.Uniform(8));
    }
    std::string back;
    if (Decompress(GetParam(), damaged, nullptr, size_t{1} << 20, &back).ok()) {
      EXPECT_LE(back.size(), size_t{1} << 20);
    }
  }
}

TEST_P(CompressionTest, ThreadsDecompressAtOnce) {
  const std::string raw = BlockLike(7, 20000);
  const std::string dictionary = BlockLike(8, 5000);
  const DecompressionDictionary prepared{Slice(dictionary)};
  std::string stored;
  ASSERT_TRUE(Make(dictionary)->Compress(raw, &stored));
  std::vector<int> good(4);
  std::vector<std::thread> threads;
  for (int& count : good) {
    threads.emplace_back([&] {
      std::string back;
      for (int i = 0; i < 50; ++i) {
        if (Decompress(GetParam(), stored, &prepared, kNoLimit, &back).ok() && back == raw) ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int count : good) EXPECT_EQ(count, 50);
}

INSTANTIATE_TEST_SUITE_P(Codecs, CompressionTest,
                         testing::Values(kSnappyCompression, kZlibCompression, kLZ4Compression,
                                         kLZ4HCCompression, kZSTD),
                         [](const testing::TestParamInfo<CompressionType>& codec) {
                           return CompressionTypeName(codec.param);
                         });

TEST(CompressionTypeTest, AbsentCodecsAreRefusedByName) {
  std::string out;
  for (const CompressionType type :
       {kBZip2Compression, kXpressCompression, static_cast<CompressionType>(0x40)}) {
    const Status created = Compressor::Create(type, {}, {}).status();
    EXPECT_TRUE(created.IsNotSupported());
    EXPECT_NE(created.ToString().find(CompressionTypeName(type)), std::string::npos);
    EXPECT_TRUE(Decompress(type, "\x05hello", nullptr, kNoLimit, &out).IsNotSupported());
  }
  EXPECT_NE(Compressor::Create(kBZip2Compression, {}, {}).status().ToString().find("BZip2"),
            std::string::npos);
  EXPECT_TRUE(ValidateCompressionType(kNoCompression).ok());
  EXPECT_TRUE(Compressor::Create(kNoCompression, {}, {}).status().IsInvalidArgument());
}

TEST(CompressionTypeTest, ParametersOutOfRangeAreRefused) {
  EXPECT_TRUE(Compressor::Create(kZlibCompression, {.level = 10}, {}).status().IsInvalidArgument());
  EXPECT_TRUE(Compressor::Create(kZlibCompression, {.level = 6, .window_bits = 15}, {})
                  .status()
                  .IsInvalidArgument());
  EXPECT_TRUE(
      Compressor::Create(kZlibCompression, {.level = 6, .window_bits = -14, .strategy = 9}, {})
          .status()
          .IsInvalidArgument());
  EXPECT_TRUE(Compressor::Create(kZSTD, {.level = 1000}, {}).status().IsInvalidArgument());
  EXPECT_TRUE(ValidateCompression(kZSTD, {.level = 1000}).IsInvalidArgument());
  EXPECT_TRUE(ValidateCompression(kZSTD, {.level = 19}).ok());
  EXPECT_TRUE(ValidateCompression(kNoCompression, {.level = 1000}).ok());
  EXPECT_TRUE(Compressor::Create(kLZ4Compression, {.level = -2000000000}, {}).ok());
  EXPECT_TRUE(Compressor::Create(kLZ4HCCompression, {.level = 99}, {}).ok());
}

TEST(CompressionTypeTest, LevelsAreUsed) {
  const std::string raw = BlockLike(9, 60000);
  for (const CompressionType type : {kZlibCompression, kZSTD, kLZ4HCCompression}) {
    std::string fast;
    std::string small;
    ASSERT_TRUE((*Compressor::Create(type, {.level = 1}, {}))->Compress(raw, &fast));
    ASSERT_TRUE((*Compressor::Create(type, {.level = 9}, {}))->Compress(raw, &small));
    EXPECT_NE(small, fast) << CompressionTypeName(type);
  }
}

}  // namespace
}  // namespace ashlar
