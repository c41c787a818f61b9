// Database: the database under test, with its column families, or the persistent tree. It is opened
// as the flags say, and again for each fill.
//
// Thread safety: Open, Close and Destroy by one thread alone; the rest by any number.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/options.h"
#include "ashlar/persistent_tree.h"
#include "ashlar/statistics.h"
#include "ashlar/status.h"
#include "tools/db_bench/flags.h"

namespace ashlar::bench {

class Database {
 public:
  // The flags outlive the database.
  explicit Database(const Flags& flags);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Makes the options from the flags. Returns InvalidArgument that names a wrong flag.
  Status Prepare();
  // for_bulk_load: uses Options::PrepareForBulkLoad.
  Status Open(bool for_bulk_load);
  Status Close();
  // Deletes the database or pool that Open would open. REQUIRES: closed.
  Status Destroy();

  // REQUIRES: the engine is lsm.
  DB& db() const { return *db_; }
  // Null unless the engine is pmem.
  PersistentTree* tree() const { return tree_.get(); }
  // The family of a key number.
  ColumnFamilyHandle* Family(uint64_t key_number) const {
    return families_.size() == 1 ? families_[0] : families_[key_number % families_.size()];
  }
  const std::vector<ColumnFamilyHandle*>& families() const { return families_; }
  const std::string& path() const { return path_; }
  const Options& options() const { return options_; }
  // Null without --statistics.
  const std::shared_ptr<Statistics>& statistics() const { return options_.statistics; }

 private:
  PersistentTreeOptions TreeOptions() const;
  Status DestroyPool();

  const Flags& flags_;
  const std::string path_;
  Options options_;
  std::unique_ptr<DB> db_;
  std::unique_ptr<PersistentTree> tree_;
  std::vector<ColumnFamilyHandle*> families_;
};

}  // namespace ashlar::bench
