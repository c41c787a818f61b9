#include "key/seek_prefix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace ashlar {
namespace {

using TransformPtr = std::shared_ptr<const SliceTransform>;

// The prefix ends with the first comma, which a key of the domain must have.
class UpToComma final : public SliceTransform {
 public:
  const char* Name() const override { return "up to comma"; }
  Slice Transform(const Slice& key) const override {
    return Slice(key.data(), key.ToStringView().find(',') + 1);
  }
  bool InDomain(const Slice& key) const override {
    return key.ToStringView().find(',') != std::string_view::npos;
  }
};

// All strings of up to `bytes_max` of these characters, in order.
std::vector<std::string> AllStrings(const std::string& alphabet, size_t bytes_max) {
  std::vector<std::string> all = {""};
  for (size_t begin = 0, length = 0; length < bytes_max; ++length) {
    const size_t end = all.size();
    for (size_t i = begin; i < end; ++i) {
      for (const char c : alphabet) all.push_back(all[i] + c);
    }
    begin = end;
  }
  std::sort(all.begin(), all.end(),
            [](const std::string& a, const std::string& b) { return Slice(a).compare(b) < 0; });
  return all;
}

// Checks every possible target and bound. If the bound keeps the prefix, every key between the two
// has that prefix.
TEST(BoundKeepsPrefix, IsTrueOnlyWhereEveryKeyBelowTheBoundHasThePrefix) {
  struct Case {
    TransformPtr transform;
    std::string alphabet;
  };
  const std::string edges("\x00\x01\xfe\xff", 4);
  const Case cases[] = {{TransformPtr(NewFixedPrefixTransform(0)), edges},
                        {TransformPtr(NewFixedPrefixTransform(1)), edges},
                        {TransformPtr(NewFixedPrefixTransform(2)), edges},
                        {TransformPtr(NewCappedPrefixTransform(1)), edges},
                        {TransformPtr(NewCappedPrefixTransform(2)), edges},
                        {TransformPtr(NewNoopTransform()), edges},
                        {std::make_shared<UpToComma>(), "+,-"}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.transform->GetId());
    const std::vector<std::string> all = AllStrings(c.alphabet, 3);
    size_t kept = 0;
    for (size_t target = 0; target < all.size(); ++target) {
      const std::optional<Slice> prefix = KeyPrefix(c.transform.get(), all[target]);
      if (!prefix) continue;
      bool all_have_it = true;
      for (size_t bound = target + 1; bound < all.size(); ++bound) {
        // This bound admits one more key.
        all_have_it = all_have_it && KeyPrefix(c.transform.get(), all[bound - 1]) == *prefix;
        const bool said = BoundKeepsPrefix(*c.transform, *prefix, all[bound]);
        ASSERT_TRUE(!said || all_have_it)
            << Slice(all[target]).ToString(true) << " " << Slice(all[bound]).ToString(true);
        kept += said ? 1 : 0;
      }
    }
    // Some bound keeps a prefix, unless the prefixes are complete keys.
    EXPECT_EQ(kept == 0, c.transform->GetId() == "rocksdb.Noop");
  }
}

TEST(BoundKeepsPrefix, UpToWhereThePrefixEnds) {
  const TransformPtr fixed(NewFixedPrefixTransform(3));
  EXPECT_TRUE(BoundKeepsPrefix(*fixed, "abc", "abcz"));
  EXPECT_TRUE(BoundKeepsPrefix(*fixed, "abc", "abd"));
  EXPECT_FALSE(BoundKeepsPrefix(*fixed, "abc", std::string("abd\0", 4)));
  EXPECT_FALSE(BoundKeepsPrefix(*fixed, "abc", "abe"));
  EXPECT_TRUE(BoundKeepsPrefix(*fixed, "ab\xff", "ac"));
  // "ac" is between the two and has no prefix.
  EXPECT_FALSE(BoundKeepsPrefix(*fixed, "ab\xff", std::string("ac\0", 3)));
  EXPECT_TRUE(BoundKeepsPrefix(*fixed, "\xff\xff\xff", "\xff\xff\xff\xff"));
  const TransformPtr capped(NewCappedPrefixTransform(3));
  EXPECT_TRUE(BoundKeepsPrefix(*capped, "abc", "abd"));
  EXPECT_FALSE(BoundKeepsPrefix(*capped, "ab", "ac"));
}

class SeekPrefixTest : public testing::Test {
 protected:
  std::string Find(SeekPrefix* seek, const SliceTransform* transform) {
    const HashedPrefix* const prefix = seek->Find(transform);
    return prefix == nullptr ? "none" : prefix->bytes.ToString();
  }
  const TransformPtr two_{NewFixedPrefixTransform(2)};
  const TransformPtr three_{NewFixedPrefixTransform(3)};
  const Slice upper_ = "abd";
};

TEST_F(SeekPrefixTest, ByDefaultThePrefixOfTheFamilysTransform) {
  SeekPrefix seek({.comparator = KeyComparator(BytewiseComparator()), .transform = two_.get()});
  seek.SetScope(SeekScope::kPrefix);
  for (const bool forward : {true, false}) {
    seek.Begin("abcd", forward);
    EXPECT_EQ(Find(&seek, two_.get()), "ab");
    EXPECT_EQ(Find(&seek, three_.get()), "none");
    EXPECT_EQ(Find(&seek, nullptr), "none");
    EXPECT_FALSE(seek.IsOutside("abz"));
    EXPECT_TRUE(seek.IsOutside("ac"));
    EXPECT_TRUE(seek.IsOutside("a"));
  }
  seek.Begin("x", true);
  EXPECT_EQ(Find(&seek, two_.get()), "none");
  EXPECT_FALSE(seek.IsOutside("ac"));
  seek.SetScope(SeekScope::kTotalOrder);
  seek.Begin("abcd", true);
  EXPECT_EQ(Find(&seek, two_.get()), "none");
  EXPECT_FALSE(seek.IsOutside("ac"));
}

TEST_F(SeekPrefixTest, OtherwiseWhatTheUpperBoundProves) {
  SeekPrefix seek({.comparator = KeyComparator(BytewiseComparator()),
                   .transform = two_.get(),
                   .upper_bound = &upper_,
                   .scope_max = SeekScope::kTotalOrder});
  seek.SetScope(SeekScope::kPrefix);
  seek.Begin("abcd", true);
  EXPECT_EQ(Find(&seek, two_.get()), "ab");
  EXPECT_EQ(Find(&seek, three_.get()), "abc");
  EXPECT_EQ(Find(&seek, three_.get()), "abc");
  EXPECT_FALSE(seek.IsOutside("zz"));
  seek.Begin("abbx", true);
  EXPECT_EQ(Find(&seek, three_.get()), "none");
  EXPECT_EQ(Find(&seek, two_.get()), "ab");
  // For a backward seek the bound proves nothing.
  seek.Begin("abcd", false);
  EXPECT_EQ(Find(&seek, two_.get()), "none");
}

TEST_F(SeekPrefixTest, ABoundProvesNothingInOtherOrders) {
  SeekPrefix seek({.comparator = KeyComparator(ReverseBytewiseComparator()),
                   .transform = two_.get(),
                   .upper_bound = &upper_,
                   .scope_max = SeekScope::kTotalOrder});
  seek.Begin("abcd", true);
  EXPECT_EQ(Find(&seek, two_.get()), "none");
}

}  // namespace
}  // namespace ashlar
