// Compares a summary with its tombstones in order of arrival. The summary never denies a cover and
// decides most keys.
#include "ranges/cover_summary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/random.h"

namespace ashlar {
namespace {

struct Range {
  std::string begin;
  std::string end;
};

// A summary made from the first `known` tombstones. The others are added by their keys.
class Fixture {
 public:
  Fixture(const Comparator* order, const std::vector<Range>& ranges, size_t known)
      : comparator_(order) {
    VaryingBytes varying;
    for (size_t i = 0; i < known; ++i) {
      varying.Include(ranges[i].begin, [](size_t, uint8_t) {});
      varying.Include(ranges[i].end, [](size_t, uint8_t) {});
    }
    CoverSummary::Geometry geometry(varying);
    for (size_t i = 0; i < known; ++i) {
      geometry.Include(varying.HeadOf(ranges[i].begin));
      geometry.Include(varying.HeadOf(ranges[i].end));
    }
    geometry.Finish(2 * known);
    words_ = std::make_unique<CoverSummary::Word[]>(geometry.words());
    summary_ = std::make_unique<CoverSummary>(comparator_, geometry, words_.get());
    for (size_t i = 0; i < ranges.size(); ++i) {
      if (i < known) {
        summary_->Add(HeadSpan::Of(varying, ranges[i].begin, ranges[i].end));
      } else {
        summary_->Add(ranges[i].begin, ranges[i].end);
      }
    }
    summary_->CheckInvariants();
  }

  bool MayCover(const Slice& key) const { return summary_->MayCover(key); }

