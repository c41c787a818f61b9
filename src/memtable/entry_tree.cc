#include "memtable/entry_tree.h"

#include <algorithm>

#include "memtable/entry_tree_node.h"

namespace ashlar {

// < 0: the key sorts before all keys that begin with the prefix. 0: it is one of them. > 0: it
// sorts after them.
int EntryTree::CompareWithPrefix(const Slice& user_key, uint32_t prefix_bytes) const {
  if (prefix_bytes == 0) return 0;
  const Slice prefix(DecodeEntry(first_key_).key, prefix_bytes);
  if (user_key.starts_with(prefix)) [[likely]] {
    return 0;
  }
  // A key that does not begin with the prefix compares to the prefix as it does to all keys that
  // begin with it, even if the key is a proper prefix of the prefix.
  return comparator_.Compare(user_key, prefix);
}

// Returns the root with a state in which it was the root, or null for an empty tree.
const EntryTree::Node* EntryTree::LoadRoot(uint64_t* state) const {
  for (;;) {
    const Node* const root = root_.load(std::memory_order_acquire);
    if (root == nullptr) return nullptr;
    *state = root->state.load(std::memory_order_acquire);
    if (!StateDead(*state) && root_.load(std::memory_order_relaxed) == root) [[likely]] {
      return root;
    }
  }
}

// Steps down to a child. Returns false if the descent has to restart.
bool EntryTree::StepDown(const SlotOrder& order, uint32_t rank, Place* place) {
  const Node* const inner = place->node;
  const Node* const child = inner->ChildAt(order, rank).load(std::memory_order_acquire);
  // Check before the child is read, because a torn order may lead to a slot that was never filled.
  if (!inner->Unchanged(place->state)) [[unlikely]] {
    return false;
  }
  child->Prefetch();
  const uint64_t child_state = child->state.load(std::memory_order_acquire);
  if (StateDead(child_state) || !inner->Unchanged(place->state)) [[unlikely]] {
    return false;
  }
  *place = {.node = child, .state = child_state};
  return true;
}

// Loads the root into *place. Returns kInside if the key begins with the prefix of all keys.
EntryTree::Side EntryTree::EnterRoot(const Slice& user_key, Place* place) const {
  for (;;) {
    place->node = LoadRoot(&place->state);
    if (place->node == nullptr) return Side::kBefore;
    const uint32_t prefix_bytes = place->node->prefix_bytes.load(std::memory_order_relaxed);
    if (!place->node->Unchanged(place->state)) continue;
    const int side = CompareWithPrefix(user_key, prefix_bytes);
    return side == 0 ? Side::kInside : (side < 0 ? Side::kBefore : Side::kAfter);
  }
}

// Finds the leaf whose fences enclose the target. There is none if the result is not kInside.
EntryTree::Side EntryTree::FindLeaf(const Target& target, Place* place) const {
  for (;;) {
    const Side side = EnterRoot(target.user_key, place);
    if (side != Side::kInside) return side;
    for (;;) {
      if (place->node->is_leaf) return Side::kInside;
      const SlotOrder order = LoadOrder(*place);
      const uint32_t rank = Rank<true>(*place, target, order);
      if (rank == kTorn || !StepDown(order, rank, place)) [[unlikely]] {
        break;
      }
    }
  }
}

bool EntryTree::FindEdgeLeaf(Edge edge, Place* place) const {
  for (;;) {
    place->node = LoadRoot(&place->state);
    if (place->node == nullptr) return false;
    for (;;) {
      if (place->node->is_leaf) return true;
      if (!StepDown(LoadOrder(*place), edge == Edge::kFirst ? 0 : StateCount(place->state), place))
          [[unlikely]] {
        break;
      }
    }
  }
}

// Steps from a leaf to its neighbour, or to no node past the tree's edge. Returns false if the leaf
// or its neighbourhood changed.
bool EntryTree::StepAside(Edge direction, Place* place) {
  const Node* const leaf = place->node;
  const auto& link = direction == Edge::kLast ? leaf->next : leaf->prev;
  const Node* const neighbour = link.load(std::memory_order_acquire);
  const uint64_t state =
      neighbour == nullptr ? 0 : neighbour->state.load(std::memory_order_acquire);
  if (StateDead(state) || !leaf->Unchanged(place->state) ||
      link.load(std::memory_order_relaxed) != neighbour) [[unlikely]] {
    return false;
  }
  *place = {.node = neighbour, .state = state};
  return true;
}

void EntryTree::Get(Lookup* lookup, const PinSource& owner) const {
  const Target target{lookup->user_key(), lookup->seek_tag()};
  for (;;) {
    Place place;
    if (FindLeaf(target, &place) != Side::kInside) return;
    uint32_t rank = Rank<false>(place, target, LoadOrder(place));
    if (rank == kTorn) continue;
    if (rank == StateCount(place.state)) {
      // A leaf's first entry is its left fence. The search for a higher tag of the same key
      // therefore ends at the end of the previous leaf.
      if (!StepAside(Edge::kLast, &place)) continue;
      if (place.node == nullptr) return;
      rank = 0;
    }
    const char* const found = place.node->Entry(LoadOrder(place).Slot(rank));
    if (!place.node->Unchanged(place.state)) [[unlikely]] {
      continue;
    }
    const DecodedEntry entry = DecodeEntry(found);
    if (!comparator_.Equal(entry.user_key(), target.user_key)) return;
    const uint64_t tag = entry.tag();
    if (lookup->Offer(TagType(tag), TagSequence(tag), entry.value(), owner) && tag != 0)
      GetOlder({target.user_key, tag - 1}, lookup, owner);
    return;
  }
}

// Offers the versions at or after `from`. Separate from Get, which seldom needs a second version
// and then need not copy a leaf.
void EntryTree::GetOlder(const Target& from, Lookup* lookup, const PinSource& owner) const {
  Walk walk(this);
  for (walk.Seek(from.user_key, from.tag); walk.Valid(); walk.Next()) {
    const DecodedEntry entry = DecodeEntry(walk.entry());
    if (!comparator_.Equal(entry.user_key(), from.user_key)) return;
    const uint64_t tag = entry.tag();
    if (!lookup->Offer(TagType(tag), TagSequence(tag), entry.value(), owner)) return;
  }
}

// Assumes that all subtrees of a node have the same size.
double EntryTree::FractionBefore(const Slice& user_key) const {
  const Target target{user_key, SeekTag(kSequenceNumberMax)};
  for (;;) {
    Place place;
    const Side side = EnterRoot(user_key, &place);
    if (side != Side::kInside) return side == Side::kBefore ? 0.0 : 1.0;
    double before = 0;
    double width = 1;
    for (;;) {
      const SlotOrder order = LoadOrder(place);
      const bool is_leaf = place.node->is_leaf;
      const uint32_t rank =
          is_leaf ? Rank<false>(place, target, order) : Rank<true>(place, target, order);
      if (rank == kTorn) break;
      width /= StateCount(place.state) + (is_leaf ? 0 : 1);
      before += width * rank;
      if (is_leaf) {
        if (!place.node->Unchanged(place.state)) break;
        return before;
      }
      if (!StepDown(order, rank, &place)) break;
    }
  }
}

// --- Walk ---

// Copies a leaf. Returns false if it changed meanwhile and the copy must not be used.
bool EntryTree::Walk::Copy(const Place& place) {
  const SlotOrder order = LoadOrder(place);
  count_ = StateCount(place.state);
  for (uint32_t i = 0; i < count_; ++i) entries_[i] = place.node->Entry(order.Slot(i));
  if (!place.node->Unchanged(place.state)) [[unlikely]] {
    return false;
  }
  place_ = place;
  neighbour_ = nullptr;
  ahead_ = kAheadShort;
  return true;
}

// Prefetches the entries of the next leaf in the walk's direction. The values read from that leaf
// are used only for prefetches.
void EntryTree::Walk::PrefetchNeighbour() const {
  const Place place{.node = neighbour_, .state = neighbour_->state.load(std::memory_order_acquire)};
  const SlotOrder order = LoadOrder(place);
  const uint32_t count = StateCount(place.state);
  const uint32_t n = std::min(count, ahead_);
  const uint32_t first = neighbour_edge_ == Edge::kFirst ? 0 : count - n;
  for (uint32_t rank = first; rank < first + n; ++rank)
    PrefetchEntry(place.node->Entry(order.Slot(rank)));
}

void EntryTree::Walk::SeekToEdge(Edge edge) {
  Place place;
  do {
    if (!tree_->FindEdgeLeaf(edge, &place)) return SetInvalid();
  } while (!Copy(place));
  position_ = edge == Edge::kFirst ? 0 : count_ - 1;
}

// Moves to the first entry of the target's leaf that is not before the target, or past the leaf's
// last entry. The result is not kInside if the target is outside the tree.
EntryTree::Side EntryTree::Walk::SeekInLeaf(const Target& target) {
  for (;;) {
    Place place;
    const Side side = tree_->FindLeaf(target, &place);
    if (side != Side::kInside) return side;
    const SlotOrder order = LoadOrder(place);
    position_ = tree_->Rank<false>(place, target, order);
    if (position_ != kTorn && Copy(place)) [[likely]] {
      return side;
    }
  }
}

// A concurrent insert next to the target must not make a seek stop before the target. So the seek
// restarts if the neighbourhood changed.
void EntryTree::Walk::Seek(const Slice& user_key, uint64_t tag) {
  const Target target{user_key, tag};
  for (;;) {
    const Side side = SeekInLeaf(target);
    if (side == Side::kAfter) return SetInvalid();
    if (side == Side::kBefore) {
      SeekToFirst();
      if (!Valid() || tree_->CompareEntry(entry(), target) >= 0) return;
    } else if (position_ < count_ || CopyNeighbour(Edge::kLast)) {
      return;
    }
  }
}

void EntryTree::Walk::SeekForPrev(const Slice& user_key, uint64_t tag) {
  const Target target{user_key, tag};
  for (;;) {
    const Side side = SeekInLeaf(target);
    if (side == Side::kBefore) return SetInvalid();
    if (side == Side::kAfter) {
      SeekToLast();
      if (!Valid() || tree_->CompareEntry(entry(), target) <= 0) return;
    } else if (position_ < count_ && tree_->CompareEntry(entries_[position_], target) == 0) {
      return;
    } else if (position_ > 0) {
      --position_;
      return;
    } else if (CopyNeighbour(Edge::kFirst)) {
      return;
    }
  }
}

// Moves to the near end of the next leaf, or makes the walk invalid at the edge of the tree.
// Returns false if the neighbourhood changed since the copy was made. The walk must then find its
// position again.
bool EntryTree::Walk::CopyNeighbour(Edge direction) {
  Place place = place_;
  if (!StepAside(direction, &place)) return false;
  if (place.node == nullptr) {
    SetInvalid();
    return true;
  }
  if (!Copy(place)) return false;
  const bool forward = direction == Edge::kLast;
  position_ = forward ? 0 : count_ - 1;
  neighbour_ = (forward ? place_.node->next : place_.node->prev).load(std::memory_order_acquire);
  neighbour_edge_ = forward ? Edge::kFirst : Edge::kLast;
  ahead_ = kAheadLong;
  if (neighbour_ != nullptr) neighbour_->PrefetchLeaf();
  return true;
}

void EntryTree::Walk::NoteEntryBytes(const DecodedEntry& entry) {
  const size_t bytes = entry.key_bytes + entry.value().size();
  entry_lines_ =
      static_cast<uint32_t>(std::min<size_t>(bytes / kCacheLineBytes + 2, kEntryLinesMax));
}

void EntryTree::Walk::NextLeaf() {
  const DecodedEntry last = DecodeEntry(entries_[count_ - 1]);
  NoteEntryBytes(last);
  while (!CopyNeighbour(Edge::kLast)) {
    static_cast<void>(SeekInLeaf({last.user_key(), last.tag()}));
    if (++position_ < count_) return;
  }
}

void EntryTree::Walk::PrevLeaf() {
  const DecodedEntry first = DecodeEntry(entries_[0]);
  NoteEntryBytes(first);
  while (!CopyNeighbour(Edge::kFirst)) {
    static_cast<void>(SeekInLeaf({first.user_key(), first.tag()}));
    if (position_-- > 0) return;
  }
}

}  // namespace ashlar
