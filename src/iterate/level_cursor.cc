#include "iterate/level_cursor.h"

#include <algorithm>

#include "base/assert.h"
#include "iterate/empty_cursor.h"
#include "key/seek_prefix.h"

namespace ashlar {

// Opens the cursor of a file unless it is open. Returns false if there is no such file, or if the
// file could not be opened.
bool LevelCursor::Enter(size_t file) {
  if (file == file_ && cursor_ != nullptr) return true;
  Leave();
  if (file >= args_.files.size()) return false;
  Result<std::unique_ptr<InternalCursor>> cursor =
      args_.opener->NewCursor(args_.files[file], args_.read_options);
  if (!cursor.ok()) {
    status_ = std::move(cursor).status();
    return false;
  }
  ASHLAR_ASSERT(cursor_ == nullptr && file_ == args_.files.size());  // I1
  cursor_ = std::move(cursor).value();
  if (cursor_ == nullptr) cursor_ = std::make_unique<EmptyCursor>(Status::OK());
  file_ = file;
  NoteRanges(file);
  return true;
}

// Requires: the file is or was open, so that has_ranges is known.
void LevelCursor::NoteRanges(size_t file) {
  if (args_.met_ranges != nullptr &&
      args_.files[file]->has_ranges.load(std::memory_order_relaxed) != HasRanges::kNo)
    *args_.met_ranges = true;
}

void LevelCursor::CheckInvariants() const {
  ASHLAR_ASSERT((cursor_ == nullptr) == (file_ == args_.files.size()));  // I1
  ASHLAR_ASSERT(!Valid() || (cursor_ != nullptr && status_.ok()));       // I2
  // The file's bounds are from the MANIFEST, which may be wrong, so they are not asserted here.
}

bool LevelCursor::IsPastUpperBound(size_t file) const {
  return file < args_.files.size() && args_.upper_bound != nullptr &&
         args_.comparator.Compare(args_.files[file]->smallest_user_key(), *args_.upper_bound) >= 0;
}

bool LevelCursor::EnterForward(size_t file) {
  if (!IsPastUpperBound(file)) return Enter(file);
  Leave();
  return false;
}

// Here and below, `end` is one more than a file's index, so that 0 is before the first file.
bool LevelCursor::IsBelowLowerBound(size_t end) const {
  ASHLAR_DCHECK(end <= args_.files.size());  // one more than an index
  return end == 0 || (args_.lower_bound != nullptr &&
                      args_.files[end - 1]->EndsBefore(args_.comparator, *args_.lower_bound));
}

bool LevelCursor::EnterBackward(size_t end) {
  if (!IsBelowLowerBound(end)) return Enter(end - 1);
  Leave();
  return false;
}

void LevelCursor::Leave() {
  cursor_.reset();
  file_ = args_.files.size();
  Hide();
}

// Shows the file's batch, or takes over its error. Returns true if the move ends here.
bool LevelCursor::ShowsEntry() {
  ASHLAR_DCHECK(cursor_ != nullptr && file_ < args_.files.size());  // I1
  StandAs(this, *cursor_);
  if constexpr (kDebugChecks) CheckInvariants();
  if (Valid()) return true;
  status_ = cursor_->status();
  return !status_.ok();
}

void LevelCursor::FindEntryForward() {
  while (!ShowsEntry()) {
    if (!EnterForward(file_ + 1)) return;
    cursor_->SeekToFirst();
  }
}

void LevelCursor::FindEntryBackward() {
  while (!ShowsEntry()) {
    if (!EnterBackward(file_)) return;
    cursor_->SeekToLast();
  }
}

void LevelCursor::SeekToFirst() {
  status_ = Status::OK();
  const auto file =
      args_.lower_bound == nullptr
          ? args_.files.begin()
          : std::partition_point(args_.files.begin(), args_.files.end(),
                                 [this](const FileMetaData* f) {
                                   return f->EndsBefore(args_.comparator, *args_.lower_bound);
                                 });
  if (!EnterForward(static_cast<size_t>(file - args_.files.begin()))) return;
  cursor_->SeekToFirst();
  FindEntryForward();
}

void LevelCursor::SeekToLast() {
  status_ = Status::OK();
  const auto end =
      args_.upper_bound == nullptr
          ? args_.files.end()
          : std::partition_point(
                args_.files.begin(), args_.files.end(), [this](const FileMetaData* f) {
                  return args_.comparator.Compare(f->smallest_user_key(), *args_.upper_bound) < 0;
                });
  if (!EnterBackward(static_cast<size_t>(end - args_.files.begin()))) return;
  cursor_->SeekToLast();
  FindEntryBackward();
}

// Returns true if the file's filter shows that the file has no sought key.
bool LevelCursor::RulesOut(size_t file, const Slice& internal_target) {
  if (args_.read_options.seek_prefix == nullptr || file >= args_.files.size() ||
      args_.opener->MayMatch(args_.files[file], args_.read_options, internal_target))
    return false;
  NoteRanges(file);
  return true;
}

void LevelCursor::Seek(const Slice& internal_target) {
  for (SeekStage stage = SeekStage::kGroup; StagedSeek(internal_target, stage);
       stage = NextStage(stage)) {
  }
}

bool LevelCursor::StagedSeek(const Slice& internal_target, SeekStage stage) {
  if (stage == SeekStage::kGroup && !EnterFor(internal_target)) return false;
  if (cursor_->StagedSeek(internal_target, stage)) return true;
  FindEntryForward();
  return false;
}

// Opens the file in which the target would be. Returns false if there is nothing left to seek.
bool LevelCursor::EnterFor(const Slice& internal_target) {
  status_ = Status::OK();
  const auto found =
      std::partition_point(args_.files.begin(), args_.files.end(), [&](const FileMetaData* f) {
        return args_.comparator.CompareInternal(f->largest, internal_target) < 0;
      });
  const auto file = static_cast<size_t>(found - args_.files.begin());
  if (IsPastUpperBound(file)) {
    Leave();
    return false;
  }
  if (!RulesOut(file, internal_target)) return Enter(file);
  PassForward(file);
  return false;
}

// Moves from a file without the sought keys to the next file, which may have them only if it begins
// with the sought prefix.
void LevelCursor::PassForward(size_t file) {
  ASHLAR_DCHECK(file < args_.files.size());  // RulesOut checked the index
  Hide();
  if (file + 1 == args_.files.size() ||
      args_.read_options.seek_prefix->IsOutside(args_.files[file + 1]->smallest_user_key()))
    return;
  if (!EnterForward(file + 1)) return;
  cursor_->SeekToFirst();
  FindEntryForward();
}

void LevelCursor::SeekForPrev(const Slice& internal_target) {
  status_ = Status::OK();
  const auto found =
      std::partition_point(args_.files.begin(), args_.files.end(), [&](const FileMetaData* f) {
        return args_.comparator.CompareInternal(f->smallest, internal_target) <= 0;
      });
  const auto end = static_cast<size_t>(found - args_.files.begin());
  if (IsBelowLowerBound(end)) return Leave();
  if (RulesOut(end - 1, internal_target)) return PassBackward(end - 1);
  if (!Enter(end - 1)) return;
  cursor_->SeekForPrev(internal_target);
  FindEntryBackward();
}

void LevelCursor::PassBackward(size_t file) {
  ASHLAR_DCHECK(file < args_.files.size());  // RulesOut checked the index
  Hide();
  if (file == 0 ||
      args_.read_options.seek_prefix->IsOutside(args_.files[file - 1]->largest_user_key()))
    return;
  if (!EnterBackward(file)) return;
  cursor_->SeekToLast();
  FindEntryBackward();
}

void LevelCursor::MoveNext() {
  StandAs(cursor_.get(), *this);
  cursor_->Next();
  FindEntryForward();
}

void LevelCursor::MovePrev() {
  StandAs(cursor_.get(), *this);
  cursor_->Prev();
  FindEntryBackward();
}

}  // namespace ashlar
