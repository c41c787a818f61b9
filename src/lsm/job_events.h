// JobEvents: reports one flush or compaction, and the tables that it makes, to listeners, the LOG,
// the statistics and the status of the thread.
//
//   FlushBegun --> (TableBegun --> TableEnded)... --> Installing --> FlushEnded
//   CompactionBegun --> (SubcompactionBegun --> (tables)... --> SubcompactionEnded)...
//                   --> Installing --> CompactionEnded, where subcompactions interleave
//
// I1: every Begun has its Ended. For tables and subcompactions it is called after a failure, too.
// I2: nothing here is called with a lock held, except for LifeCycle's role lock, because listeners
//     may call the database and lines go to a file.
// I3: with enable_thread_tracking, the status of the job's thread describes the job from its Begun
//     to the end of this object. It is set before listeners are called.
//
// Lifetime: ends with the job. The database and the family outlive it. Thread safety: methods for
// tables and subcompactions from any thread, the rest from the job's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ashlar/listener.h"
#include "compact/plan/compaction_plan.h"
#include "compact/run/compaction_job.h"
#include "lsm/database_state.h"
#include "observe/thread_operations.h"

namespace ashlar {

class JobEvents final : public CompactionOutputObserver, public SubcompactionObserver {
 public:
  JobEvents(DatabaseState* state, const ColumnFamily& family, TableFileCreationReason reason);
  JobEvents(const JobEvents&) = delete;
  JobEvents& operator=(const JobEvents&) = delete;

  void TableBegun(const std::string& path) override;
  void TableEnded(const Ended& table) override;

  void FlushBegun(std::span<const MemTableRef> tables, FlushReason reason);
  void FlushEnded(std::span<const MemTableRef> tables, const TableJobStatistics& statistics,
                  const Status& status);

  // Call when the tables are complete and the edit is next.
  void Installing();

  // `version` is the one on which the plan was made.
  void CompactionBegun(const CompactionPlan& plan, const Version& version);
  void CompactionEnded(const CompactionPlan& plan, const TableJobStatistics& statistics,
                       const Status& status);
  void SubcompactionBegun(const CompactionPlan& plan, int number) override;
  void SubcompactionEnded(const CompactionPlan& plan, int number,
                          const TableJobStatistics& statistics, const Status& status) override;
  // Describes a compaction that has ended.
  CompactionJobInfo MakeEndedInfo(const CompactionPlan& plan, const TableJobStatistics& statistics,
                                  const Status& status);

 private:
  // A complete table.
  struct Made {
    std::string path;
    uint64_t number = 0;
    std::shared_ptr<const TableProperties> properties;
  };

  // Set the members that all jobs, or a compaction and its subcompactions, have in common.
  template <typename Info>
  void DescribeJob(Info* info) const;
  template <typename Info>
  void DescribeCompaction(const CompactionPlan& plan, Info* info) const;
  FlushJobInfo MakeFlushInfo(std::span<const MemTableRef> tables);
  CompactionJobInfo MakeCompactionInfo(const CompactionPlan& plan);
  SubcompactionJobInfo MakeSubcompactionInfo(const CompactionPlan& plan, int number) const;
  void CountFlush(std::span<const MemTableRef> tables, const TableJobStatistics& statistics);
  void CountCompaction(const CompactionPlan& plan, const TableJobStatistics& statistics);
  std::vector<uint64_t> FilesPerLevel() const;
  std::vector<Made> MadeTables() const;
  // I3.
  void Track(ThreadStatus::OperationType type, const ThreadOperations::Properties& properties);
  void SetStage(ThreadStatus::OperationStage flush_stage,
                ThreadStatus::OperationStage compaction_stage);
  bool IsCompaction() const { return reason_ == TableFileCreationReason::kCompaction; }
  bool HasListeners() const { return !state_->options.listeners.empty(); }

  DatabaseState* const state_;
  const ColumnFamily& family_;
  const TableFileCreationReason reason_;
  const int job_id_;
  enum class Stage : uint8_t { kNew, kBegun, kEnded } stage_ = Stage::kNew;  // I1
  FlushReason flush_reason_ = FlushReason::kOthers;
  int level0_files_ = 0;             // when the compaction begins, and then when it ends
  bool is_full_compaction_ = false;  // of all files of the family
  std::optional<ThreadOperations::Operation> operation_;  // none: not tracked

  mutable Mutex made_mutex_;  // a leaf of the lock order
  std::vector<Made> made_ ASHLAR_GUARDED_BY(made_mutex_);
};

CompactionReason ToCompactionReason(PlanReason reason);

// Reports to listeners and the LOG that a table file was deleted, or why it was not (`status`).
void NotifyTableDeleted(const DatabaseState& state, const std::string& path, uint64_t number,
                        const Status& status);

}  // namespace ashlar
