#include <gtest/gtest.h>

#include "base/coding.h"
#include "base/hash.h"
#include "base/random.h"
#include "base/xxph3.h"
#include "table/filter/filter_builder.h"
#include "table/filter/filter_reader.h"
#include "table/filter/filter_test_kit.h"

namespace ashlar {
namespace {

bool MayMatch(const FilterReader& reader, const Slice& key) {
  return reader.MayMatch(Xxph3Hash64(key), key);
}

TEST(Filter, NoKeysMatchNothing) {
  FilterBuilder builder({.millibits_per_key = 10000});
  const std::string block = test::FinishFilter(&builder);
  EXPECT_EQ(block.size(), 5u);
  EXPECT_FALSE(MayMatch(FilterReader(block), "a"));
  EXPECT_FALSE(MayMatch(FilterReader(Slice()), "a"));
}

TEST(Filter, FindsEveryKeyAndFewOthers) {
  struct Case {
    int millibits;
    double false_positives_max;
  };
  for (const Case& c : {Case{1000, 0.7}, Case{5000, 0.12}, Case{10000, 0.013}, Case{15500, 0.002},
                        Case{60000, 0.0005}}) {
    FilterBuilder builder({.millibits_per_key = c.millibits});
    constexpr int kKeys = 10000;
    for (int i = 0; i < kKeys; ++i) builder.AddHash(Xxph3Hash64("key" + std::to_string(i)));
    const std::string block = test::FinishFilter(&builder);
    const FilterReader reader(block);
    int false_positives = 0;
    for (int i = 0; i < kKeys; ++i) {
      ASSERT_TRUE(MayMatch(reader, "key" + std::to_string(i)));
      false_positives += MayMatch(reader, "other" + std::to_string(i)) ? 1 : 0;
    }
    EXPECT_LE(false_positives, c.false_positives_max * kKeys) << c.millibits;
  }
}

TEST(Filter, RibbonFindsEveryKeyAndAsFewOthersAsBloomInLessSpace) {
  for (const int millibits : {3000, 7000, 10000, 16000, 30000}) {
    for (const int keys : {1, 2, 100, 700, 5000, 100000}) {
      FilterBuilder bloom({.millibits_per_key = millibits});
      FilterBuilder ribbon({.kind = FilterKind::kRibbon, .millibits_per_key = millibits});
      for (int i = 0; i < keys; ++i) {
        const uint64_t hash = Xxph3Hash64("key" + std::to_string(i));
        bloom.AddHash(hash);
        ribbon.AddHash(hash);
        if (i % 1000 != 0) continue;
        bloom.AddHash(Xxph3Hash64("key0"));  // hashes may repeat
        ribbon.AddHash(Xxph3Hash64("key0"));
      }
      const std::string bloom_block = test::FinishFilter(&bloom);
      const std::string block = test::FinishFilter(&ribbon);
      EXPECT_LE(block.size(), bloom_block.size());
      if (keys >= 5000) {
        EXPECT_EQ(block[block.size() - 5], '\xfe');
        EXPECT_LT(block.size() * 10, bloom_block.size() * 9);
      }
      const FilterReader reader(block);
      const FilterReader bloom_reader(bloom_block);
      int ribbon_positives = 0;
      int bloom_positives = 0;
      for (int i = 0; i < std::max(keys, 20000); ++i) {
        if (i < keys) {
          ASSERT_TRUE(MayMatch(reader, "key" + std::to_string(i)));
        }
        ribbon_positives += MayMatch(reader, "other" + std::to_string(i)) ? 1 : 0;
        bloom_positives += MayMatch(bloom_reader, "other" + std::to_string(i)) ? 1 : 0;
      }
      if (keys >= 5000) {
        EXPECT_LE(ribbon_positives, bloom_positives * 5 / 4 + 20) << millibits << " " << keys;
      }
    }
  }
}

TEST(Filter, LegacyBloomFindsEveryKeyAndFewOthers) {
  const std::shared_ptr<const SliceTransform> fixed(NewFixedPrefixTransform(3));
  for (const int millibits : {1000, 10000, 10499, 60000}) {
    for (const int keys : {1, 51, 52, 103, 10000}) {
      FilterBuilder builder({.kind = FilterKind::kLegacyBloom,
                             .millibits_per_key = millibits,
                             .prefix_extractor = fixed.get()});
      for (int i = 0; i < keys; ++i) builder.AddKey("key" + std::to_string(i));
      EXPECT_EQ(builder.entries(), static_cast<size_t>(keys) + 1);
      const size_t bytes_max = builder.BlockBytesMax();
      const std::string block = test::FinishFilter(&builder);
      EXPECT_EQ(block.size(), bytes_max);
      const uint32_t lines = DecodeFixed32(block.data() + block.size() - 4);
      EXPECT_EQ(lines % 2, 1u);
      EXPECT_EQ(block.size(), lines * 64 + 5);
      const FilterReader reader(block);
      EXPECT_TRUE(MayMatch(reader, "key"));
      int false_positives = 0;
      for (int i = 0; i < keys; ++i) {
        ASSERT_TRUE(MayMatch(reader, "key" + std::to_string(i)));
        false_positives += MayMatch(reader, "other" + std::to_string(i)) ? 1 : 0;
      }
      if (millibits >= 10000) {
        EXPECT_LE(false_positives, keys / 50 + 3);
      }
    }
  }
}

// Releases that know only this kind read the 255 of another kind as its number of probes.
TEST(Filter, GoldenBytesOfLegacyBloom) {
  FilterBuilder builder({.kind = FilterKind::kLegacyBloom, .millibits_per_key = 10000});
  const std::string empty = test::FinishFilter(&builder);
  EXPECT_EQ(empty, std::string(5, '\0'));
  const uint32_t hash = LegacyHash32("a", 1, kLegacyFilterHashSeed);
  builder.AddKey("a");
  const std::string block = test::FinishFilter(&builder);
  std::string expected(64, '\0');
  for (uint32_t i = 0; i < 6; ++i) {
    const uint32_t bit = (hash + i * ((hash >> 17) | (hash << 15))) & 511;
    expected[bit / 8] =
        static_cast<char>(static_cast<uint8_t>(expected[bit / 8]) | (1u << (bit % 8)));
  }
  expected += std::string("\x06\x01\x00\x00\x00", 5);
  EXPECT_EQ(Slice(block).ToString(true), Slice(expected).ToString(true));
}

TEST(Filter, OneBuilderMakesSeveralFilters) {
  for (const FilterKind kind :
       {FilterKind::kBloom, FilterKind::kRibbon, FilterKind::kLegacyBloom}) {
    FilterBuilder reused({.kind = kind, .millibits_per_key = 10000});
    for (const int keys : {70000, 10, 0, 40000}) {
      FilterBuilder fresh({.kind = kind, .millibits_per_key = 10000});
      for (int i = 0; i < keys; ++i) {
        reused.AddHash(Xxph3Hash64(std::to_string(keys + i)));
        fresh.AddHash(Xxph3Hash64(std::to_string(keys + i)));
      }
      EXPECT_EQ(reused.entries(), fresh.entries());
      EXPECT_TRUE(test::FinishFilter(&reused) == test::FinishFilter(&fresh)) << keys;
    }
  }
}

TEST(Filter, EqualNeighboursCountOnce) {
  FilterBuilder builder({.millibits_per_key = 10000});
  for (const uint64_t hash : {1u, 1u, 2u, 2u, 1u}) builder.AddHash(hash);
  EXPECT_EQ(builder.entries(), 3u);
}

TEST(Filter, PrefixesInARowCountOnce) {
  const std::shared_ptr<const SliceTransform> fixed(NewFixedPrefixTransform(2));
  const std::shared_ptr<const SliceTransform> whole(NewNoopTransform());
  const auto entries = [](bool whole_keys, const SliceTransform* extractor,
                          const std::vector<std::string>& keys) {
    FilterBuilder builder(
        {.millibits_per_key = 10000, .whole_keys = whole_keys, .prefix_extractor = extractor});
    for (const std::string& key : keys) builder.AddKey(key);
    return builder.entries();
  };
  const std::vector<std::string> keys = {"a", "aa", "aab", "aac", "ab1", "b", "bb1"};
  EXPECT_EQ(entries(true, nullptr, keys), 7u);
  EXPECT_EQ(entries(false, fixed.get(), keys), 3u);
  // "aa" is a key and its own prefix, so these neighbours are equal.
  EXPECT_EQ(entries(true, fixed.get(), keys), 9u);
  EXPECT_EQ(entries(true, whole.get(), keys), 7u);
  EXPECT_EQ(entries(false, fixed.get(), {"a", "b"}), 0u);
}

TEST(Filter, FindsThePrefixesOfItsKeys) {
  const std::shared_ptr<const SliceTransform> fixed(NewFixedPrefixTransform(4));
  for (const bool whole_keys : {false, true}) {
    FilterBuilder builder(
        {.millibits_per_key = 16000, .whole_keys = whole_keys, .prefix_extractor = fixed.get()});
    for (int i = 0; i < 3000; ++i)
      builder.AddKey(std::to_string(1000 + i / 3) + "/" + std::to_string(i % 3));
    const std::string block = test::FinishFilter(&builder);
    const FilterReader reader(block);
    int false_positives = 0;
    for (int i = 0; i < 1000; ++i) {
      ASSERT_TRUE(MayMatch(reader, std::to_string(1000 + i)));
      ASSERT_TRUE(!whole_keys || MayMatch(reader, std::to_string(1000 + i) + "/1"));
      false_positives += MayMatch(reader, std::to_string(5000 + i)) ? 1 : 0;
    }
    EXPECT_LE(false_positives, 5);
  }
}

TEST(Filter, GoldenBytes) {
  FilterBuilder builder({.millibits_per_key = 10000});
  builder.AddHash(0x0123456789abcdefu);
  const std::string block = test::FinishFilter(&builder);
  ASSERT_EQ(block.size(), 69u);
  // One line. The bits of the six probes are (0x01234567 * 0x9e3779b9^i) >> 23.
  std::string expected(64, '\0');
  uint32_t h = 0x01234567u;
  for (int i = 0; i < 6; ++i, h *= 0x9e3779b9u) {
    const uint32_t bit = h >> 23;
    expected[bit / 8] =
        static_cast<char>(static_cast<uint8_t>(expected[bit / 8]) | (1u << (bit % 8)));
  }
  expected += std::string("\xff\x00\x06\x00\x00", 5);
  EXPECT_EQ(Slice(block).ToString(true), Slice(expected).ToString(true));
}

TEST(Filter, UnknownKindsMatchEverything) {
  for (const std::string& tail :
       {std::string("\x00\x01\x02\x03\x04", 5), std::string("\xfd\x00\x06\x00\x00", 5),
        std::string("\xff\x01\x06\x00\x00", 5), std::string("\xff\x00\x26\x00\x00", 5),
        std::string("\xff\x00\x06\x01\x00", 5), std::string("\xff\x00\x1f\x00\x00", 5),
        std::string("\xfe\x00\x01\x00\x00", 5), std::string("\x06\x00\x00\x00\x00", 5),
        std::string("\x06\x03\x00\x00\x00", 5)}) {
    const std::string block = std::string(64, '\0') + tail;
    EXPECT_TRUE(MayMatch(FilterReader(block), "a")) << Slice(tail).ToString(true);
  }
}

TEST(Filter, AnyBytesAreReadInsideTheirBounds) {
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    // A separate allocation, so that AddressSanitizer detects an access outside.
    const size_t n = random.Skewed(11);
    const auto bytes = std::make_unique<char[]>(n);
    for (size_t i = 0; i < n; ++i) bytes[i] = static_cast<char>(random.Next());
    if (n >= 5 && random.OneIn(2)) {
      constexpr char kMarkers[] = {'\xff', '\xfe', '\x06'};
      bytes[n - 5] = kMarkers[random.Uniform(3)];
      bytes[n - 4] = bytes[n - 2] = bytes[n - 1] = 0;
      if (random.OneIn(2)) bytes[n - 3] = static_cast<char>(random.Uniform(8));
    }
    const FilterReader reader(Slice(bytes.get(), n));
    for (int i = 0; i < 50; ++i)
      static_cast<void>(MayMatch(reader, random.Bytes(random.Uniform(20))));
  }
}

}  // namespace
}  // namespace ashlar
