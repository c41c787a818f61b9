// LoserTree: the tournament of a merge. It has players and matches, and is independent of cursors
// and keys.
//
//        winner            A player is {head, child}; the smaller head wins a match. The caller
//          |               settles equal heads. Child i plays at leaf i. An inner node keeps the
//       [loser 1]          loser of its match and passes the winner up. After the winner's child
//       /       \          has moved, only the matches on its path to the root are played again.
//   [loser 2] [loser 3]
//    /   \     /   \       The result of a match is close to random, so a match has no branch that
//   c0   c1   c2   (c3)    depends on it. Both players are written back, swapped or not.
//
// The number of leaves is a power of two. The caller enters a player that loses every match at the
// leaves without a child. A tree without these leaves was rejected, because its paths differ in
// length. The branch at the end of a path is then mispredicted, which costs more than the match.
//
// I1: the loser at a node and the winner of that node come from different subtrees of the node.
// I2: the loser at a node does not win against the winner of that node.
//
// `wins_tie(a, b)` is called only for equal heads. It returns true if child a's entry is shown
// before child b's. It is a strict order on the children that have an entry.
//
// Lifetime: holds no references. Thread safety: one thread.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/assert.h"

namespace ashlar {

class LoserTree {
 public:
  static constexpr uint64_t kHeadMax = ~uint64_t{0};

  struct Player {
    uint64_t head = kHeadMax;
    uint32_t child = 0;
  };

  // Requires: children > 0.
  explicit LoserTree(size_t children)
      : leaves_(std::bit_ceil(children)), nodes_(2 * std::bit_ceil(children)) {
    ASHLAR_ASSERT(children > 0);  // Requires
  }

  size_t leaves() const { return leaves_; }

  // Plays all matches, round by round, and returns the winner. enter(leaf) returns a leaf's player.
  template <typename Enter, typename WinsTie>
  Player Play(const Enter& enter, const WinsTie& wins_tie) {
    Player* const players = nodes_.data() + leaves_;
    for (uint32_t leaf = 0; leaf < leaves_; ++leaf) players[leaf] = enter(leaf);
    for (size_t matches = leaves_ / 2; matches > 0; matches /= 2) {
      for (size_t i = 0; i < matches; ++i) {
        const Player a = players[2 * i];
        const Player b = players[2 * i + 1];
        const bool a_wins = Wins(a, b, wins_tie);
        nodes_[matches + i] = a_wins ? b : a;
        players[i] = a_wins ? a : b;
      }
    }
    return players[0];
  }

  // Replays the matches of `player`, whose child was the last winner, and returns the new winner.
  template <typename WinsTie>
  Player Replay(Player player, const WinsTie& wins_tie) {
    for (size_t match = (leaves_ + player.child) / 2; match > 0; match /= 2) {
      Player& opponent = nodes_[match];
      // All ones if the two change places.
      const uint64_t swap = uint64_t{0} - static_cast<uint64_t>(Wins(opponent, player, wins_tie));
      const uint64_t heads = (opponent.head ^ player.head) & swap;
      const uint32_t children = (opponent.child ^ player.child) & static_cast<uint32_t>(swap);
      opponent.head ^= heads;
      opponent.child ^= children;
      player.head ^= heads;
      player.child ^= children;
    }
    return player;
  }

  // The smallest head of all children except `winner`. Requires: `winner` is the last winner.
  uint64_t RivalHead(uint32_t winner) const {
    uint64_t head = kHeadMax;
    for (size_t match = (leaves_ + winner) / 2; match > 0; match /= 2) {
      head = std::min(head, nodes_[match].head);
    }
    return head;
  }

  // Asserts I1 and I2. Requires: `winner` is the result of the last Play or Replay.
  template <typename WinsTie>
  void CheckInvariants(const Player& winner, const WinsTie& wins_tie) const {
    ASHLAR_ASSERT(winner.child < leaves_);  // Requires
    CheckNode(1, winner, wins_tie);
  }

 private:
  template <typename WinsTie>
  static bool Wins(const Player& a, const Player& b, const WinsTie& wins_tie) {
    bool wins = a.head < b.head;
    if (a.head == b.head) [[unlikely]] {
      wins = wins_tie(a.child, b.child);
    }
    return wins;
  }

  // The child of `node` on the path from the player's leaf to the root, or 0 if not on that path.
  size_t ChildTowards(size_t node, const Player& player) const {
    size_t place = leaves_ + player.child;
    while (place / 2 > node) place /= 2;
    return place / 2 == node ? place : 0;
  }

  template <typename WinsTie>
  void CheckNode(size_t node, const Player& winner, const WinsTie& wins_tie) const {
    if (node >= leaves_) return;
    const Player& loser = nodes_[node];
    const size_t below_winner = ChildTowards(node, winner);
    const size_t below_loser = ChildTowards(node, loser);
    ASHLAR_ASSERT(below_winner != 0 && below_loser != 0 && below_winner != below_loser);  // I1
    ASHLAR_ASSERT(!Wins(loser, winner, wins_tie));                                        // I2
    CheckNode(below_winner, winner, wins_tie);
    CheckNode(below_loser, loser, wins_tie);
  }

  const size_t leaves_;
  // [1, leaves): the losers. Leaf i plays at (leaves + i) / 2, the winner of match p at p / 2.
  // [leaves, 2 * leaves): scratch space of Play.
  std::vector<Player> nodes_;
};

}  // namespace ashlar
