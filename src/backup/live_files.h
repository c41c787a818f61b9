// Live files: the files that make up an open database at one moment, in the order in which they are
// to be copied. Backups and checkpoints are made from them.
//
// While deletions of files are held back:
//   1  the oldest log that a recovery looks for  read first: later states need no older log
//   2  the tables and the length of the MANIFEST one state, taken under the engine's lock
//   3  the lengths of the logs                   after 2, so that they have at least the writes
//                                                that the state lacks
//   4  the MANIFEST has grown since 2: from 2 again, and after some attempts without writers
//   5  visits: MANIFEST up to its length, CURRENT, OPTIONS, the logs, the tables
//
// I1: the length of a log is taken after those of all older ones. It is closed before the next
//     begins, so none is taken shorter than the head of the next says.
// I2: logs and MANIFEST grow, and a recovery cuts logs: they are copied, never linked. Tables and
//     OPTIONS files never change.
// I3: no edit comes between 2 and 3. An ingestion is in no log: the copy would lack it, and have
//     writes that the program made after it.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "ashlar/file_system.h"
#include "ashlar/status.h"
#include "base/function_ref.h"
#include "filesystem/filename.h"

namespace ashlar {

class DB;

// Files of a database cannot be deleted while this lives, if its status is ok.
class DeletionsHeld {
 public:
  explicit DeletionsHeld(DB* db);
  ~DeletionsHeld();
  DeletionsHeld(const DeletionsHeld&) = delete;
  DeletionsHeld& operator=(const DeletionsHeld&) = delete;

  const Status& status() const { return status_; }

 private:
  DB* const db_;
  const Status status_;
};

// True if a file of this name has the type.
bool HasType(std::string_view name, FileType wanted);

struct LiveFile {
  enum class Kind : uint8_t { kManifest, kCurrent, kOptions, kLog, kTable };
  static constexpr uint64_t kWhole = std::numeric_limits<uint64_t>::max();

  Kind kind = Kind::kTable;
  std::string directory = {};
  std::string name = {};
  // The part that belongs to the moment, from the beginning. The file may be longer.
  uint64_t bytes = kWhole;
  // kCurrent only: the text to write. The file itself may name the next MANIFEST by now.
  std::string contents = {};

  std::string path() const { return directory + "/" + name; }
};

struct LiveFilesRequest {
  static constexpr uint64_t kNoFlush = std::numeric_limits<uint64_t>::max();

  bool with_logs = true;
  // Flushes first if the logs have at least this many bytes. Data that were written without a log
  // are in the files only after a flush.
  uint64_t flush_from_log_bytes = kNoFlush;
};

// Visits the files. Ends with the first error of a visit. No file is deleted before the return.
Status VisitLiveFiles(DB* db, const LiveFilesRequest& request,
                      FunctionRef<Status(const LiveFile&)> visit);

// Changes a copied OPTIONS file to name this folder of logs; empty: the database's directory. A
// program that opens the copy with the original's folder would read, and delete, logs of the other.
Status SetLogFolder(FileSystem* file_system, const std::string& options_file,
                    const std::string& wal_dir);

}  // namespace ashlar
