// Checkpoints: the bound on private pages limits the pages that they write, writers wait for only a
// few pages, and a power cut between any two steps loses nothing.
#include <cstdio>

#include "gtest/gtest.h"
#include "pmem/log_replay.h"
#include "pmem/logged_medium.h"
#include "tests/pool_crash/disk_proof.h"

namespace ashlar::pmem {
namespace {

constexpr uint64_t kPoolBytes = uint64_t{1} << 20;
constexpr uint64_t kPoolId = 79;
constexpr uint64_t kUnbounded = uint64_t{1} << 30;

// The log alone must not start checkpoints, because changes of random pages fill it slowly.
TEST(DiskCheckpointTest, OfRandomChangesWritesNoMorePagesThanTheBound) {
  constexpr uint64_t kPrivateBytesMax = 8 * kPageBytes;
  constexpr uint64_t kChangeBytesMax = 8 * kPageBytes;  // of one Put
  CrashDisk disk(kPoolBytes);
  const std::string pool = FormattedPool(kPoolBytes, kPoolId);
  for (uint64_t sector = 0; sector < kPoolBytes / kSectorBytes; ++sector)
    disk.SetPoolSector(sector, pool.substr(sector * kSectorBytes, kSectorBytes));
  std::unique_ptr<PoolStorage> storage = disk.NewStorage();
  ASSERT_TRUE(ReplayLog(storage.get(), {.pool_id = kPoolId}).ok());
  std::unique_ptr<Medium> medium =
      LoggedMedium::Create(std::move(storage), {.pool_id = kPoolId,
                                                .sync = true,
                                                .log_bytes_max = kUnbounded,
                                                .private_bytes_max = kPrivateBytesMax})
          .value();
  std::unique_ptr<PersistentTree> tree =
      OpenTree(std::move(medium), {.recovery = {.comparator = BytewiseComparator(),
                                                .split_strategy = {},
                                                .refuse_allocation = {}},
                                   .mark = MarkRun::kAtOpen})
          .value();
  Random random(1);
  for (int i = 0; i < 3000; ++i)
    ASSERT_TRUE(tree->Put(NumberKey(random.Uniform(1000)), std::string(200, 'v')).ok());

  uint64_t checkpoints = 0;
  for (const DiskEpoch& epoch : disk.TakeEpochs()) {
    uint64_t bytes = 0;
    for (const DiskWrite& write : epoch.writes)
      bytes += write.file == DiskFile::kPool ? write.bytes.size() : 0;
    EXPECT_LE(bytes, kPrivateBytesMax + kChangeBytesMax);
    checkpoints += bytes >= kPrivateBytesMax ? uint64_t{1} : 0;
  }
  EXPECT_GT(checkpoints, 20U);
  EXPECT_TRUE(tree->Verify().ok());
  ASSERT_TRUE(tree->Close().ok());
}

TEST(DiskCheckpointTest, ForTheSakeOfMemoryLosesNothingAtAnyPowerCut) {
  const uint64_t seed = FirstSeed();
  Random random(seed);
  DiskProof proof({.private_bytes_max = 4 * kPageBytes,
                   .bytes_per_cut = 61,
                   .recoveries_cut_max = 1,
                   .seed = seed});
  // Only a checkpoint changes the pool.
  uint64_t checkpoints = 0;
  for (uint64_t i = 0; i < 150 * Effort(); ++i) {
    Status status;
    const std::string pool = proof.durable().pool;
    const Problem problem = proof.Run(RandomChange(&random, i / 40 % 2 == 0), &status);
    ASSERT_FALSE(problem) << "ASHLAR_POOL_CRASH_SEED=" << seed << ", operation " << i << ": "
                          << *problem;
    ASSERT_TRUE(status.ok() || status.IsNoSpace()) << status.ToString();
    checkpoints += proof.durable().pool != pool ? uint64_t{1} : 0;
  }
  EXPECT_GT(checkpoints, 20U);
  printf("pool_crash: few private pages: %s\n", proof.counts().ToString().c_str());
}

// If a checkpoint wrote all changed pages while every writer waited, that would take seconds with a
// large pool.
TEST(DiskCheckpointTest, IsMadeInStepsBetweenTheChangesOfWriters) {
  constexpr uint64_t kPagesPerStep = 3;
  const uint64_t seed = FirstSeed();
  Random random(seed);
  DiskProof proof({.log_bytes_max = 40'000,
                   .pages_per_step = kPagesPerStep,
                   .images_per_epoch_max = 16,
                   .samples_per_epoch = 4,
                   .bytes_per_cut = 4096,
                   .recoveries_cut_max = 0,
                   .seed = seed});
  uint64_t changes_within = 0;  // made with a checkpoint in progress before and after
  uint64_t next_logs = 0;
  uint64_t in_a_row = 0;
  for (uint64_t i = 0; i < 400 * Effort(); ++i) {
    Status status;
    const std::string pool = proof.durable().pool;
    const std::string log = *proof.durable().log;
    const Problem problem = proof.Run(
        PutOf(NumberKey(random.Uniform(300)), std::string(random.Uniform(500), 'v')), &status);
    ASSERT_FALSE(problem) << "ASHLAR_POOL_CRASH_SEED=" << seed << ", operation " << i << ": "
                          << *problem;
    ASSERT_TRUE(status.ok()) << status.ToString();
    uint64_t pages = 0;
    for (uint64_t page = 1; page < pool.size() / kPageBytes; ++page) {
      const uint64_t at = page * kPageBytes;
      pages += pool.compare(at, kPageBytes, proof.durable().pool, at, kPageBytes) != 0;
    }
    EXPECT_LE(pages, kPagesPerStep) << "operation " << i;
    const bool is_next = log.compare(0, kPageBytes, *proof.durable().log, 0, kPageBytes) != 0;
    in_a_row = pages > 0 && !is_next ? in_a_row + 1 : 0;
    changes_within += in_a_row > 0 ? uint64_t{1} : 0;
    next_logs += is_next ? uint64_t{1} : 0;
  }
  EXPECT_GT(next_logs, 2 * Effort());
  EXPECT_GT(changes_within, 2 * next_logs);
  printf("pool_crash: checkpoints in steps: %s\n", proof.counts().ToString().c_str());
}

}  // namespace
}  // namespace ashlar::pmem
