// JobSettings: the part of the guarded state that a flush or compaction needs, copied when it
// begins. The arguments of compact/run are made from it when the job runs.
//
// Snapshots are listed when the job runs and not before. It may have waited in the executor's
// queue, and a compaction filter changes what no listed snapshot sees. The list is complete,
// because every sequence of the inputs was published before the job began, and a snapshot that is
// taken later sees what the job makes of them (ashlar/compaction_filter.h).
//
// Thread safety: TakeJobSettings under the database mutex, the rest from any thread without it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ashlar/options.h"
#include "ashlar/status.h"
#include "compact/run/table_job.h"
#include "lsm/database_state.h"

namespace ashlar {

struct JobSettings {
  ColumnFamilyOptions options;
  uint64_t bytes_per_sync = 0;
  size_t readahead_bytes = 0;
};

JobSettings TakeJobSettings(const DatabaseState& state, const ColumnFamily& family)
    ASHLAR_REQUIRES(kDatabaseMutex);
// Call when the job runs. `interrupt` ends the job at its next entry when set.
TableJobArgs MakeJobArgs(const DatabaseState& state, const ColumnFamily& family,
                         const JobSettings& settings, const std::atomic<bool>* interrupt)
    ASHLAR_EXCLUDES(kDatabaseMutex);

// Returns false if the job failed, but not if it was told to stop or its family was dropped.
bool IsBenign(const Status& status);

}  // namespace ashlar
