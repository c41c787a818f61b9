// UndeletedCursor: a merge of sources without the entries that their range tombstones delete. Used
// if a source has range tombstones; otherwise iterators use the merge itself.
//
//   merge      a9 | b5 | c8 | d3 | e2 ...        batches of entries, in order
//   cover      [b ------ @7 ------ e)            the newest visible tombstone
//   shown      a9 |      c8 |      e2            b5 and d3 are older than @7
//
// If a tombstone of a newer source deletes an entry, all older sources seek to the end of the
// covered keys (I1 of range_cover.h). An entry that its own source deletes is stepped over.
//
// Until a source meets a table with range tombstones, the cursor shows the merge as it is, or a
// single source without a merge. A tombstone of a table covers only keys inside the table's bounds,
// so it does not cover entries that were shown before the table was met.
//
// The cursor ends at the first entry outside the bounds or the iterator's prefix, covered or not,
// and opens no table for it. It ends with an error if the limits of the move are reached. It seeks
// over many covered entries or fragments by known gaps (LeaveGap, docs/range-deletions.md).
//
// I1: no shown entry is deleted by a tombstone that is visible at the sequence.
// I2: every other entry of the merge inside the bounds and the prefix is shown, except those of
//     known gaps.
// I3: no seek of the sources leads back to the entry that the previous seek left (Corruption).
//
// Lifetime: owns the sources. Thread safety: one thread.
#pragma once

#include <memory>
#include <vector>

#include "iterate/merging_cursor.h"
#include "iterate/move_limits.h"
#include "iterate/range_cover.h"
#include "iterate/saved_key.h"
#include "key/seek_prefix.h"
#include "memtable/memtable.h"

namespace ashlar {

class UndeletedCursor final : public InternalCursor {
 public:
  struct Args {
    KeyComparator comparator;
    std::vector<std::unique_ptr<InternalCursor>> children;  // at least one, newest first
    RangeCover cover;                                       // its sources are the children
    std::unique_ptr<bool> met_ranges;    // a child has range tombstones, or met a table with some
    SeekPrefix* seek_prefix = nullptr;   // shared with the children; null: none
    const Slice* lower_bound = nullptr;  // user keys; null: none
    const Slice* upper_bound = nullptr;  // exclusive
    const MemTable* gaps = nullptr;      // as IteratorSource::gaps
  };
  explicit UndeletedCursor(Args args);

  // Call before the first seek. Requires: the limits outlive the cursor.
  void SetLimits(MoveLimits* limits) { limits_ = limits; }
  // Whether the last move reached the limits. It then ended at the user key stopped_at().
  bool IsStopped() const { return is_stopped_; }
  Slice stopped_at() const { return stopped_at_.key(); }

  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const Slice& internal_target) override;
  void SeekForPrev(const Slice& internal_target) override;
  Status status() const override { return status_.ok() ? sources().status() : status_; }
  PinSource OwnerOf(const CursorEntry& entry) const override { return sources().OwnerOf(entry); }

 private:
  void MoveNext() override;
  void MovePrev() override;
  // The sources as one: the merge, or the only child.
  InternalCursor& sources() const { return merge_ != nullptr ? *merge_ : *args_.children.front(); }
  template <bool kForward>
  void Show();
  template <bool kForward>
  void StartMerge();
  template <bool kForward>
  void FindVisible();
  template <bool kForward>
  void ShowRun();
  template <bool kForward>
  Status LeaveCovered();
  template <bool kForward>
  Status LeaveGap(size_t first_child);
  template <bool kForward>
  Status SeekSources(size_t first_child);
  template <bool kForward>
  bool IsOutside(const Slice& user_key) const;
  bool IsShown(const CursorEntry& entry) const;
  bool CountCovered(const Slice& user_key);
  void Reach(const Slice& user_key, bool after) {
    reached_.key.assign(user_key.data(), user_key.size());
    reached_.after = after;
  }
  template <bool kForward>
  void EndWalk(const Slice* end);
  template <bool kForward>
  void RememberGap(const Slice* end) const;

  Args args_;
  MoveLimits* limits_ = nullptr;
  // Null: there is one child, and no tombstones were met. Otherwise it owns the children.
  std::unique_ptr<MergingCursor> merge_;
  SavedKey target_;  // of the last seek past a tombstone or a gap
  // I3: the entry that SeekSources left last, since the last seek or turn of this cursor.
  struct Left {
    SavedKey key;
    size_t child = 0;
    bool forward = true;
    bool known = false;
  };
  Left left_;
  Status status_;

  // The state of one FindVisible call.
  uint64_t covered_ = 0;    // entries and fragments left; also counted in limits_
  uint64_t gap_check_ = 0;  // FindGap is called from this number of them on
  SavedKey first_covered_;
  bool is_stopped_ = false;
  SavedKey stopped_at_;
  KeyEdge reached_;  // with gaps: no key between first_covered_ and this edge is visible
  KeyGap gap_;
};

}  // namespace ashlar
