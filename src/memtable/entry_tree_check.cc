// EntryTree::CheckInvariants: traverses the tree and asserts the invariants of entry_tree.h.
#include <algorithm>

#include "key/key_head.h"
#include "memtable/entry_tree.h"
#include "memtable/entry_tree_node.h"

namespace ashlar {

struct EntryTree::Checker {
  const EntryTree& tree;
  uint64_t entries = 0;
  const char* previous = nullptr;  // the previous entry in order
  const Node* previous_leaf = nullptr;
  uint32_t leaf_depth = 0;

  // low and high: the node's fences, null at the edges.
  void Visit(const Node* node, const char* low, const char* high, uint32_t depth) {
    const uint64_t state = node->state.load(std::memory_order_acquire);
    ASHLAR_ASSERT(!StateDead(state));  // I2: a node in use is alive
    const uint32_t count = StateCount(state);
    ASHLAR_ASSERT(count <= node->slots && node->slots <= kSlots);  // I1
    const SlotOrder order = LoadOrder({.node = node, .state = state});
    CheckOrder(order, count);
    CheckPrefix(node, low, high);
    for (uint32_t i = 0; i < count; ++i) CheckSlot(node, order.Slot(i), low, high);
    for (uint32_t i = 1; i < count; ++i)
      // Order within the node.
      ASHLAR_ASSERT(Compare(node->Entry(order.Slot(i - 1)), node->Entry(order.Slot(i))) <= 0);
    if (node->is_leaf) return VisitLeaf(node, order, count, depth);
    for (uint32_t i = 0; i <= count; ++i) {
      const char* const child_low = i == 0 ? low : node->Entry(order.Slot(i - 1));
      const char* const child_high = i == count ? high : node->Entry(order.Slot(i));
      Visit(node->ChildAt(order, i).load(std::memory_order_acquire), child_low, child_high,
            depth + 1);
    }
  }

  void VisitLeaf(const Node* leaf, const SlotOrder& order, uint32_t count, uint32_t depth) {
    ASHLAR_ASSERT(count > 0);                               // no leaf is empty
    ASHLAR_ASSERT(leaf_depth == 0 || leaf_depth == depth);  // all leaves have the same depth
    leaf_depth = depth;
    ASHLAR_ASSERT(leaf->prev.load(std::memory_order_acquire) == previous_leaf);  // I2
    if (previous_leaf != nullptr)
      ASHLAR_ASSERT(previous_leaf->next.load(std::memory_order_acquire) == leaf);  // I2
    previous_leaf = leaf;
    for (uint32_t i = 0; i < count; ++i) {
      const char* const entry = leaf->Entry(order.Slot(i));
      // Order between leaves.
      if (previous != nullptr) ASHLAR_ASSERT(Compare(previous, entry) <= 0);
      previous = entry;
    }
    entries += count;
  }

  static void CheckOrder(const SlotOrder& order, uint32_t count) {
    std::array<bool, kSlots> seen{};
    for (uint32_t i = 0; i < count; ++i) {
      ASHLAR_ASSERT(order.at[i] < count && !seen[order.at[i]]);  // I1
      seen[order.at[i]] = true;
    }
  }

  // I4.
  void CheckPrefix(const Node* node, const char* low, const char* high) const {
    const uint32_t prefix_bytes = node->prefix_bytes.load(std::memory_order_acquire);
    if (low == nullptr && high == nullptr) ASHLAR_ASSERT(prefix_bytes == tree.common_prefix_bytes_);
    if (low == nullptr || high == nullptr) {
      ASHLAR_ASSERT(prefix_bytes <= tree.common_prefix_bytes_);
    } else {
      ASHLAR_ASSERT(prefix_bytes <= CommonKeyPrefixBytes(DecodeEntry(low).user_key(),
                                                         DecodeEntry(high).user_key()));
    }
  }

  void CheckSlot(const Node* node, uint32_t slot, const char* low, const char* high) const {
    const char* const entry = node->Entry(slot);
    const Slice user_key = DecodeEntry(entry).user_key();
    ASHLAR_ASSERT(node->Head(slot) ==  // I4: heads begin after the prefix
                  tree.Head(user_key, node->prefix_bytes.load(std::memory_order_acquire)));
    ASHLAR_ASSERT(  // I4
        user_key.starts_with(Slice(DecodeEntry(tree.first_key_).key, tree.common_prefix_bytes_)));
    if (low != nullptr) ASHLAR_ASSERT(Compare(low, entry) <= 0);    // Fences
    if (high != nullptr) ASHLAR_ASSERT(Compare(entry, high) <= 0);  // Fences
  }

  int Compare(const char* a, const char* b) const {
    const DecodedEntry decoded = DecodeEntry(b);
    return tree.CompareEntry(a, {decoded.user_key(), decoded.tag()});
  }
};

uint64_t EntryTree::CheckInvariants() const {
  const Node* const root = root_.load(std::memory_order_acquire);
  if (root == nullptr) return 0;
  Checker checker{.tree = *this};
  checker.Visit(root, nullptr, nullptr, 1);
  ASHLAR_ASSERT(checker.previous == largest_ && checker.previous_leaf == last_leaf_);  // I2
  ASHLAR_ASSERT(last_leaf_->next.load(std::memory_order_acquire) == nullptr);          // I2
  return checker.entries;
}

}  // namespace ashlar
