// A persistent tree under the scheduler. Clients put, delete and read a few keys, write pairs,
// delete ranges and scan, while leaves split and merge, records move, and the records in use are
// marked. Then the tree is closed. The pool is mapped, or has a log. The test also opens the state
// that a crash after the last call would leave.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ashlar/persistent_tree.h"
#include "ashlar/write_batch.h"
#include "base/format.h"
#include "base/random.h"
#include "platform/pool_file.h"
#include "pmem/log_replay.h"
#include "pmem/logged_medium.h"
#include "pmem/mapped_medium.h"
#include "pmem/tree.h"
#include "tests/schedule/schedules.h"
#include "tests/support/expect_ok.h"
#include "tests/support/linearizability.h"
#include "tests/support/memory_storage.h"
#include "tests/support/test_pool.h"
#include "tests/support/tree_client.h"

namespace ashlar::pmem {
namespace {

using test::ForEachSchedule;
using test::HistoryClient;
using test::HistoryContents;
using test::HistoryRecorder;
using test::TreeClient;

constexpr uint64_t kPoolBytes = uint64_t{1} << 20;
constexpr uint64_t kKeys = 2;
// The short log has checkpoints after a few calls, in several steps. The long one has none.
constexpr uint64_t kShortLogBytes = uint64_t{8} << 10;
constexpr uint64_t kLongLogBytes = uint64_t{64} << 20;
constexpr uint64_t kPagesPerStep = 2;

// The files of a pool.
struct PoolBytes {
  std::string pool;
  std::optional<std::string> log;
};

std::string ReadPool(const PoolFile& file) {
  std::string bytes(file.bytes(), '\0');
  EXPECT_OK(file.ReadAt(0, bytes.size(), bytes.data()));
  return bytes;
}

// Returns the files of a closed tree that `fill` has filled.
PoolBytes FilledPool(const std::function<void(PersistentTree*)>& fill) {
  TestPool pool(kPoolBytes);
  const std::unique_ptr<PersistentTree> tree = OpenTestTree(&pool);
  fill(tree.get());
  EXPECT_OK(tree->Close());
  return {.pool = ReadPool(*pool.file()), .log = {}};
}

// A pool in memory that outlives the trees on it, as files do.
class Pool {
 public:
  Pool(DurabilityClass durability, const PoolBytes& bytes, uint64_t log_bytes_max)
      : durability_(durability),
        log_bytes_max_(log_bytes_max),
        file_(PoolFile::CreateAnonymous(bytes.pool.size()).value()),
        log_(std::make_shared<MemoryStorage::Log>(bytes.log)) {
    EXPECT_OK(file_->WriteAt(0, bytes.pool.data(), bytes.pool.size()));
  }

  // Returns the files as a crash would leave them.
  PoolBytes Copy() const { return {.pool = ReadPool(*file_), .log = *log_}; }

  std::unique_ptr<PersistentTree> Open() {
    return OpenTree(durability_ == DurabilityClass::kLogged ? OpenLogged() : OpenMapped(),
                    {.recovery = {.comparator = BytewiseComparator(),
                                  .split_strategy = {},
                                  .refuse_allocation = {}},
                     .mark = MarkRun::kBackground})
        .value();
  }

 private:
  std::unique_ptr<Medium> OpenMapped() {
    return std::make_unique<MappedMedium>(file_->path(), file_->Map(PoolMapMode::kShared).value(),
                                          durability_, FlushInstruction::kNone);
  }
  std::unique_ptr<Medium> OpenLogged() {
    auto storage = std::make_unique<MemoryStorage>(file_.get(), log_);
    EXPECT_OK(ReplayLog(storage.get(), {.pool_id = TestPool::kId}));
    return LoggedMedium::Create(std::move(storage), {.pool_id = TestPool::kId,
                                                     .log_bytes_max = log_bytes_max_,
                                                     .private_bytes_max = 4 * kPoolBytes,
                                                     .pages_per_step = kPagesPerStep})
        .value();
  }

