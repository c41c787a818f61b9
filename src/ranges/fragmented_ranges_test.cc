// Compares fragments with a model that keeps the tombstones in order of arrival.
#include "ranges/fragmented_ranges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/random.h"
#include "tests/support/comparators.h"

namespace ashlar {
namespace {

struct OwnedTombstone {
  std::string begin;
  std::string end;
  SequenceNumber sequence = 0;
};

class Model {
 public:
  explicit Model(const KeyComparator& comparator) : comparator_(comparator) {}

  // Orders the two keys. Returns false if they are equal.
  bool Add(std::string a, std::string b, SequenceNumber sequence) {
    const int r = comparator_.Compare(a, b);
    if (r == 0) return false;
    if (r > 0) std::swap(a, b);
    tombstones_.push_back({std::move(a), std::move(b), sequence});
    return true;
  }
  SequenceNumber Covering(const Slice& key, SequenceNumber visible) const {
    SequenceNumber covering = 0;
    for (const OwnedTombstone& t : tombstones_) {
      if (t.sequence <= visible && comparator_.Compare(t.begin, key) <= 0 &&
          comparator_.Compare(key, t.end) < 0)
        covering = std::max(covering, t.sequence);
    }
    return covering;
  }
  FragmentedRanges Make() const {
    std::vector<RangeTombstone> values;
    for (const OwnedTombstone& t : tombstones_) values.push_back({t.begin, t.end, t.sequence});
    return FragmentedRanges::Make(comparator_, std::move(values));
  }

