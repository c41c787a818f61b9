// Thin, checked primitives for files and directories of the operating system. The native file
// system (src/filesystem), the pools (src/pmem) and the tools use them.
//
// Paths are UTF-8; platform/path.h defines the separators of their components. A path that is
// empty, contains a zero byte, or names something other than a file (a device, a stream) is refused
// with InvalidArgument. Every error names the path and the operation. A missing file or directory
// is PathNotFound, a full disk or quota is NoSpace, and everything else is IOError with the
// system's own text. Interrupted calls are repeated, and short reads and writes are continued.
// Programs that this process starts inherit no handles. New files get mode 0600 and new directories
// 0700. Opening for writing never follows a symbolic link in the last component.
//
// Thread safety: several threads may call ReadAt on one handle, and SyncData may run concurrently
// with writes. Only one thread at a time may make other calls on a handle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "base/result.h"

namespace ashlar {

// Offsets, lengths and addresses of unbuffered I/O are multiples of this.
inline constexpr size_t kDirectIoAlignment = 4096;

enum class OpenMode {
  kRead,
  kReadNoFollow,     // refuses a symbolic link in the last component
  kCreateTruncate,   // creates the file, or truncates it to 0 bytes
  kCreateExclusive,  // fails if the name exists
  kOpenOrCreate,     // keeps the contents; for appending
};

struct OpenRequest {
  OpenMode mode = OpenMode::kRead;
  bool direct_io = false;  // bypass the page cache; InvalidArgument if the file system refuses
};

struct FileInfo {
  uint64_t bytes = 0;
  uint64_t modified_unix_seconds = 0;
  bool is_directory = false;
  uint64_t links = 1;  // names of a file
};

enum class FileAdvice { kNormal, kRandom, kSequential, kWillNeed, kDontNeed };

// An open file. The destructor closes it but cannot report an error, so a writer calls Close.
class OsFile {
 public:
  static Result<OsFile> Open(const std::string& path, const OpenRequest& request);

  OsFile(OsFile&& other) noexcept;
  OsFile& operator=(OsFile&& other) noexcept;
  ~OsFile();

  const std::string& path() const { return path_; }

  // Reads n bytes, or fewer if the file ends first. Returns the number of bytes read.
  Result<size_t> ReadAt(uint64_t offset, size_t n, char* to) const;
  Status WriteAt(uint64_t offset, const Slice& data);
  // Waits until the file's bytes are durable, including those of an OsWindow that was flushed. If
  // the size changed, it is durable too.
  Status SyncData();
  // Starts write-back without waiting for it.
  Status StartWriteBack(uint64_t offset, uint64_t bytes);
  // Reserves space without changing the size. Returns NotSupported if the file system cannot.
  Status Reserve(uint64_t offset, uint64_t bytes);
  // Sets the size and frees space that was reserved beyond it.
  Status Truncate(uint64_t bytes);
  Result<FileInfo> Info() const;
  void Advise(FileAdvice advice, uint64_t offset, uint64_t bytes) const;
  // The handle is invalid afterwards, even after an error.
  Status Close();

 private:
  friend class OsMapping;
  friend class OsWindow;
  OsFile(std::string path, intptr_t handle, bool direct_io)
      : path_(std::move(path)), handle_(handle), direct_io_(direct_io) {}
  int fd() const { return static_cast<int>(handle_); }

  std::string path_;
  intptr_t handle_;                  // file descriptor or HANDLE; -1 when closed
  [[maybe_unused]] bool direct_io_;  // unaligned requests are refused on every system
};

// Returns true if a file can be truncated below a mapped part. If not, unmap that part first.
bool MappedFilesCanShrink();

// A file's first `bytes` bytes, mapped for reading. May outlive the OsFile it was made from.
class OsMapping {
 public:
  static Result<OsMapping> MapForReading(const OsFile& file, uint64_t bytes);

