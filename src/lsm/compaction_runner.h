// CompactionRunner: one compaction, from its plan to the installed edit.
//
//   Start (database mutex: marks inputs, copies settings) -> Run: tables (no lock)
//     -> VersionInstaller (checks the plan; MANIFEST, views), or a failure: ends the plan
//
// I1: a plan's inputs are marked from the pick until the install or the failure, so that running
//     plans never share a file.
// I2: a plan is installed only while it still fits the tree (I5 of compaction_plan.h), so that a
//     compaction never moves newer data below older data.
//
// Thread safety: methods marked REQUIRES under the mutex, Run without locks from any thread.
#pragma once

#include <atomic>
#include <memory>

#include "compact/run/compaction_job.h"
#include "lsm/job_events.h"
#include "lsm/job_settings.h"
#include "lsm/version_installer.h"

namespace ashlar {

// A plan in progress, with everything that it borrows.
class Compaction {
 public:
  Compaction(std::shared_ptr<ColumnFamily> of_family, CompactionPlan picked, JobSettings taken)
      ASHLAR_REQUIRES(kDatabaseMutex);
  ~Compaction() { version->Unref(); }
  Compaction(const Compaction&) = delete;
  Compaction& operator=(const Compaction&) = delete;

  const std::shared_ptr<ColumnFamily> family;
  Version* const version;  // the plan was made on it; one count
  CompactionPlan plan;     // KeepPartitions may change it
  const JobSettings settings;
  const std::atomic<bool>* canceled = nullptr;  // set by the user; null: never
  const std::atomic<bool>* disabled = nullptr;  // set if manual ones are disabled; null: automatic
  CompactionJobInfo* info = nullptr;            // filled at the end; null: not wanted
  std::unique_ptr<JobEvents> events = {};
  bool may_be_recorded = false;  // the MANIFEST may have the edit
};

class CompactionRunner {
 public:
  // interrupt: ends running jobs.
  CompactionRunner(DatabaseState* state, VersionInstaller* installer,
                   const std::atomic<bool>* interrupt)
      : state_(state), installer_(installer), interrupt_(interrupt) {}
  CompactionRunner(const CompactionRunner&) = delete;
  CompactionRunner& operator=(const CompactionRunner&) = delete;

  // Ends running compactions at their next entry and lets none run until each call is matched by an
  // Allow. A deletion of files by the program is not a compaction.
  void Abort() ASHLAR_REQUIRES(kDatabaseMutex);
  // Returns false if other calls of Abort still count, or if there was none.
  bool Allow() ASHLAR_REQUIRES(kDatabaseMutex);
  int aborts() const ASHLAR_REQUIRES(kDatabaseMutex) { return aborts_; }

  std::unique_ptr<Compaction> Start(const std::shared_ptr<ColumnFamily>& family,
                                    CompactionPlan plan) ASHLAR_REQUIRES(kDatabaseMutex);
  // Ends a plan without an install.
  void Cancel(Compaction* compaction) ASHLAR_REQUIRES(kDatabaseMutex) { EndPlan(compaction); }
  // Asserts I1 of a running plan.
  static void CheckMarks(const CompactionPlan& plan) ASHLAR_REQUIRES(kDatabaseMutex);
  // Runs the plan, installs it, and ends it in any case.
  Status Run(Compaction* compaction);

 private:
  // Turns a trivial move into a rewrite if the program's partitioner wants the files cut.
  void KeepPartitions(Compaction* compaction);
  // Reserves the bytes of the inputs within the space limit until the compaction ends.
  Status TakeRoom(const CompactionPlan& plan, DatabaseSpace::Reservation* room) const;
  // Runs the job of the plan, if it has one, and adds the job's files to the edit.
  Status Execute(Compaction* compaction, TableJobResult* result, VersionEdit* edit);
  Status Install(Compaction* compaction, const TableJobStatistics& statistics,
                 std::vector<VersionEdit>* edits);
  // Checks I2 before the edit is prepared. The version cannot change until the install, because the
  // caller holds the manifest mutex.
  void AssertFits(const Compaction& compaction) const ASHLAR_REQUIRES(kDatabaseMutex);
  void EndPlan(Compaction* compaction) ASHLAR_REQUIRES(kDatabaseMutex);
  // Call after files of the family were dropped with keys that readers saw, in the critical section
  // that publishes the drop.
  static void ForgetWhatWasHidden(ColumnFamily* family) ASHLAR_REQUIRES(kDatabaseMutex);
  // Call after a failed plan of kHiddenFiles, which may have kept its inputs marked as hidden for
  // too long. The next scan (coverage_scan.h) finds those that still are hidden.
  static void ForgetInputs(const CompactionPlan& plan) ASHLAR_REQUIRES(kDatabaseMutex);

  DatabaseState* const state_;
  VersionInstaller* const installer_;
  const std::atomic<bool>* const interrupt_;
  int aborts_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;  // calls of Abort without an Allow
  // aborts_ > 0. Written under the database mutex, read by running jobs.
  std::atomic<bool> is_aborted_{false};
};

}  // namespace ashlar
