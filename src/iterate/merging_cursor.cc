#include "iterate/merging_cursor.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "iterate/empty_cursor.h"

namespace ashlar {

std::unique_ptr<InternalCursor> NewMergingCursor(const KeyComparator& comparator, std::vector<std::unique_ptr<InternalCursor>> children) {
  if (children.empty()) return std::make_unique<EmptyCursor>(Status::OK());
  if (children.size() == 1) return std::move(children.front());
  return std::make_unique<MergingCursor>(comparator, std::move(children));
}

MergingCursor::MergingCursor(const KeyComparator& comparator, std::vector<std::unique_ptr<InternalCursor>> children)
    : comparator_(comparator), children_(std::move(children)), losers_(children_.size()) {
  ASHLAR_ASSERT(!children_.empty());
}

// Whether a is shown before b.
template <bool kForward>
bool MergingCursor::Wins(const Player& a, const Player& b) const {
  if (!a.valid || !b.valid) return a.valid;
  if (a.head != b.head) return kForward ? a.head < b.head : a.head > b.head;
  int r = comparator_.CompareInternal(children_[a.child]->key(), children_[b.child]->key());
  if (r == 0) r = a.child < b.child ? -1 : 1;
  return kForward ? r < 0 : r > 0;
}

// The child's current entry as a player. A child that stopped with an error ends the merge.
MergingCursor::Player MergingCursor::Enter(size_t child) {
  const InternalCursor& cursor = *children_[child];
  Player player{.head = 0, .child = static_cast<uint32_t>(child), .valid = cursor.Valid()};
  if (player.valid) {
    player.head = comparator_.Head(ExtractUserKey(cursor.key()), 0);
  } else if (status_.ok()) {
    status_ = cursor.status();
  }
  return player;
}

// Plays the matches below a position of the tree and returns the winner.
template <bool kForward>
MergingCursor::Player MergingCursor::Play(size_t position) {
  const size_t n = children_.size();
  if (position >= n) return Enter(position - n);
  const Player left = Play<kForward>(2 * position);
  const Player right = Play<kForward>(2 * position + 1);
  const bool left_wins = Wins<kForward>(left, right);
  losers_[position] = left_wins ? right : left;
  return left_wins ? left : right;
}

// After the winner has moved.
template <bool kForward>
void MergingCursor::Replay() {
  Player player = Enter(winner_.child);
  for (size_t position = (children_.size() + player.child) / 2; position > 0; position /= 2) {
    if (Wins<kForward>(losers_[position], player)) std::swap(losers_[position], player);
  }
  winner_ = player;
}

void MergingCursor::ShowWinner() {
  if (!winner_.valid || !status_.ok()) return Hide();
  ShowOne(children_[winner_.child]->key(), children_[winner_.child]->value());
}

// Merges the next stretch, from behind the winner on. Only the first step may take a child out of its stretch, and so to an end or an error: what was
// shown before is over then, and nothing else is shown yet.
template <bool kForward>
void MergingCursor::Merge() {
  stretch_ = std::clamp(2 * stretch_, kStretchMin, kStretchMax);
  size_t n = 0;
  for (bool more = true; more && n < stretch_; ++n) {
    InternalCursor* child = children_[winner_.child].get();
    kForward ? child->Next() : child->Prev();
    Replay<kForward>();
    if (!winner_.valid || !status_.ok()) [[unlikely]] {
      return Hide();
    }
    const size_t place = kForward ? n : kStretchMax - 1 - n;
    child = children_[winner_.child].get();
    merged_[place] = child->entry();
    merged_from_[place] = {.entry = &child->entry(), .child = winner_.child};
    more = (kForward ? child->after() : child->before()) != nullptr;
  }
  const CursorEntry* const begin = merged_.data();
  const CursorEntry* const end = begin + kStretchMax;
  kForward ? ShowStretch(begin, begin, begin + n) : ShowStretch(end - n, end - 1, end);
}

MergingCursor::Origin MergingCursor::OriginOf(const CursorEntry& entry) const {
  if (stretch_ == 1) return {.entry = &children_[winner_.child]->entry(), .child = winner_.child};
  return merged_from_[static_cast<size_t>(&entry - merged_.data())];
}

PinSource MergingCursor::OwnerOf(const CursorEntry& entry) const {
  const Origin origin = OriginOf(entry);
  return children_[origin.child]->OwnerOf(*origin.entry);
}

// All children have been sought.
void MergingCursor::Start(bool forward) {
  forward_ = forward;
  stretch_ = 1;
  status_ = Status::OK();
  winner_ = forward ? Play<true>(1) : Play<false>(1);
  ShowWinner();
}

void MergingCursor::SeekToFirst() {
  for (const auto& child : children_) child->SeekToFirst();
  Start(true);
}

void MergingCursor::SeekToLast() {
  for (const auto& child : children_) child->SeekToLast();
  Start(false);
}

void MergingCursor::Seek(const Slice& internal_target) {
  for (const auto& child : children_) child->Seek(internal_target);
  Start(true);
}

void MergingCursor::SeekForPrev(const Slice& internal_target) {
  for (const auto& child : children_) child->SeekForPrev(internal_target);
  Start(false);
}

// The current entry is at the end of the stretch that the merge came from; each child steps over it, and over what was merged since. A memtable may
// have got new entries there meanwhile, hence the loops.
template <bool kForward>
void MergingCursor::Turn() {
  turn_key_.assign(key().data(), key().size());
  const uint32_t current = OriginOf(entry()).child;
  for (uint32_t i = 0; i < children_.size(); ++i) {
    InternalCursor& child = *children_[i];
    if (!child.Valid()) kForward ? child.SeekToFirst() : child.SeekToLast();
    for (; child.Valid(); kForward ? child.Next() : child.Prev()) {
      int r = comparator_.CompareInternal(child.key(), turn_key_);
      if (r == 0) r = i < current ? -1 : (i > current ? 1 : 0);
      if (kForward ? r > 0 : r < 0) break;
    }
  }
  Start(kForward);
}

void MergingCursor::MoveNext() {
  if (forward_) [[likely]] {
    Merge<true>();
  } else {
    Turn<true>();
  }
}

void MergingCursor::MovePrev() {
  if (!forward_) [[likely]] {
    Merge<false>();
  } else {
    Turn<false>();
  }
}

}  // namespace ashlar
