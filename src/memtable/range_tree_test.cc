// Tests the tree of range tombstones against a model, its costs, and one writer with readers.
#include "memtable/range_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/format.h"
#include "base/random.h"
#include "tests/support/comparators.h"

namespace ashlar {
namespace {

constexpr SequenceNumber kAll[] = {kSequenceNumberMax};

class Fixture {
 public:
  explicit Fixture(const Comparator* order)
      : comparator_(order), arena_(&blocks_), tree_(comparator_, &arena_) {}

  const KeyComparator& comparator() const { return comparator_; }
  RangeTree& tree() { return tree_; }
  size_t MemoryUsed() const { return arena_.MemoryUsed(); }

 private:
  const KeyComparator comparator_;
  ArenaBlockPool blocks_{ArenaBlockPool::Options{}};
  Arena arena_;
  RangeTree tree_;
};

std::string Key(uint64_t i) {
  const std::string digits = std::to_string(i);
  return "tenant/" + std::string(9 - std::min<size_t>(9, digits.size()), '0') + digits;
}

struct Range {
  uint64_t begin;
  uint64_t end;
};

// Tombstone number i of n, over the keys 0 to 4 n.
struct Shape {
  const char* name;
  Range (*range)(uint64_t i, uint64_t n, Random* random);
};
void PrintTo(const Shape& shape, std::ostream* out) { *out << shape.name; }

const Shape kShapes[] = {
    {"Ascending", [](uint64_t i, uint64_t, Random*) { return Range{4 * i, 4 * i + 2}; }},
    {"Adjacent", [](uint64_t i, uint64_t, Random*) { return Range{4 * i, 4 * i + 4}; }},
    {"Scattered",
     [](uint64_t i, uint64_t n, Random*) {
       const uint64_t at = i * 7919 % n * 4;
       return Range{at, at + 3};
     }},
    {"NestedInwards", [](uint64_t i, uint64_t n, Random*) { return Range{i, 4 * n - i}; }},
    {"NestedOutwards", [](uint64_t i, uint64_t n, Random*) { return Range{n - i, 3 * n + i}; }},
    {"Overlapping", [](uint64_t i, uint64_t n, Random*) { return Range{i, i + n}; }},
    {"EqualBegins", [](uint64_t i, uint64_t n,
                       Random* random) { return Range{i % 7, 7 + random->Uniform(4 * n)}; }},
    {"Random",
     [](uint64_t, uint64_t n, Random* random) {
       const uint64_t a = random->Uniform(4 * n);
       const uint64_t b = random->Uniform(4 * n);
       return Range{std::min(a, b), std::max(a, b) + 1};
     }},
};

class RangeTreeShapes : public testing::TestWithParam<Shape> {};

// Checks every third key at sequences over the entire range, and the fragments for these readers.
TEST_P(RangeTreeShapes, AgreesWithTheTombstonesAsTheyCame) {
  constexpr uint64_t kCount = 400;
  for (const NamedComparator& order : TestComparators()) {
    SCOPED_TRACE(order.name);
    Fixture fixture(order.comparator);
    RangeTree& tree = fixture.tree();
    Random random(17);
    std::vector<Range> ranges;
    const bool descends = order.comparator == ReverseBytewiseComparator();
    for (uint64_t i = 0; i < kCount; ++i) {
      const Range range = GetParam().range(i, kCount, &random);
      ranges.push_back(range);
      const std::string a = Key(range.begin);
      const std::string b = Key(range.end);
      tree.Add({.begin = descends ? b : a, .end = descends ? a : b, .sequence = 10 * (i + 1)});
    }
    tree.CheckInvariants();
    const std::vector<SequenceNumber> readers = {3, 10, 505, 1000, 1001, kSequenceNumberMax};
    const FragmentedRanges fragments = tree.Fragments(readers);
    fragments.CheckInvariants();
    EXPECT_LE(fragments.tombstones(), fragments.fragments() * readers.size());
    // There are more readers than sequences, and several of them between two sequences.
    std::vector<SequenceNumber> many;
    for (SequenceNumber reader = 0; reader <= 10 * kCount; reader += 4) many.push_back(reader);
    const FragmentedRanges for_many = tree.Fragments(many);
    for_many.CheckInvariants();
    for (uint64_t key = 0; key <= 4 * kCount + 1; key += 97) {
      for (const SequenceNumber visible : many)
        ASSERT_EQ(for_many.CoveringSequence(Key(key), visible),
                  tree.CoveringSequence(Key(key), visible));
    }
    for (uint64_t key = 0; key <= 4 * kCount + 1; key += 3) {
      const auto covers = [&](const Range& range) {
        return descends ? range.begin < key && key <= range.end
                        : range.begin <= key && key < range.end;
      };
      const auto expected = [&](SequenceNumber visible) {
        for (size_t i = std::min<uint64_t>(kCount, visible / 10); i-- > 0;) {
          if (covers(ranges[i])) return SequenceNumber{10 * (i + 1)};
        }
        return SequenceNumber{0};
      };
      for (SequenceNumber visible = 0; visible <= 10 * kCount; visible += 245)
        ASSERT_EQ(tree.CoveringSequence(Key(key), visible), expected(visible)) << key;
      for (const SequenceNumber visible : readers)
        ASSERT_EQ(fragments.CoveringSequence(Key(key), visible), expected(visible)) << key;
    }
    EXPECT_EQ(tree.CoveringSequence("", kSequenceNumberMax), 0u);
    EXPECT_EQ(tree.CoveringSequence("zzz/more than all of the boundaries", kSequenceNumberMax), 0u);
  }
}

// Short keys over four letters and the empty key are often prefixes of each other, with equal heads
// and few boundaries. Checks searches and their intervals, in the tree and in the fragments.
TEST(RangeTreeTest, ShortKeysAgreeWithTheTombstones) {
  for (const NamedComparator& order : TestComparators()) {
    for (uint64_t seed = 1; seed <= 300; ++seed) {
      SCOPED_TRACE(StrCat(order.name, ", seed ", seed));
      Fixture fixture(order.comparator);
      const KeyComparator& comparator = fixture.comparator();
      Random random(seed);
      const auto key = [&random] {
        std::string bytes = random.OneIn(2) ? "0000" : "";
        for (uint64_t n = random.Uniform(5); n > 0; --n) bytes.push_back("0123"[random.Uniform(4)]);
        return bytes;
      };
      std::deque<std::string> keys;
      std::vector<RangeTombstone> tombstones;
      for (uint64_t n = 1 + random.Uniform(60); n > 0; --n) {
        const std::string& a = keys.emplace_back(key());
        const std::string& b = keys.emplace_back(key());
        const int r = comparator.Compare(a, b);
        if (r == 0) continue;
        tombstones.push_back(
            {.begin = r < 0 ? a : b, .end = r < 0 ? b : a, .sequence = 10 + 2 * tombstones.size()});
        fixture.tree().Add(tombstones.back());
      }
      fixture.tree().CheckInvariants();
      const FragmentedRanges fragments = FragmentedRanges::Make(comparator, tombstones);
      for (int i = 0; i < 100; ++i) {
        const std::string sought = key();
        const SequenceNumber visible = random.Uniform(10 + 2 * tombstones.size());
        SequenceNumber expected = 0;
        for (const RangeTombstone& tombstone : tombstones) {
          if (tombstone.sequence <= visible && comparator.Compare(tombstone.begin, sought) <= 0 &&
              comparator.Compare(sought, tombstone.end) < 0)
            expected = tombstone.sequence;
        }
        ASSERT_EQ(fixture.tree().CoveringSequence(sought, visible), expected);
        ASSERT_EQ(fragments.CoveringSequence(sought, visible), expected);
        for (const CoverInterval& interval : {fixture.tree().FindCoverInterval(sought, visible),
                                              fragments.FindCoverInterval(sought, visible)}) {
          ASSERT_EQ(interval.sequence, expected);
          ASSERT_TRUE(!interval.begin || comparator.Compare(*interval.begin, sought) <= 0);
          ASSERT_TRUE(!interval.end || comparator.Compare(sought, *interval.end) < 0);
        }
      }
    }
  }
}

// The cost of a tombstone, in comparisons and memory, is logarithmic in the number of tombstones.
TEST_P(RangeTreeShapes, ATombstoneCostsTheLogarithmOfTheirNumber) {
  constexpr uint64_t kCount = 20000;
  CountingComparator counting;
  Fixture fixture(&counting);
  Random random(5);
  const auto add = [&](uint64_t from, uint64_t to) {
    for (uint64_t i = from; i < to; ++i) {
      const Range range = GetParam().range(i, kCount, &random);
      fixture.tree().Add({.begin = Key(range.begin), .end = Key(range.end), .sequence = i + 1});
    }
  };
  add(0, kCount / 2);
  const uint64_t comparisons = counting.comparisons();
  const size_t bytes = fixture.MemoryUsed();
  add(kCount / 2, kCount);
  const double ratio =
      static_cast<double>(counting.comparisons() - comparisons) / static_cast<double>(comparisons);
  EXPECT_LT(ratio, 1.3);
  EXPECT_LT(counting.comparisons() / kCount, 200u);
  EXPECT_LT(static_cast<double>(fixture.MemoryUsed() - bytes), 1.3 * static_cast<double>(bytes));
  EXPECT_LT(fixture.MemoryUsed() / kCount, 3000u);
}

INSTANTIATE_TEST_SUITE_P(Shapes, RangeTreeShapes, testing::ValuesIn(kShapes),
                         [](const auto& shape) { return std::string(shape.param.name); });

// A reader of an old snapshot skips all newer covers of its key in few steps. One cover at a time,
// a search would take up to 100,000 steps.
TEST(RangeTree, OldReadersSkipNewerTombstones) {
  Fixture fixture(BytewiseComparator());
  constexpr SequenceNumber kCount = 100000;
  for (SequenceNumber sequence = 1; sequence <= kCount; ++sequence)
    fixture.tree().Add({.begin = "b", .end = "d", .sequence = sequence});
  for (SequenceNumber visible = 0; visible <= kCount; ++visible)
    ASSERT_EQ(fixture.tree().CoveringSequence("c", visible), visible);
  EXPECT_EQ(fixture.tree().CheckInvariants(), 2u);
}

TEST(RangeTree, AnEmptyTreeCoversNothing) {
  Fixture fixture(BytewiseComparator());
  EXPECT_EQ(fixture.tree().CoveringSequence("a", kSequenceNumberMax), 0u);
  EXPECT_TRUE(fixture.tree().Fragments(kAll).IsEmpty());
  EXPECT_EQ(fixture.tree().CheckInvariants(), 0u);
  EXPECT_EQ(fixture.MemoryUsed(), 0u);
}

TEST(RangeTree, TheEmptyKeyAndLongPrefixes) {
  Fixture fixture(BytewiseComparator());
  RangeTree& tree = fixture.tree();
  const std::string prefix(300, 'p');
  tree.Add({.begin = "", .end = prefix, .sequence = 1});
  for (uint64_t i = 0; i < 100; ++i) {
    tree.Add({.begin = prefix + Key(3 * i), .end = prefix + Key(3 * i + 2), .sequence = 2 + i});
  }
  EXPECT_EQ(tree.CheckInvariants(), 202u);
  EXPECT_EQ(tree.CoveringSequence("", 200), 1u);
  EXPECT_EQ(tree.CoveringSequence(prefix.substr(1), 200), 1u);
  EXPECT_EQ(tree.CoveringSequence(prefix, 200), 0u);
  for (uint64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(tree.CoveringSequence(prefix + Key(3 * i), 200), 2 + i);
    EXPECT_EQ(tree.CoveringSequence(prefix + Key(3 * i + 2), 200), 0u);
  }
}

// One writer and readers without locks. A reader finds all tombstones published before its search,
// and none that were published later.
TEST(RangeTree, ReadersSeeWhatWasPublished) {
  constexpr uint64_t kCount = 6000;
  constexpr uint64_t kKeys = 400;
  Fixture fixture(BytewiseComparator());
  RangeTree& tree = fixture.tree();
  std::vector<Range> ranges;
  Random random(8);
  for (uint64_t i = 0; i < kCount; ++i) {
    const uint64_t begin = random.Uniform(kKeys);
    ranges.push_back({begin, begin + 1 + random.Uniform(random.OneIn(4) ? kKeys : 5)});
  }
  std::atomic<uint64_t> published{0};
  const auto expected = [&](uint64_t key, SequenceNumber visible) {
    for (size_t i = visible; i-- > 0;) {
      if (ranges[i].begin <= key && key < ranges[i].end) return SequenceNumber{i + 1};
    }
    return SequenceNumber{0};
  };
  const auto read = [&](uint64_t seed) {
    Random choice(seed);
    SequenceNumber visible = 0;
    while (visible < kCount) {
      visible = published.load(std::memory_order_acquire);
      for (int n = 0; n < 20; ++n) {
        const uint64_t key = choice.Uniform(kKeys + 5);
        const SequenceNumber at = choice.OneIn(3) ? choice.Uniform(visible + 1) : visible;
        ASSERT_EQ(tree.CoveringSequence(Key(key), at), expected(key, at)) << "seed " << seed;
      }
      const SequenceNumber readers[] = {visible / 2, visible};
      const FragmentedRanges fragments = tree.Fragments(readers);
      for (uint64_t key = 0; key < kKeys; key += 13) {
        for (const SequenceNumber at : readers)
          ASSERT_EQ(fragments.CoveringSequence(Key(key), at), expected(key, at));
      }
    }
  };
  std::vector<std::thread> readers;
  for (const uint64_t seed : {uint64_t{1}, uint64_t{2}}) readers.emplace_back(read, seed);
  for (uint64_t i = 0; i < kCount; ++i) {
    tree.Add({.begin = Key(ranges[i].begin), .end = Key(ranges[i].end), .sequence = i + 1});
    published.store(i + 1, std::memory_order_release);
    if (i % 100 == 0) std::this_thread::yield();
  }
  for (std::thread& reader : readers) reader.join();
  tree.CheckInvariants();
}

}  // namespace
}  // namespace ashlar
