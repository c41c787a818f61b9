// The mark: finds the records that are in use after an open, so that the rest can be allocated.
//
// It iterates over the key space and not over leaves. The next leaf is the one that covers the
// upper bound of the last one. A split moves slots to the right, where the mark reaches them later.
// A merge moves slots from the right of the bound into the leaf that covers it, which the mark
// reads completely. So it reaches every record that was in use at open and still is. It checks the
// bounds again, because a bound that was damaged after the open read it would lead past leaves.
//
// Thread safety: runs on a thread of its own, concurrently with readers and writers; `stop` ends it
// early.
#pragma once

#include <atomic>
#include <functional>

#include "pmem/tree_state.h"

namespace ashlar::pmem {

// Returns Ok when everything in use is marked, or after `stop`. Returns Corruption naming a
// reference to a place where no such record can be, or a damaged separator. The caller then calls
// the heap's FinishMark or FailMark. Calls before_leaf(), if there is one, before each leaf.
Status MarkRecords(TreeState* state, const std::atomic<bool>& stop,
                   const std::function<void()>& before_leaf);

}  // namespace ashlar::pmem
