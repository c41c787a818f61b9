// LogRewriter: makes tables from the logged writes that the existing tables lack.
//
//   log --ReadLog--> is_needed --> one memtable per family --write--> tables of level 0
//                                             '- when it is full, and at the end
//
// I1: memtables are written in order, so the sequences of a family's tables ascend.
// I2: the sequences in a memtable ascend. One that does not (logs of different histories) starts a
//     new memtable.
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
    // Returns null if the database does not have the family.
    std::function<const ColumnFamilyOptions*(ColumnFamilyId)> options_of;
    // Returns true if the tables lack the write and the database has its family.
    std::function<bool(FileNumber log, ColumnFamilyId, const LoggedWrite&)> is_needed;
    std::function<Status(ColumnFamilyId, const MemTable&)> write;
  };
  explicit LogRewriter(Args args) : args_(std::move(args)) {}
  LogRewriter(const LogRewriter&) = delete;
  LogRewriter& operator=(const LogRewriter&) = delete;

  // Requires: logs are added in the order of their numbers.
  Status Add(const std::string& path, FileNumber number);
  // Writes the remaining memtables.
  Status Finish();

 private:
  Status AddWrite(FileNumber log, const BatchRecord& record, SequenceNumber sequence);
  Status AddRange(const BatchRecord& record, SequenceNumber sequence, MemTable* memtable) const;
  Status Write(ColumnFamilyId family);

  const Args args_;
  ArenaBlockPool arena_blocks_{ArenaBlockPool::Options()};
  EpochDomain epochs_;
  std::map<ColumnFamilyId, MemTable::Owner> memtables_;  // those that are not written yet
};

}  // namespace ashlar
