// UserIterator: the public Iterator over one InternalCursor. For each user key it shows the newest
// version that the snapshot sees, unless that is a deletion. It merges operands and applies bounds.
//
//   versions   a9 a7 a3 | b5 b2 | c8 ...     key ascending, sequence descending
//              at snapshot 8 the visible versions are a7 a3 b5 b2 c8; a7, b5 and c8 decide
//
//   state           the cursor is                        the value is in
//   kForward        at the entry that decided            the cursor's batch, pinned_ or merged_
//   kForwardPast    after the entries that were merged   pinned_ or merged_
//   kBackward       before all versions of the key       the cursor's batch, pinned_ or merged_
//
// StepForward and StepBackward move between two plain values inside the cursor's batch, without a
// copy or a pin. Every other move decides from scratch. Forward, the first visible version of a key
// decides. Backward, versions arrive oldest first, so the last visible one decides and is pinned
// before the cursor leaves it. README.md explains skips by seek, prefixes and renewals.
//
// I1: Valid() implies status().ok(). If a version decides and its type is not implemented, the
//     status is NotSupported. Such a version is never skipped.
// I2: key() and value() stay valid until the next move.
// I3: a move that replaces the source continues after the shown key, so that none is shown twice.
// I4: a seek during an iteration goes further than the seek before it. Otherwise a table that is
//     out of order could lead the iteration in a circle without end. That is Corruption.
//
// Lifetime: owns its cursor; `keep_alive` is released after the cursor. The caller owns the slices
// of the bounds, whose bytes may change before a seek. Thread safety: one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ashlar/iterator.h"
#include "ashlar/merge_operator.h"
#include "base/pin.h"
#include "base/result.h"
#include "iterate/move_limits.h"
#include "iterate/saved_key.h"
#include "key/cursor.h"
#include "key/key_comparator.h"
#include "key/merge_helper.h"
#include "key/seek_prefix.h"
#include "memtable/memtable.h"
#include "observe/recorder.h"

namespace ashlar {

class UndeletedCursor;

// The sources of an iterator. A renewal replaces them together.
struct IteratorSource {
  // Pins the sources that the cursor does not pin itself, and prefix_extractor.
  Pin keep_alive;
  const SliceTransform* prefix_extractor = nullptr;  // null: keys have no prefixes
  std::unique_ptr<SeekPrefix> seek_prefix;  // notified of every seek; null: always in total order
  std::unique_ptr<InternalCursor> cursor;
  // The cursor, if it is an UndeletedCursor, which shares the iterator's limits; else null.
  UndeletedCursor* undeleted = nullptr;
  SequenceNumber sequence = 0;
  // The newest source, which remembers gaps between visible keys; null: gaps are neither used nor
  // remembered. Requires: every seek is in total order.
  const MemTable* gaps = nullptr;
  uint64_t view_number = 0;  // for the property "rocksdb.iterator.super-version-number"
};

// Replaces the source of one iterator, on the iterator's thread.
class SourceRenewal {
 public:
  struct Request {
    const Snapshot* snapshot = nullptr;  // null: the newest state
    // The iterator keeps its prefix, so a source with another extractor cannot replace its own.
    bool in_walk = false;
  };

  SourceRenewal() = default;
  virtual ~SourceRenewal() = default;
  SourceRenewal(const SourceRenewal&) = delete;
  SourceRenewal& operator=(const SourceRenewal&) = delete;

  // Whether there is a newer view than the source's. Cheap; takes no lock.
  virtual bool IsDue() const = 0;
  // Replaces *source by one of the requested state. Returns false if *source has not changed. After
  // an error *source is as before.
  virtual Result<bool> Renew(const Request& request, IteratorSource* source) = 0;
};

// The moves that replace the source, in addition to Refresh.
enum class RenewedBy : uint8_t {
  kNothing,
  // ReadOptions::tailing: a seek, a move that reaches the end and a move that finds a newer view
  // replace the source by the newest state. Backward moves are refused.
  kTailing,
  // ReadOptions::auto_refresh_iterator_with_snapshot: a move that finds a newer view replaces the
  // source by one of the same snapshot.
  kNewerView,
};

struct UserIteratorArgs {
  KeyComparator comparator;
  const MergeOperator* merge_operator = nullptr;
  const Slice* lower_bound = nullptr;  // ReadOptions::iterate_lower_bound; null: none
  const Slice* upper_bound = nullptr;  // exclusive
  bool prefix_same_as_start = false;
  uint64_t max_sequential_skip = 8;
  uint64_t max_skippable_entries = 0;  // ReadOptions::max_skippable_internal_keys; 0: any number
  Recorder recorder = {};
  Logger* logger = nullptr;                          // for the merge operator; null: none
  std::unique_ptr<SourceRenewal> renewal = nullptr;  // null: Refresh is NotSupported
  RenewedBy renewed_by = RenewedBy::kNothing;        // other values require `renewal`
  const Snapshot* snapshot = nullptr;                // of the source; null: none
  IteratorSource source = {};
};

class UserIterator final : public Iterator {
 public:
  explicit UserIterator(UserIteratorArgs args);

