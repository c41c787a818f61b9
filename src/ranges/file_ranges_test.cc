// Compares the two forms of a file's tombstones with the tombstones themselves.
#include "ranges/file_ranges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/random.h"
#include "tests/support/comparators.h"

namespace ashlar {
namespace {

const KeyComparator kReverse(ReverseBytewiseComparator());

FileRanges CutReverse(std::vector<RangeTombstone> tombstones, const FileRanges::Bounds& bounds) {
  return FileRanges::Cut(kReverse, FragmentedRanges::Make(kReverse, std::move(tombstones)), bounds);
}

TEST(FileRanges, ATombstoneRunsPastALargestKeyThatIsAnEntry) {
  const FileRanges ranges =
      CutReverse({{"z", "b", 5}, {"x", "c", 9}}, {.smallest = "y", .largest = "m"});
  EXPECT_EQ(ranges.searched().CoveringSequence("z", 9), 0u);
  EXPECT_EQ(ranges.searched().CoveringSequence("y", 9), 5u);
  EXPECT_EQ(ranges.searched().CoveringSequence("m", 9), 9u);
  EXPECT_EQ(ranges.searched().CoveringSequence("m", 8), 5u);
  EXPECT_EQ(ranges.before_largest().CoveringSequence("m0", 9), 9u);
  EXPECT_EQ(ranges.before_largest().CoveringSequence("m", 9), 0u);
  EXPECT_EQ(ranges.before_largest().CoveringSequence("lzzz", 9), 0u);
  EXPECT_EQ(ranges.largest(), Slice("m"));
  const std::vector<SequenceNumber> expected = {9, 5};
  EXPECT_TRUE(std::ranges::equal(ranges.largest_sequences(), expected));
}

TEST(FileRanges, OnlyTombstonesAtTheLargestKeyDeleteIt) {
  // One tombstone is past the bounds. Another one ends at the largest key.
  EXPECT_TRUE(CutReverse({{"l", "b", 5}}, {.smallest = "y", .largest = "m"}).searched().IsEmpty());
  const FileRanges before =
      CutReverse({{"z", "m", 5}, {"f", "b", 5}}, {.smallest = "y", .largest = "m"});
  EXPECT_TRUE(before.largest_sequences().empty());
  EXPECT_EQ(before.before_largest().CoveringSequence("n", 9), 5u);
  EXPECT_EQ(before.before_largest().CoveringSequence("d", 9), 0u);
  // A file with a single key.
  const FileRanges one = CutReverse({{"z", "b", 5}}, {.smallest = "m", .largest = "m"});
  EXPECT_EQ(one.searched().CoveringSequence("m", 9), 5u);
  EXPECT_TRUE(one.before_largest().IsEmpty());
  EXPECT_EQ(one.largest_sequences().size(), 1u);
}

TEST(FileRanges, ASentinelIsExcluded) {
  const FileRanges ranges =
      CutReverse({{"z", "b", 5}}, {.smallest = "y", .largest = "m", .excludes_largest = true});
  EXPECT_TRUE(ranges.largest_sequences().empty());
  EXPECT_EQ(ranges.searched().CoveringSequence("m0", 9), 5u);
  EXPECT_EQ(ranges.searched().CoveringSequence("m", 9), 0u);
}

TEST(FileRanges, WithoutBoundsNothingIsCut) {
  const FileRanges ranges(FragmentedRanges::Make(kReverse, {{"z", "b", 5}}));
  EXPECT_EQ(&ranges.searched(), &ranges.before_largest());
  EXPECT_EQ(ranges.searched().CoveringSequence("c", 9), 5u);
}

// Tests I1 and I2 for random tombstones and bounds in every order.
TEST(FileRanges, BothFormsDeleteTheSame) {
  for (const NamedComparator& order : TestComparators()) {
    const KeyComparator comparator(order.comparator);
    for (uint64_t seed = 0; seed < 300; ++seed) {
      SCOPED_TRACE(StrCat(order.name, ", seed ", seed));
      Random random(seed);
      std::vector<std::string> keys;
      for (int i = 0; i < 20; ++i) {
        std::string key;
        for (uint64_t n = random.Uniform(4); n > 0; --n)
          key += static_cast<char>('a' + random.Uniform(2));
        keys.push_back(std::move(key));
      }
      std::sort(keys.begin(), keys.end(), [&](const std::string& a, const std::string& b) {
        return comparator.Compare(a, b) < 0;
      });
      std::vector<RangeTombstone> tombstones;
      for (SequenceNumber sequence = 1; sequence <= 6; ++sequence) {
        const size_t begin = random.Uniform(keys.size());
        const size_t end = begin + random.Uniform(keys.size() - begin);
        if (comparator.Compare(keys[begin], keys[end]) < 0)
          tombstones.push_back({keys[begin], keys[end], sequence});
      }
      const size_t first = random.Uniform(keys.size());
      const size_t last = first + random.Uniform(keys.size() - first);
      const FragmentedRanges whole = FragmentedRanges::Make(comparator, tombstones);
      const FileRanges file =
          FileRanges::Cut(comparator, FragmentedRanges::Make(comparator, tombstones),
                          {.smallest = keys[first], .largest = keys[last]});
      for (size_t i = 0; i < keys.size(); ++i) {
        const bool inside = comparator.Compare(keys[first], keys[i]) <= 0 &&
                            comparator.Compare(keys[i], keys[last]) <= 0;
        for (SequenceNumber visible = 0; visible <= 6; ++visible) {
          const SequenceNumber expected = inside ? whole.CoveringSequence(keys[i], visible) : 0;
          if (inside) {
            ASSERT_EQ(file.searched().CoveringSequence(keys[i], visible), expected);
          }
          SequenceNumber of_set = file.before_largest().CoveringSequence(keys[i], visible);
          if (comparator.Compare(keys[i], keys[last]) == 0) {
            for (const SequenceNumber sequence : file.largest_sequences())
              if (sequence <= visible) of_set = std::max(of_set, sequence);
          }
          ASSERT_EQ(of_set, expected) << keys[i];
        }
      }
    }
  }
}

}  // namespace
}  // namespace ashlar
