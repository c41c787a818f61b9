// Checkpoints that the bound on private pages starts: how many pages each one writes, and that a
// power cut in any of them loses nothing.
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

// A checkpoint used to wait for the log alone, which changes of random pages fill slowly.
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
  // Nothing but a checkpoint changes the pool.
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

}  // namespace
}  // namespace ashlar::pmem
