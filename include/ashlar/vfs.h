// vfs::FileSystem: the file operations of the engine, which accesses files only through this
// interface. An in-memory, fault-injecting or remote implementation can replace the operating
// system's.
//
// Paths are UTF-8 with '/' between components. Every error names the path. No method throws.
// Durability: Sync of a file makes its bytes and size durable, but not its directory entry. Sync of
// a directory makes its entries (creations, renames, removals) durable. A failed Sync or Close is
// final: written data may be lost and must not be treated as durable later. Thread safety:
// FileSystem and RandomAccessFile may be used from several threads at once. One thread at a time
// uses the other classes, but WritableFile::Sync may run concurrently with Append.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/export.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"

namespace ashlar {
class FileSystem;
class MemoryMappedFileBuffer;
}  // namespace ashlar

namespace ashlar::vfs {

// The purpose of an opened file. A field that a file system cannot honour is ignored, except
// use_direct_io.
struct FileOptions {
  bool use_mmap_reads = false;  // RandomAccessFile: Map() succeeds
  // Bypass the page cache. The implementation aligns buffers, offsets and lengths as needed.
  bool use_direct_io = false;
  // WritableFile: write through a mapping; excludes use_direct_io. A write that the disk cannot
  // store then ends the process (SIGBUS) or is lost without an error.
  bool use_mmap_writes = false;
  // With use_mmap_writes: Sync does not truncate the file, either; for readers that know where the
  // contents end.
  bool keeps_zero_tail = false;
  // WritableFile: each Append is one write to the operating system; for callers that collect small
  // pieces.
  bool unbuffered_appends = false;
  // WritableFile: reserve space in steps of this many bytes. Close releases unused space.
  uint64_t preallocate_bytes = 0;
  bool exclusive_create = false;  // WritableFile: fail if the file exists
};

enum class AccessPattern { kNormal, kRandom, kSequential, kWillNeed, kDontNeed };

class ASHLAR_API SequentialFile {
 public:
  virtual ~SequentialFile() = default;
  // Reads up to n bytes into scratch and points *result at them. An empty *result with Ok means the
  // end of the file.
  virtual Status Read(size_t n, Slice* result, char* scratch) = 0;
  virtual Status Skip(uint64_t n) = 0;
};

class ASHLAR_API RandomAccessFile {
 public:
  virtual ~RandomAccessFile() = default;
  // Reads n bytes at offset. *result may point into scratch (n bytes, caller's) or into memory that
  // lives as long as the file. Fewer than n bytes with Ok means that the file ends there.
  virtual Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const = 0;
  // The whole file in memory, valid as long as this object. NotSupported unless opened with
  // use_mmap_reads. Truncating a mapped file ends the process (SIGBUS); a mapping cannot report
  // this fault as a Status.
  virtual Status Map(Slice* contents) const;
  virtual Status Size(uint64_t* bytes) const = 0;
  // Advice only; never fails.
  virtual void Hint(AccessPattern pattern, uint64_t offset, uint64_t bytes) const;
};

// Between calls of Flush, Sync and Close, a file that is written through a mapping may have zeros
// after the appended data. With keeps_zero_tail the zeros may remain after Sync; all appended data
// are durable then. A reused file has the rest of its old contents there instead, until Flush or
// Close truncates it. Thread safety: one thread at a time, but Sync and RangeSync may run while
// another thread appends or flushes. Sync covers the data that were written to the operating system
// before it began.
class ASHLAR_API WritableFile {
 public:
  virtual ~WritableFile() = default;  // closes without reporting errors; call Close
  virtual Status Append(const Slice& data) = 0;
  // Whether Append passes all data to the operating system by itself. Flush is then only needed to
  // truncate a tail of zeros or of former contents.
  virtual bool AppendsAtOnce() const { return false; }
  // Writes the buffered data of this process to the operating system. They survive kill -9, but not
  // a power cut.
  virtual Status Flush() = 0;
  // Flush, and wait until the bytes and the size are durable.
  virtual Status Sync() = 0;
  virtual Status Close() = 0;
  // File size in bytes: the size at the open plus all appended bytes.
  virtual uint64_t Size() const = 0;
  // Starts write-back of a range without waiting. This is advice, and callers ignore its result. A
  // file that learns here that bytes are lost must fail in Sync.
  virtual Status RangeSync(uint64_t offset, uint64_t bytes);
};

// A file that is read and written at any offset. After a failed write, Sync or Close nothing is
// known about its bytes.
class ASHLAR_API RandomRWFile {
 public:
  virtual ~RandomRWFile() = default;
  // As RandomAccessFile::Read.
  virtual Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const = 0;
  // Writes to the operating system. Extends the file if it ends earlier.
  virtual Status Write(uint64_t offset, const Slice& data) = 0;
  virtual Status Sync() = 0;
  virtual Status Close() = 0;
};

class ASHLAR_API Directory {
 public:
  virtual ~Directory() = default;
  // NotSupported: the file system cannot make its names durable.
  virtual Status Sync() = 0;
};

class ASHLAR_API FileLock {
 public:
  virtual ~FileLock() = default;  // releases the lock
};

class ASHLAR_API FileSystem {
 public:
  virtual ~FileSystem() = default;
  virtual const char* Name() const = 0;

