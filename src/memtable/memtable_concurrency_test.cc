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
#include "tests/support/memtable_shapes.h"
#include "tests/support/test_epochs.h"

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
    {"shrinking prefix",
     [](uint64_t i) { return std::string(i < 500 ? 500 - i : 0, 'p') + Digits(Scattered(i)); }},
};

class World {
 public:
  World(const Scenario& scenario, const MemTableShape& shape) : scenario_(scenario) {
    memtable_ = MemTable::Create({.comparator = KeyComparator(BytewiseComparator()),
                                  .arena_blocks = &blocks_,
                                  .epochs = &TestEpochs(),
                                  .prefix_extractor = prefix_extractor_,
                                  .shape = shape});
  }

  void Write() {
    for (uint64_t i = 1; i <= kInserts; ++i) {
      memtable_->Add(i, ValueType::kValue, scenario_.key(i), std::to_string(i));
      published_.store(i, std::memory_order_release);
      if (i % 400 == 0)
        std::this_thread::yield();  // so that few processors interleave writer and readers finely
    }
  }

  // A lookup finds every entry that was published before it began, with its value.
  void ReadPoints(uint64_t seed) {
    Random random(seed);
    uint64_t seen;
    do {
      seen = published_.load(std::memory_order_acquire);
      for (int n = 0; n < 50 && seen > 0; ++n) {
        const uint64_t i = random.OneIn(3) ? seen - random.Uniform(std::min(seen, uint64_t{40}))
                                           : 1 + random.Uniform(seen);
        EpochGuard guard(TestEpochs());
        const std::string key = scenario_.key(i);
        Lookup lookup({.user_key = key, .snapshot = seen});
        memtable_->Get(&lookup);
        PinnableSlice value;
        ASSERT_TRUE(lookup.Finish(&value).ok())
            << scenario_.name << ": lost " << i << " of " << seen << ", seed " << seed;
        ASSERT_EQ(value.ToString(), std::to_string(i));
      }
    } while (seen < kInserts);
  }

  // A scan visits every entry that was published before it began, in order.
  void Scan(bool forward) {
    uint64_t seen;
    do {
      seen = published_.load(std::memory_order_acquire);
      EpochGuard guard(TestEpochs());
      MemTableCursor cursor(memtable_.get(), MemTableCursor::PinMode::kBorrowed, nullptr);
      uint64_t met = 0;
      std::string previous;
      for (forward ? cursor.SeekToFirst() : cursor.SeekToLast(); cursor.Valid();
           forward ? cursor.Next() : cursor.Prev()) {
        const std::string key = cursor.key().ToString();
        ASSERT_TRUE(previous.empty() || (forward ? previous < key : key < previous))
            << scenario_.name;
        previous = key;
        if (TagSequence(ExtractTag(cursor.key())) <= seen) ++met;
      }
      ASSERT_EQ(met, seen) << scenario_.name;
    } while (seen < kInserts);
  }

  // A seek ends on its side of the target, and on the target itself if that is published.
  void Seek(uint64_t seed) {
    Random random(seed);
    uint64_t seen;
    do {
      seen = published_.load(std::memory_order_acquire);
      EpochGuard guard(TestEpochs());
      MemTableCursor cursor(memtable_.get(), MemTableCursor::PinMode::kBorrowed, nullptr);
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

  // Iteration from the beginning of a prefix visits every published entry of the prefix, in order.
  void WalkPrefixes(uint64_t seed) {
    Random random(seed);
    uint64_t seen;
    do {
      seen = published_.load(std::memory_order_acquire);
      EpochGuard guard(TestEpochs());
      SeekPrefix seek(
          {.comparator = memtable_->comparator(), .transform = prefix_extractor_.get()});
      seek.SetScope(SeekScope::kPrefix);
      MemTableCursor cursor(memtable_.get(), MemTableCursor::PinMode::kBorrowed, &seek);
      for (int n = 0; n < 5 && seen > 0; ++n) {
        const uint64_t i = 1 + random.Uniform(seen);
        const std::string key = scenario_.key(i);
        const Slice prefix = prefix_extractor_->Transform(key);
        bool met = false;
        std::string previous;
        seek.Begin(prefix, true);
        for (cursor.Seek(MakeInternalKey(prefix, kSequenceNumberMax, ValueType::kMax));
             cursor.Valid() && !met; cursor.Next()) {
          const std::string here = ExtractUserKey(cursor.key()).ToString();
          ASSERT_TRUE(previous.empty() || previous < here) << scenario_.name;
          met = here == key;
          previous = here;
        }
        ASSERT_TRUE(met) << scenario_.name << ": lost " << i << " of " << seen << ", seed " << seed;
      }
    } while (seen < kInserts);
  }

  ~World() {
    memtable_->CheckInvariants();
    memtable_.reset();
    TestEpochs().Synchronize();
  }

 private:
  const Scenario& scenario_;
  const std::shared_ptr<const SliceTransform> prefix_extractor_{NewFixedPrefixTransform(8)};
  ArenaBlockPool blocks_{ArenaBlockPool::Options{}};
  MemTable::Owner memtable_;
  std::atomic<uint64_t> published_{0};
};

struct Case {
  Scenario scenario;
  NamedShape shape;
};

// In a tree, the states that readers see depend on the order of the keys. In the other kinds they
// hardly do.
std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const NamedShape& shape : TestShapes()) {
    for (const Scenario& scenario : kScenarios) {
      if (&shape == &TestShapes().front() || scenario.key == kScenarios[2].key)
        cases.push_back({scenario, shape});
    }
  }
  return cases;
}

class MemTableConcurrencyTest : public testing::TestWithParam<Case> {};

TEST_P(MemTableConcurrencyTest, ReadersSeeWhatWasPublished) {
  World world(GetParam().scenario, GetParam().shape.shape);
  const std::vector<std::function<void()>> readers = {
      [&] { world.ReadPoints(1); }, [&] { world.ReadPoints(2); }, [&] { world.Scan(true); },
      [&] { world.Scan(false); },   [&] { world.Seek(3); },       [&] { world.WalkPrefixes(4); },
  };
  std::vector<std::thread> threads;
  for (const auto& reader : readers) threads.emplace_back(reader);
  world.Write();
  for (std::thread& thread : threads) thread.join();
}

INSTANTIATE_TEST_SUITE_P(Orders, MemTableConcurrencyTest, testing::ValuesIn(Cases()),
                         [](const auto& param_info) {
                           std::string name = std::string(param_info.param.scenario.name) + "_" +
                                              param_info.param.shape.name;
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

}  // namespace
}  // namespace ashlar
