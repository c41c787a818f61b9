// The inputs of decisions about a family's tree (compact/plan/compaction_policy.h).
//
// Thread safety: under the database mutex. Lifetime of a TreeView: the version that it was made
// from outlives it.
#pragma once

#include "compact/plan/compaction_policy.h"
#include "lsm/database_state.h"

namespace ashlar {

// The levels of the current version that compactions work on, and the plans that run on it.
TreeView MakeTreeView(const DatabaseState& state, const ColumnFamily& family)
    ASHLAR_REQUIRES(kDatabaseMutex);
// Also includes the level that is reserved for files ingested behind (allow_ingest_behind).
TreeView MakeWholeTreeView(const DatabaseState& state, const ColumnFamily& family)
    ASHLAR_REQUIRES(kDatabaseMutex);
TreeSizes MakeTreeSizes(const ColumnFamily& family) ASHLAR_REQUIRES(kDatabaseMutex);
// The number of levels that compactions work on. The version has as many, or one more.
Level CompactedLevels(const ColumnFamily& family) ASHLAR_REQUIRES(kDatabaseMutex);
StallInputs MakeStallInputs(const ColumnFamily& family) ASHLAR_REQUIRES(kDatabaseMutex);
// True if an automatic compaction is allowed and has something to do.
bool CompactionPending(const DatabaseState& state, const ColumnFamily& family)
    ASHLAR_REQUIRES(kDatabaseMutex);

}  // namespace ashlar
