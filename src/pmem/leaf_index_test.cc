#include "pmem/leaf_index.h"

#include <deque>
#include <map>
#include <vector>

#include "base/coding.h"
#include "base/random.h"
#include "execute/epoch.h"
#include "gtest/gtest.h"
#include "tests/support/comparators.h"
#include "tests/support/test_epochs.h"

namespace ashlar::pmem {
namespace {

// The separators of these tests are not in a pool.
const char* const kNoEnd = reinterpret_cast<const char*>(UINTPTR_MAX);

struct Less {
  const Comparator* comparator;
  bool operator()(const std::string& a, const std::string& b) const {
    return comparator->Compare(a, b) < 0;
  }
};

// Returns a record in memory with this key.
std::string RecordOf(const std::string& key) {
  std::string record(4, '\0');
  PutFixed32(&record, static_cast<uint32_t>(key.size()));
  PutFixed32(&record, 0);
  return record + key;
}

class LeafIndexTest : public ::testing::TestWithParam<size_t> {};

std::string RandomKey(Random* random) {
  // Long shared prefixes, keys that are prefixes of others, and bytes of any value.
  switch (random->Uniform(3)) {
    case 0: return std::string(random->Uniform(60), 'p') + random->Bytes(random->Uniform(4) + 1);
    case 1: return "00000000000000" + std::to_string(random->Uniform(100000));
    default: return random->Bytes(random->Uniform(12) + 1);
  }
}

TEST_P(LeafIndexTest, AgreesWithAMapInAnyHistory) {
  const NamedComparator& named = TestComparators()[GetParam()];
  const uint64_t seed = 41 + GetParam();
  Random random(seed);
  LeafIndex index(KeyComparator(named.comparator), &TestEpochs(), nullptr, kNoEnd);
  std::deque<std::string> records;
  std::map<std::string, PoolOffset, Less> model(Less{named.comparator});
  constexpr PoolOffset kFirst = 64;
  PoolOffset next_offset = 128;
  index.Build({{nullptr, index.NewRef(kFirst)}});
  EpochGuard guard(TestEpochs());  // keeps replaced nodes: the check below walks them
  std::map<std::string, const char*, Less> separators(Less{named.comparator});
  for (int step = 0; step < 6000; ++step) {
    const std::string key = RandomKey(&random);
    if (random.Uniform(100) < (step < 4000 ? 75U : 20U)) {
      if (model.contains(key)) continue;
      records.push_back(RecordOf(key));
      const char* const record = records.back().data();
      LeafRef* const ref = index.NewRef(next_offset);
      LeafIndex::Change change;
      index.PrepareInsert(record, ref, &change);
      index.Publish(&change);
      model[key] = next_offset;
      separators[key] = record;
      next_offset += 64;
    } else if (!model.empty()) {
      auto victim = model.lower_bound(key);
      if (victim == model.end()) victim = model.begin();
      LeafRef* const ref = index.Find(victim->first).ref;
      LeafIndex::Change change;
      index.PrepareErase(separators[victim->first], &change);
      index.Publish(&change);
      index.DropRef(ref);
      separators.erase(victim->first);
      model.erase(victim);
    }
    const std::string target = RandomKey(&random);
    const auto above = model.upper_bound(target);
    const BoundedLeaf found = index.FindBounded(target);
    ASSERT_EQ(found.offset, above == model.begin() ? kFirst : std::prev(above)->second)
        << named.name << " seed " << seed << " step " << step;
    ASSERT_EQ(index.Find(target).ref, found.ref) << "seed " << seed << " step " << step;
    ASSERT_EQ(index.Find(target).is_last, above == model.end())
        << named.name << " seed " << seed << " step " << step;
    ASSERT_EQ(found.is_last, above == model.end());
    ASSERT_EQ(found.upper == nullptr, above == model.end());
    if (found.upper != nullptr) {
      ASSERT_EQ(index.KeyOf(found.upper), Slice(above->first));
    }
    ASSERT_EQ(found.lower == nullptr, above == model.begin());
    const auto at = model.lower_bound(target);
    ASSERT_EQ(index.FindBefore(target).offset, at == model.begin() ? kFirst : std::prev(at)->second)
        << "seed " << seed << " step " << step;
    ASSERT_EQ(index.FindLast().offset, model.empty() ? kFirst : model.rbegin()->second);
    ASSERT_EQ(index.FindFirst().offset, kFirst);
  }
}

// Each change inserts and removes a few leaves or most of them. Every third change is abandoned.
TEST_P(LeafIndexTest, AChangeOfManyLeavesIsThereAtOnceOrNotAtAll) {
  const NamedComparator& named = TestComparators()[GetParam()];
  const uint64_t seed = 51 + GetParam();
  Random random(seed);
  LeafIndex index(KeyComparator(named.comparator), &TestEpochs(), nullptr, kNoEnd);
  struct Leaf {
    LeafRef* ref;
    const char* separator;
  };
  using Leaves = std::map<std::string, Leaf, Less>;
  std::deque<std::string> records;
  Leaves leaves(Less{named.comparator});
  LeafRef* const first = index.NewRef(64);
  index.Build({{nullptr, first}});
  for (int step = 0; step < 150; ++step) {
    LeafIndex::Change change;
    Leaves changed = leaves;
    std::vector<LeafRef*> made;
    std::vector<LeafRef*> dropped;
    const uint64_t edits = random.Uniform(step % 10 == 9 ? 2000 : 50) + 1;
    const uint64_t share_of_inserts = random.Uniform(101);
    for (uint64_t edit = 0; edit < edits; ++edit) {
      const std::string key = RandomKey(&random);
      if (random.Uniform(100) < share_of_inserts) {
        if (changed.contains(key)) continue;
        records.push_back(RecordOf(key));
        made.push_back(index.NewRef(128));
        changed[key] = {made.back(), records.back().data()};
        index.PrepareInsert(records.back().data(), made.back(), &change);
      } else if (!changed.empty()) {
        auto victim = changed.lower_bound(key);
        if (victim == changed.end()) victim = changed.begin();
        index.PrepareErase(victim->second.separator, &change);
        dropped.push_back(victim->second.ref);
        changed.erase(victim);
      }
    }
    const bool is_published = step % 3 != 2;
    if (is_published) {
      index.Publish(&change);
      leaves.swap(changed);
    }
    EpochGuard guard(TestEpochs());
    // Peek first, because it does not wait. A replaced node in the index keeps a reader forever.
    for (const auto& [key, leaf] : leaves) {
      ASSERT_EQ(index.Peek(key).ref, leaf.ref)
          << named.name << " seed " << seed << " step " << step;
    }
    ASSERT_EQ(index.FindFirst().ref, first);
    LeafRef* before = first;
    for (const auto& [key, leaf] : leaves) {
      const BoundedLeaf found = index.FindBounded(key);
      ASSERT_EQ(found.ref, leaf.ref) << named.name << " seed " << seed << " step " << step;
      ASSERT_EQ(found.lower, leaf.separator) << named.name << " seed " << seed << " step " << step;
      ASSERT_EQ(index.FindBefore(key).ref, before) << "seed " << seed << " step " << step;
      before = leaf.ref;
    }
    ASSERT_EQ(index.FindLast().ref, before);
    for (LeafRef* const ref : is_published ? dropped : made) index.DropRef(ref);
  }
}

// A node is copied once, however many of its leaves change.
TEST(LeafIndexChangeTest, ManyRemovalsReplaceEachNodeOnce) {
  LeafIndex index(KeyComparator(BytewiseComparator()), &TestEpochs(), nullptr, kNoEnd);
  std::deque<std::string> records;
  std::vector<LeafIndex::Entry> leaves = {{nullptr, index.NewRef(64)}};
  for (int i = 10000; i < 15000; ++i) {
    records.push_back(RecordOf(std::to_string(i)));
    leaves.push_back({records.back().data(), index.NewRef(64)});
  }
  index.Build(leaves);
  TestEpochs().Synchronize();
  const EpochGuard guard(TestEpochs());
  const size_t retired_before = TestEpochs().PendingObjects();
  const uint64_t bytes_before = index.VolatileBytes();
  LeafIndex::Change change;
  for (const std::string& record : records) index.PrepareErase(record.data(), &change);
  index.Publish(&change);
  EXPECT_LT(TestEpochs().PendingObjects() - retired_before, records.size() / 40);
  EXPECT_LT(index.VolatileBytes(), bytes_before);
  EXPECT_EQ(index.FindLast().ref, leaves[0].leaf);
}

INSTANTIATE_TEST_SUITE_P(Orders, LeafIndexTest, ::testing::Range(size_t{0}, size_t{3}));

TEST(LeafIndexBuildTest, ABuiltIndexFindsWhatAGrownOneFinds) {
  LeafIndex index(KeyComparator(BytewiseComparator()), &TestEpochs(), nullptr, kNoEnd);
  std::deque<std::string> records;
  std::vector<LeafIndex::Entry> leaves = {{nullptr, index.NewRef(64)}};
  for (uint32_t i = 1; i < 10000; ++i) {
    char key[16];
    snprintf(key, sizeof(key), "key%08u", i * 2);
    records.push_back(RecordOf(key));
    leaves.push_back({records.back().data(), index.NewRef(64 * (uint64_t{i} + 1))});
  }
  index.Build(leaves);
  EpochGuard guard(TestEpochs());
  for (uint32_t i = 0; i < 20000; ++i) {
    char key[16];
    snprintf(key, sizeof(key), "key%08u", i);
    ASSERT_EQ(index.Find(key).offset, 64 * (uint64_t{i / 2} + 1)) << i;
  }
}

TEST(LeafRefTest, AVersionNeverComesBack) {
  LeafIndex index(KeyComparator(BytewiseComparator()), &TestEpochs(), nullptr, kNoEnd);
  LeafRef* const ref = index.NewRef(64);
  const uint64_t seen = ref->version.load();
  ASSERT_TRUE(ref->TryLock(seen));
  EXPECT_FALSE(ref->TryLock(seen));
  EXPECT_FALSE(ref->Unchanged(seen));
  ref->UnlockUnchanged();
  EXPECT_TRUE(ref->Unchanged(seen));
  ASSERT_TRUE(ref->TryLock(seen));
  ref->Kill();
  index.DropRef(ref);
  LeafRef* const again = index.NewRef(128);
  EXPECT_EQ(again, ref);
  EXPECT_GT(again->version.load(), seen);
}

}  // namespace
}  // namespace ashlar::pmem
