// Tests the summary of tombstones that are added one by one, against a model and with readers.
#include "memtable/range_summary.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "tests/support/comparators.h"

namespace ashlar {
namespace {

std::string BigEndian(uint64_t i) {
  std::string bytes(8, '\0');
  for (int at = 7; at >= 0; --at, i >>= 8) bytes[static_cast<size_t>(at)] = static_cast<char>(i);
  return bytes;
}

class Fixture {
 public:
  explicit Fixture(const Comparator* order = BytewiseComparator())
      : arena_(&blocks_), summary_(KeyComparator(order), &arena_) {}
  void Add(const std::string& begin, const std::string& end) {
    summary_.Add({.begin = begin, .end = end, .sequence = ++sequence_});
  }
  const RangeSummary& summary() const { return summary_; }

 private:
  ArenaBlockPool blocks_{ArenaBlockPool::Options{}};
  Arena arena_;
  RangeSummary summary_;
  SequenceNumber sequence_ = 0;
};

// Returns the number of undecided keys that nothing covers. Expects that no covered key is missed.
template <typename KeyOf>
uint64_t Undecided(const RangeSummary& summary, uint64_t tombstones, const KeyOf& key_of) {
  uint64_t undecided = 0;
  for (uint64_t number = 0; number < 8 * tombstones; ++number) {
    const bool may_cover = summary.MayCover(key_of(number));
    if (number % 8 < 4) {
      EXPECT_TRUE(may_cover) << number;
    } else if (may_cover) {
      ++undecided;
    }
  }
  return undecided;
}

TEST(RangeSummary, AscendingScatteredAndDescendingTombstonesAreDecided) {
  constexpr uint64_t kCount = 10000;
  const auto key = [](uint64_t i) { return "log" + BigEndian(i); };
  using Order = uint64_t (*)(uint64_t);
  for (const Order order :
       {Order{[](uint64_t i) { return i; }}, Order{[](uint64_t i) { return i * 7919 % kCount; }},
        Order{[](uint64_t i) { return kCount - 1 - i; }}}) {
    Fixture fixture;
    for (uint64_t i = 0; i < kCount; ++i) fixture.Add(key(8 * order(i)), key(8 * order(i) + 4));
    fixture.summary().CheckInvariants();
    EXPECT_LT(Undecided(fixture.summary(), kCount, key), 8 * kCount / 20);
  }
}

// Bytes begin to vary at ever earlier positions, and at more positions than a head has bytes.
TEST(RangeSummary, PositionsThatBeginToVaryLoseNothing) {
  for (const Comparator* const order : {BytewiseComparator(), ReverseBytewiseComparator()}) {
    const KeyComparator comparator(order);
    Random random(4);
    Fixture fixture(order);
    std::vector<std::pair<std::string, std::string>> ranges;
    for (uint64_t i = 0; i < 600; ++i) {
      std::string a(20, 'm');
      for (uint64_t n = 1 + i / 30; n > 0; --n)
        a[19 - random.Uniform(1 + i / 30)] = static_cast<char>(random.Uniform(256));
      std::string b = a;
      b[19] = static_cast<char>(random.Uniform(256));
      if (random.OneIn(4)) b.resize(random.Uniform(20));
      if (comparator.Compare(a, b) == 0) continue;
      if (comparator.Compare(a, b) > 0) std::swap(a, b);
      fixture.Add(a, b);
      ranges.emplace_back(a, b);
      if (i % 50 != 49) continue;
      for (const auto& [begin, end] : ranges) {
        for (const auto& [key, other] : ranges) {
          if (comparator.Compare(begin, key) <= 0 && comparator.Compare(key, end) < 0) {
            ASSERT_TRUE(fixture.summary().MayCover(key));
          }
          if (comparator.Compare(begin, other) <= 0 && comparator.Compare(other, end) < 0) {
            ASSERT_TRUE(fixture.summary().MayCover(other));
          }
        }
      }
    }
  }
}

TEST(RangeSummary, AnOrderWithoutHeadsIsNeverDecided) {
  static const CaselessComparator caseless;
  Fixture fixture(&caseless);
  for (uint64_t i = 0; i < 100; ++i) fixture.Add("a", "b");
  EXPECT_TRUE(fixture.summary().MayCover("z"));
}

// A reader finds every tombstone published before its search, across all summaries that are made.
TEST(RangeSummary, ReadersFindWhatWasPublished) {
  constexpr uint64_t kCount = 20000;
  Fixture fixture;
  std::atomic<uint64_t> published{0};
  const auto number = [](uint64_t i) { return i * 7919 % kCount * 8; };
  const auto read = [&](uint64_t seed) {
    Random random(seed);
    for (uint64_t seen = 0; seen < kCount;) {
      seen = published.load(std::memory_order_acquire);
      if (seen == 0) continue;
      for (int n = 0; n < 50; ++n) {
        const uint64_t i = random.OneIn(3) ? seen - 1 : random.Uniform(seen);
        ASSERT_TRUE(fixture.summary().MayCover(BigEndian(number(i) + random.Uniform(4))));
      }
    }
  };
  std::vector<std::thread> readers;
  for (const uint64_t seed : {uint64_t{1}, uint64_t{2}}) readers.emplace_back(read, seed);
  for (uint64_t i = 0; i < kCount; ++i) {
    fixture.Add(BigEndian(number(i)), BigEndian(number(i) + 4));
    published.store(i + 1, std::memory_order_release);
  }
  for (std::thread& reader : readers) reader.join();
}

}  // namespace
}  // namespace ashlar
