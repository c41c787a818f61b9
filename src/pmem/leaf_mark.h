// The mark: after an open, finds which records of the pool are in use, so that the rest can be
// handed out.
//
// It goes through the key space, not through leaves: the next leaf is the one that covers the last
// one's upper bound. Slots that a split moves right are met later, those that a merge moves left of
// the bound came from leaves right of it, and the leaf that covers the bound now is looked at
// whole. So every record that was in use at open, and still is, is met.
//
// Thread safety: runs beside everything, on its own thread; `stop` ends it early.
#pragma once

#include <atomic>

#include "pmem/tree_state.h"

namespace ashlar::pmem {

// Ok when everything in use was marked, or when told to stop; Corruption naming a reference that
// leads nowhere. The heap's FinishMark is the caller's.
Status MarkRecords(TreeState* state, const std::atomic<bool>& stop);

}  // namespace ashlar::pmem
