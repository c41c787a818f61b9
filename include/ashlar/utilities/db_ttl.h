// DBWithTTL: a database that removes values some time after they were written.
//
// Every value and every merge operand on disk ends in four bytes: the second of its write as a
// little-endian number. This class adds and strips them. A compaction removes a value whose second
// is more than the ttl ago; until then reads return it. RocksDB's DBWithTTL writes the same bytes.
// A ttl of 0 or less removes nothing. Each open may set another ttl.
//
// Open such a database with this class only. DB::Open shows the four bytes as part of the values,
// and values that it writes are Corruption here, unless they end in a second since May 2013 by
// chance. A value without such a second is never removed. The seconds last until 2106; RocksDB
// reads them until 2038.
//
// The second is read from DBOptions::env. A merge operator and a compaction filter of the program
// see values without the four bytes. A merge result gets the second of the merge. A value that a
// filter changes keeps its second. Only the program's filter removes merge operands. Options that
// GetOptions or a handle's GetDescriptor returned may be given again, for this database or another:
// they stand for the program's objects.
//
// Errors: a read that meets a value without the four bytes returns Corruption; an iterator becomes
// invalid. Thread safety and lifetime: as DB.
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

  // From the next compaction on.
  virtual void SetTtl(int32_t ttl) = 0;
  virtual void SetTtl(ColumnFamilyHandle* h, int32_t ttl) = 0;
  // InvalidArgument for null pointers.
  virtual Status GetTtl(ColumnFamilyHandle* h, int32_t* ttl) = 0;

 protected:
  explicit DBWithTTL(std::unique_ptr<DB> db) : StackableDB(std::move(db)) {}
};

}  // namespace ashlar
