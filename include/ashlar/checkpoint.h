// Checkpoint: the state of an open database at one moment, as an independent database in another
// directory.
//
// Tables are hard links to those of the database. A checkpoint therefore takes little time, and no
// space until the database deletes the tables. A table that cannot be linked (another file system)
// is copied, and so are the MANIFEST and the logs. Writes continue during the call. Everything is
// durable when it returns. RocksDB opens the checkpoint too.
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

  // Creates checkpoint_dir. Its parent must exist. The checkpoint contains every write that
  // returned before the call, and perhaps later ones. If the logs have at least log_size_for_flush
  // bytes (0: always), the memtables are flushed first. Without this flush the checkpoint lacks
  // writes with disableWAL that are in no table. *sequence_number_ptr, if not null, is set to a
  // sequence up to which the checkpoint has all writes.
  // Its logs are in checkpoint_dir. Do not open it with the wal_dir of this database, because the
  // open would replay and delete the logs there.
  //
  // A database that only reads (OpenForReadOnly, a secondary) flushes nothing, and its checkpoint
  // fails if a process that has it open for writing changes its tables during the call.
  //
  // InvalidArgument: checkpoint_dir exists. Busy: another checkpoint to it is under way, in this
  // process or another. Neither changes anything.
  // After any other error checkpoint_dir does not exist, with one exception: if the file system
  // fails from the last step on, it may exist, complete but not durable. Before the last step the
  // files are in "<checkpoint_dir>.checkpoint-tmp". After an error the call removes this directory
  // and the empty lock file "<checkpoint_dir>.checkpoint-lock". If the process died, the next call
  // with the same checkpoint_dir removes them.
  virtual Status CreateCheckpoint(const std::string& checkpoint_dir,
                                  uint64_t log_size_for_flush = 0,
                                  uint64_t* sequence_number_ptr = nullptr) = 0;

  // Flushes the family (null: the default one) and creates export_dir with its tables, linked or
  // copied as in a checkpoint, for DB::CreateColumnFamilyWithImport. They contain every write that
  // returned before the call. The caller owns *metadata, which is null after a failure. Errors and
  // temporary files are those of CreateCheckpoint. ColumnFamilyDropped: the family was dropped with
  // writes that are in no table. NotSupported: the database only reads. If the family has no
  // tables, the directory is empty and cannot be imported.
  virtual Status ExportColumnFamily(ColumnFamilyHandle* handle, const std::string& export_dir,
                                    ExportImportFilesMetaData** metadata) = 0;
};

}  // namespace ashlar
