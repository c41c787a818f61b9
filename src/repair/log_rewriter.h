// LogRewriter: makes tables from the writes of logs that the tables lack.
//
//   log --ReadLog--> is_needed --> one memtable per family --write--> tables of level 0
//                                             '- when it is full, and at the end
//
// I1: memtables are written in their order, so the tables of a family ascend by their sequences.
// I2: in a memtable sequences do not descend. If they do (logs of different histories), the next
//     memtable begins.
//
// Lifetime: its arguments outlive it. Thread safety: one thread.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "ashlar/vfs.h"
#include "execute/epoch.h"
#include "memtable/memtable.h"
#include "repair/log_survey.h"

namespace ashlar {

class LogRewriter {
 public:
  struct Args {
    vfs::FileSystem* file_system = nullptr;
    // Null: the family is not of the database.
    std::function<const ColumnFamilyOptions*(ColumnFamilyId)> options_of;
    // The tables lack the write, which is of a family of the database.
    std::function<bool(FileNumber log, ColumnFamilyId, const LoggedWrite&)> is_needed;
    std::function<Status(ColumnFamilyId, const MemTable&)> write;
  };
  explicit LogRewriter(Args args) : args_(std::move(args)) {}
  LogRewriter(const LogRewriter&) = delete;
  LogRewriter& operator=(const LogRewriter&) = delete;

  // Call for the logs in the order of their numbers.
  Status Add(const std::string& path, FileNumber number);
  // Writes the memtables that are left.
  Status Finish();

 private:
  Status AddWrite(FileNumber log, const BatchRecord& record, SequenceNumber sequence);
  Status AddRange(const BatchRecord& record, SequenceNumber sequence, MemTable* memtable) const;
  Status Write(ColumnFamilyId family);

  const Args args_;
  ArenaBlockPool arena_blocks_{ArenaBlockPool::Options()};
  EpochDomain epochs_;
  std::map<ColumnFamilyId, MemTable::Owner> memtables_;  // not empty ones
};

}  // namespace ashlar
