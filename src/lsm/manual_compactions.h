// ManualCompactions: CompactRange, in the threads of its callers.
//
//   pick a step of the walk (database mutex) -> CompactionRunner -> count down (database mutex)
//     -> next step, until the walk is done; a step that conflicts with a running plan waits
//
// I1: an exclusive manual compaction excludes automatic ones of its family, and other exclusive
//     ones.
// I2: a step that a pause interrupted is repeated once work continues.
//
// Thread safety: methods marked REQUIRES under the database mutex, the others without locks.
#pragma once

#include <memory>

#include "ashlar/options.h"
#include "compact/plan/manual_compaction.h"
#include "lsm/compaction_backoff.h"
#include "lsm/compaction_runner.h"
#include "lsm/event_outbox.h"
#include "lsm/file_janitor.h"
#include "lsm/stats_dumper.h"
#include "lsm/view_observer.h"

namespace ashlar {

class ManualCompactions {
 public:
  struct Parts {
    DatabaseState* state = nullptr;
    CompactionRunner* runner = nullptr;
    CompactionBackoff* backoff = nullptr;
    EventOutbox* outbox = nullptr;
    FileJanitor* files = nullptr;
    StatsDumper* stats = nullptr;
    ViewObserver* observer = nullptr;
  };
  explicit ManualCompactions(const Parts& parts) : parts_(parts), state_(parts.state) {}
  ManualCompactions(const ManualCompactions&) = delete;
  ManualCompactions& operator=(const ManualCompactions&) = delete;

  // Compacts [begin, end] (null: unbounded) of a family whose memtables have been flushed.
  Status CompactRange(const CompactRangeOptions& options,
                      const std::shared_ptr<ColumnFamily>& family, const Slice* begin,
                      const Slice* end);
  // Steps that run.
  int running() const ASHLAR_REQUIRES(kDatabaseMutex) { return running_; }

 private:
  // One CompactRange.
  struct Call {
    const CompactRangeOptions& options;
    const std::shared_ptr<ColumnFamily>& family;
    ManualCompaction walk;
  };

  Status Walk(Call* call);
  // The next step of the walk, waited for; null: the walk is done.
  Result<std::unique_ptr<Compaction>> PickStep(Call* call);
  // Why the walk has to end.
  Status CheckMayContinue(const Call& call) const ASHLAR_REQUIRES(kDatabaseMutex);
  Status RunStep(Call* call, std::unique_ptr<Compaction> compaction);
  Status BeginExclusive(ColumnFamily* family);
  void EndExclusive(const std::shared_ptr<ColumnFamily>& family);

  const Parts parts_;
  DatabaseState* const state_;
  int running_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;
};

}  // namespace ashlar
