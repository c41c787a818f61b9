// CoverageScan: after flushes and compactions, finds the files and bytes of older tables that a
// family's range tombstones cover, for the picker (FileMetaData::coverage).
//
//   install -> Run: a pinned view, no lock -> FindRangeCoverage per table with range tombstones
//     -> recorded (database mutex), and a decision about jobs if there is something to do
//
// I1: a result is recorded only if the family still has the version in which it was found. The job
//     that installed a newer version scans that one. After an ingestion the next job scans.
// I2: the scan opens no table. The tombstones of a table that is not open are scanned after a later
//     install.
//
// A family without range tombstones pays one load. Thread safety: Run from any thread without
// locks.
#pragma once

#include <memory>
#include <vector>

#include "compact/plan/range_coverage.h"
#include "lsm/database_state.h"
#include "lsm/view_observer.h"

namespace ashlar {

class CoverageScan {
 public:
  CoverageScan(DatabaseState* state, ViewObserver* observer) : state_(state), observer_(observer) {}
  CoverageScan(const CoverageScan&) = delete;
  CoverageScan& operator=(const CoverageScan&) = delete;

  // Call after an install of the family, from a job that is still counted.
  void Run(const std::shared_ptr<ColumnFamily>& family) noexcept;

 private:
  struct Table {
    FileMetaData* file;
    Level level;
    bool count_bytes = false;
    RangeCoverage found = {};
  };

  void Scan(const std::shared_ptr<ColumnFamily>& family);
  // Without the database mutex, because most tables of a large tree have no range tombstones.
  static std::vector<Table> TablesWithRanges(const Version& version);
  static void FindIn(const TreeView& tree, TableCache* tables, Table* table);
  void Record(const std::shared_ptr<ColumnFamily>& family, const Version* version,
              const std::vector<Table>& tables);

  DatabaseState* const state_;
  ViewObserver* const observer_;
};

}  // namespace ashlar
