#include "ashlar/slice.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace ashlar {
namespace {

void Count(void* counter, void* /*unused*/) { ++*static_cast<int*>(counter); }

TEST(SliceTest, ComparesBytesAsUnsigned) {
  EXPECT_LT(Slice("a").compare("b"), 0);
  EXPECT_LT(Slice("a").compare("aa"), 0);
  EXPECT_GT(Slice("\xff").compare("\x01"), 0);
  EXPECT_EQ(Slice().compare(""), 0);
  EXPECT_TRUE(Slice("ab", 2) == Slice("abc", 2));
  EXPECT_TRUE(Slice("a\0b", 3) != Slice("a\0c", 3));
}

TEST(SliceTest, HexGoesBothWays) {
  const std::string bytes("\x00\x7f\xff\x10", 4);
  EXPECT_EQ(Slice(bytes).ToString(true), "007FFF10");
  std::string back;
  EXPECT_TRUE(Slice("007fFf10").DecodeHex(&back));
  EXPECT_EQ(back, bytes);
  EXPECT_FALSE(Slice("abc").DecodeHex(&back));
  EXPECT_FALSE(Slice("0g").DecodeHex(&back));
  EXPECT_TRUE(Slice("").DecodeHex(&back));
  EXPECT_EQ(back, "");
}

TEST(SliceTest, PiecesAreJoinedInABuffer) {
  const Slice pieces[] = {"ab", "", Slice("c\0", 2)};
  std::string buffer = "old";
  const Slice joined(SliceParts(pieces, 3), &buffer);
  EXPECT_EQ(joined, Slice("abc\0", 4));
  EXPECT_EQ(joined.data(), buffer.data());
  EXPECT_TRUE(Slice(SliceParts(), &buffer).empty());
}

TEST(SliceTest, PrefixesAndDifferences) {
  EXPECT_TRUE(Slice("abcd").starts_with("ab"));
  EXPECT_FALSE(Slice("a").starts_with("ab"));
  EXPECT_TRUE(Slice("abcd").ends_with("cd"));
  EXPECT_TRUE(Slice("").ends_with(""));
  EXPECT_EQ(Slice("abcd").difference_offset("abxd"), 2u);
  EXPECT_EQ(Slice("ab").difference_offset("abxd"), 2u);
  EXPECT_EQ(Slice("").difference_offset("abxd"), 0u);
}

TEST(PinnableSliceTest, PinnedBytesAreGivenBackOnce) {
  int released = 0;
  {
    PinnableSlice slice;
    slice.PinSlice("bytes", &Count, &released, nullptr);
    EXPECT_TRUE(slice.IsPinned());
    EXPECT_EQ(slice.ToString(), "bytes");
    slice.remove_prefix(1);
    slice.remove_suffix(1);
    EXPECT_EQ(slice.ToString(), "yte");
    slice.Reset();
    EXPECT_EQ(released, 1);
    EXPECT_TRUE(slice.empty());
    EXPECT_FALSE(slice.IsPinned());
  }
  EXPECT_EQ(released, 1);
}

TEST(PinnableSliceTest, OwnedBytesAreACopy) {
  std::string bytes = "short";
  PinnableSlice slice;
  slice.PinSelf(bytes);
  bytes = "other";
  EXPECT_EQ(slice.ToString(), "short");
  slice.remove_prefix(2);
  slice.remove_suffix(1);
  EXPECT_EQ(slice.ToString(), "or");
  *slice.GetSelf() = "replaced";
  slice.PinSelf();
  EXPECT_EQ(slice.ToString(), "replaced");
}

TEST(PinnableSliceTest, MovingOwnedBytesKeepsThem) {
  for (const size_t n : {0u, 3u, 15u, 16u, 5000u}) {
    const std::string bytes(n, 'v');
    PinnableSlice from;
    from.PinSelf(bytes);
    PinnableSlice to(std::move(from));
    EXPECT_EQ(to.ToString(), bytes);
    EXPECT_EQ(to.data(), to.GetSelf()->data());
    from.Reset();
    from.PinSelf("again");
    EXPECT_EQ(to.ToString(), bytes);
    PinnableSlice assigned;
    assigned.PinSelf("to be replaced");
    assigned = std::move(to);
    EXPECT_EQ(assigned.ToString(), bytes);
  }
}

TEST(PinnableSliceTest, MovingAPinMovesItsRelease) {
  int first = 0;
  int second = 0;
  PinnableSlice a;
  a.PinSlice("aaa", &Count, &first, nullptr);
  PinnableSlice b;
  b.PinSlice("bbb", &Count, &second, nullptr);
  b = std::move(a);
  EXPECT_EQ(second, 1);
  EXPECT_EQ(first, 0);
  EXPECT_TRUE(b.IsPinned());
  EXPECT_EQ(b.ToString(), "aaa");
  a.Reset();
  EXPECT_EQ(first, 0);
  b.Reset();
  EXPECT_EQ(first, 1);
}

TEST(PinnableSliceTest, AnExternalBufferMovesWithTheSlice) {
  std::string buffer;
  PinnableSlice from(&buffer);
  from.PinSelf("in the buffer");
  PinnableSlice to(std::move(from));
  EXPECT_EQ(to.GetSelf(), &buffer);
  EXPECT_EQ(to.data(), buffer.data());
  EXPECT_NE(from.GetSelf(), &buffer);
}

TEST(PinnableSliceTest, TakesOverTheCleanupsOfAnother) {
  int released = 0;
  Cleanable owner;
  owner.RegisterCleanup(&Count, &released, nullptr);
  PinnableSlice slice;
  slice.PinSlice("bytes", &owner);
  owner.Reset();
  EXPECT_EQ(released, 0);
  slice.Reset();
  EXPECT_EQ(released, 1);
  slice.PinSlice("for ever", nullptr);
  EXPECT_TRUE(slice.IsPinned());
}

}  // namespace
}  // namespace ashlar
