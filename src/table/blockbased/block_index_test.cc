#include "table/blockbased/block_index.h"

#include <gtest/gtest.h>

#include "table/blockbased/table_test_kit.h"
#include "tests/support/comparators.h"

namespace ashlar::test {
namespace {

void StoreBigEndian32(char* p, uint32_t v) {
  char wide[8];
  StoreBigEndian64(wide, v);
  memcpy(p, wide + 4, 4);
}

// Returns the first separator that is not before the key by a linear search, or the last block if
// there is none.
uint32_t PlainFind(const std::vector<std::string>& separators, const KeyComparator& comparator,
                   bool user_keys, const std::string& internal_key) {
  for (uint32_t i = 0; i + 1 < separators.size(); ++i) {
    const int r = user_keys ? comparator.Compare(separators[i], ExtractUserKey(internal_key))
                            : comparator.CompareInternal(separators[i], internal_key);
    if (r >= 0) return i;
  }
  return static_cast<uint32_t>(separators.size() - 1);
}

TEST(BlockIndex, FindsWhatAPlainSearchFinds) {
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const NamedComparator& named = TestComparators()[random.Uniform(3)];
    const KeyComparator comparator(named.comparator);
    const bool user_keys = random.OneIn(2);
    const KeyKind kind = kKeyKinds[random.Uniform(std::size(kKeyKinds))];
    const size_t n = 1 + random.Skewed(12);
    std::vector<std::string> separators;
    for (size_t i = 0; i < n; ++i) {
      const std::string key = MakeKey(kind, i * 3, &random);
      separators.push_back(user_keys ? key
                                     : MakeInternalKey(key, random.Uniform(4), ValueType::kValue));
    }
    std::sort(
        separators.begin(), separators.end(), [&](const std::string& a, const std::string& b) {
          return (user_keys ? comparator.Compare(a, b) : comparator.CompareInternal(a, b)) < 0;
        });
    BlockIndex index(comparator);
    for (size_t i = 0; i < n; ++i)
      ASSERT_OK(index.Add({separators[i], {i * 100, 95}}, user_keys, 1 << 30));
    index.Seal(false);
    index.CheckInvariants();
    ASSERT_EQ(index.blocks(), n);
    for (int i = 0; i < 300; ++i) {
      std::string key =
          random.OneIn(2) ? MakeKey(kind, random.Uniform(n * 3 + 5), &random)
                          : (user_keys ? separators[random.Uniform(n)]
                                       : ExtractUserKey(separators[random.Uniform(n)]).ToString());
      if (random.OneIn(4) && !key.empty()) key.pop_back();
      if (random.OneIn(4)) key.push_back(static_cast<char>(random.Next()));
      const std::string target = MakeInternalKey(key, random.Uniform(5), ValueType::kMax);
      ASSERT_EQ(index.Find(key, ExtractTag(target)),
                PlainFind(separators, comparator, user_keys, target))
          << Slice(key).ToString(true);
    }
  }
}

TEST(BlockIndex, LargestHeadsAndPadding) {
  for (const size_t n : {1u, 2u, 15u, 16u, 17u, 18u, 255u, 256u, 257u, 258u, 4097u, 4098u}) {
    BlockIndex index{KeyComparator(BytewiseComparator())};
    for (size_t i = 0; i < n; ++i) {
      char key[4];
      StoreBigEndian32(key, static_cast<uint32_t>(i * 2));
      ASSERT_OK(index.Add({Slice(key, 4), {i * 100, 95}}, true, 1 << 30));
    }
    index.Seal(false);
    index.CheckInvariants();
    for (size_t i = 0; i < n; ++i) {
      for (const uint32_t value :
           {static_cast<uint32_t>(i * 2), static_cast<uint32_t>(i * 2 + 1)}) {
        char key[4];
        StoreBigEndian32(key, value);
        ASSERT_EQ(index.Find(Slice(key, 4), 0), std::min<size_t>((value + 1) / 2, n - 1)) << n;
      }
    }
    EXPECT_EQ(index.Find(std::string(20, '\xff'), 0), n - 1);
    EXPECT_EQ(index.Find("", 0), 0u);
  }
}

TEST(BlockIndex, RefusesDisorderAndOverlap) {
  const auto add_two = [](const IndexBlockEntry& first, const IndexBlockEntry& second) {
    BlockIndex index{KeyComparator(BytewiseComparator())};
    EXPECT_OK(index.Add(first, true, 1000));
    return index.Add(second, true, 1000);
  };
  EXPECT_OK(add_two({"a", {0, 95}}, {"b", {100, 95}}));
  EXPECT_TRUE(add_two({"b", {0, 95}}, {"a", {100, 95}}).IsCorruption());
  EXPECT_TRUE(add_two({"a", {0, 95}}, {"b", {99, 95}}).IsCorruption());
  EXPECT_TRUE(add_two({"a", {0, 95}}, {"b", {0, 95}}).IsCorruption());
  EXPECT_TRUE(add_two({"a", {0, 95}}, {"b", {900, 96}}).IsCorruption());
  EXPECT_TRUE(add_two({"a", {0, 95}}, {"b", {~uint64_t{0}, 10}}).IsCorruption());
}

}  // namespace
}  // namespace ashlar::test
