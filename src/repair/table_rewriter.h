// TableRewriter: makes new tables from the readable parts of old ones, and from the writes of logs.
// Nothing of a table is dropped: every version and every range tombstone is written again.
// I1: a salvaged table that is on record keeps its bounds and its largest sequence, so that it fits
//     in its place. Level 0 is ordered by these sequences, and the entries with them may be lost.
// I2: of entries with one user key and one sequence, which two tables have if one was made of the
//     other, one is written: the result of a merge rather than an operand of it.
//
// Lifetime: its arguments outlive it. Thread safety: one thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/vfs.h"
#include "base/result.h"
#include "compact/run/compaction_output.h"
#include "memtable/memtable.h"
#include "repair/table_survey.h"

namespace ashlar {

class TableRewriter {
 public:
  struct Args {
    vfs::FileSystem* file_system = nullptr;
    std::string directory;
    const DBOptions* db_options = nullptr;
    const ColumnFamilyOptions* options = nullptr;
    ColumnFamilyId family = 0;
    std::string family_name;
    std::string merge_operator_name;  // empty: none
    std::string database_id;
    std::function<FileNumber()> new_file_number;
    TableSurveyor* surveyor = nullptr;
  };
  using Files = std::vector<std::unique_ptr<FileMetaData>>;

  explicit TableRewriter(Args args) : args_(std::move(args)) {}

  // The readable part of a table, in one. Two are made of a PlainTable that is larger than flushes
  // and compactions with the options would make one.
  Result<Files> Salvage(const TableSurvey& table);
  // The memtable as tables of level 0 without common keys.
  Result<Files> Write(const MemTable& memtable);
  // One sorted run of all tables, for the level. `newer` are files of Write, and are not needed any
  // more.
  Result<Files> Merge(const std::vector<const TableSurvey*>& tables, Files newer, Level level);

 private:
  CompactionOutputArgs OutputArgs(Level level) const;

  const Args args_;
};

}  // namespace ashlar
