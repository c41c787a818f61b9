// OpenDatabase: a database with all its families in the world of a test: opened, written, read as a
// whole, closed.
//
// Thread safety: one thread.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/sst_file_manager.h"
#include "ashlar/vfs.h"
#include "tests/support/manual_env.h"

namespace ashlar {

struct Change {
  enum class Kind { kPut, kDelete, kMerge, kDeleteRange };
  Kind kind;
  std::string family;
  std::string key;    // or the begin of the range
  std::string value;  // or the operand: appended with a comma; or the end of the range
};
using Commit = std::vector<Change>;  // one batch

using FamilyContents = std::map<std::string, std::string>;
using Contents = std::map<std::string, FamilyContents>;  // by family
// The effect of the commit on the model.
void Apply(const Commit& commit, Contents* contents);

class OpenDatabase {
 public:
  // options.env is replaced by a world on this file system whose jobs run in an order drawn from
  // the seed.
  OpenDatabase(const std::shared_ptr<vfs::FileSystem>& file_system, const Options& options,
               uint64_t seed);
  ~OpenDatabase();
  OpenDatabase(const OpenDatabase&) = delete;
  OpenDatabase& operator=(const OpenDatabase&) = delete;

  // Opens from here on get an SstFileManager of this world. Obsolete files always become trash if
  // there is a rate.
  SstFileManager* ManageSpace(int64_t delete_rate, uint64_t chunk_bytes);
  // Every family that the database has. With create_if_missing a database that is not there is
  // made. Open and Close check the database's invariants.
  Status Open();
  Status Close();
  Status Write(const Commit& commit, const WriteOptions& write_options);
  Status Read(Contents* contents) const;
  Status CreateFamily(const std::string& name);
  Status DropFamily(const std::string& name);
  Status Flush(const std::set<std::string>& families, bool wait);

  DB* db() const { return db_.get(); }
  ManualEnv* env() { return &env_; }
  ColumnFamilyHandle* family(const std::string& name) const { return handles_.at(name); }
  std::set<std::string> families() const;

  static constexpr const char* kPath = "/db";

 private:
  ManualEnv env_;
  Options options_;
  std::unique_ptr<DB> db_;
  std::map<std::string, ColumnFamilyHandle*> handles_;
};

// Small buffers and tables, no LOG, string append as the merge operator.
Options SmallDatabaseOptions();

}  // namespace ashlar
