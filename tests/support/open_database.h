// OpenDatabase: a database with all its families in the environment of a test, with helpers that
// open, write, read and close it as a whole.
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
  std::string value;  // or the operand, appended with a comma, or the end of the range
};
using Commit = std::vector<Change>;  // one batch

using FamilyContents = std::map<std::string, std::string>;
using Contents = std::map<std::string, FamilyContents>;  // by family
// Applies the commit to the model's contents.
void Apply(const Commit& commit, Contents* contents);

class OpenDatabase {
 public:
  // Replaces options.env by an environment on this file system, which runs jobs in an order drawn
  // from the seed.
  OpenDatabase(const std::shared_ptr<vfs::FileSystem>& file_system, const Options& options,
               uint64_t seed);
  ~OpenDatabase();
  OpenDatabase(const OpenDatabase&) = delete;
  OpenDatabase& operator=(const OpenDatabase&) = delete;

  // Gives later opens an SstFileManager of this environment. If there is a rate, obsolete files
  // always become trash.
  SstFileManager* ManageSpace(int64_t delete_rate, uint64_t chunk_bytes);
  // Opens every family of the database. With create_if_missing, creates the database if it does not
  // exist. Open and Close check the database's invariants.
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

// Small buffers and tables, no LOG file, and string append as the merge operator.
Options SmallDatabaseOptions();

}  // namespace ashlar
