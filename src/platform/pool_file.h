// PoolFile: a file of fixed size that is mapped as memory and written through the mapping. For
// pools of persistent memory. The rules on paths and codes in platform/file.h apply.
//
// A pool file is held exclusively from Open to the end: against other processes and against a
// second open in this one, by a lock that belongs to the open file, not to the process.
// I1: a file that Open or Create returns had its name when it was locked. So the holder of the lock
//     is the only one that may remove or rename the file. (Windows: the name may be gone.)
// I2: the end is the destructor in the process that has opened the file. A forked child, which has
//     the open file too, neither ends the lock nor keeps it after that. It keeps the lock of a
//     parent that died.
//
// Thread safety: WriteAt and SyncData may run on several threads; a mapping is memory.
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
  kSharedReadOnly,  // a view of the same: stores fault
  kPrivate,         // stores never reach the file
};

// A mapping of a whole pool file. It may outlive its PoolFile.
class PoolMapping {
 public:
  ~PoolMapping();
  PoolMapping(const PoolMapping&) = delete;
  PoolMapping& operator=(const PoolMapping&) = delete;

  char* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  // kPrivate: discards the stores to the system's pages (PageBytes) that are wholly inside of
  // [offset, offset + bytes). Later reads return the file's bytes. Other stores stay, and those to
  // a page that the program has locked in memory (mlock).
  Status DiscardPages(uint64_t offset, uint64_t bytes);

 private:
  friend class PoolFile;
  PoolMapping(char* data, size_t bytes) : data_(data), bytes_(bytes) {}
  char* const data_;
  const size_t bytes_;
};

class PoolFile {
 public:
  // Opens an existing file, also through a link: a memfd is opened by its link in /proc.
  // PathNotFound: there is none. IOError "…: in use": another holder has it.
  static Result<std::unique_ptr<PoolFile>> Open(const std::string& path);
  // Creates a file of `bytes` zeros and reserves its space. In memory it uses as many huge pages as
  // the system has. They take at most huge_pages_effort_max times as long as small ones. IOError:
  // the name is taken. NoSpace: there is no space.
  static Result<std::unique_ptr<PoolFile>> Create(const std::string& path, uint64_t bytes,
                                                  double huge_pages_effort_max);
  // A new file without a name, in shared memory.
  static Result<std::unique_ptr<PoolFile>> CreateAnonymous(
      uint64_t bytes, double huge_pages_effort_max = std::numeric_limits<double>::infinity());

  ~PoolFile();
  PoolFile(const PoolFile&) = delete;
  PoolFile& operator=(const PoolFile&) = delete;

  const std::string& path() const { return path_; }
  // The file's own absolute path, without symbolic links (on Windows: with them); path() if it has
  // none, as a memfd. Stays true when the process changes its folder.
  std::string RealPath() const;
  uint64_t bytes() const { return bytes_; }
  // kDax is found out by mapping a page.
  PoolBacking Backing() const;

  Result<std::unique_ptr<PoolMapping>> Map(PoolMapMode mode) const;
  Status ReadAt(uint64_t offset, size_t n, char* to) const;
  Status WriteAt(uint64_t offset, const char* from, size_t n);
  // Waits until everything written is durable, also through shared mappings.
  Status SyncData();

 private:
  PoolFile(std::string path, intptr_t handle, uint64_t bytes)
      : path_(std::move(path)), handle_(handle), bytes_(bytes), process_(CurrentProcessId()) {}
  int fd() const { return static_cast<int>(handle_); }

  const std::string path_;
  const intptr_t handle_;
  const uint64_t bytes_;
  const uint64_t process_;  // that has opened it
};

}  // namespace ashlar
