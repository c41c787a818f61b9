// BackupFolder: the files in a directory of backups, and the checked copying into it and out of it.
//
//   backup_dir/meta/<id>                     the list of the files of backup <id> (backup_meta.h)
//             /private/<id>/CURRENT ...      files of this backup alone
//             /shared_checksum/<table>       tables, shared between backups
//             /shared/<table>                the same, from RocksDB without checksums in the names
//             /LOCK                          held by an engine while it changes files of the
//                                            directory; RocksDB ignores it
//
// I1: a name in shared_checksum is complete from the moment it exists: files are written under
//     ".<name>.tmp" and renamed.
// I2: meta/<id> is renamed into place after everything that it names is durable (with `sync`), and
//     removed before any of it.
// I3: only files with names that an engine makes are removed. A program may name a directory that
//     has a folder "shared" or "private" of its own.
//
// Thread safety: one thread at a time. Lifetime: the file systems outlive it.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "ashlar/rate_limiter.h"
#include "ashlar/vfs.h"
#include "backup/backup_meta.h"
#include "base/result.h"

namespace ashlar {

struct CopiedFile {
  uint32_t crc = 0;
  uint64_t bytes = 0;
};

struct CopyPlan {
  vfs::FileSystem* from_system = nullptr;
  std::string from = {};
  vfs::FileSystem* to_system = nullptr;  // null: read and count only
  std::string to = {};
  uint64_t bytes_max = std::numeric_limits<uint64_t>::max();
  bool sync = true;
  bool replaces = true;  // false: fails if there is a file `to`
  // Called before each piece, if set. True ends the copy with Incomplete.
  std::function<bool()> stopped = {};
  RateLimiter* limiter = nullptr;  // null: no limit
};
// Copies up to bytes_max bytes from the start. Returns their number and crc-32c.
Result<CopiedFile> CopyFile(const CopyPlan& plan);
// Copies exactly bytes_max bytes. Returns Corruption if the file is shorter.
Result<CopiedFile> CopyExactly(const CopyPlan& plan);

class BackupFolder {
 public:
  BackupFolder(vfs::FileSystem* file_system, std::string directory, bool sync)
      : file_system_(file_system), directory_(std::move(directory)), sync_(sync) {}

  vfs::FileSystem* file_system() const { return file_system_; }
  bool sync() const { return sync_; }
  std::string Path(std::string_view below) const;
  static std::string PrivateFolder(uint32_t id);

  // Creates the folders that are missing.
  Status Create();
  // Returns the numbers in meta/, ascending. Returns none if there is no such folder.
  Result<std::vector<uint32_t>> ListBackups() const;
  // Returns the description of a backup, and in *bytes the size of its files. Returns Corruption if
  // a file is missing, or if its size differs from one that its name gives.
  Result<BackupMeta> Read(uint32_t id, uint64_t* bytes) const;
  // Returns the crc-32c of a description's text, or PathNotFound if there is no description.
  Result<uint32_t> DescriptionCrc(uint32_t id) const;
  // With `sync`, makes durable a file that an engine without `sync` may have written.
  Status SyncFile(const std::string& below) const;
  // Makes the folders of a backup's files durable, and then publishes its description.
  Status Commit(uint32_t id, const BackupMeta& meta);
  // Deletes the description of a backup, durably after SyncMetas. RemoveUnused deletes its files.
  Status RemoveMeta(uint32_t id);
  Status SyncMetas() const;
  // Removes private folders of backups that are not in `backups`, and temporary files. With
  // remove_shared it also removes shared files whose path is not `wanted`. I3.
  Status RemoveUnused(const std::vector<uint32_t>& backups, bool remove_shared,
                      const std::function<bool(const std::string& path)>& wanted);

 private:
  Result<std::vector<std::string>> List(std::string_view below) const;
  Status SyncFolder(std::string_view below) const;

  vfs::FileSystem* const file_system_;
  const std::string directory_;
  const bool sync_;
};

}  // namespace ashlar
