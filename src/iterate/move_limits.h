// MoveLimits: where a move of an iterator ends although it has found no key: after
// ReadOptions::max_skippable_internal_keys entries, and at the end of the prefix with
// prefix_same_as_start. The iterator shares both limits with a cursor that skips entries itself.
//
//   UserIterator      deletions, hidden versions, entries too new, operands --+
//   UndeletedCursor   covered entries, fragments of range deletions ----------+--> Count
//
// I1: a move ends with Incomplete if and only if it counts more entries than the limit. A key that
//     was decided before that is still shown, and the next move is Incomplete.
// I2: outside the prefix a move ends without an error, whether the entry there is shown or hidden.
//
// Lifetime: part of the iterator, which outlives its cursors. The extractor belongs to the
// iterator's source. Thread safety: one thread.
#pragma once

#include <cstdint>
#include <limits>

#include "ashlar/slice_transform.h"
#include "ashlar/status.h"
#include "iterate/saved_key.h"

namespace ashlar {

class MoveLimits {
 public:
  // entries_max: 0 is any number.
  explicit MoveLimits(uint64_t entries_max)
      : entries_max_(entries_max != 0 ? entries_max : std::numeric_limits<uint64_t>::max()) {}

  void BeginMove() { entries_ = 0; }
  // Counts an entry that is stepped over, or left by a seek. Returns false if the limit is reached.
  bool Count() { return ++entries_ <= entries_max_; }
  bool AreReached() const { return entries_ > entries_max_; }
  uint64_t entries() const { return entries_; }
  static Status Error() {
    return Status::Incomplete(
        "more entries had to be stepped over than ReadOptions::max_skippable_internal_keys allows");
  }

  // From now on, moves end where the prefix of the key ends, if the key has one.
  void StayInPrefixOf(const SliceTransform* extractor, const Slice& user_key);
  void LeavePrefix() { in_prefix_ = false; }
  // Most iterators have no prefix. The key is passed by value, because a step that takes the
  // address of a local pays for the stack protector.
  bool OutsidePrefix(Slice user_key) const { return in_prefix_ && IsOutsidePrefix(user_key); }

 private:
  bool IsOutsidePrefix(Slice user_key) const;

  bool in_prefix_ = false;
  const uint64_t entries_max_;
  uint64_t entries_ = 0;  // in this move
  const SliceTransform* extractor_ = nullptr;
  SavedKey prefix_;
};

}  // namespace ashlar
