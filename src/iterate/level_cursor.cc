#include "iterate/level_cursor.h"

#include <algorithm>

namespace ashlar {

// Opens a file's cursor unless it is open. False: there is no such file within the bounds, or an error.
bool LevelCursor::Enter(size_t file) {
  if (file == file_ && cursor_ != nullptr) return true;
  Leave();
  if (file >= args_.files.size()) return false;
  Result<std::unique_ptr<InternalCursor>> cursor = args_.opener->NewCursor(args_.files[file], args_.read_options);
  if (!cursor.ok()) {
    status_ = std::move(cursor).status();
    return false;
  }
  cursor_ = std::move(cursor).value();
  file_ = file;
  return true;
}

bool LevelCursor::EnterForward(size_t file) {
  if (file < args_.files.size() && args_.upper_bound != nullptr &&
      args_.comparator.Compare(args_.files[file]->smallest_user_key(), *args_.upper_bound) >= 0) {
    Leave();
    return false;
  }
  return Enter(file);
}

// file is one more than the index, so that 0 is before the first.
bool LevelCursor::EnterBackward(size_t file) {
  if (file == 0 || (args_.lower_bound != nullptr && args_.comparator.Compare(args_.files[file - 1]->largest_user_key(), *args_.lower_bound) < 0)) {
    Leave();
    return false;
  }
  return Enter(file - 1);
}

void LevelCursor::Leave() {
  cursor_.reset();
  file_ = args_.files.size();
  valid_ = false;
}

// Shows the file's entry, or takes an error over. True: the walk has come to rest.
bool LevelCursor::Settled() {
  valid_ = cursor_->Valid();
  if (valid_) {
    key_ = cursor_->key();
    value_ = cursor_->value();
    return true;
  }
  status_ = cursor_->status();
  return !status_.ok();
}

void LevelCursor::SettleForward() {
  while (!Settled()) {
    if (!EnterForward(file_ + 1)) return;
    cursor_->SeekToFirst();
  }
}

void LevelCursor::SettleBackward() {
  while (!Settled()) {
    if (!EnterBackward(file_)) return;
    cursor_->SeekToLast();
  }
}

void LevelCursor::SeekToFirst() {
  status_ = Status::OK();
  const auto file = args_.lower_bound == nullptr ? args_.files.begin()
                                                 : std::partition_point(args_.files.begin(), args_.files.end(), [this](const FileMetaData* f) {
                                                     return args_.comparator.Compare(f->largest_user_key(), *args_.lower_bound) < 0;
                                                   });
  if (!EnterForward(static_cast<size_t>(file - args_.files.begin()))) return;
  cursor_->SeekToFirst();
  SettleForward();
}

void LevelCursor::SeekToLast() {
  status_ = Status::OK();
  const auto end =
      args_.upper_bound == nullptr ? args_.files.end() : std::partition_point(args_.files.begin(), args_.files.end(), [this](const FileMetaData* f) {
        return args_.comparator.Compare(f->smallest_user_key(), *args_.upper_bound) < 0;
      });
  if (!EnterBackward(static_cast<size_t>(end - args_.files.begin()))) return;
  cursor_->SeekToLast();
  SettleBackward();
}

void LevelCursor::Seek(const Slice& internal_target) {
  status_ = Status::OK();
  const auto file = std::partition_point(args_.files.begin(), args_.files.end(),
                                         [&](const FileMetaData* f) { return args_.comparator.CompareInternal(f->largest, internal_target) < 0; });
  if (!EnterForward(static_cast<size_t>(file - args_.files.begin()))) return;
  cursor_->Seek(internal_target);
  SettleForward();
}

void LevelCursor::SeekForPrev(const Slice& internal_target) {
  status_ = Status::OK();
  const auto end = std::partition_point(args_.files.begin(), args_.files.end(),
                                        [&](const FileMetaData* f) { return args_.comparator.CompareInternal(f->smallest, internal_target) <= 0; });
  if (!EnterBackward(static_cast<size_t>(end - args_.files.begin()))) return;
  cursor_->SeekForPrev(internal_target);
  SettleBackward();
}

void LevelCursor::Next() {
  cursor_->Next();
  SettleForward();
}

void LevelCursor::Prev() {
  cursor_->Prev();
  SettleBackward();
}

}  // namespace ashlar
