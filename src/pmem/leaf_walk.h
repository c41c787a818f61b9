// LeafWalk: iterates over the leaves of a tree from left to right. Between two leaves the caller
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
// I1: the walk ends, because its bound ascends with each step. Only damage puts a bound below a key
//     that was found there, and the walk ends in that case too.
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

  // The current leaf. Waits while it is locked. Requires, as Advance does: the caller's guard.
  BoundedLeaf Find() const {
    return is_bounded_ ? state_.index.FindBounded(bound_) : state_.index.FindFirst();
  }
  // Advances to the leaf after `leaf`, which Find returned. Returns false if there is none.
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
