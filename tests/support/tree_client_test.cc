#include "tests/support/tree_client.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/support/expect_ok.h"
#include "tests/support/test_pool.h"

namespace ashlar::test {
namespace {

// Without splits, merges and dropped leaves, the client's histories would prove little.
TEST(TreeClientTest, MakesLeavesSplitMergeAndVanish) {
  pmem::TestPool pool(uint64_t{1} << 20);
  const std::unique_ptr<PersistentTree> tree = pmem::OpenTestTree(&pool);
  uint64_t rounds_with_few_leaves = 0;
  HistoryRecorder recorder;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    EXPECT_OK(tree->DeleteRange(KeyRange::All()));
    TreeClient::Fill(tree.get());
    EXPECT_EQ(tree->Stats().leaves, 3U);
    const HistoryContents before = TreeClient::Contents(tree.get());
    std::vector<std::unique_ptr<HistoryClient>> clients;
    clients.push_back(std::make_unique<TreeClient>(tree.get(), &recorder, 2, seed));
    clients.back()->Run(30);
    ExpectLinearizable(clients, before, TreeClient::Contents(tree.get()));
    if (tree->Stats().leaves < 3) ++rounds_with_few_leaves;
  }
  EXPECT_GT(tree->Stats().leaf_splits, 5U);
  EXPECT_GT(tree->Stats().leaf_merges, 5U);
  EXPECT_GT(rounds_with_few_leaves, 5U);
  EXPECT_OK(tree->Close());
}

}  // namespace
}  // namespace ashlar::test
