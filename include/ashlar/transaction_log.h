// TransactionLogIterator: the writes of an open database in sequence order, read from its logs, for
// example to replicate the database. DB::GetUpdatesSince creates it.
//
//   Valid()                     is at a batch
//   !Valid(), status() is Ok    has caught up: every batch in the logs was returned. Next() may be
//                               called again, and makes it valid once there are more
//   !Valid(), status() is not   ended; Next() has no effect
//
// The iterator follows the database from log to log, also into the archive (WAL_ttl_seconds). On a
// secondary it gets more batches after each TryCatchUpWithPrimary. A log that is no longer live or
// archived is a gap. Writes with disableWAL, ingestions and imports are gaps, too, because they use
// sequences and are in no log.
//
// Errors: NotFound "Gap in sequence numbers": no log has the next batch any more or, on a secondary
// or a read-only database, the primary took a returned batch back. Corruption names file and
// offset: a log is damaged, and no other log continues it. NotSupported: a record of a feature that
// is not implemented. IOError. MemoryLimit.
//
// A new iterator begins at the first batch that still exists. To continue where another iterator
// ended, check that the first batch's sequence is the last batch's plus the last batch's Count().
//
// Thread safety: one thread at a time. Lifetime: while it lives, Close returns Aborted; after the
// DB is deleted it stays valid.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/export.h"
#include "ashlar/status.h"
#include "ashlar/types.h"
#include "ashlar/write_batch.h"

namespace ashlar {

enum WalFileType : uint8_t {
  kArchivedLogFile = 0,  // in the folder archive: no family needs it any more
  kAliveLogFile = 1,
};

// A log at the time of the call that returned it.
class ASHLAR_API WalFile {
 public:
  WalFile() = default;
  virtual ~WalFile() = default;
  WalFile(const WalFile&) = delete;
  WalFile& operator=(const WalFile&) = delete;

  // Relative to the directory of the logs: "/000003.log", "/archive/000003.log".
  virtual std::string PathName() const = 0;
  virtual uint64_t LogNumber() const = 0;
  virtual WalFileType Type() const = 0;
  // Of the log's first record. 0 if from DB::GetCurrentWalFile, which does not read the log.
  virtual SequenceNumber StartSequence() const = 0;
  // For the current log, the end of the last record that was written to the operating system.
  virtual uint64_t SizeFileBytes() const = 0;
};
using LogFile = WalFile;

using VectorWalPtr = std::vector<std::unique_ptr<WalFile>>;
using VectorLogPtr = VectorWalPtr;

struct BatchResult {
  // Of the batch's first record. The sequence of the next batch is writeBatchPtr->Count() larger.
  SequenceNumber sequence = 0;
  std::unique_ptr<WriteBatch> writeBatchPtr;
};

class ASHLAR_API TransactionLogIterator {
 public:
  struct ReadOptions {
    bool verify_checksums_ = true;  // accepted: they are always verified

    ReadOptions() = default;
    explicit ReadOptions(bool verify_checksums) : verify_checksums_(verify_checksums) {}
  };

  TransactionLogIterator() = default;
  virtual ~TransactionLogIterator() = default;
  TransactionLogIterator(const TransactionLogIterator&) = delete;
  TransactionLogIterator& operator=(const TransactionLogIterator&) = delete;

  virtual bool Valid() const = 0;
  // Moves to the next batch. Never waits: if there is none, the iterator has caught up.
  virtual void Next() = 0;
  virtual Status status() const = 0;
  // Moves the batch out, so call it once per step. A batch of only log data has a Count() of 0 and
  // the sequence of the next write. REQUIRES: Valid().
  virtual BatchResult GetBatch() = 0;
};

}  // namespace ashlar