  bool Valid() const override { return valid_; }
  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const Slice& target) override;
  void SeekForPrev(const Slice& target) override;
  void Next() override;
  void Prev() override;
  Slice key() const override { return key_; }
  Slice value() const override { return value_; }
  void PinValue(PinnableSlice* value) const override;
  Status status() const override { return status_; }
  Status Refresh() override { return Refresh(nullptr); }
  Status Refresh(const Snapshot* snapshot) override;
  Status GetProperty(std::string prop_name, std::string* prop) override;
  // Asserts I1, I2 and the bounds.
  void CheckInvariants() const;

 private:
  enum class State : uint8_t { kForward, kForwardPast, kBackward };
  enum class ValueIn : uint8_t { kBatch, kPin, kMerged };
  // The result of the versions of one key.
  enum class Outcome : uint8_t { kShown, kHidden, kStopped };

  // The place of the value below the operands. base_ is not pinned while the cursor is at it.
  enum class Base : uint8_t { kNone, kAtCursor, kPinned };
  // Bytes of a version that must stay valid after the cursor has left it.
  struct PinnedBytes {
    Slice bytes;
    PinSource owner;
    Pin pin;
  };

  InternalCursor* cursor() { return args_.source.cursor.get(); }
  bool Visible(uint64_t tag) const { return TagSequence(tag) <= args_.source.sequence; }
  bool AtSavedKey() { return args_.comparator.Equal(ExtractUserKey(cursor()->key()), saved_key()); }
  Slice saved_key() const { return saved_key_.key(); }
  void SaveKey(const Slice& user_key) { saved_key_.Assign(user_key); }
  void SetScope(SeekScope scope) {
    scope_ = scope;
    if (args_.source.seek_prefix != nullptr) args_.source.seek_prefix->SetScope(scope);
  }
  // The target's prefix limits the keys that a seek may return. A target without a prefix does not.
  SeekScope ScopeOf(const Slice& target) const {
    const bool has_prefix = args_.source.seek_prefix != nullptr &&
                            KeyPrefix(args_.source.prefix_extractor, target).has_value();
    return has_prefix ? SeekScope::kPrefix : SeekScope::kTotalOrder;
  }
  void SeekCursor(const Slice& user_key, uint64_t tag);
  void SeekCursorForPrev(const Slice& user_key, uint64_t tag);
  // Whether the position is after the last sought one, or before it (I4).
  bool IsAfterSought(const Slice& user_key, uint64_t tag) const {
    return !sought_ || args_.comparator.CompareInternal(seek_target_.key(), user_key, tag) < 0;
  }
  bool IsBeforeSought(const Slice& user_key, uint64_t tag) const {
    return !sought_ || args_.comparator.CompareInternal(seek_target_.key(), user_key, tag) > 0;
  }
  // SeekCursor during an iteration. Returns false if the iteration has ended with an error.
  bool SeekFurther(const Slice& user_key, uint64_t tag);
  // The value of the entry at the cursor, as the caller sees it.
  Slice ValueAtCursor() { return cursor()->value(); }
  PinnedBytes PinAtCursor();

  // The public moves. Run is one of them; RunObserved is its counting form.
  enum class Move : uint8_t { kSeekToFirst, kSeekToLast, kSeek, kSeekForPrev, kNext, kPrev };
  template <Move kMove>
  void Run(const Slice* target);
  template <Move kMove>
  void RunObserved(const Slice* target);
  template <Move kMove>
  bool TakeStep();
  template <Move kMove>
  void MakeMove(const Slice* target);
  void CountMove(Tickers moves, Tickers found) const;
  void CountInPerfContext() const;
  void SeekToFirstMove();
  void SeekToLastMove();
  void SeekMove(Slice target);
  void SeekForPrevMove(Slice target);
  void NextMove();
  void PrevMove();

