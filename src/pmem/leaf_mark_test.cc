// Tests the mark of an open during checkpoints, and with separators that are damaged after the open
// has read them.
#include "pmem/leaf_mark.h"

#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "pmem/leaf.h"
#include "pmem/log_replay.h"
#include "pmem/logged_medium.h"
#include "pmem/pool.h"
#include "pmem/tree.h"
#include "tests/support/expect_ok.h"
#include "tests/support/gate.h"
#include "tests/support/memory_storage.h"
#include "tests/support/test_pool.h"

namespace ashlar::pmem {
namespace {

class LoggedMarkTest : public ::testing::Test {
 protected:
  using Model = std::map<std::string, std::string>;

  std::unique_ptr<PersistentTree> Open(std::function<void()> before_marked_leaf) {
    auto storage = std::make_unique<MemoryStorage>(pool_.file(), log_);
    storage->SetPoolSync([this] {
      if (counts_) steps_.Add();
    });
    EXPECT_OK(ReplayLog(storage.get(), {.pool_id = TestPool::kId}));
    std::unique_ptr<Medium> medium =
        LoggedMedium::Create(std::move(storage), {.pool_id = TestPool::kId,
                                                  .sync = false,
                                                  .log_bytes_max = uint64_t{64} << 10,
                                                  .private_bytes_max = uint64_t{1} << 30})
            .value();
    TreeConfig config;
    config.recovery.comparator = BytewiseComparator();
    config.before_marked_leaf = std::move(before_marked_leaf);
    return OpenTree(std::move(medium), std::move(config)).value();
  }

  // Makes random changes. Some of the values are so long that they take spans of their own.
  void ChangeMany(PersistentTree* tree, size_t writer, uint64_t seed) {
    Random random(seed);
    Model& model = models_[writer];
    for (int i = 0; i < 1000; ++i) {
      const std::string key = std::to_string(random.Uniform(1500)) + "/" + std::to_string(writer);
      if (random.OneIn(4)) {
        model.erase(key);
        ASSERT_OK(tree->Delete(key));
      } else {
        model[key] = random.Bytes(random.OneIn(20) ? uint64_t{20'000} : random.Uniform(100));
        ASSERT_OK(tree->Put(key, model[key]));
      }
    }
  }

  void ExpectModels(PersistentTree* tree) const {
    uint64_t entries = 0;
    for (const Model& model : models_) {
      entries += model.size();
      for (const auto& [key, value] : model) {
        std::string found;
        ASSERT_OK(tree->Get(ReadOptions(), key, &found)) << key;
        ASSERT_EQ(found, value) << key;
      }
    }
    EXPECT_EQ(tree->Count(KeyRange::All()), entries);
    EXPECT_OK(tree->Verify());
  }

  TestPool pool_{uint64_t{64} << 20};
  const std::shared_ptr<MemoryStorage::Log> log_ = std::make_shared<MemoryStorage::Log>();
  std::atomic<bool> counts_{false};
  Tickets steps_;  // of checkpoints: syncs of the pool
  std::array<Model, 3> models_;
};

// Allocations of spans must not wait for checkpoints with the heap locked. Checkpoints wait for
// changes, which tell the heap what they unlink until the mark is over.
TEST_F(LoggedMarkTest, CheckpointsGoOnWhileItLooksForFreeSpace) {
  const uint64_t seed = 23;
  Random seeds(seed);
  std::unique_ptr<PersistentTree> tree = Open({});
  for (size_t writer = 0; writer < models_.size(); ++writer)
    ChangeMany(tree.get(), writer, seeds.Next());
  ASSERT_OK(tree->Close());

  // The mark stops before its second leaf.
  constexpr uint64_t kStepsMin = 40;
  bool went_on = false;
  counts_ = true;
  tree = Open([this, leaf = 0, &went_on]() mutable {
    if (++leaf == 2) went_on = steps_.Take(kStepsMin);
  });
  std::vector<std::thread> threads;
  for (size_t writer = 0; writer < models_.size(); ++writer) {
    threads.emplace_back(
        [&, writer, writer_seed = seeds.Next()] { ChangeMany(tree.get(), writer, writer_seed); });
  }
  for (std::thread& thread : threads) thread.join();
  steps_.End();
  ExpectModels(tree.get());
  EXPECT_TRUE(went_on) << "the mark met too few checkpoints";
  counts_ = false;
  ASSERT_OK(tree->Close());
  tree = Open({});
  ExpectModels(tree.get());
}

// The mark must not end early or leave a leaf out without an error. Otherwise the space of the
// records that it has not reached is handed out.
TEST(MarkDamageTest, ASeparatorThatIsDamagedAfterTheOpenEndsAllChanges) {
  TestPool pool(uint64_t{1} << 20);
  CountingMedium* medium = nullptr;
  std::unique_ptr<PersistentTree> tree = OpenTestTree(&pool, &medium);
  // Three full leaves.
  for (int i = 1000; i < 1144; ++i) ASSERT_OK(tree->Put(std::to_string(i), "v"));
  const LeafView first(*medium, FirstLeafOf(medium->bytes()));
  const PoolOffset separator = LeafView(*medium, first.Next(first.Commit())).Separator();
  const std::string right_key = "1048";
  ASSERT_EQ(ReadRecord(*medium, separator)->key(), Slice(right_key));
  ASSERT_OK(tree->Close());
  const std::unique_ptr<PoolMapping> raw = pool.file()->Map(PoolMapMode::kShared).value();
  const auto store = [&](const std::string& key) {
    memcpy(raw->data() + separator + kRecordHeaderBytes, key.data(), key.size());
  };
  // The right key, a key before the leaf and a key in the leaf after it.
  for (const std::string& key : {right_key, std::string("1000"), std::string("1100")}) {
    SCOPED_TRACE(key);
    TreeConfig config;
    config.recovery.comparator = pool.comparator();
    config.mark = MarkRun::kAtOpen;
    config.before_marked_leaf = [&] { store(key); };
    tree = OpenTree(CountingMedium::Create(pool.file()), std::move(config)).value();
    const Status put = tree->Put("new", "v");
    EXPECT_EQ(put.IsCorruption(), key != right_key) << put.ToString();
    EXPECT_EQ(tree->Verify().IsCorruption(), key != right_key);
    store(right_key);
    ASSERT_OK(tree->Close());
  }
}

}  // namespace
}  // namespace ashlar::pmem
