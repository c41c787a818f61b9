// Database: an open database with its column families, as the commands use it.
//
// The options are those of the newest OPTIONS file. A database without one opens with the defaults.
// The column families are those of the MANIFEST.
//   Open(read)               changes nothing on disk and needs no lock. A family whose comparator
//                            is unknown stays closed
//   Open(write)              takes the lock; fails when there is no database, when an object that
//                            writing needs is unknown, or when PlaceLogs refuses
//   Open(write + create)     also makes the database, and later families. Refuses a directory with
//                            other files, so that a mistyped name does not fill a foreign
//                            folder
//
// I1: the merge operator of --merge-operator is not used for a family whose OPTIONS file or tables
//     name another one.
// I2: opening for writing gives an operator to the one family that --column-family names.
//
// Lifetime: iterators and pinned values are released before Close or the destructor. Thread safety:
// one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "tools/ashlar/command.h"
#include "tools/ashlar/outcome.h"
#include "tools/ashlar/survey.h"

namespace ashlar::cli {

enum class Access { kRead, kWrite, kWriteAndCreate };

class Database {
 public:
  static Outcome Open(const GlobalOptions& global, Access access,
                      std::unique_ptr<Database>* database);
  // Opens for reading. Requires: `survey` is a survey of the database.
  static Outcome OpenToRead(const GlobalOptions& global, Survey survey,
                            std::unique_ptr<Database>* database);

  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  DB* db() const { return db_.get(); }
  const std::string& name() const { return db_->GetName(); }

  // Returns the family that --column-family names, or "default".
  Outcome ChosenFamily(ColumnFamilyHandle** family);
  // Returns the family that --column-family names, or all. kNotSupported if one is closed.
  Outcome ChosenFamilies(std::vector<ColumnFamilyHandle*>* families);
  // Returns kUsage if there is no such family and Access does not allow creating it.
  Outcome Family(const std::string& name, ColumnFamilyHandle** family);
  // Returns null if there is no such family, or if it is closed.
  ColumnFamilyHandle* FindFamily(const std::string& name) const;

  // Writes everything to tables, so that the next open has no log to replay.
  Outcome Flush();
  // Closes the database and reports errors.
  Outcome Close();

 private:
  Database(const GlobalOptions& global, Access access) : global_(global), access_(access) {}

  Outcome OpenExisting();
  Outcome CreateNew();
  Outcome ApplyMergeOperator(std::vector<ColumnFamilyDescriptor>* descriptors) const;
  Outcome CheckTablesHaveNoOther(const std::string& column_family,
                                 const std::string& merge_operator) const;
  Outcome OpenWith(const DBOptions& db_options,
                   const std::vector<ColumnFamilyDescriptor>& descriptors);
  void ReleaseFamilies();

  const GlobalOptions& global_;
  const Access access_;
  Survey survey_;
  std::unique_ptr<DB> db_;
  std::vector<ColumnFamilyHandle*> families_;
};

// Options for reading much data that will not be read again.
ReadOptions SequentialReadOptions();

}  // namespace ashlar::cli
