#include "memtable/range_tree.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <vector>

#include "base/coding.h"
#include "key/key_head.h"
#include "memtable/entry.h"
#include "platform/cpu.h"

namespace ashlar {

namespace {

// A key in the arena: varint32 size | bytes.
Slice KeyOf(const char* stored) {
  uint32_t bytes;
  const char* const key = ReadTrustedVarint32(stored, &bytes);
  return Slice(key, bytes);
}

}  // namespace

// One element of a list of covers. `jump` points to the element that a binary counter of the depths
// selects (Myers' skew-binary list), so that a search takes O(log depth) steps.
struct RangeTree::Cover {
  SequenceNumber sequence;
  const Cover* older;  // null: the last
  const Cover* jump;   // null: the last
  uint64_t depth;      // elements that are older
};

// Followed by count boundaries, count covers and, in inner nodes, count children.
//
// A search that meets no equal head and no cover reads one cache line of a leaf and two of each
// inner node.
struct alignas(kCacheLineBytes) RangeTree::Node {
  uint8_t count;  // of slots, at least 1
  bool is_leaf;
  bool checks_prefix;  // false: the fences share the prefix, and so do all keys that arrive here
  uint16_t prefix_bytes;
  // One bit for each slot that has covers. Stored with release after the cover, loaded with acquire
  // before the cover.
  std::atomic<uint16_t> covered;
  // The heads of the boundaries of slots 1, 2, ...; slot 0 begins where the node does. Slots that
  // the node does not have get the largest number. Constant.
  std::array<uint32_t, kSlots - 1> heads;

  static size_t BytesOf(bool is_leaf, uint32_t count) {
    return sizeof(Node) + count * (is_leaf ? 2 : 3) * sizeof(void*);
  }
  // Null in slot 0 at the left edge of the tree.
  const char** keys() { return reinterpret_cast<const char**>(this + 1); }
  const char* key(uint32_t slot) const { return const_cast<Node*>(this)->keys()[slot]; }
  // Stored with release after the element is complete, loaded with acquire before it is read.
  std::atomic<const Cover*>* covers() {
    return reinterpret_cast<std::atomic<const Cover*>*>(keys() + count);
  }
  const Cover* cover(uint32_t slot) const {
    if ((covered.load(std::memory_order_acquire) >> slot & 1) == 0) return nullptr;
    return const_cast<Node*>(this)->covers()[slot].load(std::memory_order_acquire);
  }
  const Cover* writers_cover(uint32_t slot) const {
    return const_cast<Node*>(this)->covers()[slot].load(std::memory_order_relaxed);
  }
  void SetCover(uint32_t slot, const Cover* cover) {
    covers()[slot].store(cover, std::memory_order_release);
    const auto bit = static_cast<uint16_t>(1u << slot);
    const uint16_t before = covered.load(std::memory_order_relaxed);
    if ((before & bit) == 0) covered.store(before | bit, std::memory_order_release);
  }
  // Stored with release after the child is complete, loaded with acquire before it is read.
  std::atomic<Node*>* children() { return reinterpret_cast<std::atomic<Node*>*>(covers() + count); }
  Node* child(uint32_t slot) const {
    return const_cast<Node*>(this)->children()[slot].load(std::memory_order_acquire);
  }
  uint32_t head(uint32_t slot) const { return heads[slot - 1]; }
};

// The slots of a node that is being built, with room for two more than a node may have.
struct RangeTree::Items {
  explicit Items(const Node& node) : Items(node, node.count - 1u, 0) {}
  // Leaves `gap` slots free after the slot, to be filled by Set.
  Items(const Node& node, uint32_t slot, uint32_t gap)
      : is_copy(true),
        is_leaf(node.is_leaf),
        count(node.count + gap),
        prefix_bytes(node.prefix_bytes) {
    const char* const* const node_keys = const_cast<Node&>(node).keys();
    std::copy(node_keys, node_keys + slot + 1, keys.begin());
    std::copy(node_keys + slot + 1, node_keys + node.count, keys.begin() + slot + 1 + gap);
    for (uint32_t i = 0; i <= slot; ++i) covers[i] = node.writers_cover(i);
    for (uint32_t i = slot + 1; i < node.count; ++i) covers[i + gap] = node.writers_cover(i);
    std::copy(node.heads.begin(), node.heads.begin() + slot, heads.begin() + 1);
    std::copy(node.heads.begin() + slot, node.heads.begin() + (node.count - 1),
              heads.begin() + slot + 1 + gap);
    ASHLAR_DCHECK(is_leaf || gap == 0);  // AddInsideOneLeaf makes the gap
    for (uint32_t i = 0; !is_leaf && i < count; ++i) children[i] = node.child(i);
  }
  // The root of an empty tree.
  Items() : is_copy(false), is_leaf(true), count(1), prefix_bytes(0) {
    keys[0] = nullptr;
    covers[0] = nullptr;
  }
  // A root above two nodes.
  Items(Node* left, Node* right)
      : is_copy(false), is_leaf(false), count(2), prefix_bytes(kNoHeads) {
    keys = {nullptr, right->key(0)};
    covers = {nullptr, nullptr};
    children = {left, right};
  }
  // Splits the slot at the key. Both parts have its covers.
  void InsertAfter(uint32_t slot, const char* key, uint32_t head, Node* child) {
    MoveUp(&keys, slot + 1);
    MoveUp(&covers, slot + 1);
    if (!is_leaf) MoveUp(&children, slot + 1);
    MoveUp(&heads, slot + 1);
    keys[slot + 1] = key;
    covers[slot + 1] = covers[slot];
    if (!is_leaf) children[slot + 1] = child;
    heads[slot + 1] = head;
    ++count;
  }

