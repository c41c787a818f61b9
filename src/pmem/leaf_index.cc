#include "pmem/leaf_index.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/assert.h"
#include "execute/epoch.h"
#include "platform/thread.h"

namespace ashlar::pmem {
namespace {

constexpr uint32_t kSeparators = 64;
constexpr uint32_t kPrefixBytesMax = 40;
// A bulk load leaves room for later inserts.
constexpr uint32_t kBuildChildren = 56;

}  // namespace

struct alignas(kCacheLineBytes) LeafIndex::Node {
  explicit Node(uint32_t node_level) : level(node_level) {}

  std::atomic<bool> replaced{false};
  const uint32_t level;
  uint32_t count = 0;
  uint32_t prefix_bytes = 0;
  std::array<char, kPrefixBytesMax> prefix{};
  std::array<uint64_t, kSeparators> heads{};
  std::array<const char*, kSeparators> separators{};
  std::array<std::atomic<void*>, kSeparators + 1> children{};

  // Level 1: the offsets of the children's leaves, so that their lines are fetched together with
  // the LeafRef. Constant, because a LeafRef's leaf is constant.
  std::array<PoolOffset, kSeparators + 1> leaves{};

  // Not read by readers.
  bool is_new = false;          // made by a change that is not published
  bool is_dropped = false;      // and removed by it again
  Node* replacement = nullptr;  // by the change that is being made
  EpochRetired retired{.deleter = &Delete, .next = nullptr};

