// CompactionJob: runs a plan. It merges the inputs into new files for the output level.
//
//   plan --SplitRanges--> [begin, end) [begin, end) ...   one subcompaction each: own cursors,
//                              \        |                 own iterator, own files
//                               results in key order --> one VersionEdit
//
// The first subcompaction runs on the calling thread, the others on threads that end with the job.
// Ranges are cut at the tables' own anchors, so that each has about the same number of bytes. All
// versions of a user key are in one range.
//
// I1: files of different subcompactions are disjoint in user keys.
// I2: an output on level 0 has the sequence range of all inputs. Level 0 is ordered by it
//     (LevelFiles::NewerFirst), so the file takes the place of its newest input. With the range of
//     only the remaining entries, it could be sorted below a file that is older than they are:
//
//       N(6) z@6 del    W(3-5) k@3, z@5    Z(1-4) k@1, x@4     newest first; W's memtable had k@3
//       \_______________/                                      when the file of x@4 was ingested
//               k@3                        Z(1-4)              "z" has left: with 3 it is below 4
//
//     Inputs without recorded sequences (LevelDB's) contribute those of their entries. If several
//     files had 0 as their smallest sequence, RocksDB 7.8 would refuse the level 0 as out of order.
#pragma once

#include <string>
#include <vector>

#include "compact/plan/compaction_plan.h"
#include "compact/run/table_job.h"

namespace ashlar {

// Is notified of each subcompaction by the thread that runs it, concurrently with others.
class SubcompactionObserver {
 public:
  virtual ~SubcompactionObserver() = default;
  // number: in key order, from 0.
  virtual void SubcompactionBegun(const CompactionPlan& plan, int number) = 0;
  // Also called after a failure, including a failure of SubcompactionBegun.
  virtual void SubcompactionEnded(const CompactionPlan& plan, int number,
                                  const TableJobStatistics& statistics, const Status& status) = 0;
};

struct CompactionJobArgs {
  const CompactionPlan* plan = nullptr;  // Requires: WritesTables()
  // The plan sets output.target_file_bytes, output.grandparents, output.table.compression and
  // output.max_grandparent_overlap_bytes. Requires: tables and clock.
  TableJobArgs job;
  SubcompactionObserver* observer = nullptr;  // null: none
};

// After an error no file is left. The result's files belong to plan->output_level.
Status RunCompaction(const CompactionJobArgs& args, TableJobResult* result);

// Returns the edit that installs the outcome of a plan: it deletes or moves the inputs. The caller
// adds the files of a job.
VersionEdit MakeEdit(const CompactionPlan& plan);

// Returns user keys, ascending, that divide the plan's input into about `ranges` equal parts. There
// are at most ranges - 1 keys. Requires: ranges > 0.
Result<std::vector<std::string>> SplitRanges(const CompactionPlan& plan, size_t ranges,
                                             const KeyComparator& comparator, TableCache* tables);

}  // namespace ashlar
