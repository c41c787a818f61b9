// UndeletedCursor: a merge of sources without the entries that their range tombstones delete. Used
// where a source has range tombstones; elsewhere iterators use the merge itself.
//
//   merge      a9 | b5 | c8 | d3 | e2 ...        batches of entries, in order
//   cover      [b ------ @7 ------ e)            the newest visible tombstone
//   shown      a9 |      c8 |      e2            b5 and d3 are older than @7
//
// An entry that a tombstone of a newer source deletes is skipped by a seek of all older sources to
// the end of the covered keys (I1 of range_cover.h). An entry of the same source is stepped
// over.
//
// Until a source meets a table with range tombstones the cursor shows the merge as it is, and a
// single source without a merge. A tombstone of a table covers keys inside the table's bounds only,
// so it does not cover entries that were shown before the table was met.
//
// I1: no shown entry is deleted by a tombstone that is visible at the sequence.
// I2: every other entry of the merge is shown.
//
// Lifetime: owns the sources. Thread safety: one thread.
#pragma once

#include <memory>
#include <vector>

#include "iterate/merging_cursor.h"
#include "iterate/range_cover.h"
#include "iterate/saved_key.h"
#include "key/seek_prefix.h"

namespace ashlar {

class UndeletedCursor final : public InternalCursor {
 public:
  struct Args {
    KeyComparator comparator;
    std::vector<std::unique_ptr<InternalCursor>> children;  // at least one, newest first
    RangeCover cover;                                       // its sources are the children
    std::unique_ptr<bool> met_ranges;   // a child has range tombstones, or met a table with some
    SeekPrefix* seek_prefix = nullptr;  // that of the children; null: none
  };
  explicit UndeletedCursor(Args args);

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
  void Settle();
  template <bool kForward>
  void ShowRun();
  template <bool kForward>
  Status LeaveCovered();
  bool IsShown(const CursorEntry& entry) const;

  Args args_;
  std::unique_ptr<MergingCursor>
      merge_;        // null: one child, and no tombstones met; else it has them
  SavedKey target_;  // of the last seek past a tombstone
  Status status_;
};

}  // namespace ashlar
