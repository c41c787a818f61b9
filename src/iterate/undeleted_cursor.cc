#include "iterate/undeleted_cursor.h"

#include <utility>

#include "base/assert.h"
#include "base/result.h"
#include "iterate/gap_walk.h"
#include "iterate/order_error.h"

namespace ashlar {

UndeletedCursor::UndeletedCursor(Args args) : args_(std::move(args)) {
  ASHLAR_ASSERT(!args_.children.empty());  // Requires
  if (args_.children.size() > 1 || *args_.met_ranges)
    merge_ = std::make_unique<MergingCursor>(args_.comparator, std::move(args_.children));
}

// Requires: the cover contains the entry's key.
bool UndeletedCursor::IsShown(const CursorEntry& entry) const {
  return TagSequence(ExtractTag(entry.key)) >= args_.cover.sequence();
}

// Shows the result of a move of the sources.
template <bool kForward>
void UndeletedCursor::Show() {
  status_ = Status::OK();
  if (!*args_.met_ranges) [[likely]] {
    return StandAs(this, sources());
  }
  if (merge_ == nullptr) StartMerge<kForward>();
  FindVisible<kForward>();
}

// Replaces the only child by a merge of it that is at the same entry. Keeps the child's status,
// because a merge lacks the error of a child that it has not moved.
template <bool kForward>
void UndeletedCursor::StartMerge() {
  ASHLAR_DCHECK(merge_ == nullptr && args_.children.size() == 1);  // the child that it replaces
  const bool valid = sources().Valid();
  status_ = sources().status();
  if (valid) target_.Assign(sources().key());
  merge_ = std::make_unique<MergingCursor>(args_.comparator, std::move(args_.children));
  if (!valid) return;
  const Slice target = target_.key();
  if (args_.seek_prefix != nullptr) args_.seek_prefix->Begin(ExtractUserKey(target), kForward);
  kForward ? merge_->Seek(target) : merge_->SeekForPrev(target);
}

// Moves from the merge's entry to the first entry that is shown.
template <bool kForward>
void UndeletedCursor::FindVisible() {
  ASHLAR_ASSERT(limits_ != nullptr);  // Requires of SetLimits
  RangeCover& cover = args_.cover;
  is_stopped_ = false;
  covered_ = 0;
  gap_check_ = GapWalk::kFirstCheck;
  while (merge_->Valid()) {
    const Slice user_key = ExtractUserKey(merge_->key());
    if (IsOutside<kForward>(user_key)) break;
    if (limits_->OutsidePrefix(user_key)) {
      // The sources do not end here, so it is known that no key up to this entry is visible.
      if (covered_ != 0) EndWalk<kForward>(&user_key);
      return Hide();
    }
    if (!cover.Contains(user_key)) {
      status_ = cover.Find(user_key);
      if (!status_.ok()) return Hide();
    }
    if (IsShown(merge_->entry())) {
      if (covered_ != 0) EndWalk<kForward>(&user_key);
      return ShowRun<kForward>();
    }
    status_ = LeaveCovered<kForward>();
    if (!status_.ok()) return Hide();
  }
  if (covered_ != 0) EndWalk<kForward>(nullptr);
  Hide();
}

template <bool kForward>
bool UndeletedCursor::IsOutside(const Slice& user_key) const {
  if constexpr (kForward) {
    return args_.upper_bound != nullptr &&
           args_.comparator.Compare(user_key, *args_.upper_bound) >= 0;
  } else {
    return args_.lower_bound != nullptr &&
           args_.comparator.Compare(user_key, *args_.lower_bound) < 0;
  }
}

// Counts a covered entry, or the end of a fragment. Returns true if gap_ is the known gap around
// the key and the limits are not reached.
bool UndeletedCursor::CountCovered(const Slice& user_key) {
  ++covered_;
  if (!limits_->Count()) {
    stopped_at_.Assign(user_key);
    is_stopped_ = true;
    return false;
  }
  if (args_.gaps == nullptr) return false;
  if (covered_ == 1) first_covered_.Assign(user_key);
  if (covered_ < gap_check_) return false;
  const bool found = args_.gaps->FindGap(user_key, args_.cover.visible(), &gap_);
  gap_check_ = covered_ + (found ? 1 : GapWalk::kCheckInterval);
  return found;
}

// end: the user key at which the walk ends, or null if it ends at a bound.
template <bool kForward>
void UndeletedCursor::EndWalk(const Slice* end) {
  if (args_.gaps != nullptr && covered_ >= GapWalk::kRememberedMin && merge_->status().ok())
    RememberGap<kForward>(end);
}

// G1: every entry left between the first key of the walk and its end is covered or in a known gap.
// If the sources end at a bound, nothing beyond the bound is known.
template <bool kForward>
ASHLAR_NO_INLINE void UndeletedCursor::RememberGap(const Slice* end) const {
  KeyEdge first{.key = first_covered_.key().ToString(), .after = kForward};
  KeyEdge last = reached_;
  if (end != nullptr) {
    last = {.key = end->ToString(), .after = !kForward};
  } else if (IsOutside<kForward>(last.key)) {
    last = {.key = (kForward ? args_.upper_bound : args_.lower_bound)->ToString(), .after = false};
  }
  if constexpr (!kForward) std::swap(first, last);
  args_.gaps->RememberGap(
      {.begin = std::move(first), .end = std::move(last), .since = args_.cover.visible()});
}

// Shows the merge's entry, and the next ones of its batch to which the same cover applies.
template <bool kForward>
void UndeletedCursor::ShowRun() {
  ASHLAR_DCHECK(IsShown(merge_->entry()));  // I1
  const CursorEntry* const at = &merge_->entry();
  const CursorEntry* begin = at;
  const CursorEntry* end = at + 1;
  const auto joins = [this](const CursorEntry& entry) {
    return args_.cover.Contains(ExtractUserKey(entry.key)) && IsShown(entry);
  };
  if constexpr (kForward) {
    while (end != merge_->batch_end() && joins(*end)) ++end;
  } else {
    while (begin != merge_->batch_begin() && joins(*(begin - 1))) --begin;
  }
  ShowBatch(begin, at, end);
}

// Moves past the merge's entry, which is deleted.
template <bool kForward>
Status UndeletedCursor::LeaveCovered() {
  const Slice user_key = ExtractUserKey(merge_->key());
  if (CountCovered(user_key)) return LeaveGap<kForward>(0);
  if (limits_->AreReached()) return MoveLimits::Error();
  if (merge_->child() > args_.cover.source()) {
    Slice bound;
    if constexpr (kForward) {
      bool is_in_gap = false;
      ASHLAR_ASSIGN_OR_RETURN(bound, args_.cover.CoveredEnd([&](const Slice& end) {
        if (IsOutside<true>(end) || limits_->OutsidePrefix(end)) return true;
        is_in_gap = CountCovered(end);
        return is_in_gap || limits_->AreReached();
      }));
      if (limits_->AreReached()) return MoveLimits::Error();
      if (is_in_gap) return LeaveGap<true>(args_.cover.source() + 1);
    } else {
      bound = args_.cover.CoveredBegin();
    }
    // The tag before all versions of the bound. Forward it leads to the first entry after the
    // covered keys, backward to the place before them.
    target_.AssignInternal(bound, SeekTag(kSequenceNumberMax));
    const Slice target = target_.key();
    const int r = merge_->Compare(merge_->key(), target);
    if (kForward ? r < 0 : r > 0) {
      if (args_.seek_prefix != nullptr) args_.seek_prefix->Begin(ExtractUserKey(target), kForward);
      if (args_.gaps != nullptr) Reach(bound, false);
      return SeekSources<kForward>(args_.cover.source() + 1);
    }
  }
  if (args_.gaps != nullptr) Reach(user_key, !kForward);
  kForward ? merge_->Next() : merge_->Prev();
  return Status::OK();
}

// Moves the children from first_child on over gap_. Requires: between the merge's entry and the
// gap, these children have only covered entries. So a seek from the end of a fragment moves only
// older sources, because the others may have entries before that end.
template <bool kForward>
Status UndeletedCursor::LeaveGap(size_t first_child) {
  const KeyEdge& edge = kForward ? gap_.end : gap_.begin;
  Reach(edge.key, edge.after);
  target_.AssignInternal(edge.key, edge.after ? 0 : SeekTag(kSequenceNumberMax));
  // A deletion with sequence 0 has the last of all tags, so a seek would stay there.
  if (merge_->Compare(merge_->key(), target_.key()) == 0) {
    kForward ? merge_->Next() : merge_->Prev();
    return Status::OK();
  }
  return SeekSources<kForward>(first_child);
}

// Seeks target_ with the children from first_child on.
template <bool kForward>
Status UndeletedCursor::SeekSources(size_t first_child) {
  const size_t child = merge_->child();
  if (left_.known && left_.forward == kForward) {
    const int r = merge_->Compare(left_.key.key(), merge_->key());
    // Among equal keys, a merge shows the newer source's first, or last when moving backward.
    const bool goes_on =
        r != 0 ? (r < 0) == kForward : child != left_.child && (child > left_.child) == kForward;
    if (!goes_on) return OrderError();  // I3
  }
  left_.key.Assign(merge_->key());
  left_.child = child;
  left_.forward = kForward;
  left_.known = true;
  merge_->SeekOlder(first_child, target_.key());
  return Status::OK();
}

void UndeletedCursor::SeekToFirst() {
  left_.known = false;
  sources().SeekToFirst();
  Show<true>();
}

void UndeletedCursor::SeekToLast() {
  left_.known = false;
  sources().SeekToLast();
  Show<false>();
}

void UndeletedCursor::Seek(const Slice& internal_target) {
  left_.known = false;
  sources().Seek(internal_target);
  Show<true>();
}

void UndeletedCursor::SeekForPrev(const Slice& internal_target) {
  left_.known = false;
  sources().SeekForPrev(internal_target);
  Show<false>();
}

// The sources return to the end of the shown batch and continue from there.
void UndeletedCursor::MoveNext() {
  left_.known &= left_.forward;  // otherwise the entry may be met again
  StandAt(&sources(), batch_end() - 1);
  sources().Next();
  Show<true>();
}

void UndeletedCursor::MovePrev() {
  left_.known &= !left_.forward;
  StandAt(&sources(), batch_begin());
  sources().Prev();
  Show<false>();
}

}  // namespace ashlar
