#include "iterate/loser_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "base/random.h"

namespace ashlar {
namespace {

using Player = LoserTree::Player;

// Children with queues of heads in ascending order. Of equal heads, that of the first child wins.
class Tournament {
 public:
  explicit Tournament(std::vector<std::vector<uint64_t>> queues)
      : queues_(std::move(queues)), at_(queues_.size()), tree_(queues_.size()) {}

  std::vector<uint32_t> Run() {
    std::vector<uint32_t> winners;
    Player winner = tree_.Play([&](uint32_t leaf) { return Enter(leaf); }, wins_tie_);
    for (;;) {
      tree_.CheckInvariants(winner, wins_tie_);
      EXPECT_EQ(tree_.RivalHead(winner.child), SmallestHeadExceptOf(winner.child));
      if (AtEnd(winner.child)) return winners;
      EXPECT_EQ(winner.head, queues_[winner.child][at_[winner.child]]);
      winners.push_back(winner.child);
      ++at_[winner.child];
      winner = tree_.Replay(Enter(winner.child), wins_tie_);
    }
  }

  uint64_t ties() const { return ties_; }

 private:
  bool AtEnd(uint32_t child) const {
    return child >= queues_.size() || at_[child] == queues_[child].size();
  }
  Player Enter(uint32_t child) const {
    return {.head = AtEnd(child) ? LoserTree::kHeadMax : queues_[child][at_[child]],
            .child = child};
  }
  uint64_t SmallestHeadExceptOf(uint32_t child) const {
    uint64_t head = LoserTree::kHeadMax;
    for (uint32_t other = 0; other < queues_.size(); ++other) {
      if (other != child) head = std::min(head, Enter(other).head);
    }
    return head;
  }
  bool WinsTie(uint32_t a, uint32_t b) {
    ++ties_;
    EXPECT_EQ(Enter(a).head, Enter(b).head) << "only equal heads are asked about";
    if (AtEnd(a) || AtEnd(b)) return !AtEnd(a);
    return a < b;
  }

  std::vector<std::vector<uint64_t>> queues_;
  std::vector<size_t> at_;
  LoserTree tree_;
  uint64_t ties_ = 0;
  const std::function<bool(uint32_t, uint32_t)> wins_tie_ = [this](uint32_t a, uint32_t b) {
    return WinsTie(a, b);
  };
};

TEST(LoserTreeTest, LeavesAreTheNextPowerOfTwo) {
  EXPECT_EQ(LoserTree(1).leaves(), 1u);
  EXPECT_EQ(LoserTree(2).leaves(), 2u);
  EXPECT_EQ(LoserTree(5).leaves(), 8u);
}

TEST(LoserTreeTest, OneChildWinsWithoutAMatch) {
  Tournament tournament({{1, 1, 2}});
  EXPECT_EQ(tournament.Run(), (std::vector<uint32_t>{0, 0, 0}));
  EXPECT_EQ(tournament.ties(), 0u);
}

TEST(LoserTreeTest, OfEqualHeadsTheCallerDecides) {
  EXPECT_EQ(Tournament({{5, 7}, {5, 5}, {7}}).Run(), (std::vector<uint32_t>{0, 1, 1, 0, 2}));
}

TEST(LoserTreeTest, AnEntryWithTheLargestHeadWinsAgainstAChildAtItsEnd) {
  EXPECT_EQ(Tournament({{}, {}, {LoserTree::kHeadMax}}).Run(), (std::vector<uint32_t>{2}));
}

TEST(LoserTreeTest, NoChildHasAnEntry) { EXPECT_TRUE(Tournament({{}, {}, {}}).Run().empty()); }

TEST(LoserTreeTest, RandomTournamentsAgreeWithASort) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const uint64_t heads = random.OneIn(2) ? 5 : 1'000'000;  // few heads make many ties
    std::vector<std::vector<uint64_t>> queues(1 + random.Uniform(18));
    std::vector<std::pair<uint64_t, uint32_t>> model;
    for (uint32_t child = 0; child < queues.size(); ++child) {
      queues[child].resize(random.Uniform(40));
      for (uint64_t& head : queues[child]) {
        head = random.OneIn(20) ? LoserTree::kHeadMax : random.Uniform(heads);
        model.emplace_back(head, child);
      }
      std::sort(queues[child].begin(), queues[child].end());
    }
    std::sort(model.begin(), model.end());
    std::vector<uint32_t> expected;
    for (const auto& [head, child] : model) expected.push_back(child);
    ASSERT_EQ(Tournament(std::move(queues)).Run(), expected);
  }
}

}  // namespace
}  // namespace ashlar
