#include "key/key_comparator.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"
#include "tests/support/comparators.h"

namespace ashlar {
namespace {

int Sign(int r) { return r < 0 ? -1 : (r > 0 ? 1 : 0); }

// Short keys over few bytes, so that prefixes, equal keys and zero bytes are common.
std::string RandomKey(Random* random) {
  std::string key(random->Uniform(12), '\0');
  for (char& c : key) c = "\0\1a\x7f\x80\xff"[random->Uniform(6)];
  return key;
}

TEST(KeyComparatorTest, KindsAreResolved) {
  EXPECT_EQ(KeyComparator(BytewiseComparator()).kind(), KeyComparator::Kind::kBytewise);
  EXPECT_EQ(KeyComparator(ReverseBytewiseComparator()).kind(),
            KeyComparator::Kind::kReverseBytewise);
  EXPECT_EQ(KeyComparator(TestComparators()[2].comparator).kind(), KeyComparator::Kind::kCustom);
}

TEST(KeyComparatorTest, OrdersAgreeWithTheUsersComparator) {
  Random random(301);
  for (const NamedComparator& order : TestComparators()) {
    const KeyComparator comparator(order.comparator);
    for (int i = 0; i < 20000; ++i) {
      const std::string a = RandomKey(&random);
      const std::string b = RandomKey(&random);
      const int expected = Sign(order.comparator->Compare(a, b));
      ASSERT_EQ(Sign(comparator.Compare(a, b)), expected) << order.name;
      ASSERT_EQ(comparator.Equal(a, b), expected == 0) << order.name;
    }
  }
}

// A comparator of the program that must not be called.
class NeverAsked final : public Comparator {
 public:
  const char* Name() const override { return "NeverAsked"; }
  int Compare(const Slice&, const Slice&) const override {
    ADD_FAILURE() << "called";
    return 1;
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

TEST(KeyComparatorTest, ACustomComparatorIsNotAskedAboutEqualBytes) {
  const NeverAsked user;
  const KeyComparator comparator(&user);
  const std::string key = "key";
  const std::string copy = key;
  EXPECT_EQ(comparator.Compare(key, copy), 0);
  EXPECT_TRUE(comparator.Equal(key, copy));
  std::string newer;
  AppendInternalKey(&newer, key, PackTag(2, ValueType::kValue));
  std::string older;
  AppendInternalKey(&older, key, PackTag(1, ValueType::kValue));
  EXPECT_LT(comparator.CompareInternal(newer, older), 0);
  EXPECT_GT(comparator.CompareInternal(older, key, PackTag(2, ValueType::kValue)), 0);
}

TEST(KeyComparatorTest, HeadsOrderLikeKeysAfterACommonPrefix) {
  Random random(302);
  for (const NamedComparator& order : TestComparators()) {
    const KeyComparator comparator(order.comparator);
    for (int i = 0; i < 20000; ++i) {
      const std::string prefix(random.Uniform(4), 'p');
      const std::string a = prefix + RandomKey(&random);
      const std::string b = prefix + RandomKey(&random);
      const uint64_t head_a = comparator.Head(a, prefix.size());
      const uint64_t head_b = comparator.Head(b, prefix.size());
      ASSERT_TRUE(head_a == head_b || (head_a < head_b) == (comparator.Compare(a, b) < 0))
          << order.name;
    }
    EXPECT_EQ(comparator.Head("ab", 5), comparator.Head("", 0))
        << "past the end there is the empty string";
  }
}

TEST(KeyComparatorTest, NewerVersionsOfAKeyComeFirst) {
  for (const NamedComparator& order : TestComparators()) {
    const KeyComparator comparator(order.comparator);
    const std::string older = MakeInternalKey("k", 5, ValueType::kValue);
    const std::string newer = MakeInternalKey("k", 6, ValueType::kDeletion);
    EXPECT_GT(comparator.CompareInternal(older, newer), 0);
    EXPECT_LT(comparator.CompareInternal(newer, older), 0);
    EXPECT_EQ(comparator.CompareInternal(older, older), 0);
    EXPECT_EQ(comparator.CompareInternal(older, "k", ExtractTag(older)), 0);
    EXPECT_GT(comparator.CompareInternal(older, "k", ExtractTag(newer)), 0);
    EXPECT_LT(comparator.CompareInternal(newer, "k", ExtractTag(older)), 0);
    EXPECT_EQ(Sign(comparator.CompareInternal(MakeInternalKey("a", 1, ValueType::kValue),
                                              MakeInternalKey("b", 9, ValueType::kValue))),
              Sign(order.comparator->Compare("a", "b")));
  }
}

}  // namespace
}  // namespace ashlar
