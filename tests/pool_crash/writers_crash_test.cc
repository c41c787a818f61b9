// Power cuts while two writers store at once in the same leaves. Each writer's returned changes
// survive, and its change in progress survives entirely or not at all.
#include <cstdio>

#include "gtest/gtest.h"
#include "tests/pool_crash/crash_proof.h"

namespace ashlar::pmem {
namespace {

constexpr size_t kWriters = 2;
constexpr uint64_t kNumbers = 90;

// Neighbours in the tree belong to different writers.
std::string KeyOf(uint64_t number, size_t writer) {
  return NumberKey(number) + static_cast<char>('a' + writer);
}
size_t WriterOf(const std::string& key) { return static_cast<size_t>(key.back() - 'a'); }

Change RandomChangeOf(size_t writer, Random* random, bool growing) {
  const auto key = [&] { return KeyOf(random->Uniform(kNumbers), writer); };
  if (random->OneIn(6)) {
    std::vector<BatchItem> items;
    for (uint64_t i = 1 + random->Uniform(growing ? 20 : 6); i > 0; --i) {
      items.push_back({random->OneIn(3) ? BatchItem::Kind::kDelete : BatchItem::Kind::kPut, key(),
                       RandomValue(random)});
    }
    return BatchOf(std::move(items));
  }
  if (random->OneIn(growing ? 6 : 2)) return DeleteOf(key());
  return PutOf(key(), RandomValue(random));
}

class WritersCrashTest : public ::testing::TestWithParam<SplitStrategy> {};

TEST_P(WritersCrashTest, OfEachWriterWhatReturnedIsThere) {
  const uint64_t rounds = 40 * Effort();
  // The scheduler decides how often writers meet, so rounds continue until they met this often.
  const uint64_t shared_epochs_min = 130 * Effort();
  constexpr size_t kChangesPerRound = 6;
  const uint64_t seed = FirstSeed();
  Random random(seed);
  CrashProof proof({.split_strategy = GetParam(),
                    .images_per_epoch_max = 64,
                    .samples_per_epoch = 48,
                    .seed = seed});
  for (uint64_t round = 0;
       round < rounds || (proof.counts().shared_epochs < shared_epochs_min && round < 20 * rounds);
       ++round) {
    std::vector<std::vector<Change>> writers(kWriters);
    for (size_t writer = 0; writer < kWriters; ++writer) {
      for (size_t i = 0; i < kChangesPerRound; ++i)
        writers[writer].push_back(RandomChangeOf(writer, &random, round / 10 % 2 == 0));
    }
    const Problem problem = proof.RunTogether(writers, WriterOf);
    ASSERT_FALSE(problem) << "ASHLAR_POOL_CRASH_SEED=" << seed << " round " << round
                          << " (threads: it may take several runs): " << *problem;
    if (round % 10 == 9) {
      // The mark of the next tree runs concurrently with the writers of the next round.
      const Problem reopened = proof.ReopenWithBackgroundMark();
      ASSERT_FALSE(reopened) << *reopened;
    }
  }
  EXPECT_GE(proof.counts().shared_epochs, shared_epochs_min);
  printf("pool_crash: two writers: %s\n", proof.counts().ToString().c_str());
}

INSTANTIATE_TEST_SUITE_P(Strategies, WritersCrashTest,
                         ::testing::Values(SplitStrategy::kZeroCopySwap,
                                           SplitStrategy::kCopyOrSwap));

}  // namespace
}  // namespace ashlar::pmem
