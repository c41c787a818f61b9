// One writer and several readers without locks. Meant to run under ThreadSanitizer as well.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "execute/epoch.h"
#include "memtable/memtable.h"
#include "memtable/memtable_cursor.h"

namespace ashlar {
namespace {

constexpr uint64_t kInserts = 12000;

struct Scenario {
  const char* name;
  // A key for insert i, different for every i.
  std::string (*key)(uint64_t i);
};

std::string Digits(uint64_t v) {
  std::string digits = std::to_string(v);
  return std::string(8 - digits.size(), '0') + digits;
}
uint64_t Scattered(uint64_t i) { return i * 7919 % kInserts; }
static_assert(kInserts % 7919 != 0);

const Scenario kScenarios[] = {
    {"ascending", [](uint64_t i) { return "key" + Digits(i); }},
    {"descending", [](uint64_t i) { return "key" + Digits(kInserts - i); }},
    {"scattered", [](uint64_t i) { return "key" + Digits(Scattered(i)); }},
    {"shrinking prefix", [](uint64_t i) { return std::string(i < 500 ? 500 - i : 0, 'p') + Digits(Scattered(i)); }},
};

class World {
 public:
  explicit World(const Scenario& scenario) : scenario_(scenario) {
    memtable_ = MemTable::Create({.comparator = KeyComparator(BytewiseComparator()), .arena_blocks = &blocks_});
  }

  void Write() {
    for (uint64_t i = 1; i <= kInserts; ++i) {
      memtable_->Add(i, ValueType::kValue, scenario_.key(i), std::to_string(i));
      published_.store(i, std::memory_order_release);
      if (i % 400 == 0) std::this_thread::yield();  // so that few processors interleave writer and readers finely
    }
  }

  // Every entry published before a lookup began is found by it, with its value.
  void ReadPoints(uint64_t seed) {
    Random random(seed);
    uint64_t seen;
    do {
      seen = published_.load(std::memory_order_acquire);
      for (int n = 0; n < 50 && seen > 0; ++n) {
        const uint64_t i = random.OneIn(3) ? seen - random.Uniform(std::min(seen, uint64_t{40})) : 1 + random.Uniform(seen);
        EpochGuard guard;
        const std::string key = scenario_.key(i);
        Lookup lookup({.user_key = key, .snapshot = seen});
        memtable_->Get(&lookup);
        PinnableSlice value;
        ASSERT_TRUE(lookup.Finish(&value).ok()) << scenario_.name << ": lost " << i << " of " << seen << ", seed " << seed;
        ASSERT_EQ(value.ToString(), std::to_string(i));
      }
    } while (seen < kInserts);
  }

  // A scan meets everything that was published before it began, in order.
  void Scan(bool forward) {
    uint64_t seen;
    do {
      seen = published_.load(std::memory_order_acquire);
      EpochGuard guard;
      MemTableCursor cursor(memtable_.get(), MemTableCursor::Hold::kBorrowed);
      uint64_t met = 0;
      std::string previous;
      for (forward ? cursor.SeekToFirst() : cursor.SeekToLast(); cursor.Valid(); forward ? cursor.Next() : cursor.Prev()) {
        const std::string key = cursor.key().ToString();
        ASSERT_TRUE(previous.empty() || (forward ? previous < key : key < previous)) << scenario_.name;
        previous = key;
        if (TagSequence(ExtractTag(cursor.key())) <= seen) ++met;
      }
      ASSERT_EQ(met, seen) << scenario_.name;
    } while (seen < kInserts);
  }

  // A seek lands on its side of the target, and on the target itself once that was published.
  void Seek(uint64_t seed) {
    Random random(seed);
    uint64_t seen;
    do {
      seen = published_.load(std::memory_order_acquire);
      EpochGuard guard;
      MemTableCursor cursor(memtable_.get(), MemTableCursor::Hold::kBorrowed);
      for (int n = 0; n < 20; ++n) {
        const uint64_t i = 1 + random.Uniform(kInserts);
        const std::string target = MakeInternalKey(scenario_.key(i), i, ValueType::kValue);
        const KeyComparator& order = memtable_->comparator();
        cursor.Seek(target);
        ASSERT_TRUE(i > seen || (cursor.Valid() && cursor.key() == Slice(target)));
        ASSERT_TRUE(!cursor.Valid() || order.CompareInternal(cursor.key(), target) >= 0);
        cursor.SeekForPrev(target);
        ASSERT_TRUE(i > seen || (cursor.Valid() && cursor.key() == Slice(target)));
        ASSERT_TRUE(!cursor.Valid() || order.CompareInternal(cursor.key(), target) <= 0);
      }
    } while (seen < kInserts);
  }

  ~World() {
    memtable_->CheckInvariants();
    memtable_.reset();
    EpochSynchronize();
  }

 private:
  const Scenario& scenario_;
  ArenaBlockPool blocks_{ArenaBlockPool::Options{}};
  MemTable::Owner memtable_;
  std::atomic<uint64_t> published_{0};
};

class MemTableConcurrencyTest : public testing::TestWithParam<Scenario> {};

TEST_P(MemTableConcurrencyTest, ReadersSeeWhatWasPublished) {
  World world(GetParam());
  const std::vector<std::function<void()>> readers = {
      [&] { world.ReadPoints(1); }, [&] { world.ReadPoints(2); }, [&] { world.Scan(true); }, [&] { world.Scan(false); }, [&] { world.Seek(3); },
  };
  std::vector<std::thread> threads;
  for (const auto& reader : readers) threads.emplace_back(reader);
  world.Write();
  for (std::thread& thread : threads) thread.join();
}

INSTANTIATE_TEST_SUITE_P(Orders, MemTableConcurrencyTest, testing::ValuesIn(kScenarios), [](const auto& param_info) {
  std::string name = param_info.param.name;
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
});

}  // namespace
}  // namespace ashlar
