#include "key/key_prefix.h"

#include <gtest/gtest.h>

#include <memory>

#include "ashlar/convenience.h"

namespace ashlar {
namespace {

std::unique_ptr<const SliceTransform> Fixed(size_t bytes) {
  return std::unique_ptr<const SliceTransform>(NewFixedPrefixTransform(bytes));
}
std::unique_ptr<const SliceTransform> Capped(size_t bytes) {
  return std::unique_ptr<const SliceTransform>(NewCappedPrefixTransform(bytes));
}

std::string PrefixText(const SliceTransform* transform, const Slice& key) {
  const std::optional<Slice> prefix = KeyPrefix(transform, key);
  return prefix ? "[" + prefix->ToString() + "]" : "none";
}

TEST(KeyPrefix, FollowsTheTransformAndItsDomain) {
  EXPECT_EQ(PrefixText(nullptr, "abc"), "none");
  EXPECT_EQ(PrefixText(Fixed(3).get(), "ab"), "none");
  EXPECT_EQ(PrefixText(Fixed(3).get(), "abc"), "[abc]");
  EXPECT_EQ(PrefixText(Fixed(3).get(), "abcd"), "[abc]");
  EXPECT_EQ(PrefixText(Fixed(0).get(), "abcd"), "[]");
  EXPECT_EQ(PrefixText(Capped(3).get(), "ab"), "[ab]");
  EXPECT_EQ(PrefixText(Capped(3).get(), "abcd"), "[abc]");
  EXPECT_EQ(PrefixText(std::unique_ptr<const SliceTransform>(NewNoopTransform()).get(), "abcd"),
            "[abcd]");
}

TEST(KeyPrefix, TransformsSayHowLongTheirPrefixesAre) {
  size_t n = 0;
  EXPECT_TRUE(Fixed(3)->FullLengthEnabled(&n));
  EXPECT_EQ(n, 3u);
  EXPECT_TRUE(Capped(4)->FullLengthEnabled(&n));
  EXPECT_EQ(n, 4u);
  EXPECT_FALSE(std::unique_ptr<const SliceTransform>(NewNoopTransform())->FullLengthEnabled(&n));
  EXPECT_FALSE(Fixed(3)->SameResultWhenAppended("ab"));
  EXPECT_TRUE(Fixed(3)->SameResultWhenAppended("abc"));
  EXPECT_FALSE(Capped(3)->SameResultWhenAppended("ab"));
  EXPECT_TRUE(Capped(3)->SameResultWhenAppended("abcd"));
}

TEST(KeyPrefix, TransformsAreMadeFromTheirIds) {
  const auto id_of = [](const std::string& id) {
    std::shared_ptr<const SliceTransform> made;
    const Status s = SliceTransform::CreateFromString(ConfigOptions(), id, &made);
    if (!s.ok()) return s.IsNotSupported() ? std::string("unknown") : std::string("malformed");
    return made == nullptr ? std::string("null") : made->AsString();
  };
  EXPECT_EQ(id_of("fixed:8"), "rocksdb.FixedPrefix.8");
  EXPECT_EQ(id_of("rocksdb.FixedPrefix.8"), "rocksdb.FixedPrefix.8");
  EXPECT_EQ(id_of("capped:16"), "rocksdb.CappedPrefix.16");
  EXPECT_EQ(id_of("{id=rocksdb.CappedPrefix.3;}"), "rocksdb.CappedPrefix.3");
  EXPECT_EQ(id_of("rocksdb.Noop"), "rocksdb.Noop");
  EXPECT_EQ(id_of("nullptr"), "null");
  EXPECT_EQ(id_of("rocksdb.FixedPrefix"), "unknown");
  // A program's object may have such a name.
  EXPECT_EQ(id_of("rocksdb.FixedPrefix.x"), "unknown");
  EXPECT_EQ(id_of("fixed:-1"), "unknown");
  EXPECT_EQ(id_of("of.the.program"), "unknown");
}

// Counts the calls of InDomain.
class CountingTransform final : public SliceTransform {
 public:
  const char* Name() const override { return "counting"; }
  Slice Transform(const Slice& key) const override { return Slice(key.data(), 1); }
  bool InDomain(const Slice& key) const override {
    ++asked;
    return !key.empty();
  }
  mutable int asked = 0;
};

TEST(PrefixMemo, AsksOncePerKeyAndTransform) {
  const CountingTransform counting;
  const auto fixed = Fixed(2);
  PrefixMemo memo;
  for (int i = 0; i < 3; ++i) {
    const HashedPrefix* const prefix = memo.Find(&counting, "abc");
    ASSERT_NE(prefix, nullptr);
    EXPECT_EQ(prefix->bytes, "a");
    EXPECT_EQ(prefix->filter_hash, Xxph3Hash64("a"));
  }
  EXPECT_EQ(counting.asked, 1);
  EXPECT_EQ(memo.Find(fixed.get(), "abc")->bytes, "ab");
  EXPECT_EQ(memo.Find(nullptr, "abc"), nullptr);
  EXPECT_NE(memo.Find(fixed.get(), "abc"), nullptr);
  memo.Forget();
  EXPECT_EQ(memo.Find(nullptr, ""), nullptr);
  EXPECT_EQ(memo.Find(&counting, ""), nullptr);
  EXPECT_EQ(memo.Find(&counting, ""), nullptr);
  EXPECT_EQ(counting.asked, 2);
}

}  // namespace
}  // namespace ashlar
