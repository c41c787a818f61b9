// MoveLimits: where a move of an iterator has to end although it has found no key: after
// ReadOptions::max_skippable_internal_keys entries. The one place of that limit, for the iterator
// and for a cursor that leaves out entries itself.
//
//   UserIterator      deletions, hidden versions, entries too new, operands --+
//   UndeletedCursor   covered entries, fragments of range deletions ----------+--> Count
//
// I1: a move ends with Incomplete exactly if it counts more entries than the limit. A key that it
//     has decided before that is shown; then the next move is Incomplete.
//
// Lifetime: part of the iterator, which outlives its cursors. Thread safety: one thread.
#pragma once

#include <cstdint>
#include <limits>

#include "ashlar/status.h"

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

 private:
  const uint64_t entries_max_;
  uint64_t entries_ = 0;  // in this move
};

}  // namespace ashlar
