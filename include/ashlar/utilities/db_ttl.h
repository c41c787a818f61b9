// DBWithTTL: a database that removes values some time after they were written.
//
// Every value and every merge operand on disk ends in four bytes: the time of its write in seconds
// since 1970, little-endian. This class adds and strips them. A compaction removes a value that is
// older than the ttl; until then reads return it. RocksDB's DBWithTTL writes the same bytes. A ttl
// of 0 or less removes nothing. Each open may set another ttl.
//
// Open such a database with this class only. DB::Open shows the four bytes as part of the values,
// and values that it writes are Corruption here, unless they happen to end in a time since May
// 2013. A value without such a time is never removed. The times last until 2106; RocksDB reads them
// until 2038.
//
// The time comes from DBOptions::env. The program's merge operator and compaction filter see values
// without the four bytes. A merge result gets the time of the merge. A value that a filter changes
// keeps its time. Only the program's filter removes merge operands. Options that GetOptions or a
// handle's GetDescriptor returned may be passed again, for this database or another, because they
// stand for the program's objects.
//
// Errors: a read of a value without the four bytes returns Corruption, and an iterator becomes
// invalid there. Thread safety and lifetime: as DB.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/export.h"
#include "ashlar/utilities/stackable_db.h"

namespace ashlar {

class ASHLAR_API DBWithTTL : public StackableDB {
 public:
  // As DB::Open and DB::OpenForReadOnly. ttl: seconds. *dbptr is null after a failure.
  static Status Open(const Options& options, const std::string& dbname, DBWithTTL** dbptr,
                     int32_t ttl = 0, bool read_only = false);
  // ttls[i] belongs to column_families[i]. InvalidArgument if their numbers differ.
  static Status Open(const DBOptions& db_options, const std::string& dbname,
                     const std::vector<ColumnFamilyDescriptor>& column_families,
                     std::vector<ColumnFamilyHandle*>* handles, DBWithTTL** dbptr,
                     const std::vector<int32_t>& ttls, bool read_only = false);

  // CreateColumnFamily and CreateColumnFamilies give the ttl 0.
  virtual Status CreateColumnFamilyWithTtl(const ColumnFamilyOptions& options,
                                           const std::string& column_family_name,
                                           ColumnFamilyHandle** handle, int ttl) = 0;

  // Takes effect from the next compaction on.
  virtual void SetTtl(int32_t ttl) = 0;
  virtual void SetTtl(ColumnFamilyHandle* h, int32_t ttl) = 0;
  // InvalidArgument for null pointers.
  virtual Status GetTtl(ColumnFamilyHandle* h, int32_t* ttl) = 0;

 protected:
  explicit DBWithTTL(std::unique_ptr<DB> db) : StackableDB(std::move(db)) {}
};

}  // namespace ashlar
