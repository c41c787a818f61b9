// The mark: finds the records that are in use after an open, so that the rest can be allocated.
//
// It walks over the key space and not over leaves: the next leaf is the one that covers the upper
// bound of the last one. A split moves slots to the right, where the mark meets them later. A merge
// moves slots from the right of the bound into the leaf that covers it, which the mark reads as a
// whole. So it meets every record that was in use at open and still is. It checks the bounds again:
// one that was damaged after the open has read it would lead past leaves.
//
// Thread safety: runs on a thread of its own, concurrently with readers and writers; `stop` ends it
// early.
#pragma once

#include <atomic>
#include <functional>

#include "pmem/tree_state.h"

namespace ashlar::pmem {

// Ok when everything in use is marked, or after `stop`; Corruption naming a reference to a place
// where no such record can be, or a damaged separator. The caller calls the heap's FinishMark or
// FailMark. Calls before_leaf(), if there is one, before it comes to a leaf.
Status MarkRecords(TreeState* state, const std::atomic<bool>& stop,
                   const std::function<void()>& before_leaf);

}  // namespace ashlar::pmem
