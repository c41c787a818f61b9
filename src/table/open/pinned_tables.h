// PinnedTables: the open files of the tables of a database that is read while another process may
// write it.
//
//   Pin: opened by name while the MANIFEST names it --> HELD --Take, when the table is first read--> its TableReader owns the file
//
// The writer deletes tables whenever it likes. An open file stays readable after that, so a reader
// that holds every table of its MANIFEST needs no name any more. (On Windows too: files are opened
// in a way that lets others delete them.)
//
// I1: at most files_max files are held (0: no limit). Tables beyond that are opened by name when
//     they are read, and may be gone then.
//
// Thread safety: all methods, Pin by one thread at a time. Lifetime: the file system outlives it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_set>

#include "ashlar/file_system.h"
#include "platform/mutex.h"
#include "table/file_metadata.h"

namespace ashlar {

class PinnedTables {
 public:
  struct Args {
    FileSystem* file_system = nullptr;
    FileOptions file_options = {};  // as the tables are opened to be read
    size_t files_max = 0;
  };

  explicit PinnedTables(const Args& args) : args_(args) {}
  PinnedTables(const PinnedTables&) = delete;
  PinnedTables& operator=(const PinnedTables&) = delete;

  // Holds the file unless it is held, and gives its size. PathNotFound if it is missing. A file
  // that cannot be opened for another reason is not held: what reads it reports the error.
  Status Pin(uint64_t number, const std::string& path, uint64_t* bytes);
  // The file and its path, which the caller owns from now on. No file: it is not held.
  struct Taken {
    std::unique_ptr<RandomAccessFile> file;
    std::string path;
  };
  Taken Take(uint64_t number);
  // Closes all files but those of these tables.
  void Retain(const std::unordered_set<uint64_t>& numbers);
  size_t Count() const;

 private:
  const Args args_;
  mutable Mutex mutex_;  // a leaf
  std::map<uint64_t, Taken> held_ ASHLAR_GUARDED_BY(mutex_);
};

}  // namespace ashlar
