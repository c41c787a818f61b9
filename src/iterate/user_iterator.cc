#include "iterate/user_iterator.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <utility>

#include "base/assert.h"
#include "base/compiler.h"
#include "base/out_of_memory.h"
#include "iterate/gap_walk.h"
#include "iterate/order_error.h"
#include "iterate/undeleted_cursor.h"
#include "observe/observed.h"
#include "observe/perf.h"

namespace ashlar {

namespace {

// The tags that sort before and after all versions of a user key.
constexpr uint64_t kTagBeforeAll = SeekTag(kSequenceNumberMax);
constexpr uint64_t kTagAfterAll = 0;

// "rocksdb.iterator.write-time": entries do not record when they were written.
constexpr uint64_t kUnknownWriteTime = std::numeric_limits<uint64_t>::max();

// Numbers of deletions in one move.
constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();
constexpr uint64_t kFirstDeletion = 1;

// Whether `value` is the value `whole` or a part of it, which a merge operator may return.
bool IsPartOf(const Slice& value, const Slice& whole) {
  const std::less_equal<const char*> at_or_before;
  return at_or_before(whole.begin(), value.begin()) && at_or_before(value.end(), whole.end());
}

Status TailingMoveError() {
  return Status::NotSupported("an iterator with ReadOptions::tailing moves forward only");
}

}  // namespace

UserIterator::UserIterator(UserIteratorArgs args)
    : args_(std::move(args)), limits_(args_.max_skippable_entries) {
  ASHLAR_ASSERT(args_.source.cursor != nullptr);  // Lifetime: it owns one
  // Requires of renewed_by.
  ASHLAR_ASSERT(args_.renewed_by == RenewedBy::kNothing || args_.renewal != nullptr);
  // At least one step between two seeks, because a seek to the last version of a key may not move.
  args_.max_sequential_skip = std::max(args_.max_sequential_skip, uint64_t{1});
  ShareLimits();
}

void UserIterator::SeekCursor(const Slice& user_key, uint64_t tag) {
  seek_target_.AssignInternal(user_key, tag);
  sought_ = true;
  const Slice target = seek_target_.key();
  if (args_.source.seek_prefix != nullptr)
    args_.source.seek_prefix->Begin(ExtractUserKey(target), true);
  cursor()->Seek(target);
}

void UserIterator::SeekCursorForPrev(const Slice& user_key, uint64_t tag) {
  seek_target_.AssignInternal(user_key, tag);
  sought_ = true;
  const Slice target = seek_target_.key();
  if (args_.source.seek_prefix != nullptr)
    args_.source.seek_prefix->Begin(ExtractUserKey(target), false);
  cursor()->SeekForPrev(target);
}

bool UserIterator::SeekFurther(const Slice& user_key, uint64_t tag) {
  if (!IsAfterSought(user_key, tag)) {
    Stop(OrderError());
    return false;
  }
  SeekCursor(user_key, tag);
  return true;
}

UserIterator::PinnedBytes UserIterator::PinAtCursor() {
  const PinSource owner = cursor()->value_owner();
  return {.bytes = ValueAtCursor(), .owner = owner, .pin = owner.Acquire()};
}

void UserIterator::BeginMove() {
  valid_ = false;
  limits_.BeginMove();
  deletions_stepped_over_ = 0;
  gap_check_ = args_.source.gaps != nullptr ? kFirstDeletion : kNever;
  pinned_.pin.Release();
}

void UserIterator::BeginSeek() {
  BeginMove();
  limits_.LeavePrefix();
  status_ = Status::OK();
}

// --- renewals of the source ---

void UserIterator::ShareLimits() {
  if (args_.source.undeleted != nullptr) args_.source.undeleted->SetLimits(&limits_);
}

Result<bool> UserIterator::Renew(const SourceRenewal::Request& request) {
  // Also runs if an allocation fails after the source was replaced.
  struct Share {
    ~Share() { iterator->ShareLimits(); }
    UserIterator* iterator;
  } const share{this};
  return args_.renewal->Renew(request, &args_.source);
}

ASHLAR_NO_INLINE bool UserIterator::RenewSource(bool in_walk) {
  const Result<bool> renewed = Renew({.snapshot = args_.snapshot, .in_walk = in_walk});
  if (!renewed.ok()) {
    Stop(renewed.status());
    return false;
  }
  if (!*renewed) return false;
  // Deletions in the replaced source do not count.
  deletions_stepped_over_ = 0;
  gap_check_ = args_.source.gaps != nullptr ? kFirstDeletion : kNever;
  SetScope(scope_);
  return true;
}

// The target may point into the source.
bool UserIterator::RenewForSeek(Slice* target) {
  if (args_.renewed_by == RenewedBy::kNewerView && !args_.renewal->IsDue()) return true;
  if (target != nullptr) {
    renewed_at_.Assign(*target);
    *target = renewed_at_.key();
  }
  RenewSource(/*in_walk=*/false);
  return status_.ok();
}

inline bool UserIterator::BeginForwardSeek(Slice* target) {
  BeginSeek();
  return !RenewsInWalk() || RenewForSeek(target);
}

inline bool UserIterator::BeginBackwardSeek(Slice* target) {
  BeginSeek();
  if (!RenewsInWalk()) [[likely]]
    return true;
  if (args_.renewed_by == RenewedBy::kTailing) {
    Stop(TailingMoveError());
    return false;
  }
  return RenewForSeek(target);
}

ASHLAR_NO_INLINE void UserIterator::NextWithRenewal() {
  renewed_at_.Assign(key_);
  const auto look_again = [this] {
    SaveKey(renewed_at_.key());  // I3
    SeekCursor(saved_key(), kTagAfterAll);
    FindVisibleForward(/*past_saved_key=*/true);
    ASHLAR_DCHECK(!valid_ || args_.comparator.Compare(key_, renewed_at_.key()) > 0);  // I3
  };
  if (args_.renewal->IsDue() && RenewSource(/*in_walk=*/true)) {
    look_again();
  } else if (status_.ok()) {
    NextInSource();
  }
  const bool at_end = !valid_ && status_.ok();
  if (at_end && args_.renewed_by == RenewedBy::kTailing && RenewSource(/*in_walk=*/true))
    look_again();
}

ASHLAR_NO_INLINE void UserIterator::PrevWithRenewal() {
  if (args_.renewed_by == RenewedBy::kTailing) return Stop(TailingMoveError());
  if (args_.renewal->IsDue()) {
    renewed_at_.Assign(key_);
    if (RenewSource(/*in_walk=*/true)) {
      SaveKey(renewed_at_.key());  // I3
      SeekCursorForPrev(saved_key(), kTagBeforeAll);
      return FindVisibleBackward();
    }
    if (!status_.ok()) return;
  }
  PrevInSource();
}

void UserIterator::StayInPrefixOf(const Slice& user_key) {
  if (args_.prefix_same_as_start) limits_.StayInPrefixOf(args_.source.prefix_extractor, user_key);
}

ASHLAR_NO_INLINE bool UserIterator::EqualInOrder(Slice a, Slice b) const {
  return args_.comparator.Equal(a, b);
}

// --- steps inside the cursor's batch ---

// Whether the entry is a value that the snapshot sees.
inline bool UserIterator::IsPlain(const CursorEntry& entry) const {
  const uint64_t tag = ExtractTag(entry.key);
  return IsPlainValue(TagType(tag)) && Visible(tag);
}

// Neighbouring keys usually differ in their first or their last bytes.
inline bool UserIterator::SameUserKey(const Slice& x, const Slice& y) const {
  constexpr size_t kWordBytes = 8;
  const Slice a = ComparedPart(x);
  const Slice b = ComparedPart(y);
  const size_t n = a.size();
  if (args_.comparator.HasHeads() && n >= kWordBytes) [[likely]] {
    if (n != b.size() ||
        DecodeFixed64(a.data() + n - kWordBytes) != DecodeFixed64(b.data() + n - kWordBytes) ||
        DecodeFixed64(a.data()) != DecodeFixed64(b.data())) {
      return false;
    }
    return n <= 2 * kWordBytes || memcmp(a.data(), b.data(), n) == 0;
  }
  return EqualInOrder(x, y);
}

// Requires: the iterator is valid, with its value in a batch.
inline void UserIterator::StepTo(const CursorEntry& entry) {
  key_ = ExtractUserKey(entry.key);
  value_ = entry.value;
  shown_ = &entry;
}

inline void UserIterator::ShowInBatch(const CursorEntry& entry) {
  value_in_ = ValueIn::kBatch;
  valid_ = true;
  StepTo(entry);
}

// Moves from the value at the cursor to the next value. Returns false and changes nothing unless
// the batch's next entry is a visible value of another key, within the bounds and the prefix.
inline bool UserIterator::StepForward() {
  ASHLAR_DCHECK(valid_);  // Requires of Next
  if (state_ != State::kForward || value_in_ != ValueIn::kBatch) return false;
  const CursorEntry* const next = cursor()->after();
  if (next == nullptr || !IsPlain(*next)) return false;
  const Slice user_key = ExtractUserKey(next->key);
  // An entry with sequence 0 has no older version.
  if (TagSequence(ExtractTag(cursor()->key())) != 0 && SameUserKey(key_, user_key)) return false;
  if (AtUpperBound(user_key) || OutsidePrefix(user_key)) return false;
  cursor()->Next();
  // valid_ and value_in_ keep their values. Writing them again would delay the next step, which
  // reads them and state_ in one load.
  StepTo(*next);
  return true;
}

// The cursor is at the oldest version of the previous key. That version decides if it is a value
// and the entry before it has another key.
inline bool UserIterator::StepBackward() {
  ASHLAR_DCHECK(valid_);  // Requires of Prev
  if (state_ != State::kBackward || !cursor()->Valid()) return false;
  const CursorEntry& entry = cursor()->entry();
  const CursorEntry* const before = cursor()->before();
  if (before == nullptr || !IsPlain(entry)) return false;
  const Slice user_key = ExtractUserKey(entry.key);
  if (SameUserKey(user_key, ExtractUserKey(before->key))) return false;
  if (BelowLowerBound(user_key) || OutsidePrefix(user_key)) return false;
  pinned_.pin.Release();
  cursor()->Prev();
  ShowInBatch(entry);
  return true;
}

// --- the moves, and their counting form ---

template <UserIterator::Move kMove>
inline bool UserIterator::TakeStep() {
  if constexpr (kMove == Move::kNext) return StepForward();
  if constexpr (kMove == Move::kPrev) return StepBackward();
  return false;
}

template <UserIterator::Move kMove>
inline void UserIterator::MakeMove(const Slice* target) {
  if constexpr (kMove == Move::kSeekToFirst) SeekToFirstMove();
  if constexpr (kMove == Move::kSeekToLast) SeekToLastMove();
  if constexpr (kMove == Move::kSeek) SeekMove(*target);
  if constexpr (kMove == Move::kSeekForPrev) SeekForPrevMove(*target);
  if constexpr (kMove == Move::kNext) NextMove();
  if constexpr (kMove == Move::kPrev) PrevMove();
  if (deletions_stepped_over_ >= GapWalk::kRememberedMin && gap_check_ != kNever) [[unlikely]] {
    RememberGap<kMove>();
  }
  if constexpr (kDebugChecks) CheckInvariants();
}

ASHLAR_NO_INLINE bool UserIterator::FindGap(const Slice& deleted) {
  if (gap_check_ == kFirstDeletion) {
    first_deleted_.Assign(deleted);
    gap_check_ = GapWalk::kFirstCheck;
    return false;
  }
  const bool found = args_.source.gaps->FindGap(deleted, args_.source.sequence, &gap_);
  gap_check_ = deletions_stepped_over_ + (found ? 1 : GapWalk::kCheckInterval);
  return found;
}

// Between the first key that this move found deleted and the key that it shows, no key is visible.
// Without a key to show, that holds up to the last key that the move has decided. After an error a
// key may be half decided.
template <UserIterator::Move kMove>
ASHLAR_NO_INLINE void UserIterator::RememberGap() {
  if (!status_.ok()) return;
  const bool forward =
      kMove != Move::kSeekToLast && kMove != Move::kSeekForPrev && kMove != Move::kPrev;
  const Slice last = valid_ ? key_ : saved_key();
  const auto edge = [](const Slice& key, bool after) {
    return KeyEdge{.key = key.ToString(), .after = after};
  };
  args_.source.gaps->RememberGap(
      {.begin = forward ? edge(first_deleted_.key(), false) : edge(last, valid_),
       .end = forward ? edge(last, !valid_) : edge(first_deleted_.key(), true),
       .since = args_.source.sequence});
}

// The target is a pointer, because an unobserved step must not pay for a stack frame.
template <UserIterator::Move kMove>
ASHLAR_ALWAYS_INLINE void UserIterator::Run(const Slice* target) try {
  if (Observed(args_.recorder)) [[unlikely]] {
    return RunObserved<kMove>(target);
  }
  if (TakeStep<kMove>()) [[likely]] {
    return PerfCount(&PerfContext::iter_read_bytes, key_.size() + value_.size());
  }
  MakeMove<kMove>(target);
  CountInPerfContext();
} catch (const std::bad_alloc&) {
  StopWithoutMemory();
}

template <UserIterator::Move kMove>
ASHLAR_NO_INLINE void UserIterator::RunObserved(const Slice* target) {
  if constexpr (kMove == Move::kNext || kMove == Move::kPrev) {
    const PerfTimer timer(&PerfContext::find_next_user_entry_time);
    MakeMove<kMove>(target);
  } else {
    const StopWatch watch(args_.recorder, DB_SEEK);
    const PerfTimer timer(&PerfContext::seek_internal_seek_time);
    MakeMove<kMove>(target);
  }
  if constexpr (kMove == Move::kNext) return CountMove(NUMBER_DB_NEXT, NUMBER_DB_NEXT_FOUND);
  if constexpr (kMove == Move::kPrev) return CountMove(NUMBER_DB_PREV, NUMBER_DB_PREV_FOUND);
  CountMove(NUMBER_DB_SEEK, NUMBER_DB_SEEK_FOUND);
}

void UserIterator::SeekToFirst() { Run<Move::kSeekToFirst>(nullptr); }
void UserIterator::SeekToLast() { Run<Move::kSeekToLast>(nullptr); }
void UserIterator::Seek(const Slice& target) { Run<Move::kSeek>(&target); }
void UserIterator::SeekForPrev(const Slice& target) { Run<Move::kSeekForPrev>(&target); }
void UserIterator::Next() { Run<Move::kNext>(nullptr); }
void UserIterator::Prev() { Run<Move::kPrev>(nullptr); }

void UserIterator::CountMove(Tickers moves, Tickers found) const {
  args_.recorder.Tick(moves);
  if (valid_) {
    args_.recorder.Tick(found);
    args_.recorder.Tick(ITER_BYTES_READ, key_.size() + value_.size());
  }
  if (limits_.entries() != 0) args_.recorder.Tick(NUMBER_ITER_SKIP, limits_.entries());
  CountInPerfContext();
}

void UserIterator::CountInPerfContext() const {
  if (valid_) PerfCount(&PerfContext::iter_read_bytes, key_.size() + value_.size());
  if (limits_.entries() == 0) return;
  PerfCount(&PerfContext::internal_key_skipped_count, limits_.entries());
  PerfCount(&PerfContext::internal_delete_skipped_count, deletions_stepped_over_);
}

// Called for each entry that is stepped over. Returns false if the limit of ReadOptions is reached.
bool UserIterator::CountStep() {
  if (limits_.Count()) [[likely]] {
    return true;
  }
  Stop(MoveLimits::Error());
  return false;
}

// Not inlined, because a step must not pay for the stack frame of its error.
ASHLAR_NO_INLINE void UserIterator::StopWithoutMemory() { Stop(Status::MemoryLimit()); }

void UserIterator::Stop(Status status) {
  valid_ = false;
  ForgetVersions();
  status_ = std::move(status);
}

// Ends a move whose cursor is not valid, because it reached an end or met an error.
void UserIterator::End() {
  valid_ = false;
  status_ = cursor()->status();
  const UndeletedCursor* const undeleted = args_.source.undeleted;
  if (undeleted != nullptr && undeleted->IsStopped()) SaveKey(undeleted->stopped_at());
}

// The key of the entry at which the last move stopped. Requires: that move has shown no key.
Slice UserIterator::StoppedAt() const {
  ASHLAR_DCHECK(!valid_);  // Requires
  // A seek that met no entry stopped at its target. The limit is always reached at an entry.
  const bool met_none = saved_key().empty() && !limits_.AreReached();
  return met_none && sought_ ? ExtractUserKey(seek_target_.key()) : saved_key();
}

// --- forward ---

void UserIterator::SeekToFirstMove() {
  if (!BeginForwardSeek(nullptr)) return;
  SetScope(SeekScope::kTotalOrder);
  if (args_.lower_bound != nullptr) {
    SeekCursor(*args_.lower_bound, SeekTag(args_.source.sequence));
  } else {
    sought_ = false;
    cursor()->SeekToFirst();
  }
  saved_key_.Clear();
  FindVisibleForward(false);
  if (valid_) StayInPrefixOf(key_);
}

void UserIterator::SeekMove(Slice target) {
  const Pin shown = std::move(pinned_.pin);  // the target may be in it
  if (!BeginForwardSeek(&target)) return;
  const bool from_bound = BelowLowerBound(target);
  StayInPrefixOf(target);
  SetScope(from_bound ? SeekScope::kTotalOrder : ScopeOf(target));
  SeekCursor(from_bound ? *args_.lower_bound : target, SeekTag(args_.source.sequence));
  saved_key_.Clear();  // the target may have been in it
  FindVisibleForward(false);
}

void UserIterator::NextMove() {
  ASHLAR_DCHECK(valid_);  // Requires
  BeginMove();
  if (RenewsInWalk()) [[unlikely]]
    return NextWithRenewal();
  NextInSource();
}

void UserIterator::NextInSource() {
  bool past_saved_key = true;
  switch (state_) {
    case State::kForward:
      SaveKey(key_);
      // An entry with sequence 0 has no older version.
      past_saved_key = TagSequence(ExtractTag(cursor()->key())) != 0;
      cursor()->Next();
      break;
    case State::kForwardPast: break;
    case State::kBackward:
      SaveKey(key_);
      SeekCursor(saved_key(), kTagAfterAll);
      break;
  }
  FindVisibleForward(past_saved_key);
}

// Finds the first entry from the cursor on that the user sees. past_saved_key: versions of
// saved_key_ are hidden, because a newer one has decided.
void UserIterator::FindVisibleForward(bool past_saved_key) {
  uint64_t run = 0;  // consecutive entries of saved_key_ that were skipped: hidden or too new
  while (cursor()->Valid()) {
    const Slice user_key = ExtractUserKey(cursor()->key());
    const uint64_t tag = ExtractTag(cursor()->key());
    if (AtUpperBound(user_key) || OutsidePrefix(user_key)) return;
    if (!Visible(tag)) {
      if (past_saved_key || run == 0 || !AtSavedKey()) {
        SaveKey(user_key);
        past_saved_key = false;
        run = 0;
      }
      ++run;
    } else if (past_saved_key && AtSavedKey()) {
      ++run;
    } else {
      const ValueType type = TagType(tag);
      if (IsPlainValue(type)) [[likely]] {
        state_ = State::kForward;
        return ShowInBatch(cursor()->entry());
      }
      switch (RoleOf(type)) {
        case RecordRole::kValue:  // a reference: its bytes are not in the batch
          SaveKey(user_key);
          ShowPinned(PinAtCursor());
          state_ = State::kForward;
          key_ = saved_key();
          valid_ = true;
          return;
        case RecordRole::kOperand: return ShowMerged();
        case RecordRole::kTombstone: break;
        case RecordRole::kNone:
        case RecordRole::kRange:
        case RecordRole::kRefused: return Stop(UnsupportedTypeError(type));
      }
      ++deletions_stepped_over_;
      SaveKey(user_key);
      past_saved_key = true;
      run = 0;
      if (deletions_stepped_over_ >= gap_check_ && FindGap(user_key)) [[unlikely]] {
        if (!CountStep()) return;
        if (!SeekFurther(gap_.end.key,
                         gap_.end.after ? kTagAfterAll : SeekTag(args_.source.sequence)))
          return;
        // A deletion with sequence 0 has the last of all tags, so the seek may stop at it.
        past_saved_key = gap_.end.after;
        if (past_saved_key) SaveKey(gap_.end.key);
        continue;
      }
    }
    if (!CountStep()) return;
    if (run <= args_.max_sequential_skip) {
      cursor()->Next();
    } else {
      run = 0;
      args_.recorder.Tick(NUMBER_OF_RESEEKS_IN_ITERATION);
      if (!SeekFurther(saved_key(), past_saved_key ? kTagAfterAll : SeekTag(args_.source.sequence)))
        return;
    }
  }
  End();
}

ASHLAR_NO_INLINE bool UserIterator::IsAtUpperBound(Slice user_key) const {
  return args_.comparator.Compare(user_key, *args_.upper_bound) >= 0;
}

void UserIterator::ShowMerged() {
  SaveKey(ExtractUserKey(cursor()->key()));
  if (MergeForward() != Outcome::kShown) return;
  key_ = saved_key();
  valid_ = true;
}

// Merges from the newest visible operand, at the cursor, down to a value, a deletion or the end of
// the key's versions.
UserIterator::Outcome UserIterator::MergeForward() {
  ForgetVersions();
  state_ = State::kForward;
  for (;;) {
    TakeOperand();
    if (EnoughOperands()) return MergeOperands(Base::kNone);
    cursor()->Next();
    if (FailedInKey()) {
      Stop(cursor()->status());
      return Outcome::kStopped;
    }
    if (!cursor()->Valid() || !AtSavedKey()) {
      state_ = State::kForwardPast;
      return MergeOperands(Base::kNone);
    }
    const ValueType type = ExtractType(cursor()->key());
    switch (RoleOf(type)) {
      case RecordRole::kValue: base_.bytes = ValueAtCursor(); return MergeOperands(Base::kAtCursor);
      case RecordRole::kTombstone: return MergeOperands(Base::kNone);
      case RecordRole::kOperand: break;
      case RecordRole::kNone:
      case RecordRole::kRange:
      case RecordRole::kRefused: Stop(UnsupportedTypeError(type)); return Outcome::kStopped;
    }
    if (!CountStep()) return Outcome::kStopped;
  }
}

// --- backward ---

void UserIterator::SeekToLastMove() {
  if (!BeginBackwardSeek(nullptr)) return;
  SetScope(SeekScope::kTotalOrder);
  if (args_.upper_bound != nullptr) {
    SeekCursorForPrev(*args_.upper_bound, kTagBeforeAll);
  } else {
    sought_ = false;
    cursor()->SeekToLast();
  }
  saved_key_.Clear();
  FindVisibleBackward();
  if (valid_) StayInPrefixOf(key_);
}

void UserIterator::SeekForPrevMove(Slice target) {
  const Pin shown = std::move(pinned_.pin);  // the target may be in it
  if (!BeginBackwardSeek(&target)) return;
  const bool from_bound = AtUpperBound(target);
  StayInPrefixOf(target);
  SetScope(from_bound ? SeekScope::kTotalOrder : ScopeOf(target));
  SeekCursorForPrev(from_bound ? *args_.upper_bound : target,
                    from_bound ? kTagBeforeAll : kTagAfterAll);
  saved_key_.Clear();  // the target may have been in it
  FindVisibleBackward();
}

void UserIterator::PrevMove() {
  ASHLAR_DCHECK(valid_);  // Requires
  BeginMove();
  if (RenewsInWalk()) [[unlikely]]
    return PrevWithRenewal();
  PrevInSource();
}

void UserIterator::PrevInSource() {
  SaveKey(key_);
  if (state_ != State::kBackward) SeekCursorForPrev(saved_key(), kTagBeforeAll);
  FindVisibleBackward();
}

// Finds the last visible key at or before the cursor's. Requires: the cursor is at the oldest
// version of a key.
void UserIterator::FindVisibleBackward() {
  while (cursor()->Valid()) {
    const Slice user_key = ExtractUserKey(cursor()->key());
    if (BelowLowerBound(user_key) || OutsidePrefix(user_key)) return;
    SaveKey(user_key);
    const Outcome outcome = CollectVersions();
    if (outcome == Outcome::kStopped) return;
    if (outcome == Outcome::kShown) {
      state_ = State::kBackward;
      key_ = saved_key();
      valid_ = true;
      return;
    }
    if (deletions_stepped_over_ >= gap_check_ && FindGap(saved_key())) [[unlikely]] {
      // A cursor that reached its end, or the limit of the move, stays there. So does a cursor that
      // has already sought the begin of the gap, if the gap begins with the key.
      const uint64_t tag = gap_.begin.after ? kTagAfterAll : kTagBeforeAll;
      if (cursor()->Valid() && IsBeforeSought(gap_.begin.key, tag))
        SeekCursorForPrev(gap_.begin.key, tag);
    }
  }
  End();
}

ASHLAR_NO_INLINE bool UserIterator::IsBelowLowerBound(Slice user_key) const {
  return args_.comparator.Compare(user_key, *args_.lower_bound) < 0;
}

// Passes all versions of saved_key_, oldest first, and decides whether the key is shown.
UserIterator::Outcome UserIterator::CollectVersions() {
  ForgetVersions();
  uint64_t run = 0;
  while (cursor()->Valid() && AtSavedKey()) {
    // The previous version is stepped over. The newest one is too, but only if the key is hidden.
    if (run > 0 && !CountStep()) return Outcome::kStopped;
    if (++run > args_.max_sequential_skip) return ResolveBySeek();
    const uint64_t tag = ExtractTag(cursor()->key());
    if (Visible(tag)) TakeVersion(TagType(tag));
    cursor()->Prev();
  }
  if (FailedInKey()) {
    Stop(cursor()->status());
    return Outcome::kStopped;
  }
  const Outcome outcome = ResolveCollected();
  // If the limit is already reached, the cursor has the error.
  if (outcome != Outcome::kHidden || limits_.AreReached()) return outcome;
  return CountStep() ? outcome : Outcome::kStopped;
}

// Takes a version that is newer than all collected so far.
void UserIterator::TakeVersion(ValueType type) {
  if (IsOperand(type)) return TakeOperand();
  ForgetVersions();
  base_type_ = type;
  if (IsValue(type)) base_ = PinAtCursor();
}

UserIterator::Outcome UserIterator::ResolveCollected() {
  if (base_type_ && !IsPointType(*base_type_)) {
    Stop(UnsupportedTypeError(*base_type_));
    return Outcome::kStopped;
  }
  const bool has_value = base_type_ && IsValue(*base_type_);
  if (!operands_.empty()) {
    std::reverse(operands_.begin(), operands_.end());
    std::reverse(operand_pins_.begin(), operand_pins_.end());
    return CutOperands() || !has_value ? MergeOperands(Base::kNone) : MergeOperands(Base::kPinned);
  }
  if (!has_value) {
    if (base_type_) ++deletions_stepped_over_;
    return Outcome::kHidden;
  }
  ShowPinned(std::move(base_));
  return Outcome::kShown;
}

// For keys with many versions: seeks the version that decides, then the entry before the key.
UserIterator::Outcome UserIterator::ResolveBySeek() {
  ForgetVersions();
  if (!IsBeforeSought(saved_key(), kTagBeforeAll)) {
    Stop(OrderError());
    return Outcome::kStopped;
  }
  args_.recorder.Tick(NUMBER_OF_RESEEKS_IN_ITERATION);
  SeekCursor(saved_key(), SeekTag(args_.source.sequence));
  const Outcome outcome = ResolveAtCursor();
  if (outcome == Outcome::kStopped) return outcome;
  SeekCursorForPrev(saved_key(), kTagBeforeAll);
  if (!FailedInKey()) return outcome;
  Stop(cursor()->status());
  return Outcome::kStopped;
}

UserIterator::Outcome UserIterator::ResolveAtCursor() {
  if (!cursor()->Valid()) {
    // An iteration that stops here continues at the key, and looks for its versions again.
    status_ = cursor()->status();
    return status_.ok() ? Outcome::kHidden : Outcome::kStopped;
  }
  if (!AtSavedKey()) return Outcome::kHidden;
  const ValueType type = ExtractType(cursor()->key());
  switch (RoleOf(type)) {
    case RecordRole::kValue: ShowPinned(PinAtCursor()); return Outcome::kShown;
    case RecordRole::kTombstone: return Outcome::kHidden;
    case RecordRole::kOperand: break;
    case RecordRole::kNone:
    case RecordRole::kRange:
    case RecordRole::kRefused: Stop(UnsupportedTypeError(type)); return Outcome::kStopped;
  }
  const Outcome outcome = MergeForward();
  if (outcome == Outcome::kShown && value_in_ == ValueIn::kBatch) {
    PinnedBytes pinned = PinAtCursor();
    pinned.bytes = value_;
    ShowPinned(std::move(pinned));
  }
  return outcome;
}

void UserIterator::ShowPinned(PinnedBytes pinned) {
  pinned_ = std::move(pinned);
  value_ = pinned_.bytes;
  value_in_ = ValueIn::kPin;
}

// --- merging ---

void UserIterator::TakeOperand() {
  operand_pins_.push_back(PinAtCursor());
  operands_.push_back(operand_pins_.back().bytes);
}

bool UserIterator::EnoughOperands() const {
  return args_.merge_operator != nullptr && args_.merge_operator->ShouldMerge(operands_);
}

// Keeps as many of the newest operands as a forward move would have taken. Returns true if these
// decide without a base.
bool UserIterator::CutOperands() {
  std::vector<Slice> all;
  all.swap(operands_);
  for (const Slice& operand : all) {
    operands_.push_back(operand);
    if (EnoughOperands()) return true;
  }
  return false;
}

UserIterator::Outcome UserIterator::MergeOperands(Base base) {
  const MergeInput input{
      .merge_operator = args_.merge_operator,
      .user_key = saved_key(),
      .base = base != Base::kNone ? &base_.bytes : nullptr,
      .operands_newest_first = operands_,
      .recorder = args_.recorder,
      .logger = args_.logger,
  };
  // Each operand has its pin.
  ASHLAR_ASSERT(!operands_.empty() && operands_.size() <= operand_pins_.size());
  args_.recorder.Record(READ_NUM_MERGE_OPERANDS, operands_.size());
  MergeResult result;
  result.computed.swap(merged_);  // to reuse its memory
  Status status = FullMerge(input, &result, nullptr);
  if (!status.ok()) {
    Stop(std::move(status));
    return Outcome::kStopped;
  }
  if (result.kind == MergeResult::Kind::kComputed) {
    merged_.swap(result.computed);
    value_ = merged_;
    value_in_ = ValueIn::kMerged;
  } else if (result.kind == MergeResult::Kind::kBase && base == Base::kAtCursor) {
    value_ = result.existing;
    value_in_ = ValueIn::kBatch;
    shown_ = &cursor()->entry();
  } else {
    PinnedBytes pinned =
        std::move(result.kind == MergeResult::Kind::kBase ? base_ : operand_pins_[result.operand]);
    pinned.bytes = result.existing;
    ShowPinned(std::move(pinned));
  }
  ForgetVersions();
  return Outcome::kShown;
}

void UserIterator::CheckInvariants() const {
  ASHLAR_ASSERT(operands_.size() <= operand_pins_.size());  // Each operand has its pin.
  if (!valid_) return;
  ASHLAR_ASSERT(status_.ok());       // I1
  ASHLAR_ASSERT(operands_.empty());  // the versions of the key were decided
  // The bounds.
  ASHLAR_ASSERT(args_.lower_bound == nullptr ||
                args_.comparator.Compare(key_, *args_.lower_bound) >= 0);
  ASHLAR_ASSERT(args_.upper_bound == nullptr ||
                args_.comparator.Compare(key_, *args_.upper_bound) < 0);
  switch (value_in_) {
    case ValueIn::kBatch:
      ASHLAR_ASSERT(shown_ != nullptr && IsPartOf(value_, shown_->value));  // I2
      break;
    case ValueIn::kPin: ASHLAR_ASSERT(value_ == pinned_.bytes); break;      // I2
    case ValueIn::kMerged: ASHLAR_ASSERT(value_ == Slice(merged_)); break;  // I2
  }
}

void UserIterator::ForgetVersions() {
  base_type_.reset();
  base_ = PinnedBytes();
  operands_.clear();
  operand_pins_.clear();
}

// --- the rest ---

void UserIterator::PinValue(PinnableSlice* value) const {
  ASHLAR_DCHECK(valid_);  // Requires
  if (value_in_ == ValueIn::kMerged) return value->PinSelf(value_);
  const PinSource owner =
      value_in_ == ValueIn::kBatch ? args_.source.cursor->OwnerOf(*shown_) : pinned_.owner;
  owner.Acquire().MoveTo(value, value_);
}

Status UserIterator::Refresh(const Snapshot* snapshot) {
  BeginSeek();
  if (args_.renewal == nullptr)
    return Status::NotSupported("this iterator cannot be refreshed: make a new one");
  status_ = CatchBadAlloc([&]() -> Status {
    ASHLAR_RETURN_IF_ERROR(Renew({.snapshot = snapshot, .in_walk = false}).status());
    args_.snapshot = snapshot;
    return Status::OK();
  });
  return status_;
}

Status UserIterator::GetProperty(std::string prop_name, std::string* prop) {
  if (prop_name == "rocksdb.iterator.super-version-number") {
    *prop = std::to_string(args_.source.view_number);
  } else if (prop_name == "rocksdb.iterator.is-key-pinned" ||
             prop_name == "rocksdb.iterator.is-value-pinned") {
    *prop = valid_ ? "0" : "Iterator is not valid.";
  } else if (prop_name == "rocksdb.iterator.internal-key") {
    *prop = (valid_ ? key_ : StoppedAt()).ToString();
  } else if (prop_name == "rocksdb.iterator.write-time") {
    prop->clear();
    PutFixed64(prop, kUnknownWriteTime);
  } else {
    return Status::InvalidArgument("an iterator has no property of this name", prop_name);
  }
  return Status::OK();
}

}  // namespace ashlar
