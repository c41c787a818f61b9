#include "iterate/merging_cursor.h"

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
  Show();
}

void MergingCursor::Show() {
  valid_ = winner_.valid && status_.ok();
  if (valid_) [[likely]] {
    key_ = children_[winner_.child]->key();
    value_ = children_[winner_.child]->value();
  }
}

// All children have been sought.
void MergingCursor::Start(bool forward) {
  forward_ = forward;
  status_ = Status::OK();
  winner_ = forward ? Play<true>(1) : Play<false>(1);
  Show();
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

// The other children stand behind the current key; each steps back over it. A memtable may have got new entries there meanwhile, hence the loops.
void MergingCursor::TurnBackward() {
  for (const auto& child : children_) {
    if (child.get() == children_[winner_.child].get()) continue;
    child->Valid() ? child->Prev() : child->SeekToLast();
    while (child->Valid() && comparator_.CompareInternal(child->key(), key_) > 0) child->Prev();
  }
}

void MergingCursor::TurnForward() {
  for (const auto& child : children_) {
    if (child.get() == children_[winner_.child].get()) continue;
    child->Valid() ? child->Next() : child->SeekToFirst();
    while (child->Valid() && comparator_.CompareInternal(child->key(), key_) < 0) child->Next();
  }
}

void MergingCursor::Next() {
  if (forward_) [[likely]] {
    children_[winner_.child]->Next();
    return Replay<true>();
  }
  TurnForward();
  children_[winner_.child]->Next();
  Start(true);
}

void MergingCursor::Prev() {
  if (!forward_) [[likely]] {
    children_[winner_.child]->Prev();
    return Replay<false>();
  }
  TurnBackward();
  children_[winner_.child]->Prev();
  Start(false);
}

}  // namespace ashlar
