// VerifyAndCheck: runs PersistentTree::Verify and, if it finds no damage, asserts the numbered
// invariants of the volatile state: heap, span map, pins, index. The suites call it, so that
// release builds check the invariants too.
#pragma once

#include "ashlar/persistent_tree.h"

namespace ashlar {

// Requires: PersistentTree::Open or pmem::OpenTree opened the tree.
Status VerifyAndCheck(PersistentTree* tree);

}  // namespace ashlar
