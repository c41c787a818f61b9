// FlushJob: immutable memtables become a table on level 0, or several with disjoint keys where one
// would have too many range tombstones.
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
  // Their range tombstones, for readers at the job's snapshots and at the newest sequence.
  std::vector<FragmentedRanges> ranges;
};

// Ok with no file when nothing is left to keep. An error leaves no file and the memtables as they
// are. Requires: at least one memtable, job.turns and job.clock.
Status RunFlush(FlushJobArgs args, TableJobResult* result);

}  // namespace ashlar
