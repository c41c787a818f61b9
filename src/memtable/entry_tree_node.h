// The nodes of EntryTree, and their states. Private to entry_tree*.cc; memtable/entry_tree.h
// describes the algorithm.
//
//   state   63                          8      7      6    5 .. 0
//           number of changes                dead   order  count of slots
#pragma once

#include "key/key_head.h"
#include "memtable/entry_tree.h"

namespace ashlar {

inline constexpr uint64_t kStateCountMask = 0x3f;
inline constexpr uint64_t kStateOrderBit = 0x40;
inline constexpr uint64_t kStateDeadBit = 0x80;
inline constexpr uint64_t kStateChange = 0x100;
static_assert(EntryTree::kSlots <= kStateCountMask);

inline uint32_t StateCount(uint64_t state) {
  return static_cast<uint32_t>(state & kStateCountMask);
}
inline bool StateDead(uint64_t state) { return (state & kStateDeadBit) != 0; }
inline uint32_t StateOrderIndex(uint64_t state) { return (state & kStateOrderBit) != 0 ? 1 : 0; }
// The next state of a node that stays alive or is reused.
inline uint64_t NextState(uint64_t state, uint32_t count, uint32_t order_index) {
  return ((state | (kStateChange - 1)) + 1) | (order_index != 0 ? kStateOrderBit : 0) | count;
}

// A copy of an order: at[rank] is the slot of the entry that has this rank.
struct EntryTree::SlotOrder {
  using Word = std::atomic<uint64_t>;
  std::array<uint8_t, kSlots> at{};

  // Every byte of an order is a slot of its node, even in a torn copy.
  uint32_t Slot(uint32_t rank) const { return at[rank]; }

  void Load(const Word* from, uint32_t slots) {
    for (uint32_t i = 0; i < slots / 8; ++i) {
      const uint64_t word = from[i].load(std::memory_order_relaxed);
      memcpy(at.data() + size_t{8} * i, &word, 8);
    }
  }
  void Store(Word* to, uint32_t slots) const {
    for (uint32_t i = 0; i < slots / 8; ++i) {
      uint64_t word;
      memcpy(&word, at.data() + size_t{8} * i, 8);
      to[i].store(word, std::memory_order_relaxed);
    }
  }
};

// The header of a node. Its arrays follow, with one element per slot (memtable/entry_tree.h). The
// header has the prefix length and the members of a leaf, so that a search reads the first cache
// lines of both kinds of nodes in the same way.
struct alignas(16) EntryTree::Node {
  Node(bool leaf, uint32_t slot_count) : slots(static_cast<uint8_t>(slot_count)), is_leaf(leaf) {}

  std::atomic<uint64_t> state{kStateDeadBit};
  std::atomic<uint32_t> prefix_bytes{0};
  const uint8_t slots;  // the number of slots, a multiple of 8
  const bool is_leaf;
  // For the writer only. latest_rank: the rank of the latest insert into this leaf. trend: the
  // number of consecutive inserts directly after their predecessor, or minus the number directly
  // before it. Its absolute value is at most kTrendInserts.
  uint8_t latest_rank = 0;
  int8_t trend = 0;
  // Leaves: the neighbours, null at the edges. Dead nodes: the next dead one of this kind and size.
  std::atomic<Node*> next{nullptr};
  std::atomic<Node*> prev{nullptr};

  static constexpr size_t kHeadsOffset = 32;
  static constexpr size_t kSlotBytes =
      sizeof(uint32_t) + 2 * sizeof(uint8_t) + sizeof(uint32_t) + sizeof(uint16_t);
  static constexpr size_t BytesOf(bool leaf, uint32_t slots) {
    return kHeadsOffset + slots * kSlotBytes + (leaf ? 0 : (slots + 1) * sizeof(Node*));
  }

