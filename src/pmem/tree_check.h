// Verification, counting and defragmentation. All of them iterate over all leaves.
#pragma once

#include "ashlar/persistent_tree.h"
#include "pmem/tree_state.h"

namespace ashlar::pmem {

// See PersistentTree::Verify.
Status VerifyTree(TreeState* state);
// See PersistentTree::Count.
uint64_t CountKeys(TreeState* state, const KeyRange& range);
// See PersistentTree::Defragment.
Status DefragmentTree(TreeState* state);

}  // namespace ashlar::pmem
