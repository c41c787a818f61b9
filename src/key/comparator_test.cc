#include "ashlar/comparator.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ashlar/slice_transform.h"
#include "base/format.h"
#include "base/random.h"

namespace ashlar {
namespace {

TEST(Comparator, NamesAreThoseOfTheFormat) {
  EXPECT_STREQ(BytewiseComparator()->Name(), "leveldb.BytewiseComparator");
  EXPECT_STREQ(ReverseBytewiseComparator()->Name(), "rocksdb.ReverseBytewiseComparator");
  EXPECT_EQ(BytewiseComparator(), BytewiseComparator());
}

TEST(Comparator, BytesAreUnsignedAndPrefixesSortFirst) {
  const Comparator* order = BytewiseComparator();
  EXPECT_LT(order->Compare("a", "b"), 0);
  EXPECT_LT(order->Compare("a", "ab"), 0);
  EXPECT_LT(order->Compare("\x7f", "\x80"), 0);
  EXPECT_EQ(order->Compare("", ""), 0);
  EXPECT_GT(ReverseBytewiseComparator()->Compare("a", "b"), 0);
}

TEST(Comparator, SeparatorsAreShortWhereTheyCanBe) {
  struct Case {
    const char* start;
    const char* limit;
    const char* separator;
  };
  for (const Case& c :
       std::vector<Case>{{"abcdef", "abzz", "abd"},
                         {"abc", "abcd", "abc"},        // a prefix
                         {"abc1xyz", "abc2", "abc1y"},  // no byte between: raise a later one
                         {"abc1", "abc2x", "abc2"},
                         {"b", "a", "b"}}) {  // not in order: left alone
    std::string start = c.start;
    BytewiseComparator()->FindShortestSeparator(&start, c.limit);
    EXPECT_EQ(start, c.separator);
  }
  std::string start = "zzzz";
  ReverseBytewiseComparator()->FindShortestSeparator(&start, "zaaa");
  EXPECT_EQ(start, "zz");
}

TEST(Comparator, SuccessorsRaiseTheFirstByteThatCanBe) {
  std::string key =
      "\xff\xff"
      "abc";
  BytewiseComparator()->FindShortSuccessor(&key);
  EXPECT_EQ(key,
            "\xff\xff"
            "b");
  key = "\xff\xff";
  BytewiseComparator()->FindShortSuccessor(&key);
  EXPECT_EQ(key, "\xff\xff");
}

TEST(Comparator, SeparatorsStayInTheirRange) {
  for (const Comparator* order : {BytewiseComparator(), ReverseBytewiseComparator()}) {
    const uint64_t seed = 42;
    SCOPED_TRACE(StrCat("seed ", seed));
    Random random(seed);
    // Few byte values, among them the extremes, so that keys share prefixes.
    const char bytes[] = {'\0', '\1', 'a', 'b', '\xfe', '\xff'};
    const auto random_key = [&] {
      std::string key;
      for (uint64_t n = random.Uniform(6); n > 0; --n)
        key.push_back(bytes[random.Uniform(sizeof(bytes))]);
      return key;
    };
    for (int i = 0; i < 20000; ++i) {
      std::string a = random_key();
      std::string b = random_key();
      if (order->Compare(a, b) > 0) std::swap(a, b);
      EXPECT_EQ(order->Equal(a, b), a == b);
      if (a == b) continue;
      std::string separator = a;
      order->FindShortestSeparator(&separator, b);
      EXPECT_LE(order->Compare(a, separator), 0);
      EXPECT_LT(order->Compare(separator, b), 0);
      EXPECT_LE(separator.size(), a.size());
      std::string successor = b;
      order->FindShortSuccessor(&successor);
      EXPECT_GE(order->Compare(successor, b), 0);
    }
  }
}

TEST(SliceTransform, PrefixesAndDomains) {
  const std::unique_ptr<const SliceTransform> fixed(NewFixedPrefixTransform(3));
  EXPECT_STREQ(fixed->Name(), "rocksdb.FixedPrefix.3");
  EXPECT_TRUE(fixed->InDomain("abc"));
  EXPECT_FALSE(fixed->InDomain("ab"));
  EXPECT_EQ(fixed->Transform("abcd").ToString(), "abc");
  const std::unique_ptr<const SliceTransform> capped(NewCappedPrefixTransform(3));
  EXPECT_STREQ(capped->Name(), "rocksdb.CappedPrefix.3");
  EXPECT_TRUE(capped->InDomain(""));
  EXPECT_EQ(capped->Transform("ab").ToString(), "ab");
  EXPECT_EQ(capped->Transform("abcd").ToString(), "abc");
  const std::unique_ptr<const SliceTransform> whole(NewNoopTransform());
  EXPECT_EQ(whole->Transform("abcd").ToString(), "abcd");
}

}  // namespace
}  // namespace ashlar