  bool StepForward();
  bool StepBackward();
  bool IsPlain(const CursorEntry& entry) const;
  bool SameUserKey(const Slice& a, const Slice& b) const;
  void StepTo(const CursorEntry& entry);
  void ShowInBatch(const CursorEntry& entry);

  void BeginMove();
  void BeginSeek();
  // Begin a seek that may have to renew the source; *target is then a copy. `target` may be null.
  // Return false if the seek has ended with an error.
  bool BeginForwardSeek(Slice* target);
  bool BeginBackwardSeek(Slice* target);
  void StayInPrefixOf(const Slice& user_key);
  bool OutsidePrefix(Slice user_key) const { return limits_.OutsidePrefix(user_key); }
  // Checks that most iterators do not need are not inlined and take keys by value, as above.
  bool AtUpperBound(Slice user_key) const {
    return args_.upper_bound != nullptr && IsAtUpperBound(user_key);
  }
  bool IsAtUpperBound(Slice user_key) const;
  bool BelowLowerBound(Slice user_key) const {
    return args_.lower_bound != nullptr && IsBelowLowerBound(user_key);
  }
  bool IsBelowLowerBound(Slice user_key) const;
  bool EqualInOrder(Slice a, Slice b) const;
  bool CountStep();
  // Whether the cursor met an error, so that versions of a key may be missing. A cursor that
  // reached the limit of the move has already left all versions of the key.
  bool FailedInKey() const {
    const InternalCursor& at = *args_.source.cursor;
    return !at.Valid() && !at.status().ok() && !limits_.AreReached();
  }
  void Stop(Status status);
  void StopWithoutMemory();
  void End();
  Slice StoppedAt() const;

  // Whether a move has to look for a newer view.
  bool RenewsInWalk() const {
    return args_.renewed_by == RenewedBy::kTailing ||
           (args_.renewed_by == RenewedBy::kNewerView && args_.snapshot != nullptr);
  }
  // Replaces args_.source by one of the requested state. Returns false if it has not changed.
  Result<bool> Renew(const SourceRenewal::Request& request);
  void ShareLimits();
  // Returns false if the source is as before, or if the move is over with an error.
  bool RenewSource(bool in_walk);
  bool RenewForSeek(Slice* target);
  void NextInSource();
  void NextWithRenewal();
  void PrevInSource();
  void PrevWithRenewal();

  void FindVisibleForward(bool past_saved_key);
  void ShowMerged();
  Outcome MergeForward();

  void FindVisibleBackward();
  void ShowPinned(PinnedBytes pinned);
  Outcome CollectVersions();
  void TakeVersion(ValueType type);
  Outcome ResolveCollected();
  Outcome ResolveBySeek();
  Outcome ResolveAtCursor();

  void TakeOperand();
  bool EnoughOperands() const;
  bool CutOperands();
  Outcome MergeOperands(Base base);
  void ForgetVersions();

  // Returns whether there is a known gap around this deleted key, and stores it in gap_.
  bool FindGap(const Slice& deleted);
  template <Move kMove>
  void RememberGap();

  UserIteratorArgs args_;
  bool valid_ = false;
  State state_ = State::kForward;
  ValueIn value_in_ = ValueIn::kBatch;
  const CursorEntry* shown_ = nullptr;  // kBatch: the entry of the cursor's batch with value_
  Slice key_;
  Slice value_;
  Status status_;

  SeekScope scope_ = SeekScope::kTotalOrder;  // of the last seek
  SavedKey renewed_at_;  // of a move that may renew the source: the target, or the key before it
  MoveLimits limits_;
  uint64_t deletions_stepped_over_ = 0;  // in this move: deletions that decided
  uint64_t gap_check_ = 0;  // FindGap is called from this number of deletions in this move on
  SavedKey first_deleted_;  // in this move
  KeyGap gap_;
  SavedKey saved_key_;  // the user key whose versions are passed or collected; empty after a seek
  SavedKey seek_target_;
  bool sought_ = false;  // the iteration began with a seek of seek_target_, or continued with it
  std::string merged_;
  PinnedBytes pinned_;  // kPin: the bytes of value_

  // Versions of the saved key that a merge or a backward move has collected.
  std::optional<ValueType> base_type_;  // of the newest version that is not an operand
  PinnedBytes base_;                    // if that is a value
  std::vector<Slice> operands_;         // newest first, when they are merged
  std::vector<PinnedBytes> operand_pins_;
};

}  // namespace ashlar
