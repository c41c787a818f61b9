#include "pmem/leaf_index.h"

#include <deque>
#include <map>

#include "base/coding.h"
#include "base/random.h"
#include "execute/epoch.h"
#include "gtest/gtest.h"
#include "tests/support/comparators.h"
#include "tests/support/test_epochs.h"

namespace ashlar::pmem {
namespace {

// Separators of these tests are in no pool.
const char* const kNoEnd = reinterpret_cast<const char*>(UINTPTR_MAX);

struct Less {
  const Comparator* comparator;
  bool operator()(const std::string& a, const std::string& b) const {
    return comparator->Compare(a, b) < 0;
  }
};

// A record in memory, for its key.
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
      LeafIndex::Change change = index.PrepareInsert(record, ref);
      index.Publish(&change);
      model[key] = next_offset;
      separators[key] = record;
      next_offset += 64;
    } else if (!model.empty()) {
      auto victim = model.lower_bound(key);
      if (victim == model.end()) victim = model.begin();
      LeafRef* const ref = index.Find(victim->first).ref;
      LeafIndex::Change change = index.PrepareErase(separators[victim->first]);
      index.Publish(&change);
      index.DropRef(ref);
      separators.erase(victim->first);
      model.erase(victim);
    }
    const std::string target = RandomKey(&random);
    const auto above = model.upper_bound(target);
    const FoundLeaf found = index.Find(target);
    ASSERT_EQ(found.offset, above == model.begin() ? kFirst : std::prev(above)->second)
        << named.name << " seed " << seed << " step " << step;
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
