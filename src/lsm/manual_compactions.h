// ManualCompactions: CompactRange, CompactFiles, PromoteL0, DeleteFilesInRanges and DeleteFile, in
// the threads of their callers.
//
//   pick a step of the call (database mutex) -> CompactionRunner -> count down (database mutex)
//     -> next step, until the call is done; a step that conflicts with a running plan waits
//
// I1: an exclusive manual compaction begins once no compaction of its family runs. Until it has
//     ended, its own steps are the only ones that begin, except for those that delete files.
// I2: a step that a pause interrupted is repeated once work continues.
// I3: once Disable has returned, no call is under way while manual compactions are disabled, except
//     for those that delete files.
// I4: while a step waits for running plans, no automatic compaction of its family begins. Under
//     load, the critical section that ends one would always begin another.
//
// Thread safety: methods marked REQUIRES under the database mutex, the others without locks.
#pragma once

#include <atomic>
#include <memory>
#include <span>

#include "ashlar/options.h"
#include "base/function_ref.h"
#include "compact/plan/file_plans.h"
#include "compact/plan/manual_compaction.h"
#include "lsm/compaction_backoff.h"
#include "lsm/compaction_runner.h"
#include "lsm/coverage_scan.h"
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
    CoverageScan* coverage_scan = nullptr;
    EventOutbox* outbox = nullptr;
    FileJanitor* files = nullptr;
    StatsDumper* stats = nullptr;
    ViewObserver* observer = nullptr;
  };
  explicit ManualCompactions(const Parts& parts) : parts_(parts), state_(parts.state) {}
  ManualCompactions(const ManualCompactions&) = delete;
  ManualCompactions& operator=(const ManualCompactions&) = delete;

  // Returns Incomplete if manual compactions are disabled, or all compactions are aborted.
  Status CheckEnabled() const;
  // Compacts [begin, end] (null: unbounded) of a family whose memtables have been flushed, and
  // changes the level of the result if the options say so.
  Status CompactRange(const CompactRangeOptions& options,
                      const std::shared_ptr<ColumnFamily>& family, const Slice* begin,
                      const Slice* end);
  // Compacts the files. *info is filled if the compaction was done.
  Status CompactFiles(const CompactionOptions& options, const std::shared_ptr<ColumnFamily>& family,
                      const FilesRequest& request, CompactionJobInfo* info);
  // Moves the files of level 0 to the level, as an exclusive manual compaction.
  Status MoveLevel0(const std::shared_ptr<ColumnFamily>& family, Level to);
  // Drops the files inside the ranges without waiting for other plans. *dropped is their number.
  Status DeleteFiles(const std::shared_ptr<ColumnFamily>& family,
                     std::span<const UserKeyRange> ranges, bool include_end, size_t* dropped);
  // DB::DeleteFile for a table. *dropped is false if a compaction reads it.
  Status DeleteFile(FileNumber number, bool* dropped);
  void Disable();
  void Enable();
  // The number of running steps.
  int running() const ASHLAR_REQUIRES(kDatabaseMutex) { return running_; }
  // The number of calls that are under way, except for DeleteFiles and DeleteFile.
  int calls() const ASHLAR_REQUIRES(kDatabaseMutex) { return calls_; }
  // Asserts the counts that I1, I3 and I4 rest on.
  void CheckInvariants() const ASHLAR_REQUIRES(kDatabaseMutex);

 private:
  // One call of the program.
  struct Call {
    const std::shared_ptr<ColumnFamily>& family;
    const std::atomic<bool>* canceled = nullptr;
    uint32_t max_subcompactions = 0;
    bool exclusive = false;
    CompactionJobInfo* info = nullptr;
  };
  // The next step is a plan, none if the call is done, or an error. NextStep and StepDone are the
  // last two arguments of RunSteps.
  struct Step {
    std::optional<CompactionPlan> plan = {};
    bool conflict = false;
  };
  using NextStep = FunctionRef<Result<Step>()>;
  using StepDone = FunctionRef<void(const CompactionPlan& plan)>;

  // BeginCall and EndCall count a call while it is under way (I3).
  Status BeginCall(const Call& call);
  void EndCall(const Call& call);
  Status BeginExclusive(const Call& call) ASHLAR_REQUIRES(kDatabaseMutex);

  // Runs a complete call of at most one step.
  Status RunOnce(const Call& call, NextStep pick);
  // Picks and runs steps until next_step says that the call is done.
  Status RunSteps(const Call& call, NextStep next_step, StepDone step_done);
  // Waits for the next step and returns it. Returns null if the call is done.
  Result<std::unique_ptr<Compaction>> PickStep(const Call& call, NextStep next_step);
  // The same. Sets *has_waited once it has held back automatic compactions (I4).
  Result<std::unique_ptr<Compaction>> AwaitStep(const Call& call, NextStep next_step,
                                                bool* has_waited) ASHLAR_REQUIRES(kDatabaseMutex);
  Status Refit(const Call& call, const CompactRangeOptions& options, const UserKeyRange& range);
  Status CheckAllowed() const ASHLAR_REQUIRES(kDatabaseMutex);
  // Returns the reason why the call has to end, or Ok.
  Status CheckMayContinue(const Call& call) const ASHLAR_REQUIRES(kDatabaseMutex);
  Status RunStep(const Call& call, std::unique_ptr<Compaction> compaction, StepDone step_done);

  const Parts parts_;
  DatabaseState* const state_;
  int running_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;
  int calls_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;
  int disabled_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;  // calls of Disable without an Enable
  // disabled_ > 0. Written under the database mutex, read by running jobs.
  std::atomic<bool> is_disabled_{false};
};

}  // namespace ashlar
