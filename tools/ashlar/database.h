// Database: an open database with all its column families, as the commands use it.
//
// The options are those of the newest OPTIONS file; a database without one opens with the defaults. The column families are those of the MANIFEST.
//   Open(read)               changes nothing on disk and needs no lock
//   Open(write)              takes the lock; fails when there is no database
//   Open(write + create)     also makes the database, and later families. A directory with other things in it is refused, so that a mistyped name
//                            does not fill somebody's folder
//
// Lifetime: iterators and pinned values are given back before Close or the destructor. Thread safety: one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "tools/ashlar/command.h"
#include "tools/ashlar/outcome.h"

namespace ashlar::cli {

enum class Access { kRead, kWrite, kWriteAndCreate };

class Database {
 public:
  static Outcome Open(const GlobalOptions& global, Access access, std::unique_ptr<Database>* database);

  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  DB* db() const { return db_.get(); }
  const std::string& name() const { return db_->GetName(); }

  // The family that --column-family names, else "default".
  Outcome ChosenFamily(ColumnFamilyHandle** family);
  // The family that --column-family names, else all.
  Outcome ChosenFamilies(std::vector<ColumnFamilyHandle*>* families);
  // kUsage when there is none and Access does not allow to make it.
  Outcome Family(const std::string& name, ColumnFamilyHandle** family);

  // Writes everything to tables, so that the next open has no log to replay.
  Outcome Flush();
  // Closes and reports what the closing found.
  Outcome Close();

 private:
  Database(const GlobalOptions& global, Access access) : global_(global), access_(access) {}

  Outcome OpenExisting();
  Outcome CreateNew();
  Outcome LoadDescriptors(DBOptions* db_options, std::vector<ColumnFamilyDescriptor>* descriptors);
  Outcome ApplyMergeOperator(std::vector<ColumnFamilyDescriptor>* descriptors);
  Outcome OpenWith(const DBOptions& db_options, const std::vector<ColumnFamilyDescriptor>& descriptors);
  Outcome MakeMergeOperator(std::shared_ptr<MergeOperator>* merge_operator);
  void ReleaseFamilies();

  const GlobalOptions& global_;
  const Access access_;
  std::unique_ptr<DB> db_;
  std::vector<ColumnFamilyHandle*> families_;
};

// For reads of much data that nobody will read again.
ReadOptions SequentialReadOptions();

}  // namespace ashlar::cli
