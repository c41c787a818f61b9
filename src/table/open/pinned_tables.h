// PinnedTables: the open table files of a database to which another process may write.
//
//   Pin: opened by name while the MANIFEST names it ──> PINNED
//   Take: the first read of the table               ──> its TableReader owns the file
//   Take by a concurrent read                       ──> both own it
//   GiveBack: no TableReader could be made          ──> PINNED
//
// The writer may delete a table at any time. An open file stays readable after that, so a reader
// that has pinned every table of its MANIFEST needs no names. This also holds on Windows, where
// files are opened with permission for others to delete them.
//
// I1: at most files_max files are pinned (0: no limit). Tables beyond that are opened by name when
//     they are read, and may be missing then.
//
// Thread safety: all methods, but one Pin at a time. Lifetime: the file system outlives it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_set>

#include "ashlar/vfs.h"
#include "platform/mutex.h"
#include "table/file_metadata.h"

namespace ashlar {

class PinnedTables {
 public:
  struct Args {
    vfs::FileSystem* file_system = nullptr;
    vfs::FileOptions file_options = {};  // of the table readers
    size_t files_max = 0;
  };

  explicit PinnedTables(const Args& args) : args_(args) {}
  PinnedTables(const PinnedTables&) = delete;
  PinnedTables& operator=(const PinnedTables&) = delete;

  // Pins the file unless it is pinned, and returns its size. PathNotFound: it is missing. A file
  // that cannot be opened for another reason is not pinned. The table's reader reports the error.
  Status Pin(uint64_t number, const std::string& path, uint64_t* bytes);
  // Unpins the file and returns it with its path. A file that was taken earlier is returned again
  // while it is still open. `file` is null if the file was not pinned or has been closed.
  struct Taken {
    std::unique_ptr<vfs::RandomAccessFile> file;
    std::string path;
    std::shared_ptr<vfs::RandomAccessFile> shared;  // the same file
  };
  Taken Take(uint64_t number);
  // Pins a taken file (Taken::shared) again, because a later read may open the table where this one
  // failed. Closes it if it is no longer wanted or the limit is reached.
  void GiveBack(uint64_t number, std::shared_ptr<vfs::RandomAccessFile> file) noexcept;
  // Closes all files except those of these tables.
  void Retain(const std::unordered_set<uint64_t>& numbers);
  // Closes the file of this table, if it is pinned.
  void Forget(uint64_t number);
  size_t Count() const;

 private:
  // Whether I1 allows one more pinned file.
  bool HasRoom() const ASHLAR_REQUIRES(mutex_) {
    return args_.files_max == 0 || held_ < args_.files_max;
  }
  // Asserts I1 and the count that it uses.
  void CheckInvariants() const ASHLAR_REQUIRES(mutex_);

  const Args args_;
  struct Pinned {
    std::shared_ptr<vfs::RandomAccessFile> file;  // null: it was taken
    std::weak_ptr<vfs::RandomAccessFile> taken;
    std::string path;
  };

  mutable Mutex mutex_;  // a leaf lock
  std::map<uint64_t, Pinned> pinned_ ASHLAR_GUARDED_BY(mutex_);
  size_t held_ ASHLAR_GUARDED_BY(mutex_) = 0;  // pinned files that are not taken
};

}  // namespace ashlar
