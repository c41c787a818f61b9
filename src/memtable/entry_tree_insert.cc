// The writer's half of EntryTree: inserting, splitting, and rebuilding the edges when the common
// prefix gets shorter.
//
//   a split of the full leaf C (rank and entry of the new item are known):
//
//     parent [.. C ..]          1  build L and R, not yet reachable, of C's slots and the new item
//             |                 2  insert {separator, R} into the parent, one publication. A full
//       B <-> C <-> D              parent is split in the same way first, and so on up to the root,
//                                  so that there is one publication, at the lowest node with room
//                               3  replace C by L, and change the parent's state
//     parent [.. L | R ..]      4  link B -> L and R <- D
//             |    |            5  C dies: its readers restart
//       B <-> L <-> R <-> D
//
//   Between 2 and 5 readers find C, or L and R. Both have the same entries except the new one,
//   which is not visible yet.
//
// Memory is allocated before step 2 and, for the copies of the edges, before the first copy. So an
// insert that throws std::bad_alloc leaves the tree as it was.
#include <algorithm>

#include "key/key_head.h"
#include "memtable/entry_tree.h"
#include "memtable/entry_tree_node.h"

namespace ashlar {

namespace {

constexpr uint32_t kHeightMax = 24;  // a tree grows by a level when its root is full with 32 slots
// After this many consecutive inserts next to each other, a leaf is split where they arrive instead
// of in the middle.
constexpr int kTrendInserts = 4;

Slice UserKeyOf(const char* entry) { return DecodeEntry(entry).user_key(); }

}  // namespace

// The path from the root to a node: the inner nodes, and the child that was taken in each.
struct EntryTree::Path {
  struct Step {
    Node* node;
    uint32_t rank;
  };
  std::array<Step, kHeightMax> steps;
  uint32_t depth = 0;

  void Push(Node* node, uint32_t rank) {
    ASHLAR_ASSERT(depth < kHeightMax);  // no memory is large enough for a higher tree
    steps[depth++] = {node, rank};
  }
};

// The separators left and right of a node: low <= every key < high. Null at the tree's edge.
struct EntryTree::Fences {
  const char* low = nullptr;
  const char* high = nullptr;
};

// A node's slots in order, with room for one more.
struct EntryTree::Items {
  explicit Items(bool leaf) : is_leaf(leaf) {}

  const bool is_leaf;
  uint32_t count = 0;
  std::array<uint32_t, kSlots + 1> heads;
  std::array<const char*, kSlots + 1> entries;
  std::array<Node*, kSlots + 2> children;  // inner nodes: [i] is left of entries[i]

