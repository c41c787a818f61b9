// PoolFile: a file of fixed size that is mapped as memory and written through the mapping. Pools of
// persistent memory use it. Paths and status codes follow the rules of platform/file.h.
//
// A pool file is locked exclusively from Open or Create to its end. The lock belongs to the open
// file, not to the process, so it excludes other processes and a second open in this one.
// I1: a file that Open or Create returns had its name when it was locked. Therefore only the holder
//     of the lock may remove or rename the file. (Windows: the name may be gone.)
// I2: the end is the destructor in the process that opened the file. A forked child, which inherits
//     the open file, neither ends the lock nor keeps it beyond that destructor. It does keep the
//     lock of a parent that died.
//
// Thread safety: WriteAt and SyncData may run on several threads. A mapping is plain memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "base/result.h"
#include "platform/thread.h"

namespace ashlar {

// The storage under a file, as far as it matters to a mapping.
enum class PoolBacking : uint8_t {
  // stores reach persistent memory when they leave the caches, because the system grants a mapping
  // with MAP_SYNC
  kDax,
  kSharedMemory,  // tmpfs, memfd, hugetlbfs: memory without storage
  kStorage,       // a page cache over a disk
};

enum class PoolMapMode : uint8_t {
  kSharedSync,      // stores are durable when flushed from the caches; DAX only
  kShared,          // stores reach the file in any order, at any time
  kSharedReadOnly,  // like kShared, but stores fault
  kPrivate,         // stores never reach the file
};

// A mapping of a complete pool file. It may outlive its PoolFile.
class PoolMapping {
 public:
  ~PoolMapping();
  PoolMapping(const PoolMapping&) = delete;
  PoolMapping& operator=(const PoolMapping&) = delete;

  char* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  // For kPrivate only. Discards the stores to those system pages (PageBytes) that are completely
  // inside [offset, offset + bytes). Later reads return the file's bytes. All other stores remain,
  // as do those to a page that the program has locked in memory (mlock).
  Status DiscardPages(uint64_t offset, uint64_t bytes);

 private:
  friend class PoolFile;
  PoolMapping(char* data, size_t bytes) : data_(data), bytes_(bytes) {}
  char* const data_;
  const size_t bytes_;
};

class PoolFile {
 public:
  // Opens an existing file, also through a link (a memfd is opened by its link in /proc). Returns
  // PathNotFound if there is none and IOError "…: in use" if another holder has it.
  static Result<std::unique_ptr<PoolFile>> Open(const std::string& path);
  // Creates a file of `bytes` zeros and reserves its space. A file in memory gets as many huge
  // pages as the system has, if they take at most huge_pages_effort_max times as long as small
  // ones. Returns IOError if the name is taken and NoSpace if there is no space.
  static Result<std::unique_ptr<PoolFile>> Create(const std::string& path, uint64_t bytes,
                                                  double huge_pages_effort_max);
  // Creates a file without a name in shared memory.
  static Result<std::unique_ptr<PoolFile>> CreateAnonymous(
      uint64_t bytes, double huge_pages_effort_max = std::numeric_limits<double>::infinity());

  ~PoolFile();
  PoolFile(const PoolFile&) = delete;
  PoolFile& operator=(const PoolFile&) = delete;

  const std::string& path() const { return path_; }
  // The file's absolute path without symbolic links (on Windows: with them). Returns path() if it
  // has none, as for a memfd. Remains valid when the process changes its current directory.
  std::string RealPath() const;
  uint64_t bytes() const { return bytes_; }
  // Maps a page to detect kDax (Windows: reads a flag of the volume).
  PoolBacking Backing() const;

  Result<std::unique_ptr<PoolMapping>> Map(PoolMapMode mode) const;
  Status ReadAt(uint64_t offset, size_t n, char* to) const;
  Status WriteAt(uint64_t offset, const char* from, size_t n);
  // Waits until all writes are durable, including stores through shared mappings.
  Status SyncData();

 private:
  PoolFile(std::string path, intptr_t handle, uint64_t bytes)
      : path_(std::move(path)), handle_(handle), bytes_(bytes), process_(CurrentProcessId()) {}
  int fd() const { return static_cast<int>(handle_); }

  const std::string path_;
  const intptr_t handle_;
  const uint64_t bytes_;
  const uint64_t process_;  // the process that opened the file
};

}  // namespace ashlar
