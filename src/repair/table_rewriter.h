// TableRewriter: makes new tables from the readable parts of old ones, and from the writes of logs.
// It drops nothing. Every version and every range tombstone is written again.
// I1: a salvaged table that is recorded keeps its bounds and its largest sequence, so that it fits
//     its place. Level 0 is ordered by these sequences, although the entries with them may be lost.
// I2: of entries with the same user key and sequence, one is written, and a merge result is
//     preferred to an operand of it. Two tables have such entries if one was made from the other.
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

  // Rewrites the readable part of a table as one table, or as two if it is a PlainTable that is
  // larger than flushes and compactions with the options would make one.
  Result<Files> Salvage(const TableSurvey& table);
  // Writes the memtable as level-0 tables without common keys.
  Result<Files> Write(const MemTable& memtable);
  // Merges all tables into one sorted run for the level. `newer` are files of Write, which this
  // deletes.
  Result<Files> Merge(const std::vector<const TableSurvey*>& tables, Files newer, Level level);

 private:
  CompactionOutputArgs OutputArgs(Level level) const;

  const Args args_;
};

}  // namespace ashlar
