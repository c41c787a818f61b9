// Real threads use few keys of a persistent tree while leaves split, merge and are dropped by range
// deletions, and records move. Every call on a key takes effect at one moment between its start and
// its end, and a batch takes effect on both its keys at once.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "ashlar/persistent_tree.h"
#include "tests/support/expect_ok.h"
#include "tests/support/tool_runner.h"
#include "tests/support/tree_client.h"

namespace ashlar {
namespace {

using test::HistoryClient;
using test::HistoryContents;
using test::HistoryRecorder;
using test::TreeClient;

constexpr uint64_t kSeed = 20261127;
constexpr int kRounds = 40;
constexpr int kThreads = 3;
constexpr int kCallsPerThread = 100;
constexpr uint64_t kKeys = 4;

class TreeLinearizabilityTest : public ::testing::TestWithParam<DurabilityClass> {
 protected:
  void SetUp() override {
    PersistentTreeOptions options;
    options.create_if_missing = true;
    options.pool_bytes = uint64_t{8} << 20;
    options.durability = GetParam();
    options.sync_log = false;
    // Makes checkpoints run while threads write.
    options.log_bytes_max = uint64_t{64} << 10;
    ASSERT_OK(PersistentTree::Open(options, scratch_.File("pool"), &tree_));
    TreeClient::Fill(tree_.get());
  }
  void TearDown() override { ASSERT_OK(tree_->Close()); }

  ScratchDirectory scratch_;
  std::unique_ptr<PersistentTree> tree_;
};

TEST_P(TreeLinearizabilityTest, OfEveryKeyWhileLeavesSplitAndMerge) {
  HistoryContents before = TreeClient::Contents(tree_.get());
  for (int round = 0; round < kRounds && !HasFailure(); ++round) {
    SCOPED_TRACE(testing::Message() << "round " << round << ", seed " << kSeed);
    HistoryRecorder recorder;
    std::vector<std::unique_ptr<HistoryClient>> clients;
    for (int i = 0; i < kThreads; ++i)
      clients.push_back(std::make_unique<TreeClient>(
          tree_.get(), &recorder, kKeys, kSeed + static_cast<uint64_t>(round * kThreads + i)));
    std::atomic<bool> stop{false};
    std::thread defragment([&] {
      while (!stop.load()) EXPECT_OK(tree_->Defragment());
    });
    std::vector<std::thread> threads;
    for (const auto& client : clients)
      threads.emplace_back([&client] { client->Run(kCallsPerThread); });
    for (std::thread& thread : threads) thread.join();
    stop.store(true);
    defragment.join();
    const HistoryContents after = TreeClient::Contents(tree_.get());
    ExpectLinearizable(clients, before, after);
    EXPECT_OK(tree_->Verify());
    before = after;
  }
}

INSTANTIATE_TEST_SUITE_P(Classes, TreeLinearizabilityTest,
                         ::testing::Values(DurabilityClass::kProcessCrashOnly,
                                           DurabilityClass::kLogged),
                         [](const auto& instance) {
                           return instance.param == DurabilityClass::kLogged ? "Logged" : "Mapped";
                         });

}  // namespace
}  // namespace ashlar
