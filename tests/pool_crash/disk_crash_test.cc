// Power cuts with a tree of class `logged`. For any surviving sectors of log and pool, each change
// is present or absent as a whole, and is present if it has returned.
#include <cstdio>

#include "gtest/gtest.h"
#include "tests/pool_crash/disk_proof.h"

namespace ashlar::pmem {
namespace {

// The changes of the memory's proof, here with the log cut after each byte.
TEST(DiskCrashTest, EachKindOfChangeIsThereOrNotWhereverTheLogIsCut) {
  DiskProof proof({.images_per_epoch_max = 256, .seed = FirstSeed()});
  const std::string value(15, 'v');
  std::vector<Change> changes;
  for (uint64_t i = 0; i < 49; ++i)
    changes.push_back(PutOf(NumberKey(i * 10), value));  // the last one splits
  changes.push_back(PutOf(NumberKey(5), std::string(1500, 'l')));
  changes.push_back(PutOf(NumberKey(5), std::string(20000, 'x')));
  changes.push_back(PutOf(NumberKey(50), "replaced"));
  changes.push_back(DeleteOf(NumberKey(60)));
  changes.push_back(DeleteOf("missing"));
  changes.push_back(BatchOf({{BatchItem::Kind::kPut, NumberKey(71), value},
                             {BatchItem::Kind::kDelete, NumberKey(80), ""},
                             {BatchItem::Kind::kDeleteRange, NumberKey(90), NumberKey(130)}}));
  changes.push_back(DeleteRangeOf(NumberKey(200), NumberKey(400)));
  changes.push_back(DefragmentOf());
  for (size_t i = 0; i < changes.size(); ++i) {
    Status status;
    const Problem problem = proof.Run(changes[i], &status);
    ASSERT_FALSE(problem) << "change " << i << ": " << *problem;
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  const Problem reopened = proof.Reopen();
  ASSERT_FALSE(reopened) << *reopened;
  printf("pool_crash: log cut after each byte: %s\n", proof.counts().ToString().c_str());
}

// Histories with a checkpoint every few changes, in steps of a few pages.
TEST(DiskCrashTest, HistoriesAreThereUpToTheLastReturnAtEveryPowerCut) {
  ProofCounts counts;
  for (uint64_t tree = 0; tree < 3 * Effort(); ++tree) {
    const uint64_t seed = FirstSeed() * 1000 + tree;
    Random random(seed);
    DiskProof proof({.log_bytes_max = 3000 + 4000 * (tree % 3),
                     .pages_per_step = 1 + tree % 3,
                     .bytes_per_cut = 61,
                     .recoveries_cut_max = 1,
                     .seed = seed});
    for (uint64_t i = 0; i < 150; ++i) {
      Status status;
      const Problem problem = proof.Run(RandomChange(&random, i / 40 % 2 == 0), &status);
      ASSERT_FALSE(problem) << "ASHLAR_POOL_CRASH_SEED=" << FirstSeed() << ", tree of seed " << seed
                            << ", operation " << i << ": " << *problem;
      ASSERT_TRUE(status.ok() || status.IsNoSpace()) << status.ToString();
      if (random.OneIn(40)) {
        const Problem reopened = proof.Reopen();
        ASSERT_FALSE(reopened) << "tree of seed " << seed << ", operation " << i << ": "
                               << *reopened;
      }
    }
    counts.Add(proof.counts());
  }
  EXPECT_GT(counts.checkpoints, 50U);
  EXPECT_GT(counts.nested_images, 500U);
  printf("pool_crash: logged histories: %s\n", counts.ToString().c_str());
}

// Without syncs the newest changes may be lost. The rest is the state after some of them, and no
// change from before the last checkpoint is lost.
TEST(DiskCrashTest, WithoutSyncsAPowerCutLeavesAStateThatWas) {
  const uint64_t seed = FirstSeed();
  Random random(seed);
  DiskProof proof({.log_bytes_max = 4000,
                   .pages_per_step = 2,
                   .sync = false,
                   .bytes_per_cut = 997,
                   .recoveries_cut_max = 1,
                   .seed = seed});
  for (uint64_t i = 0; i < 100 * Effort(); ++i) {
    Status status;
    const Problem problem = proof.Run(RandomChange(&random, i / 40 % 2 == 0), &status);
    ASSERT_FALSE(problem) << "ASHLAR_POOL_CRASH_SEED=" << seed << ", operation " << i << ": "
                          << *problem;
    ASSERT_TRUE(status.ok() || status.IsNoSpace()) << status.ToString();
  }
  printf("pool_crash: log without syncs: %s\n", proof.counts().ToString().c_str());
}

std::string KeyOf(uint64_t number, size_t writer) {
  return NumberKey(number) + static_cast<char>('a' + writer);
}

// Writers share syncs, with checkpoints in between.
TEST(DiskCrashTest, OfEachOfThreeWritersWhatReturnedIsThere) {
  const uint64_t seed = FirstSeed();
  Random random(seed);
  DiskProof proof({.log_bytes_max = 6000,
                   .pages_per_step = 2,
                   .bytes_per_cut = 101,
                   .recoveries_cut_max = 4,
                   .seed = seed});
  const uint64_t rounds = 15 * Effort();
  // The scheduler decides how often writers meet, so rounds continue until they met this often.
  const uint64_t shared_epochs_min = 60 * Effort();
  for (uint64_t round = 0;
       round < rounds || (proof.counts().shared_epochs < shared_epochs_min && round < 20 * rounds);
       ++round) {
    std::vector<std::vector<Change>> writers(3);
    for (size_t writer = 0; writer < writers.size(); ++writer) {
      for (int i = 0; i < 8; ++i) {
        const std::string key = KeyOf(random.Uniform(60), writer);
        writers[writer].push_back(random.OneIn(3) ? DeleteOf(key)
                                                  : PutOf(key, RandomValue(&random)));
      }
    }
    const Problem problem = proof.RunTogether(
        writers, [](const std::string& key) { return static_cast<size_t>(key.back() - 'a'); });
    ASSERT_FALSE(problem) << "ASHLAR_POOL_CRASH_SEED=" << seed << " round " << round
                          << " (threads: it may take several runs): " << *problem;
  }
  EXPECT_GE(proof.counts().shared_epochs, shared_epochs_min);
  printf("pool_crash: three writers to one log: %s\n", proof.counts().ToString().c_str());
}

}  // namespace
}  // namespace ashlar::pmem