  const DurabilityClass durability_;
  const uint64_t log_bytes_max_;
  const std::unique_ptr<PoolFile> file_;
  const std::shared_ptr<MemoryStorage::Log> log_;
};

// Makes one call that does not change the contents.
void Change(PersistentTree* tree, Random* random) {
  switch (random->Uniform(4)) {
    case 0: EXPECT_OK(tree->Verify()); break;
    case 1: tree->Count(KeyRange::All()); break;
    default: EXPECT_OK(tree->Defragment());
  }
}

void RunClients(PersistentTree* tree, uint64_t seed) {
  const HistoryContents before = TreeClient::Contents(tree);
  HistoryRecorder recorder;
  std::vector<std::unique_ptr<HistoryClient>> clients;
  for (uint64_t i = 0; i < 3; ++i)
    clients.push_back(std::make_unique<TreeClient>(tree, &recorder, kKeys, seed * 3 + i));
  std::vector<std::thread> threads;
  for (const auto& client : clients) threads.emplace_back([&client] { client->Run(8); });
  threads.emplace_back([&] {
    Random random(seed);
    for (int i = 0; i < 2; ++i) Change(tree, &random);
  });
  for (std::thread& thread : threads) thread.join();
  ExpectLinearizable(clients, before, TreeClient::Contents(tree));
}

void ExpectHolds(Pool* pool, const HistoryContents& contents) {
  const std::unique_ptr<PersistentTree> tree = pool->Open();
  const HistoryContents found = TreeClient::Contents(tree.get());
  EXPECT_EQ(found.size(), contents.size());
  for (const auto& [key, value] : contents) {
    const auto it = found.find(key);
    EXPECT_EQ(it == found.end() ? "(none)" : it->second, value) << key;
  }
  // The mark may be at any place.
  EXPECT_OK(tree->Close());
}

void ExploreSchedules(DurabilityClass durability) {
  const PoolBytes full_leaves = FilledPool(&TreeClient::Fill);
  ForEachSchedule(1000, [&](uint64_t seed) {
    const uint64_t log_bytes_max = seed % 2 == 0 ? kShortLogBytes : kLongLogBytes;
    Pool pool(durability, full_leaves, log_bytes_max);
    const std::unique_ptr<PersistentTree> tree = pool.Open();
    RunClients(tree.get(), seed);
    const HistoryContents contents = TreeClient::Contents(tree.get());
    EXPECT_OK(tree->Verify());
    EXPECT_EQ(tree->Count(KeyRange::All()), tree->Stats().entries);
    Pool crashed(durability, pool.Copy(), log_bytes_max);
    EXPECT_OK(tree->Close());
    ExpectHolds(&crashed, contents);
    ExpectHolds(&pool, contents);
  });
}

TEST(TreeScheduleTest, EveryKeyIsLinearizableInAMappedPool) {
  ExploreSchedules(DurabilityClass::kProcessCrashOnly);
}

TEST(TreeScheduleTest, EveryKeyIsLinearizableInALoggedPool) {
  ExploreSchedules(DurabilityClass::kLogged);
}

// ---- Splits.

constexpr int kFullLeaves = 8;

std::string KeyIn(int leaf, int number) {
  return StrCat(std::string(1, static_cast<char>('a' + leaf)), number);
}

// Each leaf gets as many entries as fit before a split, with even numbers from 100 on.
void FillLeaves(PersistentTree* tree) {
  constexpr int kEntriesOfAPiece = 40;  // of a batch
  constexpr int kEntriesMax = 47;
  const auto fill = [tree](int begin, int end) {
    WriteBatch batch;
    for (int leaf = 0; leaf < kFullLeaves; ++leaf) {
      for (int i = begin; i < end; ++i) EXPECT_OK(batch.Put(KeyIn(leaf, 100 + 2 * i), "v"));
    }
    EXPECT_OK(tree->Write(batch));
  };
  fill(0, kEntriesOfAPiece);
  fill(kEntriesOfAPiece, kEntriesMax);
  EXPECT_EQ(tree->Stats().leaves, uint64_t{kFullLeaves});
}

// Puts into the upper half of each leaf. The first thread there splits it and moves that half.
void PutIntoFullLeaves(PersistentTree* tree, int thread, Random* random) {
  for (int leaf = 0; leaf < kFullLeaves; ++leaf) {
    const std::string key = KeyIn(leaf, 161 + 2 * thread);
    WriteBatch batch;
    EXPECT_OK(batch.Put(key, "new"));
    // A batch of one key is a Put.
    if (random->OneIn(2)) {
      EXPECT_OK(batch.Put(KeyIn(leaf, 171 + 2 * thread), "new"));
    }
    EXPECT_OK(tree->Write(batch));
    std::string value;
    EXPECT_OK(tree->Get({}, key, &value)) << key;
  }
}

TEST(TreeScheduleTest, ASplitLosesNothingThatOtherThreadsPut) {
  const PoolBytes full_leaves = FilledPool(&FillLeaves);
  ForEachSchedule(2000, [&](uint64_t seed) {
    Pool pool(DurabilityClass::kLogged, full_leaves, kLongLogBytes);
    const std::unique_ptr<PersistentTree> tree = pool.Open();
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 3; ++thread) {
      threads.emplace_back([&, thread] {
        Random random(seed * 3 + static_cast<uint64_t>(thread));
        PutIntoFullLeaves(tree.get(), thread, &random);
      });
    }
    for (std::thread& thread : threads) thread.join();
    const HistoryContents contents = TreeClient::Contents(tree.get());
    for (int leaf = 0; leaf < kFullLeaves; ++leaf) {
      for (int thread = 0; thread < 3; ++thread)
        EXPECT_TRUE(contents.contains(KeyIn(leaf, 161 + 2 * thread))) << seed;
    }
    Pool crashed(DurabilityClass::kLogged, pool.Copy(), kLongLogBytes);
    EXPECT_OK(tree->Close());
    ExpectHolds(&crashed, contents);
  });
}

}  // namespace
}  // namespace ashlar::pmem
