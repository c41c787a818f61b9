// Checkpoint: the state of an open database at one moment, as a database of its own in another
// directory.
//
// Tables are hard links to those of the database, so a checkpoint costs little time and space: they
// take space of their own once the database has deleted them. A table that cannot be linked, as on
// another file system, is copied. The MANIFEST and the logs are copied. Everything is durable when
// the call returns. Writes continue meanwhile. RocksDB opens the checkpoint too.
//
// Thread safety: any thread. Lifetime: the database outlives the object.
#pragma once

#include <cstdint>
#include <string>

#include "ashlar/export.h"
#include "ashlar/status.h"

namespace ashlar {

class ColumnFamilyHandle;
class DB;
struct ExportImportFilesMetaData;

class ASHLAR_API Checkpoint {
 public:
  // The caller owns *checkpoint_ptr, which is null after a failure.
  static Status Create(DB* db, Checkpoint** checkpoint_ptr);

  Checkpoint() = default;
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;
  virtual ~Checkpoint() = default;

  // Makes checkpoint_dir, whose parent must exist. The checkpoint has every write that returned
  // before the call, and perhaps later ones. Flushes first if the logs have at least
  // log_size_for_flush bytes; 0: always. Without the flush, writes with disableWAL that are in no
  // table are not in it. *sequence_number_ptr, unless null, becomes a sequence up to which the
  // checkpoint has all writes.
  //
  // InvalidArgument: checkpoint_dir exists; nothing is changed. Busy: another checkpoint to it is
  // under way, in this process or another; nothing is changed. NotSupported: the database is
  // read-only. After any other error checkpoint_dir does not exist; if the file system fails from
  // the last step on, it may exist, complete but not durable. Until the end the files are in
  // "<checkpoint_dir>.checkpoint-tmp", which is removed after an error, and by the next call with
  // this directory if the process died. So is the empty lock file
  // "<checkpoint_dir>.checkpoint-lock".
  virtual Status CreateCheckpoint(const std::string& checkpoint_dir,
                                  uint64_t log_size_for_flush = 0,
                                  uint64_t* sequence_number_ptr = nullptr) = 0;

  // Flushes the family (null: the default one) and makes export_dir with its tables, linked or
  // copied as in a checkpoint, for DB::CreateColumnFamilyWithImport. They have every write that
  // returned before the call. The caller owns *metadata, which is null after a failure. Errors and
  // temporary files are those of CreateCheckpoint; ColumnFamilyDropped: the family was dropped with
  // writes that are in no table. A family without tables gives an empty directory and no files,
  // which cannot be imported.
  virtual Status ExportColumnFamily(ColumnFamilyHandle* handle, const std::string& export_dir,
                                    ExportImportFilesMetaData** metadata) = 0;
};

}  // namespace ashlar