  static void Delete(EpochRetired* self) {
    delete reinterpret_cast<Node*>(reinterpret_cast<char*>(self) - offsetof(Node, retired));
  }
  void* Child(uint32_t rank) const { return children[rank].load(std::memory_order_acquire); }
  void SetChild(uint32_t rank, void* child) {
    children[rank].store(child, std::memory_order_relaxed);
    if (level == 1)
      leaves[rank] = static_cast<LeafRef*>(child)->offset.load(std::memory_order_relaxed);
  }
  // Prefetches the lines that a search reads first. Otherwise each step waits for its own line.
  void Prefetch() const { PrefetchRange(this, offsetof(Node, separators)); }
};

size_t LeafIndex::NodeBytes() { return sizeof(Node); }

// ---- Reading.

// The number of separators before the key (kUpper: or equal to it).
template <bool kUpper>
uint32_t LeafIndex::Rank(const Node& node, const Slice& key) const {
  uint32_t low = 0;
  uint32_t high = node.count;
  if (comparator_.HasHeads()) {
    const Slice prefix(node.prefix.data(), node.prefix_bytes);
    if (!key.starts_with(prefix)) [[unlikely]] {
      return comparator_.Compare(key, prefix) < 0 ? 0 : node.count;
    }
    const uint64_t head = comparator_.Head(key, node.prefix_bytes);
    const uint64_t* first = node.heads.data();
    // Without branches: each step moves by a power of two or not at all.
    for (uint32_t step = std::bit_floor(node.count | 1); step > 0; step /= 2) {
      if (low + step <= node.count) low += first[low + step - 1] < head ? step : 0;
    }
    high = low;
    while (high < node.count && first[high] == head) ++high;
  }
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    const int r = comparator_.Compare(KeyOf(node.separators[middle]), key);
    if (r < 0 || (kUpper && r == 0)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

struct LeafIndex::NodesPassed {
  std::array<const Node*, kHeightMax> nodes;
  uint32_t count = 0;
};

void LeafIndex::AwaitTurn(uint32_t attempt) {
  constexpr uint32_t kSpins = 128;
  if (attempt < kSpins) {
    CpuRelax();
  } else {
    YieldThread();
  }
}

// Readers without the structure mutex must check the passed nodes and the version afterwards.
template <typename Found, LeafIndex::Side kSide>
ASHLAR_ALWAYS_INLINE Found LeafIndex::Descend(const Slice* key, NodesPassed* passed) const {
  Found found;
  found.is_last = true;
  const Node* node = static_cast<const Node*>(root_.load(std::memory_order_acquire));
  for (;;) {
    passed->nodes[passed->count++] = node;
    uint32_t rank = kSide == Side::kLast ? node->count : 0;
    if constexpr (kSide == Side::kCovering) rank = Rank<true>(*node, *key);
    if constexpr (kSide == Side::kBefore) rank = Rank<false>(*node, *key);
    found.is_last &= rank == node->count;
    if constexpr (std::is_same_v<Found, BoundedLeaf>) {
      if (rank > 0) found.lower = node->separators[rank - 1];
      if (rank < node->count) found.upper = node->separators[rank];
    }
    void* const child = node->Child(rank);
    if (node->level == 1) {
      found.ref = static_cast<LeafRef*>(child);
      PrefetchLeaf(node->leaves[rank]);
      break;
    }
    node = static_cast<const Node*>(child);
    node->Prefetch();
  }
  found.version = found.ref->version.load(std::memory_order_acquire);
  found.offset = found.ref->offset.load(std::memory_order_relaxed);
  return found;
}

template <typename Found, LeafIndex::Side kSide>
Found LeafIndex::FindLeaf(const Slice* key) const {
  for (uint32_t attempt = 0;; ++attempt) {
    NodesPassed passed;
    const Found found = Descend<Found, kSide>(key, &passed);
    if (!found.IsTaken()) [[likely]] {
      bool current = true;
      for (uint32_t i = 0; i < passed.count; ++i)
        current &= !passed.nodes[i]->replaced.load(std::memory_order_acquire);
      if (current && found.Unchanged()) [[likely]] {
        return found;
      }
    }
    AwaitTurn(attempt);
  }
}

FoundLeaf LeafIndex::Find(const Slice& key) const {
  return FindLeaf<FoundLeaf, Side::kCovering>(&key);
}
BoundedLeaf LeafIndex::FindBounded(const Slice& key) const {
  return FindLeaf<BoundedLeaf, Side::kCovering>(&key);
}
BoundedLeaf LeafIndex::FindBefore(const Slice& key) const {
  return FindLeaf<BoundedLeaf, Side::kBefore>(&key);
}
BoundedLeaf LeafIndex::FindFirst() const { return FindLeaf<BoundedLeaf, Side::kFirst>(nullptr); }
BoundedLeaf LeafIndex::FindLast() const { return FindLeaf<BoundedLeaf, Side::kLast>(nullptr); }

// No node is replaced under the structure mutex.
BoundedLeaf LeafIndex::Peek(const Slice& key) const {
  NodesPassed passed;
  return Descend<BoundedLeaf, Side::kCovering>(&key, &passed);
}
BoundedLeaf LeafIndex::PeekBefore(const Slice& key) const {
  NodesPassed passed;
  return Descend<BoundedLeaf, Side::kBefore>(&key, &passed);
}
BoundedLeaf LeafIndex::PeekFirst() const {
  NodesPassed passed;
  return Descend<BoundedLeaf, Side::kFirst>(nullptr, &passed);
}

// ---- LeafRefs.

LeafRef* LeafIndex::NewRef(PoolOffset leaf) {
  if (free_refs_.empty()) {
    free_refs_.reserve(kRefsPerSlab * (refs_.size() + 1));
    refs_.push_back(std::make_unique<std::array<LeafRef, kRefsPerSlab>>());
    for (auto ref = refs_.back()->rbegin(); ref != refs_.back()->rend(); ++ref)
      free_refs_.push_back(&*ref);
  }
  LeafRef* const ref = free_refs_.back();
  free_refs_.pop_back();
  // Pairs with the fence in LeafRef::Unchanged. Readers that found the LeafRef with its earlier
  // leaf see that it is dead.
  std::atomic_thread_fence(std::memory_order_release);
  ref->offset.store(leaf, std::memory_order_relaxed);
  ref->version.store(
      (ref->version.load(std::memory_order_relaxed) & ~LeafRef::kDead) + LeafRef::kChange,
      std::memory_order_release);
  return ref;
}

void LeafIndex::DropRef(LeafRef* ref) noexcept {
  if ((ref->version.load(std::memory_order_relaxed) & LeafRef::kDead) == 0) ref->Kill();
  free_refs_.push_back(ref);  // NewRef has reserved room for all
}

// ---- Nodes.

LeafIndex::~LeafIndex() {
  void* const root = root_.load(std::memory_order_relaxed);
  if (root != nullptr) DeleteTree(root, static_cast<Node*>(root)->level);
}

void LeafIndex::DeleteTree(void* node, uint32_t level) {
  if (level == 0) return;
  Node* const inner = static_cast<Node*>(node);
  for (uint32_t i = 0; i <= inner->count; ++i) DeleteTree(inner->Child(i), level - 1);
  delete inner;
}

// Sets the common prefix of the separators, and their heads after it.
void LeafIndex::TakeHeads(Node* node) const {
  node->prefix_bytes = 0;
  if (!comparator_.HasHeads() || node->count == 0) return;
  // Both orders compare strings, so a common prefix of the first and the last one is common to all.
  const Slice first = KeyOf(node->separators[0]);
  const Slice last = KeyOf(node->separators[node->count - 1]);
  const size_t shared = node->count == 1 ? 0 : CommonKeyPrefixBytes(first, last);
  node->prefix_bytes = static_cast<uint32_t>(std::min<size_t>(shared, kPrefixBytesMax));
  if (node->prefix_bytes > 0) memcpy(node->prefix.data(), first.data(), node->prefix_bytes);
  for (uint32_t i = 0; i < node->count; ++i)
    node->heads[i] = comparator_.Head(KeyOf(node->separators[i]), node->prefix_bytes);
}

// Adds a separator with the child right of it to a node that is not published yet.
void LeafIndex::InsertAt(Node* node, uint32_t rank, const char* separator, void* right) const {
  ASHLAR_DCHECK(node->count < kSeparators && rank <= node->count);  // the callers make room
  for (uint32_t i = node->count; i > rank; --i) {
    node->separators[i] = node->separators[i - 1];
    node->heads[i] = node->heads[i - 1];
    node->SetChild(i + 1, node->Child(i));
  }
  node->separators[rank] = separator;
  node->SetChild(rank + 1, right);
  node->count++;
  const Slice key = KeyOf(separator);
  const Slice prefix(node->prefix.data(), node->prefix_bytes);
  // A single separator had no common prefix.
  if (node->count > 2 && key.starts_with(prefix)) {
    node->heads[rank] = comparator_.Head(key, node->prefix_bytes);
  } else {
    TakeHeads(node);
  }
}

void LeafIndex::Build(const std::vector<Entry>& leaves) {
  ASHLAR_ASSERT(!leaves.empty() && root_.load(std::memory_order_relaxed) == nullptr);  // Requires
  struct Item {
    const char* separator;
    void* child;
  };
  Change change;  // owns the nodes until all are made
  // Builds the nodes of a level, each with the separator left of it. item(i) is the i-th child.
  const auto build_level = [&](uint32_t level, size_t count, const auto& item) {
    std::vector<Item> nodes;
    nodes.reserve((count + kBuildChildren - 1) / kBuildChildren);
    for (size_t from = 0; from < count; from += kBuildChildren) {
      const auto children = static_cast<uint32_t>(std::min<size_t>(kBuildChildren, count - from));
      Node* const node = Make(level, &change);
      node->count = children - 1;
      for (uint32_t i = 0; i < children; ++i) {
        const Item child = item(from + i);
        if (i > 0) node->separators[i - 1] = child.separator;
        node->SetChild(i, child.child);
      }
      TakeHeads(node);
      nodes.push_back({item(from).separator, node});
    }
    return nodes;
  };
  std::vector<Item> nodes = build_level(
      1, leaves.size(), [&](size_t i) { return Item{leaves[i].separator, leaves[i].leaf}; });
  for (uint32_t level = 2; nodes.size() > 1; ++level)
    nodes = build_level(level, nodes.size(), [&](size_t i) { return nodes[i]; });
  change.root_ = static_cast<Node*>(nodes[0].child);
  Publish(&change);
}

// ---- Checks.

void LeafIndex::CheckNode(const Node& node) {
  ASHLAR_ASSERT(node.level > 0 && node.level < kHeightMax);  // the room of NodesPassed
  ASHLAR_ASSERT(node.count <= kSeparators && node.prefix_bytes <= kPrefixBytesMax);  // the arrays
  ASHLAR_ASSERT(!node.replaced.load(std::memory_order_relaxed) &&
                node.replacement == nullptr);  // I1
  // The key of a leaf that is not the first.
  for (uint32_t i = 0; i < node.count; ++i) ASHLAR_ASSERT(node.separators[i] != nullptr);
  for (uint32_t i = 0; i <= node.count; ++i) {
    ASHLAR_ASSERT(node.Child(i) != nullptr);  // count + 1 children
    if (node.level > 1) continue;
    const auto* const leaf = static_cast<const LeafRef*>(node.Child(i));
    ASHLAR_ASSERT(leaf->offset.load(std::memory_order_relaxed) == node.leaves[i]);  // SetChild
  }
}

void LeafIndex::CheckKeys(const Node& node, const char* lower, const char* upper) const {
  const Slice prefix(node.prefix.data(), node.prefix_bytes);
  const char* before = lower;
  for (uint32_t i = 0; i < node.count; ++i) {
    const Slice key = KeyOf(node.separators[i]);
    ASHLAR_ASSERT(before == nullptr || comparator_.Compare(KeyOf(before), key) < 0);  // in order
    before = node.separators[i];
    if (!comparator_.HasHeads()) continue;
    ASHLAR_ASSERT(key.starts_with(prefix));  // their common prefix
    ASHLAR_ASSERT(node.heads[i] == comparator_.Head(key, node.prefix_bytes));  // its head
  }
  ASHLAR_ASSERT(before == nullptr || upper == nullptr ||
                comparator_.Compare(KeyOf(before), KeyOf(upper)) < 0);  // in order
}

// Checks and counts the nodes from here down, which have the keys from `lower` to `upper`.
uint64_t LeafIndex::CheckTree(const Node& node, const char* lower, const char* upper) const {
  CheckNode(node);
  CheckKeys(node, lower, upper);
  ASHLAR_ASSERT(!node.is_new && !node.is_dropped);  // I4
  uint64_t nodes = 1;
  for (uint32_t i = 0; i <= node.count; ++i) {
    if (node.level == 1) {
      const auto* const leaf = static_cast<const LeafRef*>(node.Child(i));
      // A dead leaf is out of the index.
      ASHLAR_ASSERT((leaf->version.load(std::memory_order_relaxed) & LeafRef::kDead) == 0);
      continue;
    }
    const auto& child = *static_cast<const Node*>(node.Child(i));
    ASHLAR_ASSERT(child.level + 1 == node.level);  // levels count from the leaves up
    nodes += CheckTree(child, i == 0 ? lower : node.separators[i - 1],
                       i == node.count ? upper : node.separators[i]);
  }
  return nodes;
}

void LeafIndex::CheckInvariants() const {
  const auto* const root = static_cast<const Node*>(root_.load(std::memory_order_relaxed));
  ASHLAR_ASSERT(root != nullptr);  // Build
  // VolatileBytes counts the nodes.
  ASHLAR_ASSERT(CheckTree(*root, nullptr, nullptr) == nodes_.load(std::memory_order_relaxed));
  ASHLAR_ASSERT(free_refs_.size() <= refs_.size() * kRefsPerSlab);  // I2
  for (const LeafRef* const ref : free_refs_)
    // Dead when it was made, and again after DropRef.
    ASHLAR_ASSERT((ref->version.load(std::memory_order_relaxed) & LeafRef::kDead) != 0);
}

// ---- Changes.

LeafIndex::Change::~Change() {
  for (const Node* node : made_) delete node;
  for (Node* node : replaced_) node->replacement = nullptr;
}

// The path in the index as it will be after the change.
LeafIndex::Path LeafIndex::PathTo(const Slice& key, const Change& change) const {
  Path path;
  Node* node = change.root_;
  if (node == nullptr) node = static_cast<Node*>(root_.load(std::memory_order_relaxed));
  for (;;) {
    const uint32_t rank = Rank<true>(*node, key);
    path.push_back({node, rank});
    if (node->level == 1) return path;
    node = static_cast<Node*>(node->Child(rank));
    if (node->replacement != nullptr) node = node->replacement;
  }
}

LeafIndex::Node* LeafIndex::Make(uint32_t level, Change* change) {
  change->made_.push_back(nullptr);
  change->made_.back() = new Node(level);
  change->made_.back()->is_new = true;
  return change->made_.back();
}

// Returns the node at this depth of the path for editing. A copy takes its place if the change has
// not made the node itself (I4).
LeafIndex::Node* LeafIndex::Own(Path* path, size_t depth, Change* change) {
  Node* const old = (*path)[depth].node;
  if (old->is_new) return old;
  Node* const copy = Make(old->level, change);
  copy->count = old->count;
  copy->prefix_bytes = old->prefix_bytes;
  copy->prefix = old->prefix;
  copy->heads = old->heads;
  copy->separators = old->separators;
  for (uint32_t i = 0; i <= old->count; ++i) copy->SetChild(i, old->Child(i));
  std::erase_if(change->placements_, [&](const Change::Placement& placement) {
    if (placement.parent == old) copy->SetChild(placement.rank, placement.child);
    return placement.parent == old;
  });
  change->replaced_.push_back(old);
  old->replacement = copy;
  (*path)[depth].node = copy;
  if (depth == 0) {
    change->root_ = copy;
  } else if (const Step& above = (*path)[depth - 1]; above.node->is_new) {
    above.node->SetChild(above.rank, copy);
  } else {
    change->placements_.push_back({.parent = above.node, .rank = above.rank, .child = copy});
  }
  return copy;
}

// The caller removes the node from its parent.
void LeafIndex::Drop(Node* node, Change* change) {
  node->is_dropped = node->is_new;
  if (node->is_new) return;
  std::erase_if(change->placements_,
                [&](const Change::Placement& placement) { return placement.parent == node; });
  change->replaced_.push_back(node);
}

void LeafIndex::PrepareInsert(const char* separator, LeafRef* leaf, Change* change) {
  Path path = PathTo(KeyOf(separator), *change);
  const char* key = separator;
  void* right = leaf;
  for (size_t depth = path.size(); depth-- > 0;) {
    Node* const node = Own(&path, depth, change);
    const uint32_t rank = path[depth].rank;
    if (node->count < kSeparators) return InsertAt(node, rank, key, right);
    // At the right edge of a node the new node begins empty, so that ascending loads fill nodes.
    // The separator at `middle` moves up.
    const uint32_t middle = rank == kSeparators ? kSeparators - 1 : kSeparators / 2;
    Node* const upper = Make(node->level, change);
    const char* const up = node->separators[middle];
    upper->count = kSeparators - middle - 1;
    for (uint32_t i = 0; i < upper->count; ++i)
      upper->separators[i] = node->separators[middle + 1 + i];
    for (uint32_t i = 0; i <= upper->count; ++i) upper->SetChild(i, node->Child(middle + 1 + i));
    node->count = middle;
    TakeHeads(node);
    TakeHeads(upper);
    if (rank > middle) {
      InsertAt(upper, rank - middle - 1, key, right);
    } else {
      InsertAt(node, rank, key, right);
    }
    right = upper;
    key = up;
  }
  Node* const root = Make(path[0].node->level + 1, change);
  ASHLAR_ASSERT(root->level < kHeightMax);  // the room of NodesPassed
  root->SetChild(0, path[0].node);
  InsertAt(root, 0, key, right);
  change->root_ = root;
}

void LeafIndex::PrepareErase(const char* separator, Change* change) {
  Path path = PathTo(KeyOf(separator), *change);
  // Nodes with no other child are removed too.
  size_t depth = path.size() - 1;
  while (path[depth].node->count == 0) {
    Drop(path[depth].node, change);
    ASHLAR_ASSERT(depth > 0);  // the first leaf stays
    depth--;
  }
  Node* const node = Own(&path, depth, change);
  const uint32_t rank = path[depth].rank;
  // Without its first child, a node begins at its first separator, which replaces the old separator
  // in an ancestor.
  const char* const begin = rank == 0 ? node->separators[0] : nullptr;
  const uint32_t gone = rank == 0 ? 0 : rank - 1;
  for (uint32_t i = gone; i + 1 < node->count; ++i) {
    node->separators[i] = node->separators[i + 1];
    node->heads[i] = node->heads[i + 1];
  }
  for (uint32_t i = rank; i < node->count; ++i) node->SetChild(i, node->Child(i + 1));
  node->count--;
  if (node->count <= 1) TakeHeads(node);
  if (begin == nullptr) return;

  size_t above = depth;
  do {
    ASHLAR_ASSERT(above > 0);  // the first leaf stays
    above--;
  } while (path[above].rank == 0);
  Node* const ancestor = Own(&path, above, change);
  ancestor->separators[path[above].rank - 1] = begin;
  TakeHeads(ancestor);
}

// Marks all replaced nodes before a new node can be found, so that a reader whose path has old and
// new nodes starts again.
void LeafIndex::Publish(Change* change) noexcept {
  uint64_t added = 0;
  for (Node* node : change->made_) {
    if constexpr (kDebugChecks) {
      if (!node->is_dropped) CheckNode(*node);
    }
    node->is_new = false;
    added += node->is_dropped ? 0 : 1;
    if (node->is_dropped) delete node;
  }
  change->made_.clear();
  nodes_.fetch_add(added - change->replaced_.size(), std::memory_order_relaxed);
  for (Node* node : change->replaced_) node->replaced.store(true, std::memory_order_release);
  for (const Change::Placement& placement : change->placements_)
    placement.parent->children[placement.rank].store(placement.child, std::memory_order_release);
  if (change->root_ != nullptr) root_.store(change->root_, std::memory_order_release);
  for (Node* node : change->replaced_) epochs_.RetireUnderLock(&node->retired, sizeof(Node));
  change->replaced_.clear();
  change->placements_.clear();
  change->root_ = nullptr;
}

}  // namespace ashlar::pmem
