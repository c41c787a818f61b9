// LeafWalk: the leaves of a tree from left to right, one at a time. Between two of them the caller
// may leave its guard and change the tree.
//
//   LeafWalk walk(state, from);
//   do {
//     EpochGuard guard(state->epochs);
//     const BoundedLeaf leaf = walk.Find();
//     ...                                 // if the leaf changed meanwhile: Find again
//     more = walk.Advance(leaf);
//   } while (more);
//
// I1: the walk ends: its bound ascends with each step. Only damage puts a bound below a key that
//     was found there, and the walk ends there, too.
//
// Thread safety: none; other threads may change the tree.
#pragma once

#include <optional>
#include <string>

#include "pmem/tree_state.h"

namespace ashlar::pmem {

class LeafWalk {
 public:
  explicit LeafWalk(const TreeState* state, const std::optional<Slice>& from = std::nullopt)
      : state_(*state), is_bounded_(from.has_value()) {
    if (from) bound_ = from->ToString();
  }

  // The current leaf. It waits while the leaf is locked. In the caller's guard, as Advance.
  BoundedLeaf Find() const {
    return is_bounded_ ? state_.index.FindBounded(bound_) : state_.index.FindFirst();
  }
  // Goes on to the leaf after `leaf`, which Find gave. False: there is none.
  bool Advance(const BoundedLeaf& leaf) {
    if (leaf.upper == nullptr) return false;
    const Slice upper = state_.index.KeyOf(leaf.upper);
    if (is_bounded_ && state_.order.Compare(upper, bound_) <= 0) return false;  // I1
    bound_.assign(upper.data(), upper.size());
    is_bounded_ = true;
    return true;
  }
  // The separator at which the current leaf begins, once the walk has advanced.
  const std::string& bound() const { return bound_; }

 private:
  const TreeState& state_;
  std::string bound_;
  bool is_bounded_;
};

}  // namespace ashlar::pmem