  void Load(const Node& node) {
    const uint64_t state = node.state.load(std::memory_order_relaxed);
    const SlotOrder order = LoadOrder({.node = &node, .state = state});
    count = StateCount(state);
    for (uint32_t i = 0; i < count; ++i) {
      heads[i] = node.Head(order.Slot(i));
      entries[i] = node.Entry(order.Slot(i));
    }
    if (is_leaf) return;
    for (uint32_t i = 0; i <= count; ++i)
      children[i] = node.ChildAt(order, i).load(std::memory_order_relaxed);
  }
  void Insert(uint32_t rank, uint32_t head, const char* entry) {
    std::copy_backward(heads.begin() + rank, heads.begin() + count, heads.begin() + count + 1);
    std::copy_backward(entries.begin() + rank, entries.begin() + count,
                       entries.begin() + count + 1);
    heads[rank] = head;
    entries[rank] = entry;
    ++count;
  }
  // After Insert(rank): stores `left` and `right` on both sides of the new separator, in place of
  // the child that was split.
  void SplitChild(uint32_t rank, Node* left, Node* right) {
    std::copy_backward(children.begin() + rank + 1, children.begin() + count,
                       children.begin() + count + 1);
    children[rank] = left;
    children[rank + 1] = right;
  }
  Items Part(uint32_t from, uint32_t to) const {
    Items part(is_leaf);
    part.count = to - from;
    std::copy(heads.begin() + from, heads.begin() + to, part.heads.begin());
    std::copy(entries.begin() + from, entries.begin() + to, part.entries.begin());
    if (!is_leaf)
      std::copy(children.begin() + from, children.begin() + to + 1, part.children.begin());
    return part;
  }
};

void EntryTree::Insert(const char* entry) {
  const DecodedEntry decoded = DecodeEntry(entry);
  const Target target{decoded.user_key(), decoded.tag()};
  if (largest_ == nullptr) return AddFirst(entry);
  ShortenCommonPrefix(target.user_key);

  Path path;
  const bool is_last = CompareEntry(largest_, target) < 0;
  Node* leaf = is_last ? last_leaf_ : DescendForInsert(target, &path);
  const uint64_t state = leaf->state.load(std::memory_order_relaxed);
  const uint32_t count = StateCount(state);
  uint32_t rank = count;
  if (!is_last) {
    const Place place{.node = leaf, .state = state};
    rank = Rank<false>(place, target, LoadOrder(place));
  }
  NoteTrend(leaf, rank);

  if (count < leaf->slots) {
    InsertAt(leaf, rank, entry, nullptr);
  } else {
    if (is_last) DescendToLastLeaf(&path);
    count < kSlots ? GrowLeaf(path, leaf, rank, entry) : SplitLeaf(path, leaf, rank, entry);
  }
  if (is_last) largest_ = entry;
}

void EntryTree::NoteTrend(Node* leaf, uint32_t rank) {
  int trend = 0;
  if (rank == uint32_t{leaf->latest_rank} + 1) {
    trend = std::max<int>(leaf->trend, 0) + 1;
  } else if (rank == leaf->latest_rank) {
    trend = std::min<int>(leaf->trend, 0) - 1;
  }
  leaf->trend = static_cast<int8_t>(std::clamp(trend, -kTrendInserts, kTrendInserts));
  leaf->latest_rank = static_cast<uint8_t>(rank);
}

// The number of entries, with the new one, that stay in the left leaf when a full leaf is split. A
// run of keys gets leaves of its own and fills them: the first split separates it from the
// following keys, and later splits put the new entry into an empty leaf.
uint32_t EntryTree::SplitPoint(const Node& leaf, uint32_t rank) const {
  if (leaf.trend >= kTrendInserts || (&leaf == last_leaf_ && rank == kSlots))
    return std::min(rank + 1, kSlots);
  if (leaf.trend <= -kTrendInserts) return std::max(rank, uint32_t{1});
  return (kSlots + 1) / 2;
}

void EntryTree::AddFirst(const char* entry) {
  const Slice user_key = UserKeyOf(entry);
  Node* const leaf = Fresh(true, kSlots);
  common_prefix_bytes_ = comparator_.HasHeads() ? static_cast<uint32_t>(user_key.size()) : 0;
  Items items(true);
  items.Insert(0, Head(user_key, common_prefix_bytes_), entry);
  Link(leaf, nullptr, nullptr);
  Fill(leaf, items, common_prefix_bytes_);
  first_key_ = entry;
  largest_ = entry;
  last_leaf_ = leaf;
  root_.store(leaf, std::memory_order_release);
}

EntryTree::Node* EntryTree::DescendForInsert(const Target& target, Path* path) const {
  Node* node = root_.load(std::memory_order_relaxed);
  while (!node->is_leaf) {
    const Place place{.node = node, .state = node->state.load(std::memory_order_relaxed)};
    const SlotOrder order = LoadOrder(place);
    const uint32_t rank = Rank<true>(place, target, order);
    path->Push(node, rank);
    node = node->ChildAt(order, rank).load(std::memory_order_relaxed);
    node->Prefetch();
  }
  return node;
}

void EntryTree::DescendToLastLeaf(Path* path) const {
  Node* node = root_.load(std::memory_order_relaxed);
  while (!node->is_leaf) {
    const Place place{.node = node, .state = node->state.load(std::memory_order_relaxed)};
    const uint32_t rank = StateCount(place.state);
    path->Push(node, rank);
    node = node->ChildAt(LoadOrder(place), rank).load(std::memory_order_relaxed);
  }
}

// Inserts into a node that has room. right_child: for inner nodes, the child right of the new
// separator.
void EntryTree::InsertAt(Node* node, uint32_t rank, const char* entry, Node* right_child) {
  const uint64_t state = node->state.load(std::memory_order_relaxed);
  const uint32_t slot = StateCount(state);
  const uint32_t other = 1 - StateOrderIndex(state);
  SlotOrder order = LoadOrder({.node = node, .state = state});
  memmove(order.at.data() + rank + 1, order.at.data() + rank, slot - rank);
  order.at[rank] = static_cast<uint8_t>(slot);

  // Pairs with the fence in Node::Unchanged. A reader that still uses the other order sees that the
  // state has changed.
  std::atomic_thread_fence(std::memory_order_release);
  node->SetSlot(slot, Head(UserKeyOf(entry), node->prefix_bytes.load(std::memory_order_relaxed)),
                entry);
  if (right_child != nullptr)
    node->children()[1 + slot].store(right_child, std::memory_order_relaxed);
  order.Store(node->order(other), node->slots);
  // Pairs with the acquire loads of state in StepDown, LoadRoot and CopyNeighbour.
  node->state.store(NextState(state, slot + 1, other), std::memory_order_release);
}

// Replaces a full leaf of fewer slots by one of kSlots, which also has the new entry.
void EntryTree::GrowLeaf(const Path& path, Node* leaf, uint32_t rank, const char* entry) {
  const uint32_t prefix_bytes = leaf->prefix_bytes.load(std::memory_order_relaxed);
  Items items(true);
  items.Load(*leaf);
  items.Insert(rank, Head(UserKeyOf(entry), prefix_bytes), entry);

  Node* const grown = Fresh(true, kSlots);
  FillCopy(grown, *leaf, items, prefix_bytes);
  if (path.depth == 0) {
    root_.store(grown, std::memory_order_release);
  } else {
    SwapChild(path.steps[path.depth - 1].node, path.steps[path.depth - 1].rank, grown);
  }
  TakePlace(*leaf, grown, grown);
  Kill(leaf);
}

void EntryTree::SplitLeaf(const Path& path, Node* leaf, uint32_t rank, const char* entry) {
  const uint32_t prefix_bytes = leaf->prefix_bytes.load(std::memory_order_relaxed);
  Items items(true);
  items.Load(*leaf);
  items.Insert(rank, Head(UserKeyOf(entry), prefix_bytes), entry);
  const uint32_t left_count = SplitPoint(*leaf, rank);
  const bool in_left = rank < left_count;
  // The side in which a run continues will soon be full. The other side may never change again.
  const bool in_middle = left_count == (kSlots + 1) / 2;
  const auto slots_for = [&](uint32_t count, bool has_newcomer) {
    return count < kYoungSlots && (in_middle || !has_newcomer) ? kYoungSlots : kSlots;
  };

  Node* const left = Fresh(true, slots_for(left_count, in_left));
  Node* const right = Fresh(true, slots_for(items.count - left_count, !in_left));
  const char* const separator = items.entries[left_count];
  const Fences fences = FencesOf(path, path.depth);
  Link(left, leaf->prev.load(std::memory_order_relaxed), right);
  Link(right, left, leaf->next.load(std::memory_order_relaxed));
  FillPart(left, items.Part(0, left_count), prefix_bytes, {.low = fences.low, .high = separator});
  FillPart(right, items.Part(left_count, items.count), prefix_bytes,
           {.low = separator, .high = fences.high});
  Node* const with_newcomer = in_left ? left : right;
  with_newcomer->trend = leaf->trend;
  with_newcomer->latest_rank = static_cast<uint8_t>(in_left ? rank : rank - left_count);

  ReplaceChild(path, path.depth, {.left = left, .separator = separator, .right = right});
  TakePlace(*leaf, left, right);
  Kill(leaf);
}

void EntryTree::Link(Node* node, Node* prev, Node* next) {
  node->prev.store(prev, std::memory_order_release);
  node->next.store(next, std::memory_order_release);
}

// Fills a leaf with the items, and copies the links and the trend of another leaf to it.
void EntryTree::FillCopy(Node* fresh, const Node& leaf, const Items& items, uint32_t prefix_bytes) {
  Link(fresh, leaf.prev.load(std::memory_order_relaxed), leaf.next.load(std::memory_order_relaxed));
  fresh->trend = leaf.trend;
  fresh->latest_rank = leaf.latest_rank;
  Fill(fresh, items, prefix_bytes);
}

// Links the neighbours of a leaf to the leaves that replace it.
void EntryTree::TakePlace(const Node& old, Node* first, Node* last) {
  Node* const prev = old.prev.load(std::memory_order_relaxed);
  Node* const next = old.next.load(std::memory_order_relaxed);
  if (prev != nullptr) prev->next.store(first, std::memory_order_release);
  if (next != nullptr) next->prev.store(last, std::memory_order_release);
  if (&old == last_leaf_) last_leaf_ = last;
}

// Replaces the child that the path takes at depth - 1 (at depth 0, the root) by a pair of nodes.
// The caller marks the child dead afterwards.
void EntryTree::ReplaceChild(const Path& path, uint32_t depth, const Pair& pair) {
  if (depth == 0) {
    Items items(false);
    items.Insert(0, Head(UserKeyOf(pair.separator), common_prefix_bytes_), pair.separator);
    items.children[0] = pair.left;
    items.children[1] = pair.right;
    Node* const root = Fresh(false, kSlots);
    Fill(root, items, common_prefix_bytes_);
    root_.store(root, std::memory_order_release);
    return;
  }
  const auto [parent, rank] = path.steps[depth - 1];
  const uint64_t state = parent->state.load(std::memory_order_relaxed);
  if (StateCount(state) == kSlots) return SplitInner(path, depth - 1, pair);
  InsertAt(parent, rank, pair.separator, pair.right);
  // Items left of the separator keep their rank.
  SwapChild(parent, rank, pair.left);
}

// Replaces a child of the parent.
void EntryTree::SwapChild(Node* parent, uint32_t rank, Node* child) {
  const uint64_t state = parent->state.load(std::memory_order_relaxed);
  parent->ChildAt(LoadOrder({.node = parent, .state = state}), rank)
      .store(child, std::memory_order_release);
  // A reader that loaded the old child before this store, and finds it reused, sees that the parent
  // has changed.
  parent->state.store(NextState(state, StateCount(state), StateOrderIndex(state)),
                      std::memory_order_release);
}

// Splits the full inner node at the path's step, and replaces its child by the pair.
void EntryTree::SplitInner(const Path& path, uint32_t step, const Pair& pair) {
  const auto [node, rank] = path.steps[step];
  const uint32_t prefix_bytes = node->prefix_bytes.load(std::memory_order_relaxed);
  Items items(false);
  items.Load(*node);
  items.Insert(rank, Head(UserKeyOf(pair.separator), prefix_bytes), pair.separator);
  items.SplitChild(rank, pair.left, pair.right);
  // One separator moves to the parent. If the child was the first or the last, one half stays as
  // full as it can while the other has the pair.
  const uint32_t middle = rank == kSlots ? kSlots - 1 : (rank == 0 ? 1 : kSlots / 2);
  const char* const separator = items.entries[middle];
  const Fences fences = FencesOf(path, step);
  Node* const left = Fresh(false, kSlots);
  Node* const right = Fresh(false, kSlots);
  FillPart(left, items.Part(0, middle), prefix_bytes, {.low = fences.low, .high = separator});
  FillPart(right, items.Part(middle + 1, items.count), prefix_bytes,
           {.low = separator, .high = fences.high});
  ReplaceChild(path, step, {.left = left, .separator = separator, .right = right});
  Kill(node);
}

// The fences of the node that the first `depth` steps lead to.
EntryTree::Fences EntryTree::FencesOf(const Path& path, uint32_t depth) const {
  Fences fences;
  for (uint32_t i = 0; i < depth; ++i) {
    const auto [node, rank] = path.steps[i];
    const uint64_t state = node->state.load(std::memory_order_relaxed);
    const SlotOrder order = LoadOrder({.node = node, .state = state});
    if (rank > 0) fences.low = node->Entry(order.Slot(rank - 1));
    if (rank < StateCount(state)) fences.high = node->Entry(order.Slot(rank));
  }
  return fences;
}

// Fills a node with items whose heads start after prefix_bytes. If some heads do not distinguish
// their keys and the fences allow it, the heads are taken from a later byte.
void EntryTree::FillPart(Node* fresh, Items items, uint32_t prefix_bytes, const Fences& fences) {
  const auto heads_end = items.heads.begin() + items.count;
  if (comparator_.HasHeads() && std::adjacent_find(items.heads.begin(), heads_end) != heads_end) {
    const bool on_edge = fences.low == nullptr || fences.high == nullptr;
    const size_t allowed =
        on_edge ? common_prefix_bytes_
                : CommonKeyPrefixBytes(UserKeyOf(fences.low), UserKeyOf(fences.high));
    if (allowed > prefix_bytes) {
      prefix_bytes = static_cast<uint32_t>(allowed);
      TakeHeads(&items, prefix_bytes);
    }
  }
  Fill(fresh, items, prefix_bytes);
}

void EntryTree::TakeHeads(Items* items, uint32_t prefix_bytes) const {
  for (uint32_t i = 0; i < items->count; ++i)
    items->heads[i] = Head(UserKeyOf(items->entries[i]), prefix_bytes);
}

// Fills a dead node and makes it alive. Requires: the links of a leaf are set.
void EntryTree::Fill(Node* fresh, const Items& items, uint32_t prefix_bytes) {
  SlotOrder order;
  for (uint32_t i = 0; i < kSlots; ++i) order.at[i] = static_cast<uint8_t>(i);
  // Pairs with the fence in Node::Unchanged. Readers of the node's earlier life see that its state
  // has changed.
  std::atomic_thread_fence(std::memory_order_release);
  fresh->prefix_bytes.store(prefix_bytes, std::memory_order_relaxed);
  order.Store(fresh->order(0), fresh->slots);
  for (uint32_t i = 0; i < items.count; ++i) fresh->SetSlot(i, items.heads[i], items.entries[i]);
  if (!fresh->is_leaf) {
    for (uint32_t i = 0; i <= items.count; ++i)
      fresh->children()[i].store(items.children[i], std::memory_order_relaxed);
  }
  fresh->state.store(NextState(fresh->state.load(std::memory_order_relaxed), items.count, 0),
                     std::memory_order_release);
}

// Returns a dead node for a call of Fill, reused or new.
EntryTree::Node* EntryTree::Fresh(bool is_leaf, uint32_t slots) {
  Node*& dead = DeadNodes(is_leaf, slots);
  if (dead != nullptr) {
    Node* const node = dead;
    dead = node->next.load(std::memory_order_relaxed);
    node->trend = 0;
    node->latest_rank = 0;
    return node;
  }
  const size_t bytes = Node::BytesOf(is_leaf, slots);
  char* const memory = arena_->AllocateAligned(bytes, alignof(Node));
  memset(memory, 0, bytes);
  return new (memory) Node(is_leaf, slots);
}

void EntryTree::Kill(Node* node) {
  const uint64_t state = node->state.load(std::memory_order_relaxed);
  node->state.store(NextState(state, 0, 0) | kStateDeadBit, std::memory_order_release);
  Node*& dead = DeadNodes(node->is_leaf, node->slots);
  // A reader that still follows this link finds a node or null, and then that this node changed.
  node->next.store(dead, std::memory_order_release);
  dead = node;
}

void EntryTree::ShortenCommonPrefix(const Slice& user_key) {
  const Slice first = UserKeyOf(first_key_);
  if (user_key.starts_with(Slice(first.data(), common_prefix_bytes_))) [[likely]] {
    return;
  }
  Node* const old_root = root_.load(std::memory_order_relaxed);
  // Leaves are linked to their copies before all copies are made, so memory must not run out then.
  arena_->Reserve(EdgeBytesMax(*old_root));
  common_prefix_bytes_ = static_cast<uint32_t>(CommonKeyPrefixBytes(first, user_key));
  root_.store(RebuildEdges(old_root, {.first = true, .last = true}), std::memory_order_release);
  KillEdges(old_root, {.first = true, .last = true});
}

// The maximum size of copies of the nodes on both edges.
size_t EntryTree::EdgeBytesMax(const Node& root) {
  constexpr size_t kPaddingMax = alignof(Node) - 1;
  size_t bytes = 0;
  for (const Node* node = &root;;) {
    bytes += 2 * (Node::BytesOf(node->is_leaf, kSlots) + kPaddingMax);
    if (node->is_leaf) return bytes;
    const Place place{.node = node, .state = node->state.load(std::memory_order_relaxed)};
    node = node->ChildAt(LoadOrder(place), 0).load(std::memory_order_relaxed);
  }
}

// Copies `old` and the nodes below it that are on the tree's edges, with heads after the common
// prefix. Returns the copy of `old`.
EntryTree::Node* EntryTree::RebuildEdges(Node* old, OnEdges on) {
  Items items(old->is_leaf);
  items.Load(*old);
  TakeHeads(&items, common_prefix_bytes_);
  Node* const fresh = Fresh(old->is_leaf, old->slots);
  if (!old->is_leaf) {
    for (uint32_t i = 0; i <= items.count; ++i) {
      const OnEdges child_on{.first = on.first && i == 0, .last = on.last && i == items.count};
      if (child_on.first || child_on.last)
        items.children[i] = RebuildEdges(items.children[i], child_on);
    }
    Fill(fresh, items, common_prefix_bytes_);
    return fresh;
  }
  FillCopy(fresh, *old, items, common_prefix_bytes_);
  TakePlace(*old, fresh, fresh);
  return fresh;
}

void EntryTree::KillEdges(Node* old, OnEdges on) {
  if (!old->is_leaf) {
    Items items(false);
    items.Load(*old);
    for (uint32_t i = 0; i <= items.count; ++i) {
      const OnEdges child_on{.first = on.first && i == 0, .last = on.last && i == items.count};
      if (child_on.first || child_on.last) KillEdges(items.children[i], child_on);
    }
  }
  Kill(old);
}

}  // namespace ashlar
