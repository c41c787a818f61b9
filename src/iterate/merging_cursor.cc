#include "iterate/merging_cursor.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/assert.h"
#include "iterate/empty_cursor.h"
#include "key/key_head.h"

namespace ashlar {

std::unique_ptr<InternalCursor> NewMergingCursor(
    const KeyComparator& comparator, std::vector<std::unique_ptr<InternalCursor>> children) {
  if (children.empty()) return std::make_unique<EmptyCursor>(Status::OK());
  if (children.size() == 1) return std::move(children.front());
  return std::make_unique<MergingCursor>(comparator, std::move(children));
}

MergingCursor::MergingCursor(const KeyComparator& comparator,
                             std::vector<std::unique_ptr<InternalCursor>>&& children)
    : comparator_(comparator),
      sources_(std::bit_ceil(children.size())),
      tree_(children.size()),
      children_(std::move(children)),
      heads_{.mask = comparator.HasHeads() ? ~uint64_t{0} : 0} {
  ASHLAR_ASSERT(!children_.empty());  // Requires
}

// --- heads ---

bool MergingCursor::HasPrefix(const Source& source) const {
  const auto begins_with_it = [&](const CursorEntry& entry) {
    return ExtractUserKey(entry.key).starts_with(prefix_);
  };
  return heads_.skip_bytes == 0 || (begins_with_it(*source.at) && begins_with_it(*source.last));
}

// Finds the prefix that all keys share, and computes the heads after it.
void MergingCursor::TakeHeads() {
  Slice common;
  bool first = true;
  for (const Source& source : sources_) {
    if (source.at == nullptr) continue;
    // The keys between these two have their common prefix, too.
    for (const CursorEntry* entry : {source.at, source.last}) {
      const Slice key = ComparedPart(ExtractUserKey(entry->key));
      common = first ? key : Slice(common.data(), CommonPrefixBytes(common, key));
      first = false;
    }
  }
  prefix_.assign(common.data(), common.size());
  heads_.skip_bytes = common.size();
  ties_ = 0;
  ties_allowed_ = std::min(2 * ties_allowed_, kTiesMax);
  winner_ = Play();
}

// --- matches ---

// Returns true if child a's entry is shown before child b's. Requires: their heads are equal.
// Counts a tie if their user keys differ.
bool MergingCursor::WinsTie(uint32_t a, uint32_t b, uint32_t* ties) const {
  const CursorEntry* const entry_a = sources_[a].at;
  const CursorEntry* const entry_b = sources_[b].at;
  if (entry_a == nullptr || entry_b == nullptr) return entry_a != nullptr;
  int r = comparator_.Compare(ExtractUserKey(entry_a->key), ExtractUserKey(entry_b->key));
  if (r != 0) {
    ++*ties;
  } else {
    r = CompareTags(ExtractTag(entry_a->key), ExtractTag(entry_b->key));
    if (r == 0) r = a < b ? -1 : 1;
  }
  return forward_ ? r < 0 : r > 0;
}

MergingCursor::Player MergingCursor::Enter(uint32_t child) {
  Source& source = sources_[child];
  if (source.at == nullptr) return {.head = LoserTree::kHeadMax, .child = child};
  if (source.at != source.last) source.next_head = heads_.Of(source.at[forward_ ? 1 : -1]);
  return {.head = heads_.Of(*source.at), .child = child};
}

MergingCursor::Player MergingCursor::Play() {
  return tree_.Play([this](uint32_t leaf) { return Enter(leaf); },
                    [this](uint32_t a, uint32_t b) { return WinsTie(a, b, &ties_); });
}

inline MergingCursor::Player MergingCursor::Replay(Player player) {
  return tree_.Replay(player, [this](uint32_t a, uint32_t b) { return WinsTie(a, b, &ties_); });
}

void MergingCursor::CheckInvariants() const {
  uint32_t ties = 0;
  tree_.CheckInvariants(winner_,
                        [&](uint32_t a, uint32_t b) { return WinsTie(a, b, &ties); });  // I1
  if (Valid()) {
    ASHLAR_ASSERT(status_.ok());  // I2
    const CursorEntry& merged_last = forward_ ? *(batch_end() - 1) : *batch_begin();
    ASHLAR_ASSERT(OriginOf(merged_last).entry == sources_[winner_.child].at);  // I1
  }
  for (size_t child = 0; child < children_.size(); ++child) {
    const Source& source = sources_[child];
    if (source.at == nullptr) continue;
    const InternalCursor& cursor = *children_[child];
    ASHLAR_ASSERT(cursor.batch_begin() <= source.at && source.at < cursor.batch_end());  // I3
    ASHLAR_ASSERT(HasPrefix(source));                                                    // I4
  }
}

// --- moves ---

// Records the child's position. A child that stopped with an error ends the merge.
void MergingCursor::Load(uint32_t child) {
  const InternalCursor& cursor = *children_[child];
  Source& source = sources_[child];
  if (!cursor.Valid()) {
    source.at = source.last = nullptr;
    if (status_.ok()) status_ = cursor.status();
    return;
  }
  source.at = &cursor.entry();
  source.last = forward_ ? cursor.batch_end() - 1 : cursor.batch_begin();
}

// Steps from one entry of a child's batch to the next.
template <bool kForward>
inline MergingCursor::Player MergingCursor::Step(uint32_t child, const HeadForm& heads) {
  constexpr ptrdiff_t kStep = kForward ? 1 : -1;
  Source& source = sources_[child];
  ASHLAR_DCHECK(source.at != source.last);  // I3
  source.at += kStep;
  const Player player{.head = source.next_head, .child = child};
  source.next_head = heads.Of(source.at[source.at == source.last ? 0 : kStep]);
  return player;
}

// Moves the winner's child past its batch.
template <bool kForward>
void MergingCursor::LeaveBatch() {
  const uint32_t child = winner_.child;
  const Source& source = sources_[child];
  InternalCursor* const cursor = children_[child].get();
  ASHLAR_DCHECK(source.at == source.last);  // I3: the batch is over
  StandAt(cursor, source.at);
  kForward ? cursor->Next() : cursor->Prev();
  Load(child);
  const bool fits = source.at == nullptr || HasPrefix(source);
  if (fits && (ties_ < ties_allowed_ || heads_.mask == 0)) [[likely]] {
    winner_ = Replay(Enter(child));
  } else {
    TakeHeads();
  }
}

// Returns the last of the winner's entries that precede those of all other children in the
// direction of travel. Returns null if these are fewer than kRunMin and not the rest of the batch.
template <bool kForward>
inline const CursorEntry* MergingCursor::RunEnd(const Source& source) const {
  constexpr ptrdiff_t kStep = kForward ? 1 : -1;
  const uint64_t rival = tree_.RivalHead(winner_.child);
  // Entries with equal heads may belong to several children. They are merged.
  const auto is_before = [&](ptrdiff_t n) { return heads_.Of(source.at[n * kStep]) < rival; };
  ptrdiff_t in_run = kRunMin - 1;
  ptrdiff_t end = (source.last - source.at) * kStep;
  if (is_before(end)) return source.last;
  if (end <= in_run || !is_before(in_run)) return nullptr;
  while (end - in_run > 1) {
    const ptrdiff_t middle = in_run + (end - in_run) / 2;
    (is_before(middle) ? in_run : end) = middle;
  }
  return source.at + in_run * kStep;
}

// Shows the winner's entries up to `end`, inclusive, and moves the winner there.
template <bool kForward>
inline void MergingCursor::ShowRun(const CursorEntry* end) {
  Source& source = sources_[winner_.child];
  const CursorEntry* const begin = source.at;
  is_copy_ = false;
  source.at = end;
  winner_.head = heads_.Of(*end);
  if (end != source.last) source.next_head = heads_.Of(end[kForward ? 1 : -1]);
  kForward ? ShowBatch(begin, begin, end + 1) : ShowBatch(end, begin, begin + 1);
}

// Merges the next batch, after the winner. Only the first step may move a child out of its batch,
// to an end or an error. At that time the previous batch is over, and the next one is still empty.
template <bool kForward>
void MergingCursor::Merge() {
  if (const Source& source = sources_[winner_.child]; source.at == source.last) {
    LeaveBatch<kForward>();
    if (sources_[winner_.child].at == nullptr || !status_.ok()) return Hide();
  } else {
    winner_ = Replay(Step<kForward>(winner_.child, heads_));
  }
  if (const CursorEntry* const end = RunEnd<kForward>(sources_[winner_.child])) {
    return ShowRun<kForward>(end);
  }
  is_copy_ = true;
  batch_ = std::clamp(2 * batch_, kBatchMin, kBatchMax);
  const HeadForm heads = heads_;
  Player winner = winner_;
  size_t n = 0;
  for (;;) {
    const Source& source = sources_[winner.child];
    const size_t place = kForward ? n : kBatchMax - 1 - n;
    merged_[place] = *source.at;
    merged_from_[place] = {.entry = source.at, .child = winner.child};
    ++n;
    if (n == batch_ || source.at == source.last) break;
    winner = Replay(Step<kForward>(winner.child, heads));
  }
  winner_ = winner;
  const CursorEntry* const begin = merged_.data();
  const CursorEntry* const end = begin + kBatchMax;
  kForward ? ShowBatch(begin, begin, begin + n) : ShowBatch(end - n, end - 1, end);
}

MergingCursor::Origin MergingCursor::OriginOf(const CursorEntry& entry) const {
  if (!is_copy_) return {.entry = &entry, .child = winner_.child};
  // The batch is in merged_.
  ASHLAR_DCHECK(static_cast<size_t>(&entry - merged_.data()) < kBatchMax);
  return merged_from_[static_cast<size_t>(&entry - merged_.data())];
}

PinSource MergingCursor::OwnerOf(const CursorEntry& entry) const {
  const Origin origin = OriginOf(entry);
  return children_[origin.child]->OwnerOf(*origin.entry);
}

// Starts the merge. Requires: all children have been positioned.
void MergingCursor::Start(bool forward) {
  forward_ = forward;
  const bool ascends = forward == (comparator_.kind() != KeyComparator::Kind::kReverseBytewise);
  heads_.flip = ascends ? 0 : ~uint64_t{0};
  heads_.skip_bytes = 0;
  status_ = Status::OK();
  ties_ = 0;
  ties_allowed_ = kTiesMin;
  batch_ = 1;
  for (uint32_t child = 0; child < children_.size(); ++child) Load(child);
  winner_ = Play();
  const Source& source = sources_[winner_.child];
  if (source.at == nullptr || !status_.ok()) return Hide();
  is_copy_ = true;
  merged_[0] = *source.at;
  merged_from_[0] = {.entry = source.at, .child = winner_.child};
  ShowBatch(merged_.data(), merged_.data(), merged_.data() + 1);
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
  for (Source& source : sources_) source.seeking = true;
  bool more = true;
  for (SeekStage stage = SeekStage::kGroup; more; stage = NextStage(stage)) {
    more = false;
    for (size_t i = 0; i < children_.size(); ++i) {
      bool& seeking = sources_[i].seeking;
      if (seeking) seeking = children_[i]->StagedSeek(internal_target, stage);
      more |= seeking;
    }
  }
  Start(true);
}

void MergingCursor::SeekForPrev(const Slice& internal_target) {
  for (const auto& child : children_) child->SeekForPrev(internal_target);
  Start(false);
}

void MergingCursor::SeekOlder(size_t first_child, const Slice& internal_target) {
  ASHLAR_ASSERT(Valid());  // Requires
  // Undoes the rest of the batch: each child returns to the first of its entries there.
  const CursorEntry* const current = &entry();
  for (const CursorEntry* merged = forward_ ? batch_end() - 1 : batch_begin();;
       forward_ ? --merged : ++merged) {
    const Origin origin = OriginOf(*merged);
    sources_[origin.child].at = origin.entry;
    if (merged == current) break;
  }
  for (size_t i = 0; i < children_.size(); ++i) {
    InternalCursor& child = *children_[i];
    if (sources_[i].at == nullptr) continue;  // at its end
    StandAt(&child, sources_[i].at);
    if (i < first_child) continue;
    const int r = comparator_.CompareInternal(child.key(), internal_target);
    if (forward_ && r < 0) child.Seek(internal_target);
    if (!forward_ && r > 0) child.SeekForPrev(internal_target);
  }
  Start(forward_);
}

// Requires: the current entry is the first of the batch in the old direction of travel. Each child
// steps over this entry and over the entries merged since. The steps are loops, because memtables
// may have new entries there.
template <bool kForward>
void MergingCursor::Turn() {
  turn_key_.assign(key().data(), key().size());
  const uint32_t current = OriginOf(entry()).child;
  for (uint32_t i = 0; i < children_.size(); ++i) {
    InternalCursor& child = *children_[i];
    if (sources_[i].at != nullptr) {
      StandAt(&child, sources_[i].at);
    } else {
      kForward ? child.SeekToFirst() : child.SeekToLast();
    }
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
