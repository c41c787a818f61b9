// Changes that a session left in caches, because its process died or its class did not flush.
#include <algorithm>

#include "gtest/gtest.h"
#include "pmem/log_replay.h"
#include "tests/pool_crash/disk_proof.h"

namespace ashlar::pmem {
namespace {

constexpr uint64_t kPoolBytes = uint64_t{1} << 20;
constexpr uint64_t kPoolId = 79;

// The next session of class cpu-flush flushes only the lines that it changes itself. Its insert
// into a leaf would be durable, but the earlier session's word that leads to the leaf would not.
TEST(CachedChangesTest, AreDurableBeforeASessionThatFlushesBuildsOnThem) {
  CrashDisk disk(kPoolBytes);
  const std::string pool = FormattedPool(kPoolBytes, kPoolId);
  for (uint64_t sector = 0; sector < kPoolBytes / kSectorBytes; ++sector)
    disk.SetPoolSector(sector, pool.substr(sector * kSectorBytes, kSectorBytes));
  const std::unique_ptr<PoolStorage> storage = disk.NewStorage();
  const std::string left(8, 'w');
  ASSERT_TRUE(storage->WritePool(kPoolBytes - kPageBytes, left).ok());
  ASSERT_TRUE(ReplayLog(storage.get(), {.pool_id = kPoolId, .sync_pool = true}).ok());
  DiskContents durable = {.pool = pool, .log = {}};
  for (const DiskEpoch& epoch : disk.TakeEpochs()) durable.Finish(epoch);
  EXPECT_EQ(durable.pool.substr(kPoolBytes - kPageBytes, left.size()), left);
}

}  // namespace
}  // namespace ashlar::pmem