  OsMapping(OsMapping&& other) noexcept;
  OsMapping& operator=(OsMapping&&) = delete;
  ~OsMapping();

  Slice contents() const { return Slice(data_, bytes_); }
  void Advise(FileAdvice advice, uint64_t offset, uint64_t bytes) const;

 private:
  OsMapping(char* data, size_t bytes) : data_(data), bytes_(bytes) {}
  char* data_;  // null when there is nothing to map
  size_t bytes_;
};

// A part of a file that is mapped for writing. Stored bytes are in the page cache at once, as if
// they had been written. The part must be within the file and its space must be reserved
// (OsFile::Reserve), because a store beyond the end or on a full disk ends the process. Flush
// followed by SyncData makes the bytes durable. Requires: the file was opened for writing, not for
// direct I/O. May outlive the OsFile it was made from.
class OsWindow {
 public:
  // Offset and length are multiples of PageBytes().
  static Result<OsWindow> Map(const OsFile& file, uint64_t offset, size_t bytes);

  OsWindow(OsWindow&& other) noexcept;
  OsWindow& operator=(OsWindow&& other) noexcept;
  ~OsWindow();

  char* data() const { return data_; }
  uint64_t offset() const { return offset_; }
  uint64_t end() const { return offset_ + bytes_; }
  // Writes the stored bytes to the file on systems that do not do so by themselves. Does not wait
  // for the device.
  Status Flush();

 private:
  OsWindow(char* data, uint64_t offset, size_t bytes)
      : data_(data), offset_(offset), bytes_(bytes) {}
  char* data_;
  uint64_t offset_;
  size_t bytes_;
};

// A file that is locked exclusively. The system's record lock excludes other processes. A table of
// held files excludes other holders in this process. The table identifies a file by its identity,
// so a second path to it is refused too.
// I1: while a file is in the table, this process has no other handle to it, because closing one
//     would drop the record lock.
class OsFileLock {
 public:
  // Creates the file if missing. Returns IOError "…: held by …" if another holder has it.
  static Result<std::unique_ptr<OsFileLock>> Acquire(const std::string& path);
  ~OsFileLock();
  OsFileLock(const OsFileLock&) = delete;
  OsFileLock& operator=(const OsFileLock&) = delete;

 private:
  OsFileLock() = default;
  uint64_t ticket_ = 0;  // 0 until the lock is taken; names the table's entry
};

// An open directory, used to make changes of its entries durable.
class OsDirectory {
 public:
  static Result<OsDirectory> Open(const std::string& path);
  OsDirectory(OsDirectory&& other) noexcept;
  OsDirectory& operator=(OsDirectory&&) = delete;
  ~OsDirectory();
  // Returns NotSupported if the directory's file system has no such call.
  Status Sync();

 private:
  OsDirectory(std::string path, intptr_t handle) : path_(std::move(path)), handle_(handle) {}
  std::string path_;
  intptr_t handle_;
};

Result<FileInfo> GetFileInfo(const std::string& path);
Result<std::vector<std::string>> ListDirectory(const std::string& path);
Status MakeDirectory(const std::string& path);
// Returns ok if the directory already exists.
Status MakeDirectoryIfMissing(const std::string& path);
Status RemoveDirectory(const std::string& path);
Status RemoveFile(const std::string& path);
Status RenamePath(const std::string& from, const std::string& to);
// Never replaces a file: returns IOError if `to` exists. Returns NotSupported if the system cannot
// guarantee that.
Status RenameToNewPath(const std::string& from, const std::string& to);
// Adds a second name to a file. NotSupported if its file system cannot, or across file systems.
Status HardLink(const std::string& from, const std::string& to);
// Does not follow a symbolic link. For a lock file, see I1 of OsFileLock.
Status TruncatePath(const std::string& path, uint64_t bytes);
Result<uint64_t> FreeBytes(const std::string& path);
// Files that this process may have open at once; SIZE_MAX if the system sets no limit.
size_t OpenFilesMax();

}  // namespace ashlar
