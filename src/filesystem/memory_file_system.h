// MemoryFileSystem: a complete FileSystem that lives in memory, for tests and for databases that
// need not survive the process.
//
//   MemoryNamespace ── root ─┬─ "db" ─┬─ "CURRENT"    -> node {id 7, bytes}
//                            │        └─ "000004.log" -> node {id 5, bytes}
//                            └─ "tmp"
//
// A name is an entry of a directory node and refers to a node. A removed file exists as long as it
// is open, and a hard link is a second entry. Paths with and without a leading '/' are equivalent.
// "." and empty components are skipped, and ".." is refused. WritableFile buffers like the native
// one, so unflushed bytes are not in the file.
//
// Every change is reported to a MutationListener in the order in which it took effect. The crash
// model (crash_file_system.h) is such a listener.
//
// I1: bytes of a node that a snapshot or a mapping shares never change, because the next change
//     works on a copy.
// I2: lock order: the namespace's mutex, then a node's.
//
// Thread safety: any thread may call any method. For file objects, see ashlar/file_system.h.
// Lifetime: open files, locks and directories keep their state alive, so the file system may be
// destroyed before them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ashlar/vfs.h"

namespace ashlar {

using MemoryNodeId = uint64_t;
inline constexpr MemoryNodeId kMemoryRootId = 1;

struct MemoryRename {
  MemoryNodeId from_directory;
  std::string_view from_name;
  MemoryNodeId to_directory;
  std::string_view to_name;
  MemoryNodeId node;
  bool node_is_directory;
};

// Called under the locks that order the change. Must be quick and must not call the file system.
class MutationListener {
 public:
  virtual ~MutationListener() = default;
  virtual void OnWrite(MemoryNodeId file, uint64_t offset, const Slice& data) = 0;
  virtual void OnResize(MemoryNodeId file, uint64_t bytes) = 0;
  virtual void OnSyncFile(MemoryNodeId file) = 0;
  // `name` in `directory` now refers to `node`. It may have referred to another node before.
  virtual void OnLink(MemoryNodeId directory, std::string_view name, MemoryNodeId node,
                      bool node_is_directory) = 0;
  virtual void OnUnlink(MemoryNodeId directory, std::string_view name) = 0;
  // One atomic change.
  virtual void OnRename(const MemoryRename& rename) = 0;
  virtual void OnSyncDirectory(MemoryNodeId directory) = 0;
};

// The complete contents of a file system at one moment. Cheap, because the bytes are shared.
struct MemoryImage {
  struct Entry {
    std::string path;  // "db/CURRENT": no leading '/', parents before children
    bool is_directory;
    MemoryNodeId id;                           // hard links to one file share it
    std::shared_ptr<const std::string> bytes;  // null for directories
  };
  std::vector<Entry> entries;
  // Ids of new nodes start at this number, or after those of the entries if these are higher.
  MemoryNodeId new_ids_begin = 0;

  // A fingerprint of names and contents that differs when they differ, up to collisions. Ids are
  // not part of it.
  uint64_t Fingerprint() const;
};

class MemoryNamespace;

class MemoryFileSystem : public vfs::FileSystem {
 public:
  MemoryFileSystem();
  // Starts with the files of the image. Both share the bytes.
  explicit MemoryFileSystem(const MemoryImage& image);
  ~MemoryFileSystem() override;

  const char* Name() const override { return "MemoryFileSystem"; }

  MemoryImage Snapshot() const;
  // Limits the bytes in all files from now on. A write beyond the limit fails with NoSpace. Used by
  // tests of a full disk.
  void SetCapacityBytes(uint64_t bytes);
  // `listener` may be null. It must outlive the file system and every file opened from it. Set it
  // before the first change.
  void SetListener(MutationListener* listener);

  Status NewSequentialFile(const std::string& path, const vfs::FileOptions& options,
                           std::unique_ptr<vfs::SequentialFile>* result) override;
  Status NewRandomAccessFile(const std::string& path, const vfs::FileOptions& options,
                             std::unique_ptr<vfs::RandomAccessFile>* result) override;
  Status NewWritableFile(const std::string& path, const vfs::FileOptions& options,
                         std::unique_ptr<vfs::WritableFile>* result) override;
  Status ReopenWritableFile(const std::string& path, const vfs::FileOptions& options,
                            std::unique_ptr<vfs::WritableFile>* result) override;
  Status ReuseWritableFile(const std::string& from, const std::string& to,
                           const vfs::FileOptions& options,
                           std::unique_ptr<vfs::WritableFile>* result) override;
  Status NewRandomRWFile(const std::string& path,
                         std::unique_ptr<vfs::RandomRWFile>* result) override;
  Status NewDirectory(const std::string& path, std::unique_ptr<vfs::Directory>* result) override;

  Status FileExists(const std::string& path) override;
  Status GetChildren(const std::string& path, std::vector<std::string>* names) override;
  Status DeleteFile(const std::string& path) override;
  Status CreateDir(const std::string& path) override;
  Status CreateDirIfMissing(const std::string& path) override;
  Status DeleteDir(const std::string& path) override;
  Status GetFileSize(const std::string& path, uint64_t* bytes) override;
  Status GetFileModificationTime(const std::string& path, uint64_t* unix_seconds) override;
  Status RenameFile(const std::string& from, const std::string& to) override;
  Status LinkFile(const std::string& from, const std::string& to) override;
  Status NumFileLinks(const std::string& path, uint64_t* count) override;
  Status Truncate(const std::string& path, uint64_t bytes) override;
  Status LockFile(const std::string& path, std::unique_ptr<vfs::FileLock>* lock) override;
  Status GetFreeSpace(const std::string& path, uint64_t* bytes) override;

 private:
  const std::shared_ptr<MemoryNamespace> names_;
};

}  // namespace ashlar