  // The operating system's file system; lives as long as the process.
  static std::shared_ptr<FileSystem> Default();

  virtual Status NewSequentialFile(const std::string& path, const FileOptions& options,
                                   std::unique_ptr<SequentialFile>* result) = 0;
  virtual Status NewRandomAccessFile(const std::string& path, const FileOptions& options,
                                     std::unique_ptr<RandomAccessFile>* result) = 0;
  // Creates the file, or truncates an existing one to 0 bytes (unless exclusive_create). Files are
  // created with mode 0600.
  virtual Status NewWritableFile(const std::string& path, const FileOptions& options,
                                 std::unique_ptr<WritableFile>* result) = 0;
  // Opens an existing file for appending, or creates it if it is missing.
  virtual Status ReopenWritableFile(const std::string& path, const FileOptions& options,
                                    std::unique_ptr<WritableFile>* result) = 0;
  // Renames `from` to `to`, which must not exist, and opens it for writing from its beginning: Size
  // is 0, and Append overwrites the old contents. Appends are immediate; the file is neither mapped
  // nor direct. NotSupported: nothing has changed. After another error the file has one of the two
  // names.
  virtual Status ReuseWritableFile(const std::string& from, const std::string& to,
                                   const FileOptions& options,
                                   std::unique_ptr<WritableFile>* result);
  virtual Status NewDirectory(const std::string& path, std::unique_ptr<Directory>* result) = 0;
  // Open an existing file; the second needs contents. Not for the engine. Default: NotSupported.
  virtual Status NewRandomRWFile(const std::string& path, std::unique_ptr<RandomRWFile>* result);
  virtual Status NewMemoryMappedFileBuffer(const std::string& path,
                                           std::unique_ptr<MemoryMappedFileBuffer>* result);

  // Ok, NotFound, or the error that prevented the check.
  virtual Status FileExists(const std::string& path) = 0;
  // Names without "." and "..", in no particular order.
  virtual Status GetChildren(const std::string& path, std::vector<std::string>* names) = 0;
  virtual Status DeleteFile(const std::string& path) = 0;
  // Mode 0700. Error if it exists.
  virtual Status CreateDir(const std::string& path) = 0;
  virtual Status CreateDirIfMissing(const std::string& path) = 0;
  virtual Status DeleteDir(const std::string& path) = 0;
  virtual Status GetFileSize(const std::string& path, uint64_t* bytes) = 0;
  virtual Status GetFileModificationTime(const std::string& path, uint64_t* unix_seconds) = 0;
  // Atomically replaces `to`.
  virtual Status RenameFile(const std::string& from, const std::string& to) = 0;
  virtual Status LinkFile(const std::string& from, const std::string& to);
  // The number of names (hard links) of the file.
  virtual Status NumFileLinks(const std::string& path, uint64_t* count);
  virtual Status Truncate(const std::string& path, uint64_t bytes) = 0;
  // Creates `path` if it is missing, and locks it exclusively, against other processes and within
  // this one. If it is locked, returns IOError with the subcode kFileLocked, naming the holder. The
  // file may be deleted while it is locked, except on Windows.
  virtual Status LockFile(const std::string& path, std::unique_ptr<FileLock>* lock) = 0;
  virtual Status GetFreeSpace(const std::string& path, uint64_t* bytes);
  // Not for the engine. The default tests whether its children can be listed.
  virtual Status IsDirectory(const std::string& path, bool* is_directory);
  // The engine calls it to compare directories. Default: NotSupported, which counts as "different".
  virtual Status AreFilesSame(const std::string& first, const std::string& second, bool* same);
  // The engine calls it for the name of a LOG in db_log_dir. Default: paths start at the root.
  virtual Status GetAbsolutePath(const std::string& path, std::string* absolute);
};

// Adapters from one interface to files to the other. Each undoes the other, so nothing is wrapped
// twice. The result keeps its argument alive.
ASHLAR_API std::shared_ptr<ashlar::FileSystem> ToRocksFiles(
    const std::shared_ptr<FileSystem>& files);
ASHLAR_API std::shared_ptr<FileSystem> ToEngineFiles(
    const std::shared_ptr<ashlar::FileSystem>& files);

}  // namespace ashlar::vfs
