// Power cuts while the persistent tree stores. For any surviving stores of the cache lines, each
// change is present or absent as a whole, and is present if it has returned.
#include <cstdio>

#include "gtest/gtest.h"
#include "tests/pool_crash/crash_proof.h"
#include "tests/support/comparators.h"

namespace ashlar::pmem {
namespace {

// Adds entries of 20 and 15 bytes with the numbers first, first + step, ...
void Fill(CrashProof* proof, uint64_t first, uint64_t count, uint64_t step) {
  for (uint64_t i = 0; i < count; ++i) {
    const Change put = PutOf(NumberKey(first + i * step), std::string(15, 'v'));
    ASSERT_TRUE(proof->RunUnseen(put).ok());
  }
}

// ---- One operation of each kind, with every image of its epochs.

struct Scenario {
  const char* name;
  std::function<void(CrashProof*)> prepare;
  Change change;
  // Limits of each operation of the medium, except those that take a span into use.
  uint64_t fences_max;
  uint64_t lines_max;
  size_t operations_max = 1;
  // A batch whose words are on one line. Between its second and fourth fence, the order within that
  // line is sufficient.
  bool is_batch_on_a_line = false;
};

std::vector<BatchItem> EveryOtherChanged(uint64_t count) {
  std::vector<BatchItem> items;
  for (uint64_t i = 0; i < count; ++i) {
    if (i % 2 == 0) items.push_back({BatchItem::Kind::kPut, NumberKey(i * 10), "replaced"});
    if (i % 4 == 1) items.push_back({BatchItem::Kind::kDelete, NumberKey(i * 10), ""});
    if (i % 4 == 3) items.push_back({BatchItem::Kind::kPut, NumberKey(i * 10 + 5), "new"});
  }
  return items;
}

constexpr uint64_t kNoLimit = ~uint64_t{0};

std::vector<Scenario> Scenarios() {
  const auto nothing = [](CrashProof*) {};
  const auto entries = [](uint64_t count) {
    return [count](CrashProof* proof) { Fill(proof, 0, count, 10); };
  };
  const std::string value(15, 'n');
  const auto batch_of_new = [&](uint64_t first, uint64_t count) {
    std::vector<BatchItem> items;
    for (uint64_t i = 0; i < count; ++i)
      items.push_back({BatchItem::Kind::kPut, NumberKey(first + i), value});
    return BatchOf(items);
  };
  const auto two_leaves_nearly_merging = [](CrashProof* proof) {
    Fill(proof, 0, 49, 10);
    for (uint64_t i = 1; i < 41; ++i) {
      const Change remove = DeleteOf(NumberKey(i * 10));
      ASSERT_TRUE(proof->RunUnseen(remove).ok());
    }
  };
  std::vector<Scenario> scenarios = {
      {"InsertIntoEmptyTree", nothing, PutOf(NumberKey(5), value), 2, 3},
      {"Insert", entries(30), PutOf(NumberKey(55), value), 2, 4},
      {"InsertOfAnEmptyKey", entries(30), PutOf("", ""), 2, 3},
      {"Update", entries(30), PutOf(NumberKey(50), value), 2, 3},
      {"UpdateByALargerValue", entries(30), PutOf(NumberKey(50), std::string(700, 'n')), 2, 14},
      {"Remove", entries(30), DeleteOf(NumberKey(50)), 1, 1},
      {"RemoveOfAMissingKey", entries(30), DeleteOf(NumberKey(55)), 0, 0},
      {"InsertOfALargeValue", entries(30), PutOf(NumberKey(55), std::string(20000, 'n')), 2, 320},
      {"UpdateOfALargeValue",
       [](CrashProof* proof) {
         Fill(proof, 0, 30, 10);
         const Change put = PutOf(NumberKey(50), std::string(30000, 'v'));
         ASSERT_TRUE(proof->RunUnseen(put).ok());
       },
       PutOf(NumberKey(50), std::string(20000, 'n')), 2, 320},
      {"SplitAtTheRightEdge", entries(48), PutOf(NumberKey(9999), value), 2, 11},
      {"SplitThatPutsTheNewEntryRight",
       [](CrashProof* proof) { Fill(proof, 1000, 24, 10), Fill(proof, 0, 23, 10); },
       PutOf(NumberKey(1105), value), 2, 11},
      {"SplitThatPutsTheNewEntryLeft",
       [](CrashProof* proof) { Fill(proof, 1000, 24, 10), Fill(proof, 0, 23, 10); },
       PutOf(NumberKey(55), value), 2, 11},
      {"SplitBeforeTheInsert", [](CrashProof* proof) { Fill(proof, 1, 48, 1); },
       PutOf(NumberKey(0), value), 2, 11, 2},
      {"Merge", two_leaves_nearly_merging, DeleteOf(NumberKey(41 * 10)), 2, 12, 2},
      {"SmallBatch", entries(30),
       BatchOf({{BatchItem::Kind::kPut, NumberKey(55), value},
                {BatchItem::Kind::kPut, NumberKey(50), value},
                {BatchItem::Kind::kDelete, NumberKey(70), ""}}),
       4, kNoLimit},
      {"BatchOverLeavesWithALogOfItsOwn", entries(140), BatchOf(EveryOtherChanged(140)), 4,
       kNoLimit},
      {"BatchThatSplits", entries(60), batch_of_new(101, 9), 4, kNoLimit},
      {"BatchThatMakesManyLeaves", entries(10), batch_of_new(1000, 150), 4, kNoLimit},
      {"RangeInsideALeaf", entries(40), DeleteRangeOf(NumberKey(100), NumberKey(200)), 4, kNoLimit,
       1, true},
      {"RangeWithoutEntries", entries(40), DeleteRangeOf(NumberKey(101), NumberKey(109)), 0, 0, 0},
      {"RangeOverLeaves", entries(230), DeleteRangeOf(NumberKey(200), NumberKey(2000)), 4,
       kNoLimit},
      {"EverythingDeleted", entries(150), DeleteRangeOf("", "9"), 4, kNoLimit, 1, true},
      {"RangeAndNewEntriesInOneBatch", entries(150),
       BatchOf({{BatchItem::Kind::kDeleteRange, NumberKey(200), NumberKey(1200)},
                {BatchItem::Kind::kPut, NumberKey(555), value},
                {BatchItem::Kind::kPut, NumberKey(1), value}}),
       4, kNoLimit},
      {"Defragment",
       [](CrashProof* proof) {
         Fill(proof, 0, 200, 10);
         for (uint64_t i = 0; i < 200; ++i) {
           if (i % 5 == 0) continue;
           const Change remove = DeleteOf(NumberKey(i * 10));
           ASSERT_TRUE(proof->RunUnseen(remove).ok());
         }
       },
       DefragmentOf(), 2, 20, 1000},
  };
  return scenarios;
}

void ExpectWithinBudget(const CrashProof& proof, const Scenario& scenario) {
  size_t operations = 0;
  for (const OperationCost& cost : proof.costs()) {
    if (cost.is_span_entry) continue;
    operations++;
    EXPECT_LE(cost.fences, scenario.fences_max) << scenario.name;
    EXPECT_LE(cost.lines_flushed, scenario.lines_max) << scenario.name;
  }
  EXPECT_LE(operations, scenario.operations_max) << scenario.name;
}

class EveryImageTest : public ::testing::TestWithParam<SplitStrategy> {};

TEST_P(EveryImageTest, OfEachOperationIsItsBeforeOrItsAfter) {
  ProofCounts counts;
  for (const Scenario& scenario : Scenarios()) {
    CrashProof proof({.split_strategy = GetParam(),
                      .samples_per_epoch = 512 * Effort(),
                      .recoveries_cut_max = 64 * Effort(),
                      .seed = FirstSeed()});
    scenario.prepare(&proof);
    Status status;
    const Problem problem = proof.Run(scenario.change, &status);
    ASSERT_FALSE(problem) << scenario.name << ": " << *problem;
    ASSERT_TRUE(status.ok()) << scenario.name << ": " << status.ToString();
    if (GetParam() == SplitStrategy::kZeroCopySwap) ExpectWithinBudget(proof, scenario);
    counts.Add(proof.counts());
  }
  EXPECT_GT(counts.nested_images, 0U);
  printf("pool_crash: each operation once: %s\n", counts.ToString().c_str());
}

INSTANTIATE_TEST_SUITE_P(Strategies, EveryImageTest,
                         ::testing::Values(SplitStrategy::kZeroCopySwap, SplitStrategy::kCopyOrSwap,
                                           SplitStrategy::kNaiveCopy));

// The proof detects the omission of any verb of an operation, either by an image or by the
// lint.
TEST(ProofTest, NoticesEachMissingFlushAndFence) {
  uint64_t omissions = 0;
  for (const Scenario& scenario : Scenarios()) {
    for (const Verb verb : {Verb::kFlush, Verb::kFence}) {
      for (uint64_t n = 0; n < 40; ++n) {
        CrashProof proof({.images_per_epoch_max = 256, .samples_per_epoch = 64});
        scenario.prepare(&proof);
        proof.Omit(verb, n);
        const Problem problem = proof.Run(scenario.change);
        if (!proof.WasOmitted()) break;
        if (!proof.OmissionMatters()) continue;
        if (scenario.is_batch_on_a_line && verb == Verb::kFence && (n == 1 || n == 2)) continue;
        ASSERT_TRUE(problem) << scenario.name << ": without "
                             << (verb == Verb::kFlush ? "flush " : "fence ") << n;
        omissions++;
      }
    }
  }
  EXPECT_GT(omissions, 150U);
}

// ---- Histories.

struct History {
  const char* name;
  size_t comparator;
  SplitStrategy split_strategy;
  PoolMemory::CopyOrder copy_order;
  uint64_t refuse_each;  // every n-th allocation; 0: none
};

std::ostream& operator<<(std::ostream& out, const History& history) { return out << history.name; }

class HistoryTest : public ::testing::TestWithParam<History> {};

constexpr uint64_t kImagesPerHistory = 40000;
constexpr uint64_t kOperationsPerTree = 400;

TEST_P(HistoryTest, IsThereUpToTheLastReturnAtEveryPowerCut) {
  const History& history = GetParam();
  ProofCounts counts;
  uint64_t seed = FirstSeed() * 1000;
  for (; counts.images < kImagesPerHistory * Effort(); ++seed) {
    Random random(seed);
    CrashProof proof({.comparator = TestComparators()[history.comparator].comparator,
                      .split_strategy = history.split_strategy,
                      .copy_order = history.copy_order,
                      .images_per_epoch_max = Effort() == 1 ? 256U : 4096U,
                      .seed = seed});
    proof.RefuseEach(history.refuse_each);
    for (uint64_t i = 0; i < kOperationsPerTree &&
                         counts.images + proof.counts().images < kImagesPerHistory * Effort();
         ++i) {
      Status status;
      const Problem problem = proof.Run(RandomChange(&random, i / 100 % 2 == 0), &status);
      ASSERT_FALSE(problem) << "ASHLAR_POOL_CRASH_SEED=" << FirstSeed() << ", tree of seed " << seed
                            << ", operation " << i << ": " << *problem;
      ASSERT_TRUE(status.ok() || status.IsNoSpace()) << status.ToString();
      for (const OperationCost& cost : proof.costs())
        ASSERT_LE(cost.fences, 4U) << "seed " << seed << ", operation " << i;
      if (random.OneIn(100)) {
        const Problem reopened = proof.Reopen();
        ASSERT_FALSE(reopened) << "tree of seed " << seed << ", operation " << i << ": "
                               << *reopened;
      }
    }
    counts.Add(proof.counts());
  }
  EXPECT_EQ(counts.refused_allocations > 0, history.refuse_each > 0);
  printf("pool_crash: history %s, seeds %s to %s: %s\n", history.name,
         std::to_string(FirstSeed() * 1000).c_str(), std::to_string(seed - 1).c_str(),
         counts.ToString().c_str());
}

INSTANTIATE_TEST_SUITE_P(
    Histories, HistoryTest,
    ::testing::Values(History{"plain", 0, SplitStrategy::kZeroCopySwap, PoolMemory::CopyOrder::kUp,
                              0},
                      History{"words_downwards", 2, SplitStrategy::kZeroCopySwap,
                              PoolMemory::CopyOrder::kDown, 0},
                      History{"each_fifth_allocation_fails", 1, SplitStrategy::kZeroCopySwap,
                              PoolMemory::CopyOrder::kUp, 5},
                      History{"copies_with_each_eleventh_allocation_failing", 0,
                              SplitStrategy::kNaiveCopy, PoolMemory::CopyOrder::kDown, 11}),
    [](const auto& tested) { return tested.param.name; });

// An operation that fails at any of its allocations changes nothing, and no image shows a change.
TEST(AllocationTest, WhicheverFailsNothingChanges) {
  uint64_t refused = 0;
  for (const Scenario& scenario : Scenarios()) {
    for (uint64_t n = 1; n < 40; ++n) {
      CrashProof proof({.images_per_epoch_max = 256, .samples_per_epoch = 32});
      scenario.prepare(&proof);
      proof.RefuseOnce(n);
      const Problem problem = proof.Run(scenario.change);
      ASSERT_FALSE(problem) << scenario.name << ", allocation " << n << ": " << *problem;
      if (proof.counts().refused_allocations == 0) break;
      refused++;
      const Problem again = proof.Run(scenario.change);
      ASSERT_FALSE(again) << scenario.name << ", after allocation " << n << ": " << *again;
    }
  }
  EXPECT_GT(refused, 50U);
}

}  // namespace
}  // namespace ashlar::pmem
