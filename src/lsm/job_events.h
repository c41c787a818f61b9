// JobEvents: the notifications of listeners, the LOG, the statistics, and the status of the thread,
// about one flush or compaction and about the tables that it makes.
//
//   FlushBegun --> (TableBegun --> TableEnded)... --> Installing --> FlushEnded
//   CompactionBegun --> (SubcompactionBegun --> (tables)... --> SubcompactionEnded)...
//                   --> Installing --> CompactionEnded, where subcompactions interleave
//
// I1: every Begun has its Ended; those of tables and subcompactions come after a failure, too.
// I2: nothing here is called with a lock held, except LifeCycle's role, because listeners may call
//     the database and lines go to a file.
// I3: with enable_thread_tracking, the status of the job's thread is that of the job from its Begun
//     to the end of this object; it is set before listeners are called.
//
// Lifetime: of the job; the database and the family outlive it. Thread safety: those of
// tables and subcompactions from any thread, the rest from the job's.
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

  // The tables are made; the edit is next.
  void Installing();

  // `version` is the one that the plan was made on.
  void CompactionBegun(const CompactionPlan& plan, const Version& version);
  void CompactionEnded(const CompactionPlan& plan, const TableJobStatistics& statistics,
                       const Status& status);
  void SubcompactionBegun(const CompactionPlan& plan, int number) override;
  void SubcompactionEnded(const CompactionPlan& plan, int number,
                          const TableJobStatistics& statistics, const Status& status) override;
  // Of a compaction that has ended.
  CompactionJobInfo MakeEndedInfo(const CompactionPlan& plan, const TableJobStatistics& statistics,
                                  const Status& status);

 private:
  // A complete table.
  struct Made {
    std::string path;
    uint64_t number = 0;
    std::shared_ptr<const TableProperties> properties;
  };

  // The common members of the infos of jobs, of a compaction and of its ranges.
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
  int level0_files_ = 0;             // when the compaction began, and then when it ended
  bool is_full_compaction_ = false;  // of all files of the family
  std::optional<ThreadOperations::Operation> operation_;  // none: not tracked

  mutable Mutex made_mutex_;  // a leaf
  std::vector<Made> made_ ASHLAR_GUARDED_BY(made_mutex_);
};

CompactionReason ToCompactionReason(PlanReason reason);

// A table file was deleted, or not, by the status. Counts, and notifies listeners and the LOG.
void NotifyTableDeleted(const DatabaseState& state, const std::string& path, uint64_t number,
                        const Status& status);

}  // namespace ashlar