  void Set(uint32_t slot, const char* key, uint32_t head, const Cover* cover) {
    keys[slot] = key;
    heads[slot] = head;
    covers[slot] = cover;
  }
  template <typename Array>
  void MoveUp(Array* of_slots, uint32_t from) {
    std::copy_backward(of_slots->begin() + from, of_slots->begin() + count,
                       of_slots->begin() + count + 1);
  }

  // Larger than the length of any prefix.
  static constexpr uint32_t kNoHeads = UINT32_MAX;

  const bool is_copy;  // made from the slots of a node, perhaps with more slots
  const bool is_leaf;
  uint32_t count;
  const uint32_t prefix_bytes;  // the bytes before the heads; kNoHeads: there are no heads
  std::array<const char*, kSlots + 2> keys;
  std::array<const Cover*, kSlots + 2> covers;
  std::array<Node*, kSlots + 2> children;
  std::array<uint32_t, kSlots + 2> heads;
};

uint32_t RangeTree::HeadOf(const Slice& user_key, uint32_t prefix_bytes) const {
  // A fast path for most heads: half of KeyComparator::Head, for bytewise keys that are not short.
  const Slice key = ComparedPart(user_key);
  if (comparator_.kind() == KeyComparator::Kind::kBytewise && key.size() >= prefix_bytes + 4u)
      [[likely]]
    return LoadBigEndian32(key.data() + prefix_bytes);
  return static_cast<uint32_t>(comparator_.Head(user_key, prefix_bytes) >> 32);
}

// The path from the root down to a leaf.
struct RangeTree::Path {
  struct Step {
    Node* node;
    uint32_t slot;      // the slot of the next node; in the leaf, of the key
    const char* upper;  // where the node ends; null: at the right edge of the tree
  };

  const Step& leaf() const { return steps[levels - 1]; }

