#include "iterate/undeleted_cursor.h"

#include <utility>

#include "base/assert.h"
#include "base/result.h"

namespace ashlar {

UndeletedCursor::UndeletedCursor(Args args) : args_(std::move(args)) {
  ASHLAR_ASSERT(!args_.children.empty());
  if (args_.children.size() > 1 || *args_.met_ranges)
    merge_ = std::make_unique<MergingCursor>(args_.comparator, std::move(args_.children));
}

// Requires: the cover contains the entry's key.
bool UndeletedCursor::IsShown(const CursorEntry& entry) const {
  return TagSequence(ExtractTag(entry.key)) >= args_.cover.sequence();
}

// After a move of the sources.
template <bool kForward>
void UndeletedCursor::Show() {
  status_ = Status::OK();
  if (!*args_.met_ranges) [[likely]] {
    return StandAs(this, sources());
  }
  if (merge_ == nullptr) StartMerge<kForward>();
  Settle<kForward>();
}

// Replaces the only child by a merge of it at the same entry. The merge does not know the error of
// a child that it has not moved.
template <bool kForward>
void UndeletedCursor::StartMerge() {
  const bool valid = sources().Valid();
  status_ = sources().status();
  if (valid) target_.Assign(sources().key());
  merge_ = std::make_unique<MergingCursor>(args_.comparator, std::move(args_.children));
  if (!valid) return;
  const Slice target = target_.key();
  if (args_.seek_prefix != nullptr) args_.seek_prefix->Begin(ExtractUserKey(target), kForward);
  kForward ? merge_->Seek(target) : merge_->SeekForPrev(target);
}

// From the merge's entry to the first that is shown.
template <bool kForward>
void UndeletedCursor::Settle() {
  RangeCover& cover = args_.cover;
  while (merge_->Valid()) {
    const Slice user_key = ExtractUserKey(merge_->key());
    if (!cover.Contains(user_key)) {
      status_ = cover.Find(user_key);
      if (!status_.ok()) return Hide();
    }
    if (IsShown(merge_->entry())) return ShowRun<kForward>();
    status_ = LeaveCovered<kForward>();
    if (!status_.ok()) return Hide();
  }
  Hide();
}

// Shows the merge's entry, and those after it in its batch to which the same cover applies.
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

// Past an entry that is deleted.
template <bool kForward>
Status UndeletedCursor::LeaveCovered() {
  if (merge_->child() > args_.cover.source()) {
    Slice bound;
    if constexpr (kForward) {
      ASHLAR_ASSIGN_OR_RETURN(bound, args_.cover.CoveredEnd());
    } else {
      bound = args_.cover.CoveredBegin();
    }
    // Before all versions of the bound: the first entry after the covered keys, or the place before
    // them.
    target_.AssignInternal(bound, SeekTag(kSequenceNumberMax));
    const Slice target = target_.key();
    const int r = merge_->Compare(merge_->key(), target);
    if (kForward ? r < 0 : r > 0) {
      if (args_.seek_prefix != nullptr) args_.seek_prefix->Begin(ExtractUserKey(target), kForward);
      merge_->SeekOlder(args_.cover.source() + 1, target);
      return Status::OK();
    }
  }
  kForward ? merge_->Next() : merge_->Prev();
  return Status::OK();
}

void UndeletedCursor::SeekToFirst() {
  sources().SeekToFirst();
  Show<true>();
}

void UndeletedCursor::SeekToLast() {
  sources().SeekToLast();
  Show<false>();
}

void UndeletedCursor::Seek(const Slice& internal_target) {
  sources().Seek(internal_target);
  Show<true>();
}

void UndeletedCursor::SeekForPrev(const Slice& internal_target) {
  sources().SeekForPrev(internal_target);
  Show<false>();
}

// The sources return to the end of the shown batch, and go on from there.
void UndeletedCursor::MoveNext() {
  StandAt(&sources(), batch_end() - 1);
  sources().Next();
  Show<true>();
}

void UndeletedCursor::MovePrev() {
  StandAt(&sources(), batch_begin());
  sources().Prev();
  Show<false>();
}

}  // namespace ashlar
