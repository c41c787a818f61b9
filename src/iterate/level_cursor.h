// LevelCursor: a cursor over the files of one level, which are sorted and disjoint. A file is
// opened when the cursor enters it, and closed when the cursor leaves it.
//
// Bounds: files outside [lower, upper) are never opened; the cursor ends before them. Entries
// outside the bounds may be shown if their file also has keys inside. The user's iterator drops
// them.
//
// Prefixes: no cursor is opened on a file whose filter rules out the sought keys. The level ends
// there, unless the next file also begins with the sought prefix. A file that the table filter
// rejects has an empty cursor.
//
// I1: at most one file is open; file_ is its index, or files_.size() for none.
// I2: the batch belongs to the open file's cursor. That cursor gets its position back when this one
//     leaves the batch.
// Lifetime: the files, the opener and the bytes of the bounds outlive the cursor (its creator holds
// the version). Thread safety: one thread.
#pragma once

#include <memory>
#include <span>

#include "key/cursor.h"
#include "key/key_comparator.h"
#include "table/file_metadata.h"
#include "table/table_opener.h"

namespace ashlar {

struct LevelCursorArgs {
  KeyComparator comparator;
  std::span<FileMetaData* const> files;  // ascending
  TableOpener* opener = nullptr;
  TableReadOptions read_options;
  const Slice* lower_bound = nullptr;  // user keys; null: none
  const Slice* upper_bound = nullptr;  // exclusive
  // Set to true when the cursor reaches a file with range tombstones, before it shows an entry of
  // that file or of a later one. Null: not needed.
  bool* met_ranges = nullptr;
};

class LevelCursor final : public InternalCursor {
 public:
  explicit LevelCursor(const LevelCursorArgs& args) : args_(args), file_(args.files.size()) {}

  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const Slice& internal_target) override;
  void SeekForPrev(const Slice& internal_target) override;
  bool StagedSeek(const Slice& internal_target, SeekStage stage) override;
  Status status() const override { return status_; }
  PinSource OwnerOf(const CursorEntry& entry) const override { return cursor_->OwnerOf(entry); }
  // Asserts I1 and I2.
  void CheckInvariants() const;

 private:
  void MoveNext() override;
  void MovePrev() override;
  bool Enter(size_t file);
  bool EnterFor(const Slice& internal_target);
  bool EnterForward(size_t file);
  bool EnterBackward(size_t end);
  bool IsPastUpperBound(size_t file) const;
  bool IsBelowLowerBound(size_t end) const;
  bool RulesOut(size_t file, const Slice& internal_target);
  void NoteRanges(size_t file);
  void PassForward(size_t file);
  void PassBackward(size_t file);
  void Leave();
  bool ShowsEntry();
  void FindEntryForward();
  void FindEntryBackward();

  const LevelCursorArgs args_;
  size_t file_;
  std::unique_ptr<InternalCursor> cursor_;  // over files[file_]; null: none
  Status status_;
};

}  // namespace ashlar
