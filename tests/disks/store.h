// Store: the engine under the load. One interface over a database with two families and a pool of
// the persistent tree, whose keys begin with the family's number.
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
  // All entries of a family.
  virtual Status Read(size_t family, Contents* contents) = 0;
  virtual Status Get(size_t family, const std::string& key, std::string* value) = 0;
  // Reads everything and checks it.
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
  // Creates a family with a name of so many bytes, so that the edit needs new blocks for the
  // MANIFEST, and drops it. A family that an earlier call could not drop is dropped instead.
  Status MakeFamily(size_t name_bytes);
  // Writes an OPTIONS file.
  Status ChangeOption();
  // Makes a table of 400 keys in `file` and ingests a copy of it. None of its keys is there after
  // an error, and each of them otherwise; another `ingestion` has other keys.
  Status Ingest(const std::string& file, uint64_t ingestion);
  Status Checkpoint(const std::string& directory);
  Status Backup(const std::string& directory);
  Status Resume();
  // Waits until a recovery without a call has ended, and returns how.
  Status AwaitRecovery();

 private:
  class Recoveries;

  void DeleteHandles();

  std::vector<ColumnFamilyHandle*> handles_;
  ColumnFamilyHandle* made_ = nullptr;  // by MakeFamily, and not dropped yet
  std::unique_ptr<DB> db_;
  std::shared_ptr<Recoveries> recoveries_;
  Options options_;
};

class PoolStore : public Store {
 public:
  // durability: a DurabilityClassName.
  static Status Open(const std::string& path, const std::string& durability, uint64_t pool_bytes,
                     std::unique_ptr<PoolStore>* store);

  // `sync` has no effect: the class decides which failures a change survives.
  Status Write(const std::vector<Change>& changes, bool sync) override;
  Status Read(size_t family, Contents* contents) override;
  Status Get(size_t family, const std::string& key, std::string* value) override;
  Status Verify() override;
  Status Close() override;

 private:
  std::unique_ptr<PersistentTree> tree_;
};

// Replaces the contents of `directory` by the newest backup.
Status RestoreBackup(const std::string& backups, const std::string& directory);

}  // namespace ashlar::disks
