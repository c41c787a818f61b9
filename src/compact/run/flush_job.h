// FlushJob: writes immutable memtables to a table on level 0, or to several with disjoint keys if
// one would have too many range tombstones.
//
// Versions that no snapshot can see, and single deletions with their value, are dropped. Deletions
// stay, because the tree may have older versions.
#pragma once

#include <memory>
#include <vector>

#include "compact/run/table_job.h"

namespace ashlar {

struct FlushJobArgs {
  TableJobArgs job;
  std::vector<std::unique_ptr<InternalCursor>> memtables;  // newest first; consumed
  uint64_t expected_entries = 0;                           // of all memtables together
  // Range tombstones of the memtables, for readers at the job's snapshots and the newest sequence.
  std::vector<FragmentedRanges> ranges;
};

// Returns OK with no file if nothing is left to keep. An error leaves no file, and the memtables
// unchanged. Requires: at least one memtable, job.turns and job.clock.
Status RunFlush(FlushJobArgs args, TableJobResult* result);

}  // namespace ashlar
