// MoveLimits: where a move of an iterator has to end although it has found no key: after
// ReadOptions::max_skippable_internal_keys entries, and with prefix_same_as_start where the prefix
// ends. The one place of both, for the iterator and for a cursor that leaves out entries itself.
//
//   UserIterator      deletions, hidden versions, entries too new, operands --+
//   UndeletedCursor   covered entries, fragments of range deletions ----------+--> Count
//
// I1: a move ends with Incomplete exactly if it counts more entries than the limit. A key that it
//     has decided before that is shown; then the next move is Incomplete.
// I2: outside the prefix a move ends without an error, whether an entry there is shown or hidden.
//
// Lifetime: part of the iterator, which outlives its cursors. The extractor belongs to the source
// of the walk. Thread safety: one thread.
#pragma once

#include <cstdint>
#include <limits>

#include "ashlar/slice_transform.h"
#include "ashlar/status.h"
#include "iterate/saved_key.h"

namespace ashlar {

class MoveLimits {
 public:
  // 0: any number.
  explicit MoveLimits(uint64_t entries_max)
      : entries_max_(entries_max != 0 ? entries_max : std::numeric_limits<uint64_t>::max()) {}

  void BeginMove() { entries_ = 0; }
  // One more entry that is stepped over, or is left by a seek. False: the limit is reached.
  bool Count() { return ++entries_ <= entries_max_; }
  bool AreReached() const { return entries_ > entries_max_; }
  uint64_t entries() const { return entries_; }
  static Status Error() {
    return Status::Incomplete(
        "more entries had to be stepped over than ReadOptions::max_skippable_internal_keys allows");
  }

  // From here on moves end outside the prefix of the key, if it has one.
  void StayInPrefixOf(const SliceTransform* extractor, const Slice& user_key);
  void LeavePrefix() { in_prefix_ = false; }
  // Most iterators have no prefix. By value: a step that takes the address of a local pays for the
  // stack protector.
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