 private:
  const KeyComparator comparator_;
  std::vector<OwnedTombstone> tombstones_;
};

std::string Text(const FragmentedRanges& ranges) {
  std::string text;
  FragmentedRanges::Cursor cursor(&ranges);
  for (cursor.SeekToFirst(); cursor.Valid(); cursor.Next()) {
    text += "[" + cursor.begin().ToString() + "," + cursor.end().ToString() + ")@";
    for (const SequenceNumber sequence : cursor.sequences()) text += std::to_string(sequence) + " ";
  }
  return text;
}

FragmentedRanges MakeRanges(std::vector<RangeTombstone> tombstones) {
  return FragmentedRanges::Make(KeyComparator(BytewiseComparator()), std::move(tombstones));
}

TEST(FragmentedRanges, NoneCoverNothing) {
  const FragmentedRanges none;
  none.CheckInvariants();
  EXPECT_TRUE(none.IsEmpty());
  EXPECT_EQ(none.CoveringSequence("a", 9), 0u);
  FragmentedRanges::Cursor cursor(&none);
  cursor.SeekToFirst();
  EXPECT_FALSE(cursor.Valid());
  cursor.SeekToLast();
  EXPECT_FALSE(cursor.Valid());
  cursor.Seek("a");
  EXPECT_FALSE(cursor.Valid());
  cursor.SeekForPrev("a");
  EXPECT_FALSE(cursor.Valid());
  EXPECT_TRUE(none.Cut(nullptr, nullptr).IsEmpty());
  EXPECT_TRUE(none.KeepForSnapshots({}).IsEmpty());
  EXPECT_TRUE(MakeRanges({}).IsEmpty());
}

TEST(FragmentedRanges, OverlapsAreCut) {
  EXPECT_EQ(Text(MakeRanges({{"a", "d", 5}, {"b", "f", 9}, {"h", "k", 7}})),
            "[a,b)@5 [b,d)@9 5 [d,f)@9 [h,k)@7 ");
  EXPECT_EQ(Text(MakeRanges({{"c", "d", 3}, {"a", "z", 1}, {"b", "y", 2}})),
            "[a,b)@1 [b,c)@2 1 [c,d)@3 2 1 [d,y)@2 1 [y,z)@1 ");
}

TEST(FragmentedRanges, EqualBeginsAndEqualSequences) {
  EXPECT_EQ(Text(MakeRanges({{"a", "c", 4}, {"a", "b", 8}, {"a", "d", 6}})),
            "[a,b)@8 6 4 [b,c)@6 4 [c,d)@6 ");
  EXPECT_EQ(Text(MakeRanges({{"a", "c", 4}, {"a", "c", 4}, {"b", "e", 4}})), "[a,e)@4 ");
}

TEST(FragmentedRanges, NeighboursWithTheSameSequencesAreOne) {
  const FragmentedRanges ranges = MakeRanges({{"c", "d", 4}, {"a", "b", 4}, {"b", "c", 4}});
  EXPECT_EQ(Text(ranges), "[a,d)@4 ");
  EXPECT_EQ(ranges.fragments(), 1u);
  EXPECT_EQ(ranges.tombstones(), 1u);
  EXPECT_EQ(Text(MakeRanges({{"a", "b", 4}, {"b", "c", 5}})), "[a,b)@4 [b,c)@5 ");
}

TEST(FragmentedRanges, TheEmptyKeyIsAKey) {
  const FragmentedRanges ranges = MakeRanges({{"", "b", 4}});
  EXPECT_EQ(ranges.CoveringSequence("", 4), 4u);
  EXPECT_EQ(ranges.CoveringSequence("a", 3), 0u);
  EXPECT_EQ(ranges.CoveringSequence("b", 4), 0u);
}

TEST(FragmentedRanges, CutKeepsTheOverlap) {
  const FragmentedRanges ranges = MakeRanges({{"b", "e", 5}, {"d", "g", 7}, {"k", "m", 3}});
  const auto cut = [&](const char* lower, const char* upper) {
    const Slice from(lower == nullptr ? "" : lower);
    const Slice to(upper == nullptr ? "" : upper);
    return Text(ranges.Cut(lower == nullptr ? nullptr : &from, upper == nullptr ? nullptr : &to));
  };
  EXPECT_EQ(cut(nullptr, nullptr), Text(ranges));
  EXPECT_EQ(cut("c", "f"), "[c,d)@5 [d,e)@7 5 [e,f)@7 ");
  EXPECT_EQ(cut("g", "k"), "");
  EXPECT_EQ(cut("h", nullptr), "[k,m)@3 ");
  EXPECT_EQ(cut(nullptr, "b"), "");
  EXPECT_EQ(cut("f", "c"), "");
  EXPECT_EQ(cut("c", "c"), "");
}

TEST(FragmentedRanges, SnapshotsKeepTheLargestOfEachStripe) {
  const FragmentedRanges ranges = MakeRanges(
      {{"a", "c", 2}, {"a", "c", 4}, {"a", "c", 5}, {"a", "c", 8}, {"a", "c", 9}, {"c", "d", 9}});
  const std::vector<SequenceNumber> at_five = {5};
  const std::vector<SequenceNumber> two = {4, 8};
  EXPECT_EQ(Text(ranges.KeepForSnapshots({})), "[a,d)@9 ");
  EXPECT_EQ(Text(ranges.KeepForSnapshots(at_five)), "[a,c)@9 5 [c,d)@9 ");
  EXPECT_EQ(Text(ranges.KeepForSnapshots(two)), "[a,c)@9 8 4 [c,d)@9 ");
}

TEST(FragmentedRanges, OneOrderForEqualKeysOfDifferentBytes) {
  static const CaselessComparator caseless;
  const FragmentedRanges ranges =
      FragmentedRanges::Make(KeyComparator(&caseless), {{"A", "C", 4}, {"a", "b", 6}});
  ranges.CheckInvariants();
  EXPECT_EQ(ranges.CoveringSequence("a", 9), 6u);
  EXPECT_EQ(ranges.CoveringSequence("B", 9), 4u);
  EXPECT_EQ(ranges.CoveringSequence("c", 9), 0u);
  EXPECT_EQ(ranges.fragments(), 2u);
}

TEST(FragmentedRanges, ManyOfOneSequenceStayFewFragments) {
  std::vector<std::string> keys;
  std::vector<RangeTombstone> nested;
  for (int i = 0; i < 20000; ++i) keys.push_back(std::to_string(100000 + i));
  for (size_t i = 0; i < keys.size() / 2; ++i)
    nested.push_back({keys[i], keys[keys.size() - 1 - i], 3});
  EXPECT_EQ(MakeRanges(nested).fragments(), 1u);
}

TEST(FragmentedRanges, OverlapsBeyondTheLimitAreNotMade) {
  const KeyComparator bytewise(BytewiseComparator());
  const auto steps = [&](const std::vector<RangeTombstone>& tombstones) {
    uint64_t needed = 0;
    while (!FragmentedRanges::MakeWithin(bytewise, tombstones, needed)) ++needed;
    EXPECT_EQ(Text(*FragmentedRanges::MakeWithin(bytewise, tombstones, needed)),
              Text(MakeRanges(tombstones)));
    return needed;
  };
  EXPECT_EQ(steps({}), 0u);
  EXPECT_EQ(steps({{"a", "b", 5}, {"c", "d", 6}}), 2u);
  EXPECT_EQ(steps({{"c", "d", 3}, {"a", "z", 1}, {"b", "y", 2}}), 9u);
  EXPECT_EQ(steps({{"a", "b", 3}, {"a", "b", 2}, {"a", "b", 1}}), 3u);
  // Joined fragments take their steps, too.
  EXPECT_EQ(steps({{"a", "b", 3}, {"b", "c", 3}, {"c", "d", 3}}), 3u);
  const std::string end(3 * FragmentedRanges::kBytesOfStep, 'b');
  EXPECT_EQ(steps({{"a", end, 3}, {"a", end, 2}}), 8u);
}

// This would take minutes if each were inserted into its place among the others.
TEST(FragmentedRanges, ManyThatBeginTogetherAreOneStep) {
  std::vector<RangeTombstone> tombstones;
  for (SequenceNumber sequence = 1; sequence <= 400000; ++sequence)
    tombstones.push_back({"a", "b", sequence});
  const FragmentedRanges ranges = MakeRanges(std::move(tombstones));
  EXPECT_EQ(ranges.fragments(), 1u);
  EXPECT_EQ(ranges.tombstones(), 400000u);
  EXPECT_EQ(ranges.CoveringSequence("a", 77), 77u);
}

enum class Shape { kRandom, kNested, kAdjacent, kEqualBegins };

std::string RandomKey(Random* random) {
  std::string key = random->OneIn(2) ? "shared/prefix/of/keys/" : "";
  for (uint64_t n = random->Uniform(12); n > 0; --n)
    key +=
        static_cast<char>(random->OneIn(9) ? 0xff - random->Uniform(2) : 'a' + random->Uniform(3));
  return key;
}

Model MakeModel(const KeyComparator& comparator, Shape shape, size_t count, Random* random,
                std::vector<std::string>* keys) {
  for (size_t i = 0; i < 2 * count + 2; ++i) keys->push_back(RandomKey(random));
  std::sort(keys->begin(), keys->end(), [&](const std::string& a, const std::string& b) {
    return comparator.Compare(a, b) < 0;
  });
  Model model(comparator);
  for (size_t i = 0; i < count; ++i) {
    const SequenceNumber sequence = 1 + random->Uniform(count);
    switch (shape) {
      case Shape::kRandom:
        model.Add((*keys)[random->Uniform(keys->size())], (*keys)[random->Uniform(keys->size())],
                  sequence);
        break;
      case Shape::kNested: model.Add((*keys)[i], (*keys)[keys->size() - 1 - i], sequence); break;
      case Shape::kAdjacent: model.Add((*keys)[i], (*keys)[i + 1], sequence); break;
      case Shape::kEqualBegins:
        model.Add((*keys)[i / 4], (*keys)[random->Uniform(keys->size())], sequence);
        break;
    }
  }
  for (int i = 0; i < 40; ++i) keys->push_back(RandomKey(random));
  return model;
}

class FragmentedRangesModel : public testing::TestWithParam<Shape> {};

// Compactions make many sets that are never searched.
TEST(FragmentedRanges, OnlyASetPreparedForLookupsTakesTheirMemory) {
  std::vector<std::string> bounds;
  for (char c = 'a'; c <= 'z'; ++c) bounds.push_back({c});
  std::vector<RangeTombstone> tombstones;
  for (size_t i = 0; i + 1 < bounds.size(); i += 2)
    tombstones.push_back({bounds[i], bounds[i + 1], 5});
  FragmentedRanges ranges = MakeRanges(tombstones);
  const size_t before = ranges.MemoryBytes();
  EXPECT_EQ(ranges.CoveringSequence("b", 9), 0u);
  ranges.PrepareForLookups();
  ranges.CheckInvariants();
  EXPECT_GT(ranges.MemoryBytes(), before);
  EXPECT_EQ(ranges.CoveringSequence("b", 9), 0u);
  EXPECT_EQ(ranges.CoveringSequence("c", 9), 5u);
}

// Every operation returns the sequence of the model for every key and snapshot.
TEST_P(FragmentedRangesModel, EveryOperationAgrees) {
  for (const NamedComparator& order : TestComparators()) {
    const KeyComparator comparator(order.comparator);
    for (uint64_t seed = 0; seed < 40; ++seed) {
      SCOPED_TRACE(StrCat(order.name, ", seed ", seed));
      Random random(seed);
      const size_t count = 1 + random.Uniform(25);
      std::vector<std::string> keys;
      const Model model = MakeModel(comparator, GetParam(), count, &random, &keys);
      const FragmentedRanges ranges = model.Make();
      ranges.CheckInvariants();
      FragmentedRanges prepared = model.Make();
      prepared.PrepareForLookups();
      prepared.CheckInvariants();

      std::string low = keys[random.Uniform(keys.size())];
      std::string high = keys[random.Uniform(keys.size())];
      if (comparator.Compare(low, high) > 0) std::swap(low, high);
      const Slice lower(low);
      const Slice upper(high);
      const FragmentedRanges cut = ranges.Cut(&lower, &upper);
      cut.CheckInvariants();

      std::set<SequenceNumber> chosen;
      for (uint64_t n = random.Uniform(4); n > 0; --n) chosen.insert(random.Uniform(count + 2));
      const std::vector<SequenceNumber> snapshots(chosen.begin(), chosen.end());
      const FragmentedRanges kept = ranges.KeepForSnapshots(snapshots);
      kept.CheckInvariants();
      EXPECT_LE(kept.tombstones(), kept.fragments() * (snapshots.size() + 1));

      for (const std::string& key : keys) {
        for (SequenceNumber visible = 0; visible <= count + 1; ++visible) {
          ASSERT_EQ(ranges.CoveringSequence(key, visible), model.Covering(key, visible)) << key;
          ASSERT_EQ(prepared.CoveringSequence(key, visible), model.Covering(key, visible)) << key;
        }
        const bool inside =
            comparator.Compare(lower, key) <= 0 && comparator.Compare(key, upper) < 0;
        ASSERT_EQ(cut.CoveringSequence(key, kSequenceNumberMax),
                  inside ? model.Covering(key, kSequenceNumberMax) : 0);
        ASSERT_EQ(kept.CoveringSequence(key, kSequenceNumberMax),
                  model.Covering(key, kSequenceNumberMax));
        for (const SequenceNumber snapshot : snapshots)
          ASSERT_EQ(kept.CoveringSequence(key, snapshot), model.Covering(key, snapshot));
      }
    }
  }
}

// Compares the cursor with the list of fragments.
TEST_P(FragmentedRangesModel, TheCursorSeeksAndStepsBothWays) {
  for (const NamedComparator& order : TestComparators()) {
    const KeyComparator comparator(order.comparator);
    for (uint64_t seed = 100; seed < 130; ++seed) {
      SCOPED_TRACE(StrCat(order.name, ", seed ", seed));
      Random random(seed);
      std::vector<std::string> keys;
      const FragmentedRanges ranges =
          MakeModel(comparator, GetParam(), 1 + random.Uniform(20), &random, &keys).Make();
      std::vector<FragmentedRanges::Fragment> all;
      FragmentedRanges::Cursor cursor(&ranges);
      for (cursor.SeekToFirst(); cursor.Valid(); cursor.Next()) all.push_back(cursor.fragment());
      ASSERT_EQ(all.size(), ranges.fragments());
      size_t left = all.size();
      for (cursor.SeekToLast(); cursor.Valid(); cursor.Prev())
        ASSERT_EQ(cursor.begin(), all[--left].begin);
      ASSERT_EQ(left, 0u);
      for (const std::string& key : keys) {
        const auto after = std::find_if(all.begin(), all.end(), [&](const auto& fragment) {
          return comparator.Compare(key, fragment.end) < 0;
        });
        cursor.Seek(key);
        ASSERT_EQ(cursor.Valid(), after != all.end());
        if (cursor.Valid()) {
          ASSERT_EQ(cursor.begin(), after->begin);
        }
        const auto before = std::find_if(all.rbegin(), all.rend(), [&](const auto& fragment) {
          return comparator.Compare(fragment.begin, key) <= 0;
        });
        cursor.SeekForPrev(key);
        ASSERT_EQ(cursor.Valid(), before != all.rend());
        if (cursor.Valid()) {
          ASSERT_EQ(cursor.begin(), before->begin);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, FragmentedRangesModel,
                         testing::Values(Shape::kRandom, Shape::kNested, Shape::kAdjacent,
                                         Shape::kEqualBegins));

}  // namespace
}  // namespace ashlar