 private:
  const KeyComparator comparator_;
  std::unique_ptr<CoverSummary::Word[]> words_;
  std::unique_ptr<CoverSummary> summary_;
};

std::string BigEndian(uint64_t i) {
  std::string bytes(8, '\0');
  for (int at = 7; at >= 0; --at, i >>= 8) bytes[static_cast<size_t>(at)] = static_cast<char>(i);
  return bytes;
}

// Keys that are prefixes of each other, end in zeros, share much or nothing, or are empty or long.
std::string RandomKey(Random* random) {
  static const char* const kFronts[] = {"", "", "shared/", "shared/prefix/that/is/long/", "zz"};
  std::string key = kFronts[random->Uniform(5)];
  const char* const letters = random->OneIn(2) ? "0129" : "abz9";
  for (uint64_t n = random->Uniform(5); n > 0; --n) key.push_back(letters[random->Uniform(4)]);
  for (uint64_t n = random->OneIn(3) ? random->Uniform(4) : 0; n > 0; --n)
    key.push_back(static_cast<char>(random->OneIn(2) ? 0 : 0xff));
  if (random->OneIn(20)) key.append(70, 'x');
  return key;
}

TEST(CoverSummary, NeverDeniesACover) {
  for (const Comparator* const order : {BytewiseComparator(), ReverseBytewiseComparator()}) {
    const KeyComparator comparator(order);
    uint64_t denied = 0;
    for (uint64_t seed = 1; seed <= 1000; ++seed) {
      SCOPED_TRACE(StrCat(order->Name(), ", seed ", seed));
      Random random(seed);
      std::vector<Range> ranges;
      for (uint64_t n = 1 + random.Uniform(40); n > 0; --n) {
        std::string a = RandomKey(&random);
        std::string b = random.OneIn(3) ? a + '\0' : RandomKey(&random);
        if (a == b) continue;
        if (comparator.Compare(a, b) > 0) std::swap(a, b);
        ranges.push_back({a, b});
      }
      const Fixture fixture(order, ranges, random.Uniform(ranges.size() + 1));
      std::vector<std::string> keys;
      for (const Range& range : ranges) {
        for (const std::string& bound : {range.begin, range.end}) {
          keys.push_back(bound);
          keys.push_back(bound + '\0');
          if (!bound.empty()) keys.push_back(bound.substr(0, bound.size() - 1));
        }
      }
      for (int i = 0; i < 100; ++i) keys.push_back(RandomKey(&random));
      for (const std::string& key : keys) {
        const bool covered = std::any_of(ranges.begin(), ranges.end(), [&](const Range& range) {
          return comparator.Compare(range.begin, key) <= 0 &&
                 comparator.Compare(key, range.end) < 0;
        });
        if (covered) {
          ASSERT_TRUE(fixture.MayCover(key)) << key;
        }
        if (!fixture.MayCover(key)) ++denied;
      }
    }
    EXPECT_GT(denied, 1000u);
  }
}

// The bucket that begins with an end has no bit. Keys in it before the end look at earlier buckets.
TEST(CoverSummary, KeysBeforeAnEndInItsBucketAreFound) {
  const std::string zeros("c\0\0", 3);
  const std::vector<Range> to_zeros = {{"b", zeros}, {"e", "f"}};
  const Fixture fixture(BytewiseComparator(), to_zeros, to_zeros.size());
  EXPECT_TRUE(fixture.MayCover("c"));
  EXPECT_TRUE(fixture.MayCover(Slice(zeros.data(), 2)));
  EXPECT_FALSE(fixture.MayCover(zeros));
  // No bound has the byte 1, which is before the 5 of the end.
  const std::vector<Range> unknown = {{"b\x05", "c\x05"}, {"d\x06", "e\x07"}};
  const Fixture other(BytewiseComparator(), unknown, unknown.size());
  EXPECT_TRUE(other.MayCover("c\x01"));
  EXPECT_FALSE(other.MayCover("c\x05"));
}

// Tombstone i covers numbers [8 i, 8 i + 4).
struct Layout {
  const char* name;
  std::string (*key)(uint64_t number);
};
void PrintTo(const Layout& layout, std::ostream* out) { *out << layout.name; }

class CoverSummaryLayouts : public testing::TestWithParam<Layout> {};

// In an even layout nearly all keys between tombstones are decided, including the ends. The
// undecided keys have a last byte that is larger than the last byte of every bound.
TEST_P(CoverSummaryLayouts, DecidesKeysThatNothingCovers) {
  constexpr uint64_t kCount = 5000;
  std::vector<Range> ranges;
  for (uint64_t i = 0; i < kCount; ++i)
    ranges.push_back({GetParam().key(8 * i), GetParam().key(8 * i + 4)});
  const Fixture fixture(BytewiseComparator(), ranges, kCount);
  uint64_t undecided = 0;
  for (uint64_t number = 0; number < 8 * kCount; ++number) {
    const bool may_cover = fixture.MayCover(GetParam().key(number));
    if (number % 8 < 4) {
      ASSERT_TRUE(may_cover) << number;
    } else if (may_cover) {
      ++undecided;
    }
  }
  EXPECT_LT(undecided, 8 * kCount / 50);
  EXPECT_FALSE(fixture.MayCover(""));
  EXPECT_FALSE(fixture.MayCover("\xff\xff"));
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, CoverSummaryLayouts,
    testing::Values(
        Layout{"Numbers", [](uint64_t i) { return "k" + BigEndian(i); }},
        Layout{"NumbersBeforeZeros",
               [](uint64_t i) { return "k" + BigEndian(i) + std::string(8, '\0'); }},
        Layout{"NumbersBeforeText", [](uint64_t i) { return "k" + BigEndian(i) + "00000000"; }},
        Layout{"Decimals", [](uint64_t i) { return "user" + std::to_string(1000000 + i) + "/a"; }},
        Layout{
            "TwoNumbers",
            [](uint64_t i) { return "log" + BigEndian(i / 4096) + "\x01" + BigEndian(i % 4096); }}),
    [](const auto& layout) { return std::string(layout.param.name); });

// Bits are set in three levels. A wide tombstone sets few words, and all of its keys are found.
TEST(CoverSummary, WideTombstonesCoverAllOfTheirKeys) {
  constexpr uint64_t kCount = 40000;
  std::vector<Range> ranges;
  for (uint64_t i = 0; i < kCount; ++i)
    ranges.push_back({BigEndian(100 * i), BigEndian(100 * i + 1)});
  ranges.push_back({BigEndian(777777), BigEndian(3333333)});
  const Fixture fixture(BytewiseComparator(), ranges, kCount);
  for (uint64_t number = 0; number < 100 * kCount; number += 11) {
    if (number >= 777777 && number < 3333333) {
      ASSERT_TRUE(fixture.MayCover(BigEndian(number))) << number;
    }
  }
  uint64_t undecided = 0;
  for (uint64_t number = 3333400; number < 100 * kCount; number += 13)
    undecided += fixture.MayCover(BigEndian(number)) ? 1u : 0u;
  EXPECT_LT(undecided, (100 * kCount - 3333400) / 13 / 4);
}

// Recorded heads are updated when positions begin to vary later.
TEST(VaryingBytes, HeadsFollowNewPositions) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    Random random(seed);
    VaryingBytes varying;
    std::vector<std::string> keys;
    std::vector<uint64_t> heads;
    for (int i = 0; i < 60; ++i) {
      std::string key(random.Uniform(20), 'k');
      for (char& byte : key) byte = static_cast<char>(random.OneIn(15) ? random.Next() : 'k');
      varying.Include(key, [&](size_t slot, uint8_t byte) {
        for (uint64_t& head : heads) head = VaryingBytes::InsertByte(head, slot, byte);
      });
      keys.push_back(key);
      heads.push_back(varying.HeadOf(key));
      for (size_t k = 0; k < keys.size(); ++k) ASSERT_EQ(heads[k], varying.HeadOf(keys[k])) << k;
    }
    for (const std::string& a : keys) {
      for (const std::string& b : keys) {
        if (varying.HeadOf(a) < varying.HeadOf(b)) {
          ASSERT_LT(a, b);
        }
      }
    }
  }
}

}  // namespace
}  // namespace ashlar
