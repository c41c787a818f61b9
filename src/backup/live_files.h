// Copies the files of an open database that DB::GetLiveFilesStorageInfo describes. Backups and
// checkpoints are made of them.
//
// Thread safety: any thread. Lifetime: the database outlives the call.
#pragma once

#include <string>
#include <string_view>

#include "ashlar/metadata.h"
#include "ashlar/options.h"
#include "ashlar/status.h"
#include "ashlar/vfs.h"
#include "base/function_ref.h"
#include "filesystem/filename.h"
#include "manifest/version_edit.h"

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

// "directory/name" of the file.
std::string PathOf(const FileStorageInfo& file);

// Visits the files, with their checksums. Ends with the first error of a visit. No file is deleted
// before the return. A database that only reads cannot hold its files: TryAgain, or the error of a
// visit, if another process that has it open went on meanwhile.
Status VisitLiveFiles(DB* db, uint64_t wal_size_for_flush,
                      FunctionRef<Status(const LiveFileStorageInfo&)> visit);

// Returns Corruption if this crc-32c differs from the file's recorded checksum. Checksums by
// another function are not compared.
Status CheckAgainstRecord(const FileStorageInfo& file, uint32_t crc);

// Changes a copied OPTIONS file to name this folder of logs; empty: the database's directory. A
// program that opens the copy with the original's folder would read, and delete, logs of the other.
Status SetLogFolder(vfs::FileSystem* file_system, const std::string& options_file,
                    const std::string& wal_dir);

// Takes the logs that a copied MANIFEST has on record as synced off that record. An open would
// refuse a copy without these logs.
Status ForgetLogs(vfs::FileSystem* file_system, const std::string& directory, FileNumber manifest,
                  bool sync);

}  // namespace ashlar
