#include "table/block/data_block.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/coding.h"
#include "base/random.h"
#include "key/key_head.h"
#include "table/block/block_builder.h"
#include "tests/support/comparators.h"

namespace ashlar {
namespace {

using Entry = std::pair<std::string, std::string>;  // internal key, value

std::string BuildBlock(const std::vector<Entry>& entries, int restart_interval) {
  BlockBuilder builder({.restart_interval = restart_interval});
  std::string previous;
  for (const auto& [key, value] : entries) {
    builder.Add(key, value, CommonPrefixBytes(previous, key));
    previous = key;
  }
  return builder.Finish().ToString();
}

TEST(ShortKey, FollowsTheKeyBeforeIt) {
  Random random(7);
  std::string block = random.Bytes(ShortKey::kBytes);  // bytes before the suffix may be read
  std::string expected;
  ShortKey key;
  for (int i = 0; i < 5000; ++i) {
    const size_t shared = random.Uniform(expected.size() + 1);
    const std::string suffix = random.Bytes(random.Uniform(ShortKey::kBytes - shared + 1));
    const size_t at = block.size();
    block += suffix + random.Bytes(ShortKey::kBytes);
    expected = expected.substr(0, shared) + suffix;
    key.Follow(shared, block.data() + at);
    char stored[ShortKey::kBytes];
    key.Store(stored);
    ASSERT_EQ(std::string(stored, expected.size()), expected) << "key " << i;
    if (random.OneIn(10)) key = ShortKey(stored);
  }
}

Result<DataBlock*> MakeBlock(const std::string& bytes, const KeyComparator& comparator) {
  BlockBuffer owned(bytes.size());
  memcpy(owned.get(), bytes.data(), bytes.size());
  const Slice contents(owned.get(), bytes.size());
  Result<DataBlock*> made = DataBlock::Create(
      {.contents = contents, .owned = std::move(owned), .comparator = comparator});
  if (made.ok()) (*made)->CheckInvariants(comparator);
  return made;
}

// Returns a key of two letters and zeros. Such keys share prefixes of every length and are prefixes
// of each other. Now and then a key shares nothing.
std::string TightKey(Random* random) {
  if (random->OneIn(30)) return random->Bytes(random->Uniform(30));
  std::string key(random->Uniform(4) * 7, 'a');
  for (uint64_t n = random->Uniform(16); n > 0; --n) key.push_back("ab\0"[random->Uniform(3)]);
  return key;
}

// A group and a number in it. A block that spans two groups has keys that differ late.
std::string CompositeKey(Random* random) {
  std::string key(8, '\0');
  StoreBigEndian64(key.data(), random->Uniform(3) << 32 | random->Uniform(100));
  return key;
}

TEST(DataBlock, FindsWhatAPlainSearchFinds) {
  uint32_t wide = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const KeyComparator comparator(TestComparators()[random.Uniform(3)].comparator);
    // Some blocks have offsets or common bytes of keys that do not fit into 16 bits.
    const std::string large_value(random.OneIn(10) ? 70'000 : 0, 'v');
    const std::string long_prefix(random.OneIn(40) ? 70'000 : 0, 'p');
    const bool composite = random.OneIn(3);
    const auto new_key = [&] {
      return long_prefix + (composite ? CompositeKey(&random) : TightKey(&random));
    };
    std::vector<Entry> entries;
    for (uint64_t n = 1 + random.Uniform(150); n > 0; --n) {
      const std::string key = entries.empty() || !random.OneIn(4)
                                  ? new_key()
                                  : ExtractUserKey(entries.back().first).ToString();
      entries.emplace_back(MakeInternalKey(key, random.Uniform(1000), ValueType::kValue),
                           std::to_string(n));
    }
    entries[random.Uniform(entries.size())].second += large_value;
    const auto less = [&](const Entry& a, const Entry& b) {
      return comparator.CompareInternal(a.first, b.first) < 0;
    };
    std::sort(entries.begin(), entries.end(), less);
    entries.erase(std::unique(entries.begin(), entries.end(),
                              [](const Entry& a, const Entry& b) { return a.first == b.first; }),
                  entries.end());

    const Result<DataBlock*> made =
        MakeBlock(BuildBlock(entries, static_cast<int>(1 + random.Uniform(20))), comparator);
    ASSERT_TRUE(made.ok()) << made.status().ToString();
    DataBlock* const block = *made;
    ASSERT_EQ(block->entries(), entries.size());
    if (block->head(block->entries() - 1) > 0xffffffff) ++wide;
    KeyBuffer buffer;
    for (uint32_t i = 0; i < block->entries(); ++i) {
      ASSERT_EQ(block->Key(comparator, i, &buffer), Slice(entries[i].first)) << i;
      ASSERT_EQ(block->View(i).value(), Slice(entries[i].second)) << i;
      ASSERT_EQ(block->Tag(comparator, i, block->View(i)), ExtractTag(entries[i].first)) << i;
    }
    for (int i = 0; i < 200; ++i) {
      const std::string key =
          random.OneIn(2)
              ? new_key()
              : ExtractUserKey(entries[random.Uniform(entries.size())].first).ToString();
      const std::string target = MakeInternalKey(key, random.Uniform(1000), ValueType::kMax);
      const auto expected =
          std::lower_bound(entries.begin(), entries.end(), Entry(target, ""), less);
      const auto at = static_cast<uint32_t>(expected - entries.begin());
      ASSERT_EQ(block->LowerBound(comparator, key, ExtractTag(target)), at)
          << Slice(key).ToString(true);

      uint64_t head = 0;
      uint32_t first = 0;
      const bool candidates =
          block->FindCandidates(comparator, key, ExtractTag(target), &head, &first);
      if (at == entries.size() || !comparator.Equal(ExtractUserKey(expected->first), key)) continue;
      ASSERT_TRUE(candidates);
      ASSERT_LE(first, at);
      for (uint32_t j = first; j <= at; ++j) {
        ASSERT_EQ(block->head(j), head);
        const int r = block->CompareTail(comparator, j, block->View(j), key);
        const int expected_r = comparator.Compare(ExtractUserKey(entries[j].first), key);
        ASSERT_TRUE((r < 0) == (expected_r < 0) && (r > 0) == (expected_r > 0)) << j;
      }
    }
    block->Release();
  }
  EXPECT_GT(wide, 20u) << "heads of 64 bits";
  EXPECT_LT(wide, 200u) << "heads of 32 bits";
}

// Only the first entry with each first byte stores its complete key.
TEST(DataBlock, KeysOfALongRunComeFromAnchors) {
  for (size_t order = 0; order < 3; ++order) {
    SCOPED_TRACE(order);
    const KeyComparator comparator(TestComparators()[order].comparator);
    Random random(3);
    std::vector<Entry> entries;
    for (int i = 0; i < 3000; ++i) {
      entries.emplace_back(
          MakeInternalKey(TightKey(&random), random.Uniform(1000), ValueType::kValue), "v");
    }
    const auto less = [&](const Entry& a, const Entry& b) {
      return comparator.CompareInternal(a.first, b.first) < 0;
    };
    std::sort(entries.begin(), entries.end(), less);
    entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
    const Result<DataBlock*> made = MakeBlock(BuildBlock(entries, 1 << 20), comparator);
    ASSERT_TRUE(made.ok()) << made.status().ToString();
    ASSERT_EQ((*made)->entries(), entries.size());
    KeyBuffer buffer;
    for (uint32_t i = 0; i < (*made)->entries(); ++i) {
      const Slice key = entries[i].first;
      ASSERT_EQ((*made)->Key(comparator, i, &buffer), key) << i;
      ASSERT_EQ((*made)->LowerBound(comparator, ExtractUserKey(key), ExtractTag(key)), i);
    }
    (*made)->Release();
  }
}

TEST(DataBlock, KeysThatExpandWithoutBoundAreCorruption) {
  const KeyComparator comparator(BytewiseComparator());
  const std::string key = MakeInternalKey(std::string(1 << 20, 'k'), 1, ValueType::kValue);
  for (const bool side_index : {true, false}) {
    for (const int sharing : {1000, 1100}) {
      SCOPED_TRACE(testing::Message() << side_index << " " << sharing);
      BlockBuilder builder({.restart_interval = 1 << 20});
      for (int i = 0; i <= sharing; ++i) builder.Add(key, "", key.size());
      const Slice bytes = builder.Finish();
      BlockBuffer owned(bytes.size());
      memcpy(owned.get(), bytes.data(), bytes.size());
      const Slice contents(owned.get(), bytes.size());
      const Result<DataBlock*> made = DataBlock::Create({.contents = contents,
                                                         .owned = std::move(owned),
                                                         .comparator = comparator,
                                                         .side_index = side_index,
                                                         .is_walked = !side_index});
      EXPECT_EQ(made.ok(), sharing == 1000) << made.status().ToString();
      if (made.ok()) (*made)->Release();
    }
  }
}

TEST(DataBlock, DisorderIsCorruption) {
  const KeyComparator comparator(BytewiseComparator());
  const auto key = [](const char* user_key) {
    return MakeInternalKey(user_key, 1, ValueType::kValue);
  };
  for (const auto& keys :
       std::vector<std::vector<std::string>>{{key("b"), key("a"), key("c")},
                                             {key("prefix1"), key("other"), key("prefix2")},
                                             {key("aaaa2b"), key("aaaa1c"), key("b")},
                                             {"short", "shorter"},
                                             {key("a"), "x", key("b")}}) {
    std::vector<Entry> entries;
    for (const std::string& k : keys) entries.emplace_back(k, "v");
    EXPECT_TRUE(MakeBlock(BuildBlock(entries, 1), comparator).status().IsCorruption());
  }
}

TEST(DataBlock, EmptyBlockHasNoEntries) {
  const KeyComparator comparator(BytewiseComparator());
  const Result<DataBlock*> made = MakeBlock(BuildBlock({}, 16), comparator);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ((*made)->entries(), 0u);
  EXPECT_EQ((*made)->LowerBound(comparator, "a", 0), 0u);
  uint64_t head = 0;
  uint32_t first = 0;
  EXPECT_FALSE((*made)->FindCandidates(comparator, "a", 0, &head, &first));
  (*made)->Release();
}

}  // namespace
}  // namespace ashlar
