// Visits the files of an open database that DB::GetLiveFilesStorageInfo describes. Backups and
// checkpoints consist of copies of them.
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

// While this exists and its status is ok, no file of the database is deleted.
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

// Visits the files, with their checksums. Returns the first error of a visit. No file is deleted
// before the return. A read-only database cannot keep its files, so this returns TryAgain, or the
// error of a visit, if another process changed the database meanwhile.
Status VisitLiveFiles(DB* db, uint64_t wal_size_for_flush,
                      FunctionRef<Status(const LiveFileStorageInfo&)> visit);

// Returns Corruption if this crc-32c differs from the file's recorded checksum. Checksums by
// another function are not compared.
Status CheckAgainstRecord(const FileStorageInfo& file, uint32_t crc);

// Changes a copied OPTIONS file to name this log folder (empty: the database's directory). A
// program that opened the copy with the original's folder would read and delete the logs there.
Status SetLogFolder(vfs::FileSystem* file_system, const std::string& options_file,
                    const std::string& wal_dir);

// Appends an edit to a copied MANIFEST, after which no log is on record as synced. An open would
// refuse a copy without these logs.
Status ForgetLogs(vfs::FileSystem* file_system, const std::string& directory, FileNumber manifest,
                  bool sync);

}  // namespace ashlar
