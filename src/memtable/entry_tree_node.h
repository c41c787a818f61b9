// The nodes of EntryTree, and their states. Private to entry_tree*.cc; memtable/entry_tree.h tells how they work together.
//
//   state   63                          8      7      6    5 .. 0
//           number of changes                dead   order  count of slots
#pragma once

#include "memtable/entry_tree.h"

namespace ashlar {

inline constexpr uint64_t kStateCountMask = 0x3f;
inline constexpr uint64_t kStateOrderBit = 0x40;
inline constexpr uint64_t kStateDeadBit = 0x80;
inline constexpr uint64_t kStateChange = 0x100;
static_assert(EntryTree::kSlots <= kStateCountMask);

inline uint32_t StateCount(uint64_t state) { return static_cast<uint32_t>(state & kStateCountMask); }
inline bool StateDead(uint64_t state) { return (state & kStateDeadBit) != 0; }
inline uint32_t StateOrderIndex(uint64_t state) { return (state & kStateOrderBit) != 0 ? 1 : 0; }
// What follows `state` when the node lives on, or again.
inline uint64_t NextState(uint64_t state, uint32_t count, uint32_t order_index) {
  return ((state | (kStateChange - 1)) + 1) | (order_index != 0 ? kStateOrderBit : 0) | count;
}

// A copy of an order: at[rank] is the slot of the entry that has this rank.
struct EntryTree::SlotOrder {
  static constexpr size_t kWords = kSlots / 8;
  static_assert((kSlots & (kSlots - 1)) == 0);
  std::array<uint8_t, kSlots> at;

  // In range also when the order was torn.
  uint32_t Slot(uint32_t rank) const { return at[rank] % kSlots; }

  void Load(const std::array<std::atomic<uint64_t>, kWords>& from) {
    for (size_t i = 0; i < kWords; ++i) {
      const uint64_t word = from[i].load(std::memory_order_relaxed);
      memcpy(at.data() + 8 * i, &word, 8);
    }
  }
  void Store(std::array<std::atomic<uint64_t>, kWords>* to) const {
    for (size_t i = 0; i < kWords; ++i) {
      uint64_t word;
      memcpy(&word, at.data() + 8 * i, 8);
      (*to)[i].store(word, std::memory_order_relaxed);
    }
  }
};

// The prefix length and the members of a leaf are here so that a search reads the first lines of a node of either kind alike.
struct alignas(64) EntryTree::Node {
  explicit Node(bool leaf) : is_leaf(leaf) {}

  std::atomic<uint64_t> state{kStateDeadBit};
  std::atomic<uint32_t> prefix_bytes{0};
  const bool is_leaf;
  // The writer's: the rank of the latest insert into this leaf, and how many in a row came right behind their predecessor; negative: right before it.
  uint32_t latest_rank = 0;
  int32_t trend = 0;
  // The writer's: the next dead node of this kind.
  Node* dead_next = nullptr;
  // Leaves: the neighbours, null at the edges.
  std::atomic<Node*> next{nullptr};
  std::atomic<Node*> prev{nullptr};
  std::array<std::array<std::atomic<uint64_t>, SlotOrder::kWords>, 2> orders{};
  std::array<std::atomic<uint64_t>, kSlots> heads{};
  // Leaves: the entries. Inner nodes: separators; the child right of a separator holds what is not before it.
  std::array<std::atomic<const char*>, kSlots> entries{};

  // Whether everything read since `seen` was loaded belongs to it.
  bool Unchanged(uint64_t seen) const {
    std::atomic_thread_fence(std::memory_order_acquire);
    return state.load(std::memory_order_relaxed) == seen;
  }
  const char* Entry(uint32_t slot) const { return entries[slot].load(std::memory_order_relaxed); }
  uint64_t Head(uint32_t slot) const { return heads[slot].load(std::memory_order_relaxed); }
  void Prefetch() const {
    const char* p = reinterpret_cast<const char*>(this);
    for (size_t offset = 0; offset < offsetof(Node, entries); offset += 64) ASHLAR_PREFETCH(p + offset);
  }
};

struct EntryTree::Inner : Node {
  Inner() : Node(false) {}

  // [0]: left of every separator; [1 + slot]: right of the separator in that slot.
  std::array<std::atomic<Node*>, kSlots + 1> children{};

  std::atomic<Node*>& ChildAt(const SlotOrder& order, uint32_t rank) { return children[rank == 0 ? 0 : size_t{1} + order.Slot(rank - 1)]; }
  const std::atomic<Node*>& ChildAt(const SlotOrder& order, uint32_t rank) const {
    return children[rank == 0 ? 0 : size_t{1} + order.Slot(rank - 1)];
  }
};

// Each comparison is a compare and an add with carry; four sums, so that the adds do not wait for one another.
inline uint32_t CountSmaller(const std::array<std::atomic<uint64_t>, EntryTree::kSlots>& heads, uint32_t count, uint64_t head) {
  const auto smaller = [head](const std::atomic<uint64_t>& slot) { return slot.load(std::memory_order_relaxed) < head; };
  std::array<uint64_t, 4> sums{};
  const std::atomic<uint64_t>* p = heads.data();
  for (const std::atomic<uint64_t>* const end = p + (count & ~3u); p != end; p += 4) {
    sums[0] += smaller(p[0]);
    sums[1] += smaller(p[1]);
    sums[2] += smaller(p[2]);
    sums[3] += smaller(p[3]);
  }
  for (const std::atomic<uint64_t>* const end = heads.data() + count; p != end; ++p) sums[0] += smaller(*p);
  return static_cast<uint32_t>(sums[0] + sums[1] + sums[2] + sums[3]);
}

inline EntryTree::SlotOrder EntryTree::LoadOrder(const Place& place) {
  SlotOrder order;
  order.Load(place.node->orders[StateOrderIndex(place.state)]);
  return order;
}

// The number of entries before the target (kUpper: or equal to it). kTorn: the node changed, start again; nothing was followed that a torn read might
// have made up.
template <bool kUpper>
uint32_t EntryTree::Rank(const Place& place, const Target& target, const SlotOrder& order) const {
  const Node& node = *place.node;
  const uint32_t count = StateCount(place.state);
  uint32_t low = 0;
  uint32_t high = count;
  if (comparator_.HasHeads()) {
    const uint64_t head = comparator_.Head(target.user_key, node.prefix_bytes.load(std::memory_order_relaxed));
    low = high = CountSmaller(node.heads, count, head);
    while (high < count && node.Head(order.Slot(high)) == head) ++high;
  }
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    const char* const entry = node.Entry(order.Slot(middle));
    if (!node.Unchanged(place.state)) [[unlikely]] {
      return kTorn;
    }
    const int r = CompareEntry(entry, target);
    if (r < 0 || (kUpper && r == 0)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace ashlar
