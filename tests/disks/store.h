// Store: the engine under the load. It is one interface to a database with two families and to a
// pool of the persistent tree, whose keys begin with the family's number.
//
// Thread safety: Write and Walk by several threads at once; Close is the last call.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/persistent_tree.h"
#include "ashlar/status.h"
#include "tests/disks/commits.h"
#include "tests/support/gate.h"

namespace ashlar::disks {

class Store {
 public:
  virtual ~Store() = default;
  virtual Status Write(const std::vector<Change>& changes, bool sync) = 0;
  // Reads all entries of a family.
  virtual Status Read(size_t family, Contents* contents) = 0;
  virtual Status Get(size_t family, const std::string& key, std::string* value) = 0;
  // Reads all data and checks it.
  virtual Status Verify() = 0;
  virtual Status Close() = 0;
};

class DatabaseStore : public Store {
 public:
  // mode: "rw"; "rw-manager", with an SstFileManager, so that the database resumes by itself; "ro";
  // or "secondary:" and its folder. options: text for GetOptionsFromString.
  static Status Open(const std::string& directory, const std::string& mode,
                     const std::string& options, std::unique_ptr<DatabaseStore>* store);
  ~DatabaseStore() override;

  Status Write(const std::vector<Change>& changes, bool sync) override;
  Status Read(size_t family, Contents* contents) override;
  Status Get(size_t family, const std::string& key, std::string* value) override;
  Status Verify() override;
  Status Close() override;

  Status Flush();
  Status Compact();
  // Creates a family whose name has `name_bytes` bytes, so that its edit needs new blocks for the
  // MANIFEST, and drops it. Drops the family of an earlier call instead if that call could not.
  Status MakeFamily(size_t name_bytes);
  // Writes an OPTIONS file.
  Status ChangeOption();
  // Writes a table of 400 keys to `file` and ingests a copy of it. If that fails, none of its keys
  // is in the database, and otherwise all are. Each `ingestion` has keys of its own.
  Status Ingest(const std::string& file, uint64_t ingestion);
  Status Checkpoint(const std::string& directory);
  Status Backup(const std::string& directory);
  Status Resume();
  // Waits until an automatic recovery has ended, and returns its outcome.
  Status AwaitRecovery();

 private:
  class Recoveries;

  void DeleteHandles();

  std::vector<ColumnFamilyHandle*> handles_;
  ColumnFamilyHandle* made_ = nullptr;  // created by MakeFamily and not dropped yet
  std::unique_ptr<DB> db_;
  std::shared_ptr<Recoveries> recoveries_;
  Options options_;
};

class PoolStore : public Store {
 public:
  // durability: a name that DurabilityClassName returns.
  static Status Open(const std::string& path, const std::string& durability, uint64_t pool_bytes,
                     std::unique_ptr<PoolStore>* store);

  // `sync` has no effect, because the class decides which failures a change survives.
  Status Write(const std::vector<Change>& changes, bool sync) override;
  Status Read(size_t family, Contents* contents) override;
  Status Get(size_t family, const std::string& key, std::string* value) override;
  Status Verify() override;
  Status Close() override;

 private:
  std::unique_ptr<PersistentTree> tree_;
};

// Replaces the contents of `directory` with the newest backup.
Status RestoreBackup(const std::string& backups, const std::string& directory);

}  // namespace ashlar::disks