  uint32_t levels = 0;
  std::array<Step, kLevelsMax> steps;
};

// Returns the first element at or below the sequence, or null.
const RangeTree::Cover* RangeTree::FindVisible(const Cover* cover, SequenceNumber visible) {
  while (cover != nullptr && cover->sequence > visible) {
    cover = cover->jump != nullptr && cover->jump->sequence > visible ? cover->jump : cover->older;
  }
  return cover;
}

// Returns the slot that has the key.
uint32_t RangeTree::Rank(const Node& node, const Slice& user_key) const {
  if (node.checks_prefix) {
    const Slice prefix(KeyOf(node.key(1)).data(), node.prefix_bytes);
    if (!user_key.starts_with(prefix))
      return comparator_.Compare(user_key, prefix) < 0 ? 0 : node.count - 1u;
  }
  const uint32_t head = HeadOf(user_key, node.prefix_bytes);
  uint32_t begin = CountSmaller(node.heads, head);
  uint32_t end = begin;
  while (end + 1 < node.count && node.head(end + 1) == head) ++end;
  // Equal heads do not decide the order.
  while (begin < end) {
    const uint32_t middle = (begin + end) / 2;
    if (comparator_.Compare(KeyOf(node.key(middle + 1)), user_key) <= 0) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

bool RangeTree::IsBoundary(const Node& node, uint32_t slot, const Slice& user_key) const {
  // The head is in the node; the boundary is elsewhere in memory.
  if (slot > 0 && node.head(slot) != HeadOf(user_key, node.prefix_bytes)) return false;
  return node.key(slot) != nullptr && comparator_.Equal(KeyOf(node.key(slot)), user_key);
}

// upper: the end of the node, or null at the right edge of the tree.
void RangeTree::SetPrefix(Node* node, const char* upper) const {
  node->checks_prefix = false;
  node->prefix_bytes = 0;
  if (!comparator_.HasHeads()) return;
  const bool fenced = node->key(0) != nullptr && upper != nullptr;
  if (!fenced && node->count < 2) return;
  const Slice first = KeyOf(fenced ? node->key(0) : node->key(1));
  const Slice last = KeyOf(fenced ? upper : node->key(node->count - 1u));
  const size_t common = CommonKeyPrefixBytes(first, last);
  node->prefix_bytes = static_cast<uint16_t>(std::min<size_t>(common, UINT16_MAX));
  node->checks_prefix = !fenced && node->prefix_bytes > 0;
}

RangeTree::Node* RangeTree::NewNode(const Items& items, uint32_t from, uint32_t to,
                                    const char* upper) {
  const uint32_t count = to - from;
  ASHLAR_DCHECK(count >= 1 && count <= kSlots);  // the number of slots of a node
  Node* const node =
      new (arena_->AllocateAligned(Node::BytesOf(items.is_leaf, count), alignof(Node))) Node;
  node->count = static_cast<uint8_t>(count);
  node->is_leaf = items.is_leaf;
  std::copy_n(items.keys.begin() + from, count, node->keys());
  uint32_t covered = 0;
  for (uint32_t i = 0; i < count; ++i) {
    new (&node->covers()[i]) std::atomic<const Cover*>(items.covers[from + i]);
    covered |= (items.covers[from + i] != nullptr ? 1u : 0u) << i;
  }
  for (uint32_t i = 0; !items.is_leaf && i < count; ++i)
    new (&node->children()[i]) std::atomic<Node*>(items.children[from + i]);
  node->covered.store(static_cast<uint16_t>(covered), std::memory_order_relaxed);
  // A copy has the same fences as its node, and therefore the same prefix.
  const bool same_fences = items.is_copy && count == items.count;
  if (same_fences && node->key(0) != nullptr && upper != nullptr) {
    node->checks_prefix = false;
    node->prefix_bytes = static_cast<uint16_t>(items.prefix_bytes);
  } else {
    SetPrefix(node, upper);
  }
  // Most copies have the prefix of the copied node, so that their keys need not be read.
  if (node->prefix_bytes == items.prefix_bytes) {
    std::copy(items.heads.begin() + from + 1, items.heads.begin() + to, node->heads.begin());
  } else {
    for (uint32_t i = 1; i < count; ++i)
      node->heads[i - 1] = HeadOf(KeyOf(node->key(i)), node->prefix_bytes);
  }
  std::fill(node->heads.begin() + (count - 1), node->heads.end(), UINT32_MAX);
  return node;
}

// at_end: the new slots are the last, as with ascending boundaries. The first node then stays full.
RangeTree::Halves RangeTree::Build(const Items& items, bool at_end, const char* upper) {
  if (items.count <= kSlots) return {NewNode(items, 0, items.count, upper), nullptr};
  const uint32_t middle = at_end ? kSlots : items.count / 2;
  return {NewNode(items, 0, middle, items.keys[middle]),
          NewNode(items, middle, items.count, upper)};
}

const char* RangeTree::CopyKey(const Slice& user_key) {
  char* const stored = arena_->Allocate(VarintLength(user_key.size()) + user_key.size());
  char* const p = EncodeVarint32(stored, static_cast<uint32_t>(user_key.size()));
  if (!user_key.empty()) memcpy(p, user_key.data(), user_key.size());
  return stored;
}

// Replaces the leaf of the path by new nodes, and also the nodes above it that have to grow.
void RangeTree::Replace(const Path& path, const Items& items, bool at_end) {
  Halves halves = Build(items, at_end, path.leaf().upper);
  uint32_t level = path.levels - 1;
  for (; halves.split_off != nullptr && level > 0; --level) {
    const Path::Step& above = path.steps[level - 1];
    Items grown(*above.node);
    grown.children[above.slot] = halves.node;
    const char* const separator = halves.split_off->key(0);
    grown.InsertAfter(above.slot, separator, HeadOf(KeyOf(separator), above.node->prefix_bytes),
                      halves.split_off);
    halves = Build(grown, above.slot + 1u == above.node->count, above.upper);
  }
  if (level > 0) {
    const Path::Step& above = path.steps[level - 1];
    above.node->children()[above.slot].store(halves.node, std::memory_order_release);
    return;
  }
  Node* root = halves.node;
  if (halves.split_off != nullptr) {
    ASHLAR_ASSERT(levels_ < kLevelsMax);  // 2^32 boundaries need fewer
    root = NewNode(Items(halves.node, halves.split_off), 0, 2, nullptr);
    ++levels_;
  }
  root_.store(root, std::memory_order_release);
}

void RangeTree::InsertBoundary(const Slice& user_key) {
  Path path;
  const char* upper = nullptr;
  for (Node* node = root_.load(std::memory_order_relaxed);;) {
    const uint32_t slot = Rank(*node, user_key);
    if (IsBoundary(*node, slot, user_key)) return;
    path.steps[path.levels++] = {node, slot, upper};
    if (node->is_leaf) break;
    if (slot + 1u < node->count) upper = node->key(slot + 1);
    node = node->child(slot);
  }
  const auto& [leaf, slot, leaf_upper] = path.leaf();
  Items items(*leaf);
  items.InsertAfter(slot, CopyKey(user_key), HeadOf(user_key, leaf->prefix_bytes), nullptr);
  Replace(path, items, slot + 1u == leaf->count);
}

// Returns true if `end` is in the slot. Requires: `end` is not before the slot, and not after the
// end of the node.
bool RangeTree::EndsInSlot(const Node& node, uint32_t slot, const Slice& end) const {
  if (slot + 1u == node.count) return true;
  if (!node.checks_prefix) {
    const uint32_t head = HeadOf(end, node.prefix_bytes);
    if (head != node.head(slot + 1)) return head < node.head(slot + 1);
  }
  return comparator_.Compare(end, KeyOf(node.key(slot + 1))) < 0;
}

// Adds an element to the lists of covers. Slots that shared a list still share one, because the
// slots of a split share later covers, too.
class RangeTree::NewCovers {
 public:
  NewCovers(RangeTree* tree, SequenceNumber sequence) : tree_(tree), sequence_(sequence) {}
  const Cover* Over(const Cover* own) {
    if (newest_ == nullptr || own != older_) newest_ = tree_->NewCover(own, sequence_);
    older_ = own;
    return newest_;
  }

 private:
  RangeTree* const tree_;
  const SequenceNumber sequence_;
  const Cover* older_ = nullptr;
  const Cover* newest_ = nullptr;
};

// Adds a tombstone with both bounds in one leaf, as is usual for short ones: one descent, and one
// copy of the leaf or its halves. Returns false if the leaves differ or both bounds are boundaries.
bool RangeTree::AddInsideOneLeaf(const RangeTombstone& tombstone) {
  Path path;
  const char* upper = nullptr;
  Node* leaf = root_.load(std::memory_order_relaxed);
  while (!leaf->is_leaf) {
    const uint32_t slot = Rank(*leaf, tombstone.begin);
    if (!EndsInSlot(*leaf, slot, tombstone.end)) return false;
    path.steps[path.levels++] = {leaf, slot, upper};
    if (slot + 1u < leaf->count) upper = leaf->key(slot + 1);
    leaf = leaf->child(slot);
  }
  const uint32_t first = Rank(*leaf, tombstone.begin);
  uint32_t last = first;
  while (!EndsInSlot(*leaf, last, tombstone.end)) ++last;
  const bool adds_begin = !IsBoundary(*leaf, first, tombstone.begin);
  const bool adds_end = last == first || !IsBoundary(*leaf, last, tombstone.end);
  if (!adds_begin && !adds_end) return false;
  path.steps[path.levels++] = {leaf, first, upper};
  const uint32_t begin_head = HeadOf(tombstone.begin, leaf->prefix_bytes);
  const uint32_t end_head = HeadOf(tombstone.end, leaf->prefix_bytes);
  const char* const begin_key = adds_begin ? CopyKey(tombstone.begin) : nullptr;
  const char* const end_key = adds_end ? CopyKey(tombstone.end) : nullptr;
  const uint32_t gap = last > first ? 0 : adds_begin ? 2 : 1;
  Items items(*leaf, first, gap);
  if (gap > 0) {
    if (adds_begin) items.Set(first + 1, begin_key, begin_head, items.covers[first]);
    items.Set(first + gap, end_key, end_head, items.covers[first]);
  } else {
    if (adds_end) items.InsertAfter(last, end_key, end_head, nullptr);
    if (adds_begin) items.InsertAfter(first, begin_key, begin_head, nullptr);
  }
  NewCovers covers(this, tombstone.sequence);
  const uint32_t end = last + (adds_begin ? 1 : 0) + (adds_end ? 1 : 0);
  for (uint32_t slot = first + (adds_begin ? 1 : 0); slot < end; ++slot)
    items.covers[slot] = covers.Over(items.covers[slot]);
  Replace(path, items, last + 1u == leaf->count);
  return true;
}

const RangeTree::Cover* RangeTree::NewCover(const Cover* older, SequenceNumber sequence) {
  if (older == nullptr)
    return new (arena_->AllocateAligned(sizeof(Cover))) Cover{sequence, nullptr, nullptr, 0};
  ASHLAR_ASSERT(older->sequence <= sequence);  // I2
  if (older->sequence == sequence) return older;
  const Cover* const jump = older->jump;
  const bool doubles = jump != nullptr && jump->jump != nullptr &&
                       older->depth - jump->depth == jump->depth - jump->jump->depth;
  return new (arena_->AllocateAligned(sizeof(Cover)))
      Cover{sequence, older, doubles ? jump->jump : older, older->depth + 1};
}

// Covers the part of the node in [begin, end). Both are boundaries, or null for the node's edge.
void RangeTree::CoverSlots(Node* node, const Slice* begin, const Slice* end,
                           SequenceNumber sequence) {
  const uint32_t first = begin == nullptr ? 0 : Rank(*node, *begin);
  const uint32_t last = end == nullptr ? node->count - 1u : Rank(*node, *end);
  NewCovers covers(this, sequence);
  for (uint32_t slot = first; slot <= last; ++slot) {
    if (slot == last && end != nullptr && IsBoundary(*node, slot, *end)) return;
    const bool from_begin = slot > first || begin == nullptr || IsBoundary(*node, slot, *begin);
    const bool to_end = slot < last || end == nullptr;
    if (!from_begin || !to_end) {
      ASHLAR_ASSERT(!node->is_leaf);  // both are boundaries
      CoverSlots(node->child(slot), from_begin ? nullptr : begin, to_end ? nullptr : end, sequence);
      continue;
    }
    node->SetCover(slot, covers.Over(node->writers_cover(slot)));
  }
}

void RangeTree::Add(const RangeTombstone& tombstone) {
  ASHLAR_DCHECK(comparator_.Compare(tombstone.begin, tombstone.end) < 0);  // Requires
  summary_.Add(tombstone);  // a tombstone that then fails sets bits, which only costs searches
  if (root_.load(std::memory_order_relaxed) == nullptr) {
    root_.store(NewNode(Items(), 0, 1, nullptr), std::memory_order_release);
    levels_ = 1;
  }
  if (AddInsideOneLeaf(tombstone)) return;
  InsertBoundary(tombstone.begin);
  InsertBoundary(tombstone.end);
  // Memory must not run out between the covers.
  arena_->Reserve(size_t{levels_} * 2 * kSlots * sizeof(Cover) + alignof(Cover));
  CoverSlots(root_.load(std::memory_order_relaxed), &tombstone.begin, &tombstone.end,
             tombstone.sequence);
}

SequenceNumber RangeTree::FindCovering(const Slice& user_key, SequenceNumber visible) const {
  SequenceNumber covering = 0;
  const Node* node = root_.load(std::memory_order_acquire);
  if (node == nullptr) return 0;
  for (;;) {
    const uint32_t slot = Rank(*node, user_key);
    const Cover* const cover = FindVisible(node->cover(slot), visible);
    if (cover != nullptr) covering = std::max(covering, cover->sequence);
    if (node->is_leaf) return covering;
    node = node->child(slot);
  }
}

CoverInterval RangeTree::FindCoverInterval(const Slice& user_key, SequenceNumber visible) const {
  CoverInterval interval;
  const Node* node = root_.load(std::memory_order_acquire);
  if (node == nullptr) return interval;
  for (;;) {
    const uint32_t slot = Rank(*node, user_key);
    if (node->key(slot) != nullptr) interval.begin = KeyOf(node->key(slot));
    if (slot + 1u < node->count) interval.end = KeyOf(node->key(slot + 1));
    const Cover* const cover = FindVisible(node->cover(slot), visible);
    if (cover != nullptr) interval.sequence = std::max(interval.sequence, cover->sequence);
    if (node->is_leaf) return interval;
    node = node->child(slot);
  }
}

// Traverses the leaves with the covers of the slots above. Any number of snapshots may be held, so
// a fragment is searched only for the readers that distinguish its sequences.
class RangeTree::Fragmenter {
 public:
  Fragmenter(const KeyComparator& comparator, std::span<const SequenceNumber> visible)
      : visible_(visible.rbegin(), visible.rend()), builder_(comparator) {}

  FragmentedRanges Run(const Node* root) {
    if (root != nullptr) Walk(*root, nullptr);
    return builder_.Finish();
  }

 private:
  void Walk(const Node& node, const char* upper) {
    for (uint32_t slot = 0; slot < node.count; ++slot) {
      const Cover* const cover = node.cover(slot);
      if (cover != nullptr) covers_.push_back(cover);
      const char* const end = slot + 1u == node.count ? upper : node.key(slot + 1);
      if (node.is_leaf) {
        AddFragment(node.key(slot), end);
      } else {
        Walk(*node.child(slot), end);
      }
      if (cover != nullptr) covers_.pop_back();
    }
  }

  // The largest sequence of covers_ that is visible; 0 if there is none.
  SequenceNumber CoveringSequence(SequenceNumber visible) const {
    SequenceNumber covering = 0;
    for (const Cover* const newest : covers_) {
      const Cover* const found = FindVisible(newest, visible);
      if (found != nullptr) covering = std::max(covering, found->sequence);
    }
    return covering;
  }

  void AddFragment(const char* begin, const char* end) {
    sequences_.clear();
    for (auto reader = visible_.begin(); reader != visible_.end();) {
      const SequenceNumber sequence = CoveringSequence(*reader);
      if (sequence == 0) break;  // older readers see none either
      sequences_.push_back(sequence);
      // All readers down to this sequence find the same one.
      reader = std::upper_bound(reader, visible_.end(), sequence, std::greater<>());
    }
    if (sequences_.empty()) return;
    ASHLAR_ASSERT(begin != nullptr && end != nullptr);  // nothing covers the edges of the key space
    builder_.Add(KeyOf(begin), KeyOf(end), sequences_);
  }

  const std::vector<SequenceNumber> visible_;  // descending
  std::vector<const Cover*> covers_;           // the newest cover of each slot, from the root down
  std::vector<SequenceNumber> sequences_;
  FragmentedRanges::Builder builder_;
};

FragmentedRanges RangeTree::Fragments(std::span<const SequenceNumber> visible) const {
  return Fragmenter(comparator_, visible).Run(root_.load(std::memory_order_acquire));
}

size_t RangeTree::CheckInvariants() const {
  summary_.CheckInvariants();
  const Node* const root = root_.load(std::memory_order_acquire);
  return root == nullptr ? 0 : CheckNode(*root, nullptr, levels_) - 1;
}

void RangeTree::CheckCovers(const Cover* newest) {
  for (const Cover* cover = newest; cover != nullptr; cover = cover->older)
    ASHLAR_ASSERT(cover->older == nullptr || cover->older->sequence < cover->sequence);  // I2
  uint32_t jumps = 0;
  for (const Cover* cover = newest; cover != nullptr; cover = cover->jump) ++jumps;
  const uint64_t covers = newest == nullptr ? 0 : newest->depth + 1;
  ASHLAR_ASSERT(jumps <= 2u * static_cast<uint32_t>(std::bit_width(covers)));  // Cover::jump
}

// Returns the number of slots in leaves.
size_t RangeTree::CheckNode(const Node& node, const char* upper, uint32_t levels) const {
  // All leaves have the same depth, and no node is empty.
  ASHLAR_ASSERT(node.is_leaf == (levels == 1) && node.count >= 1 && node.count <= kSlots);
  if (node.prefix_bytes > 0 && !node.checks_prefix) {
    const Slice begin = KeyOf(node.key(0));
    // The fences share the prefix.
    ASHLAR_ASSERT(KeyOf(upper).starts_with(Slice(begin.data(), node.prefix_bytes)));
  }
  size_t slots = node.is_leaf ? node.count : 0;
  for (uint32_t slot = 0; slot < node.count; ++slot) {
    const char* const end = slot + 1u == node.count ? upper : node.key(slot + 1);
    ASHLAR_ASSERT(node.key(slot) == nullptr || end == nullptr ||
                  comparator_.Compare(KeyOf(node.key(slot)), KeyOf(end)) < 0);  // I1
    const Cover* const cover = const_cast<Node&>(node).covers()[slot].load();
    ASHLAR_ASSERT(node.cover(slot) == cover);  // a bit for each slot with covers
    if (slot > 0)
      // Heads are those of the boundaries.
      ASHLAR_ASSERT(node.head(slot) == HeadOf(KeyOf(node.key(slot)), node.prefix_bytes));
    CheckCovers(cover);
    if (node.is_leaf) continue;
    ASHLAR_ASSERT(node.child(slot)->key(0) == node.key(slot));  // the child begins with its slot
    slots += CheckNode(*node.child(slot), end, levels - 1);
  }
  return slots;
}

}  // namespace ashlar
