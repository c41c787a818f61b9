// VerifyAndCheck: PersistentTree::Verify and, where it finds nothing, the numbered invariants of
// the volatile state: heap, span map, pins, index. The suites use it, so that release builds check
// them too.
#pragma once

#include "ashlar/persistent_tree.h"

namespace ashlar {

// Requires: a tree of PersistentTree::Open or pmem::OpenTree.
Status VerifyAndCheck(PersistentTree* tree);

}  // namespace ashlar