  // The arrays. Entries are 48-bit addresses in two parts. In inner nodes they are separators, and
  // the child right of a separator has the keys that are not before it.
  std::atomic<uint32_t>* heads() const { return At<uint32_t>(0); }
  SlotOrder::Word* order(uint32_t index) const { return At<uint64_t>(4 + index); }
  std::atomic<uint32_t>* entries_low() const { return At<uint32_t>(6); }
  std::atomic<uint16_t>* entries_high() const { return At<uint16_t>(10); }
  // Inner nodes, [0]: left of every separator; [1 + slot]: right of the separator in that slot.
  std::atomic<Node*>* children() const { return At<Node*>(kSlotBytes); }

  // Whether everything that was read since `seen` was loaded belongs to that state.
  bool Unchanged(uint64_t seen) const {
    std::atomic_thread_fence(std::memory_order_acquire);
    return state.load(std::memory_order_relaxed) == seen;
  }
  uint32_t Head(uint32_t slot) const { return heads()[slot].load(std::memory_order_relaxed); }
  const char* Entry(uint32_t slot) const {
    const uint64_t high = entries_high()[slot].load(std::memory_order_relaxed);
    return reinterpret_cast<const char*>(
        static_cast<uintptr_t>((high << 32) | entries_low()[slot].load(std::memory_order_relaxed)));
  }
  // Requires: the slot is not published.
  void SetSlot(uint32_t slot, uint32_t head, const char* entry) {
    const uint64_t address = reinterpret_cast<uintptr_t>(entry);
    ASHLAR_ASSERT(address >> 48 == 0);  // an address has 48 bits
    heads()[slot].store(head, std::memory_order_relaxed);
    entries_low()[slot].store(static_cast<uint32_t>(address), std::memory_order_relaxed);
    entries_high()[slot].store(static_cast<uint16_t>(address >> 32), std::memory_order_relaxed);
  }
  std::atomic<Node*>& ChildAt(const SlotOrder& slot_order, uint32_t rank) const {
    return children()[rank == 0 ? 0 : size_t{1} + slot_order.Slot(rank - 1)];
  }
  // Prefetches the part of a node that every search reads.
  void Prefetch() const { PrefetchRange(this, kHeadsOffset + kSlots * 6); }
  // Prefetches all of a leaf.
  void PrefetchLeaf() const { PrefetchRange(this, BytesOf(true, kSlots)); }

 private:
  // The array that follows arrays with bytes_per_slot bytes per slot in total.
  template <typename T>
  std::atomic<T>* At(size_t bytes_per_slot) const {
    char* const node = const_cast<char*>(reinterpret_cast<const char*>(this));
    return reinterpret_cast<std::atomic<T>*>(node + kHeadsOffset + bytes_per_slot * slots);
  }
};
static_assert(sizeof(std::atomic<uint64_t>) == 8 && sizeof(std::atomic<uint32_t>) == 4 &&
              sizeof(std::atomic<uint16_t>) == 2);

inline EntryTree::SlotOrder EntryTree::LoadOrder(const Place& place) {
  // The arrays follow the node without a gap. Each is aligned for its type: heads and entries_low
  // to 4 bytes, orders and children to 8.
  static_assert(sizeof(Node) == Node::kHeadsOffset && Node::kHeadsOffset % 8 == 0);
  static_assert(kSlots % 8 == 0 && kYoungSlots % 8 == 0 && kYoungSlots <= kSlots);
  static_assert(8 * Node::kSlotBytes % alignof(std::atomic<Node*>) == 0);
  static_assert(sizeof(SlotOrder) == kSlots && kSlots <= UINT8_MAX);
  SlotOrder order;
  order.Load(place.node->order(StateOrderIndex(place.state)), place.node->slots);
  return order;
}

// Returns the number of entries before the target (kUpper: or equal to it), or kTorn if the node
// changed and the search must restart. Never follows a pointer that a torn read may have made up.
template <bool kUpper>
uint32_t EntryTree::Rank(const Place& place, const Target& target, const SlotOrder& order) const {
  const Node& node = *place.node;
  const uint32_t count = StateCount(place.state);
  uint32_t low = 0;
  uint32_t high = count;
  if (comparator_.HasHeads()) {
    const uint32_t head = Head(target.user_key, node.prefix_bytes.load(std::memory_order_relaxed));
    low = high = CountSmaller(node.heads(), count, head);
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
