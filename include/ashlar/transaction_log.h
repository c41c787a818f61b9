// TransactionLogIterator: the writes of an open database in the order of their sequences, read from
// its logs. DB::GetUpdatesSince makes it. It serves to replicate a database.
//
//   Valid()                     is at a batch
//   !Valid(), status() is Ok    has caught up: every batch in the logs was returned. Next() may be
//                               called again, and becomes valid when there are more
//   !Valid(), status() is not   ended; Next() has no effect
//
// The iterator follows the database from log to log, also into the archive (WAL_ttl_seconds). That
// of a secondary has more after each TryCatchUpWithPrimary. A log that is neither live nor archived
// any more is a gap. Writes with disableWAL, ingestions and imports are gaps too, because they take
// sequences and are in no log.
//
// Errors: NotFound "Gap in sequence numbers": no log has the next batch any more; or, of a
// secondary and of a read-only database, the primary took a returned batch back. Corruption names
// file and offset: a log is damaged, and the rest does not continue it. NotSupported: a record of a
// feature that is not implemented. IOError. MemoryLimit.
//
// A new iterator begins at the first batch that is there. To continue where another iterator ended,
// compare: the sequence of the first batch must be that of the last one plus its Count().
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
  // Of the log's first record. 0 from DB::GetCurrentWalFile, which does not read the log.
  virtual SequenceNumber StartSequence() const = 0;
  // Of the current log: the end of the last record that was written to the operating system.
  virtual uint64_t SizeFileBytes() const = 0;
};
using LogFile = WalFile;

using VectorWalPtr = std::vector<std::unique_ptr<WalFile>>;
using VectorLogPtr = VectorWalPtr;

struct BatchResult {
  // Of the batch's first record; the next batch has this plus writeBatchPtr->Count().
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
  // To the next batch. It never waits: without one the iterator has caught up.
  virtual void Next() = 0;
  virtual Status status() const = 0;
  // Gives the batch away; call it once per step. A batch of log data alone has a Count() of 0, and
  // the sequence of the next write. REQUIRES: Valid().
  virtual BatchResult GetBatch() = 0;
};

}  // namespace ashlar
